/*
 * What the parts of attribution share.
 *
 *	series → points → curve (counter_points.c, curve.c): the counter as cumulative energy over
 *		time
 *	curves of equal sample times → grid (grid.c): what an interval's power is
 *	changes of all lanes → steps (sharers.c): how many sharers are active
 *	grid + steps → line (line.c): a round's stretch of time, cut where a share changes
 *	line + a lane's events → walker (walker.c): what each node gets
 *	energy_run.c puts them together; uncertainty.c says how far to trust the sums
 *
 * The result is that of a global sweep over all boundaries of all tracks (energy_sweep.c, the
 * oracle), but every lane is read by itself.
 *
 * What makes it fast where each event changes who shares (bench_otf2, roots: analyze took 6.3 times
 * the CPU time of counting, now 3.4):
 *	- lines and walkers work on slices that stay in a cache (energy_run.c); a line
 *	  has no knot where its share stays, and divides once per fraction		0.77
 *	- times of knots lie side by side; neither the search in them nor the merge of
 *	  changes has a branch that cannot be guessed					0.86
 *	- a knot's sum goes to the next one without a copy; memory is used again	0.8
 */
#ifndef ATTRIBUTION_PRIVATE_H
#define ATTRIBUTION_PRIVATE_H

#include "fixed.h"

#include "profrig/base/comm.h"
#include "profrig/base/sum.h"
#include "profrig/base/wire.h"
#include "profrig/energy/energy.h"
#include "profrig/model/lane.h"

/* ---- what the user says, and what was learned (counter_rules.c) ---- */

const struct counter_fact *counter_fact_find(const char *name); /* counters.c */
/* known: the counter is in the table. Also decides whether exact units are used. */
void rules_apply(const struct model *m, series_id s, bool known, struct counter_info *ci);

/* ---- samples of a series, cleaned (counter_points.c) ---- */

/* One point per distinct time; left is the value up to it, right from it on (they differ only where
 * a time was recorded twice). Values as recorded, in exact units counts: value × scale is in the
 * counter's unit. */
