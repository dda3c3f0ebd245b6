/*
 * devices: the GPUs of this machine, from the kernel; no program is started and no device is opened
 * for work.
 *
 *	devices_find(&d, root)		never fails: absent devices are not in the list
 *	devices_usable(&d, GPU_AMD, &why)
 *	devices_release(&d)
 *
 * Sources, all below `root` ("" for the machine itself, a folder for tests; callers pass
 * $PROFRIG_SYSFS_ROOT, devices_root):
 *
 *	AMD	/sys/class/kfd/kfd/topology/nodes/<n>/properties, of nodes that have a gpu_id:
 *		gfx_target_version 90402 → "gfx942" (major × 10000 + minor × 100 + stepping, the
 *		last two in hexadecimal), drm_render_minor, unique_id, domain, location_id (PCI:
 *		bus, device and function in 8, 5 and 3 bits); mem_banks of heap type 1 and 2 are its
 *		memory. A node whose properties may not be read is a GPU that is not ours.
 *		/sys/class/drm/renderD<minor>/device/product_name, else device and revision looked
 *		up in /usr/share/libdrm/amdgpu.ids, is its name. /dev/kfd must be there and open.
 *	NVIDIA	/proc/driver/nvidia/gpus/<pci>/information: Model, GPU UUID, Device Minor;
 *		/proc/driver/nvidia/version. Where the driver shows no such folder (WSL) but a
 *		device file is there: NVML, by dlopen. It is also where the compute capability comes
 *		from, when devices_ask_nvml asks for it (it may take a second to start).
 *
 * Numbers are those of the runtimes without *_VISIBLE_DEVICES: ROCm counts KFD's nodes in their
 * order, NVIDIA's driver its GPUs by PCI address. Each vendor counts from 0.
 */
#ifndef PROFRIG_DEVICES_H
#define PROFRIG_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

enum gpu_vendor { GPU_NONE, GPU_AMD, GPU_NVIDIA };

struct gpu {
	enum gpu_vendor vendor;
	int index;
	char name[96];        /* "AMD Instinct MI300X", "NVIDIA H100 80GB HBM3"; never empty */
	char arch[32];        /* "gfx942"; "sm_90" after devices_ask_nvml, else "" */
	char pci[24];         /* "0000:c1:00.0"; "" unknown */
	char id[64];          /* unique_id in hexadecimal, or the UUID; "" unknown */
	int render_minor;     /* of /dev/dri/renderD<n>; -1 unknown, or none */
	int64_t memory_bytes; /* 0 unknown */
	int group;            /* of the device file, a number; -1 unknown or root's */
};

struct devices {
	VEC(struct gpu) gpus;               /* AMD's first */
	char amd_why[200], nvidia_why[200]; /* why none can be used; "" when one can */
	char driver[80];                    /* of NVIDIA; "" none */
	char rocm[64];                      /* /opt/rocm/.info/version; "" not installed */
	bool cdi;                           /* NVIDIA's GPUs are described for CDI */
};

/* $PROFRIG_SYSFS_ROOT, else "". */
const char *devices_root(void);
void devices_find(struct devices *ret, const char *root);
void devices_release(struct devices *d);
/* Compute capability and memory of NVIDIA's, where NVML answers. */
void devices_ask_nvml(struct devices *d);

/* "amd", "nvidia", "". */
const char *gpu_vendor_name(enum gpu_vendor v);
/* GPU_NONE for any other word. */
enum gpu_vendor gpu_vendor_of(const char *word);
/* False with the reason (borrowed, *ret_why may be NULL) when no GPU of this vendor can be used
 * here. */
bool devices_usable(const struct devices *d, enum gpu_vendor v, const char **ret_why);
size_t devices_count(const struct devices *d, enum gpu_vendor v);
/* NULL: there is none of that number. */
const struct gpu *devices_gpu(const struct devices *d, enum gpu_vendor v, int index);
/* The vendor whose GPUs can be used; GPU_NONE when there is none, AMD's when there are both. */
enum gpu_vendor devices_vendor(const struct devices *d);
/*
 * Device files that a container must be given for these GPUs: /dev/kfd and one render node each
 * (AMD), /dev/nvidiactl, /dev/nvidia-uvm and one /dev/nvidia<n> each (NVIDIA). nr 0: all there are.
 */
void devices_nodes(const struct devices *d, enum gpu_vendor v, const int *list, size_t nr,
		   struct strvec *out);
/* The groups that AMD's device files belong to, as numbers: their members may use the GPUs. */
void devices_groups(const struct devices *d, struct strvec *out);

/*
 * The variables that models of a models.json find in their environment, as "NAME=value":
 * MAD_GPU_VENDOR (AMD, NVIDIA), MAD_SYSTEM_NGPUS, MAD_SYSTEM_GPU_ARCHITECTURE (gfx942; NVIDIA: the
 * product), MAD_SYSTEM_GPU_PRODUCT_NAME, MAD_SYSTEM_HIP_VERSION (of ROCm; NVIDIA: of the driver),
 * MAD_RUNTIME_NGPUS (runtime_ngpus, < 0: all). Nothing when there is no GPU but the two numbers, 0.
 */
void devices_mad_env(const struct devices *d, int runtime_ngpus, struct strvec *out);

#endif
