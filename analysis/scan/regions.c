#include "regions.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

struct regions {
	const char *begin, *end;
	size_t each, nr;
	region_parse_fn *parse;
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	size_t next; /* first region that is not taken */
	size_t done; /* regions before this one are pushed, or of no use */
	bool quit;
	bool ready[REGION_SLOTS]; /* of region i: [i % REGION_SLOTS] */
};

struct regions *regions_new(const char *begin, size_t n, size_t each, region_parse_fn *parse,
			    void *ctx)
{
	struct regions *r = xcalloc(1, sizeof(*r));

	r->begin = begin;
	r->end = begin + n;
	r->each = each;
	r->nr = (n + each - 1) / each;
	r->parse = parse;
	r->ctx = ctx;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	return r;
}

void regions_free(struct regions *r)
{
	if (!r)
		return;
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static const char *end_of(const struct regions *r, size_t region)
{
	return region + 1 < r->nr ? r->begin + (region + 1) * r->each : r->end;
}

static size_t region_at(const struct regions *r, const char *at)
{
	return (size_t)(at - r->begin) / r->each;
}

const char *regions_end(const struct regions *r, const char *at)
{
	return end_of(r, region_at(r, at));
}

/* Under the lock, which is open while it parses. False when there is nothing to take. */
static bool region_take(struct regions *r, void *own)
{
	size_t region = r->next;
	unsigned slot = (unsigned)(region % REGION_SLOTS);

	if (region >= r->nr || region >= r->done + REGION_SLOTS)
		return false;
	r->next++;
	pthread_mutex_unlock(&r->lock);
	r->parse(r->ctx, r->begin + region * r->each, end_of(r, region), slot, own);
	pthread_mutex_lock(&r->lock);
	r->ready[slot] = true;
	pthread_cond_broadcast(&r->changed);
	return true;
}

void regions_help(struct regions *r, void *own)
{
	pthread_mutex_lock(&r->lock);
	while (!r->quit)
		if (!region_take(r, own))
			pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void regions_quit(struct regions *r)
{
	pthread_mutex_lock(&r->lock);
	r->quit = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

unsigned regions_wait(struct regions *r, const char *at, void *own)
{
	size_t region = region_at(r, at);
	unsigned slot = (unsigned)(region % REGION_SLOTS);

	pthread_mutex_lock(&r->lock);
	for (; r->done < region; r->done++) {
		unsigned gone = (unsigned)(r->done % REGION_SLOTS);

		/* a slot is not reused while its region is being parsed */
		while (r->done < r->next && !r->ready[gone])
			pthread_cond_wait(&r->changed, &r->lock);
		r->ready[gone] = false;
		if (r->next <= r->done)
			r->next = r->done + 1;
	}
	pthread_cond_broadcast(&r->changed);
	while (!r->ready[slot])
		if (!region_take(r, own))
			pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return slot;
}
