/* Whose files are expected in a run directory: those of users that the container may be. */
#include "run_priv.h"
#include "run_rig.h"

#include <fcntl.h>

#include "profrig/base/door.h"

static bool opens(const char *path, uid_t owner)
{
	int fd;

	assert_int_equal(chown(path, owner, owner), 0);
	fd = door_open(path, O_RDONLY, 0);
	if (fd < 0)
		assert_int_equal(errno, DOOR_OWNER);
	else
		close(fd);
	return fd >= 0;
}

TEST(test_owners)
{
	CLEANUP(xfreep) char *dir = test_dir(), *path = fs_join(dir, "written");
	CLEANUP(xfreep) char *map = fs_join(dir, "map");

	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
		return;
	}
	assert_int_equal(fs_write_atomic(path, "x", 1, NULL), 0);
	assert_int_equal(door_hold(dir, NULL), 0);
	assert_true(opens(path, 4711));
	run_expect_owners(dir, "/nonexistent/uid_map");
	assert_true(opens(path, 4711));
	assert_int_equal(fs_write_atomic(map, "0 1000 1\n1 100000 65536\n", 24, NULL), 0);
	run_expect_owners(dir, map);
	assert_false(opens(path, 4711));
	assert_false(opens(path, 165536));
	assert_true(opens(path, 165535));
	assert_true(opens(path, 1000));
	assert_true(opens(path, 0));
	door_let_go(dir);
	fs_remove_tree(dir, NULL);
}

/* A container without a user namespace of its own may be any user. */
TEST(test_all_users)
{
	CLEANUP(xfreep) char *dir = test_dir();

	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
		return;
	}
	assert_int_equal(fs_write_atomic(in_dir(dir, "written"), "x", 1, NULL), 0);
	assert_int_equal(door_hold(dir, NULL), 0);
	run_expect_owners(dir, "/proc/self/uid_map");
	assert_true(opens(in_dir(dir, "written"), 4711));
	door_let_go(dir);
	fs_remove_tree(dir, NULL);
}
