/*
 * What sampling costs: CPU time of one read of each source, and what the loop and the file add, at
 * 1 kHz for 5 s (or argv[1] seconds).
 *
 * amdgpu reads a folder that plays two cards, so the kernel's part of it is the page cache's and
 * not a driver's; nvml calls the stand-in of tests/fakes, so the library's part is nothing. procfs
 * follows this very process. These are the costs of our side; on a real machine the driver's come
 * on top.
 */
#include "../fakes/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/clock.h"
#include "profrig/num.h"
#include "profrig/sampler.h"

#define PERIOD_S 0.001

static char *dir;

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

static int measure(const char *name, const char *fields, double seconds)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "bench.csv");
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

int main(int argc, char **argv)
{
	const char *b = getenv("B");
	CLEANUP(xfreep)
	char *nvml = xasprintf("%s/tests/fakes/fake_nvml.so", b && *b ? b : "build");
	CLEANUP(xfreep) char *nvml_path = fs_abs(nvml);
	char template[] = "/tmp/profrig-bench-XXXXXX";
	double seconds = 5;
	int failed = 0;

	if (argc > 1 && num_seconds(argv[1], strlen(argv[1]), &seconds) < 0)
		return 2;
	dir = mkdtemp(template);
	if (!dir)
		return 1;
	make_card(0, "0000:c1:00.0");
	make_card(1, "0000:c6:00.0");
	setenv("PROFRIG_SYSFS_ROOT", dir, 1);
	setenv("PROFRIG_NVML_LIB", nvml_path, 1);
	failed |= measure("procfs", "", seconds);
	failed |= measure("estimate", "", seconds);
	failed |= measure("nvml", "", seconds);
	failed |= measure("amdgpu", "", seconds);
	failed |= measure("amdgpu", "power,energy", seconds);
	fs_remove_tree(dir, NULL);
	return failed;
}
