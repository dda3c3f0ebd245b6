#include "ns.h"
#include "work_energy.h"

#include <math.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* ---- how far it may be off ---- */

/* Intervals [first, end) of the meter's curve, of which the group has j. */
static void open_add(struct joules *s, const struct work_meter *me, size_t first, size_t end,
		     double j)
{
	const struct curve *c = &me->c;

	s->part_j += j;
	if (s->open_meter == me && s->open_at == first + 1)
		first++;
	if (first >= end)
		return;
	s->open_j += end == first + 1 ? c->de[first] : c->e[end] - c->e[first];
	s->open_meter = me;
	s->open_at = end;
}

#define ALONE_REL 1e-9

/* It has all energy of the meter there, or j of it. */
static void width_add(struct joules *s, const struct work_meter *me, double j,
		      const struct meter_stretch *x)
{
	const struct curve *c = &me->c;
	bool begins, ends; /* within an interval */
	double from_j, to_j;

	if (x->first >= x->end)
		return;
	begins = x->from_ns > c->t_ns[x->first];
	ends = x->to_ns < c->t_ns[x->end];
	if (x->end == x->first + 1 && (begins || ends)) {
		open_add(s, me, x->first, x->end, j);
		return;
	}
	from_j = meter_stretch_from_j(me, x);
	to_j = meter_stretch_to_j(me, x);
	if (fabs(j - (to_j - from_j)) > ALONE_REL * fabs(to_j - from_j)) {
		open_add(s, me, x->first, x->end, j);
		return;
	}
	/* it runs alone: only the intervals at its ends are not its own */
	if (begins)
		open_add(s, me, x->first, x->first + 1, c->e[x->first + 1] - from_j);
	if (ends)
		open_add(s, me, x->end - 1, x->end, to_j - c->e[x->end - 1]);
}

double joules_width(const struct joules *s)
{
	double j = joules_value(s), width = fmax(s->part_j, s->open_j - s->part_j);

	return isnan(j) ? NAN : fmax(width, 0);
}

/* ---- sums ---- */

static void piece_add(struct joules *s, const struct work_meter *me, double j,
		      const struct meter_stretch *x)
{
	s->pieces++;
	s->lengths++;
	s->ns = ns_add(s->ns, x->to_ns - x->from_ns);
	s->unknown += isnan(j);
	if (!me)
		return;
	if (!isnan(j)) {
		sum_add(&s->j, j);
		width_add(s, me, j, x);
	}
	s->meter = me;
	s->marks |= meter_stretch_marks(me, x);
	if (!me->holds && me->c.median_period_ns > s->most_period_ns)
		s->most_period_ns = me->c.median_period_ns;
}

void joules_add_work(struct joules *s, const struct work_energy *we, size_t row)
{
	const struct work *w = &we->w->v.v[row];
	const struct work_meter *me = work_meter_of(we, w->device);
	struct meter_stretch x = { .from_ns = w->start_ns, .to_ns = w->end_ns };

	if (me)
		x = meter_stretch_of_work(we, me, row);
	piece_add(s, me, we->work_j[row], &x);
}

void joules_add_part(struct joules *s, const struct work_energy *we, uint32_t device,
		     int64_t from_ns, int64_t to_ns)
{
	const struct work_meter *me = work_meter_of(we, device);
	struct meter_stretch x;
	size_t hint = 0;

	if (from_ns >= to_ns)
		return;
	x = meter_stretch(me, from_ns, to_ns, &hint);
	joules_add_stretch(s, me, work_energy_part(we, device, from_ns, to_ns), &x);
}

void joules_add_stretch(struct joules *s, const struct work_meter *me, double j,
			const struct meter_stretch *x)
{
	piece_add(s, me, me && meter_stretch_live(me, x) ? j : NAN, x);
}

double joules_value(const struct joules *s)
{
	return s->pieces > s->unknown ? sum_value(&s->j) : NAN;
}

double joules_whole(const struct joules *s)
{
	return s->unknown ? NAN : joules_value(s);
}

/* As a row of `energy` that has these pieces. */
const char *joules_flags(const struct joules *s, char buf[ENERGY_FLAGS_MAX])
{
	const struct work_meter *me = s->meter;
	struct energy_group g = { .calls = s->lengths, .duration_ns = (double)s->ns };
	struct energy_value v = { .marks = s->marks };
	struct energy_totals totals;
	struct energy_flags of;

	buf[0] = '\0';
	if (!me)
		return buf;
	totals = (struct energy_totals){ .median_period_ns = s->most_period_ns,
					 .flags = me->c.flags };
	of = (struct energy_flags){ me->m, me->o, me->label, &totals };
	energy_flags_row(&of, &g, &v, buf);
	return buf;
}

