/*
 * Facts about a GPU, other than readings, from NVML. A call that is absent, not supported or not
 * allowed leaves its fact out.
 */
#include "nvml_api.h"
#include "samplers_private.h"

#include <math.h>
#include <string.h>

#define UNCORRECTED 1
#define VOLATILE 0
#define MAX_PROCESSES 64

/* The call of an optional function; false when it is not there or fails. */
#define ASK(n, f, ...) ((n)->f && (n)->f(__VA_ARGS__) == 0)

static void facts_identity(const struct nvml *n, nvml_dev h, struct sampler_facts *ret)
{
	struct nvml_pci pci = { .id = "" };
	char text[96] = "";

	if (ASK(n, nvmlDeviceGetPciInfo_v3, h, &pci))
		sampler_fact_text(ret, "pci", pci.id);
	if (ASK(n, nvmlSystemGetDriverVersion, text, sizeof(text)))
		sampler_fact_text(ret, "driver", text);
	if (ASK(n, nvmlDeviceGetVbiosVersion, h, text, sizeof(text)))
		sampler_fact_text(ret, "vbios", text);
	if (ASK(n, nvmlDeviceGetUUID, h, text, sizeof(text)))
		sampler_fact_text(ret, "uuid", text);
}

static void power_limits(const struct nvml *n, nvml_dev h, struct sampler_facts *ret)
{
	unsigned mw, least;

	if (ASK(n, nvmlDeviceGetPowerManagementLimit, h, &mw))
		sampler_fact_number(ret, "power_cap_w", mw * 1e-3);
	if (ASK(n, nvmlDeviceGetPowerManagementDefaultLimit, h, &mw))
		sampler_fact_number(ret, "power_cap_default_w", mw * 1e-3);
	if (ASK(n, nvmlDeviceGetPowerManagementLimitConstraints, h, &least, &mw))
		sampler_fact_number(ret, "power_cap_max_w", mw * 1e-3);
}

static void facts_clocks(const struct nvml *n, nvml_dev h, struct sampler_facts *ret)
{
	static const struct {
		int type;
		const char *now, *max;
	} rows[] = { { NVML_CLOCK_GRAPHICS, "clock_hz", "clock_max_hz" },
		     { NVML_CLOCK_MEM, "mem_clock_hz", "mem_clock_max_hz" } };
	unsigned mhz;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (ASK(n, nvmlDeviceGetClockInfo, h, rows[i].type, &mhz))
			sampler_fact_number(ret, rows[i].now, mhz * 1e6);
		if (ASK(n, nvmlDeviceGetMaxClockInfo, h, rows[i].type, &mhz))
			sampler_fact_number(ret, rows[i].max, mhz * 1e6);
	}
}

static void facts_modes(const struct nvml *n, nvml_dev h, struct sampler_facts *ret)
{
	unsigned u = 0, next = 0;
	unsigned long long errors;
	int mode, pending, state;
	char text[16];

	if (ASK(n, nvmlDeviceGetTemperature, h, NVML_SENSOR_GPU, &u))
		sampler_fact_number(ret, "temperature_degc", u);
	if (ASK(n, nvmlDeviceGetEccMode, h, &mode, &pending))
		sampler_fact_text(ret, "ecc", mode ? "on" : "off");
	if (ASK(n, nvmlDeviceGetTotalEccErrors, h, UNCORRECTED, VOLATILE, &errors))
		sampler_fact_number(ret, "ecc_errors", (double)errors);
	if (ASK(n, nvmlDeviceGetMigMode, h, &u, &next))
		sampler_fact_text(ret, "mig", u ? "on" : "off");
	if (ASK(n, nvmlDeviceGetPerformanceState, h, &state)) {
		snprintf(text, sizeof(text), "P%d", state);
		sampler_fact_text(ret, "performance_level", text);
	}
}

typedef int processes_fn(nvml_dev, unsigned *, struct nvml_process *);

static void facts_users(nvml_dev h, processes_fn *ask, struct sampler_facts *ret)
{
	struct nvml_process p[MAX_PROCESSES];
	unsigned count = MAX_PROCESSES;

	if (!ask || ask(h, &count, p) != 0)
		return;
	for (unsigned i = 0; i < count && i < MAX_PROCESSES; i++) {
		CLEANUP(xfreep) char *path = xasprintf("/proc/%u/comm", p[i].pid);
		char name[32] = "";

		sampler_read_text(path, name, sizeof(name));
		sampler_facts_user(ret, (pid_t)p[i].pid, name,
				   p[i].vram_bytes == ~0ULL ? NAN : (double)p[i].vram_bytes);
	}
}

void nvml_facts(const struct nvml *n, nvml_dev h, struct sampler_facts *ret)
{
	facts_identity(n, h, ret);
	power_limits(n, h, ret);
	facts_clocks(n, h, ret);
	facts_modes(n, h, ret);
	facts_users(h,
		    n->nvmlDeviceGetComputeRunningProcesses_v3
			    ? n->nvmlDeviceGetComputeRunningProcesses_v3
			    : n->nvmlDeviceGetComputeRunningProcesses_v2,
		    ret);
	facts_users(h,
		    n->nvmlDeviceGetGraphicsRunningProcesses_v3
			    ? n->nvmlDeviceGetGraphicsRunningProcesses_v3
			    : n->nvmlDeviceGetGraphicsRunningProcesses_v2,
		    ret);
}
