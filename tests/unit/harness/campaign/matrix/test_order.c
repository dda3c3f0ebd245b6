/* Orders of runs: blocks are complete, ABBA cancels a drift, the same seed gives the same order. */
#include "order.h"
#include "test.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

static void order_is(const struct order *o, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < o->runs.nr; i++)
		strbuf_addf(&sb, "%s%c%u", i ? " " : "", 'a' + (int)o->runs.v[i].cell,
			    o->runs.v[i].block);
	if (strcmp(sb.buf, want) != 0)
		fail_msg("%s, not %s", sb.buf, want);
}

TEST(orders)
{
	struct order o;

	order_make(3, 3, ORDER_INTERLEAVED, 1, &o);
	order_is(&o, "a0 b0 c0 c1 b1 a1 a2 b2 c2");
	order_release(&o);
	order_make(2, 3, ORDER_SEQUENTIAL, 1, &o);
	order_is(&o, "a0 a1 a2 b0 b1 b2");
	order_release(&o);
	for (int mode = ORDER_INTERLEAVED; mode <= ORDER_SEQUENTIAL; mode++) {
		enum run_order parsed;

		order_make(0, 3, (enum run_order)mode, 1, &o);
		assert_int_equal(o.runs.nr, 0);
		order_release(&o);
		assert_true(run_order_parse(run_order_name((enum run_order)mode), &parsed));
		assert_int_equal(parsed, mode);
	}
	assert_false(run_order_parse("abba", &(enum run_order){ ORDER_RANDOM }));
}

/* Each cell once a block, in an order that the seed and the block decide. */
TEST(random_blocks)
{
	enum { CELLS = 5, BLOCKS = 200 };
	size_t first[CELLS] = { 0 };
	struct order o, again, other;
	bool differs = false;

	order_make(CELLS, BLOCKS, ORDER_RANDOM, 7, &o);
	order_make(CELLS, BLOCKS, ORDER_RANDOM, 7, &again);
	order_make(CELLS, BLOCKS, ORDER_RANDOM, 8, &other);
	assert_int_equal(o.runs.nr, CELLS * BLOCKS);
	for (size_t b = 0; b < BLOCKS; b++) {
		unsigned seen = 0;

		for (size_t i = b * CELLS; i < (b + 1) * CELLS; i++) {
			assert_int_equal(o.runs.v[i].block, b);
			seen |= 1U << o.runs.v[i].cell;
			assert_int_equal(o.runs.v[i].cell, again.runs.v[i].cell);
			differs |= o.runs.v[i].cell != other.runs.v[i].cell;
		}
		assert_int_equal(seen, (1U << CELLS) - 1);
		first[o.runs.v[b * CELLS].cell]++;
	}
	assert_true(differs);
	for (size_t c = 0; c < CELLS; c++) /* 40 of each are expected */
		assert_true(first[c] > 15 && first[c] < 70);
	order_release(&o);
	order_release(&again);
	order_release(&other);
}

/* Over an even number of blocks each cell has the same mean position. */
TEST(a_steady_drift_cancels)
{
	for (uint32_t cells = 2; cells < 6; cells++) {
		double mean[6] = { 0 };
		struct order o;

		order_make(cells, 8, ORDER_INTERLEAVED, 1, &o);
		for (size_t i = 0; i < o.runs.nr; i++)
			mean[o.runs.v[i].cell] += (double)i / 8;
		for (uint32_t c = 1; c < cells; c++)
			assert_true(fabs(mean[c] - mean[0]) < 1e-9);
		order_release(&o);
	}
}
