/*
 * How kernels were launched, for analyses: readers that keep shapes and no arguments tell the same
 * shapes as those that keep all arguments, and the same spans otherwise.
 */
#include "readers_test.h"
#include "recordings.h"

#include "profrig/scan/launch_shape.h"

static struct reading read_shapes(const char *reader, const char *path)
{
	struct reading rd = { .m = model_new(), .err = ERR_INIT };
	struct read_opts o = { .keep_shapes = true };

	rd.r = reader_find(reader)->read(path, model_sink(rd.m), &o, &rd.err);
	model_finish(rd.m);
	return rd;
}

static uint64_t shape_at(const struct model *m, size_t i)
{
	str_id args = span_args(&m->spans, i);
	struct launch_shape shape;

	if (args == STR_NONE)
		return 0;
	launch_shape_of(model_str(m, args), strlen(model_str(m, args)), &shape);
	return launch_shape_hash(&shape);
}

/* Both have spans in one order. Returns the number of kernels with a shape; by_args: arguments of
 * work tell it. */
static size_t same_shapes(const struct model *args, const struct model *shapes, bool by_args)
{
	const struct span_columns *a = &args->spans, *b = &shapes->spans;
	size_t known = 0;

	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_true(a->start_ns[i] == b->start_ns[i] && a->end_ns[i] == b->end_ns[i]);
		assert_true(a->track[i] == b->track[i] && a->kind[i] == b->kind[i]);
		if (b->kind[i] != SPAN_KERNEL)
			assert_int_equal(span_args(b, i), STR_NONE);
		else if (by_args)
			assert_true(shape_at(args, i) == shape_at(shapes, i));
		known += shape_at(shapes, i) != 0;
	}
	return known;
}

static size_t known_shapes(const char *reader, const char *path, bool by_args)
{
	READING args = read_path(reader, path, true);
	READING shapes = read_shapes(reader, path);

	assert_true(shapes.r >= 0);
	return same_shapes(args.m, shapes.m, by_args);
}

TEST(fixtures)
{
	static const struct {
		const char *reader, *path;
		size_t known;
	} cases[] = {
		{ "tef", "tests/fixtures/tef/kineto.json", 1 },
		{ "tef", "tests/fixtures/tef/rocprofv3.json", 1 },
		{ "tef", "tests/fixtures/tef/rocprof-v1.json", 0 },
		{ "tef", "tests/fixtures/tef/chrome.json", 0 },
		{ "nsys", "tests/fixtures/nsys/two-processes.sqlite", 0 },
		{ "rocpd", "tests/fixtures/rocpd/two-processes.db", 6 },
		{ "perfetto", "tests/fixtures/perfetto/rocprofv3.pftrace", 2 },
		{ "rpd", "tests/fixtures/rpd/v1.rpd", 1 },
		{ "rpd", "tests/fixtures/rpd/two-writers-v3.rpd", 1 },
		{ "rocprof_db", "tests/fixtures/rocprof_db/hip.db", 0 },
		{ "ncu_csv", "tests/fixtures/ncu_csv/raw.csv", 3 },
		{ "rocprof_csv", "tests/fixtures/rocprof_csv/results.csv", 2 },
		{ "rocprof_csv", "tests/fixtures/rocprof_csv/rocpd.csv", 0 },
		{ "rocprof_csv", "tests/fixtures/rocprof_csv/run/4242_kernel_trace.csv", 3 },
		{ "rocprof_csv", "tests/fixtures/rocprof_csv/run/4242_memory_copy_trace.csv", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		/* rpd since version 2: the launching call has the arguments */
		bool by_args = !strstr(cases[i].path, "v3.rpd");
		size_t known = known_shapes(cases[i].reader, cases[i].path, by_args);

		if (known != cases[i].known)
			fail_msg("%s: %zu kernels have a shape", cases[i].path, known);
	}
}

/* Recordings of each format: kernels that were launched have shapes. */
TEST(of_recordings)
{
	size_t known = 0;

	for (size_t i = 0; i < ARRAY_LEN(recordings); i++) {
		const struct recording *r = &recordings[i];
		size_t here;

		if (r->result < 0 || !r->n[WORK] || strcmp(r->reader, "otf2") == 0)
			continue;
		here = known_shapes(r->reader, kept(test_trace(r->file)),
				    strcmp(r->reader, "rpd") != 0);
		print_message("# %s: %zu of %d\n", r->file, here, (int)r->n[WORK]);
		known += here;
	}
	assert_true(known > 0);
}
