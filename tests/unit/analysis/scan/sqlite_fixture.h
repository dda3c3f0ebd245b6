/* Databases that tests make themselves: SQL text in, a file out. */
#ifndef SQLITE_FIXTURE_H
#define SQLITE_FIXTURE_H

#include "readers_test.h"

#include <sqlite3.h>

static inline void db_exec(sqlite3 *db, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", why ? why : "sqlite", sql);
}

/* dir/name with what the texts (NULL-terminated) make of it; the path is owned. */
static inline char *db_make(const char *dir, const char *name, const char *const *sql)
{
	char *path = fs_join(dir, name);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	db_exec(db, "PRAGMA page_size=512; PRAGMA synchronous=OFF; BEGIN");
	for (; *sql; sql++)
		db_exec(db, *sql);
	db_exec(db, "COMMIT");
	sqlite3_close(db);
	return path;
}

/* Reads what sql makes. */
static inline struct reading read_sql(const char *reader, bool keep_args, const char *const *sql)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = db_make(dir, "made.db", sql);

	return read_path(reader, path, keep_args);
}

#define SQL(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What a database is taken for; NULL: for none. */
struct sql_format {
	const char *sql, *reader;
};

static inline void expect_detected(const char *name, const struct sql_format *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		CLEANUP(xfreep) char *path = db_make(dir, name, SQL(cases[i].sql));
		const struct reader *rd = NULL;
		struct err e = ERR_INIT;
		int r = reader_detect(path, &rd, &e);

		if (cases[i].reader ? r != 0 || strcmp(rd->name, cases[i].reader) != 0 : r == 0)
			ROW_FAIL(i, "%d %s %s", r, rd ? rd->name : "", e.msg);
	}
}

#endif
