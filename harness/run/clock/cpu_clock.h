/*
 * cpu_clock: the mean clock of the processors while a workload runs. A frequency read before and
 * after says nothing of it, so it is counted, or sampled meanwhile.
 *
 *	c = cpu_clock_new(root, descendants, NULL)	before the workload's first ancestor is
 *					started; NULL: nothing tells the clock here
 *	cpu_clock_begin(c, now_ns)	the workload starts
 *	cpu_clock_poll(c, now_ns)	from time to time while it runs; reads twice a second
 *	hz = cpu_clock_end(c)		it is over; NaN: unknown
 *	cpu_clock_source(c)		where it comes from; a literal
 *	cpu_clock_free(c)		NULL is fine
 *
 * The first source that works:
 *
 *	aperf/mperf	Two registers of each processor that count while it is awake: at its clock,
 *			and at that of the time stamp counter. The mean is Σ APERF / Σ MPERF times
 *			the rate of the time stamp counter (measured meanwhile), so each processor
 *			counts by its time awake, whatever ran there. Through /dev/cpu/<n>/msr
 *			(root, module msr), else through the events aperf, mperf and tsc of perf's
 *			PMU `msr` (CAP_PERFMON, or perf_event_paranoid 0 or less). They are read
 *			twice, and cost the workload nothing.
 *	cycles		perf's cycles of this process's descendants over the time in which they were
 *			counted; where perf_event_paranoid is 1 or less and a counter is there.
 *			`descendants` false: the workload is none (docker starts it), so this is out
 *	scaling_cur_freq
 *			of each processor that was busy since the last reading (/proc/stat), by
 *			how long it was; below /sys/devices/system/cpu/cpu<n>/cpufreq
 *
 * Virtual machines mostly have none of them; then the clock is not known. The frequency in
 * /proc/cpuinfo is no source: it is often the nominal one.
 *
 * root: "" of the machine, else a folder that stands for it. Sources: Intel, Software developer's
 * manual, volume 3, 15.2 (hardware coordination feedback: IA32_MPERF E7H, IA32_APERF E8H); the
 * kernel's Documentation/admin-guide/pm/cpufreq.rst. One thread.
 */
#ifndef CPU_CLOCK_H
#define CPU_CLOCK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CPU_CLOCK_POLL_NS INT64_C(500000000)

/* What the kernel is asked; tests have their own. */
struct cpu_clock_ops {
	/* A register of a processor: 0, or -errno. */
	int (*msr)(const char *root, unsigned cpu, uint32_t number, uint64_t *ret);
	/* perf_event_open, without a group: a descriptor, or -errno. */
	int (*perf)(struct perf_event_attr *attr, pid_t pid, int cpu);
};

struct cpu_clock;
/* ops NULL: the kernel's. */
struct cpu_clock *cpu_clock_new(const char *root, bool descendants,
				const struct cpu_clock_ops *ops);
void cpu_clock_free(struct cpu_clock *c);
const char *cpu_clock_source(const struct cpu_clock *c);
void cpu_clock_begin(struct cpu_clock *c, int64_t now_ns);
void cpu_clock_poll(struct cpu_clock *c, int64_t now_ns);
double cpu_clock_end(struct cpu_clock *c);

#endif
