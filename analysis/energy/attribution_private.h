/*
 * The parts of attribution, in the order in which data passes through them:
 *
 *	series → points → curve (counter_points.c, curve.c): the counter as cumulative energy over
 *		time
 *	curves of equal sample times → grid (grid.c): the power of each interval
 *	changes of all lanes → slices of a round (energy_round.c)
 *	changes of a slice → sharing (energy_sharing.c): the number of active sharers
 *	grid + sharing → share curve (share_curve.c): a slice of time, cut where a share changes
 *	share curve + a lane's events → accumulator (accumulator.c): energy of each node
 *	energy_run.c joins them; uncertainty.c bounds the error of the sums
 *	accumulator → interval log (interval_log.c) → power fit (power_private.h) → energy by power
 *		(energy_power.c)
 *
 * The result is that of a global sweep over all boundaries of all tracks (energy_sweep.h, the
 * tests' oracle), but every lane is read by itself.
 *
 * Speed where each event changes the sharers (bench_otf2, roots):
 *	- a slice fits a cache, with its merge and its curves; slices share nothing but the state
 *	  at their start, so threads work on several at once
 *	- a share curve has no knot where its share stays, and divides once per fraction
 *	- threads make the next slices while lanes pass through those before: one wait for both
 *	- a call that changes the sharers knows its knot (step_of, knot_of); the others search in
 *	  times that are adjacent, and neither search nor merge has an unpredictable branch
 *	- a knot's sum stays in registers until the next one; memory is reused
 */
#ifndef ATTRIBUTION_PRIVATE_H
#define ATTRIBUTION_PRIVATE_H

#include "fixed.h"
#include "interval_log.h"

#include "profrig/base/comm.h"
#include "profrig/base/serial.h"
#include "profrig/base/sum.h"
#include "profrig/energy/energy.h"
#include "profrig/model/lane.h"

/* ---- rules of the user and facts learned from the data (counter_rules.c) ---- */

const struct counter_fact *counter_fact_find(const char *name); /* counters.c */
/* known: the counter is in the table. Also decides whether exact units are used. */
void rules_apply(const struct model *m, series_id s, bool known, struct counter_info *ci);

/* ---- samples of a series, cleaned (counter_points.c) ---- */

/*
 * One point per distinct time; left is the value up to it, right the value from it on (they differ
 * only where a time was recorded twice). Values are as recorded (in exact units: counts); value ×
 * scale is in the counter's unit.
 */
struct points {
	double scale, modulus; /* modulus: of the values here */
	size_t n;
	int64_t *t_ns;
	double *left, *right;
	uint8_t *holes;      /* 1: nothing is known from this point to the next; NULL: no hole */
	size_t finite;       /* samples with a value */
	uint64_t duplicates; /* samples at the time of an earlier one */
	uint64_t changes;
	int64_t median_period_ns; /* between points; 0 when there are fewer than two */
	int64_t median_change_ns; /* between changes of a cumulative value; the period when it
				     changes at every point, 0: never */
	int64_t max_gap_ns;
};

void points_make(const struct model *m, series_id s, const struct counter_info *ci,
		 struct points *ret);
void points_release(struct points *p);
/* Cuts off the last period of every long hold of a change-point series: the change is in it. */
void points_split_holds(struct points *p);

/* Counts of defective intervals. marks: a byte of enum curve_mark per interval; may be NULL. */
struct oddities {
	uint64_t wraps, resets, gaps, rates, stuck;
	unsigned flags;
};

/* A gap is longer than this many median periods; a stuck counter does not change for as many. */
#define GAP_PERIODS 10

/* The raw increment of interval i of a cumulative series: unwrapped; 0 and *reset for a backwards
 * step. */
double points_step(const struct points *p, size_t i, const struct counter_info *ci, bool *wrapped,
		   bool *reset);
void points_examine(const struct model *m, series_id s, const struct counter_info *ci,
		    const struct points *p, int64_t max_gap_ns, uint8_t *marks,
		    struct oddities *ret);

