/* The lock of a campaign: one process, dead ones, other hosts, files that are none of ours. */
#include "campaign_lock.h"
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/base/proc.h"

static void lock_write(const char *dir, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(fs_write_atomic(in_dir(dir, "lock"), text, strlen(text), &err), 0);
}

/* Taken and dropped again. */
static int taken(const char *dir, bool force, struct err *err)
{
	struct campaign_lock l;
	int r = campaign_lock_take(dir, force, &l, err);

	if (r == 0)
		campaign_lock_drop(&l);
	return r;
}

static int taken_elsewhere(const char *dir)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(-taken(dir, false, NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

TEST_IN(one_process_has_it, dir)
{
	struct campaign_lock l;
	struct err err = ERR_INIT;
	char host[65];
	pid_t pid = 0;

	assert_int_equal(campaign_lock_holder(dir, &pid, host), 0);
	assert_int_equal(campaign_lock_take(dir, false, &l, &err), 0);
	assert_int_equal(taken_elsewhere(dir), -EBUSY);
	assert_int_equal(campaign_lock_holder(dir, &pid, host), 1);
	assert_int_equal(pid, getpid());
	campaign_lock_drop(&l);
	campaign_lock_drop(&l);
	assert_int_equal(campaign_lock_holder(dir, &pid, host), 0);
	assert_int_equal(taken_elsewhere(dir), 0);
	assert_false(fs_exists(in_dir(dir, "lock")));
}

TEST_IN(a_dead_holder_loses_it, dir)
{
	CLEANUP(xfreep) char *boot = proc_boot_id();
	struct err err = ERR_INIT;
	char host[65] = "", other[65];
	const char *lines[4];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	gethostname(host, sizeof(host) - 1);
	lines[0] = textf("%s %s %d 17\n", host, boot, (int)pid); /* no such process */
	lines[1] = textf("%s %s %d 1\n", host, boot, getpid());  /* another one of that id */
	lines[2] = textf("%s another-boot %d 17\n", host, getpid());
	lines[3] = "rubbish\n";
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		lock_write(dir, lines[i]);
		assert_int_equal(campaign_lock_holder(dir, &pid, other), 0);
		if (taken(dir, false, &err) < 0)
			ROW_FAIL(i, "%s", err.msg);
	}
}

TEST_IN(one_of_another_host_is_believed_unless_forced, dir)
{
	struct err err = ERR_INIT;
	char host[65];
	pid_t pid;

	lock_write(dir, "node17 some-boot 4711 17\n");
	assert_int_equal(campaign_lock_holder(dir, &pid, host), 2);
	assert_string_equal(host, "node17");
	assert_int_equal(taken(dir, false, &err), -EBUSY);
	assert_has(err.msg, "4711", "node17", "--take-over");
	assert_int_equal(taken(dir, true, &err), 0);
}

TEST_IN(what_is_no_regular_file_holds_nothing, dir)
{
	struct err err = ERR_INIT;
	char host[65];
	pid_t pid;

	assert_int_equal(mkfifo(in_dir(dir, "lock"), 0644), 0);
	assert_int_equal(campaign_lock_holder(dir, &pid, host), 0);
	assert_int_equal(taken(dir, false, &err), 0);
	assert_int_equal(symlink("/proc/self/stat", in_dir(dir, "lock")), 0);
	assert_int_equal(campaign_lock_holder(dir, &pid, host), 0);
	assert_int_equal(taken(dir, false, &err), 0);
	assert_int_equal(mkdir(in_dir(dir, "lock"), 0755), 0);
	assert_true(taken(dir, false, &err) < 0);
}

TEST_IN(a_lock_that_was_being_broken_is_no_obstacle_with_flock, dir)
{
	struct err err = ERR_INIT;

	lock_write(dir, "rubbish\n");
	assert_int_equal(fs_write_atomic(in_dir(dir, "lock.break"), "x", 1, &err), 0);
	assert_int_equal(taken(dir, false, &err), 0);
	assert_false(fs_exists(in_dir(dir, "lock.break")));
}

TEST_IN(only_its_own_file_is_removed, dir)
{
	struct campaign_lock l;
	struct err err = ERR_INIT;

	assert_int_equal(campaign_lock_take(dir, false, &l, &err), 0);
	lock_write(dir, "node17 some-boot 4711 17\n");
	campaign_lock_drop(&l);
	assert_true(fs_exists(in_dir(dir, "lock")));
}

TEST(no_folder)
{
	struct err err = ERR_INIT;

	assert_int_equal(taken("/nowhere/at/all", false, &err), -ENOENT);
}
