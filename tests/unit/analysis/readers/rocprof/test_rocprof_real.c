/* Recordings of rocprofv3 and rocprof v1: rows, sums of durations, exclusive times, counters. */
#include "readers_test.h"

#define SDK "rocprof/sdk-docs-csv/"
#define V1 "rocprof/v1-finite-difference/"

#define read_real(rel) read_recording("rocprof_csv", (rel), true)

/* Σ durations of the spans whose name begins so, and how many. */
static int64_t sum_of(const struct model *m, const char *name, uint64_t *ret_calls)
{
	int64_t sum = 0;

	*ret_calls = 0;
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (strncmp(span_name(m, i), name, strlen(name)) != 0)
			continue;
		sum += m->spans.end_ns[i] - m->spans.start_ns[i];
		++*ret_calls;
	}
	return sum;
}

static const struct recording {
	const char *file;
	uint64_t rows;
	int64_t sum_ns;
	enum span_kind kind; /* of all that have a length */
	struct named {
		const char *name;
		uint64_t calls;
		int64_t ns;
	} named[5];
} recordings[] = {
	ROW("kernel_trace", 9, 96160, SPAN_KERNEL,
	    { { "void addition_kernel", 3, 34040 },
	      { "divide_kernel", 2, 23640 },
	      { "multiply_kernel", 2, 21080 },
	      { "subtract_kernel", 2, 17400 } }),
	ROW("kernel_trace_truncated", 4, 44840, SPAN_KERNEL,
	    { { "divide_kernel", 1, 13080 },
	      { "addition_kernel", 1, 11640 },
	      { "multiply_kernel", 1, 11440 },
	      { "subtract_kernel", 1, 8680 } }),
	{ "counter_collection", 4, 196900, SPAN_KERNEL, { { NULL } } },
	ROW("memory_copy_trace", 4, 329162, SPAN_COPY,
	    { { "MEMORY_COPY_DEVICE_TO_HOST", 2, 176761 },
	      { "MEMORY_COPY_HOST_TO_DEVICE", 2, 152401 } }),
	ROW("memory_allocation_trace", 4, 430862, SPAN_ANNOTATION,
	    { { "MEMORY_ALLOCATION_ALLOCATE", 2, 93832 },
	      { "MEMORY_ALLOCATION_FREE", 2, 337030 } }),
	{ "scratch_memory_trace", 2, 609107599, SPAN_ANNOTATION, { { NULL } } },
	ROW("hip_trace", 17, 476345901, SPAN_HOST,
	    { { "hipStreamCreateWithFlags", 1, 325385467 },
	      { "hipGetDeviceCount", 1, 99183115 },
	      { "hipMemcpyAsync", 2, 49090745 } }),
	{ "hip_runtime_trace", 8, 972177644, SPAN_HOST, { { "hipMemcpy", 2, 858194498 } } },
	{ "hip_compile_trace", 5, 44990, SPAN_HOST, { { NULL } } },
	ROW("hsa_api_trace", 10, 13473, SPAN_HOST,
	    { { "hsa_amd_agent_iterate_memory_pools", 1, 10470 } }),
	ROW("hsa_core_api_trace", 32, 108547274, SPAN_HOST,
	    { { "hsa_queue_create", 1, 107170135 } }),
	ROW("python_bindings", 6, 150211, SPAN_HOST,
	    { { "generate_matrix(rows=4, cols=5)", 1, 22630 } }),
	{ "rccl_trace", 21, 430140109, SPAN_HOST, { { NULL } } },
	{ "rocdecode_api_trace", 6, 881421797, SPAN_HOST, { { NULL } } },
	{ "rocjpeg_api_trace", 4, 218830427, SPAN_HOST, { { NULL } } },
	{ "rocpd-to-csv", 13, 173915064, SPAN_HOST, { { NULL } } },
};

