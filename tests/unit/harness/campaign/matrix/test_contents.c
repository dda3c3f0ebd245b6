/* What a model's folder holds, as a hash: what counts, what does not, what has changed. */
#include "contents.h"
#include "test.h"

#include <sys/stat.h>

#include "profrig/base/proc.h"

static struct contents found(const char *dir, const char *but)
{
	struct contents c = CONTENTS_INIT;
	struct err err = ERR_INIT;

	if (contents_find(dir, but, NULL, &c, &err) < 0)
		fail_msg("%s", err.msg);
	return c;
}

static bool is_same(const char *dir, const char *sha)
{
	struct contents c = found(dir, NULL);
	bool same = !strcmp(c.sha, sha);

	contents_release(&c);
	return same;
}

static void run(const char *dir, const char *const *words)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_opts po = PROC_OPTS_INIT;
	struct proc_exit x;
	struct err err = ERR_INIT;
	pid_t pid;

	strvec_pushl(&argv, "git", "-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org",
		     NULL);
	for (; *words; words++)
		strvec_push(&argv, *words);
	po.argv = argv.v;
	assert_int_equal(proc_spawn(&po, &pid, &err), 0);
	assert_int_equal(proc_wait(pid, 60000, &x, &err), 0);
	assert_int_equal(x.code, 0);
}
#define GIT(dir, ...) run(dir, (const char *const[]){ __VA_ARGS__, NULL })

TEST_IN(the_hash_is_that_of_the_lines, dir)
{
	struct contents c;
	char hex[65];

	test_put(dir, "run.sh", "abc");
	test_put(dir, "sub/data", "");
	assert_int_equal(chmod(in_dir(dir, "run.sh"), 0755), 0);
	c = found(dir, NULL);
	assert_int_equal(c.files.nr, 2);
	/* FIPS 180-2, B.1; the hash of nothing */
	assert_string_equal(c.files.v[0],
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad "
			    "*run.sh");
	assert_string_equal(c.files.v[1],
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 "
			    " sub/data");
	fs_sha256_text(textf("%s\n%s\n", c.files.v[0], c.files.v[1]),
		       strlen(c.files.v[0]) + strlen(c.files.v[1]) + 2, hex);
	assert_string_equal(c.sha, hex);
	contents_release(&c);
}

TEST_IN(what_changes_it_and_what_does_not, dir)
{
	struct contents c;

	test_put(dir, "a", "1");
	test_put(dir, "b/c", "2");
	c = found(dir, NULL);
	test_put(dir, ".cache/x", "hidden");
	test_put(dir, "runs/r1/run.json", "{}");
	test_put(dir, "runs/r1/big", "output");
	test_put(dir, "campaigns/x/journal.ndjson", "{}\n");
	test_put(dir, "campaigns/x/campaign.yaml", "name: x");
	assert_int_equal(mkfifo(in_dir(dir, "fifo"), 0644), 0);
	assert_true(is_same(dir, c.sha));
	test_put(dir, "a", "2");
	assert_false(is_same(dir, c.sha));
	test_put(dir, "a", "1");
	assert_true(is_same(dir, c.sha));
	assert_int_equal(chmod(in_dir(dir, "a"), 0755), 0);
	assert_false(is_same(dir, c.sha));
	assert_int_equal(chmod(in_dir(dir, "a"), 0644), 0);
	assert_int_equal(symlink("/etc/passwd", in_dir(dir, "link")), 0);
	assert_false(is_same(dir, c.sha));
	contents_release(&c);
	c = found(dir, NULL);
	assert_int_equal(unlink(in_dir(dir, "link")), 0);
	assert_int_equal(symlink("/etc/group", in_dir(dir, "link")), 0);
	assert_false(is_same(dir, c.sha));
	contents_release(&c);
}

TEST_IN(the_folder_of_campaigns_does_not_count, dir)
{
	struct contents a, b;

	test_put(dir, "a", "1");
	a = found(dir, in_dir(dir, "mine"));
	test_put(dir, "mine/notes", "x");
	b = found(dir, in_dir(dir, "mine"));
	assert_string_equal(a.sha, b.sha);
	contents_release(&a);
	contents_release(&b);
}

TEST_IN(of_a_repository_what_git_tracks, dir)
{
	struct contents c;

	test_put(dir, "a", "1");
	test_put(dir, "model/run.sh", "x");
	GIT(dir, "init", "-q");
	GIT(dir, "add", ".");
	GIT(dir, "commit", "-qm", "all");
	c = found(in_dir(dir, "model"), NULL);
	assert_int_equal(c.files.nr, 1);
	assert_has(c.files.v[0], " run.sh");
	test_put(dir, "model/other", "untracked");
	assert_true(is_same(in_dir(dir, "model"), c.sha));
	GIT(dir, "add", "model/other");
	assert_false(is_same(in_dir(dir, "model"), c.sha));
	GIT(dir, "rm", "-q", "--cached", "model/other");
	assert_int_equal(unlink(in_dir(dir, "model/run.sh")), 0);
	assert_false(is_same(in_dir(dir, "model"), c.sha));
	contents_release(&c);
}

TEST(changes_are_named)
{
	static const struct {
		const char *before[4], *now[4], *want;
	} rows[] = {
		ROW(LIST(NULL), LIST(NULL), ""),
		ROW(LIST("1 a"), LIST("1 a"), ""),
		ROW(LIST("1 a"), LIST("2 a"), "a"),
		ROW(LIST("1 a"), LIST("1 a", "1 b"), "b (new)"),
		ROW(LIST("1 a", "1 b"), LIST("1 b"), "a (gone)"),
		ROW(LIST("1 a", "1 b", "1 c"), LIST("2 b", "2 d"), "a (gone), b, 2 more"),
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strvec_release) struct strvec a = STRVEC_INIT, b = STRVEC_INIT;
		CLEANUP(xfreep) char *said = NULL;

		for (const char *const *p = rows[i].before; *p; p++)
			strvec_pushf(&a, "%064d  %s", **p, *p + 2);
		for (const char *const *p = rows[i].now; *p; p++)
			strvec_pushf(&b, "%064d  %s", **p, *p + 2);
		said = contents_changed(&a, &b, 2);
		if (strcmp(said, rows[i].want) != 0)
			ROW_FAIL(i, "'%s', not '%s'", said, rows[i].want);
	}
}

TEST(lines_that_are_none_end_it)
{
	CLEANUP(strvec_release) struct strvec a = STRVEC_INIT, b = STRVEC_INIT;
	CLEANUP(xfreep) char *said = NULL;

	strvec_push(&a, "short");
	strvec_push(&b, "");
	said = contents_changed(&a, &b, 2);
	assert_string_equal(said, "");
}

TEST_IN(a_folder_that_is_gone, dir)
{
	struct contents c = CONTENTS_INIT;
	struct err err = ERR_INIT;
	char hex[65];

	assert_int_equal(contents_find(in_dir(dir, "none"), NULL, NULL, &c, &err), -ENOENT);
	assert_int_equal(contents_file(in_dir(dir, "none"), hex, &err), -ENOENT);
	contents_release(&c);
}
