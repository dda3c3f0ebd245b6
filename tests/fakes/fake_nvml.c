/*
 * A stand-in for libnvidia-ml.so.1 with the types and calls of NVIDIA's reference: two devices of
 * different ability.
 *
 * Device 0 has everything; device 1 has no energy counter, no power of the moment, no utilisation,
 * and its temperature fails with "unknown error". Energy of device 0 moves with CLOCK_MONOTONIC at
 * 200 W. Environment, read at nvmlInit:
 *	FAKE_NVML_INIT=9		nvmlInit fails with that code
 *	FAKE_NVML_COUNT=0		devices, 8 at most; all but device 1 are as device 0
 *	FAKE_NVML_HANDLE1=15		device 1 cannot be had, with that code
 *	FAKE_NVML_LOST_AFTER=5		from the 6th power call on device 0 is lost (15)
 *	FAKE_NVML_SLOW_US=1000		each power call takes that long
 *	FAKE_NVML_ULL=1			the field's value is of the other integer type
 *	FAKE_NVML_NAME=…		of device 0
 *	FAKE_NVML_MIG=1			device 0 is cut into instances: no utilisation of the whole
 *	FAKE_NVML_CAP_MW=350000		power limit of device 0 (its default is 700 W)
 *	FAKE_NVML_NOW=FILE		"64 200250 1980": temperature, mW and MHz of device 0, read
 *					at each of these calls
 *	FAKE_NVML_USERS=1234,99		pids that compute on device 0; the first draws, too
 * fake_nvml_calls counts calls that ask the driver; fake_nvml_fail(name, code) makes a call fail
 * from then on, on both devices (code 0: no more).
 *
 * With FAKE_NVML_OLD (fake_nvml_old.c) it is a library of 2017: no fields, no MIG, no _v2 or _v3 of
 * the lists of processes.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"

typedef enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_UNKNOWN = 999,
} nvmlReturn_t;

typedef struct nvmlDevice_st {
	int index;
} * nvmlDevice_t;

typedef struct {
	unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
	unsigned int gpu, memory;
} nvmlUtilization_t;

typedef struct {
	char busIdLegacy[16];
	unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

typedef enum { NVML_TEMPERATURE_GPU = 0 } nvmlTemperatureSensors_t;
typedef enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM } nvmlClockType_t;

typedef enum {
	NVML_VALUE_TYPE_DOUBLE = 0,
	NVML_VALUE_TYPE_UNSIGNED_INT = 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
} nvmlValueType_t;

typedef union {
	double dVal;
	int siVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
	unsigned short usVal;
} nvmlValue_t;

typedef struct {
	unsigned int fieldId, scopeId;
	long long timestamp, latencyUsec;
	nvmlValueType_t valueType;
	nvmlReturn_t nvmlReturn;
	nvmlValue_t value;
} nvmlFieldValue_t;

#define NVML_FI_DEV_POWER_INSTANT 186

_Atomic int fake_nvml_calls;
static struct {
	char name[64];
	int code;
} failing[64];
static pthread_mutex_t failing_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool any_fails;

void fake_nvml_fail(const char *name, int code)
{
	size_t i = 0;

	pthread_mutex_lock(&failing_lock);
	while (failing[i].name[0] && strcmp(failing[i].name, name) != 0)
		i++;
	strncpy(failing[i].name, name, sizeof(failing[i].name) - 1);
	failing[i].code = code;
	any_fails = true;
	pthread_mutex_unlock(&failing_lock);
}

static int call_fails(const char *name)
{
	int code = 0;

	pthread_mutex_lock(&failing_lock);
	for (size_t i = 0; !code && failing[i].name[0]; i++)
		if (strcmp(failing[i].name, name) == 0)
			code = failing[i].code;
	pthread_mutex_unlock(&failing_lock);
	return code;
}

#define FAIL \
	do { \
		int failed_ = any_fails ? call_fails(__func__) : 0; \
		if (failed_) \
			return (nvmlReturn_t)failed_; \
	} while (0)

static struct nvmlDevice_st devices[8] = { { 0 }, { 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 } };
static int inits, power_calls, lost_after, slow_us, ull, mig;
static unsigned count;
static const char *name0;

static long env(const char *name, long def)
{
	const char *s = getenv(name);

	return s ? strtol(s, NULL, 10) : def;
}

/* Of the file's numbers the one at this place; def: there is no file. */
static unsigned now_of(int place, unsigned def)
{
	const char *path = getenv("FAKE_NVML_NOW");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[100], *at = line;
	unsigned v = def;

	if (f && fgets(line, sizeof(line), f))
		for (int i = 0; i <= place; i++)
			v = (unsigned)strtoul(at, &at, 10);
	if (f)
		fclose(f);
	return v;
}