/* ---- grid (grid.c) ---- */

/*
 * An interval has the number of the sample at its start; OUTSIDE_BEFORE and n - 1 are the time
 * before the first and after the last sample.
 */
#define OUTSIDE_BEFORE (-1)

/* One counter on the grid. */
struct grid_counter {
	size_t job;
	struct curve curve; /* owned */
	double step_j;      /* the counter's own resolution; 0 = fine or unknown */
	double max_w;       /* bound of the device's power; 0 = not known */
	/*
	 * for runs of whole intervals, sums over the live intervals before i: number, length, Σ W
	 * and Σ W² of their mean power, in units that make them exact
	 */
	uint32_t *whole; /* NULL, as live_ns: none is dead */
	int64_t *live_ns, *power, *power_squared;
	uint32_t *marked; /* intervals before i that carry marks; NULL: none does */
};

#define POWER_UNIT 0x1p-20        /* W */
#define POWER_SQUARED_UNIT 0x1p-8 /* W² */

/* Counters with the same sample times. */
struct grid {
	size_t n;            /* samples; at least 2 */
	const int64_t *t_ns; /* of its first counter */
	bool moments;        /* some curve is quadratic inside its intervals */
	bool marked;         /* some interval of some counter carries marks */
	bool lags;           /* some counter's filter is not known for sure */
	VEC(struct grid_counter) counters;
};

/* Takes over the curve. */
void grid_add(struct grid *g, size_t job, struct curve *curve, double step_j, double max_w);
bool grid_fits(const struct grid *g, const struct curve *curve);
void grid_release(struct grid *g);
bool grid_dead(const struct grid_counter *c, int64_t interval);
bool grid_inside(const struct grid *g, int64_t interval);
/* All marks of the intervals [from, to). */
uint8_t grid_marks(const struct grid_counter *c, int64_t from, int64_t to);
/*
 * An interval's energy for the statistics. Where a filter is known and not corrected for, the
 * correction is added, since the reading itself hardly follows the calls.
 */
static inline double curve_statistic_j(const struct curve *c, int64_t interval)
{
	double j = c->de[interval];

	return c->dw && c->tau_s <= 0 ? j + c->tau_error_s * c->dw[interval] : j;
}
/* The part of a reading's change that a share-time (ns) of the interval has; 0 without dw. */
static inline fixed128 grid_change(const struct grid_counter *c, int64_t interval, double share_ns)
{
	const struct curve *k = &c->curve;

	if (!k->dw || grid_dead(c, interval))
		return 0;
	return fixed_from(k->dw[interval] / (double)(k->t_ns[interval + 1] - k->t_ns[interval]) *
			  share_ns);
}
/* Mean power in J per ns. */
double grid_rate(const struct grid_counter *c, int64_t interval);
/*
 * Energy of a part of an interval: share_time is ∫ share dt, moment twice ∫ share·x dt, x from the
 * interval's start (MOMENT_SHIFT bits less precise), both over the part.
 */
fixed128 grid_energy(const struct grid_counter *c, int64_t interval, fixed128 share_time,
		     fixed128 moment);

/* The number of live intervals in [from, to), and their time. */
static inline int64_t grid_whole(const struct grid_counter *c, int64_t from, int64_t to)
{
	return c->whole ? c->whole[to] - c->whole[from] : to - from;
}
static inline int64_t grid_live_ns(const struct grid_counter *c, int64_t from, int64_t to)
{
	return c->live_ns ? c->live_ns[to] - c->live_ns[from]
			  : c->curve.t_ns[to] - c->curve.t_ns[from];
}

#define MOMENT_SHIFT 20
/* A moment over longer intervals would not fit; there power counts as even. */
#define MOMENT_MAX_NS (INT64_C(1) << 42)

/* Twice ∫ share·x dx from x0 to x1. */
static inline fixed128 moment_of(int64_t x0_ns, int64_t x1_ns, uint64_t share)
{
	uint64_t x0 = (uint64_t)x0_ns, x1 = (uint64_t)x1_ns;

	return (fixed128)((unsigned __int128)(x1 - x0) * (x0 + x1) * (share >> MOMENT_SHIFT));
}