static void assert_recording(size_t i, const struct recording *c)
{
	READING rd = read_real(textf(SDK "%s.csv", c->file));
	const struct model *m = rd.m;
	uint64_t calls;
	int64_t sum = sum_of(m, "", &calls);

	if (calls != c->rows || sum != c->sum_ns)
		ROW_FAIL(i, "%llu rows, %lld ns", (unsigned long long)calls, (long long)sum);
	for (size_t k = 0; k < m->spans.nr; k++)
		if (m->spans.end_ns[k] > m->spans.start_ns[k] && m->spans.kind[k] != c->kind)
			ROW_FAIL(i, "'%s' is of kind %d", span_name(m, k), m->spans.kind[k]);
	for (const struct named *n = c->named; n->name; n++) {
		sum = sum_of(m, n->name, &calls);
		if (calls != n->calls || sum != n->ns)
			ROW_FAIL(i, "%s: %llu calls, %lld ns", n->name, (unsigned long long)calls,
				 (long long)sum);
	}
	for (size_t k = 0; k < m->warnings.nr; k++)
		if (strcmp(m->warnings.v[k].code, W_UNLINKED_WORK) != 0)
			ROW_FAIL(i, "%s", m->warnings.v[k].text);
	assert_false(m->inputs.v[0].partial);
}

TEST(sums)
{
	for (size_t i = 0; i < ARRAY_LEN(recordings); i++)
		assert_recording(i, &recordings[i]);
}

TEST(streams)
{
	READING rd = read_real(SDK "kernel_trace.csv");
	uint64_t seen = 0;

	for (size_t i = 0; i < rd.m->spans.nr; i++) {
		const struct track *t = track_of(rd.m, i);

		assert_int_equal(t->kind, TRACK_QUEUE);
		assert_string_equal(model_str(rd.m, t->device), "gpu4");
		assert_in_range(t->tid, 1, 4);
		seen |= UINT64_C(1) << t->tid;
	}
	assert_int_equal(seen, 0x1e);
}

TEST(exclusive_times)
{
	static const struct {
		const char *name;
		int64_t ns;
	} want[] = {
		{ "ncclGroupEnd", 213697398 },     { "ncclGetUniqueId", 2238640 },
		{ "ncclCommInitAll", 147762 },     { "ncclAllReduce", 74936 },
		{ "ncclGetVersion", 3942 },        { "ncclGroupStart", 3062 },
		{ "ncclCommGetAsyncError", 1196 },
	};
	READING rd = read_real(SDK "rccl_trace.csv");
	int64_t all = 0;

	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		int64_t sum = 0;

		for (size_t i = 0; i < rd.m->spans.nr; i++)
			if (strcmp(span_name(rd.m, i), want[k].name) == 0)
				sum += rd.m->spans.exclusive_ns[i];
		assert_int_equal(sum, want[k].ns);
		all += sum;
	}
	assert_int_equal(all, 216166936);
}

TEST(markers)
{
	struct reading rd = read_real(SDK "marker_api_trace.csv");
	uint64_t calls;

	assert_int_equal(sum_of(rd.m, "", &calls), 4962639);
	assert_int_equal(calls, 5);
	expect_model(rd.m, "input.instants=2 only 'hipLaunchKernel range': kind=annotation "
			   "pid=717 hipMemcpy: tid=717");
	reading_release(&rd);
	rd = read_real(SDK "python_bindings.csv");
	assert_int_equal(rd.m->inputs.v[0].instants, 1);
	span_at(rd.m, "MatrixTranspose: rows=4, cols=5");
	reading_release(&rd);
}

TEST(counters)
{
	struct reading rd = read_real(SDK "counter_collection.csv");
	double sum = 0;

	for (size_t s = 0; s < rd.m->series.nr; s++) {
		assert_string_equal(model_str(rd.m, rd.m->series.v[s].name), "SQ_WAVES");
		for (size_t i = 0; i < rd.m->series.v[s].value.nr; i++) {
			assert_true(rd.m->series.v[s].value.v[i] == 16384);
			sum += rd.m->series.v[s].value.v[i];
		}
	}
	assert_true(sum == 65536);
	assert_int_equal(rd.m->inputs.v[0].samples, 4);
	reading_release(&rd);
	/* an older header, without times: nothing is made up */
	rd = read_real(SDK "kernel_names.csv");
	assert_int_equal(rd.m->spans.nr + rd.m->series.nr, 0);
	expect_model(rd.m, "fact.dispatches=4 'fact.sum of SQ_WAVES'=65536 W_IGNORED_RECORD=4 "
			   "only");
	reading_release(&rd);
}

