/*
 * What sampling costs: CPU time of one read of each source, and what the loop and the file add, at
 * 1 kHz; and how well 1 kHz is kept for eight devices of three series each: how far ticks were from
 * their time, how many were left out, what it took of a CPU, whether memory grew. Beside that, what
 * a thread costs that wakes up 1000 times a second and does nothing, in clock_nanosleep and on a
 * metronome: what the kernel and the machine, a virtual one above all, take for themselves. Such
 * figures change with what else the machine's host does: medians of ROUNDS, in which all take
 * turns, decide.
 *
 * Each takes argv[1] seconds, else BENCH_SECONDS, else 5; with LONG_S or more there is one round.
 * BENCH_ONLY=amdgpu: only that source at speed. BENCH_REALTIME=1: with a real-time priority.
 *
 * amdgpu reads a folder that plays two cards, so the kernel's part of it is the page cache's and
 * not a driver's; nvml calls the stand-in of tests/fakes, so the library's part is nothing. procfs
 * follows this very process. These are the costs of our side; on a real machine the driver's come
 * on top.
 */
#include "tests/fakes/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/metronome.h"
#include "profrig/base/num.h"
#include "profrig/sampler/sampler.h"

#define PERIOD_S 0.001

static char *dir;     /* in memory, as sysfs is */
static char *out_dir; /* on a disk, as samples files are */

static void make_card(unsigned card, const char *pci)
{
	CLEANUP(xfreep) char *d = machine_card(dir, card, pci, "0x1002\n");
	struct gm_values v = { 305, 87, 41, 66, UINT64_C(65536) * 1234567 + 32768 };

	machine_card_metrics(d, 1, 3, &v);
	machine_text(d, "250000000\n", "hwmon/hwmon5/power1_average");
	machine_text(d, "47500\n", "hwmon/hwmon5/temp2_input");
	machine_text(d, "1700000000\n", "hwmon/hwmon5/freq1_input");
	machine_text(d, "34359738368\n", "mem_info_vram_used");
	machine_text(d, "68719476736\n", "mem_info_vram_total");
	machine_text(d, "55\n", "gpu_busy_percent");
	machine_text(d, "33\n", "mem_busy_percent");
}

/* Mean CPU time of one device read, nothing around it, over n reads of every device. */
static double bare_read_us(const struct sampler *s, const struct sampler_opts *o, int n,
			   size_t *ret_devices, size_t *ret_series)
{
	const struct sampler_device *d;
	struct sampler_state *st;
	double v[SAMPLER_MAX_SERIES];
	const char *reason;
	int64_t begun;

	if (s->open(o, &st, NULL) < 0)
		return -1;
	*ret_devices = s->devices(st, &d);
	*ret_series = 0;
	for (size_t i = 0; i < *ret_devices; i++)
		*ret_series += d[i].nr;
	if (s->target)
		s->target(st, getpid());
	begun = clock_thread_cpu_ns();
	for (int k = 0; k < n; k++)
		for (size_t i = 0; i < *ret_devices; i++)
			s->read(st, i, v, &reason);
	begun = clock_thread_cpu_ns() - begun;
	s->close(st);
	return (double)begun / 1e3 / (double)n / (double)*ret_devices;
}

