#include "profrig/base/block_spread.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct placed {
	struct sample s;
	size_t at;
};

static int placed_cmp(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->s.block != y->s.block)
		return x->s.block < y->s.block ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void spread_add(struct block_spread *b, const struct placed *p)
{
	if (!b->nr || p->s.value < b->low) {
		b->low = p->s.value;
		b->at_low = p->at;
	}
	if (!b->nr || p->s.value > b->high) {
		b->high = p->s.value;
		b->at_high = p->at;
	}
	b->nr++;
}

size_t block_spreads(const struct sample *v, size_t n, double share, struct block_spread **ret)
{
	CLEANUP(xfreep) struct placed *p = xcalloc(n + 1, sizeof(*p));
	VEC(struct block_spread) found = VEC_INIT;
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].block != SAMPLE_BLOCK_NONE && isfinite(v[i].value) && v[i].value > 0)
			p[nr++] = (struct placed){ v[i], i };
	qsort(p, nr, sizeof(*p), placed_cmp);
	for (size_t i = 0; i < nr;) {
		struct block_spread b = { .block = p[i].s.block };

		for (; i < nr && p[i].s.block == b.block; i++)
			spread_add(&b, &p[i]);
		if (b.high / b.low - 1 > share)
			VEC_PUSH(&found, b);
	}
	*ret = found.v;
	return found.nr;
}
