/* The outbox: what waits, how long, whose it is; and what is no outbox. */
#include "outbox.h"
#include "test.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/publish/publish.h"

#define ID "20260304T050607Z-mlp-3fa9c1"

static void run_put(const char *dir, const char *id, const char *ended)
{
	test_put(dir, textf("%s/run.json", id),
		 textf("{\"schema\": \"profrig.run/1\", \"id\": \"%s\", \"status\": \"success\","
		       " \"ended_utc\": \"%s\", \"metrics\": [{\"name\": \"x\", \"value\": null}]}",
		       id, ended));
}

static struct publish_conf lines_conf(const char *path)
{
	struct publish_conf c = PUBLISH_CONF_INIT;

	VEC_PUSH(&c.targets, ((struct publish_target){ .to = xstrdup("ndjson"),
						       .name = xasprintf("ndjson %s", path),
						       .path = xstrdup(path),
						       .timeout_s = 5 }));
	return c;
}

/* Whether t_ns is so many seconds from now, give or take a slow machine's ten. */
static bool is_in(int64_t t_ns, int64_t seconds)
{
	int64_t s = (t_ns - clock_realtime_ns()) / NS_PER_S;

	return s <= seconds && s >= seconds - 10;
}

TEST_IN(a_failure_waits_twice_as_long_each_time, dir)
{
	static const int64_t waits[] = { 30, 60, 120, 240, 480, 960 };
	CLEANUP(publish_conf_release)
	struct publish_conf conf = lines_conf(in_dir(dir, "nowhere/lines"));
	const struct publish_opts all = { .all = true }, due = { .all = false };
	struct err err = ERR_INIT;

	run_put(dir, ID, "2026-03-04T05:06:08Z");
	assert_int_equal(publish_enqueue(dir, &conf, in_dir(dir, ID), false, NULL, &err), 1);
	assert_int_equal(publish_enqueue(dir, &conf, in_dir(dir, ID), false, NULL, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;
		CLEANUP(publish_list_release) struct publish_list l;

		assert_int_equal(publish_send(dir, &conf, i ? &all : &due, &told, &err), 0);
		assert_int_equal(told.waiting, 1);
		assert_int_equal(told.why.nr, 1);
		assert_int_equal(publish_list(dir, &l, &err), 0);
		assert_int_equal(l.rows.nr, 1);
		assert_string_equal(l.rows.v[0].state, "waiting");
		assert_string_equal(l.rows.v[0].dir, ID);
		assert_int_equal(l.rows.v[0].tries, i + 1);
		assert_has(l.rows.v[0].error, "No such file");
		if (!is_in(l.rows.v[0].next_ns, waits[i]))
			ROW_FAIL(i, "%lld", (long long)l.rows.v[0].next_ns);
		/* It is not due. */
		publish_told_release(&told);
		assert_int_equal(publish_send(dir, &conf, &due, &told, &err), 0);
		assert_int_equal(told.why.nr, 0);
		assert_int_equal(told.waiting, 1);
	}
	assert_int_equal(mkdir(in_dir(dir, "nowhere"), 0755), 0);
	CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;

	assert_int_equal(publish_send(dir, &conf, &all, &told, &err), 0);
	assert_int_equal(told.sent, 1);
	assert_int_equal(told.unvalued, 1);
	assert_int_equal(told.waiting, 0);
}

TEST_IN(a_longest_wait_is_six_hours, dir)
{
	CLEANUP(publish_conf_release)
	struct publish_conf conf = lines_conf(in_dir(dir, "nowhere/lines"));
	const struct publish_opts all = { .all = true };
	CLEANUP(publish_list_release) struct publish_list l;
	struct err err = ERR_INIT;

	run_put(dir, ID, "2026-03-04T05:06:08Z");
	assert_int_equal(publish_enqueue(dir, &conf, in_dir(dir, ID), false, NULL, &err), 1);
	for (int i = 0; i < 14; i++) {
		CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;

		assert_int_equal(publish_send(dir, &conf, &all, &told, &err), 0);
	}
	assert_int_equal(publish_list(dir, &l, &err), 0);
	assert_true(is_in(l.rows.v[0].next_ns, 6 * 3600));
}

TEST_IN(other_targets_and_removed_runs_are_known, dir)
{
	CLEANUP(publish_conf_release)
	struct publish_conf one = lines_conf(in_dir(dir, "one")),
			    two = lines_conf(in_dir(dir, "two"));
	const struct publish_opts all = { .all = true };
	CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;
	CLEANUP(publish_list_release) struct publish_list l;
	struct err err = ERR_INIT;

	run_put(dir, ID, "2026-03-04T05:06:08Z");
	assert_int_equal(publish_enqueue(dir, &one, in_dir(dir, ID), false, NULL, &err), 1);
	assert_int_equal(publish_send(dir, &two, &all, &told, &err), 0);
	assert_int_equal(told.sent, 0);
	assert_int_equal(told.waiting, 1);
	assert_int_equal(fs_remove_tree(in_dir(dir, ID), &err), 0);
	assert_int_equal(publish_send(dir, &one, &all, &told, &err), 0);
	assert_int_equal(told.gone, 1);
	assert_int_equal(told.waiting, 0);
	assert_int_equal(publish_list(dir, &l, &err), 0);
	assert_string_equal(l.rows.v[0].state, "gone");
}

/* A folder of runs is moved with its outbox; what was sent can be sent again. */
TEST_IN(a_folder_may_be_moved, dir)
{
	CLEANUP(publish_conf_release) struct publish_conf conf = lines_conf(in_dir(dir, "lines"));
	const struct publish_opts all = { .all = true };
	CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;
	struct err err = ERR_INIT;
	char *text;

	test_put(dir, "runs/" ID "/run.json",
		 "{\"schema\": \"profrig.run/1\", \"id\": \"" ID "\", \"status\": \"success\","
		 " \"ended_utc\": \"2026-03-04T05:06:08Z\"}");
	assert_int_equal(publish_enqueue(in_dir(dir, "runs"), &conf, in_dir(dir, "runs/" ID), false,
					 NULL, &err),
			 1);
	assert_int_equal(rename(in_dir(dir, "runs"), in_dir(dir, "moved")), 0);
	assert_int_equal(publish_send(in_dir(dir, "moved"), &conf, &all, &told, &err), 0);
	assert_int_equal(told.sent, 1);
	assert_int_equal(publish_enqueue(in_dir(dir, "moved"), &conf, in_dir(dir, "moved/" ID),
					 true, NULL, &err),
			 1);
	assert_int_equal(publish_send(in_dir(dir, "moved"), &conf, &all, &told, &err), 0);
	assert_int_equal(told.sent, 2);
	text = test_get(dir, "lines");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
}

TEST_IN(a_row_is_claimed_once, dir)
{
	CLEANUP(outbox_closep) struct outbox *a = NULL, *b = NULL;
	CLEANUP(publish_list_release) struct publish_list la = { .rows = VEC_INIT };
	CLEANUP(publish_list_release) struct publish_list lb = { .rows = VEC_INIT };
	CLEANUP(publish_list_release) struct publish_list lc = { .rows = VEC_INIT };
	const struct outbox_new row = { .run = "r", .target = "t", .dir = "d", .ended_ns = 1 };
	struct err err = ERR_INIT;
	int64_t now = clock_realtime_ns();

	assert_int_equal(outbox_open(dir, true, &a, &err), 0);
	assert_int_equal(outbox_open(dir, false, &b, &err), 0);
	assert_int_equal(outbox_put(a, &row, false, &err), 1);
	assert_int_equal(outbox_due(a, now, NULL, &la, &err), 0);
	assert_int_equal(outbox_due(b, now, NULL, &lb, &err), 0);
	assert_int_equal(la.rows.nr + lb.rows.nr, 2);
	assert_int_equal(outbox_claim(a, &la.rows.v[0], 60 * NS_PER_S, &err), 1);
	assert_int_equal(outbox_claim(b, &lb.rows.v[0], 60 * NS_PER_S, &err), 0);
	/* Its process died: it is due again behind the lease. */
	assert_int_equal(outbox_due(b, clock_realtime_ns(), NULL, &lc, &err), 0);
	assert_int_equal(lc.rows.nr, 0);
	assert_int_equal(outbox_due(b, now + 70 * NS_PER_S, NULL, &lc, &err), 0);
	assert_int_equal(lc.rows.nr, 1);
	assert_int_equal(outbox_claim(b, &lc.rows.v[0], 60 * NS_PER_S, &err), 1);
}

TEST_IN(only_a_later_run_of_a_series_supersedes, dir)
{
	CLEANUP(outbox_closep) struct outbox *ob = NULL;
	static const struct outbox_new rows[] = {
		{ .run = "1", .target = "t", .dir = "1", .series = "a", .ended_ns = 1 },
		{ .run = "2", .target = "t", .dir = "2", .series = "a", .ended_ns = 2 },
		{ .run = "3", .target = "t", .dir = "3", .series = "b", .ended_ns = 3 },
		{ .run = "4", .target = "u", .dir = "4", .series = "a", .ended_ns = 4 },
		{ .run = "5", .target = "t", .dir = "5", .ended_ns = 5 },
	};
	struct publish_row row = { .target = textf("t") };
	struct err err = ERR_INIT;
	bool late = false;

	assert_int_equal(outbox_open(dir, true, &ob, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(outbox_put(ob, &rows[i], false, &err), 1);
		row.run = textf("%s", rows[i].run);
		row.target = textf("%s", rows[i].target);
		if (i != 1)
			assert_int_equal(outbox_note(ob, &row, "sent", 0, "", &err), 0);
	}
	row.run = textf("1");
	row.target = textf("t");
	assert_int_equal(outbox_superseded(ob, &row, &late, &err), 0);
	assert_false(late);
	row.run = textf("2");
	assert_int_equal(outbox_note(ob, &row, "sent", 0, "", &err), 0);
	row.run = textf("1");
	assert_int_equal(outbox_superseded(ob, &row, &late, &err), 0);
	assert_true(late);
	assert_int_equal(outbox_trim(ob, clock_realtime_ns() + NS_PER_S, &err), 0);
	assert_int_equal(outbox_superseded(ob, &row, &late, &err), 0);
	assert_false(late);
}

static void db_make(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

TEST_IN(what_is_no_outbox_is_left_alone, dir)
{
	static const char table[] =
		"CREATE TABLE outbox (run TEXT, target TEXT, state TEXT, tries INTEGER,"
		" next_ns INTEGER, error TEXT, dir TEXT, series TEXT, ended_ns INTEGER,"
		" sent_ns INTEGER)";
	static const struct {
		const char *sql, *words;
	} rows[] = {
		{ "CREATE TABLE other (x)", "no outbox of profrig" },
		{ table, "no outbox of profrig" },
		{ "CREATE VIEW outbox AS SELECT 1", "no outbox of profrig" },
		{ "PRAGMA user_version = 2; CREATE TABLE t (x)", "newer profrig" },
	};
	CLEANUP(outbox_closep) struct outbox *ob = NULL;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unlink(in_dir(dir, PUBLISH_OUTBOX));
		db_make(in_dir(dir, PUBLISH_OUTBOX), rows[i].sql);
		for (int make = 0; make < 2; make++)
			if (outbox_open(dir, make, &ob, &err) != -EBADMSG ||
			    !strstr(err.msg, rows[i].words))
				ROW_FAIL(i, "%s", err.msg);
	}
	unlink(in_dir(dir, PUBLISH_OUTBOX));
	assert_int_equal(outbox_open(dir, true, &ob, &err), 0);
	outbox_closep(&ob);
	db_make(in_dir(dir, PUBLISH_OUTBOX),
		"CREATE TRIGGER t AFTER UPDATE ON outbox BEGIN DELETE FROM outbox; END");
	assert_int_equal(outbox_open(dir, true, &ob, &err), -EBADMSG);
	unlink(in_dir(dir, PUBLISH_OUTBOX));
	assert_int_equal(outbox_open(dir, false, &ob, &err), 0);
	assert_null(ob);
	assert_int_equal(symlink("elsewhere", in_dir(dir, PUBLISH_OUTBOX)), 0);
	assert_int_equal(outbox_open(dir, true, &ob, &err), -EBADMSG);
	unlink(in_dir(dir, PUBLISH_OUTBOX));
	assert_int_equal(symlink("elsewhere", in_dir(dir, PUBLISH_OUTBOX "-journal")), 0);
	assert_int_equal(outbox_open(dir, true, &ob, &err), -EBADMSG);
	assert_false(fs_exists(in_dir(dir, "elsewhere")));
}

TEST(an_outbox_of_a_campaign_is_in_its_directory)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *plain = publish_outbox_dir(in_dir(dir, "runs")), *camp = NULL;

	assert_string_equal(plain, in_dir(dir, "runs"));
	test_put(dir, "journal.ndjson", "");
	camp = publish_outbox_dir(in_dir(dir, "runs/"));
	assert_string_equal(camp, dir);
}