static int sampler_measure(const char *name, const char *fields, double seconds)
{
	CLEANUP(xfreep) char *path = fs_join(out_dir, "bench.csv");
	struct sampling_opts o = { .sampler = sampler_find(name), .path = path };
	struct sampler_option option = { (char[]){ "fields" }, xstrdup(fields) };
	struct sampling *sp;
	struct sampling_stats st;
	struct err err = ERR_INIT;
	size_t devices = 0, series = 0;
	double bare;

	o.source.period_s = PERIOD_S;
	o.source.options.v = &option;
	o.source.options.nr = 1;
	bare = bare_read_us(o.sampler, &o.source, 2000, &devices, &series);
	if (bare < 0 || sampling_open(&o, &sp, &err) < 0 || sampling_start(sp, &err) < 0) {
		printf("sampling cost: %-8s not here: %s\n", name, err.msg);
		return 1;
	}
	sampling_target(sp, getpid());
	clock_sleep_until_ns(clock_monotonic_ns() + (int64_t)(seconds * 1e9));
	sampling_stop(sp, &st);
	sampling_free(sp);
	printf("sampling cost: %-8s %zu device%s %2zu series: %6.2f us CPU a read, %6.2f us CPU a "
	       "tick with loop and file, %4.2f %% of a CPU at %g Hz; median period %.3f ms, "
	       "%" PRIu64 " of %" PRIu64 " ticks skipped\n",
	       name, devices, devices == 1 ? ", " : "s,", series, bare,
	       st.cpu_s * 1e6 / (double)st.ticks, 100 * st.cpu_s / seconds, 1 / PERIOD_S,
	       (double)st.median_period_ns / 1e6, st.overruns, st.overruns + st.ticks);
	sampling_stats_release(&st);
	free(option.value);
	return st.error != 0;
}

/* --- eight devices at 1 kHz --- */

#define CARDS 8
#define ROWS_PER_S 1000

#define ROUNDS 5
#define LONG_S 30
#define FLOOR_S 1
#define MAX_SOURCES 4

/* One round of one source, or of bare wake-ups. */
struct speed {
	double share; /* of a CPU, % */
	double median_us, p99_us, worst_us;
	double grown_mb;
	uint64_t ticks, late, left_out, rows;
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The floor: a thread that only wakes up. */
static struct speed measure_wakes(double seconds, bool on_metronome)
{
	size_t n = (size_t)(seconds * ROWS_PER_S), middle = n / 2, p99 = n * 99 / 100;
	int64_t *late = xcalloc(n, sizeof(*late));
	int64_t due = clock_monotonic_ns(), cpu = clock_thread_cpu_ns();
	struct metronome m;
	struct speed ret = { .ticks = n };

	prctl(PR_SET_TIMERSLACK, 1UL);
	metronome_start(&m, due, NS_PER_S / ROWS_PER_S);
	if (!on_metronome)
		metronome_release(&m);
	for (size_t i = 0; i < n; i++) {
		due += NS_PER_S / ROWS_PER_S;
		metronome_wait(&m, due);
		late[i] = clock_monotonic_ns() - due;
	}
	metronome_release(&m);
	ret.share = 100 * (double)(clock_thread_cpu_ns() - cpu) / 1e9 / seconds;
	qsort(late, n, sizeof(*late), by_value);
	ret.median_us = (double)late[middle] / 1e3;
	ret.p99_us = (double)late[p99] / 1e3;
	ret.worst_us = (double)late[n - 1] / 1e3;
	free(late);
	return ret;
}

static double resident_mb(void)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *second;
	size_t n;
	double pages = 0;

	if (fs_read("/proc/self/statm", 4096, &text, &n, NULL) < 0)
		return 0;
	second = strchr(text, ' ') + 1;
	num_f64(second, strcspn(second, " "), &pages);
	return pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Ten seconds of eight devices, to be played in a loop. */
static char *make_recording(void)
{
	char *path = fs_join(dir, "recording.csv");
	FILE *f = fopen(path, "we");

	if (!f)
		abort();
	fputs("t_ns", f);
	for (int d = 0; d < CARDS; d++)
		fprintf(f, ",power.gpu%d[W],energy.gpu%d[J],busy.gpu%d[%%]", d, d, d);
	for (int i = 0; i < 10 * ROWS_PER_S; i++) {
		fprintf(f, "\n%" PRId64, i * NS_PER_MS);
		for (int d = 0; d < CARDS; d++)
			fprintf(f, ",%d,%.9g,%d", 300 + (i + d) % 97, i * 0.3, (i / 50) % 100);
	}
	fputc('\n', f);
	fclose(f);
	return path;
}

static double by_member(const struct speed *v, size_t n, size_t offset, bool greatest)
{
	double *x = xcalloc(n, sizeof(*x)), ret;

	for (size_t i = 0; i < n; i++)
		memcpy(&x[i], (const char *)&v[i] + offset, sizeof(*x));
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && x[k] < x[k - 1]; k--) {
			double t = x[k];

			x[k] = x[k - 1];
			x[k - 1] = t;
		}
	ret = x[greatest ? n - 1 : n / 2];
	free(x);
	return ret;
}

