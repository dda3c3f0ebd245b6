#include "profrig/bench/bench_compare.h"
#include "bench_means.h"

#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/student.h"

#define NO_SIDE UINT32_MAX
#define REASONS_MAX 8 /* of a side; clocks differ from pair to pair */

struct comparing {
	const struct bench_tables *t;
	const struct bench_compare_opts *o;
	struct bench_comparison *ret;
	struct intern *shapes;
	struct u64map by_key;   /* key and side → its last row, in any cache mode */
	struct u64map by_shape; /* the same by the key without its types */
	bool *used;             /* of rows: joined with one of A's */
};

const char *bench_verdict_name(enum bench_verdict v)
{
	static const char *const names[] = { "faster", "slower", "same", "unclear" };

	return names[v];
}

/* ---- errors ---- */

/* Half of an interval, with an error besides whose size is taken to be known. */
static double half_widen(double half, double error, double confidence)
{
	return error > 0 ? hypot(half, student_t_real(confidence, INFINITY) * error) : half;
}

/*
 * The same of a ratio, which keeps its degrees: by Welch and Satterthwaite they would grow so much
 * that the interval of few processes shrinks by what is added to it.
 */
static void contrast_widen(struct contrast *c, double error, double confidence)
{
	double half = half_widen(log(c->high / c->ratio), error, confidence);

	if (!(error > 0) || isnan(half))
		return;
	c->low = c->ratio * exp(-half);
	c->high = c->ratio * exp(half);
	c->p = student_p(log(c->ratio) * student_t_real(confidence, c->df) / half, c->df);
}

/* extra: an error besides, of a known size. */
static struct bench_effect interval(double value, const struct contrast_sum *sum, double extra,
				    double confidence)
{
	double half = sqrt(sum->variance) * student_t_real(confidence, contrast_sum_df(sum));

	if (!(sum->variance > 0))
		half = sum->variance;
	half = half_widen(half, extra, confidence);
	return (struct bench_effect){ value, value - half, value + half };
}

/* ---- which rows belong together ---- */

/* Bytes of the type that a value begins with, "f32", "bf16", "i8", "f64c", "f32:abcd"; 0: none. */
static size_t type_length(const char *s, size_t all)
{
	static const char *const kinds[] = { "f", "bf", "tf", "xf", "i", "u", "s" };
	const char *colon = memchr(s, ':', all);
	size_t n = colon ? (size_t)(colon - s) : all;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		size_t len = strlen(kinds[k]), digits;

		if (n <= len || strncmp(s, kinds[k], len) != 0)
			continue;
		digits = strspn(s + len, "0123456789");
		if (digits && (len + digits == n || (len + digits + 1 == n && s[n - 1] == 'c')))
			return n;
	}
	return 0;
}

/* The key without its types. */
static str_id shape_of(const struct comparing *cmp, const char *key)
{
	CLEANUP(strbuf_release) struct strbuf shape = STRBUF_INIT;

	while (*key) {
		size_t n = strcspn(key, " "), type = 0;
		const char *value = memchr(key, '=', n);
		size_t name = value ? (size_t)(value + 1 - key) : n;

		if (value)
			type = type_length(value + 1, n - name);
		strbuf_add(&shape, key, name);
		strbuf_add(&shape, key + name + type, n - name - type);
		strbuf_addch(&shape, ' ');
		key += n + (key[n] == ' ');
	}
	return intern_put(cmp->shapes, shape.buf, shape.len);
}

static void rows_index(struct comparing *cmp)
{
	for (size_t i = 0; i < cmp->t->rows.nr; i++) {
		const struct bench_table_row *r = &cmp->t->rows.v[i];

		if (!bench_tables_counts(cmp->t, r))
			continue;
		*u64map_at(&cmp->by_key, u64map_pair(r->id, r->side)) = (uint32_t)i;
		if (*r->key)
			*u64map_at(&cmp->by_shape, u64map_pair(shape_of(cmp, r->key), r->side)) =
				(uint32_t)i;
	}
}

