/*
 * Cycle counters: clocks, phases, and executions beside ideal cycles. Figures of recordings are
 * those of aiu-trace-analyzer, which computes times by the stated clock.
 */
#include "flex_text.h"
#include "readers_test.h"
#include "stats_test.h"

#include "profrig/cost/ideal_cycles.h"

extern const struct analysis analysis_device_clocks, analysis_kernel_phases, analysis_categories;
extern const struct analysis analysis_iterations_tables, analysis_counters;

static struct table_set analyse_with(struct model *m, const struct analysis *a, double soc,
				     double core, const struct ideal_cycles *ic)
{
	struct analysis_opts o = { .soc_mhz = soc, .core_mhz = core, .ideal = ic };
	struct table_set ts = TABLE_SET_INIT;

	assert_int_equal(analysis_run(a, m, NULL, &o, &ts, NULL), 0);
	return ts;
}

#define TABLES CLEANUP(table_set_release) struct table_set

static bool near(double a, double b, double by)
{
	return fabs(a - b) <= by;
}

#define assert_near(a, b, by) \
	do { \
		double a_ = (a), b_ = (b); \
		if (!near(a_, b_, (by))) \
			fail_msg("%s:%d: %.10g, not %.10g", __FILE__, __LINE__, a_, b_); \
	} while (0)

static const struct table *of(const struct table_set *ts, const char *name)
{
	const struct table *t = table_set_find(ts, name);

	assert_non_null(t);
	return t;
}

static struct ideal_cycles *ideal_of(const char *rel)
{
	struct ideal_cycles *ic = ideal_cycles_new();

	assert_int_equal(ideal_cycles_read(ic, kept(test_trace(rel)), NULL), 0);
	return ic;
}

/* ---- clocks ---- */

/* Three jobs of 560 MHz, a second from the first to the last. */
static struct reading three_jobs(struct flex_text *ft)
{
	for (int64_t job = 0; job < 3; job++)
		for (int64_t i = 0; i < 10; i++)
			flex_work(ft, 0, 7, "a Cmpt Exec", job * 499950000 + i * 10000,
				  job * 499950000 + i * 10000 + 5000, "");
	flex_work(ft, 0, 7, "a Cmpt Exec", 999995000, 1000000000, "");
	return read_text("tef", flex_end(ft));
}

TEST(stated_clock)
{
	static const struct {
		double soc;
		const char *error; /* µs at the end; NULL: it is right */
	} cases[] = { { 700, "200000 us" }, { 570, "17544 us" }, { 560, NULL }, { 0, NULL } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
		READING rd = three_jobs(&ft);
		TABLES ts = analyse_with(rd.m, &analysis_device_clocks, cases[i].soc, 0, NULL);
		const struct table *t = of(&ts, "device_clocks");

		assert_near(num_of(t, 0, "mhz"), 560, 1e-3);
		assert_near(num_of(t, 0, "drift_ppm"), 0, 1);
		assert_int_equal(warned(rd.m, W_DEVICE_CLOCK), cases[i].error != NULL);
		if (cases[i].error)
			assert_non_null(strstr(warning_text(rd.m, W_DEVICE_CLOCK), cases[i].error));
	}
}

TEST(sample_clock)
{
	READING rd = read_recording("tef", "aiu/samples/sample_flex_3062_job_4.json", false);
	TABLES ts = analyse_with(rd.m, &analysis_device_clocks, 560, 800, NULL);
	const struct table *t = of(&ts, "device_clocks");

	/* The reference has 557.48 and 557.09: its durations are differences of doubles near 2^50,
	 * and the shortest is 0.46997 µs in place of 0.470. */
	assert_near(num_of(t, 0, "duration_min_mhz"), 557.05, 0.005);
	assert_near(num_of(t, 0, "duration_mean_mhz"), 557.09, 0.01);
	assert_near(num_of(t, 0, "duration_max_mhz"), 557.48, 0.04);
	assert_near(num_of(t, 0, "interval_min_mhz"), 557.05, 0.005);
	assert_near(num_of(t, 0, "interval_mean_mhz"), 557.05, 0.005);
	assert_near(num_of(t, 0, "interval_max_mhz"), 557.06, 0.005);
	assert_int_equal((int)num_of(t, 0, "zero_gaps"), 7);
	assert_near(num_of(t, 0, "mhz"), 557.05, 0.001);
	assert_true(num_of(t, 0, "residual_ns") < 1);
	assert_string_equal(str_of(t, 0, "flags"), "");
}

