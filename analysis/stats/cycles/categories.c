/*
 * Categories: executions beside the cycles that their compiler expects of them (--ideal): how much
 * of their time is spent in which kind of operator, and how well it uses the matrix engine.
 *
 *	time	of the cycles of the execution, by the measured clock of the device; beside it by
 *		the stated one (--freq), for comparison with tools that take that on trust
 *	ideal	cycles of the core's clock (--freq SOC:CORE, 1100 MHz)
 *	utilisation	ideal time / time
 *
 * Rows "Total", "StcdpHbm" (moves to memory) and "other" are always there. An execution whose
 * kernel the table lacks is "other", and counted. More than all of the engine (above 1) cannot be:
 * the ideal cycles are of another program, or a clock is wrong.
 */
#include "analyses_private.h"
#include "cycle_devices.h"
#include "ideal_match.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/model/warnings.h"

/* clang-format off */
#define CATEGORIES(X) \
	X(STR, device) X(F64, rank) X(STR, phase) X(STR, category) X(I64, calls) X(I64, cycles) \
	X(F64, time_ns) X(F64, share) X(I64, ideal_cycles) X(F64, ideal_ns) \
	X(F64, ideal_share) X(F64, pt_utilisation) X(F64, match) X(F64, stated_ns) \
	X(F64, stated_utilisation)
#define UTILISATION(X) \
	X(STR, device) X(F64, rank) X(STR, kernel) X(STR, category) X(I64, start_ns) \
	X(I64, end_ns) X(I64, cycles) X(I64, ideal_cycles) X(F64, utilisation) \
	X(F64, stated_utilisation)
/* clang-format on */
TABLE_FORM(categories, CATEGORIES,
	   "one row per device, phase and category of operator: time and ideal time of executions");
TABLE_FORM(utilisation, UTILISATION,
	   "one row per execution with ideal cycles: its use of the matrix engine");

struct sum {
	const char *category;
	int64_t calls, cycles, ideal;
};

/* What one device did in one phase. */
struct phase_sums {
	const char *phase;
	double match; /* the lowest of its jobs */
	VEC(struct sum) sums;
};

struct categories {
	struct model *m;
	const struct analysis_opts *o;
	const struct cycle_devices *cd;
	const struct cycle_device *d;
	struct table *rows, *calls;
	VEC(struct phase_sums) phases; /* of the device */
	uint64_t unmatched, above;
	const char *first_unmatched, *first_above;
	double core_mhz;
};

static struct sum *sum_of(struct phase_sums *ps, const char *category)
{
	for (size_t i = 0; i < ps->sums.nr; i++)
		if (strcmp(ps->sums.v[i].category, category) == 0)
			return &ps->sums.v[i];
	VEC_PUSH(&ps->sums, (struct sum){ .category = category });
	return &ps->sums.v[ps->sums.nr - 1];
}

static struct phase_sums *phase_of(struct categories *k, const char *phase)
{
	struct phase_sums ps = { .phase = phase, .match = INFINITY };

	for (size_t i = 0; i < k->phases.nr; i++)
		if (strcmp(k->phases.v[i].phase, phase) == 0)
			return &k->phases.v[i];
	sum_of(&ps, "Total");
	sum_of(&ps, "StcdpHbm");
	sum_of(&ps, "other");
	VEC_PUSH(&k->phases, ps);
	return &k->phases.v[k->phases.nr - 1];
}

static void sum_add(struct phase_sums *ps, const char *category, int64_t cycles, int64_t ideal)
{
	struct sum *s = sum_of(ps, category);

	s->calls++;
	s->cycles += cycles;
	s->ideal += ideal;
}

static double ideal_ns(const struct categories *k, int64_t cycles)
{
	return (double)cycles / k->core_mhz * 1e3;
}

static double stated_ns(const struct categories *k, int64_t cycles)
{
	return k->o->soc_mhz > 0 ? (double)cycles / k->o->soc_mhz * 1e3 : NAN;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : isnan(b) ? NAN : 0;
}

/* ---- executions ---- */

static void call_row(struct categories *k, const struct stamp_facts *s, const char *kernel,
		     const struct ideal_row *r)
{
	const struct span_columns *c = &k->m->spans;
	int64_t cycles = cycle_own(s);
	double ideal = ideal_ns(k, r->cycles);
	double use = ratio(ideal, cycle_time_ns(k->d, (double)cycles));

	if (use > 1) {
		k->first_above = k->above++ == 0 ? r->kernel : k->first_above;
	}
	table_add(k->calls,
		  &(struct utilisation_row){ k->d->name, k->d->rank, kernel, r->category,
					     c->start_ns[s->span] - k->m->first_ns,
					     c->end_ns[s->span] - k->m->first_ns, cycles, r->cycles,
					     use, ratio(ideal, stated_ns(k, cycles)) });
}

