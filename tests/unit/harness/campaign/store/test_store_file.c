/* The file of the store: deleted, damaged, locked, newer, older, foreign, on shared filesystems. */
#include "store.h"
#include "store_priv.h"
#include "store_sim.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/base/clock.h"
#include "profrig/base/strvec.h"

static struct store_summary sum_of(struct store *s)
{
	struct store_summary sum;
	struct err err = ERR_INIT;

	if (store_summary(s, &sum, &err) < 0)
		fail_msg("%s", err.msg);
	return sum;
}

static struct store *opened(const char *dir, const struct store_opts *o)
{
	struct err err = ERR_INIT;
	struct store *s = NULL;

	if (store_open(dir, o, &s, &err) < 0)
		fail_msg("%s", err.msg);
	return s;
}

static void two_runs(const char *dir, struct sim *m)
{
	sim_begin(m, dir, 2, 2, "[]");
	sim_run(m, 0, 1, 1, 1);
	sim_run(m, 1, 1, 1, 2);
}

static void sql_do(const char *dir, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(textf("%s/" STORE_FILE, dir), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static bool is_said(const struct strvec *said, const char *words)
{
	for (size_t i = 0; i < said->nr; i++)
		if (strstr(said->v[i], words))
			return true;
	return false;
}

static void damage_text(const char *dir)
{
	test_put(dir, STORE_FILE, "this is no database at all, and not a short one either\n");
}

static void damage_empty(const char *dir)
{
	test_put(dir, STORE_FILE, "");
}

static void damage_cut(const char *dir)
{
	assert_int_equal(truncate(textf("%s/" STORE_FILE, dir), 5000), 0);
}

static void damage_table(const char *dir)
{
	sql_do(dir, "DROP TABLE applied");
}

static void damage_row(const char *dir)
{
	sql_do(dir, "DELETE FROM applied");
}

static void damage_other(const char *dir)
{
	test_put(dir, STORE_FILE, "");
	sql_do(dir, "CREATE TABLE mine(x)");
}

static void damage_ahead(const char *dir)
{
	sql_do(dir, "UPDATE applied SET bytes = 1000000");
}

static void damage_journal(const char *dir)
{
	sql_do(dir, "UPDATE applied SET first = 1");
}

static void damage_link(const char *dir)
{
	assert_int_equal(unlink(textf("%s/" STORE_FILE, dir)), 0);
	assert_int_equal(symlink("/dev/null", textf("%s/" STORE_FILE, dir)), 0);
}

static void damage_fifo(const char *dir)
{
	assert_int_equal(unlink(textf("%s/" STORE_FILE, dir)), 0);
	assert_int_equal(mkfifo(textf("%s/" STORE_FILE, dir), 0600), 0);
}

static void damage_gone(const char *dir)
{
	assert_int_equal(unlink(textf("%s/" STORE_FILE, dir)), 0);
}

static void (*const damages[])(const char *dir) = {
	damage_text,  damage_empty,   damage_cut,  damage_table, damage_row,  damage_other,
	damage_ahead, damage_journal, damage_link, damage_fifo,  damage_gone,
};

static void made_again(const char *dir, bool read)
{
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		CLEANUP(xfreep) char *at = xasprintf("%s/%zu", dir, i);
		CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
		struct store_opts o = { .said = &said };
		struct store_summary sum;
		struct store *s;
		struct sim m;

		assert_int_equal(fs_mkdirs(at, 0755, NULL), 0);
		two_runs(at, &m);
		sim_end(&m);
		store_close(opened(at, &o));
		strvec_clear(&said);
		damages[i](at);
		o.read = read;
		alarm(20);
		s = opened(at, &o);
		alarm(0);
		sum = sum_of(s);
		if (sum.committed != 2 || sum.runs != 4 || !is_said(&said, "made again"))
			ROW_FAIL(i, "%d, '%s'", (int)sum.committed, said.nr ? said.v[0] : "");
		store_close(s);
		strvec_clear(&said);
		store_close(opened(at, &o));
		if (said.nr)
			ROW_FAIL(i, "said again: '%s'", said.v[0]);
	}
}

TEST_IN(a_writer_makes_a_damaged_one_again, dir)
{
	made_again(dir, false);
}

TEST_IN(a_reader_makes_a_damaged_one_again, dir)
{
	made_again(dir, true);
}

TEST_IN(deleted_or_replaced_under_a_writer, dir)
{
	struct store_opts o = { 0 };
	struct err err = ERR_INIT;
	struct store *s, *r;
	struct sim m;

	two_runs(dir, &m);
	s = opened(dir, &o);
	damage_gone(dir);
	sim_run(&m, 0, 2, 1, 3);
	assert_int_equal(store_follow(s, &err), 0);
	assert_true(fs_exists(textf("%s/" STORE_FILE, dir)));
	assert_int_equal(sum_of(s).committed, 3);
	/* rebuilt by another process */
	assert_int_equal(store_rebuild(dir, &o, NULL, &err), 0);
	sim_run(&m, 1, 2, 1, 3);
	assert_int_equal(store_follow(s, &err), 0);
	o.read = true;
	r = opened(dir, &o);
	assert_int_equal(sum_of(r).committed, 4);
	store_close(r);
	/* damaged in place */
	{
		CLEANUP(xclosep) int fd = open(textf("%s/" STORE_FILE, dir), O_WRONLY | O_CLOEXEC);
		char junk[1 << 15];

		memset(junk, 'x', sizeof(junk));
		assert_int_equal(pwrite(fd, junk, sizeof(junk), 0), sizeof(junk));
	}
	store_close(s);
	sim_end(&m);
	r = opened(dir, &o);
	assert_int_equal(sum_of(r).committed, 4);
	store_close(r);
}

TEST_IN(a_reader_is_up_to_date_and_changes_nothing, dir)
{
	struct store_opts w = { 0 }, o = { .read = true };
	CLEANUP(xfreep) char *was = NULL, *is = NULL;
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	store_close(opened(dir, &w));
	sim_run(&m, 0, 2, 1, 3);
	sim_end(&m);
	was = test_get(dir, STORE_FILE);
	s = opened(dir, &o);
	assert_true(store_is_read_only(s));
	assert_int_equal(sum_of(s).committed, 3);
	store_close(s);
	is = test_get(dir, STORE_FILE);
	assert_memory_equal(was, is, (size_t)fs_size(textf("%s/" STORE_FILE, dir)));
}

TEST_IN(where_nothing_can_be_written_a_reader_reads, dir)
{
	const char *at = textf("%s/c", dir);
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .read = true, .said = &said };
	struct store *s;
	struct sim m;

	if (geteuid() == 0) {
		print_message("# the superuser writes everywhere\n");
		skip();
	}
	assert_int_equal(fs_mkdirs(at, 0755, NULL), 0);
	two_runs(at, &m);
	sim_end(&m);
	assert_int_equal(chmod(at, 0555), 0);
	s = opened(at, &o);
	assert_int_equal(sum_of(s).committed, 2);
	store_close(s);
	assert_int_equal(chmod(at, 0755), 0);
}

