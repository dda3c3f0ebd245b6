/* Recordings played again. */
#include "sampler_test.h"
#include "tests/fakes/machine.h"

static char *dir, *recording, *copy;

static int set_up(void **state)
{
	(void)state;
	dir = test_dir();
	recording = fs_join(dir, "recording.csv");
	copy = fs_join(dir, "copy.csv");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fs_remove_tree(dir, NULL);
	free(dir);
	free(recording);
	free(copy);
	return 0;
}

#define REPLAY_TEST(f) TEST_WITH(f, set_up, tear_down)

static void write_recording(const char *text)
{
	machine_write(recording, text, strlen(text));
}

static size_t rows_of(const char *file)
{
	struct samples_file f;
	size_t n;

	samples_read(file, &f);
	n = f.t_ns.nr;
	samples_release(&f);
	return n;
}

/* A mark has what is there written at once. */
static size_t rows_now(struct sampling *sp, const char *to)
{
	sampling_mark(sp, "look");
	sleep_ms(5);
	return rows_of(to);
}

/* Plays `file` into `to` until that many rows are there, and a little longer; with an option. */
static void replay_play(const char *file, const char *to, size_t rows, double period_s,
			const char *name, const char *value, struct sampling_stats *st)
{
	struct sampling_opts o = { .sampler = sampler_find("replay"), .path = to };
	struct sampling *sp;
	struct err err = ERR_INIT;

	sampler_options(&o.source, "all", period_s, "file", file, name, value, NULL);
	if (sampling_open(&o, &sp, &err) < 0) {
		print_error("%s\n", err.msg);
		fail();
	}
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL(rows_now(sp, to) >= rows);
	sleep_ms(20);
	sampling_stop(sp, st);
	sampling_free(sp);
	options_release(&o.source);
}

/* Same columns, values and distances; stamps begin elsewhere. */
static void check_same(const char *a_path, const char *b_path)
{
	struct samples_file a, b;

	samples_read(a_path, &a);
	samples_read(b_path, &b);
	assert_int_equal(a.columns.nr, b.columns.nr);
	for (size_t i = 0; i < a.columns.nr; i++)
		assert_string_equal(a.columns.v[i], b.columns.v[i]);
	assert_int_equal(a.t_ns.nr, b.t_ns.nr);
	for (size_t i = 0; i < a.t_ns.nr; i++)
		assert_int_equal(a.t_ns.v[i] - a.t_ns.v[0], b.t_ns.v[i] - b.t_ns.v[0]);
	for (size_t i = 0; i < a.cell.nr; i++)
		assert_true(a.cell.v[i] == b.cell.v[i] ||
			    (isnan(a.cell.v[i]) && isnan(b.cell.v[i])));
	samples_release(&a);
	samples_release(&b);
}

static const char two_gpus[] = "# profrig samples: 1\n"
			       "# source: amdgpu\n"
			       "# host: somewhere\n"
			       "# storage: change\n"
			       "# estimated: yes\n"
			       "# device: gpu0: AMD Instinct MI300X, pci 0000:03:00.0: one\n"
			       "# device: gone0: has no column\n"
			       "# device: gpu1: AMD Instinct MI300X, pci 0000:43:00.0\n"
			       "t_ns,power.gpu0[W],energy.gpu0[J],power.gpu1[W],energy.gpu1[J]\n"
			       "1000000000,163.5,1000.25,,\n"
			       "# mark: 1000500000 warm\n"
			       "1000000001,,,160,2000\n"
			       "1004000000,418,1001.875,,\n"
			       "1004100000,,,161.0625,2000.5\n"
			       "1030000000,NA,,,\n"
			       "1030000000,,,NA,NA\n"
			       "1123456789,489,1.0012345678901234e3,,\n"
			       "1200000000,,,0.1,2001\n";

