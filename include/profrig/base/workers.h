/*
 * workers: a pool of threads that does the same thing to many.
 *
 *	CLEANUP(workers_freep) struct workers *w = workers_new(4);
 *	workers_run(w, nr_tracks, track_sum, &ctx);	track_sum(&ctx, job, worker) for each job
 *
 * workers_run takes jobs 0 … n − 1 in this order, a free thread the next one, and returns when
 * all are done: what was written before is seen by every job, and what the jobs wrote by the thread
 * that called. A job has its index and its worker's (0 … workers_count − 1, one job at a time):
 * what it writes belongs to one of the two, and results are merged by job or by sums that do not
 * ask for the order, so that they never depend on how many workers there are. The caller is worker
 * 0; a pool of one starts no thread. Jobs must not call workers_run of their own pool.
 */
#ifndef PROFRIG_WORKERS_H
#define PROFRIG_WORKERS_H

#include <stddef.h>

#define WORKERS_MAX 256

struct workers;

/* n threads that work, the caller's included; 0: as many as this process may use processors. Fewer
 * when the system gives no more. */
struct workers *workers_new(unsigned n);
void workers_free(struct workers *w); /* NULL is fine */
void workers_freep(struct workers **w);
unsigned workers_count(const struct workers *w);
void workers_run(struct workers *w, size_t n, void (*job)(void *ctx, size_t i, unsigned worker),
		 void *ctx);

#endif