TEST(clocks_of_four_ranks)
{
	READING rd = read_recording("tef", "aiu/samples/allreduce_tp4.json", false);
	TABLES ts = analyse_with(rd.m, &analysis_device_clocks, 1000, 0, NULL);
	const struct table *t = of(&ts, "device_clocks");
	double least = INFINITY, most = 0;

	assert_int_equal(table_rows(t), 4);
	for (size_t r = 0; r < 4; r++) {
		assert_near(num_of(t, r, "rank"), (double)r, 0);
		least = fmin(least, num_of(t, r, "duration_min_mhz"));
		most = fmax(most, num_of(t, r, "duration_max_mhz"));
		assert_int_equal((int)num_of(t, r, "zero_gaps"), 0);
	}
	assert_near(least, 557.08, 0.005);
	assert_near(most, 557.25, 0.01);
	assert_int_equal(warned(rd.m, W_DEVICE_CLOCK), 4);
	assert_non_null(strstr(warning_text(rd.m, W_DEVICE_CLOCK), "ratio 1.795"));
}

TEST(clock_that_varies)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 500);

	for (int64_t i = 0; i < 20; i++)
		flex_work(&ft, 0, 7, "a Cmpt Exec", i * 100000, i * 100000 + 50000, "");
	flex_event(
		&ft, 0, "7", "late Cmpt Exec", 2995000, 3010000,
		"\"TS1\":\"1500000\",\"TS2\":\"1500000\",\"TS3\":\"1500000\",\"TS4\":\"1505000\","
		"\"TS5\":\"1505006\"");
	READING rd = read_text("tef", flex_end(&ft));
	TABLES ts = analyse_with(rd.m, &analysis_device_clocks, 0, 0, NULL);
	assert_string_equal(str_of(of(&ts, "device_clocks"), 0, "flags"), "varies");
	assert_near(num_of(of(&ts, "device_clocks"), 0, "mhz"), 500, 1e-6);
	assert_int_equal(warned(rd.m, W_DEVICE_CLOCK), 1);
}

/* Files of one rank follow each other; two at one time are of two that are called alike. */
TEST(two_files_of_one_rank)
{
	for (int64_t apart = 0; apart < 2; apart++) {
		CLEANUP(model_freep) struct model *m = model_new();
		struct read_opts o = { .facts = true };

		for (int64_t i = 0; i < 2; i++) {
			FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
			CLEANUP(xfreep) char *path = NULL;

			for (int64_t k = 0; k < 3; k++)
				flex_work(&ft, 0, 7, "a Cmpt Exec", (i * apart * 5 + k) * 10000,
					  (i * apart * 5 + k) * 10000 + 5000, "");
			flex_end(&ft);
			path = temp_file(ft.end.buf, ft.end.len);
			assert_int_equal(reader_find("tef")->read(path, model_sink(m), &o, NULL),
					 0);
			unlink(path);
		}
		model_finish(m);
		TABLES ts = analyse_with(m, &analysis_device_clocks, 0, 0, NULL);
		assert_int_equal(warned(m, W_RANK_TWICE), !apart);
		assert_int_equal(table_rows(of(&ts, "device_clocks")), 1);
	}
}

