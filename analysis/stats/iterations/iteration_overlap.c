/*
 * iteration_overlap: what an iteration's time on a device went into: computing, else communicating,
 * else copying, else idle, as `overlap` says it of the whole device.
 *
 * The window reaches from the first start to the last end of the iteration's works on the device,
 * and all that runs on the device in it counts, whichever iteration launched it: a device that
 * works for the next iteration already is not idle. So the four parts add up to the window exactly.
 * own_ns is the time in which a work of the iteration itself ran.
 */
#include "analyses_private.h"
#include "ns.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

/* clang-format off */
#define ITERATION_OVERLAP(X) \
	X(STR, iteration) X(STR, device) X(I64, wall_ns) X(I64, compute_ns) X(I64, comm_ns) \
	X(I64, copy_ns) X(I64, exposed_comm_ns) X(I64, hidden_comm_ns) X(I64, exposed_copy_ns) \
	X(I64, idle_ns) X(I64, start_ns) X(I64, own_ns) X(STR, steady) X(F64, rank)
/* clang-format on */
TABLE_FORM(iteration_overlap, ITERATION_OVERLAP,
	   "one row per iteration and device with its work: what the time went into");

enum { COMPUTE = 1u << WORK_COMPUTE, COMM = 1u << WORK_COLLECTIVE, COPY = 1u << WORK_COPY };

/* An iteration on a device. */
struct part {
	uint32_t iteration, device;
	int64_t from_ns, to_ns; /* of its works; to_ns: the end of all so far, too */
	int64_t own_ns;
	struct iteration_overlap_row row;
};

struct parts {
	const struct works *w;
	const struct iterations *it;
	VEC(struct part) v;
	uint32_t *at; /* by iteration: its part on the device that was seen last; U64MAP_NONE */
};

/* Rows of a device are by start. */
static void part_add(struct part *p, const struct work *k)
{
	int64_t from = k->start_ns > p->to_ns ? k->start_ns : p->to_ns;

	if (k->end_ns > from)
		p->own_ns = ns_add(p->own_ns, k->end_ns - from);
	if (k->end_ns > p->to_ns)
		p->to_ns = k->end_ns;
}

static void device_parts(struct parts *ps, uint32_t device)
{
	const struct work_device *d = &ps->w->devices.v[device];
	size_t first = ps->v.nr;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &ps->w->v.v[i];
		uint32_t iteration = ps->it->of_work[i], at;

		if (iteration == U64MAP_NONE)
			continue;
		at = ps->at[iteration];
		if (at == U64MAP_NONE || at < first) {
			at = ps->at[iteration] = (uint32_t)ps->v.nr;
			VEC_PUSH(&ps->v, ((struct part){ .iteration = iteration,
							 .device = device,
							 .from_ns = k->start_ns,
							 .to_ns = k->start_ns }));
		}
		part_add(&ps->v.v[at], k);
	}
}

/* When a device did what. */
struct courses {
	struct interval_sums compute, comm, copy, exposed_comm, exposed_copy, all;
};

static void courses_release(struct courses *c)
{
	interval_sums_release(&c->compute);
	interval_sums_release(&c->comm);
	interval_sums_release(&c->copy);
	interval_sums_release(&c->exposed_comm);
	interval_sums_release(&c->exposed_copy);
	interval_sums_release(&c->all);
}

static void courses_take(struct courses *c, const struct works *w, uint32_t device)
{
	const struct work_device *d = &w->devices.v[device];
	int64_t from = d->first_ns, to = d->last_ns;

	works_union(w, device, COMPUTE, from, to, &c->compute.iv);
	works_union(w, device, COMM, from, to, &c->comm.iv);
	works_union(w, device, COPY, from, to, &c->copy.iv);
	works_union(w, device, COMPUTE | COMM, from, to, &c->all.iv);
	intervals_subtract(&c->comm.iv, &c->compute.iv, &c->exposed_comm.iv);
	intervals_subtract(&c->copy.iv, &c->all.iv, &c->exposed_copy.iv);
	works_union(w, device, COMPUTE | COMM | COPY, from, to, &c->all.iv);
	interval_sums_make(&c->compute);
	interval_sums_make(&c->comm);
	interval_sums_make(&c->copy);
	interval_sums_make(&c->exposed_comm);
	interval_sums_make(&c->exposed_copy);
	interval_sums_make(&c->all);
}

