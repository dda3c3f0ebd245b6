/*
 * record_state: the state of recording: its holds, its windows, the marks. Plain data and rules, no
 * files and no threads; control.c keeps it under a lock.
 *
 *	record_hold(&s, by, t_ns)		−ENOSPC: too many
 *	record_release(&s, by, …)		by NULL: the last one; −ENOENT with err
 *	record_opened(&s, name, by, t_ns), record_closed(&s, t_ns)
 *	record_mark(&s, …)
 *	record_free(&s)
 *
 * Only time inside windows counts. A run without any switching has no windows: all of it counts.
 */
#ifndef RECORD_STATE_H
#define RECORD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/vec.h"
#include "profrig/run/control.h"

struct json_out;

struct record_hold {
	char by[CONTROL_MAX_NAME + 1];
	int64_t since_ns;
};

struct record_window {
	char name[CONTROL_MAX_NAME + 1], by[CONTROL_MAX_NAME + 1];
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it is open */
};

struct record_mark {
	char name[CONTROL_MAX_NAME + 1], by[CONTROL_MAX_NAME + 1];
	int64_t t_ns;           /* CLOCK_MONOTONIC */
	int64_t uncertainty_ns; /* it was made at most this long before t_ns; -1 not known */
	bool by_maker;          /* t_ns was taken where it was made, else where it arrived */
};

struct record_state {
	VEC(struct record_hold) holds;
	VEC(struct record_window) windows;
	VEC(struct record_mark) marks;
	uint64_t windows_dropped, marks_dropped;
	bool switched; /* only time inside windows counts */
};

void record_free(struct record_state *s);
/* Valid UTF-8 without control characters, at most CONTROL_MAX_NAME bytes, never empty. */
void record_name(char ret[CONTROL_MAX_NAME + 1], const char *text, size_t n, const char *otherwise);
int record_hold(struct record_state *s, const char *by, int64_t t_ns, struct err *err);
int record_release(struct record_state *s, const char *by, struct err *err);
bool record_is_held_by(const struct record_state *s, const char *by);
void record_opened(struct record_state *s, const char *name, const char *by, int64_t t_ns);
/* A window that would end before it began did not take place. */
void record_closed(struct record_state *s, int64_t t_ns);
bool record_is_open(const struct record_state *s);
void record_mark(struct record_state *s, const struct record_mark *m);
/* run.json: windows and marks (record_json.c). */
void record_json(struct json_out *j, const struct record_state *s);

#endif
