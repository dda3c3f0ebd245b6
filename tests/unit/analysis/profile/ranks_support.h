/*
 * Ranks as threads of one test: a comm whose collective calls meet at a barrier, and a recording
 * that is read by all of them.
 */
#ifndef RANKS_SUPPORT_H
#define RANKS_SUPPORT_H

#include "profile_support.h"

#include <pthread.h>

#include "profrig/base/comm.h"
#include "profrig/readers/reader.h"

#define RANKS_MAX 8

struct ranks {
	int size;
	pthread_barrier_t barrier;
	const void *data[RANKS_MAX]; /* what each gives in the present call */
	size_t length[RANKS_MAX];
	/* one message at most is on its way between two ranks */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct strbuf mail[RANKS_MAX][RANKS_MAX];
	bool full[RANKS_MAX][RANKS_MAX];
	struct rank {
		struct comm comm;
		struct ranks *all;
		pthread_t thread;
		struct outcome outcome;
		int result;
	} rank[RANKS_MAX];
	/* the job */
	const char *path;
	const struct profile_opts *opts;
};

static inline void ranks_gather(struct comm *c, const void *mine, size_t n, size_t *lengths,
				struct strbuf *ret)
{
	struct ranks *all = ((struct rank *)c)->all;

	all->data[c->rank] = mine;
	all->length[c->rank] = n;
	pthread_barrier_wait(&all->barrier);
	for (int r = 0; r < c->size; r++) {
		lengths[r] = all->length[r];
		strbuf_add(ret, all->data[r], all->length[r]);
	}
	pthread_barrier_wait(&all->barrier);
}

static inline void ranks_send(struct comm *c, int to, const void *data, size_t n)
{
	struct ranks *all = ((struct rank *)c)->all;

	pthread_mutex_lock(&all->lock);
	strbuf_clear(&all->mail[c->rank][to]);
	strbuf_add(&all->mail[c->rank][to], data, n);
	all->full[c->rank][to] = true;
	pthread_cond_broadcast(&all->moved);
	pthread_mutex_unlock(&all->lock);
}

static inline void ranks_receive(struct comm *c, int from, struct strbuf *ret)
{
	struct ranks *all = ((struct rank *)c)->all;

	pthread_mutex_lock(&all->lock);
	while (!all->full[from][c->rank])
		pthread_cond_wait(&all->moved, &all->lock);
	strbuf_clear(ret);
	strbuf_add(ret, all->mail[from][c->rank].buf, all->mail[from][c->rank].len);
	all->full[from][c->rank] = false;
	pthread_mutex_unlock(&all->lock);
}

static inline void ranks_stop(struct comm *c, int code, const char *why) __attribute__((noreturn));

static inline void ranks_stop(struct comm *c, int code, const char *why)
{
	fprintf(stderr, "rank %d stops: %d, %s\n", c->rank, code, why);
	abort();
}

static const struct comm_ops ranks_ops = { ranks_gather, ranks_send, ranks_receive, ranks_stop };

static inline void *rank_main(void *arg)
{
	struct rank *r = arg;
	struct profile_opts po = *r->all->opts;
	struct read_opts ro = { .keep_args = false };

	po.comm = &r->comm;
	r->outcome = outcome_begin(&po);
	r->result = reader_find("otf2")->read(r->all->path, model_sink(r->outcome.m), &ro, NULL);
	return NULL;
}

/* What rank 0 has; want: what its reader returns. */
static inline struct outcome outcome_by_ranks(const char *path, const struct profile_opts *po,
					      int size, int want)
{
	static struct ranks all;

	memset(&all, 0, sizeof(all));
	all.size = size;
	all.path = path;
	all.opts = po;
	pthread_barrier_init(&all.barrier, NULL, (unsigned)size);
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.moved, NULL);
	for (int r = 0; r < size; r++) {
		all.rank[r].comm = (struct comm){ &ranks_ops, r, size, "here", false };
		all.rank[r].all = &all;
		for (int k = 0; k < size; k++)
			strbuf_init(&all.mail[r][k]);
	}
	for (int r = 0; r < size; r++)
		assert_int_equal(pthread_create(&all.rank[r].thread, NULL, rank_main, &all.rank[r]),
				 0);
	for (int r = 0; r < size; r++)
		pthread_join(all.rank[r].thread, NULL);
	for (int r = 1; r < size; r++)
		outcome_release(&all.rank[r].outcome);
	for (int r = 0; r < size; r++)
		for (int k = 0; k < size; k++)
			strbuf_release(&all.mail[r][k]);
	pthread_barrier_destroy(&all.barrier);
	pthread_mutex_destroy(&all.lock);
	pthread_cond_destroy(&all.moved);
	assert_int_equal(all.rank[0].result, want);
	outcome_analyse(&all.rank[0].outcome);
	return all.rank[0].outcome;
}

#endif
