#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/work/steady.h"

/* Twice the median, an integer for odd and even numbers alike. Reorders v. */
static __int128 median_twice(int64_t *v, size_t n)
{
	sort_i64(v, n);
	return (__int128)v[(n - 1) / 2] + v[n / 2];
}

static bool is_warmup(const int64_t *dur_ns, size_t n, int64_t *room)
{
	size_t rest = n - 1 < STEADY_AHEAD ? n - 1 : STEADY_AHEAD;
	__int128 median, mad, off;

	memcpy(room, dur_ns + 1, rest * sizeof(*room));
	median = median_twice(room, rest);
	for (size_t i = 0; i < rest; i++) {
		off = (__int128)dur_ns[1 + i] * 2 - median;
		off = off < 0 ? -off : off;
		room[i] = off > INT64_MAX ? INT64_MAX : (int64_t)off;
	}
	mad = median_twice(room, rest); /* four times */
	off = (__int128)dur_ns[0] * 2 - median;
	off = off < 0 ? -off : off;
	/* off/2 > 3·1.4826·mad/4 */
	return off * 20000 > mad * 3 * 14826;
}

size_t steady_from(const int64_t *dur_ns, size_t n)
{
	size_t most = n / 2 < STEADY_WARMUP_MAX ? n / 2 : STEADY_WARMUP_MAX, at = 0;
	CLEANUP(xfreep)
	int64_t *room = xcalloc((n < STEADY_AHEAD ? n : STEADY_AHEAD) + 1, sizeof(*room));

	while (at < most && n - at >= 3 && is_warmup(dur_ns + at, n - at, room))
		at++;
	return at;
}
