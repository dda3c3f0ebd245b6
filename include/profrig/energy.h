/*
 * energy: exact, conservative attribution of counters to calls by the rules of
 * docs/energy.md.
 *
 * curve: cumulative energy of one series as a step-free function of time. Cumulative counters:
 * E(t_i) = v_i, linear between samples. Power gauges: previous (step), linear (exact integral of
 * the interpolated power), trapezoid (an interval's energy spread evenly inside it). A backwards
 * step splits the series (the interval's energy is unknown and counts as unattributed 0, flag
 * reset); a declared modulus unwraps. Never extrapolated: outside [first, last] the curve is flat.
 *
 * Host view, shared: in every elementary interval the processes of the device's node with any call
 * open take equal shares, and a process's threads with a call open take equal parts of its share;
 * the energy goes to the innermost open call (exclusive) and to all open ones (inclusive). Device
 * view: every piece of work running on a queue of that device takes an equal share; inclusive =
 * exclusive. Independent mode: each process (each piece of work) takes all: double counting, said
 * so in the flags.
 *
 * Law, checked in every run: Σ exclusive + unattributed = last − first, relative error ≤ 1e-9.
 */
#ifndef PROFRIG_ENERGY_H
#define PROFRIG_ENERGY_H

#include "profrig/counters.h"

enum integration { INTEGRATE_LINEAR, INTEGRATE_PREVIOUS, INTEGRATE_TRAPEZOID };
enum energy_view { VIEW_HOST, VIEW_DEVICE };

/* What is odd about an interval of a curve, or about the sampled time that a span touches. */
enum curve_mark {
	CURVE_DEAD = 1,   /* its energy is nobody's: reset, or longer than max_gap_ns */
	CURVE_RESET = 2,  /* the counter went backwards; what it counted is unknown (0) */
	CURVE_GAP = 4,    /* longer than 10 median periods, or than max_gap_ns */
	CURVE_RATE = 8,   /* more power than the device can draw, or less than none */
	CURVE_STUCK = 16, /* the counter stood still although the device drew power */
	/* spans only: part of it lies before the first or after the last sample */
	SPAN_OUTSIDE = 32,
};

struct energy_opts {
	enum integration integration;
	bool independent;
	int64_t max_gap_ns; /* intervals longer than this are unattributed; 0 = no limit */
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
	unsigned flags; /* enum counter_flag */
};

/*
 * Change-point series are integrated with `previous` whatever is asked for (a value holds until the
 * next one), and have no gaps. Samples of equal time: a counter keeps one value (the last; the
 * first at the very start), so the total stays last − first; a gauge jumps. -EINVAL for a series of
 * unknown kind.
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
 * The part of a span that outlives its parent (model.pieces); contained in the values of its span.
 */
struct energy_piece {
	double exclusive_j;
	int64_t exclusive_ns;
};

/*
 * One (counter, device, view). Values are per span of the model; spans that do not take part, and
 * instants, hold NaN.
 *
 * unattributed_j is not the remainder but integrated by itself (time when nobody is active, and
 * dead intervals), so error_rel is a real check: |total − attributed − unattributed| / |total|, 0
 * for a total of 0. In independent mode every sharer gets all, so attributed_j may be a multiple of
 * the total; error_rel then compares it with the energy of each sharer's own active time, summed.
 */
struct energy_result {
	series_id series;
	enum energy_view view;
	char device[64];
	double total_j, attributed_j, unattributed_j, error_rel;
	double dead_j;            /* part of unattributed_j that lies in dead intervals */
	int64_t unattributed_ns;  /* sampled time in which nobody was active */
	int64_t median_period_ns; /* what the sensor resolves (struct curve) */
	unsigned flags;           /* enum counter_flag */
	/* per span index of the model (length spans.nr); NULL when no span takes part */
	double *inclusive_j, *exclusive_j;
	/* part of the exclusive time that samples cover, without dead intervals */
	int64_t *exclusive_ns;
	uint8_t *marks; /* enum curve_mark of the samples that the span touches, and SPAN_OUTSIDE */
	/*
	 * Of each span's time, what no earlier call of its name on its track had open: its part of
	 * an inclusive sum that counts recursion once. NULL when there are no pieces: then it is
	 * inclusive_j for the outermost call of a name and 0 for the others.
	 */
	double *new_j;
	struct energy_piece *pieces; /* by index of model.pieces; NULL when there are none */
};

/*
 * Attributes one series in one view. host view: which tracks take part = THREAD tracks on the
 * series' host (all when it has none, and those whose host is unknown); a strictly synchronous
 * counter (series.exclusive_sync) belongs to the thread it was recorded on alone. device view: work
 * on queues whose device equals the series' device (and host, where both are known). Returns 0; 1
 * when no span takes part or the series is too short (all is unattributed, arrays NULL); -EINVAL
 * for a series of unknown kind.
 */
int energy_attribute(const struct model *m, series_id s, enum energy_view view,
		     const struct energy_opts *o, struct energy_result *ret, struct err *err);
void energy_result_release(struct energy_result *r);

/*
 * The oracle: the same by one global sweep over all boundaries (O(n · open spans)); tests compare
 * energy_attribute with it on random models.
 */
int energy_attribute_sweep(const struct model *m, series_id s, enum energy_view view,
			   const struct energy_opts *o, struct energy_result *ret, struct err *err);

#endif
