/* Two runs of one script, recorded by the tracer itself. */
#include "readers_test.h"

#include <math.h>

#include "profrig/intern.h"

#define DIR "rpd/matmul/"

struct work {
	uint64_t n;
	int64_t sum_ns;
};

static struct reading read_real(const char *rel)
{
	CLEANUP(xfreep) char *path = test_trace(rel);
	const struct reader *rd = NULL;
	struct err e = ERR_INIT;
	struct reading got;

	assert_int_equal(reader_detect(path, &rd, &e), 0);
	assert_string_equal(rd->name, "rpd");
	got = read_path("rpd", path, false);
	assert_int_equal(got.r, 0);
	return got;
}

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

static void matmul(void **state)
{
	static const struct {
		const char *file;
		int64_t sum_ns, span_ns, first_api_ns;
		int64_t h2d_ns, kernel_ns, d2h_ns, fill_ns, memcpy_ns, launch_ns;
		double busy;
		int64_t longest_ns;
		const char *longest;
		int64_t pid, tids, monitor_rows, unsized, bytes;
		double sclk_mhz;
		int64_t sclk_ns;
	} cases[] = {
		{ "matmul_result.rpd",
		  183918056,
		  2964070817,
		  8306017478773569,
		  157178063,
		  26399795,
		  334758,
		  5440,
		  349178381,
		  65124904,
		  0.062049143679417,
		  26211956,
		  "Cijk_Ailk_Bljk_SB_MT128x64x16",
		  1087077,
		  1,
		  15,
		  0,
		  2032000296,
		  812.186623,
		  6688244205 },
		{ "matmul_result_large.rpd",
		  2110631504,
		  4933119382,
		  8380679962280341,
		  1577218856,
		  532986691,
		  420677,
		  5280,
		  2257003015,
		  84263813,
		  0.427849265456921,
		  532802371,
		  "Cijk_Ailk_Bljk_SB_MT64x64x16",
		  1289127,
		  1,
		  62,
		  1,
		  -1,
		  820.010732,
		  27133825930 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *rel = xasprintf(DIR "%s", cases[i].file);
		struct reading rd = read_real(rel);
		const struct model *m = rd.m;
		const str_id *name = m->spans.name, *category = m->spans.category;
		int64_t sums[3];
		uint64_t threads = 0, queues = 0;

		assert_string_equal(m->inputs.v[0].format, "RPD 2");
		assert_int_equal(m->inputs.v[0].clock, TRACE_CLOCK_MONOTONIC);
		assert_int_equal(m->inputs.v[0].first_ns,
				 m->series.v[0].t_ns.v[0]); /* the monitor runs first */
		device_sums(m, sums);
		assert_int_equal(sums[0], cases[i].sum_ns);
		assert_int_equal(sums[1], cases[i].sum_ns);
		assert_int_equal(sums[2], cases[i].span_ns);
		assert_true(fabs((double)sums[0] / (double)sums[2] - cases[i].busy) < 1e-14);
		assert_work(sum_of(m, category, "CopyHostToDevice", true), 2, cases[i].h2d_ns);
		assert_work(sum_of(m, category, "KernelExecution", true), 29, cases[i].kernel_ns);
		assert_work(sum_of(m, category, "CopyDeviceToHost", true), 53, cases[i].d2h_ns);
		assert_work(sum_of(m, category, "FillBuffer", true), 1, cases[i].fill_ns);
		assert_work(sum_of(m, name, "hipMemcpyWithStream", false), 55, cases[i].memcpy_ns);
		assert_work(sum_of(m, name, "hipLaunchKernel", false), 28, cases[i].launch_ns);
		assert_int_equal(distinct_work(m), 23);
		assert_int_equal(fact(m, "api"), 125);
		assert_int_equal(fact(m, "ops"), 85);
		assert_int_equal(fact(m, "api_ops"), 85);
		assert_int_equal(fact(m, "copies"), 55);
		/* one of them all that a second thread did */
		assert_int_equal(fact(m, "overhead_rows"), 5);
		assert_int_equal(fact(m, "monitor_rows"), cases[i].monitor_rows);
		assert_int_equal(fact(m, "copies_without_size"),
				 cases[i].unsized ? cases[i].unsized : -1);
		if (cases[i].bytes >= 0)
			assert_int_equal(fact(m, "copy_bytes"), cases[i].bytes);
		assert_int_equal(m->links.nr, 85);
		assert_int_equal(m->spans.end_ns[longest_kernel(m)] -
					 m->spans.start_ns[longest_kernel(m)],
				 cases[i].longest_ns);
		assert_memory_equal(span_name(m, longest_kernel(m)), cases[i].longest,
				    strlen(cases[i].longest));
		assert_sclk(m, cases[i].sclk_mhz, cases[i].sclk_ns);
		for (size_t t = 0; t < m->tracks.nr; t++) {
			const struct track *tr = &m->tracks.v[t];

			threads += tr->kind == TRACK_THREAD;
			queues += tr->kind == TRACK_QUEUE;
			if (tr->kind == TRACK_THREAD)
				assert_int_equal(tr->pid, cases[i].pid);
			if (tr->kind != TRACK_QUEUE)
				continue;
			assert_string_equal(model_str(m, tr->device), "gpu2");
			assert_int_equal(m->tracks.v[tr->owner].pid, cases[i].pid);
		}
		assert_int_equal(threads, cases[i].tids);
		assert_int_equal(queues, 1);
		/* all that is odd: the monitor numbers its devices in another way */
		assert_only_warned(m, W_UNKNOWN_REFERENCE);
		assert_int_equal(warned(m, W_UNKNOWN_REFERENCE), 1);
		reading_release(&rd);
	}
}

/* Every op lies below the call that launched it. */
static void launches(void **state)
{
	struct reading rd = read_real(DIR "matmul_result.rpd");
	const struct model *m = rd.m;
	int64_t first = INT64_MAX, last = INT64_MIN;

	(void)state;
	for (size_t i = 0; i < m->links.nr; i++) {
		assert_int_equal(m->links.kind[i], LINK_LAUNCH);
		assert_int_equal(track_of(m, m->links.from[i])->kind, TRACK_THREAD);
		assert_true(span_is_work(m, m->links.to[i]));
		assert_true(m->spans.start_ns[m->links.from[i]] <=
			    m->spans.start_ns[m->links.to[i]]);
	}
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (span_is_work(m, i))
			continue;
		first = m->spans.start_ns[i] < first ? m->spans.start_ns[i] : first;
		last = m->spans.end_ns[i] > last ? m->spans.end_ns[i] : last;
	}
	assert_int_equal(first, 8306017478773569);
	assert_int_equal(last, 8306020859003155);
	reading_release(&rd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matmul),
		cmocka_unit_test(launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
