#include "sqlite_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

#define BLOCK ((size_t)1 << 20)
#define TRIES 3

static const char *const logs[] = { "-wal", "-journal" };

static char *log_path(const char *path, size_t i)
{
	return xasprintf("%s%s", path, logs[i]);
}

bool sqlite_copy_needed(const char *path)
{
	bool needed = false;

	for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
		CLEANUP(xfreep) char *name = log_path(path, i);

		needed |= fs_size(name) > 0;
	}
	return needed;
}

static int copy_blocks(int from, int to)
{
	CLEANUP(xfreep) char *block = xmalloc(BLOCK);

	for (;;) {
		ssize_t n = read(from, block, BLOCK);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = write(to, block + done, (size_t)(n - done));

			if (w < 0)
				return -errno;
			done += w;
		}
	}
}

static int copy_descriptor(int from, int to)
{
	/* shares blocks where the file system can; the rest is copied byte by byte */
	while (copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0) > 0)
		;
	return copy_blocks(from, to);
}

static int copy_file(const char *from, const char *to, struct err *err)
{
	CLEANUP(xclosep) int in = door_open(from, O_RDONLY, 0);
	CLEANUP(xclosep) int out = -1;
	int r;

	if (in < 0)
		return err_sys(err, errno, "%s", from);
	out = door_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (out < 0)
		return err_sys(err, errno, "%s", to);
	r = copy_descriptor(in, out);
	return r < 0 ? err_sys(err, -r, "copying %s to %s", from, to) : 0;
}

/* A log that was removed meanwhile is no log. */
static int copy_all(const char *path, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *db = fs_join(dir, "db");
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(logs); i++) {
		CLEANUP(xfreep) char *from = log_path(path, i);
		CLEANUP(xfreep) char *to = log_path(db, i);

		door_unlink(to);
		if (fs_size(from) > 0)
			r = copy_file(from, to, err);
		if (r == -ENOENT)
			r = 0;
	}
	return r < 0 ? r : copy_file(path, db, err);
}

struct state {
	int64_t size[1 + ARRAY_LEN(logs)], mtime_ns[1 + ARRAY_LEN(logs)];
};

static struct state state_of(const char *path)
{
	struct state st = { .size = { fs_size(path) }, .mtime_ns = { fs_mtime_ns(path) } };

	for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
		CLEANUP(xfreep) char *name = log_path(path, i);

		st.size[1 + i] = fs_size(name);
		st.mtime_ns[1 + i] = fs_mtime_ns(name);
	}
	return st;
}

static bool same_state(const struct state *a, const struct state *b)
{
	for (size_t i = 0; i < ARRAY_LEN(a->size); i++)
		if (a->size[i] != b->size[i] || a->mtime_ns[i] != b->mtime_ns[i])
			return false;
	return true;
}

/* mkdir fails for a name that exists, so nothing of other users is followed. */
static int make_dir(const char *tmp, char **ret)
{
	for (;;) {
		CLEANUP(xfreep) char *dir = fs_temp_name(tmp);

		temps_hold(dir);
		if (mkdir(dir, 0700) == 0) {
			*ret = STEAL(dir);
			return 0;
		}
		temps_let_go(dir);
		if (errno != EEXIST)
			return -errno;
	}
}

int sqlite_copy_make(const char *path, char **ret_dir, bool *ret_changing, struct err *err)
{
	static const struct timespec pause = { .tv_nsec = 50000000 };
	const char *env = getenv("TMPDIR"), *tmp = env && *env ? env : "/tmp";
	CLEANUP(xfreep) char *dir = NULL;
	int64_t freed = 0;
	struct state before, after;
	bool changing;
	int r;

	fs_temp_sweep(tmp, &freed);
	r = make_dir(tmp, &dir);
	if (r < 0)
		return err_sys(err, -r, "%s has a log beside it, and no copy can be made in %s",
			       path, tmp);
	for (int i = 0;; i++) {
		before = state_of(path);
		r = copy_all(path, dir, err);
		after = state_of(path);
		changing = !same_state(&before, &after);
		if (r < 0 || !changing || i == TRIES - 1)
			break;
		nanosleep(&pause, NULL);
	}
	if (r < 0) {
		sqlite_copy_remove(dir);
		return r;
	}
	*ret_changing = changing;
	*ret_dir = STEAL(dir);
	return 0;
}

void sqlite_copy_remove(const char *dir)
{
	fs_remove_tree(dir, NULL);
	temps_let_go(dir);
}
