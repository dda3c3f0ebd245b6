#include "profrig/cost/peaks.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/cfg.h"
#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/regex.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define PEAKS_FILE_MAX ((size_t)1 << 20)
#define PEAKS_DEVICES_MAX 4096

extern const char embedded_peaks_json[];

struct peaks_device {
	struct regex *match; /* NULL: of the host */
	size_t file;         /* in peaks.files: later ones come first */
	const char *source;
	VEC(struct peak) peaks;
};

struct peaks {
	VEC(struct peaks_device) devices;
	VEC(struct cfg *) texts; /* own the texts of files */
	size_t files;
};

static void device_release(struct peaks_device *d)
{
	regex_free(d->match);
	VEC_RELEASE(&d->peaks);
}

void peaks_free(struct peaks *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->devices.nr; i++)
		device_release(&p->devices.v[i]);
	for (size_t i = 0; i < p->texts.nr; i++) {
		cfg_release(p->texts.v[i]);
		free(p->texts.v[i]);
	}
	VEC_RELEASE(&p->devices);
	VEC_RELEASE(&p->texts);
	free(p);
}

void peaks_freep(struct peaks **p)
{
	peaks_free(*p);
}

/* ---- JSON ---- */

static bool number_at(const struct cfg_node *map, const char *key, double *ret)
{
	const struct cfg_node *n = cfg_get(map, key);

	if (!n || (n->kind != CFG_INT && n->kind != CFG_FLOAT))
		return false;
	*ret = n->f;
	return isfinite(n->f) && n->f > 0;
}

static int peak_take(const struct cfg_node *n, struct peaks_device *d, struct err *err)
{
	struct peak k = { .source = d->source, .reachable = NAN };

	k.precision = cfg_text(n, "precision");
	k.unit = cfg_text(n, "unit");
	if (!k.precision || !k.unit || !number_at(n, "value", &k.value))
		return err_set(err, EINVAL, "%s:%d: a peak has precision, unit and a value above 0",
			       n->file, n->line);
	if (strcmp(k.unit, strcmp(k.precision, "memory") == 0 ? "TB/s" : "TFLOP/s") != 0)
		return err_set(err, EINVAL,
			       "%s:%d: the unit of '%s' is '%s'; memory has TB/s, all else TFLOP/s",
			       n->file, n->line, k.precision, k.unit);
	if (cfg_get(n, "reachable") && !number_at(n, "reachable", &k.reachable))
		return err_set(err, EINVAL, "%s:%d: 'reachable' is no number above 0", n->file,
			       n->line);
	VEC_PUSH(&d->peaks, k);
	return 0;
}

static int device_take(const struct cfg_node *n, struct peaks_device *d, struct err *err)
{
	const char *match = cfg_text(n, "match");
	int r;

	d->source = cfg_text(n, "source") ?: "";
	if (!match || !*match)
		return err_set(err, EINVAL, "%s:%d: a device has no 'match'", n->file, n->line);
	r = regex_new(match, 0, &d->match, err);
	if (r < 0)
		return err_wrap(err, r, "%s:%d: match", n->file, n->line);
	CFG_EACH(peak, cfg_get(n, "peaks"), CFG_SEQ) {
		r = peak_take(peak, d, err);
		if (r < 0)
			return r;
	}
	if (!d->peaks.nr)
		return err_set(err, EINVAL, "%s:%d: '%s' has no peaks", n->file, n->line, match);
	return 0;
}

static int json_take(struct peaks *p, const struct cfg_node *root, const char *name,
		     struct err *err)
{
	const char *schema = cfg_text(root, "schema");
	size_t before = p->devices.nr;

	if (!schema || strcmp(schema, "profrig.peaks/1") != 0)
		return err_set(err, EINVAL, "%s: its schema is not profrig.peaks/1", name);
	CFG_EACH(n, cfg_get(root, "devices"), CFG_SEQ) {
		struct peaks_device d = { .file = p->files, .peaks = VEC_INIT };
		int r = p->devices.nr - before < PEAKS_DEVICES_MAX
				? device_take(n, &d, err)
				: err_set(err, EINVAL, "%s: more than %d devices", name,
					  PEAKS_DEVICES_MAX);

		if (r < 0) {
			device_release(&d);
			return r;
		}
		VEC_PUSH(&p->devices, d);
	}
	return p->devices.nr > before ? 0 : err_set(err, EINVAL, "%s: it has no devices", name);
}

/* ---- the table of lib peak ---- */

enum { COL_DTYPE, COL_THREADS, COL_GFLOPS, COL_GBPS, COL_STATUS, COLS };

static bool columns_find(char *const *f, size_t n, size_t at[COLS])
{
	static const char *const names[] = { "dtype", "threads", "gflops", "gbps", "status" };
	size_t found = 0;

	for (int c = 0; c < COLS; c++)
		for (size_t i = 0; i < n; i++)
			if (strcmp(f[i], names[c]) == 0) {
				at[c] = i;
				found++;
				break;
			}
	return found == COLS;
}

