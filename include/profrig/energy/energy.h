/*
 * energy: exact, conservative attribution of counters to calls by the rules of docs/energy.md.
 *
 * curve: cumulative energy of one series as a function of time.
 *	counter		E(t_i) = v_i, linear between samples; of a stale counter (read more often
 *			than it is published), linear between its changes
 *	power gauge	previous: a step; linear: the exact integral of the interpolated power;
 *			trapezoid: the interval's energy spread evenly over it
 * A backwards step splits the series: the interval's energy is unknown, counts as 0 and as
 * unattributed (flag reset). A declared modulus unwraps. Nothing is extrapolated: outside [first,
 * last] the curve is flat.
 *
 * Filtered power: a reading y behind a one-pole filter of time constant τ (counter_info.tau_s)
 * means the power y + τ·dy/dt, so E(a, b) = ∫y dt + τ·(y(b) − y(a)), exactly, and sums over
 * neighbouring windows telescope. linear: dy/dt is the interval's slope. previous, trapezoid: the
 * interval's τ·Δy is spread evenly over it; in a change-point series, whose values hold, over the
 * last period (median spacing of changes) before the change. A jump at a time that was recorded
 * twice belongs to the interval that ends there. An interval of negative energy (from steps of the
 * reading, times τ) is marked CURVE_RATE: long spans are right, that interval is not.
 *
 * Host view, shared: in every elementary interval the processes of the device's node with any call
 * open take equal shares, and a process's threads with a call open take equal parts of its share;
 * the energy goes to the innermost open call (exclusive) and to all open ones (inclusive). Device
 * view: each piece of work that runs on a queue of the device takes an equal share; inclusive =
 * exclusive. Independent mode: each process (each piece of work) takes all; this counts energy
 * several times, and the flags say so.
 *
 * Law, checked in every run: Σ exclusive + unattributed = last − first, relative error ≤ 1e-9.
 */
#ifndef PROFRIG_ENERGY_H
#define PROFRIG_ENERGY_H

#include "profrig/counters/counters.h"
#include "profrig/model/lane.h"

struct comm;
struct topology;

enum integration { INTEGRATE_LINEAR, INTEGRATE_PREVIOUS, INTEGRATE_TRAPEZOID };
enum energy_view { VIEW_HOST, VIEW_DEVICE };
enum energy_estimate { ESTIMATE_BOTH, ESTIMATE_TIME, ESTIMATE_POWER };

/* Defects of an interval of a curve, or of the sampled time that a span touches. */
enum curve_mark {
	CURVE_DEAD = 1, /* its energy is unattributed: reset, stand-still, longer than max_gap_ns */
	CURVE_RESET = 2,  /* the counter went backwards; what it counted is unknown (0) */
	CURVE_GAP = 4,    /* longer than 10 median periods, or than max_gap_ns */
	CURVE_RATE = 8,   /* more power than the device can draw, or less than none */
	CURVE_STUCK = 16, /* the counter stood still although the device drew power; with DEAD */
	/* spans only: part of its time is before the first or after the last sample */
	SPAN_OUTSIDE = 32,
};

struct energy_opts {
	enum integration integration;
	bool independent;
	/* whether energy is also split by power (not in independent mode), and preferred */
	enum energy_estimate estimate;
	int64_t max_gap_ns; /* intervals longer than this are unattributed; 0 = no limit */
	bool whole;         /* curves of all samples, also for a model that was cut to windows */
	/* sharers of each device (topology.h), resolved; NULL: all processes of its node */
	const struct topology *topology;
	/* changes of the sharers per slice; 0: as many as a cache holds. Results do not change */
	size_t slice_changes;
	/* how much is kept of what ran together (interval_log.h); 0: as much as is good */
	size_t log_entries;
};

/*
 * E(t) in J (or the scaled unit) at n knots; inside an interval: linear, or for INTEGRATE_LINEAR
 * gauges quadratic through p0, p1.
 */
