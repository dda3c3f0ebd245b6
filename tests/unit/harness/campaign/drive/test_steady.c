/* Cool-downs and throttling, in a tree of files that stands for the kernel's. */
#include "steady.h"
#include "test.h"

#include <math.h>
#include <sys/stat.h>

#define ZONE "sys/class/thermal/thermal_zone0/temp"
#define CHIP "sys/class/hwmon/hwmon3/"
#define RAPL "sys/class/powercap/intel-rapl:0/"
#define S INT64_C(1000000000)

static const struct steady_rule rule = { 3, 0.05, 60 };

static void number_put(const char *dir, const char *name, double v)
{
	test_put(dir, name, textf("%.0f\n", v));
}

/* Another second: the package has used so many J since the last one. */
static enum steady_state second(struct steady *s, const char *dir, int64_t *now, double c, double w)
{
	static double uj = 1e6;

	number_put(dir, ZONE, c * 1e3);
	uj += isnan(w) ? 0 : w * 1e6;
	if (!isnan(w))
		number_put(dir, RAPL "energy_uj", uj);
	*now += S;
	return steady_poll(s, *now);
}

static void package_put(const char *dir)
{
	test_put(dir, RAPL "name", "package-0\n");
	test_put(dir, RAPL "max_energy_range_uj", "262143328850\n");
	number_put(dir, RAPL "energy_uj", 1e6);
}

TEST_IN(a_pause_ends_after_five_good_seconds, dir)
{
	int64_t now = 100 * S;
	struct steady_reading idle = { 40, NAN, NAN };
	struct steady *s;

	number_put(dir, ZONE, 40e3);
	s = steady_new(dir, &rule, now);
	assert_true(steady_learn(s, now));
	assert_true(steady_idle(s).temperature_c == 40 && isnan(steady_idle(s).power_w));
	steady_set_idle(s, &idle);
	steady_begin(s, now);
	/* falls by 1 K each second from 50: at 43 the five seconds begin */
	for (int c = 50; c > 43; c--)
		assert_int_equal(second(s, dir, &now, c, NAN), STEADY_WAITS);
	for (int i = 0; i < 5; i++)
		assert_int_equal(second(s, dir, &now, 43, NAN), STEADY_WAITS);
	assert_int_equal(second(s, dir, &now, 42, NAN), STEADY_REACHED);
	/* and it stays so until the next run */
	assert_int_equal(second(s, dir, &now, 90, NAN), STEADY_REACHED);
	steady_begin(s, now);
	assert_int_equal(second(s, dir, &now, 41, NAN), STEADY_WAITS);
	steady_free(s);
}

TEST_IN(one_warm_second_begins_the_five_again, dir)
{
	int64_t now = 0;
	struct steady *s;

	number_put(dir, ZONE, 40e3);
	s = steady_new(dir, &rule, now);
	steady_learn(s, now);
	steady_begin(s, now);
	for (int i = 0; i < 5; i++)
		assert_int_equal(second(s, dir, &now, 40, NAN), STEADY_WAITS);
	assert_int_equal(second(s, dir, &now, 43.5, NAN), STEADY_WAITS);
	for (int i = 0; i < 5; i++)
		assert_int_equal(second(s, dir, &now, 40, NAN), STEADY_WAITS);
	assert_int_equal(second(s, dir, &now, 40, NAN), STEADY_REACHED);
	steady_free(s);
}

