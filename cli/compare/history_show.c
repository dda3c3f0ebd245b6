#include "history_show.h"
#include "cli.h"
#include "diff_show.h"

#include <math.h>
#include <time.h>

#include "profrig/base/json_out.h"

#define BAR 24

static const char *started_text(const struct compared_run *run, char *buf, size_t n)
{
	time_t t = (time_t)(run->c.started_ns / 1000000000);
	struct tm tm;

	if (run->c.started_ns <= 0 || !gmtime_r(&t, &tm) ||
	    !strftime(buf, n, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(buf, n, "–");
	return buf;
}

static const struct change_point *change_at(const struct history *h, size_t i)
{
	return VEC_FIND(&h->changes.v, e, e->at == i);
}

/* "slower": what a change of level is. */
static const char *change_word(const struct history *h, const struct change_point *c)
{
	bool more = c->after > c->before;

	if (h->better == FIGURE_NONE)
		return more ? "more" : "less";
	return more == (h->better == FIGURE_LOWER) ? "slower" : "faster";
}

static void change_put(const struct history *h, const struct change_point *c, FILE *f)
{
	char before[96], after[96];
	const char *unit = h->v.v[0].unit;

	fputs("  ---- ", f);
	cli_put(f, diff_value(c->before, unit, before), 0);
	fputs(" → ", f);
	cli_put(f, diff_value(c->after, unit, after), 0);
	fprintf(f, ", %+.1f %%, p %.2g: %s\n", (c->after / c->before - 1) * 100, c->p,
		change_word(h, c));
}

static void point_put(const struct history *h, size_t i, double low, double high, FILE *f)
{
	const struct history_point *p = &h->v.v[i];
	char when[32], value[96];
	int at = high > low ? (int)lround((p->value - low) / (high - low) * BAR) : BAR / 2;

	fprintf(f, "  %-20s  ", started_text(p->run, when, sizeof(when)));
	for (int k = 0; k <= BAR; k++)
		fputs(k == at ? "•" : "·", f);
	fputs("  ", f);
	cli_put(f, diff_value(p->value, p->unit, value), 0);
	fputs("  ", f);
	cli_put(f, p->run->dir, 0);
	fputc('\n', f);
}

void history_text(const struct history *h, const char *metric, FILE *f)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < h->v.nr; i++) {
		low = fmin(low, h->v.v[i].value);
		high = fmax(high, h->v.v[i].value);
	}
	cli_put(f, metric, 0);
	fprintf(f, ": %zu %s, %zu %s of level\n", h->v.nr, h->v.nr == 1 ? "run" : "runs",
		h->changes.v.nr, h->changes.v.nr == 1 ? "change" : "changes");
	for (size_t i = 0; i < h->v.nr; i++) {
		const struct change_point *c = change_at(h, i);

		if (c)
			change_put(h, c, f);
		point_put(h, i, low, high, f);
	}
	if (h->without)
		fprintf(f, "note: %zu %s not this figure\n", h->without,
			h->without == 1 ? "run has" : "runs have");
	if (h->bad)
		fprintf(f, "note: %zu %s no finite number\n", h->bad,
			h->bad == 1 ? "value is" : "values are");
}

void history_json(const struct history *h, const char *metric, FILE *f)
{
	struct json_out j;
	char when[32];

	json_out_init(&j, f, 2);
	json_obj(&j, NULL);
	json_str(&j, "metric", metric);
	json_str(&j, "unit", h->v.nr ? h->v.v[0].unit : NULL);
	json_str(&j, "better", figure_better_name(h->better));
	json_u64(&j, "without", h->without);
	json_arr(&j, "runs");
	for (size_t i = 0; i < h->v.nr; i++) {
		json_obj(&j, NULL);
		json_str(&j, "run", h->v.v[i].run->dir);
		json_str(&j, "started_utc", started_text(h->v.v[i].run, when, sizeof(when)));
		json_f64(&j, "value", h->v.v[i].value);
		json_end(&j);
	}
	json_end(&j);
	json_arr(&j, "changes");
	for (size_t i = 0; i < h->changes.v.nr; i++) {
		const struct change_point *c = &h->changes.v.v[i];

		json_obj(&j, NULL);
		json_u64(&j, "at", c->at);
		json_str(&j, "run", h->v.v[c->at].run->dir);
		json_f64(&j, "before", c->before);
		json_f64(&j, "after", c->after);
		json_f64(&j, "p_value", c->p);
		json_str(&j, "verdict", change_word(h, c));
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputc('\n', f);
}
