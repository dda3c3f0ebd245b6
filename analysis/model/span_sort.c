#include "model_private.h"

#include <string.h>

#include "profrig/base/sort.h"

static inline bool key_before(int64_t a_start, int64_t a_end, int64_t b_start, int64_t b_end)
{
	return a_start < b_start || (a_start == b_start && a_end > b_end);
}

static bool rows_sorted(const struct span_columns *c, const uint64_t *order, size_t lo, size_t hi)
{
	for (size_t i = lo + 1; i < hi; i++) {
		size_t a = order ? order[i - 1] : i - 1, b = order ? order[i] : i;

		if (key_before(c->start_ns[b], c->end_ns[b], c->start_ns[a], c->end_ns[a]))
			return false;
	}
	return true;
}

static void track_sort(const struct span_columns *c, uint64_t *order, size_t lo, size_t hi)
{
	size_t n = hi - lo;
	struct sort_span *keys;

	if (rows_sorted(c, order, lo, hi))
		return;
	keys = xreallocarray(NULL, n, sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		uint64_t row = order[lo + i];

		keys[i] = (struct sort_span){ c->start_ns[row], c->end_ns[row], row };
	}
	sort_spans(keys, n);
	for (size_t i = 0; i < n; i++)
		order[lo + i] = keys[i].row;
	free(keys);
}

static const struct column {
	size_t at, size;
} columns[] = {
	{ offsetof(struct span_columns, start_ns), 8 },
	{ offsetof(struct span_columns, end_ns), 8 },
	{ offsetof(struct span_columns, correlation), 8 },
	{ offsetof(struct span_columns, name), 4 },
	{ offsetof(struct span_columns, category), 4 },
	{ offsetof(struct span_columns, args), 4 },
	{ offsetof(struct span_columns, input), 4 },
	{ offsetof(struct span_columns, kind), 1 },
};

struct sorting {
	struct model *m;
	uint64_t *order;
};

#define GATHER(type, to, from, order, n) \
	for (size_t i_ = 0; i_ < (n); i_++) \
	((type *)(to))[i_] = ((const type *)(from))[(order)[i_]]

/* The same in all rows, as arguments are that are not kept. */
static bool is_constant(const char *p, size_t size, size_t n)
{
	return n < 2 || memcmp(p, p + size, (n - 1) * size) == 0;
}

static void column_gather(struct sorting *so, size_t at, size_t size)
{
	struct span_columns *c = &so->m->spans;
	void *from, *to;

	/* the pointers are of several types: memcpy moves them within the aliasing rules */
	memcpy(&from, (char *)c + at, sizeof(from));
	if (!from || is_constant(from, size, c->nr))
		return;
	to = spare_take(so->m, c->nr * size);
	if (size == 8)
		GATHER(uint64_t, to, from, so->order, c->nr);
	else if (size == 4)
		GATHER(uint32_t, to, from, so->order, c->nr);
	else
		GATHER(uint8_t, to, from, so->order, c->nr);
	memcpy((char *)c + at, &to, sizeof(to));
	spare_give(so->m, from, c->cap * size);
}

/* The last job is the track's, whose new order is known. */
static void gather_job(void *ctx, size_t i, unsigned worker)
{
	struct sorting *so = ctx;
	struct model *m = so->m;

	(void)worker;
	if (i < ARRAY_LEN(columns)) {
		column_gather(so, columns[i].at, columns[i].size);
		return;
	}
	for (size_t t = 0; t < m->tracks.nr; t++) {
		const struct track *tr = &m->tracks.v[t];

		for (uint64_t k = tr->first_span; k < tr->first_span + tr->spans; k++)
			m->spans.track[k] = (track_id)t;
	}
}

static void links_follow(struct model *m, const uint64_t *order)
{
	struct link_columns *l = &m->links;
	uint64_t *place;

	if (l->nr == 0 && m->placed.nr == 0 && !facts_any(m))
		return;
	place = xreallocarray(NULL, m->spans.nr, sizeof(*place));
	for (size_t i = 0; i < m->spans.nr; i++)
		place[order[i]] = i;
	for (size_t i = 0; i < l->nr; i++) {
		l->from[i] = place[l->from[i]];
		l->to[i] = place[l->to[i]];
	}
	for (size_t i = 0; i < m->placed.nr; i++)
		m->placed.v[i].work = place[m->placed.v[i].work];
	facts_move(m, place);
	free(place);
}

static void ranges_set(struct model *m)
{
	uint64_t at = 0;

	for (size_t t = 0; t < m->tracks.nr; t++) {
		m->tracks.v[t].spans = m->priv->track_states.v[t].spans;
		m->tracks.v[t].first_span = at;
		at += m->tracks.v[t].spans;
	}
}

static void track_job(void *ctx, size_t i, unsigned worker)
{
	const struct sorting *so = ctx;
	const struct track *t = &so->m->tracks.v[i];

	(void)worker;
	track_sort(&so->m->spans, so->order, t->first_span, t->first_span + t->spans);
}

void spans_sort(struct model *m)
{
	struct span_columns *c = &m->spans;
	struct sorting so = { .m = m };
	bool done = !m->priv->scattered;
	uint64_t *next;

	ranges_set(m);
	for (size_t t = 0; done && t < m->tracks.nr; t++) {
		const struct track *tr = &m->tracks.v[t];

		done = rows_sorted(c, NULL, tr->first_span, tr->first_span + tr->spans);
	}
	if (done)
		return;
	so.order = spare_take(m, c->nr * sizeof(*so.order));
	next = xreallocarray(NULL, m->tracks.nr, sizeof(*next));
	for (size_t t = 0; t < m->tracks.nr; t++)
		next[t] = m->tracks.v[t].first_span;
	for (size_t i = 0; i < c->nr; i++)
		so.order[next[c->track[i]]++] = i;
	model_run(m, m->tracks.nr, track_job, &so);
	model_run(m, ARRAY_LEN(columns) + 1, gather_job, &so);
	links_follow(m, so.order);
	free(next);
	spare_give(m, so.order, c->nr * sizeof(*so.order));
	c->cap = c->nr;
}

void series_sort(struct model *m)
{
	for (size_t s = 0; s < m->series.nr; s++) {
		struct series *se = &m->series.v[s];
		size_t n = se->t_ns.nr;
		struct sort_span *keys;
		double *values;
		bool done = true;

		for (size_t i = 1; done && i < n; i++)
			done = se->t_ns.v[i - 1] <= se->t_ns.v[i];
		if (done)
			continue;
		keys = xreallocarray(NULL, n, sizeof(*keys));
		values = xreallocarray(NULL, n, sizeof(*values));
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct sort_span){ se->t_ns.v[i], 0, i };
		sort_spans(keys, n);
		for (size_t i = 0; i < n; i++) {
			se->t_ns.v[i] = keys[i].start_ns;
			values[i] = se->value.v[keys[i].row];
		}
		free(se->value.v);
		se->value.v = values;
		se->value.cap = n;
		free(keys);
	}
}