struct points {
	double scale, modulus; /* modulus: of the values here */
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
/* Cuts off the last period of every long hold of a change-point series: there the change happened.
 */
void points_split_holds(struct points *p);

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

/* ---- grid (grid.c) ---- */

/* Intervals are numbered by the sample they begin with; OUTSIDE_BEFORE and n - 1 are the time
 * before the first and after the last sample. */
#define OUTSIDE_BEFORE (-1)

/* One counter on the grid. */
struct grid_counter {
	size_t job;
	struct curve curve; /* owned */
	double step_j;      /* the counter's own resolution; 0 = fine or unknown */
	double max_w;       /* what such a device can draw at most; 0 = not known */
	/*
	 * for stretches of whole intervals, sums over the intervals before i that are not dead:
	 * how many, how long, Σ W and Σ W² of their mean power, in units that make them exact
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
 * An interval's energy as statistics see it: of a reading whose filter is known and not corrected
 * for, what the correction would make of it, since the reading itself hardly moves with the calls.
 */
static inline double curve_statistic_j(const struct curve *c, int64_t interval)
{
	double j = c->de[interval];

	return c->dw && c->tau_s <= 0 ? j + c->tau_error_s * c->dw[interval] : j;
}
/* What share-time (ns) of an interval has of the change of a reading; 0 without dw. */
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

/* Of [from, to) those that are not dead, and their time. */
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

/* ---- sharing (sharers.c) ---- */

/* A step function of time: value[i] holds on [t_ns[i], t_ns[i + 1]), before until t_ns[0]. */
struct steps {
	uint32_t before;
	VEC(int64_t) t_ns;
	VEC(uint32_t) value;
};

/*
 * How a sharer's part of the curve is found:
 *	CLASS_COMMON	1 / sharers
 *	CLASS_SPLIT	weight / (weights of all sharers · its own threads with a call open)
 *	CLASS_IDLE	1 while there are no sharers
 *	CLASS_GIVEN	the number of sharers (independent mode: what they get together)
 */
#define GIVEN_SHIFT 20 /* shares of CLASS_GIVEN are of 2^40, so that they may be large */
enum share_class_kind { CLASS_COMMON, CLASS_SPLIT, CLASS_IDLE, CLASS_GIVEN };

struct share_class {
	enum share_class_kind kind;
	uint32_t weight;
	struct steps parts; /* CLASS_SPLIT: threads with a call open */
};

/* A process of the host view (or a thread without one). */
struct sharer {
	track_id id;
	uint32_t lanes, open; /* how many take part; have a call open now */
	uint32_t share_class;
	uint32_t weight; /* WEIGHT_UNIT where weights differ, else 1 */
};

/* Weights of a topology are told apart to a thousandth. */
#define WEIGHT_UNIT 1000

/* Lanes that share the same counters. */
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
	struct steps
		active; /* weight of sharers (host view), running pieces of work (device view) */
	VEC(struct grid) grids;
};

/* One change of a lane, on its way into the steps. */
struct share_change {
	int64_t t_ns;
	uint32_t sharer;
	int32_t change;
};

struct share_changes {
	VEC(struct share_change) v;
	struct share_change *room; /* to sort them */
	size_t room_nr;
};

void domain_release(struct domain *d);
/* The round's changes, lane by lane. modes: by lane. */
void domain_changes(const struct domain *d, const enum lane_mode *modes,
		    const struct lane_feed *feeds, struct share_changes *ret);
void changes_sort(struct share_changes *c);
void changes_release(struct share_changes *c);
/* Appends n sorted ones to the steps of the domain and of its classes. */
void domain_share(struct domain *d, const struct share_change *v, size_t n);
/* Forgets what the slice had, except its last values. */
void domain_forget(struct domain *d);

/* ---- line (line.c) ---- */

/*
 * The stretch of a slice, cut at every sample and wherever the share changes. The last knot goes on
 * for ever, and is the first one of the next slice.
 */
struct knot {
	int64_t interval;    /* of the grid */
	uint64_t share;      /* from here on; of 2^60 */
	fixed128 share_time; /* from the start of the interval up to here */
	fixed128 moment;
};

struct line {
	const struct grid *grid;
	struct line_fraction {
		uint64_t part, whole, share;
	} fractions[64]; /* by whole */
	VEC(struct knot) knots;
	VEC(int64_t) t_ns; /* of the knots; side by side, as they are searched */
	/* per interval that begins inside the line: its first knot, and per counter what the
	 * intervals before it gave, for differences */
	int64_t first_interval;
	VEC(size_t) first_knot;
	VEC(struct line_sum { fixed128 energy, share_time, change; })
	before; /* [interval - first_interval][counter] */
};

void line_init(struct line *l, const struct grid *g, const struct domain *d,
	       const struct share_class *c);
/* The next slice's stretch: [end of the last one, horizon). */
void line_extend(struct line *l, const struct domain *d, const struct share_class *c,
		 int64_t horizon_ns);
void line_release(struct line *l);

/* ---- uncertainty (uncertainty.c) ---- */

/* What a row and a counter saw of each other; sums over the intervals that the row touched. */
struct row_stats {
	/* whole intervals of the row, exact */
	uint64_t whole;
	int64_t power, power_squared; /* POWER_UNIT, POWER_SQUARED_UNIT */
	/*
	 * the others: f is the row's part of the interval's time, P its mean power, g share-time;
	 * pairs in which one instruction can add two of them
	 */
	uint64_t mixed;
	double f, ff, p, fp;
	double pp, gp, g, gg; /* W², J, s, s² */
	double bound_j;       /* what the row can have had at most more or less */
	double step_var;      /* of the counter's steps and of its times, J² */
	fixed128 change;      /* of a filtered reading, in its share of the time; W */
};

void row_stats_whole(struct row_stats *r, const struct grid_counter *c, int64_t from, int64_t to);

/* A row in an interval that it shares: the same for all counters. */
struct row_part {
	double f, ff;    /* own time / length; squared */
	double g_s, gg;  /* share-time; squared */
	double own_s;    /* own time */
	double share;    /* share-time / own time */
	double per_step; /* variance of its energy per step_var */
};
/* A counter in that interval; what the innermost loops need, side by side. */
struct interval_rate {
	double units_per_ns; /* of fixed numbers; 0 when it is dead */
	double w, j;         /* mean power; energy of all of it */
	double max_w;        /* INFINITY: not known */
	double step_var;
	bool dead;
};
struct row_part row_part_of(int64_t own_ns, double share_ns, int64_t len_ns);
/* c: of the counter */
double row_stats_half_width(const struct row_stats *r, const struct curve *c);

/* How far f of an interval's energy can be from what the row really had of it. */
static inline double row_farthest(const struct interval_rate *c, const struct row_part *part)
{
	double most = fabs(c->j), device = c->max_w * part->own_s, given = part->f * most;

	most = device < most ? device : most;
	return given > most - given ? given : most - given;
}

/* For every row and counter of every interval, so it has no branch. */
static inline void row_stats_mixed(struct row_stats *r, const struct interval_rate *c,
				   const struct row_part *part)
{
	r->mixed++;
	r->f += part->f;
	r->ff += part->ff;
	r->p += c->w;
	r->fp += part->f * c->w;
	r->pp += c->w * c->w;
	r->gp += part->g_s * c->w;
	r->g += part->g_s;
	r->gg += part->gg;
	r->bound_j += row_farthest(c, part) * part->share;
	r->step_var += c->step_var * part->per_step;
}

/* ---- walker (walker.c) ---- */

/* Sampled time of a node; where intervals are dead it differs from counter to counter. */
struct node_time {
	fixed128 share_time;
	int64_t live_ns;
	uint8_t marks;
};

/* A node or a row inside the interval that is being read. */
struct touched {
	int64_t interval;
	int64_t own_ns;
	fixed128 share_time;
};
#define UNTOUCHED (-2)

/* One lane on one grid. */
struct walker {
	const struct grid *grid;
	enum lane_mode mode;
	int64_t now_ns;
	size_t knot; /* of the line that holds now_ns */
	uint32_t nodes, rows;
	struct touched *node, *row; /* by node, by row */
	fixed128 *moment;           /* by node; NULL where no curve needs it */
	uint8_t *outside;           /* by node: some of its time was not sampled */
	fixed128 *energy;           /* [node][counter] */
	struct node_time *times;    /* [node][counter], or [node][1] */
	size_t times_per_node;
	struct row_stats *stats; /* [row][counter] */
	const uint32_t *row_of;
	VEC(uint32_t) open_nodes, open_rows; /* touched in this interval; there is room for all */
	/* what is open: one node of LANE_CALLS, pieces by node otherwise */
	VEC(struct running {
		uint32_t node;
		uint32_t pieces;
	}) running;
	struct interval_rate *rate; /* by counter, of the interval that ends */
	double most_units_per_ns;   /* of them */
	bool negative;              /* one of them is */
	bool statistics;
	/* of the first of a lane's walkers: the stretch that they read together; for no longer */
	int64_t stretch; /* its number */
	uint32_t nr_sums;
	struct touched *sums; /* by node */
	uint32_t *summed;
};

void walker_init(struct walker *w, const struct grid *g, enum lane_mode mode, bool statistics);
/* A lane on all grids of its domain: as many walkers, and lines of its share class. */
void walkers_round(struct walker *w, const struct line *l, size_t grids,
		   const struct lane_feed *feed);
void walker_release(struct walker *w);
/* What it found, for a walker of the same lane and grid that has read nothing. */
void walker_save(const struct walker *w, struct strbuf *to);
void walker_load(struct walker *w, struct wire *from);

/* A process, or the thread itself when it has none. */
track_id energy_sharer_of(const struct model *m, track_id t);

/* Leaves of a curve what lies in the windows (in order, apart; energy.h). */
void curve_window(struct curve *c, const struct window *w, size_t nr);

#endif
