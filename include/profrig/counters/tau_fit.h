/*
 * tau_fit: finds the low-pass filter behind a power reading by comparing it with an energy counter
 * of the same device (docs/energy.md, "Filtered power").
 *
 * Counter power between two changes of the counter is constant; a one-pole filter of time constant
 * τ turns it into y' = (P − y)/τ, solved exactly from the first reading on. The reading is compared
 * with gain·y + offset by least squares; τ is what makes the rms smallest (a coarse search over all
 * τ, then a golden section). The gain is 1 unless a free one leaves a rms smaller by a tenth. A
 * moving average of width W and the unfiltered power (τ = 0) are compared likewise, with a free
 * gain.
 *
 * A run without a step of power fits every τ and gives no information. A result counts only when
 * its rms is near the quantisation noise of the reading (step/√12) and clearly below the rms of the
 * alternatives.
 *
 * Cost: linear in the samples; of more than TAU_FIT_READINGS the stretch of that many with the
 * greatest variance is used.
 */
#ifndef PROFRIG_TAU_FIT_H
#define PROFRIG_TAU_FIT_H

#include "profrig/counters/counters.h"

#define TAU_FIT_READINGS 65536

enum filter_verdict {
	FILTER_NO_COUNTER,
	FILTER_NO_INFORMATION, /* too few readings, or no step of power */
	FILTER_NOT_MODELLED,   /* no model fits the reading */
	FILTER_NONE,           /* the reading follows the counter at once */
	FILTER_ONE_POLE,
	FILTER_BOXCAR, /* a moving average: found, not corrected for */
};
const char *filter_verdict_name(enum filter_verdict v); /* "one_pole" */

struct tau_fit_data {
	size_t knots; /* of the counter */
	const int64_t *knot_ns;
	const double *j;     /* cumulative, from any origin */
	const uint8_t *dead; /* per interval: not 0 where the energy is unknown; NULL: nowhere */
	size_t readings;
	const int64_t *reading_ns; /* ascending */
	const double *w;
};

/* Unknown is NaN. Gain and offset: reading ≈ gain·(filtered counter power) + offset. */
struct tau_fit {
	enum filter_verdict verdict;
	double tau_s, gain, offset_w, rms_w; /* best one-pole filter, whatever the verdict */
	double unit_rms_w;                   /* the same τ with gain 1 and offset 0 */
	double face_rms_w;                   /* τ = 0 */
	double boxcar_s, boxcar_rms_w;       /* best moving average */
	double step_w;                       /* smallest change of the reading */
	size_t readings;                     /* compared */
};

void tau_fit(const struct tau_fit_data *d, struct tau_fit *ret);

/* One power reading of a model. */
struct power_filter {
	series_id power, energy; /* energy: SERIES_NONE without a counter of the same device */
	struct tau_fit fit;
};

/*
 * Compares the reading `power` with the counter `energy`. pi, ei: their facts, without a filter;
 * the counter best in exact units.
 */
void power_filter_find(const struct model *m, series_id power, const struct counter_info *pi,
		       series_id energy, const struct counter_info *ei, struct power_filter *ret);

#endif
