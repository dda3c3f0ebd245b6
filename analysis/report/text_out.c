#include "text_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "profrig/base/fs.h"
#include "profrig/base/gz.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define PACKED_BYTES ((size_t)1 << 18)

/* Either gz or zs is set. */
struct text_packer {
	struct gz_deflater *gz;
	ZSTD_CStream *zs;
	char *out;
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

	p->gz = gz_deflater_new(GZ_FAST, GZ_WRAPPED);
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
	gz_deflater_free(p->gz);
	free(p->out);
	free(p);
}

static void text_put(struct text_out *t, const void *data, size_t n)
{
	if (n)
		fwrite(data, 1, n, t->o.f);
}

static void put_gzip(struct text_out *t, bool end)
{
	struct gz_io io = { .in = t->text.buf, .in_left = t->text.len };
	enum gz_step now;

	do {
		io.out = t->packer->out;
		io.out_left = PACKED_BYTES;
		now = gz_deflate(t->packer->gz, &io, end);
		text_put(t, t->packer->out, PACKED_BYTES - io.out_left);
	} while (now == GZ_MORE && (io.in_left > 0 || io.out_left == 0));
	if (now == GZ_BAD)
		t->failed = t->failed ? t->failed : EIO;
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
		text_put(t, out.dst, out.pos);
	} while (in.pos < in.size || (end && left > 0));
}

static void write_text(struct text_out *t, bool end)
{
	t->text_bytes += t->text.len;
	if (t->failed || ferror(t->o.f))
		;
	else if (!t->packer)
		text_put(t, t->text.buf, t->text.len);
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
	t->bytes = t->o.bytes;
	return 0;
}

void text_out_drop(struct text_out *t)
{
	out_file_drop(&t->o);
	strbuf_release(&t->text);
	packer_free(t->packer);
	t->packer = NULL;
}