TEST(no_cycles)
{
	static const struct analysis *const all[] = { &analysis_kernel_phases,
						      &analysis_device_clocks,
						      &analysis_categories };
	CLEANUP(model_freep)
	struct model *m = model_of_text_with(1, "queue gpu0/7: gemm 1-9\n", model_finish_flat);
	struct analysis_opts o = { .soc_mhz = 0 };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		TABLES ts = TABLE_SET_INIT;

		assert_int_equal(analysis_run(all[i], m, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
		assert_int_equal(ts.tables.nr, 0);
	}
}

/* ---- phases ---- */

static size_t phase_row(const struct table *t, const char *name, const char *phase)
{
	return row_of(t, "name", name, "phase", phase);
}

TEST(phases_of_sample)
{
	READING rd = read_recording("tef", "aiu/samples/sample_flex_3062_job_4.json", false);
	TABLES ts = analyse_with(rd.m, &analysis_kernel_phases, 0, 0, NULL);
	const struct table *t = of(&ts, "kernel_phases");
	size_t r = phase_row(t, "convolution_[N]", "exec");

	assert_int_equal(table_rows(t), 9 * 4);
	assert_near(num_of(t, r, "share"), 0.3292, 5e-5);
	assert_int_equal((int)num_of(t, r, "calls"), 7);
	assert_near(num_of(t, r, "mean_cycles"), 70802.143, 5e-4);
	assert_near(num_of(t, r, "median_cycles"), 61424, 0);
	assert_near(num_of(t, r, "min_cycles"), 19867, 0);
	assert_near(num_of(t, r, "max_cycles"), 109218, 0);
	assert_near(num_of(t, r, "stddev_cycles"), 31247.608, 5e-4);
	/* the same in µs at 560 MHz */
	assert_near(num_of(t, r, "cycles") / 560, 885.027, 5e-4);
	assert_near(num_of(t, r, "mean_cycles") / 560, 126.432, 5e-4);
	assert_near(num_of(t, r, "median_cycles") / 560, 109.686, 5e-4);
	assert_near(num_of(t, r, "stddev_cycles") / 560, 55.799, 5e-4);
	r = phase_row(t, "add_[N]", "exec");
	assert_near(num_of(t, r, "cycles") / 560, 558.975, 5e-4);
	assert_int_equal((int)num_of(t, r, "calls"), 2);
	r = phase_row(t, "relu_[N]", "exec");
	assert_near(num_of(t, r, "cycles") / 560, 353.207, 5e-4);
	assert_near(num_of(t, r, "mean_cycles") / 560, 176.604, 5e-4);
	assert_near(num_of(t, r, "stddev_cycles") / 560, 2.000, 5e-4);
	for (r = 0; r < table_rows(t); r++)
		if (strcmp(str_of(t, r, "phase"), "dma_out") == 0) {
			assert_near(num_of(t, r, "min_cycles"), 6, 0);
			assert_near(num_of(t, r, "max_cycles"), 6, 0);
		}
}

TEST(phases_of_four_ranks)
{
	READING rd = read_recording("tef", "aiu/samples/allreduce_tp4.json", false);
	TABLES ts = analyse_with(rd.m, &analysis_kernel_phases, 0, 0, NULL);
	static const double adds[] = { 504.648, 492.882, 491.734, 491.213 };
	static const double reduces[] = { 16.543, 16.662, 16.355 };
	const struct table *t = of(&ts, "kernel_phases");
	size_t add = 0, reduce = 0;

	for (size_t r = 0; r < table_rows(t); r++) {
		if (strcmp(str_of(t, r, "phase"), "exec") != 0)
			continue;
		if (strcmp(str_of(t, r, "name"), "add_[N]") == 0)
			assert_near(num_of(t, r, "cycles") / 560, adds[add++], 6e-4);
		else
			assert_near(num_of(t, r, "cycles") / 560, reduces[reduce++], 6e-4);
	}
	assert_int_equal(add, 4);
	assert_int_equal(reduce, 3);
}

/* ---- ideal cycles ---- */

TEST(categories_of_sample)
{
	static const struct {
		const char *category;
		double us, calls, ideal_us, cycles, use;
	} rows[] = {
		{ "Total", 2688.1286, 17, 695.42, 556336, 0.2587 },
		{ "Conv_fp16", 885.0268, 7, 548.8, 439040, 0.6201 },
		{ "Broadcast", 838.5357, 3, 0, 0, 0 },
		{ "Scalar", 353.2071, 2, 0, 0, 0 },
		{ "ConvOs1_fp16", 351.6821, 1, 144.06, 115248, 0.4096 },
		{ "Pooling", 192.6946, 2, 0, 0, 0 },
		{ "Bmm_fp16", 66.5143, 1, 2.56, 2048, 0.0385 },
		{ "StcdpLx", 0.4679, 1, 0, 0, 0 },
		{ "StcdpHbm", 0, 0, 0, 0, 0 },
		{ "other", 0, 0, 0, 0, 0 },
	};
	READING rd = read_recording("tef", "aiu/samples/sample_flex_3062_job_4.json", false);
	struct ideal_cycles *ic = ideal_of("aiu/samples/sample_comp_log_ideal.txt");
	TABLES ts = analyse_with(rd.m, &analysis_categories, 560, 800, ic);
	const struct table *t = of(&ts, "categories");
	double matmul = 0;

	assert_int_equal(table_rows(t), ARRAY_LEN(rows));
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		assert_string_equal(str_of(t, r, "category"), rows[r].category);
		assert_near(num_of(t, r, "stated_ns") / 1e3, rows[r].us, 5e-5);
		assert_near(num_of(t, r, "calls"), rows[r].calls, 0);
		assert_near(num_of(t, r, "ideal_ns") / 1e3, rows[r].ideal_us, 1e-9);
		assert_near(num_of(t, r, "ideal_cycles"), rows[r].cycles, 0);
		assert_near(num_of(t, r, "stated_utilisation"), rows[r].use, 5e-5);
		/* by the measured clock all times are longer by as much */
		assert_near(num_of(t, r, "time_ns") / 1e3, rows[r].us * 560 / 557.0504577, 6e-5);
		assert_near(num_of(t, r, "match"), 0.98, 0.005);
		if (rows[r].cycles > 0 && r > 0)
			matmul += num_of(t, r, "stated_ns") / 1e3;
	}
	assert_near(num_of(t, 1, "share"), 0.3292, 5e-5);
	assert_near(num_of(t, 1, "ideal_share"), 0.7892, 5e-5);
	assert_near(matmul, 1303.2232, 5e-5);
	assert_near(695.42 / matmul, 0.53362, 5e-6);
	assert_near(num_of(t, 0, "stated_ns") / 1e3 - matmul, 1384.9054, 5e-5);
	assert_int_equal(warned(rd.m, W_IDEAL_MATCH), 0);
	ideal_cycles_free(ic);
}