REPLAY_TEST(round_trip)
{
	struct sampling_stats st;
	struct samples_file f;

	write_recording(two_gpus);
	replay_play(recording, copy, 8, 0.002, NULL, NULL, &st);
	assert_int_equal(st.rows, 8);
	assert_int_equal(st.failed, 3);
	assert_int_equal(st.reasons.nr, 1);
	assert_string_equal(st.reasons.v[0].text, "NA in the recording");
	sampling_stats_release(&st);
	check_same(recording, copy);
	samples_read(copy, &f);
	assert_string_equal(samples_header(&f, "source"), "replay");
	assert_string_equal(samples_header(&f, "storage"), "change");
	assert_string_equal(samples_header(&f, "estimated"), "yes");
	assert_string_equal(samples_header(&f, "device"),
			    "gpu0: replayed: AMD Instinct MI300X, pci 0000:03:00.0: one");
	assert_true(strvec_has(&f.comments,
			       "device: gpu1: replayed: AMD Instinct MI300X, pci 0000:43:00.0"));
	samples_release(&f);
	/* and what was played is a recording */
	replay_play(copy, in_dir(dir, "second.csv"), 8, 0.002, NULL, NULL, NULL);
	check_same(recording, in_dir(dir, "second.csv"));
}

/* Rows wait for their time: none is early, and a late tick changes no stamp. */
REPLAY_TEST(spacing)
{
	CLEANUP(options_release) struct sampler_opts o;
	double v[SAMPLER_MAX_SERIES];
	int64_t before, begun;
	int r;

	write_recording("t_ns,power.gpu0[W]\n500,1\n100000500,2\n200000500,3\n250000500,4\n");
	sampler_options(&o, "all", 0.1, "file", recording, NULL);
	CLEANUP(source_close) struct opened s = source_opened("replay", &o);
	before = clock_monotonic_ns();
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 0);
	assert_true(v[0] == 1);
	begun = s.s->stamp(s.st);
	assert_true(begun >= before && begun <= clock_monotonic_ns());
	while ((r = s.s->read(s.st, 0, v, &s.reason)) == 1)
		sleep_ms(1);
	assert_true(clock_monotonic_ns() >= begun + 100 * NS_PER_MS);
	assert_true(v[0] == 2);
	assert_int_equal(s.s->stamp(s.st) - begun, 100 * NS_PER_MS);
	/* both are due: the first says that there is more */
	clock_sleep_until_ns(begun + 251 * NS_PER_MS);
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 2);
	assert_true(v[0] == 3);
	assert_int_equal(s.s->stamp(s.st) - begun, 200 * NS_PER_MS);
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 0);
	assert_int_equal(s.s->stamp(s.st) - begun, 250 * NS_PER_MS);
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 1);
}

/* A row that holds several devices becomes one for each, at the same time. */
REPLAY_TEST(wide_rows)
{
	write_recording("t_ns,power.gpu1[W],power.gpu0[W],busy.gpu1[%]\n"
			"10,1,2,3\n20,,4,\n30,,,\n40,5,,\n");
	replay_play(recording, copy, 4, 0.01, NULL, NULL, NULL);
	CLEANUP(samples_release) struct samples_file f = samples_of(copy);
	assert_int_equal(f.t_ns.nr, 4);
	/* a device's columns stand together now */
	assert_string_equal(f.columns.v[0], "power.gpu1[W]");
	assert_string_equal(f.columns.v[1], "busy.gpu1[%]");
	assert_string_equal(f.columns.v[2], "power.gpu0[W]");
	assert_int_equal(f.t_ns.v[0], f.t_ns.v[1]);
	assert_true(samples_cell(&f, 0, 0) == 1 && samples_cell(&f, 0, 1) == 3);
	assert_true(samples_cell(&f, 0, 2) == SAMPLER_ABSENT);
	assert_true(samples_cell(&f, 1, 2) == 2);
	assert_true(samples_cell(&f, 2, 2) == 4);
	assert_true(samples_cell(&f, 3, 0) == 5 && samples_cell(&f, 3, 1) == SAMPLER_ABSENT);
	assert_int_equal(f.t_ns.v[3] - f.t_ns.v[0], 30);
}