struct curve {
	size_t n;        /* 0 or 1: nothing to integrate (flag CF_SHORT) */
	int64_t *t_ns;   /* strictly increasing */
	double *e;       /* cumulative, e[0] = 0, never decreasing unless power is negative */
	double *de;      /* e[i+1] − e[i], computed without the difference */
	double *p0, *p1; /* power at both ends of interval i; NULL when linear */
	/* enum curve_mark of interval i (between knots i and i+1); NULL when there are none */
	uint8_t *marks;
	/* of the samples, or of the changes of a counter that is read more often than it changes */
	int64_t median_period_ns;
	double tau_s; /* of the filter that is corrected for; 0 none */
	/* bound of |real τ − tau_s|; dw[i]: change of the reading over interval i; NULL without */
	double tau_error_s, *dw; /* W */
	/* standard deviation of the knots' times, of a counter that was read after it was
	 * published; 0: none */
	double border_error_s;
	unsigned flags; /* enum counter_flag */
};

/*
 * A gauge that stores only changes is integrated with `previous` under any option, as a value holds
 * until the next one; it has no gaps. Samples of equal time: a counter keeps one value (the last;
 * the first at the very start), so the total stays last − first; a gauge jumps. The curve of a
 * model that was cut to windows is cut at their edges, exactly; between windows it is flat and
 * CURVE_DEAD. -EINVAL for a series of unknown kind.
 */
int curve_make(const struct model *m, series_id s, const struct counter_info *ci,
	       const struct energy_opts *o, struct curve *ret, struct err *err);
void curve_release(struct curve *c);
/*
 * E at t, clamped to the ends. hint: index of the last interval used, kept by the caller (monotone
 * reads are O(1) amortised).
 */
double curve_at(const struct curve *c, int64_t t_ns, size_t *hint);
/* E(last) − E(first), dead intervals included as what the counter says (0 for resets) */
double curve_total(const struct curve *c);

/*
 * Attribution over lanes (lane.h). One run takes any number of jobs, each a series in a view, and
 * any number of lanes, each a track's calls or work:
 *
 *	run = energy_run_new(m, jobs, lanes, &opts)
 *	energy_run_round(run, feeds, horizon_ns, w)	again and again, the last time INT64_MAX
 *	energy_run_job(), _value(), _uncertainty()
 *	energy_run_free(run)
 *
 * A run keeps no events: memory grows with nodes × jobs and with the samples. Sums are in fixed
 * point (fixed.h), so results depend neither on the cut into rounds nor on threads.
 *
 * Between two samples the curve gives the power, so the energy of a piece of time is that power
 * times the piece's share-time, ∫ dt / sharers. The sharers are one step function of time for all
 * lanes; beside it a lane needs its own events only. Counters with equal sample times and equal
 * sharers are read together.
 */
struct energy_job {
	series_id series;
	enum energy_view view;
};

enum lane_mode {
	LANE_CALLS, /* one node at a time: the innermost call */
	LANE_WORK,  /* any number of pieces of work at a time; each is a sharer by itself */
	/*
	 * any number of nodes at a time, each counted once however often it is open; no sharer, but
	 * a reader of its process's share: inclusive energy where calls overlap
	 */
	LANE_COVER,
};

struct lane_def {
	track_id track;
	enum lane_mode mode;
	int rank; /* that reads it; 0 in a single process */
};

/* The part of one job that one node of a lane has. */
struct node_energy {
	double exclusive_j;   /* of a LANE_COVER: while it was open */
	double share_ns;      /* sampled time divided by the number of sharers */
	int64_t exclusive_ns; /* sampled time, without dead intervals */
	uint8_t marks; /* enum curve_mark of the intervals it was innermost in, and SPAN_OUTSIDE */
};

/*
 * unattributed_j is integrated by itself (time when no process is active, and dead intervals) and
 * is not the remainder, so error_rel is a real check: |total − attributed − unattributed| /
 * |total|, 0 for a total of 0. In independent mode attributed_j may be a multiple of the total;
 * error_rel then compares it with the summed energy of each sharer's own active time.
 */
