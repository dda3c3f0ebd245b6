/*
 * Sampling at speed: every tick is accounted for, change points hold all that was read, energy of
 * known power, real-time priority, and 1 kHz on eight devices. Bounds hold on a machine whose CPUs
 * are wanted by others; `make bench-sampler` has the real ones.
 */
#include "sampler_fake.h"
#include "tests/fakes/machine.h"

#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- a source that gives written-down rows, then repeats the last --- */

static struct script {
	const double (*v)[3];
	size_t nr;
	_Atomic size_t at;
} script;

static int script_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	size_t i = script.at < script.nr ? script.at++ : script.nr - 1;

	(void)st;
	(void)d;
	memcpy(v, script.v[i], sizeof(script.v[i]));
	*reason = "as written";
	return 0;
}

static const struct sampler scripted = {
	.name = "fake",
	.vendor = "any",
	.probe = fake_probe,
	.open = fake_open,
	.devices = fake_devices,
	.read = script_read,
	.close = fake_close,
};

static struct sampling *open_with(const struct sampler *s, double period_s, char *name, char *value)
{
	struct sampler_option option = { name, value };
	struct sampling_opts o = { .sampler = s, .source.period_s = period_s, .path = path };
	struct sampling *sp = NULL;

	if (name) {
		o.source.options.v = &option;
		o.source.options.nr = 1;
	}
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	return sp;
}

static struct sampling *begin_with(const struct sampler *s, double period_s, char *name,
				   char *value)
{
	struct sampling *sp = open_with(s, period_s, name, value);

	assert_int_equal(sampling_start(sp, NULL), 0);
	return sp;
}

SAMPLER_TEST(options)
{
	static const char *const bad[][2] = { { "storage", "some" }, { "realtime", "perhaps" } };
	struct err err = ERR_INIT;

	fake_device("gpu0", 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct sampler_option option = { xstrdup(bad[i][0]), xstrdup(bad[i][1]) };
		struct sampling_opts o = { .sampler = &source, .path = path };
		struct sampling *sp;

		o.source.options.v = &option;
		o.source.options.nr = 1;
		assert_int_equal(sampling_open(&o, &sp, &err), -EINVAL);
		assert_has(err.msg, bad[i][1]);
		free(option.name);
		free(option.value);
	}
}

/* --- change points --- */

/*
 * What a reader of the file takes for the value at a row: that of the last field that is not empty.
 * Between two rows it holds.
 */
