#include "campaign_verdict.h"
#include "campaign_compare.h"
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
	struct campaign_compare cc;
	struct diff d;
};

static void metrics_take(struct judging *g)
{
	for (size_t i = 0; i < g->j->file.gates.nr; i++)
		campaign_compare_gate(&g->cc, g->j->file.gates.v[i].metric,
				      g->j->file.gates.v[i].threshold);
	if (!g->j->file.gates.nr)
		campaign_compare_usual(&g->cc, &g->j->file.metrics);
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *row_json(const struct judging *g, const struct compare_row *r)
{
	const struct compare_versus *v = &g->cc.c.versus.v[r->versus];
	char method[64];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:s}", "a",
			 v->a->cell, "b", v->b->cell, "metric", r->name, "key", r->key, "method",
			 compare_method(r, g->cc.opts.declared, method), "n_a", (int)r->a.n, "n_b",
			 (int)r->b.n, "est", number(r->ratio), "lo", number(r->low), "hi",
			 number(r->high), "p", number(r->p), "p_adj", number(r->p_adj), "verdict",
			 compare_verdict_name(r->verdict));
}

/* Figures of the whole run alone: those of tables may be many, and are asked for by compare. */
static int verdict_note(struct judging *g, struct err *err)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < g->cc.c.rows.nr; i++)
		if (!g->cc.c.rows.v[i].of_table)
			json_array_append_new(rows, row_json(g, &g->cc.c.rows.v[i]));
	return campaign_job_note(g->j, "verdict", NULL, 0,
				 json_pack("{s:o, s:{s:f, s:f, s:s}}", "rows", rows, "params",
					   "confidence", g->cc.opts.confidence, "threshold",
					   g->cc.opts.threshold, "overall",
					   comparison_verdict(&g->cc.c)),
				 err);
}

static int gate_code(const struct judging *g)
{
	size_t slower = 0;
	bool refused = comparison_score(&g->cc.c) <= 0;

	for (size_t i = 0; i < g->cc.c.rows.nr; i++)
		slower += g->cc.c.rows.v[i].verdict == COMPARE_SLOWER;
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
	int r;

	metrics_take(g);
	r = campaign_compare_run(&g->cc, g->j->dir, &err);
	if (r == 0)
		return EXIT_DONE;
	if (r < 0 || (!g->j->state.concluded && verdict_note(g, &err) < 0)) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	g->d.c = &g->cc.c;
	if (!quiet)
		diff_text(&g->d, stderr, log_color());
	return gate_code(g);
}

int campaign_judge(struct campaign_job *j, bool quiet)
{
	struct judging g = { .j = j };
	int code;

	campaign_compare_init(&g.cc);
	code = judge(&g, quiet);
	campaign_compare_release(&g.cc);
	return code;
}
