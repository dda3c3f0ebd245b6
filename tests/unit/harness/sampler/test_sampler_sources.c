/*
 * The sources that need no GPU and no workload: estimate against /proc/stat, rapl against a folder;
 * and what all sources share.
 */
#include "sampler_test.h"
#include "samplers_private.h"
#include "tests/fakes/machine.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* --- estimate --- */

TEST(estimate_options)
{
	static const char *const bad[][2] = { { "idle_w", "-1" },   { "idle_w", "ten" },
					      { "max_w", "nan" },   { "max_w", "inf" },
					      { "max_w", "1e9" },   { "max_w", "" },
					      { "idle_w", "65.5" }, { "max_w", "9.9" } };
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		sampler_options(&o, "all", 0.01, bad[i][0], bad[i][1], NULL);
		if (source_open("estimate", &o, &s, &err) != -EINVAL)
			ROW_FAIL(i, "%s=%s was taken", bad[i][0], bad[i][1]);
		assert_has(err.msg, bad[i][0]);
		assert_int_equal(sampler_probe(sampler_find("estimate"), &o, &err), -EINVAL);
		options_release(&o);
	}
	assert_true(sampler_find("estimate")->estimated);
	assert_int_equal(sampler_probe(sampler_find("estimate"), NULL, &err), 0);
}

/* Busy and all ticks of all CPUs, by the words of proc(5). */
static void ticks(double *busy, double *all)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512], *p;

	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	*busy = *all = 0;
	p = line + 4;
	for (int i = 0; i < 8; i++) {
		double v = strtod(p, &p);

		*all += v;
		/* user nice system idle iowait irq softirq steal */
		*busy += i == 3 || i == 4 || i == 7 ? 0 : v;
	}
}

/*
 * What its power says must be what its energy says, for an interval whose ends are known to lie
 * between two moments each.
 */
static void check_interval(double power_w, double joule, const int64_t from[2], const int64_t to[2])
{
	double least = (double)(to[0] - from[1]) / 1e9, most = (double)(to[1] - from[0]) / 1e9;

	assert_true(power_w >= 100 && power_w <= 300);
	assert_true(joule > power_w * least - 1e-6 && joule < power_w * most + 1e-6);
}

/*
 * Half a second of rows: each by itself, then all of them against /proc/stat; false when the latter
 * is off by a tenth, as it may be when the machine stands still between two reads that belong
 * together.
 */
static bool half_a_second(struct opened *s)
{
	double v[SAMPLER_MAX_SERIES], busy[2], all[2], expected, joule = 0, before;
	int64_t from[2], to[2], begun;

	ticks(&busy[0], &all[0]);
	begun = from[0] = clock_monotonic_ns();
	while (s->s->read(s->st, 0, v, &s->reason) == 1)
		;
	from[1] = clock_monotonic_ns();
	before = joule = v[1];
	for (int rows = 0; rows < 25;) {
		int r;

		sleep_ms(20);
		to[0] = clock_monotonic_ns();
		r = s->s->read(s->st, 0, v, &s->reason);
		to[1] = clock_monotonic_ns();
		if (r == 1)
			continue;
		assert_int_equal(r, 0);
		check_interval(v[0], v[1] - joule, from, to);
		joule = v[1];
		memcpy(from, to, sizeof(from));
		rows++;
	}
	ticks(&busy[1], &all[1]);
	expected = (100 + 200 * (busy[1] - busy[0]) / (all[1] - all[0])) * (double)(to[1] - begun) /
		   1e9;
	return fabs(joule - before - expected) < 0.1 * expected;
}

