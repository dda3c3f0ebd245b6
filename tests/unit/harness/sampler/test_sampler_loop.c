/* The sampling thread, fed by sources made here. */
#include "sampler_fake.h"

#include <sys/stat.h>

#include "profrig/base/strvec.h"

/* --- opening --- */

SAMPLER_TEST(open_errors)
{
	static const double bad[] = { -1, 1e-5, 3601, INFINITY, NAN };
	struct sampling_opts o = { .sampler = &source, .path = path };
	struct sampling *sp;
	struct err err = ERR_INIT;

	fake_device("gpu0", 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		o.source.period_s = bad[i];
		assert_int_equal(sampling_open(&o, &sp, &err), -EINVAL);
		assert_has(err.msg, "period");
	}
	o.source.period_s = 1;
	o.path = "/nonexistent/dir/x.csv";
	assert_int_equal(sampling_open(&o, &sp, &err), -ENOENT);
	assert_has(err.msg, "/nonexistent/dir/x.csv");
	assert_int_equal(fake.closes, 1);
	o.path = "/dev/full";
	assert_int_equal(sampling_open(&o, &sp, &err), -ENOSPC);
	assert_has(err.msg, "/dev/full");
	assert_int_equal(fake.closes, 2);
	o.path = path;
	fake.open_code = -ENODEV;
	assert_int_equal(sampling_open(&o, &sp, &err), -ENODEV);
	assert_string_equal(err.msg, "sampler fake: no such luck");
}

/* A new file comes with its header; what is there is written over, and stays what it is. */
SAMPLER_TEST(opens_what_is_there)
{
	struct sampling_opts o = { .sampler = &source, .path = path };
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *link = fs_join(dir, "link.csv");
	struct stat st;
	struct sampling *sp;

	fake_device("gpu0", 1);
	o.source.period_s = 1;
	unlink(path);
	for (int i = 0; i < 3; i++) {
		int64_t size = 0;

		if (i == 1)
			assert_int_equal(fs_write_atomic(path, "# old\nt_ns,x\n1,2\n", 17, NULL),
					 0);
		if (i == 2)
			assert_int_equal(symlink(path, link), 0), o.path = link;
		assert_int_equal(sampling_open(&o, &sp, NULL), 0);
		size = fs_size(path);
		assert_true(size > 50);
		sampling_free(sp);
		assert_true(fs_size(path) > size);
	}
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(fs_list(dir, &names, NULL), 0);
	for (size_t i = 0; i < names.nr; i++)
		assert_int_equal(fs_temp_pid(names.v[i]), 0);
	unlink(link);
}

SAMPLER_TEST(header)
{
	const struct sampler_device *d;
	struct sampling_opts o = { .sampler = &source, .path = path, .run_id = "R" };
	struct sampling *sp;
	char host[256] = "";
	int64_t mono, real;

	fake_device("gpu0", 2);
	fake_device("gpu1", 1);
	snprintf(fake.dev[1].facts, sizeof(fake.dev[1].facts), "evil\nt_ns,forged\r\x01");
	fake.dev[1].change_points = true;
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_devices(sp, &d), 2);
	assert_string_equal(d[1].id, "gpu1");
	sampling_free(sp); /* never started: nothing is read */
	assert_int_equal(fake.reads, 0);
	assert_int_equal(fake.closes, 1);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_string_equal(f.comments.v[0], "profrig samples: 1");
	assert_string_equal(samples_header(&f, "source"), "fake");
	assert_string_equal(samples_header(&f, "clock"), "CLOCK_MONOTONIC");
	assert_string_equal(samples_header(&f, "run"), "R");
	assert_string_equal(samples_header(&f, "period_s"), "0.1");
	assert_string_equal(samples_header(&f, "storage"), "change");
	assert_null(samples_header(&f, "estimated"));
	assert_string_equal(samples_header(&f, "device"), "gpu0: a fake, pci 0000:03:00.0");
	assert_true(strvec_has(&f.comments, "device: gpu1: evil t_ns,forged"));
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(samples_header(&f, "host"), host);
	assert_int_equal(f.columns.nr, 3);
	assert_string_equal(f.columns.v[0], "power.gpu0[W]");
	assert_string_equal(f.columns.v[1], "energy.gpu0[J]");
	assert_string_equal(f.columns.v[2], "power.gpu1[W]");
	const char *a = samples_header(&f, "anchor");
	assert_non_null(a);
	a += strlen("monotonic_ns=");
	assert_int_equal(num_i64(a, strcspn(a, " "), &mono), 0);
	a = strstr(a, "realtime_ns=") + strlen("realtime_ns=");
	assert_int_equal(num_i64(a, strcspn(a, " "), &real), 0);
	assert_true(llabs(clock_monotonic_ns() - mono) < 60 * NS_PER_S);
	assert_true(llabs((clock_realtime_ns() - clock_monotonic_ns()) - (real - mono)) <
		    60 * NS_PER_S);
}

