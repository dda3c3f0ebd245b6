#include "test.h"

#include <math.h>

#include "profrig/cost/collective_cost.h"

TEST(test_kinds)
{
	static const struct {
		const char *name;
		enum collective_kind kind;
	} rows[] = {
		{ "allreduce", COLLECTIVE_ALL_REDUCE },
		{ "allreduce_coalesced", COLLECTIVE_ALL_REDUCE },
		{ "_allgather_base", COLLECTIVE_ALL_GATHER },
		{ "all-gather-start.2", COLLECTIVE_ALL_GATHER },
		{ "_reduce_scatter_base", COLLECTIVE_REDUCE_SCATTER },
		{ "reduce_scatter_tensor_coalesced", COLLECTIVE_REDUCE_SCATTER },
		{ "all_to_allv", COLLECTIVE_ALL_TO_ALL },
		{ "broadcast", COLLECTIVE_BROADCAST },
		{ "reduce", COLLECTIVE_REDUCE },
		{ "gather", COLLECTIVE_GATHER },
		{ "scatter", COLLECTIVE_SCATTER },
		{ "barrier", COLLECTIVE_BARRIER },
		{ "send", COLLECTIVE_SEND },
		{ "recv", COLLECTIVE_RECV },
		{ "collective-permute", COLLECTIVE_PERMUTE },
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, ncclWork*)",
		  COLLECTIVE_ALL_REDUCE },
		{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", COLLECTIVE_PERMUTE },
		{ "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", COLLECTIVE_REDUCE_SCATTER },
		{ "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)",
		  COLLECTIVE_OTHER },
		{ "", COLLECTIVE_OTHER },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (collective_kind_of(rows[i].name) != rows[i].kind)
			ROW_FAIL(i, "%s: %d", rows[i].name, collective_kind_of(rows[i].name));
	for (int k = COLLECTIVE_ALL_REDUCE; k <= COLLECTIVE_RECV; k++)
		assert_int_equal(collective_kind_of(collective_kind_name(k)), k);
}

/* nsys-jax's table, and its acceptance case 3 */
TEST(test_bandwidth)
{
	static const struct {
		enum collective_kind kind;
		double of_2, of_4, of_8;
	} rows[] = {
		{ COLLECTIVE_ALL_GATHER, 0.5, 0.75, 0.875 },
		{ COLLECTIVE_ALL_REDUCE, 1, 1.5, 1.75 },
		{ COLLECTIVE_ALL_TO_ALL, 0.5, 0.75, 0.875 },
		{ COLLECTIVE_BROADCAST, 1, 1, 1 },
		{ COLLECTIVE_PERMUTE, 1, 1, 1 },
		{ COLLECTIVE_REDUCE_SCATTER, 0.5, 0.75, 0.875 },
	};
	double alg;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (collective_bus_factor(rows[i].kind, 2) != rows[i].of_2 ||
		    collective_bus_factor(rows[i].kind, 4) != rows[i].of_4 ||
		    collective_bus_factor(rows[i].kind, 8) != rows[i].of_8)
			ROW_FAIL(i, "bus factor");
	assert_true(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 1) == 0);
	assert_true(collective_bus_factor(COLLECTIVE_ALL_GATHER, 1) == 0);
	alg = (double)collective_size(COLLECTIVE_ALL_GATHER, 7077888, 4 * 7077888, 4) / 248702;
	assert_float_equal(alg, 113.837251, 1e-6);
	assert_float_equal(alg * collective_bus_factor(COLLECTIVE_ALL_GATHER, 4), 85.377938, 1e-6);
	alg = (double)collective_size(COLLECTIVE_REDUCE_SCATTER, 1000000, 250000, 4) / 100000;
	assert_true(alg == 10);
	assert_int_equal(collective_size(COLLECTIVE_GATHER, 10, 0, 4), 40);
	assert_int_equal(collective_size(COLLECTIVE_SCATTER, 0, 10, 4), 40);
	assert_int_equal(collective_size(COLLECTIVE_ALL_REDUCE, INT64_MIN, 7, 4), INT64_MIN);
	assert_int_equal(collective_size(COLLECTIVE_GATHER, INT64_MAX / 2, 0, 4), INT64_MIN);
}

TEST(test_types)
{
	static const struct {
		const char *dtype;
		unsigned bits;
	} rows[] = { { "Float", 32 }, { "BFloat16", 16 },     { "Long", 64 },  { "Byte", 8 },
		     { "Bool", 8 },   { "f32", 32 },          { "bf16", 16 },  { "bytes", 8 },
		     { "", 0 },       { "Float8_e4m3fn", 8 }, { "Nothing", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (collective_type_bits(rows[i].dtype) != rows[i].bits)
			ROW_FAIL(i, "%s: %u", rows[i].dtype, collective_type_bits(rows[i].dtype));
}
