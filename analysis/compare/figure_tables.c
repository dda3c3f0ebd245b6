/*
 * Figures out of the tables that `analyze` writes (docs/tables.md). Each source is one file read
 * once: which rows count, what their key is, which columns are figures.
 */
#include "figures_private.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv_scan.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/scan/input.h"

#define NO_COLUMN SIZE_MAX
#define NO_ROW UINT32_MAX

static const struct figure_source sources[] = {
	{ .file = "energy_totals",
	  .keys = { "counter", "device" },
	  .form = KEY_SERIES,
	  .usual = true,
	  .once = true,
	  .values = { { "energy.total_j", "total_j", "J", FIGURE_LOWER } } },
	{ .file = "functions",
	  .keys = { "name" },
	  .where = "scope",
	  .is = "host",
	  .values = { { "functions.exclusive_ns", "exclusive_ns", "ns", FIGURE_LOWER },
		      { "functions.inclusive_ns", "inclusive_ns", "ns", FIGURE_LOWER },
		      { "functions.calls", "calls", "", FIGURE_NONE } } },
	{ .file = "kernels",
	  .keys = { "name" },
	  .values = { { "kernels.total_ns", "total_ns", "ns", FIGURE_LOWER },
		      { "kernels.calls", "calls", "", FIGURE_NONE } } },
	{ .file = "kernels",
	  .keys = { "class" },
	  .values = { { "kernel_classes.total_ns", "total_ns", "ns", FIGURE_LOWER } } },
	{ .file = "operators",
	  .keys = { "name" },
	  .values = { { "operators.own_ns", "own_ns", "ns", FIGURE_LOWER },
		      { "operators.host_self_ns", "host_self_ns", "ns", FIGURE_LOWER },
		      { "operators.calls", "calls", "", FIGURE_NONE } } },
	{ .file = "modules",
	  .keys = { "module" },
	  .values = { { "modules.own_ns", "own_ns", "ns", FIGURE_LOWER },
		      { "modules.nested_ns", "nested_ns", "ns", FIGURE_LOWER },
		      { "modules.host_ns", "host_ns", "ns", FIGURE_LOWER } } },
	{ .file = "energy",
	  .keys = { "name", "counter", "device" },
	  .where = "view",
	  .is = "host",
	  .form = KEY_OF,
	  .values = { { "energy.host_j", "exclusive_j", "J", FIGURE_LOWER } } },
	{ .file = "energy",
	  .keys = { "name", "counter", "device" },
	  .where = "view",
	  .is = "device",
	  .form = KEY_OF,
	  .values = { { "energy.device_j", "exclusive_j", "J", FIGURE_LOWER } } },
	{ .file = "library_calls",
	  .keys = { "library", "key" },
	  .form = KEY_PAIR,
	  .values = { { "library_calls.logged_ns", "logged_ns", "ns", FIGURE_LOWER },
		      { "library_calls.trace_ns", "trace_ns", "ns", FIGURE_LOWER },
		      { "library_calls.calls", "calls", "", FIGURE_NONE } } },
};

/*
 * Records that wait for the number of their key: the texts of many are put at once, as each would
 * wait for memory (intern.h).
 */
#define WAITING 64
#define WAITING_BYTES ((size_t)1 << 20) /* of texts, as one key may have 64 MiB */

struct waiting {
	size_t nr;
	struct intern_text keys[WAITING]; /* s NULL: in `texts` */
	size_t at[WAITING];               /* there */
	struct waiting_values {
		double v[FIGURE_VALUES_MAX]; /* NaN unknown */
		size_t bad;
	} values[WAITING];
	struct strbuf texts; /* of keys that the file does not hold as they are */
};

/* One file while it is read. */
struct reading {
	const struct figure_source *s;
	struct figures *f;
	const char *path;
	size_t keys[FIGURE_KEYS_MAX], where, values[FIGURE_VALUES_MAX]; /* columns */
	size_t width;                                                   /* columns of the header */
	struct strbuf key, quoted;
	struct waiting waiting;
	/* rows by the id of their key */
	struct {
		uint32_t *v;
		size_t nr;
	} rows_by_key;
	VEC(struct row {
		str_id key_id;
		const char *key;
		double v[FIGURE_VALUES_MAX]; /* NaN unknown */
	}) rows;
	size_t short_rows, full;
};

