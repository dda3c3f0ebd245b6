#include "profrig/base/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Millions of names have one call each: the first value takes little, more take whole octaves. */
#define FEW 8

void sketch_reach(struct sketch *s, uint32_t bucket)
{
	uint32_t step = s->nr ? SKETCH_STEPS : FEW, first = bucket - bucket % step;
	uint32_t end = first + step;
	uint64_t *counts;

	if (bucket - s->first < s->nr)
		return;
	if (s->nr && s->first < first)
		first = s->first;
	if (s->nr && s->first + s->nr > end)
		end = s->first + s->nr;
	counts = xcalloc(end - first, sizeof(*counts));
	if (s->nr)
		memcpy(counts + (s->first - first), s->counts, s->nr * sizeof(*counts));
	free(s->counts);
	s->counts = counts;
	s->first = first;
	s->nr = end - first;
}

void sketch_merge(struct sketch *s, const struct sketch *more)
{
	if (more->nr == 0)
		return;
	sketch_reach(s, more->first);
	sketch_reach(s, more->first + more->nr - 1);
	for (uint32_t i = 0; i < more->nr; i++)
		s->counts[more->first + i - s->first] += more->counts[i];
}

static double bucket_middle(uint32_t bucket)
{
	uint32_t shift;
	uint64_t low;

	if (bucket < 2 * SKETCH_STEPS)
		return bucket;
	shift = bucket / SKETCH_STEPS - 1;
	low = (uint64_t)(bucket % SKETCH_STEPS + SKETCH_STEPS) << shift;
	return (double)low + (double)((UINT64_C(1) << shift) - 1) / 2;
}

double sketch_at(const struct sketch *s, uint64_t k)
{
	uint64_t below = 0;

	for (uint32_t i = 0; i < s->nr; i++) {
		below += s->counts[i];
		if (below > k)
			return bucket_middle(s->first + i);
	}
	return s->nr ? bucket_middle(s->first + s->nr - 1) : 0;
}

void sketch_release(struct sketch *s)
{
	free(s->counts);
	*s = (struct sketch)SKETCH_INIT;
}
