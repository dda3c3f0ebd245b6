#include "base_test.h"

#include "profrig/base/memory_limit.h"

static void put(const char *root, const char *dir, const char *file, const char *text)
{
	CLEANUP(xfreep) char *folder = fs_join(root, dir), *path = fs_join(folder, file);

	assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
	test_file(path, text, strlen(text));
}

TEST_IN(test_version_2, dir)
{
	put(dir, "a/b", "memory.max", "max\n");
	assert_true(memory_limit_of_groups("0::/a/b\n", dir) == UINT64_MAX);
	put(dir, "a", "memory.max", "5000\n");
	assert_int_equal(memory_limit_of_groups("0::/a/b\n", dir), 5000);
	put(dir, "a/b", "memory.max", "700\n");
	assert_int_equal(memory_limit_of_groups("0::/a/b\n", dir), 700);
	assert_int_equal(memory_limit_of_groups("0::/a\n", dir), 5000);
	assert_true(memory_limit_of_groups("0::/\n", dir) == UINT64_MAX);
	/* a container that sees its own group as the root, and knows it by another name */
	put(dir, ".", "memory.max", "4000\n");
	assert_int_equal(memory_limit_of_groups("0::/elsewhere/x\n", dir), 4000);
}

TEST_IN(test_version_1, dir)
{
	const char *groups = "9:cpu,memory:/j/1\n8:pids:/\n1:name=memory:/n\n0::/\n";

	put(dir, "memory/j", "memory.limit_in_bytes", "9223372036854771712\n");
	assert_true(memory_limit_of_groups("", dir) == UINT64_MAX);
	assert_int_equal(memory_limit_of_groups(groups, dir), UINT64_C(9223372036854771712));
	put(dir, "memory/j/1", "memory.limit_in_bytes", "123456\n");
	assert_int_equal(memory_limit_of_groups(groups, dir), 123456);
	/* only where memory is controlled */
	assert_true(memory_limit_of_groups("9:cpu,memoryless:/j/1\n", dir) == UINT64_MAX);
	assert_true(memory_limit_of_groups("no colons\n::\n9:memory\n", dir) == UINT64_MAX);
	/* both versions at once */
	put(dir, "unified/u", "memory.max", "777\n");
	assert_int_equal(memory_limit_of_groups("9:memory:/j/1\n0::/u\n", dir), 777);
}

TEST(test_of_this_process)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	assert_true(memory_limit() > 0);
	assert_true(memory_limit() <= all);
}
