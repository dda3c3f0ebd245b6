#include "profrig/stats/clock_align.h"
#include "clock_solver.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"

/* The events that count, in order. */
struct aligner {
	struct clock_event *ev;
	size_t nr, instances;
	size_t *first;
	uint32_t *rank;
	int64_t *base; /* of each rank: its first event */
	size_t ranks;
	uint32_t *component_of; /* by cluster */
	struct clock_solver s;
};

static int cmp_event(const void *pa, const void *pb)
{
	const struct clock_event *a = pa, *b = pb;

	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

/* Drops second events of a rank, and instances of one rank. */
static void keep_shared(struct aligner *a)
{
	size_t nr = 0, out = 0;

	for (size_t i = 0; i < a->nr; i++)
		if (nr == 0 || a->ev[i].instance != a->ev[nr - 1].instance ||
		    a->ev[i].rank != a->ev[nr - 1].rank)
			a->ev[nr++] = a->ev[i];
	a->first = xcalloc(nr + 1, sizeof(*a->first));
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i; end < nr && a->ev[end].instance == a->ev[i].instance; end++)
			;
		if (end - i < 2)
			continue;
		a->first[a->instances++] = out;
		for (size_t k = i; k < end; k++)
			a->ev[out++] = a->ev[k];
	}
	a->nr = out;
	a->first[a->instances] = out;
}

static void set_bases(struct aligner *a)
{
	int64_t *x = xcalloc(a->nr + 1, sizeof(*x));

	a->rank = xcalloc(a->nr + 1, sizeof(*a->rank));
	a->base = xcalloc(a->ranks + 1, sizeof(*a->base));
	for (size_t r = 0; r < a->ranks; r++)
		a->base[r] = INT64_MAX;
	for (size_t i = 0; i < a->nr; i++) {
		uint32_t r = a->rank[i] = a->ev[i].rank;
		a->ev[i].t_ns = time_clamp(a->ev[i].t_ns);
		if (a->ev[i].t_ns < a->base[r])
			a->base[r] = a->ev[i].t_ns;
	}
	for (size_t i = 0; i < a->nr; i++) {
		x[i] = a->ev[i].t_ns - a->base[a->rank[i]];
		if (x[i] > CLOCK_REACH / 2)
			x[i] = CLOCK_REACH / 2;
	}
	clock_solver_init(&a->s, a->rank, a->first, a->instances, a->ranks, x);
}

/* Numbers the clusters that have instances, in the order of their lowest ranks. */
static void number_components(struct aligner *a, struct clock_alignment *ca)
{
	a->component_of = xcalloc(a->ranks + 1, sizeof(*a->component_of));
	for (size_t r = 0; r < a->ranks; r++)
		a->component_of[r] = CLOCK_ALONE;
	for (size_t r = 0; r < a->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];
		uint32_t *c = &a->component_of[a->s.cluster[r]];

		cr->component = CLOCK_ALONE;
		cr->events = a->s.rank_first[r + 1] - a->s.rank_first[r];
		if (cr->events == 0)
			continue;
		if (*c == CLOCK_ALONE) {
			*c = (uint32_t)ca->components.nr;
			VEC_PUSH(&ca->components, ((struct clock_component){ .ranks = 0 }));
		}
		cr->component = *c;
		ca->components.v[*c].ranks++;
		ca->components.v[*c].events += cr->events;
	}
	for (size_t i = 0; i < a->instances; i++)
		ca->components.v[ca->ranks.v[a->rank[a->first[i]]].component].instances++;
}

