/*
 * A stand-in for libnvidia-ml.so.1 with the types and calls of NVIDIA's reference: two devices of
 * different ability.
 *
 * Device 0 has everything; device 1 has no energy counter, no power of the moment, no utilisation,
 * and its temperature fails with "unknown error". Energy of device 0 moves with CLOCK_MONOTONIC at
 * 200 W. Environment, read at nvmlInit:
 *	FAKE_NVML_INIT=9		nvmlInit fails with that code
 *	FAKE_NVML_COUNT=0		devices
 *	FAKE_NVML_HANDLE1=15		device 1 cannot be had, with that code
 *	FAKE_NVML_LOST_AFTER=5		from the 6th power call on device 0 is lost (15)
 *	FAKE_NVML_SLOW_US=1000		each power call takes that long
 *	FAKE_NVML_ULL=1			the field's value is of the other integer type
 *	FAKE_NVML_NAME=…		of device 0
 * fake_nvml_calls counts calls that ask the driver.
 */
#include <stdint.h>
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
static struct nvmlDevice_st devices[2] = { { 0 }, { 1 } };
static int inits, power_calls, lost_after, slow_us, ull;
static unsigned count;
static const char *name0;

static long env(const char *name, long def)
{
	const char *s = getenv(name);

	return s ? strtol(s, NULL, 10) : def;
}

nvmlReturn_t nvmlInit_v2(void)
{
	if (env("FAKE_NVML_INIT", 0))
		return (nvmlReturn_t)env("FAKE_NVML_INIT", 0);
	count = (unsigned)env("FAKE_NVML_COUNT", 2);
	lost_after = (int)env("FAKE_NVML_LOST_AFTER", -1);
	slow_us = (int)env("FAKE_NVML_SLOW_US", 0);
	ull = (int)env("FAKE_NVML_ULL", 0);
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
	switch (r) {
	case NVML_ERROR_NOT_SUPPORTED:
		return "Not Supported";
	case NVML_ERROR_DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case NVML_ERROR_GPU_IS_LOST:
		return "GPU is lost";
	default:
		return "Unknown Error";
	}
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	static const char text[] = "550.54.15";

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
	if (index >= count || index >= 2)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (index == 1 && env("FAKE_NVML_HANDLE1", 0))
		return (nvmlReturn_t)env("FAKE_NVML_HANDLE1", 0);
	*device = &devices[index];
	return NVML_SUCCESS;
}

static nvmlReturn_t put(const char *text, char *to, unsigned int length)
{
	if (length <= strlen(text))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, text, strlen(text) + 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *name, unsigned int length)
{
	return put(d->index ? "NVIDIA Fake T4" : name0, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *uuid, unsigned int length)
{
	return put(d->index ? "GPU-1111" : "GPU-0000", uuid, length);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = d->index ? 0x41 : 0x01;
	return put(d->index ? "00000000:41:00.0" : "00000000:01:00.0", pci->busId,
		   sizeof(pci->busId));
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned int *mw)
{
	fake_nvml_calls++;
	if (slow_us)
		usleep((useconds_t)slow_us);
	if (d->index == 0 && lost_after >= 0 && ++power_calls > lost_after)
		return NVML_ERROR_GPU_IS_LOST;
	*mw = d->index ? 75500 : 200250;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long *mj)
{
	struct timespec ts;

	fake_nvml_calls++;
	if (d->index)
		return NVML_ERROR_NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	*mj = (unsigned long long)ts.tv_sec * 200000 + (unsigned long long)ts.tv_nsec / 5000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t *m)
{
	fake_nvml_calls++;
	m->total = d->index ? 16ULL << 30 : 80ULL << 30;
	m->used = d->index ? 1ULL << 30 : 20ULL << 30;
	m->free = m->total - m->used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t *u)
{
	fake_nvml_calls++;
	if (d->index)
		return NVML_ERROR_NOT_SUPPORTED;
	u->gpu = 87;
	u->memory = 41;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, nvmlTemperatureSensors_t s, unsigned int *t)
{
	fake_nvml_calls++;
	if (s != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (d->index)
		return NVML_ERROR_UNKNOWN;
	*t = 64;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, nvmlClockType_t type, unsigned int *mhz)
{
	(void)d;
	fake_nvml_calls++;
	*mhz = type == NVML_CLOCK_MEM ? 2619 : type == NVML_CLOCK_GRAPHICS ? 1980 : 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t d, int n, nvmlFieldValue_t *v)
{
	fake_nvml_calls++;
	for (int i = 0; i < n; i++) {
		v[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
		if (d->index || v[i].fieldId != NVML_FI_DEV_POWER_INSTANT || v[i].scopeId != 0)
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
