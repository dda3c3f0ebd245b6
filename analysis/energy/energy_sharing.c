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

void share_state_begin(const struct domain *d, const struct share_state *before,
		       struct share_state *sum, struct share_state *end)
{
	state_fit(d, end);
	end->active = before->active + sum->active;
	sum->active = before->active;
	for (size_t i = 0; i < d->sharers.nr; i++) {
		uint32_t open = before->open.v[i], now = open + sum->open.v[i];

		end->open.v[i] = now;
		end->active += (uint32_t)((now > 0) - (open > 0)) * d->sharers.v[i].weight;
		sum->open.v[i] = open;
	}
}

void share_state_release(struct share_state *s)
{
	VEC_RELEASE(&s->open);
}

/* ---- over the time of a slice ---- */

/* With room for n of them. */
static void steps_begin(struct steps *st, uint32_t value, size_t n)
{
	if (n + 1 > st->room) {
		st->room = n + 1;
		st->v = xreallocarray(st->v, st->room, sizeof(*st->v));
	}
	st->nr = 0;
	st->v[0] = (struct step){ INT64_MAX, value };
}

/* Whether it is a step may be unpredictable, so there is no branch. */
static inline void steps_put(struct steps *st, int64_t t_ns, uint32_t value, bool differs)
{
	struct step *at = &st->v[st->nr];

	at->until_ns = t_ns;
	at[1].value = value;
	st->nr += differs;
}

static void sharing_begin(struct sharing *s, const struct domain *d, size_t n)
{
	state_fit(d, &s->at);
	while (s->threads.nr < d->classes.nr)
		VEC_PUSH(&s->threads, ((struct steps){ 0 }));
	steps_begin(&s->active, s->at.active, n);
	for (size_t i = 0; i < d->classes.nr; i++) {
		const struct share_class *c = &d->classes.v[i];

		if (class_has_threads(c->kind))
			steps_begin(&s->threads.v[i], s->at.open.v[c->sharer], n);
		else
			steps_begin(&s->threads.v[i], 0, 0);
	}
}

/* Pieces of work are counted, each by itself. */
static void device_steps(struct sharing *s, const struct share_change *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->at.active += (uint32_t)v[i].change;
		steps_put(&s->active, v[i].t_ns, s->at.active, true);
	}
}

static void host_steps(struct sharing *s, const struct domain *d, const struct share_change *v,
		       size_t n)
{
	struct steps active_steps = s->active; /* in registers */
	uint32_t *all_open = s->at.open.v, active = s->at.active;
	size_t *next = s->next_change.v;
	struct steps *of;

	for (size_t i = 0; i < n; i++) {
		const struct domain_lane *lane = &d->lanes.v[v[i].lane];
		const struct sharer *sharer = &d->sharers.v[lane->sharer];
		uint32_t *open = &all_open[lane->sharer], before = *open;
		uint32_t now = before + (uint32_t)v[i].change;

		*open = now;
		active += (uint32_t)((now > 0) - (before > 0)) * sharer->weight;
		steps_put(&active_steps, v[i].t_ns, active, (now > 0) != (before > 0));
		of = &active_steps;
		if (lane->share_class) {
			of = &s->threads.v[lane->share_class];
			steps_put(of, v[i].t_ns, now, true);
		}
		s->step_of.v[next[v[i].lane]++] = (uint32_t)of->nr;
	}
	s->active = active_steps;
	s->at.active = active;
}

/*
 * Where one call ends and another begins at the same time, there may be steps between them that
 * last no time; they do no harm.
 */
void sharing_make(struct sharing *s, const struct domain *d, const struct share_change *v, size_t n)
{
	sharing_begin(s, d, n);
	VEC_RESERVE(&s->step_of, n + 1);
	if (d->view == VIEW_DEVICE)
		device_steps(s, v, n);
	else
		host_steps(s, d, v, n);
	s->active.v[s->active.nr].until_ns = INT64_MAX;
	for (size_t i = 0; i < d->classes.nr; i++)
		s->threads.v[i].v[s->threads.v[i].nr].until_ns = INT64_MAX;
}

void sharing_release(struct sharing *s)
{
	free(s->active.v);
	for (size_t i = 0; i < s->threads.nr; i++)
		free(s->threads.v[i].v);
	VEC_RELEASE(&s->threads);
	VEC_RELEASE(&s->step_of);
	VEC_RELEASE(&s->first_change);
	VEC_RELEASE(&s->next_change);
	share_state_release(&s->at);
}
