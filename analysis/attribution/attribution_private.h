/*
 * What the parts of attribution share.
 *
 *	series → points → curve (counter_points.c, curve.c): the counter as cumulative energy over
 *		time
 *	coverage → steps (steps.c): how many sharers are active, as a step function of time
 *	curve / steps → share (share.c): the energy that one sharer gets, cumulative; every track
 *		reads it at its own boundaries
 *	share + spans → energy_result (energy_host.c, energy_device.c)
 *
 * The result is that of a global sweep over all boundaries of all tracks (energy_sweep.c, the
 * oracle), but every track is read by itself.
 */
#ifndef ATTRIBUTION_PRIVATE_H
#define ATTRIBUTION_PRIVATE_H

#include "profrig/energy.h"
#include "profrig/sum.h"

/* ---- samples of a series, cleaned (counter_points.c) ---- */

/* One point per distinct time; left is the value up to it, right from it on (they differ only where
 * a time was recorded twice). Raw values. */
struct points {
	size_t n;
	int64_t *t_ns;
	double *left, *right;
	size_t finite;       /* samples with a value */
	uint64_t duplicates; /* samples at a time that was there already */
	uint64_t changes;
	int64_t median_period_ns; /* between points; 0 when there are fewer than two */
	int64_t median_change_ns; /* between changes of a cumulative value; the period when it
				     changes at every point, 0: never */
	int64_t max_gap_ns;
};

void points_make(const struct model *m, series_id s, const struct counter_info *ci,
		 struct points *ret);
void points_release(struct points *p);

/* Counts of what is odd about the intervals between points; marks (one byte of enum curve_mark per
 * interval) may be NULL. */
struct oddities {
	uint64_t wraps, resets, gaps, rates, stuck;
	unsigned flags;
};

/* A hole: longer than this many median periods. A stuck counter: no change for as many. */
#define GAP_PERIODS 10

/* The raw increment of interval i of a cumulative series: unwrapped; 0 and *reset for a backwards
 * step. */
double points_step(const struct points *p, size_t i, const struct counter_info *ci, bool *wrapped,
		   bool *reset);
void points_examine(const struct model *m, series_id s, const struct counter_info *ci,
		    const struct points *p, int64_t max_gap_ns, uint8_t *marks,
		    struct oddities *ret);

/* ---- coverage (steps.c) ---- */

struct intervals {
	VEC(int64_t) start, end; /* unordered, start < end */
};

/* count[i] sharers on [t_ns[i], t_ns[i+1]); none before t_ns[0]; the last count is 0. Neighbouring
 * counts differ. */
struct steps {
	size_t n;
	int64_t *t_ns;
	uint32_t *count;
};

void intervals_add(struct intervals *iv, int64_t start_ns, int64_t end_ns);
void intervals_release(struct intervals *iv);
/* Replaces iv by its union (sorted, disjoint, touching ones joined). */
void intervals_union(struct intervals *iv);
void intervals_append(struct intervals *to, const struct intervals *from);
/* Reorders iv. */
void steps_make(struct intervals *iv, struct steps *ret);
void steps_release(struct steps *st);
/* Sorts ascending; cheap when v is a few sorted runs one after the other, which is what tracks
 * give. */
void i64_sort_runs(int64_t *v, size_t n);

/* ---- what one sharer gets (share.c) ---- */

/*
 * Interval i runs from knots[i].t_ns to knots[i+1].t_ns. Energy of a part [x, y] (ns after its
 * start) = (y − x)·(a + h·(x + y)): increments are computed inside the interval and never as a
 * difference of two large cumulative values.
 */
struct share_knot {
	int64_t t_ns;
	double w; /* cumulative up to here */
	double a, h;
	int64_t live_ns; /* sampled time up to here */
	int64_t live;    /* 1 when the interval counts as sampled, 0 when dead */
};

#define SHARE_MARK_BITS 5 /* of enum curve_mark, without SPAN_OUTSIDE */
struct share_marked {
	uint32_t before[SHARE_MARK_BITS]; /* intervals before this one that carry the mark */
};

/*
 * Or a share of another share, cut into parts: knots only where the number of parts changes, `a` is
 * one part, and everything finer is read from the base. So a process with many threads costs what
 * its own calls cost, not what those of all other processes do.
 */