static bool side_has(const struct comparing *cmp, const struct bench_table_row *r, uint32_t side)
{
	return bench_tables_find(cmp->t, r->id, r->cache, r->threads, side) != NULL;
}

/* The row of a side that answers A's; NULL: there is none. */
static const struct bench_table_row *partner_of(const struct comparing *cmp,
						const struct bench_table_row *a, uint32_t side)
{
	const struct bench_table_row *rows = cmp->t->rows.v;
	const struct bench_table_row *b =
		bench_tables_find(cmp->t, a->id, a->cache, a->threads, side);
	uint32_t at;

	if (b)
		return b;
	/* in another mode, unless A has that one, too */
	at = u64map_get(&cmp->by_key, u64map_pair(a->id, side));
	if (at != U64MAP_NONE)
		return side_has(cmp, &rows[at], a->side) ? NULL : &rows[at];
	if (!*a->key)
		return NULL;
	at = u64map_get(&cmp->by_shape, u64map_pair(shape_of(cmp, a->key), side));
	if (at == U64MAP_NONE ||
	    u64map_get(&cmp->by_key, u64map_pair(rows[at].id, a->side)) != U64MAP_NONE)
		return NULL;
	return &rows[at];
}

/* ---- a pair ---- */

/* By A's. Unknown clocks do not differ. */
static bool clocks_differ(const struct bench_table_row *a, const struct bench_table_row *b)
{
	return a->clock_mhz > 0 && b->clock_mhz > 0 &&
	       fabs(b->clock_mhz / a->clock_mhz - 1) > BENCH_CLOCKS_DIFFER;
}

static void clocks_add(const struct bench_table_row *a, const struct bench_table_row *b,
		       struct strbuf *to)
{
	strbuf_addf(to, "%sclock %.0f MHz against %.0f", to->len ? "; " : "", a->clock_mhz,
		    b->clock_mhz);
}

/* Why the two must not be compared, in words, "" nothing. */
static void obstacles(const struct comparing *cmp, const struct bench_table_row *a,
		      const struct bench_table_row *b, struct strbuf *to)
{
	if (a->id != b->id)
		strbuf_addf(to, "types differ: %.200s", b->key);
	if (a->cache != b->cache)
		strbuf_addf(to, "%scache %s against %s", to->len ? "; " : "",
			    bench_cache_name(a->cache), bench_cache_name(b->cache));
	if (a->threads != b->threads)
		strbuf_addf(to, "%sthreads %u against %u", to->len ? "; " : "", a->threads,
			    b->threads);
	if (!bench_together(cmp->t, a, b) && clocks_differ(a, b))
		clocks_add(a, b, to);
}

static struct bench_effect unknown_effect(void)
{
	return (struct bench_effect){ NAN, NAN, NAN };
}

static double calls_of(const struct bench_pair *p)
{
	return (double)(p->a->calls ? p->a->calls : p->b->calls);
}

/* Variance and degrees of freedom of the difference of the means, times scale squared. */
static struct contrast_sum difference_of(const struct bench_pair *p, double scale)
{
	struct contrast_sum sum = { 0 };

	for (int i = 0; i < 2; i++)
		contrast_sum_add(&sum, scale * p->m[i].error * (scale * p->m[i].error), p->m[i].df);
	return sum;
}

/* Joules of all calls: the power is taken for exact, so that energy has the error of time. */
static struct contrast_sum joules_of(const struct bench_pair *p)
{
	double j[2] = { p->a->energy_j, p->b->energy_j };
	struct contrast_sum sum = { 0 };

	for (int i = 0; i < 2; i++) {
		double error = calls_of(p) * j[i] * p->m[i].error / p->m[i].mean;

		contrast_sum_add(&sum, error * error, p->m[i].df);
	}
	return sum;
}

static bool has_energy(const struct bench_pair *p)
{
	return !isnan(p->a->energy_j) && !isnan(p->b->energy_j);
}