REPLAY_TEST(loops)
{
	struct sampling_stats st;
	size_t p, e;

	write_recording("t_ns,power.gpu0[W],energy.gpu0[J]\n"
			"0,100,5000\n10000000,200,5001\n20000000,300,5003\n");
	replay_play(recording, copy, 30, 0.005, "loop", "yes", &st);
	CLEANUP(samples_release) struct samples_file f = samples_of(copy);
	assert_true(f.t_ns.nr >= 30);
	p = samples_column(&f, "power.gpu0[W]");
	e = samples_column(&f, "energy.gpu0[J]");
	for (size_t i = 0; i < f.t_ns.nr; i++) {
		size_t lap = i / 3, in = i % 3;

		/* laps are 30 ms: the last interval of 10 ms stands between them */
		assert_int_equal(f.t_ns.v[i] - f.t_ns.v[0], (int64_t)i * 10 * NS_PER_MS);
		assert_true(samples_cell(&f, i, p) == 100 * (double)(in + 1));
		assert_true(samples_cell(&f, i, e) ==
			    5000 + 3 * (double)lap + (in == 2 ? 3 : (double)in));
	}
}

/* Laps of no time at all, and far too fast ones, do not hold up a stop. */
REPLAY_TEST(hostile_loops)
{
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;
	struct sampling_stats st;

	write_recording("t_ns,power.gpu0[W]\n7,1\n7,2\n");
	sampler_options(&o, "all", 0.1, "file", recording, "loop", "yes", NULL);
	assert_int_equal(source_open("replay", &o, &s, &err), -EINVAL);
	assert_has(err.msg, "cannot be looped");
	options_release(&o);
	write_recording("t_ns,power.gpu0[W]\n7,1\n8,2\n");
	replay_play(recording, copy, 100, 0.001, "loop", "yes", &st);
	assert_true(st.rows >= 100);
	assert_int_equal(st.error, 0); /* not given up */
}

REPLAY_TEST(speed)
{
	struct samples_file f;

	write_recording("t_ns,power.gpu0[W]\n1000000000,1\n2000000000,2\n3000000001,3\n");
	replay_play(recording, copy, 3, 0.005, "speed", "10", NULL);
	samples_read(copy, &f);
	assert_int_equal(f.t_ns.nr, 3);
	assert_int_equal(f.t_ns.v[1] - f.t_ns.v[0], 100 * NS_PER_MS);
	assert_int_equal(f.t_ns.v[2] - f.t_ns.v[0], 200 * NS_PER_MS);
	samples_release(&f);
	replay_play(recording, copy, 1, 0.005, "speed", "0.01", NULL);
	samples_read(copy, &f);
	assert_int_equal(f.t_ns.nr, 1);
	samples_release(&f);
}

/* What kill -9 leaves: the line that was cut is not used, whatever it looks like. */
REPLAY_TEST(cut_recordings)
{
	static const char *const tails[] = { "30,300", "30,3",   "30,",
					     "30",     "3",      "30,\"30",
					     "NA",     "30,1,2", "# mark: 5 half" };
	struct samples_file f;

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		write_recording(textf("t_ns,power.gpu0[W]\n10,100\n20,200\n%s", tails[i]));
		replay_play(recording, copy, 2, 0.005, NULL, NULL, NULL);
		samples_read(copy, &f);
		if (f.t_ns.nr != 2)
			ROW_FAIL(i, "%zu rows", f.t_ns.nr);
		samples_release(&f);
	}
}

