#include "base_test.h"

#include <fnmatch.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "profrig/base/strbuf.h"

static char *dir;

static int set_up(void **state UNUSED)
{
	dir = test_dir();
	return 0;
}

static int tear_down(void **state UNUSED)
{
	struct err err = ERR_INIT;

	if (fs_remove_tree(dir, &err) < 0)
		print_error("%s\n", err.msg);
	assert_false(fs_exists(dir));
	free(dir);
	return 0;
}

#define FS_TEST(f) TEST_WITH(f, set_up, tear_down)

static char *joined(const struct strvec *sv)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < sv->nr; i++)
		strbuf_addf(&sb, "%s%s", i ? " " : "", sv->v[i]);
	return strbuf_steal(&sb);
}

/* Makes an empty file, and the directories above it. */
static void file_touch(const char *rel)
{
	assert_int_equal(fs_mkdirs(kept(fs_dir(in_dir(dir, rel))), 0755, NULL), 0);
	test_file(in_dir(dir, rel), "", 0);
}

FS_TEST(test_read)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "f"), *big = xmalloc(300000);
	struct err err = ERR_INIT;
	char *data = NULL;
	size_t n;

	test_file(path, "a\0b", 3);
	assert_int_equal(fs_read(path, 3, &data, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_memory_equal(data, "a\0b", 4);
	xfreep(&data);
	assert_int_equal(fs_read(path, 2, &data, &n, &err), -EFBIG);
	assert_has(err.msg, "/f: larger than 2 bytes");
	assert_null(data);
	test_file(path, "", 0);
	assert_int_equal(fs_read(path, 0, &data, NULL, NULL), 0);
	assert_string_equal(data, "");
	xfreep(&data);
	memset(big, 'x', 300000);
	test_file(path, big, 300000);
	assert_int_equal(fs_read(path, 1 << 20, &data, &n, NULL), 0);
	assert_int_equal(n, 300000);
	assert_memory_equal(data, big, n);
	xfreep(&data);
	/* Size 0 for stat, and more than one read long. */
	assert_int_equal(fs_read("/proc/kallsyms", 100, &data, &n, NULL), -EFBIG);
	assert_int_equal(fs_read("/proc/self/status", 1 << 20, &data, &n, NULL), 0);
	assert_memory_equal(data, "Name:", 5);
	assert_int_equal(strlen(data), n);
	xfreep(&data);
	assert_int_equal(fs_read("/dev/zero", 100000, &data, &n, NULL), -EFBIG);
	assert_int_equal(fs_read(dir, 100, &data, &n, &err), -EISDIR);
	assert_int_equal(fs_read("", 100, &data, &n, &err), -ENOENT);
	assert_string_equal(err.msg, ": No such file or directory");
}

FS_TEST(test_temp_name)
{
	static const char *const others[] =
		LIST("", ".profrig-", ".profrig-12", "profrig-12-0.tmp", ".profrig-x-0.tmp",
		     ".profrig--1-0.tmp", ".profrig-99999999999999999999-0.tmp");
	CLEANUP(xfreep) char *one = fs_temp_name("/some/where");

	assert_string_equal(fs_below("/some/where", one), fs_base(one));
	assert_string_not_equal(one, kept(fs_temp_name("/some/where")));
	assert_int_equal(fnmatch(FS_TEMP_PATTERN, fs_base(one), FNM_PERIOD), 0);
	assert_int_equal(fs_temp_pid(fs_base(one)), getpid());
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(fs_temp_pid(others[i]), 0);
	assert_int_equal(fs_temp_pid(".profrig-7.tmp"), 7);
}

static void make_old(const char *path, int64_t s)
{
	struct timespec t[2] = { { .tv_sec = time(NULL) - s }, { .tv_sec = time(NULL) - s } };

	assert_int_equal(utimensat(AT_FDCWD, path, t, AT_SYMLINK_NOFOLLOW), 0);
}

/* Left over: by a process that is dead, and quiet for long enough, all that is in it. */
FS_TEST(test_temp_sweep)
{
	CLEANUP(xfreep) char *file = NULL, *tree = NULL, *inner = NULL, *alive = fs_temp_name(dir);
	int64_t bytes = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	file = xasprintf("%s/.profrig-%d-0.tmp", dir, (int)pid);
	tree = xasprintf("%s/.profrig-%d-1.tmp", dir, (int)pid);
	inner = xasprintf("%s/sub/file", tree);
	assert_int_equal(fs_write_atomic(alive, "x", 1, NULL), 0);
	assert_int_equal(fs_write_atomic(file, "x", 1, NULL), 0);
	{
		CLEANUP(xfreep) char *sub = fs_dir(inner);

		assert_int_equal(fs_mkdirs(sub, 0755, NULL), 0);
		assert_int_equal(fs_write_atomic(inner, "12345", 5, NULL), 0);
		make_old(sub, 4 * FS_TEMP_QUIET_S);
	}
	make_old(tree, 4 * FS_TEMP_QUIET_S);
	assert_int_equal(fs_temp_sweep(dir, &bytes), 0);
	make_old(alive, 4 * FS_TEMP_QUIET_S);
	make_old(file, FS_TEMP_QUIET_S + 2);
	assert_true(fs_temp_abandoned(file));
	assert_false(fs_temp_abandoned(tree));
	assert_false(fs_temp_abandoned(alive));
	assert_int_equal(fs_temp_sweep(dir, &bytes), 1);
	assert_false(fs_exists(file));
	make_old(inner, FS_TEMP_QUIET_S + 2);
	assert_int_equal(fs_temp_sweep(dir, &bytes), 1);
	assert_false(fs_exists(tree));
	assert_true(fs_exists(alive));
	assert_true(bytes > 0);
	assert_int_equal(fs_temp_sweep("/nonexistent", &bytes), 0);
}

FS_TEST(test_write_atomic)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "out.json");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct err err = ERR_INIT;
	mode_t mask = umask(027);
	struct stat st;
	char *data;
	size_t n;

	assert_int_equal(fs_write_atomic(path, "one", 3, &err), 0);
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fs_write_atomic(path, "second", 6, &err), 0);
	assert_int_equal(fs_read(path, 100, &data, &n, NULL), 0);
	assert_string_equal(data, "second");
	free(data);
	assert_int_equal(fs_write_atomic(path, NULL, 0, &err), 0);
	assert_int_equal(fs_size(path), 0);
	/* What fails leaves nothing behind. */
	assert_int_equal(fs_mkdirs(in_dir(dir, "sub"), 0755, NULL), 0);
	assert_int_equal(fs_write_atomic(in_dir(dir, "sub"), "x", 1, &err), -EISDIR);
	assert_int_equal(fs_write_atomic(in_dir(dir, "none/out"), "x", 1, &err), -ENOENT);
	assert_has(err.msg, "none/out: No such file");
	assert_int_equal(fs_list(dir, &names, NULL), 0);
	assert_string_equal(kept(joined(&names)), "out.json sub");
}