static void speed_unfold(struct samples_file *f)
{
	for (size_t c = 0; c < f->columns.nr; c++)
		for (size_t r = 1; r < f->t_ns.nr; r++)
			if (samples_cell(f, r, c) == SAMPLER_ABSENT)
				f->cell.v[r * f->columns.nr + c] = samples_cell(f, r - 1, c);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

SAMPLER_TEST(change_points)
{
	static const double rows[][3] = {
		{ 1, 10, 5 },   { 1, 10, 5 },   { 1, 11, 5 }, { 2, 12, 5 },
		{ NAN, 13, 5 }, { NAN, 14, 5 }, { 2, 15, 5 }, { 2, 15, SAMPLER_ABSENT },
		{ 2, 15, 6 },   { 2, 15, 6 },   { 2, 15, 6 }, { 2, 15, 6 },
	};
	/* those of them that say something new; and what each row of the file has of it */
	static const double want[][3] = LIST(
		{ 1, 10, 5 }, { SAMPLER_ABSENT, 11, SAMPLER_ABSENT }, { 2, 12, SAMPLER_ABSENT },
		{ NAN, 13, SAMPLER_ABSENT }, { SAMPLER_ABSENT, 14, SAMPLER_ABSENT },
		{ 2, 15, SAMPLER_ABSENT }, { SAMPLER_ABSENT, SAMPLER_ABSENT, 6 });
	struct sampling *sp;
	CLEANUP(sampling_stats_release) struct sampling_stats st;
	int64_t begun;
	size_t n;

	script = (struct script){ .v = rows, .nr = ARRAY_LEN(rows) };
	fake_device("gpu0", 3);
	begun = clock_monotonic_ns();
	sp = begin_with(&scripted, 0.002, (char[]){ "storage" }, (char[]){ "change" });
	WAIT_UNTIL(script.at == ARRAY_LEN(rows));
	sampling_stop(sp, &st);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_string_equal(samples_header(&f, "storage"), "change");
	assert_int_equal(st.rows, f.t_ns.nr);
	assert_int_equal(st.failed, 2);
	n = ARRAY_LEN(want);
	/* a standstill of the machine brings rows that repeat all */
	if (ms_since(begun) < 400) {
		for (size_t r = 0; r < n; r++)
			for (size_t c = 0; c < 3; c++)
				if (!same(samples_cell(&f, r, c), want[r][c]))
					ROW_FAIL(r, "column %zu is %g, not %g", c,
						 samples_cell(&f, r, c), want[r][c]);
		/* the end of all series is that of their readings */
		assert_int_equal(f.t_ns.nr, n + 1);
		for (size_t c = 0; c < 3; c++)
			assert_true(samples_cell(&f, n, c) == rows[11][c]);
		assert_true(f.t_ns.v[n] > f.t_ns.v[n - 1]);
	}
}

/* Everything is said again now and then: the file of a killed profrig lacks a second at most. */
SAMPLER_TEST(change_points_are_refreshed)
{
	static const double rows[][3] = { { 1, 2, 3 } };
	struct sampling *sp;
	struct sampling_stats st;

	script = (struct script){ .v = rows, .nr = 1 };
	fake_device("gpu0", 3);
	sp = begin_with(&scripted, 0.005, (char[]){ "storage" }, (char[]){ "change" });
	sleep_ms(1700);
	sampling_stop(sp, &st);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_in_range(f.t_ns.nr, 3, 8);
	for (size_t r = 0; r < f.t_ns.nr; r++)
		for (size_t c = 0; c < 3; c++)
			assert_true(samples_cell(&f, r, c) == rows[0][c]);
	assert_true(st.ticks > f.t_ns.nr);
}

/*
 * The same readings stored in both ways say the same, at random: what the one file holds at each of
 * its rows, the other's last field before says too.
 */
SAMPLER_TEST(both_storages_agree)
{
	enum { ROWS = 60 };
	static double rows[ROWS][3];
	struct samples_file f[2];
	uint64_t seed = 12345;

	fake_device("gpu0", 3);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t c = 0; c < 3; c++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			rows[i][c] = seed >> 60 == 0 ? NAN : (double)(seed >> 62);
		}
	for (int k = 0; k < 2; k++) {
		struct sampling *sp;

		script = (struct script){ .v = rows, .nr = ROWS };
		sp = begin_with(&scripted, 0.001, (char[]){ "storage" },
				k ? (char[]){ "change" } : (char[]){ "every" });
		WAIT_UNTIL(script.at == ROWS);
		sampling_free(sp);
		samples_read(path, &f[k]);
	}
	speed_unfold(&f[1]);
	/* every change of the full file is one of the other's rows, in order */
	for (size_t r = 0, at = 0; r < ROWS; r++) {
		while (at + 1 < f[1].t_ns.nr &&
		       !(same(samples_cell(&f[0], r, 0), samples_cell(&f[1], at, 0)) &&
			 same(samples_cell(&f[0], r, 1), samples_cell(&f[1], at, 1)) &&
			 same(samples_cell(&f[0], r, 2), samples_cell(&f[1], at, 2))))
			at++;
		for (size_t c = 0; c < 3; c++)
			assert_true(same(samples_cell(&f[0], r, c), samples_cell(&f[1], at, c)));
	}
	assert_true(f[1].t_ns.nr <= f[0].t_ns.nr + 1);
	samples_release(&f[0]);
	samples_release(&f[1]);
}

/* What stands still before a pause is known up to the pause, and anew behind it. */
SAMPLER_TEST(change_points_around_a_pause)
{
	static const double rows[][3] = { { 1, 2, 3 } };
	int64_t resumed_ns;
	struct sampling *sp;
	size_t last = 0;

	script = (struct script){ .v = rows, .nr = 1 };
	fake_device("gpu0", 3);
	sp = begin_with(&scripted, 0.005, (char[]){ "storage" }, (char[]){ "change" });
	sleep_ms(100);
	sampling_pause(sp, true);
	sleep_ms(150);
	resumed_ns = clock_monotonic_ns();
	sampling_pause(sp, false);
	sleep_ms(50);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	while (last + 1 < f.t_ns.nr && f.t_ns.v[last + 1] < resumed_ns)
		last++;
	/* first, last before the pause, first behind it, last */
	assert_true(f.t_ns.nr >= 4 && last >= 1);
	assert_true(f.t_ns.v[last] > f.t_ns.v[0]);
	for (size_t c = 0; c < 3; c++) {
		assert_true(samples_cell(&f, last, c) == rows[0][c]);
		assert_true(samples_cell(&f, last + 1, c) == rows[0][c]);
	}
}

/* --- ticks --- */

static uint64_t end_figure(const struct samples_file *f, const char *name)
{
	const char *end = samples_header(f, "end");
	const char *at = end ? strstr(end, textf("%s=", name)) : NULL;
	uint64_t v = 0;

	assert_non_null(at);
	at += strlen(textf("%s=", name));
	assert_int_equal(num_u64(at, strcspn(at, " "), &v), 0);
	return v;
}

