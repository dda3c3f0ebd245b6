/* Learns from the data: the steps in which counters count, and the filter of a power reading. */
#include "attribution_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/counters/tau_fit.h"

/* Whether every value is a whole multiple of step, cut to whole raw units. */
static bool counts_in(const struct series *se, double step)
{
	size_t seen = 0;

	for (size_t i = 0; i < se->value.nr; i++) {
		double v = se->value.v[i], lost, rounding = 0.01 + fabs(v) * 0x1p-52;

		if (!isfinite(v))
			continue;
		/* exact here, but the library rounded its product before it cut it */
		lost = -fma(nearbyint(v / step), -step, v);
		if (!(lost >= -rounding && lost <= 1 + rounding))
			return false;
		seen++;
	}
	return seen > 0;
}

/* AMD's library hands its factor out as a float, which at 10^14 is not the same as the double. */
static double learn_step(const struct model *m, series_id s)
{
	const struct series *se = &m->series.v[s];
	const struct counter_fact *f = counter_fact_find(model_str(m, se->name));

	if (!f || f->step_raw <= 0)
		return 0;
	if (counts_in(se, (double)(float)f->step_raw))
		return (double)(float)f->step_raw;
	return counts_in(se, f->step_raw) ? f->step_raw : 0;
}

/* The counter in exact units, also without the option, unless the user gave it other ones. */
static struct counter_info true_units(const struct model *m, series_id s, double step_raw)
{
	const struct counter_fact *f = counter_fact_find(model_str(m, m->series.v[s].name));
	struct counter_info ci = counter_info(m, s);

	if (ci.step_raw <= 0 && step_raw > 0 && ci.scale >= f->scale && ci.scale <= f->scale) {
		ci.step_raw = step_raw;
		ci.step = f->step;
		ci.scale = ci.step / ci.step_raw;
	}
	return ci;
}

/* An energy counter, found by its device. */
struct candidate {
	str_id node;
	char device[sizeof(((struct counter_info *)0)->device)];
	input_id input;
	series_id series;
};
struct candidates {
	VEC(struct candidate) v;
};

static int cmp_place(const struct candidate *a, const struct candidate *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return strcmp(a->device, b->device);
}

static int cmp_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	int r = cmp_place(a, b);

	return r ? r : (a->series > b->series) - (a->series < b->series);
}

static struct candidate candidate_of(const struct model *m, series_id s,
				     const struct counter_info *ci)
{
	struct candidate c = { .node = m->series.v[s].node,
			       .input = m->series.v[s].input,
			       .series = s };

	memcpy(c.device, ci->device, sizeof(c.device));
	return c;
}

static void find_candidates(const struct model *m, struct candidates *all)
{
	for (series_id s = 0; s < m->series.nr; s++) {
		struct counter_info ci = counter_info(m, s);

		if (ci.quantity != QUANTITY_ENERGY || !ci.device[0] || m->series.v[s].estimated)
			continue;
		VEC_PUSH(&all->v, candidate_of(m, s, &ci));
	}
	if (all->v.nr)
		qsort(all->v.v, all->v.nr, sizeof(*all->v.v), cmp_candidates);
}

/* The first counter of the same device, best of the same input. */
static series_id counter_for(const struct candidates *all, const struct candidate *power)
{
	size_t i = LOWER_BOUND(k, 0, all->v.nr, cmp_place(&all->v.v[k], power) < 0);
	series_id found = SERIES_NONE;

	for (; i < all->v.nr && cmp_place(&all->v.v[i], power) == 0; i++) {
		if (all->v.v[i].input == power->input)
			return all->v.v[i].series;
		if (found == SERIES_NONE)
			found = all->v.v[i].series;
	}
	return found;
}

/* A moving average is half its width late. */
static double lag_of(const struct tau_fit *f)
{
	switch (f->verdict) {
	case FILTER_ONE_POLE:
		return f->tau_s;
	case FILTER_BOXCAR:
		return f->boxcar_s / 2;
	case FILTER_NONE:
		return 0;
	case FILTER_NO_COUNTER:
	case FILTER_NO_INFORMATION:
	case FILTER_NOT_MODELLED:
		break;
	}
	return NAN;
}

static void learn_filter(const struct model *m, const struct candidates *all, series_id s,
			 struct counter_rules *r)
{
	struct counter_info pi = counter_info(m, s), ei = { .kind = SERIES_UNKNOWN };
	struct candidate power = candidate_of(m, s, &pi);
	struct power_filter f;
	series_id e;

	if (pi.quantity != QUANTITY_POWER || m->series.v[s].estimated)
		return;
	e = pi.device[0] ? counter_for(all, &power) : SERIES_NONE;
	if (e != SERIES_NONE)
		ei = true_units(m, e, r->learned[e].step_raw);
	power_filter_find(m, s, &pi, e, &ei, &f);
	if (f.fit.verdict == FILTER_ONE_POLE)
		r->learned[s].tau_s = f.fit.tau_s;
	r->learned[s].lag_s = lag_of(&f.fit);
	VEC_PUSH(&r->filters, f);
}

void counters_learn(struct model *m, struct counter_rules *r)
{
	struct candidates all = { VEC_INIT };

	m->counter_rules = r;
	VEC_CLEAR(&r->filters);
	free(r->learned);
	r->learned_nr = m->series.nr;
	r->learned = xcalloc(m->series.nr + 1, sizeof(*r->learned));
	for (series_id s = 0; s < m->series.nr; s++)
		r->learned[s] = (struct counter_learned){ learn_step(m, s), 0, NAN };
	find_candidates(m, &all);
	for (series_id s = 0; s < m->series.nr; s++)
		learn_filter(m, &all, s, r);
	VEC_RELEASE(&all.v);
}
