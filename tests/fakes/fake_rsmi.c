/*
 * A stand-in for librocm_smi64 with its real prototypes: two devices of different ability. Empty
 * where the library's header is absent (then there is no profrig-rsmi either).
 *
 * Device 0 is of the older kind (average power), device 1 of the newer (power of the moment, no
 * average, no temperature). Energy of device 0 moves with CLOCK_MONOTONIC at 300 W in steps of 15.3
 * µJ. FAKE_RSMI_MODE, with "_later" from the 4th power reading on:
 *	abort abort_later hang hang_later init_fail none garbage die_later fail_later
 */
#if __has_include(<rocm_smi/rocm_smi.h>)
#include <rocm_smi/rocm_smi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static int power_calls;

static int mode(const char *name)
{
	const char *s = getenv("FAKE_RSMI_MODE");

	return s && strcmp(s, name) == 0;
}

static void noise(void)
{
	if (!mode("garbage"))
		return;
	printf("rsmi: WARNING garbage on stdout\nr 0\nready\n1 2 3\n");
	fflush(stdout);
	fprintf(stderr, "rsmi: garbage on stderr\n");
	if (write(1, "\n\n123\n", 6) < 0)
		return;
}

static void call_hang(void)
{
	for (;;)
		pause();
}

rsmi_status_t rsmi_init(uint64_t flags)
{
	(void)flags;
	noise();
	if (mode("abort"))
		abort();
	if (mode("hang"))
		call_hang();
	return mode("init_fail") ? RSMI_STATUS_INIT_ERROR : RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_shut_down(void)
{
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_status_string(rsmi_status_t status, const char **text)
{
	*text = status == RSMI_STATUS_INIT_ERROR ? "fake: cannot initialise" : "fake: other";
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_num_monitor_devices(uint32_t *n)
{
	noise();
	*n = mode("none") ? 0 : 2;
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_name_get(uint32_t dev, char *name, size_t len)
{
	snprintf(name, len, "%s", dev ? "AMD Fake MI300X\nforged line" : "AMD Fake MI250X");
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_pci_id_get(uint32_t dev, uint64_t *bdf)
{
	*bdf = dev ? (UINT64_C(1) << 32) | 0x2600 | (3 << 3) | 1 : 0xc100;
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_power_ave_get(uint32_t dev, uint32_t sensor, uint64_t *uw)
{
	noise();
	if (sensor != 0)
		return RSMI_STATUS_INVALID_ARGS;
	if (dev)
		return RSMI_STATUS_NOT_SUPPORTED;
	if (++power_calls > 3) {
		if (mode("abort_later"))
			abort();
		if (mode("hang_later"))
			call_hang();
		if (mode("die_later"))
			_exit(3);
		if (mode("fail_later"))
			return RSMI_STATUS_BUSY;
	}
	*uw = 305250000;
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_current_socket_power_get(uint32_t dev, uint64_t *uw);
rsmi_status_t rsmi_dev_current_socket_power_get(uint32_t dev, uint64_t *uw)
{
	*uw = 689000000;
	return dev ? RSMI_STATUS_SUCCESS : RSMI_STATUS_NOT_SUPPORTED;
}

rsmi_status_t rsmi_dev_energy_count_get(uint32_t dev, uint64_t *count, float *step_uj,
					uint64_t *stamp_ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	*stamp_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	*count = dev ? 0 : (uint64_t)((double)*stamp_ns * 0.3 / 15.3);
	*step_uj = 15.3f;
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_memory_usage_get(uint32_t dev, rsmi_memory_type_t type, uint64_t *used)
{
	*used = (UINT64_C(1) + dev) << 30;
	return type == RSMI_MEM_TYPE_VRAM ? RSMI_STATUS_SUCCESS : RSMI_STATUS_INVALID_ARGS;
}

rsmi_status_t rsmi_dev_memory_total_get(uint32_t dev, rsmi_memory_type_t type, uint64_t *total)
{
	*total = (dev ? UINT64_C(192) : UINT64_C(64)) << 30;
	return type == RSMI_MEM_TYPE_VRAM ? RSMI_STATUS_SUCCESS : RSMI_STATUS_INVALID_ARGS;
}

rsmi_status_t rsmi_dev_busy_percent_get(uint32_t dev, uint32_t *percent)
{
	*percent = dev ? 99 : 55;
	return RSMI_STATUS_SUCCESS;
}

rsmi_status_t rsmi_dev_temp_metric_get(uint32_t dev, uint32_t sensor,
				       rsmi_temperature_metric_t metric, int64_t *milli)
{
	if (dev)
		return RSMI_STATUS_NOT_SUPPORTED;
	*milli = sensor == RSMI_TEMP_TYPE_JUNCTION && metric == RSMI_TEMP_CURRENT ? 71500 : -1;
	return RSMI_STATUS_SUCCESS;
}
#else
typedef int fake_rsmi_is_empty;
#endif
