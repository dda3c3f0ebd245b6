/* Copies of trees: what is followed, left out and never written through. */
#include "test.h"

#include <sys/stat.h>

#include "profrig/base/strbuf.h"

struct places {
	char *top, *from, *to;
};

static int set_up(void **state)
{
	static struct places made;
	struct places *p = *state = &made;

	p->top = test_dir();
	p->from = fs_join(p->top, "from");
	p->to = fs_join(p->top, "to");
	test_put(p->from, "a.txt", "one");
	test_put(p->from, "deep/er/b.txt", "two");
	return 0;
}

static int tear_down(void **state)
{
	struct places *p = *state;

	test_dir_done(&p->top);
	free(p->from);
	free(p->to);
	return 0;
}

#define COPY_TEST(name) TEST_OF(name, struct places *p, set_up, tear_down)

static void link_to(const struct places *p, const char *target, const char *name)
{
	assert_int_equal(symlink(target, in_dir(p->from, name)), 0);
}

static void assert_text(const char *dir, const char *name, const char *want)
{
	CLEANUP(xfreep) char *text = NULL;

	assert_int_equal(fs_read(in_dir(dir, name), 8 << 20, &text, NULL, NULL), 0);
	assert_string_equal(text, want);
}

static bool there(const char *dir, const char *name)
{
	struct stat st;

	return lstat(in_dir(dir, name), &st) == 0;
}

COPY_TEST(whole_tree)
{
	CLEANUP(strbuf_release) struct strbuf big = STRBUF_INIT;
	struct stat st;

	for (int i = 0; i < 300000; i++)
		strbuf_addf(&big, "%d,", i);
	test_put(p->from, "big", big.buf);
	test_put(p->from, "empty", "");
	test_put(p->from, "run.sh", "x");

	assert_int_equal(chmod(in_dir(p->from, "run.sh"), 04750), 0);
	assert_int_equal(mkfifo(in_dir(p->from, "fifo"), 0600), 0);
	assert_int_equal(fs_copy_tree(p->from, p->to, NULL, NULL), 0);
	assert_text(p->to, "a.txt", "one");
	assert_text(p->to, "deep/er/b.txt", "two");
	assert_text(p->to, "empty", "");
	assert_text(p->to, "big", big.buf);
	assert_int_equal(stat(in_dir(p->to, "run.sh"), &st), 0);
	/* Permissions, but no set-user-id bit. */
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_false(there(p->to, "fifo"));
}

COPY_TEST(links)
{
	struct stat st;

	link_to(p, "a.txt", "file");
	link_to(p, "deep", "folder");
	link_to(p, "nowhere", "dangling");
	assert_int_equal(fs_copy_tree(p->from, p->to, NULL, NULL), 0);

	assert_int_equal(lstat(in_dir(p->to, "file"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_text(p->to, "folder/er/b.txt", "two");
	char target[64] = "";

	assert_int_equal(readlink(in_dir(p->to, "dangling"), target, sizeof(target) - 1), 7);
	assert_string_equal(target, "nowhere");
}

/* What lies in the way is replaced, also a link that leads elsewhere. */
COPY_TEST(over_what_is_there)
{
	test_put(p->top, "precious", "mine");
	test_put(p->to, "other", "stays");

	assert_int_equal(symlink(in_dir(p->top, "precious"), in_dir(p->to, "a.txt")), 0);
	assert_int_equal(fs_copy_tree(p->from, p->to, NULL, NULL), 0);
	assert_text(p->to, "a.txt", "one");
	assert_text(p->top, "precious", "mine");
	assert_text(p->to, "other", "stays");
}

/* The copy lies inside of what is copied, and is no part of it. */
COPY_TEST(into_itself)
{
	struct err err = ERR_INIT;

	CLEANUP(xfreep) char *runs = fs_join(p->from, "runs"), *to = fs_join(runs, "1/work");

	test_put(runs, "0/old", "x");
	assert_int_equal(fs_copy_tree(p->from, to, runs, NULL), 0);
	assert_text(to, "deep/er/b.txt", "two");
	assert_false(there(to, "runs"));
	link_to(p, ".", "loop");
	assert_int_equal(fs_copy_tree(p->from, p->to, runs, &err), -ELOOP);
	assert_has(err.msg, "loop");
}

COPY_TEST(cannot)
{
	struct err err = ERR_INIT;

	CLEANUP(xfreep) char *file = fs_join(p->from, "a.txt");

	assert_true(fs_copy_tree(in_dir(p->top, "none"), p->to, NULL, &err) < 0);
	assert_has(err.msg, "none");
	/* A file where a folder is to be. */
	test_put(p->top, "to/deep", "in the way");
	err = (struct err)ERR_INIT;
	assert_true(fs_copy_tree(p->from, p->to, NULL, &err) < 0);
	assert_has(err.msg, "deep");
	/* A folder where a file is to be. */
	test_put(p->top, "to2/a.txt/x", "in the way");

	err = (struct err)ERR_INIT;
	assert_true(fs_copy_tree(p->from, in_dir(p->top, "to2"), NULL, &err) < 0);
	assert_has(err.msg, "cannot replace");
}
