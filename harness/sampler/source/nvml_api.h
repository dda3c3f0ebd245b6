/*
 * nvml_api: the calls of NVIDIA's NVML that profrig uses, declared here from its API reference, as
 * Debian has no header of it. nvml.h maps plain names to those ending in _v2 or _v3.
 *
 * NVML_MUST is in every usable driver; a call of NVML_MAY that an old one lacks is NULL.
 */
#ifndef PROFRIG_NVML_API_H
#define PROFRIG_NVML_API_H

#include "profrig/base/dynlib.h"
#include "profrig/sampler/sampler.h"

typedef struct nvml_device *nvml_dev;
struct nvml_memory {
	unsigned long long total, free, used;
};
struct nvml_rates {
	unsigned gpu, memory;
};
struct nvml_pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};
union nvml_value {
	double d;
	int si;
	unsigned ui;
	unsigned long ul;
	unsigned long long ull;
	long long sll;
	unsigned short us;
};
struct nvml_field {
	unsigned field, scope;
	long long timestamp_us, latency_us;
	int type, ret;
	union nvml_value value;
};
/* of _v2 (driver 450) and _v3 (510) */
struct nvml_process {
	unsigned pid;
	unsigned long long vram_bytes; /* all ones: not known */
	unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int);
int nvmlDeviceGetCount_v2(unsigned *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, nvml_dev *);
int nvmlDeviceGetName(nvml_dev, char *, unsigned);
int nvmlDeviceGetUUID(nvml_dev, char *, unsigned);
int nvmlDeviceGetPciInfo_v3(nvml_dev, struct nvml_pci *);
int nvmlDeviceGetPowerUsage(nvml_dev, unsigned *);
int nvmlDeviceGetTotalEnergyConsumption(nvml_dev, unsigned long long *);
int nvmlDeviceGetMemoryInfo(nvml_dev, struct nvml_memory *);
int nvmlDeviceGetUtilizationRates(nvml_dev, struct nvml_rates *);
int nvmlDeviceGetTemperature(nvml_dev, int, unsigned *);
int nvmlDeviceGetClockInfo(nvml_dev, int, unsigned *);
int nvmlDeviceGetFieldValues(nvml_dev, int, struct nvml_field *);
int nvmlSystemGetDriverVersion(char *, unsigned);
/* for facts */
int nvmlDeviceGetVbiosVersion(nvml_dev, char *, unsigned);
int nvmlDeviceGetPowerManagementLimit(nvml_dev, unsigned *);
int nvmlDeviceGetPowerManagementDefaultLimit(nvml_dev, unsigned *);
int nvmlDeviceGetPowerManagementLimitConstraints(nvml_dev, unsigned *, unsigned *);
int nvmlDeviceGetMaxClockInfo(nvml_dev, int, unsigned *);
int nvmlDeviceGetEccMode(nvml_dev, int *, int *);
int nvmlDeviceGetTotalEccErrors(nvml_dev, int, int, unsigned long long *);
int nvmlDeviceGetMigMode(nvml_dev, unsigned *, unsigned *);
int nvmlDeviceGetPerformanceState(nvml_dev, int *);
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_dev, unsigned *, struct nvml_process *);
int nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_dev, unsigned *, struct nvml_process *);
int nvmlDeviceGetComputeRunningProcesses_v2(nvml_dev, unsigned *, struct nvml_process *);
int nvmlDeviceGetGraphicsRunningProcesses_v2(nvml_dev, unsigned *, struct nvml_process *);

#define NVML_MUST(X) \
	X(nvmlInit_v2) \
	X(nvmlShutdown) \
	X(nvmlErrorString) \
	X(nvmlDeviceGetCount_v2) \
	X(nvmlDeviceGetHandleByIndex_v2)
#define NVML_MAY(X) \
	X(nvmlDeviceGetName) \
	X(nvmlDeviceGetUUID) \
	X(nvmlDeviceGetPciInfo_v3) \
	X(nvmlDeviceGetPowerUsage) \
	X(nvmlDeviceGetTotalEnergyConsumption) \
	X(nvmlDeviceGetMemoryInfo) \
	X(nvmlDeviceGetUtilizationRates) \
	X(nvmlDeviceGetTemperature) \
	X(nvmlDeviceGetClockInfo) \
	X(nvmlDeviceGetFieldValues) \
	X(nvmlSystemGetDriverVersion) \
	X(nvmlDeviceGetVbiosVersion) \
	X(nvmlDeviceGetPowerManagementLimit) \
	X(nvmlDeviceGetPowerManagementDefaultLimit) \
	X(nvmlDeviceGetPowerManagementLimitConstraints) \
	X(nvmlDeviceGetMaxClockInfo) \
	X(nvmlDeviceGetEccMode) \
	X(nvmlDeviceGetTotalEccErrors) \
	X(nvmlDeviceGetMigMode) \
	X(nvmlDeviceGetPerformanceState) \
	X(nvmlDeviceGetComputeRunningProcesses_v3) \
	X(nvmlDeviceGetGraphicsRunningProcesses_v3) \
	X(nvmlDeviceGetComputeRunningProcesses_v2) \
	X(nvmlDeviceGetGraphicsRunningProcesses_v2)

struct nvml {
	DYNLIB_MEMBERS(NVML_MUST)
	DYNLIB_MEMBERS(NVML_MAY)
};

/* nvmlReturn_t, nvmlTemperatureSensors_t, nvmlClockType_t */
#define NVML_NOT_SUPPORTED 3
#define NVML_NO_PERMISSION 4
#define NVML_SENSOR_GPU 0
#define NVML_CLOCK_GRAPHICS 0
#define NVML_CLOCK_MEM 2

/* nvml_facts.c */
void nvml_facts(const struct nvml *n, nvml_dev h, struct sampler_facts *ret);

#endif
