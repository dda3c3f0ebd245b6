/*
 * A model as an OTF2 archive, through libotf2: the folder NAME.otf2 holds traces.otf2, traces.def
 * and traces/. otf2_out.h describes their contents.
 *
 * Memory: a chunk or two of output, the numbers of strings and regions, for links 8 bytes a span
 * and 8 a link, and for the largest track with more than one row 12 bytes a span.
 */
#include "converters_private.h"
#include "otf2_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/text.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define ARCHIVE_NAME "traces"
#define OWN_PROPERTY "PROFRIG::FILE"
/* An anchor is a page; with more it is not one of ours. */
#define ANCHOR_MAX (1 << 20)

/* ---- what libotf2 would print ---- */

static char said[256];

static OTF2_ErrorCode on_error(void *user, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *fmt, va_list ap)
{
	struct otf2_out *o = user;
	char text[192];

	(void)file, (void)line, (void)function;
	/* the first of a chain is nearest to the cause */
	if (!o || o->failed != OTF2_SUCCESS)
		return code;
	o->failed = code;
	vsnprintf(text, sizeof(text), fmt ? fmt : "", ap);
	snprintf(said, sizeof(said), "%s%s%s", OTF2_Error_GetDescription(code), *text ? ": " : "",
		 text);
	text_no_controls(said, ' ');
	return code;
}

static int errno_of(OTF2_ErrorCode code)
{
	switch (code) {
	case OTF2_ERROR_ENOSPC:
		return ENOSPC;
	case OTF2_ERROR_EFBIG:
		return EFBIG;
	case OTF2_ERROR_EACCES:
		return EACCES;
	case OTF2_ERROR_EROFS:
		return EROFS;
	default:
		return EIO;
	}
}

/* ---- memory of libotf2: by default it keeps up to 128 MiB of a location ---- */

#define CHUNKS 2

struct buffer {
	VEC(void *) chunks;
};

static void *chunk_allocate(void *user, OTF2_FileType type, OTF2_LocationRef location,
			    void **buffer, uint64_t bytes)
{
	struct buffer *b = *buffer;

	(void)user, (void)type, (void)location;
	if (!b)
		*buffer = b = xcalloc(1, sizeof(*b));
	/* none: libotf2 writes out its buffer */
	if (b->chunks.nr == CHUNKS)
		return NULL;
	VEC_PUSH(&b->chunks, xmalloc(bytes));
	return b->chunks.v[b->chunks.nr - 1];
}

static void chunks_free(void *user, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
			bool final)
{
	struct buffer *b = *buffer;

	(void)user, (void)type, (void)location;
	if (!b)
		return;
	for (size_t i = 0; i < b->chunks.nr; i++)
		free(b->chunks.v[i]);
	VEC_CLEAR(&b->chunks);
	if (!final)
		return;
	VEC_RELEASE(&b->chunks);
	free(b);
	*buffer = NULL;
}

static OTF2_FlushType pre_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
				void *caller, bool final)
{
	(void)user, (void)type, (void)location, (void)caller, (void) final;
	return OTF2_FLUSH;
}

/* ---- the archive ---- */

/* A record cannot cross chunks. */
static void sizes_choose(struct otf2_out *o, uint64_t *ret_events, uint64_t *ret_defs)
{
	size_t longest = 0, all = 0, strings = intern_count(o->m->strings);
	uint64_t chunk = OTF2_CHUNK_SIZE_MIN;

	for (size_t i = 0; i < strings; i++) {
		size_t n = intern_len(o->m->strings, (str_id)i);

		longest = n > longest ? n : longest;
		all += n + 8;
	}
	while (chunk < OTF2_CHUNK_SIZE_MAX && (chunk / 2 < longest + 4096 || chunk * 16 < all))
		chunk *= 2;
	*ret_defs = chunk;
	o->string_max = chunk / 2;
	o->long_strings = longest > o->string_max;
	*ret_events =
		o->m->spans.nr > 100000 ? OTF2_CHUNK_SIZE_EVENTS_DEFAULT : OTF2_CHUNK_SIZE_MIN;
}

