/* What all readers of databases rest on. */
#include "sqlite_db.h"
#include "sqlite_fixture.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <zstd.h>

static void db_closep(struct sqlite_db **db)
{
	sqlite_db_close(*db);
}

static int64_t count_of(const char *path, const char *table, struct err *err)
{
	CLEANUP(db_closep) struct sqlite_db *db = NULL;
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	int r = sqlite_db_open(path, &db, err);

	if (r == 0)
		r = sqlite_rows_query(db, "a count", &q, err, "SELECT * FROM \"%w\"", table);
	while (r >= 0 && (r = sqlite_rows_next(&q, err)) > 0)
		;
	return r < 0 ? r : (int64_t)q.rows;
}

/* Names, sizes and times of what is in a directory, as one text. */
static char *state_of(const char *dir)
{
	struct strvec names = STRVEC_INIT;
	struct strbuf sb = STRBUF_INIT;

	assert_int_equal(fs_list(dir, &names, NULL), 0);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		char hex[65] = "";

		fs_sha256(path, NULL, hex, NULL);
		strbuf_addf(&sb, "%s %s %lld\n", names.v[i], hex, (long long)fs_mtime_ns(path));
	}
	strvec_release(&names);
	return strbuf_steal(&sb);
}

/* Bytes that mean something in a URI, in SQL or to SQLite. */
TEST_IN(odd_paths, dir)
{
	static const char *const names[] = { "a?mode=rwc&x=1", "100%41.db", "b#c",  "sp ace",
					     "'q\"uote",       ":memory:",  "\xff", "ü",
					     "file:x",         "*.db" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep)
		char *made =
			db_make(dir, "plain", SQL("CREATE TABLE t(x)", "INSERT INTO t VALUES(1)"));
		CLEANUP(xfreep) char *path = fs_join(dir, names[i]);
		struct err e = ERR_INIT;

		assert_int_equal(rename(made, path), 0);
		if (count_of(path, "t", &e) != 1)
			ROW_FAIL(i, "%s", e.msg);
		assert_string_equal(kept(state_of(dir)), kept(state_of(dir)));
		unlink(path);
	}
}

