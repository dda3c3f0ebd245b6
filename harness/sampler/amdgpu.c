/*
 * amdgpu: AMD GPUs through the kernel driver's sysfs files; no library, nothing to initialise, the
 * default on AMD.
 *
 * /sys/class/drm/card<N>/device/
 *	vendor				0x1002
 *	gpu_metrics			binary, layout by revision (below)
 *	mem_info_vram_used|total	bytes
 *	gpu_busy_percent, mem_busy_percent	%
 *	product_name			on some
 *	hwmon/hwmon<M>/			power1_average (filtered), power1_input (of the moment) µW,
 *					temp2_input (junction), temp1_input (edge) m°C,
 *					freq1_input Hz
 *
 * A text file says what it means, so it goes first; gpu_metrics gives the energy counter, which no
 * text file has, and stands in where one is absent.
 *
 * gpu_metrics begins with u16 size, u8 format revision, u8 content revision; little-endian; all
 * bits set means "not there". Offsets are from the kernel's kgd_pp_interface.h. energy_accumulator
 * counts 2^-16 J; the header says so from 1.4 on, and 1.1 to 1.3 are taken alike (it fits MI250X).
 * Formats 2 and 3 are APUs: no energy counter, and units that differ between chips, so nothing is
 * read of them. A revision that is not in the table is not guessed at.
 *
 * Devices are numbered by PCI address, as ROCm numbers them without *_VISIBLE_DEVICES.
 */
#include "samplers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/vec.h"

#define DRM "/sys/class/drm"
#define AMD_VENDOR "0x1002"
#define BLOB_BYTES 512 /* more than any offset below */

struct layout {
	uint8_t format, content;
	uint16_t energy; /* u64; 0: none */
	uint16_t power, activity, mem_activity, hotspot;
};

static const struct layout layouts[] = {
	{ 1, 0, 0, 34, 28, 30, 18 }, { 1, 1, 24, 22, 16, 18, 6 }, { 1, 2, 24, 22, 16, 18, 6 },
	{ 1, 3, 24, 22, 16, 18, 6 }, { 1, 4, 24, 10, 12, 14, 4 }, { 1, 5, 88, 10, 12, 14, 4 },
	{ 1, 6, 16, 10, 12, 14, 4 }, { 1, 7, 24, 10, 12, 14, 4 }, { 1, 8, 24, 10, 12, 14, 4 },
};

enum source { M_ENERGY, M_POWER, M_ACTIVITY, M_MEM_ACTIVITY, M_HOTSPOT, FILE_NUMBER, CONSTANT };

struct reading {
	enum source source;
	int fd;       /* FILE_NUMBER */
	double scale; /* CONSTANT: the value */
};

struct card {
	char *dir, *pci;
	int metrics_fd;
	const struct layout *layout;
	size_t nr;
	struct reading reading[SAMPLER_MAX_SERIES];
};

struct sampler_state {
	VEC(struct sampler_device) dev;
	VEC(struct card) cards;
};

static void card_release(struct card *c)
{
	for (size_t i = 0; i < c->nr; i++)
		xclosep(&c->reading[i].fd);
	xclosep(&c->metrics_fd);
	free(c->dir);
	free(c->pci);
}

static void amdgpu_close(struct sampler_state *st)
{
	for (size_t i = 0; i < st->cards.nr; i++)
		card_release(&st->cards.v[i]);
	VEC_RELEASE(&st->cards);
	VEC_RELEASE(&st->dev);
	free(st);
}

/* --- gpu_metrics --- */

struct blob {
	size_t n;
	unsigned char at[BLOB_BYTES];
};

static int read_blob(int fd, struct blob *b)
{
	ssize_t got = pread(fd, b->at, BLOB_BYTES, 0);

	b->n = got > 0 ? (size_t)got : 0;
	if (got < 4)
		return got < 0 ? -errno : -ENODATA;
	return 0;
}

static bool is_revision(const struct blob *b, const struct layout *l)
{
	return b->at[2] == l->format && b->at[3] == l->content;
}

/* A field that the blob is too short for is not there either. */
static double field(const struct blob *b, size_t offset, unsigned size)
{
	uint64_t v = 0, none = UINT64_MAX >> (64 - 8 * size);

	if (offset + size > b->n)
		return NAN;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)b->at[offset + i] << (8 * i);
	return v == none ? NAN : (double)v;
}

/* Some firmware counts activity in hundredths; a value that cannot be % is none. */
static double percent(double v)
{
	return v > 100 ? NAN : v;
}

static double metric(const struct layout *l, const struct blob *b, enum source s)
{
	switch (s) {
	case M_ENERGY:
		return l->energy ? field(b, l->energy, 8) / 65536 : NAN;
	case M_POWER:
		return field(b, l->power, 2);
	case M_ACTIVITY:
		return percent(field(b, l->activity, 2));
	case M_MEM_ACTIVITY:
		return percent(field(b, l->mem_activity, 2));
	case M_HOTSPOT:
		return field(b, l->hotspot, 2);
	case FILE_NUMBER:
	case CONSTANT:
		break;
	}
	return NAN;
}

