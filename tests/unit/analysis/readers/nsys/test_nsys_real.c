/* Recordings of Nsight Systems. Their known answers are integers of ns, so they are compared
 * exactly. */
#include "readers_test.h"

#include <inttypes.h>

#include "profrig/base/vec.h"

#define MOCK "nsys/mock/mock.sqlite"
#define HEALTHY "nsys/healthy-1pct/healthy_1pct.sqlite"
#define H100 "nsys/h100-2gpu/h100_2gpu_1s.sqlite"

/* Which spans: fields that are not given match all. */
struct which {
	int kinds; /* bits of enum span_kind */
	const char *device, *category, *name;
	const char *args; /* a part of them */
	int64_t stream;   /* 0: any */
};

struct sums {
	uint64_t spans;
	int64_t sum_ns, union_ns, wall_ns;
	int concurrency;
	int64_t gaps, gap_ns;
};

struct edge {
	int64_t t_ns;
	int step;
};

static int by_time(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return a->step - b->step;
}

static bool is(const struct model *m, size_t i, const struct which *w)
{
	const struct track *t = track_of(m, i);

	return w->kinds >> m->spans.kind[i] & 1 &&
	       (!w->device || strcmp(model_str(m, t->device), w->device) == 0) &&
	       (!w->category || strcmp(model_str(m, m->spans.category[i]), w->category) == 0) &&
	       (!w->name || strcmp(span_name(m, i), w->name) == 0) &&
	       (!w->args || strstr(model_str(m, span_args(&m->spans, i)), w->args)) &&
	       (w->stream == 0 || t->tid == w->stream);
}

static struct sums sums_of(const struct model *m, const struct which *w)
{
	VEC(struct edge) edges = VEC_INIT;
	struct sums s = { .spans = 0 };
	int64_t from = 0;
	int open = 0;

	for (size_t i = 0; i < m->spans.nr; i++) {
		if (!is(m, i, w))
			continue;
		s.spans++;
		s.sum_ns += m->spans.end_ns[i] - m->spans.start_ns[i];
		VEC_PUSH(&edges, (struct edge){ m->spans.start_ns[i], 1 });
		VEC_PUSH(&edges, (struct edge){ m->spans.end_ns[i], -1 });
	}
	if (edges.nr > 0)
		qsort(edges.v, edges.nr, sizeof(*edges.v), by_time);
	for (size_t i = 0; i < edges.nr; i++) {
		if (open == 0) {
			s.gaps += i > 0 && edges.v[i].t_ns > from;
			s.gap_ns += i > 0 ? edges.v[i].t_ns - from : 0;
			from = edges.v[i].t_ns;
		}
		open += edges.v[i].step;
		if (open > s.concurrency)
			s.concurrency = open;
		if (open == 0) {
			s.union_ns += edges.v[i].t_ns - from;
			from = edges.v[i].t_ns;
		}
	}
	if (edges.nr > 0)
		s.wall_ns = edges.v[edges.nr - 1].t_ns - edges.v[0].t_ns;
	VEC_RELEASE(&edges);
	return s;
}

#define read_real(rel) read_recording("nsys", (rel), true)

#define KERNELS (1 << SPAN_KERNEL)
#define COPIES (1 << SPAN_COPY)
#define FILLS (1 << SPAN_FILL)
#define WORK (KERNELS | COPIES | FILLS)
#define HOST (1 << SPAN_HOST)

