/*
 * window: a part of a trace's time in the words of a user:
 *
 *	FROM:TO		since the trace's start, in ns or with a unit: 1000:5000, 1.5s:2s, 200ms:
 *	10%:90%		of its length; an edge that is left out is the trace's own
 *	A:B		A and B may also be names: from where the first mark or span called A begins
 *			to where the first one called B at or after it ends (with A = B, the next)
 *	NAME		of spans: from the start of the first to the end of the last; of one mark
 *			without a length: from there to the end
 */
#ifndef PROFRIG_SESSION_WINDOW_H
#define PROFRIG_SESSION_WINDOW_H

#include "profrig/base/err.h"
#include "profrig/model/replay.h"

/* m must be finished. -EINVAL: neither a range nor a name that it has. */
int window_of(const char *text, const struct model *m, struct window *ret, struct err *err);

#endif