REPLAY_TEST(hostile_files)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "no header line" },
		{ "# only: comments\n", "no header line" },
		{ "t_ns,power.gpu0[W]\n", "no value in it" },
		{ "t_ns,power.gpu0[W]\n5,\n", "no value in it" },
		{ "time,power.gpu0[W]\n1,2\n", ":1: no samples file" },
		{ "t_ns\n1\n", "no samples file" },
		{ "t_ns,power\n1,2\n", "'power' is not name.device[unit]" },
		{ "t_ns,power.gpu0\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,power[W]\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,.gpu0[W]\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,power.[W]\n1,2\n", "is no device" },
		{ "t_ns,power.gpu0[W\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,power.gpu0[W]x\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,\"pow,er.gpu0[W]\"\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,\"power.gpu0[W\n]\"\n1,2\n", "is not name.device[unit]" },
		{ "t_ns,p.gpu0[W],p.gpu0[W]\n1,2,3\n", "stands twice" },
		{ "t_ns,p.a_device_name_of_more_than_31_characters[W]\n1,2\n", "is no device" },
		{ "t_ns,a_very_long_series_name_with_more_than_48_bytes.gpu0[W]\n1,2\n",
		  "too long" },
		{ "t_ns,p.gpu0[a_unit_of_16_or_more]\n1,2\n", "too long" },
		{ "t_ns,p.gpu0[W]\n1,2\n3\n", ":3: 1 fields where the header has 2" },
		{ "t_ns,p.gpu0[W]\n1,2,3\n", "3 fields where the header has 2" },
		{ "t_ns,p.gpu0[W]\n1,2\nx,3\n4,5\n", ":3: 'x' is no time" },
		{ "t_ns,p.gpu0[W]\n1.5,2\n", "'1.5' is no time" },
		{ "t_ns,p.gpu0[W]\n99999999999999999999,2\n", "is no time" },
		{ "t_ns,p.gpu0[W]\n1,two\n", "'two' is no number" },
		{ "t_ns,p.gpu0[W]\n1,inf\n", "'inf' is no number" },
		{ "t_ns,p.gpu0[W]\n1,1e999\n", "is no number" },
		{ "t_ns,p.gpu0[W]\n5,2\n4,2\n", ":3: times go backwards" },
		{ "t_ns,p.gpu0[W]\n-9000000000000000000,2\n9000000000000000000,2\n",
		  "more than a year" },
		{ "t_ns,p.gpu0[W]\n0,2\n40000000000000000,2\n", "more than a year" },
		{ "t_ns,p.gpu0[W]\n1,\"2\n", "quote" },
	};
	CLEANUP(options_release) struct sampler_opts o;
	struct opened s;

	sampler_options(&o, "all", 0.1, "file", recording, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		write_recording(rows[i].text);
		if (source_open("replay", &o, &s, &err) >= 0 || !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%s", err.msg);
		if (strncmp(err.msg, recording, strlen(recording)) != 0)
			ROW_FAIL(i, "no file name: %s", err.msg);
		assert_true(sampler_probe(sampler_find("replay"), &o, &err) < 0);
	}
}

REPLAY_TEST(too_many_devices)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	CLEANUP(options_release) struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	strbuf_addstr(&b, "t_ns");
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&b, ",p.d%d[W]", i);
	strbuf_addch(&b, '\n');
	write_recording(b.buf);
	sampler_options(&o, "all", 0.1, "file", recording, NULL);
	assert_int_equal(source_open("replay", &o, &s, &err), -E2BIG);
	strbuf_clear(&b);
	strbuf_addstr(&b, "t_ns");
	for (int i = 0; i < 100; i++)
		strbuf_addf(&b, ",p%d.gpu0[W]", i);
	strbuf_addch(&b, '\n');
	write_recording(b.buf);
	assert_int_equal(source_open("replay", &o, &s, &err), -E2BIG);
}

REPLAY_TEST(options)
{
	static const char *const bad[][2] = { { "speed", "0" },   { "speed", "-1" },
					      { "speed", "nan" }, { "speed", "1e7" },
					      { "speed", "" },    { "loop", "maybe" } };
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	write_recording("t_ns,p.gpu0[W]\n1,2\n2,3\n");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		sampler_options(&o, "all", 0.1, "file", recording, bad[i][0], bad[i][1], NULL);
		if (source_open("replay", &o, &s, &err) != -EINVAL || !strstr(err.msg, bad[i][0]))
			ROW_FAIL(i, "%s", err.msg);
		options_release(&o);
	}
	assert_int_equal(source_open("replay", NULL, &s, &err), -EINVAL);
	assert_int_equal(sampler_probe(sampler_find("replay"), NULL, &err), 0);
	sampler_options(&o, "all", 0.1, "file", "/nonexistent.csv", NULL);
	assert_int_equal(source_open("replay", &o, &s, &err), -ENOENT);
	assert_int_equal(sampler_probe(sampler_find("replay"), &o, &err), -ENOENT);
	options_release(&o);
}
