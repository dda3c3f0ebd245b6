/* Recordings of other people's tools. Their known answers are integers of ns, so they are compared
 * exactly. */
#include "readers_test.h"

#include "profrig/base/vec.h"

struct work {
	uint64_t kernels, copies, fills;
	int64_t kernel_sum_ns, sum_ns, kernel_union_ns, union_ns, span_ns;
};

static struct work work_of(const struct model *m)
{
	VEC(struct span_interval) all = VEC_INIT;
	VEC(struct span_interval) kernels = VEC_INIT;
	struct work w = { .kernels = 0 };
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < m->spans.nr; i++) {
		struct span_interval iv = { m->spans.start_ns[i], m->spans.end_ns[i] };

		if (!span_is_work(m, i))
			continue;
		VEC_PUSH(&all, iv);
		w.sum_ns += iv.end_ns - iv.start_ns;
		first = iv.start_ns < first ? iv.start_ns : first;
		last = iv.end_ns > last ? iv.end_ns : last;
		w.copies += m->spans.kind[i] == SPAN_COPY;
		w.fills += m->spans.kind[i] == SPAN_FILL;
		if (m->spans.kind[i] != SPAN_KERNEL)
			continue;
		w.kernels++;
		w.kernel_sum_ns += iv.end_ns - iv.start_ns;
		VEC_PUSH(&kernels, iv);
	}
	w.union_ns = interval_union(all.v, all.nr);
	w.kernel_union_ns = interval_union(kernels.v, kernels.nr);
	w.span_ns = last - first;
	VEC_RELEASE(&all);
	VEC_RELEASE(&kernels);
	return w;
}

#define read_real(rel) read_recording("tef", (rel), false)

TEST(device_work)
{
	static const struct {
		const char *file;
		uint64_t elements;
		struct work w; /* 0 = not stated */
	} cases[] = {
		ROW("tef/hta-two-rank/sampled_rank-0.json.gz", 4855,
		    { 1154, 40, 10, 606519000, 607844000, 547303000, 547656000, 1222847000 }),
		ROW("tef/hta-two-rank/sampled_rank-1.json.gz", 4720,
		    { 1104, 40, 10, 651026000, 667530000, 575496000, 580050000, 1231186000 }),
		ROW("tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz", 220,
		    { 14, 2, 0, 110881, 149042, 110881, 149042, 8911887 }),
		ROW("tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 68692,
		    { 4350, 1600, 145, 468153602, 472454441, 468153602, 472454441, 480029179 }),
		ROW("tef/hta-nccl/nccl_data.json.gz", 40573,
		    { 2700, 960, 114, 162532340, 165185838, 155215315, 157500014, 660551005 }),
		ROW("tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 18090,
		    { 1516, 1, 0, 43062042, 43062802, 43062042, 43062802, 47085800 }),
		ROW("tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz",
		    5371, { 155, 0, 0, 1716301, 1716301, 1716301, 1716301, 6868849 }),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_real(cases[i].file);
		struct work w = work_of(rd.m);

		assert_int_equal(fact(rd.m, "events"), cases[i].elements);
		assert_memory_equal(&w, &cases[i].w, sizeof(w));
		assert_int_equal(rd.m->inputs.v[0].clock, TRACE_CLOCK_REALTIME);
	}
}

TEST(two_ranks)
{
	static const struct {
		int64_t stream;
		uint64_t spans[2];
	} streams[] = { { 7, { 1052, 1002 } },
			{ 23, { 126, 126 } },
			{ 25, { 16, 16 } },
			{ 84, { 8, 8 } },
			{ 203, { 2, 2 } } };

	for (int rank = 0; rank < 2; rank++) {
		READING rd = read_real(rank ? "tef/hta-two-rank/sampled_rank-1.json.gz"
					    : "tef/hta-two-rank/sampled_rank-0.json.gz");
		const struct model *m = rd.m;
		uint64_t work = 0, launches = 0;

		for (size_t i = 0; i < m->tracks.nr; i++) {
			const struct track *t = &m->tracks.v[i];

			assert_int_equal(t->rank, rank);
			for (size_t k = 0; t->kind == TRACK_QUEUE && k < ARRAY_LEN(streams); k++) {
				if (t->tid != streams[k].stream)
					continue;
				assert_int_equal(t->spans, streams[k].spans[rank]);
				assert_string_equal(model_str(m, t->device),
						    rank ? "gpu1" : "gpu0");
			}
		}
		for (size_t i = 0; i < m->spans.nr; i++)
			work += span_is_work(m, i);
		for (size_t i = 0; i < m->links.nr; i++)
			launches += m->links.kind[i] == LINK_LAUNCH;
		assert_int_equal(launches, work); /* every one has its launch */
	}
}