TEST(utilisation_of_sample)
{
	READING rd = read_recording("tef", "aiu/samples/sample_flex_3062_job_4.json", false);
	struct ideal_cycles *ic = ideal_of("aiu/samples/sample_comp_log_ideal.txt");
	TABLES ts = analyse_with(rd.m, &analysis_categories, 560, 800, ic);
	const struct table *t = of(&ts, "utilisation");

	assert_int_equal(table_rows(t), 9);
	assert_near(num_of(t, 0, "stated_utilisation"), 0.409631, 5e-7);
	assert_near(
		num_of(t, row_of(t, "kernel", "convolution_2", NULL, NULL), "stated_utilisation"),
		0.723573, 5e-7);
	assert_near(
		num_of(t, row_of(t, "kernel", "addmm_MatMul", NULL, NULL), "stated_utilisation"),
		0.038488, 5e-7);
	ideal_cycles_free(ic);
}

/* Without a stated core clock it is 1100 MHz. */
TEST(default_core_clock)
{
	READING rd = read_recording("tef", "aiu/samples/sample_flex_3062_job_4.json", false);
	struct ideal_cycles *ic = ideal_of("aiu/samples/sample_comp_log_ideal.txt");
	TABLES ts = analyse_with(rd.m, &analysis_categories, 560, 0, ic);
	const struct table *t = of(&ts, "categories");

	assert_near(num_of(t, 0, "ideal_ns") / 1e3, 505.76, 5e-3);
	assert_near(num_of(t, 0, "stated_utilisation"), 0.1881, 5e-5);
	assert_near(num_of(t, 1, "ideal_ns") / 1e3, 399.1273, 5e-5);
	assert_near(num_of(t, 1, "stated_utilisation"), 0.451, 5e-4);
	ideal_cycles_free(ic);
}