TEST_IN(a_locked_store_stops_nothing, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said, .busy_ms = 50 };
	struct err err = ERR_INIT;
	struct store *s, *r;
	struct sim m;
	sqlite3 *db;
	int64_t t;

	two_runs(dir, &m);
	store_close(opened(dir, &o));
	sim_run(&m, 0, 2, 1, 3);
	assert_int_equal(sqlite3_open(textf("%s/" STORE_FILE, dir), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	s = opened(dir, &o);
	assert_true(is_said(&said, "another program has it locked"));
	assert_int_equal(store_summary(s, &(struct store_summary){ 0 }, &err), -EBUSY);
	t = clock_monotonic_ns();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(store_follow(s, &err), -EBUSY);
	assert_true(clock_monotonic_ns() - t < NS_PER_S);
	strvec_clear(&said);
	o.read = true;
	r = opened(dir, &o);
	assert_true(is_said(&said, "made in memory"));
	assert_int_equal(sum_of(r).committed, 3);
	store_close(r);
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	store_close(s); /* catches up */
	sim_end(&m);
	strvec_clear(&said);
	r = opened(dir, &o);
	assert_int_equal(sum_of(r).committed, 3);
	assert_int_equal(said.nr, 0);
	store_close(r);
}

TEST_IN(a_full_disk_stops_nothing, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said };
	struct rlimit was, small;
	struct err err = ERR_INIT;
	struct strvec names = STRVEC_INIT;
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){ 20000, was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	s = opened(dir, &o);
	assert_true(is_said(&said, "when that is over"));
	assert_true(store_follow(s, &err) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	sim_run(&m, 0, 2, 1, 3);
	sim_end(&m);
	store_close(s); /* catches up */
	strvec_clear(&said);
	o.read = true;
	s = opened(dir, &o);
	assert_int_equal(sum_of(s).committed, 3);
	assert_int_equal(said.nr, 0);
	store_close(s);
	assert_int_equal(fs_glob(dir, FS_TEMP_PATTERN "*", &names, NULL), 0);
	assert_int_equal(names.nr, 0);
	strvec_release(&names);
}

/* ---- killed ---- */

/* Runs until it is killed; follows each event. */
static void child_run(const char *dir, uint64_t events, int round, const struct store_opts *o)
{
	struct store *s;
	struct sim m;

	sim_resume(&m, dir, events);
	if (store_open(dir, o, &s, NULL) < 0)
		_exit(1);
	for (int i = 0;; i++) {
		/* each run once, as results/ names an attempt for good */
		sim_run(&m, (size_t)i % 20, round * 1000 + i / 20, 1, i);
		if (store_follow(s, NULL) < 0)
			_exit(1);
	}
}

static char *csv_of(const char *dir)
{
	struct store_opts o = { .read = true };
	struct store *s = opened(dir, &o);
	struct store_exported done;
	char *text = NULL;
	size_t n;
	FILE *f = xmemstream(&text, &n);

	assert_int_equal(store_export(s, STORE_JSON, true, f, &done, NULL), 0);
	fclose(f);
	store_close(s);
	return text;
}

static void killed_often(const char *dir, bool shared)
{
	struct store_opts o = { .shared = shared };
	struct sim m;

	sim_begin(&m, dir, 20, 2, "[]");
	sim_end(&m);
	for (int i = 1; i <= 8; i++) {
		CLEANUP(xfreep) char *was = NULL, *is = NULL;
		struct journal_place place = { 0 };
		struct err err = ERR_INIT;
		int status;
		pid_t pid;

		assert_int_equal(
			journal_follow(textf("%s/journal.ndjson", dir), &place, NULL, NULL, &err),
			0);
		pid = fork();
		if (pid == 0)
			child_run(dir, place.events, i, &o);
		usleep(20000 + (useconds_t)i * 7000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		if (i % 2) /* a reader first, or a writer */
			store_close(opened(dir, &o));
		was = csv_of(dir);
		assert_int_equal(store_rebuild(dir, &o, NULL, &err), 0);
		is = csv_of(dir);
		if (strcmp(was, is) != 0)
			fail_msg("round %d differs", i);
	}
}

TEST_IN(killed_at_any_moment_it_is_right, dir)
{
	killed_often(dir, false);
}

TEST_IN(killed_without_wal_it_is_right, dir)
{
	killed_often(dir, true);
}

/* Readers beside a writer: what they see is whole, and grows; none takes it for damaged. */
static void read_beside(const char *dir, bool shared)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts w = { .shared = shared }, o = { .read = true, .said = &said };
	uint64_t last = 0, moved = 0;
	int status;
	struct sim m;
	pid_t pid;

	sim_begin(&m, dir, 20, 2, "[]");
	sim_end(&m);
	store_close(opened(dir, &w));
	pid = fork();
	if (pid == 0)
		child_run(dir, 2, 1, &w);
	for (int i = 0; i < 60; i++) {
		struct store *s = opened(dir, &o);
		struct store_summary sum = sum_of(s);

		assert_true(sum.events >= last);
		moved += sum.events > last;
		last = sum.events;
		store_close(s);
		if (said.nr)
			fail_msg("%s", said.v[0]);
		usleep(1000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(moved > 5);
}

TEST_IN(readers_beside_a_writer, dir)
{
	read_beside(dir, false);
}

TEST_IN(readers_beside_a_writer_without_wal, dir)
{
	read_beside(dir, true);
}

/* ---- versions ---- */

static const char *const v2[] = { "ALTER TABLE attempt ADD COLUMN extra TEXT DEFAULT 'new'" };
static const struct store_migrations to_v2 = { v2, 1 };
static const char *const v3[] = { "ALTER TABLE attempt ADD COLUMN extra TEXT DEFAULT 'new'",
				  "UPDATE attempt SET extra = extra || state;"
				  "CREATE TABLE more(x)" };
static const struct store_migrations to_v3 = { v3, 2 };
static const char *const bad[] = { "ALTER TABLE attempt ADD COLUMN extra TEXT",
				   "UPDATE nothing SET x = 1" };
static const struct store_migrations to_bad = { bad, 2 };

static int64_t number_of(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t v = -1;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

TEST_IN(an_older_one_is_migrated_after_a_backup, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said };
	CLEANUP(xfreep) char *path = xasprintf("%s/" STORE_FILE, dir);
	CLEANUP(xfreep) char *old = xasprintf("%s/" STORE_FILE ".v1", dir);
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	store_close(opened(dir, &o));
	o.migrations = &to_v3;
	/* a reader leaves it as it is */
	o.read = true;
	s = opened(dir, &o);
	assert_int_equal(sum_of(s).committed, 2);
	store_close(s);
	assert_int_equal(number_of(path, "PRAGMA user_version"), 1);
	assert_true(is_said(&said, "of version 1, this profrig has 3"));
	strvec_clear(&said);
	o.read = false;
	s = opened(dir, &o);
	assert_true(is_said(&said, "migrated to 3"));
	sim_run(&m, 0, 2, 1, 3);
	sim_end(&m);
	assert_int_equal(store_follow(s, NULL), 0);
	store_close(s);
	assert_int_equal(number_of(path, "PRAGMA user_version"), 3);
	assert_int_equal(number_of(path, "SELECT count(*) FROM attempt WHERE extra = 'newsuccess'"),
			 2);
	assert_int_equal(number_of(path, "SELECT count(*) FROM attempt"), 3);
	assert_int_equal(number_of(old, "PRAGMA user_version"), 1);
	assert_int_equal(number_of(old, "SELECT count(*) FROM attempt"), 2);
	/* made anew it has that version, too */
	assert_int_equal(store_rebuild(dir, &o, NULL, NULL), 0);
	assert_int_equal(number_of(path, "PRAGMA user_version"), 3);
}

TEST_IN(a_migration_that_fails_changes_nothing_and_it_is_made_again, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said };
	CLEANUP(xfreep) char *aside = xasprintf("%s/" STORE_FILE ".damaged", dir);
	struct err err = ERR_INIT;
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	sim_end(&m);
	store_close(opened(dir, &o));
	o.migrations = &to_bad;
	/* nor can it be made with such a table: an error, and the old one is kept */
	assert_true(store_open(dir, &o, &s, &err) < 0);
	assert_int_equal(number_of(aside, "PRAGMA user_version"), 1);
	assert_int_equal(number_of(aside, "SELECT count(extra) FROM attempt"), -1);
}

TEST_IN(a_newer_one_is_only_read, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said, .migrations = &to_v2 };
	CLEANUP(xfreep) char *path = xasprintf("%s/" STORE_FILE, dir);
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	store_close(opened(dir, &o));
	o.migrations = NULL;
	for (int read = 0; read < 2; read++) {
		strvec_clear(&said);
		o.read = read;
		s = opened(dir, &o);
		assert_true(is_said(&said, "a newer profrig wrote"));
		assert_true(store_is_read_only(s));
		assert_int_equal(sum_of(s).committed, 2);
		sim_run(&m, 0, 2, 1 + read, 3);
		assert_int_equal(store_follow(s, NULL), 0);
		store_close(s);
	}
	sim_end(&m);
	assert_int_equal(number_of(path, "PRAGMA user_version"), 2);
	assert_int_equal(number_of(path, "SELECT count(*) FROM attempt"), 2);
}

/* ---- filesystems ---- */

TEST(which_filesystems_are_local)
{
	assert_true(store_fs_local(0xef53));
	assert_true(store_fs_local(0x01021994));
	assert_false(store_fs_local(0x6969));     /* NFS */
	assert_false(store_fs_local(0x0bd00bd0)); /* Lustre */
	assert_false(store_fs_local(0x47504653)); /* GPFS */
	assert_false(store_fs_local(0x65735546)); /* FUSE */
}

TEST_IN(a_shared_filesystem_has_no_wal, dir)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = { .said = &said };
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	s = opened(dir, &o);
	assert_true(fs_exists(textf("%s/" STORE_FILE "-wal", dir)));
	store_close(s);
	assert_false(fs_exists(textf("%s/" STORE_FILE "-wal", dir)));
	o.shared = true;
	s = opened(dir, &o);
	sim_run(&m, 0, 2, 1, 3);
	sim_end(&m);
	assert_int_equal(store_follow(s, NULL), 0);
	assert_false(fs_exists(textf("%s/" STORE_FILE "-wal", dir)));
	assert_int_equal(
		number_of(textf("%s/" STORE_FILE, dir), "SELECT writer IS NOT NULL FROM applied"),
		1);
	store_close(s);
	assert_int_equal(
		number_of(textf("%s/" STORE_FILE, dir), "SELECT writer IS NULL FROM applied"), 1);
	/* as a reboot leaves it */
	sql_do(dir, "UPDATE applied SET writer = 'another boot'");
	store_close(opened(dir, &o));
	assert_true(is_said(&said, "the machine went down while it was written"));
}

