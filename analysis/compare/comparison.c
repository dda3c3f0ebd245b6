#include "comparison_private.h"
#include "condition_clocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/samples_test.h"

const char *compare_verdict_name(enum compare_verdict v)
{
	static const char *const names[] = { "faster", "slower", "same", "unclear", "new", "gone" };

	return names[v];
}

const char *compare_method(const struct compare_row *r, bool declared, char *buf)
{
	if (r->verdict == COMPARE_NEW || r->verdict == COMPARE_GONE)
		return "none";
	if (r->method == SAMPLE_FEW)
		return sample_method_name(r->method);
	snprintf(buf, 64, "%s%s-%s", sample_method_name(r->method),
		 r->floor > 0 ? "-permutation" : "", declared ? "holm" : "bh");
	return buf;
}

void comparison_init(struct comparison *c, const struct compare_opts *o)
{
	*c = (struct comparison){
		.o = *o, .texts = intern_new(), .problems = STRVEC_INIT, .notes = STRVEC_INIT
	};
}

void comparison_release(struct comparison *c)
{
	for (size_t i = 0; i < c->versus.nr; i++) {
		comparable_release(&c->versus.v[i].comparable);
		trace_compare_free(c->versus.v[i].trace);
	}
	VEC_RELEASE(&c->versus);
	VEC_RELEASE(&c->rows);
	strvec_release(&c->problems);
	strvec_release(&c->notes);
	intern_free(c->texts);
}

void comparison_add(struct comparison *c, const struct run_set *a, const struct run_set *b,
		    const char *name_a, const char *name_b)
{
	VEC_PUSH(&c->versus, ((struct compare_versus){ .a = a,
						       .b = b,
						       .name_a = name_a,
						       .name_b = name_b,
						       .comparable = COMPARABLE_INIT }));
}

/* ---- whether they compare ---- */

static bool metric_wanted(const void *ctx, const char *name)
{
	const struct comparison *c = ctx;

	return figures_selected(&c->o.selection, name, !condition_clock_is(name)) ||
	       strvec_has(&c->o.selection, "metrics");
}

static struct condition_side side_of(const struct run_set *s, const char *name)
{
	struct conditions **runs = xcalloc(s->runs.nr + 1, sizeof(*runs));

	for (size_t i = 0; i < s->runs.nr; i++)
		runs[i] = &s->runs.v[i].c;
	return (struct condition_side){ name, runs, s->runs.nr };
}

/* Runs that failed are no measurements, but those that are left may be the lucky ones. */
static void losses_check(const struct run_set *s, const char *name, struct comparable *ret)
{
	if (!s->runs.nr)
		comparable_add(ret, true, "%s has no run that ended well%s%.80s", name,
			       s->failed.nr ? ": " : "", s->failed.nr ? s->failed.v[0] : "");
	else if (s->failed.nr)
		comparable_add(ret, false, "%s: %zu of %zu runs did not end well and do not count",
			       name, s->failed.nr, s->failed.nr + s->runs.nr);
	if (s->runs.nr && s->missing)
		comparable_add(ret, false, "%s: %zu of %zu runs of the plan are missing", name,
			       s->missing, s->missing + s->runs.nr + s->failed.nr);
}

static void versus_check(const struct comparison *c, struct compare_versus *v)
{
	struct condition_side a = side_of(v->a, v->name_a), b = side_of(v->b, v->name_b);

	losses_check(v->a, v->name_a, &v->comparable);
	losses_check(v->b, v->name_b, &v->comparable);
	conditions_compare(&a, &b, run_sets_exempt(v->a, v->b), metric_wanted, c, &v->comparable);
	free((void *)a.runs);
	free((void *)b.runs);
}