/* ---- the header ---- */

static void column_take(struct reading *rd, struct csv_text name, size_t at)
{
	for (size_t k = 0; k < FIGURE_KEYS_MAX; k++)
		if (rd->s->keys[k] && csv_text_is(name, rd->s->keys[k]))
			rd->keys[k] = at;
	if (rd->s->where && csv_text_is(name, rd->s->where))
		rd->where = at;
	for (size_t v = 0; v < FIGURE_VALUES_MAX; v++)
		if (rd->s->values[v].column && csv_text_is(name, rd->s->values[v].column))
			rd->values[v] = at;
}

/* False: the table lacks a column without which its rows have no name. */
static bool header_take(struct reading *rd, const struct csv_record *r)
{
	for (size_t i = 0; i < FIGURE_KEYS_MAX; i++)
		rd->keys[i] = NO_COLUMN;
	for (size_t i = 0; i < FIGURE_VALUES_MAX; i++)
		rd->values[i] = NO_COLUMN;
	rd->where = NO_COLUMN;
	rd->width = r->nr;
	for (size_t i = 0; i < r->nr; i++)
		column_take(rd, csv_field(r, i), i);
	for (size_t i = 0; i < FIGURE_KEYS_MAX; i++)
		if (rd->s->keys[i] && rd->keys[i] == NO_COLUMN)
			return false;
	return !rd->s->where || rd->where != NO_COLUMN || rd->s->lack == LACK_ALL;
}

/* ---- a row ---- */

static struct csv_text cell(struct reading *rd, const struct csv_record *r, size_t key)
{
	struct csv_text t = csv_field(r, rd->keys[key]);

	return t.n && memchr(t.p, '"', t.n) ? csv_unquote(t, &rd->quoted) : t;
}

static void series_put(struct reading *rd, const struct csv_record *r, size_t key)
{
	struct csv_text t = cell(rd, r, key), device;
	size_t from = rd->key.len;

	strbuf_add(&rd->key, t.p, t.n);
	device = cell(rd, r, key + 1);
	if (device.n && !memmem(rd->key.buf + from, rd->key.len - from, device.p, device.n)) {
		strbuf_addch(&rd->key, ' ');
		strbuf_add(&rd->key, device.p, device.n);
	}
}

/* All cells that are not empty, with blanks between. */
static void list_put(struct reading *rd, const struct csv_record *r)
{
	for (size_t k = 0; k < FIGURE_KEYS_MAX && rd->s->keys[k]; k++) {
		struct csv_text t = cell(rd, r, k);

		if (t.n && rd->key.len)
			strbuf_addch(&rd->key, ' ');
		strbuf_add(&rd->key, t.p, t.n);
	}
}

static struct csv_text key_of(struct reading *rd, const struct csv_record *r)
{
	struct csv_text t;

	strbuf_clear(&rd->key);
	if (rd->s->form == KEY_SERIES) {
		series_put(rd, r, 0);
	} else if (rd->s->form == KEY_LIST) {
		list_put(rd, r);
	} else {
		t = cell(rd, r, 0);
		if (rd->s->form == KEY_PLAIN)
			return t.n ? t : (struct csv_text){ "[no name]", 9 };
		strbuf_add(&rd->key, t.p, t.n);
		if (rd->s->form == KEY_OF) {
			strbuf_addstr(&rd->key, " (");
			series_put(rd, r, 1);
			strbuf_addch(&rd->key, ')');
		} else {
			t = cell(rd, r, 1);
			strbuf_addch(&rd->key, ' ');
			strbuf_add(&rd->key, t.p, t.n);
		}
	}
	return (struct csv_text){ rd->key.buf, rd->key.len };
}

