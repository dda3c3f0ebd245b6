#include "db_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/json_out.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"

void db_scan_opts(struct db_scan *sc, const struct read_opts *o)
{
	sc->keep_args = o->keep_args;
	sc->keep_shapes = o->keep_shapes;
	sc->facts = o->facts && !sc->sink->counts_only;
}

void db_scan_release(struct db_scan *sc)
{
	strbuf_release(&sc->args);
	VEC_RELEASE(&sc->ranges);
	u64map_release(&sc->names);
	launch_shapes_release(&sc->shapes);
}

/* SQL takes names for equal without regard to the case of ASCII letters. */
static uint64_t name_key(const char *name)
{
	CLEANUP(xfreep) char *low = xstrdup(name);

	for (char *c = low; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	return XXH3_64bits(low, strlen(low));
}

enum { NAME_UNASKED = 1, NAME_ASKED };

/* A merged file has tens of thousands of tables, so they are not looked up one by one. */
static void names_load(struct db_scan *sc)
{
	struct sqlite_rows q = { .db = NULL };
	size_t n;

	*u64map_at(&sc->names, name_key("sqlite_master")) = NAME_ASKED;
	if (sqlite_rows_query(sc->db, "the schema", &q, NULL,
			      "SELECT name FROM sqlite_master WHERE type = 'table'") == 0)
		while (sqlite_rows_next(&q, NULL) > 0) {
			const char *name = sqlite_rows_text(&q, 0, &n);

			if (name)
				*u64map_at(&sc->names, name_key(name)) = NAME_UNASKED;
		}
	sqlite_rows_release(&q);
}

bool db_scan_has(struct db_scan *sc, const char *table)
{
	uint64_t key = name_key(table);

	if (sc->names.nr == 0)
		names_load(sc);
	if (u64map_get(&sc->names, key) == U64MAP_NONE)
		return false;
	*u64map_at(&sc->names, key) = NAME_ASKED;
	return true;
}

bool db_scan_unasked(struct db_scan *sc, const char *table)
{
	if (sc->names.nr == 0)
		names_load(sc);
	return u64map_get(&sc->names, name_key(table)) == NAME_UNASKED;
}

void db_scan_damage(struct db_scan *sc, const struct err *why)
{
	if (sc->damaged++ == 0)
		sc->damage = *why;
	sink_warnf(sc->sink, W_TRUNCATED, "%s; %s", why->msg,
		   sc->old_tools ? "the rest of it is missing"
				 : "its rows from there on were not used");
}

/* A table that cannot be opened, or not read to its end. */
static void table_fail(struct db_scan *sc, int r, const struct err *e)
{
	if (r == -ENOENT && !sc->old_tools)
		sink_warnf(sc->sink, W_BAD_EVENT, "%s; none of its rows were used", e->msg);
	else
		db_scan_damage(sc, e);
}

static void bad_rows_warn(struct db_scan *sc)
{
	tally_warn(&sc->bad_rows, sc->sink, W_BAD_EVENT, NULL);
	sc->bad_rows = (struct tally){ 0 };
}

bool db_scan_table(struct db_scan *sc, const struct db_table *t, void *reader)
{
	struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int64_t counted = 0;
	bool opened;
	int r;

	sc->table = t->shown ? t->shown : t->name;
	if (!t->required &&
	    (sc->old_tools ? !sqlite_db_has(sc->db, t->name) : !db_scan_has(sc, t->name)))
		return false;
	r = sqlite_rows_table(sc->db, t->name, t->columns, &q, &e);
	opened = r >= 0;
	if (opened && t->category)
		sc->category = sink_puts(sc->sink, t->category);
	while (r >= 0 && (r = sqlite_rows_next(&q, &e)) > 0)
		counted += t->take(reader, &q);
	if (r < 0)
		table_fail(sc, r, &e);
	if (!sc->old_tools)
		bad_rows_warn(sc);
	sqlite_rows_close(&q, sc->sink);
	if (t->fact && (opened || sc->old_tools))
		sink_fact(sc->sink, t->fact, counted);
	return opened;
}

void db_scan_tables(struct db_scan *sc, const struct db_table *t, size_t n, void *reader)
{
	for (size_t i = 0; i < n; i++)
		db_scan_table(sc, &t[i], reader);
}

void db_scan_strings(struct db_scan *sc, struct sqlite_strings *st, const char *table,
		     const char *columns)
{
	uint64_t twice = st->duplicate_ids;
	struct err e = ERR_INIT;
	int r;

	if (!db_scan_has(sc, table))
		return;
	r = sqlite_strings_load(st, sc->db, table, columns, &e);
	if (r < 0)
		table_fail(sc, r, &e);
	sink_warn(sc->sink, W_BAD_EVENT, st->duplicate_ids - twice,
		  "strings have ids of strings before them; the first ones count");
}

void db_scan_bad(struct db_scan *sc, const struct sqlite_rows *q, const char *what)
{
	tally_text(&sc->bad_rows, "table '%s', row %" PRIu64 ": %s", sc->table, q->rows, what);
}

int64_t db_scan_rows(struct db_scan *sc, const char *table)
{
	struct sqlite_rows q = { .db = NULL };
	int64_t n = 0;

	if (sqlite_rows_query(sc->db, table, &q, NULL, "SELECT max(rowid) FROM \"%w\"", table) >=
		    0 &&
	    sqlite_rows_next(&q, NULL) > 0)
		n = sqlite_rows_i64_or(&q, 0, 0);
	sqlite_rows_release(&q);
	return n > 0 ? n : 0;
}

bool db_scan_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
		   struct span_def *d)
{
	if (!sqlite_rows_i64(q, start, &d->start_ns)) {
		db_scan_bad(sc, q, "it has no start, so it was left out");
		return false;
	}
	if (!sqlite_rows_i64(q, end, &d->end_ns)) {
		db_scan_bad(sc, q, "it has no end, so it has no length");
		d->end_ns = d->start_ns;
	}
	return true;
}

