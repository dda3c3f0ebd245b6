/*
 * collective_energy: what devices of ranks used in collectives: until the last rank came, and from
 * then on, when data moved. Of complete instances, by the rule of work_energy.h: a collective that
 * runs beside other kernels has its equal part.
 *
 *	struct part_joules j = { .wait = JOULES_INIT, .transfer = JOULES_INIT };
 *	part_joules_add(cm, we, k, &j);		k: a part of a complete instance, measured
 *
 * Times of parts are on the common clock, samples on the clock of the part's own device, which its
 * first kernel has: energy is taken there. Of a part of several kernels the pauses between them
 * have nothing.
 */
#ifndef PROFRIG_COLLECTIVE_ENERGY_H
#define PROFRIG_COLLECTIVE_ENERGY_H

#include "collective_match.h"
#include "work_energy.h"

struct part_joules {
	struct joules wait, transfer;
};

void part_joules_add(const struct collective_match *cm, const struct work_energy *we, size_t part,
		     struct part_joules *j);
/* NaN: not known; 0 where nothing waited, or moved, and the other one is known. */
double part_wait_j(const struct part_joules *j);
double part_transfer_j(const struct part_joules *j);
/* joules_width of them. */
double part_wait_width(const struct part_joules *j);
double part_transfer_width(const struct part_joules *j);
/* joules_flags of both. */
const char *part_joules_flags(const struct part_joules *j, char buf[ENERGY_FLAGS_MAX]);

#endif