/* --- opening --- */

/* A card being opened. */
struct opening {
	struct card *c;
	struct sampler_device *d;
	const char *fields;
	struct blob blob; /* when c->layout */
	char note[96];
};

static bool has(const struct opening *o, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < o->d->nr; i++)
		if (strncmp(o->d->series[i].name, name, n) == 0 && o->d->series[i].name[n] == '.')
			return true;
	return false;
}

static bool add(struct opening *o, const char *name, const char *unit, struct reading r)
{
	if (!sampler_device_add(o->d, name, unit))
		return false;
	o->c->reading[o->c->nr++] = r;
	return true;
}

/* Where the card has the file and nothing else gave that series. */
static void add_file(struct opening *o, const char *dir, const char *file, const char *name,
		     const char *unit, double scale)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	CLEANUP(xclosep) int fd = -1;
	double v;

	if (has(o, name) || !sampler_wants(o->fields, name))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || sampler_number_at(fd, &v) < 0)
		return;
	if (add(o, name, unit, (struct reading){ FILE_NUMBER, fd, scale }))
		fd = -1;
}

static void add_metric(struct opening *o, enum source s, const char *name, const char *unit)
{
	if (o->c->layout && !has(o, name) && sampler_wants(o->fields, name) &&
	    !isnan(metric(o->c->layout, &o->blob, s)))
		add(o, name, unit, (struct reading){ s, -1, 1 });
}

static void open_metrics(struct opening *o)
{
	CLEANUP(xfreep) char *path = fs_join(o->c->dir, "gpu_metrics");
	const unsigned char *b = o->blob.at;

	snprintf(o->note, sizeof(o->note), "no gpu_metrics, so no energy counter");
	o->c->metrics_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (o->c->metrics_fd < 0 || read_blob(o->c->metrics_fd, &o->blob) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++)
		if (is_revision(&o->blob, &layouts[i]))
			o->c->layout = &layouts[i];
	if (o->c->layout)
		snprintf(o->note, sizeof(o->note), "gpu_metrics %u.%u%s", b[2], b[3],
			 o->c->layout->energy ? ", energy counts 2^-16 J" : "");
	else if (b[2] == 2 || b[2] == 3)
		snprintf(o->note, sizeof(o->note), "gpu_metrics %u.%u (APU): no energy counter",
			 b[2], b[3]);
	else
		snprintf(o->note, sizeof(o->note),
			 "gpu_metrics %u.%u is not known: energy counter not read", b[2], b[3]);
}

static void open_hwmon(struct opening *o)
{
	CLEANUP(xfreep) char *base = fs_join(o->c->dir, "hwmon");
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(base, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(base, entries.v[i]);

		add_file(o, dir, "power1_average", "power", "W", 1e-6);
		/* with both, each by its own name; alone, it is the power */
		add_file(o, dir, "power1_input", has(o, "power") ? "power_instant" : "power", "W",
			 1e-6);
		add_file(o, dir, "temp2_input", "temperature", "degC", 1e-3);
		add_file(o, dir, "temp1_input", "temperature", "degC", 1e-3);
		add_file(o, dir, "freq1_input", "clock", "Hz", 1);
	}
}

/* Read once: it does not change. */
static void add_vram_total(struct opening *o)
{
	CLEANUP(xfreep) char *path = fs_join(o->c->dir, "mem_info_vram_total");
	double v;

	if (sampler_wants(o->fields, "vram_total") && sampler_read_number(path, &v) == 0)
		add(o, "vram_total", "bytes", (struct reading){ CONSTANT, -1, v });
}

static void open_card(struct card *c, unsigned index, const char *fields, struct sampler_device *d)
{
	CLEANUP(xfreep) char *name_path = fs_join(c->dir, "product_name");
	struct opening o = { .c = c, .d = d, .fields = fields };
	char product[64];
	bool uses_blob = false;

	snprintf(d->id, sizeof(d->id), "gpu%u", index);
	if (sampler_read_text(name_path, product, sizeof(product)) <= 0)
		snprintf(product, sizeof(product), "AMD GPU");
	open_metrics(&o);
	open_hwmon(&o);
	add_metric(&o, M_POWER, "power", "W");
	add_metric(&o, M_ENERGY, "energy", "J");
	add_file(&o, c->dir, "mem_info_vram_used", "vram_used", "bytes", 1);
	add_vram_total(&o);
	add_file(&o, c->dir, "gpu_busy_percent", "busy", "%", 1);
	add_metric(&o, M_ACTIVITY, "busy", "%");
	add_file(&o, c->dir, "mem_busy_percent", "mem_busy", "%", 1);
	add_metric(&o, M_MEM_ACTIVITY, "mem_busy", "%");
	add_metric(&o, M_HOTSPOT, "temperature", "degC");
	for (size_t i = 0; i < c->nr; i++)
		uses_blob |= c->reading[i].source < FILE_NUMBER;
	if (!uses_blob)
		c->layout = NULL; /* it need not be read */
	snprintf(d->facts, sizeof(d->facts), "%.60s, pci %.30s, %s", product, c->pci, o.note);
}