/* ---- sharers (energy_sharing.c) ---- */

struct step {
	int64_t until_ns;
	uint32_t value;
};

/* A step function of time: nr steps, and v[nr], which holds until INT64_MAX. */
struct steps {
	size_t nr, room;
	struct step *v;
};

/*
 * A sharer's part of the curve:
 *	CLASS_COMMON	1 / sharers
 *	CLASS_SPLIT	weight / (weights of all sharers · its own threads with a call open)
 *	CLASS_IDLE	1 while there are no sharers
 * and in independent mode, in place of the first two,
 *	CLASS_ALONE	1 while there are sharers
 *	CLASS_THREADS	1 / its own threads with a call open
 *	CLASS_GIVEN	the number of sharers: their sum
 */
#define GIVEN_SHIFT 20 /* shares of CLASS_GIVEN are of 2^40, so that they may be large */
enum share_class_kind {
	CLASS_COMMON,
	CLASS_SPLIT,
	CLASS_IDLE,
	CLASS_ALONE,
	CLASS_THREADS,
	CLASS_GIVEN
};

struct share_class {
	enum share_class_kind kind;
	uint32_t weight;
	uint32_t sharer; /* where it has threads */
};
static inline bool class_has_threads(enum share_class_kind kind)
{
	return kind == CLASS_SPLIT || kind == CLASS_THREADS;
}

/* A process of the host view (or a thread without one). */
struct sharer {
	track_id id;
	uint32_t lanes; /* number that take part */
	uint32_t share_class;
	uint32_t weight; /* WEIGHT_UNIT where weights differ, else 1 */
};

/* Weights of a topology have a resolution of a thousandth. */
#define WEIGHT_UNIT 1000

/* Lanes that share the same counters. Constant once made. */
struct domain {
	enum energy_view view;
	bool independent;
	VEC(struct domain_lane {
		size_t lane;
		uint32_t sharer; /* of the host view */
		uint32_t weight;
		uint32_t share_class;
	})
	lanes;
	VEC(struct sharer) sharers;
	VEC(struct share_class) classes;
	VEC(struct grid) grids;
};
void domain_release(struct domain *d);

/* One change of a lane: something opens or closes. */
struct share_change {
	int64_t t_ns;
	uint32_t lane; /* of the domain */
	int32_t change;
};

/* Changes of several lanes; one lane's are in the order of time. Zero is empty. */
struct share_changes {
	int64_t first_ns, last_ns; /* none is before or after them */
	VEC(struct share_change) v;
	VEC(struct share_change) room; /* to sort them */
};
void changes_sort(struct share_changes *c);
void changes_release(struct share_changes *c);

/* The sharers that are active at one moment. Zero: none. */
struct share_state {
	uint32_t active; /* weight of active sharers (host view), running pieces of work (device) */
	VEC(uint32_t) open; /* host view, by sharer: its lanes with a call open */
};
/* What changes come to, in any order: the sum of open calls, which may be "negative". */
void share_state_zero(const struct domain *d, struct share_state *ret);
void share_state_add(const struct domain *d, struct share_state *sum, uint32_t sharer,
		     uint32_t change);
/* A slice whose changes come to `sum` begins after `before`: sum becomes the state there. */
void share_state_begin(const struct domain *d, const struct share_state *before,
		       struct share_state *sum, struct share_state *end);
void share_state_release(struct share_state *s);

/* The sharers over the time of a slice. Zero is empty; its memory is reused. */
struct sharing {
	struct share_state at; /* the state where it begins; sharing_make moves it to the end */
	struct steps active;
	VEC(struct steps) threads; /* by class, where it has some: those with a call open */
	/*
	 * For each change, lane after lane, the step that it makes: of its class's threads, or of
	 * the active sharers where that has none.
	 */
	VEC(uint32_t) step_of;
	VEC(size_t) first_change, next_change; /* by lane: its first one there */
};
/* The steps of n sorted changes, from the state `at` on. */
void sharing_make(struct sharing *s, const struct domain *d, const struct share_change *v,
		  size_t n);
