/*
 * bundle_out: a bundle that is being written. It appears under its name when it is whole; a signal
 * or an error leaves nothing (temps.h).
 *
 *	CLEANUP(bundle_drop) struct bundle_out b = BUNDLE_OUT_INIT;
 *	bundle_open(&b, "out.zip", err)
 *	members through b.zip, their rows into b.manifest
 *	bundle_commit(&b, &ret->packed, err)		writes the manifest, too
 */
#ifndef PACK_BUNDLE_OUT_H
#define PACK_BUNDLE_OUT_H

#include "bundle_manifest.h"

#include "profrig/base/zip.h"
#include "profrig/pack/pack.h"

struct bundle_out {
	char *path, *temp;
	int fd;
	struct zip_writer *zip;
	struct bundle_manifest manifest;
};
/* clang-format off */
#define BUNDLE_OUT_INIT { .fd = -1 }
/* clang-format on */

int bundle_open(struct bundle_out *b, const char *path, struct err *err);
int bundle_commit(struct bundle_out *b, uint64_t *ret_size, struct err *err);
void bundle_drop(struct bundle_out *b);

/*
 * One member, from its first bytes on. Data go through bundle_put, which hashes them; bundle_end
 * adds the row of the manifest, bundle_undo forgets the member. A member that deflate shrinks by
 * more than ZIP_RATIO must be stored, or zip_open would take the bundle for a bomb: bundle_end
 * returns 1 then, has undone it, and it is to be put again with `stored`.
 */
struct bundle_member {
	struct bundle_out *b;
	struct fs_sha256 *sha;
	bool stored;
};
/* head: the first n bytes; what is compressed already is stored. */
void bundle_begin(struct bundle_member *m, struct bundle_out *b, const char *path, int64_t mtime_s,
		  const void *head, size_t n, bool stored);
void bundle_put(struct bundle_member *m, const void *data, size_t n);
int bundle_end(struct bundle_member *m, struct bundle_row *row);
void bundle_undo(struct bundle_member *m);

#endif