static void effects_find(struct bench_pair *p, double confidence)
{
	double calls = calls_of(p);
	struct contrast_sum s = difference_of(p, calls * 1e-6), j = joules_of(p);

	p->seconds =
		interval(calls * (p->m[1].mean - p->m[0].mean) * 1e-6, &s,
			 calls * (p->m[0].mean + p->m[1].mean) / 2 * 1e-6 * p->extra, confidence);
	if (has_energy(p))
		p->joules = interval(calls * (p->b->energy_j - p->a->energy_j), &j,
				     calls * (p->a->energy_j + p->b->energy_j) / 2 * p->extra,
				     confidence);
}

static void pair_add(struct comparing *cmp, const struct bench_table_row *a,
		     const struct bench_table_row *b)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	struct bench_pair p = { .a = a, .b = b, .side = b->side, .winner = NO_SIDE };
	struct bench_means m = bench_means(cmp->t, a, b);

	p.seconds = p.joules = unknown_effect();
	p.share = p.p_adj = NAN;
	p.verdict = BENCH_UNCLEAR;
	obstacles(cmp, a, b, &why);
	p.refused = why.len && !cmp->o->force;
	p.apart = !bench_together(cmp->t, a, b);
	p.clocks = !cmp->o->force && !p.apart && clocks_differ(a, b);
	if (p.clocks)
		clocks_add(a, b, &why);
	if (why.len)
		p.reason = xstrdup(why.buf);
	p.m[0] = m.a;
	p.m[1] = m.b;
	p.paired = m.paired;
	p.levels = m.levels;
	p.speed = m.speed;
	p.extra = m.extra;
	contrast(&m.a, &m.b, cmp->o->confidence, &p.c);
	contrast_widen(&p.c, p.extra, cmp->o->confidence);
	if (p.refused)
		p.c.low = p.c.high = p.c.p = NAN;
	else
		effects_find(&p, cmp->o->confidence);
	if (!p.reason && (a->processes == 1 || b->processes == 1))
		p.reason = xstrdup("measured in one process alone");
	if (!p.reason && isnan(p.c.p))
		p.reason = xstrdup("a mean without an interval");
	VEC_PUSH(&cmp->ret->pairs, p);
}

/* ---- one side against A ---- */

static void left_add(struct comparing *cmp, struct bench_versus *v, enum bench_left_in in,
		     const struct bench_table_row *row, const struct bench_table_row *other)
{
	v->left[in]++;
	VEC_PUSH(&cmp->ret->left,
		 ((struct bench_left){ .in = in,
				       .side = v->side,
				       .row = row,
				       .why = other ? bench_status_name(other->status) : "missing",
				       .detail = other ? other->reason : "" }));
}

static void row_join(struct comparing *cmp, struct bench_versus *v, const struct bench_table_row *a)
{
	const struct bench_table_row *b = partner_of(cmp, a, v->side);
	bool a_ok = a->status == BENCH_OK, b_ok = b && b->status == BENCH_OK;

	if (b)
		cmp->used[b - cmp->t->rows.v] = true;
	if (a_ok && b_ok)
		pair_add(cmp, a, b);
	else if (a_ok)
		left_add(cmp, v, BENCH_ONLY_A, a, b);
	else if (b_ok)
		left_add(cmp, v, BENCH_ONLY_B, b, a);
	else
		left_add(cmp, v, BENCH_NEITHER, a, a);
}

static void side_join(struct comparing *cmp, struct bench_versus *v)
{
	const struct bench_tables *t = cmp->t;

	for (size_t i = 0; i < t->rows.nr; i++)
		if (t->rows.v[i].side == 0 && bench_tables_counts(t, &t->rows.v[i]))
			row_join(cmp, v, &t->rows.v[i]);
	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct bench_table_row *b = &t->rows.v[i];

		if (b->side != v->side || cmp->used[i] || !bench_tables_counts(t, b))
			continue;
		if (b->status == BENCH_OK)
			left_add(cmp, v, BENCH_ONLY_B, b, NULL);
		else
			left_add(cmp, v, BENCH_NEITHER, b, b);
	}
}

