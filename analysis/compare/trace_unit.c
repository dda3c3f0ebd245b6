/* The unit of work that two traces have in common, and how long it takes in each. */
#include "trace_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORKS_APART 1.5 /* periods with so many times the works are not of one thing */

/* What a side has of one unit. */
struct unit {
	const char *name; /* texts are shared, so names are equal when pointers are */
	size_t nr;
	double time_ns;
};

struct units {
	VEC(struct unit) v;
};

static void units_of(const struct trace_side *s, struct units *to)
{
	for (size_t i = 0; i < s->iterations.nr; i++) {
		const struct trace_iteration *it = &s->iterations.v[i];
		struct unit *u = VEC_FIND(&to->v, e, e->name == it->unit);

		if (!u && to->v.nr < 64) {
			VEC_PUSH(&to->v, ((struct unit){ .name = it->unit }));
			u = &to->v.v[to->v.nr - 1];
		}
		if (!u)
			continue;
		u->nr++;
		u->time_ns += it->time_ns > 0 ? it->time_ns : 0;
	}
}

enum value { VALUE_TIME, VALUE_HOST, VALUE_WORKS };

/* Of a unit's iterations; owned. */
static double *values_of(const struct trace_side *s, const char *unit, enum value value,
			 size_t *ret_nr)
{
	double *v = xcalloc(s->iterations.nr + 1, sizeof(*v));
	size_t nr = 0;

	for (size_t i = 0; i < s->iterations.nr; i++) {
		const struct trace_iteration *it = &s->iterations.v[i];

		if (it->unit == unit)
			v[nr++] = value == VALUE_WORKS  ? it->works
				  : value == VALUE_HOST ? it->host_ns
							: it->time_ns;
	}
	*ret_nr = nr;
	return v;
}

/* Iterations in the order of time that are no independent draws. */
static void order_note(const struct trace_facts_in *in, const char *unit,
		       const struct trace_side *s, const char *side)
{
	struct sample_order o;
	size_t nr;
	double *v = values_of(s, unit, VALUE_TIME, &nr);

	sample_order_check(v, nr, &o);
	free(v);
	if (o.drift_p < 0.01 && fabs(o.drift) > in->o->threshold)
		strvec_pushf(in->o->notes,
			     "%.60s of %s changes by %+.1f %% from its first to its last: an "
			     "interval of one level says little",
			     unit, side, o.drift * 100);
	else if (o.lag1_p < 0.01 && o.lag1 > 0)
		strvec_pushf(in->o->notes,
			     "%.60s of %s: neighbours are alike, so that the interval is too "
			     "narrow (%.0f of %zu count)",
			     unit, side, o.n_effective, nr);
}

static void values_compare(const struct trace_facts_in *in, const char *unit, enum value value,
			   struct median_ratio *ret)
{
	size_t na, nb;
	double *a = values_of(in->side_a, unit, value, &na);
	double *b = values_of(in->side_b, unit, value, &nb);

	median_ratio(a, na, b, nb, in->o->threshold, in->o->confidence, ret);
	free(a);
	free(b);
}

/* The device's word, or the host's where the device waits for it and says no difference. */
static void times_compare(struct trace_compare *t, const struct trace_facts_in *in)
{
	struct median_ratio host;
	bool device_differs, host_differs;

	values_compare(in, t->unit, VALUE_TIME, &t->time);
	t->verdict = t->time.verdict;
	values_compare(in, t->unit, VALUE_HOST, &host);
	if (!(host.a > t->time.a && host.b > t->time.b))
		return;
	t->host = host;
	device_differs = t->verdict == SAMPLE_SLOWER || t->verdict == SAMPLE_FASTER;
	host_differs = host.verdict == SAMPLE_SLOWER || host.verdict == SAMPLE_FASTER;
	if (host_differs && device_differs && host.verdict != t->verdict)
		t->verdict = SAMPLE_UNCLEAR;
	else if (host_differs)
		t->verdict = host.verdict;
}

/* Periods are found, not named: those of other numbers of works are of other things. */
static bool unit_is_common(const struct trace_facts_in *in, const char *unit)
{
	struct median_ratio works;

	if (strcmp(unit, TRACE_PERIOD) != 0)
		return true;
	values_compare(in, unit, VALUE_WORKS, &works);
	return works.ratio < WORKS_APART && works.ratio > 1 / WORKS_APART;
}

/* Of those in common the one with most time in A. */
static const char *unit_choose(const struct trace_facts_in *in, const struct units *a,
			       const struct units *b)
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < a->v.nr; i++) {
		const struct unit *u = &a->v.v[i];

		if (VEC_FIND(&b->v, e, e->name == u->name) &&
		    (!best || u->time_ns > best->time_ns ||
		     (u->time_ns >= best->time_ns && strcmp(u->name, best->name) < 0)) &&
		    unit_is_common(in, u->name))
			best = u;
	}
	return best ? best->name : NULL;
}

static char *units_text(const struct units *u)
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < u->v.nr; i++)
		if (!best || u->v.v[i].time_ns > best->time_ns)
			best = &u->v.v[i];
	return best ? xasprintf("%.60s", best->name) : xstrdup("none");
}

static bool are_runs(const struct run_set *s)
{
	return s->runs.nr && *s->runs.v[0].c.id;
}

static char *runs_text(const struct run_set *s)
{
	return xasprintf("%zu %s", s->runs.nr, s->runs.nr == 1 ? "run" : "runs");
}

/* Steady iterations of a side; a verdict needs some of both. Owned. */
static char *count_text(size_t n)
{
	return n < MEDIAN_RATIO_LEAST
		       ? xasprintf("%zu, fewer than %d steady ones", n, (int)MEDIAN_RATIO_LEAST)
		       : xasprintf("%zu", n);
}

void trace_unit_find(struct trace_compare *t, const struct trace_facts_in *in)
{
	struct units a = { VEC_INIT }, b = { VEC_INIT };
	bool runs = are_runs(in->a) && are_runs(in->b);

	units_of(in->side_a, &a);
	units_of(in->side_b, &b);
	t->unit = unit_choose(in, &a, &b);
	if (t->unit)
		times_compare(t, in);
	if (in->a->runs.nr >= TRACE_RUNS && in->b->runs.nr >= TRACE_RUNS) {
		t->unit = "run";
		trace_fact_add(t, in, "unit of work", runs_text(in->a), runs_text(in->b),
			       TRACE_FACT_OK);
	} else if (t->unit) {
		bool few = t->time.n_a < MEDIAN_RATIO_LEAST || t->time.n_b < MEDIAN_RATIO_LEAST;

		trace_fact_add(t, in, "unit of work", xstrdup(t->unit), xstrdup(t->unit),
			       TRACE_FACT_OK);
		trace_fact_add(t, in, "iterations", count_text(t->time.n_a),
			       count_text(t->time.n_b),
			       !few   ? TRACE_FACT_OK
			       : runs ? TRACE_FACT_NOTED
				      : TRACE_FACT_REFUSED);
		t->judged = !few;
		order_note(in, t->unit, in->side_a, in->o->name_a);
		order_note(in, t->unit, in->side_b, in->o->name_b);
	} else {
		trace_fact_add(t, in, "unit of work", units_text(&a), units_text(&b),
			       runs ? TRACE_FACT_NOTED : TRACE_FACT_REFUSED);
		t->unit = runs ? "run" : NULL;
	}
	VEC_RELEASE(&a.v);
	VEC_RELEASE(&b.v);
}