FS_TEST(test_write_relative)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(chdir(dir), 0);
	assert_int_equal(fs_write_atomic("plain", "x", 1, NULL), 0);
	assert_int_equal(fs_size("plain"), 1);
	assert_int_equal(fs_mkdirs("a/b", 0755, NULL), 0);
	assert_int_equal(fs_remove_tree("a", NULL), 0);
	assert_false(fs_exists("a"));
	assert_int_equal(fchdir(here), 0);
	close(here);
}

FS_TEST(test_mkdirs)
{
	CLEANUP(xfreep) char *deep = fs_join(dir, "a//b/c/");
	struct err err = ERR_INIT;
	struct stat st;

	assert_int_equal(fs_mkdirs(deep, 0755, &err), 0);
	assert_true(fs_is_dir(deep));
	assert_int_equal(fs_mkdirs(deep, 0755, &err), 0);
	assert_int_equal(fs_mkdirs("/", 0755, &err), 0);
	assert_int_equal(fs_mkdirs(".", 0755, &err), 0);
	test_file(in_dir(dir, "file"), "", 0);
	assert_int_equal(fs_mkdirs(in_dir(dir, "file"), 0755, &err), -ENOTDIR);
	assert_int_equal(fs_mkdirs(in_dir(dir, "file/x"), 0755, &err), -ENOTDIR);
	assert_int_equal(fs_mkdirs("", 0755, &err), -ENOENT);
	assert_int_equal(fs_mkdirs(in_dir(dir, "p/q"), 0500, &err), 0);
	assert_int_equal(stat(in_dir(dir, "p/q"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0500);
	assert_int_equal(stat(in_dir(dir, "p"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

FS_TEST(test_kinds)
{
	CLEANUP(xfreep) char *file = fs_join(dir, "file"), *link = fs_join(dir, "link");
	CLEANUP(xfreep) char *dangling = fs_join(dir, "dangling");

	test_file(file, "12345", 5);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(symlink("none", dangling), 0);
	assert_true(fs_exists(file) && fs_exists(link) && fs_exists(dir));
	assert_false(fs_exists(dangling));
	assert_true(fs_is_file(link) && !fs_is_file(dir) && !fs_is_file(dangling));
	assert_true(fs_is_dir(dir) && !fs_is_dir(file));
	assert_int_equal(fs_size(link), 5);
	assert_int_equal(fs_size(dangling), -1);
	assert_true(fs_mtime_ns(file) > INT64_C(1600000000) * 1000000000);
	assert_int_equal(fs_mtime_ns(dangling), -1);
}

FS_TEST(test_remove_tree)
{
	CLEANUP(xfreep) char *tree = fs_join(dir, "tree"), *slash = fs_join(dir, "link/");
	CLEANUP(xfreep) char *kept = fs_join(dir, "keep/file");
	struct err err = ERR_INIT;

	file_touch("keep/file");
	file_touch("tree/a");
	file_touch("tree/sub/deeper/b");
	file_touch("tree/.hidden");
	assert_int_equal(symlink("../../keep", in_dir(dir, "tree/sub/link")), 0);
	assert_int_equal(symlink("keep", in_dir(dir, "link")), 0);
	assert_int_equal(fs_remove_tree(tree, &err), 0);
	assert_false(fs_exists(tree));
	/* With a slash the kernel would look behind the link. */
	assert_int_equal(fs_remove_tree(slash, &err), 0);
	assert_true(fs_exists(kept));
	assert_int_equal(fs_remove_tree(tree, &err), 0);
	assert_int_equal(fs_remove_tree("", &err), 0);
	assert_int_equal(fs_remove_tree(kept, &err), 0);
	assert_false(fs_exists(kept));
}

FS_TEST(test_remove_refuses)
{
	static const char *const rows[] = { "/", "//", ".", "..", "./", "x/..", "/tmp/." };
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(fs_remove_tree(rows[i], &err), -EINVAL);
	assert_string_equal(err.msg, "will not remove '/tmp/.'");
	assert_int_equal(fs_remove_tree("/proc/self/status", &err), -EPERM);
}

/* Deeper than descriptors last, and longer than a path may be. */
FS_TEST(test_remove_deep)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = ERR_INIT;
	int depth = 0;

	assert_int_equal(chdir(dir), 0);
	while (depth < 3000 && mkdir("d", 0755) == 0 && mkdir(".deep-0", 0755) == 0 &&
	       chdir("d") == 0)
		depth++;
	assert_int_equal(depth, 3000);
	assert_int_equal(fchdir(here), 0);
	assert_int_equal(fs_remove_tree(in_dir(dir, "d"), &err), 0);
	assert_false(fs_exists(in_dir(dir, "d")));
	close(here);
}

/* What a workload closed to its own user is that user's to remove. */
FS_TEST(test_remove_closed)
{
	CLEANUP(xfreep) char *top = fs_join(dir, "closed");
	int status = 0;
	pid_t pid;

	file_touch("closed/inner/file");
	assert_int_equal(chown(in_dir(dir, "closed/inner"), 65534, 65534) < 0 && geteuid() == 0, 0);
	assert_int_equal(chmod(in_dir(dir, "closed/inner"), 0), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(top, 65534, 65534), 0);
		assert_int_equal(chmod(dir, 0777), 0);
	}
	assert_int_equal(chmod(top, 0500), 0);
	pid = fork();
	if (pid == 0)
		_exit((geteuid() == 0 && setuid(65534) < 0) || fs_remove_tree(top, NULL) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(fs_exists(top));
}

/* Holes cost nothing, and others may add to a file for ever. */
FS_TEST(test_copy_file)
{
	CLEANUP(xfreep) char *from = fs_join(dir, "from"), *to = fs_join(dir, "to"), *text = NULL;
	volatile sig_atomic_t interrupt = SIGINT;
	struct err err = ERR_INIT;
	struct stat st;
	char hex[65];
	FILE *f;

	test_file(from, "head", 4);
	f = fopen(from, "r+e");
	assert_non_null(f);
	assert_int_equal(fseeko(f, (off_t)200 << 30, SEEK_SET), 0);
	fputs("tail", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(truncate(from, (off_t)300 << 30), 0);
	assert_int_equal(fs_copy_file(from, to, 0640, &err), 0);
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_size, (off_t)300 << 30);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_true(st.st_blocks < 1000);
	assert_int_equal(fs_sha256(to, &interrupt, hex, &err), -EINTR);
	assert_int_equal(truncate(to, ((off_t)200 << 30) + 4), 0);
	f = fopen(to, "re");
	assert_non_null(f);
	assert_int_equal(fgetc(f), 'h');
	assert_int_equal(fseeko(f, (off_t)200 << 30, SEEK_SET), 0);
	assert_int_equal(fgetc(f), 't');
	fclose(f);
	assert_int_equal(fs_copy_file("/proc/self/status", to, 0600, &err), 0);
	assert_int_equal(fs_read(to, 65536, &text, NULL, &err), 0);
	assert_int_equal(strncmp(text, "Name:", 5), 0);
	assert_int_equal(fs_copy_file(dir, to, 0600, &err), -EISDIR);
}

FS_TEST(test_list)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct err err = ERR_INIT;

	file_touch("b");
	file_touch("a/x");
	file_touch(".c");
	file_touch("B");
	strvec_push(&names, "first");
	assert_int_equal(fs_list(dir, &names, &err), 0);
	assert_string_equal(kept(joined(&names)), "first .c B a b");
	assert_int_equal(fs_list("/profrig-none", &names, &err), -ENOENT);
	assert_string_equal(err.msg, "/profrig-none: No such file or directory");
}

FS_TEST(test_glob)
{
	static const struct {
		const char *pattern, *want;
	} rows[] =
		LIST({ "*", "a.csv b.txt link" }, { "*.csv", "a.csv" },
		     { "**", "a.csv b.txt link t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "**/*", "a.csv b.txt link t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "**/r.csv", "t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "**/*.csv", "a.csv t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "t/**/r.csv", "t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "t/*/r.csv", "t/0/r.csv t/1/r.csv" }, { "t/?/r.csv", "t/0/r.csv t/1/r.csv" },
		     { "t/?/?.csv", "t/0/r.csv t/1/r.csv" },
		     { "t/**", "t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "t**.csv", "t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" }, { "t*.csv", "" },
		     { "t?r.csv", "" }, { "t/1/x/r.csv", "t/1/x/r.csv" },
		     { "**/x/**", "t/1/x/r.csv" }, { "**/1/**/r.csv", "t/1/r.csv t/1/x/r.csv" },
		     { "**/*/**/r.csv", "t/0/r.csv t/1/r.csv t/1/x/r.csv t/r.csv" },
		     { "*/*/*/*", "t/1/x/r.csv" }, { "?.*", "a.csv b.txt" }, { "", "" },
		     { "t", "" }, { "a.csv/*", "" }, { "a.cs", "" }, { "a.csvx", "" },
		     { "deep-link/*", "" }, { "link", "link" }, { "dangling", "" });
	CLEANUP(xfreep) char *slash = xasprintf("%s/", dir);
	struct err err = ERR_INIT;

	file_touch("a.csv");
	file_touch("b.txt");
	file_touch("t/r.csv");
	file_touch("t/0/r.csv");
	file_touch("t/1/r.csv");
	file_touch("t/1/x/r.csv");
	assert_int_equal(symlink("a.csv", in_dir(dir, "link")), 0);
	assert_int_equal(symlink("t", in_dir(dir, "deep-link")), 0);
	assert_int_equal(symlink("none", in_dir(dir, "dangling")), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strvec_release) struct strvec found = STRVEC_INIT;

		assert_int_equal(fs_glob(i % 2 ? dir : slash, rows[i].pattern, &found, &err), 0);
		CLEANUP(xfreep) char *got = joined(&found);
		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "'%s' found '%s'", rows[i].pattern, got);
	}
	CLEANUP(strvec_release) struct strvec none = STRVEC_INIT;

	assert_int_equal(fs_glob("/profrig-none", "*", &none, &err), -ENOENT);
}

/* A directory that cannot be entered, here for its depth, hides nothing beside it. */
FS_TEST(test_glob_all)
{
	CLEANUP(strvec_release) struct strvec found = STRVEC_INIT, lost = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT;
	CLEANUP(xfreep) char *top = fs_join(dir, "gap"), *got = NULL;
	struct err err = ERR_INIT;

	file_touch("gap/a.csv");
	file_touch("gap/z.csv");
	strbuf_addstr(&deep, "gap");
	for (int i = 0; i < 258; i++)
		strbuf_addstr(&deep, "/m");
	strbuf_addstr(&deep, "/x.csv");
	file_touch(deep.buf);
	assert_int_equal(fs_glob(top, "**", &found, &err), -ELOOP);
	assert_int_equal(found.nr, 0);
	assert_int_equal(fs_glob_all(top, "**", &found, &lost, &err), 0);
	got = joined(&found);
	assert_string_equal(got, "a.csv z.csv");
	assert_int_equal(lost.nr, 1);
	assert_int_equal(strncmp(lost.v[0], top, strlen(top)), 0);
	assert_int_equal(fs_glob_all("/profrig-none", "**", &found, &lost, &err), -ENOENT);
	assert_int_equal(lost.nr, 1);
	/* too deep to be cleaned up in one piece */
	deep.buf[strlen("gap") + (size_t)2 * 100] = '\0';
	CLEANUP(xfreep) char *half = fs_join(dir, deep.buf), *aside = fs_join(dir, "aside");

	assert_int_equal(rename(half, aside), 0);
}

/* Patterns that take exponential time in a matcher that tries everything. */
FS_TEST(test_glob_hostile)
{
	char name[201];
	CLEANUP(strvec_release) struct strvec found = STRVEC_INIT;

	memset(name, 'a', 200);
	name[200] = '\0';
	file_touch(name);
	for (int i = 0; i < 3; i++) {
		static const char *const units[] = { "*a", "**a", "**/*a" };
		CLEANUP(strbuf_release) struct strbuf pattern = STRBUF_INIT;

		for (int k = 0; k < 100; k++)
			strbuf_addstr(&pattern, units[i]);
		strbuf_addch(&pattern, 'b');
		assert_int_equal(fs_glob(dir, pattern.buf, &found, NULL), 0);
		assert_int_equal(found.nr, 0);
	}
	assert_int_equal(unlink(in_dir(dir, name)), 0);
	file_touch("\xc3\xa4.csv");
	assert_int_equal(fs_glob(dir, "?.csv", &found, NULL), 0);
	assert_int_equal(found.nr, 1);
}

FS_TEST(test_which)
{
	CLEANUP(xfreep) char *prog = fs_join(dir, "bin/prog"), *sub = fs_join(dir, "bin/sub");
	CLEANUP(xfreep) char *path = xasprintf("/profrig-none:%s:%s/bin", dir, dir);
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	file_touch("bin/prog");
	file_touch("prog");
	file_touch("data");
	assert_int_equal(chmod(prog, 0755), 0);
	assert_int_equal(fs_mkdirs(sub, 0755, NULL), 0);
	/* The first that can be run, not the first of that name. */
	CLEANUP(xfreep) char *got = fs_which("prog", path);
	assert_string_equal(got, prog);
	xfreep(&got);
	assert_null(fs_which("sub", path));
	assert_null(fs_which("data", path));
	assert_null(fs_which("", path));
	assert_null(fs_which("profrig-none", NULL));
	assert_null(fs_which(in_dir(dir, "data"), NULL));
	assert_null(fs_which("prog", ""));
	got = fs_which(prog, "");
	assert_string_equal(got, prog);
	xfreep(&got);
	got = fs_which("sh", NULL);
	assert_non_null(got);
	xfreep(&got);
	sub[strlen(sub) - 4] = '\0';
	assert_int_equal(chdir(sub), 0);
	got = fs_which("prog", "/profrig-none:");
	assert_string_equal(got, "./prog");
	assert_int_equal(fchdir(here), 0);
	close(here);
}

FS_TEST(test_sha256)
{
	static const struct {
		size_t n;
		char c;
		const char *hex;
	} rows[] = {
		{ 0, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ 1, 'a', "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" },
		/* a million times 'a', from FIPS 180 */
		{ 1000000, 'a',
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
		/* whole blocks: the end shows only at the next read */
		{ (size_t)2 << 20, 0,
		  "5647f05ec18958947d32874eeb788fa396a05d0bab7c1b71f112ceb7e9b31eee" },
	};
	CLEANUP(xfreep) char *data = xmalloc((size_t)2 << 20);
	struct err err = ERR_INIT;
	char hex[65];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		memset(data, rows[i].c, rows[i].n);
		test_file(in_dir(dir, "f"), data, rows[i].n);
		assert_int_equal(fs_sha256(in_dir(dir, "f"), NULL, hex, &err), 0);
		assert_string_equal(hex, rows[i].hex);
	}
	assert_int_equal(fs_sha256("/profrig-none", NULL, hex, &err), -ENOENT);
	assert_int_equal(fs_sha256(dir, NULL, hex, &err), -EISDIR);
}

TEST(test_names)
{
	static const char *const joins[][3] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" },    { "", "b", "b" },
		{ "a", "", "a" },    { "/", "b", "/b" },      { "a", "/b", "/b" },
		{ "", "", "" },      { ".", "b/c", "./b/c" },
	};
	static const char *const parts[][3] = {
		/* path, base, dir */
		{ "a", "a", "." },    { "a/b", "b", "a" },
		{ "/a", "a", "/" },   { "/", "", "/" },
		{ "a/", "", "." },    { "a/b/", "", "a" },
		{ "a//b", "b", "a" }, { "", "", "." },
		{ "//a", "a", "/" },  { "/a/b/c.d", "c.d", "/a/b" },
		{ "///", "", "/" },
	};

	for (size_t i = 0; i < ARRAY_LEN(joins); i++) {
		CLEANUP(xfreep) char *got = fs_join(joins[i][0], joins[i][1]);

		assert_string_equal(got, joins[i][2]);
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		assert_string_equal(fs_base(parts[i][0]), parts[i][1]);
		assert_string_equal(kept(fs_dir(parts[i][0])), parts[i][2]);
	}
}

TEST(test_below)
{
	static const char *const rows[][3] = {
		/* dir, path, what of it lies below */
		{ "/a", "/a/b/c", "b/c" }, { "/a", "/a", "" },     { "/a", "/a/", "" },
		{ "/a", "/ab", NULL },     { "/a", "/b/a", NULL }, { "/a/", "/a/b", "b" },
		{ "/", "/a", "a" },        { "/", "/", "" },       { "a", "a/b", "b" },
		{ "/a/b", "/a", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = fs_below(rows[i][0], rows[i][1]);

		if (!got != !rows[i][2] || (got && strcmp(got, rows[i][2]) != 0))
			ROW_FAIL(i, "got '%s'", got ? got : "NULL");
	}
}

TEST(test_abs)
{
	static const char *const rows[][2] = {
		{ "/", "/" },           { "/a/b", "/a/b" },
		{ "//a///b/", "/a/b" }, { "/a/./b/../c", "/a/c" },
		{ "/..", "/" },         { "/../../a", "/a" },
		{ "/a/...", "/a/..." }, { "/a/..b/.c", "/a/..b/.c" },
		{ "/a/b/../..", "/" },
	};
	CLEANUP(xfreep) char *cwd = getcwd(NULL, 0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(kept(fs_abs(rows[i][0])), rows[i][1]);
	}
	assert_string_equal(kept(fs_abs(".")), cwd);
	assert_string_equal(kept(fs_abs("")), cwd);
	assert_string_equal(kept(fs_abs("x/../y")), in_dir(cwd, "y"));
}

TEST(test_self)
{
	assert_true(fs_is_file(in_dir(kept(fs_self_dir()), "test_fs")));
}

/* All below goes to the folder's owner, links themselves, and what they lead to stays. */
TEST_IN(test_own_below, top)
{
	CLEANUP(xfreep) char *sub = fs_join(top, "own/sub"), *own = fs_join(top, "own");
	struct fs_owned owned = { 0 };
	struct stat st;

	if (geteuid() != 0)
		test_lacks("root", "only root gives files away");
	test_put(top, "own/sub/file", "x");
	test_put(top, "other", "y");
	assert_int_equal(symlink(in_dir(top, "other"), in_dir(top, "own/link")), 0);
	assert_int_equal(chown(own, 1234, 4321), 0);
	assert_int_equal(fs_own_below(own, INT64_MAX, &owned), 0);
	assert_int_equal(owned.changed, 0);
	assert_int_equal(fs_own_below(own, 0, &owned), 0);
	assert_int_equal(owned.changed, 3);
	assert_int_equal(owned.failed, 0);
	assert_int_equal(stat(in_dir(top, "own/sub/file"), &st), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(st.st_gid, 4321);
	assert_int_equal(lstat(in_dir(top, "own/link"), &st), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(stat(in_dir(top, "other"), &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_true(fs_usage(own, NULL) >= 4096);
	assert_int_equal(chown(own, 0, 0), 0);
	test_put(top, "own/program", "x");
	assert_int_equal(chmod(in_dir(top, "own/program"), 06755), 0);
	assert_int_equal(fs_own_below(own, 0, &owned), 0);
	assert_int_equal(stat(in_dir(top, "own/program"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fs_own_below("/nonexistent/x", 0, &owned), -ENOENT);
}
