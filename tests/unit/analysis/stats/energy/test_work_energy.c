/* Energy of device work by what it is grouped by, with known answers and by laws. */
#include "dice.h"
#include "energy_fixture.h"
#include "stats_test.h"
#include "work_energy.h"

#include "profrig/base/sort.h"
#include "profrig/model/facts.h"

static void add(struct model *m, const struct analysis *a, struct table_set *ts)
{
	struct analysis_opts o = { .workload_start_ns = 0 };

	assert_true(analysis_run(a, m, NULL, &o, ts, NULL) >= 0);
}

static struct table_set tables_of(struct model *m)
{
	struct table_set ts = TABLE_SET_INIT;

	add(m, &analysis_idle, &ts);
	add(m, &analysis_energy, &ts);
	add(m, &analysis_kernel_classes, &ts);
	add(m, &analysis_iterations_tables, &ts);
	return ts;
}

static double cell(const struct table_set *ts, const char *table, const char *key,
		   const char *value, const char *col)
{
	const struct table *t = table_set_find(ts, table);

	assert_non_null(t);
	return num_of(t, row_of(t, key, value, NULL, NULL), col);
}

static const char *flags(const struct table_set *ts, const char *table, const char *key,
			 const char *value)
{
	const struct table *t = table_set_find(ts, table);

	return str_of(t, row_of(t, key, value, NULL, NULL), "energy_flags");
}

static void expect_checks(const struct table_set *ts)
{
	for (size_t i = 0; i < ts->checks.nr; i++)
		if (!ts->checks.v[i].ok)
			fail_msg("%s: %s", ts->checks.v[i].name, ts->checks.v[i].detail);
}

/* 400 W for 10 ms are 4 J. */
TEST(test_a_kernel)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e6, "thread 1/1: step_1 0-4 launch#1 1-2\n"
					     "queue gpu0/1: ampere_sgemm_#1 5-15 attn_fwd 20-21\n"
					     "series power.gpu0 W gauge: 0 400 12 400 25 400\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	assert_near(cell(&ts, "kernel_classes", "class", "gemm", "joules"), 4, 1e-12);
	assert_near(cell(&ts, "kernel_classes", "class", "attention", "joules"), 0.4, 1e-12);
	assert_near(cell(&ts, "idle_causes", "cause", "no_launch", "joules"), 2, 1e-12);
	assert_near(cell(&ts, "iterations", "marker", "step_1", "joules"), 4, 1e-12);
	assert_near(cell(&ts, "iterations", "marker", "step_1", "edp_js"), 0.04, 1e-12);
	/* it lasts less than two periods of 12.5 ms */
	assert_string_equal(flags(&ts, "kernel_classes", "class", "gemm"), "below_resolution");
	expect_checks(&ts);
}

/* At each moment those that run have equal parts; an energy counter counts before power. */
TEST(test_sharing)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1e9, "queue gpu0/1: ampere_sgemm_ 0-10\n"
		     "queue gpu0/2: attn_fwd 5-20 softmax 5-10\n"
		     "series energy.gpu0 J cumulative: 0 0 5 500 10 1100 20 1300 30 1400\n"
		     "series power.gpu0 W gauge: 0 1 30 1\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	assert_near(cell(&ts, "kernel_classes", "class", "gemm", "joules"), 700, 1e-9);
	assert_near(cell(&ts, "kernel_classes", "class", "softmax", "joules"), 200, 1e-9);
	assert_near(cell(&ts, "kernel_classes", "class", "attention", "joules"), 400, 1e-9);
	/* within a counter of 1400 J */
	for (size_t i = 0; i < 3; i++) {
		double j = num_of(table_set_find(&ts, "kernel_classes"), i, "joules");
		double width_j = num_of(table_set_find(&ts, "kernel_classes"), i, "uncertainty_j");

		assert_true(width_j >= 0 && width_j <= fmax(j, 1400 - j));
	}
	expect_checks(&ts);
}

