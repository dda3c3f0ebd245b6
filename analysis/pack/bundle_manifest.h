/* The manifest of a bundle (pack.h), made and read. */
#ifndef PACK_BUNDLE_MANIFEST_H
#define PACK_BUNDLE_MANIFEST_H

#include <jansson.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

#define MANIFEST_SCHEMA "profrig.bundle/1"
#define MANIFEST_MAX ((size_t)256 << 20)
#define RANK_UNKNOWN (-1)

struct bundle_row {
	char *path, *origin; /* origin: "" unknown */
	uint64_t bytes;
	int64_t rank;
	char sha256[65];
	struct strvec bundles;
};

struct bundle_manifest {
	json_t *inputs, *runs, *bundles, *left_out; /* lists */
	VEC(struct bundle_row) members;
};

void bundle_manifest_init(struct bundle_manifest *m);
void bundle_manifest_release(struct bundle_manifest *m);
/* By path, in the order of zip.h; NULL: there is none. Members are sorted (…_sort). */
struct bundle_row *bundle_manifest_find(const struct bundle_manifest *m, const char *path);
void bundle_manifest_sort(struct bundle_manifest *m);
/* As written into the bundle, without secrets. */
void bundle_manifest_text(const struct bundle_manifest *m, struct strbuf *to);
/*
 * -EINVAL: no manifest, or one of another schema, with names that an archive must not have or a
 * member twice. Sorted.
 */
int bundle_manifest_parse(const char *text, size_t n, struct bundle_manifest *ret, struct err *err);

/* Appends {"path":…, and pairs of key and text up to NULL} to a list; returns the object. */
json_t *bundle_manifest_add(json_t *list, const char *path, ...) __attribute__((sentinel));
/* The rank that a file's name has in it: "rank3.json", "host_worker_3.pt.trace.json". */
int64_t bundle_manifest_rank_of(const char *path);

#endif