TEST(unlinked_work)
{
	struct reading rd =
		read_real("tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
	int64_t linked_ns = 0;
	uint64_t linked = 0;

	for (size_t i = 0; i < rd.m->links.nr; i++) {
		uint64_t to = rd.m->links.to[i];

		if (rd.m->links.kind[i] != LINK_LAUNCH)
			continue;
		linked++;
		linked_ns += rd.m->spans.end_ns[to] - rd.m->spans.start_ns[to];
	}
	assert_int_equal(linked, 1054);
	assert_int_equal(linked_ns, 29743938);
	assert_int_equal(warned(rd.m, W_UNLINKED_WORK), 463);
	reading_release(&rd);
}

TEST(ns_annotations)
{
	struct reading rd =
		read_real("tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz");
	static const struct {
		const char *name;
		int64_t ns;
	} want[] = { { "DistributedDataParallel.forward", 154345805 },
		     { "Optimizer.step#SGD.step", 5565191 },
		     { "## backward ##", 138341 } };

	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		int64_t sum = 0;
		uint64_t calls = 0;

		for (size_t i = 0; i < rd.m->spans.nr; i++) {
			if (rd.m->spans.kind[i] != SPAN_ANNOTATION ||
			    strcmp(span_name(rd.m, i), want[k].name) != 0)
				continue;
			calls++;
			sum += rd.m->spans.end_ns[i] - rd.m->spans.start_ns[i];
		}
		assert_int_equal(calls, 5);
		assert_int_equal(sum, want[k].ns);
	}
	reading_release(&rd);
}

TEST(merged_ranks)
{
	READING rd = read_real("tef/merged-nccl-4rank/merged_nccl_only.json.gz");
	static const int64_t want[] = { 64471378, 46984875, 49845198, 3591089 };
	int64_t sum[4] = { 0 };
	uint64_t kernels[4] = { 0 };

	for (size_t i = 0; i < rd.m->spans.nr; i++) {
		int32_t rank = track_of(rd.m, i)->rank;

		assert_in_range(rank, 0, 3);
		if (!span_is_work(rd.m, i))
			continue;
		kernels[rank]++;
		sum[rank] += rd.m->spans.end_ns[i] - rd.m->spans.start_ns[i];
	}
	for (int k = 0; k < 4; k++) {
		assert_int_equal(kernels[k], 21);
		assert_int_equal(sum[k], want[k]);
	}
}

TEST(rocprof_v1)
{
	struct reading rd =
		read_real("tef/rocprof-v1-memcpy/memcpy-host-device.rocprofiler.json.gz");
	static const struct calls_answer want[] = {
		{ "CopyHostToDevice", 2, 6560 },       { "CopyDeviceToHost", 2, 11200 },
		{ "hipMemcpyHtoD", 2, 1658623468 },    { "hipMemcpyDtoH", 2, 2917093 },
		{ "hipLaunchKernel", 2, 2447343 },     { "hipMalloc", 2, 40910 },
		{ "hsa_queue_create", 2, 35461514 },   { "hsa_system_get_info", 2037, 2319782 },
		{ "hsa_agent_get_info", 142, 248301 },
	};
	const struct model *m = rd.m;

	assert_int_equal(m->inputs.v[0].spans, 2636);
	expect_calls(m, want, ARRAY_LEN(want));
	for (int k = 0; k < 2; k++) {
		size_t i = span_nth(m, "some_kernel(int*, int)", k);
		bool first = strcmp(model_str(m, track_of(m, i)->device), "gpu0") == 0;

		assert_int_equal(m->spans.kind[i], SPAN_KERNEL);
		assert_int_equal(m->spans.end_ns[i] - m->spans.start_ns[i],
				 first ? 272160 : 274720);
	}
	/* each kernel has its launch, by the flow */
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(span_name(m, m->links.from[i]), "hipLaunchKernel");
		assert_string_equal(span_name(m, m->links.to[i]), "some_kernel(int*, int)");
	}
	reading_release(&rd);
}

