/*
 * merge_plan: what the members of several archives become in one.
 *
 * A unit is what goes as a whole: a run directory (a folder with run.json), an OTF2 archive (the
 * folder of a file that ends in .otf2), else one member. Units of one name and equal contents
 * (SHA-256 of all their members) are one variant; several variants of a name each get a folder.
 * Time and memory are linear in the members; names are looked up by hashes.
 */
#ifndef PACK_MERGE_PLAN_H
#define PACK_MERGE_PLAN_H

#include "bundle_in.h"

#include "profrig/base/intern.h"
#include "profrig/pack/pack.h"

struct merge_entry {
	char *path;
	uint64_t bytes;
	char sha256[65];
};

/* A unit of one archive: entries [first, first + nr). */
struct merge_group {
	str_id key; /* its name, in plan.keys */
	size_t first, nr;
	uint32_t variant;
};

struct merge_input {
	const char *path;
	char *label;
	VEC(struct merge_entry) entries; /* in the order of zip.h */
	VEC(struct merge_group) groups;
	/* zeros when it has none */
	struct bundle_manifest facts;
};

struct merge_variant {
	str_id key;
	size_t input, group; /* the first that has it, which is the one that is copied */
	char *to;            /* its name in the output */
	struct strvec bundles;
	uint32_t next; /* of the same key; UINT32_MAX: none */
};

struct merge_key {
	uint32_t first, last, nr; /* variants */
};

struct merge_plan {
	VEC(struct merge_input) inputs;
	VEC(struct merge_variant) variants;
	VEC(struct merge_key) of_key; /* by id in keys */
	struct intern *keys, *contents;
	struct intern *files, *folders; /* names that the output has */
};

/* Reads and checks all inputs. -EINVAL, -EBADMSG: one is damaged. */
int merge_plan_make(const struct strvec *inputs, struct merge_plan *ret, struct err *err);
void merge_plan_release(struct merge_plan *p);
/* Where a path of an input is in the output, owned; NULL: in the copy of another input. */
char *merge_plan_path(const struct merge_plan *p, size_t input, const char *path);
/* Of an entry of a group: owned. */
char *merge_entry_path(const struct merge_plan *p, const struct merge_group *g,
		       const struct merge_entry *e);

#endif
