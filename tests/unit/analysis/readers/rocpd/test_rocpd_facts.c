#include "facts_support.h"
#include "rocpd_fixture.h"

TEST(kernels_copies_devices)
{
	READING rd = read_sql(
		"rocpd", false,
		SQL(ROCPD(U1),
		    "UPDATE \"rocpd_info_agent" U1 "\" SET extdata = '{\"cu_count\": 104,"
		    " \"wave_front_size\": 64, \"max_engine_clk_fcompute\": 1700,"
		    " \"name\": \"gfx90a\", \"product_name\": \"Made Up\"}' WHERE id = 2;"
		    "UPDATE \"rocpd_kernel_dispatch" U1 "\" SET grid_size_x = 640, grid_size_y = 1,"
		    " grid_size_z = 1 WHERE id = 1;"
		    "INSERT INTO \"rocpd_memory_copy" U1 "\"(id, pid, start, end, name_id,"
		    " dst_agent_id, src_agent_id, size) VALUES (2, 1, 8000, 8001, 9, 3, 2, -5);"));
	const struct model *m = rd.m;
	const struct device_facts *d = facts_device(m, 0, 0);
	const struct copy_facts *c;

	assert_int_equal(m->facts.kernels.nr, 3);
	assert_int_equal(m->facts.kernels.v[0].grid[0], 640);
	assert_true(m->facts.kernels.v[0].grid_items);
	assert_int_equal(m->facts.kernels.v[0].block[0], 64);
	assert_int_equal(m->facts.kernels.v[1].grid[0], FACT_ABSENT);
	assert_false(m->facts.kernels.v[1].grid_items);
	assert_int_equal(m->facts.copies.nr, 2);
	c = facts_copy(m, span_at(m, "MEMORY_COPY_HOST_TO_DEVICE"));
	assert_int_equal(c->bytes, 4096);
	assert_int_equal(c->direction, COPY_H2D);
	assert_int_equal(c->to, MEMORY_DEVICE);
	c = facts_copy(m, span_at(m, "MEMORY_COPY"));
	assert_int_equal(c->bytes, FACT_ABSENT);
	assert_int_equal(c->direction, COPY_P2P);
	assert_int_equal(warned(m, W_BAD_FACT), 1);
	assert_string_equal(model_str(m, d->name), "Made Up");
	assert_string_equal(model_str(m, d->arch), "gfx90a");
	assert_int_equal(d->units, 104);
	assert_int_equal(d->warp, 64);
	assert_int_equal(d->clock_hz, 1700000000);
	assert_int_equal(m->facts.devices.nr, 2);
}
