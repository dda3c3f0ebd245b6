#include "order.h"

#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"

static const char *const names[] = { "interleaved", "random", "sequential" };

const char *run_order_name(enum run_order o)
{
	return names[o];
}

bool run_order_parse(const char *name, enum run_order *ret)
{
	for (int i = ORDER_INTERLEAVED; i <= ORDER_SEQUENTIAL; i++)
		if (!strcmp(names[i], name)) {
			*ret = (enum run_order)i;
			return true;
		}
	return false;
}

static void shuffle(struct order_run *v, uint32_t n, uint64_t seed)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)((unsigned __int128)splitmix64(&seed) * i >> 64);
		struct order_run run = v[k];

		v[k] = v[i - 1];
		v[i - 1] = run;
	}
}

static void block_add(struct order *o, uint32_t cells, uint32_t block, bool back)
{
	for (uint32_t i = 0; i < cells; i++)
		VEC_PUSH(&o->runs, ((struct order_run){ back ? cells - 1 - i : i, block }));
}

void order_make(uint32_t cells, uint32_t repeats, enum run_order o, uint64_t seed,
		struct order *ret)
{
	*ret = (struct order){ VEC_INIT };
	if (o == ORDER_SEQUENTIAL) {
		for (uint32_t cell = 0; cell < cells; cell++)
			for (uint32_t block = 0; block < repeats; block++)
				VEC_PUSH(&ret->runs, ((struct order_run){ cell, block }));
		return;
	}
	for (uint32_t block = 0; block < repeats; block++) {
		size_t begin = ret->runs.nr;

		block_add(ret, cells, block, o == ORDER_INTERLEAVED && block % 2);
		if (o == ORDER_RANDOM && cells > 0)
			shuffle(ret->runs.v + begin, cells, mix64(seed) ^ block);
	}
}

void order_release(struct order *o)
{
	VEC_RELEASE(&o->runs);
}
