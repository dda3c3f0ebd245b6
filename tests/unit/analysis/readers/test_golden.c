/*
 * Recorded traces with known answers, from the file to the table. They are found through
 * PROFRIG_TRACES; without it these tests are skipped.
 */
#include "stats_test.h"

#include "profrig/readers/reader.h"

static struct model *read_trace(const char *reader, const char *name)
{
	const char *path = kept(test_trace(name));
	struct model *m = model_new();
	const struct reader *rd = reader_find(reader);
	struct read_opts o = { .keep_args = false };
	struct err err = ERR_INIT;

	assert_non_null(rd);
	if (rd->read(path, model_sink(m), &o, &err) != 0)
		fail_msg("%s: %s", name, err.msg);
	model_finish(m);
	return m;
}

static struct table *golden_run(struct model *m, const struct analysis *a, struct table_set *ts)
{
	struct table *t;

	*ts = analyse(m, a);
	for (size_t i = 0; i < ts->checks.nr; i++)
		if (!ts->checks.v[i].ok)
			fail_msg("%s: %s", ts->checks.v[i].name, ts->checks.v[i].detail);
	t = table_set_find(ts, a->tables[0]->name);
	assert_non_null(t);
	return t;
}

/* --- busy, and what is linked --- */

#define QWEN "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
#define FALCON "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz"
#define HTA_NS "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
#define MINITOY "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz"
#define TWO_RANK "tef/hta-two-rank/sampled_rank-"
#define NCCL_4 "tef/merged-nccl-4rank/merged_nccl_only.json.gz"

static const struct {
	const char *file, *device;
	int64_t spans, sum_ns, union_ns, wall_ns, idle_ns;
	int64_t unattributed, unattributed_ns; /* work that no call launched */
} busy_cases[] = {
	{ TWO_RANK "0.json.gz", "gpu0", 1204, 607844000, 547656000, 1222847000, 675191000, 0, 0 },
	{ TWO_RANK "1.json.gz", NULL, 1154, 667530000, 580050000, 1231186000, 651136000, 0, 0 },
	{ MINITOY, "gpu2", 16, 149042, 149042, 8911887, 8762845, 0, 0 },
	{ HTA_NS, "gpu0", 6095, 472454441, 472454441, 480029179, 7574738, 0, 0 },
	{ "tef/hta-nccl/nccl_data.json.gz", "gpu0", 3774, 165185838, 157500014, 660551005,
	  503050991, 0, 0 },
	{ QWEN, NULL, 1517, 43062802, 43062802, 47085800, 4022998, 463, 13318864 },
	{ FALCON, NULL, 155, 1716301, 1716301, 6868849, 5152548, 0, 0 },
};

TEST(test_busy)
{
	for (size_t i = 0; i < ARRAY_LEN(busy_cases); i++) {
		CLEANUP(model_freep) struct model *m = read_trace("tef", busy_cases[i].file);
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		CLEANUP(table_set_release) struct table_set ps = TABLE_SET_INIT;
		struct table *b = golden_run(m, &analysis_busy, &ts);
		struct table *p = golden_run(m, &analysis_callpaths, &ps);
		int64_t pieces = 0, ns = 0;

		assert_int_equal(table_rows(b), 1);
		if (busy_cases[i].device)
			assert_string_equal(str_of(b, 0, "device"), busy_cases[i].device);
		if (num_of(b, 0, "spans") != (double)busy_cases[i].spans ||
		    num_of(b, 0, "sum_ns") != (double)busy_cases[i].sum_ns ||
		    num_of(b, 0, "union_ns") != (double)busy_cases[i].union_ns ||
		    num_of(b, 0, "wall_ns") != (double)busy_cases[i].wall_ns ||
		    num_of(b, 0, "idle_ns") != (double)busy_cases[i].idle_ns)
			ROW_FAIL(i, "%s: sum %.0f union %.0f wall %.0f", busy_cases[i].file,
				 num_of(b, 0, "sum_ns"), num_of(b, 0, "union_ns"),
				 num_of(b, 0, "wall_ns"));
		for (size_t r = 0; r < table_rows(p); r++) {
			if (strcmp(str_of(p, r, "path"), "[unattributed]") != 0)
				continue;
			pieces += (int64_t)num_of(p, r, "calls");
			ns += (int64_t)num_of(p, r, "device_exclusive_ns");
		}
		if (pieces != busy_cases[i].unattributed || ns != busy_cases[i].unattributed_ns)
			ROW_FAIL(i, "%s: %lld pieces unattributed", busy_cases[i].file,
				 (long long)pieces);
		assert_true(column_sum(p, "device_exclusive_ns") == (double)busy_cases[i].sum_ns);
	}
}