/* Levels of processes that were alive together are of their fastest blocks alone. */
static bool has_doubt(const struct bench_pair *p)
{
	return p->apart || !p->paired || !p->levels;
}

/*
 * Whether another figure shows the difference, too; one that is not known does not contradict.
 * apart: it has to show half of it, as phases of the machine change means more than the others.
 */
static bool shows(double a, double b, double ratio, double threshold, bool apart)
{
	double change = b / a - 1;

	if (!(a > 0) || !(b > 0))
		return true;
	if (apart && fabs(log(b / a)) < fabs(log(ratio)) / 2)
		return false;
	return ratio > 1 ? change > threshold / 2 : change < -threshold / 2;
}

/* The whole interval, too, is off by more than half of the threshold. */
static bool clear_of_one(const struct contrast *c, double threshold)
{
	return c->ratio > 1 ? c->low > 1 + threshold / 2 : c->high < 1 - threshold / 2;
}

/* The ratio that the clocks alone would make is not excluded. */
static bool clocks_explain(const struct contrast *c, double by_clocks)
{
	return c->ratio > 1 ? c->low <= by_clocks : c->high >= by_clocks;
}

static double ratio_of_clocks(const struct bench_pair *p)
{
	return p->clocks ? p->a->clock_mhz / p->b->clock_mhz : 1;
}

static enum bench_verdict verdict_of(enum contrast_verdict v)
{
	static const enum bench_verdict of[] = { [CONTRAST_LESS] = BENCH_FASTER,
						 [CONTRAST_MORE] = BENCH_SLOWER,
						 [CONTRAST_SAME] = BENCH_SAME,
						 [CONTRAST_UNCLEAR] = BENCH_UNCLEAR };

	return of[v];
}

static void pair_judge(struct bench_pair *p, const struct bench_compare_opts *o)
{
	enum contrast_verdict verdict =
		contrast_judge(&p->c, p->p_adj, o->threshold, o->confidence);
	bool differs = verdict == CONTRAST_LESS || verdict == CONTRAST_MORE;

	if (differs && (!clear_of_one(&p->c, o->threshold) ||
			(p->clocks && clocks_explain(&p->c, ratio_of_clocks(p))))) {
		p->verdict = BENCH_UNCLEAR;
		return;
	}
	if (differs && has_doubt(p) &&
	    !(shows(p->a->min, p->b->min, p->c.ratio, o->threshold, p->apart) &&
	      shows(p->a->median, p->b->median, p->c.ratio, o->threshold, p->apart))) {
		free(p->reason);
		p->reason = xasprintf("the fastest blocks differ by %+.1f %%, the median ones by "
				      "%+.1f %%",
				      (p->b->min / p->a->min - 1) * 100,
				      (p->b->median / p->a->median - 1) * 100);
		p->verdict = BENCH_UNCLEAR;
		return;
	}
	p->verdict = verdict_of(verdict);
	if (p->verdict == BENCH_UNCLEAR && !p->reason && p->speed > o->threshold / 2)
		p->reason = xasprintf("the speed of the processor differs by %.0f %%",
				      expm1(p->speed) * 100);
}

/* p-values of the pairs from this one on, adjusted. */
static void pairs_adjust(struct comparing *cmp, size_t from)
{
	size_t nr = cmp->ret->pairs.nr - from;
	double *p = xcalloc(nr ? nr : 1, sizeof(*p));

	for (size_t i = 0; i < nr; i++)
		p[i] = cmp->ret->pairs.v[from + i].c.p;
	holm(p, nr);
	for (size_t i = 0; i < nr; i++)
		cmp->ret->pairs.v[from + i].p_adj = p[i];
	free(p);
}