void sharing_release(struct sharing *s);

/* ---- share curve (share_curve.c) ---- */

/*
 * A slice on one grid for one class, cut at every sample and at every change of the share. The last
 * knot holds for ever. Sums begin at the slice's start or, later, at the interval's, so only
 * differences of two knots of one interval are meaningful.
 */
struct knot {
	int64_t interval;    /* of the grid */
	uint64_t share;      /* from here on; of 2^60 */
	fixed128 share_time; /* up to here */
};

#define KNOTS_AT_ONCE ((size_t)8)
struct share_curve {
	const struct grid *grid;
	uint64_t part; /* of the class */
	struct share_fraction {
		uint64_t whole, share; /* part / whole */
	} fractions[64];               /* by whole */
	VEC(struct knot) knots;
	/* of the knots; adjacent for the search, which looks at KNOTS_AT_ONCE more: INT64_MAX */
	VEC(int64_t) t_ns;
	VEC(fixed128) moments; /* of the knots, where the grid has moments */
	/* per interval that begins inside the share curve: its first knot, and per counter the sums
	 * of the intervals before it, for differences */
	int64_t first_interval;
	VEC(size_t) first_knot;
	VEC(uint32_t) knot_of; /* by step of its class (sharing.step_of), or an earlier one */
	VEC(struct share_sum { fixed128 energy, share_time, change; })
	before; /* [interval - first_interval][counter] */
};

/*
 * The share curve of a class on a grid over [from_ns, horizon_ns). l: zero, or to be reused.
 */
void share_curve_make(struct share_curve *l, const struct grid *g, const struct domain *d,
		      size_t share_class, const struct sharing *s, int64_t from_ns,
		      int64_t horizon_ns);
void share_curve_release(struct share_curve *l);

/* ---- uncertainty (uncertainty.c) ---- */

/* A row's part of an interval that it shares. */
struct row_part {
	double f, ff;    /* own time / length; squared */
	double g_s, gg;  /* share-time; squared */
	double own_s;    /* own time */
	double share;    /* share-time / own time */
	double per_step; /* variance of its energy per variance of a counter's step */
};
struct row_part row_part_of(int64_t own_ns, double share_ns, int64_t len_ns);

/* The intervals that a row touched: the same for all counters where none is dead. */
struct row_times {
	uint64_t whole; /* intervals of the row alone */
	uint64_t mixed; /* the others, and sums over their parts: */
	double f, ff;
	double g, gg; /* s, s² */
	double per_step;
};

/*
 * Statistics of one row and one counter, over the same intervals; P: mean power of a mixed one, in
 * pairs in which one instruction can add two of them.
 */
struct row_stats {
	int64_t power, power_squared; /* of whole intervals: POWER_UNIT, POWER_SQUARED_UNIT */
	double p, fp;                 /* Σ P, Σ f·P */
	double pp, gp;                /* Σ P², Σ g·P: W², J */
	double bound_j;               /* largest possible error of the row's energy */
	fixed128 change;              /* of a filtered reading, in the row's share of the time; W */
};

void row_stats_whole(struct row_stats *r, const struct grid_counter *c, int64_t from, int64_t to);

/* A counter in an interval that ends: what the innermost loops need. */
struct interval_rate {
	double units_per_ns; /* of fixed numbers; 0 when it is dead */
	double w, j;         /* mean power; energy of the whole interval */
	double max_w;        /* INFINITY: not known */
	bool dead;
};
double row_half_width(const struct row_times *t, const struct row_stats *r,
		      const struct grid_counter *c);

static inline void row_times_mixed(struct row_times *t, const struct row_part *part)
{
	t->mixed++;
	t->f += part->f;
	t->ff += part->ff;
	t->g += part->g_s;
	t->gg += part->gg;
	t->per_step += part->per_step;
}

