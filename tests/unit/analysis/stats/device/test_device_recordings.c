/*
 * The tables of device time, idle time, latency and queues of recordings, against figures that were
 * computed from the files in exact arithmetic, each by the definitions of docs/tables.md.
 */
#include "readers_test.h"
#include "stats_test.h"

#include "profrig/base/bootstrap.h"
#include "profrig/model/facts.h"

#define OVERLAP_COLUMNS \
	"wall_ns compute_ns comm_ns copy_ns exposed_comm_ns hidden_comm_ns exposed_copy_ns " \
	"idle_ns"

/* clang-format off */
static const struct known {
	const char *file, *reader, *device;
	const char *overlap, *buckets, *causes; /* rows; NULL: none are known */
	int64_t largest_ns;                     /* gap */
	const char *latency;
	struct {
		int64_t max;
		double mean;
		int64_t area_ns, full_ns;
	} queue;
} knowns[] = {
	{ "tef/hta-two-rank/sampled_rank-0.json.gz", "tef", "gpu0",
	  "1222847000 210320000 396199000 1325000 336983000 59216000 353000 675191000\n",
	  "<10us 198 748000\n"
	  "10-20us 108 1507000\n"
	  "20-50us 119 3846000\n"
	  "50-100us 119 8701000\n"
	  "100us-1ms 270 105900000\n"
	  "1-10ms 107 299732000\n"
	  "10-100ms 9 254757000\n",
	  "queued_long 311594000\n"
	  "host_untraced 149193000\n"
	  "host_busy 128024000\n"
	  "launch_latency 81839000\n"
	  "data_loading 3807000\n"
	  "queued_short 652000\n"
	  "sync 73000\n"
	  "api 9000\n",
	  58862000,
	  "1204 0 4000 10842000 66197700 111023000 0 87\n",
	  { 80, 16.805275, 20550515000, 0 } },
	{ "tef/hta-two-rank/sampled_rank-1.json.gz", "tef", "gpu1",
	  "1231186000 271973000 379053000 16504000 303523000 75530000 4554000 651136000\n",
	  "<10us 188 736000\n"
	  "10-20us 82 1168000\n"
	  "20-50us 116 3709000\n"
	  "50-100us 102 7039000\n"
	  "100us-1ms 233 82307000\n"
	  "1-10ms 90 252289000\n"
	  "10-100ms 15 303888000\n",
	  "queued_long 309407000\n"
	  "host_untraced 162627000\n"
	  "host_busy 145944000\n"
	  "launch_latency 21161000\n"
	  "data_loading 11269000\n"
	  "queued_short 620000\n"
	  "sync 80000\n"
	  "api 28000\n",
	  64046000,
	  "1154 0 2000 11897500 72241950 120829000 0 198\n",
	  { 92, 16.471205, 20279380000, 0 } },
	{ "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "tef", "gpu2",
	  "8911887 110881 0 38161 0 0 38161 8762845\n",
	  "20-50us 1 33280\n"
	  "50-100us 4 312803\n"
	  "100us-1ms 9 1783288\n"
	  "1-10ms 1 6633474\n",
	  "launch_latency 6743549\n"
	  "host_busy 1817706\n"
	  "host_untraced 170128\n"
	  "sync 29037\n"
	  "api 2425\n",
	  6633474,
	  "16 0 10521 13198 1651251.75 6548604 0 2\n",
	  { 1, 0.757845, 6759454, 0 } },
	{ "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "tef", "gpu0",
	  "480029179 468153602 0 4300839 0 0 4300839 7574738\n",
	  "<10us 6080 6440250\n"
	  "10-20us 8 105887\n"
	  "20-50us 2 45632\n"
	  "100us-1ms 4 982969\n",
	  "queued_short 6179582\n"
	  "host_busy 925648\n"
	  "launch_latency 384118\n"
	  "queued_long 48031\n"
	  "api 37359\n",
	  385886,
	  "6095 0 6302 77204724 90330059.6 90942641 0 2\n",
	  { 1022, 873.051095, 418903272860, 328344868 } },
	{ "tef/hta-nccl/nccl_data.json.gz", "tef", "gpu0",
	  "660551005 115655847 46876493 2653498 39559468 7317025 2284699 503050991\n",
	  "<10us 1034 1921957\n"
	  "10-20us 33 461755\n"
	  "20-50us 547 22634615\n"
	  "50-100us 585 35868696\n"
	  "100us-1ms 1254 291931199\n"
	  "1-10ms 24 103462357\n"
	  "10-100ms 3 46770412\n",
	  "host_busy 439093819\n"
	  "launch_latency 29137837\n"
	  "host_untraced 28199833\n"
	  "api 4566390\n"
	  "queued_short 1902439\n"
	  "queued_long 97695\n"
	  "sync 52978\n",
	  15718606,
	  "3774 0 7495 12253.5 135194.65 969786 0 15\n",
	  { 11, 0.210509, 139025179, 0 } },
	{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "tef", "gpu2",
	  "47085800 43062042 0 760 0 0 760 4022998\n",
	  "<10us 1465 36505\n"
	  "10-20us 14 212544\n"
	  "20-50us 18 552810\n"
	  "50-100us 7 474817\n"
	  "100us-1ms 12 2746322\n",
	  "host_busy 2528877\n"
	  "launch_latency 849187\n"
	  "queued_long 592671\n"
	  "queued_short 24938\n"
	  "api 15758\n"
	  "no_launch 11567\n",
	  624035,
	  "1054 463 25637 1728283.5 4005858.2 4340959 0 0\n",
	  { 150, 58.113353, 1926497871, 0 } },
	{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz", "tef",
	  "gpu2",
	  "6868849 1716301 0 0 0 0 0 5152548\n",
	  "<10us 27 13016\n"
	  "10-20us 19 319993\n"
	  "20-50us 82 3011681\n"
	  "50-100us 24 1533666\n"
	  "100us-1ms 2 274192\n",
	  "host_busy 2475290\n"
	  "launch_latency 2253316\n"
	  "queued_long 319993\n"
	  "api 90933\n"
	  "queued_short 13016\n",
	  154596,
	  "155 0 19153 20560 26026.2 45708 0 0\n",
	  { 4, 0.483264, 3332245, 0 } },
	{ "tef/merged-nccl-4rank/merged_nccl_only.json.gz", "tef", "gpu3",
	  "131706445 0 46984875 0 46984875 0 0 84721570\n",
	  NULL, NULL, 0, NULL, { 0, 0, 0, 0 } },
	{ "tef/merged-nccl-4rank/merged_nccl_only.json.gz", "tef", "gpu2",
	  "131875537 0 64471378 0 64471378 0 0 67404159\n",
	  NULL, NULL, 0, NULL, { 0, 0, 0, 0 } },
	{ "tef/merged-nccl-4rank/merged_nccl_only.json.gz", "tef", "gpu4",
	  "132095701 0 49845198 0 49845198 0 0 82250503\n",
	  NULL, NULL, 0, NULL, { 0, 0, 0, 0 } },
	{ "tef/merged-nccl-4rank/merged_nccl_only.json.gz", "tef", "gpu5",
	  "130411642 0 3591089 0 3591089 0 0 126820553\n",
	  NULL, NULL, 0, NULL, { 0, 0, 0, 0 } },
	{ "nsys/mock/mock.sqlite", "nsys", "gpu0",
	  "22453059 4129 0 1632 0 0 1632 22447298\n",
	  "1-10ms 1 4196760\n"
	  "10-100ms 1 18250538\n",
	  "launch_latency 18558791\n"
	  "alloc 3543812\n"
	  "host_untraced 344695\n",
	  18250538,
	  "3 0 609916 17455381 17899525.6 17948875 0 0\n",
	  { 1, 0.902457, 36014172, 0 } },
	{ "nsys/healthy-1pct/healthy_1pct.sqlite", "nsys", "gpu0",
	  "403990000 400000000 0 0 0 0 0 3990000\n",
	  "10-20us 399 3990000\n",
	  "host_untraced 2793000\n"
	  "launch_latency 1197000\n",
	  10000,
	  "400 0 3000 3000 3000 3000 0 0\n",
	  { 1, 0.002978, 1200000, 0 } },
	{ "nsys/h100-2gpu/h100_2gpu_1s.sqlite", "nsys", "gpu0",
	  "969447605 22385163 0 940505084 0 0 940505084 6557358\n",
	  "<10us 2170 4712801\n"
	  "10-20us 6 62752\n"
	  "20-50us 3 117024\n"
	  "100us-1ms 4 1664781\n",
	  "no_launch 2496691\n"
	  "queued_short 2268334\n"
	  "host_untraced 1037562\n"
	  "host_busy 567158\n"
	  "launch_latency 108211\n"
	  "sync 40078\n"
	  "api 28796\n"
	  "queued_long 10528\n",
	  761862, NULL,
	  { 753, 392.539437, 380437591336, 0 } },
	{ "nsys/h100-2gpu/h100_2gpu_1s.sqlite", "nsys", "gpu1",
	  "969258578 22444359 0 940366346 0 0 940366346 6447873\n",
	  "<10us 2173 4847105\n"
	  "10-20us 3 31904\n"
	  "20-50us 3 112288\n"
	  "50-100us 1 89568\n"
	  "100us-1ms 3 1367008\n",
	  "no_launch 2551776\n"
	  "queued_short 2306113\n"
	  "host_untraced 914693\n"
	  "host_busy 495986\n"
	  "launch_latency 85427\n"
	  "api 41398\n"
	  "sync 31360\n"
	  "queued_long 21120\n",
	  731904, NULL,
	  { 753, 392.646266, 380464379876, 0 } },
	{ "rpd/matmul/matmul_result.rpd", "rpd", "gpu2",
	  "2964070817 26399795 0 157518261 0 0 157518261 2780152761\n",
	  "<10us 6 48320\n"
	  "10-20us 33 358079\n"
	  "20-50us 17 515119\n"
	  "50-100us 2 127640\n"
	  "100us-1ms 2 775679\n"
	  "1-10ms 9 40742132\n"
	  ">=100ms 1 2737585792\n",
	  "host_untraced 2700775943\n"
	  "module_load 37712838\n"
	  "launch_latency 28092622\n"
	  "queued_long 13046700\n"
	  "sync 288567\n"
	  "alloc 194001\n"
	  "api 31850\n"
	  "queued_short 10240\n",
	  2737585792,
	  "85 0 6506 7956 17079391.4 190705224 0 55\n",
	  { 14, 0.135165, 426415546, 0 } },
	{ "rpd/matmul/matmul_result_large.rpd", "rpd", "gpu2",
	  "4933119382 532986691 0 1577644813 0 0 1577644813 2822487878\n",
	  "<10us 7 55680\n"
	  "10-20us 32 360480\n"
	  "20-50us 17 515920\n"
	  "50-100us 1 63200\n"
	  "100us-1ms 2 233560\n"
	  "1-10ms 8 33505923\n"
	  "10-100ms 1 11204316\n"
	  ">=100ms 1 2776548799\n",
	  "host_untraced 2736754137\n"
	  "module_load 40702044\n"
	  "launch_latency 30343714\n"
	  "queued_long 14189755\n"
	  "alloc 265324\n"
	  "sync 183301\n"
	  "api 33603\n"
	  "queued_short 16000\n",
	  2776548799,
	  "85 0 8564 10022 522283503.6 532091364 0 55\n",
	  { 15, 1.554152, 7958716982, 0 } },
};
/* clang-format on */

