#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MAX_DEPTH 64
/* A model's folder may hold a data set of millions of files. */
#define MAX_ENTRIES 500000
#define NS INT64_C(1000000000)

struct owning {
	uid_t uid;
	gid_t gid;
	int64_t since_ns;
	size_t left; /* entries that may still be looked at */
	struct fs_owned *ret;
};

static bool is_due(const struct owning *o, const struct stat *st)
{
	if (st->st_uid == o->uid && st->st_gid == o->gid)
		return false;
	return (int64_t)st->st_ctim.tv_sec * NS + st->st_ctim.tv_nsec >= o->since_ns;
}

/*
 * Root in a container can make set-id programs, and device nodes that the container's own rules
 * close. On the host both would be open to any user. A folder too deep to be looked at is closed as
 * a whole.
 */
static void entry_disarm(const struct owning *o, int dir, const char *name, const struct stat *seen,
			 int depth)
{
	CLEANUP(xclosep) int fd = -1;
	bool node = S_ISCHR(seen->st_mode) || S_ISBLK(seen->st_mode);
	bool deep = S_ISDIR(seen->st_mode) && depth >= MAX_DEPTH;
	char way[64];
	struct stat st;

	if (!node && !deep && !(S_ISREG(seen->st_mode) && (seen->st_mode & 06000)))
		return;
	if ((int64_t)seen->st_ctim.tv_sec * NS + seen->st_ctim.tv_nsec < o->since_ns)
		return;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != seen->st_ino ||
	    st.st_mode != seen->st_mode)
		return;
	snprintf(way, sizeof(way), "/proc/self/fd/%d", fd);
	door_chmod(way, node ? 0 : deep ? 0700 : st.st_mode & 01777);
}

static void own_below(struct owning *o, int fd, int depth)
{
	DIR *d = xfdopendir(fd);
	struct dirent *e;

	if (!d)
		return;
	while (o->left > 0 && (e = readdir(d))) {
		struct stat st;
		int sub = -1;

		if (e->d_name[0] == '.' &&
		    (!e->d_name[1] || (e->d_name[1] == '.' && !e->d_name[2])))
			continue;
		o->left--;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			sub = openat(dirfd(d), e->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			own_below(o, sub, depth + 1);
		entry_disarm(o, dirfd(d), e->d_name, &st, depth);
		if (!is_due(o, &st))
			continue;
		if (fchownat(dirfd(d), e->d_name, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) == 0)
			o->ret->changed++;
		else
			o->ret->failed++;
	}
	closedir(d);
}

int fs_own_below(const char *dir, int64_t since_ns, struct fs_owned *ret)
{
	struct owning o = { .since_ns = since_ns, .left = MAX_ENTRIES, .ret = ret };
	struct stat st;
	int fd = door_open(dir, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int r = -errno;

		xclosep(&fd);
		return r;
	}
	o.uid = st.st_uid;
	o.gid = st.st_gid;
	own_below(&o, fd, 0);
	return 0;
}
