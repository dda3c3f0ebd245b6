#include "attribution_private.h"

#include <string.h>

static void steps_release(struct steps *st)
{
	VEC_RELEASE(&st->t_ns);
	VEC_RELEASE(&st->value);
}

void domain_release(struct domain *d)
{
	for (size_t i = 0; i < d->classes.nr; i++)
		steps_release(&d->classes.v[i].parts);
	for (size_t i = 0; i < d->grids.nr; i++)
		grid_release(&d->grids.v[i]);
	steps_release(&d->active);
	VEC_RELEASE(&d->lanes);
	VEC_RELEASE(&d->sharers);
	VEC_RELEASE(&d->classes);
	VEC_RELEASE(&d->grids);
}

static uint32_t steps_last(const struct steps *st)
{
	return st->value.nr ? st->value.v[st->value.nr - 1] : st->before;
}

static inline void steps_put(struct steps *st, int64_t t_ns, uint32_t value)
{
	if (value == steps_last(st))
		return;
	VEC_PUSH(&st->t_ns, t_ns);
	VEC_PUSH(&st->value, value);
}

static void steps_forget(struct steps *st)
{
	st->before = steps_last(st);
	VEC_CLEAR(&st->t_ns);
	VEC_CLEAR(&st->value);
}

void domain_forget(struct domain *d)
{
	steps_forget(&d->active);
	for (size_t i = 0; i < d->classes.nr; i++)
		steps_forget(&d->classes.v[i].parts);
}

/* ---- changes of all lanes in time order ---- */

static size_t run_end(const struct share_change *v, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && v[i].t_ns >= v[i - 1].t_ns)
		i++;
	return i < n ? i : n;
}

static void merge_runs(const struct share_change *from, struct share_change *to, size_t a, size_t b,
		       size_t c)
{
	size_t i = a, j = b, k = a;

	/* which one is next cannot be guessed, so it is no branch */
	while (i < b && j < c) {
		bool second = from[j].t_ns < from[i].t_ns;

		to[k++] = from[i ^ ((i ^ j) & -(size_t)second)];
		j += second;
		i += !second;
	}
	while (i < b)
		to[k++] = from[i++];
	while (j < c)
		to[k++] = from[j++];
}

/* Natural merge sort: every lane is in order already, so there are as many runs as lanes. */
void changes_sort(struct share_changes *c)
{
	struct share_change *from = c->v.v, *to;
	size_t n = c->v.nr, runs;

	if (n < 2 || run_end(from, 0, n) == n)
		return;
	if (n > c->room_nr)
		c->room = xreallocarray(c->room, c->room_nr = c->v.cap, sizeof(*c->room));
	to = c->room;
	do {
		size_t a = 0;

		runs = 0;
		while (a < n) {
			size_t b = run_end(from, a, n), end = b < n ? run_end(from, b, n) : n;

			merge_runs(from, to, a, b, end);
			a = end;
			runs++;
		}
		struct share_change *t = from;
		from = to;
		to = t;
	} while (runs > 1);
	if (from != c->v.v)
		memcpy(c->v.v, from, n * sizeof(*from));
}

void changes_release(struct share_changes *c)
{
	VEC_RELEASE(&c->v);
	free(c->room);
}

void domain_changes(const struct domain *d, const enum lane_mode *modes,
		    const struct lane_feed *feeds, struct share_changes *ret)
{
	for (size_t i = 0; i < d->lanes.nr; i++) {
		const struct domain_lane *l = &d->lanes.v[i];
		const struct lane_feed *f = &feeds[l->lane];

		if (modes[l->lane] == LANE_COVER || f->steady)
			continue;
		for (size_t k = 0; k < f->nr; k++) {
			if (f->v[k].change)
				VEC_PUSH(&ret->v, (struct share_change){ f->v[k].t_ns, l->sharer,
									 f->v[k].change });
		}
	}
}

/* Returns how the weight of active sharers changes. */
static inline int sharer_change(struct domain *d, const struct share_change *c)
{
	struct sharer *s = &d->sharers.v[c->sharer];
	uint32_t before = s->open;

	s->open += (uint32_t)c->change;
	return ((s->open > 0) - (before > 0)) * (int)s->weight;
}

/* All changes of one time count before anything is stepped: one call ends where another begins. */
void domain_share(struct domain *d, const struct share_change *v, size_t n)
{
	uint32_t active = steps_last(&d->active);

	for (size_t i = 0, end; i < n; i = end) {
		int64_t t_ns = v[i].t_ns;

		for (end = i; end < n && v[end].t_ns == t_ns; end++)
			active += (uint32_t)(d->view == VIEW_DEVICE ? v[end].change
								    : sharer_change(d, &v[end]));
		steps_put(&d->active, t_ns, active);
		for (size_t k = i; d->view == VIEW_HOST && k < end; k++) {
			const struct sharer *s = &d->sharers.v[v[k].sharer];

			if (s->share_class)
				steps_put(&d->classes.v[s->share_class].parts, t_ns, s->open);
		}
	}
}
