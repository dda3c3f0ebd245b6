/*
 * bundle_in: an archive opened for reading, with its manifest when it is a bundle of profrig. A
 * manifest.json of another program is a member like all others.
 */
#ifndef PACK_BUNDLE_IN_H
#define PACK_BUNDLE_IN_H

#include "bundle_manifest.h"

#include "profrig/base/zip.h"

struct bundle_in {
	struct zip zip;
	bool has_manifest;
	struct bundle_manifest manifest; /* empty without one */
};

int bundle_in_open(const char *path, struct bundle_in *ret, struct err *err);
void bundle_in_release(struct bundle_in *b);
/* Whether an entry is contents: no folder, and not the manifest of profrig. */
bool bundle_in_has(const struct bundle_in *b, const struct zip_entry *e);
/*
 * Reads a member for its SHA-256 and compares it with the manifest, if there is one. -EBADMSG: it
 * is not what the manifest says (err has why); other errors are those of zip_read. take may be
 * NULL.
 */
int bundle_in_read(struct bundle_in *b, const struct zip_entry *e, zip_take_fn *take, void *ctx,
		   char ret_sha256[65], struct err *err);

#endif
