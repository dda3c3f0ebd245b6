/* What goes away when a signal ends the program. */
#include "base_test.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/base/temps.h"

static char *dir;

static int set_up(void **state UNUSED)
{
	dir = test_dir();
	return 0;
}

static int tear_down(void **state UNUSED)
{
	fs_remove_tree(dir, NULL);
	free(dir);
	return 0;
}

#define TEMPS_TEST(f) TEST_WITH(f, set_up, tear_down)

static char *file(const char *name)
{
	char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *folder = fs_dir(path);

	assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
	assert_int_equal(fs_write_atomic(path, "x", 1, NULL), 0);
	return path;
}

static void on_signal(int sig)
{
	temps_remove();
	_exit(sig);
}

/* In a process of its own, which a signal ends. */
static void end_by_signal(void (*before)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (before)
			before();
		sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
		raise(SIGTERM);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), SIGTERM);
}

static void hold_some(void)
{
	temps_hold(in_dir(dir, "one"));
	temps_hold(in_dir(dir, "two"));
	temps_hold(in_dir(dir, "tree"));
	temps_hold(in_dir(dir, "never made"));
	temps_let_go(in_dir(dir, "two"));
	temps_let_go("not held");
}

TEMPS_TEST(what_is_held_goes)
{
	CLEANUP(xfreep) char *one = file("one"), *two = file("two"), *outside = file("outside");

	for (int i = 0; i < 3000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "tree/sub/%d with a name of some length", i);
		free(file(name));
	}
	free(file("tree/sub/deeper/x"));
	assert_int_equal(symlink(outside, in_dir(dir, "tree/sub/link")), 0);
	assert_int_equal(symlink(dir, in_dir(dir, "tree/sub/dirlink")), 0);
	end_by_signal(hold_some);
	assert_false(fs_exists(one));
	assert_true(fs_exists(two));
	assert_false(fs_exists(in_dir(dir, "tree")));
	assert_true(fs_exists(outside));
}

static void memory_ends(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	xalloc_last_act(temps_remove);
	temps_hold(in_dir(dir, "one"));
	dup2(null, STDERR_FILENO);
	/* no sanitizer takes this for a mistake: the product is too large */
	free(xreallocarray(NULL, SIZE_MAX / 2, 4));
}

TEMPS_TEST(goes_when_memory_ends)
{
	CLEANUP(xfreep) char *one = file("one");
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		memory_ends();
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_false(fs_exists(one));
}

/* A child between fork and exec has the handler and the table, and nothing to remove. */
TEMPS_TEST(others_remove_nothing)
{
	CLEANUP(xfreep) char *one = file("one");

	temps_hold(one);
	end_by_signal(NULL);
	assert_true(fs_exists(one));
	temps_let_go(one);
}

static void hold_many(void)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 2 * TEMPS_MAX; i++) {
			temps_hold(textf("%s/%d", dir, i));
			if (i >= TEMPS_MAX || round < 2)
				temps_let_go(textf("%s/%d", dir, i));
		}
}

TEMPS_TEST(holds_so_many)
{
	CLEANUP(xfreep) char *longest = xmalloc(PATH_MAX + 1);
	char name[16];

	memset(longest, 'x', PATH_MAX);
	longest[PATH_MAX] = '\0';
	temps_hold(longest);
	temps_let_go(longest);
	for (int i = 0; i < 2 * TEMPS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		free(file(name));
	}
	end_by_signal(hold_many);
	for (int i = 0; i < 2 * TEMPS_MAX; i++) {
		assert_int_equal(fs_exists(textf("%s/%d", dir, i)), i >= TEMPS_MAX);
	}
}
