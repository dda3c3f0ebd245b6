/*
 * power_calls: energy of single long calls, from the sample of a fit (power_sample.h).
 */
#ifndef POWER_CALLS_H
#define POWER_CALLS_H

#include "power_sample.h"

/*
 * Fills p->calls. item_j: energy by power of the sample's items, where powers are used. c: the
 * counter; domain: whose lanes the items have.
 */
void power_calls_make(struct power_split *p, const struct sample *s, const struct sample_data *d,
		      const struct grid_counter *c, const struct domain *domain,
		      const struct energy_classes *classes, const double *item_j);

#endif