static int cmp_i64(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* Σ |residual| of the times as they are. */
static void sum_raw(struct aligner *a, struct clock_alignment *ca)
{
	CLEANUP(xfreep) int64_t *t = xcalloc(a->ranks + 1, sizeof(*t));

	for (size_t i = 0; i < a->instances; i++) {
		size_t n = a->first[i + 1] - a->first[i];
		double *sum =
			&ca->components.v[ca->ranks.v[a->rank[a->first[i]]].component].raw_sum_ns;

		for (size_t k = 0; k < n; k++)
			t[k] = a->ev[a->first[i] + k].t_ns;
		qsort(t, n, sizeof(*t), cmp_i64);
		for (size_t k = 0; k < n / 2; k++)
			*sum += (double)(t[n - 1 - k] - t[k]);
	}
}

static double residual(const struct clock_solver *s, size_t instance, size_t event)
{
	return (double)(2 * s->c[event] - clock_solver_end_twice(s, instance)) / 2;
}

/* Σ |residual| of the solver's times, into a member of each component. */
static void sum_solved(struct aligner *a, struct clock_alignment *ca, bool drift)
{
	for (size_t i = 0; i < a->instances; i++) {
		struct clock_component *c =
			&ca->components.v[ca->ranks.v[a->rank[a->first[i]]].component];

		for (size_t e = a->first[i]; e < a->first[i + 1]; e++)
			*(drift ? &c->drift_sum_ns : &c->offset_sum_ns) +=
				fabs(residual(&a->s, i, e));
	}
}

/* Offsets of a component's ranks add up to 0 (rounded down for each rank). */
static void centre(const struct aligner *a, struct clock_alignment *ca)
{
	CLEANUP(xfreep) __int128 *sum = xcalloc(ca->components.nr + 1, sizeof(*sum));

	for (size_t r = 0; r < a->ranks; r++)
		if (ca->ranks.v[r].component != CLOCK_ALONE)
			sum[ca->ranks.v[r].component] += (__int128)a->base[r] + a->s.offset[r];
	for (size_t r = 0; r < a->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];
		__int128 n, mean, offset;

		if (cr->component == CLOCK_ALONE)
			continue;
		n = (__int128)ca->components.v[cr->component].ranks;
		mean = sum[cr->component] / n - (sum[cr->component] % n < 0);
		offset = (__int128)a->base[r] + a->s.offset[r] - mean;
		cr->offset_ns = offset > TIME_MAX   ? TIME_MAX
				: offset < TIME_MIN ? TIME_MIN
						    : (int64_t)offset;
		/* the frame of the solver begins at the mean */
		cr->pivot_ns = time_clamp((int64_t)mean);
	}
}

/* From times with offsets on: lines around the middle of each component. */
static void begin_lines(struct aligner *a, const struct clock_alignment *ca)
{
	struct clock_solver *s = &a->s;
	CLEANUP(xfreep) int64_t *low = xcalloc(ca->components.nr + 1, sizeof(*low));
	CLEANUP(xfreep) int64_t *high = xcalloc(ca->components.nr + 1, sizeof(*high));

	for (size_t c = 0; c < ca->components.nr; c++) {
		low[c] = INT64_MAX;
		high[c] = INT64_MIN;
	}
	for (size_t i = 0; i < a->nr; i++) {
		uint32_t c = ca->ranks.v[a->rank[i]].component;

		s->x[i] = s->c[i];
		low[c] = s->x[i] < low[c] ? s->x[i] : low[c];
		high[c] = s->x[i] > high[c] ? s->x[i] : high[c];
	}
	for (size_t r = 0; r < a->ranks; r++) {
		uint32_t c = ca->ranks.v[r].component;
		s->pivot[r] = c == CLOCK_ALONE ? 0 : low[c] + (high[c] - low[c]) / 2;
	}
	s->lines = true;
}

/* A drift for each rank but one: see the header. */
static bool drifts_matter(const struct clock_component *c)
{
	double ranks = (double)c->ranks - 1;
	double dof = (double)c->events - (double)c->instances - ranks, left = dof - ranks;
	double offset = c->offset_sum_ns, drift = c->drift_sum_ns;

	return left > 0 && offset > (double)c->events && drift < (1 - CLOCK_DRIFT_GAIN) * offset &&
	       drift / left < (1 - CLOCK_DRIFT_GAIN) * offset / dof &&
	       offset - drift > (ranks + 3 * sqrt(2 * ranks)) * drift / left;
}

/* Adds lines to the maps of ranks; the drifts of a component add up to 0, nearly. */
static void add_lines(const struct aligner *a, struct clock_alignment *ca)
{
	const struct clock_solver *s = &a->s;
	CLEANUP(xfreep) double *drift = xcalloc(ca->components.nr + 1, sizeof(*drift));
	CLEANUP(xfreep) double *offset = xcalloc(ca->components.nr + 1, sizeof(*offset));

	for (size_t r = 0; r < a->ranks; r++) {
		uint32_t c = ca->ranks.v[r].component;
		if (c == CLOCK_ALONE)
			continue;
		drift[c] += s->drift[r] / (double)ca->components.v[c].ranks;
		offset[c] += (double)s->offset[r] / (double)ca->components.v[c].ranks;
	}
	for (size_t r = 0; r < a->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];
		uint32_t c = cr->component;
		int64_t by;
		double slope;

		if (c == CLOCK_ALONE || !ca->components.v[c].drifts)
			continue;
		/* all ranks of the component follow by the line that takes their mean to 0 */
		slope = -drift[c] / (1 - drift[c]);
		by = ns_add(s->offset[r], -clock_round(offset[c] + slope * (double)s->offset[r]));
		cr->drift = s->drift[r] + slope - slope * s->drift[r];
		if (!isfinite(cr->drift))
			cr->drift = 0;
		cr->offset_ns = time_clamp(ns_add(cr->offset_ns, by));
		cr->pivot_ns = time_clamp(ns_add(cr->pivot_ns, s->pivot[r] - by));
	}
}