/* ---- iterations ---- */

/* What an iteration has on the devices of one meter. */
struct stretch {
	uint32_t iteration;
	int64_t start_ns, end_ns;
	double work_j; /* of its works, as far as is known */
};

struct stretches {
	VEC(struct stretch) v;
	uint32_t *at; /* by iteration: its stretch; U64MAP_NONE */
};

static void stretch_add(struct stretches *s, uint32_t iteration, const struct work *w, double j)
{
	struct stretch *k;

	if (s->at[iteration] == U64MAP_NONE) {
		s->at[iteration] = (uint32_t)s->v.nr;
		VEC_PUSH(&s->v,
			 ((struct stretch){ iteration, w->start_ns, w->end_ns, isnan(j) ? 0 : j }));
		return;
	}
	k = &s->v.v[s->at[iteration]];
	k->start_ns = w->start_ns < k->start_ns ? w->start_ns : k->start_ns;
	k->end_ns = w->end_ns > k->end_ns ? w->end_ns : k->end_ns;
	k->work_j += isnan(j) ? 0 : j;
}

static void meter_stretches(const struct work_energy *we, const struct iterations *it,
			    uint32_t meter, struct stretches *s)
{
	for (size_t i = 0; i < s->v.nr; i++)
		s->at[s->v.v[i].iteration] = U64MAP_NONE;
	VEC_CLEAR(&s->v);
	for (uint32_t d = 0; d < we->w->devices.nr; d++) {
		const struct work_device *dev = &we->w->devices.v[d];

		for (size_t i = dev->first; we->meter_of[d] == meter && i < dev->first + dev->nr;
		     i++)
			if (it->of_work[i] != U64MAP_NONE)
				stretch_add(s, it->of_work[i], &we->w->v.v[i], we->work_j[i]);
	}
}

/* The idle time between the first and the last work of each stretch. */
static void meter_idle(const struct work_meter *me, const struct stretches *s, struct joules *ret)
{
	struct interval *v = xcalloc(s->v.nr + 1, sizeof(*v));
	double *j = xcalloc(s->v.nr + 1, sizeof(*j));
	size_t hint = 0;

	for (size_t i = 0; i < s->v.nr; i++)
		v[i] = (struct interval){ s->v.v[i].start_ns, s->v.v[i].end_ns };
	work_energy_idle_split(me, v, (uint32_t)s->v.nr, j);
	for (size_t i = 0; i < s->v.nr; i++) {
		const struct stretch *k = &s->v.v[i];
		struct meter_stretch x;

		sum_add(&ret[k->iteration].j, j[i]);
		x = meter_stretch(me, k->start_ns, k->end_ns, &hint);
		width_add(&ret[k->iteration], me, k->work_j + j[i], &x);
		ret[k->iteration].marks |= meter_stretch_marks(me, &x);
	}
	free(v);
	free(j);
}

struct joules *iteration_joules(const struct work_energy *we, const struct iterations *it)
{
	struct joules *ret = xcalloc(it->v.nr + 1, sizeof(*ret));
	struct stretches s = { .at = xcalloc(it->v.nr + 1, sizeof(*s.at)) };

	for (size_t i = 0; i < it->v.nr; i++)
		s.at[i] = U64MAP_NONE;
	for (size_t i = 0; i < we->w->v.nr; i++)
		if (it->of_work[i] != U64MAP_NONE)
			joules_add_work(&ret[it->of_work[i]], we, i);
	/* what is known of an iteration is known of the whole, not of each of its works */
	for (size_t i = 0; i < it->v.nr; i++) {
		ret[i].part_j = ret[i].open_j = 0;
		ret[i].open_at = 0;
	}
	for (uint32_t k = 0; k < we->meters.nr; k++) {
		meter_stretches(we, it, k, &s);
		meter_idle(&we->meters.v[k], &s, ret);
	}
	for (size_t i = 0; i < it->v.nr; i++) {
		ret[i].ns = iteration_ns(&it->v.v[i]);
		ret[i].lengths = 1;
	}
	VEC_RELEASE(&s.v);
	free(s.at);
	return ret;
}
