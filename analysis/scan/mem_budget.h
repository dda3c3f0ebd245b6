/*
 * mem_budget: how much memory a reader may still take for what it makes of a text. A process that
 * reads a file is to stay below twice the text and 64 MiB, and formats in which two bytes make a
 * span ("a;a;a;a 1") would take thirty times the text. So there is a budget that grows with what
 * was read: recordings that people have never feel it, and where it is used up a reader puts
 * together what it cannot keep, counts that, and warns (W_MEMORY_LIMIT).
 *
 *	mem_budget_init(&b, &map)
 *	mem_budget_read(&b, offset)	now and then; drops the text before it, and what is read
 *					a second time gives nothing
 *	mem_budget_take(&b, MEM_SPAN)	what was made
 *	mem_budget_has(&b, bytes)	before something is made
 *
 * Costs are those of the model until it is finished, measured.
 */
#ifndef ANALYSIS_MEM_BUDGET_H
#define ANALYSIS_MEM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/scan/input.h"

/* Of the 64 MiB; the rest is for the program, and for the vectors of one deep stack. */
#define MEM_FREE ((int64_t)32 << 20)

enum { MEM_SPAN = 64, MEM_STRING = 56 }; /* a string: and its bytes */

struct mem_budget {
	const struct input_map *map;
	int64_t left;
	size_t at, walk;
};

static inline void mem_budget_init(struct mem_budget *b, const struct input_map *map)
{
	*b = (struct mem_budget){ .map = map, .left = MEM_FREE };
}

/* For a database: all of it at once, less what was taken before. */
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
