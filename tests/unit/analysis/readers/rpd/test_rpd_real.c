/* Two runs of one script, recorded by the tracer itself. */
#include "readers_test.h"

#include <math.h>

#include "profrig/base/intern.h"

#define DIR "rpd/matmul/"

struct work {
	uint64_t n;
	int64_t sum_ns;
};

#define read_real(rel) read_recording("rpd", (rel), false)

/* Spans of a name, or of a category. */
static struct work sum_of(const struct model *m, const str_id *column, const char *word, bool work)
{
	struct work w = { .n = 0 };

	for (size_t i = 0; i < m->spans.nr; i++) {
		if (span_is_work(m, i) != work || strcmp(model_str(m, column[i]), word) != 0)
			continue;
		w.n++;
		w.sum_ns += m->spans.end_ns[i] - m->spans.start_ns[i];
	}
	return w;
}

static void assert_work(struct work got, uint64_t n, int64_t sum_ns)
{
	assert_int_equal(got.n, n);
	assert_int_equal(got.sum_ns, sum_ns);
}

static int by_start(const void *va, const void *vb)
{
	const int64_t *a = va, *b = vb;

	return a[0] < b[0] ? -1 : a[0] > b[0];
}

/* Sum, union and extent of all device work. */
static void device_sums(const struct model *m, int64_t ret[3])
{
	int64_t(*v)[2] = xcalloc(m->spans.nr, sizeof(*v));
	int64_t reach = INT64_MIN;
	size_t n = 0;

	ret[0] = ret[1] = ret[2] = 0;
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (!span_is_work(m, i))
			continue;
		v[n][0] = m->spans.start_ns[i];
		v[n++][1] = m->spans.end_ns[i];
		ret[0] += m->spans.end_ns[i] - m->spans.start_ns[i];
	}
	qsort(v, n, sizeof(*v), by_start);
	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i][0] > reach ? v[i][0] : reach;

		ret[1] += v[i][1] > from ? v[i][1] - from : 0;
		reach = v[i][1] > reach ? v[i][1] : reach;
	}
	if (n > 0)
		ret[2] = reach - v[0][0];
	free(v);
}

static uint64_t distinct_work(const struct model *m)
{
	struct intern *names = intern_new();
	uint64_t n;

	for (size_t i = 0; i < m->spans.nr; i++)
		if (span_is_work(m, i))
			intern_puts(names, span_name(m, i));
	n = intern_count(names) - 1; /* the empty one is always there */
	intern_free(names);
	return n;
}

static size_t longest_kernel(const struct model *m)
{
	size_t best = 0;
	int64_t ns = -1;

	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t d = m->spans.end_ns[i] - m->spans.start_ns[i];

		if (m->spans.kind[i] == SPAN_KERNEL && d > ns) {
			ns = d;
			best = i;
		}
	}
	return best;
}

static void assert_sclk(const struct model *m, double mean_mhz, int64_t over_ns)
{
	const struct series *s = series_named(m, "sclk.gpu-monitor0");
	double sum = 0;
	size_t last = s->t_ns.nr - 1;

	assert_true(s->change_points);
	for (size_t i = 0; i < last; i++)
		sum += s->value.v[i] * (double)(s->t_ns.v[i + 1] - s->t_ns.v[i]);
	assert_int_equal(s->t_ns.v[last] - s->t_ns.v[0], over_ns);
	assert_true(fabs(sum / (double)over_ns - mean_mhz) < 1e-6);
}

struct run {
	const char *file;
	int64_t sum_ns, span_ns;
	double busy;
	int64_t h2d_ns, kernel_ns, d2h_ns, fill_ns, memcpy_ns, launch_ns;
	int64_t longest_ns;
	const char *longest;
	int64_t pid, monitor_rows, unsized, bytes; /* -1: not stated */
	double sclk_mhz;
	int64_t sclk_ns;
};

static const struct run runs[] = {
	ROW(.file = DIR "matmul_result.rpd", .sum_ns = 183918056, .span_ns = 2964070817,
	    .busy = 0.062049143679417, .h2d_ns = 157178063, .kernel_ns = 26399795, .d2h_ns = 334758,
	    .fill_ns = 5440, .memcpy_ns = 349178381, .launch_ns = 65124904, .longest_ns = 26211956,
	    .longest = "Cijk_Ailk_Bljk_SB_MT128x64x16", .pid = 1087077, .monitor_rows = 15,
	    .unsized = -1, .bytes = 2032000296, .sclk_mhz = 812.186623, .sclk_ns = 6688244205),
	{
		.file = DIR "matmul_result_large.rpd",
		.sum_ns = 2110631504,
		.span_ns = 4933119382,
		.busy = 0.427849265456921,
		.h2d_ns = 1577218856,
		.kernel_ns = 532986691,
		.d2h_ns = 420677,
		.fill_ns = 5280,
		.memcpy_ns = 2257003015,
		.launch_ns = 84263813,
		.longest_ns = 532802371,
		.longest = "Cijk_Ailk_Bljk_SB_MT64x64x16",
		.pid = 1289127,
		.monitor_rows = 62,
		.unsized = 1, /* an empty text in a column of integers */
		.bytes = -1,
		.sclk_mhz = 820.010732,
		.sclk_ns = 27133825930,
	},
};

