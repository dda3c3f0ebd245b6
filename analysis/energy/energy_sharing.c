#include "attribution_private.h"

#include <stdlib.h>

void domain_release(struct domain *d)
{
	for (size_t i = 0; i < d->grids.nr; i++)
		grid_release(&d->grids.v[i]);
	VEC_RELEASE(&d->lanes);
	VEC_RELEASE(&d->sharers);
	VEC_RELEASE(&d->classes);
	VEC_RELEASE(&d->grids);
}

/* ---- changes of all lanes in time order ---- */

#define DIGIT_BITS 11
#define DIGITS ((uint64_t)1 << DIGIT_BITS)
#define DIGITS_AT_ONCE 2

static inline uint64_t digit_of(const struct share_change *c, int64_t first_ns, unsigned shift)
{
	return (((uint64_t)c->t_ns - (uint64_t)first_ns) >> shift) % DIGITS;
}

/* One pass of a radix sort, by the digit at bit `shift`; at: how many there are of each. */
static void digit_sort(struct share_changes *c, unsigned shift, uint32_t *at)
{
	const struct share_change *from = c->v.v;
	struct share_change *to = c->room.v;
	size_t n = c->v.nr, cap = c->v.cap;
	uint32_t sum = 0;

	for (size_t i = 0; i < DIGITS; i++) {
		uint32_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[digit_of(&from[i], c->first_ns, shift)]++] = from[i];
	c->room.v = c->v.v;
	c->v.v = to;
	c->v.cap = c->room.cap;
	c->room.cap = cap;
}

/*
 * A slice is a short time with many changes, so two passes suffice for any number of lanes (merging
 * those of 16 took three times as long); their digits are counted together.
 */
void changes_sort(struct share_changes *c)
{
	uint64_t rest = (uint64_t)c->last_ns - (uint64_t)c->first_ns;

	if (c->v.nr < 2)
		return;
	VEC_RESERVE(&c->room, c->v.nr);
	for (unsigned shift = 0; rest >> shift;) {
		uint32_t at[DIGITS_AT_ONCE][DIGITS] = { 0 };

		for (size_t i = 0; i < c->v.nr; i++)
			for (unsigned k = 0; k < DIGITS_AT_ONCE; k++)
				at[k][digit_of(&c->v.v[i], c->first_ns, shift + k * DIGIT_BITS)]++;
		for (unsigned k = 0; k < DIGITS_AT_ONCE; k++, shift += DIGIT_BITS) {
			if (shift < 64 && rest >> shift)
				digit_sort(c, shift, at[k]);
		}
		if (shift >= 64)
			break;
	}
}

void changes_release(struct share_changes *c)
{
	VEC_RELEASE(&c->v);
	VEC_RELEASE(&c->room);
}

/* ---- the state at one moment ---- */

static void state_fit(const struct domain *d, struct share_state *s)
{
	while (s->open.nr < d->sharers.nr)
		VEC_PUSH(&s->open, 0);
}

static inline void state_step(const struct domain *d, struct share_state *s,
			      const struct share_change *c)
{
	uint32_t *open, before;

	if (d->view == VIEW_DEVICE) {
		s->active += (uint32_t)c->change;
		return;
	}
	open = &s->open.v[c->sharer];
	before = *open;
	*open += (uint32_t)c->change;
	s->active += (uint32_t)((*open > 0) - (before > 0)) * d->sharers.v[c->sharer].weight;
}

void share_state_zero(const struct domain *d, struct share_state *ret)
{
	ret->active = 0;
	VEC_CLEAR(&ret->open);
	state_fit(d, ret);
}

void share_state_add(const struct domain *d, struct share_state *sum, uint32_t sharer,
		     uint32_t change)
{
	if (d->view == VIEW_DEVICE)
		sum->active += change;
	else
		sum->open.v[sharer] += change;
}

void share_state_begin(const struct domain *d, struct share_state *at, struct share_state *sum)
{
	struct share_state end = *sum;

	state_fit(d, at);
	end.active += at->active;
	for (size_t i = 0; i < d->sharers.nr; i++) {
		end.open.v[i] += at->open.v[i];
		end.active += (uint32_t)((end.open.v[i] > 0) - (at->open.v[i] > 0)) *
			      d->sharers.v[i].weight;
	}
	*sum = *at;
	*at = end;
}

void share_state_release(struct share_state *s)
{
	VEC_RELEASE(&s->open);
}

/* ---- over the time of a slice ---- */

/* With room for n of them. */
static void steps_begin(struct steps *st, uint32_t value, size_t n)
{
	if (n + 2 > st->room) {
		st->room = n + 2;
		st->t_ns = xreallocarray(st->t_ns, st->room, sizeof(*st->t_ns));
		st->v = xreallocarray(st->v, st->room, sizeof(*st->v));
	}
	st->nr = 0;
	st->v[0] = value;
}

/* Whether it is a step is unpredictable, so there is no branch. */
static inline void steps_put(struct steps *st, int64_t t_ns, uint32_t value)
{
	st->t_ns[st->nr] = t_ns;
	st->v[st->nr + 1] = value;
	st->nr += value != st->v[st->nr];
}

static void sharing_begin(struct sharing *s, const struct domain *d, size_t n)
{
	state_fit(d, &s->at);
	while (s->parts.nr < d->classes.nr)
		VEC_PUSH(&s->parts, ((struct steps){ 0 }));
	steps_begin(&s->active, s->at.active, n);
	for (size_t i = 0; i < d->classes.nr; i++) {
		const struct share_class *c = &d->classes.v[i];

		bool split = c->kind == CLASS_SPLIT;

		steps_begin(&s->parts.v[i], split ? s->at.open.v[c->sharer] : 0, split ? n : 0);
	}
}

/* All changes of one time count before anything is stepped: one call ends where another begins. */
void sharing_make(struct sharing *s, const struct domain *d, const struct share_change *v, size_t n)
{
	sharing_begin(s, d, n);
	for (size_t i = 0, end; i < n; i = end) {
		int64_t t_ns = v[i].t_ns;

		for (end = i; end < n && v[end].t_ns == t_ns; end++)
			state_step(d, &s->at, &v[end]);
		steps_put(&s->active, t_ns, s->at.active);
		for (size_t k = i; d->view == VIEW_HOST && k < end; k++) {
			uint32_t of = d->sharers.v[v[k].sharer].share_class;

			if (of)
				steps_put(&s->parts.v[of], t_ns, s->at.open.v[v[k].sharer]);
		}
	}
	s->active.t_ns[s->active.nr] = INT64_MAX;
	for (size_t i = 0; i < d->classes.nr; i++)
		s->parts.v[i].t_ns[s->parts.v[i].nr] = INT64_MAX;
}

static void steps_release(struct steps *st)
{
	free(st->t_ns);
	free(st->v);
}

void sharing_release(struct sharing *s)
{
	steps_release(&s->active);
	for (size_t i = 0; i < s->parts.nr; i++)
		steps_release(&s->parts.v[i]);
	VEC_RELEASE(&s->parts);
	share_state_release(&s->at);
}
