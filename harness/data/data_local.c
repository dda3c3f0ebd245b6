#include "data_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/xalloc.h"

#define COPY_BLOCK ((size_t)1 << 20)

/* What changes with the content, mostly. */
static char *tag_of(const struct stat *st)
{
	return xasprintf("%lld %lld.%09ld", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
			 st->st_mtim.tv_nsec);
}

static int add_file(const char *path, const char *rel, data_files *ret, struct err *err)
{
	CLEANUP(xfreep) char *tag = NULL;
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(err, errno, "'%s'", path);
	tag = tag_of(&st);
	data_files_add(ret, rel, path, tag, st.st_size);
	return 0;
}

int local_list(const char *path, size_t max, data_files *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec rels = STRVEC_INIT;
	int r;

	if (fs_is_file(path))
		return add_file(path, fs_base(path), ret, err);
	if (!fs_is_dir(path))
		return err_set(err, ENOENT, "'%s' is not there", path);
	r = fs_glob(path, "**", &rels, err);
	if (r < 0)
		return r;
	if (rels.nr > max)
		return -E2BIG;
	for (size_t i = 0; r >= 0 && i < rels.nr; i++) {
		CLEANUP(xfreep) char *full = fs_join(path, rels.v[i]);

		if (fs_is_file(full))
			r = add_file(full, rels.v[i], ret, err);
	}
	return r < 0 ? r : 0;
}

static int copy_bytes(struct fetch *f, int from, int to, const char *part, struct err *err)
{
	CLEANUP(xfreep) char *block = xmalloc(COPY_BLOCK);
	uint64_t done = 0;
	ssize_t n;

	while ((n = read(from, block, COPY_BLOCK)) > 0) {
		for (ssize_t at = 0; at < n;) {
			ssize_t w = write(to, block + at, (size_t)(n - at));

			if (w < 0 && errno == EINTR)
				continue;
			if (w <= 0)
				return err_sys(err, errno, "'%s'", part);
			at += w;
		}
		done += (uint64_t)n;
		if (f->o->progress)
			f->o->progress(f->o->ctx, f->done + done, f->total);
		if (fetch_interrupted(f))
			return err_set(err, EINTR, "interrupted");
	}
	f->ret->fetched_bytes += done;
	return n < 0 ? err_sys(err, errno, "cannot read it") : 0;
}

int local_copy(struct fetch *f, const struct data_file *file, const char *part, struct err *err)
{
	CLEANUP(xclosep) int from = open(file->from, O_RDONLY | O_CLOEXEC);
	CLEANUP(xclosep)
	int to = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (from < 0 || to < 0)
		return err_sys(err, errno, "'%s'", from < 0 ? file->from : part);
	return copy_bytes(f, from, to, part, err);
}
