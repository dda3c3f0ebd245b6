/*
 * readings: a queue of readings, as numbers, between the thread that reads devices and the one that
 * makes rows: in the order of reading, at most eight rounds of all devices.
 *
 * One thread adds, without a lock: readings_next is the slot of a reading, invisible to other
 * threads before readings_add. Taking needs the owner's lock, so that one thread at a time does it;
 * the result is valid until that lock is released. The adding thread starts a round only when
 * readings_full, called under the lock, is false. Only readings_init allocates memory; it does not
 * keep `dev`.
 */
#ifndef PROFRIG_READINGS_H
#define PROFRIG_READINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/sampler/sampler.h"

struct reading {
	int64_t t_ns, took_ns;
	const char *reason; /* of what failed, NULL none */
	double *v;          /* of the device's series */
	size_t device;
	int code; /* what the source's read returned */
};

/* Reading k, from 0, is at [k % room]. */
struct readings {
	struct reading *at;
	size_t room, nr_dev;
	atomic_size_t added;
	size_t taken;
};

void readings_init(struct readings *r, const struct sampler_device *dev, size_t nr_dev);
void readings_release(struct readings *r);
/* Where the next reading belongs: of device 0, 1, … of a round; its v points to room for values. */
struct reading *readings_next(struct readings *r);
void readings_add(struct readings *r);
/* The oldest one that was not taken yet, NULL when there is none. */
const struct reading *readings_take(struct readings *r);
bool readings_full(const struct readings *r); /* no room for another round */

#endif