TEST(test_four_ranks)
{
	static const int64_t sums[] = { 64471378, 46984875, 49845198, 3591089 };

	CLEANUP(model_freep) struct model *m = read_trace("tef", NCCL_4);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct table *k = golden_run(m, &analysis_kernels, &ts);

	assert_int_equal(table_rows(k), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(num_of(k, i, "total_ns"), sums[i]);
		assert_int_equal(num_of(k, i, "calls"), 21);
		assert_string_equal(str_of(k, i, "class"), "collective");
	}
}

/* --- kernels --- */

TEST(test_kernels)
{
	static const struct {
		const char *file;
		size_t names; /* of kernels alone */
		int64_t calls, total_ns;
	} cases[] = {
		{ TWO_RANK "0.json.gz", 194, 1154, 606519000 },
		{ TWO_RANK "1.json.gz", 183, 1104, 651026000 },
		{ HTA_NS, 77, 4350, 468153602 },
		{ MINITOY, 12, 14, 110881 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = read_trace("tef", cases[i].file);
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		struct table *k = golden_run(m, &analysis_kernels, &ts);
		size_t names = 0;
		int64_t calls = 0, ns = 0, collectives = 0;

		for (size_t r = 0; r < table_rows(k); r++) {
			const char *name = str_of(k, r, "name");

			if (!strncmp(name, "Memcpy", 6) || !strncmp(name, "Memset", 6)) {
				assert_string_equal(str_of(k, r, "class"), "copy");
				continue;
			}
			names++;
			calls += (int64_t)num_of(k, r, "calls");
			ns += (int64_t)num_of(k, r, "total_ns");
			if (!strcmp(str_of(k, r, "class"), "collective"))
				collectives += (int64_t)num_of(k, r, "total_ns");
		}
		if (names != cases[i].names || calls != cases[i].calls || ns != cases[i].total_ns)
			ROW_FAIL(i, "%zu names, %lld calls, %lld ns", names, (long long)calls,
				 (long long)ns);
		if (i == 0)
			assert_int_equal(collectives, 396199000);
		if (i == 1)
			assert_int_equal(collectives, 379053000);
	}
}

/* Device time by the innermost operator around the launch; what the launching calls of the runtime
 * have is theirs. */
TEST(test_operators)
{
	static const struct {
		const char *op;
		int64_t ops, ns;
	} cases[] = LIST({ "aten::addmm", 73, 942325 },
			 { "aten::_flash_attention_forward", 12, 374687 },
			 { "aten::native_layer_norm", 25, 139695 }, { "aten::gelu", 12, 65659 },
			 { "aten::miopen_convolution", 1, 46342 });

	CLEANUP(model_freep) struct model *m = read_trace("tef", FALCON);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT, fs = TABLE_SET_INIT;
	struct table *p = golden_run(m, &analysis_callpaths, &ts);
	struct table *f = golden_run(m, &analysis_functions, &fs);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 0;
		size_t row = row_of(f, "name", cases[i].op, NULL, NULL);

		for (size_t r = 0; r < table_rows(p); r++) {
			const char *path = str_of(p, r, "path"), *last = strrchr(path, ';');
			size_t n = last ? (size_t)(last - path) : strlen(path);
			size_t k = strlen(cases[i].op);

			/* …;op;hipLaunchKernel */
			if (last && n >= k && !strncmp(path + n - k, cases[i].op, k) &&
			    (n == k || path[n - k - 1] == ';') && !strncmp(last, ";hip", 4))
				ns += (int64_t)num_of(p, r, "device_exclusive_ns");
		}
		if (num_of(f, row, "calls") != (double)cases[i].ops || ns != cases[i].ns)
			ROW_FAIL(i, "%s: %.0f ops, %lld ns", cases[i].op, num_of(f, row, "calls"),
				 (long long)ns);
	}
}

