/* NVIDIA's GPUs: the driver's folder in /proc, else NVML. */
#include "devices_int.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"

#define GPUS "/proc/driver/nvidia/gpus"
#define VERSION "/proc/driver/nvidia/version"

/* From NVIDIA's NVML API reference; sampler/source/nvml_api.h says why there is no header. */
typedef struct nvml_gpu *nvml_gpu;
struct nvml_amount {
	unsigned long long total, free, used;
};
struct nvml_place {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, nvml_gpu *);
int nvmlDeviceGetName(nvml_gpu, char *, unsigned);
int nvmlDeviceGetUUID(nvml_gpu, char *, unsigned);
int nvmlDeviceGetPciInfo_v3(nvml_gpu, struct nvml_place *);
int nvmlDeviceGetMemoryInfo(nvml_gpu, struct nvml_amount *);
int nvmlDeviceGetMinorNumber(nvml_gpu, unsigned *);
int nvmlDeviceGetCudaComputeCapability(nvml_gpu, int *, int *);
int nvmlSystemGetDriverVersion(char *, unsigned);

#define MUST(X) \
	X(nvmlInit_v2) X(nvmlShutdown) X(nvmlDeviceGetCount_v2) X(nvmlDeviceGetHandleByIndex_v2)
#define MAY(X) \
	X(nvmlDeviceGetName) \
	X(nvmlDeviceGetUUID) \
	X(nvmlDeviceGetPciInfo_v3) \
	X(nvmlDeviceGetMemoryInfo) \
	X(nvmlDeviceGetMinorNumber) \
	X(nvmlDeviceGetCudaComputeCapability) \
	X(nvmlSystemGetDriverVersion)

struct lib {
	DYNLIB_MEMBERS(MUST)
	DYNLIB_MEMBERS(MAY)
};
#define ROW(f) DYNLIB_SYM(struct lib, f),
#define ROW_OPT(f) DYNLIB_SYM_OPT(struct lib, f),
static const struct dynlib_sym symbols[] = { MUST(ROW) MAY(ROW_OPT) };

/* Calls each() for every GPU that answers, between init and shutdown. */
static bool with_nvml(struct devices *d,
		      void (*each)(struct devices *d, const struct lib *l, unsigned i, nvml_gpu h))
{
	static const char *const names[] = { "libnvidia-ml.so.1", NULL };
	const char *given = getenv("PROFRIG_NVML_LIB"); /* tests put a stand-in here */
	const char *const one[] = { given, NULL };
	void *handle = NULL;
	struct lib l;
	unsigned count = 0;
	bool ok;

	if (dynlib_open(given && *given ? one : names, &handle, NULL) < 0)
		return false;
	ok = dynlib_load(handle, symbols, ARRAY_LEN(symbols), &l, NULL) == 0 &&
	     l.nvmlInit_v2() == 0;
	if (ok) {
		l.nvmlDeviceGetCount_v2(&count);
		for (unsigned i = 0; i < count && i < DEVICES_MAX; i++) {
			nvml_gpu h;

			if (l.nvmlDeviceGetHandleByIndex_v2(i, &h) == 0)
				each(d, &l, i, h);
		}
		if (!*d->driver && l.nvmlSystemGetDriverVersion)
			l.nvmlSystemGetDriverVersion(d->driver, sizeof(d->driver));
		l.nvmlShutdown();
	}
	dynlib_close(handle);
	return ok;
}

static void add_capability(struct gpu *g, const struct lib *l, nvml_gpu h)
{
	struct nvml_amount m;
	int major, minor;

	if (l->nvmlDeviceGetCudaComputeCapability &&
	    l->nvmlDeviceGetCudaComputeCapability(h, &major, &minor) == 0)
		snprintf(g->arch, sizeof(g->arch), "sm_%d%d", major, minor);
	if (l->nvmlDeviceGetMemoryInfo && l->nvmlDeviceGetMemoryInfo(h, &m) == 0)
		g->memory_bytes = (int64_t)m.total;
}

