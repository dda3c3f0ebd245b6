#include "readings.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

#define BATCH 8

void readings_init(struct readings *r, const struct sampler_device *dev, size_t nr_dev)
{
	size_t series = 0;
	double *v;

	*r = (struct readings){ .room = BATCH * nr_dev, .nr_dev = nr_dev };
	for (size_t d = 0; d < nr_dev; d++)
		series += dev[d].nr;
	/* the readings, followed by their values */
	r->at = xcalloc(1, r->room * sizeof(*r->at) + (BATCH * series + 1) * sizeof(*v));
	v = (double *)(r->at + r->room);
	for (size_t k = 0; k < r->room; k++) {
		r->at[k].device = k % nr_dev;
		r->at[k].v = v;
		v += dev[k % nr_dev].nr;
	}
}

void readings_release(struct readings *r)
{
	free(r->at);
	r->at = NULL;
}

struct reading *readings_next(struct readings *r)
{
	return &r->at[atomic_load_explicit(&r->added, memory_order_relaxed) % r->room];
}

void readings_add(struct readings *r)
{
	atomic_fetch_add_explicit(&r->added, 1, memory_order_release);
}

const struct reading *readings_take(struct readings *r)
{
	if (r->taken == atomic_load_explicit(&r->added, memory_order_acquire))
		return NULL;
	return &r->at[r->taken++ % r->room];
}

bool readings_full(const struct readings *r)
{
	size_t waiting = atomic_load_explicit(&r->added, memory_order_relaxed) - r->taken;

	return r->room - waiting < r->nr_dev;
}