static int by_pci(const void *a, const void *b)
{
	return strcmp(((const struct card *)a)->pci, ((const struct card *)b)->pci);
}

/* Card directories of AMD devices, by PCI address. */
static void find_cards(struct sampler_state *st)
{
	CLEANUP(xfreep) char *drm = xasprintf("%s" DRM, sampler_root());
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(drm, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		CLEANUP(xfreep) char *dir = NULL, *vendor_path = NULL;
		char vendor[16], link[PATH_MAX];
		struct card c = { .metrics_fd = -1 };
		ssize_t n;

		/* card0-DP-1 is a connector */
		if (strncmp(entries.v[i], "card", 4) != 0 || strchr(entries.v[i], '-'))
			continue;
		dir = xasprintf("%s/%s/device", drm, entries.v[i]);
		vendor_path = fs_join(dir, "vendor");
		if (sampler_read_text(vendor_path, vendor, sizeof(vendor)) < 0 ||
		    strcmp(vendor, AMD_VENDOR) != 0)
			continue;
		n = readlink(dir, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		c.pci = xstrdup(n > 0 ? fs_base(link) : entries.v[i]);
		c.dir = STEAL(dir);
		VEC_PUSH(&st->cards, c);
	}
	if (st->cards.nr)
		qsort(st->cards.v, st->cards.nr, sizeof(*st->cards.v), by_pci);
}

static int amdgpu_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	const char *fields = sampler_option(o, "fields", "");
	struct sampler_state *st = xcalloc(1, sizeof(*st));
	size_t kept = 0, found;
	int r;

	find_cards(st);
	found = st->cards.nr;
	r = found ? sampler_check_selection(o ? o->device : NULL, (unsigned)found, err) : 0;
	if (r == 0)
		r = sampler_check_fields(fields, err);
	if (r < 0) {
		amdgpu_close(st);
		return r;
	}
	for (size_t i = 0; i < found; i++) {
		struct sampler_device d = { 0 };

		if (sampler_selects(o ? o->device : NULL, (unsigned)i))
			open_card(&st->cards.v[i], (unsigned)i, fields, &d);
		if (!d.nr) {
			card_release(&st->cards.v[i]);
			continue;
		}
		VEC_PUSH(&st->dev, d);
		st->cards.v[kept++] = st->cards.v[i];
	}
	st->cards.nr = kept;
	if (kept) {
		*ret = st;
		return 0;
	}
	amdgpu_close(st);
	if (found)
		return err_set(err, ENODEV, "none of %zu AMD GPUs was selected or gives a reading",
			       found);
	return err_set(err, ENODEV, "no AMD GPU in %s" DRM, sampler_root());
}

static int amdgpu_probe(const struct sampler_opts *o, struct err *err)
{
	struct sampler_state *st = NULL;
	int r = amdgpu_open(o, &st, err);

	if (r == 0)
		amdgpu_close(st);
	return r;
}

static size_t amdgpu_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

/* --- reading --- */

static int amdgpu_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	struct card *c = &st->cards.v[d];
	struct blob blob;
	const char *blob_reason = "gpu_metrics has no value";
	bool have = false;

	if (c->layout) {
		int r = read_blob(c->metrics_fd, &blob);

		have = r == 0 && is_revision(&blob, c->layout);
		if (!have)
			blob_reason =
				r < 0 ? sampler_reason(r) : "gpu_metrics changed its revision";
	}
	for (size_t i = 0; i < c->nr; i++) {
		const struct reading *rd = &c->reading[i];

		if (rd->source == CONSTANT) {
			v[i] = rd->scale;
		} else if (rd->source == FILE_NUMBER) {
			int r = sampler_number_at(rd->fd, &v[i]);

			v[i] = r < 0 ? NAN : v[i] * rd->scale;
			if (r < 0)
				*reason = sampler_reason(r);
		} else {
			v[i] = have ? metric(c->layout, &blob, rd->source) : NAN;
			if (isnan(v[i]))
				*reason = blob_reason;
		}
	}
	return 0;
}

const struct sampler sampler_amdgpu = {
	.name = "amdgpu",
	.about = "AMD power, energy, memory, utilisation from the kernel driver (sysfs)",
	.vendor = "amd",
	.probe = amdgpu_probe,
	.open = amdgpu_open,
	.devices = amdgpu_devices,
	.read = amdgpu_read,
	.close = amdgpu_close,
};