/* Every place of the grid was a tick or is counted as left out; the file says what stats say. */
SAMPLER_TEST(none_is_lost)
{
	struct sampling *sp;
	struct sampling_stats st;
	int64_t places;

	fake_device("gpu0", 1);
	fake.read_ms = 3;
	sp = fake_begin(0.001);
	WAIT_UNTIL(fake.reads >= 50);
	sampling_stop(sp, &st);
	sampling_free(sp);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_int_equal(end_figure(&f, "ticks"), st.ticks);
	assert_int_equal(end_figure(&f, "rows"), st.rows);
	assert_int_equal(end_figure(&f, "overruns"), st.overruns);
	assert_int_equal(end_figure(&f, "late"), st.late);
	assert_int_equal(end_figure(&f, "tick_error_max_ns"), st.tick_error_max_ns);
	assert_int_equal(end_figure(&f, "tick_error_p99_ns"), st.tick_error_p99_ns);
	assert_true(st.overruns >= 2 * (st.ticks - 2));
	/* the last read is on no grid */
	places = (int64_t)(st.ticks - 1 + st.overruns);
	assert_true(places * NS_PER_MS > f.t_ns.v[f.t_ns.nr - 2] - f.t_ns.v[0]);
	assert_true(st.tick_error_max_ns > 0 && st.tick_error_median_ns <= st.tick_error_p99_ns);
	/* a bucket of the histogram may stand a little above its values */
	assert_true((double)st.tick_error_p99_ns <= (double)st.tick_error_max_ns * 1.01 + 1);
}

/* A process that is stopped over the time of a tick makes it late, and says by how much. */
SAMPLER_TEST(late_tick)
{
	pid_t pid;

	fake_device("gpu0", 1);
	pid = fork();
	if (pid == 0) {
		struct sampling *sp = fake_begin(0.4);

		while (fake.reads < 3)
			sleep_ms(2);
		sampling_free(sp);
		_exit(0);
	}
	sleep_ms(200);
	kill(pid, SIGSTOP);
	sleep_ms(550);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_true(end_figure(&f, "late") >= 1);
	assert_true(end_figure(&f, "tick_error_max_ns") >= 200 * (uint64_t)NS_PER_MS);
}

/* --- priority --- */

SAMPLER_TEST(realtime_where_allowed)
{
	struct sampling *sp;
	struct sampling_stats st;

	fake_device("gpu0", 1);
	sp = begin_with(&source, 0.002, (char[]){ "realtime" }, (char[]){ "yes" });
	WAIT_UNTIL(fake.reads > 5);
	sampling_stop(sp, &st);
	sampling_free(sp);
	assert_int_equal(st.error, 0);
	assert_true(st.realtime == (st.realtime_error == 0));
	if (geteuid() == 0 && !st.realtime)
		print_message("root without the right to a real-time priority\n");
}