static void archive_set_up(struct otf2_out *o)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = pre_flush };
	static const OTF2_MemoryCallbacks memory = { .otf2_allocate = chunk_allocate,
						     .otf2_free_all = chunks_free };
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;

	native_file_text(o->m, o->base_ns, &file);
	otf2_out_ok(o, OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL));
	otf2_out_ok(o, OTF2_Archive_SetMemoryCallbacks(o->archive, &memory, NULL));
	otf2_out_ok(o, OTF2_Archive_SetSerialCollectiveCallbacks(o->archive));
	otf2_out_ok(o, OTF2_Archive_SetCreator(o->archive, "profrig convert"));
	otf2_out_ok(o, OTF2_Archive_SetProperty(o->archive, OWN_PROPERTY, file.buf, true));
	o->defs = OTF2_Archive_GetGlobalDefWriter(o->archive);
	if (!o->defs)
		otf2_out_ok(o, OTF2_ERROR_PROCESSED_WITH_FAULTS);
}

static void archive_fill(struct otf2_out *o)
{
	size_t strings = intern_count(o->m->strings);

	native_order_init(o->m, &o->order);
	o->string_of = xreallocarray(NULL, strings + 1, sizeof(*o->string_of));
	memset(o->string_of, 0xff, (strings + 1) * sizeof(*o->string_of));
	o->base_ns = o->m->first_ns < 0 ? o->m->first_ns : 0;
	archive_set_up(o);
	if (o->failed == OTF2_SUCCESS)
		otf2_out_begin(o);
	if (o->failed == OTF2_SUCCESS)
		otf2_out_places(o);
	if (o->failed == OTF2_SUCCESS)
		otf2_out_events(o);
	if (o->failed == OTF2_SUCCESS)
		otf2_out_end(o);
	if (o->failed == OTF2_SUCCESS)
		otf2_out_ok(o, OTF2_Archive_CloseGlobalDefWriter(o->archive, o->defs));
}

/*
 * A writer that failed once reads past its memory when it is closed, so it is not closed and its
 * memory leaks until the process ends. libotf2 reports many failures to its error callback alone.
 */
static int archive_write(const struct convert_job *job, const char *dir, struct convert_result *ret,
			 struct err *err)
{
	struct otf2_out o = { .m = job->model };
	uint64_t events, defs;

