/*
 * warnings: the stable codes of all warnings; `profrig list warnings` prints this table.
 */
#ifndef PROFRIG_WARNINGS_H
#define PROFRIG_WARNINGS_H

#include <stddef.h>

#include "profrig/model/model.h"

#define W_SPAN_OVERLAP "W_SPAN_OVERLAP"
#define W_DEEP_STACK "W_DEEP_STACK"
#define W_MEMORY_LIMIT "W_MEMORY_LIMIT"
#define W_OPEN_SPAN "W_OPEN_SPAN"
#define W_STRAY_LEAVE "W_STRAY_LEAVE"
#define W_LEAVE_MISMATCH "W_LEAVE_MISMATCH"
#define W_NEGATIVE_DURATION "W_NEGATIVE_DURATION"
#define W_BAD_NUMBER "W_BAD_NUMBER"
#define W_LONG_TEXT "W_LONG_TEXT"
#define W_TIME_RANGE "W_TIME_RANGE"
#define W_BAD_EVENT "W_BAD_EVENT"
#define W_TRUNCATED "W_TRUNCATED"
#define W_TORN_RECORD "W_TORN_RECORD"
#define W_BAD_CALL "W_BAD_CALL"
#define W_LIBRARY_ROWS "W_LIBRARY_ROWS"
#define W_LIBRARY_GRAPHS "W_LIBRARY_GRAPHS"
#define W_UNTERMINATED "W_UNTERMINATED"
#define W_MISSING_LOCATION "W_MISSING_LOCATION"
#define W_EVENT_COUNT "W_EVENT_COUNT"
#define W_LOST_EVENTS "W_LOST_EVENTS"
#define W_MISSING_DEFINITIONS "W_MISSING_DEFINITIONS"
#define W_UNKNOWN_REFERENCE "W_UNKNOWN_REFERENCE"
#define W_UNKNOWN_VERSION "W_UNKNOWN_VERSION"
#define W_TIME_ORDER "W_TIME_ORDER"
#define W_DUPLICATE_TIME "W_DUPLICATE_TIME"
#define W_UNLINKED_WORK "W_UNLINKED_WORK"
#define W_NOT_ALIGNED "W_NOT_ALIGNED"
#define W_CLOCK_ASSUMED "W_CLOCK_ASSUMED"
#define W_COUNTER_UNKNOWN "W_COUNTER_UNKNOWN"
#define W_COUNTER_WRAP "W_COUNTER_WRAP"
#define W_COUNTER_RESET "W_COUNTER_RESET"
#define W_COUNTER_STUCK "W_COUNTER_STUCK"
#define W_COUNTER_STALE "W_COUNTER_STALE"
#define W_COUNTER_GAP "W_COUNTER_GAP"
#define W_COUNTER_RATE "W_COUNTER_RATE"
#define W_COUNTER_SHORT "W_COUNTER_SHORT"
#define W_COUNTER_UNITS "W_COUNTER_UNITS"
#define W_POWER_FILTERED "W_POWER_FILTERED"
#define W_TAU_UNKNOWN "W_TAU_UNKNOWN"
#define W_UNUSED_RULE "W_UNUSED_RULE"
#define W_OUTSIDE_SAMPLES "W_OUTSIDE_SAMPLES"
#define W_ESTIMATED "W_ESTIMATED"
#define W_READ_FAILED "W_READ_FAILED"
#define W_EMPTY_INPUT "W_EMPTY_INPUT"
#define W_DOUBLE_COUNTING "W_DOUBLE_COUNTING"
#define W_NO_SHARER "W_NO_SHARER"
#define W_IDLE_UNKNOWN "W_IDLE_UNKNOWN"
#define W_IDLE_UNSETTLED "W_IDLE_UNSETTLED"
#define W_IDLE_STATED "W_IDLE_STATED"
#define W_NODE_ENERGY "W_NODE_ENERGY"
#define W_TOPOLOGY "W_TOPOLOGY"
#define W_VISIBLE_DEVICES "W_VISIBLE_DEVICES"
#define W_IGNORED_RECORD "W_IGNORED_RECORD"
#define W_UNREADABLE "W_UNREADABLE"
#define W_DUPLICATE_INPUT "W_DUPLICATE_INPUT"
#define W_LEFT_OUT "W_LEFT_OUT"
#define W_IGNORED_FILE "W_IGNORED_FILE"
#define W_DIFFERENT_RUNS "W_DIFFERENT_RUNS"
#define W_FAILED_RUN "W_FAILED_RUN"
#define W_APPROXIMATE "W_APPROXIMATE"
#define W_WINDOW_IGNORED "W_WINDOW_IGNORED"
#define W_NOT_IN_PROFILE "W_NOT_IN_PROFILE"

struct warning_info {
	const char *code;
	enum severity severity;
	const char *about; /* meaning, and advice */
};

extern const struct warning_info warning_table[]; /* ends with code NULL */
const struct warning_info *warning_find(const char *code);
/* Whether every text is kept, and not the first alone: an error that occurs a few times. */
bool warning_keeps_texts(const struct warning_info *info);

#endif
