#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "profrig/base/gz.h"
#include "profrig/base/xalloc.h"

/* zlib's counts are as wide as an int. */
#define CALL_MAX ((size_t)1 << 30)
/* zlib's default for the memory of a deflater. */
#define MEM_LEVEL 8
/* The largest window; 16 asks for the gzip wrapper. */
#define GZIP_BITS (MAX_WBITS + 16)
/* Negative: no wrapper. */
#define BARE_BITS (-MAX_WBITS)

struct gz_inflater {
	z_stream s;
	enum gz_wrap wrap;
	bool made, begun;
};

struct gz_inflater *gz_inflater_new(enum gz_wrap wrap)
{
	struct gz_inflater *z = xcalloc(1, sizeof(*z));

	z->wrap = wrap;
	return z;
}

void gz_inflater_free(struct gz_inflater *z)
{
	if (z && z->made)
		inflateEnd(&z->s);
	free(z);
}

/* Only the message of zlib tells these errors apart. */
static const char *word_of(const z_stream *s)
{
	const char *msg = s->msg ? s->msg : "";

	if (strstr(msg, "incorrect data check") || strstr(msg, "incorrect length check"))
		return "wrong checksum";
	if (strstr(msg, "header") || strstr(msg, "compression method"))
		return "damaged header";
	return *msg ? "damaged data" : "damaged";
}

static bool inflater_begin(struct gz_inflater *z)
{
	static const int widths[] = { GZIP_BITS, BARE_BITS, MAX_WBITS };
	int r = z->made ? inflateReset(&z->s) : inflateInit2(&z->s, widths[z->wrap]);

	z->made |= r == Z_OK;
	z->begun = r == Z_OK;
	return z->begun;
}

enum gz_step gz_inflate(struct gz_inflater *z, struct gz_io *io, const char **ret_why)
{
	z_stream *s = &z->s;
	uInt in_before, out_before;
	int r;

	if (!z->begun && !inflater_begin(z)) {
		*ret_why = "no memory for zlib";
		return GZ_BAD;
	}
	s->next_in = (Bytef *)(uintptr_t)io->in;
	s->avail_in = in_before = (uInt)(io->in_left < CALL_MAX ? io->in_left : CALL_MAX);
	s->next_out = (Bytef *)io->out;
	s->avail_out = out_before = (uInt)(io->out_left < CALL_MAX ? io->out_left : CALL_MAX);
	r = inflate(s, Z_NO_FLUSH);
	io->in += in_before - s->avail_in;
	io->in_left -= in_before - s->avail_in;
	io->out += out_before - s->avail_out;
	io->out_left -= out_before - s->avail_out;
	if (r == Z_STREAM_END) {
		z->begun = false;
		return GZ_END;
	}
	/* Z_BUF_ERROR: nothing to do without more input or room. */
	if (r == Z_OK || r == Z_BUF_ERROR)
		return GZ_MORE;
	*ret_why = word_of(s);
	return GZ_BAD;
}

struct gz_deflater {
	z_stream s;
};

struct gz_deflater *gz_deflater_new(enum gz_effort effort, enum gz_wrap wrap)
{
	struct gz_deflater *z = xcalloc(1, sizeof(*z));

	if (deflateInit2(&z->s, effort == GZ_FAST ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION,
			 Z_DEFLATED, wrap == GZ_BARE ? BARE_BITS : GZIP_BITS, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		xalloc_failed();
	return z;
}

void gz_deflater_free(struct gz_deflater *z)
{
	if (z)
		deflateEnd(&z->s);
	free(z);
}

enum gz_step gz_deflate(struct gz_deflater *z, struct gz_io *io, bool end)
{
	z_stream *s = &z->s;
	uInt in_before, out_before;
	int r;

	s->next_in = (Bytef *)(uintptr_t)io->in;
	s->avail_in = in_before = (uInt)(io->in_left < CALL_MAX ? io->in_left : CALL_MAX);
	s->next_out = (Bytef *)io->out;
	s->avail_out = out_before = (uInt)(io->out_left < CALL_MAX ? io->out_left : CALL_MAX);
	r = deflate(s, end && in_before == io->in_left ? Z_FINISH : Z_NO_FLUSH);
	io->in += in_before - s->avail_in;
	io->in_left -= in_before - s->avail_in;
	io->out += out_before - s->avail_out;
	io->out_left -= out_before - s->avail_out;
	if (r == Z_STREAM_END)
		return GZ_END;
	/* Z_BUF_ERROR: nothing to do without more input or room. */
	return r == Z_OK || r == Z_BUF_ERROR ? GZ_MORE : GZ_BAD;
}

uint32_t gz_crc32(uint32_t crc, const void *data, size_t n)
{
	return (uint32_t)crc32_z(crc, data, n);
}