struct energy_totals {
	char device[64];
	double total_j, attributed_j, unattributed_j, error_rel;
	double dead_j;                /* part of unattributed_j in dead intervals */
	double unattributed_share_ns; /* as share_ns, of the time when no process was active */
	int64_t unattributed_ns;      /* sampled time in which no process was active */
	double unattributed_uncertainty_j;
	int64_t median_period_ns;  /* resolution of the sensor (struct curve) */
	int64_t first_ns, last_ns; /* of the samples; first > last when there are none */
	unsigned flags;            /* enum counter_flag */
	bool taken;                /* some lane takes part */
};

struct energy_run;

/*
 * Lanes that take part, host view: THREAD tracks on the series' host (all when it has none, and
 * those whose host is unknown) that see its device (topology.h); a strictly synchronous counter
 * (series.exclusive_sync) belongs to the thread that recorded it alone. Device view: work on queues
 * whose device equals the series' device (and host, where both are known), or is one that the
 * series measures too. Lanes are copied; m and o outlive the run. -EINVAL for a series of unknown
 * kind.
 */
int energy_run_new(const struct model *m, const struct energy_job *jobs, size_t nr_jobs,
		   const struct lane_def *lanes, size_t nr_lanes, const struct energy_opts *o,
		   struct energy_run **ret, struct err *err);
void energy_run_free(struct energy_run *run);
void energy_run_freep(struct energy_run **run);
/*
 * feeds: one per lane, with all its events before horizon_ns that no earlier round had. w: threads
 * to use; NULL: the caller's alone.
 */
void energy_run_round(struct energy_run *run, const struct lane_feed *feeds, int64_t horizon_ns,
		      struct workers *w);

/*
 * Several ranks (comm.h), set before the first round: each feeds the events of its own lanes
 * (lane_def.rank). In the host view ranks exchange when a process becomes active, in the device
 * view all work of devices whose queues are read by several ranks. After the last round
 * energy_run_save writes the results of this rank's lanes and of what it loaded; energy_run_load
 * adds what another rank saved.
 */
void energy_run_ranks(struct energy_run *run, struct comm *c);
void energy_run_save(const struct energy_run *run, struct strbuf *to);
void energy_run_load(struct energy_run *run, struct serial_in *from);

/* After the last round: */
void energy_run_job(const struct energy_run *run, size_t job, struct energy_totals *ret);
/* Borrowed; NULL when the series is too short to integrate. */
const struct curve *energy_run_curve(const struct energy_run *run, size_t job);
bool energy_run_takes_part(const struct energy_run *run, size_t job, size_t lane);
/* How many lanes take part in a job, and the i-th of them; ascending. */
size_t energy_run_lanes(const struct energy_run *run, size_t job);
size_t energy_run_lane(const struct energy_run *run, size_t job, size_t i);
/* All 0 for a lane that does not take part, and for a node that was never open while sampled. */
struct node_energy energy_run_value(const struct energy_run *run, size_t job, size_t lane,
				    uint32_t node);
/* 95 % half-width of the exclusive energy of a row (uncertainty.c); NaN when unknown. */
double energy_run_uncertainty(const struct energy_run *run, size_t job, size_t lane, uint32_t row);

/*
 * By power: after the last round and all loads, energy_run_split divides each interval's energy by
 * the powers of classes as well (power_fit.h), from a sample of the intervals (interval_log.h);
 * what was not sampled is divided by the powers found. Host view: a class has its share of the
 * device, idle time is a class. Device view: a class has its own running time, over a static power
 * that always runs and is shared equally among what runs. Law: Σ nodes + idle + dead = total.
 */
