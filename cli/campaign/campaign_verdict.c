#include "campaign_verdict.h"
#include "campaign_dir.h"
#include "diff_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/log.h"
#include "profrig/compare/comparison.h"

/* ---- figures for the store ---- */

int campaign_figures(void *ctx, const char *run_dir, const struct strvec *metrics,
		     store_figure_add *add, void *to, struct err *err)
{
	CLEANUP(strvec_release) struct strvec wanted = STRVEC_INIT;
	struct figures f = FIGURES_INIT;
	int r;

	(void)ctx;
	/* those of run.json are in the store already */
	for (size_t i = 0; i < metrics->nr; i++)
		if (strchr(metrics->v[i], '.'))
			strvec_push(&wanted, metrics->v[i]);
	if (!wanted.nr)
		return 0;
	r = figures_read(run_dir, &wanted, &f, err);
	for (size_t i = 0; r >= 0 && i < f.v.nr; i++) {
		const struct figure *g = &f.v.v[i];

		if (g->of_table)
			add(to, &(struct store_figure){ .name = g->name,
							.key = g->key,
							.unit = g->unit,
							.better = g->better == FIGURE_HIGHER
									  ? STORE_HIGHER
									  : STORE_LOWER,
							.value = g->value });
	}
	figures_release(&f);
	return r < 0 ? r : 0;
}

/* ---- verdicts ---- */

struct judging {
	struct campaign_job *j;
	struct operand o;
	struct comparison c;
	struct compare_opts opts;
	struct diff d;
	VEC(double) limits;
};

static void metrics_take(struct judging *g)
{
	for (size_t i = 0; i < g->j->file.gates.nr; i++) {
		const struct campaign_gate *gate = &g->j->file.gates.v[i];

		strvec_push(&g->opts.metrics, gate->metric);
		VEC_PUSH(&g->limits, gate->threshold);
		strvec_push(&g->opts.selection, gate->metric);
	}
	g->opts.thresholds = g->limits.v;
	g->opts.declared = g->j->file.gates.nr > 0;
	if (g->opts.declared)
		return;
	strvec_push(&g->opts.selection, "usual");
	strvec_pushv(&g->opts.selection, g->j->file.metrics.v);
}

static void cells_pair(struct judging *g)
{
	for (size_t i = 0; i < g->o.sets.nr; i++) {
		const struct run_set *s = &g->o.sets.v[i], *base;

		if (!*s->baseline || strcmp(s->baseline, s->cell) == 0)
			continue;
		base = VEC_FIND(&g->o.sets, e, strcmp(e->cell, s->baseline) == 0);
		if (base)
			comparison_add(&g->c, base, s, base->label, s->label);
	}
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *row_json(const struct judging *g, const struct compare_row *r)
{
	const struct compare_versus *v = &g->c.versus.v[r->versus];
	char method[64];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:s}", "a",
			 v->a->cell, "b", v->b->cell, "metric", r->name, "key", r->key, "method",
			 compare_method(r, g->opts.declared, method), "n_a", (int)r->a.n, "n_b",
			 (int)r->b.n, "est", number(r->ratio), "lo", number(r->low), "hi",
			 number(r->high), "p", number(r->p), "p_adj", number(r->p_adj), "verdict",
			 compare_verdict_name(r->verdict));
}

/* Figures of the whole run alone: those of tables may be many, and are asked for by compare. */
static int verdict_note(struct judging *g, struct err *err)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < g->c.rows.nr; i++)
		if (!g->c.rows.v[i].of_table)
			json_array_append_new(rows, row_json(g, &g->c.rows.v[i]));
	return campaign_job_note(g->j, "verdict", NULL, 0,
				 json_pack("{s:o, s:{s:f, s:f, s:s}}", "rows", rows, "params",
					   "confidence", g->opts.confidence, "threshold",
					   g->opts.threshold, "overall", comparison_verdict(&g->c)),
				 err);
}

static int gate_code(const struct judging *g)
{
	size_t slower = 0;
	bool refused = comparison_score(&g->c) <= 0;

	for (size_t i = 0; i < g->c.rows.nr; i++)
		slower += g->c.rows.v[i].verdict == COMPARE_SLOWER;
	if (!g->j->file.gates.nr)
		return EXIT_DONE;
	if (slower)
		log_error("gate: %zu %s slower", slower, slower == 1 ? "cell is" : "cells are");
	if (refused)
		log_error("gate: cells are not comparable");
	return slower || refused ? EXIT_GATE : EXIT_DONE;
}

static int judge(struct judging *g, bool quiet)
{
	struct err err = ERR_INIT;
	int code;

	if (operand_read(g->j->dir, &g->o, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	metrics_take(g);
	comparison_init(&g->c, &g->opts);
	g->d.c = &g->c;
	cells_pair(g);
	if (!g->c.versus.nr) {
		comparison_release(&g->c);
		return EXIT_DONE;
	}
	if (comparison_run(&g->c, &err) < 0 ||
	    (!g->j->state.concluded && verdict_note(g, &err) < 0)) {
		log_error("%s", err.msg);
		comparison_release(&g->c);
		return EXIT_UNREADABLE;
	}
	if (!quiet)
		diff_text(&g->d, stderr, log_color());
	code = gate_code(g);
	comparison_release(&g->c);
	return code;
}

int campaign_judge(struct campaign_job *j, bool quiet)
{
	struct judging g = { .j = j, .o = OPERAND_INIT, .opts = COMPARE_OPTS_INIT };
	int code = judge(&g, quiet);

	operand_release(&g.o);
	strvec_release(&g.opts.selection);
	strvec_release(&g.opts.metrics);
	VEC_RELEASE(&g.limits);
	return code;
}