/* Whatever lies outside the samples is not known; of a device without a counter nothing is. */
TEST(test_outside)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "queue gpu0/1: ampere_sgemm_ 0-10 attn_fwd 10-40\n"
					     "queue gpu1/1: softmax 0-10\n"
					     "series power.gpu0 W gauge: 20 100 25 100 30 100\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	assert_true(isnan(cell(&ts, "kernel_classes", "class", "gemm", "joules")));
	assert_near(cell(&ts, "kernel_classes", "class", "attention", "joules"), 1000, 1e-9);
	assert_true(isnan(cell(&ts, "kernel_classes", "class", "softmax", "joules")));
	assert_string_equal(flags(&ts, "kernel_classes", "class", "attention"), "outside_samples");
	assert_string_equal(flags(&ts, "kernel_classes", "class", "gemm"), "outside_samples");
	assert_string_equal(flags(&ts, "kernel_classes", "class", "softmax"), "");
	expect_checks(&ts);
}

/* A counter that goes backwards: what it counted meanwhile is not known. */
TEST(test_reset)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1e9, "queue gpu0/1: ampere_sgemm_ 0-10 attn_fwd 12-18 softmax 15-30\n"
		     "series energy.gpu0 J cumulative: 0 5000 10 6000 20 0 30 1000\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	assert_near(cell(&ts, "kernel_classes", "class", "gemm", "joules"), 1000, 1e-9);
	assert_true(isnan(cell(&ts, "kernel_classes", "class", "attention", "joules")));
	assert_near(cell(&ts, "kernel_classes", "class", "softmax", "joules"), 1000, 1e-9);
	assert_non_null(strstr(flags(&ts, "kernel_classes", "class", "softmax"), "reset"));
	expect_checks(&ts);
}

/* Until the launch the host is the cause, then the way to the device. */
TEST(test_causes)
{
	CLEANUP(model_freep)
	struct model *m =
		model_of_text(1e9, "thread 1/1: f 0-20 launch#1 30-31\n"
				   "queue gpu0/1: a 0-10 b#1 40-50\n"
				   "series power.gpu0 W gauge: 0 100 20 100 20 300 30 300 "
				   "30 500 60 500\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	/* 10-30 at 100 and at 300 W: 4000 J by halves of the time; 30-40 at 500 W */
	assert_near(cell(&ts, "idle_causes", "cause", "host_busy", "joules"), 2000, 1e-6);
	assert_near(cell(&ts, "idle_causes", "cause", "host_untraced", "joules"), 2000, 1e-6);
	assert_near(cell(&ts, "idle_causes", "cause", "launch_latency", "joules"), 5000, 1e-6);
	expect_checks(&ts);
}

/* Iterations have the idle time between their works, where they overlap in equal parts. */
TEST(test_iterations)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1e9, "thread 1/1: step_1 0-2 launch#1 0-1 launch#2 1-2 step_2 2-4 launch#3 2-3 "
		     "launch#4 3-4\n"
		     "queue gpu0/1: a#1 10-20 b#2 40-50 c#3 30-35 d#4 60-70\n"
		     "series power.gpu0 W gauge: 0 100 50 100 100 100\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	/* 20 s of works, idle 20-30 alone, 35-40 shared; 15 s, half of 35-40, and 50-60 */
	assert_near(cell(&ts, "iterations", "marker", "step_1", "joules"), 3250, 1e-9);
	assert_near(cell(&ts, "iterations", "marker", "step_2", "joules"), 2750, 1e-9);
	assert_near(cell(&ts, "iterations", "marker", "step_1", "edp_js"), 3250 * 40, 1e-6);
	/* samples are 50 s apart */
	assert_string_equal(flags(&ts, "iterations", "marker", "step_1"), "below_resolution");
	expect_checks(&ts);
}

static void collective_put(struct maker *k, int rank, int64_t start_ms, int64_t end_ms)
{
	struct span_facts f = { .kind = FACTS_COLLECTIVE, .collective = COLLECTIVE_FACTS_NONE };
	CLEANUP(xfreep) char *device = xasprintf("gpu%d", rank);
	struct track_def d = TRACK_DEF_INIT;
	static const int64_t ranks[] = { 0, 1 };
	span_id id;

	d.kind = TRACK_QUEUE;
	d.rank = rank;
	d.device = device;
	d.pid = 100 + rank;
	d.tid = 7;
	id = make_span(k, k->s->ops->track(k->s, &d), SPAN_KERNEL, start_ms * 1000000,
		       end_ms * 1000000, "ncclDevKernel_AllReduce", 0);
	f.collective.name = sink_puts(k->s, "allreduce");
	f.collective.dtype = sink_puts(k->s, "Byte");
	f.collective.in_elements = f.collective.out_elements = 1000000;
	f.collective.group = sink_puts(k->s, "0");
	f.collective.sequence = 1;
	f.collective.ranks = k->s->ops->numbers(k->s, ranks, 2);
	f.collective.group_size = 2;
	k->s->ops->facts(k->s, id, &f);
}