static int versus_traces(struct comparison *c, struct compare_versus *v, struct err *err)
{
	struct trace_compare_opts o = { .name_a = v->name_a,
					.name_b = v->name_b,
					.exempt = run_sets_exempt(v->a, v->b),
					.threshold = c->o.threshold,
					.confidence = c->o.confidence,
					.texts = c->texts,
					.problems = &c->problems,
					.notes = &c->notes };

	if (!c->o.traces)
		return 0;
	return trace_compare_new(v->a, v->b, &o, &v->comparable, &v->trace, err);
}

/* ---- what limits the tests ---- */

/* The least two-sided p of ranks: 2/C(na + nb, na). */
static double ranks_floor(const struct compare_row *r)
{
	struct rank_test t;
	double a[1000], b[1000];
	size_t na = r->a.n < 1000 ? r->a.n : 1000, nb = r->b.n < 1000 ? r->b.n : 1000;

	for (size_t i = 0; i < na; i++)
		a[i] = (double)i;
	for (size_t i = 0; i < nb; i++)
		b[i] = (double)(na + i);
	mann_whitney(a, na, b, nb, &t);
	return t.floor;
}

static void floors_note(struct comparison *c)
{
	size_t few = 0, low = 0, tests = 0;
	const struct compare_row *first = NULL, *least = NULL;
	double alpha = 1 - c->o.confidence;

	for (size_t i = 0; i < c->rows.nr; i++)
		tests += isfinite(c->rows.v[i].p_adj);
	for (size_t i = 0; i < c->rows.nr; i++) {
		const struct compare_row *r = &c->rows.v[i];

		if (!row_tested(r))
			continue;
		few += r->method == SAMPLE_FEW;
		if (r->method == SAMPLE_FEW)
			continue;
		if (r->floor > 0 && r->floor * (double)tests > alpha && !low++)
			first = r;
		if (!least || r->a.n + r->b.n < least->a.n + least->b.n)
			least = r;
	}
	if (few)
		strvec_pushf(&c->notes,
			     "%zu %s fewer than 3 runs on a side: nothing can be said "
			     "of %s, whatever the difference",
			     few, few == 1 ? "figure has" : "figures have",
			     few == 1 ? "it" : "them");
	if (first)
		strvec_pushf(&c->notes,
			     "with %" PRIu32 " and %" PRIu32 " runs rearrangements "
			     "cannot give a p below %.2g, which %zu tests turn into "
			     "%.2g: more runs, or fewer metrics (--metric)",
			     first->a.n, first->b.n, first->floor, tests,
			     fmin(1, first->floor * (double)tests));
	if (least && least->a.n < SAMPLES_REARRANGED && ranks_floor(least) > alpha / (double)tests)
		strvec_pushf(&c->notes,
			     "with %" PRIu32 " and %" PRIu32 " runs ranks alone cannot "
			     "give a p below %.2g; Student's t decides",
			     least->a.n, least->b.n, ranks_floor(least));
}

static void order_note(struct comparison *c, const struct compare_row *r, const char *side,
		       unsigned odd)
{
	if (odd & COMPARE_DRIFT)
		strvec_pushf(&c->notes,
			     "%.60s of %s changes from its first to its last run: "
			     "blocks (a campaign in interleaved order) cancel that",
			     r->name, side);
	if (odd & COMPARE_LAG)
		strvec_pushf(&c->notes,
			     "%.60s of %s: runs resemble their neighbours, so that "
			     "intervals are too narrow",
			     r->name, side);
}

