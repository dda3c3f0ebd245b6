#include "test.h"

#include <math.h>

#include "profrig/stats/ensemble.h"

#define assert_near(got, want, tolerance) \
	do { \
		double got_ = (got), want_ = (want); \
		if (!(fabs(got_ - want_) <= (tolerance))) \
			fail_msg("%s:%d: got %.12g, want %.12g", __FILE__, __LINE__, got_, want_); \
	} while (0)

/* ---- outliers ---- */

TEST(outliers)
{
	static const struct {
		double v[8];
		size_t n;
		const char *named; /* one letter a value */
	} cases[] = {
		{ { 1, 1, 100 }, 3, "..." },
		{ { 100, 101, 99.5, 120 }, 4, "...x" },
		{ { 100, 101, 99.5, 104 }, 4, "...." },
		/* two of seven do not hide each other, as they would in a test on the mean */
		{ { 10, 11, 50, 10.5, 9.5, 52, 10.2 }, 7, "..x..x." },
		{ { -5, 10, 11, 12, 10, 11 }, 6, "x....." },
		/* more than half agree */
		{ { 7, 7, 7, 8 }, 4, "...x" },
		{ { 0, 0, 0, 0, 1e-300 }, 5, "....x" },
		{ { 7, 7, 7, 7 * (1 + 1e-12) }, 4, "...." },
		{ { 7, 7, 8, 8 }, 4, "...." },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool out[8];
		size_t nr = ensemble_outliers(cases[i].v, cases[i].n, out), want = 0;

		for (size_t k = 0; k < cases[i].n; k++) {
			want += cases[i].named[k] == 'x';
			if (out[k] != (cases[i].named[k] == 'x'))
				ROW_FAIL(i, "value %zu", k);
		}
		if (nr != want)
			ROW_FAIL(i, "%zu of them", nr);
	}
	assert_int_equal(ensemble_outliers(NULL, 0, NULL), 0);
}

/* 0 < u < 1 */
static double uniform(uint64_t *state)
{
	return ((double)(rnd(state) >> 11) + 0.5) * 0x1p-53;
}

/* In a normal sample of any size one is named at most once in twenty, and about so often. */
TEST(false_alarms)
{
	static const size_t sizes[] = { 4, 5, 6, 7, 8, 9, 10, 13, 16, 20, 21, 24, 32, 64 };
	const int samples = 20000;
	uint64_t seed = 1;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int named = 0;

		for (int k = 0; k < samples; k++) {
			double v[64];
			bool out[64];

			for (size_t j = 0; j < sizes[i]; j++)
				v[j] = sqrt(-2 * log(uniform(&seed))) *
				       cos(2 * M_PI * uniform(&seed));
			named += ensemble_outliers(v, sizes[i], out) > 0;
		}
		/* 5 % of 20 000, give or take four standard errors */
		if (named > 1000 + 4 * 31 || named < (sizes[i] <= 20 ? 1000 - 4 * 31 : 500))
			ROW_FAIL(i, "%zu values: %d of %d samples", sizes[i], named, samples);
	}
}

/* ---- the table ---- */

struct call {
	const char *track, *path;
	double calls, inclusive_ns; /* NAN: unknown */
};

/* A run's tables: callpaths of these calls; with_other: a table of which nothing is taken. */
static struct table_set run_of(const struct call *calls, size_t n)
{
	struct table_set ts = TABLE_SET_INIT;
	struct table *t = table_new("callpaths"), *other = table_new("timeline");

	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "track", TABLE_STR, NULL);
	table_col(t, "inclusive_ns", TABLE_F64, "ns");
	table_col(t, "calls", TABLE_U64, NULL);
	table_col(t, "device_inclusive_ns", TABLE_I64, "ns");
	for (size_t i = 0; i < n; i++) {
		table_str(t, calls[i].path);
		table_str(t, calls[i].track);
		table_f64(t, calls[i].inclusive_ns);
		table_u64(t, (uint64_t)calls[i].calls);
		table_i64(t, 0);
		table_row(t);
	}
	table_col(other, "series", TABLE_STR, NULL);
	table_set_add(&ts, t);
	table_set_add(&ts, other);
	return ts;
}

static void add_run(struct ensemble *e, const char *id, const struct call *calls, size_t n)
{
	CLEANUP(table_set_release) struct table_set ts = run_of(calls, n);

	ensemble_add(e, id, &ts);
}

/* The row of a key and column; its cells by name. */
static size_t ensemble_find(const struct table *t, const char *key, const char *column)
{
	for (size_t r = 0; r < table_rows(t); r++)
		if (strcmp(table_get_str(t, r, 1), key) == 0 &&
		    strcmp(table_get_str(t, r, 2), column) == 0)
			return r;
	fail_msg("no row '%s' %s", key, column);
	return 0;
}

static double cell(const struct table *t, const char *key, const char *column, const char *what)
{
	return table_get_f64(t, ensemble_find(t, key, column), (size_t)table_find_col(t, what));
}

static const char *named(const struct table *t, const char *key, const char *column)
{
	return table_get_str(t, ensemble_find(t, key, column), 8);
}

