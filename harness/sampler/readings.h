/*
 * readings: what was read of devices, as numbers, on its way from the thread that reads to the one
 * that makes rows of it: in the order it was read, eight rounds of all devices at most.
 *
 * One thread adds, without a lock: next is the place for a reading, which no other thread sees
 * before add. Taking needs a lock of the owner's, so that one thread at a time does it; what take
 * returned is valid until that lock is let go. The adding thread starts a round only when
 * readings_full, asked under the lock, said no. No dynamic memory after init, which keeps nothing
 * of the devices.
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

/* Reading k, from 0, lies at [k % room]. */
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
