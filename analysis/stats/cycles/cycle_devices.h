/*
 * cycle_devices: the work that has stamps of a cycle counter (stamp_facts), by device.
 *
 *	struct cycle_devices *cd = cycle_devices_new(m);	m is finished
 *	for each cd->v[d]: rows [first, first + nr) of cd->rows, in the order of their ends
 *	cycle_devices_free(cd);
 *
 * The clock of a device is fitted to all of its inputs together: files that a program wrote one
 * after the other are one recording of one counter.
 */
#ifndef PROFRIG_CYCLE_DEVICES_H
#define PROFRIG_CYCLE_DEVICES_H

#include "profrig/base/cycle_clock.h"
#include "profrig/base/table.h"
#include "profrig/model/model.h"

struct cycle_device {
	const char *name; /* borrowed */
	double rank;      /* NaN unknown */
	size_t first, nr;
	struct cycle_clock clock;
	int64_t first_ns, last_ns;
};

struct cycle_devices {
	const struct model *m;
	VEC(struct cycle_device) v; /* by name */
	VEC(uint32_t) rows;         /* of m->facts.stamps */
};

struct cycle_devices *cycle_devices_new(const struct model *m);
void cycle_devices_free(struct cycle_devices *cd); /* NULL is fine */
void cycle_devices_freep(struct cycle_devices **cd);

/* Of a row: the cycles of one of the four phases; of the row's own. */
int64_t cycle_phase(const struct stamp_facts *s, enum stamp_phase phase);
int64_t cycle_own(const struct stamp_facts *s);
/* Time of cycles by the device's clock; NaN where that is not known. */
double cycle_time_ns(const struct cycle_device *d, double cycles);

/* The name of a kernel without the word of its phase, owned: "add_11 Cmpt Exec" → "add_11". */
char *cycle_kernel_name(const char *name);
/* Numbers behind '_' and '-' folded, owned: "add_11" → "add_[N]". */
char *cycle_name_folded(const char *name);

#endif