/* A figure that is not stated is -1; its sum equals its union where that is stated so. */
static const struct {
	const char *file;
	struct which which;
	int64_t spans, sum_ns, union_ns, wall_ns;
} answers[] = {
	{ MOCK, { .kinds = KERNELS }, 2, 4129, 4129, 18254667 },
	{ MOCK, { .kinds = KERNELS, .device = "gpu0", .stream = 7 }, 2, 4129, 4129, -1 },
	{ MOCK, { .kinds = KERNELS, .args = "\"short name\":\"reduce_kernel\"" }, 1, 2689, -1, -1 },
	ROW(MOCK, { .kinds = KERNELS, .args = "\"short name\":\"vectorized_elementwise_kernel\"" },
	    1, 1440, -1, -1),
	{ MOCK, { .kinds = COPIES }, 1, 1632, -1, -1 },
	ROW(MOCK,
	    { .kinds = COPIES, .name = "[CUDA memcpy Device-to-Host]", .args = "\"bytes\":4," }, 1,
	    1632, -1, -1),
	{ MOCK, { .kinds = HOST }, 9, 40737950, -1, -1 },
	{ MOCK, { .kinds = HOST, .name = "cudaLaunchKernel_v7000" }, 2, 35200405, -1, -1 },
	{ HEALTHY, { .kinds = KERNELS }, 400, 400000000, 400000000, 403990000 },
	ROW(HEALTHY, { .kinds = KERNELS, .args = "\"short name\":\"gemm_nn_128x128\"" }, 200,
	    200000000, -1, -1),
	ROW(HEALTHY, { .kinds = KERNELS, .args = "\"short name\":\"elementwise_add\"" }, 200,
	    200000000, -1, -1),
	{ HEALTHY, { .kinds = HOST, .name = "cudaLaunchKernel" }, 400, 1000000, -1, -1 },
	{ H100, { .kinds = KERNELS, .device = "gpu0" }, 1721, 22385163, 22385163, 960485009 },
	{ H100, { .kinds = KERNELS, .device = "gpu1" }, 1721, 22444359, 22444359, 960307663 },
	{ H100, { .kinds = KERNELS, .device = "gpu0", .stream = 7 }, 1721, 22385163, -1, -1 },
	{ H100, { .kinds = KERNELS, .device = "gpu1", .stream = 15 }, 1721, 22444359, -1, -1 },
	{ H100, { .kinds = KERNELS }, 3442, 44829522, 29315386, -1 },
	{ H100, { .kinds = COPIES }, 904, 1880842214, -1, -1 },
	{ H100, { .kinds = FILLS }, 22, 29216, -1, -1 },
	{ H100, { .kinds = HOST, .category = "cuda_runtime" }, 5796, 1799142046, -1, -1 },
	{ H100, { .kinds = HOST, .name = "cudaStreamSynchronize_v3020" }, 8, 856929451, -1, -1 },
	{ H100, { .kinds = HOST, .category = "nvtx" }, 16782, -1, -1, -1 },
	{ H100, { .kinds = WORK, .device = "gpu0" }, -1, -1, 962890247, -1 },
	{ H100, { .kinds = WORK, .device = "gpu1" }, -1, -1, 962810705, -1 },
};

TEST(times)
{
	struct reading rd = { .m = NULL };

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct sums s;

		if (i == 0 || strcmp(answers[i].file, answers[i - 1].file) != 0) {
			reading_release(&rd);
			rd = read_real(answers[i].file);
		}
		s = sums_of(rd.m, &answers[i].which);
		if ((answers[i].spans >= 0 && answers[i].spans != (int64_t)s.spans) ||
		    (answers[i].sum_ns >= 0 && answers[i].sum_ns != s.sum_ns) ||
		    (answers[i].union_ns >= 0 && answers[i].union_ns != s.union_ns) ||
		    (answers[i].wall_ns >= 0 && answers[i].wall_ns != s.wall_ns))
			ROW_FAIL(i,
				 "%" PRIu64 " spans, sum %" PRId64 ", union %" PRId64
				 ", wall %" PRId64,
				 s.spans, s.sum_ns, s.union_ns, s.wall_ns);
	}
	reading_release(&rd);
}

/* Bytes of a span's arguments. */
static int64_t bytes_of(const struct model *m, size_t i)
{
	const char *at = strstr(model_str(m, span_args(&m->spans, i)), "\"bytes\":");
	int64_t v;

	assert_non_null(at);
	at += strlen("\"bytes\":");
	assert_int_equal(num_i64(at, strspn(at, "0123456789"), &v), 0);
	return v;
}

TEST(copies)
{
	static const struct {
		const char *device, *name;
		uint64_t copies;
		int64_t bytes, ns;
	} want[] = {
		{ "gpu0", "[CUDA memcpy Host-to-Device]", 225, 25475253792, 920872841 },
		{ "gpu1", "[CUDA memcpy Host-to-Device]", 225, 25475253792, 920757957 },
		{ "gpu0", "[CUDA memcpy Device-to-Device]", 225, 29684236288, 19613651 },
		{ "gpu1", "[CUDA memcpy Device-to-Device]", 225, 29684236288, 19589893 },
		{ "gpu0", "[CUDA memcpy Device-to-Host]", 2, 9, 3808 },
		{ "gpu1", "[CUDA memcpy Device-to-Host]", 2, 9, 4064 },
	};
	READING rd = read_real(H100);
	int64_t all = 0;

	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		struct which w = { .kinds = COPIES,
				   .device = want[k].device,
				   .name = want[k].name };
		struct sums s = sums_of(rd.m, &w);
		int64_t bytes = 0;

		for (size_t i = 0; i < rd.m->spans.nr; i++)
			if (is(rd.m, i, &w))
				bytes += bytes_of(rd.m, i);
		if (s.spans != want[k].copies || s.sum_ns != want[k].ns || bytes != want[k].bytes)
			ROW_FAIL(k, "%" PRIu64 " copies, %" PRId64 " ns, %" PRId64 " bytes",
				 s.spans, s.sum_ns, bytes);
		all += bytes;
	}
	assert_int_equal(fact(rd.m, "copied_bytes"), all);
}

