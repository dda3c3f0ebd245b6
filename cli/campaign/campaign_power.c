#include "campaign_power.h"

#include <math.h>

#include "profrig/base/power.h"
#include "profrig/base/strbuf.h"

#define SLOWER 1.10
#define CV_UNKNOWN 0.02
#define N_MOST 200

void campaign_power_find(const struct campaign_power_case *of, struct campaign_power *ret)
{
	struct power_design d = { .method = of->sequential ? SAMPLE_WELCH : SAMPLE_PAIRED,
				  .n = of->repeat,
				  .cv = isnan(of->cv) ? CV_UNKNOWN : of->cv,
				  .ratio = SLOWER,
				  .margin = of->threshold,
				  .confidence = CAMPAIGN_CONFIDENCE,
				  .tests = of->tests };
	struct power w;

	*ret = (struct campaign_power){ .of = *of, .cv = d.cv };
	power_of(&d, &w);
	ret->slower = w.slower;
	ret->n_slower = power_least(&d, SAMPLE_SLOWER, 0.9, N_MOST);
	d.ratio = 1;
	power_of(&d, &w);
	ret->same = w.same;
	ret->n_same = power_least(&d, SAMPLE_SAME, 0.9, N_MOST);
}

char *campaign_power_words(const struct campaign_power *w)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(
		&sb,
		"gate on %s, margin %g %%: %s, n = %zu, CV %.3g %%%s, confidence %g %%, %zu tests "
		"(Holm)\n",
		w->of.metric, w->of.threshold * 100,
		w->of.sequential ? "Welch's t on logarithms" : "paired t on logarithms, by blocks",
		w->of.repeat, w->cv * 100, isnan(w->of.cv) ? " (assumed)" : " (measured)",
		CAMPAIGN_CONFIDENCE * 100, w->of.tests);
	strbuf_addf(&sb, "  a cell that is 10 %% slower is called slower with probability %.3f",
		    w->slower);
	if (w->slower < 0.9 && w->n_slower)
		strbuf_addf(&sb, "; %zu repeats give 0.9", w->n_slower);
	strbuf_addf(&sb, "\n  an equal cell is called same with probability %.3f", w->same);
	if (w->same < 0.9 && w->n_same)
		strbuf_addf(&sb, "; %zu repeats give 0.9", w->n_same);
	return strbuf_steal(&sb);
}
