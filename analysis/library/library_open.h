/*
 * library_open: products of matrices that one library hands on to another: which call of a log is
 * made by one of the calls in front of it.
 */
#ifndef ANALYSIS_LIBRARY_OPEN_H
#define ANALYSIS_LIBRARY_OPEN_H

#include "library_key.h"

struct open_call {
	const char *library;
	uint32_t row;
	struct library_product product;
	uint64_t left[LEVEL_MAX + 1]; /* flops that no call of this level has had */
};

/* The calls that the next one may be made by. Zeroed memory: none. */
struct open_calls {
	struct open_call v[3]; /* the outermost first */
	size_t nr;
};

/*
 * The row of the open call that hands this one on, LIBRARY_ROW_NONE: none does. The call is then
 * the innermost open one. library: borrowed while the call is open.
 */
uint32_t open_calls_take(struct open_calls *o, const char *library, uint32_t row,
			 enum library_level level, const struct library_product *product);

#endif
