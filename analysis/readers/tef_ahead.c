/*
 * Events parsed ahead by other threads. The text is cut into regions; whoever is free takes the
 * next one, the thread that pushes too when it has nothing to push. A region has the events that
 * begin in it.
 *
 * Where the first event of a region begins is a guess, as nobody knows whether its first byte lies
 * in a string. It cannot do harm: what was parsed counts only where the events before it end just
 * there. The thread that pushes walks in the file's order and parses itself what is not covered,
 * and everything that is no whole event. So the result is the same for any number of threads.
 */
#include "tef.h"

#include <pthread.h>

/* Small enough for the events of one to stay in a core's cache until they are pushed. */
#define REGION_MIN ((size_t)2 << 10)
#define REGION_MAX ((size_t)128 << 10)
/* Of a region of smaller events the rest is left to the thread that pushes. */
#define EVENT_BYTES 48
/* That look like the begin of an event and are none; what hostile text makes of them is bounded. */
#define GUESSES 16
/* Regions that may wait for being pushed. */
#define SLOTS 8

struct slot {
	bool ready;
	size_t nr;
	struct tef_event *v;
	const char *end; /* behind the last one */
};

struct tef_ahead {
	const char *begin, *end;
	size_t region_bytes, regions;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	size_t next; /* region that nobody has taken */
	size_t done; /* regions before this one are pushed, or of no use */
	bool quit;
	struct slot slots[SLOTS]; /* of region i: slots[i % SLOTS] */
};

struct tef_ahead *tef_ahead_new(const struct input_map *map, size_t from)
{
	struct tef_ahead *a = xcalloc(1, sizeof(*a));
	size_t n = map->len - from, each = n / 64;

	each = each < REGION_MIN ? REGION_MIN : each > REGION_MAX ? REGION_MAX : each;
	a->begin = map->data + from;
	a->end = map->data + map->len;
	a->region_bytes = each;
	a->regions = (n + each - 1) / each;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	return a;
}

void tef_ahead_free(struct tef_ahead *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(a->slots[i].v);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static const char *region_begin(const struct tef_ahead *a, size_t region)
{
	return a->begin + region * a->region_bytes;
}

static const char *region_end(const struct tef_ahead *a, size_t region)
{
	return region + 1 < a->regions ? region_begin(a, region + 1) : a->end;
}

/* Where the first event of a region seems to begin; NULL when nothing looks like it. */
static const char *first_event(const struct tef_ahead *a, size_t region)
{
	const char *p = region_begin(a, region), *to = region_end(a, region);
	const char *end = (size_t)(a->end - to) > a->region_bytes ? to + a->region_bytes : a->end;

	for (int i = 0; i < GUESSES; i++, p++) {
		struct json_cur c;
		struct tef_event ev;

		do {
			p = memchr(p, '{', (size_t)(to - p));
		} while (p && !tef_may_begin(a->begin, p) && ++p);
		if (!p)
			return NULL;
		c = (struct json_cur){ p, end };
		if (tef_event_parse(&c, &ev) == 0 && ev.ph > 1)
			return p;
	}
	return NULL;
}

static void region_parse(const struct tef_ahead *a, size_t region, struct tef_shapes *shapes,
			 struct slot *s)
{
	struct json_cur c = { first_event(a, region), a->end };
	size_t most = a->region_bytes / EVENT_BYTES, nr = 0;
	const char *end = c.p;
	bool some = false;

	if (!s->v)
		s->v = xreallocarray(NULL, most, sizeof(*s->v));
	for (; c.p && nr < most; nr++) {
		if (json_element(&c, &some) <= 0 || *c.p != '{' || c.p >= region_end(a, region) ||
		    tef_shapes_parse(shapes, &c, &s->v[nr]) < 0)
			break;
		end = c.p;
	}
	/* at once: slots of other threads share the cache's lines with this one */
	s->nr = nr;
	s->end = end;
}

/* Under the lock, which is open while it parses. False when there is nothing to take. */
static bool take_region(struct tef_ahead *a, struct tef_shapes *shapes)
{
	size_t region = a->next;

	if (region >= a->regions || region >= a->done + SLOTS)
		return false;
	a->next++;
	pthread_mutex_unlock(&a->lock);
	region_parse(a, region, shapes, &a->slots[region % SLOTS]);
	pthread_mutex_lock(&a->lock);
	a->slots[region % SLOTS].ready = true;
	pthread_cond_broadcast(&a->changed);
	return true;
}

void tef_ahead_help(struct tef_ahead *a, struct tef_shapes *shapes)
{
	pthread_mutex_lock(&a->lock);
	while (!a->quit)
		if (!take_region(a, shapes))
			pthread_cond_wait(&a->changed, &a->lock);
	pthread_mutex_unlock(&a->lock);
}

void tef_ahead_quit(struct tef_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->quit = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

/* The slot of a region that was parsed; what it had of the regions before is given up. */
static const struct slot *region_wait(struct tef_ahead *a, size_t region, struct tef_shapes *shapes)
{
	struct slot *s = &a->slots[region % SLOTS];

	pthread_mutex_lock(&a->lock);
	for (; a->done < region; a->done++) {
		/* one that is being parsed must come to its end before its slot is used again */
		while (a->done < a->next && !a->slots[a->done % SLOTS].ready)
			pthread_cond_wait(&a->changed, &a->lock);
		a->slots[a->done % SLOTS].ready = false;
		if (a->next <= a->done)
			a->next = a->done + 1;
	}
	pthread_cond_broadcast(&a->changed);
	while (!s->ready)
		if (!take_region(a, shapes))
			pthread_cond_wait(&a->changed, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return s;
}

const struct tef_event *tef_ahead_get(struct tef_ahead *a, const char *at,
				      struct tef_shapes *shapes, size_t *ret_nr,
				      const char **ret_end)
{
	size_t region = (size_t)(at - a->begin) / a->region_bytes;
	const struct slot *s = region_wait(a, region, shapes);

	*ret_nr = 0;
	/* nothing, or it begins in what is no event or was pushed already */
	*ret_end = region_end(a, region);
	if (s->nr > 0 && s->v[0].at > at)
		*ret_end = s->v[0].at;
	if (s->nr > 0 && s->v[0].at == at) {
		*ret_nr = s->nr;
		*ret_end = s->end;
	}
	return s->v;
}