TEST(estimate_energy)
{
	double v[SAMPLER_MAX_SERIES];
	CLEANUP(options_release) struct sampler_opts o;
	pid_t busy_pid;
	bool good = false;

	sampler_options(&o, "all", 0.01, "idle_w", "100", "max_w", "300", NULL);
	CLEANUP(source_close) struct opened s = source_opened("estimate", &o);
	assert_has(s.dev[0].facts, "100 W idle, 300 W");
	assert_string_equal(s.dev[0].series[0].name, "power.cpu0");
	source_read(&s, 0, v);
	assert_true(v[0] == SAMPLER_ABSENT && v[1] == 0);
	/* something to see */
	busy_pid = fork();
	if (busy_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned i = 0;; i++)
			;
	}
	for (int try = 0; try < 40 && !good; try++)
		good = half_a_second(&s);
	kill(busy_pid, SIGKILL);
	waitpid(busy_pid, NULL, 0);
	assert_true(good);
	/* read again at once: no tick has passed, so there is nothing to say */
	int none = 0;
	for (int i = 0; i < 20; i++)
		none += s.s->read(s.st, 0, v, &s.reason) == 1;
	assert_true(none >= 5);
}

/* --- rapl --- */

static char *root;

static int set_up_root(void **state)
{
	(void)state;
	root = test_dir();
	chmod(root, 0755);
	setenv("PROFRIG_SYSFS_ROOT", root, 1);
	return 0;
}

static int tear_down_root(void **state)
{
	(void)state;
	unsetenv("PROFRIG_SYSFS_ROOT");
	fs_remove_tree(root, NULL);
	free(root);
	return 0;
}

static void zone(const char *entry, const char *name, const char *uj, const char *range)
{
	machine_text(root, name, "sys/class/powercap/%s/name", entry);
	machine_text(root, uj, "sys/class/powercap/%s/energy_uj", entry);
	if (range)
		machine_text(root, range, "sys/class/powercap/%s/max_energy_range_uj", entry);
}

static void set_energy(const char *entry, const char *uj)
{
	machine_text(root, uj, "sys/class/powercap/%s/energy_uj", entry);
}