static void notes_make(struct comparison *c)
{
	size_t outliers = 0, left_out = 0;

	floors_note(c);
	for (size_t i = 0; i < c->rows.nr; i++) {
		const struct compare_row *r = &c->rows.v[i];
		const struct compare_versus *v = &c->versus.v[r->versus];

		outliers += r->a.outliers + r->b.outliers;
		left_out += r->left_out;
		order_note(c, r, v->name_a, r->odd_a);
		order_note(c, r, v->name_b, r->odd_b);
	}
	if (outliers)
		strvec_pushf(&c->notes, "%zu %s far from the median of the side, and %s", outliers,
			     outliers == 1 ? "value is" : "values are",
			     outliers == 1 ? "counts" : "count");
	if (left_out)
		strvec_pushf(&c->notes, "%zu %s not above 0 and %s no ratio", left_out,
			     left_out == 1 ? "value is" : "values are",
			     left_out == 1 ? "has" : "have");
	if (c->small)
		strvec_pushf(&c->notes,
			     "%zu %s a smaller share than %g %% on both sides, and %s left "
			     "out",
			     c->small, c->small == 1 ? "figure has" : "figures have",
			     c->o.min_share * 100, c->small == 1 ? "is" : "are");
	if (c->bad)
		strvec_pushf(&c->notes, "%zu %s no finite number and %s left out", c->bad,
			     c->bad == 1 ? "value is" : "values are", c->bad == 1 ? "is" : "are");
}

/* ---- all of it ---- */

/* Sets once each, as a baseline is in many. */
struct loaded {
	struct figure_book book;
	VEC(struct loaded_set) sets;
};

static int set_load(struct loaded *l, const struct run_set *s, struct comparison *c,
		    struct err *err)
{
	if (VEC_FIND(&l->sets, e, e->set == s))
		return 0;
	VEC_PUSH(&l->sets, ((struct loaded_set){ .set = s }));
	return loaded_set_read(&l->sets.v[l->sets.nr - 1], s, &l->book, c, err);
}

static const struct loaded_set *set_of(const struct loaded *l, const struct run_set *s)
{
	return VEC_FIND(&l->sets, e, e->set == s);
}

static int all_load(struct loaded *l, struct comparison *c, struct err *err)
{
	int r = 0;

	book_init(&l->book, c->texts);
	for (size_t i = 0; i < c->versus.nr && r == 0; i++) {
		r = set_load(l, c->versus.v[i].a, c, err);
		if (r == 0)
			r = set_load(l, c->versus.v[i].b, c, err);
	}
	for (size_t i = 0; i < l->sets.nr && r == 0; i++)
		loaded_set_finish(&l->sets.v[i], &l->book);
	return r;
}

int comparison_run(struct comparison *c, struct err *err)
{
	CLEANUP(workers_freep) struct workers *w = NULL;
	struct loaded l = { .sets = VEC_INIT };
	int r = all_load(&l, c, err);

	w = workers_new(l.book.v.nr > ROWS_OF_THREAD ? 0 : 1);
	for (uint32_t i = 0; i < c->versus.nr && r == 0; i++) {
		versus_check(c, &c->versus.v[i]);
		r = versus_traces(c, &c->versus.v[i], err);
		versus_rows(c, i, set_of(&l, c->versus.v[i].a), set_of(&l, c->versus.v[i].b),
			    &l.book, w);
	}
	for (size_t i = 0; i < l.sets.nr; i++)
		loaded_set_release(&l.sets.v[i]);
	VEC_RELEASE(&l.sets);
	book_release(&l.book);
	if (r == 0) {
		comparison_judge(c);
		notes_make(c);
	}
	return r;
}

const char *comparison_verdict(const struct comparison *c)
{
	static const enum compare_verdict worst[] = { COMPARE_SLOWER, COMPARE_UNCLEAR,
						      COMPARE_SAME };

	if (comparison_score(c) <= 0)
		return "not comparable";
	for (size_t w = 0; w < ARRAY_LEN(worst); w++)
		for (size_t i = 0; i < c->versus.nr; i++)
			if (c->versus.v[i].verdict == worst[w])
				return compare_verdict_name(worst[w]);
	return compare_verdict_name(COMPARE_FASTER);
}

double comparison_score(const struct comparison *c)
{
	double score = 1;

	for (size_t i = 0; i < c->versus.nr; i++)
		score = fmin(score, c->versus.v[i].comparable.score);
	return c->versus.nr ? score : 0;
}
