/*
 * library_known: what is remembered of records, so that each configuration is parsed once, and a
 * record like one before is not even split:
 *
 *	text	what a parser's `parse` gets → what it is, and its row
 *	shape	a masked text (library_mask.h) → the text it is split into, and whose call it is
 *
 * Both are found by 128 bits of hash alone.
 */
#ifndef ANALYSIS_LIBRARY_KNOWN_H
#define ANALYSIS_LIBRARY_KNOWN_H

#include "library_mask.h"

#include <xxhash.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

struct known_text {
	uint64_t hash_high;
	const char *library;
	uint32_t row; /* LIBRARY_ROW_NONE: no call */
	enum record_is is;
	enum library_level level;
	uint64_t calls, flops, bytes;
	struct library_product product;
};

/* A record that was split and is a call, by its masked text and the state in which it was read. */
struct known_shape {
	uint64_t hash_high;
	int64_t pid;
	int32_t rank;
	uint32_t text; /* index of texts */
	bool prefixed;
};

/* Zeroed memory is an empty one. */
struct library_known {
	VEC(struct known_text) texts;
	VEC(struct known_shape) shapes;
	struct u64map by_text, by_shape; /* hash → index */
};
void known_release(struct library_known *k);

/* NULL: the text is new. *ret_hash is for known_add. Valid until then. */
struct known_text *known_find(const struct library_known *k, size_t parser, struct text_slice text,
			      XXH128_hash_t *ret_hash);
/* NULL: there is no room for it. */
struct known_text *known_add(struct library_known *k, XXH128_hash_t h);

/* version: of the parser's state. */
XXH128_hash_t shape_hash(const struct log_mask *m, size_t parser, uint64_t version);
/* NULL: it is new. */
const struct known_shape *shape_find(const struct library_known *k, XXH128_hash_t h);
/* f: of the record that was masked, as split, and known. */
void shape_add(struct library_known *k, size_t parser, XXH128_hash_t h, const struct log_mask *m,
	       const struct log_facts *f);

#endif