static void rank_residuals(struct aligner *a, struct clock_alignment *ca, bool drifts)
{
	CLEANUP(xfreep) double *sum = xcalloc(a->ranks + 1, sizeof(*sum));
	CLEANUP(xfreep) double *sum2 = xcalloc(a->ranks + 1, sizeof(*sum2));

	for (size_t i = 0; i < a->instances; i++) {
		for (size_t e = a->first[i]; e < a->first[i + 1]; e++) {
			uint32_t r = a->rank[e];
			struct clock_rank *cr = &ca->ranks.v[r];
			double v = residual(&a->s, i, e);

			if (ca->components.v[cr->component].drifts != drifts)
				continue;
			sum[r] += v;
			sum2[r] += v * v;
			cr->residual_sum_ns += fabs(v);
			cr->residual_max_ns = fmax(cr->residual_max_ns, fabs(v));
		}
	}
	for (size_t r = 0; r < a->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];
		double n = (double)cr->events, mean = n > 0 ? sum[r] / n : 0;

		if (n > 0 && ca->components.v[cr->component].drifts == drifts)
			cr->residual_std_ns = sqrt(fmax(0, sum2[r] / n - mean * mean));
	}
}

static void align(struct aligner *a, struct clock_alignment *ca)
{
	clock_solver_join(&a->s);
	number_components(a, ca);
	clock_solver_descend(&a->s);
	sum_raw(a, ca);
	sum_solved(a, ca, false);
	centre(a, ca);
	rank_residuals(a, ca, false);
	begin_lines(a, ca);
	clock_solver_join(&a->s);
	clock_solver_descend(&a->s);
	sum_solved(a, ca, true);
	for (size_t c = 0; c < ca->components.nr; c++)
		ca->components.v[c].drifts = drifts_matter(&ca->components.v[c]);
	for (size_t r = 0; r < a->ranks; r++)
		if (ca->ranks.v[r].component != CLOCK_ALONE &&
		    ca->components.v[ca->ranks.v[r].component].drifts)
			ca->ranks.v[r].residual_sum_ns = ca->ranks.v[r].residual_max_ns = 0;
	add_lines(a, ca);
	rank_residuals(a, ca, true);
}

void clock_align(const struct clock_event *v, size_t nr, uint32_t nr_ranks,
		 struct clock_alignment *ret)
{
	struct aligner a = { .nr = nr, .ranks = nr_ranks };

	*ret = (struct clock_alignment){ .ranks = VEC_INIT };
	VEC_RESERVE(&ret->ranks, nr_ranks);
	for (uint32_t r = 0; r < nr_ranks; r++)
		VEC_PUSH(&ret->ranks, ((struct clock_rank){ .component = CLOCK_ALONE }));
	a.ev = xcalloc(nr + 1, sizeof(*a.ev));
	for (size_t i = 0; i < nr; i++)
		a.ev[i] = v[i];
	qsort(a.ev, nr, sizeof(*a.ev), cmp_event);
	keep_shared(&a);
	if (a.nr > 0) {
		set_bases(&a);
		align(&a, ret);
		clock_solver_release(&a.s);
	}
	free(a.ev);
	free(a.first);
	free(a.rank);
	free(a.base);
	free(a.component_of);
}

void clock_alignment_release(struct clock_alignment *ca)
{
	VEC_RELEASE(&ca->ranks);
	VEC_RELEASE(&ca->components);
}

int64_t clock_common_ns(const struct clock_rank *r, int64_t t_ns)
{
	int64_t t = time_shift(t_ns, -r->offset_ns);

	if (r->drift == 0)
		return t;
	return time_clamp(t - clock_round(r->drift * (double)(t - r->pivot_ns)));
}

int64_t clock_offset_at_ns(const struct clock_rank *r, int64_t t_ns)
{
	return time_shift(t_ns, -clock_common_ns(r, t_ns));
}
