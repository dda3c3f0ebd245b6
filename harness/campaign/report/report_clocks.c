/* Mean clocks of a campaign's runs: blocks in which they lie too far apart. */
#include "report_priv.h"

#include <math.h>
#include <string.h>

#include "profrig/base/block_spread.h"

struct clocked {
	struct sample s;
	uint32_t run;
	const char *model; /* of the report */
};

struct clock_taking {
	struct report_taking *t;
	VEC(struct clocked) v;
};

static int clock_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct clock_taking *k = ctx;
	struct campaign_report *r = k->t->r;
	uint32_t at = report_place(k->t->attempts, &c[0]);
	const struct report_run *run;

	(void)n, (void)err;
	if (at == REPORT_NONE || c[1].kind != STORE_F64)
		return 0;
	run = &r->runs.v[r->attempts.v[at].run];
	VEC_PUSH(&k->v, ((struct clocked){ { c[1].f, run->block },
					   r->attempts.v[at].run,
					   r->cells.v[run->cell].model }));
	return 0;
}

static int model_cmp(const void *a, const void *b)
{
	const struct clocked *x = a, *y = b;
	int c = strcmp(x->model, y->model);

	return c ? c : x->run < y->run ? -1 : x->run > y->run;
}

/* Runs of one model; other programs have other clocks by right. */
static void model_take(struct campaign_report *r, const char *metric, const struct clocked *v,
		       size_t nr)
{
	CLEANUP(xfreep) struct sample *s = xcalloc(nr + 1, sizeof(*s));
	CLEANUP(xfreep) struct block_spread *b = NULL;
	size_t n;

	for (size_t i = 0; i < nr; i++)
		s[i] = v[i].s;
	n = block_spreads(s, nr, REPORT_CLOCKS, &b);
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(&r->clocks, ((struct report_clock){
					     metric, v[0].model, b[i].block, b[i].low, b[i].high,
					     v[b[i].at_low].run, v[b[i].at_high].run }));
}

static int metric_take(struct store *s, struct report_taking *t, const char *metric,
		       struct err *err)
{
	CLEANUP(xfreep)
	char *sql = xasprintf("SELECT m.attempt, m.value " REPORT_OF_COMMITTED
			      "AND m.name = '%s' AND m.key = ''",
			      metric);
	struct clock_taking k = { .t = t };
	struct store_query q = { .ctx = &k, .row = clock_row };
	struct store_answer a;
	int e = store_ask(s, sql, &q, &a, err);

	if (e == 0 && k.v.nr)
		qsort(k.v.v, k.v.nr, sizeof(*k.v.v), model_cmp);
	for (size_t i = 0, n; e == 0 && i < k.v.nr; i += n) {
		for (n = 1; i + n < k.v.nr && !strcmp(k.v.v[i + n].model, k.v.v[i].model);)
			n++;
		model_take(t->r, metric, &k.v.v[i], n);
	}
	VEC_RELEASE(&k.v);
	return e;
}

int report_clocks_take(struct store *s, struct report_taking *t, struct err *err)
{
	int e = metric_take(s, t, "clock_mhz", err);

	return e == 0 ? metric_take(s, t, "gpu_clock_mhz", err) : e;
}