/* The largest possible distance of f × the interval's energy from the row's real part of it. */
static inline double row_farthest(const struct interval_rate *c, const struct row_part *part)
{
	double most = fabs(c->j), device = c->max_w * part->own_s, given = part->f * most;

	most = device < most ? device : most;
	return given > most - given ? given : most - given;
}

/* Runs for every row and counter of every interval, so it has no branch. */
static inline void row_stats_mixed(struct row_stats *r, const struct interval_rate *c,
				   const struct row_part *part)
{
	r->p += c->w;
	r->fp += part->f * c->w;
	r->pp += c->w * c->w;
	r->gp += part->g_s * c->w;
	r->bound_j += row_farthest(c, part) * part->share;
}

/* ---- accumulator (accumulator.c) ---- */

/* Sampled time of a node; where intervals are dead it differs from counter to counter. */
struct node_time {
	fixed128 share_time;
	int64_t live_ns;
	uint8_t marks;
};

/* A node or a row inside the current interval. */
struct touched {
	int64_t interval;
	int64_t own_ns;
	fixed128 share_time;
};
#define UNTOUCHED (-2)

/* One lane on one grid. */
struct accumulator {
	const struct grid *grid;
	enum lane_mode mode;
	int64_t now_ns;
	int64_t interval;        /* that holds now_ns */
	size_t knot;             /* of the share curve that holds now_ns */
	const uint32_t *step_of; /* in a slice: of the changes to come; NULL: not known */
	uint32_t nodes, rows;
	struct touched *node, *row; /* by node, by row */
	fixed128 *moment;           /* by node; NULL where no curve needs it */
	uint8_t *outside;           /* by node: some of its time was not sampled */
	fixed128 *energy;           /* [node][counter] */
	struct node_time *times;    /* [node][counter], or [node][1] */
	size_t times_per_node;
	struct row_stats *stats;     /* [row][counter] */
	struct row_times *row_times; /* [row][times_per_node] */
	const uint32_t *row_of;
	VEC(uint32_t) open_nodes, open_rows; /* touched in this interval; there is room for all */
	/* open nodes: one of LANE_CALLS, pieces by node otherwise */
	VEC(struct running {
		uint32_t node;
		uint32_t pieces;
	}) running;
	struct interval_rate *rate; /* by counter, of the interval that ends */
	double most_units_per_ns;   /* of them */
	bool negative;              /* one of them is */
	bool statistics;
	/* of the first accumulator of a lane: shared by all of them for a stretch of events */
	int64_t stretch; /* its number */
	uint32_t nr_sums;
	struct touched *sums; /* by node */
	uint32_t *summed;
	struct interval_log log; /* what ran together; wants nothing where power is not asked for */
};

/* budget: of its log; NULL: none */
void accumulator_init(struct accumulator *w, const struct grid *g, enum lane_mode mode,
		      bool statistics, struct log_budget *budget);
/*
 * Reads a lane's events of one slice on all grids of its domain: w and l have one element per grid,
 * l the curves of the lane's share class. step_of: of each of its changes (sharing); NULL: not
 * known. The next slice begins at horizon_ns.
 */
void accumulators_slice(struct accumulator *w, const struct share_curve *l, size_t grids,
			const struct lane_feed *feed, const uint32_t *step_of, int64_t horizon_ns);
void accumulator_release(struct accumulator *w);
/* Results as bytes; load fills an accumulator of the same lane and grid. */
void accumulator_save(const struct accumulator *w, struct strbuf *to);
void accumulator_load(struct accumulator *w, struct serial_in *from);

/* What ran in an interval that ends, or in whole intervals [from, to), into the log. */
void accumulator_log(struct accumulator *w, int64_t interval);
void accumulator_log_whole(struct accumulator *w, const struct share_curve *l, uint32_t node,
			   int64_t from, int64_t to);

/* A process, or the thread itself when it has none. */
track_id energy_sharer_of(const struct model *m, track_id t);

/* Cuts a curve to windows (in order, disjoint; energy.h). */
void curve_window(struct curve *c, const struct window *w, size_t nr);

#endif
