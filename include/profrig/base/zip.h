/*
 * zip: archives in the format of PKWARE's APPNOTE 6.3, written as a stream and read as hostile
 * input. Members are stored or deflated (gz.h); sizes, offsets and counts above 32 bits are written
 * as zip64. Names are UTF-8.
 *
 *	local header, name, data		one for each member
 *	…
 *	central directory			name, sizes, CRC-32, place of each member
 *	[zip64 end, zip64 locator]		where a number needs it
 *	end of central directory
 *
 * Writing: the descriptor is the caller's, and so is the name under which the file appears.
 *
 *	w = zip_writer_new(fd, "out.zip")
 *	zip_begin(w, "a/b.json", mtime_s, ZIP_DEFLATE)
 *	zip_put(w, data, n)…			any number of times
 *	zip_end(w, &bytes, &packed)		or zip_undo(w): the member was never there
 *	zip_finish(w, err)			the directory; then zip_writer_free(w)
 *
 * The first failed write is kept: every later call does nothing, and zip_finish reports it. The
 * same calls give the same bytes. A writer does not check names: zip_name_check does.
 *
 * Reading: zip_open reads the directory and refuses an archive that no careful program writes:
 *	- names that are absolute, have "..", ".", empty parts, backslashes or control bytes, are
 *	  no UTF-8, longer than ZIP_NAME_MAX or more than ZIP_DEPTH_MAX parts deep; a name twice; a
 *	  name that is also a folder of another
 *	- encrypted members; links and other special files; archives in several parts
 *	- members whose data overlap or lie outside the file; a local header of another member
 *	- more than ZIP_MEMBERS_MAX members; contents of more than ZIP_SLACK + ZIP_RATIO × the file
 *
 * zip_read gives a member's bytes piece by piece and checks their number and CRC-32. One reader for
 * each thread.
 */
#ifndef PROFRIG_ZIP_H
#define PROFRIG_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define ZIP_NAME_MAX 4096
#define ZIP_DEPTH_MAX 64
#define ZIP_MEMBERS_MAX 1000000
/* Deflate makes at most 1/1032 of a text; traces and logs become 1/5 to 1/60. */
#define ZIP_RATIO 256
#define ZIP_SLACK ((uint64_t)64 << 20)

enum zip_method { ZIP_STORE = 0, ZIP_DEFLATE = 8 };

/* ---- writing ---- */

struct zip_writer;

/* name: for messages, borrowed. The file is empty. */
struct zip_writer *zip_writer_new(int fd, const char *name);
void zip_writer_free(struct zip_writer *w); /* NULL is fine */
/* mtime_s: seconds since 1970, written as UTC with the format's 2 s; before 1980 is 1980. */
void zip_begin(struct zip_writer *w, const char *path, int64_t mtime_s, enum zip_method method);
void zip_put(struct zip_writer *w, const void *data, size_t n);
/* Sizes of the member's contents and of what they take; each may be NULL. */
void zip_end(struct zip_writer *w, uint64_t *ret_bytes, uint64_t *ret_packed);
/* Takes back the member that is open, else the last one. */
void zip_undo(struct zip_writer *w);
int zip_finish(struct zip_writer *w, struct err *err);

/* By bytes, but '/' before all others: what is in a folder comes right behind its name. */
int zip_path_cmp(const char *a, const char *b);
/* 0, or -EINVAL with the reason why an archive must not have a member of this name. */
int zip_name_check(const char *path, size_t n, struct err *err);

/* ---- reading ---- */

struct zip_entry {
	const char *path; /* without the '/' at the end of a folder's; borrowed from the reader */
	uint64_t bytes, packed;
	uint64_t at, end; /* of the local header; where its data end at the latest */
	int64_t mtime_s;
	uint32_t crc;
	uint16_t method; /* enum zip_method, or another number: zip_read refuses it */
	bool is_dir;
};

struct zip {
	char *name;              /* of the file, for messages */
	struct zip_entry *entry; /* by path; '/' comes before all other bytes */
	size_t nr;
	uint64_t bytes; /* of all contents */
	uint64_t size;  /* of the file */
	int fd;         /* -1: none */
	char *names;
};

/* Whether a file begins as a zip archive does. False when it cannot be read. */
bool zip_is(const char *path);
/* -EINVAL: no zip archive, or one that is refused; err has the member and the reason. */
int zip_open(const char *path, struct zip *ret, struct err *err);
/* The same for an open file, which is the archive's from now on, also after an error. */
int zip_open_fd(int fd, const char *name, struct zip *ret, struct err *err);
void zip_release(struct zip *z); /* of a zeroed one, too */
/* The entry of a path; NULL: there is none. */
const struct zip_entry *zip_find(const struct zip *z, const char *path);
/*
 * Passes the contents of a file to take, which returns 0, or -errno to end it (after err_set).
 * -EINVAL: damaged; -ENOTSUP: compressed by a method that is not known here.
 */
typedef int zip_take_fn(void *ctx, const void *data, size_t n, struct err *err);
int zip_read(struct zip *z, const struct zip_entry *e, zip_take_fn *take, void *ctx,
	     struct err *err);

#endif
