/*
 * gz: gzip members, in and out, and the bare deflate streams and checksums of zip archives (zip.h).
 * gz_isal.c uses isa-l; gz_zlib.c uses zlib, which is slower and can be linked into a static
 * program (mk/tarball.mk).
 *
 *	z = gz_inflater_new(GZ_WRAPPED);
 *	while ((step = gz_inflate(z, &io, &why)) == GZ_MORE)
 *		more input, or room for more output
 *	GZ_END: a member ended, io.in is behind it. The next call begins a new one.
 */
#ifndef PROFRIG_GZ_H
#define PROFRIG_GZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gz_inflater;

/* What is left of input and of room. At most 1 GiB of either is used in one call. */
struct gz_io {
	const char *in;
	size_t in_left;
	char *out;
	size_t out_left;
};

/* GZ_BAD: no gzip from here on; *ret_why is a static text. */
enum gz_step { GZ_MORE, GZ_END, GZ_BAD };

/*
 * GZ_BARE: without the header and the checksum of gzip. GZ_ZLIB: zlib streams (RFC 1950), which
 * have others.
 */
enum gz_wrap { GZ_WRAPPED, GZ_BARE, GZ_ZLIB };

struct gz_inflater *gz_inflater_new(enum gz_wrap wrap);
void gz_inflater_free(struct gz_inflater *z);
enum gz_step gz_inflate(struct gz_inflater *z, struct gz_io *io, const char **ret_why);

/*
 * One member. With `end`, io has the last of the input: GZ_MORE until all of it is written, then
 * GZ_END. Without, GZ_MORE: pass the next piece when io.in_left is 0 and there is room left.
 * GZ_BAD: the library fails.
 */
struct gz_deflater;
enum gz_effort { GZ_FAST, GZ_SMALL };
struct gz_deflater *gz_deflater_new(enum gz_effort effort, enum gz_wrap wrap);
void gz_deflater_free(struct gz_deflater *z);
enum gz_step gz_deflate(struct gz_deflater *z, struct gz_io *io, bool end);

/* The CRC-32 of gzip and zip, of bytes behind those that crc is of (0: none). */
uint32_t gz_crc32(uint32_t crc, const void *data, size_t n);

#endif