nvmlReturn_t nvmlInit_v2(void)
{
	if (env("FAKE_NVML_INIT", 0))
		return (nvmlReturn_t)env("FAKE_NVML_INIT", 0);
	count = (unsigned)env("FAKE_NVML_COUNT", 2);
	lost_after = (int)env("FAKE_NVML_LOST_AFTER", -1);
	slow_us = (int)env("FAKE_NVML_SLOW_US", 0);
	ull = (int)env("FAKE_NVML_ULL", 0);
	mig = (int)env("FAKE_NVML_MIG", 0);
	name0 = getenv("FAKE_NVML_NAME") ? getenv("FAKE_NVML_NAME") : "NVIDIA Fake H100";
	power_calls = 0;
	inits++;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
	if (inits == 0)
		return NVML_ERROR_UNINITIALIZED;
	inits--;
	return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t r)
{
	static const char *const texts[] = {
		"Success",
		"Uninitialized",
		"Invalid Argument",
		"Not Supported",
		"Insufficient Permissions",
		"Already Initialized",
		"Not Found",
		"Insufficient Size",
		"Insufficient External Power",
		"Driver Not Loaded",
		"Timeout",
		"Interrupt Request Issue",
		"NVML Shared Library Not Found",
		"Function Not Found",
		"Corrupted infoROM",
		"GPU is lost",
		"GPU requires reset",
		"GPU access blocked by the operating system",
		"Driver/library version mismatch",
	};

	return r < sizeof(texts) / sizeof(*texts) ? texts[r] : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	static const char text[] = "550.54.15";

	FAIL;
	if (length < sizeof(text))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(version, text, sizeof(text));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *n)
{
	*n = count;
	return inits ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
	if (index >= count || index >= 8)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (index == 1 && env("FAKE_NVML_HANDLE1", 0))
		return (nvmlReturn_t)env("FAKE_NVML_HANDLE1", 0);
	*device = &devices[index];
	return NVML_SUCCESS;
}

