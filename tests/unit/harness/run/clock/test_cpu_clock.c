/* The mean clock of processors: counters that stand for the kernel's, and files for its sysfs. */
#include "cpu_clock.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>

#include "profrig/base/clock.h"

#define S INT64_C(1000000000)
#define CPUS 4
#define TICKS UINT64_C(40000000) /* of the time stamp counter in each run */

enum { TSC = 0x10, MPERF = 0xe7, APERF = 0xe8 };

/* The registers of a machine that a test makes. */
static struct {
	bool msr;  /* they can be read */
	bool task; /* cycles of this process can be */
	uint64_t aperf[CPUS], mperf[CPUS];
	uint64_t tsc;
	uint64_t cycles[3]; /* with the times in which they were counted */
	const char *dir;    /* of the events' files */
	int events;         /* that were opened */
} fake;

static int fake_msr(const char *root, unsigned cpu, uint32_t number, uint64_t *ret)
{
	(void)root;
	if (!fake.msr || cpu >= CPUS)
		return -ENOENT;
	*ret = number == TSC ? fake.tsc : number == MPERF ? fake.mperf[cpu] : fake.aperf[cpu];
	return 0;
}

static const char *event_path(uint64_t config, int cpu)
{
	return textf("%s/event-%d-%d", fake.dir, (int)config, cpu);
}

static void event_put(uint64_t config, int cpu, const uint64_t v[3])
{
	int fd = open(event_path(config, cpu), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(write(fd, v, 3 * sizeof(*v)), 3 * sizeof(*v));
	close(fd);
}

static int fake_perf(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	if (attr->type == PERF_TYPE_HARDWARE && (!fake.task || pid != 0 || !attr->inherit))
		return -EACCES;
	if (attr->type != PERF_TYPE_HARDWARE && (attr->type != 9 || pid != -1 || cpu == 2))
		return cpu == 2 ? -ENODEV : -EACCES;
	fd = open(event_path(attr->config, cpu), O_RDONLY | O_CLOEXEC);
	fake.events += fd >= 0;
	return fd < 0 ? -errno : fd;
}

static const struct cpu_clock_ops ops = { fake_msr, fake_perf };

static void cpu_put(const char *dir, int cpu, int khz)
{
	test_put(dir, textf("sys/devices/system/cpu/cpu%d/online", cpu), "1\n");
	if (khz)
		test_put(dir, textf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu),
			 textf("%d\n", khz));
}

static void machine_put(const char *dir)
{
	memset(&fake, 0, sizeof(fake));
	fake.dir = dir;
	fake.tsc = 1000;
	for (int i = 0; i < CPUS; i++) {
		cpu_put(dir, i, 0);
		fake.aperf[i] = fake.mperf[i] = 1000;
	}
	test_put(dir, "sys/devices/system/cpu/cpufreq/x", "");
	test_put(dir, "sys/devices/system/cpu/cpuidle/x", "");
}

/* Of the events as they are now. */
static void events_put(void)
{
	for (int i = 0; i < CPUS; i++) {
		event_put(0, i, (uint64_t[3]){ fake.tsc, 1, 1 });
		event_put(1, i, (uint64_t[3]){ fake.aperf[i], 1, 1 });
		event_put(2, i, (uint64_t[3]){ fake.mperf[i], 1, 1 });
	}
}

static void pmu_put(const char *dir)
{
	const char *of = "sys/bus/event_source/devices/msr";

	test_put(dir, textf("%s/type", of), "9\n");
	test_put(dir, textf("%s/events/tsc", of), "event=0x00\n");
	test_put(dir, textf("%s/events/aperf", of), "event=0x01\n");
	test_put(dir, textf("%s/events/mperf", of), "event=0x02\n");
}

/* The first was awake three times as long as the second, at 1.5 and 0.5 times the rate. */
static void work_do(void)
{
	fake.mperf[0] += 3000000;
	fake.aperf[0] += 4500000;
	fake.mperf[1] += 1000000;
	fake.aperf[1] += 500000;
	/* one that was off began again, and is left out */
	fake.mperf[3] /= 2;
	fake.aperf[3] *= 2;
}

/*
 * A run of these: the time stamp counter moves by TICKS, in a time between what is measured inside
 * and around it.
 */
static void work_measured(struct cpu_clock *c)
{
	int64_t outer = clock_monotonic_ns(), inner;
	double hz;

	cpu_clock_begin(c, 0);
	inner = clock_monotonic_ns();
	usleep(20000);
	work_do();
	fake.tsc += TICKS;
	if (fake.events)
		events_put();
	inner = clock_monotonic_ns() - inner;
	hz = cpu_clock_end(c);
	outer = clock_monotonic_ns() - outer;
	assert_true(hz >= (double)TICKS * 1e9 / (double)outer * 5 / 4 &&
		    hz <= (double)TICKS * 1e9 / (double)inner * 5 / 4);
}

static void is_near(double hz, double want)
{
	if (!(fabs(hz / want - 1) < 0.01))
		fail_msg("%g Hz, not %g", hz, want);
}