TEST_WITH(rapl_zones, set_up_root, tear_down_root)
{
	struct sampler_opts o;
	struct opened s;

	machine_text(root, "1\n", "sys/class/powercap/intel-rapl/enabled");
	zone("intel-rapl:0", "package-0\n", "5000000\n", "262143328850\n");
	zone("intel-rapl:0:0", "core\n", "1000000\n", "262143328850\n");
	zone("intel-rapl:0:1", "dram\n", "2000000\n", "65712999613\n");
	zone("intel-rapl:1", "package-1\n", "7000000\n", "262143328850\n");
	zone("intel-rapl:2", "psys\n", "9000000\n", "262143328850\n");
	zone("intel-rapl-mmio:0", "package-0\n", "5000000\n", "262143328850\n");
	/* what may be added up */
	assert_int_equal(source_open("rapl", NULL, &s, NULL), 0);
	assert_int_equal(s.nr, 3);
	assert_string_equal(s.dev[0].series[0].name, "energy.pkg0");
	assert_string_equal(s.dev[0].series[0].unit, "J");
	assert_string_equal(s.dev[1].series[0].name, "energy.dram0");
	assert_string_equal(s.dev[2].series[0].name, "energy.pkg1");
	assert_has(s.dev[1].facts, "intel-rapl:0:1 (dram)");
	assert_true(source_value(&s, 0, "energy") == 5);
	assert_true(source_value(&s, 2, "energy") == 7);
	set_energy("intel-rapl:0", "5500001\n");
	assert_true(fabs(source_value(&s, 0, "energy") - 5.500001) < 1e-12);
	source_close(&s);
	sampler_options(&o, "0,3", 0.1, NULL);
	assert_int_equal(source_open("rapl", &o, &s, NULL), -ENODEV);
	options_release(&o);
	sampler_options(&o, "0", 0.1, "zones", "all", NULL);
	assert_int_equal(source_open("rapl", &o, &s, NULL), 0);
	assert_int_equal(s.nr, 3); /* package, core, dram of package 0 */
	source_close(&s);
	options_release(&o);
	sampler_options(&o, "all", 0.1, "zones", "psys", NULL);
	assert_int_equal(source_open("rapl", &o, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.dev[0].id, "psys2");
	source_close(&s);
	options_release(&o);
}

TEST_WITH(rapl_wrap_and_reset, set_up_root, tear_down_root)
{
	zone("intel-rapl:0", "package-0\n", "4294967000\n", "4294967295\n");
	zone("intel-rapl:1", "package-1\n", "4294967000\n", NULL);
	zone("intel-rapl:2", "package-2\n", "10000000\n", "262143328850000\n");
	CLEANUP(source_close) struct opened s = source_opened("rapl", NULL);
	assert_true(fabs(source_value(&s, 0, "energy") - 4294.967) < 1e-9);
	sleep_ms(2);
	set_energy("intel-rapl:0", "705\n"); /* 1000 µJ later */
	set_energy("intel-rapl:1", "705\n");
	assert_true(fabs(source_value(&s, 0, "energy") - 4294.968) < 1e-9);
	/* no declared range: handed on, and analysis sees the step */
	assert_true(fabs(source_value(&s, 1, "energy") - 705e-6) < 1e-12);
	/* again, so the ranges add up */
	set_energy("intel-rapl:0", "4294967294\n");
	source_value(&s, 0, "energy");
	sleep_ms(2);
	set_energy("intel-rapl:0", "4\n");
	assert_true(fabs(source_value(&s, 0, "energy") - (2 * 4294.967295 + 4e-6)) < 1e-9);
	/* no CPU takes 262 MJ within minutes: the counter was set back */
	set_energy("intel-rapl:2", "100\n");
	assert_true(fabs(source_value(&s, 2, "energy") - 100e-6) < 1e-12);
}

TEST_WITH(rapl_unreadable, set_up_root, tear_down_root)
{
	static const char *const bad[] = { "",     "\n",      "nan\n", "inf\n",
					   "0x12", "12 34\n", "1e",    "half\n" };
	struct opened s;
	struct err err = ERR_INIT;
	double v[SAMPLER_MAX_SERIES];

	assert_int_equal(source_open("rapl", NULL, &s, &err), -ENODEV);
	assert_has(err.msg, "no RAPL zone");
	zone("intel-rapl:0", "package-0\n", "5000000\n", "262143328850\n");
	zone("intel-rapl:1", "package-1\n", "inf\n", "262143328850\n");
	assert_int_equal(source_open("rapl", NULL, &s, &err), 0);
	assert_int_equal(s.nr, 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		set_energy("intel-rapl:0", bad[i]);
		source_read(&s, 0, v);
		if (!isnan(v[0]) || strcmp(s.reason, "not a number") != 0)
			ROW_FAIL(i, "'%s' read as %g", bad[i], v[0]);
	}
	set_energy("intel-rapl:0", "6000000\n");
	assert_true(source_value(&s, 0, "energy") == 6);
	source_close(&s);
	/* hostile names make no hostile header */
	zone("intel-rapl:0", "pack,age\"[x]\n1,2\n", "5000000\n", NULL);
	CLEANUP(options_release) struct sampler_opts o;
	sampler_options(&o, "0", 0.1, "zones", "all", NULL);
	assert_int_equal(source_open("rapl", &o, &s, &err), 0);
	assert_null(strpbrk(s.dev[0].series[0].name, ",\"[]\n "));
	source_close(&s);
}

TEST_WITH(rapl_not_root, set_up_root, tear_down_root)
{
	struct opened s;
	struct err err = ERR_INIT;
	int r;

	if (geteuid() != 0) {
		print_message("needs root, to stop being it\n");
		skip();
	}
	zone("intel-rapl:0", "package-0\n", "5000000\n", "262143328850\n");
	assert_int_equal(chmod(in_dir(root, "sys/class/powercap/intel-rapl:0/energy_uj"), 0400), 0);
	assert_int_equal(seteuid(65534), 0);
	r = source_open("rapl", NULL, &s, &err);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
	assert_has(err.msg, "root");
}

/* --- what all share --- */

TEST(selection)
{
	static const struct {
		const char *device, *yes, *no;
	} rows[] = LIST({ NULL, "0 1 99", "" }, { "", "0 7", "" }, { "all", "0 63", "" },
			{ "0", "0", "1 10" }, { "1", "1", "0 10 11" }, { "0,2", "0 2", "1 3" },
			{ "gpu1", "1", "0 2" }, { "0-2", "0 1 2", "3" },
			{ "0, 2-4", "0 2 3 4", "1 5" }, { "gpu2-gpu3", "2 3", "1 4" },
			{ "2-", "", "0 2 3" }, { "x", "", "0 1" }, { "1x", "", "1" },
			{ "-1", "", "0 1" }, { ",,3", "", "0 3" }, { "0,x", "0", "1" },
			{ "99999999", "", "0 9" }, { "allx", "", "0" });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (int want = 0; want < 2; want++) {
			CLEANUP(strvec_release) struct strvec v = STRVEC_INIT;

			strvec_split(&v, want ? rows[i].yes : rows[i].no, " ");
			for (size_t k = 0; k < v.nr; k++) {
				uint64_t n;

				assert_int_equal(num_u64(v.v[k], strlen(v.v[k]), &n), 0);
				if (sampler_selects(rows[i].device, (unsigned)n) != want)
					ROW_FAIL(i, "'%s' and %s", rows[i].device, v.v[k]);
			}
		}
	}
}

