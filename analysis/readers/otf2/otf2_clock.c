/* Ticks of an archive's clock as ns. */
#include "otf2_private.h"

#include <inttypes.h>

int64_t otf2_ns(uint64_t ticks, uint64_t resolution)
{
	uint64_t whole = ticks / resolution, rest = ticks % resolution;

	/* 2^63 ns are 292 years */
	if (whole > UINT64_C(9000000000))
		return INT64_MAX;
	/* rest × 10^9 fits 64 bits for every clock below 18 GHz */
	if (__builtin_expect(resolution < UINT64_C(18000000000), 1))
		return (int64_t)(whole * UINT64_C(1000000000) +
				 (rest * UINT64_C(1000000000) + resolution / 2) / resolution);
	return (int64_t)(whole * UINT64_C(1000000000) +
			 (uint64_t)(((unsigned __int128)rest * 1000000000 + resolution / 2) /
				    resolution));
}

static int64_t ns_from(uint64_t base, uint64_t ticks, uint64_t resolution)
{
	return ticks >= base ? otf2_ns(ticks - base, resolution)
			     : -otf2_ns(base - ticks, resolution);
}

int64_t otf2_ns_of(const struct otf2_reading *r, uint64_t ticks)
{
	int64_t ns = ns_from(r->base_ticks, ticks, r->defs.resolution);

	return ns == INT64_MAX || ns == -INT64_MAX ? ns : ns + r->native.base.file.base_ns;
}

void otf2_clock_init(struct otf2_clock *c, uint64_t resolution, uint64_t base_ticks,
		     int64_t base_ns)
{
	*c = (struct otf2_clock){ .resolution = resolution,
				  .base_ticks = base_ticks,
				  .base_ns = base_ns,
				  .second_ticks = base_ticks,
				  .second_ns = base_ns,
				  .ticks = base_ticks,
				  .ns = base_ns };
	/* rest × 10^9 must fit 64 bits */
	if (resolution > 1 && resolution < UINT64_C(18000000000))
		c->inverse = UINT64_MAX / resolution;
	c->second_length = c->inverse ? resolution : 0;
}

int64_t otf2_clock_second(struct otf2_clock *c, uint64_t ticks)
{
	uint64_t whole = (ticks - c->base_ticks) / c->resolution;

	if (c->inverse == 0 || ticks < c->base_ticks || whole > UINT64_C(9000000000))
		return ns_from(c->base_ticks, ticks, c->resolution) + c->base_ns;
	c->second_ticks = c->base_ticks + whole * c->resolution;
	c->second_ns = (int64_t)(whole * UINT64_C(1000000000)) + c->base_ns;
	return otf2_clock_ns(c, ticks);
}

/* ---- clocks that began long before ---- */

static bool is_far(const struct otf2_defs *d, uint64_t ticks)
{
	return otf2_ns(ticks, d->resolution) > TIME_MAX / 2;
}

/* The time of the first event of a file, 0 when there is none. */
static uint64_t first_ticks(const char *path, uint64_t event_chunk)
{
	struct otf2_record first = { .ticks = 0 };
	struct otf2_walk w;

	if (otf2_walk_open(&w, path, event_chunk, OTF2_FILE_EVENTS, NULL) == 0)
		otf2_walk_next(&w, &first);
	otf2_walk_close(&w);
	return first.ticks;
}

uint64_t otf2_far_ticks(const struct otf2_defs *d, const char *dir, uint64_t event_chunk)
{
	if (d->has_clock && is_far(d, d->offset))
		return d->offset;
	for (size_t i = 0; i < d->locations.nr; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("%s/%" PRIu64 ".evt", dir, d->locations.v[i].ref);
		uint64_t ticks = first_ticks(path, event_chunk);

		if (ticks)
			return is_far(d, ticks) ? ticks : 0;
	}
	return 0;
}