static void add_of_nvml(struct devices *d, const struct lib *l, unsigned i, nvml_gpu h)
{
	struct gpu g = { .vendor = GPU_NVIDIA, .index = (int)i, .render_minor = -1, .group = -1 };
	struct nvml_place place = { .id = "" };
	unsigned minor;

	snprintf(g.name, sizeof(g.name), "NVIDIA GPU");
	if (l->nvmlDeviceGetName)
		l->nvmlDeviceGetName(h, g.name, sizeof(g.name));
	if (l->nvmlDeviceGetUUID)
		l->nvmlDeviceGetUUID(h, g.id, sizeof(g.id));
	if (l->nvmlDeviceGetPciInfo_v3 && l->nvmlDeviceGetPciInfo_v3(h, &place) == 0)
		snprintf(g.pci, sizeof(g.pci), "%04x:%02x:%02x.0", place.domain & 0xffff,
			 place.bus & 0xff, place.device & 0x1f);
	if (l->nvmlDeviceGetMinorNumber && l->nvmlDeviceGetMinorNumber(h, &minor) == 0)
		g.render_minor = (int)minor;
	add_capability(&g, l, h);
	VEC_PUSH(&d->gpus, g);
}

static void device_complete(struct devices *d, const struct lib *l, unsigned i, nvml_gpu h)
{
	for (size_t k = 0; k < d->gpus.nr; k++)
		if (d->gpus.v[k].vendor == GPU_NVIDIA && d->gpus.v[k].index == (int)i)
			add_capability(&d->gpus.v[k], l, h);
}

void devices_ask_nvml(struct devices *d)
{
	if (devices_count(d, GPU_NVIDIA))
		with_nvml(d, device_complete);
}

/* Folders are named by PCI address and fs_list sorts them, which gives the driver's order. */
static void find_in_proc(struct devices *d, const char *root)
{
	CLEANUP(xfreep) char *gpus = xasprintf("%s" GPUS, root);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	fs_list(gpus, &names, NULL);
	for (size_t i = 0; i < names.nr && i < DEVICES_MAX; i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/%s/information", gpus, names.v[i]);
		CLEANUP(xfreep) char *text = NULL;
		struct gpu g = { .vendor = GPU_NVIDIA,
				 .index = (int)devices_count(d, GPU_NVIDIA),
				 .render_minor = -1,
				 .group = -1 };
		char minor[16];
		int64_t v;

		if (fs_read(path, DEVICE_FILE_MAX, &text, NULL, NULL) < 0)
			continue;
		snprintf(g.pci, sizeof(g.pci), "%s", names.v[i]);
		if (!device_line(text, "Model", ": \t", g.name, sizeof(g.name)))
			snprintf(g.name, sizeof(g.name), "NVIDIA GPU");
		device_line(text, "GPU UUID", ": \t", g.id, sizeof(g.id));
		if (device_line(text, "Device Minor", ": \t", minor, sizeof(minor)) &&
		    num_i64(minor, strlen(minor), &v) == 0 && v >= 0 && v < 1024)
			g.render_minor = (int)v;
		VEC_PUSH(&d->gpus, g);
	}
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …" */
static void find_driver(struct devices *d, const char *root)
{
	CLEANUP(xfreep) char *path = xasprintf("%s" VERSION, root);
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	if (fs_read(path, DEVICE_FILE_MAX, &text, NULL, NULL) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	strvec_split(&words, text, " \t");
	for (size_t i = 0; i < words.nr && !*d->driver; i++)
		if (strchr(words.v[i], '.') &&
		    strspn(words.v[i], "0123456789.") == strlen(words.v[i]))
			snprintf(d->driver, sizeof(d->driver), "%s", words.v[i]);
}

static bool has_file(const char *root, const char *file)
{
	CLEANUP(xfreep) char *path = xasprintf("%s%s", root, file);

	return fs_exists(path);
}

void devices_find_nvidia(struct devices *d, const char *root)
{
	d->cdi = has_file(root, "/etc/cdi/nvidia.yaml") || has_file(root, "/etc/cdi/nvidia.json") ||
		 has_file(root, "/run/cdi/nvidia.yaml") ||
		 has_file(root, "/var/run/cdi/nvidia.yaml");
	find_driver(d, root);
	find_in_proc(d, root);
	/* WSL has only the library and /dev/dxg. */
	if (!devices_count(d, GPU_NVIDIA) &&
	    (has_file(root, "/dev/nvidiactl") || has_file(root, "/dev/dxg")))
		with_nvml(d, add_of_nvml);
	if (!devices_count(d, GPU_NVIDIA))
		snprintf(d->nvidia_why, sizeof(d->nvidia_why), "no NVIDIA GPU in %s", GPUS);
	else if (!has_file(root, "/dev/dxg"))
		device_opens(root, "/dev/nvidiactl", "nvidia", "", d->nvidia_why,
			     sizeof(d->nvidia_why));
}