/* All ids that the texts have so far. */
static void rows_room(struct reading *rd)
{
	size_t need = intern_count(rd->f->texts), nr;

	if (need <= rd->rows_by_key.nr)
		return;
	nr = vec_grow_cap(rd->rows_by_key.nr, need);
	rd->rows_by_key.v = xreallocarray(rd->rows_by_key.v, nr, sizeof(*rd->rows_by_key.v));
	memset(rd->rows_by_key.v + rd->rows_by_key.nr, 0xff,
	       (nr - rd->rows_by_key.nr) * sizeof(*rd->rows_by_key.v));
	rd->rows_by_key.nr = nr;
}

/* NULL: there are too many. */
static struct row *row_of(struct reading *rd, str_id key)
{
	uint32_t *at = &rd->rows_by_key.v[key];

	if (*at != NO_ROW)
		return &rd->rows.v[*at];
	if (rd->rows.nr >= FIGURE_ROWS_MAX)
		return NULL;
	*at = (uint32_t)rd->rows.nr;
	VEC_PUSH(&rd->rows,
		 ((struct row){ key, intern_str(rd->f->texts, key), { NAN, NAN, NAN } }));
	return &rd->rows.v[*at];
}

static void values_add(struct reading *rd, str_id key, const struct waiting_values *values)
{
	struct row *row = row_of(rd, key);

	if (!row) {
		rd->full++;
		return;
	}
	rd->f->bad += values->bad;
	for (size_t v = 0; v < FIGURE_VALUES_MAX; v++) {
		if (isnan(values->v[v]))
			continue;
		if (isnan(row->v[v]))
			row->v[v] = values->v[v];
		else if (!rd->s->once)
			row->v[v] += values->v[v];
	}
}

static void waiting_take(struct reading *rd)
{
	struct waiting *w = &rd->waiting;
	str_id ids[WAITING];

	for (size_t i = 0; i < w->nr; i++)
		if (!w->keys[i].s)
			w->keys[i].s = w->texts.buf + w->at[i];
	intern_put_many(rd->f->texts, w->keys, w->nr, ids);
	rows_room(rd);
	for (size_t i = 0; i < w->nr; i++)
		values_add(rd, ids[i], &w->values[i]);
	strbuf_clear(&w->texts);
	w->nr = 0;
}

static double value_of(struct csv_text t, size_t *bad)
{
	double value;
	int64_t whole;

	if (!t.n)
		return NAN;
	if (num_i64(t.p, t.n, &whole) == 0)
		return (double)whole;
	if (num_f64(t.p, t.n, &value) == 0 && isfinite(value))
		return value;
	(*bad)++;
	return NAN;
}

static bool is_wanted(const struct figure_source *s, struct csv_text text)
{
	return csv_text_is(text, s->is) || (s->or_is && csv_text_is(text, s->or_is));
}

static void key_wait(struct reading *rd, struct csv_text key)
{
	struct waiting *w = &rd->waiting;
	bool own = key.p == rd->key.buf || key.p == rd->quoted.buf;

	w->keys[w->nr] = (struct intern_text){ own ? NULL : key.p, key.n };
	w->at[w->nr] = w->texts.len;
	if (own)
		strbuf_add(&w->texts, key.p, key.n);
}

static void record_take(struct reading *rd, const struct csv_record *r)
{
	struct waiting *w = &rd->waiting;
	struct waiting_values *values = &w->values[w->nr];

	if (r->nr != rd->width) {
		rd->short_rows++;
		return;
	}
	if (rd->where != NO_COLUMN && !is_wanted(rd->s, csv_field(r, rd->where)))
		return;
	key_wait(rd, key_of(rd, r));
	values->bad = 0;
	for (size_t v = 0; v < FIGURE_VALUES_MAX; v++)
		values->v[v] = rd->values[v] == NO_COLUMN
				       ? NAN
				       : value_of(csv_field(r, rd->values[v]), &values->bad);
	if (++w->nr == WAITING || w->texts.len >= WAITING_BYTES)
		waiting_take(rd);
}

/* ---- a file ---- */