TEST(fields)
{
	static const struct {
		const char *fields, *name;
		bool yes;
	} rows[] = LIST({ NULL, "power", true }, { "", "power", true }, { "power", "power", true },
			{ "power", "power_instant", true }, { "power_instant", "power", false },
			{ "power,energy", "energy", true }, { "power, energy", "energy", true },
			{ "power,energy", "vram_used", false }, { "vram", "vram_total", true },
			{ "vram_used", "vram_total", false }, { "pow", "power", false },
			{ "powers", "power", false }, { ",", "power", false },
			{ "mem", "mem_busy", true });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (sampler_wants(rows[i].fields, rows[i].name) != rows[i].yes)
			ROW_FAIL(i, "'%s' and %s", rows[i].fields, rows[i].name);
	assert_int_equal(sampler_check_fields("", NULL), 0);
	assert_int_equal(sampler_check_fields("power, vram,mem_clock,mem,", NULL), 0);
	assert_int_equal(sampler_check_fields("pow", NULL), -EINVAL);
	assert_int_equal(sampler_check_fields("power,used", NULL), -EINVAL);
}

TEST(device_series)
{
	struct sampler_device d = { .id = "gpu0" };

	assert_true(sampler_device_add(&d, "a,b\"c[d]\ne", "W\n"));
	assert_string_equal(d.series[0].name, "a_b_c_d__e.gpu0");
	assert_string_equal(d.series[0].unit, "W_");
	assert_false(sampler_device_add(&d, "a_name_that_is_much_too_long_for_one_series_x", "W"));
	assert_false(sampler_device_add(&d, "short", "a_unit_of_16_and_more"));
	for (int i = 1; i < SAMPLER_MAX_SERIES; i++)
		assert_true(sampler_device_add(&d, "x", "W"));
	assert_false(sampler_device_add(&d, "x", "W"));
	assert_int_equal(d.nr, SAMPLER_MAX_SERIES);
}

TEST(registry)
{
	for (size_t i = 0; samplers[i]; i++) {
		assert_ptr_equal(sampler_find(samplers[i]->name), samplers[i]);
		assert_true(samplers[i]->open && samplers[i]->devices && samplers[i]->read &&
			    samplers[i]->close && *samplers[i]->about);
	}
	assert_null(sampler_find("auto"));
	assert_null(sampler_find("proc"));
}
