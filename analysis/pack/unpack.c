/*
 * Unpacking for an analysis: into a folder of our own, after the checks of zip.h and against the
 * manifest. Files whose formats no reader reads stay packed.
 */
#include "bundle_in.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/progress.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/pack/pack.h"
#include "profrig/readers/reader.h"

/* The archives of nsys-jax hold these; docs/pack.md explains what to do about each. */
static const struct pack_unread unread_kinds[PACK_UNREAD_KINDS] = {
	{ ".parquet", "tables in Parquet: no library of Debian reads them from C", 0, "" },
	{ ".nsys-rep", "a report only Nsight Systems reads: 'nsys export --type sqlite' it", 0,
	  "" },
	{ ".xz", "compressed by xz: programs that XLA dumped, or tables; no reader takes them", 0,
	  "" },
	{ ".pb", "a program that XLA dumped, no trace", 0, "" },
};

struct unpacking {
	struct bundle_in in;
	const char *dir;
	struct unpacked *to;
	int fd;     /* of the file that is written */
	char *last; /* the folder made last */
};

void unpacked_release(struct unpacked *u)
{
	strvec_release(&u->inputs);
	strvec_release(&u->others);
}

/* NULL: a file that may be read. */
static struct pack_unread *unread_kind(struct unpacked *u, const char *path)
{
	for (size_t i = 0; i < PACK_UNREAD_KINDS; i++)
		if (text_suffix(path, unread_kinds[i].kind))
			return &u->unread[i];
	return NULL;
}

/* ---- files ---- */

static int file_take(void *ctx, const void *data, size_t n, struct err *err)
{
	struct unpacking *u = ctx;
	int r = fs_write_all(u->fd, data, n);

	u->to->bytes += n;
	progress_update(u->to->bytes);
	return r < 0 ? err_sys(err, -r, "%s", u->dir) : 0;
}

static int folder_make(struct unpacking *u, const char *file, struct err *err)
{
	CLEANUP(xfreep) char *folder = fs_dir(file);
	int r = 0;

	if (!u->last || strcmp(u->last, folder) != 0)
		r = fs_mkdirs(folder, 0700, err);
	free(u->last);
	u->last = STEAL(folder);
	return r;
}

static int file_unpack(struct unpacking *u, const struct zip_entry *e, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(u->dir, e->path);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = e->mtime_s } };
	char sha256[65];
	int r = folder_make(u, path, err);

	if (r < 0)
		return r;
	u->fd = door_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (u->fd < 0)
		return err_sys(err, errno, "%s", path);
	r = bundle_in_read(&u->in, e, file_take, u, sha256, err);
	futimens(u->fd, times);
	if (close(u->fd) < 0 && r == 0)
		r = err_sys(err, errno, "%s", path);
	u->to->files++;
	return r;
}

static int files_unpack(struct unpacking *u, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < u->in.zip.nr; i++) {
		const struct zip_entry *e = &u->in.zip.entry[i];
		struct pack_unread *kind;

		if (!bundle_in_has(&u->in, e))
			continue;
		kind = unread_kind(u->to, e->path);
		if (!kind)
			r = file_unpack(u, e, err);
		else if (kind->nr++ == 0)
			snprintf(kind->first, sizeof(kind->first), "%s", e->path);
	}
	return r;
}

static int room_check(const struct unpacking *u, struct err *err)
{
	struct statvfs fs;
	uint64_t room;

	if (statvfs(u->dir, &fs) < 0)
		return err_sys(err, errno, "%s", u->dir);
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (u->in.zip.bytes <= room)
		return 0;
	return err_set(err, ENOSPC,
		       "%s: its contents take %" PRIu64 " bytes and %s has room for %" PRIu64
		       "; set TMPDIR to a larger place",
		       u->in.zip.name, u->in.zip.bytes, u->dir, room);
}

/* ---- what of it is read ---- */

/* The outermost run directories. Entries are in the order of their paths. */
static void runs_find(const struct unpacking *u)
{
	CLEANUP(xfreep) char *last = NULL;

	for (size_t i = 0; i < u->in.zip.nr; i++) {
		const char *path = u->in.zip.entry[i].path;
		CLEANUP(xfreep) char *folder = NULL, *whole = NULL;

		if (strcmp(fs_base(path), "run.json") != 0 || (last && fs_below(last, path)))
			continue;
		folder = fs_dir(path);
		whole = strchr(path, '/') ? fs_join(u->dir, folder) : xstrdup(u->dir);
		if (!rundir_is(whole))
			continue;
		strvec_push(&u->to->inputs, whole);
		free(last);
		last = STEAL(folder);
	}
}

static bool in_a_run(const struct unpacking *u, const char *path)
{
	for (size_t i = 0; i < u->to->inputs.nr; i++)
		if (fs_below(u->to->inputs.v[i], path))
			return true;
	return false;
}

/* Files beside runs that a reader takes. Beside several runs they are named, and not read. */
static void others_find(struct unpacking *u)
{
	CLEANUP(strvec_release) struct strvec found = STRVEC_INIT;
	bool several = u->to->inputs.nr > 1;
	const struct reader *reader;

	for (size_t i = 0; i < u->in.zip.nr; i++) {
		const struct zip_entry *e = &u->in.zip.entry[i];
		CLEANUP(xfreep) char *path = fs_join(u->dir, e->path);

		if (bundle_in_has(&u->in, e) && !in_a_run(u, path) && fs_is_file(path) &&
		    reader_detect(path, &reader, NULL) == 0)
			strvec_push(&found, several ? e->path : path);
	}
	strvec_pushv(several ? &u->to->others : &u->to->inputs, found.v);
}

static void inputs_find(struct unpacking *u)
{
	runs_find(u);
	if (u->to->inputs.nr)
		others_find(u);
	else if (u->to->files)
		strvec_push(&u->to->inputs, u->dir);
}

int pack_unpack(const char *path, const char *dir, struct unpacked *ret, struct err *err)
{
	struct unpacking u = { .dir = dir, .to = ret };
	int r;

	*ret = (struct unpacked){ .inputs = STRVEC_INIT, .others = STRVEC_INIT };
	memcpy(ret->unread, unread_kinds, sizeof(ret->unread));
	r = bundle_in_open(path, &u.in, err);
	if (r < 0)
		return r;
	r = room_check(&u, err);
	if (r == 0)
		r = files_unpack(&u, err);
	if (r == 0)
		inputs_find(&u);
	free(u.last);
	bundle_in_release(&u.in);
	return r;
}
