/* Rows of facts follow their spans when these are sorted, and when they are cut to windows. */
#include "model_private.h"

#include <assert.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* A vector of rows that begin with their span. */
struct rows {
	char *v;
	size_t nr, size;
};

static uint64_t span_at(const struct rows *r, size_t i)
{
	uint64_t span;

	memcpy(&span, r->v + i * r->size, sizeof(span));
	return span;
}

static void span_set(struct rows *r, size_t i, uint64_t span)
{
	memcpy(r->v + i * r->size, &span, sizeof(span));
}

bool facts_any(const struct model *m)
{
#define X(one, all) || m->facts.all.nr > 0
	return false FACT_ROWS(X);
#undef X
}

static void rows_move(struct rows r, const uint64_t *place)
{
	for (size_t i = 0; i < r.nr; i++)
		span_set(&r, i, place[span_at(&r, i)]);
}

void facts_move(struct model *m, const uint64_t *place)
{
#define X(one, all) \
	rows_move( \
		(struct rows){ (char *)m->facts.all.v, m->facts.all.nr, sizeof(*m->facts.all.v) }, \
		place);
	FACT_ROWS(X)
#undef X
}

static bool is_sorted(const struct rows *r)
{
	for (size_t i = 1; i < r->nr; i++)
		if (span_at(r, i - 1) > span_at(r, i))
			return false;
	return true;
}

static void rows_swap(struct rows *r, size_t a, size_t b)
{
	char t[sizeof(struct span_facts)];

	memcpy(t, r->v + a * r->size, r->size);
	memcpy(r->v + a * r->size, r->v + b * r->size, r->size);
	memcpy(r->v + b * r->size, t, r->size);
}

/* By row of [first, first + nr): its place in the order of spans, equal ones in theirs. Owned. */
static uint32_t *places_of(const struct rows *r, size_t first, size_t nr)
{
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t *place = xreallocarray(NULL, nr, sizeof(*place)), *at, to = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t span = span_at(r, first + i);

		least = span < least ? span : least;
		most = span > most ? span : most;
	}
	at = xcalloc(most - least + 1, sizeof(*at));
	for (size_t i = 0; i < nr; i++)
		at[span_at(r, first + i) - least]++;
	for (size_t i = 0; i <= most - least; i++) {
		uint32_t n = at[i];

		at[i] = to;
		to += n;
	}
	for (size_t i = 0; i < nr; i++)
		place[i] = at[span_at(r, first + i) - least]++;
	free(at);
	return place;
}

/* Rows [first, first + nr), by span, in place: rows may take most of the memory. */
static void block_order(struct rows *r, size_t first, size_t nr)
{
	uint32_t *place;

	assert(nr > 0 && nr < UINT32_MAX);
	place = places_of(r, first, nr);
	for (size_t i = 0; i < nr; i++)
		while (place[i] != i) {
			uint32_t to = place[i];

			rows_swap(r, first + i, first + to);
			place[i] = place[to];
			place[to] = to;
		}
	free(place);
}

/* Blocks that are as many rows, or cannot be split: all spans of one are below those of the next.
 * Inputs are read one after the other, so of many each is about a block. */
enum { BLOCK_ROWS = 16384 };
struct block {
	size_t first;
	uint64_t last_span;
};

static void rows_order(struct rows *r)
{
	VEC(struct block) blocks = VEC_INIT;

	for (size_t i = 0; i < r->nr; i++) {
		uint64_t span = span_at(r, i);
		struct block *b = blocks.nr ? &blocks.v[blocks.nr - 1] : NULL;

		if (!b || (i - b->first >= BLOCK_ROWS && b->last_span < span)) {
			VEC_PUSH(&blocks, ((struct block){ i, span }));
			continue;
		}
		b->last_span = b->last_span > span ? b->last_span : span;
		for (; blocks.nr > 1 && b[-1].last_span >= span; b--, blocks.nr--)
			b[-1].last_span = b->last_span;
	}
	for (size_t i = 0; i < blocks.nr; i++) {
		size_t first = blocks.v[i].first;
		size_t end = i + 1 < blocks.nr ? blocks.v[i + 1].first : r->nr;

		block_order(r, first, end - first);
	}
	VEC_RELEASE(&blocks);
}

static void warn_twice(struct model *m, uint64_t span)
{
	model_warn(m, span_input(&m->spans, span), W_FACTS_TWICE, 1, "'%s' has facts twice",
		   model_str(m, m->spans.name[span]));
}

/* Returns how many rows are left. */
static size_t rows_sort(struct model *m, struct rows r)
{
	size_t nr = 0;

	if (!is_sorted(&r))
		rows_order(&r);
	for (size_t i = 0; i < r.nr; i++) {
		if (nr > 0 && span_at(&r, nr - 1) == span_at(&r, i)) {
			warn_twice(m, span_at(&r, i));
			continue;
		}
		if (nr < i)
			memcpy(r.v + nr * r.size, r.v + i * r.size, r.size);
		nr++;
	}
	return nr;
}

void facts_sort(struct model *m)
{
#define X(one, all) \
	m->facts.all.nr = rows_sort(m, (struct rows){ (char *)m->facts.all.v, m->facts.all.nr, \
						      sizeof(*m->facts.all.v) });
	FACT_ROWS(X)
#undef X
}

/* Owned; *ret_nr rows. */
static char *rows_cut(const struct rows *r, const uint64_t *from, size_t parts, size_t *ret_nr)
{
	struct rows to = { NULL, 0, r->size };
	size_t cap = 0;

	for (size_t i = 0, part = 0; i < r->nr; i++) {
		uint64_t span = span_at(r, i);

		while (part < parts && from[part] < span)
			part++;
		for (; part < parts && from[part] == span; part++) {
			if (to.nr == cap) {
				cap = vec_grow_cap(cap, r->nr);
				to.v = xreallocarray(to.v, cap, r->size);
			}
			memcpy(to.v + to.nr * r->size, r->v + i * r->size, r->size);
			span_set(&to, to.nr++, part);
		}
	}
	*ret_nr = to.nr;
	return to.v;
}

void facts_cut(struct model *m, const uint64_t *from, size_t parts)
{
	struct rows r;
	size_t nr;
	void *v;

#define X(one, all) \
	r = (struct rows){ (char *)m->facts.all.v, m->facts.all.nr, sizeof(*m->facts.all.v) }; \
	v = rows_cut(&r, from, parts, &nr); \
	VEC_RELEASE(&m->facts.all); \
	m->facts.all.v = v; \
	m->facts.all.nr = nr; \
	m->facts.all.cap = nr;
	FACT_ROWS(X)
#undef X
}