static const struct table *table_of(const struct table_set *ts, const char *name)
{
	const struct table *t = table_set_find(ts, name);

	if (!t)
		fail_msg("no table %s", name);
	return t;
}

static void expect_rows(const struct table_set *ts, const char *table, const char *device,
			const char *columns, const char *rows)
{
	CLEANUP(xfreep) char *text = xasprintf("device=%s %s\n%s", device, columns, rows);

	expect_table(table_of(ts, table), text);
}

static int64_t largest_gap(const struct table *gaps, const char *device)
{
	int64_t most = 0;

	for (size_t i = 0; i < table_rows(gaps); i++)
		if (strcmp(str_of(gaps, i, "device"), device) == 0 &&
		    num_of(gaps, i, "dur_ns") > (double)most)
			most = (int64_t)num_of(gaps, i, "dur_ns");
	return most;
}

static void expect_idle(const struct known *k, const struct table_set *ts)
{
	expect_rows(ts, "idle", k->device, "gap_ns_bucket count total_ns", k->buckets);
	expect_rows(ts, "idle_causes", k->device, "cause total_ns", k->causes);
	assert_int_equal(largest_gap(table_of(ts, "idle_gaps"), k->device), k->largest_ns);
}

static void expect_queue(const struct known *k, const struct table_set *ts)
{
	const struct table *t = table_of(ts, "queue");
	size_t row = row_of(t, "device", k->device, NULL, NULL);

	assert_true(num_of(t, row, "max") == (double)k->queue.max &&
		    num_of(t, row, "area_ns") == (double)k->queue.area_ns &&
		    num_of(t, row, "full_ns") == (double)k->queue.full_ns);
	assert_true(fabs(num_of(t, row, "mean") / k->queue.mean - 1) < 2e-6 ||
		    fabs(num_of(t, row, "mean") - k->queue.mean) < 1e-6);
}