bool db_scan_work_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
			struct span_def *d)
{
	if (!db_scan_times(sc, q, start, end, d))
		return false;
	if (d->start_ns != 0 || (d->end_ns != 0 && !sc->uptime))
		return true;
	db_scan_bad(sc, q,
		    d->end_ns == 0 ? "the device gave no times (0 and 0), so it was left out"
				   : "the device gave no start (0), so it was left out");
	return false;
}

track_id db_scan_track(struct db_scan *sc, const struct track_def *d)
{
	return track_limit_make(&sc->tracks, sc->sink, d);
}

void db_scan_warn(struct db_scan *sc)
{
	bad_rows_warn(sc);
	track_limit_warn(&sc->tracks, sc->sink);
}

int db_scan_result(struct db_scan *sc, struct err *err)
{
	struct input *in = sc->sink->ops->current(sc->sink);
	int r;

	db_scan_warn(sc);
	r = sqlite_db_result(sc->db, sc->sink, &sc->damage, err);

	if (r == 0 && in->spans + in->samples == 0)
		sink_warnf(sc->sink, W_EMPTY_INPUT, "%s holds neither spans nor samples", in->path);
	sc->sink->ops->input_end(sc->sink);
	return r;
}

uint64_t db_hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t v[3] = { a, b, c };
	uint64_t h = XXH3_64bits(v, sizeof(v));

	return h ? h : 1;
}

/* ---- arguments ---- */

/* Bound of a blob that is kept for every span. */
#define MAX_ARGS 65536

void db_args_begin(struct db_scan *sc)
{
	strbuf_clear(&sc->args);
}

struct strbuf *db_args_key(struct db_scan *sc, const char *key)
{
	strbuf_addch(&sc->args, sc->args.len ? ',' : '{');
	json_quote(&sc->args, key, strlen(key));
	strbuf_addch(&sc->args, ':');
	return &sc->args;
}

void db_args_i64(struct db_scan *sc, const char *key, int64_t v)
{
	strbuf_addf(db_args_key(sc, key), "%" PRId64, v);
}

void db_args_str(struct db_scan *sc, const char *key, const char *s, size_t n)
{
	json_quote(db_args_key(sc, key), s, n < MAX_ARGS ? n : MAX_ARGS);
}

void db_args_column(struct db_scan *sc, const char *key, struct sqlite_rows *q, int col)
{
	const char *s;
	size_t n;

	switch (sqlite3_column_type(q->stmt, col)) {
	case SQLITE_NULL:
		return;
	case SQLITE_INTEGER:
		db_args_i64(sc, key, sqlite3_column_int64(q->stmt, col));
		return;
	default:
		break;
	}
	s = sqlite_rows_text(q, col, &n);
	if (s)
		db_args_str(sc, key, s, n);
}

void db_args_triple(struct db_scan *sc, const char *key, struct sqlite_rows *q, int col)
{
	if (sqlite_rows_null(q, col))
		return;
	strbuf_addf(db_args_key(sc, key), "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		    sqlite_rows_i64_or(q, col, 0), sqlite_rows_i64_or(q, col + 1, 0),
		    sqlite_rows_i64_or(q, col + 2, 0));
}

str_id db_args_shape(struct db_scan *sc, struct sqlite_rows *q, int grid, int block)
{
	struct launch_shape shape;

	if (!sc->keep_shapes)
		return STR_NONE;
	for (int i = 0; i < 3; i++) {
		shape.v[LAUNCH_SHAPE_GRID + i] = (uint64_t)sqlite_rows_i64_or(q, grid + i, 0);
		shape.v[LAUNCH_SHAPE_BLOCK + i] = (uint64_t)sqlite_rows_i64_or(q, block + i, 0);
	}
	return launch_shapes_put(&sc->shapes, sc->sink, &shape);
}

const char *db_args_text(struct db_scan *sc)
{
	strbuf_addstr(&sc->args, sc->args.len ? "}" : "{}");
	return sc->args.buf;
}

str_id db_args_end(struct db_scan *sc)
{
	if (sc->args.len == 0)
		return STR_NONE;
	db_args_text(sc);
	return sc->sink->ops->string(sc->sink, sc->args.buf, sc->args.len);
}

/* ---- facts ---- */

int64_t db_fact(struct sqlite_rows *q, int col)
{
	return sqlite_rows_i64_or(q, col, FACT_ABSENT);
}

void db_facts_triple(struct sqlite_rows *q, int col, int64_t to[3])
{
	for (int i = 0; i < 3; i++)
		to[i] = db_fact(q, col + i);
}

void db_facts_put(struct db_scan *sc, span_id span, const struct span_facts *f)
{
	if (sc->facts && span != SPAN_NONE)
		sc->sink->ops->facts(sc->sink, span, f);
}
