#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MAX_DEPTH 64
#define AT_ONCE ((size_t)8 << 20)

struct copying {
	struct stat but; /* st_ino 0: none */
	struct err *err;
};

/* For file systems without copy_file_range. Copies at most n bytes. */
static int copy_by_hand(int in, int out, off_t n)
{
	char buf[65536];
	ssize_t got = 1;

	for (; n > 0 && got > 0; n -= got) {
		got = read(in, buf, n < (off_t)sizeof(buf) ? (size_t)n : sizeof(buf));
		for (ssize_t at = 0; at < got;) {
			ssize_t w = write(out, buf + at, (size_t)(got - at));

			if (w <= 0)
				return w < 0 ? -errno : -EIO;
			at += w;
		}
	}
	return got < 0 ? -errno : 0;
}

/* Copies from the current offsets of both. */
static int copy_bytes(int in, int out, off_t n)
{
	while (n > 0) {
		size_t want = n < (off_t)AT_ONCE ? (size_t)n : AT_ONCE;
		ssize_t done = copy_file_range(in, NULL, out, NULL, want, 0);

		if (done <= 0)
			return copy_by_hand(in, out, n);
		n -= done;
	}
	return 0;
}

/* Copies the written pieces of a file, each to its place; holes stay holes. */
static int copy_pieces(int in, int out, off_t size)
{
	off_t at = 0;
	int r = 0;

	while (r == 0 && at < size) {
		off_t data = lseek(in, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break;
		/* A system without holes reports one piece. */
		end = data < 0 ? size : lseek(in, data, SEEK_HOLE);
		data = data < 0 ? at : data;
		end = end <= data || end > size ? size : end;
		if (data >= size)
			break;
		if (lseek(in, data, SEEK_SET) < 0 || lseek(out, data, SEEK_SET) < 0)
			return -errno;
		r = copy_bytes(in, out, end - data);
		at = end;
	}
	return r == 0 && ftruncate(out, size) < 0 ? -errno : r;
}

static int copy_data(int in, int out)
{
	struct stat st;

	if (fstat(in, &st) < 0)
		return -errno;
	/* Files of /proc report size 0. */
	return st.st_size > 0 ? copy_pieces(in, out, st.st_size) : copy_by_hand(in, out, INT64_MAX);
}

int fs_copy_file(const char *from, const char *to, mode_t mode, struct err *err)
{
	CLEANUP(xclosep) int in = door_open(from, O_RDONLY | O_NONBLOCK, 0);
	CLEANUP(xclosep) int out = -1;
	int r;

	if (in < 0)
		return err_sys(err, errno, "cannot read '%s'", from);
	/* An existing link may lead anywhere, so it is removed and not written through. */
	if (door_unlink(to) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot replace '%s'", to);
	out = door_open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (out < 0)
		return err_sys(err, errno, "cannot make '%s'", to);
	r = copy_data(in, out);
	if (r < 0)
		return err_sys(err, -r, "cannot copy '%s'", from);
	if (fchmod(out, mode & 0777) < 0)
		return err_sys(err, errno, "cannot set the mode of '%s'", to);
	return 0;
}

static int copy_dangling_link(const struct copying *c, const char *from, const char *to)
{
	char target[4096];
	ssize_t n = door_readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return err_sys(c->err, errno, "cannot read '%s'", from);
	target[n] = '\0';
	if (door_unlink(to) < 0 && errno != ENOENT)
		return err_sys(c->err, errno, "cannot replace '%s'", to);
	if (door_symlink(target, to) < 0)
		return err_sys(c->err, errno, "cannot make '%s'", to);
	return 0;
}

static int copy_dir(const struct copying *c, const char *from, const char *to, size_t depth);

static int copy_entry(const struct copying *c, const char *from, const char *to, size_t depth)
{
	struct stat st;

	if (door_stat(from, &st) < 0)
		return errno == ENOENT ? copy_dangling_link(c, from, to)
				       : err_sys(c->err, errno, "cannot read '%s'", from);
	if (S_ISREG(st.st_mode))
		return fs_copy_file(from, to, st.st_mode, c->err);
	if (!S_ISDIR(st.st_mode) ||
	    (c->but.st_ino && st.st_ino == c->but.st_ino && st.st_dev == c->but.st_dev))
		return 0;
	return copy_dir(c, from, to, depth + 1);
}

static int copy_dir(const struct copying *c, const char *from, const char *to, size_t depth)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r;

	if (depth > MAX_DEPTH)
		return err_set(c->err, ELOOP, "'%s': nested too deeply, or a link that leads back",
			       from);
	r = fs_list(from, &names, c->err);
	if (r == 0)
		r = fs_mkdirs(to, 0777, c->err);
	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *a = fs_join(from, names.v[i]);
		CLEANUP(xfreep) char *b = fs_join(to, names.v[i]);

		r = copy_entry(c, a, b, depth);
	}
	return r;
}

int fs_copy_tree(const char *from, const char *to, const char *but, struct err *err)
{
	struct copying c = { .err = err };

	if (but && door_stat(but, &c.but) < 0)
		c.but.st_ino = 0;
	return copy_dir(&c, from, to, 0);
}
