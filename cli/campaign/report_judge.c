#include "report_judge.h"
#include "campaign_compare.h"
#include "diff_show.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct judging {
	struct campaign_report *r;
	struct report_judgement *g;
	struct intern *cells; /* id − 1 is the place */
};

/* ---- rows of a comparison → samples ---- */

/* Of a metric that comes several times: "performance#2" has the key "2" in the store. */
static const char *key_of(const struct compare_row *row)
{
	size_t n = strlen(row->name);

	if (!row->of_table && !strncmp(row->key, row->name, n) && row->key[n] == '#')
		return row->key + n + 1;
	return row->key;
}

static void row_take(struct judging *j, const struct comparison *c, const struct compare_row *row)
{
	const struct compare_versus *v = &c->versus.v[row->versus];
	struct report_figure *f = campaign_report_figure(j->r, row->name, key_of(row));
	str_id id = f ? intern_find(j->cells, v->b->cell, strlen(v->b->cell)) : STR_NONE;
	struct report_against *a;
	char method[64];

	if (id == STR_NONE || id == 0)
		return;
	a = &f->cells[id - 1].against;
	if (a->verdict)
		return;
	snprintf(a->method, sizeof(a->method), "%s", compare_method(row, c->o.declared, method));
	a->verdict = compare_verdict_name(row->verdict);
	a->ratio = row->ratio;
	a->low = row->low;
	a->high = row->high;
	a->p = row->p;
	a->p_adj = row->p_adj;
	a->n_a = row->a.n;
	a->n_b = row->b.n;
	a->refused = row->refused;
	if (!strvec_has(&j->g->methods, a->method))
		strvec_push(&j->g->methods, a->method);
}

static void comparison_take(struct judging *j, const struct comparison *c, bool first)
{
	for (size_t i = 0; i < c->rows.nr; i++)
		row_take(j, c, &c->rows.v[i]);
	for (size_t i = 0; first && i < c->versus.nr; i++)
		for (size_t k = 0; k < c->versus.v[i].comparable.reasons.nr; k++)
			strvec_pushf(&j->g->reasons, "%s against %s: %s", c->versus.v[i].name_b,
				     c->versus.v[i].name_a, c->versus.v[i].comparable.reasons.v[k]);
	for (size_t i = 0; i < c->notes.nr; i++)
		if (!strvec_has(&j->g->notes, c->notes.v[i]))
			strvec_push(&j->g->notes, c->notes.v[i]);
	for (size_t i = 0; first && i < c->problems.nr; i++)
		strvec_push(&j->g->problems, c->problems.v[i]);
}

/* ---- which comparisons ---- */

/* By the rule of the campaign's own exit status. */
static void gate_take(struct report_judgement *g, const struct comparison *c)
{
	for (size_t i = 0; i < c->rows.nr; i++)
		g->gate_slower += c->rows.v[i].verdict == COMPARE_SLOWER;
	g->passes = !g->gate_slower && comparison_score(c) > 0;
}

static int judge_first(struct judging *j, const char *dir, struct err *err)
{
	struct campaign_compare cc;
	int n;

	campaign_compare_init(&cc);
	for (size_t i = 0; i < j->r->gates.nr; i++)
		campaign_compare_gate(&cc, j->r->gates.v[i].metric, j->r->gates.v[i].threshold);
	if (!j->r->gates.nr)
		campaign_compare_usual(&cc, &j->r->metrics);
	n = campaign_compare_run(&cc, dir, err);
	if (n > 0) {
		j->g->overall = comparison_verdict(&cc.c);
		j->g->threshold = cc.opts.threshold;
		j->g->confidence = cc.opts.confidence;
		j->g->adjusted = diff_adjusted(&cc.c);
		comparison_take(j, &cc.c, true);
		gate_take(j->g, &cc.c);
	}
	for (size_t i = 0; n >= 0 && i < cc.o.problems.nr; i++)
		strvec_push(&j->g->problems, cc.o.problems.v[i]);
	campaign_compare_release(&cc);
	return n;
}

