/*
 * power_timeline: which class draws how much when, from the sample of a fit (power_sample.h).
 */
#ifndef POWER_TIMELINE_H
#define POWER_TIMELINE_H

#include "power_sample.h"

/*
 * energy_j: by class of the data, for which classes are shown. Where the fit is not used, or
 * nothing was sampled, there are no bins.
 */
void power_timeline_make(struct power_timeline *ret, const struct sample *s,
			 const struct sample_data *d, const struct power_fit *f,
			 const double *energy_j);
void power_timeline_release(struct power_timeline *t);

#endif
