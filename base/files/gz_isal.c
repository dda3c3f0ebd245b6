#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "profrig/base/gz.h"
#include "profrig/base/xalloc.h"

/* isa-l counts in 32 bits. */
#define CALL_MAX ((size_t)1 << 30)

struct gz_inflater {
	struct inflate_state st;
	enum gz_wrap wrap;
	bool begun;
};

struct gz_inflater *gz_inflater_new(enum gz_wrap wrap)
{
	struct gz_inflater *z = xmalloc(sizeof(*z));

	z->wrap = wrap;
	z->begun = false;
	return z;
}

void gz_inflater_free(struct gz_inflater *z)
{
	free(z);
}

static const char *word_of(int code)
{
	switch (code) {
	case ISAL_INVALID_BLOCK:
	case ISAL_INVALID_SYMBOL:
	case ISAL_INVALID_LOOKBACK:
		return "damaged data";
	case ISAL_INCORRECT_CHECKSUM:
		return "wrong checksum";
	case ISAL_UNSUPPORTED_METHOD:
	case ISAL_INVALID_WRAPPER:
		return "damaged header";
	default:
		return "damaged";
	}
}

enum gz_step gz_inflate(struct gz_inflater *z, struct gz_io *io, const char **ret_why)
{
	static const uint32_t flags[] = { ISAL_GZIP, ISAL_DEFLATE, ISAL_ZLIB };
	struct inflate_state *st = &z->st;
	uint32_t in_before, out_before;
	int r;

	if (!z->begun) {
		isal_inflate_init(st);
		st->crc_flag = flags[z->wrap];
		z->begun = true;
	}
	st->next_in = (uint8_t *)(uintptr_t)io->in;
	st->avail_in = in_before = (uint32_t)(io->in_left < CALL_MAX ? io->in_left : CALL_MAX);
	st->next_out = (uint8_t *)io->out;
	st->avail_out = out_before = (uint32_t)(io->out_left < CALL_MAX ? io->out_left : CALL_MAX);
	r = isal_inflate(st);
	io->in += in_before - st->avail_in;
	io->in_left -= in_before - st->avail_in;
	io->out += out_before - st->avail_out;
	io->out_left -= out_before - st->avail_out;
	if (r != ISAL_DECOMP_OK) {
		*ret_why = word_of(r);
		return GZ_BAD;
	}
	if (st->block_state != ISAL_BLOCK_FINISH)
		return GZ_MORE;
	z->begun = false;
	return GZ_END;
}

struct gz_deflater {
	struct isal_zstream zs;
	uint8_t level_buf[];
};

struct gz_deflater *gz_deflater_new(enum gz_effort effort, enum gz_wrap wrap)
{
	uint32_t room = effort == GZ_FAST ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL2_DEFAULT;
	struct gz_deflater *z = xmalloc(sizeof(*z) + room);

	isal_deflate_init(&z->zs);
	z->zs.gzip_flag = wrap == GZ_BARE ? IGZIP_DEFLATE : IGZIP_GZIP;
	/* level 1: a third of a text's size at some 400 MB/s */
	z->zs.level = effort == GZ_FAST ? 1 : 2;
	z->zs.level_buf = z->level_buf;
	z->zs.level_buf_size = room;
	return z;
}

void gz_deflater_free(struct gz_deflater *z)
{
	free(z);
}

enum gz_step gz_deflate(struct gz_deflater *z, struct gz_io *io, bool end)
{
	struct isal_zstream *zs = &z->zs;
	uint32_t in_before, out_before;
	int r;

	zs->next_in = (uint8_t *)(uintptr_t)io->in;
	zs->avail_in = in_before = (uint32_t)(io->in_left < CALL_MAX ? io->in_left : CALL_MAX);
	zs->end_of_stream = end && in_before == io->in_left;
	zs->next_out = (uint8_t *)io->out;
	zs->avail_out = out_before = (uint32_t)(io->out_left < CALL_MAX ? io->out_left : CALL_MAX);
	r = isal_deflate(zs);
	io->in += in_before - zs->avail_in;
	io->in_left -= in_before - zs->avail_in;
	io->out += out_before - zs->avail_out;
	io->out_left -= out_before - zs->avail_out;
	if (r != COMP_OK)
		return GZ_BAD;
	return zs->internal_state.state == ZSTATE_END ? GZ_END : GZ_MORE;
}

uint32_t gz_crc32(uint32_t crc, const void *data, size_t n)
{
	return crc32_gzip_refl(crc, data, n);
}