static void figures_put(struct reading *rd, const struct strvec *selection)
{
	struct figures *f = rd->f;

	for (size_t v = 0; v < FIGURE_VALUES_MAX && rd->s->values[v].name; v++) {
		const struct figure_value *value = &rd->s->values[v];
		struct figure fig = { .name_id = intern_puts(f->texts, value->name),
				      .unit_id = intern_puts(f->texts, value->unit),
				      .better = value->better,
				      .of_table = true };

		if (!figures_selected(selection, value->name, rd->s->usual))
			continue;
		fig.name = intern_str(f->texts, fig.name_id);
		fig.unit = intern_str(f->texts, fig.unit_id);
		for (size_t i = 0; i < rd->rows.nr; i++) {
			fig.value = rd->rows.v[i].v[v];
			if (!isfinite(fig.value))
				continue;
			fig.key_id = rd->rows.v[i].key_id;
			fig.key = rd->rows.v[i].key;
			VEC_PUSH(&f->v, fig);
		}
	}
}

static void reading_release(struct reading *rd)
{
	free(rd->rows_by_key.v);
	VEC_RELEASE(&rd->rows);
	strbuf_release(&rd->key);
	strbuf_release(&rd->quoted);
	strbuf_release(&rd->waiting.texts);
}

static void text_read(struct reading *rd, const struct input_map *m, const struct strvec *selection)
{
	struct csv_scan scan;
	struct csv_record r;
	bool begun = false;

	csv_scan_init(&scan, m->data, m->len);
	while (csv_scan_next(&scan, &r) > 0) {
		if (r.broken) {
			strvec_pushf(&rd->f->problems,
				     "%s: line %zu is damaged; what follows it "
				     "is not read",
				     rd->path, (size_t)csv_scan_line_number(&scan, r.start));
			break;
		}
		if (begun) {
			record_take(rd, &r);
		} else if (!header_take(rd, &r)) {
			if (rd->s->lack == LACK_PROBLEM)
				strvec_pushf(&rd->f->problems,
					     "%s: it lacks columns of the table '%s'", rd->path,
					     rd->s->file);
			break;
		}
		begun = true;
	}
	waiting_take(rd);
	csv_scan_release(&scan);
	if (rd->short_rows)
		strvec_pushf(&rd->f->problems,
			     "%s: %zu rows with another number of cells than "
			     "the header are left out",
			     rd->path, rd->short_rows);
	if (rd->full)
		strvec_pushf(&rd->f->problems, "%s: %zu rows beyond %zu names are left out",
			     rd->path, rd->full, FIGURE_ROWS_MAX);
	figures_put(rd, selection);
}

static bool source_selected(const struct figure_source *s, const struct strvec *selection)
{
	for (size_t v = 0; v < FIGURE_VALUES_MAX && s->values[v].name; v++)
		if (figures_selected(selection, s->values[v].name, s->usual))
			return true;
	return false;
}

void figure_source_read(const struct figure_source *s, const char *dir,
			const struct strvec *selection, struct figures *f)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%s.csv", dir, s->file);
	CLEANUP(reading_release)
	struct reading rd = { .s = s,
			      .f = f,
			      .path = path,
			      .key = STRBUF_INIT,
			      .quoted = STRBUF_INIT,
			      .waiting = { .texts = STRBUF_INIT } };
	struct input_map m = { 0 };
	struct err err = ERR_INIT;
	struct stat st;

	if (!source_selected(s, selection) || (door_lstat(path, &st) < 0 && errno == ENOENT))
		return;
	if (input_map(path, 0, &m, &err) < 0) {
		strvec_push(&f->problems, err.msg);
		return;
	}
	if (m.truncated)
		strvec_pushf(&f->problems, "%s: %s", path, m.why);
	text_read(&rd, &m, selection);
	input_unmap(&m);
}

void figure_tables_read(const char *dir, const struct strvec *selection, struct figures *f)
{
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		figure_source_read(&sources[i], dir, selection, f);
}

struct table *figures_known(void)
{
	struct table *t =
		table_of_texts("figures", "name", "unit", "better", "table", "column", "key");

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		for (size_t v = 0; v < FIGURE_VALUES_MAX && sources[i].values[v].name; v++) {
			const struct figure_value *value = &sources[i].values[v];

			table_texts(t, value->name, value->unit, figure_better_name(value->better),
				    sources[i].file, value->column, sources[i].keys[0]);
		}
	return t;
}
