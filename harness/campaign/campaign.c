#include "campaign.h"
#include "order.h"
#include "prepare.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

#define TICK_NS (250 * NS_PER_MS)

struct campaign_model *campaign_add_model(struct campaign *c)
{
	VEC_PUSH(&c->models, ((struct campaign_model){ VEC_INIT }));
	return &c->models.v[c->models.nr - 1];
}

struct prepared *campaign_add_variant(struct campaign_model *m)
{
	struct prepared *p = xcalloc(1, sizeof(*p));

	VEC_PUSH(&m->variants, p);
	return p;
}

void campaign_full_last(struct campaign_model *m)
{
	struct prepared *full = m->variants.v[0];

	memmove(m->variants.v, m->variants.v + 1, (m->variants.nr - 1) * sizeof(*m->variants.v));
	m->variants.v[m->variants.nr - 1] = full;
}

struct prepared *campaign_full(const struct campaign_model *m)
{
	return m->variants.v[m->variants.nr - 1];
}

/* A run heats the machine, which makes the next one slower. */
static void campaign_cool_down(const struct campaign *c, const struct campaign_front *f)
{
	int64_t until = clock_monotonic_ns() + (int64_t)(c->cooldown_s * 1e9), left;

	f->cooldown(f->ctx, c->cooldown_s);
	while (!*f->interrupt && (left = until - clock_monotonic_ns()) > 0) {
		poll(NULL, 0, left < TICK_NS ? (int)(left / NS_PER_MS) + 1 : TICK_NS / NS_PER_MS);
		f->cooldown(f->ctx, NAN);
	}
	f->cooldown(f->ctx, 0);
}

static void campaign_walk_run(const struct campaign *c, const struct campaign_front *f,
			      const struct campaign_run *run)
{
	if (!run->first && c->cooldown_s > 0)
		campaign_cool_down(c, f);
	if (!*f->interrupt)
		f->run(f->ctx, run);
}

static void campaign_walk_model(const struct campaign *c, const struct campaign_front *f,
				const struct campaign_model *m, bool *first)
{
	struct order o;
	size_t n = m->variants.nr;

	order_make((uint32_t)n, (uint32_t)c->repeats, ORDER_INTERLEAVED, 0, &o);
	for (size_t i = 0; i < o.runs.nr && !*f->interrupt; i++) {
		const struct campaign_run run = { .prepared = m->variants.v[o.runs.v[i].cell],
						  .block = o.runs.v[i].block,
						  .nr = i + 1,
						  .of = o.runs.nr,
						  .first = *first };

		campaign_walk_run(c, f, &run);
		*first = false;
		if (*f->interrupt || (i + 1) % n == 0)
			f->block_end(f->ctx);
	}
	order_release(&o);
}

void campaign_walk(const struct campaign *c, const struct campaign_front *f)
{
	bool first = true;

	for (size_t i = 0; i < c->models.nr && !*f->interrupt; i++) {
		campaign_walk_model(c, f, &c->models.v[i], &first);
		f->model_end(f->ctx);
	}
}

void campaign_release(struct campaign *c)
{
	for (size_t i = 0; i < c->models.nr; i++) {
		struct campaign_model *m = &c->models.v[i];

		for (size_t k = 0; k < m->variants.nr; k++) {
			prepared_release(m->variants.v[k]);
			free(m->variants.v[k]);
		}
		VEC_RELEASE(&m->variants);
	}
	VEC_RELEASE(&c->models);
}