struct sums {
	struct contrast_sum a, b, seconds, joules;
	double extra_s2, extra_j2; /* squares of the errors besides, of seconds and joules */
	double min[2], median[2];  /* of A and B, seconds; NaN: one is not known */
	double by_clocks;          /* what A's seconds would be at B's clocks */
	bool clocks, apart, doubt;
};

static void pair_sum(const struct bench_pair *p, struct bench_versus *v, struct sums *s)
{
	double scale = calls_of(p) * 1e-6;
	struct contrast_mean x = p->m[0], y = p->m[1];
	struct contrast_sum one = difference_of(p, scale), joules = joules_of(p);

	v->a_s += scale * x.mean;
	v->b_s += scale * y.mean;
	s->extra_s2 += pow(scale * (x.mean + y.mean) / 2 * p->extra, 2);
	s->min[0] += scale * p->a->min;
	s->min[1] += scale * p->b->min;
	s->median[0] += scale * p->a->median;
	s->median[1] += scale * p->b->median;
	s->by_clocks += scale * x.mean * ratio_of_clocks(p);
	s->clocks |= p->clocks;
	s->apart |= p->apart;
	s->doubt |= has_doubt(p);
	contrast_sum_add(&s->a, scale * x.error * (scale * x.error), x.df);
	contrast_sum_add(&s->b, scale * y.error * (scale * y.error), y.df);
	s->seconds.variance += one.variance;
	s->seconds.by_df += one.by_df;
	if (!has_energy(p))
		return;
	v->joules.value = (v->with_energy++ ? v->joules.value : 0) + p->joules.value;
	s->joules.variance += joules.variance;
	s->joules.by_df += joules.by_df;
	s->extra_j2 += pow(calls_of(p) * (p->a->energy_j + p->b->energy_j) / 2 * p->extra, 2);
}

/* The sum is held to what a pair is held to. */
static enum bench_verdict sum_judge(const struct bench_versus *v, const struct sums *s,
				    const struct contrast *all, const struct bench_compare_opts *o)
{
	enum contrast_verdict verdict = contrast_judge(all, all->p, o->threshold, o->confidence);

	if (verdict != CONTRAST_LESS && verdict != CONTRAST_MORE)
		return verdict_of(verdict);
	if (s->doubt && (!shows(s->min[0], s->min[1], all->ratio, o->threshold, s->apart) ||
			 !shows(s->median[0], s->median[1], all->ratio, o->threshold, s->apart)))
		return BENCH_UNCLEAR;
	if (!clear_of_one(all, o->threshold) ||
	    (s->clocks && clocks_explain(all, s->by_clocks / v->a_s)))
		return BENCH_UNCLEAR;
	return verdict_of(verdict);
}

static void versus_judge(struct bench_versus *v, const struct sums *s,
			 const struct bench_compare_opts *o)
{
	struct contrast_mean a = { v->a_s, sqrt(s->a.variance), contrast_sum_df(&s->a) };
	struct contrast_mean b = { v->b_s, sqrt(s->b.variance), contrast_sum_df(&s->b) };
	struct contrast all;
	size_t fine = v->pairs - v->refused;

	v->score = v->pairs ? (double)fine / (double)v->pairs : 0;
	v->comparable = v->pairs && !v->refused;
	v->verdict = BENCH_UNCLEAR;
	if (!fine) {
		v->seconds = v->relative = unknown_effect();
		return;
	}
	contrast(&a, &b, o->confidence, &all);
	contrast_widen(&all, 2 * sqrt(s->extra_s2) / (v->a_s + v->b_s), o->confidence);
	v->seconds = interval(v->b_s - v->a_s, &s->seconds, sqrt(s->extra_s2), o->confidence);
	v->relative = (struct bench_effect){ all.ratio - 1, all.low - 1, all.high - 1 };
	if (v->with_energy)
		v->joules = interval(v->joules.value, &s->joules, sqrt(s->extra_j2), o->confidence);
	if (v->comparable)
		v->verdict = sum_judge(v, s, &all, o);
}

