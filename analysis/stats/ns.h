/*
 * ns: durations of spans and sums of them. A sum saturates: a damaged trace may hold a million
 * spans of a hundred years each.
 */
#ifndef PROFRIG_STATS_NS_H
#define PROFRIG_STATS_NS_H

#include <stdint.h>

#include "profrig/model/model.h"

static inline int64_t ns_add(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

static inline int64_t span_ns(const struct model *m, size_t i)
{
	return m->spans.end_ns[i] - m->spans.start_ns[i];
}

#endif
