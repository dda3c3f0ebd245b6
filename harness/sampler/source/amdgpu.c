/*
 * amdgpu: AMD GPUs through the kernel driver's sysfs files; no library, nothing to initialise, the
 * default on AMD.
 *
 * /sys/class/drm/card<N>/device/
 *	vendor				0x1002
 *	gpu_metrics			binary, see gpu_metrics.h
 *	mem_info_vram_used|total	bytes
 *	gpu_busy_percent, mem_busy_percent	%
 *	product_name			on some
 *	hwmon/hwmon<M>/			power1_average (filtered), power1_input (of the moment) µW,
 *					temp2_input (junction), temp1_input (edge) m°C,
 *					freq1_input Hz
 *
 * Each text file costs a call into the driver, which asks the firmware. gpu_metrics is one call for
 * all of its fields, so it is preferred. A text file is used for a field that gpu_metrics lacks, at
 * open or at any read, and when the two differ in magnitude (firmware with other units).
 *
 * Files are kept open. When one of them reports that its device is gone (unplugged, or the driver
 * was unloaded), all readings fail, and from time to time profrig looks for a card at that PCI
 * address; its numbers below /sys/class may have changed.
 *
 * Devices are numbered by PCI address, as ROCm numbers them without *_VISIBLE_DEVICES.
 */
#include "gpu_metrics.h"
#include "samplers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/vec.h"

#define DRM "/sys/class/drm"
#define AMD_VENDOR "0x1002"
#define RETRY_NS (NS_PER_S / 4)
#define MAGNITUDE 20

struct reading {
	bool metric, constant;
	enum gpu_metric what; /* used when metric is set */
	const char *file;     /* text file, or NULL; below hwmon/hwmon<M>/ when hwmon */
	bool hwmon;
	int fd;       /* of the text file */
	double scale; /* when constant: the value */
};

struct card {
	char *dir, *pci;
	int metrics_fd;
	const struct gpu_metrics_layout *layout;
	int64_t gone_ns; /* time of the last search; 0: the card is there */
	VEC(struct reading) reading;
};

struct sampler_state {
	VEC(struct sampler_device) dev;
	VEC(struct card) cards;
};

static void close_files(struct card *c)
{
	for (size_t i = 0; i < c->reading.nr; i++)
		xclosep(&c->reading.v[i].fd);
	xclosep(&c->metrics_fd);
}

static void card_release(struct card *c)
{
	close_files(c);
	VEC_RELEASE(&c->reading);
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

static int open_text(const char *dir, const char *file)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);

	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens a file of the card, or of the first of its hwmon folders that has it. */
static int open_file(const struct card *c, const char *file, bool hwmon)
{
	CLEANUP(xfreep) char *base = fs_join(c->dir, "hwmon");
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;
	int fd = -1;

	if (!hwmon)
		return open_text(c->dir, file);
	fs_list(base, &entries, NULL);
	for (size_t i = 0; fd < 0 && i < entries.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(base, entries.v[i]);

		fd = open_text(dir, file);
	}
	return fd;
}

/* --- opening --- */

/* A card being opened. */
struct opening {
	struct card *c;
	struct sampler_device *d;
	const char *fields;
	struct gpu_metrics blob; /* set when c->layout is */
	char note[96];
};

static bool opening_has(const struct opening *o, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < o->d->nr; i++)
		if (strncmp(o->d->series[i].name, name, n) == 0 && o->d->series[i].name[n] == '.')
			return true;
	return false;
}

/* A possible source of a series; the text file's number times scale has the unit. */
struct origin {
	const char *file;
	bool hwmon;
	double scale;
	bool metric;
	enum gpu_metric what;
};

static bool values_alike(double a, double b)
{
	return a <= MAGNITUDE * b && b <= MAGNITUDE * a;
}

/* False: the card does not have the series, or another source provides it. */
static bool opening_add(struct opening *o, const char *name, const char *unit, struct origin from)
{
	struct reading r = { .what = from.what, .fd = -1, .hwmon = from.hwmon };
	double text = NAN, blob = NAN;

	if (opening_has(o, name) || !sampler_wants(o->fields, name))
		return false;
	if (from.file)
		r.fd = open_file(o->c, from.file, from.hwmon);
	if (r.fd >= 0 && sampler_number_at(r.fd, &text) == 0) {
		r.file = from.file;
		r.scale = from.scale;
		text *= from.scale;
	} else {
		xclosep(&r.fd);
	}
	if (from.metric && o->c->layout)
		blob = gpu_metrics_get(&o->blob, o->c->layout, from.what);
	/* of an idle GPU both may be almost zero */
	r.metric = isfinite(blob) && (!r.file || values_alike(blob + 1, text + 1));
	if ((!r.metric && !r.file) || !sampler_device_add(o->d, name, unit)) {
		xclosep(&r.fd);
		return false;
	}
	VEC_PUSH(&o->c->reading, r);
	return true;
}