TEST_IN(registers, dir)
{
	struct cpu_clock *c;

	machine_put(dir);
	fake.msr = true;
	c = cpu_clock_new(dir, true, &ops);
	assert_string_equal(cpu_clock_source(c), "aperf/mperf");
	work_measured(c);
	work_measured(c);
	/* no one was awake */
	cpu_clock_begin(c, 0);
	usleep(1000);
	assert_true(isnan(cpu_clock_end(c)));
	cpu_clock_free(c);
}

TEST_IN(events_of_the_pmu, dir)
{
	struct cpu_clock *c;

	machine_put(dir);
	/* as on a machine whose PMU lacks the two */
	pmu_put(dir);
	assert_int_equal(unlink(in_dir(dir, "sys/bus/event_source/devices/msr/events/aperf")), 0);
	assert_null(cpu_clock_new(dir, true, &ops));
	pmu_put(dir);
	assert_null(cpu_clock_new(dir, true, &ops));
	events_put();
	c = cpu_clock_new(dir, true, &ops);
	assert_non_null(c);
	assert_string_equal(cpu_clock_source(c), "aperf/mperf");
	/* the third processor is off */
	assert_int_equal(fake.events, 3 * 2 + 1);
	work_measured(c);
	cpu_clock_free(c);
}

TEST_IN(cycles_of_descendants, dir)
{
	struct cpu_clock *c;

	machine_put(dir);
	fake.task = true;
	event_put(0, -1, (uint64_t[3]){ 5000, 900, 500 });
	assert_null(cpu_clock_new(dir, false, &ops));
	c = cpu_clock_new(dir, true, &ops);
	assert_non_null(c);
	assert_string_equal(cpu_clock_source(c), "cycles");
	cpu_clock_begin(c, 0);
	/* counted in a half of the time alone, as other events want the counter */
	event_put(0, -1, (uint64_t[3]){ 5000 + 2600, 900 + 2000, 500 + 1000 });
	is_near(cpu_clock_end(c), 2.6e9);
	/* never counted */
	cpu_clock_begin(c, 0);
	assert_true(isnan(cpu_clock_end(c)));
	cpu_clock_free(c);
}

static void stat_put(const char *dir, int a, int b, int c)
{
	test_put(dir, "proc/stat",
		 textf("cpu  1 1 1 1\ncpu0 %d 0 0 77 9 0 0 0\ncpu1 0 0 %d 500 0 0 0 0\n"
		       "cpu2 0 %d 0 0 0 0 0 0\nintr 5 6\ncpux 5\n",
		       a, b, c));
}

TEST_IN(frequencies_by_the_time_of_work, dir)
{
	struct cpu_clock *c;
	int64_t now = 50 * S;

	machine_put(dir);
	assert_null(cpu_clock_new(dir, true, &ops));
	cpu_put(dir, 0, 3000000);
	cpu_put(dir, 1, 1000000);
	stat_put(dir, 1000, 2000, 3000);
	c = cpu_clock_new(dir, true, &ops);
	assert_string_equal(cpu_clock_source(c), "scaling_cur_freq");
	cpu_clock_begin(c, now);
	/* no work, and the third has no frequency */
	stat_put(dir, 1000, 2000, 9000);
	cpu_clock_poll(c, now += S / 10);
	cpu_clock_poll(c, now += S / 2);
	/* 30 ticks at 3 GHz */
	stat_put(dir, 1030, 2000, 9000);
	cpu_clock_poll(c, now += S / 2);
	/* 5 at 2 GHz, 15 at 1 GHz: not looked at, as it comes too early */
	cpu_put(dir, 0, 2000000);
	stat_put(dir, 1035, 2015, 9000);
	cpu_clock_poll(c, now += S / 10);
	cpu_put(dir, 0, 2000000);
	/* at the end it is */
	is_near(cpu_clock_end(c), (30 * 3e9 + 5 * 2e9 + 15 * 1e9) / 50);
	cpu_clock_poll(c, now += S);
	/* nothing but idling */
	cpu_clock_begin(c, now);
	assert_true(isnan(cpu_clock_end(c)));
	cpu_clock_free(c);
}

TEST_IN(files_that_say_nothing, dir)
{
	machine_put(dir);
	test_put(dir, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
	test_put(dir, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "0\n");
	test_put(dir, "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "");
	test_put(dir, "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", textf("%0100d\n", 5));
	assert_null(cpu_clock_new(dir, true, &ops));
	assert_null(cpu_clock_new(in_dir(dir, "none"), true, &ops));
	cpu_clock_free(NULL);
}

/* This machine's: whatever it is, it is a clock. */
TEST(the_machine)
{
	struct cpu_clock *c = cpu_clock_new("", true, NULL);
	volatile uint64_t sum = 0;
	double hz;

	if (!c)
		skip();
	cpu_clock_begin(c, clock_monotonic_ns());
	for (uint64_t i = 0; i < 200000000; i++)
		sum += i;
	hz = cpu_clock_end(c);
	print_message("%s: %.0f MHz\n", cpu_clock_source(c), hz / 1e6);
	assert_true(hz > 1e8 && hz < 1e10);
	cpu_clock_free(c);
}
