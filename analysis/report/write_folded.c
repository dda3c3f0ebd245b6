/*
 * Folded stacks for flame graph tools: "frame;frame;frame value" a line. Values are exclusive, in
 * whole nanoseconds or microjoules; values that round to 0 have no line. The rounding error of a
 * line is carried to the next one, so the sum is right for any number of small paths. Joules are
 * best_j of energy_callpaths: all files of a counter by time, or by power.
 */
#include "clean_text.h"
#include "folded_lines.h"
#include "writers_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define NO_TRACK SIZE_MAX
#define UNATTRIBUTED "[unattributed]"

struct folded {
	const struct table *t;
	size_t track, path, value; /* track: NO_TRACK of a table without */
	double unit;               /* of the value, in units of the file */
};

struct line {
	size_t row;
	int64_t value;
};

struct rows {
	VEC(struct line) all;
	double rest; /* of rounding, for the next line */
};

static int column_find(const struct table *t, const char *name, bool text, size_t *ret,
		       struct err *err)
{
	int c = table_find_col(t, name);

	if (c < 0 || (table_column(t, (size_t)c)->type == TABLE_STR) != text)
		return err_set(err, EINVAL, "table '%s' has no column '%s'%s", table_name(t), name,
			       c < 0 ? "" : " of that kind");
	*ret = (size_t)c;
	return 0;
}

static bool row_unattributed(const struct folded *fo, size_t row)
{
	return strcmp(table_get_str(fo->t, row, fo->path), UNATTRIBUTED) == 0;
}

static const char *track_of(const struct folded *fo, size_t row)
{
	return fo->track == NO_TRACK ? "" : table_get_str(fo->t, row, fo->track);
}

static void folded_row_add(struct rows *rows, const struct folded *fo, size_t row)
{
	struct line line = { .row = row };

	if (table_column(fo->t, fo->value)->type == TABLE_I64 && fo->unit == 1) {
		line.value = table_get_i64(fo->t, row, fo->value);
	} else {
		double v = table_get_f64(fo->t, row, fo->value) * fo->unit + rows->rest;

		if (!(v > rows->rest))
			return; /* unknown, nothing, or less than that */
		line.value = v < 9e18 ? (int64_t)llround(v) : INT64_C(9000000000000000000);
		rows->rest = v < 9e18 ? v - (double)line.value : 0;
	}
	if (line.value > 0)
		VEC_PUSH(&rows->all, line);
}

/* Whether the rows (un)attributed come from more than one track. */
static bool several_tracks(const struct folded *fo, const struct rows *rows, bool lost)
{
	const char *first = NULL;

	for (size_t i = 0; i < rows->all.nr; i++) {
		size_t row = rows->all.v[i].row;
		const char *track = track_of(fo, row);

		if (row_unattributed(fo, row) != lost)
			continue;
		if (first && strcmp(first, track) != 0)
			return true;
		first = track;
	}
	return false;
}

static void add_frame(struct strbuf *line, const char *name, size_t n)
{
	CLEANUP(xfreep) char *frame = xstrndup(name, n);

	text_no_controls(frame, ' ');
	for (char *c = frame; *c; c++)
		if (*c == ';')
			*c = ':';
	text_add_clean(line, *frame ? frame : "[no name]");
}

static void add_path(struct strbuf *line, const char *path)
{
	for (;;) {
		size_t n = strcspn(path, ";");

		add_frame(line, path, n);
		if (!path[n])
			return;
		strbuf_addch(line, ';');
		path += n + 1;
	}
}

static void write_lines(const struct folded *fo, const struct rows *rows, struct text_out *to)
{
	struct strbuf *line = &to->text;
	bool named[2] = { several_tracks(fo, rows, false), several_tracks(fo, rows, true) };
	char num[32];

	for (size_t i = 0; i < rows->all.nr; i++) {
		size_t row = rows->all.v[i].row;
		const char *track = track_of(fo, row);

		if (named[row_unattributed(fo, row)] && *track) {
			add_frame(line, track, strlen(track));
			strbuf_addch(line, ';');
		}
		add_path(line, table_get_str(fo->t, row, fo->path));
		strbuf_addch(line, ' ');
		strbuf_add(line, num, num_fmt_i64(num, rows->all.v[i].value));
		strbuf_addch(line, '\n');
		text_out_step(to);
	}
}

