#include "profrig/base/memory_limit.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* Of one group; "max" is no number. */
static uint64_t limit_in(const char *root, const char *mount, const char *group, size_t n,
			 const char *file)
{
	CLEANUP(xfreep)
	char *path = xasprintf("%s%s%.*s/%s", root, mount, (int)n, group, file);
	CLEANUP(xfreep) char *text = NULL;
	uint64_t v;

	if (fs_read(path, 64, &text, NULL, NULL) < 0 ||
	    num_u64(text, strcspn(text, "\n"), &v) < 0 || v == 0)
		return UINT64_MAX;
	return v;
}

/* Of a group and all above it: group is the path of the first, of n bytes. */
static uint64_t limit_above(const char *root, const char *mount, const char *group, size_t n,
			    const char *file)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t v;

		while (n > 0 && group[n - 1] == '/')
			n--;
		v = limit_in(root, mount, group, n, file);
		least = v < least ? v : least;
		if (n == 0)
			return least;
		while (n > 0 && group[n - 1] != '/')
			n--;
	}
}

static bool controls_memory(const char *list, size_t n)
{
	static const char word[] = "memory";
	const size_t len = sizeof(word) - 1;

	for (size_t i = 0; i < n; i += strcspn(list + i, ",:") + 1)
		if (n - i >= len && memcmp(list + i, word, len) == 0 &&
		    (n - i == len || list[i + len] == ','))
			return true;
	return false;
}

/* A line is "number:controllers:path"; no controllers: the one group of version 2. */
static uint64_t limit_of_line(const char *line, size_t n, const char *root)
{
	const char *list = memchr(line, ':', n), *path;
	uint64_t a, b;

	list = list ? list + 1 : NULL;
	path = list ? memchr(list, ':', n - (size_t)(list - line)) : NULL;
	if (!path)
		return UINT64_MAX;
	n -= (size_t)(path + 1 - line);
	if (path > list)
		return controls_memory(list, (size_t)(path - list))
			       ? limit_above(root, "/memory", path + 1, n, "memory.limit_in_bytes")
			       : UINT64_MAX;
	a = limit_above(root, "", path + 1, n, "memory.max");
	b = limit_above(root, "/unified", path + 1, n, "memory.max");
	return a < b ? a : b;
}

uint64_t memory_limit_of_groups(const char *groups, const char *root)
{
	uint64_t least = UINT64_MAX;

	while (*groups) {
		size_t n = strcspn(groups, "\n");
		uint64_t v = limit_of_line(groups, n, root);

		least = v < least ? v : least;
		groups += n + (groups[n] == '\n');
	}
	return least;
}

uint64_t memory_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX, v;
	CLEANUP(xfreep) char *groups = NULL;
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		all = space.rlim_cur < all ? space.rlim_cur : all;
	if (fs_read("/proc/self/cgroup", (size_t)1 << 20, &groups, NULL, NULL) == 0) {
		v = memory_limit_of_groups(groups, "/sys/fs/cgroup");
		all = v < all ? v : all;
	}
	return all == UINT64_MAX ? 0 : all;
}
