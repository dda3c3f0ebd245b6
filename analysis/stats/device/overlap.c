/*
 * Where the time of a device went: computing, else communicating, else copying, else idle. The
 * four parts add up to the wall time exactly.
 */
#include "analyses_private.h"

#include <inttypes.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/model/sink.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define OVERLAP(X) \
	X(STR, device) X(I64, wall_ns) X(I64, compute_ns) X(I64, comm_ns) X(I64, copy_ns) \
	X(I64, exposed_comm_ns) X(I64, hidden_comm_ns) X(I64, exposed_copy_ns) X(I64, idle_ns) \
	X(I64, queue_overlaps)
/* clang-format on */
TABLE_FORM(overlap, OVERLAP,
	   "one row per device: how much of its time went into computing, and how much of "
	   "communication and copies was beside it");

struct unions {
	struct intervals compute, comm, copy, before_copy, all;
};

static void unions_release(struct unions *u)
{
	intervals_release(&u->compute);
	intervals_release(&u->comm);
	intervals_release(&u->copy);
	intervals_release(&u->before_copy);
	intervals_release(&u->all);
}

enum { COMPUTE = 1u << WORK_COMPUTE, COMM = 1u << WORK_COLLECTIVE, COPY = 1u << WORK_COPY };

static struct overlap_row device_overlap(const struct works *w, uint32_t device, struct unions *u)
{
	const struct work_device *d = &w->devices.v[device];
	struct overlap_row row = { .device = model_str(w->m, d->name),
				   .wall_ns = d->last_ns - d->first_ns };

	works_union(w, device, COMPUTE, d->first_ns, d->last_ns, &u->compute);
	works_union(w, device, COMM, d->first_ns, d->last_ns, &u->comm);
	works_union(w, device, COPY, d->first_ns, d->last_ns, &u->copy);
	works_union(w, device, COMPUTE | COMM, d->first_ns, d->last_ns, &u->before_copy);
	works_union(w, device, COMPUTE | COMM | COPY, d->first_ns, d->last_ns, &u->all);
	row.compute_ns = intervals_length(&u->compute);
	row.comm_ns = intervals_length(&u->comm);
	row.copy_ns = intervals_length(&u->copy);
	row.exposed_comm_ns = intervals_without(&u->comm, &u->compute);
	row.hidden_comm_ns = intervals_common(&u->comm, &u->compute);
	row.exposed_copy_ns = intervals_without(&u->copy, &u->before_copy);
	row.idle_ns = row.wall_ns - intervals_length(&u->all);
	return row;
}

/* A graph's kernels may run side by side, and are recorded on the queue of its launch. */
static bool is_of_graph(const struct model *m, const struct work *k)
{
	const struct kernel_facts *f = facts_kernel(m, k->span);

	return (f && f->graph != FACT_ABSENT) ||
	       (k->launch != SPAN_NONE &&
		api_class(model_str(m, m->spans.name[k->launch])) == API_GRAPH_LAUNCH);
}

/*
 * Kernels that start before an earlier one of their queue has ended. last_ns: by track, what ended
 * last. Returns how many; *ret_first is the first one's row.
 */
static int64_t queue_overlaps(const struct works *w, uint32_t device, int64_t *last_ns,
			      size_t *ret_first)
{
	const struct work_device *d = &w->devices.v[device];
	int64_t nr = 0;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];
		int64_t *last = &last_ns[k->queue];

		if (k->class == WORK_COPY)
			continue;
		if (k->start_ns < *last && k->end_ns > k->start_ns && !is_of_graph(w->m, k) &&
		    nr++ == 0)
			*ret_first = i;
		if (k->end_ns > *last)
			*last = k->end_ns;
	}
	return nr;
}

static void overlaps_warn(struct model *m, const struct works *w, int64_t nr, size_t first)
{
	const struct work *k = &w->v.v[first];

	if (nr)
		model_warn(m, span_input(&m->spans, k->span), W_QUEUE_OVERLAP, (uint64_t)nr,
			   "%s: %s at %" PRId64 " ns", model_str(m, m->tracks.v[k->queue].name),
			   model_str(m, m->spans.name[k->span]), k->start_ns - m->first_ns);
}

static int overlap_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		       struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(unions_release) struct unions u = { .all = INTERVALS_INIT };
	struct table *t = table_make(&overlap_form);
	CLEANUP(xfreep) int64_t *last_ns = xcalloc(m->tracks.nr + 1, sizeof(*last_ns));
	size_t wrong = 0;

	(void)err;
	for (track_id q = 0; q < m->tracks.nr; q++)
		last_ns[q] = TIME_MIN;
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		struct overlap_row row = device_overlap(w, d, &u);
		size_t first = 0;

		wrong += row.wall_ns != row.compute_ns + row.exposed_comm_ns + row.exposed_copy_ns +
						row.idle_ns ||
			 row.comm_ns != row.exposed_comm_ns + row.hidden_comm_ns;
		row.queue_overlaps = queue_overlaps(w, d, last_ns, &first);
		overlaps_warn(m, w, row.queue_overlaps, first);
		table_add(t, &row);
	}
	table_set_check(out, "overlap: compute + exposed comm + exposed copy + idle = wall",
			wrong == 0, "%zu of %zu devices differ", wrong, w->devices.nr);
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_overlap = {
	.name = "overlap",
	.about =
		"computing, communication, copies and idle time of each device, and what is beside "
		"what",
	.tables = { &overlap_form },
	.run = overlap_run,
	.needs_work = true,
};
