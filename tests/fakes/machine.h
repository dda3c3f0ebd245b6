/*
 * machine: a folder that plays /sys for the samplers (PROFRIG_SYSFS_ROOT): files, links, and
 * gpu_metrics blobs.
 *
 * The structs below follow the kernel's kgd_pp_interface.h field by field up to the last one that
 * is used; the compiler places them, so what the sampler believes about offsets is checked against
 * something that does not share its table. Anything that fails here ends the program.
 */
#ifndef PROFRIG_FAKES_MACHINE_H
#define PROFRIG_FAKES_MACHINE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MACHINE_UNUSED __attribute__((unused))

struct gm_header {
	uint16_t structure_size;
	uint8_t format_revision, content_revision;
};

struct gm_v1_0 {
	struct gm_header header;
	uint64_t system_clock_counter;
	uint16_t temperature_edge, temperature_hotspot, temperature_mem;
	uint16_t temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
	uint16_t average_gfx_activity, average_umc_activity, average_mm_activity;
	uint16_t average_socket_power;
	uint32_t energy_accumulator;
	uint16_t more[20];
};

/* 1.1, 1.2, 1.3 */
struct gm_v1_1 {
	struct gm_header header;
	uint16_t temperature_edge, temperature_hotspot, temperature_mem;
	uint16_t temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
	uint16_t average_gfx_activity, average_umc_activity, average_mm_activity;
	uint16_t average_socket_power;
	uint64_t energy_accumulator;
	uint64_t system_clock_counter;
	uint16_t more[40];
};

struct gm_v1_4 {
	struct gm_header header;
	uint16_t temperature_hotspot, temperature_mem, temperature_vrsoc;
	uint16_t curr_socket_power;
	uint16_t average_gfx_activity, average_umc_activity;
	uint16_t vcn_activity[4];
	uint64_t energy_accumulator;
	uint64_t system_clock_counter;
	uint16_t more[100];
};

struct gm_v1_5 {
	struct gm_header header;
	uint16_t temperature_hotspot, temperature_mem, temperature_vrsoc;
	uint16_t curr_socket_power;
	uint16_t average_gfx_activity, average_umc_activity;
	uint16_t vcn_activity[4];
	uint16_t jpeg_activity[32];
	uint64_t energy_accumulator;
	uint64_t system_clock_counter;
	uint16_t more[100];
};

struct gm_v1_6 {
	struct gm_header header;
	uint16_t temperature_hotspot, temperature_mem, temperature_vrsoc;
	uint16_t curr_socket_power;
	uint16_t average_gfx_activity, average_umc_activity;
	uint64_t energy_accumulator;
	uint64_t system_clock_counter;
	uint16_t more[400];
};

/* 1.7, 1.8 */
struct gm_v1_7 {
	struct gm_header header;
	uint16_t temperature_hotspot, temperature_mem, temperature_vrsoc;
	uint16_t curr_socket_power;
	uint16_t average_gfx_activity, average_umc_activity;
	uint64_t mem_max_bandwidth;
	uint64_t energy_accumulator;
	uint64_t system_clock_counter;
	uint16_t more[400];
};

/* 2.1, 2.2 */
struct gm_v2_2 {
	struct gm_header header;
	uint16_t temperature_gfx, temperature_soc, temperature_core[8], temperature_l3[2];
	uint16_t average_gfx_activity, average_mm_activity;
	uint64_t system_clock_counter;
	uint16_t average_socket_power, average_cpu_power, average_soc_power, average_gfx_power;
	uint16_t more[40];
};

/* What a blob is to say, in its own units. */
struct gm_values {
	uint16_t power_w, busy, mem_busy, hotspot;
	uint64_t energy; /* 2^-16 J */
};

/*
 * Every field is all ones but what is asked for; neighbours get values of their own, so that a
 * wrong offset shows. Bytes written.
 */