static bool figure_compared(const struct campaign_report *r, const struct report_figure *f)
{
	for (size_t i = 0; i < r->cells.nr; i++)
		if (f->cells[i].against.verdict)
			return true;
	return false;
}

/* Figures that the first comparison lacks. */
static int judge_others(struct judging *j, const char *dir, struct err *err)
{
	struct campaign_compare cc;
	int n = 0;

	campaign_compare_init(&cc);
	for (size_t i = 0; i < j->r->figures.nr; i++) {
		const struct report_figure *f = &j->r->figures.v[i];

		if (!figure_compared(j->r, f) && !strvec_has(&cc.opts.metrics, f->name))
			campaign_compare_gate(&cc, f->name, NAN);
	}
	if (cc.opts.metrics.nr)
		n = campaign_compare_run(&cc, dir, err);
	if (n > 0)
		comparison_take(j, &cc.c, false);
	campaign_compare_release(&cc);
	return n;
}

/* ---- all of it ---- */

static void verdicts_count(const struct campaign_report *r, struct report_judgement *g)
{
	for (size_t i = 0; i < r->figures.nr; i++)
		for (size_t k = 0; k < r->cells.nr; k++) {
			const struct report_against *a = &r->figures.v[i].cells[k].against;

			if (!a->verdict)
				continue;
			g->compared++;
			g->refused += a->refused;
			g->slower += !strcmp(a->verdict, "slower");
			g->faster += !strcmp(a->verdict, "faster");
			g->same += !strcmp(a->verdict, "same");
			g->unclear += !strcmp(a->verdict, "unclear") && !a->refused;
			g->one_sided += !strcmp(a->verdict, "new") || !strcmp(a->verdict, "gone");
		}
}

static size_t pairs_of(const struct campaign_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->cells.nr; i++)
		n += r->cells.v[i].baseline != REPORT_NONE;
	return n;
}

static void power_find(const struct campaign_report *r, struct report_judgement *g)
{
	for (size_t i = 0; i < r->gates.nr && r->repeat >= 3; i++) {
		const struct report_figure *f =
			campaign_report_figure(r, r->gates.v[i].metric, NULL);
		double t = r->gates.v[i].threshold;
		const struct campaign_power_case of = { .metric = r->gates.v[i].metric,
							.threshold = isnan(t) ? g->threshold : t,
							.sequential =
								!strcmp(r->order, "sequential"),
							.repeat = r->repeat,
							.cv = f ? report_figure_cv(r, f) : NAN,
							.tests = pairs_of(r) * r->gates.nr };
		struct campaign_power w;

		campaign_power_find(&of, &w);
		VEC_PUSH(&g->power, w);
	}
}

int report_judge(const char *dir, struct campaign_report *r, struct report_judgement *ret,
		 struct err *err)
{
	const struct compare_opts usual = COMPARE_OPTS_INIT;
	struct judging j = { .r = r, .g = ret, .cells = intern_new() };
	int n = 0;

	*ret = (struct report_judgement){ .gated = r->gates.nr > 0,
					  .passes = true,
					  .threshold = usual.threshold,
					  .confidence = usual.confidence,
					  .reasons = STRVEC_INIT,
					  .notes = STRVEC_INIT,
					  .problems = STRVEC_INIT,
					  .methods = STRVEC_INIT };
	for (size_t i = 0; i < r->cells.nr; i++)
		intern_puts(j.cells, r->cells.v[i].id);
	if (pairs_of(r) && r->sum.committed)
		n = judge_first(&j, dir, err);
	if (n > 0)
		n = judge_others(&j, dir, err);
	intern_free(j.cells);
	if (n < 0) {
		report_judgement_release(ret);
		return n;
	}
	verdicts_count(r, ret);
	if (pairs_of(r))
		power_find(r, ret);
	return 0;
}

void report_judgement_release(struct report_judgement *g)
{
	strvec_release(&g->reasons);
	strvec_release(&g->notes);
	strvec_release(&g->problems);
	strvec_release(&g->methods);
	VEC_RELEASE(&g->power);
}
