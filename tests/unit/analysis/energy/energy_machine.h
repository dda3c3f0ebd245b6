/*
 * A random machine for what the tables must show: processes of a node, queues of two devices, a
 * counter of each, a power reading, and a counter of the module that both devices are part of.
 */
#ifndef ENERGY_MACHINE_H
#define ENERGY_MACHINE_H

#include "energy_random.h"
#include "tables_support.h"

#include "profrig/base/strvec.h"

static inline bool flagged(const struct table *t, size_t row, const char *flag)
{
	return text_in_list(str_of(t, row, "flags"), '|', flag);
}

static inline bool is_rest(const struct table *t, size_t row)
{
	return strcmp(str_of(t, row, "name"), "[unattributed]") == 0;
}

static inline bool same_texts(const struct table *a, size_t i, const struct table *b, size_t k,
			      const char *const *columns, size_t n)
{
	for (size_t c = 0; c < n; c++)
		if (strcmp(str_of(a, i, columns[c]), str_of(b, k, columns[c])) != 0)
			return false;
	return true;
}

static const char *const job_columns[] = { "counter", "device", "view" };

/* ---- a machine: processes, queues of two devices, a counter of each, one of both ---- */

#define GPU0 "rocm_smi:::energy_count:device=0"
#define GPU1 "rocm_smi:::energy_count:device=1"
#define GPU0_W "rocm_smi:::power_average:device=0"
#define MODULE "hwmon3:energy1_input" /* what both devices are part of */
#define COUNTERS 4

struct machine {
	struct trace t;
	struct plan p;
	struct sampled s[COUNTERS];
	uint64_t topology_seed;
	struct topology *topology;
	struct analysis_opts o;
};

static inline void random_counter(const struct plan *p, const char *name, bool gauge,
				  struct sampled *s)
{
	bool is_gauge;

	do {
		VEC_CLEAR(&s->samples);
		plan_samples(p, s);
		is_gauge = strstr(s->name, "power") != NULL;
	} while (is_gauge != gauge || s->samples.nr < 3);
	s->name = name;
}

/* The module is one more device, whose counter has the work of both in it. */
static inline struct topology *machine_topology(struct machine *x, struct model *m)
{
	struct topology_counter c = { .device = xstrdup("hwmon3"), .measures = STRVEC_INIT };
	struct topology *tp = topology_new();

	seed = x->topology_seed;
	strvec_pushl(&c.measures, "gpu0", "gpu1", NULL);
	topology_add_counter(tp, &c);
	random_rules(tp);
	topology_resolve(tp, m);
	return tp;
}

static inline void machine_make(struct machine *x)
{
	static const char *const names[COUNTERS] = { GPU0, GPU1, GPU0_W, MODULE };

	*x = (struct machine){ .t = trace_new() };
	x->p.unit = 1 + below(2000000);
	x->p.length = 100 + below(200);
	x->p.overlaps = below(2);
	plan_tracks(&x->t, &x->p);
	plan_push(&x->t, &x->p, false);
	for (size_t i = 0; i < COUNTERS; i++) {
		random_counter(&x->p, names[i], i == 2, &x->s[i]);
		push_samples(&x->t, &x->s[i]);
	}
	trace_finish(&x->t);
	x->o.energy.integration = (enum integration)below(3);
	x->o.energy.independent = below(4) == 0;
	x->o.energy.max_gap_ns = below(2) ? 0 : 15 * x->p.unit * (1 + below(10));
	x->topology_seed = seed;
	x->o.energy.topology = x->topology = machine_topology(x, x->t.m);
}

static inline void machine_release(struct machine *x)
{
	for (size_t i = 0; i < COUNTERS; i++)
		VEC_RELEASE(&x->s[i].samples);
	VEC_RELEASE(&x->p.spans);
	idle_opts_release(&x->o.idle);
	topology_free(x->topology);
	model_free(x->t.m);
}

static inline series_id series_of(const struct model *m, const char *name)
{
	for (series_id i = 0; i < m->series.nr; i++)
		if (strcmp(model_str(m, m->series.v[i].name), name) == 0)
			return i;
	fail_msg("no series '%s'", name);
	return 0;
}

#endif
