#include "campaign_compare.h"

#include <string.h>

#include "profrig/base/intern.h"

void campaign_compare_init(struct campaign_compare *cc)
{
	*cc = (struct campaign_compare){ .o = OPERAND_INIT, .opts = COMPARE_OPTS_INIT };
}

void campaign_compare_release(struct campaign_compare *cc)
{
	if (cc->ran)
		comparison_release(&cc->c);
	operand_release(&cc->o);
	strvec_release(&cc->opts.selection);
	strvec_release(&cc->opts.metrics);
	VEC_RELEASE(&cc->limits);
}

void campaign_compare_gate(struct campaign_compare *cc, const char *metric, double threshold)
{
	strvec_push(&cc->opts.metrics, metric);
	VEC_PUSH(&cc->limits, threshold);
	strvec_push(&cc->opts.selection, metric);
	cc->opts.declared = true;
}

void campaign_compare_usual(struct campaign_compare *cc, const struct strvec *metrics)
{
	strvec_push(&cc->opts.selection, "usual");
	strvec_pushv(&cc->opts.selection, metrics->v);
}

static void cells_pair(struct campaign_compare *cc)
{
	struct intern *ids = intern_new();

	for (size_t i = 0; i < cc->o.sets.nr; i++)
		intern_puts(ids, cc->o.sets.v[i].cell);
	for (size_t i = 0; i < cc->o.sets.nr; i++) {
		const struct run_set *s = &cc->o.sets.v[i], *base;
		str_id id = intern_find(ids, s->baseline, strlen(s->baseline));

		if (id == 0 || id == STR_NONE || strcmp(s->baseline, s->cell) == 0)
			continue;
		base = &cc->o.sets.v[id - 1];
		if (id > cc->o.sets.nr || strcmp(base->cell, s->baseline) != 0)
			continue;
		comparison_add(&cc->c, base, s, base->label, s->label);
	}
	intern_free(ids);
}

int campaign_compare_run(struct campaign_compare *cc, const char *dir, struct err *err)
{
	int r = operand_read(dir, &cc->o, err);

	if (r < 0)
		return r;
	cc->opts.thresholds = cc->limits.v;
	comparison_init(&cc->c, &cc->opts);
	cc->ran = true;
	cells_pair(cc);
	if (!cc->c.versus.nr)
		return 0;
	r = comparison_run(&cc->c, err);
	return r < 0 ? r : (int)cc->c.versus.nr;
}