TEST(test_recordings)
{
	static const struct analysis *const all[] = { &analysis_overlap, &analysis_idle,
						      &analysis_launch_latency, &analysis_queue };

	for (size_t i = 0; i < ARRAY_LEN(knowns); i++) {
		const struct known *k = &knowns[i];
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		READING rd = read_recording(k->reader, k->file, false);
		struct analysis_opts o = { .shared = analysis_shared_new() };

		for (size_t a = 0; a < ARRAY_LEN(all); a++)
			assert_true(analysis_run(all[a], rd.m, NULL, &o, &ts, NULL) >= 0);
		analysis_shared_free(o.shared);
		for (size_t c = 0; c < ts.checks.nr; c++)
			if (!ts.checks.v[c].ok)
				ROW_FAIL(i, "%s: %s", ts.checks.v[c].name, ts.checks.v[c].detail);
		expect_rows(&ts, "overlap", k->device, OVERLAP_COLUMNS, k->overlap);
		if (k->buckets)
			expect_idle(k, &ts);
		if (k->latency)
			expect_rows(&ts, "launch_latency", k->device,
				    "linked unlinked min_ns median_ns p95_ns max_ns early "
				    "before_return",
				    k->latency);
		if (k->queue.max)
			expect_queue(k, &ts);
	}
}