static void assert_times(const struct model *m, const struct run *run)
{
	const str_id *name = m->spans.name, *category = m->spans.category;
	size_t longest = longest_kernel(m);
	int64_t sums[3];

	device_sums(m, sums);
	assert_int_equal(sums[0], run->sum_ns);
	assert_int_equal(sums[1], run->sum_ns);
	assert_int_equal(sums[2], run->span_ns);
	assert_true(fabs((double)sums[0] / (double)sums[2] - run->busy) < 1e-14);
	assert_work(sum_of(m, category, "CopyHostToDevice", true), 2, run->h2d_ns);
	assert_work(sum_of(m, category, "KernelExecution", true), 29, run->kernel_ns);
	assert_work(sum_of(m, category, "CopyDeviceToHost", true), 53, run->d2h_ns);
	assert_work(sum_of(m, category, "FillBuffer", true), 1, run->fill_ns);
	assert_work(sum_of(m, name, "hipMemcpyWithStream", false), 55, run->memcpy_ns);
	assert_work(sum_of(m, name, "hipLaunchKernel", false), 28, run->launch_ns);
	assert_int_equal(distinct_work(m), 23);
	assert_int_equal(m->spans.end_ns[longest] - m->spans.start_ns[longest], run->longest_ns);
	assert_memory_equal(span_name(m, longest), run->longest, strlen(run->longest));
	assert_sclk(m, run->sclk_mhz, run->sclk_ns);
}

static void assert_counts(const struct model *m, const struct run *run)
{
	expect_model(m, "fact.api=125 fact.ops=85 fact.api_ops=85 fact.copies=55");
	/* one of them all that a second thread did */
	assert_int_equal(fact(m, "overhead_rows"), 5);
	assert_int_equal(fact(m, "monitor_rows"), run->monitor_rows);
	assert_int_equal(fact(m, "copies_without_size"), run->unsized);
	if (run->bytes >= 0)
		assert_int_equal(fact(m, "copy_bytes"), run->bytes);
	assert_int_equal(m->links.nr, 85);
	/* all that is odd: the monitor numbers its devices in another way */
	expect_model(m, "W_UNKNOWN_REFERENCE=1 only");
}

static void assert_tracks(const struct model *m, const struct run *run)
{
	uint64_t threads = 0, queues = 0;

	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		threads += t->kind == TRACK_THREAD;
		queues += t->kind == TRACK_QUEUE;
		if (t->kind == TRACK_THREAD)
			assert_int_equal(t->pid, run->pid);
		if (t->kind != TRACK_QUEUE)
			continue;
		assert_string_equal(model_str(m, t->device), "gpu2");
		assert_int_equal(m->tracks.v[t->owner].pid, run->pid);
	}
	assert_int_equal(threads, 1);
	assert_int_equal(queues, 1);
}

TEST(matmul)
{
	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		READING rd = read_real(runs[i].file);

		expect_model(rd.m, "format='RPD 2' clock=monotonic");
		assert_times(rd.m, &runs[i]);
		assert_counts(rd.m, &runs[i]);
		assert_tracks(rd.m, &runs[i]);
	}
}

/* Every op lies below the call that launched it. */
TEST(launches)
{
	READING rd = read_real(DIR "matmul_result.rpd");
	const struct model *m = rd.m;

	for (size_t i = 0; i < m->links.nr; i++) {
		assert_int_equal(m->links.kind[i], LINK_LAUNCH);
		assert_int_equal(track_of(m, m->links.from[i])->kind, TRACK_THREAD);
		assert_true(span_is_work(m, m->links.to[i]));
		assert_true(m->spans.start_ns[m->links.from[i]] <=
			    m->spans.start_ns[m->links.to[i]]);
	}
}

TEST(extents)
{
	static const struct {
		const char *file;
		int64_t first_ns, last_ns; /* of calls; INT64_MIN: not stated */
	} cases[] = {
		{ DIR "matmul_result.rpd", 8306017478773569, 8306020859003155 },
		{ DIR "matmul_result_large.rpd", 8380679962280341, INT64_MIN },
	};

	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		READING rd = read_real(cases[k].file);
		const struct span_columns *c = &rd.m->spans;
		int64_t first = INT64_MAX, last = INT64_MIN;

		for (size_t i = 0; i < c->nr; i++) {
			if (span_is_work(rd.m, i))
				continue;
			first = c->start_ns[i] < first ? c->start_ns[i] : first;
			last = c->end_ns[i] > last ? c->end_ns[i] : last;
		}
		assert_int_equal(first, cases[k].first_ns);
		if (cases[k].last_ns != INT64_MIN)
			assert_int_equal(last, cases[k].last_ns);
	}
}