static void power_put(struct maker *k, const char *name, double w)
{
	struct series_def d = {
		.name = name, .unit = "W", .kind = SERIES_GAUGE, .track = TRACK_NONE
	};
	series_id s = k->s->ops->series(k->s, &d);

	for (int t = 0; t <= 20; t += 2)
		k->s->ops->sample(k->s, s, t * 1000000, w);
}

/* Two ranks of 400 W, one of which waits 6 of 10 ms: 2.4 J waiting, 1.6 J moving data. */
TEST(test_waits)
{
	struct maker k = make_begin();

	collective_put(&k, 0, 0, 10);
	collective_put(&k, 1, 6, 10);
	power_put(&k, "power.gpu0", 400);
	power_put(&k, "power.gpu1", 400);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	add(m, &analysis_collectives, &ts);
	assert_near(cell(&ts, "collective_ranks", "rank", "0", "wait_joules"), 2.4, 1e-12);
	assert_near(cell(&ts, "collective_ranks", "rank", "0", "transfer_joules"), 1.6, 1e-12);
	assert_near(cell(&ts, "collective_ranks", "rank", "1", "wait_joules"), 0, 0);
	assert_near(cell(&ts, "collective_ranks", "rank", "1", "transfer_joules"), 1.6, 1e-12);
	assert_near(cell(&ts, "collectives", "collective", "allreduce", "wait_joules"), 2.4, 1e-12);
	assert_near(cell(&ts, "collectives", "collective", "allreduce", "joules_per_gb"),
		    3.2 / 2e-3, 1e-9);
}

/* ---- laws ---- */

static const char *const kernels[] = { "ampere_sgemm_", "attn_fwd", "softmax", "ncclKernel",
				       "elementwise_kernel" };

/* What the sensor says: random power, as a gauge or a counter with a reset now and then. */
static void random_series(struct maker *k, struct dice *d, const char *name, bool counter)
{
	struct series_def def = { .name = name,
				  .unit = counter ? "J" : "W",
				  .kind = counter ? SERIES_CUMULATIVE : SERIES_GAUGE,
				  .track = TRACK_NONE };
	series_id s = k->s->ops->series(k->s, &def);
	double j = 0;

	for (int64_t t = below(d, 200000); t < 1200000; t += 1 + below(d, 200000)) {
		double step = below(d, 500);

		j = below(d, 12) ? j + step : step;
		k->s->ops->sample(k->s, s, t, counter ? j * 1e-3 : step);
	}
}

static struct model *random_trace(struct dice *d)
{
	struct maker k = make_begin();
	track_id thread = make_thread(&k, 1, 1, RANK_NONE, "t"), queues[4];
	int n = (int)below(d, 12) + 1;

	for (int i = 0; i < 4; i++)
		queues[i] = make_queue(&k, i < 2 ? "gpu0" : "gpu1", i);
	for (int i = 0; i < 4; i++) {
		CLEANUP(xfreep) char *name = xasprintf("step_%d", i);

		make_span(&k, thread, SPAN_HOST, i * 100, i * 100 + 90, name, 0);
	}
	for (int i = 1; i <= n; i++) {
		int64_t at = below(d, 1000000), call = below(d, 400);

		make_span(&k, thread, SPAN_HOST, call, call + 1, "cudaLaunchKernel", (uint64_t)i);
		make_span(&k, queues[below(d, 4)], SPAN_KERNEL, at, at + below(d, 300000),
			  kernels[below(d, ARRAY_LEN(kernels))], (uint64_t)i * below(d, 4));
	}
	random_series(&k, d, below(d, 2) ? "power.gpu0" : "energy.gpu0", below(d, 2));
	if (below(d, 3))
		random_series(&k, d, "energy.gpu1", true);
	if (below(d, 3) == 0)
		random_series(&k, d, "power.gpu1", false);
	return make_end(&k);
}

