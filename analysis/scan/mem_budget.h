/*
 * mem_budget: the memory that a reader may still use for the spans and strings of a text. A process
 * that reads a file stays below twice the text plus 64 MiB, but formats in which two bytes make a
 * span ("a;a;a;a 1") would take thirty times the text. So the budget grows with the text that was
 * read. Real recordings stay far below it; where it is used up a reader merges what it cannot keep,
 * counts that, and warns (W_MEMORY_LIMIT).
 *
 *	mem_budget_init(&b, &map)
 *	mem_budget_read(&b, offset)	now and then; adds to the budget and drops the text before
 *					offset; text that is read again adds nothing
 *	mem_budget_has(&b, bytes)	before something is made
 *	mem_budget_take(&b, MEM_SPAN)	after it is made
 *
 * Costs are measured: those of the model until it is finished.
 */
#ifndef ANALYSIS_MEM_BUDGET_H
#define ANALYSIS_MEM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/scan/input.h"

/* Of the 64 MiB; the rest is for the program, and for the vectors of one deep stack. */
#define MEM_FREE ((int64_t)32 << 20)

enum { MEM_SPAN = 64, MEM_STRING = 56 }; /* a string: plus its bytes */

struct mem_budget {
	const struct input_map *map;
	int64_t left;
	size_t at, walk;
};

static inline void mem_budget_init(struct mem_budget *b, const struct input_map *map)
{
	*b = (struct mem_budget){ .map = map, .left = MEM_FREE };
}

/* For a database: its whole size at once, minus `taken`. */
static inline void mem_budget_fixed(struct mem_budget *b, uint64_t bytes, uint64_t taken)
{
	*b = (struct mem_budget){ .left = MEM_FREE + (int64_t)bytes - (int64_t)taken };
}

static inline void mem_budget_read(struct mem_budget *b, size_t at)
{
	/* an inflated text is memory itself */
	if (at > b->at) {
		b->left += (int64_t)(at - b->at) * (b->map->compressed ? 1 : 2);
		b->at = at;
	}
	if (at >= b->walk)
		b->walk = input_walk(b->map, at);
}

static inline void mem_budget_take(struct mem_budget *b, size_t bytes)
{
	b->left -= (int64_t)bytes;
}

static inline bool mem_budget_has(const struct mem_budget *b, size_t bytes)
{
	return b->left >= (int64_t)bytes;
}

#endif