static int64_t in_part(const struct interval_sums *s, const struct part *p)
{
	return interval_sums_until(s, p->to_ns) - interval_sums_until(s, p->from_ns);
}

static struct iteration_overlap_row part_row(const struct parts *ps, const struct part *p,
					     const struct courses *c)
{
	const struct model *m = ps->w->m;
	const struct iteration *i = &ps->it->v.v[p->iteration];
	struct iteration_overlap_row r = {
		.device = model_str(m, ps->w->devices.v[p->device].name),
		.wall_ns = p->to_ns - p->from_ns,
		.compute_ns = in_part(&c->compute, p),
		.comm_ns = in_part(&c->comm, p),
		.copy_ns = in_part(&c->copy, p),
		.exposed_comm_ns = in_part(&c->exposed_comm, p),
		.exposed_copy_ns = in_part(&c->exposed_copy, p),
		.start_ns = p->from_ns - m->first_ns,
		.own_ns = p->own_ns,
		.steady = i->steady ? "yes" : "no",
		.rank = iteration_rank(m, ps->w, i),
	};

	r.hidden_comm_ns = r.comm_ns - r.exposed_comm_ns;
	r.idle_ns = r.wall_ns - in_part(&c->all, p);
	return r;
}

static int by_iteration(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->iteration != b->iteration)
		return a->iteration < b->iteration ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* Parts are by device: the courses of one are known at a time. Returns how many do not add up. */
static size_t rows_fill(struct parts *ps)
{
	CLEANUP(courses_release) struct courses c = { .compute = INTERVAL_SUMS_INIT };
	uint32_t device = U64MAP_NONE;
	size_t wrong = 0;

	for (size_t k = 0; k < ps->v.nr; k++) {
		struct part *p = &ps->v.v[k];
		struct iteration_overlap_row *r = &p->row;

		if (p->device != device)
			courses_take(&c, ps->w, p->device);
		device = p->device;
		*r = part_row(ps, p, &c);
		wrong += r->wall_ns !=
			 r->compute_ns + r->exposed_comm_ns + r->exposed_copy_ns + r->idle_ns;
	}
	return wrong;
}

static struct table *parts_table(struct parts *ps)
{
	struct table *t = table_make(&iteration_overlap_form);
	char buf[ITERATION_NAME_MAX];

	qsort(ps->v.v, ps->v.nr, sizeof(*ps->v.v), by_iteration);
	for (size_t k = 0; k < ps->v.nr; k++) {
		struct part *p = &ps->v.v[k];

		p->row.iteration = iteration_name(ps->w->m, &ps->it->v.v[p->iteration], buf);
		table_add(t, &p->row);
	}
	return t;
}

static int iteration_overlap_run(struct model *m, const struct analysis_opts *o,
				 struct table_set *out, struct err *err)
{
	struct parts ps = { .w = analysis_works(m, o) };
	int r = analysis_iterations(m, o, &ps.it, err);
	size_t wrong;

	if (r < 0)
		return r;
	ps.at = xreallocarray(NULL, ps.it->v.nr + 1, sizeof(*ps.at));
	for (size_t i = 0; i < ps.it->v.nr; i++)
		ps.at[i] = U64MAP_NONE;
	for (uint32_t d = 0; d < ps.w->devices.nr; d++)
		device_parts(&ps, d);
	free(ps.at);
	if (ps.v.nr == 0)
		return table_set_skip(out, "iteration_overlap",
				      ps.it->v.nr ? "no iteration launched device work"
						  : "needs iterations");
	wrong = rows_fill(&ps);
	table_set_check(out, "iteration_overlap: the parts of each iteration add up to its window",
			wrong == 0, "%zu of %zu differ", wrong, ps.v.nr);
	table_set_add(out, parts_table(&ps));
	VEC_RELEASE(&ps.v);
	return 0;
}

const struct analysis analysis_iteration_overlap = {
	.name = "iteration_overlap",
	.about = "what each iteration's time on a device went into, and what is beside what",
	.tables = { &iteration_overlap_form },
	.run = iteration_overlap_run,
	.needs_work = true,
};
