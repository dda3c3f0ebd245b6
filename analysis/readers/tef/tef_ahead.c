/*
 * Events parsed ahead by other threads (regions.h). A region has the events that begin in it; the
 * start of the first is a guess, and events count only where the events before them end exactly
 * there. The pushing thread walks in the file's order and parses the uncovered text itself, and
 * everything that is no whole event.
 */
#include "regions.h"
#include "tef.h"

/* Small enough for the events of one to stay in a core's cache until they are pushed. */
#define REGION_MIN ((size_t)2 << 10)
#define REGION_MAX ((size_t)128 << 10)
/* The pushing thread parses the rest of a region with smaller events. */
#define EVENT_BYTES 48
/* Bound of false starts of events, for hostile text. */
#define GUESSES 16

struct slot {
	size_t nr;
	struct tef_event *v;
	const char *end; /* behind the last one */
};

struct tef_ahead {
	const char *begin, *end;
	size_t region_bytes;
	struct regions *regions;
	struct slot slots[REGION_SLOTS];
};

/* Where the first event of a region seems to begin; NULL when nothing looks like it. */
static const char *first_event(const struct tef_ahead *a, const char *p, const char *to)
{
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

static void region_parse(void *ctx, const char *from, const char *to, unsigned slot, void *own)
{
	struct tef_ahead *a = ctx;
	struct slot *s = &a->slots[slot];
	struct json_cur c = { first_event(a, from, to), a->end };
	size_t most = a->region_bytes / EVENT_BYTES, nr = 0;
	const char *end = c.p;
	bool some = false;

	if (!s->v)
		s->v = xreallocarray(NULL, most, sizeof(*s->v));
	for (; c.p && nr < most; nr++) {
		if (json_element(&c, &some) <= 0 || *c.p != '{' || c.p >= to ||
		    tef_shapes_parse(own, &c, &s->v[nr]) < 0)
			break;
		end = c.p;
	}
	/* at once: slots of other threads share the cache's lines with this one */
	s->nr = nr;
	s->end = end;
}

struct tef_ahead *tef_ahead_new(const struct input_map *map, size_t from)
{
	struct tef_ahead *a = xcalloc(1, sizeof(*a));
	size_t n = map->len - from, each = n / 64;

	each = each < REGION_MIN ? REGION_MIN : each > REGION_MAX ? REGION_MAX : each;
	a->begin = map->data + from;
	a->end = map->data + map->len;
	a->region_bytes = each;
	a->regions = regions_new(a->begin, n, each, region_parse, a);
	return a;
}

void tef_ahead_free(struct tef_ahead *a)
{
	if (!a)
		return;
	regions_free(a->regions);
	for (size_t i = 0; i < REGION_SLOTS; i++)
		free(a->slots[i].v);
	free(a);
}

void tef_ahead_help(struct tef_ahead *a, struct tef_shapes *shapes)
{
	regions_help(a->regions, shapes);
}

void tef_ahead_quit(struct tef_ahead *a)
{
	regions_quit(a->regions);
}

const struct tef_event *tef_ahead_get(struct tef_ahead *a, const char *at,
				      struct tef_shapes *shapes, size_t *ret_nr,
				      const char **ret_end)
{
	const struct slot *s = &a->slots[regions_wait(a->regions, at, shapes)];

	*ret_nr = 0;
	/* none, or it begins inside other text or before the last pushed event's end */
	*ret_end = regions_end(a->regions, at);
	if (s->nr > 0 && s->v[0].at > at)
		*ret_end = s->v[0].at;
	if (s->nr > 0 && s->v[0].at == at) {
		*ret_nr = s->nr;
		*ret_end = s->end;
	}
	return s->v;
}