/* Kernels below 10 us. */
TEST(test_recordings_short_kernels)
{
	static const struct {
		const char *file, *reader, *rows;
	} shorts[] = {
		{ "nsys/h100-2gpu/h100_2gpu_1s.sqlite", "nsys",
		  "gpu0 1560 4041946\ngpu1 1560 4066240\n" },
		{ "rpd/matmul/matmul_result.rpd", "rpd", "gpu2 24 *\n" },
		{ "rpd/matmul/matmul_result_large.rpd", "rpd", "gpu2 25 *\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(shorts); i++) {
		READING rd = read_recording(shorts[i].reader, shorts[i].file, false);
		CLEANUP(table_set_release)
		struct table_set ts = analyse(rd.m, &analysis_kernel_lengths);
		CLEANUP(xfreep)
		char *want = xasprintf("kernel_ns_bucket=<10us device count total_ns\n%s",
				       shorts[i].rows);

		expect_table(table_set_find(&ts, "kernel_lengths"), want);
	}
}

/* Both devices of this one together. */
TEST(test_recording_of_two_devices)
{
	READING rd = read_recording("nsys", "nsys/h100-2gpu/h100_2gpu_1s.sqlite", false);
	CLEANUP(table_set_release) struct table_set ts = analyse(rd.m, &analysis_launch_latency);
	const struct table *t = table_of(&ts, "launch_latency");

	assert_int_equal(column_sum(t, "linked"), 2092);
	assert_int_equal(column_sum(t, "unlinked"), 2276);
	assert_int_equal(column_sum(t, "before_return"), 8);
	assert_int_equal(column_sum(t, "early"), 0);
}

static int cmp_f64(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

TEST(test_latencies_of_two_devices)
{
	READING rd = read_recording("nsys", "nsys/h100-2gpu/h100_2gpu_1s.sqlite", false);
	struct works *w = works_new(rd.m);
	CLEANUP(xfreep) double *ns = xcalloc(w->v.nr, sizeof(*ns));
	size_t nr = 0;

	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch != SPAN_NONE)
			ns[nr++] = (double)(w->v.v[i].start_ns -
					    rd.m->spans.start_ns[w->v.v[i].launch]);
	assert_int_equal(nr, 2092);
	qsort(ns, nr, sizeof(*ns), cmp_f64);
	assert_true(ns[0] == 4711 && ns[nr - 1] == 438944200);
	assert_true(quantile_sorted(ns, nr, 0.5) == 421326549.5);
	assert_true(fabs(quantile_sorted(ns, nr, 0.95) - 438599565.4) < 0.05);
	works_free(w);
}

/* It is bound by copies of pinned memory: kernels take 2 % of the time, and nothing idles. */
TEST(test_copies_of_two_devices)
{
	READING rd = read_recording("nsys", "nsys/h100-2gpu/h100_2gpu_1s.sqlite", false);
	CLEANUP(table_set_release) struct table_set ts = analyse(rd.m, &analysis_overlap);
	static const struct {
		double kernels, copies;
	} shares[] = { { 0.023091, 0.970145 }, { 0.023156, 0.970191 } };
	const struct table *t = table_of(&ts, "overlap");
	const struct facts *f = &rd.m->facts;
	int64_t pinned[3] = { 0 }, pageable[3] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		double wall = num_of(t, i, "wall_ns");

		assert_true(fabs(num_of(t, i, "compute_ns") / wall - shares[i].kernels) < 5e-7);
		assert_true(fabs(num_of(t, i, "copy_ns") / wall - shares[i].copies) < 5e-7);
	}
	for (size_t i = 0; i < f->copies.nr; i++) {
		const struct copy_facts *c = &f->copies.v[i];
		int64_t *of = c->from == MEMORY_PINNED ? pinned : pageable;

		if (c->direction != COPY_H2D)
			continue;
		assert_true(c->from == MEMORY_PINNED || c->from == MEMORY_PAGEABLE);
		of[0]++;
		of[1] += c->bytes;
		of[2] += rd.m->spans.end_ns[c->span] - rd.m->spans.start_ns[c->span];
	}
	assert_true(pinned[0] == 446 && pinned[1] == 50950504448 && pinned[2] == 1841627438);
	assert_true(pageable[0] == 4 && pageable[1] == 3136 && pageable[2] == 3360);
}

