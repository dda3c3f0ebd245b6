/*
 * input: a file's bytes, whole or as a stream, plain or compressed (gzip through isa-l, zstd
 * through libzstd, found by magic, not by name).
 *
 * input_map is for scanners that need the whole text: a plain file is mmapped (read-only, private),
 * a compressed one inflated into an anonymous mapping. The buffer is followed by at least 64
 * readable zero bytes. A compressed file that is cut short is inflated as far as possible and sets
 * truncated.
 */
#ifndef PROFRIG_INPUT_H
#define PROFRIG_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

struct input_map {
	const char *data;
	size_t len;
	size_t map_len; /* internal */
	bool compressed;
	bool truncated;
	char why[128]; /* of truncated */
};

/*
 * Inflated size is limited to max_bytes (0 = a quarter of the machine's memory): beyond it -EFBIG.
 */
int input_map(const char *path, uint64_t max_bytes, struct input_map *ret, struct err *err);
/*
 * The same with threads that may help, NULL: none. One of them faults in the memory that is
 * inflated into, which takes as long as inflating.
 */
struct workers;
int input_map_by(struct workers *w, const char *path, uint64_t max_bytes, struct input_map *ret,
		 struct err *err);
void input_unmap(struct input_map *m);
/*
 * For a scanner that walks from the start to the end: called now and then with its offset. Frees
 * the pages of a plain file before it (a later read loads them again). Returns the offset of the
 * next call.
 */
size_t input_walk(const struct input_map *m, size_t at);
/* For a scanner that starts again: frees all pages of a plain file. */
void input_rewind(const struct input_map *m);
/* At most n first bytes after decompression into buf. Returns the count or -errno. */
int64_t input_head(const char *path, void *buf, size_t n, struct err *err);

#endif