/* Of the counter that the device has: classes against what `energy` attributes by time. */
static void expect_classes(const struct work_energy *we, uint32_t device,
			   const struct table_set *ts, int round)
{
	const struct work_meter *me = work_meter_of(we, device);
	const struct table *classes = table_set_find(ts, "kernel_classes"),
			   *totals = table_set_find(ts, "energy_totals");
	const char *name = model_str(we->w->m, we->w->devices.v[device].name);
	double sum_j = 0, tolerance;

	for (size_t i = 0; i < table_rows(classes); i++) {
		double j = num_of(classes, i, "joules");

		if (strcmp(str_of(classes, i, "device"), name) == 0 && !isnan(j))
			sum_j += j;
	}
	if (!me)
		return;
	tolerance = 1e-9 * (fabs(me->total_j) + 1e-9);
	for (size_t i = 0; i < table_rows(totals); i++) {
		if (strcmp(str_of(totals, i, "counter"), me->label->name) != 0 ||
		    strcmp(str_of(totals, i, "view"), "device") != 0)
			continue;
		if (!(fabs(num_of(totals, i, "attributed_j") - sum_j) <= tolerance))
			ROW_FAIL(round, "%s: classes %.12g J, energy %.12g J", name, sum_j,
				 num_of(totals, i, "attributed_j"));
		if (!(fabs(num_of(totals, i, "unattributed_j") - me->idle_j - me->dead_j) <=
		      tolerance))
			ROW_FAIL(round, "%s: idle %.12g J", name, me->idle_j);
	}
}

/* Causes have the energy between the first and the last work that no work has. */
static void expect_causes(const struct work_energy *we, uint32_t device, const struct table_set *ts,
			  int round)
{
	const struct work_device *d = &we->w->devices.v[device];
	const struct work_meter *me = work_meter_of(we, device);
	const struct table *t = table_set_find(ts, "idle_causes");
	double want_j, sum_j = 0;
	size_t hint = 0;

	if (!me)
		return;
	want_j = -curve_at(&me->c, d->first_ns, &hint);
	want_j += curve_at(&me->c, d->last_ns, &hint);
	for (size_t i = d->first; i < d->first + d->nr; i++)
		want_j -= isnan(we->work_j[i]) ? 0 : we->work_j[i];
	for (size_t i = 0; t && i < table_rows(t); i++) {
		double j = num_of(t, i, "joules");

		if (strcmp(str_of(t, i, "device"), model_str(we->w->m, d->name)) == 0 && !isnan(j))
			sum_j += j;
	}
	if (!(fabs(sum_j - want_j) <= 1e-9 * (fabs(me->total_j) + 1e-9)))
		ROW_FAIL(round, "causes of device %u: %.12g J, not %.12g J", device, sum_j, want_j);
}

/* A stretch divided among itself has all of its idle energy, however it is cut. */
static void expect_split(const struct work_meter *me, struct dice *d, int round)
{
	struct interval v[5], whole = { 0, 1300000 };
	double j[5] = { 0 }, sum_j = 0, want_j[1] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		int64_t at = below(d, 1000000);

		v[i] = (struct interval){ at, at + below(d, 300000) };
	}
	v[0] = whole;
	work_energy_idle_split(me, v, ARRAY_LEN(v), j);
	work_energy_idle_split(me, &whole, 1, want_j);
	for (size_t i = 0; i < ARRAY_LEN(j); i++)
		sum_j += j[i];
	if (!(fabs(sum_j - me->idle_j) <= 1e-9 * (fabs(me->total_j) + 1e-9)) ||
	    !(fabs(want_j[0] - me->idle_j) <= 1e-9 * (fabs(me->total_j) + 1e-9)))
		ROW_FAIL(round, "idle %.12g J, in parts %.12g J, as one %.12g J", me->idle_j, sum_j,
			 want_j[0]);
}

static void check_laws(struct dice *d, int round)
{
	CLEANUP(model_freep) struct model *m = random_trace(d);
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);
	struct analysis_opts o = { .shared = analysis_shared_new() };
	const struct work_energy *we = analysis_work_energy(m, &o);

	expect_checks(&ts);
	for (uint32_t i = 0; i < we->w->devices.nr; i++) {
		expect_classes(we, i, &ts, round);
		expect_causes(we, i, &ts, round);
	}
	for (size_t i = 0; i < we->meters.nr; i++)
		expect_split(&we->meters.v[i], d, round);
	analysis_shared_free(o.shared);
}

TEST(test_laws)
{
	struct dice d = { .x = 5 };

	for (int round = 0; round < 2000; round++)
		check_laws(&d, round);
}
