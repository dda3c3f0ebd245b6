#include "report_test.h"

static struct table *paths_table(void)
{
	struct table *t = table_new("callpaths");

	table_col(t, "track", TABLE_STR, NULL);
	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "exclusive_ns", TABLE_I64, "ns");
	table_col(t, "device_exclusive_ns", TABLE_I64, "ns");
	return t;
}

static void path_row(struct table *t, const char *track, const char *path, int64_t ns, int64_t dev)
{
	table_str(t, track);
	table_str(t, path);
	table_i64(t, ns);
	table_i64(t, dev);
	table_row(t);
}

TEST_IN(test_folded, dir)
{
	struct table *t = paths_table();

	path_row(t, "main", "main", INT64_C(9007199254740993), 0);
	path_row(t, "main", "main;two\nlines 7;", 5, 40);
	path_row(t, "main", "main;;\xff", 6, 0);
	path_row(t, "main", "idle", 0, 0);
	path_row(t, "gpu0", "[unattributed]", 0, 9);
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	write_ok(&r, &writer_folded);
	assert_file(dir, "folded/time.folded",
		    "main 9007199254740993\nmain;two lines 7;[no name] 5\n"
		    "main;[no name];\xef\xbf\xbd 6\n");
	assert_file(dir, "folded/device.folded",
		    "main;two lines 7;[no name] 40\n[unattributed] 9\n");
}

TEST_IN(test_folded_sources, dir)
{
	struct table *t = table_new("program_sources");

	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "calls", TABLE_I64, NULL);
	table_col(t, "total_ns", TABLE_I64, "ns");
	for (int i = 0; i < 2; i++) {
		table_str(t, i ? "[GPU active];main (a.py:1);dot.1" : "[GPU idle]");
		table_i64(t, 1);
		table_i64(t, 7 + i);
		table_row(t);
	}
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	write_ok(&r, &writer_folded);
	assert_file(dir, "folded/source.folded",
		    "[GPU idle] 7\n[GPU active];main (a.py:1);dot.1 8\n");
	assert_true(report_folded_name_is("source.folded"));
}

TEST_IN(test_folded_tracks, dir)
{
	struct table *t = paths_table();

	path_row(t, "rank 0/a;b", "f", 1, 0);
	path_row(t, "rank 1/a", "f", 2, 0);
	path_row(t, "gpu0", "[unattributed]", 0, 3);
	path_row(t, "gpu1", "[unattributed]", 0, 4);
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	write_ok(&r, &writer_folded);
	assert_file(dir, "folded/time.folded", "rank 0/a:b;f 1\nrank 1/a;f 2\n");
	assert_file(dir, "folded/device.folded", "gpu0;[unattributed] 3\ngpu1;[unattributed] 4\n");
}

/* best: 0 of a file of before, 1 with best_j beside exclusive_j */
static struct table *energy_table(int best)
{
	static const char *const cols[] = { "counter", "device", "view", "track", "path" };
	static const struct {
		const char *counter, *device, *view, *path;
		double j;
	} rows[] = LIST(
		{ "a:b", "gpu0", "host", "main", 1.5 },
		{ "a:b", "gpu0", "host", "main;f", 0.0000014 },
		{ "a:b", "gpu0", "host", "main;g", 0.0000004 },
		{ "a:b", "gpu0", "host", "main;n", -3 }, { "a:b", "gpu0", "host", "main;u", NAN },
		{ "a:b", "gpu0", "host", "[unattributed]", 2 },
		{ "a:b", "gpu0", "device", "kernel", 7 }, { "a/b", "gpu0", "host", "main", 4 },
		{ "../x", "", "host", "main", 5 }, { "nothing", "gpu0", "host", "main", 0 });
	struct table *t = table_new("energy_callpaths");

	for (size_t c = 0; c < ARRAY_LEN(cols); c++)
		table_col(t, cols[c], TABLE_STR, NULL);
	table_col(t, "exclusive_j", TABLE_F64, "J");
	if (best)
		table_col(t, "best_j", TABLE_F64, "J");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		table_str(t, rows[i].counter);
		table_str(t, rows[i].device);
		table_str(t, rows[i].view);
		table_str(t, "main");
		table_str(t, rows[i].path);
		table_f64(t, best ? 1000 : rows[i].j);
		if (best)
			table_f64(t, rows[i].j);
		table_row(t);
	}
	return t;
}

static void energy_files(const char *dir, int best)
{
	struct table *t = energy_table(best);
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);

	test_put(dir, "folded/time.folded", "of an earlier analysis 1\n");
	test_put(dir, "folded/energy-old-gpu0.folded", "of an earlier analysis 1\n");
	test_put(dir, "folded/mine.folded", "x 1\n");
	write_ok(&r, &writer_folded);
	assert_file(dir, "folded/energy-a_b-gpu0.folded",
		    "main 1500000\nmain;f 1\nmain;g 1\n[unattributed] 2000000\n");
	assert_file(dir, "folded/energy-a_b-gpu0-device.folded", "kernel 7000000\n");
	assert_file(dir, "folded/energy-a_b-gpu0-2.folded", "main 4000000\n");
	assert_file(dir, "folded/energy-.._x.folded", "main 5000000\n");
	assert_false(has_file(dir, "folded/energy-nothing-gpu0.folded"));
	assert_false(has_file(dir, "folded/time.folded"));
	assert_false(has_file(dir, "folded/energy-old-gpu0.folded"));
	assert_true(has_file(dir, "folded/mine.folded"));
}

TEST_IN(test_folded_energy, dir)
{
	energy_files(dir, 1);
}

TEST_IN(test_folded_energy_of_before, dir)
{
	energy_files(dir, 0);
}

/* Many small paths: each is less than a line can say, all together are not. */
TEST_IN(test_folded_sum, dir)
{
	static const char *const cols[] = { "counter", "device", "view", "track", "path" };
	CLEANUP(xfreep) char *file = fs_join(dir, "folded/energy-c-gpu0.folded"), *text = NULL;
	struct table *t = table_new("energy_callpaths");
	long long sum = 0;
	size_t n;

	for (size_t c = 0; c < ARRAY_LEN(cols); c++)
		table_col(t, cols[c], TABLE_STR, NULL);
	table_col(t, "exclusive_j", TABLE_F64, "J");
	for (size_t i = 0; i < 1000; i++) {
		table_str(t, "c");
		table_str(t, "gpu0");
		table_str(t, "host");
		table_str(t, "main");
		table_str(t, "f");
		table_f64(t, i % 2 ? 0.3e-6 : 2.6e-6);
		table_row(t);
	}
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	write_ok(&r, &writer_folded);
	assert_int_equal(fs_read(file, 1 << 20, &text, &n, NULL), 0);
	for (const char *s = text; (s = strchr(s, ' ')); s++)
		sum += strtoll(s, NULL, 10);
	assert_int_equal(sum, 1450);
}

/* Tables that were loaded may lack columns or hold words where numbers belong. */
TEST(test_folded_odd)
{
	for (int i = 0; i < 2; i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		struct table *t = table_new("callpaths");
		struct err err = ERR_INIT;

		table_col(t, "track", TABLE_STR, NULL);
		table_col(t, "path", TABLE_STR, NULL);
		if (i)
			table_col(t, "exclusive_ns", TABLE_STR, NULL);
		CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
		assert_int_equal(writer_folded.write(&r, &err), -EINVAL);
		assert_has(err.msg, "has no column 'exclusive_ns'");
	}
}