static MACHINE_UNUSED size_t machine_metrics(void *buf, unsigned format, unsigned content,
					     const struct gm_values *v)
{
	struct gm_header h = { 0, (uint8_t)format, (uint8_t)content };
	size_t n = sizeof(h);

#define BLOB(TYPE, SET) \
	do { \
		struct TYPE b; \
		memset(&b, 0xff, sizeof(b)); \
		SET h.structure_size = (uint16_t)sizeof(b); \
		b.header = h; \
		memcpy(buf, &b, n = sizeof(b)); \
	} while (0)
#define OLD \
	b.temperature_edge = 11; \
	b.temperature_hotspot = v->hotspot; \
	b.temperature_mem = 12; \
	b.average_gfx_activity = v->busy; \
	b.average_umc_activity = v->mem_busy; \
	b.average_mm_activity = 13; \
	b.average_socket_power = v->power_w; \
	b.system_clock_counter = 0x1234567890;
#define NEW \
	b.temperature_hotspot = v->hotspot; \
	b.temperature_mem = 12; \
	b.temperature_vrsoc = 13; \
	b.curr_socket_power = v->power_w; \
	b.average_gfx_activity = v->busy; \
	b.average_umc_activity = v->mem_busy; \
	b.energy_accumulator = v->energy; \
	b.system_clock_counter = 0x1234567890;
	if (format == 1 && content == 0)
		BLOB(gm_v1_0, OLD b.energy_accumulator = (uint32_t)v->energy;);
	else if (format == 1 && content <= 3)
		BLOB(gm_v1_1, OLD b.energy_accumulator = v->energy;);
	else if (format == 1 && content == 4)
		BLOB(gm_v1_4, NEW);
	else if (format == 1 && content == 5)
		BLOB(gm_v1_5, NEW);
	else if (format == 1 && content == 6)
		BLOB(gm_v1_6, NEW);
	else if (format == 1 && content <= 8)
		BLOB(gm_v1_7, NEW b.mem_max_bandwidth = 5300;);
	else if (format == 2)
		BLOB(gm_v2_2, b.temperature_gfx = 5200; b.average_gfx_activity = 4100;
		     b.average_socket_power = 15000; b.system_clock_counter = 1;);
	else {
		memcpy(buf, &h, sizeof(h));
		memset((char *)buf + n, 0x5a, 300);
		n += 300;
	}
	return n;
#undef BLOB
#undef OLD
#undef NEW
}

/* --- files below a root --- */

static MACHINE_UNUSED void machine_write(const char *file, const void *data, size_t n)
{
	CLEANUP(xfreep) char *folder = fs_dir(file);
	FILE *f;

	if (fs_mkdirs(folder, 0755, NULL) < 0 || !(f = fopen(file, "we")) ||
	    fwrite(data, 1, n, f) != n || fclose(f)) {
		perror(file);
		abort();
	}
}

/* machine_text(root, "a number\n", "sys/class/%s/x", name) */
static MACHINE_UNUSED __attribute__((format(printf, 3, 4))) void machine_text(const char *root,
									      const char *text,
									      const char *fmt, ...)
{
	CLEANUP(xfreep) char *below = NULL, *file = NULL;
	va_list ap;

	va_start(ap, fmt);
	below = xvasprintf(fmt, ap);
	va_end(ap);
	file = fs_join(root, below);
	machine_write(file, text, strlen(text));
}

/* A card of DRM number `card` at a PCI address; returns its device folder, owned. */
static MACHINE_UNUSED char *machine_card(const char *root, unsigned card, const char *pci,
					 const char *vendor)
{
	char *card_dir = xasprintf("%s/sys/devices/pci0000:00/%s", root, pci);
	CLEANUP(xfreep) char *drm = xasprintf("%s/sys/class/drm/card%u", root, card);
	CLEANUP(xfreep) char *target = xasprintf("../../../devices/pci0000:00/%s", pci);
	CLEANUP(xfreep) char *link = fs_join(drm, "device");

	machine_text(card_dir, vendor, "vendor");
	if (fs_mkdirs(drm, 0755, NULL) < 0 || symlink(target, link) < 0) {
		perror(link);
		abort();
	}
	return card_dir;
}

static MACHINE_UNUSED void machine_card_metrics(const char *card_dir, unsigned format,
						unsigned content, const struct gm_values *v)
{
	CLEANUP(xfreep) char *file = fs_join(card_dir, "gpu_metrics");
	unsigned char blob[4096];

	machine_write(file, blob, machine_metrics(blob, format, content, v));
}

#endif