TEST(three_runs)
{
	static const char *const columns[] = { "table",  "key",    "column",  "runs",        "mean",
					       "stddev", "ci_low", "ci_high", "outlier_runs" };
	const struct call a[] = { { "main", "f", 3, 10 }, { "main", "f;g", 1, 4 } };
	const struct call b[] = { { "main", "f", 3, 12 }, { "main", "h", 1, NAN } };
	const struct call c[] = { { "main", "f;g", 1, 5 }, { "main", "f", 3, 14 } };
	struct ensemble *e = ensemble_new();

	assert_null(ensemble_table(e));
	add_run(e, "a", a, 2);
	add_run(e, "b", b, 2);
	add_run(e, "c", c, 2);
	CLEANUP(table_freep) struct table *t = ensemble_table(e);
	assert_string_equal(table_name(t), "ensemble");
	assert_int_equal(table_cols(t), ARRAY_LEN(columns));
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		assert_string_equal(table_column(t, i)->name, columns[i]);
	assert_string_equal(table_get_str(t, 0, 0), "callpaths");
	assert_near(cell(t, "main|f", "inclusive_ns", "mean"), 12, 0);
	assert_near(cell(t, "main|f", "inclusive_ns", "stddev"), 2, 1e-15);
	assert_near(cell(t, "main|f", "inclusive_ns", "ci_low"), 12 - 4.3026527297 * 2 / sqrt(3),
		    1e-9);
	assert_near(cell(t, "main|f", "inclusive_ns", "ci_high"), 12 + 4.3026527297 * 2 / sqrt(3),
		    1e-9);
	assert_near(cell(t, "main|f", "inclusive_ns", "runs"), 3, 0);
	assert_near(cell(t, "main|f", "calls", "stddev"), 0, 0);
	assert_near(cell(t, "main|f", "calls", "ci_high"), 3, 0);
	/* what a run lacks is not 0 */
	assert_near(cell(t, "main|f;g", "inclusive_ns", "runs"), 2, 0);
	assert_near(cell(t, "main|f;g", "inclusive_ns", "mean"), 4.5, 0);
	assert_near(cell(t, "main|h", "calls", "runs"), 1, 0);
	assert_true(isnan(cell(t, "main|h", "calls", "stddev")));
	assert_true(isnan(cell(t, "main|h", "calls", "ci_low")));
	/* h's time is unknown and no span has a device: 3 + 2 rows of f and f;g, calls of h */
	assert_int_equal(table_rows(t), 5);
	/* f, f;g, h: in the order they were seen first */
	assert_string_equal(table_get_str(t, 2, 1), "main|f;g");
	assert_int_equal(ensemble_rows_of(e, 1), 3);
	assert_int_equal(ensemble_outliers_of(e, 1), 0);
	ensemble_free(e);
}

TEST(the_odd_run)
{
	static const double f_ns[] = { 100, 101, 99, 100.5, 150, 100.2 };
	static const double g_ns[] = { 10, 11, 12, 10, 11, 12 };
	static const char *const ids[] = { "r1", "r2", "r3", "r4", "r5", "r6" };
	struct ensemble *e = ensemble_new();
	struct table *t;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		const struct call calls[] = { { "main", "f", i == 2 ? 2 : 1, f_ns[i] },
					      { "main", "g", i >= 4 ? 2 : 1, g_ns[i] } };

		add_run(e, ids[i], calls, 2);
	}
	for (int twice = 0; twice < 2; twice++) {
		t = ensemble_table(e);
		assert_string_equal(named(t, "main|f", "inclusive_ns"), "r5");
		assert_string_equal(named(t, "main|g", "inclusive_ns"), "");
		assert_string_equal(named(t, "main|f", "calls"), "r3");
		assert_string_equal(named(t, "main|g", "calls"), "r5|r6");
		assert_int_equal(ensemble_outliers_of(e, 4), 2);
		assert_int_equal(ensemble_outliers_of(e, 0), 0);
		assert_int_equal(ensemble_rows_of(e, 0), 4);
		table_free(t);
	}
	ensemble_free(e);
}

/* Process and thread ids are others in every run; numbers of ranks, streams and devices are not. */
TEST(tracks)
{
	const struct call a[] = { { "thread 14870", "f", 1, 1 },
				  { "thread 9001", "f", 1, 2 },
				  { "rank 1/vm:9001:14870/w 12", "f", 1, 3 } };
	const struct call b[] = { { "thread 700", "f", 1, 4 },
				  { "thread 701", "f", 1, 3 },
				  { "rank 1/vm:700:701/w 12", "f", 1, 5 } };
	struct ensemble *e = ensemble_new();

	add_run(e, "a", a, 3);
	add_run(e, "b", b, 3);
	CLEANUP(table_freep) struct table *t = ensemble_table(e);
	assert_int_equal(table_rows(t), 6);
	assert_near(cell(t, "thread {2}|f", "inclusive_ns", "mean"), 2, 0);
	assert_near(cell(t, "thread {1}|f", "inclusive_ns", "mean"), 3, 0);
	assert_near(cell(t, "rank 1/vm:{1}:{2}/w 12|f", "inclusive_ns", "mean"), 4, 0);
	ensemble_free(e);
}

