#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MAX_DEPTH 64

/* A file with several names counts each time it is met: two runs hardly share one. */
static int64_t usage_below(int parent, const char *name, int depth, bool *least)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? xfdopendir(fd) : NULL;
	int64_t total = 0;
	struct dirent *e;

	if (!d) {
		*least |= errno != ENOENT;
		return 0;
	}
	while ((errno = 0, e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' &&
		    (!e->d_name[1] || (e->d_name[1] == '.' && !e->d_name[2])))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			*least |= errno != ENOENT;
			continue;
		}
		total += (int64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		if (depth < MAX_DEPTH)
			total += usage_below(dirfd(d), e->d_name, depth + 1, least);
		else
			*least = true;
	}
	*least |= errno != 0;
	closedir(d);
	return total;
}

int64_t fs_usage(const char *path, bool *ret_least)
{
	CLEANUP(xfreep) char *name = NULL;
	bool least = false;
	int64_t total = 0;
	int at = -1;

	if (door_parent(path, &at, &name) < 0)
		least = true;
	else
		total = usage_below(at, name, 0, &least);
	if (ret_least)
		*ret_least = least;
	if (at >= 0)
		close(at);
	return total;
}
