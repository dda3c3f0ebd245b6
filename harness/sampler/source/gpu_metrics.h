/*
 * gpu_metrics: the binary file in which the kernel's AMD driver gives all of a GPU's readings at
 * once.
 *
 * It begins with u16 size, u8 format revision, u8 content revision; little-endian; all bits set
 * means "not there". Offsets are from the kernel's kgd_pp_interface.h. energy_accumulator counts
 * 2^-16 J: stated by that header from 1.4 on, assumed for 1.1 to 1.3 (it fits MI250X). Up to 1.3
 * power is an average, from 1.4 on it is instantaneous. Formats 2 and 3 are APUs: no energy
 * counter, and units that differ between chips, so they are not read, nor are revisions that are
 * not in the table.
 */
#ifndef PROFRIG_GPU_METRICS_H
#define PROFRIG_GPU_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_METRICS_BYTES 512 /* more than any offset */

enum gpu_metric { GM_ENERGY, GM_POWER, GM_BUSY, GM_MEM_BUSY, GM_HOTSPOT, GM_CLOCK };

struct gpu_metrics_layout {
	uint8_t format, content;
	bool power_now;  /* of the moment */
	uint16_t energy; /* u64; 0: none, as for the others, which are u16 */
	uint16_t power, busy, mem_busy, hotspot, clock;
};

struct gpu_metrics {
	size_t n;
	unsigned char at[GPU_METRICS_BYTES];
};

/* -errno; -ENODATA for less than a header. */
int gpu_metrics_read(int fd, struct gpu_metrics *ret);
/* NULL for a revision that is not known. */
const struct gpu_metrics_layout *gpu_metrics_layout(const struct gpu_metrics *m);
bool gpu_metrics_is(const struct gpu_metrics *m, const struct gpu_metrics_layout *l);
/* J, W, %, degC, Hz; NaN when it is not there or cannot be. */
double gpu_metrics_get(const struct gpu_metrics *m, const struct gpu_metrics_layout *l,
		       enum gpu_metric what);

#endif
