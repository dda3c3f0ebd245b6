/*
 * nvml: NVIDIA power, energy, memory and utilisation through libnvidia-ml.so.1, which comes with
 * the driver.
 *
 * Of the calls in nvml_api.h:
 *	nvmlDeviceGetPowerUsage			mW; averaged over 1 s on Ampere (but GA100) and
 *						newer, of the moment on GA100 and older
 *	nvmlDeviceGetTotalEnergyConsumption	mJ since the driver was loaded (Volta and newer)
 *	nvmlDeviceGetMemoryInfo			bytes
 *	nvmlDeviceGetUtilizationRates		% of the last sample period
 *	nvmlDeviceGetTemperature, nvmlDeviceGetClockInfo
 *	nvmlDeviceGetFieldValues		NVML_FI_DEV_POWER_INSTANT (186): the power of the
 *						moment, mW (driver 530 and newer)
 * A call that a device does not support is found at open (return 3) and its series does not exist.
 */
#include "nvml_api.h"
#include "samplers_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/vec.h"

#define MUST(f) DYNLIB_SYM(struct nvml, f),
#define MAY(f) DYNLIB_SYM_OPT(struct nvml, f),
static const struct dynlib_sym symbols[] = { NVML_MUST(MUST) NVML_MAY(MAY) };

/* nvmlValueType_t, field ids */
#define TYPE_ULL 3
#define FIELD_POWER_INSTANT 186
#define MAX_DEVICES 256

enum reading {
	POWER,
	POWER_INSTANT,
	ENERGY,
	VRAM_USED,
	VRAM_TOTAL,
	BUSY,
	MEM_BUSY,
	TEMPERATURE,
	CLOCK,
	MEM_CLOCK,
	READINGS
};
static const struct {
	const char *name, *unit;
} series_of[READINGS] = {
	[POWER] = { "power", "W" },
	[POWER_INSTANT] = { "power_instant", "W" },
	[ENERGY] = { "energy", "J" },
	[VRAM_USED] = { "vram_used", "bytes" },
	[VRAM_TOTAL] = { "vram_total", "bytes" },
	[BUSY] = { "busy", "%" },
	[MEM_BUSY] = { "mem_busy", "%" },
	[TEMPERATURE] = { "temperature", "degC" },
	[CLOCK] = { "clock", "Hz" },
	[MEM_CLOCK] = { "mem_clock", "Hz" },
};

struct sampler_state {
	void *handle;
	struct nvml lib;
	bool inited;
	VEC(struct sampler_device) dev;
	VEC(struct gpu {
		nvml_dev h;
		size_t nr;
		enum reading what[READINGS];
	})
	gpu;
};

/* The results of calls that give two series, while one device is read. */
struct round {
	bool have_memory, have_rates;
	int memory_code, rates_code;
	struct nvml_memory memory;
	struct nvml_rates rates;
};

/* The result of an optional call. */
#define CALL(n, f, ...) ((n)->f ? (n)->f(__VA_ARGS__) : NVML_NOT_SUPPORTED)

static int take_memory(const struct nvml *n, nvml_dev h, struct round *rd)
{
	if (!rd->have_memory)
		rd->memory_code = CALL(n, nvmlDeviceGetMemoryInfo, h, &rd->memory);
	rd->have_memory = true;
	return rd->memory_code;
}

static int take_rates(const struct nvml *n, nvml_dev h, struct round *rd)
{
	if (!rd->have_rates)
		rd->rates_code = CALL(n, nvmlDeviceGetUtilizationRates, h, &rd->rates);
	rd->have_rates = true;
	return rd->rates_code;
}

static int take_instant(const struct nvml *n, nvml_dev h, double *ret)
{
	struct nvml_field f = { .field = FIELD_POWER_INSTANT };
	int r = CALL(n, nvmlDeviceGetFieldValues, h, 1, &f);

	if (r == 0)
		r = f.ret;
	if (r == 0 && f.type == TYPE_ULL)
		*ret = (double)f.value.ull * 1e-3;
	else if (r == 0)
		*ret = f.value.ui * 1e-3;
	return r;
}

/* One reading; returns NVML's code. */
static int nvml_take(const struct nvml *n, nvml_dev h, enum reading what, struct round *rd,
		     double *ret)
{
	unsigned u = 0;
	unsigned long long e = 0;
	int r = NVML_NOT_SUPPORTED;

	switch (what) {
	case POWER:
		r = CALL(n, nvmlDeviceGetPowerUsage, h, &u);
		*ret = u * 1e-3;
		break;
	case POWER_INSTANT:
		r = take_instant(n, h, ret);
		break;
	case ENERGY:
		r = CALL(n, nvmlDeviceGetTotalEnergyConsumption, h, &e);
		*ret = (double)e * 1e-3;
		break;
	case VRAM_USED:
	case VRAM_TOTAL:
		r = take_memory(n, h, rd);
		*ret = (double)(what == VRAM_USED ? rd->memory.used : rd->memory.total);
		break;
	case BUSY:
	case MEM_BUSY:
		r = take_rates(n, h, rd);
		*ret = what == BUSY ? rd->rates.gpu : rd->rates.memory;
		break;
	case TEMPERATURE:
		r = CALL(n, nvmlDeviceGetTemperature, h, NVML_SENSOR_GPU, &u);
		*ret = u;
		break;
	case CLOCK:
	case MEM_CLOCK:
		r = CALL(n, nvmlDeviceGetClockInfo, h,
			 what == CLOCK ? NVML_CLOCK_GRAPHICS : NVML_CLOCK_MEM, &u);
		*ret = u * 1e6;
		break;
	case READINGS:
		break;
	}
	return r;
}