/* Gaps of a queue without a pause in between: no report may call that idle. */
TEST(healthy_gaps)
{
	READING rd = read_real(HEALTHY);
	struct which w = { .kinds = KERNELS };
	struct sums s = sums_of(rd.m, &w);

	assert_int_equal(s.gaps, 399);
	assert_int_equal(s.gap_ns, 3990000);
	expect_model(rd.m, "links=400 only");
}

TEST(one_process)
{
	READING rd = read_real(MOCK);
	const struct model *m = rd.m;
	const struct input *in = &m->inputs.v[0];
	const struct track *t = track_of(m, span_at(m, "cudaLaunchKernel_v7000"));

	assert_string_equal(in->format, "Nsight Systems 2026.1.1.204 (schema 3.24.14)");
	assert_int_equal(in->clock, TRACE_CLOCK_OWN);
	assert_true(in->has_realtime_anchor);
	assert_int_equal(in->anchor_own_ns, 0);
	assert_int_equal(in->anchor_realtime_ns, 1776781226557295056);
	assert_true(in->driver_numbers);
	assert_int_equal(t->pid, 91186);
	assert_string_equal(model_host_of(m, m->spans.track[span_at(m, "cudaLaunchKernel_v7000")]),
			    "DESKTOP-KBEMEQS");
	/* there is no table of ranges: that is not "none" */
	assert_int_equal(fact(m, "nvtx_ranges"), -1);
	expect_model(m, "fact.kernels=2 links=3");
	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].kind == TRACK_QUEUE)
			assert_string_equal(model_str(m, m->tracks.v[i].pci), "0:1:0");
}

TEST(two_processes)
{
	READING rd = read_real(H100);
	const struct model *m = rd.m;
	uint64_t linked[2] = { 0, 0 }, unlinked = 0;
	struct which kernels = { .kinds = KERNELS };

	assert_int_equal(sums_of(m, &kernels).concurrency, 2);
	for (size_t i = 0; i < m->links.nr; i++) {
		const struct track *queue = track_of(m, m->links.to[i]);
		track_id thread = m->spans.track[m->links.from[i]];

		assert_int_equal(m->links.kind[i], LINK_LAUNCH);
		/* correlations repeat in the other process */
		assert_int_equal(queue->owner, model_process_of(m, thread));
		if (m->spans.kind[m->links.to[i]] != SPAN_KERNEL)
			continue;
		linked[strcmp(model_str(m, queue->device), "gpu1") == 0]++;
	}
	assert_int_equal(linked[0], 816);
	assert_int_equal(linked[1], 816);
	for (size_t i = 0; i < m->spans.nr; i++)
		unlinked += span_is_work(m, i);
	unlinked -= m->links.nr;
	assert_int_equal(warned(m, W_UNLINKED_WORK), unlinked);
	expect_model(m, "fact.nvtx_ranges=16782 W_UNLINKED_WORK only");
}

/* Names without their template arguments, and no collectives. */
TEST(short_names)
{
	READING rd = read_real(H100);
	const struct model *m = rd.m;
	CLEANUP(strbuf_release) struct strbuf seen = STRBUF_INIT;
	int names = 0;

	for (size_t i = 0; i < m->spans.nr; i++) {
		static const char key[] = "\"short name\":";
		const char *at;

		if (m->spans.kind[i] != SPAN_KERNEL)
			continue;
		assert_null(strcasestr(span_name(m, i), "nccl"));
		at = strstr(model_str(m, span_args(&m->spans, i)), key);
		assert_non_null(at);
		at += strlen(key);
		CLEANUP(xfreep) char *name = xstrndup(at, strcspn(at, ","));
		if (strstr(seen.buf, name))
			continue;
		strbuf_addstr(&seen, name);
		names++;
	}
	assert_int_equal(names, 15);
}

/* The recording cut at many places: never more than it holds, and it is never called whole. */
TEST(cut)
{
	CLEANUP(xfreep) char *data = NULL;
	size_t n = 0;

	assert_int_equal(fs_read(kept(test_trace(H100)), 1 << 22, &data, &n, NULL), 0);
	for (size_t i = 50; i < n; i += 90001) {
		READING rd = read_bytes("nsys", data, i);

		assert_int_not_equal(rd.r, 0);
		assert_true(rd.m->spans.nr <= 27388);
		if (rd.r == READ_PARTIAL)
			assert_true(warned(rd.m, W_TRUNCATED) > 0);
	}
}
