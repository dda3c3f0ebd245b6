#include "profrig/compare/trace_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Below it a double holds 1/1024, and a sum of two as well. */
#define FINE_NS ((double)(INT64_C(1) << 42))
#define FINE 1024.0

const char *trace_state_name(enum trace_state s)
{
	static const char *const names[] = { "new", "gone", "increased", "decreased", "unchanged" };

	return names[s];
}

void trace_diff_release(struct trace_diff *d)
{
	VEC_RELEASE(&d->v);
}

/* ---- numbers ---- */

static int64_t ns_sum(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

static uint64_t count_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* times · total / count, to the last bit where the quotient is below 2^53. */
static double part(__int128 times, int64_t total, uint64_t count)
{
	__int128 product, q, r;

	if (__builtin_mul_overflow(times, (__int128)total, &product))
		return (double)times * (double)total / (double)count;
	q = product / (__int128)count;
	r = product % (__int128)count;
	return (double)q + (double)r / (double)count;
}

static void effects_find(struct trace_diff_row *r)
{
	__int128 more = (__int128)r->count_b - (__int128)r->count_a;
	double effect =
		(part(more, r->total_a_ns, r->count_a) + part(more, r->total_b_ns, r->count_b)) / 2;
	double fine = fabs(effect) < FINE_NS && fabs((double)r->delta_ns) < FINE_NS ? FINE : 1;

	r->count_effect_ns = rint(effect * fine) / fine;
	r->rate_effect_ns = (double)r->delta_ns - r->count_effect_ns;
}

/* ---- lists ---- */

static int by_name(const void *pa, const void *pb)
{
	const struct trace_total *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* Each name once, sorted. */
static struct trace_total *totals_of(const struct trace_total *v, size_t n, size_t *ret_n)
{
	struct trace_total *to = xcalloc(n + 1, sizeof(*to));
	size_t nr = 0;

	if (n)
		memcpy(to, v, n * sizeof(*to));
	qsort(to, n, sizeof(*to), by_name);
	for (size_t i = 0; i < n; i++) {
		if (nr && strcmp(to[nr - 1].name, to[i].name) == 0) {
			to[nr - 1].count = count_sum(to[nr - 1].count, to[i].count);
			to[nr - 1].total_ns = ns_sum(to[nr - 1].total_ns, to[i].total_ns);
		} else {
			to[nr++] = to[i];
		}
	}
	*ret_n = nr;
	return to;
}

static enum trace_state state_of(const struct trace_diff_row *r)
{
	if (!r->count_a && r->count_b)
		return TRACE_NEW;
	if (r->count_a && !r->count_b)
		return TRACE_GONE;
	if (r->count_a == r->count_b)
		return TRACE_UNCHANGED;
	return r->count_b > r->count_a ? TRACE_INCREASED : TRACE_DECREASED;
}

static void row_add(struct trace_diff *d, const char *name, const struct trace_total *a,
		    const struct trace_total *b)
{
	struct trace_diff_row r = { .name = name };

	if (a) {
		r.count_a = a->count;
		r.total_a_ns = a->total_ns;
	}
	if (b) {
		r.count_b = b->count;
		r.total_b_ns = b->total_ns;
	}
	r.delta_ns = r.total_b_ns - r.total_a_ns;
	r.state = state_of(&r);
	if (r.count_a && r.count_b) {
		effects_find(&r);
		d->sum.count_effect_ns += r.count_effect_ns;
		d->sum.rate_effect_ns += r.rate_effect_ns;
	} else {
		d->sum.new_ns = ns_sum(d->sum.new_ns, r.total_b_ns);
		d->sum.gone_ns = ns_sum(d->sum.gone_ns, r.total_a_ns);
	}
	d->names_a += r.count_a > 0;
	d->names_b += r.count_b > 0;
	d->common += r.count_a && r.count_b;
	d->of[r.state] += r.count_a || r.count_b;
	d->sum.count_a = count_sum(d->sum.count_a, r.count_a);
	d->sum.count_b = count_sum(d->sum.count_b, r.count_b);
	d->sum.total_a_ns = ns_sum(d->sum.total_a_ns, r.total_a_ns);
	d->sum.total_b_ns = ns_sum(d->sum.total_b_ns, r.total_b_ns);
	VEC_PUSH(&d->v, r);
}

static uint64_t size_of(int64_t delta)
{
	return delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
}

static int by_size(const void *pa, const void *pb)
{
	const struct trace_diff_row *a = pa, *b = pb;
	uint64_t x = size_of(a->delta_ns), y = size_of(b->delta_ns);

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

void trace_diff_make(const struct trace_total *a, size_t na, const struct trace_total *b, size_t nb,
		     struct trace_diff *ret)
{
	struct trace_total *va = totals_of(a, na, &na), *vb = totals_of(b, nb, &nb);

	*ret = (struct trace_diff){ .v = VEC_INIT };
	for (size_t i = 0, k = 0; i < na || k < nb;) {
		int way = i == na ? 1 : k == nb ? -1 : strcmp(va[i].name, vb[k].name);

		row_add(ret, way <= 0 ? va[i].name : vb[k].name, way <= 0 ? &va[i] : NULL,
			way >= 0 ? &vb[k] : NULL);
		i += way <= 0;
		k += way >= 0;
	}
	ret->sum.delta_ns = ret->sum.total_b_ns - ret->sum.total_a_ns;
	if (ret->v.nr)
		qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), by_size);
	free(va);
	free(vb);
}

double trace_diff_overlap(const struct trace_diff *d)
{
	size_t all = d->names_a + d->names_b - d->common;

	return all ? (double)d->common / (double)all : NAN;
}