/* The least busy of 30 equal parts of the time is busy for 0.989678 of it. */
TEST(test_busy_parts_of_a_healthy_run)
{
	READING rd = read_recording("nsys", "nsys/healthy-1pct/healthy_1pct.sqlite", false);
	struct works *w = works_new(rd.m);
	const struct work_device *d = &w->devices.v[0];
	double least = 1;

	for (int64_t k = 0; k < 30; k++) {
		int64_t wall = d->last_ns - d->first_ns;
		int64_t from = d->first_ns + wall * k / 30, to = d->first_ns + wall * (k + 1) / 30;
		struct intervals iv = INTERVALS_INIT;

		works_union(w, 0, ~0U, from, to, &iv);
		least = fmin(least, (double)intervals_length(&iv) / (double)(to - from));
		intervals_release(&iv);
	}
	assert_true(fabs(least - 0.989678) < 1e-6);
	works_free(w);
}

/*
 * Kernels of a step that were launched before the recording. Counted as all computing less all
 * linked work they would be 13318104 ns, as a copy of 760 ns has a launch; all 463 are kernels.
 */
TEST(test_work_without_launch)
{
	READING rd = read_recording(
		"tef", "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", false);
	struct works *w = works_new(rd.m);
	int64_t all = 0, kernels = 0;

	assert_int_equal(w->unlinked, 463);
	for (size_t i = 0; i < w->v.nr; i++) {
		int64_t ns = w->v.v[i].end_ns - w->v.v[i].start_ns;

		if (w->v.v[i].launch != SPAN_NONE)
			continue;
		all += ns;
		kernels += w->v.v[i].class == WORK_COMPUTE ? ns : 0;
	}
	assert_int_equal(all, 13318864);
	assert_int_equal(kernels, 13318864);

	works_free(w);
}