static bool cell_f64(char *const *f, size_t at, double *ret)
{
	return num_f64(f[at], strlen(f[at]), ret) == 0 && isfinite(*ret) && *ret > 0;
}

/* A larger value of the same precision replaces a smaller one: that of all threads. */
static void measured_put(struct peaks_device *d, const char *precision, const char *unit, double v)
{
	struct peak k = { precision, unit, "measured by profrig lib peak", v / 1000, NAN };

	for (size_t i = 0; i < d->peaks.nr; i++)
		if (strcmp(d->peaks.v[i].precision, precision) == 0) {
			if (d->peaks.v[i].value < k.value)
				d->peaks.v[i] = k;
			return;
		}
	VEC_PUSH(&d->peaks, k);
}

static int csv_take(struct peaks *p, const char *text, size_t n, const char *name, struct err *err)
{
	struct peaks_device d = { .file = p->files, .peaks = VEC_INIT };
	struct csv_reader *csv = csv_open_mem(text, n);
	size_t at[COLS] = { 0 }, nr;
	char *const *f;
	int r = csv_next(csv, &f, &nr, err);

	if (r == 0 || (r == 1 && !columns_find(f, nr, at)))
		r = err_set(err, EINVAL, "%s: neither JSON nor the table of lib peak", name);
	for (size_t want = nr; r == 1;) {
		double v;

		r = csv_next(csv, &f, &nr, err);
		if (r != 1 || nr != want || strcmp(f[at[COL_STATUS]], "ok") != 0)
			continue;
		if (cell_f64(f, at[COL_GFLOPS], &v))
			measured_put(&d, strcmp(f[at[COL_DTYPE]], "f64") == 0 ? "fp64" : "fp32",
				     "TFLOP/s", v);
		if (cell_f64(f, at[COL_GBPS], &v))
			measured_put(&d, "memory", "TB/s", v);
	}
	csv_free(csv);
	if (r == 0 && !d.peaks.nr)
		r = err_set(err, EINVAL, "%s: it has no measured peaks", name);
	if (r < 0) {
		device_release(&d);
		return r;
	}
	VEC_PUSH(&p->devices, d);
	return 0;
}

int peaks_read_text(struct peaks *p, const char *text, size_t n, const char *name, struct err *err)
{
	size_t blank = strspn(text, " \t\r\n"), before = p->devices.nr;
	struct cfg *c;
	int r;

	if (blank >= n || text[blank] != '{') {
		r = csv_take(p, text, n, name, err);
	} else {
		c = xcalloc(1, sizeof(*c));
		cfg_init(c);
		VEC_PUSH(&p->texts, c);
		r = cfg_parse_text(c, text, n, name, true, LAYER_FILE, err);
		if (r == 0)
			r = json_take(p, c->root, name, err);
	}
	p->files += r == 0;
	while (r < 0 && p->devices.nr > before)
		device_release(&p->devices.v[--p->devices.nr]);
	return r;
}

int peaks_read(struct peaks *p, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int r = fs_read(path, PEAKS_FILE_MAX, &text, &n, err);

	return r < 0 ? r : peaks_read_text(p, text, n, path, err);
}

struct peaks *peaks_new(void)
{
	struct peaks *p = xcalloc(1, sizeof(*p));

	int r = peaks_read_text(p, embedded_peaks_json, strlen(embedded_peaks_json), "peaks.json",
				NULL);

	(void)r;
	assert(r == 0);
	return p;
}

/* ---- look-ups ---- */

static bool device_is(struct peaks_device *d, const char *device)
{
	size_t start, end;

	if (!d->match)
		return !*device;
	return *device && regex_find(d->match, device, strlen(device), 0, &start, &end) == 1;
}

/* Of the file read last. Entries of one file stand together. */
static struct peaks_device *device_of(struct peaks *p, const char *device)
{
	struct peaks_device *best = NULL;

	for (size_t i = 0; i < p->devices.nr; i++)
		if ((!best || p->devices.v[i].file > best->file) &&
		    device_is(&p->devices.v[i], device))
			best = &p->devices.v[i];
	return best;
}

static double value_of(struct peaks *p, const char *device, const char *precision)
{
	const struct peaks_device *d = device_of(p, device);

	for (size_t i = 0; d && i < d->peaks.nr; i++)
		if (strcmp(d->peaks.v[i].precision, precision) == 0)
			return d->peaks.v[i].value;
	return NAN;
}

double peaks_tflops(struct peaks *p, const char *device, enum precision pr, bool matrix)
{
	double v = NAN;

	if (pr == PRECISION_UNKNOWN)
		return NAN;
	if (pr == PRECISION_FP64 && matrix)
		v = value_of(p, device, "fp64_matrix");
	return isnan(v) ? value_of(p, device, precision_name(pr)) : v;
}

double peaks_tbps(struct peaks *p, const char *device)
{
	return value_of(p, device, "memory");
}

bool peaks_at(struct peaks *p, const char *device, size_t n, struct peak *ret)
{
	const struct peaks_device *d = device_of(p, device);

	if (!d || n >= d->peaks.nr)
		return false;
	*ret = d->peaks.v[n];
	return true;
}