/* Executions v of one input, in the order of their ends; names are theirs. */
static void job_take(struct categories *k, const uint32_t *v, const char *const *names, size_t n)
{
	struct ideal_match match = ideal_match(k->o->ideal, names, n);
	struct phase_sums *ps = phase_of(k, match.table->phase);

	ps->match = fmin(ps->match, match.confidence);
	if (match.uncertain)
		model_warn(k->m, UINT32_MAX, W_IDEAL_MATCH, 1,
			   "the kernels of %s fit the ideal cycles of %s with a confidence of %.2f",
			   k->d->name, match.table->source, match.confidence);
	for (size_t i = 0; i < n; i++) {
		const struct stamp_facts *s = &k->m->facts.stamps.v[v[i]];
		const struct ideal_row *r = ideal_row_find(match.table, names[i]);
		int64_t cycles = cycle_own(s), ideal = r ? r->cycles : 0;

		sum_add(ps, "Total", cycles, ideal);
		sum_add(ps, r ? r->category : "other", cycles, ideal);
		if (r && ideal > 0)
			call_row(k, s, names[i], r);
		if (!r && k->unmatched++ == 0)
			k->first_unmatched = model_str(k->m, k->m->spans.name[s->span]);
	}
}

/* Executions of the device by input, each in the order of their ends. */
static void jobs_take(struct categories *k)
{
	const struct cycle_device *d = k->d;
	CLEANUP(xfreep) uint32_t *v = xcalloc(d->nr + 1, sizeof(*v));
	CLEANUP(xfreep) char **names = xcalloc(d->nr + 1, sizeof(*names));

	for (input_id in = 0; in < k->m->inputs.nr; in++) {
		size_t n = 0;

		for (size_t i = d->first; i < d->first + d->nr; i++) {
			uint32_t row = k->cd->rows.v[i];
			const struct stamp_facts *s = &k->m->facts.stamps.v[row];

			if (s->phase != PHASE_EXEC || span_input(&k->m->spans, s->span) != in)
				continue;
			names[n] = cycle_kernel_name(model_str(k->m, k->m->spans.name[s->span]));
			v[n++] = row;
		}
		if (n > 0)
			job_take(k, v, (const char *const *)names, n);
		while (n > 0)
			free(names[--n]);
	}
}

/* ---- rows ---- */

static int cmp_sum(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	return strcmp(a->category, b->category);
}

static int cmp_phase(const void *pa, const void *pb)
{
	const struct phase_sums *a = pa, *b = pb;

	return strcmp(a->phase, b->phase);
}

static void phase_rows(struct categories *k, struct phase_sums *ps)
{
	struct sum total = *sum_of(ps, "Total");

	qsort(ps->sums.v, ps->sums.nr, sizeof(*ps->sums.v), cmp_sum);
	for (size_t i = 0; i < ps->sums.nr; i++) {
		const struct sum *s = &ps->sums.v[i];
		double time = cycle_time_ns(k->d, (double)s->cycles), ideal = ideal_ns(k, s->ideal);
		double stated = stated_ns(k, s->cycles);

		table_add(k->rows,
			  &(struct categories_row){
				  k->d->name, k->d->rank, ps->phase, s->category, s->calls,
				  s->cycles, time, ratio((double)s->cycles, (double)total.cycles),
				  s->ideal, ideal, ratio((double)s->ideal, (double)total.ideal),
				  ratio(ideal, time), ps->match, stated, ratio(ideal, stated) });
	}
}

static void device_take(struct categories *k)
{
	jobs_take(k);
	if (k->phases.nr)
		qsort(k->phases.v, k->phases.nr, sizeof(*k->phases.v), cmp_phase);
	for (size_t i = 0; i < k->phases.nr; i++) {
		phase_rows(k, &k->phases.v[i]);
		VEC_RELEASE(&k->phases.v[i].sums);
	}
	VEC_RELEASE(&k->phases);
}

static void warn(const struct categories *k)
{
	if (k->unmatched)
		model_warn(k->m, UINT32_MAX, W_IDEAL_MATCH, k->unmatched,
			   "executions have no row in the ideal cycles, first '%s'",
			   k->first_unmatched);
	if (k->above)
		model_warn(k->m, UINT32_MAX, W_IDEAL_MATCH, k->above,
			   "executions take less than their ideal time, first '%s': another core "
			   "clock (--freq SOC:CORE), or another program",
			   k->first_above);
}

static int categories_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			  struct err *err)
{
	CLEANUP(table_freep) struct table *rows = table_make(&categories_form);
	CLEANUP(table_freep) struct table *calls = table_make(&utilisation_form);
	CLEANUP(cycle_devices_freep) struct cycle_devices *cd = NULL;
	struct categories k = { .m = m, .o = o, .rows = rows, .calls = calls };

	(void)err;
	if (!o->ideal || !o->ideal->tables.nr)
		return table_set_skip(out, "categories", "no ideal cycles are given (--ideal)");
	k.cd = cd = cycle_devices_new(m);
	k.core_mhz = o->core_mhz > 0 ? o->core_mhz : IDEAL_CORE_MHZ;
	for (size_t d = 0; d < cd->v.nr; d++) {
		k.d = &cd->v.v[d];
		device_take(&k);
	}
	warn(&k);
	if (table_rows(rows) == 0)
		return table_set_skip(out, "categories", SAY_NO_CYCLES);
	table_set_add(out, STEAL(rows));
	if (table_rows(calls))
		table_set_add(out, STEAL(calls));
	return 0;
}

const struct analysis analysis_categories = {
	.name = "categories",
	.about = "time of kernels by category beside their ideal cycles (--ideal)",
	.tables = { &categories_form, &utilisation_form },
	.run = categories_run,
	.needs_work = true,
};