void folded_lines(const struct table *t, struct text_out *to)
{
	struct folded fo = { .t = t, .track = 0, .path = 1, .value = 2, .unit = 1 };
	struct rows rows = { .all = VEC_INIT };

	for (size_t row = 0; row < table_rows(t); row++)
		folded_row_add(&rows, &fo, row);
	write_lines(&fo, &rows, to);
	VEC_RELEASE(&rows.all);
}

/* name: below folded/; recorded in written, when there is something to write. */
static int write_file(const struct report *r, const char *name, const struct folded *fo,
		      const struct rows *rows, struct strvec *written, struct err *err)
{
	CLEANUP(text_out_drop) struct text_out o = TEXT_OUT_INIT;
	CLEANUP(xfreep) char *path = xasprintf("%s/folded/%s.folded", r->dir, name);
	int e;

	if (!rows->all.nr)
		return 0;
	e = text_out_open(path, &o, err);
	if (e < 0)
		return e;
	write_lines(fo, rows, &o);
	strvec_pushf(written, "%s.folded", name);
	return text_out_commit(&o, err);
}

/* A file of one table, and of which of its columns. */
struct folded_file {
	const char *file, *table, *value;
	bool tracks;
};

static int write_table(const struct report *r, const struct folded_file *so, struct strvec *written,
		       struct err *err)
{
	struct folded fo = { .t = table_set_find(&r->tables, so->table),
			     .track = NO_TRACK,
			     .unit = 1 };
	struct rows rows = { .all = VEC_INIT };
	int e = 0;

	if (!fo.t)
		return 0;
	if (so->tracks)
		e = column_find(fo.t, "track", true, &fo.track, err);
	e = e < 0 ? e : column_find(fo.t, "path", true, &fo.path, err);
	e = e < 0 ? e : column_find(fo.t, so->value, false, &fo.value, err);
	if (e < 0)
		return e;
	for (size_t row = 0; row < table_rows(fo.t); row++)
		folded_row_add(&rows, &fo, row);
	e = write_file(r, so->file, &fo, &rows, written, err);
	VEC_RELEASE(&rows.all);
	return e;
}

/* --- energy --- */

/* The rows of one (view, counter, device). */
struct group {
	const char *view, *counter, *device;
	struct rows rows;
};

struct groups {
	VEC(struct group) all;
};

static void groups_release(struct groups *gs)
{
	for (size_t i = 0; i < gs->all.nr; i++)
		VEC_RELEASE(&gs->all.v[i].rows.all);
	VEC_RELEASE(&gs->all);
}

static struct group *group_of(struct groups *gs, struct intern *keys, const char *view,
			      const char *counter, const char *device)
{
	CLEANUP(xfreep) char *key = xasprintf("%s\n%s\n%s", view, counter, device);
	str_id id = intern_puts(keys, key) - 1; /* id 0 is the empty string */

	if (id == gs->all.nr)
		VEC_PUSH(&gs->all, ((struct group){ view, counter, device, { .all = VEC_INIT } }));
	return &gs->all.v[id];
}

static void add_safe(struct strbuf *out, const char *s)
{
	for (; *s && out->len < 180; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			     (*s >= '0' && *s <= '9') || strchr("._-", *s);

		strbuf_addch(out, plain ? *s : '_');
	}
}