static nvmlReturn_t text_put(const char *text, char *to, unsigned int length)
{
	if (length <= strlen(text))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, text, strlen(text) + 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *name, unsigned int length)
{
	FAIL;
	return text_put(d->index == 1 ? "NVIDIA Fake T4" : name0, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *uuid, unsigned int length)
{
	FAIL;
	return text_put(d->index == 1 ? "GPU-1111" : "GPU-0000", uuid, length);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t *pci)
{
	FAIL;
	memset(pci, 0, sizeof(*pci));
	pci->bus = d->index == 1 ? 0x41 : 0x01;
	return text_put(d->index == 1 ? "00000000:41:00.0" : "00000000:01:00.0", pci->busId,
			sizeof(pci->busId));
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned int *mw)
{
	FAIL;
	fake_nvml_calls++;
	if (slow_us)
		usleep((useconds_t)slow_us);
	if (d->index == 0 && lost_after >= 0 && ++power_calls > lost_after)
		return NVML_ERROR_GPU_IS_LOST;
	*mw = d->index == 1 ? 75500 : now_of(1, 200250);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long *mj)
{
	struct timespec ts;

	FAIL;
	fake_nvml_calls++;
	if (d->index == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	*mj = (unsigned long long)ts.tv_sec * 200000 + (unsigned long long)ts.tv_nsec / 5000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t *m)
{
	FAIL;
	fake_nvml_calls++;
	m->total = d->index == 1 ? 16ULL << 30 : 80ULL << 30;
	m->used = d->index == 1 ? 1ULL << 30 : 20ULL << 30;
	m->free = m->total - m->used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t *u)
{
	FAIL;
	fake_nvml_calls++;
	if (d->index == 1 || mig)
		return NVML_ERROR_NOT_SUPPORTED;
	u->gpu = 87;
	u->memory = 41;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, nvmlTemperatureSensors_t s, unsigned int *t)
{
	FAIL;
	fake_nvml_calls++;
	if (s != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (d->index == 1)
		return NVML_ERROR_UNKNOWN;
	*t = now_of(0, 64);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, nvmlClockType_t type, unsigned int *mhz)
{
	FAIL;
	fake_nvml_calls++;
	*mhz = type == NVML_CLOCK_MEM        ? 2619
	       : type != NVML_CLOCK_GRAPHICS ? 1
	       : d->index == 1               ? 1980
					     : now_of(2, 1980);
	return NVML_SUCCESS;
}

#ifndef FAKE_NVML_OLD
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t d, int n, nvmlFieldValue_t *v)
{
	FAIL;
	fake_nvml_calls++;
	for (int i = 0; i < n; i++) {
		v[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
		if (d->index == 1 || v[i].fieldId != NVML_FI_DEV_POWER_INSTANT || v[i].scopeId != 0)
			continue;
		v[i].nvmlReturn = NVML_SUCCESS;
		memset(&v[i].value, 0xee, sizeof(v[i].value));
		v[i].valueType =
			ull ? NVML_VALUE_TYPE_UNSIGNED_LONG_LONG : NVML_VALUE_TYPE_UNSIGNED_INT;
		if (ull)
			v[i].value.ullVal = 5000000125; /* does not fit the other type */
		else
			v[i].value.uiVal = 310125;
	}
	return NVML_SUCCESS;
}
#endif

/* --- facts --- */

typedef enum { NVML_FEATURE_DISABLED, NVML_FEATURE_ENABLED } nvmlEnableState_t;
typedef enum { NVML_PSTATE_0 = 0, NVML_PSTATE_8 = 8 } nvmlPstates_t;
typedef enum { NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED } nvmlErrorType;
typedef enum { NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC } nvmlEccCounterType_t;

typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t d, char *text, unsigned int length)
{
	FAIL;
	return text_put(d->index == 1 ? "90.04.84.00.01" : "96.00.74.00.01", text, length);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t d, unsigned int *mw)
{
	FAIL;
	*mw = d->index == 1 ? 70000 : (unsigned)env("FAKE_NVML_CAP_MW", 700000);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t d, unsigned int *mw)
{
	FAIL;
	*mw = d->index == 1 ? 70000 : 700000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t d, unsigned int *least,
							  unsigned int *most)
{
	FAIL;
	*least = d->index == 1 ? 60000 : 200000;
	*most = d->index == 1 ? 70000 : 710000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, nvmlClockType_t type, unsigned int *mhz)
{
	(void)d;
	FAIL;
	*mhz = type == NVML_CLOCK_MEM ? 2620 : type == NVML_CLOCK_GRAPHICS ? 1981 : 2;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t d, nvmlEnableState_t *now, nvmlEnableState_t *next)
{
	FAIL;
	if (d->index == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	*now = NVML_FEATURE_ENABLED;
	*next = NVML_FEATURE_DISABLED;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t d, nvmlErrorType type,
					 nvmlEccCounterType_t counter, unsigned long long *n)
{
	FAIL;
	if (d->index == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	*n = type == NVML_MEMORY_ERROR_TYPE_UNCORRECTED && counter == NVML_VOLATILE_ECC ? 3 : 77;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t d, nvmlPstates_t *state)
{
	FAIL;
	*state = d->index == 1 ? NVML_PSTATE_8 : NVML_PSTATE_0;
	return NVML_SUCCESS;
}

#ifndef FAKE_NVML_OLD
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned int *now, unsigned int *next)
{
	FAIL;
	if (d->index == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	*now = (unsigned)mig;
	*next = 0;
	return NVML_SUCCESS;
}

/* The first pid is in both lists; memory of the second is not known. */
static nvmlReturn_t processes(nvmlDevice_t d, int graphics, unsigned int *nr,
			      nvmlProcessInfo_t *info)
{
	const char *at = getenv("FAKE_NVML_USERS");
	unsigned n = 0;

	while (d->index == 0 && at && *at && n < (graphics ? 1u : *nr)) {
		char *end;

		info[n] = (nvmlProcessInfo_t){ .pid = (unsigned)strtoul(at, &end, 10) };
		info[n].usedGpuMemory = n == 1 ? ~0ULL : graphics ? 1ULL << 20 : 2ULL << 30;
		n++;
		at = *end == ',' ? end + 1 : end;
	}
	*nr = n;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned int *nr,
						     nvmlProcessInfo_t *info)
{
	FAIL;
	return processes(d, 0, nr, info);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t d, unsigned int *nr,
						      nvmlProcessInfo_t *info)
{
	FAIL;
	return processes(d, 1, nr, info);
}
#endif
