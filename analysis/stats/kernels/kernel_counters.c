/*
 * Hardware counters by kernel. Readers give a dispatch's counter as a sample of a series of its
 * queue, at the end of the dispatch (rocprof's CSV files and databases, rocprofv3's JSON, Nsight
 * Compute's CSV); here the two come together again: by queue and time. Of several kernels of a
 * queue that end at one moment the one that started last has the value.
 */
#include "analyses_private.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* clang-format off */
#define KERNEL_COUNTERS(X) \
	X(STR, device) X(STR, name) X(STR, counter) X(I64, values) X(F64, total) X(F64, mean) \
	X(F64, min) X(F64, max) X(STR, unit)
/* clang-format on */
TABLE_FORM(kernel_counters, KERNEL_COUNTERS, "one row per device, kernel and hardware counter");

/* The end of a kernel. */
struct end {
	track_id queue;
	int64_t end_ns, start_ns;
	uint64_t span;
};

struct counted {
	str_id device, name; /* of the kernel; STR_NONE: values without one */
	str_id counter, unit;
	int64_t values;
	double total, min, max;
};

struct counting {
	const struct model *m;
	VEC(struct end) ends;
	VEC(struct counted) rows;
	struct u64map by_name; /* of one series: (device, kernel) → row */
};

static int cmp_end(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void ends_take(struct counting *c, const struct works *w)
{
	for (size_t i = 0; i < w->v.nr; i++) {
		const struct work *k = &w->v.v[i];

		if (c->m->spans.kind[k->span] == SPAN_KERNEL)
			VEC_PUSH(&c->ends,
				 ((struct end){ k->queue, k->end_ns, k->start_ns, k->span }));
	}
	if (c->ends.nr)
		qsort(c->ends.v, c->ends.nr, sizeof(*c->ends.v), cmp_end);
}

/* The kernel that ends then; NULL. */
static const struct end *end_at(const struct counting *c, track_id queue, int64_t t_ns)
{
	size_t i = LOWER_BOUND(at, 0, c->ends.nr,
			       c->ends.v[at].queue < queue || (c->ends.v[at].queue == queue &&
							       c->ends.v[at].end_ns <= t_ns));

	if (i == 0 || c->ends.v[i - 1].queue != queue || c->ends.v[i - 1].end_ns != t_ns)
		return NULL;
	return &c->ends.v[i - 1];
}

static void value_add(struct counting *c, const struct series *s, str_id name, double value)
{
	uint32_t *at = u64map_at(&c->by_name, name);
	struct counted *r;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->rows.nr;
		VEC_PUSH(&c->rows, ((struct counted){ .device = c->m->tracks.v[s->track].device,
						      .name = name,
						      .counter = s->name,
						      .unit = s->unit,
						      .min = INFINITY,
						      .max = -INFINITY }));
	}
	r = &c->rows.v[*at];
	r->values++;
	r->total += value;
	r->min = value < r->min ? value : r->min;
	r->max = value > r->max ? value : r->max;
}

/* A series of a queue whose samples lie at no end of a kernel is none of these counters. */
static void series_take(struct counting *c, const struct series *s)
{
	size_t joined = 0;

	for (size_t i = 0; i < s->t_ns.nr && !joined; i++)
		joined += end_at(c, s->track, s->t_ns.v[i]) != NULL;
	if (!joined)
		return;
	c->by_name = (struct u64map)U64MAP_INIT;
	for (size_t i = 0; i < s->t_ns.nr; i++) {
		const struct end *e = end_at(c, s->track, s->t_ns.v[i]);

		if (isfinite(s->value.v[i]))
			value_add(c, s, e ? c->m->spans.name[e->span] : STR_NONE, s->value.v[i]);
	}
	u64map_release(&c->by_name);
}

static int cmp_row(const void *pa, const void *pb)
{
	const struct counted *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Queues of a device have a series each. */
static void rows_join(struct counting *c)
{
	size_t nr = 0;

	if (c->rows.nr)
		qsort(c->rows.v, c->rows.nr, sizeof(*c->rows.v), cmp_row);
	for (size_t i = 0; i < c->rows.nr; i++) {
		struct counted *r = nr ? &c->rows.v[nr - 1] : NULL;
		const struct counted *x = &c->rows.v[i];

		if (!r || cmp_row(r, x) != 0) {
			c->rows.v[nr++] = *x;
			continue;
		}
		r->values += x->values;
		r->total += x->total;
		r->min = x->min < r->min ? x->min : r->min;
		r->max = x->max > r->max ? x->max : r->max;
	}
	c->rows.nr = nr;
}

static struct table *table_of(const struct counting *c)
{
	struct table *t = table_make(&kernel_counters_form);

	for (size_t i = 0; i < c->rows.nr; i++) {
		const struct counted *r = &c->rows.v[i];

		table_add(t, &(struct kernel_counters_row){
				     model_str(c->m, r->device),
				     r->name == STR_NONE ? "[no kernel]" : model_str(c->m, r->name),
				     model_str(c->m, r->counter), r->values, r->total,
				     r->total / (double)r->values, r->min, r->max,
				     model_str(c->m, r->unit) });
	}
	table_sort(t, (const int[]){ 0, 2, ~4, 1 }, 4);
	return t;
}

static bool is_of_kernels(const struct model *m, const struct series *s)
{
	return s->track != TRACK_NONE && m->tracks.v[s->track].kind == TRACK_QUEUE;
}

static int kernel_counters_run(struct model *m, const struct analysis_opts *o,
			       struct table_set *out, struct err *err)
{
	struct counting c = { .m = m };

	(void)err;
	if (!VEC_FIND(&m->series, s, is_of_kernels(m, s)))
		return 0;
	ends_take(&c, analysis_works(m, o));
	for (size_t i = 0; i < m->series.nr; i++)
		if (is_of_kernels(m, &m->series.v[i]))
			series_take(&c, &m->series.v[i]);
	rows_join(&c);
	if (c.rows.nr)
		table_set_add(out, table_of(&c));
	VEC_RELEASE(&c.ends);
	VEC_RELEASE(&c.rows);
	return 0;
}

const struct analysis analysis_kernel_counters = {
	.name = "kernel_counters",
	.about = "hardware counters of each kernel",
	.nothing = "no kernel has counters of its own",
	.tables = { &kernel_counters_form },
	.run = kernel_counters_run,
	.needs_work = true,
};