SAMPLER_TEST(header_of_estimates)
{
	struct sampling_opts o = { .sampler = &source_with_times, .path = path };
	struct sampling *sp;

	fake_device("cpu0", 1);
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_string_equal(samples_header(&f, "estimated"), "yes");
	assert_string_equal(samples_header(&f, "storage"), "every");
	sampling_free(NULL);
}

/* --- time --- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Of all reads; the rows of nr_dev devices take turns. */
static int64_t median_interval(const struct samples_file *f, size_t nr_dev)
{
	VEC(int64_t) d = VEC_INIT;
	int64_t m;

	for (size_t i = nr_dev; i < f->t_ns.nr; i++)
		VEC_PUSH(&d, f->t_ns.v[i] - f->t_ns.v[i - nr_dev]);
	assert_true(d.nr > 0);
	qsort(d.v, d.nr, sizeof(*d.v), by_value);
	m = d.v[d.nr / 2];
	VEC_RELEASE(&d);
	return m;
}

/*
 * Places of the grid that ticks were made on or that were skipped: as many as there are between the
 * first and the last tick, whatever the machine does meanwhile. A read takes 1 ms, so a thread that
 * slept for a period after each tick would be short of two in twelve.
 */
SAMPLER_TEST(period)
{
	int64_t begun = clock_monotonic_ns(), places, m;
	struct sampling_stats s;
	struct sampling *sp;
	size_t last;

	fake_device("gpu0", 1);
	fake_device("gpu1", 1);
	fake.read_ms = 1;
	sp = fake_begin(0.01);
	WAIT_UNTIL(fake.reads >= 60);
	sampling_stop(sp, &s);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_int_equal(s.rows, f.t_ns.nr);
	assert_int_equal(s.rows, 2 * s.ticks);
	assert_true(s.ticks >= 30);
	assert_int_equal(s.period_ns, 10 * NS_PER_MS);
	assert_int_equal(s.failed, 0);
	assert_int_equal(s.error, 0);
	assert_true(f.t_ns.v[0] >= begun);
	/* the read after the stop is on no grid */
	places = (int64_t)(s.ticks - 1 + s.overruns);
	last = f.t_ns.nr - 3;
	assert_true(places * 10 * NS_PER_MS > f.t_ns.v[last] - f.t_ns.v[0]);
	assert_true((double)places < ms_since(begun) / 10 + 2);
	m = median_interval(&f, 2);
	assert_int_equal(s.median_period_ns, m);
	assert_true(s.max_gap_ns >= m);
}

SAMPLER_TEST(stop_is_immediate)
{
	struct sampling *sp;
	struct sampling_stats s;
	int64_t t;

	fake_device("gpu0", 1);
	sp = fake_begin(3600);
	WAIT_UNTIL(fake.reads == 1);
	t = clock_monotonic_ns();
	sampling_stop(sp, &s);
	assert_true(ms_since(t) < 60e3);
	/* the first tick, and the read that closes the balance, after the stop was asked for */
	assert_int_equal(s.rows, 2);
	struct samples_file f;
	samples_read(path, &f);
	assert_true(f.t_ns.v[1] >= t);
	samples_release(&f);
	sampling_stats_release(&s);
	/* again: nothing happens, the figures stay */
	sampling_stop(sp, &s);
	assert_int_equal(s.rows, 2);
	sampling_free(sp);
	assert_int_equal(fake.closes, 1);
	assert_true(fake.int_blocked);
}

/* Reads of 25 ms on a grid of 10 ms: two of three places are skipped, more on a busy machine. */
SAMPLER_TEST(overruns)
{
	int64_t begun = clock_monotonic_ns();
	struct sampling *sp;
	struct sampling_stats s;
	double total;

	fake_device("gpu0", 1);
	fake.read_ms = 25;
	sp = fake_begin(0.01);
	WAIT_UNTIL(fake.reads >= 20);
	sampling_stop(sp, &s);
	sampling_free(sp);
	total = (double)(s.ticks + s.overruns);
	assert_true(s.ticks >= 20 && s.overruns >= 2 * (s.ticks - 2));
	assert_true(total < ms_since(begun) / 10 + 3);
	assert_true(s.median_period_ns >= 25 * NS_PER_MS);
	assert_true(s.read_ns_mean >= 25e6 && s.read_ns_max >= 25 * NS_PER_MS);
	/* it sleeps in between */
	assert_true(s.cpu_s < ms_since(begun) / 1e3 / 2);
}

