#include "zip_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/gz.h"
#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"

#define BLOCK ((size_t)256 << 10)

static int read_at(const struct zip *z, void *to, size_t n, uint64_t at, struct err *err)
{
	char *p = to;

	while (n > 0) {
		ssize_t r = pread(z->fd, p, n, (off_t)at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, errno, "%s", z->name);
		if (r == 0)
			return err_set(err, EINVAL, "%s: cut off", z->name);
		p += r;
		at += (uint64_t)r;
		n -= (size_t)r;
	}
	return 0;
}

bool zip_is(const char *path)
{
	CLEANUP(xclosep) int fd = -1;
	struct stat st;
	uint8_t head[4];

	/* no open that waits for a FIFO */
	if (door_stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	fd = door_open(path, O_RDONLY | O_CLOEXEC, 0);
	return fd >= 0 && pread(fd, head, 4, 0) == 4 &&
	       (zip_u32(head) == ZIP_LOCAL_SIG || zip_u32(head) == ZIP_END_SIG);
}

void zip_release(struct zip *z)
{
	if (z->name)
		xclosep(&z->fd);
	free(z->name);
	free(z->names);
	free(z->entry);
	*z = (struct zip){ .fd = -1 };
}

/* ---- contents ---- */

struct zip_reading {
	struct zip *z;
	const struct zip_entry *e;
	zip_take_fn *take;
	void *ctx;
	uint64_t at, left; /* of the packed bytes */
	uint64_t bytes;    /* passed on */
	uint32_t crc;
	char *in, *out;
};

static int member_bad(const struct zip_reading *r, const char *why, struct err *err)
{
	return err_set(err, EINVAL, "%s: member %s: %s", r->z->name, r->e->path, why);
}

/* The local header must be of this member, and the data end in front of the next one. */
static int data_find(struct zip_reading *r, struct err *err)
{
	uint8_t h[ZIP_LOCAL_SIZE];
	size_t n = strlen(r->e->path);
	int code = read_at(r->z, h, sizeof(h), r->e->at, err);

	if (code < 0)
		return code;
	code = read_at(r->z, r->in, n, r->e->at + sizeof(h), err);
	if (code < 0)
		return code;
	if (zip_u32(h) != ZIP_LOCAL_SIG || zip_u16(h + 26) != n ||
	    memcmp(r->in, r->e->path, n) != 0 || zip_u16(h + 8) != r->e->method)
		return member_bad(r, "its header is of another one", err);
	r->at = r->e->at + sizeof(h) + n + zip_u16(h + 28);
	r->left = r->e->packed;
	if (r->at > r->e->end || r->left > r->e->end - r->at)
		return member_bad(r, "its data reach into others", err);
	return 0;
}

static int data_pass(struct zip_reading *r, const char *data, size_t n, struct err *err)
{
	if (n > r->e->bytes - r->bytes)
		return member_bad(r, "longer than the directory says", err);
	r->crc = gz_crc32(r->crc, data, n);
	r->bytes += n;
	return n ? r->take(r->ctx, data, n, err) : 0;
}

/* The next packed bytes, into r->in; how many. */
static int data_next(struct zip_reading *r, size_t *ret, struct err *err)
{
	size_t n = r->left < BLOCK ? (size_t)r->left : BLOCK;
	int code = read_at(r->z, r->in, n, r->at, err);

	r->at += n;
	r->left -= n;
	*ret = n;
	return code;
}

static int stored_read(struct zip_reading *r, struct err *err)
{
	int code = 0;
	size_t n;

	while (code == 0 && r->left) {
		code = data_next(r, &n, err);
		if (code == 0)
			code = data_pass(r, r->in, n, err);
	}
	return code;
}

static void inflater_freep(struct gz_inflater **z)
{
	gz_inflater_free(*z);
}

/* All that one block of packed bytes becomes. */
static int block_inflate(struct zip_reading *r, struct gz_inflater *z, size_t n,
			 enum gz_step *ret_step, struct err *err)
{
	struct gz_io io = { .in = r->in, .in_left = n };
	const char *why;
	int code;

	do {
		io.out = r->out;
		io.out_left = BLOCK;
		*ret_step = gz_inflate(z, &io, &why);
		if (*ret_step == GZ_BAD)
			return member_bad(r, why, err);
		code = data_pass(r, r->out, BLOCK - io.out_left, err);
	} while (code == 0 && *ret_step == GZ_MORE && (io.in_left || !io.out_left));
	return code;
}

static int deflated_read(struct zip_reading *r, struct err *err)
{
	CLEANUP(inflater_freep) struct gz_inflater *z = gz_inflater_new(GZ_BARE);
	enum gz_step step = GZ_MORE;
	int code = 0;
	size_t n;

	while (code == 0 && step == GZ_MORE && r->left) {
		code = data_next(r, &n, err);
		if (code == 0)
			code = block_inflate(r, z, n, &step, err);
	}
	if (code == 0 && (step != GZ_END || r->left))
		code = member_bad(r, "damaged data", err);
	return code;
}

static int contents_read(struct zip_reading *r, struct err *err)
{
	int code = data_find(r, err);

	if (code < 0)
		return code;
	if (r->e->method != ZIP_STORE && r->e->method != ZIP_DEFLATE)
		return err_set(err, ENOTSUP,
			       "%s: member %s: compressed by method %u, which is "
			       "not read (stored and deflated members are)",
			       r->z->name, r->e->path, r->e->method);
	code = r->e->method == ZIP_STORE ? stored_read(r, err) : deflated_read(r, err);
	if (code < 0)
		return code;
	if (r->bytes != r->e->bytes)
		return member_bad(r, "shorter than the directory says", err);
	return r->crc == r->e->crc ? 0 : member_bad(r, "wrong checksum", err);
}

int zip_read(struct zip *z, const struct zip_entry *e, zip_take_fn *take, void *ctx,
	     struct err *err)
{
	struct zip_reading r = { .z = z,
				 .e = e,
				 .take = take,
				 .ctx = ctx,
				 .in = xmalloc(BLOCK),
				 .out = xmalloc(BLOCK) };
	int code = contents_read(&r, err);

	free(r.in);
	free(r.out);
	return code;
}

/* ---- opening ---- */

static int file_begin(struct zip *z, struct err *err)
{
	struct stat st;

	if (fstat(z->fd, &st) < 0)
		return err_sys(err, errno, "%s", z->name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: not a regular file", z->name);
	z->size = (uint64_t)st.st_size;
	return zip_directory_read(z, err);
}

int zip_open_fd(int fd, const char *name, struct zip *ret, struct err *err)
{
	int code;

	*ret = (struct zip){ .name = xstrdup(name), .fd = fd };
	code = file_begin(ret, err);
	if (code < 0)
		zip_release(ret);
	return code;
}

int zip_open(const char *path, struct zip *ret, struct err *err)
{
	struct stat st;
	int fd;

	*ret = (struct zip){ .fd = -1 };
	if (door_stat(path, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: not a regular file", path);
	fd = door_open(path, O_RDONLY | O_CLOEXEC, 0);
	return fd < 0 ? err_sys(err, errno, "%s", path) : zip_open_fd(fd, path, ret, err);
}

const struct zip_entry *zip_find(const struct zip *z, const char *path)
{
	size_t i = LOWER_BOUND(at, 0, z->nr, zip_path_cmp(z->entry[at].path, path) < 0);

	return i < z->nr && strcmp(z->entry[i].path, path) == 0 ? &z->entry[i] : NULL;
}
