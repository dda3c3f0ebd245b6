/* The sources, one file each. sampler_opts.c holds what profrig-rsmi needs too. */
#ifndef PROFRIG_SAMPLERS_PRIVATE_H
#define PROFRIG_SAMPLERS_PRIVATE_H

#include "profrig/sampler/sampler.h"

/* The sources; those of GPUs come first, in the order in which "auto" tries them. */
/* clang-format off */
#define SAMPLERS(X) \
	X(amdgpu) X(rocm_smi) X(nvml) X(rapl) X(estimate) X(procfs) X(replay)
#define SAMPLER_DECLARE(name) extern const struct sampler sampler_##name;
SAMPLERS(SAMPLER_DECLARE)
/* clang-format on */

/*
 * Adds "<name>.<id>" to a device whose id is set. Characters that would break the file's header
 * become '_'. False when the device is full or the name does not fit.
 */
bool sampler_device_add(struct sampler_device *d, const char *name, const char *unit);
/* True when `device` (NULL, "all", "0,2-4", "gpu1") selects index i. */
bool sampler_selects(const char *device, unsigned i);
/*
 * Whether `device` is well-formed (-EINVAL) and names only indexes below n (-ENODEV): a requested
 * device is never left out in silence.
 */
int sampler_check_selection(const char *device, unsigned n, struct err *err);
/*
 * True when the list `fields` (NULL or "" = everything) names the series or its family, the part
 * before the first '_': "power" selects power and power_instant, "vram" vram_used and vram_total.
 */
bool sampler_wants(const char *fields, const char *name);
/* Whether every word of `fields` names a series or a family that a GPU source knows (-EINVAL). */
int sampler_check_fields(const char *fields, struct err *err);
/*
 * Control characters become blanks, in place: device names come from drivers, marks from the
 * workload.
 */
void sampler_clean_line(char *s);
/*
 * A small file's text without its final line end and blanks, cut to the buffer. Length, or -errno.
 */
int sampler_read_text(const char *path, char *buf, size_t n);
/* A file that holds one finite number. */
int sampler_read_number(const char *path, double *ret);
/* The same of a file that stays open; sysfs makes the text anew for each read at offset 0. */
int sampler_number_at(int fd, double *ret);
/*
 * Adds a process that holds the device; one that was added before keeps its larger amount. NaN: how
 * much it holds is not known.
 */
void sampler_facts_user(struct sampler_facts *f, pid_t pid, const char *name, double vram_bytes);
/* Those that have a DRM handle of the GPU at a PCI address open, but for this one. */
void sampler_drm_users(const char *pci, struct sampler_facts *f);
/* Facts, other than readings, in the driver's files in a card's device folder. */
void amdgpu_facts(const char *dir, const char *pci, struct sampler_facts *ret);
/* The device folder of the AMD card at a PCI address, owned; NULL: there is none. */
char *amdgpu_card_dir(const char *pci);
/* -errno of a failed read as a reason. */
const char *sampler_reason(int code);

#endif