/* Millions of rows: the median is of all of them, not of the first. */
SAMPLER_TEST(median_of_many)
{
	struct sampling_opts o = { .sampler = &source_with_times,
				   .source.period_s = 0.001,
				   .path = path };
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 1);
	fake.due = 300000;
	fake.stamp_ns = NS_PER_S;
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL(fake.reads > (int)fake.due);
	sampling_stop(sp, &s);
	sampling_free(sp);
	assert_int_equal(s.rows, fake.due);
	assert_int_equal(s.median_period_ns, 3 * NS_PER_MS);
	assert_int_equal(s.max_gap_ns, 3 * NS_PER_MS);
}

SAMPLER_TEST(always_due)
{
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 1);
	fake.due = UINT64_MAX;
	sp = fake_begin(0.01);
	WAIT_UNTIL(fake.reads > 0);
	sampling_stop(sp, &s);
	/* not given up */
	assert_int_equal(s.error, 0);
	sampling_free(sp);
}

/* --- the file while it grows --- */

/*
 * Whole lines at any moment, the last at most a second old. Where the machine stands still for
 * longer, the next look is at an old one: some of many may be.
 */
SAMPLER_TEST(streams)
{
	enum { LOOKS = 20, GOOD = 16 };
	struct sampling *sp;
	int good = 0;

	fake_device("gpu0", 2);
	sp = fake_begin(0.02);
	sleep_ms(700);
	for (int try = 0; try < 10 && good < GOOD; try++) {
		good = 0;
		for (int i = 0; i < LOOKS; i++) {
			int64_t before = clock_monotonic_ns();
			struct samples_file f;

			samples_read(path, &f);
			good += f.t_ns.nr > 5 && before - f.t_ns.v[f.t_ns.nr - 1] < NS_PER_S;
			samples_release(&f);
			sleep_ms(100);
		}
	}
	assert_true(good >= GOOD);
	sampling_free(sp);
}

static size_t rows_in_file(void)
{
	struct samples_file f;
	size_t n;

	samples_read(path, &f);
	n = f.t_ns.nr;
	samples_release(&f);
	return n;
}

static bool file_has_mark(const char *name)
{
	struct samples_file f;
	const char *mark;
	bool found;

	samples_read(path, &f);
	mark = samples_header(&f, "mark");
	found = mark && strstr(mark, name);
	samples_release(&f);
	return found;
}

/* A long period: no row waits for the next tick. */
SAMPLER_TEST(streams_slow_ones)
{
	struct sampling *sp;

	fake_device("gpu0", 1);
	sp = fake_begin(3600);
	WAIT_UNTIL(rows_in_file() == 1);
	assert_int_equal(rows_in_file(), 1);
	sampling_mark(sp, "late");
	WAIT_UNTIL(file_has_mark("late"));
	assert_true(file_has_mark("late"));
	sampling_free(sp);
}

SAMPLER_TEST(marks)
{
	char longer[600], expected[300];
	struct sampling *sp;
	int64_t t, before;
	const char *m;

	fake_device("gpu0", 1);
	sp = fake_begin(1);
	before = clock_monotonic_ns();
	sampling_mark(sp, "workload: start");
	sampling_mark(sp, "evil\n1,2\n# mark: 0 x\t");
	memset(longer, 'a', sizeof(longer));
	memcpy(longer + 199, "\xc3\xa4", 2); /* ä across the limit of 200 bytes */
	longer[599] = '\0';
	sampling_mark(sp, longer);
	sampling_stop(sp, NULL);
	sampling_mark(sp, "too late");
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	m = samples_header(&f, "mark");
	assert_int_equal(num_i64(m, strcspn(m, " "), &t), 0);
	assert_true(t >= before && t <= clock_monotonic_ns());
	assert_string_equal(strchr(m, ' '), " workload: start");
	size_t count = 0;
	for (size_t i = 0; i < f.comments.nr; i++) {
		if (strncmp(f.comments.v[i], "mark: ", 6) != 0)
			continue;
		m = strchr(f.comments.v[i] + 6, ' ') + 1;
		if (count == 1)
			assert_string_equal(m, "evil 1,2 # mark: 0 x");
		memset(expected, 'a', 199);
		expected[199] = '\0';
		if (count == 2)
			assert_string_equal(m, expected);
		count++;
	}
	assert_int_equal(count, 3);
}

