/*
 * Kernel phases: what executions spend in cycles, from being queued to their results being sent.
 * Names differ in numbers alone where a compiler counted operators: those are one row.
 */
#include "analyses_private.h"
#include "cycle_devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"

/* clang-format off */
#define KERNEL_PHASES(X) \
	X(STR, device) X(F64, rank) X(STR, name) X(STR, phase) X(I64, calls) X(I64, cycles) \
	X(F64, total_ns) X(F64, share) X(I64, min_cycles) X(F64, mean_cycles) \
	X(F64, median_cycles) X(I64, max_cycles) X(F64, stddev_cycles)
/* clang-format on */
TABLE_FORM(kernel_phases, KERNEL_PHASES,
	   "one row per device, kernel and phase: cycles of executions, numbers in names folded");

static const char *const phase_words[] = {
	[PHASE_DMA_IN] = "dma_in",
	[PHASE_PREP] = "prep",
	[PHASE_EXEC] = "exec",
	[PHASE_DMA_OUT] = "dma_out",
};

struct phases {
	const struct model *m;
	const struct cycle_devices *cd;
	struct intern *names;
	struct u64map group_of; /* name of a span → folded name */
	int64_t *cycles;        /* of one group and phase */
};

/* Executions of one name: [from, from + nr) of a device's. */
struct group {
	const char *name;
	size_t from, nr;
	int64_t cycles;
};

static str_id folded(struct phases *p, str_id name)
{
	uint32_t *at = u64map_at(&p->group_of, name);

	if (*at == U64MAP_NONE) {
		CLEANUP(xfreep) char *kernel = cycle_kernel_name(model_str(p->m, name));
		CLEANUP(xfreep) char *all = cycle_name_folded(kernel);

		*at = intern_put(p->names, all, strlen(all));
	}
	return *at;
}

struct cycle_moments {
	int64_t sum;
	double mean, median, stddev;
};

/* Sorts v. */
static struct cycle_moments cycle_moments_of(int64_t *v, size_t n)
{
	struct cycle_moments k = { .median = 0 };
	double squares = 0;

	sort_i64(v, n);
	for (size_t i = 0; i < n; i++)
		k.sum += v[i];
	k.mean = (double)k.sum / (double)n;
	k.median = sorted_median(v, n);
	for (size_t i = 0; i < n; i++)
		squares += ((double)v[i] - k.mean) * ((double)v[i] - k.mean);
	k.stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return k;
}

static void group_rows(struct phases *p, struct table *t, const struct cycle_device *d,
		       const struct group *g, const struct sort_pair *v, const int64_t *totals)
{
	for (int phase = PHASE_DMA_IN; phase <= PHASE_DMA_OUT; phase++) {
		struct cycle_moments k;

		for (size_t i = 0; i < g->nr; i++)
			p->cycles[i] = cycle_phase(&p->m->facts.stamps.v[v[g->from + i].row],
						   (enum stamp_phase)phase);
		k = cycle_moments_of(p->cycles, g->nr);
		table_add(t,
			  &(struct kernel_phases_row){
				  d->name, d->rank, g->name, phase_words[phase], (int64_t)g->nr,
				  k.sum, cycle_time_ns(d, (double)k.sum),
				  totals[phase] ? (double)k.sum / (double)totals[phase] : 0,
				  p->cycles[0], k.mean, k.median, p->cycles[g->nr - 1], k.stddev });
	}
}

/* What executes longest first. */
static int cmp_group(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Owned; *ret_nr of them. v: by name. */
static struct group *groups_of(const struct phases *p, const struct sort_pair *v, size_t n,
			       size_t *ret_nr)
{
	struct group *g = xcalloc(n + 1, sizeof(*g));
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || v[i].key != v[i - 1].key)
			g[nr++] = (struct group){ intern_str(p->names, (str_id)v[i].key), i, 0, 0 };
		g[nr - 1].nr++;
		g[nr - 1].cycles += cycle_own(&p->m->facts.stamps.v[v[i].row]);
	}
	if (nr)
		qsort(g, nr, sizeof(*g), cmp_group);
	*ret_nr = nr;
	return g;
}

static void device_rows(struct phases *p, struct table *t, const struct cycle_device *d)
{
	CLEANUP(xfreep) struct sort_pair *v = xcalloc(d->nr + 1, sizeof(*v));
	CLEANUP(xfreep) struct group *groups = NULL;
	int64_t totals[PHASE_DMA_OUT + 1] = { 0 };
	size_t n = 0, nr;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		uint32_t row = p->cd->rows.v[i];
		const struct stamp_facts *s = &p->m->facts.stamps.v[row];

		if (s->phase != PHASE_EXEC)
			continue;
		v[n++] = (struct sort_pair){ folded(p, p->m->spans.name[s->span]), row };
		for (int k = PHASE_DMA_IN; k <= PHASE_DMA_OUT; k++)
			totals[k] += cycle_phase(s, (enum stamp_phase)k);
	}
	sort_pairs(v, n);
	groups = groups_of(p, v, n, &nr);
	p->cycles = xcalloc(n + 1, sizeof(*p->cycles));
	for (size_t i = 0; i < nr; i++)
		group_rows(p, t, d, &groups[i], v, totals);
	free(p->cycles);
}

static int kernel_phases_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			     struct err *err)
{
	CLEANUP(table_freep) struct table *t = table_make(&kernel_phases_form);
	CLEANUP(cycle_devices_freep) struct cycle_devices *cd = cycle_devices_new(m);
	struct phases p = { .m = m, .cd = cd, .names = intern_new() };

	(void)o;
	(void)err;
	for (size_t i = 0; i < cd->v.nr; i++)
		device_rows(&p, t, &cd->v.v[i]);
	intern_free(p.names);
	u64map_release(&p.group_of);
	if (table_rows(t) == 0)
		return table_set_skip(out, "kernel_phases", SAY_NO_CYCLES);
	table_set_add(out, STEAL(t));
	return 0;
}

const struct analysis analysis_kernel_phases = {
	.name = "kernel_phases",
	.about = "cycles of kernels from being queued to their results, by phase",
	.tables = { &kernel_phases_form },
	.run = kernel_phases_run,
	.needs_work = true,
};