/* ---- questions ---- */

static int row_none(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	(void)c, (void)n, (void)err;
	++*(int *)ctx;
	return 0;
}

TEST_IN(a_question_only_reads_within_limits, dir)
{
	static const struct {
		const char *sql;
		int r;
	} rows[] = {
		{ "SELECT id FROM run", 0 },
		{ "WITH x AS (SELECT 1 AS a) SELECT a FROM x;  ", 0 },
		{ "VALUES (1), (2)", 0 },
		{ "SELECT count(*), avg(value) FROM metric GROUP BY name", 0 },
		{ "", -EINVAL },
		{ "-- nothing", -EINVAL },
		{ "SELEC 1", -EINVAL },
		{ "SELECT nothing FROM run", -EINVAL },
		{ "SELECT 1; SELECT 2", -EINVAL },
		{ "DELETE FROM run", -EACCES },
		{ "UPDATE run SET state = 'x'", -EACCES },
		{ "INSERT INTO env VALUES('a', 'b')", -EACCES },
		{ "DROP TABLE run", -EACCES },
		{ "CREATE TEMP TABLE t(x)", -EACCES },
		{ "ATTACH '/tmp/x' AS y", -EACCES },
		{ "PRAGMA journal_mode = DELETE", -EACCES },
		{ "VACUUM INTO '/tmp/x'", -EACCES },
		{ "SELECT load_extension('x')", -EACCES },
		{ "BEGIN", -EACCES },
		{ "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
		  "SELECT count(*) FROM r",
		  -ETIME },
		{ "SELECT zeroblob(2000000000)", -EFBIG },
	};
	struct store_opts o = { .read = true };
	struct store *s;
	struct sim m;

	two_runs(dir, &m);
	sim_end(&m);
	s = opened(dir, &o);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int seen = 0, r;
		struct store_query q = { .seconds = 0.3, .ctx = &seen, .row = row_none };
		struct store_answer a;
		struct err err = ERR_INIT;

		r = store_ask(s, rows[i].sql, &q, &a, &err);
		if (r != rows[i].r || (r < 0 && !*err.msg) || (r == 0 && !seen))
			ROW_FAIL(i, "%d, wanted %d: %s", r, rows[i].r, err.msg);
	}
	assert_int_equal(sum_of(s).committed, 2);
	store_close(s);
}

TEST_IN(an_answer_is_bounded, dir)
{
	struct store_opts o = { .read = true };
	struct store *s;
	struct sim m;
	int seen = 0;
	struct store_query q = { .rows = 3, .ctx = &seen, .row = row_none };
	struct store_answer a;

	two_runs(dir, &m);
	sim_end(&m);
	s = opened(dir, &o);
	assert_int_equal(store_ask(s, "SELECT id FROM run", &q, &a, NULL), 0);
	assert_int_equal(a.rows, 3);
	assert_true(a.cut);
	assert_int_equal(seen, 3);
	q = (struct store_query){ .bytes = 5000, .ctx = &seen, .row = row_none };
	assert_int_equal(store_ask(s, "SELECT printf('%2000d', 1) FROM run", &q, &a, NULL), 0);
	assert_int_equal(a.rows, 2);
	assert_true(a.cut);
	q.bytes = 0;
	assert_int_equal(store_ask(s, "SELECT id FROM run", &q, &a, NULL), 0);
	assert_int_equal(a.rows, 4);
	assert_false(a.cut);
	store_close(s);
}
