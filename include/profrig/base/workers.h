/*
 * workers: a pool of threads that runs one function over many jobs.
 *
 *	CLEANUP(workers_freep) struct workers *w = workers_new(4);
 *	workers_run(w, nr_tracks, track_sum, &ctx);	track_sum(&ctx, job, worker) for each job
 *
 * workers_run hands out jobs 0 … n − 1 in this order, each to the next free thread, and returns
 * when all are done. Jobs see all writes made before the call, and the caller sees all writes of
 * the jobs. A job gets its index and that of its worker (0 … workers_count − 1) and writes only to
 * data of one of the two. Results are merged by job index, or by sums that are independent of the
 * order, so they do not depend on the number of workers. The caller is worker 0; a pool of one
 * starts no thread. Jobs must not call workers_run of their own pool.
 */
#ifndef PROFRIG_WORKERS_H
#define PROFRIG_WORKERS_H

#include <stddef.h>

#define WORKERS_MAX 256

struct workers;

/* n threads, the caller's included; 0: one for each processor that this process may use. Fewer when
 * the system refuses more. */
struct workers *workers_new(unsigned n);
void workers_free(struct workers *w); /* NULL is fine */
void workers_freep(struct workers **w);
unsigned workers_count(const struct workers *w);
void workers_run(struct workers *w, size_t n, void (*job)(void *ctx, size_t i, unsigned worker),
		 void *ctx);

#endif
