/*
 * Numbers for texts that repeat. Programs make the same calls in the same order again and again, so
 * the successor of a text at its last occurrence is compared first; then a hash table is searched.
 * Texts are never removed, so numbers stay valid; the table has a maximum size.
 */
#include "rocprof_csv.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define TEXTS 16384
#define PLACES (2 * TEXTS)

struct rocprof_texts {
	uint32_t nr;
	struct rocprof_text v[TEXTS];
	uint32_t next[TEXTS];   /* its successor at the last occurrence */
	uint32_t place[PLACES]; /* by hash: the number and one; 0 is free */
};

struct rocprof_texts *rocprof_texts_new(void)
{
	/* fresh memory costs nothing until it is used */
	return xcalloc(1, sizeof(struct rocprof_texts));
}

#define HEAD 16

/* Compared as two words: how long texts are is different each time, and a loop's end is guessed
 * wrong. */
static inline void take_head(struct csv_text t, uint64_t ret[2])
{
	ret[0] = ret[1] = 0;
	if (t.n >= HEAD) {
		memcpy(ret, t.p, HEAD);
	} else if (t.n >= 8) {
		memcpy(&ret[0], t.p, 8);
		memcpy(&ret[1], t.p + t.n - 8, 8);
	} else if (t.n >= 4) {
		memcpy(&ret[0], t.p, 4);
		memcpy(&ret[1], t.p + t.n - 4, 4);
	} else {
		memcpy(&ret[0], t.p, t.n);
	}
}

static inline bool is_text(const struct rocprof_text *e, struct csv_text t, const uint64_t head[2])
{
	return e->text.n == t.n && e->head[0] == head[0] && e->head[1] == head[1] &&
	       (t.n <= HEAD || memcmp(e->text.p + HEAD, t.p + HEAD, t.n - HEAD) == 0);
}

static __attribute__((noinline)) uint32_t find(struct rocprof_texts *d, struct csv_text t,
					       const uint64_t head[2])
{
	size_t at = XXH3_64bits(t.p, t.n) % PLACES;

	for (; d->place[at]; at = (at + 1) % PLACES)
		if (is_text(&d->v[d->place[at] - 1], t, head))
			return d->place[at] - 1;
	if (d->nr == TEXTS)
		return ROCPROF_NO_TEXT;
	d->v[d->nr] = (struct rocprof_text){ .head = { head[0], head[1] }, .text = t };
	d->place[at] = ++d->nr;
	return d->nr - 1;
}

uint32_t rocprof_texts_find(struct rocprof_texts *d, struct csv_text t, uint32_t *last)
{
	uint32_t guess = d->next[*last], r;
	uint64_t head[2];

	take_head(t, head);
	if (is_text(&d->v[guess], t, head) && guess < d->nr)
		return *last = guess;
	r = find(d, t, head);
	if (r == ROCPROF_NO_TEXT)
		return r;
	d->next[*last] = r;
	return *last = r;
}

struct rocprof_text *rocprof_texts_at(struct rocprof_texts *d, uint32_t i)
{
	return &d->v[i];
}
