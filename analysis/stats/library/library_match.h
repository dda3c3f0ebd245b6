/*
 * library_match: which calls of the logs of libraries are which calls of a trace of the same
 * session.
 *
 *	struct library_match lm;
 *	library_match(m, &lm);		m: finished and nested, with m->library
 *	lm.span[event], lm.around[event], lm.row[row].why
 *	library_match_release(&lm);
 *
 * A log and a trace number nothing together, and most logs have no times. So calls are matched by
 * their order, and nothing is matched that could be otherwise:
 *
 * In order. The calls of a class (library_names.h: an operation of a library) that a process logs,
 * and those of the class that the trace has of this process, are the same ones when there are as
 * many of both: the k-th one is the k-th one. Per thread where the log names the threads of the
 * trace, else of the process, whose calls must not overlap between threads (a library logs inside
 * the call, so the order of calls that do not overlap is that of their lines). A log that names no
 * process belongs to the only one that has such calls.
 *
 * Collectives are matched with their kernels instead, if those of the process are as many: on one
 * device, in the order of their launches, or, without launches, on one queue. A graph launches
 * other numbers of kernels than there were calls. A group may launch its calls sorted by size:
 * where it is seen to launch several, and their configurations differ, they are not matched. Where
 * kernels cannot be matched, calls of the API (ncclAllReduce) are.
 *
 * Where the numbers differ (a graph's replays, a torn record, a trace that began later), no call of
 * the class is matched in this process. What has no order in the log (a profile) is not matched,
 * nor is anything when only windows are analysed, as logs are not cut to them.
 *
 * In time. A primitive of oneDNN has its begin and duration in real time, but neither process nor
 * call of its own in a trace. The operator that needed it is the innermost call that is open during
 * all of it and bears a fitting name (library_operator_fits), if there is one on just one thread.
 * The name is asked for because clocks of traces are not exact: PyTorch without Kineto counts from
 * the start of its profiler, which its tool knows to some milliseconds, and then a primitive may
 * seem to lie in the operator before. What no operator fits stays unmatched.
 *	Who makes the calls of a BLAS is found likewise where the trace of the framework numbers its
 * threads itself, so that no operator is on the thread of the call.
 *
 * Time: n·log n in calls of the classes; for times, threads times (their calls + events).
 * Memory: 16 bytes for each event, 100 for each pair of calls, 8 for each span where work has
 * launches.
 */
#ifndef ANALYSIS_STATS_LIBRARY_MATCH_H
#define ANALYSIS_STATS_LIBRARY_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/model/model.h"

/* Why calls are not matched. */
enum library_why {
	WHY_NONE,     /* all of them are, or nothing speaks against it: there are no such calls */
	WHY_ABSENT,   /* the trace has no calls of the operation */
	WHY_STREAMED, /* the trace was read without keeping calls */
	WHY_WINDOWS,
	WHY_NO_ORDER,  /* the log tells how many calls there were, not when */
	WHY_COUNTS,    /* the trace has another number of them */
	WHY_LOGS,      /* several logs tell calls of the process */
	WHY_PROCESSES, /* several processes make such calls, and the log does not say which */
	WHY_THREADS,   /* calls of several threads overlap */
	WHY_QUEUES,    /* kernels of several devices, or of several queues without launches */
	WHY_GROUPS,    /* a group launched kernels of several configurations */
	WHY_CLOCK,     /* times of the log and the trace cannot be compared */
	WHY_OPEN,      /* no fitting call is open during the logged one, or several are */
};

struct library_row_match {
	uint64_t calls; /* that are matched */
	enum library_why why;
	uint64_t logged, traced; /* of WHY_COUNTS: of the operation and process */
};

struct library_match {
	/* by event; SPAN_NONE */
	uint64_t *span;   /* the call of the trace, or the kernel of a collective */
	uint64_t *around; /* matched in time: the innermost call of another input around it */
	struct library_row_match *row; /* by row */
	uint64_t *launch; /* by span: the call that launched this work; NULL: none is known */
};

void library_match(const struct model *m, struct library_match *ret);
void library_match_release(struct library_match *lm);

/* Whether events of a row are matched in time, with calls that are around them. */
struct library_row;
bool library_match_in_time(const struct library_row *r);
/* "the log has 12 such calls, the trace 10"; "" for WHY_NONE. buf: returned, or not needed. */
const char *library_why_text(const struct library_row_match *r, char *buf, size_t size);

#endif