	sizes_choose(&o, &events, &defs);
	*said = '\0';
	OTF2_Error_RegisterCallback(on_error, &o);
	o.archive = OTF2_Archive_Open(dir, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, events, defs,
				      OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (o.archive)
		archive_fill(&o);
	if (o.archive && o.failed == OTF2_SUCCESS)
		otf2_out_ok(&o, OTF2_Archive_Close(o.archive));
	if (!o.archive)
		otf2_out_ok(&o, OTF2_ERROR_PROCESSED_WITH_FAULTS);
	OTF2_Error_RegisterCallback(on_error, NULL);
	ret->spans_out += o.spans_out;
	ret->links_out += o.links_out;
	otf2_out_release(&o);
	if (o.failed == OTF2_SUCCESS)
		return 0;
	return err_set(err, errno_of(o.failed), "%s: libotf2: %s", job->path,
		       *said ? said : OTF2_Error_GetDescription(o.failed));
}

/* ---- its place ---- */

/* An anchor that has our property. */
static bool is_ours(const char *dir)
{
	CLEANUP(xfreep) char *anchor = fs_join(dir, ARCHIVE_NAME ".otf2"), *data = NULL;
	size_t n;

	return fs_is_file(anchor) && fs_read(anchor, ANCHOR_MAX, &data, &n, NULL) == 0 &&
	       memmem(data, n, "OTF2", 4) && memmem(data, n, OWN_PROPERTY, sizeof(OWN_PROPERTY));
}

/* Removes only files of an archive. */
static int place_check(const char *path, struct err *err)
{
	static const char *const names[] = { ARCHIVE_NAME, ARCHIVE_NAME ".def",
					     ARCHIVE_NAME ".otf2" };
	CLEANUP(strvec_release) struct strvec in = STRVEC_INIT;
	int e;

	if (!fs_exists(path))
		return 0;
	if (!fs_is_dir(path))
		return err_set(err, EEXIST,
			       "%s: is a file, and an archive is a folder: choose another name "
			       "or remove it",
			       path);
	e = fs_list(path, &in, err);
	if (e < 0)
		return e;
	if (in.nr == 0)
		return 0;
	if (!is_ours(path))
		return err_set(err, EEXIST,
			       "%s: is there and was not written by profrig: choose another name "
			       "or remove it",
			       path);
	for (size_t i = 0; i < in.nr; i++)
		if (i >= ARRAY_LEN(names) || strcmp(in.v[i], names[i]) != 0)
			return err_set(err, EEXIST,
				       "%s: holds '%s' beside an archive: choose another name or "
				       "move it away",
				       path, in.v[i]);
	return 0;
}

/* Nothing is forced to the disk: there may be thousands of files, and they can be made again. */
static int bytes_count(const char *dir, uint64_t *ret_bytes, struct err *err)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	int e = fs_glob(dir, "**", &files, err);

	*ret_bytes = 0;
	for (size_t i = 0; e >= 0 && i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, files.v[i]);
		int64_t bytes = fs_size(path);

		*ret_bytes += bytes > 0 ? (uint64_t)bytes : 0;
	}
	return e < 0 ? e : 0;
}

/* For file systems that cannot exchange two names: for a moment there is neither. */
static int exchange_by_steps(const char *temp, const char *path)
{
	CLEANUP(xfreep) char *old = xasprintf("%s.old", temp);
	int code;

	if (rename(path, old) < 0)
		return -errno;
	if (rename(temp, path) < 0) {
		code = errno;
		rename(old, path);
		return -code;
	}
	return rename(old, temp) < 0 ? -errno : 0;
}

/* The old archive is removed once the new one is in place. */
static int place_take(const char *temp, const char *path, struct err *err)
{
	int r;

	if (rename(temp, path) == 0)
		return 0;
	if (errno != EEXIST && errno != ENOTEMPTY)
		return err_sys(err, errno, "%s", path);
	r = renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE) < 0 ? -errno : 0;
	if (r == -EINVAL || r == -ENOSYS)
		r = exchange_by_steps(temp, path);
	if (r < 0)
		return err_sys(err, -r, "%s", path);
	return fs_remove_tree(temp, err);
}

static int write_otf2(const struct convert_job *job, struct convert_result *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_abs(job->path), *folder = fs_dir(path);
	CLEANUP(xfreep) char *temp = fs_temp_name(folder);
	int e;

	*ret = (struct convert_result){ .files = 0 };
	temps_hold(temp);
	e = place_check(path, err);
	if (e == 0)
		e = fs_mkdirs(folder, 0755, err);
	if (e == 0)
		e = fs_remove_tree(temp, err);
	if (e == 0)
		e = archive_write(job, temp, ret, err);
	if (e == 0)
		e = bytes_count(temp, &ret->bytes, err);
	if (e == 0)
		e = place_take(temp, path, err);
	if (e < 0)
		fs_remove_tree(temp, NULL);
	temps_let_go(temp);
	if (e < 0)
		return e;
	ret->files = 1;
	ret->first = xstrdup(job->path);
	return 0;
}

static const char *const suffixes[] = { ".otf2", NULL };

const struct converter converter_otf2 = {
	.name = "otf2",
	.about = "Open Trace Format 2 archive",
	.suffixes = suffixes,
	.write = write_otf2,
};
