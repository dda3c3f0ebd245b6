#include "profrig/work/period_find.h"

#include <stdlib.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

/* The compiler makes vector code of it. */
static size_t matches_at(const uint32_t *v, size_t n, size_t lag)
{
	const uint32_t *w = v + lag;
	size_t match = 0, of = n - lag;

	for (size_t i = 0; i < of;) {
		size_t end = of - i > 65536 ? i + 65536 : of;
		uint32_t part = 0; /* 32 bits wide as the elements are */

		for (; i < end; i++)
			part += v[i] == w[i];
		match += part;
	}
	return match;
}

/* Of equal shares the smaller lag stands, so lags come in ascending order. */
static void period_try(struct period *best, const uint32_t *v, size_t n, size_t lag)
{
	struct period p = { .lag = lag, .match = matches_at(v, n, lag), .of = n - lag };
	unsigned __int128 a = (unsigned __int128)p.match * best->of;
	unsigned __int128 b = (unsigned __int128)best->match * p.of;

	if (best->lag == 0 || a > b)
		*best = p;
}

/* ---- candidates of long sequences ---- */

struct lag_votes {
	struct u64map at; /* by lag: index in v */
	VEC(struct lag_vote {
		size_t lag;
		uint64_t votes;
	}) v;
};

static void lag_vote(struct lag_votes *votes, size_t lag)
{
	uint32_t *at = u64map_at(&votes->at, lag);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)votes->v.nr;
		VEC_PUSH(&votes->v, ((struct lag_vote){ .lag = lag }));
	}
	votes->v.v[*at].votes++;
}

/*
 * The hash of a run is a polynomial modulo 2^64, so the run that begins one element later has its
 * hash in two steps, however long they are. Elements are spread first.
 */
#define HASH_BASE UINT64_C(0x9e3779b97f4a7c15)

static uint64_t hash_of(uint32_t x)
{
	uint64_t h = (x + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93);

	return (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* Of the places where a run began the last few are kept. Sequences are shorter than 2^32. */
#define PLACES 4

/* Each run of `width` elements votes for its distances to the last PLACES places it began at. */
static void runs_vote(const uint32_t *v, size_t n, size_t width, struct lag_votes *votes)
{
	struct u64map ids = U64MAP_INIT;
	VEC(struct run_places {
		uint32_t at[PLACES];
		uint32_t nr;
	}) runs = VEC_INIT;

	uint64_t h = 0, first = 1; /* first: the factor of a run's first element */

	for (size_t i = 0; i + 1 < width && i < n; i++) {
		h = h * HASH_BASE + hash_of(v[i]);
		first *= HASH_BASE;
	}
	for (size_t i = 0; i + width <= n; i++) {
		uint32_t *id;
		struct run_places *r;

		h = h * HASH_BASE + hash_of(v[i + width - 1]);
		id = u64map_at(&ids, h);
		h -= first * hash_of(v[i]);
		if (*id == U64MAP_NONE) {
			*id = (uint32_t)runs.nr;
			VEC_PUSH(&runs, ((struct run_places){ .nr = 0 }));
		}
		r = &runs.v[*id];
		for (size_t k = 0; k < r->nr && k < PLACES; k++)
			if (i - r->at[k] <= n / 2)
				lag_vote(votes, i - r->at[k]);
		r->at[r->nr++ % PLACES] = (uint32_t)i;
	}
	VEC_RELEASE(&runs);
	u64map_release(&ids);
}

static int cmp_votes(const void *pa, const void *pb)
{
	const struct lag_vote *a = pa, *b = pb;

	if (a->votes != b->votes)
		return a->votes > b->votes ? -1 : 1;
	return a->lag < b->lag ? -1 : a->lag > b->lag;
}

static int cmp_lags(const void *pa, const void *pb)
{
	const struct lag_vote *a = pa, *b = pb;

	return a->lag < b->lag ? -1 : a->lag > b->lag;
}

static void period_propose(struct period *best, const uint32_t *v, size_t n)
{
	static const size_t widths[] = { 1, 8, 64 };
	struct lag_votes all = { U64MAP_INIT, VEC_INIT };

	for (size_t w = 0; w < 3; w++) {
		struct lag_votes votes = { U64MAP_INIT, VEC_INIT };

		runs_vote(v, n, widths[w], &votes);
		if (votes.v.nr)
			qsort(votes.v.v, votes.v.nr, sizeof(*votes.v.v), cmp_votes);
		for (size_t i = 0; i < votes.v.nr && i < PERIOD_CANDIDATES / 3; i++)
			lag_vote(&all, votes.v.v[i].lag);
		VEC_RELEASE(&votes.v);
		u64map_release(&votes.at);
	}
	if (all.v.nr)
		qsort(all.v.v, all.v.nr, sizeof(*all.v.v), cmp_lags);
	for (size_t i = 0; i < all.v.nr; i++)
		period_try(best, v, n, all.v.v[i].lag);
	VEC_RELEASE(&all.v);
	u64map_release(&all.at);
}

struct period period_find(const uint32_t *v, size_t n)
{
	struct period best = { 0 };

	if (n > PERIOD_EXACT_MAX)
		period_propose(&best, v, n);
	else
		for (size_t lag = 1; lag <= n / 2; lag++)
			period_try(&best, v, n, lag);
	best.accepted = best.of && best.match * 10 >= best.of * 9 && best.lag * 3 <= n;
	return best;
}
