#include "test.h"

#include <inttypes.h>

#include "profrig/base/strbuf.h"
#include "profrig/scan/launch_shape.h"

static void expect_shape(const char *text, size_t n, const uint64_t want[LAUNCH_SHAPE_FIELDS])
{
	static const uint64_t empty[LAUNCH_SHAPE_FIELDS];
	struct launch_shape got;
	bool any = memcmp(want, empty, sizeof(empty)) != 0;

	if (launch_shape_of(text, n, &got) != any || memcmp(got.v, want, sizeof(got.v)) != 0)
		fail_msg("%.60s: [%" PRIu64 ",%" PRIu64 ",%" PRIu64 "] [%" PRIu64 ",%" PRIu64
			 ",%" PRIu64 "]",
			 text, got.v[0], got.v[1], got.v[2], got.v[3], got.v[4], got.v[5]);
	assert_int_equal(launch_shape_hash(&got) != 0, any);
}

/* The words of each recorder, and what is no launch. */
TEST(dialects)
{
	static const struct {
		const char *text;
		uint64_t v[LAUNCH_SHAPE_FIELDS];
	} cases[] = {
		/* PyTorch */
		{ "{\"device\": 0, \"correlation\": 9, \"registers per thread\": 32, "
		  "\"blocks per SM\": 4.74, \"grid\": [512, 2, 1], \"block\": [128, 1, 1]}",
		  { 512, 2, 1, 128, 1, 1 } },
		/* Nsight Systems and rpd in profrig's words, rocpd */
		{ "{\"short name\":\"f\",\"grid\":[3,1,1],\"block\":[256,1,1]}",
		  { 3, 1, 1, 256, 1, 1 } },
		{ "{\"dispatch\":7,\"workgroup size\":[64,1,1],\"grid size\":[4096,1,1]}",
		  { 4096, 1, 1, 64, 1, 1 } },
		/* rocprof v1: database, CSV */
		{ "{\"grid_items\":4096,\"block_items\":256,\"lds\":0}",
		  { 4096, 0, 0, 256, 0, 0 } },
		{ "{\"gpu-id\":0,\"grd\":1048576,\"wgr\":256,\"lds\":512}",
		  { 1048576, 0, 0, 256, 0, 0 } },
		/* rocprofv3: traces, counters, JSON */
		{ "{\"LDS_Block_Size\":8,\"Workgroup_Size_X\":64,\"Workgroup_Size_Y\":2,"
		  "\"Workgroup_Size_Z\":1,\"Grid_Size_X\":128,\"Grid_Size_Y\":4,\"Grid_Size_Z\":1}",
		  { 128, 4, 1, 64, 2, 1 } },
		{ "{\"Grid_Size\":65536,\"Workgroup_Size\":64}", { 65536, 0, 0, 64, 0, 0 } },
		{ "{\"size\":160,\"dispatch_info\":{\"kernel_id\":5,\"workgroup_size\":{\"x\":64,"
		  "\"y\":1,\"z\":2},\"grid_size\":{\"x\":9,\"y\":8,\"z\":7}},\"stream\":1}",
		  { 9, 8, 7, 64, 1, 2 } },
		/* as texts */
		{ "{\"grid\":\"(12, 3, 1)\",\"block\":\"32x8x1\"}", { 12, 3, 1, 32, 8, 1 } },
		{ "{\"gridX\":\"5\",\"blockZ\":\"6\"}", { 5, 0, 0, 0, 0, 6 } },
		/* more than three, none, nothing that counts */
		{ "{\"grid\":[1,2,3,4,5],\"gridz\":[7,8]}", { 1, 2, 7, 0, 0, 0 } },
		{ "{\"grid\":[],\"block\":\"none\"}", { 0 } },
		{ "{\"grid\":[0,0,0],\"block\":[0,0,0]}", { 0 } },
		{ "{\"griddle\":[1,1,1],\"gridw\":2,\"gridxx\":3,\"x\":{\"grid\":4}}", { 0 } },
		{ "{}", { 0 } },
		{ "", { 0 } },
		{ "[1,2,3]", { 0 } },
		{ "\"grid\"", { 0 } },
		{ "{\"left_out\":\"90000 bytes, #0123456789abcdef\"}", { 0 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_shape(cases[i].text, strlen(cases[i].text), cases[i].v);
}

/* Whatever it is cut to, nothing is read behind its end; a text that is no JSON tells nothing. */
TEST(cut_texts)
{
	static const char whole[] =
		"{\"a\":\"\\u00e9\\\\\",\"dispatch_info\":{\"grid\":[1,2,3]},\"block\":{\"x\":4}}";
	struct launch_shape shape;

	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		char *part = xstrndup(whole, n);

		assert_false(launch_shape_of(part, n, &shape));
		free(part);
	}
	assert_true(launch_shape_of(whole, sizeof(whole) - 1, &shape));
}

TEST(hostile_texts)
{
	static const uint64_t none[LAUNCH_SHAPE_FIELDS];
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	uint64_t seed = 5;

	/* deeper than the scanner goes, and than a stack should */
	for (int i = 0; i < 2000; i++)
		strbuf_addch(&sb, '[');
	expect_shape(sb.buf, sb.len, none);
	strbuf_clear(&sb);
	for (int i = 0; i < 200; i++)
		strbuf_addstr(&sb, "{\"dispatch_info\":");
	expect_shape(sb.buf, sb.len, none);
	/* megabytes */
	strbuf_clear(&sb);
	strbuf_addstr(&sb, "{\"grid\":[1,1,1],\"text\":\"");
	while (sb.len < (size_t)4 << 20)
		strbuf_addstr(&sb, "\xff\xfe\xc0 aaaaaaaaaaaaaaaa");
	strbuf_addstr(&sb, "\"}");
	expect_shape(sb.buf, sb.len, none);
	/* bad UTF-8, NUL bytes, huge numbers: whatever comes out, it comes out again */
	expect_shape("{\"\xff\xc3\":\"\xf0\x28\",\"grid\":[2,\0,3]}", 26,
		     (const uint64_t[]){ 2, 3, 0, 0, 0, 0 });
	for (int round = 0; round < 20000; round++) {
		char text[48];
		struct launch_shape a, b;
		size_t n = (size_t)(splitmix64(&seed) % sizeof(text));

		for (size_t i = 0; i < n; i++)
			text[i] = "{}[]\",:\\grid09x \xff"[splitmix64(&seed) % 17];
		assert_int_equal(launch_shape_of(text, n, &a), launch_shape_of(text, n, &b));
		assert_true(launch_shape_hash(&a) == launch_shape_hash(&b));
	}
	strbuf_clear(&sb);
	strbuf_addf(&sb, "{\"grid\":%0900d,\"block\":[-3,1e9,99999999999999999999999999]}", 7);
	assert_true(launch_shape_of(sb.buf, sb.len, &(struct launch_shape){ { 0 } }));
}

TEST(names_of_columns)
{
	static const struct {
		const char *name;
		int at;
	} cases[] = {
		{ "Grid_Size_X", 0 },
		{ "Grid_Size_Z", 2 },
		{ "grd", 0 },
		{ "Workgroup_Size_Y", 4 },
		{ "Workgroup_Size", 3 },
		{ "wgr", 3 },
		{ "LDS_Block_Size", -1 },
		{ "Kernel_Name", -1 },
		{ "", -1 },
		{ "GRID SIZE", 0 },
		{ "workgroupsizexy", -1 },
		{ "Scratch_Size", -1 },
		{ "Workgroup_Size_Something_Longer", -1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(launch_shape_field(cases[i].name, strlen(cases[i].name)),
				 cases[i].at);
}

/* A text for each shape, which reads back. */
TEST(texts_of_shapes)
{
	CLEANUP(launch_shapes_release) struct launch_shapes shapes = { U64MAP_INIT };
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct launch_shape shape = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
					UINT64_MAX } },
			    back;
	str_id id;

	s->ops->input(s, "shapes", "test");
	id = launch_shapes_put(&shapes, s, &shape);
	assert_int_equal(launch_shapes_put(&shapes, s, &shape), id);
	assert_true(launch_shape_of(model_str(m, id), strlen(model_str(m, id)), &back));
	assert_memory_equal(&back, &shape, sizeof(shape));
	shape.v[3] = 1;
	assert_int_not_equal(launch_shapes_put(&shapes, s, &shape), id);
	assert_int_equal(launch_shapes_put(&shapes, s, &(struct launch_shape){ { 0 } }), STR_NONE);
	for (uint64_t i = 2; shapes.text_of.nr < LAUNCH_SHAPES_MAX; i++) {
		shape.v[3] = i;
		assert_int_not_equal(launch_shapes_put(&shapes, s, &shape), STR_NONE);
	}
	id = launch_shapes_put(&shapes, s, &shape);
	assert_int_not_equal(id, STR_NONE);
	shape.v[4] = 1;
	assert_int_equal(launch_shapes_put(&shapes, s, &shape), STR_NONE);
	model_free(m);
}