/* --- call paths of archives, in ticks of their clocks --- */

struct tick_case {
	const char *track, *path;
	int64_t calls, inclusive, exclusive;
};

/* Each end of a call is rounded to a nanosecond, so a sum over calls may be off by as many; an
 * exclusive time by as many as there are calls on the thread. */
static void assert_ticks(const char *file, double ticks_hz, const struct tick_case *cases, size_t n)
{
	CLEANUP(model_freep) struct model *m = read_trace("otf2", file);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct table *p = golden_run(m, &analysis_callpaths, &ts);

	for (size_t i = 0; i < n; i++) {
		size_t r = row_of(p, "track", cases[i].track, "path", cases[i].path);
		double inclusive = (double)cases[i].inclusive / ticks_hz * 1e9;
		double exclusive = (double)cases[i].exclusive / ticks_hz * 1e9;

		if (num_of(p, r, "calls") != (double)cases[i].calls)
			ROW_FAIL(i, "%g calls", num_of(p, r, "calls"));
		if (fabs(num_of(p, r, "inclusive_ns") - inclusive) > (double)cases[i].calls + 0.01)
			ROW_FAIL(i, "inclusive %.0f, not %.2f", num_of(p, r, "inclusive_ns"),
				 inclusive);
		if (fabs(num_of(p, r, "exclusive_ns") - exclusive) > 38)
			ROW_FAIL(i, "exclusive %.0f, not %.2f", num_of(p, r, "exclusive_ns"),
				 exclusive);
	}
}

#define R0 "rank 0/Master thread"
#define R1 "rank 1/Master thread"
#define MAIN "int main(int, char**)"

TEST(test_ping_pong)
{
	static const struct tick_case plain[] = {
		{ R0, MAIN, 1, 417443455, 4995746 },
		{ R0, MAIN ";MPI_Init", 1, 404995511, 404995511 },
		{ R0, MAIN ";MPI_Send", 8, 3709060, 3709060 },
		{ R0, MAIN ";MPI_Recv", 8, 3614228, 3614228 },
		{ R0, MAIN ";MPI_Finalize", 1, 123344, 123344 },
		{ R0, MAIN ";MPI_Comm_size", 1, 3178, 3178 },
		{ R0, MAIN ";MPI_Comm_rank", 1, 2388, 2388 },
		{ R1, MAIN, 1, 418089722, 6245348 },
		{ R1, MAIN ";MPI_Init", 1, 405637613, 405637613 },
		{ R1, MAIN ";MPI_Send", 8, 3607517, 3607517 },
		{ R1, MAIN ";MPI_Recv", 8, 2499468, 2499468 },
		{ R1, MAIN ";MPI_Finalize", 1, 94508, 94508 },
		{ R1, MAIN ";MPI_Comm_size", 1, 3034, 3034 },
		{ R1, MAIN ";MPI_Comm_rank", 1, 2234, 2234 },
	};
	static const struct tick_case papi[] = {
		{ R0, MAIN, 1, 451476474, 5274420 },
		{ R1, MAIN, 1, 451335198, 6775106 },
	};

	assert_ticks("otf2/ping-pong/traces.otf2", 2095197216, plain, ARRAY_LEN(plain));
	assert_ticks("otf2/ping-pong-papi/traces.otf2", 2095191439, papi, ARRAY_LEN(papi));
}

