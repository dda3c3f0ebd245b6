/*
 * steady: whether this machine is as it was before a campaign's first run: as cool, drawing as
 * little power; and how often its processor was throttled.
 *
 *	struct steady *s = steady_new(devices_root(), &rule, now_ns);
 *	steady_looks_at(s, words, sizeof(words))	false: there is nothing to look at
 *	steady_learn(s, now_ns)		until true; then steady_idle(s) is what was measured,
 *					or steady_set_idle(s, &idle) has that of an earlier process
 *	steady_begin(s, now_ns)		when a run has ended
 *	steady_poll(s, now_ns)		until it is not STEADY_WAITS
 *	steady_free(s)			NULL is fine
 *
 * Nothing sleeps: the caller's loop comes once in STEADY_POLL_NS, and only while it has something
 * to wait for; a call that comes earlier reads nothing. now_ns is CLOCK_MONOTONIC, and only its
 * differences count.
 *
 * A pause ends when the hottest sensor is at most `temperature_k` above what the hottest one was,
 * and the power of packages and that of GPUs at most `power` (0.05: 5 %) above what they were, all
 * in each reading of STEADY_HOLD_NS; or `limit_s` after steady_begin. What could be read before and
 * cannot be now is not steady.
 *
 * Below `root` ("": of the machine):
 *
 *	/sys/class/thermal/thermal_zone<n>/temp, /sys/class/hwmon/<x>/temp<n>_input
 *		millidegrees Celsius. A text that is no number, and what is not between -40 and
 *		125 °C (an input without a sensor), is no reading.
 *	/sys/class/powercap/intel-rapl:<n>/energy_uj	µJ of a package (its name begins so), AMD's
 *		processors too; it wraps at max_energy_range_uj. Since CVE-2020-8694 root alone
 *		reads it: for others temperature decides alone. Power is the difference between
 *		two polls.
 *	/sys/devices/system/cpu/cpu<n>/thermal_throttle/package_throttle_count
 *		how often the package was slowed down because of its heat, since boot. Intel's
 *		alone.
 *
 * GPUs, where `root` is that of the machine ("" or $PROFRIG_SYSFS_ROOT): NVIDIA's temperature, and
 * the power of NVIDIA's and AMD's (steady_gpus.h); AMD's temperature is among hwmon's. One thread.
 */
#ifndef STEADY_H
#define STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEADY_POLL_NS INT64_C(1000000000)
#define STEADY_HOLD_NS INT64_C(5000000000)

struct steady_rule {
	double temperature_k; /* 3 */
	double power;         /* 0.05 */
	double limit_s;       /* 300 */
};

/* NaN: not known, and so nothing that is waited for. */
struct steady_reading {
	double temperature_c; /* of the hottest sensor */
	double power_w;       /* all packages */
	double gpu_power_w;   /* all GPUs */
};

enum steady_state { STEADY_WAITS, STEADY_REACHED, STEADY_LIMIT };

struct steady;
struct steady *steady_new(const char *root, const struct steady_rule *rule, int64_t now_ns);
void steady_free(struct steady *s);

/* "5 temperatures and the power of 1 package"; false: nothing can be read. */
bool steady_looks_at(const struct steady *s, char *ret, size_t n);

/* True once the idle machine is known; takes one second where there is power. */
bool steady_learn(struct steady *s, int64_t now_ns);
struct steady_reading steady_idle(const struct steady *s);
void steady_set_idle(struct steady *s, const struct steady_reading *idle);

void steady_begin(struct steady *s, int64_t now_ns);
enum steady_state steady_poll(struct steady *s, int64_t now_ns);
/* The last reading: why a pause lasts. */
struct steady_reading steady_now(const struct steady *s);
/* When the next poll reads. */
int64_t steady_next_ns(const struct steady *s);
/* "61.0 °C and 48.2 W"; "" nothing is known. */
void steady_words(const struct steady_reading *r, char *ret, size_t n);

/* Counts of all processors at one moment. */
struct throttle;
struct throttle *throttle_read(const char *root);
void throttle_free(struct throttle *t);
/*
 * How often it was throttled between them: of the processors' differences the largest one, as the
 * processors of a package count the same events. Those that are in one of both alone, or went
 * backwards, say nothing. 0: not at all, or the kernel does not count.
 */
uint64_t throttle_between(const struct throttle *before, const struct throttle *after);

#endif
