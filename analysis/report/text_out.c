#include "text_out.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "profrig/fs.h"
#include "profrig/text.h"
#include "profrig/xalloc.h"

#define PACKED_BYTES ((size_t)1 << 18)
/* isa-l's level 1: a third of the text's size at some 400 MB/s */
#define GZIP_LEVEL 1

/* One of gz and zs is there. */
struct text_packer {
	struct isal_zstream *gz;
	uint8_t *gz_work;
	ZSTD_CStream *zs;
	uint8_t *out;
};

static struct text_packer *packer_new(void)
{
	struct text_packer *p = xcalloc(1, sizeof(*p));

	p->out = xmalloc(PACKED_BYTES);
	return p;
}

static struct text_packer *packer_gzip(void)
{
	struct text_packer *p = packer_new();

	p->gz = xmalloc(sizeof(*p->gz));
	p->gz_work = xmalloc(ISAL_DEF_LVL1_DEFAULT);
	isal_deflate_init(p->gz);
	p->gz->gzip_flag = IGZIP_GZIP;
	p->gz->level = GZIP_LEVEL;
	p->gz->level_buf = p->gz_work;
	p->gz->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	return p;
}

static struct text_packer *packer_zstd(void)
{
	struct text_packer *p = packer_new();

	p->zs = ZSTD_createCStream();
	if (!p->zs || ZSTD_isError(ZSTD_CCtx_setParameter(p->zs, ZSTD_c_checksumFlag, 1)))
		xalloc_failed();
	return p;
}

static void packer_free(struct text_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCStream(p->zs);
	free(p->gz);
	free(p->gz_work);
	free(p->out);
	free(p);
}

static void put(struct text_out *t, const void *data, size_t n)
{
	if (n)
		fwrite(data, 1, n, t->o.f);
}

static void put_gzip(struct text_out *t, bool end)
{
	struct isal_zstream *gz = t->packer->gz;

	gz->next_in = (uint8_t *)t->text.buf;
	gz->avail_in = (uint32_t)t->text.len;
	gz->end_of_stream = end;
	do {
		gz->next_out = t->packer->out;
		gz->avail_out = PACKED_BYTES;
		if (isal_deflate(gz) != COMP_OK) {
			t->failed = t->failed ? t->failed : EIO;
			return;
		}
		put(t, t->packer->out, PACKED_BYTES - gz->avail_out);
	} while (gz->avail_out == 0);
}

static void put_zstd(struct text_out *t, bool end)
{
	ZSTD_inBuffer in = { t->text.buf, t->text.len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { t->packer->out, PACKED_BYTES, 0 };

		left = ZSTD_compressStream2(t->packer->zs, &out, &in,
					    end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			t->failed = t->failed ? t->failed : EIO;
			return;
		}
		put(t, out.dst, out.pos);
	} while (in.pos < in.size || (end && left > 0));
}

static void write_text(struct text_out *t, bool end)
{
	t->text_bytes += t->text.len;
	if (t->failed || ferror(t->o.f))
		;
	else if (!t->packer)
		put(t, t->text.buf, t->text.len);
	else if (t->packer->gz)
		put_gzip(t, end);
	else
		put_zstd(t, end);
	strbuf_clear(&t->text);
}

void text_out_flush(struct text_out *t)
{
	write_text(t, false);
}

int text_out_open(const char *path, struct text_out *t, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(path);
	int r = out_file_open(dir, fs_base(path), &t->o, err);

	if (r < 0)
		return r;
	if (text_suffix(path, ".gz"))
		t->packer = packer_gzip();
	else if (text_suffix(path, ".zst"))
		t->packer = packer_zstd();
	return 0;
}

int text_out_commit(struct text_out *t, struct err *err)
{
	CLEANUP(xfreep) char *path = xstrdup(t->o.path);
	int64_t size;
	int r;

	write_text(t, true);
	if (t->failed) {
		r = err_sys(err, t->failed, "%s", path);
		text_out_drop(t);
		return r;
	}
	r = out_file_commit(&t->o, err);
	text_out_drop(t);
	if (r < 0)
		return r;
	size = fs_size(path);
	t->bytes = size > 0 ? (uint64_t)size : 0;
	return 0;
}

void text_out_drop(struct text_out *t)
{
	out_file_drop(&t->o);
	strbuf_release(&t->text);
	packer_free(t->packer);
	t->packer = NULL;
}