SAMPLER_TEST(realtime_where_not)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("needs root, to be another user\n");
		skip();
	}
	fake_device("gpu0", 1);
	pid = fork();
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		struct sampling *sp =
			open_with(&source, 0.002, (char[]){ "realtime" }, (char[]){ "yes" });
		struct sampling_stats st;

		setrlimit(RLIMIT_RTPRIO, &none);
		if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
			_exit(1);
		if (sampling_start(sp, NULL) < 0)
			_exit(2);
		while (fake.reads < 5)
			sleep_ms(2);
		sampling_stop(sp, &st);
		sampling_free(sp);
		_exit(!st.realtime && st.realtime_error == -EPERM && !st.error && st.rows >= 5 ? 0
											       : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- energy --- */

/*
 * Power as a sum of waves, whose energy is known in closed form, sampled at 1 kHz. Trapezoids of
 * width h are off by at most T·h²/12·max|P''|; the file's times are whole ns.
 */
struct curve {
	double base, amplitude[3], omega[3], phase[3];
};

static double power_at(const struct curve *c, double t)
{
	double p = c->base;

	for (int i = 0; i < 3; i++)
		p += c->amplitude[i] * sin(c->omega[i] * t + c->phase[i]);
	return p;
}

static double energy_until(const struct curve *c, double t)
{
	double e = c->base * t;

	for (int i = 0; i < 3; i++)
		e += c->amplitude[i] / c->omega[i] *
		     (cos(c->phase[i]) - cos(c->omega[i] * t + c->phase[i]));
	return e;
}

static double speed_bound(const struct curve *c, double length, double h)
{
	double bend = 0;

	for (int i = 0; i < 3; i++)
		bend += c->amplitude[i] * c->omega[i] * c->omega[i];
	return length * h * h / 12 * bend + 1e-9 * length * c->base;
}

SAMPLER_TEST(energy_of_known_power)
{
	enum { ROWS = 1001, DEVICES = 8 };
	CLEANUP(xfreep) char *from = fs_join(dir, "known.csv");
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct curve curve[DEVICES];
	struct sampler_option option[] = { { (char[]){ "file" }, from } };
	struct sampling_opts o = { .sampler = sampler_find("replay"),
				   .source.period_s = 0.001,
				   .path = path };
	struct sampling *sp;
	struct sampling_summary sum;
	uint64_t seed = 99;

	strbuf_addstr(&text, "t_ns");
	for (int d = 0; d < DEVICES; d++) {
		strbuf_addf(&text, ",power.gpu%d[W]", d);
		curve[d].base = 200 + d;
		for (int i = 0; i < 3; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			curve[d].amplitude[i] = (double)(seed >> 58);
			curve[d].omega[i] = 1 + (double)(seed >> 50 & 0x3f) * (i + 1);
			curve[d].phase[i] = (double)(seed >> 44 & 0x3f) / 10;
		}
	}
	for (int r = 0; r < ROWS; r++) {
		strbuf_addf(&text, "\n%lld", 5000000000LL + r * 1000000LL);
		for (int d = 0; d < DEVICES; d++)
			strbuf_addf(&text, ",%.17g", power_at(&curve[d], r * 1e-3));
	}
	strbuf_addch(&text, '\n');
	machine_write(from, text.buf, text.len);
	o.source.options.v = option;
	o.source.options.nr = 1;
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL((sampling_summary(sp, DEVICES - 1, 0, &sum), sum.samples == ROWS));
	sampling_stop(sp, NULL);
	for (size_t d = 0; d < DEVICES; d++) {
		double exact = energy_until(&curve[d], 1), off;

		sampling_summary(sp, d, 0, &sum);
		assert_int_equal(sum.samples, ROWS);
		assert_int_equal(sum.last_ns - sum.first_ns, NS_PER_S);
		off = fabs(sum.integral - exact);
		if (!(off <= speed_bound(&curve[d], 1, 1e-3)))
			ROW_FAIL(d, "%.9g J off, where %.9g are allowed", off,
				 speed_bound(&curve[d], 1, 1e-3));
	}
	sampling_free(sp);
}

/* --- eight devices, three series, 1 kHz --- */

static double resident_mb(void)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *second;
	size_t n;
	double pages = 0;

	assert_int_equal(fs_read("/proc/self/statm", 4096, &text, &n, NULL), 0);
	second = strchr(text, ' ') + 1;
	assert_int_equal(num_f64(second, strcspn(second, " "), &pages), 0);
	return pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

SAMPLER_TEST(eight_at_1_khz)
{
	static const struct gm_values busy = { 305, 87, 41, 66, UINT64_C(65536) * 1000 };
	struct sampler_option option[] = { { (char[]){ "fields" },
					     (char[]){ "power,energy,busy" } } };
	struct sampling_opts o = { .sampler = sampler_find("amdgpu"),
				   .source.period_s = 0.001,
				   .path = path };
	struct sampling *sp;
	struct sampling_stats st;
	struct sampling_summary sum;
	double early_mb, late_mb;
	int64_t begun;

	setenv("PROFRIG_SYSFS_ROOT", dir, 1);
	for (unsigned i = 0; i < 8; i++) {
		CLEANUP(xfreep) char *pci = xasprintf("0000:%02x:00.0", 0x10 + i);

		machine_card_metrics(kept(machine_card(dir, i, pci, "0x1002\n")), 1, 3, &busy);
	}
	o.source.options.v = option;
	o.source.options.nr = 1;
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	unsetenv("PROFRIG_SYSFS_ROOT");
	begun = clock_monotonic_ns();
	assert_int_equal(sampling_start(sp, NULL), 0);
	sleep_ms(700);
	early_mb = resident_mb();
	sleep_ms(1300);
	late_mb = resident_mb();
	sampling_stop(sp, &st);
	sampling_summary(sp, 0, 0, &sum);
	sampling_free(sp);
	assert_int_equal(st.rows, 8 * st.ticks);
	assert_int_equal(st.failed, 0);
	assert_true((double)(st.ticks + st.overruns) < ms_since(begun) + 2);
	/* the last of them is on no grid */
	assert_true((double)(st.ticks + st.overruns) >=
		    (double)(sum.last_ns - sum.first_ns) / 1e6 - 1);
	assert_true(late_mb - early_mb < 1);
	/* 2 % on a machine of its own; here it is only no loop that never sleeps */
	assert_true(st.cpu_s < 0.2 * ms_since(begun) / 1e3);
	print_message("p99 tick error %.0f us, %.2f %% of a CPU\n",
		      (double)st.tick_error_p99_ns / 1e3, 100e3 * st.cpu_s / ms_since(begun));
}