TEST(rocprof_broken)
{
	CLEANUP(xfreep) char *path = test_trace("rocprof/v1-finite-difference/results.json");
	READING rd = read_path("tef", path, false);

	assert_int_equal(rd.r, -EINVAL);
	assert_has(rd.err.msg, "byte 0");
}

/* Self and total of a frame in µs, as the golden snapshots give them. */
static void assert_frame(const struct model *m, const char *name, int64_t self_us, int64_t total_us)
{
	int64_t self = 0, total = 0;

	for (size_t i = 0; i < m->spans.nr; i++) {
		if (strcmp(span_name(m, i), name) != 0)
			continue;
		self += m->spans.exclusive_ns[i];
		total += m->spans.end_ns[i] - m->spans.start_ns[i];
	}
	assert_int_equal(self, self_us * 1000);
	assert_int_equal(total, total_us * 1000);
	span_at(m, name);
}

TEST(edge_cases)
{
	static const struct {
		const char *file, *warning;
		struct frame {
			const char *name;
			int64_t self_us, total_us;
		} frames[5];
	} cases[] = {
		ROW("simple-partial.json", W_UNTERMINATED,
		    { { "alpha", 2, 14 },
		      { "beta", 3, 12 },
		      { "gamma", 5, 5 },
		      { "epsilon", 4, 4 } }),
		ROW("simple-partial-trailing-comma.json", W_UNTERMINATED,
		    { { "alpha", 2, 14 },
		      { "beta", 3, 12 },
		      { "gamma", 5, 5 },
		      { "epsilon", 4, 4 } }),
		ROW("zero-duration-events.json", NULL,
		    { { "A", 10, 10 }, { "B", 0, 0 }, { "C", 0, 0 }, { "D", 0, 0 } }),
		ROW("too-many-end-events.json", W_STRAY_LEAVE,
		    { { "alpha", 2, 14 }, { "beta", 12, 12 } }),
		{ "not-enough-end-events.json", W_OPEN_SPAN, { { "A", 11, 22 } } },
		ROW("invalid-x-nesting.json", W_SPAN_OVERLAP,
		    { { "alpha", 5, 10 }, { "beta", 10, 10 } }),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_real(textf("tef/edge-cases/%s", cases[i].file));

		for (const struct frame *f = cases[i].frames; f->name; f++)
			assert_frame(rd.m, f->name, f->self_us, f->total_us);
		assert_only_warned(rd.m, cases[i].warning);
	}
	READING rd = read_real("tef/edge-cases/not-enough-end-events.json");
	static const int64_t self_us[] = { 1, 9, 1 };
	CLEANUP(xfreep) uint32_t *depths = model_depths(rd.m);

	assert_int_equal(rd.m->spans.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(rd.m->spans.exclusive_ns[i], self_us[i] * 1000);
		assert_int_equal(rd.m->spans.end_ns[i], 11000);
		assert_int_equal(depths[i], i);
	}
}

/* Another vendor's file whose pairs are written whole, out of order, one of them backwards; 24
 * intervals, 6 overlaps. */
TEST(basic_events)
{
	READING rd = read_recording("tef:chrome", "aiu/samples/basic_event_test_cases.json", false);

	expect_model(rd.m, "input.spans=24 W_NEGATIVE_DURATION=1 W_SPAN_OVERLAP=6");
	assert_int_equal(warned(rd.m, W_STRAY_LEAVE) + warned(rd.m, W_OPEN_SPAN) +
				 warned(rd.m, W_LEAVE_MISMATCH),
			 0);
}

/* The packed recording cut at many places: what is read is never more, and it is called partial. */
TEST(cut_packed)
{
	CLEANUP(xfreep)
	char *path = test_trace("tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz");
	CLEANUP(xfreep) char *data = NULL;
	size_t n = 0, seen = 0;

	assert_int_equal(fs_read(path, 1 << 20, &data, &n, NULL), 0);
	for (size_t i = 20; i < n; i += 61) {
		READING rd = read_bytes("tef", data, i);

		assert_int_not_equal(rd.r, 0);
		assert_true(rd.m->spans.nr >= seen && rd.m->spans.nr <= 115);
		seen = rd.m->spans.nr;
		if (rd.r == READ_PARTIAL)
			assert_true(warned(rd.m, W_TRUNCATED) > 0);
	}
	assert_true(seen > 100);
}
