/*
 * Packing: the files of all inputs are listed first, then each is read once, hashed, searched for
 * secrets and written. A file that is not what it was when it was opened ends it.
 */
#include "bundle_out.h"
#include "pack_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/progress.h"
#include "profrig/base/redact.h"
#include "profrig/base/xalloc.h"

#define BLOCK ((size_t)256 << 10)

struct packer {
	struct bundle_out b;
	struct pack_walk walk;
	size_t before; /* bytes kept in front of a block, in which a secret may begin */
	char *buf;     /* before + BLOCK */
	uint64_t bytes;
};

void pack_result_release(struct pack_result *r)
{
	strvec_release(&r->left_out);
	strvec_release(&r->lost);
	strvec_release(&r->differing);
}

/* ---- one file ---- */

static bool same_state(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int changed(const struct pack_file *f, struct err *err)
{
	return err_set(err, EBUSY,
		       "%s: it changed while it was packed; pack it when nothing writes to it",
		       f->from);
}

/* A block behind the bytes of the last one; its length, or -errno. */
static ssize_t block_read(const struct packer *p, int fd)
{
	size_t n = 0;

	while (n < BLOCK) {
		ssize_t r = read(fd, p->buf + p->before + n, BLOCK - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	return (ssize_t)n;
}

struct file_pass {
	uint64_t bytes; /* that were read */
	bool secret, again;
};

/* Reads the file into a member. 0, or -errno of a read. */
static int file_pass(struct packer *p, const struct pack_file *f, int fd, const struct stat *st,
		     bool stored, struct file_pass *ret)
{
	struct bundle_row row = { .rank = f->rank, .bundles = STRVEC_INIT };
	struct bundle_member m;
	size_t tail = 0;
	ssize_t n = block_read(p, fd);

	*ret = (struct file_pass){ 0 };
	bundle_begin(&m, &p->b, f->path, st->st_mtim.tv_sec, p->buf + p->before,
		     n > 0 ? (size_t)n : 0, stored);
	while (n > 0) {
		ret->bytes += (uint64_t)n;
		ret->secret |= redact_found(p->buf + p->before - tail, tail + (size_t)n);
		if (ret->secret)
			break;
		tail = tail + (size_t)n < p->before ? tail + (size_t)n : p->before;
		memmove(p->buf + p->before - tail, p->buf + p->before + n - tail, tail);
		n = block_read(p, fd);
		if (n > 0)
			bundle_put(&m, p->buf + p->before, (size_t)n);
		progress_update(p->bytes + ret->bytes);
	}
	if (n < 0 || ret->secret) {
		bundle_undo(&m);
		return n < 0 ? (int)n : 0;
	}
	row.path = xstrdup(f->path);
	row.origin = xstrdup(f->from);
	ret->again = bundle_end(&m, &row) > 0;
	if (ret->again) {
		free(row.path);
		free(row.origin);
	}
	return 0;
}

static int file_open(const struct pack_file *f, struct stat *st)
{
	int fd = door_open(f->from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode)) {
		close(fd);
		return -EBUSY;
	}
	return fd;
}

static int file_put(struct packer *p, const struct pack_file *f, struct err *err)
{
	struct stat before, after;
	struct file_pass pass;
	CLEANUP(xclosep) int fd = file_open(f, &before);
	int r;

	if (fd == -ENOENT || fd == -EBUSY)
		return changed(f, err);
	if (fd < 0) {
		pack_walk_lost(&p->walk, f->path, err_words(-fd));
		return 0;
	}
	r = file_pass(p, f, fd, &before, false, &pass);
	if (r == 0 && pass.again) {
		lseek(fd, 0, SEEK_SET);
		r = file_pass(p, f, fd, &before, true, &pass);
	}
	if (r < 0 || pass.secret) {
		pack_walk_lost(&p->walk, f->path,
			       r < 0 ? err_words(-r) : "it holds the value of a secret variable");
		return 0;
	}
	if (fstat(fd, &after) < 0 || !same_state(&before, &after) ||
	    pass.bytes != (uint64_t)before.st_size)
		return changed(f, err);
	p->bytes += pass.bytes;
	return 0;
}

/* ---- all of them ---- */

static int inputs_walk(struct packer *p, const struct strvec *inputs, struct err *err)
{
	for (size_t i = 0; i < inputs->nr; i++) {
		int r = pack_walk_input(&p->walk, inputs->v[i], err);

		if (r < 0)
			return r;
	}
	if (!p->walk.files.nr)
		return err_set(err, ENODATA, "there is no file to pack");
	if (p->walk.files.nr >= ZIP_MEMBERS_MAX)
		return err_set(err, EFBIG, "%zu files are more than a bundle holds",
			       p->walk.files.nr);
	return 0;
}

static int files_put(struct packer *p, const struct strvec *inputs, struct err *err)
{
	int r = inputs_walk(p, inputs, err);

	for (size_t i = 0; r == 0 && i < p->walk.files.nr; i++)
		r = file_put(p, &p->walk.files.v[i], err);
	if (r == 0 && !p->b.manifest.members.nr)
		r = err_set(err, ENODATA, "%s", p->walk.said->lost.v[0]);
	return r;
}

int pack_create(const struct strvec *inputs, const char *output, const struct pack_opts *o,
		struct pack_result *ret, struct err *err)
{
	struct packer p = {
		.b = BUNDLE_OUT_INIT,
		.walk = { .said = ret, .rank = o->rank, .names = STRVEC_INIT, .held = STRVEC_INIT }
	};
	struct stat st;
	int r = pack_output_check(output, o->force, err);

	*ret = (struct pack_result){ .left_out = STRVEC_INIT,
				     .lost = STRVEC_INIT,
				     .differing = STRVEC_INIT };
	if (r < 0)
		return r;
	if (door_stat(output, &st) == 0) {
		p.walk.dev = st.st_dev;
		p.walk.ino = st.st_ino;
	}
	p.before = redact_longest();
	p.buf = xmalloc(p.before + BLOCK);
	r = bundle_open(&p.b, output, err);
	p.walk.m = &p.b.manifest;
	if (r == 0)
		r = files_put(&p, inputs, err);
	ret->members = p.b.manifest.members.nr;
	ret->bytes = p.bytes;
	if (r == 0)
		r = bundle_commit(&p.b, &ret->packed, err);
	pack_walk_release(&p.walk);
	bundle_drop(&p.b);
	free(p.buf);
	return r;
}