static void add_text(struct opening *o, const char *name, const char *unit, const char *file,
		     bool hwmon, double scale)
{
	opening_add(o, name, unit, (struct origin){ .file = file, .hwmon = hwmon, .scale = scale });
}

static void series_add_both(struct opening *o, const char *name, const char *unit, const char *file,
			    bool hwmon, double scale, enum gpu_metric what)
{
	opening_add(o, name, unit, (struct origin){ file, hwmon, scale, true, what });
}

static void open_metrics(struct opening *o)
{
	const unsigned char *b = o->blob.at;

	snprintf(o->note, sizeof(o->note), "no gpu_metrics, so no energy counter");
	o->c->metrics_fd = open_text(o->c->dir, "gpu_metrics");
	if (o->c->metrics_fd < 0 || gpu_metrics_read(o->c->metrics_fd, &o->blob) < 0)
		return;
	o->c->layout = gpu_metrics_layout(&o->blob);
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

static bool has_number(const struct card *c, const char *file)
{
	CLEANUP(xclosep) int fd = open_file(c, file, true);
	double v;

	return fd >= 0 && sampler_number_at(fd, &v) == 0;
}

/*
 * power is the average when there is one, and power_instant is then the power of the moment.
 * Without an average, power is that of the moment. gpu_metrics has one of the two.
 */
static void add_power(struct opening *o)
{
	bool now = o->c->layout && o->c->layout->power_now;
	bool average = has_number(o->c, "power1_average") || (o->c->layout && !now);
	const char *instant = average ? "power_instant" : "power";

	if (now || !o->c->layout)
		add_text(o, "power", "W", "power1_average", true, 1e-6);
	else
		series_add_both(o, "power", "W", "power1_average", true, 1e-6, GM_POWER);
	if (now)
		series_add_both(o, instant, "W", "power1_input", true, 1e-6, GM_POWER);
	else
		add_text(o, instant, "W", "power1_input", true, 1e-6);
}

/* Read once: it does not change. */
static void add_vram_total(struct opening *o)
{
	CLEANUP(xfreep) char *path = fs_join(o->c->dir, "mem_info_vram_total");
	double v;

	if (sampler_wants(o->fields, "vram_total") && sampler_read_number(path, &v) == 0 &&
	    sampler_device_add(o->d, "vram_total", "bytes"))
		VEC_PUSH(&o->c->reading,
			 ((struct reading){ .constant = true, .fd = -1, .scale = v }));
}

static void add_series(struct opening *o)
{
	add_power(o);
	opening_add(o, "energy", "J", (struct origin){ .metric = true, .what = GM_ENERGY });
	add_text(o, "vram_used", "bytes", "mem_info_vram_used", false, 1);
	add_vram_total(o);
	series_add_both(o, "busy", "%", "gpu_busy_percent", false, 1, GM_BUSY);
	series_add_both(o, "mem_busy", "%", "mem_busy_percent", false, 1, GM_MEM_BUSY);
	series_add_both(o, "temperature", "degC", "temp2_input", true, 1e-3, GM_HOTSPOT);
	add_text(o, "temperature", "degC", "temp1_input", true, 1e-3);
	series_add_both(o, "clock", "Hz", "freq1_input", true, 1, GM_CLOCK);
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
	add_series(&o);
	for (size_t i = 0; i < c->reading.nr; i++)
		uses_blob |= c->reading.v[i].metric;
	if (!uses_blob)
		c->layout = NULL; /* it is not needed */
	snprintf(d->pci, sizeof(d->pci), "%.31s", c->pci);
	snprintf(d->facts, sizeof(d->facts), "%.60s, pci %.30s, %s", product, c->pci, o.note);
}

static int by_pci(const void *a, const void *b)
{
	return strcmp(((const struct card *)a)->pci, ((const struct card *)b)->pci);
}

/* Finds the device folder and PCI address of a DRM entry. False: it is no AMD card. */
static bool is_card(const char *drm, const char *entry, struct card *ret)
{
	CLEANUP(xfreep) char *dir = NULL, *vendor_path = NULL;
	char vendor[16], link[PATH_MAX];
	ssize_t n;

	/* card0-DP-1 is a connector */
	if (strncmp(entry, "card", 4) != 0 || strchr(entry, '-'))
		return false;
	dir = xasprintf("%s/%s/device", drm, entry);
	vendor_path = fs_join(dir, "vendor");
	if (sampler_read_text(vendor_path, vendor, sizeof(vendor)) < 0 ||
	    strcmp(vendor, AMD_VENDOR) != 0)
		return false;
	n = readlink(dir, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	ret->pci = xstrdup(n > 0 ? fs_base(link) : entry);
	ret->dir = STEAL(dir);
	return true;
}

char *amdgpu_card_dir(const char *pci)
{
	CLEANUP(xfreep) char *drm = xasprintf("%s" DRM, sampler_root());
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;
	char *found = NULL;

	fs_list(drm, &entries, NULL);
	for (size_t i = 0; !found && i < entries.nr; i++) {
		struct card c = { .metrics_fd = -1 };

		if (!is_card(drm, entries.v[i], &c))
			continue;
		if (strcmp(c.pci, pci) == 0)
			found = STEAL(c.dir);
		card_release(&c);
	}
	return found;
}

/* Card directories of AMD devices, by PCI address. */
static void find_cards(struct sampler_state *st)
{
	CLEANUP(xfreep) char *drm = xasprintf("%s" DRM, sampler_root());
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(drm, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		struct card c = { .metrics_fd = -1 };

		if (is_card(drm, entries.v[i], &c))
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

static size_t amdgpu_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

static void amdgpu_facts_of(struct sampler_state *st, size_t d, struct sampler_facts *ret)
{
	amdgpu_facts(st->cards.v[d].dir, st->cards.v[d].pci, ret);
}

/* --- reading --- */

static bool is_gone(int code)
{
	return code == -ENODEV || code == -ENXIO || code == -ESRCH;
}

/* Opens the files of the card again when it is back. */
static bool card_reopen(struct card *c)
{
	char *dir = amdgpu_card_dir(c->pci);
	struct gpu_metrics blob;

	if (!dir)
		return false;
	free(c->dir);
	c->dir = dir;
	c->metrics_fd = open_text(c->dir, "gpu_metrics");
	/* another driver may have another layout */
	if (c->layout && c->metrics_fd >= 0 && gpu_metrics_read(c->metrics_fd, &blob) == 0 &&
	    gpu_metrics_layout(&blob))
		c->layout = gpu_metrics_layout(&blob);
	for (size_t i = 0; i < c->reading.nr; i++)
		if (c->reading.v[i].file)
			c->reading.v[i].fd =
				open_file(c, c->reading.v[i].file, c->reading.v[i].hwmon);
	return true;
}

/* Whether the card can be read. Looks for a missing card, but not at every tick. */
static bool is_there(struct card *c)
{
	int64_t now;

	if (!c->gone_ns)
		return true;
	now = clock_monotonic_ns();
	if (now - c->gone_ns < RETRY_NS)
		return false;
	close_files(c);
	c->gone_ns = card_reopen(c) ? 0 : now;
	return !c->gone_ns;
}

/* The value; NaN with a code when it cannot be read. */
static double card_take(const struct reading *rd, const struct card *c,
			const struct gpu_metrics *blob, int blob_code, int *code)
{
	double v = NAN;
	int r;

	*code = 0;
	if (rd->constant)
		return rd->scale;
	if (rd->metric) {
		*code = blob_code;
		v = blob_code ? NAN : gpu_metrics_get(blob, c->layout, rd->what);
		if (isfinite(v) || is_gone(blob_code) || !rd->file)
			return v;
	}
	r = sampler_number_at(rd->fd, &v);
	*code = r < 0 ? r : 0;
	return r < 0 ? NAN : v * rd->scale;
}

static int read_metrics(const struct card *c, struct gpu_metrics *blob)
{
	int r = c->layout ? gpu_metrics_read(c->metrics_fd, blob) : 0;

	return r == 0 && c->layout && !gpu_metrics_is(blob, c->layout) ? -ESTALE : r;
}

static const char *reason_of(int code)
{
	if (code == -ESTALE)
		return "gpu_metrics changed its revision";
	return code == 0 || code == -ENODATA ? "gpu_metrics has no value" : sampler_reason(code);
}

static int amdgpu_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	struct card *c = &st->cards.v[d];
	struct gpu_metrics blob;
	bool there = is_there(c), gone = !there;
	int blob_code = there ? read_metrics(c, &blob) : -ENODEV;

	for (size_t i = 0; i < c->reading.nr; i++) {
		int code = -ENODEV;

		v[i] = gone && !c->reading.v[i].constant
			       ? NAN
			       : card_take(&c->reading.v[i], c, &blob, blob_code, &code);
		if (!isnan(v[i]))
			continue;
		gone |= is_gone(code);
		*reason = reason_of(gone ? -ENODEV : code);
	}
	if (gone && there)
		c->gone_ns = clock_monotonic_ns();
	return 0;
}

const struct sampler sampler_amdgpu = {
	.name = "amdgpu",
	.about = "AMD power, energy, memory, utilisation from the kernel driver (sysfs)",
	.vendor = "amd",
	.options = (const char *const[]){ "fields", NULL },
	.open = amdgpu_open,
	.devices = amdgpu_devices,
	.read = amdgpu_read,
	.facts = amdgpu_facts_of,
	.close = amdgpu_close,
};