struct energy_classes {
	uint32_t nr;
	const uint32_t *const *of; /* [lane][node], borrowed; NULL: of a lane without nodes */
	/* finer ones (call paths), each of one class, in an order that does not depend on lanes;
	 * a node has its leaf's power where the data tell it from its class; 0, NULL: none */
	uint32_t leaves;
	const uint32_t *const *leaf_of;
	const uint32_t *class_of_leaf;
	/* by job: idle power known beforehand (W; NaN: not known), which idle time or the static
	 * power is drawn to; NULL: of none */
	const double *idle_w;
	/* single calls whose energy may be asked for, by lane; NULL: none */
	const struct energy_call *calls;
	size_t nr_calls;
	const uint32_t *const *parent_of; /* [lane][node]: caller's node, before it; NODE_NONE */
	const uint32_t *nodes_of;         /* [lane] */
};
void energy_run_split(struct energy_run *run, const struct energy_classes *classes,
		      struct workers *workers);
/*
 * How it fits; the classes given, behind them idle time or static power; without weight_w. NULL:
 * not split.
 */
const struct power_fit *energy_run_fit(const struct energy_run *run, size_t job);
/* The node's energy by power; where it is not used (power_fit.used) by time. NaN: not split. */
double energy_run_power_j(const struct energy_run *run, size_t job, size_t lane, uint32_t node);
double energy_run_power_idle_j(const struct energy_run *run, size_t job);
double energy_run_power_attributed_j(const struct energy_run *run, size_t job);
/*
 * Single calls. Of those given each job takes the longest: they last at least CALL_PERIODS periods
 * of its sensor; at most CALLS_OF_CLASS of a class and CALLS_MOST in all. A call has what ran below
 * it on its lane while it was open: in intervals inside of it all of that, in those at its ends the
 * part of the time that it was open. Where only some of its intervals were sampled, these stand for
 * the others; with fewer than CALL_BLOCKS blocks of them (interval_log.h) the call is left out.
 */
#define CALL_PERIODS 4
#define CALL_BLOCKS 4
#define CALLS_OF_CLASS ((size_t)20)
#define CALLS_MOST ((size_t)100)
struct energy_call {
	size_t lane;               /* of the run; no LANE_COVER */
	uint32_t node, piece_node; /* piece_node: another one that it has; NODE_NONE */
	int64_t start_ns, end_ns;
};
struct energy_call_value {
	size_t call; /* of those given */
	/* by time, with a half-width of 95 %: the distance to what is possible at all */
	double time_j, time_half_width_j;
	/* by power, as other rows; NaN where powers are not used */
	double power_j, power_half_width_j;
	int64_t live_ns; /* its time inside the samples, without dead intervals */
	double covered;  /* part of it whose intervals are in the sample */
	uint8_t marks;   /* enum curve_mark */
};
/* By energy, the dearest first; borrowed. */
const struct energy_call_value *energy_run_calls(const struct energy_run *run, size_t job,
						 size_t *ret_nr);

/* By how much a node's energy may be off because its power is that of its leaf (95 %). */
double energy_run_power_doubt_j(const struct energy_run *run, size_t job, size_t lane,
				uint32_t node);
/* 95 % half-width for a row of a class: row_j, doubt_j: sums of its nodes. */
double energy_run_power_half_width(const struct energy_run *run, size_t job, uint32_t class_id,
				   double row_j, double doubt_j);

#define POWER_TIMELINE_BINS ((size_t)200)
#define POWER_TIMELINE_SHOWN ((size_t)12)
/*
 * Who draws what, over time: mean power of the classes with most energy in equal bins. Only of
 * intervals that were sampled; of a long trace many bins have none (covered_ns 0).
 */
struct power_timeline {
	size_t bins, columns, shown;
	uint32_t classes[POWER_TIMELINE_SHOWN]; /* of the first columns */
	int64_t from_ns, bin_ns;
	/* [bins][columns], W; behind those shown all other classes, then idle time (host view), or
	 * what of the static power no class is charged for */
	double *w;
	double *covered_ns; /* [bins]: sampled time in it */
};
/* NULL: not divided by power. Borrowed. */
const struct power_timeline *energy_run_timeline(const struct energy_run *run, size_t job);

/* Whether a track takes part (energy_run_new). */
bool energy_track_takes_part(const struct model *m, const struct energy_opts *o, series_id s,
			     const char *device, enum energy_view view, track_id t);

#endif
