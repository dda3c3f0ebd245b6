#include "facts_support.h"
#include "rpd_fixture.h"

/* A launch, a copy in two ops, and calls without facts. */
TEST(launches_and_copies)
{
	READING rd = read_sql(
		"rpd", false,
		SQL(RPD_2,
		    "INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id) VALUES"
		    " (1, 100, 1, 0, 10, 10, 1), (2, 100, 1, 20, 30, 11, 1),"
		    " (3, 100, 1, 40, 50, 12, 1);"
		    "INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, start, end,"
		    " description_id, opType_id) VALUES (1, 0, 0, 0, 100, 110, 7, 5),"
		    " (2, 0, 0, 0, 200, 210, 1, 6), (3, 0, 0, 0, 220, 230, 1, 6),"
		    " (4, 0, 0, 0, 300, 310, 7, 5);"
		    "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (1, 1), (2, 2), (2, 3), (3, "
		    "4);"
		    "INSERT INTO rocpd_kernelapi VALUES (1, '0x0', 4, 2, 1, 256, 1, 1, 16, 8, 7);"
		    "INSERT INTO rocpd_copyapi VALUES (2, '0x0', 4096, '', '', 1, '0x1', '0x2',"
		    " 0, 0, 0, 0);"));
	const struct model *m = rd.m;
	const struct facts *f = &m->facts;
	size_t counted = 0;

	assert_int_equal(f->kernels.nr, 2); /* of the call and of its kernel */
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(f->kernels.v[i].grid[0], 4);
		assert_int_equal(f->kernels.v[i].block[0], 256);
		assert_int_equal(f->kernels.v[i].shared_bytes, 16);
		assert_int_equal(f->kernels.v[i].local_bytes, 8);
		assert_false(f->kernels.v[i].grid_items);
	}
	assert_int_equal(f->copies.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(f->copies.v[i].direction, COPY_H2D);
		if (span_is_work(m, f->copies.v[i].span))
			counted += f->copies.v[i].bytes == 4096;
		else
			assert_int_equal(f->copies.v[i].bytes, 4096);
	}
	assert_int_equal(counted, 1);
	assert_int_equal(warned(m, W_BAD_FACT), 0);
}
