#include "bundle_in.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"
#include "profrig/pack/pack.h"

static int text_take(void *ctx, const void *data, size_t n, struct err *err)
{
	struct strbuf *sb = ctx;

	(void)err;
	strbuf_add(sb, data, n);
	return 0;
}

/* A document of another schema is another program's. */
static int manifest_read(struct bundle_in *b, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct zip_entry *e = zip_find(&b->zip, PACK_MANIFEST);
	struct err why = ERR_INIT;
	int r;

	bundle_manifest_init(&b->manifest);
	if (!e || e->is_dir || e->bytes > MANIFEST_MAX)
		return 0;
	r = zip_read(&b->zip, e, text_take, &text, err);
	if (r < 0 || !memmem(text.buf, text.len, "\"profrig.bundle/", 16))
		return r;
	bundle_manifest_release(&b->manifest);
	r = bundle_manifest_parse(text.buf, text.len, &b->manifest, &why);
	if (r < 0) {
		bundle_manifest_init(&b->manifest);
		return err_set(err, EINVAL, "%s: %s: %s", b->zip.name, PACK_MANIFEST, why.msg);
	}
	b->has_manifest = true;
	return 0;
}

int bundle_in_open(const char *path, struct bundle_in *ret, struct err *err)
{
	int r;

	*ret = (struct bundle_in){ .zip = { .fd = -1 } };
	r = zip_open(path, &ret->zip, err);
	if (r < 0)
		return r;
	r = manifest_read(ret, err);
	if (r < 0)
		bundle_in_release(ret);
	return r;
}

void bundle_in_release(struct bundle_in *b)
{
	zip_release(&b->zip);
	bundle_manifest_release(&b->manifest);
}

bool bundle_in_has(const struct bundle_in *b, const struct zip_entry *e)
{
	return !e->is_dir && !(b->has_manifest && strcmp(e->path, PACK_MANIFEST) == 0);
}

struct hashing {
	struct fs_sha256 *sha;
	zip_take_fn *take;
	void *ctx;
};

static int hash_take(void *ctx, const void *data, size_t n, struct err *err)
{
	struct hashing *h = ctx;

	fs_sha256_add(h->sha, data, n);
	return h->take ? h->take(h->ctx, data, n, err) : 0;
}

static int manifest_compare(const struct bundle_in *b, const struct zip_entry *e,
			    const char *sha256, struct err *err)
{
	const struct bundle_row *mb;

	if (!b->has_manifest)
		return 0;
	mb = bundle_manifest_find(&b->manifest, e->path);
	if (!mb)
		return err_set(err, EBADMSG, "%s: member %s is not in its manifest", b->zip.name,
			       e->path);
	if (mb->bytes != e->bytes)
		return err_set(err, EBADMSG,
			       "%s: member %s has %" PRIu64 " bytes, its manifest says %" PRIu64,
			       b->zip.name, e->path, e->bytes, mb->bytes);
	if (strcmp(mb->sha256, sha256) != 0)
		return err_set(err, EBADMSG,
			       "%s: member %s is not what was packed: its SHA-256 differs",
			       b->zip.name, e->path);
	return 0;
}

int bundle_in_read(struct bundle_in *b, const struct zip_entry *e, zip_take_fn *take, void *ctx,
		   char ret_sha256[65], struct err *err)
{
	struct hashing h = { fs_sha256_begin(), take, ctx };
	int r = zip_read(&b->zip, e, hash_take, &h, err);

	fs_sha256_end(h.sha, ret_sha256);
	return r < 0 ? r : manifest_compare(b, e, ret_sha256, err);
}