static void nvml_close(struct sampler_state *st)
{
	if (st->inited)
		st->lib.nvmlShutdown();
	if (st->handle)
		dynlib_close(st->handle);
	VEC_RELEASE(&st->dev);
	VEC_RELEASE(&st->gpu);
	free(st);
}

static void describe_gpu(const struct sampler_state *st, nvml_dev h, struct sampler_device *d)
{
	char name[96] = "NVIDIA GPU", uuid[96] = "", driver[80] = "";
	struct nvml_pci pci = { .id = "" };

	if (st->lib.nvmlDeviceGetName)
		st->lib.nvmlDeviceGetName(h, name, sizeof(name));
	if (st->lib.nvmlDeviceGetUUID)
		st->lib.nvmlDeviceGetUUID(h, uuid, sizeof(uuid));
	if (st->lib.nvmlDeviceGetPciInfo_v3)
		st->lib.nvmlDeviceGetPciInfo_v3(h, &pci);
	if (st->lib.nvmlSystemGetDriverVersion)
		st->lib.nvmlSystemGetDriverVersion(driver, sizeof(driver));
	snprintf(d->pci, sizeof(d->pci), "%.31s", pci.id);
	snprintf(d->facts, sizeof(d->facts), "%.80s, pci %.31s, %.80s, driver %.40s", name, d->pci,
		 uuid, driver);
}

static void add_gpu(struct sampler_state *st, const char *fields, unsigned index, nvml_dev h)
{
	struct sampler_device d = { 0 };
	struct gpu g = { .h = h };
	struct round rd = { 0 };

	snprintf(d.id, sizeof(d.id), "gpu%u", index);
	describe_gpu(st, h, &d);
	for (enum reading w = 0; w < READINGS; w++) {
		double v = 0;

		if (sampler_wants(fields, series_of[w].name) &&
		    nvml_take(&st->lib, h, w, &rd, &v) == 0 &&
		    sampler_device_add(&d, series_of[w].name, series_of[w].unit))
			g.what[g.nr++] = w;
	}
	if (g.nr) {
		VEC_PUSH(&st->gpu, g);
		VEC_PUSH(&st->dev, d);
	}
}

static int nvml_load(struct sampler_state *st, struct err *err)
{
	static const char *const names[] = { "libnvidia-ml.so.1", NULL };
	const char *given = getenv("PROFRIG_NVML_LIB"); /* tests put a stand-in here */
	const char *const one[] = { given, NULL };
	int r = dynlib_open(given && *given ? one : names, &st->handle, err);

	if (r == 0)
		r = dynlib_load(st->handle, symbols, ARRAY_LEN(symbols), &st->lib, err);
	if (r < 0)
		return err_wrap(err, r, "no NVIDIA driver library");
	r = st->lib.nvmlInit_v2();
	if (r)
		return err_set(err, ENODEV, "nvmlInit: %s", st->lib.nvmlErrorString(r));
	st->inited = true;
	return 0;
}

static int nvml_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	struct sampler_state *st = xcalloc(1, sizeof(*st));
	const char *fields = sampler_option(o, "fields", "");
	unsigned count = 0;
	int r = nvml_load(st, err), code = 0;

	if (r == 0)
		code = st->lib.nvmlDeviceGetCount_v2(&count);
	if (r == 0 && code)
		r = err_set(err, ENODEV, "no NVIDIA device: %s", st->lib.nvmlErrorString(code));
	if (count > MAX_DEVICES)
		count = MAX_DEVICES;
	if (r == 0 && count)
		r = sampler_check_selection(o ? o->device : NULL, count, err);
	if (r == 0)
		r = sampler_check_fields(fields, err);
	for (unsigned i = 0; r == 0 && i < count; i++) {
		nvml_dev h;

		if (!sampler_selects(o ? o->device : NULL, i))
			continue;
		code = st->lib.nvmlDeviceGetHandleByIndex_v2(i, &h);
		if (code == 0)
			add_gpu(st, fields, i, h);
		else if (code != NVML_NO_PERMISSION) /* a GPU of another user */
			r = err_set(err, ENODEV, "GPU %u of %u does not answer: %s", i, count,
				    st->lib.nvmlErrorString(code));
	}
	if (r == 0 && !st->dev.nr)
		r = err_set(err, ENODEV,
			    "none of %u NVIDIA devices was selected or gives a reading", count);
	if (r < 0) {
		nvml_close(st);
		return r;
	}
	*ret = st;
	return 0;
}

static size_t nvml_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

static int nvml_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	const struct gpu *g = &st->gpu.v[d];
	struct round rd = { 0 };

	for (size_t i = 0; i < g->nr; i++) {
		int r = nvml_take(&st->lib, g->h, g->what[i], &rd, &v[i]);

		if (r) {
			v[i] = NAN;
			*reason = st->lib.nvmlErrorString(r);
		}
	}
	return 0;
}

static void nvml_facts_of(struct sampler_state *st, size_t d, struct sampler_facts *ret)
{
	nvml_facts(&st->lib, st->gpu.v[d].h, ret);
}

const struct sampler sampler_nvml = {
	.name = "nvml",
	.about = "NVIDIA power, energy, memory, utilisation, clocks (libnvidia-ml)",
	.vendor = "nvidia",
	.options = (const char *const[]){ "fields", NULL },
	.open = nvml_open,
	.devices = nvml_devices,
	.read = nvml_read,
	.facts = nvml_facts_of,
	.close = nvml_close,
};
