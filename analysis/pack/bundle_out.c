#include "bundle_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

#define SMALL ((uint64_t)1 << 20)

int pack_output_check(const char *output, bool force, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(output);
	struct stat st;

	if (door_lstat(output, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return err_set(err, EEXIST, "%s: there is something that is no file",
				       output);
		if (!force)
			return err_set(err, EEXIST, "%s: there is such a file; --force replaces it",
				       output);
	}
	if (!fs_is_dir(dir))
		return err_set(err, ENOENT, "%s: there is no such folder", dir);
	return 0;
}

int bundle_open(struct bundle_out *b, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *whole = fs_abs(path);
	CLEANUP(xfreep) char *dir = fs_dir(whole);

	bundle_manifest_init(&b->manifest);
	b->path = xstrdup(path);
	b->temp = fs_temp_name(dir);
	temps_hold(b->temp);
	b->fd = door_open(b->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (b->fd < 0)
		return err_sys(err, errno, "%s", path);
	b->zip = zip_writer_new(b->fd, b->path);
	return 0;
}

static int folder_sync(const char *path)
{
	CLEANUP(xfreep) char *dir = fs_dir(path);
	CLEANUP(xclosep) int fd = door_open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	/* some file systems have no fsync of folders */
	return fd < 0 || fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
}

static int bundle_publish(struct bundle_out *b, uint64_t *ret_size, struct err *err)
{
	struct stat st;
	int fd;

	if (fsync(b->fd) < 0 || fstat(b->fd, &st) < 0)
		return err_sys(err, errno, "%s", b->path);
	*ret_size = (uint64_t)st.st_size;
	fd = b->fd;
	b->fd = -1;
	if (close(fd) < 0 || door_rename(b->temp, b->path) < 0)
		return err_sys(err, errno, "%s", b->path);
	temps_let_go(b->temp);
	free(STEAL(b->temp));
	return folder_sync(b->path) < 0 ? err_sys(err, errno, "%s", b->path) : 0;
}

int bundle_commit(struct bundle_out *b, uint64_t *ret_size, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	bundle_manifest_sort(&b->manifest);
	bundle_manifest_text(&b->manifest, &text);
	if (text.len > MANIFEST_MAX)
		return err_set(err, EFBIG, "%s: too many members for one bundle", b->path);
	zip_begin(b->zip, PACK_MANIFEST, 0, ZIP_DEFLATE);
	zip_put(b->zip, text.buf, text.len);
	zip_end(b->zip, NULL, NULL);
	r = zip_finish(b->zip, err);
	return r < 0 ? r : bundle_publish(b, ret_size, err);
}

void bundle_drop(struct bundle_out *b)
{
	if (!b->path)
		return;
	zip_writer_free(b->zip);
	xclosep(&b->fd);
	if (b->temp) {
		door_unlink(b->temp);
		temps_let_go(b->temp);
	}
	free(b->temp);
	free(b->path);
	bundle_manifest_release(&b->manifest);
	*b = (struct bundle_out)BUNDLE_OUT_INIT;
}

/* ---- members ---- */

static bool is_packed(const void *head, size_t n)
{
	static const struct {
		const char *bytes;
		size_t n;
	} magics[] = { { "\x1f\x8b", 2 },
		       { "\x28\xb5\x2f\xfd", 4 },
		       { "\xfd"
			 "7zXZ",
			 5 },
		       { "PK\3\4", 4 },
		       { "BZh", 3 },
		       { "\x89PNG", 4 } };

	for (size_t i = 0; i < ARRAY_LEN(magics); i++)
		if (n >= magics[i].n && memcmp(head, magics[i].bytes, magics[i].n) == 0)
			return true;
	return false;
}

void bundle_begin(struct bundle_member *m, struct bundle_out *b, const char *path, int64_t mtime_s,
		  const void *head, size_t n, bool stored)
{
	*m = (struct bundle_member){ b, fs_sha256_begin(), stored || is_packed(head, n) };
	zip_begin(b->zip, path, mtime_s, m->stored ? ZIP_STORE : ZIP_DEFLATE);
	bundle_put(m, head, n);
}

void bundle_put(struct bundle_member *m, const void *data, size_t n)
{
	fs_sha256_add(m->sha, data, n);
	zip_put(m->b->zip, data, n);
}

int bundle_end(struct bundle_member *m, struct bundle_row *row)
{
	uint64_t packed;

	zip_end(m->b->zip, &row->bytes, &packed);
	if (!m->stored && row->bytes > SMALL && row->bytes / ZIP_RATIO >= packed) {
		bundle_undo(m);
		return 1;
	}
	fs_sha256_end(STEAL(m->sha), row->sha256);
	VEC_PUSH(&m->b->manifest.members, *row);
	return 0;
}

void bundle_undo(struct bundle_member *m)
{
	char unused[65];

	zip_undo(m->b->zip);
	fs_sha256_end(STEAL(m->sha), unused);
}