#define LOG_HEAD "====== Perf Summary ======\n~~~~ Ideal/Total Cycles ~~~~\n---\nName  Ideal Cy.\n"
#define LOG_TAIL "Total 7\n---\n====== Perf Summary End ======\n"

static struct ideal_cycles *ideal_text(const char *text)
{
	struct ideal_cycles *ic = ideal_cycles_new();
	struct err err = ERR_INIT;

	if (ideal_cycles_read_text(ic, text, strlen(text), "log", &err) < 0)
		fail_msg("%s", err.msg);
	return ic;
}

/* A job of each phase finds its own table; kernels without a row are other work. */
TEST(phases_of_a_model)
{
	struct ideal_cycles *ic = ideal_text(
		"PREFILL graph\n" LOG_HEAD "mm_1-opCatBmm 4000\nadd-opCatAdd 0\n" LOG_TAIL
		"DECODING graph\n" LOG_HEAD
		"mm_1-opCatBmm 400\nmm_2-opCatBmm 90000\nadd-NA 0\n" LOG_TAIL);
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);
	static const char *const names[] = { "mm_1", "mm_2", "add", "new" };

	for (int64_t i = 0; i < 20; i++) {
		CLEANUP(xfreep) char *name = xasprintf("%s Cmpt Exec", names[i < 19 ? i % 3 : 3]);

		flex_work(&ft, 0, 7, name, i * 100000, i * 100000 + 50000, "");
	}
	READING rd = read_text("tef", flex_end(&ft));
	TABLES ts = analyse_with(rd.m, &analysis_categories, 0, 1000, ic);
	const struct table *t = of(&ts, "categories");
	size_t total = row_of(t, "category", "Total", NULL, NULL);

	assert_string_equal(str_of(t, total, "phase"), "ITL");
	assert_near(num_of(t, total, "calls"), 20, 0);
	assert_near(num_of(t, total, "ideal_cycles"), 7 * 400 + 6 * 90000, 0);
	assert_true(isnan(num_of(t, total, "stated_ns")));
	assert_near(num_of(t, row_of(t, "category", "other", NULL, NULL), "calls"), 7, 0);
	/* mm_2 takes less than it can, and one kernel has no row */
	assert_int_equal(warned(rd.m, W_IDEAL_MATCH), 7);
	ideal_cycles_free(ic);
}

TEST(match_that_is_uncertain)
{
	struct ideal_cycles *ic =
		ideal_text(LOG_HEAD "mm_1-opCatBmm 40\nmm_2-opCatBmm 50\n" LOG_TAIL LOG_HEAD
				    "mm_1-opCatBmm 60\nmm_2-opCatBmm 50\n" LOG_TAIL);
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);

	flex_work(&ft, 0, 7, "mm_1 Cmpt Exec", 1000, 2000, "");
	flex_work(&ft, 0, 7, "mm_2 Cmpt Exec", 3000, 4000, "");
	READING rd = read_text("tef", flex_end(&ft));
	TABLES ts = analyse_with(rd.m, &analysis_categories, 0, 1000, ic);
	assert_near(num_of(of(&ts, "categories"), 0, "match"), 1, 0);
	assert_int_equal(warned(rd.m, W_IDEAL_MATCH), 1);
	ideal_cycles_free(ic);
}

/* Numbers in names are folded: "_3" and "-3". */
TEST(folded_names)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);

	flex_work(&ft, 0, 7, "addmm_1_MatMul-BMM-2 Cmpt Exec", 1000, 2000, "");
	flex_work(&ft, 0, 7, "max_pool2d Cmpt Exec", 3000, 4000, "");
	READING rd = read_text("tef", flex_end(&ft));
	TABLES ts = analyse_with(rd.m, &analysis_kernel_phases, 0, 0, NULL);
	phase_row(of(&ts, "kernel_phases"), "addmm_[N]_MatMul-BMM_[N]", "prep");
	phase_row(of(&ts, "kernel_phases"), "max_pool2d", "prep");
}

/* ---- iterations ---- */