/* Made while a read goes on that ends only afterwards; if they wait for it, the alarm ends all. */
SAMPLER_TEST(mark_does_not_wait)
{
	struct sampling *sp;

	fake_device("gpu0", 1);
	fake.hang = true;
	sp = fake_begin(0.01);
	WAIT_UNTIL(fake.reading);
	alarm(60);
	for (int i = 0; i < 5; i++) {
		sampling_mark(sp, "x");
		sampling_target(sp, 1);
	}
	alarm(0);
	assert_int_equal(fake.reading, 1);
	fake.hang = false;
	sampling_free(sp);
}

SAMPLER_TEST(values_and_reasons)
{
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 4);
	fake_device("gpu1", 1);
	fake.value[0] = 123456.78125;
	fake.value[1] = NAN;
	fake.value[2] = SAMPLER_ABSENT;
	fake.value[3] = INFINITY;
	fake.reason = "it is \"tired\"";
	sp = fake_begin(3600);
	WAIT_UNTIL(fake.reads == 2);
	sampling_stop(sp, &s);
	sampling_free(sp);
	assert_int_equal(s.rows, 4);
	assert_int_equal(s.failed, 4);
	assert_int_equal(s.reasons.nr, 1);
	assert_string_equal(s.reasons.v[0].text, "it is \"tired\"");
	assert_int_equal(s.reasons.v[0].count, 4);
	sampling_stats_release(&s);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_int_equal(f.t_ns.nr, 4);
	assert_true(samples_cell(&f, 0, 0) == 123456.78125);
	assert_true(isnan(samples_cell(&f, 0, 1)));
	assert_true(samples_cell(&f, 0, 2) == SAMPLER_ABSENT);
	assert_true(isnan(samples_cell(&f, 0, 3)));
	assert_true(samples_cell(&f, 0, 4) == SAMPLER_ABSENT); /* another device's */
	for (size_t i = 0; i < 4; i++)
		assert_true(samples_cell(&f, 1, i) == SAMPLER_ABSENT);
	assert_true(samples_cell(&f, 1, 4) == 123456.78125);
	assert_has(samples_header(&f, "end"), "rows=4 failed=4 overruns=0");
}

/* Of every reading until now, whatever of it is in the file already. */
SAMPLER_TEST(summary_so_far)
{
	struct sampling_summary s;
	struct sampling *sp;

	fake_device("gpu0", 1);
	sp = fake_begin(0.05);
	for (int n = 2; n < 8; n++) {
		WAIT_UNTIL(fake.reads > n);
		sampling_summary(sp, 0, 0, &s);
		assert_true(s.samples >= (uint64_t)n);
	}
	sampling_free(sp);
}

SAMPLER_TEST(target_arrives)
{
	struct sampling_opts o = { .sampler = &source, .source.period_s = 0.005, .path = path };
	struct sampling *sp;

	fake_device("gpu0", 1);
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	sampling_target(sp, 4711);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL(fake.target == 4711);
	assert_int_equal(fake.target, 4711);
	sampling_target(sp, 4712);
	WAIT_UNTIL(fake.target == 4712);
	assert_int_equal(fake.target, 4712);
	sleep_ms(30);
	assert_int_equal(fake.target_calls, 2);
	sampling_free(sp);
}

/* --- several at once --- */

SAMPLER_TEST(two_at_once)
{
	CLEANUP(xfreep) char *other = fs_join(dir, "other.csv");
	struct sampling_opts o = { .sampler = &source_with_times,
				   .source.period_s = 0.002,
				   .path = other };
	struct sampling *a, *b;
	struct sampling_stats sa, sb;
	struct samples_file f;

	fake_device("gpu0", 1);
	a = fake_begin(0.003);
	assert_int_equal(sampling_open(&o, &b, NULL), 0);
	assert_int_equal(sampling_start(b, NULL), 0);
	for (int i = 0; i < 20; i++) {
		sampling_mark(a, "a");
		sampling_mark(b, "b");
		sleep_ms(5);
	}
	sampling_stop(a, &sa);
	sampling_stop(b, &sb);
	sampling_free(a);
	sampling_free(b);
	samples_read(path, &f);
	assert_int_equal(f.t_ns.nr, sa.rows);
	samples_release(&f);
	samples_read(other, &f);
	assert_int_equal(f.t_ns.nr, sb.rows);
	samples_release(&f);
}
