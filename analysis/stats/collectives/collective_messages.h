/*
 * The table of collectives that ranks make of messages to each other, as AIUs do: sends and
 * receives that match, of a group whose name is that of a collective ("AllReduce_all_reduce_4").
 * The k-th messages of all pairs of a group's ranks are its k-th collective.
 *
 * Algorithm. One rank sends to all others at last (a multicast of the result). What was sent
 * before is a chain where each rank receives once at most, else a tree.
 *
 * Moved: the bytes of all messages; of an all-reduce of n ranks 2(n − 1) times those of one.
 * Elapsed: from the first start to the last end of them, on the common clock.
 */
#ifndef PROFRIG_COLLECTIVE_MESSAGES_H
#define PROFRIG_COLLECTIVE_MESSAGES_H

#include "collective_match.h"

#include "profrig/base/table.h"
#include "profrig/stats/analysis.h"

/* clang-format off */
#define MESSAGE_COLLECTIVES(X) \
	X(STR, group) X(I64, seq) X(STR, collective) X(STR, algorithm) X(I64, ranks) \
	X(I64, messages) X(F64, bytes) X(F64, moved_bytes) X(I64, start_ns) X(I64, elapsed_ns) \
	X(F64, moved_gbps)
/* clang-format on */
TABLE_FORM(message_collectives, MESSAGE_COLLECTIVES,
	   "one row per collective that ranks make of messages: what it moved, and how fast");

/* NULL: there is none. cm: its parts are on the common clock. */
struct table *collective_messages_table(const struct collective_match *cm);

#endif