/* Keys of different rows never are alike; those of equal rows of one run add up. */
TEST(keys)
{
	const struct call a[] = {
		{ "a|b", "c", 1, 1 },     { "a", "b|c", 1, 2 },
		{ "a\\", "|b", 1, 4 },    { "a\\|", "b", 1, 8 },
		{ "", "", 1, 16 },        { "twice", "x", 1, 32 },
		{ "twice", "x", 1, 64 },  { "99999999999999999999999", "n", 1, 9 },
		{ "t 100", "1000", 1, 3 }
	};
	struct ensemble *e = ensemble_new();

	add_run(e, "a", a, ARRAY_LEN(a));
	CLEANUP(table_freep) struct table *t = ensemble_table(e);
	assert_int_equal(table_rows(t), 2 * 8);
	assert_near(cell(t, "a\\|b|c", "inclusive_ns", "mean"), 1, 0);
	assert_near(cell(t, "a|b\\|c", "inclusive_ns", "mean"), 2, 0);
	assert_near(cell(t, "a\\\\|\\|b", "inclusive_ns", "mean"), 4, 0);
	assert_near(cell(t, "a\\\\\\||b", "inclusive_ns", "mean"), 8, 0);
	assert_near(cell(t, "|", "inclusive_ns", "mean"), 16, 0);
	assert_near(cell(t, "twice|x", "inclusive_ns", "mean"), 96, 0);
	assert_near(cell(t, "twice|x", "inclusive_ns", "runs"), 1, 0);
	assert_near(cell(t, "99999999999999999999999|n", "inclusive_ns", "mean"), 9, 0);
	assert_near(cell(t, "t {1}|1000", "inclusive_ns", "mean"), 3, 0);
	ensemble_free(e);
}

/* Energy of a function and of a path: by time and the better estimate of each run. */
static struct table_set energy_run_of(const char *estimate, double time_j, double best_j)
{
	static const char *const names[] = { "energy", "energy_callpaths" };
	static const char *const keys[] = { "counter", "device", "view", "track" };
	static const char *const joules[] = { "inclusive_j", "exclusive_j", "best_inclusive_j",
					      "best_j" };
	struct table_set ts = TABLE_SET_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct table *t = table_new(names[i]);

		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			table_col(t, keys[k], TABLE_STR, NULL);
		table_col(t, i ? "path" : "name", TABLE_STR, NULL);
		for (size_t k = 0; k < ARRAY_LEN(joules); k++)
			table_col(t, joules[k], TABLE_F64, "J");
		table_col(t, "estimate", TABLE_STR, NULL);
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			table_str(t, keys[k]);
		table_str(t, "f");
		table_f64(t, 10 * time_j);
		table_f64(t, time_j);
		table_f64(t, 10 * best_j);
		table_f64(t, best_j);
		table_str(t, estimate);
		table_row(t);
		table_set_add(&ts, t);
	}
	return ts;
}

TEST(energy_of_runs)
{
	CLEANUP(table_set_release) struct table_set a = energy_run_of("time", 5, 5);
	CLEANUP(table_set_release) struct table_set b = energy_run_of("power", 4, 7);
	const char *key = "counter|device|view|track|f";
	struct ensemble *e = ensemble_new();

	ensemble_add(e, "a", &a);
	ensemble_add(e, "b", &b);
	CLEANUP(table_freep) struct table *t = ensemble_table(e);
	/* of `energy` three, of the paths four */
	assert_int_equal(table_rows(t), 7);
	assert_near(cell(t, key, "exclusive_j", "mean"), 4.5, 0);
	assert_near(cell(t, key, "best_j", "mean"), 6, 0);
	assert_near(cell(t, key, "best_inclusive_j", "mean"), 60, 0);
	assert_string_equal(table_get_str(t, 6, 0), "energy_callpaths");
	assert_string_equal(table_get_str(t, 6, 2), "best_j");
	ensemble_free(e);
}

/* A table with a key missing, or of another type, is left alone. */
TEST(strange_tables)
{
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct table *busy = table_new("busy"), *kernels = table_new("kernels");
	struct ensemble *e = ensemble_new();

	table_col(busy, "device", TABLE_U64, NULL);
	table_col(busy, "union_ns", TABLE_I64, NULL);
	table_u64(busy, 0);
	table_i64(busy, 1);
	table_row(busy);
	table_col(kernels, "device", TABLE_STR, NULL);
	table_col(kernels, "name", TABLE_STR, NULL);
	table_col(kernels, "calls", TABLE_STR, NULL);
	table_str(kernels, "gpu0");
	table_str(kernels, "k");
	table_str(kernels, "many");
	table_row(kernels);
	table_set_add(&ts, busy);
	table_set_add(&ts, kernels);
	ensemble_add(e, "a", &ts);
	assert_null(ensemble_table(e));
	ensemble_free(e);
	ensemble_free(NULL);
}