/* Executions named by the letters, 120 µs from start to start. */
static struct table_set iterations_of(const char *letters, size_t times)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
	size_t n = strlen(letters);

	for (size_t i = 0; i < n * times; i++) {
		char name[] = "kernel_? Cmpt Exec";
		int64_t t = (int64_t)i * 120000;

		name[7] = letters[i % n];
		flex_work(&ft, 0, 7, name, t, t + 100000, "");
	}
	READING rd = read_text("tef", flex_end(&ft));
	return analyse_with(rd.m, &analysis_iterations_tables, 0, 0, NULL);
}

/* Work without launches, whose stamps tell the order in which it was queued. */
TEST(iterations_of_ten_kernels)
{
	TABLES ts = iterations_of("ABCDEFGHIJ", 6);
	const struct table *t = of(&ts, "iterations");

	assert_int_equal(table_rows(t), 6);
	for (size_t r = 1; r < 6; r++)
		assert_near(num_of(t, r, "start_ns") - num_of(t, r - 1, "start_ns"), 1200000, 1);
}

TEST(iterations_of_many)
{
	TABLES ts = iterations_of("ABCDEFGHIJKLM", 154);
	const struct table *t = of(&ts, "iterations");

	assert_int_equal(table_rows(t), 154);
	assert_near((num_of(t, 153, "start_ns") - num_of(t, 0, "start_ns")) / 153, 1560000, 1);
}

/* ---- power and iterations of aiu-trace-analyzer's own cases ---- */

/* 10 W for 7 ms, 20 W for 2, 0 W for 1: the mean is weighted by time, 110 mJ / 10 ms. */
TEST(mean_power_by_time)
{
	static const int64_t ms[] = { 7, 2, 1 }, watts[] = { 10, 20, 0 };
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
	double energy = 5;
	int64_t t = 1;

	for (size_t i = 0; i < 4; i++) {
		CLEANUP(xfreep) char *more = xasprintf(",\"Power\":%.0f", energy);

		flex_work(&ft, 0, 7, "a Cmpt Exec", t * 1000000 - 50000, t * 1000000, more);
		if (i < 3) {
			energy += (double)(watts[i] * ms[i]) * 1000 * 512 / 12;
			t += ms[i];
		}
	}
	READING rd = read_text("tef", flex_end(&ft));
	TABLES ts = analyse(rd.m, &analysis_counters);
	const struct table *t_ = of(&ts, "counters");

	assert_string_equal(table_get_str(t_, 0, 0), "power.gpu0");
	assert_near(num_of(t_, 0, "mean"), 11.0, 1e-4);
	assert_near(num_of(t_, 0, "total"), 0.110, 1e-6);
	assert_near(num_of(t_, 0, "max"), 20, 1e-3);
	/* without the 1 ms of no power: 12.2222 W */
	assert_near(num_of(t_, 0, "total") / 9e-3, 12.2222, 1e-3);
}

/*
 * Kernels of a device, a letter each. What comes twice may do so by chance (two equal layers of one
 * model are no iterations), so three periods are asked for (docs/iterations.md).
 */
TEST(two_repeats_are_no_iterations)
{
	static const struct {
		const char *word;
		size_t iterations; /* 0: it says why there are none */
	} cases[] = {
		ROW("XYABCDEABCDE", 0),
		ROW("ABCDABCD", 0),
		ROW("ABCDEABCDEABCDE", 3),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
		struct analysis_opts o = { .soc_mhz = 0 };
		TABLES ts = TABLE_SET_INIT;
		const struct table *t;
		int r;

		for (int64_t k = 0; cases[i].word[k]; k++) {
			char name[] = "kernel_? Cmpt Exec";

			name[7] = cases[i].word[k];
			flex_work(&ft, 0, 7, name, k * 120000, k * 120000 + 100000, "");
		}
		READING rd = read_text("tef", flex_end(&ft));
		r = analysis_run(&analysis_iterations_tables, rd.m, NULL, &o, &ts, NULL);
		t = table_set_find(&ts, "iterations");
		if ((t ? table_rows(t) : 0) != cases[i].iterations)
			ROW_FAIL(i, "%zu iterations", t ? table_rows(t) : 0);
		assert_int_equal(r, cases[i].iterations ? 0 : ANALYSIS_SKIPPED);
	}
}