TEST_IN(power_counts_too, dir)
{
	int64_t now = 5 * S;
	struct steady *s;
	char words[100];

	number_put(dir, ZONE, 40e3);
	package_put(dir);
	/* parts and second counts of the package are none */
	test_put(dir, "sys/class/powercap/intel-rapl:0:0/name", "core\n");
	test_put(dir, "sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
	test_put(dir, "sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
	test_put(dir, "sys/class/powercap/intel-rapl-mmio:0/energy_uj", "5\n");
	s = steady_new(dir, &rule, now);
	assert_true(steady_looks_at(s, words, sizeof(words)));
	assert_string_equal(words, "1 temperature and the power of 1 package");
	/* power is a difference: not before a second is over */
	assert_false(steady_learn(s, now));
	assert_true(steady_next_ns(s) == now + S);
	number_put(dir, RAPL "energy_uj", 21e6);
	assert_true(steady_learn(s, now += S));
	assert_true(fabs(steady_idle(s).power_w - 20) < 1e-9);
	steady_begin(s, now);
	second(s, dir, &now, 40, 20); /* the helper's counter is another one: any difference */
	for (int i = 0; i < 10; i++)
		assert_int_equal(second(s, dir, &now, 40, 21.5), STEADY_WAITS);
	for (int i = 0; i < 5; i++)
		assert_int_equal(second(s, dir, &now, 40, 20.9), STEADY_WAITS);
	assert_int_equal(second(s, dir, &now, 40, 20.9), STEADY_REACHED);
	assert_true(fabs(steady_now(s).power_w - 20.9) < 1e-6);
	steady_free(s);
}

TEST_IN(a_counter_that_wraps, dir)
{
	int64_t now = 0;
	struct steady *s;

	package_put(dir);
	number_put(dir, RAPL "energy_uj", 262143328850 - 4e6);
	s = steady_new(dir, &rule, now);
	number_put(dir, RAPL "energy_uj", 6e6);
	assert_true(steady_learn(s, now += S));
	assert_true(fabs(steady_idle(s).power_w - 10) < 1e-6);
	assert_true(isnan(steady_idle(s).temperature_c));
	/* one that began again is not known, and so not steady */
	steady_begin(s, now);
	number_put(dir, RAPL "energy_uj", 1);
	assert_int_equal(steady_poll(s, now += S), STEADY_WAITS);
	assert_true(isnan(steady_now(s).power_w));
	steady_free(s);
}

TEST_IN(the_limit, dir)
{
	int64_t now = 0;
	struct steady *s;

	number_put(dir, ZONE, 40e3);
	s = steady_new(dir, &rule, now);
	steady_learn(s, now);
	steady_begin(s, now);
	for (int i = 1; i < 60; i++)
		assert_int_equal(second(s, dir, &now, 70, NAN), STEADY_WAITS);
	assert_int_equal(second(s, dir, &now, 70, NAN), STEADY_LIMIT);
	assert_true(steady_now(s).temperature_c == 70);
	/* what was read before and is gone is not steady either */
	steady_begin(s, now);
	assert_int_equal(unlink(in_dir(dir, ZONE)), 0);
	for (int i = 1; i < 60; i++)
		assert_int_equal(steady_poll(s, now += S), STEADY_WAITS);
	assert_int_equal(steady_poll(s, now += S), STEADY_LIMIT);
	assert_true(isnan(steady_now(s).temperature_c));
	steady_free(s);
}

TEST_IN(polls_that_come_early_read_nothing, dir)
{
	int64_t now = 0;
	struct steady *s;

	number_put(dir, ZONE, 40e3);
	s = steady_new(dir, &rule, now);
	steady_learn(s, now);
	steady_begin(s, now);
	for (int i = 0; i < 100; i++)
		assert_int_equal(steady_poll(s, now += S / 200), STEADY_WAITS);
	assert_true(isnan(steady_now(s).temperature_c));
	assert_int_equal(steady_poll(s, S), STEADY_WAITS);
	assert_true(steady_now(s).temperature_c == 40);
	steady_free(s);
}

TEST_IN(the_hottest_of_what_can_be_read_counts, dir)
{
	struct steady *s;
	char words[100];

	number_put(dir, ZONE, 40e3);
	number_put(dir, CHIP "temp1_input", 55e3);
	number_put(dir, CHIP "temp12_input", 47e3);
	/* no readings */
	number_put(dir, CHIP "temp2_input", 127500);
	number_put(dir, CHIP "temp3_input", -128e3);
	test_put(dir, CHIP "temp4_input", "hot\n");
	test_put(dir, CHIP "temp5_input", "");
	test_put(dir, CHIP "temp6_input", "nan\n");
	test_put(dir, CHIP "temp7_input", textf("%0200d\n", 60000));
	assert_int_equal(mkfifo(in_dir(dir, CHIP "temp8_input"), 0644), 0);
	assert_int_equal(mkdir(in_dir(dir, CHIP "temp9_input"), 0755), 0);
	/* no sensors */
	number_put(dir, CHIP "temp1_max", 99e3);
	number_put(dir, CHIP "temp_input", 99e3);
	number_put(dir, CHIP "in1_input", 99e3);
	number_put(dir, "sys/class/thermal/cooling_device0/temp", 99e3);
	s = steady_new(dir, &rule, 0);
	assert_true(steady_looks_at(s, words, sizeof(words)));
	assert_string_equal(words, "3 temperatures");
	assert_true(steady_learn(s, 0));
	assert_true(steady_idle(s).temperature_c == 55);
	steady_free(s);
}

TEST_IN(nothing_to_look_at, dir)
{
	const struct steady_reading was = { 40, 10, 70 };
	struct steady_reading idle;
	struct steady *s = steady_new(dir, &rule, 0);
	char words[100] = "?";

	assert_false(steady_looks_at(s, words, sizeof(words)));
	assert_string_equal(words, "");
	assert_true(steady_learn(s, 0));
	/* of an earlier process, that could read */
	steady_set_idle(s, &was);
	idle = steady_idle(s);
	assert_true(isnan(idle.temperature_c) && isnan(idle.power_w) && isnan(idle.gpu_power_w));
	steady_words(&idle, words, sizeof(words));
	assert_string_equal(words, "");
	steady_words(&was, words, sizeof(words));
	assert_string_equal(words, "40.0 °C and 10.0 W and 70.0 W of GPUs");
	steady_free(s);
	steady_free(NULL);
}

/* Two GPUs: the first one's temperature and mW; the other has no temperature, and 75.5 W. */
static void gpu_put(const char *dir, int c, int mw)
{
	test_put(dir, "gpu", textf("%d %d 1980\n", c, mw));
}

static struct steady *gpus_new(const char *dir, const char *library)
{
	setenv("PROFRIG_SYSFS_ROOT", dir, 1);
	setenv("PROFRIG_NVML_LIB", library, 1);
	setenv("FAKE_NVML_NOW", in_dir(dir, "gpu"), 1);
	return steady_new(dir, &rule, 0);
}

static void gpus_over(struct steady *s)
{
	steady_free(s);
	unsetenv("FAKE_NVML_NOW");
	unsetenv("FAKE_NVML_COUNT");
	unsetenv("PROFRIG_NVML_LIB");
	unsetenv("PROFRIG_SYSFS_ROOT");
}

static enum steady_state gpu_second(struct steady *s, const char *dir, int64_t *now, int c, int mw)
{
	gpu_put(dir, c, mw);
	return steady_poll(s, *now += S);
}

TEST_IN(gpus_count_too, dir)
{
	struct steady *s;
	char words[120];
	int64_t now = 0;

	gpu_put(dir, 35, 60000);
	number_put(dir, ZONE, 30e3);
	s = gpus_new(dir, kept(build_path("tests/fakes/fake_nvml.so")));
	assert_true(steady_looks_at(s, words, sizeof(words)));
	assert_string_equal(words, "2 temperatures and the power of 2 GPUs");
	/* the driver's power is one of the second before */
	assert_false(steady_learn(s, now));
	assert_true(steady_learn(s, now += S));
	assert_true(steady_idle(s).temperature_c == 35 && isnan(steady_idle(s).power_w));
	assert_true(fabs(steady_idle(s).gpu_power_w - 135.5) < 1e-9);
	for (int pause = 0; pause < 2; pause++) {
		steady_begin(s, now);
		for (int i = 0; i < 6; i++)
			assert_int_equal(gpu_second(s, dir, &now, 39, 60000), STEADY_WAITS);
		for (int i = 0; i < 6; i++)
			assert_int_equal(gpu_second(s, dir, &now, 36, 66800), STEADY_WAITS);
		for (int i = 0; i < 5; i++)
			assert_int_equal(gpu_second(s, dir, &now, 38, 66700), STEADY_WAITS);
		assert_int_equal(gpu_second(s, dir, &now, 38, 66700), STEADY_REACHED);
	}
	gpus_over(s);
}

TEST_IN(a_gpu_that_goes_away_is_not_cool, dir)
{
	struct steady *s;
	int64_t now = 0;

	gpu_put(dir, 35, 60000);
	number_put(dir, ZONE, 30e3);
	setenv("FAKE_NVML_COUNT", "1", 1);
	s = gpus_new(dir, kept(build_path("tests/fakes/fake_nvml.so")));
	steady_learn(s, now += S);
	setenv("PROFRIG_NVML_LIB", in_dir(dir, "none"), 1);
	steady_begin(s, now);
	for (int i = 1; i < 60; i++)
		assert_int_equal(gpu_second(s, dir, &now, 35, 60000), STEADY_WAITS);
	assert_int_equal(gpu_second(s, dir, &now, 35, 60000), STEADY_LIMIT);
	assert_true(isnan(steady_now(s).temperature_c) && isnan(steady_now(s).gpu_power_w));
	gpus_over(s);
}

static void count_put(const char *dir, const char *cpu, const char *count)
{
	test_put(dir,
		 textf("sys/devices/system/cpu/%s/thermal_throttle/package_throttle_count", cpu),
		 count);
}

TEST_IN(throttling, dir)
{
	static const struct {
		const char *cpu, *before, *after;
	} rows[] = {
		{ "cpu0", "5\n", "8\n" },     { "cpu1", "5\n", "9\n" },  { "cpu10", "0\n", "0\n" },
		{ "cpu2", "900\n", "3\n" },   { "cpu3", "x\n", "50\n" }, { "cpu4", "7\n", "-1\n" },
		{ "cpufreq", "1\n", "90\n" },
	};
	struct throttle *none = throttle_read(dir), *before, *after;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		count_put(dir, rows[i].cpu, rows[i].before);
	before = throttle_read(dir);
	assert_int_equal(throttle_between(before, before), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		count_put(dir, rows[i].cpu, rows[i].after);
	count_put(dir, "cpu5", "77\n"); /* came meanwhile */
	after = throttle_read(dir);
	assert_int_equal(throttle_between(before, after), 4);
	assert_int_equal(throttle_between(after, before), 897);
	assert_int_equal(throttle_between(none, after), 0);
	assert_int_equal(throttle_between(before, none), 0);
	throttle_free(none);
	throttle_free(before);
	throttle_free(after);
}
