/*
 * spill_trim: keeps resident memory near the budget (spill.h). Pages of files count as resident
 * until they are let go; this writes them out and gives them back, with calls that lose nothing
 * wherever they are aimed.
 */
#ifndef SPILL_TRIM_H
#define SPILL_TRIM_H

#include <stdint.h>

/* Bytes of this process, from /proc/self/statm; 0 where it cannot be read. */
struct spill_sizes {
	uint64_t resident, private;
};
struct spill_sizes spill_sizes(void);

/* Resident bytes to keep to, from now on; 0: no limit. */
void spill_trim_to(uint64_t budget_bytes, void (*say)(const char *text));
/* Begins the thread, once. Without one (no memory for it) nothing is given back. */
void spill_trim_begin(void);
/* So far: how often it acted, and the most bytes that it saw in files. */
void spill_trim_use(uint64_t *ret_trims, uint64_t *ret_most_bytes);

#endif