/* energy-<counter>-<device>, with the suffix "-device" for the device view. */
static char *group_name(const struct group *g, const struct strvec *written)
{
	struct strbuf sb = STRBUF_INIT;
	char *first, *name;

	strbuf_addstr(&sb, "energy-");
	add_safe(&sb, g->counter);
	if (*g->device) {
		strbuf_addch(&sb, '-');
		add_safe(&sb, g->device);
	}
	if (strcmp(g->view, "host") != 0) {
		strbuf_addch(&sb, '-');
		add_safe(&sb, g->view);
	}
	first = strbuf_steal(&sb);
	name = xstrdup(first);
	for (unsigned k = 2;; k++) {
		CLEANUP(xfreep) char *file = xasprintf("%s.folded", name);

		if (!strvec_has(written, file))
			break;
		free(name);
		name = xasprintf("%s-%u", first, k);
	}
	free(first);
	return name;
}

static int write_energy(const struct report *r, struct strvec *written, struct err *err)
{
	struct folded fo = { .t = table_set_find(&r->tables, "energy_callpaths"), .unit = 1e6 };
	CLEANUP(groups_release) struct groups gs = { VEC_INIT };
	const char *joules;
	struct intern *keys;
	size_t view, counter, device;
	int e;

	if (!fo.t)
		return 0;
	/* of an analysis of before 'profrig analyze --estimate' there is only the second */
	joules = table_find_col(fo.t, "best_j") >= 0 ? "best_j" : "exclusive_j";
	e = column_find(fo.t, "track", true, &fo.track, err);
	e = e < 0 ? e : column_find(fo.t, "path", true, &fo.path, err);
	e = e < 0 ? e : column_find(fo.t, joules, false, &fo.value, err);
	e = e < 0 ? e : column_find(fo.t, "view", true, &view, err);
	e = e < 0 ? e : column_find(fo.t, "counter", true, &counter, err);
	e = e < 0 ? e : column_find(fo.t, "device", true, &device, err);
	if (e < 0)
		return e;
	keys = intern_new();
	for (size_t row = 0; row < table_rows(fo.t); row++) {
		struct group *g = group_of(&gs, keys, table_get_str(fo.t, row, view),
					   table_get_str(fo.t, row, counter),
					   table_get_str(fo.t, row, device));

		folded_row_add(&g->rows, &fo, row);
	}
	intern_free(keys);
	for (size_t i = 0; i < gs.all.nr && e >= 0; i++) {
		CLEANUP(xfreep) char *name = group_name(&gs.all.v[i], written);

		e = write_file(r, name, &fo, &gs.all.v[i].rows, written, err);
	}
	return e;
}

bool report_folded_name_is(const char *name)
{
	return strcmp(name, "time.folded") == 0 || strcmp(name, "device.folded") == 0 ||
	       strcmp(name, "source.folded") == 0 || strncmp(name, "energy-", 7) == 0;
}

/* Files of an earlier analysis, by the names that only this writer gives. */
static void drop_stale(const struct report *r, const struct strvec *written)
{
	CLEANUP(xfreep) char *dir = fs_join(r->dir, "folded");
	CLEANUP(strvec_release) struct strvec have = STRVEC_INIT;

	if (!fs_is_dir(dir) || fs_glob(dir, "*.folded", &have, NULL) < 0)
		return;
	for (size_t i = 0; i < have.nr; i++) {
		const char *name = have.v[i];
		CLEANUP(xfreep) char *path = fs_join(dir, name);

		if (strvec_has(written, name))
			continue;
		if (report_folded_name_is(name))
			door_unlink(path);
	}
}

static int write_folded(const struct report *r, struct err *err)
{
	static const struct folded_file files[] = {
		{ "time", "callpaths", "exclusive_ns", true },
		{ "device", "callpaths", "device_exclusive_ns", true },
		{ "source", "program_sources", "total_ns", false },
	};
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;
	int e = 0;

	for (size_t i = 0; i < ARRAY_LEN(files) && e >= 0; i++)
		e = write_table(r, &files[i], &written, err);
	e = e < 0 ? e : write_energy(r, &written, err);
	if (e < 0)
		return e;
	drop_stale(r, &written);
	return 0;
}

const struct writer writer_folded = {
	.name = "folded",
	.about = "folded stacks for flame graph tools: time, device time, sources, energy",
	.write = write_folded,
	.shown = "folded",
};
