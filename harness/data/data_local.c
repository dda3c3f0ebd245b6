#include "data_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define COPY_BLOCK ((size_t)1 << 20)
#define MAX_DEPTH 256

/* Mostly changes when the content does. */
static char *tag_of(const struct stat *st)
{
	return xasprintf("%lld %lld.%09ld", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
			 st->st_mtim.tv_nsec);
}

static void add_file(const char *path, const char *rel, const struct stat *st, data_files *ret)
{
	CLEANUP(xfreep) char *tag = tag_of(st);

	data_files_add(ret, rel, path, tag, st->st_size);
}

/* --- listing --- */

void local_more_init(struct local_more *m)
{
	*m = (struct local_more){ .dirs = STRVEC_INIT, .left_out = STRVEC_INIT };
}

void local_more_release(struct local_more *m)
{
	if (m->dirs.v)
		strvec_release(&m->dirs);
	if (m->left_out.v)
		strvec_release(&m->left_out);
}

char *local_left_out(const struct local_more *m)
{
	size_t nr = m->left_out.v ? m->left_out.nr : 0;

	if (nr < 2)
		return nr ? xstrdup(m->left_out.v[0]) : NULL;
	return xasprintf("%s, and %zu more", m->left_out.v[0], nr - 1);
}

struct listing {
	data_files *files;
	struct local_more *more;
	size_t max;
};

/* An ancestor of the current folder: a link may lead back to it. */
struct above {
	const struct above *up;
	dev_t dev;
	ino_t ino;
	size_t depth;
};

static bool leads_back(const struct above *a, const struct stat *st)
{
	for (; a; a = a->up)
		if (a->dev == st->st_dev && a->ino == st->st_ino)
			return true;
	return false;
}

static int list_dir(struct listing *l, const char *dir, const char *rel, const struct above *here,
		    struct err *err);

static int list_entry(struct listing *l, const char *path, const char *rel, const struct above *up,
		      struct err *err)
{
	struct above here = { .up = up, .depth = up->depth + 1 };
	struct stat st, self;

	if (lstat(path, &self) < 0)
		return err_sys(err, errno, "'%s'", path);
	l->more->linked = l->more->linked || S_ISLNK(self.st_mode);
	if (stat(path, &st) < 0) {
		if (!S_ISLNK(self.st_mode) || (errno != ENOENT && errno != ELOOP))
			return err_sys(err, errno, "'%s'", path);
		strvec_pushf(&l->more->left_out, "%s: a broken link", rel);
		return 0;
	}
	here.dev = st.st_dev;
	here.ino = st.st_ino;
	if (S_ISREG(st.st_mode))
		add_file(path, rel, &st, l->files);
	else if (!S_ISDIR(st.st_mode))
		strvec_pushf(&l->more->left_out, "%s: no file and no folder", rel);
	else if (leads_back(up, &st))
		strvec_pushf(&l->more->left_out, "%s: a link to a folder above it", rel);
	else
		strvec_push(&l->more->dirs, rel);
	if (l->files->nr > l->max || l->more->dirs.nr > l->max)
		return err_set(err, E2BIG, "more than %zu files", l->max);
	return S_ISDIR(st.st_mode) && !leads_back(up, &st) ? list_dir(l, path, rel, &here, err) : 0;
}

static int list_dir(struct listing *l, const char *dir, const char *rel, const struct above *here,
		    struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r;

	if (here->depth > MAX_DEPTH)
		return err_set(err, ELOOP, "'%s': nested too deeply", dir);
	r = fs_list(dir, &names, err);
	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xfreep)
		char *below = *rel ? fs_join(rel, names.v[i]) : xstrdup(names.v[i]);

		r = list_entry(l, path, below, here, err);
	}
	return r;
}

int local_list(const char *path, size_t max, data_files *ret, struct local_more *more,
	       struct err *err)
{
	struct listing l = { .files = ret, .more = more, .max = max };
	struct above top = { .depth = 0 };
	struct stat st;

	if (stat(path, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return err_set(err, ENOENT, "'%s' is not there", path);
	if (S_ISREG(st.st_mode)) {
		add_file(path, fs_base(path), &st, ret);
		return 0;
	}
	top.dev = st.st_dev;
	top.ino = st.st_ino;
	return list_dir(&l, path, "", &top, err);
}

/* --- copying --- */

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int remove_others(const char *dir, const char *rel, const struct strvec *wanted,
			 struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = fs_list(dir, &names, err);

	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xfreep)
		char *below = *rel ? fs_join(rel, names.v[i]) : xstrdup(names.v[i]);
		char **at =
			(char **)bsearch(&below, wanted->v, wanted->nr, sizeof(char *), by_bytes);
		struct stat st;

		if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		r = remove_others(path, below, wanted, err);
		if (r == 0 && !at && rmdir(path) < 0 && errno != ENOTEMPTY)
			r = err_sys(err, errno, "cannot remove '%s'", path);
	}
	return r;
}

int local_folders(const char *dir, const struct local_more *more, struct err *err)
{
	CLEANUP(strvec_release) struct strvec wanted = STRVEC_INIT;
	int r = 0;

	for (size_t i = 0; r == 0 && i < more->dirs.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, more->dirs.v[i]);

		r = fs_mkdirs(path, 0755, err);
	}
	strvec_pushv(&wanted, more->dirs.v);
	strvec_sort(&wanted);
	return r == 0 ? remove_others(dir, "", &wanted, err) : r;
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