TEST(test_two_kernels)
{
	static const char file[] = "otf2/mi300a-two-kernels/traces.otf2";
	static const char t[] = "Master thread";
	static const char heavy[] = "main;__device_stub__heavy_kernel(float*, float const*)";
	static const char light[] = "main;__device_stub__light_kernel(float*, float const*)";
	static const struct tick_case cases[] = {
		{ t, "main", 1, 26603239501, 2713469 },
		{ t, "main;hipEventSynchronize", 2, 23545715641, 23545715641 },
		{ t, "main;hipMemset", 2, 2613431767, 2613431767 },
		{ t, "main;hipMalloc", 4, 412650973, 412650973 },
		{ t, "main;hipFree", 4, 24321802, 24321802 },
		{ t, heavy, 1, 2105596, 78033 },
		{ t, light, 1, 1740147, 14652 },
	};
	const double hz = 3699958577.0;

	assert_ticks(file, hz, cases, ARRAY_LEN(cases));

	CLEANUP(model_freep) struct model *m = read_trace("otf2", file);
	CLEANUP(table_set_release) struct table_set ks = TABLE_SET_INIT, ps = TABLE_SET_INIT;
	struct table *k = golden_run(m, &analysis_kernels, &ks);
	struct table *p = golden_run(m, &analysis_callpaths, &ps);

	assert_int_equal(table_rows(k), 2);
	assert_string_equal(str_of(k, 0, "device"), "gpu0");
	assert_string_equal(str_of(k, 0, "name"), "heavy_kernel(float*, float const*)");
	assert_true(fabs(num_of(k, 0, "total_ns") - 17520723958 / hz * 1e9) <= 1.01);
	assert_string_equal(str_of(k, 1, "device"), "gpu1");
	assert_true(fabs(num_of(k, 1, "total_ns") - 6024764085 / hz * 1e9) <= 1.01);
	/* Both kernels were launched below main, each below its stub. */
	assert_true(num_of(p, row_of(p, "path", "main", NULL, NULL), "device_inclusive_ns") ==
		    num_of(k, 0, "total_ns") + num_of(k, 1, "total_ns"));
	assert_true(num_of(p, row_of(p, "path", heavy, NULL, NULL), "device_inclusive_ns") ==
		    num_of(k, 0, "total_ns"));
}

/* --- small and odd files --- */

TEST(test_edges)
{
	static const struct {
		const char *file, *name;
		double calls, exclusive_us, inclusive_us;
	} cases[] = {
		{ "simple-partial", "alpha", 1, 2, 14 },
		{ "simple-partial", "beta", 1, 3, 12 },
		{ "simple-partial", "epsilon", 1, 4, 4 },
		{ "simple-partial-trailing-comma", "beta", 1, 3, 12 },
		{ "zero-duration-events", "A", 1, 10, 10 },
		{ "zero-duration-events", "C", 1, 0, 0 },
		{ "too-many-end-events", "alpha", 1, 2, 14 },
		{ "too-many-end-events", "beta", 1, 12, 12 },
		{ "not-enough-end-events", "A", 3, 11, 11 },
		{ "invalid-x-nesting", "alpha", 1, 5, 10 },
		{ "invalid-x-nesting", "beta", 1, 10, 10 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep)
		struct model *m = read_trace("tef", textf("tef/edge-cases/%s.json", cases[i].file));
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		struct table *f = golden_run(m, &analysis_functions, &ts);
		size_t r = row_of(f, "name", cases[i].name, NULL, NULL);

		if (num_of(f, r, "calls") != cases[i].calls ||
		    num_of(f, r, "exclusive_ns") != cases[i].exclusive_us * 1000 ||
		    num_of(f, r, "inclusive_ns") != cases[i].inclusive_us * 1000)
			ROW_FAIL(i, "%s %s: %g %g", cases[i].file, cases[i].name,
				 num_of(f, r, "exclusive_ns"), num_of(f, r, "inclusive_ns"));
	}
}
