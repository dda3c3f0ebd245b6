/*
 * regions: a text cut into regions that several threads parse ahead of the one that pushes.
 *
 *	struct regions *r = regions_new(begin, n, each, parse, ctx);
 *	on other threads: regions_help(r, own);
 *	on the one that pushes, at going forward:
 *		unsigned slot = regions_wait(r, at, own);	what parse left in slot
 *	regions_quit(r);
 *
 * A free thread takes the next region, the thread that pushes too while it has nothing to push.
 * parse(ctx, from, to, slot, own) reads what begins in [from, to) and keeps it in its slot, one of
 * REGION_SLOTS; own is the caller's of regions_help or regions_wait: what a thread has alone.
 *
 * Where the first thing of a region begins is a guess, as it is unknown what the text before it
 * opened. It cannot do harm when what was parsed counts only where what came before it ends just
 * there, and the rest is parsed by the thread that pushes: then the result is the same for any
 * number of threads. The cut does not depend on them either.
 *
 * A slot is valid until regions_wait is asked for a later region.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include <stddef.h>

/* Regions that may wait for being pushed. */
#define REGION_SLOTS 8

typedef void region_parse_fn(void *ctx, const char *from, const char *to, unsigned slot, void *own);

struct regions;
struct regions *regions_new(const char *begin, size_t n, size_t each, region_parse_fn *parse,
			    void *ctx);
/* NULL is fine; when no thread helps any more. */
void regions_free(struct regions *r);
/* Parses until the pool ends. */
void regions_help(struct regions *r, void *own);
void regions_quit(struct regions *r);
/* The slot of the region that `at` lies in; regions before it are given up. */
unsigned regions_wait(struct regions *r, const char *at, void *own);
/* Where the region ends that `at` lies in. */
const char *regions_end(const struct regions *r, const char *at);

#endif