static void side_compare(struct comparing *cmp, uint32_t side)
{
	struct bench_versus v = { .side = side, .joules = unknown_effect() };
	struct bench_comparison *ret = cmp->ret;
	size_t from = ret->pairs.nr;
	struct sums sums = { 0 };

	side_join(cmp, &v);
	pairs_adjust(cmp, from);
	v.pairs = ret->pairs.nr - from;
	for (size_t i = from; i < ret->pairs.nr; i++) {
		struct bench_pair *p = &ret->pairs.v[i];

		if (p->refused) {
			v.refused++;
		} else {
			pair_judge(p, cmp->o);
			pair_sum(p, &v, &sums);
		}
		v.of[p->verdict]++;
	}
	for (size_t i = from; i < ret->pairs.nr; i++)
		ret->pairs.v[i].share = ret->pairs.v[i].seconds.value / v.a_s;
	versus_judge(&v, &sums, cmp->o);
	VEC_PUSH(&ret->versus, v);
}

/* ---- who wins ---- */

/* Too close to call among as many rows as there are. */
static bool cannot_tell(const struct comparing *cmp, const struct bench_table_row *best,
			const struct bench_table_row *r)
{
	struct bench_means m = bench_means(cmp->t, best, r);
	struct contrast c;

	contrast(&m.a, &m.b, cmp->o->confidence, &c);
	contrast_widen(&c, m.extra, cmp->o->confidence);
	return contrast_judge(&c, fmin(c.p * (double)cmp->ret->pairs.nr, 1), 0,
			      cmp->o->confidence) != CONTRAST_MORE;
}

static void winners_find(struct comparing *cmp)
{
	const struct bench_table_row *rows = cmp->t->rows.v;
	const struct bench_table_row **best = xcalloc(cmp->t->rows.nr + 1, sizeof(*best));
	double *least = xcalloc(cmp->t->rows.nr + 1, sizeof(*least)); /* by A's */
	bool *tied = xcalloc(cmp->t->rows.nr + 1, sizeof(*tied));

	for (size_t i = 0; i < cmp->ret->pairs.nr; i++) {
		const struct bench_pair *p = &cmp->ret->pairs.v[i];
		const struct bench_table_row **b = &best[p->a - rows];

		if (p->refused)
			continue;
		if (!*b) {
			*b = p->a;
			least[p->a - rows] = 1;
		}
		if (p->c.ratio < least[p->a - rows]) {
			*b = p->b;
			least[p->a - rows] = p->c.ratio;
		}
	}
	for (size_t i = 0; i < cmp->ret->pairs.nr; i++) {
		const struct bench_pair *p = &cmp->ret->pairs.v[i];
		const struct bench_table_row *b = best[p->a - rows];

		if (!p->refused)
			tied[p->a - rows] |= (b != p->a && cannot_tell(cmp, b, p->a)) ||
					     (b != p->b && cannot_tell(cmp, b, p->b));
	}
	for (size_t i = 0; i < cmp->ret->pairs.nr; i++) {
		struct bench_pair *p = &cmp->ret->pairs.v[i];

		p->winner = p->refused ? NO_SIDE : best[p->a - rows]->side;
		p->tied = !p->refused && tied[p->a - rows];
	}
	free(best);
	free(least);
	free(tied);
}

/* ---- all ---- */

static int by_weight(const void *a, const void *b, bool calls)
{
	const struct bench_pair *x = a, *y = b;
	double p = calls ? -calls_of(x) : x->seconds.value;
	double q = calls ? -calls_of(y) : y->seconds.value;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (isnan(p) != isnan(q))
		return isnan(p) ? 1 : -1;
	if (p < q || p > q)
		return p < q ? -1 : 1;
	return (x->a > y->a) - (x->a < y->a);
}

static int by_saving(const void *a, const void *b)
{
	return by_weight(a, b, false);
}