#define MEDIAN(v, n, member) by_member(v, n, offsetof(struct speed, member), false)
#define GREATEST(v, n, member) by_member(v, n, offsetof(struct speed, member), true)

static void report_speed(const char *what, const struct speed *v, size_t n, bool has_rows)
{
	uint64_t ticks = 0, late = 0, left_out = 0, rows = 0;

	for (size_t i = 0; i < n; i++) {
		ticks += v[i].ticks;
		late += v[i].late;
		left_out += v[i].left_out;
		rows += v[i].rows;
	}
	printf("sampling at speed: %s: %.2f %% of a CPU (%.2f at most); late by %.0f us (median), "
	       "%.0f us (p99), %.0f us at worst",
	       what, MEDIAN(v, n, share), GREATEST(v, n, share), MEDIAN(v, n, median_us),
	       MEDIAN(v, n, p99_us), GREATEST(v, n, worst_us));
	if (has_rows)
		printf(", %" PRIu64 " of %" PRIu64 " by more than half a period; %" PRIu64
		       " left out; %" PRIu64 " rows; memory grew by %.2f MB",
		       late, ticks, left_out, rows, GREATEST(v, n, grown_mb));
	putchar('\n');
}

struct source {
	const char *name, *fields, *storage;
};

static int measure_speed(const struct source *src, char *file, double seconds, struct speed *ret)
{
	CLEANUP(xfreep) char *path = fs_join(out_dir, "speed.csv"), *fields = xstrdup(src->fields);
	CLEANUP(xfreep) char *storage = xstrdup(src->storage);
	struct sampler_option option[] = {
		{ (char[]){ "fields" }, fields },
		{ (char[]){ "file" }, file },
		{ (char[]){ "loop" }, (char[]){ "yes" } },
		{ (char[]){ "storage" }, storage },
		{ (char[]){ "realtime" },
		  getenv("BENCH_REALTIME") ? (char[]){ "yes" } : (char[]){ "no" } },
	};
	struct sampling_opts o = { .sampler = sampler_find(src->name), .path = path };
	struct sampling_stats st = { 0 };
	struct sampling *sp;
	struct err err = ERR_INIT;
	double settled_mb;
	int code;

	o.source.period_s = PERIOD_S;
	o.source.options.v = option;
	o.source.options.nr = ARRAY_LEN(option);
	if (sampling_open(&o, &sp, &err) < 0 || sampling_start(sp, &err) < 0) {
		printf("sampling at speed: %s not here: %s\n", src->name, err.msg);
		return 1;
	}
	/* by then every buffer has been as large as it gets */
	clock_sleep_until_ns(clock_monotonic_ns() + (int64_t)(seconds * 2e8));
	settled_mb = resident_mb();
	clock_sleep_until_ns(clock_monotonic_ns() + (int64_t)(seconds * 8e8));
	ret->grown_mb = resident_mb() - settled_mb;
	sampling_stop(sp, &st);
	sampling_free(sp);
	ret->share = 100 * st.cpu_s / seconds;
	ret->median_us = (double)st.tick_error_median_ns / 1e3;
	ret->p99_us = (double)st.tick_error_p99_ns / 1e3;
	ret->worst_us = (double)st.tick_error_max_ns / 1e3;
	ret->ticks = st.ticks;
	ret->late = st.late;
	ret->left_out = st.overruns;
	ret->rows = st.rows;
	code = st.error;
	sampling_stats_release(&st);
	return code != 0;
}