TEST_IN(no_name, dir)
{
	CLEANUP(xfreep)
	char *path = db_make(dir, "t.db", SQL("CREATE TABLE t(x)", "INSERT INTO t VALUES(1)"));
	struct err e = ERR_INIT;
	int fd;

	assert_int_equal(fs_mkdirs(in_dir(dir, textf("%0200d/%0200d", 1, 2)), 0755, NULL), 0);
	CLEANUP(xfreep) char *far = fs_join(in_dir(dir, textf("%0200d/%0200d", 1, 2)), "t.db");
	assert_int_equal(rename(path, far), 0);
	assert_int_equal(count_of(far, "t", &e), 1);
	fd = open(far, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	unlink(far);
	assert_int_equal(count_of(textf("/proc/self/fd/%d", fd), "t", &e), 1);
	close(fd);
}

TEST_IN(relative_path, dir)
{
	CLEANUP(xfreep) char *path = db_make(dir, ":memory:", SQL("CREATE TABLE t(x)"));
	char old[4096];

	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(count_of(":memory:", "t", NULL), 0);
	assert_int_equal(chdir(old), 0);
}

/*
 * A writer that died: rows that were committed are in the log alone. They are read, and nothing
 * beside the file changes, nor does anything stay in TMPDIR.
 */
TEST(committed_in_log)
{
	static const struct {
		const char *mode, *log;
		int64_t rows;
	} cases[] = { { "WAL", "-wal", 3 }, { "PERSIST", "-journal", 2 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir(), *tmp = test_dir();
		CLEANUP(xfreep) char *live = db_make(dir, "live", SQL("CREATE TABLE t(x)"));
		CLEANUP(xfreep) char *live_log = xasprintf("%s%s", live, cases[i].log);
		CLEANUP(xfreep) char *dead = fs_join(dir, "dead");
		CLEANUP(xfreep) char *dead_log = xasprintf("%s%s", dead, cases[i].log);
		const char *old_tmp = getenv("TMPDIR");
		CLEANUP(xfreep) char *keep = xstrdup_null(old_tmp);
		struct err e = ERR_INIT;
		char *bytes;
		size_t n;
		sqlite3 *w;

		assert_int_equal(sqlite3_open(live, &w), SQLITE_OK);
		db_exec(w, "PRAGMA cache_size=1; PRAGMA cache_spill=1");
		db_exec(w, textf("PRAGMA journal_mode=%s", cases[i].mode));
		db_exec(w, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
		if (cases[i].rows == 3) {
			db_exec(w, "INSERT INTO t VALUES(3)");
		} else { /* an open transaction, of which some has reached the file */
			db_exec(w, "BEGIN");
			for (int k = 0; k < 400; k++)
				db_exec(w, "INSERT INTO t VALUES(zeroblob(300))");
		}
		/* what a killed writer leaves */
		assert_int_equal(fs_read(live, 1 << 24, &bytes, &n, NULL), 0);
		assert_int_equal(fs_write_atomic(dead, bytes, n, NULL), 0);
		free(bytes);
		assert_int_equal(fs_read(live_log, 1 << 24, &bytes, &n, NULL), 0);
		assert_int_equal(fs_write_atomic(dead_log, bytes, n, NULL), 0);
		free(bytes);
		sqlite3_close(w);
		setenv("TMPDIR", tmp, 1);
		if (count_of(dead, "t", &e) != cases[i].rows)
			ROW_FAIL(i, "%s", e.msg);
		assert_string_equal(kept(state_of(tmp)), "");
		setenv("TMPDIR", "/nonexistent-folder", 1);
		assert_true(count_of(dead, "t", &e) < 0);
		assert_has(e.msg, "no copy can be made");
		if (keep)
			setenv("TMPDIR", keep, 1);
		else
			unsetenv("TMPDIR");
		assert_string_equal(kept(state_of(dir)), kept(state_of(dir)));
	}
}

/* Another process holds the file as firmly as SQLite allows, in the middle of a change. */
TEST_IN(locked, dir)
{
	CLEANUP(xfreep)
	char *path = db_make(dir, "t.db", SQL("CREATE TABLE t(x)", "INSERT INTO t VALUES(1)"));
	sqlite3 *w;

	assert_int_equal(sqlite3_open(path, &w), SQLITE_OK);
	db_exec(w, "BEGIN EXCLUSIVE; INSERT INTO t VALUES(2)");
	assert_int_equal(count_of(path, "t", NULL), 1);
	sqlite3_close(w);
}

TEST_IN(compressed, dir)
{
	CLEANUP(xfreep) char *plain = db_make(dir, "t.db", SQL("CREATE TABLE t(x)"));
	CLEANUP(xfreep) char *packed = fs_join(dir, "t.db.zst"), *bytes = NULL;
	char out[65536];
	size_t n, len;
	sqlite3 *w;
	struct err e = ERR_INIT;

	/* the mark of a log in the header must not matter */
	assert_int_equal(sqlite3_open(plain, &w), SQLITE_OK);
	db_exec(w, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES(1)");
	sqlite3_close(w);
	assert_int_equal(fs_read(plain, 1 << 20, &bytes, &n, NULL), 0);
	len = ZSTD_compress(out, sizeof(out), bytes, n, 3);
	assert_false(ZSTD_isError(len));
	assert_int_equal(fs_write_atomic(packed, out, len, NULL), 0);
	assert_int_equal(count_of(packed, "t", &e), 1);
	assert_int_equal(fs_write_atomic(packed, out, len / 2, NULL), 0);
	assert_true(count_of(packed, "t", &e) < 0);
}

TEST_IN(values, dir)
{
	static const struct {
		const char *sql;
		bool is_i64;
		int64_t i64;
		bool is_f64;
		double f64;
		uint64_t odd;
	} cases[] =
		LIST({ "5", true, 5, true, 5, 0 },
		     { "-9223372036854775808", true, INT64_MIN, true, -0x1p63, 0 },
		     { "2.0", true, 2, true, 2, 0 }, { "2.5", false, 0, true, 2.5, 1 },
		     { "1e22", false, 0, true, 1e22, 1 }, { "9e999", false, 0, true, INFINITY, 1 },
		     { "'17'", true, 17, true, 17, 0 }, { "'1.5'", false, 0, true, 1.5, 1 },
		     { "''", false, 0, false, 0, 0 }, { "'  '", false, 0, false, 0, 0 },
		     { "NULL", false, 0, false, 0, 0 }, { "'abc'", false, 0, false, 0, 2 },
		     { "'99999999999999999999'", false, 0, true, 1e20, 1 },
		     { "x'0102'", false, 0, false, 0, 2 }, { "'None'", false, 0, false, 0, 2 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *sql = xasprintf("CREATE TABLE t(x); INSERT INTO t VALUES (%s)", cases[i].sql);
		CLEANUP(xfreep) char *path = db_make(dir, "v.db", SQL(sql));
		CLEANUP(db_closep) struct sqlite_db *db = NULL;
		struct sqlite_rows q;
		int64_t v;
		double d;

		assert_int_equal(sqlite_db_open(path, &db, NULL), 0);
		assert_int_equal(sqlite_rows_table(db, "t", "y|x z?", &q, NULL), 0);
		assert_int_equal(sqlite_rows_next(&q, NULL), 1);
		assert_true(sqlite_rows_null(&q, 1));
		if (sqlite_rows_i64(&q, 0, &v) != cases[i].is_i64 || v != cases[i].i64)
			ROW_FAIL(i, "%lld", (long long)v);
		if (sqlite_rows_f64(&q, 0, &d) != cases[i].is_f64 ||
		    (cases[i].is_f64 ? d != cases[i].f64 : !isnan(d)))
			ROW_FAIL(i, "%g", d);
		if (q.odd.nr != cases[i].odd)
			ROW_FAIL(i, "%d odd", (int)q.odd.nr);
		if (q.odd.nr > 0)
			assert_has(q.odd.text, "table 't', row 1: column 'x' holds");
		sqlite_rows_close(&q, NULL);
		unlink(path);
	}
}

TEST_IN(names, dir)
{
	CLEANUP(xfreep)
	char *path = db_make(dir, "n.db",
			     SQL("CREATE TABLE \"a\"\"b; DROP TABLE x\"(\"o\"\"dd\")",
				 "INSERT INTO \"a\"\"b; DROP TABLE x\" VALUES (4)",
				 "CREATE TABLE x(x)", "CREATE TABLE u_1(x); CREATE TABLE u_2(x)",
				 "CREATE VIEW v AS SELECT * FROM x"));
	CLEANUP(db_closep) struct sqlite_db *db = NULL;
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	CLEANUP(strvec_release) struct strvec list = STRVEC_INIT;
	struct err e = ERR_INIT;
	int64_t v;

	assert_int_equal(sqlite_db_open(path, &db, NULL), 0);
	assert_int_equal(sqlite_rows_table(db, "a\"b; DROP TABLE x", "o\"dd", &q, NULL), 0);
	assert_int_equal(sqlite_rows_next(&q, NULL), 1);
	assert_true(sqlite_rows_i64(&q, 0, &v) && v == 4);
	sqlite_rows_release(&q);
	assert_int_equal(sqlite_db_kind(db, "X"), SQLITE_KIND_TABLE);
	assert_int_equal(sqlite_db_kind(db, "v"), SQLITE_KIND_VIEW);
	assert_int_equal(sqlite_db_kind(db, "' OR 1 --"), SQLITE_KIND_NONE);
	assert_true(sqlite_db_has_column(db, "v", "X"));
	assert_false(sqlite_db_has_column(db, "v", "y"));
	assert_int_equal(sqlite_db_list(db, "U_", &list, NULL), 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(sqlite_rows_table(db, "x", "x nope", &q, &e), -ENOENT);
	assert_has(e.msg, "table 'x' has no column 'nope'");
	assert_int_equal(sqlite_rows_table(db, "y", "x nope", &q, &e), -ENOENT);
	assert_has(e.msg, "no table 'y'");
	/* nothing but reading */
	assert_int_equal(sqlite_rows_query(db, "q", &q, &e, "DELETE FROM x"), -EACCES);
	assert_int_equal(sqlite_rows_query(db, "q", &q, &e, "ATTACH '/tmp/x' AS y"), -EACCES);
	assert_int_equal(sqlite_rows_query(db, "q", &q, &e, "PRAGMA query_only=0"), -EACCES);
}

/* Files made to hang or to fill the memory. */
TEST_IN(hostile, dir)
{
	static const struct {
		const char *sql;
		int64_t want;
	} cases[] = {
		{ "CREATE VIEW t AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
		  " SELECT x FROM r",
		  -EACCES },
		{ "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2), (3), (4), (5), (6), (7), (8);"
		  "CREATE VIEW b AS SELECT a.x FROM a, a AS c, a AS d, a AS e;"
		  "CREATE VIEW t AS SELECT b.x FROM b, b AS c, b AS d",
		  -ELOOP },
		{ "CREATE TABLE t(x, y AS (zeroblob(900000000))); INSERT INTO t VALUES (1)",
		  -EFBIG },
		{ "CREATE TABLE t(x, y AS (hex(zeroblob(900000)))); INSERT INTO t VALUES (1)",
		  -EFBIG },
		{ "CREATE TABLE t(x); CREATE VIEW v AS SELECT * FROM t", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *path = db_make(dir, "h.db", SQL(cases[i].sql));
		struct err e = ERR_INIT;
		int64_t got = count_of(path, "t", &e);

		if (got != cases[i].want)
			ROW_FAIL(i, "%lld: %s", (long long)got, e.msg);
		if (got < 0)
			assert_true(strncmp(e.msg, dir, strlen(dir)) == 0);
		unlink(path);
	}
}

TEST_IN(damaged, dir)
{
	struct err e = ERR_INIT;

	test_put(dir, "empty", "");
	test_put(dir, "text", "SQLite format 4");
	assert_int_equal(count_of(in_dir(dir, "empty"), "t", &e), -EBADMSG);
	assert_has(e.msg, "byte 0: not an SQLite database");
	assert_int_equal(count_of(in_dir(dir, "none"), "t", &e), -ENOENT);
	assert_true(count_of(dir, "t", &e) < 0);
}

TEST(ids)
{
	struct sqlite_ids map = { .nr = 0 };
	uint64_t seed = 1;

	for (uint32_t i = 0; i < 100000; i++)
		assert_true(sqlite_ids_add(&map, (int64_t)i * 3 - 1000, i));
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(sqlite_ids_get(&map, (int64_t)i * 3 - 1000), i);
		assert_int_equal(sqlite_ids_get(&map, (int64_t)i * 3 - 999), SQLITE_ID_NONE);
		assert_false(sqlite_ids_add(&map, (int64_t)i * 3 - 1000, 7));
	}
	assert_true(sqlite_ids_add(&map, INT64_MIN, 1));
	assert_true(sqlite_ids_add(&map, INT64_MAX, 2));
	assert_true(sqlite_ids_add(&map, (INT64_C(5) << 32) + 3, 3));
	assert_int_equal(sqlite_ids_get(&map, INT64_MIN), 1);
	assert_int_equal(sqlite_ids_get(&map, INT64_MAX), 2);
	assert_int_equal(sqlite_ids_get(&map, (INT64_C(5) << 32) + 3), 3);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(sqlite_ids_get(&map, (int64_t)(rnd(&seed) | UINT64_C(1) << 50)),
				 SQLITE_ID_NONE);
	assert_true(map.low.cap < 10000000);
	sqlite_ids_release(&map);
}

TEST_IN(probing, dir)
{
	static const char *const want[] = { "T", "u_*", NULL };
	static const char *const more[] = { "t", "w_*", NULL };
	CLEANUP(xfreep)
	char *path = db_make(dir, "p.db", SQL("CREATE TABLE t(x); CREATE VIEW u_1 AS SELECT 1"));
	struct probe p = { .path = path,
			   .name = "p.db",
			   .head = (const unsigned char *)"SQLite format 3\0",
			   .head_len = 16 };
	sqlite3 *w;

	assert_true(sqlite_probe_has(&p, want));
	assert_false(sqlite_probe_has(&p, more));
	/* a file that changed is looked at again; its tables are in the log alone */
	unlink(path);
	assert_int_equal(sqlite3_open(path, &w), SQLITE_OK);
	db_exec(w, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE w_2(x)");
	assert_true(sqlite_probe_has(&p, more));
	assert_false(sqlite_probe_has(&p, want));
	sqlite3_close(w);
	p.head_len = 15;
	assert_false(sqlite_probe_has(&p, more));
}
