/* The sharers of each energy counter, and the rule behind it: the premise of the table energy. */
#include "analyses_private.h"
#include "series_label.h"
#include "track_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/topology/topology.h"

/* clang-format off */
#define SHARING(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, sharer) X(STR, rule) X(F64, weight)
/* clang-format on */
TABLE_FORM(sharing, SHARING,
	   "who shares the energy of each counter, and which rule says so; by counter, device and "
	   "view, then in the order of tracks");

/* Rows of one counter and view; more are counted in one row. */
#define MAX_SHARERS 64

struct sharing {
	const struct model *m;
	const struct topology *tp;
	struct table *t;
	struct strvec names; /* of queues */
	track_id *order;
	bool *seen; /* by track: its row is written */
};

static void sharing_row_add(struct sharing *sh, const struct series_label *l, const char *view,
			    const char *sharer, const char *rule, double weight)
{
	table_add(sh->t, &(struct sharing_row){ l->name, l->device, view, sharer, rule, weight });
}

/* A process is shown by its rank, else by its name; followed by host and pid where known. */
static void process_name(const struct model *m, track_id p, track_id thread, struct strbuf *out)
{
	const struct track *tr = &m->tracks.v[p];
	int32_t rank = tr->rank == RANK_NONE ? m->tracks.v[thread].rank : tr->rank;
	const char *name = model_str(m, tr->name), *host = model_host_of(m, p);

	strbuf_clear(out);
	if (rank != RANK_NONE)
		strbuf_addf(out, "rank %d", (int)rank);
	else
		strbuf_addstr(out, *name ? name : "process");
	if (tr->pid != PID_NONE)
		strbuf_addf(out, " (%s%s%" PRId64 ")", host, *host ? ":" : "", tr->pid);
}

static void sharing_ended(struct sharing *sh, const struct series_label *l, const char *view,
			  size_t nr)
{
	char more[64];

	if (nr == 0)
		sharing_row_add(sh, l, view, "[nobody]", "", NAN);
	if (nr <= MAX_SHARERS)
		return;
	snprintf(more, sizeof(more), "[%zu more]", nr - MAX_SHARERS);
	sharing_row_add(sh, l, view, more, "", NAN);
}

static track_id process_of(const struct model *m, track_id t)
{
	track_id p = model_process_of(m, t);

	return p == TRACK_NONE ? t : p;
}

static void host_rows(struct sharing *sh, const struct series_label *l)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
	const struct model *m = sh->m;
	size_t nr = 0;

	memset(sh->seen, 0, m->tracks.nr * sizeof(*sh->seen));
	for (size_t i = 0; i < m->tracks.nr; i++) {
		track_id t = sh->order[i], p = process_of(m, t);
		const struct track *tr = &m->tracks.v[t];

		if (tr->kind != TRACK_THREAD || !model_has_calls(tr) || tr->beside || sh->seen[p] ||
		    !topology_sees(sh->tp, m, t, l->series, l->info.device))
			continue;
		sh->seen[p] = true;
		if (nr++ >= MAX_SHARERS)
			continue;
		process_name(m, p, t, &name);
		sharing_row_add(sh, l, "host", name.buf,
				topology_why_name(topology_why_sees(sh->tp, m, t, l->series)),
				topology_weight(sh->tp, m, t, l->series));
	}
	sharing_ended(sh, l, "host", nr);
}

static void device_rows(struct sharing *sh, const struct series_label *l)
{
	const struct model *m = sh->m;
	size_t nr = 0;

	for (size_t i = 0; i < m->tracks.nr; i++) {
		track_id t = sh->order[i];

		if (m->tracks.v[t].kind != TRACK_QUEUE || !model_has_calls(&m->tracks.v[t]) ||
		    !topology_runs_on(sh->tp, m, t, l->series, l->info.device) ||
		    nr++ >= MAX_SHARERS)
			continue;
		sharing_row_add(sh, l, "device", sh->names.v[t],
				topology_why_name(topology_why_runs_on(sh->tp, m, t, l->series)),
				1);
	}
	if (nr)
		sharing_ended(sh, l, "device", nr);
}

static int sharing_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		       struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	CLEANUP(table_freep) struct table *t = table_make(&sharing_form);
	struct sharing sh = { .m = m, .tp = o->energy.topology, .t = t, .names = STRVEC_INIT };

	(void)err;
	track_names(m, &sh.names);
	sh.order = track_order(m);
	sh.seen = xcalloc(m->tracks.nr + 1, sizeof(*sh.seen));
	for (size_t i = 0; i < m->series.nr; i++) {
		if (!counter_is_energy(&labels[i].info))
			continue;
		if (*labels[i].info.device)
			device_rows(&sh, &labels[i]);
		host_rows(&sh, &labels[i]);
	}
	if (table_rows(t) > 0)
		table_set_add(out, STEAL(t));
	strvec_release(&sh.names);
	free(sh.order);
	free(sh.seen);
	return 0;
}

const struct analysis analysis_sharing = {
	.name = "sharing",
	.about = "who shares the energy of each counter, and why",
	.nothing = "no counter of energy or power was sampled",
	.tables = { &sharing_form },
	.run = sharing_run,
	.series_only = true,
};