static int by_calls(const void *a, const void *b)
{
	return by_weight(a, b, true);
}

/* Each reason of a side once, with how many pairs it refuses. */
static void refusals_add(struct comparing *cmp, const struct bench_versus *v, const char *name)
{
	CLEANUP(strvec_release) struct strvec seen = STRVEC_INIT;

	for (size_t i = 0; i < cmp->ret->pairs.nr; i++) {
		const struct bench_pair *p = &cmp->ret->pairs.v[i];
		size_t nr = 0;

		if (p->side != v->side || !p->refused || strvec_has(&seen, p->reason))
			continue;
		strvec_push(&seen, p->reason);
		for (size_t k = i; k < cmp->ret->pairs.nr; k++)
			nr += cmp->ret->pairs.v[k].side == v->side &&
			      cmp->ret->pairs.v[k].refused &&
			      !strcmp(cmp->ret->pairs.v[k].reason, p->reason);
		if (seen.nr > REASONS_MAX) {
			strvec_pushf(&cmp->ret->reasons, "%s: refused for other reasons, too",
				     name);
			return;
		}
		strvec_pushf(&cmp->ret->reasons, "%s: %zu of %zu refused: %s", name, nr, v->pairs,
			     p->reason);
	}
}

/* "B openblas of after.csv" */
static char *side_name(const struct comparing *cmp, uint32_t side)
{
	const struct bench_table_side *s = &cmp->t->sides.v[side];
	const char *file = fs_base(cmp->t->files.v[s->file].path);

	return side < 26 ? xasprintf("%c, %.100s of %.100s", 'A' + (int)side, s->back_end, file)
			 : xasprintf("%.100s of %.100s", s->back_end, file);
}

static void reasons_find(struct comparing *cmp)
{
	const struct bench_table_side *sides = cmp->t->sides.v;
	struct strvec *to = &cmp->ret->reasons;

	for (size_t i = 0; i < cmp->ret->versus.nr; i++) {
		const struct bench_versus *v = &cmp->ret->versus.v[i];
		CLEANUP(xfreep) char *name = side_name(cmp, v->side);

		if (!v->pairs)
			strvec_pushf(to, "%s: no call has a time in both", name);
		refusals_add(cmp, v, name);
		if (*sides[0].device && *sides[v->side].device &&
		    strcmp(sides[0].device, sides[v->side].device) != 0)
			strvec_pushf(to, "%s: another device: %.100s, not %.100s", name,
				     sides[v->side].device, sides[0].device);
	}
}

void bench_compare(const struct bench_tables *t, const struct bench_compare_opts *o,
		   struct bench_comparison *ret)
{
	struct comparing cmp = { .t = t,
				 .o = o,
				 .ret = ret,
				 .shapes = intern_new(),
				 .by_key = U64MAP_INIT,
				 .by_shape = U64MAP_INIT,
				 .used = xcalloc(t->rows.nr + 1, sizeof(bool)) };

	*ret = (struct bench_comparison){ .o = *o, .reasons = STRVEC_INIT };
	rows_index(&cmp);
	for (uint32_t side = 1; side < t->sides.nr; side++)
		side_compare(&cmp, side);
	winners_find(&cmp);
	if (ret->pairs.nr)
		qsort(ret->pairs.v, ret->pairs.nr, sizeof(*ret->pairs.v),
		      o->by_calls ? by_calls : by_saving);
	reasons_find(&cmp);
	intern_free(cmp.shapes);
	u64map_release(&cmp.by_key);
	u64map_release(&cmp.by_shape);
	free(cmp.used);
}

void bench_comparison_release(struct bench_comparison *c)
{
	for (size_t i = 0; i < c->pairs.nr; i++)
		free(c->pairs.v[i].reason);
	VEC_RELEASE(&c->pairs);
	VEC_RELEASE(&c->left);
	VEC_RELEASE(&c->versus);
	strvec_release(&c->reasons);
}
