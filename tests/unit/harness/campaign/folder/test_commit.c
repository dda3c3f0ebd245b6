/* Names of attempts; commits: once, and what a workload puts in their place. */
#include "commit.h"
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define CELL "0123456789ab"

static struct attempt_name named(uint32_t repeat, uint32_t number)
{
	struct attempt_name a;

	attempt_name_make(CELL, repeat, number, &a);
	return a;
}

TEST(names_are_read_as_they_are_written)
{
	static const struct {
		const char *text;
		uint32_t repeat, number; /* repeat 0: no name */
	} rows[] = {
		{ CELL "-1", 1, 0 },
		{ CELL "-12.3", 12, 3 },
		{ CELL "-1000000.1000000", 1000000, 1000000 },
		{ CELL "-0", 0, 0 },
		{ CELL "-01", 0, 0 },
		{ CELL "-1.0", 0, 0 },
		{ CELL "-1.", 0, 0 },
		{ CELL "-", 0, 0 },
		{ CELL "", 0, 0 },
		{ CELL "-1000001", 0, 0 },
		{ CELL "-99999999999999999999", 0, 0 },
		{ CELL "-1.2.3", 0, 0 },
		{ CELL "-1 ", 0, 0 },
		{ CELL "-1/../x", 0, 0 },
		{ "0123456789AB-1", 0, 0 },
		{ "0123456789abc-1", 0, 0 },
		{ "0123-1", 0, 0 },
		{ "", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct attempt_name a = { .repeat = 0 };
		bool ok = attempt_name_parse(rows[i].text, &a);

		if (ok != (rows[i].repeat > 0))
			ROW_FAIL(i, "'%s' is %s name", rows[i].text, ok ? "a" : "no");
		if (!ok)
			continue;
		assert_int_equal(a.repeat, rows[i].repeat);
		assert_int_equal(a.number, rows[i].number);
		assert_string_equal(a.cell, CELL);
		assert_string_equal(a.number ? a.all : a.run, rows[i].text);
	}
}

/* The disk may be full when it is committed once more. */
TEST_IN(a_commit_that_is_there_writes_nothing, dir)
{
	struct attempt_name one = named(1, 1), two = named(1, 2);
	CLEANUP(xfreep) char *results = fs_join(dir, "results");
	CLEANUP(xfreep) char *in_the_way = xasprintf("%s/.%s", results, one.all);
	CLEANUP(xfreep) char *and_that = xasprintf("%s/.%s", results, two.all);
	struct err err = ERR_INIT;
	char said[200];

	assert_int_equal(mkdir(results, 0755), 0);
	assert_int_equal(commit_attempt(dir, &one, said, &err), COMMITTED);
	assert_int_equal(mkdir(in_the_way, 0755), 0);
	assert_int_equal(mkdir(and_that, 0755), 0);
	assert_int_equal(commit_attempt(dir, &one, said, &err), COMMITTED);
	assert_int_equal(commit_attempt(dir, &two, said, &err), SUPERSEDED);
}

TEST_IN(the_first_attempt_is_committed_and_later_ones_are_superseded, dir)
{
	struct attempt_name one = named(2, 1), two = named(2, 2), there;
	struct err err = ERR_INIT;
	char said[200];

	assert_int_equal(commit_look(dir, one.run, &there, &err), 0);
	assert_int_equal(commit_attempt(dir, &two, said, &err), COMMITTED);
	assert_int_equal(commit_attempt(dir, &one, said, &err), SUPERSEDED);
	assert_int_equal(commit_attempt(dir, &two, said, &err), COMMITTED);
	assert_string_equal(said, "");
	assert_int_equal(commit_look(dir, one.run, &there, &err), 1);
	assert_string_equal(there.all, two.all);
}

TEST_IN(of_processes_that_commit_at_once_one_does, dir)
{
	struct attempt_name there;
	int committed = 0;

	for (uint32_t i = 1; i <= 8; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			struct attempt_name a = named(1, i);
			char said[200];

			_exit(commit_attempt(dir, &a, said, NULL) + 10);
		}
	}
	for (int i = 0; i < 8; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status));
		assert_in_range(WEXITSTATUS(status), 10 + COMMITTED, 10 + SUPERSEDED);
		committed += WEXITSTATUS(status) == 10 + COMMITTED;
	}
	assert_int_equal(committed, 1);
	assert_int_equal(commit_look(dir, named(1, 1).run, &there, NULL), 1);
}

TEST_IN(what_is_no_commit_is_moved_aside_and_said, dir)
{
	static const char *const texts[] = { "", "rubbish\n", CELL "-2.1\n", CELL "-1\n",
					     "0123456789ac-1.1\n" };
	struct attempt_name a = named(1, 1), there;
	struct err err = ERR_INIT;
	char said[200];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		test_put(dir, textf("results/%s", a.run), texts[i]);
		assert_int_equal(commit_look(dir, a.run, &there, &err), -EBADMSG);
		assert_int_equal(commit_attempt(dir, &a, said, &err), COMMITTED);
		assert_has(said, "results/" CELL "-1 is no commit",
			   textf("now " CELL "-1.odd-%zu", i + 1));
		assert_int_equal(commit_look(dir, a.run, &there, &err), 1);
		assert_int_equal(commit_put_aside(dir, a.run, said, &err), 0);
		assert_int_equal(
			fs_remove_tree(in_dir(dir, textf("results/%s.odd-%zu", a.run, i + 2)),
				       &err),
			0);
	}
}

TEST_IN(links_and_fifos_are_no_commits, dir)
{
	struct attempt_name a = named(1, 1), there;
	struct err err = ERR_INIT;
	char said[200];

	test_put(dir, "elsewhere", CELL "-1.1\n");
	assert_int_equal(fs_mkdirs(in_dir(dir, "results"), 0755, &err), 0);
	assert_int_equal(symlink("../elsewhere", in_dir(dir, textf("results/%s", a.run))), 0);
	assert_int_equal(commit_look(dir, a.run, &there, &err), -EBADMSG);
	assert_int_equal(commit_attempt(dir, &a, said, &err), COMMITTED);
	assert_has(said, "no commit");
	assert_int_equal(unlink(in_dir(dir, textf("results/%s", a.run))), 0);
	assert_int_equal(mkfifo(in_dir(dir, textf("results/%s", a.run)), 0644), 0);
	assert_int_equal(commit_look(dir, a.run, &there, &err), -EBADMSG);
	assert_int_equal(commit_attempt(dir, &a, said, &err), COMMITTED);
	assert_int_equal(unlink(in_dir(dir, textf("results/%s", a.run))), 0);
	assert_int_equal(mkdir(in_dir(dir, textf("results/%s", a.run)), 0755), 0);
	assert_int_equal(commit_attempt(dir, &a, said, &err), COMMITTED);
}

TEST_IN(a_folder_that_cannot_be_is_an_error, dir)
{
	struct attempt_name a = named(1, 1);
	struct err err = ERR_INIT;
	char said[200];

	assert_int_equal(fs_write_atomic(in_dir(dir, "results"), "x", 1, &err), 0);
	assert_int_equal(commit_attempt(dir, &a, said, &err), -ENOTDIR);
	assert_has(err.msg, "results");
}