/* All rounds of all; each is followed by what only waking up takes at that time. */
static int at_speed(double seconds)
{
	static const struct source sources[MAX_SOURCES] = {
		{ "amdgpu", "power,energy,busy", "every" },
		{ "amdgpu", "power,energy,busy", "change" },
		{ "nvml", "power,energy,vram_used", "every" },
		{ "replay", "", "every" },
	};
	CLEANUP(xfreep) char *recording = make_recording();
	const char *only = getenv("BENCH_ONLY");
	struct speed got[MAX_SOURCES][ROUNDS], sleeps[ROUNDS], beats[ROUNDS];
	size_t rounds = seconds < LONG_S ? ROUNDS : 1;
	int failed = 0;

	memset(got, 0, sizeof(got));
	for (unsigned i = 2; i < CARDS; i++) {
		CLEANUP(xfreep) char *pci = xasprintf("0000:d%u:00.0", i);

		make_card(i, pci);
	}
	setenv("FAKE_NVML_COUNT", "8", 1);
	for (size_t k = 0; k < rounds; k++) {
		for (size_t i = 0; i < MAX_SOURCES; i++)
			if (!only || strcmp(only, sources[i].name) == 0)
				failed |=
					measure_speed(&sources[i], recording, seconds, &got[i][k]);
		sleeps[k] = measure_wakes(FLOOR_S, false);
		beats[k] = measure_wakes(FLOOR_S, true);
	}
	report_speed("a thread that only wakes, by clock_nanosleep", sleeps, rounds, false);
	report_speed("a thread that only wakes, on a metronome", beats, rounds, false);
	for (size_t i = 0; i < MAX_SOURCES; i++) {
		CLEANUP(xfreep)
		char *what = xasprintf("%s, %d devices × 3, %s", sources[i].name, CARDS,
				       strcmp(sources[i].storage, "every") == 0 ? "every read kept"
										: "changes kept");

		if (!only || strcmp(only, sources[i].name) == 0)
			report_speed(what, got[i], rounds, true);
	}
	return failed;
}

int main(int argc, char **argv)
{
	const char *b = getenv("B"), *length = argc > 1 ? argv[1] : getenv("BENCH_SECONDS");
	CLEANUP(xfreep)
	char *nvml = xasprintf("%s/tests/fakes/fake_nvml.so", b && *b ? b : "build");
	CLEANUP(xfreep) char *nvml_path = fs_abs(nvml);
	char template[] = "/dev/shm/profrig-bench-XXXXXX";
	char out_template[] = "/tmp/profrig-bench-XXXXXX";
	double seconds = 5;
	int failed = 0;

	if (length && num_seconds(length, strlen(length), &seconds) < 0)
		return 2;
	dir = mkdtemp(template);
	out_dir = mkdtemp(out_template);
	if (!dir || !out_dir)
		return 1;
	make_card(0, "0000:c1:00.0");
	make_card(1, "0000:c6:00.0");
	setenv("PROFRIG_SYSFS_ROOT", dir, 1);
	setenv("PROFRIG_NVML_LIB", nvml_path, 1);
	if (!getenv("BENCH_ONLY")) {
		/* long ones are about the rest */
		double s = seconds < 5 ? seconds : 5;

		failed |= sampler_measure("procfs", "", s);
		failed |= sampler_measure("estimate", "", s);
		failed |= sampler_measure("nvml", "", s);
		failed |= sampler_measure("amdgpu", "", s);
		failed |= sampler_measure("amdgpu", "power,energy", s);
	}
	failed |= at_speed(seconds);
	fs_remove_tree(dir, NULL);
	fs_remove_tree(out_dir, NULL);
	return failed;
}
