/*
 * regions: a text cut into regions that several threads parse ahead of the one that pushes.
 *
 *	struct regions *r = regions_new(begin, n, each, parse, ctx);
 *	on other threads: regions_help(r, own);
 *	on the pushing thread, with growing positions `at`:
 *		unsigned slot = regions_wait(r, at, own);	parse has filled this slot
 *	regions_quit(r);
 *
 * A free thread takes the next region; so does the pushing thread while it has nothing to push.
 * parse(ctx, from, to, slot, own) parses the items that begin in [from, to) and keeps them in its
 * slot, one of REGION_SLOTS; own is private to the thread, from regions_help or regions_wait.
 *
 * The start of the first item of a region is a guess, as the text before it is not parsed yet. So
 * the pushing thread uses a parsed item only where the item before it ends exactly at its start,
 * and parses the rest itself: the result is the same for any number of threads. So is the cut into
 * regions.
 *
 * A slot is valid until regions_wait gets a position in a later region.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include <stddef.h>

/* Regions that may be parsed ahead. */
#define REGION_SLOTS 8

typedef void region_parse_fn(void *ctx, const char *from, const char *to, unsigned slot, void *own);

struct regions;
struct regions *regions_new(const char *begin, size_t n, size_t each, region_parse_fn *parse,
			    void *ctx);
/* NULL is fine. After the last regions_help has returned. */
void regions_free(struct regions *r);
/* Parses regions until the end of the text or regions_quit. */
void regions_help(struct regions *r, void *own);
void regions_quit(struct regions *r);
/* The slot of the region that holds `at`; frees the slots of regions before it. */
unsigned regions_wait(struct regions *r, const char *at, void *own);
/* The end of the region that holds `at`. */
const char *regions_end(const struct regions *r, const char *at);

#endif