struct share {
	size_t n; /* knots; 0 when the series has fewer than two points */
	struct share_knot *knots;
	uint8_t *marks; /* enum curve_mark per interval; NULL when there are none */
	struct share_marked *marked;
	const struct share *base; /* NULL: of the curve itself; borrowed */
	size_t *base_at;          /* by knot: the base's interval that holds it */
};

/* Energy that belongs to nobody, and to somebody, over the whole curve. */
struct share_totals {
	struct sum idle_j, dead_j; /* nobody active; unattributable */
	struct sum given_j;        /* what sharers get together: each once (shared) or each all
				      (independent) */
	int64_t idle_ns;           /* sampled time with nobody active */
};

/* active: number of sharers; independent: the share is not divided by it. totals may be NULL. */
void share_make(const struct curve *c, const struct steps *active, bool independent,
		struct share *ret, struct share_totals *totals);
/* The base's share in equal parts; where parts is 0 nobody reads. The base outlives it. */
void share_split(const struct share *base, const struct steps *parts, struct share *ret);
void share_release(struct share *sh);

/* A place on a share: the interval that holds a time. Times before and after the samples are moved
 * onto the ends. */
struct share_pos {
	size_t i;
	int64_t t_ns;
	size_t base_i; /* the same place on the base, if there is one */
};

static inline struct share_pos share_base_pos(struct share_pos p)
{
	return (struct share_pos){ .i = p.base_i, .t_ns = p.t_ns };
}

/* The position of t_ns, which is not before the hint's time. */
struct share_pos share_seek(const struct share *sh, struct share_pos hint, int64_t t_ns);
struct share_pos share_begin(const struct share *sh);

static inline double share_piece(const struct share_knot *k, double x, double y)
{
	return (y - x) * (k->a + k->h * (x + y));
}

double share_between_parts(const struct share *sh, struct share_pos from, struct share_pos to);

/* Energy and sampled time between two positions, from <= to. */
static inline double share_between(const struct share *sh, struct share_pos from,
				   struct share_pos to)
{
	const struct share_knot *f = &sh->knots[from.i], *t = &sh->knots[to.i];

	if (sh->base)
		return share_between_parts(sh, from, to);
	if (from.i == to.i)
		return share_piece(f, (double)(from.t_ns - f->t_ns), (double)(to.t_ns - f->t_ns));
	return share_piece(f, (double)(from.t_ns - f->t_ns), (double)(f[1].t_ns - f->t_ns)) +
	       (t->w - f[1].w) + share_piece(t, 0, (double)(to.t_ns - t->t_ns));
}

static inline int64_t share_live_between(const struct share *sh, struct share_pos from,
					 struct share_pos to)
{
	const struct share_knot *f, *t;

	if (sh->base)
		return share_live_between(sh->base, share_base_pos(from), share_base_pos(to));
	f = &sh->knots[from.i];
	t = &sh->knots[to.i];
	return (t->live_ns + (t->live ? to.t_ns - t->t_ns : 0)) -
	       (f->live_ns + (f->live ? from.t_ns - f->t_ns : 0));
}

/* The marks of all intervals that [from, to] touches. */
uint8_t share_marks(const struct share *sh, struct share_pos from, struct share_pos to);

/* ---- results (energy.c) ---- */

/* What is known while one series is attributed in one view. */
struct attribution {
	const struct model *m;
	series_id s;
	const char *device;
	const struct curve *c;
	const struct energy_opts *o;
	struct energy_result *r;
	struct sum attributed_j;
	struct share_totals totals;
};

/* What one span got; from, to: its ends on the share. */
struct span_energy {
	size_t span;
	struct share_pos from, to;
	struct sum exclusive_j;
	int64_t exclusive_ns;
};

/* Stores and counts it. */
void energy_write(struct attribution *a, const struct share *sh, const struct span_energy *e);
/* Arrays of the result, all spans NaN. */
void energy_alloc(struct attribution *a);

/* Who takes part. */
bool energy_thread_takes_part(const struct attribution *a, track_id t);
bool energy_queue_takes_part(const struct attribution *a, track_id t);
/* A process, or the thread itself when it has none. */
track_id energy_sharer_of(const struct model *m, track_id t);

/* Both return false when no span takes part; the result has no arrays then. */
bool energy_host(struct attribution *a);
bool energy_device(struct attribution *a);
bool energy_sweep(struct attribution *a);

#endif
