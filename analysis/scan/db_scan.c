#include "db_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/json_out.h"
#include "profrig/model/warnings.h"

void db_scan_release(struct db_scan *sc)
{
	strbuf_release(&sc->args);
	VEC_RELEASE(&sc->ranges);
	u64map_release(&sc->names);
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

/* A merged file has tens of thousands of tables, so they are not looked up one by one. */
static void names_load(struct db_scan *sc)
{
	struct sqlite_rows q = { .db = NULL };
	size_t n;

	*u64map_at(&sc->names, name_key("sqlite_master")) = 1;
	if (sqlite_rows_query(sc->db, "the schema", &q, NULL,
			      "SELECT name FROM sqlite_master WHERE type = 'table'") == 0)
		while (sqlite_rows_next(&q, NULL) > 0) {
			const char *name = sqlite_rows_text(&q, 0, &n);

			if (name)
				*u64map_at(&sc->names, name_key(name)) = 1;
		}
	sqlite_rows_release(&q);
}

bool db_scan_has(struct db_scan *sc, const char *table)
{
	if (sc->names.nr == 0)
		names_load(sc);
	return u64map_get(&sc->names, name_key(table)) != U64MAP_NONE;
}

static void damage(struct db_scan *sc, const struct err *e)
{
	if (sc->damaged++ == 0)
		sc->damage = *e;
	sink_warnf(sc->sink, W_TRUNCATED, "%s; its rows from there on were not used", e->msg);
}

bool db_scan_open(struct db_scan *sc, const char *table, const struct sqlite_column *cols, size_t n,
		  struct sqlite_rows *q)
{
	struct err e = ERR_INIT;
	int r;

	*q = (struct sqlite_rows){ .db = NULL };
	sc->table = table;
	sc->bad_rows = (struct tally){ 0 };
	if (!db_scan_has(sc, table))
		return false;
	r = sqlite_rows_table(sc->db, table, cols, n, NULL, q, &e);
	if (r == -ENOENT)
		sink_warnf(sc->sink, W_BAD_EVENT, "%s; none of its rows were used", e.msg);
	else if (r < 0)
		damage(sc, &e);
	return r >= 0;
}

bool db_scan_next(struct db_scan *sc, struct sqlite_rows *q)
{
	struct err e = ERR_INIT;
	int r = sqlite_rows_next(q, &e);

	if (r < 0)
		damage(sc, &e);
	return r > 0;
}

void db_scan_close(struct db_scan *sc, struct sqlite_rows *q)
{
	tally_warn(&sc->bad_rows, sc->sink, W_BAD_EVENT, NULL);
	sc->bad_rows = (struct tally){ 0 };
	sqlite_rows_close(q, sc->sink);
}

void db_scan_strings(struct db_scan *sc, struct sqlite_strings *st, const char *table,
		     const char *id, const char *text)
{
	uint64_t twice = st->duplicate_ids;
	struct err e = ERR_INIT;
	int r;

	if (!db_scan_has(sc, table))
		return;
	r = sqlite_strings_load(st, sc->db, table, id, text, &e);
	if (r == -ENOENT)
		sink_warnf(sc->sink, W_BAD_EVENT, "%s; none of its rows were used", e.msg);
	else if (r < 0)
		damage(sc, &e);
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

int db_scan_result(struct db_scan *sc, struct err *err)
{
	struct input *in = sc->sink->ops->current(sc->sink);
	int r;

	track_limit_tell(&sc->tracks, sc->sink);
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

/* A blob that is kept for every span must not be larger than what people look at. */
#define MAX_ARGS 65536

void db_args_begin(struct db_scan *sc)
{
	strbuf_clear(&sc->args);
}

static void args_key(struct db_scan *sc, const char *key)
{
	strbuf_addstr(&sc->args, sc->args.len ? "," : "{");
	db_args_str(sc, NULL, key, strlen(key));
	strbuf_addch(&sc->args, ':');
}

void db_args_i64(struct db_scan *sc, const char *key, int64_t v)
{
	args_key(sc, key);
	strbuf_addf(&sc->args, "%" PRId64, v);
}

void db_args_str(struct db_scan *sc, const char *key, const char *s, size_t n)
{
	struct strbuf *sb = &sc->args;

	if (key)
		args_key(sc, key);
	json_quote(sb, s, n < MAX_ARGS ? n : MAX_ARGS);
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
	args_key(sc, key);
	strbuf_addf(&sc->args, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		    sqlite_rows_i64_or(q, col, 0), sqlite_rows_i64_or(q, col + 1, 0),
		    sqlite_rows_i64_or(q, col + 2, 0));
}

str_id db_args_end(struct db_scan *sc)
{
	if (sc->args.len == 0)
		return STR_NONE;
	strbuf_addch(&sc->args, '}');
	return sc->sink->ops->string(sc->sink, sc->args.buf, sc->args.len);
}
