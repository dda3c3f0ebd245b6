/*
 * interval_log: which nodes ran how long in which interval of a grid, for a sample of the intervals
 * (power_fit.h needs to know what was there together).
 *
 * Intervals are chosen in blocks of LOG_BLOCK, so that most have both neighbours, by a hash of the
 * block's number; its trailing zeros are the block's level. All logs of a run share a budget: when
 * there are more entries than it allows, the lowest level goes. The intervals just before and
 * behind a block are logged, too, for what ran at the border.
 *
 *	interval_log_wants(&log, interval)	cheap, before all
 *	interval_log_add(&log, …)		of one accumulator, intervals ascending
 *	interval_log_publish(&log)		tells the budget the rest; after the last entry
 *	interval_log_settle(&log)		drops what the budget has dropped meanwhile
 *
 * What remains depends on the entries alone: a level that is dropped early would be dropped at the
 * end, and counts of those that stay are complete. So it is the same for any number of threads, of
 * ranks and of rounds. Logs of one budget may be written by several threads, each by one.
 */
#ifndef INTERVAL_LOG_H
#define INTERVAL_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/serial.h"
#include "profrig/base/vec.h"

#define LOG_BLOCK 32
#define LOG_LEVELS 32
#define LOG_INTERVAL INT64_C(0x7fffffff) /* later ones are not logged */
/* Of a grid with more intervals some levels are never logged: for powers so many are plenty. */
#define LOG_INTERVALS (UINT64_C(1) << 16)
/*
 * Of all logs of a run: 16 bytes each. So many where LOG_PLENTY intervals remain, else up to
 * LOG_MORE times as many: functions in many threads make many entries of few intervals.
 */
#define LOG_PLENTY 2048
#define LOG_MORE 2
#define LOG_ENTRIES (UINT64_C(1) << 19)

struct log_budget {
	uint64_t most;
	uint64_t intervals;     /* of the largest grid */
	_Atomic unsigned level; /* lower ones are dropped */
	_Atomic uint64_t entries[LOG_LEVELS];
};

/* Times are multiples of 1 / LOG_PER_NS ns: doubles sum them up exactly. */
#define LOG_PER_NS 16
struct log_entry {
	uint32_t interval : 31;
	uint32_t at_end : 1; /* it ran at the interval's end */
	uint32_t node;
	float own_ns, share_ns;
};

/* Zero with a budget is empty; without one it wants nothing. */
struct interval_log {
	struct log_budget *budget;
	unsigned level;
	uint32_t pending, news[LOG_LEVELS]; /* not yet told to the budget */
	VEC(struct log_entry) v;
};

/* The lowest level that is logged of a grid with n intervals. */
unsigned interval_log_first_level(uint64_t n);
/* The level of an interval's block, and that at which it is logged: the highest of its own and its
 * neighbours'. */
unsigned interval_log_level(uint64_t interval);
unsigned interval_log_level_near(uint64_t interval);
/* The next one whose level may differ. */
static inline int64_t interval_log_next(int64_t interval)
{
	int64_t first = interval / LOG_BLOCK * LOG_BLOCK, last = first + LOG_BLOCK - 1;

	return interval == first || interval == last ? interval + 1 : last;
}

static inline bool interval_log_wants(const struct interval_log *l, int64_t interval)
{
	return l->budget && interval < LOG_INTERVAL &&
	       interval_log_level_near((uint64_t)interval) >= l->level;
}

void interval_log_add(struct interval_log *l, struct log_entry e);
void interval_log_publish(struct interval_log *l);
void interval_log_settle(struct interval_log *l);
void interval_log_release(struct interval_log *l);

void interval_log_save(const struct interval_log *l, struct strbuf *to);
void interval_log_load(struct interval_log *l, struct serial_in *from);
/* Counts of other ranks' entries go along. */
void log_budget_save(const struct log_budget *b, struct strbuf *to);
void log_budget_load(struct log_budget *b, struct serial_in *from);

#endif