TEST(allocations)
{
	READING rd = read_real(SDK "memory_allocation_trace.csv");

	expect_model(rd.m, "fact.allocations=2 fact.allocated_bytes=2048 fact.frees=2 "
			   "fact.addresses_not_freed=0");
}

TEST(summaries)
{
	static const struct {
		const char *file;
		int64_t rows, calls, total_ns;
	} cases[] = {
		{ SDK "hip_api_stats.csv", 17, 155, 308269675 },
		{ SDK "hip_domain_stats.csv", 1, 13, 458514859 },
		{ V1 "results.stats.csv", 4, 1004, 2610787312 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_real(cases[i].file);

		assert_int_equal(rd.m->spans.nr, 0);
		assert_int_equal(fact(rd.m, "rows"), cases[i].rows);
		assert_int_equal(fact(rd.m, "calls"), cases[i].calls);
		assert_int_equal(fact(rd.m, "total_ns"), cases[i].total_ns);
		assert_only_warned(rd.m, W_IGNORED_RECORD);
	}
}

TEST(pc_samples)
{
	static const struct {
		const char *file;
		uint64_t rows, waits, ends;
	} cases[] = {
		{ "pc_sampling_host_trap", 79, 32, 36 },
		{ "pc_sampling_host_trap_debug", 21, 14, UINT64_MAX },
		{ "pc_sampling_stochastic_debug", 97, 71, UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_real(textf(SDK "%s.csv", cases[i].file));
		uint64_t calls;

		assert_int_equal(rd.m->inputs.v[0].instants, cases[i].rows);
		sum_of(rd.m, "s_waitcnt", &calls);
		assert_int_equal(calls, cases[i].waits);
		sum_of(rd.m, "s_endpgm", &calls);
		if (cases[i].ends != UINT64_MAX)
			assert_int_equal(calls, cases[i].ends);
		assert_only_warned(rd.m, NULL);
	}
}

TEST(v1)
{
	static const struct {
		const char *name;
		uint64_t calls;
		int64_t ns;
	} want[] = {
		{ "void laplacian_kernel<double>", 1001, 2608618986 },
		{ "void test_function_kernel<double>", 1, 1130883 },
		{ "void check_kernel<double>", 1, 1032003 },
		{ "__amd_rocclr_fillBufferAligned", 1, 5440 },
		{ "", 1004, 2610787312 },
	};
	READING rd = read_real(V1 "results.csv");
	const struct model *m = rd.m;
	int64_t sum = 0, reach = INT64_MIN, min = INT64_MAX, max = 0, first = INT64_MAX;
	uint64_t calls;

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(sum_of(m, want[i].name, &calls), want[i].ns);
		assert_int_equal(calls, want[i].calls);
	}
	/* rows of one track are in order of time */
	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t from = m->spans.start_ns[i], to = m->spans.end_ns[i];

		assert_int_equal(m->spans.kind[i], SPAN_KERNEL);
		assert_string_equal(model_str(m, track_of(m, i)->device), "gpu8");
		assert_int_equal(track_of(m, i)->tid, 0);
		first = from < first ? from : first;
		sum += to - (from > reach ? from : reach);
		reach = to > reach ? to : reach;
		if (strncmp(span_name(m, i), "void laplacian", 14) == 0) {
			min = to - from < min ? to - from : min;
			max = to - from > max ? to - from : max;
		}
	}
	assert_int_equal(sum, 2610787312);
	assert_int_equal(reach - first, 2649034656);
	assert_int_equal(min, 2593292);
	assert_int_equal(max, 2620970);
	assert_only_warned(m, NULL);
}
