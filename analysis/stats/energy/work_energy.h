/*
 * work_energy: the energy of device work piece by piece, so that analyses can add it up by whatever
 * they group work by: a class of kernels, an operator, a collective, an iteration; and the energy
 * of the time in which a device did nothing, by cause.
 *
 *	const struct work_energy *we = analysis_work_energy(m, o);	once for all analyses
 *	struct joules j = JOULES_INIT;
 *	joules_add_work(&j, we, row);		row of works; again and again
 *	joules_value(&j)			NaN: not known
 *
 * One counter for each device: of those that measure it (device view of `energy`) measured ones
 * before estimates, energy counters before readings of power, then the first in the order of
 * labels. Of the headline of a report it is the same one.
 *
 * Rule: that of `energy` by time (energy.h): at each moment the power belongs in equal parts to the
 * pieces of work that run on the queues of the counter's devices, and where none runs it is idle.
 * So nothing counts twice, and for each counter
 *
 *	Σ work + idle + dead = total
 *
 * with dead the energy in intervals that have no known course (enum curve_mark). In independent
 * mode each piece has all of it, and the law does not hold. Idle energy of a counter of several
 * devices is divided equally among them.
 *
 * Memory: 16 bytes for each work, 32 for each moment at which something begins or ends on a device
 * with a counter. Time: O(n log n), once.
 */
#ifndef PROFRIG_WORK_ENERGY_H
#define PROFRIG_WORK_ENERGY_H

#include "analyses_private.h"
#include "energy_flags.h"

#include "profrig/base/sum.h"

#define WORK_MARKS 5 /* bits of enum curve_mark, without SPAN_OUTSIDE; the first is CURVE_DEAD */

/* A counter and what it says about the works of its devices. */
struct work_meter {
	const struct series_label *label;
	struct curve c; /* without the energy of dead intervals */
	double total_j, work_j, idle_j, dead_j;
	double other_j;   /* part of work_j of devices that have a better counter */
	uint32_t devices; /* that it measures */
	bool holds;       /* it is unknown how often the sensor was read */
	bool independent;
	const struct model *m;
	const struct energy_opts *o;
	struct work_marks {
		uint32_t before[WORK_MARKS];
	} * marked; /* by interval of c: how many before it have each mark; NULL: none has any */
	/* energy up to the moments at which something begins or ends */
	VEC(struct work_moment {
		int64_t t_ns;
		double share_j; /* of one that ran all the time */
		double idle_j;
		uint32_t running; /* from here on */
		uint32_t point;   /* of the curve: the last one by t; 0: none */
	}) at;
};

struct work_energy {
	const struct works *w;
	struct series_label *labels;
	VEC(struct work_meter) meters; /* those that some device has */
	uint32_t *meter_of;            /* by device of works; U64MAP_NONE */
	double *work_j;                /* by row of works; NaN unknown */
	/* by row of works, of its device's meter: the moments at which it begins and ends */
	struct work_moments {
		uint32_t start, end;
	} * moments;
};

/* Borrowed, never NULL. */
const struct work_energy *analysis_work_energy(struct model *m, const struct analysis_opts *o);
void work_energy_free(struct work_energy *we); /* NULL is fine */

/* The device's counter; NULL: it has none. */
const struct work_meter *work_meter_of(const struct work_energy *we, uint32_t device);
/*
 * A stretch of time on a meter: the intervals [first, end) of its curve that it touches. Without a
 * meter (NULL) the times alone. *hint: 0 at first; calls in order of time are faster.
 */
struct meter_stretch {
	int64_t from_ns, to_ns;
	size_t first, end;
};
struct meter_stretch meter_stretch(const struct work_meter *me, int64_t from_ns, int64_t to_ns,
				   size_t *hint);
/* That of a row of works whose device has this meter, without a search. */
struct meter_stretch meter_stretch_of_work(const struct work_energy *we,
					   const struct work_meter *me, size_t row);
/* What all that the meter measures used until a stretch begins, and until it ends, dead intervals
 * left out. */
double meter_stretch_from_j(const struct work_meter *me, const struct meter_stretch *x);
double meter_stretch_to_j(const struct work_meter *me, const struct meter_stretch *x);
/* enum curve_mark of a stretch, and whether part of it was sampled and is not dead. */
uint8_t meter_stretch_marks(const struct work_meter *me, const struct meter_stretch *x);
bool meter_stretch_live(const struct work_meter *me, const struct meter_stretch *x);
/* What a piece of work that runs on the device during [from, to) has of it. */
double work_energy_part(const struct work_energy *we, uint32_t device, int64_t from_ns,
			int64_t to_ns);
/*
 * The device's part of the idle energy in [from, to). *hint: 0 at first; calls in order of time are
 * faster.
 */
double work_energy_idle(const struct work_energy *we, uint32_t device, int64_t from_ns,
			int64_t to_ns, size_t *hint);
/*
 * Divides the idle energy of a meter among n stretches of time that may overlap: at each moment
 * those that are open have equal parts. j[i] += that of v[i].
 */
void work_energy_idle_split(const struct work_meter *me, const struct interval *v, uint32_t n,
			    double *j);

/* ---- sums ---- */

/* Energy of pieces of one device, or of several. */
struct joules {
	struct sum j;
	uint64_t pieces, unknown; /* unknown: not sampled, or of a device without a counter */
	int64_t ns;               /* Σ of lengths of what must be resolved: the pieces */
	uint64_t lengths;         /* how many these are */
	int64_t most_period_ns;   /* of their counters; 0: none that tells */
	uint8_t marks;            /* enum curve_mark */
	const struct work_meter *meter;
	/* of intervals between samples that it does not have alone: its part, and their energy */
	double part_j, open_j;
	const struct work_meter *open_meter; /* of the last one of these */
	size_t open_at;                      /* its number + 1; 0: there is none yet */
};
#define JOULES_INIT ((struct joules){ SUM_INIT, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, 0 })

/* The whole of a work. */
void joules_add_work(struct joules *s, const struct work_energy *we, size_t row);
/* What a device's piece of work that runs in [from, to) has; of no length: nothing is added. */
void joules_add_part(struct joules *s, const struct work_energy *we, uint32_t device,
		     int64_t from_ns, int64_t to_ns);
/* j of a stretch (of idle time: work_energy_idle). me: its device's meter; NULL: it has none. */
void joules_add_stretch(struct joules *s, const struct work_meter *me, double j,
			const struct meter_stretch *x);
/* Of what is known; NaN: of nothing. */
double joules_value(const struct joules *s);
/* NaN unless all of it is known: for rates. */
double joules_whole(const struct joules *s);
/*
 * How far that may be off, whatever the power did between two samples: the energy of an interval is
 * known, and not who had it. A group that has part of an interval may have none of it, or all; what
 * it has of an interval alone is certain. Pieces are best added by time: an interval to which the
 * sum comes back counts again. NaN where the value is.
 */
double joules_width(const struct joules *s);
/*
 * Words as in the column flags of `energy`: below_resolution when pieces last less than two periods
 * of the sensor on average, outside_samples when part of the time was not sampled.
 */
const char *joules_flags(const struct joules *s, char buf[ENERGY_FLAGS_MAX]);

/* By iteration: its works, and its part of the idle time between its first and last one. Owned. */
struct joules *iteration_joules(const struct work_energy *we, const struct iterations *it);

#endif
