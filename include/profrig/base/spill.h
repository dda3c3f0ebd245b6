/*
 * spill: memory beyond a budget lies in files. What is allocated through xalloc.h is then a page
 * of a file instead of anonymous memory, so the kernel can write it out and give the page to
 * others; the program sees no difference.
 *
 *	spill_begin(&(struct spill_opts){ .budget_bytes = …, .folders = … })
 *	…				xmalloc, xcalloc, xreallocarray, free as ever
 *
 * Which blocks: those of SPILL_BLOCK bytes and more that are allocated, or grow, while private
 * memory (writable, not shared; a stack counts with its whole size) is above SPILL_SHARE of the
 * budget. Below it this costs a comparison for each large block, and a read of /proc/self/statm.
 *
 * How: malloc gives such a block a mapping of its own. The whole pages inside it are replaced
 * (MAP_FIXED) by those of a new file without a name (O_TMPFILE, else a file that is unlinked at
 * once; mode 0600), whose descriptor is closed. free unmaps them, as it unmaps any such block, and
 * the file is gone with its last mapping: no list is kept, and nothing stays behind after
 * SIGKILL. A block grows by a new one that takes over its content piece by piece, so both together
 * take little more than one. A block is never larger than malloc allows: the machine's memory, as a
 * rule.
 *
 * The disk: space is reserved before a page is used (posix_fallocate), so a full disk, a quota or
 * RLIMIT_FSIZE is no SIGBUS: the block stays in memory, and `say` has a line about it once.
 * SPILL_LEAVES bytes of the file system stay free for others. Folders in memory (tmpfs, ramfs) and
 * folders without such files are passed over. An error of the disk while a page is read back is
 * SIGBUS, as for any mapped file.
 *
 * Resident memory: pages of files count too, until they are let go. A thread, which begins with the
 * first such block, looks every SPILL_LOOK_MS; where the process has more than the budget it writes
 * pages out and gives them back (msync, MADV_PAGEOUT: neither can lose data, whatever lies there
 * by then) until it has 7/8 of it. Where that does not help, it tries again when an eighth of the
 * budget has been added. Linux before 5.4 lacks this: the kernel then takes the pages only when it
 * needs them.
 *
 * A child shares these pages until it calls exec: between fork and exec it writes nothing
 * (proc.c), so none of its parent's memory changes.
 *
 * It rests on glibc's malloc, and looks at every block for the signs of that. Other
 * allocators, those of sanitizers among them, never meet that: their blocks stay in memory. Then
 * only mappings that go through spill_map are in files.
 */
#ifndef PROFRIG_SPILL_H
#define PROFRIG_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/xalloc.h"

#define SPILL_BLOCK XALLOC_LARGE
#define SPILL_SHARE(budget) ((budget) / 3 * 2)
#define SPILL_LEAVES (UINT64_C(256) << 20)
#define SPILL_LOOK_MS 50

struct spill_opts {
	uint64_t budget_bytes; /* 0: all stays in memory */
	/* folders to try in this order, NULL-terminated, copied; of one that is not there yet the
	 * nearest that is */
	const char *const *folders;
	/* a line for the user, from any thread; NULL: none */
	void (*say)(const char *text);
};
/* Anew, also for what comes after an earlier call; before other threads allocate. */
void spill_begin(const struct spill_opts *o);

struct spill_use {
	uint64_t blocks, bytes; /* put into files since spill_begin */
	uint64_t refused;       /* blocks that no file could take */
	uint64_t most_bytes;    /* in files at a time, as far as the thread saw it */
	uint64_t trims;         /* times that resident memory was lowered */
	char folder[256];       /* where they lie; "" none yet */
};
void spill_use(struct spill_use *ret);

/* ---- for what maps memory by itself ---- */

/* Whether a new block of n bytes is to lie in a file. */
bool spill_wanted(size_t n);
/*
 * Puts whole pages [p, p + n) of a private mapping of the caller's into a file; they are zero
 * afterwards. False: they are as they were. mremap cannot make such a mapping longer.
 */
bool spill_map(void *p, size_t n);

#endif
