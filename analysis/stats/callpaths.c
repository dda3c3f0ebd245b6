#include "analyses_private.h"
#include "cct.h"
#include "ns.h"
#include "track_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define CALLPATHS(X) \
	X(STR, track) X(STR, path) X(I64, depth) X(I64, calls) X(I64, inclusive_ns) \
	X(I64, exclusive_ns) X(I64, device_inclusive_ns) X(I64, device_exclusive_ns)
/* clang-format on */
TABLE_FORM(callpaths, CALLPATHS,
	   "one row per call path of a host track, and what ran on devices for it");

struct metrics {
	uint64_t calls;
	int64_t inclusive_ns, exclusive_ns;
	int64_t device_inclusive_ns, device_exclusive_ns;
};

struct lost { /* device work that no open span launched */
	str_id device;
	uint64_t pieces;
	int64_t ns;
};

struct callpaths {
	struct model *m;
	struct cct cct;
	struct metrics *of_node;
	VEC(struct lost) lost; /* one per device that has some */
	int64_t device_ns;     /* Σ of all device work */
	int64_t covered_ns;    /* Σ over threads of the time in which any call was open */
};

/* Inclusive is the sum over the subtree, so a moment counts once in a path with any overlap; where
 * calls nest well this is the sum of their durations. */
static void sum_subtrees(struct callpaths *cp)
{
	struct metrics *me = cp->of_node;

	for (size_t n = cp->cct.nr; n-- > 0;) {
		uint32_t p = cp->cct.nodes[n].parent;

		me[n].inclusive_ns = ns_add(me[n].inclusive_ns, me[n].exclusive_ns);
		me[n].device_inclusive_ns =
			ns_add(me[n].device_inclusive_ns, me[n].device_exclusive_ns);
		if (p == CCT_NONE)
			continue;
		me[p].inclusive_ns = ns_add(me[p].inclusive_ns, me[n].inclusive_ns);
		me[p].device_inclusive_ns =
			ns_add(me[p].device_inclusive_ns, me[n].device_inclusive_ns);
	}
}

static void callpaths_row_add(struct table *t, const char *track, const char *path, uint32_t depth,
			      const struct metrics *me)
{
	table_add(t, &(struct callpaths_row){ track, path, depth, (int64_t)me->calls,
					      me->inclusive_ns, me->exclusive_ns,
					      me->device_inclusive_ns, me->device_exclusive_ns });
}

static int cmp_lost(const void *pa, const void *pb, void *ctx)
{
	const struct lost *a = pa, *b = pb;
	return natural_cmp(model_str(ctx, a->device), model_str(ctx, b->device));
}

static struct table *make_table(struct callpaths *cp)
{
	struct table *t = table_make(&callpaths_form);
	CLEANUP(strvec_release) struct strvec tracks = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	CLEANUP(xfreep) double *weight = xcalloc(cp->cct.nr + 1, sizeof(*weight));
	for (size_t n = 0; n < cp->cct.nr; n++)
		weight[n] = (double)cp->of_node[n].inclusive_ns;
	CLEANUP(xfreep) uint32_t *order = cct_preorder(&cp->cct, cp->m, weight);
	track_names(cp->m, &tracks);
	for (size_t k = 0; k < cp->cct.nr; k++) {
		const struct cct_node *node = &cp->cct.nodes[order[k]];
		cct_path(&cp->cct, order[k], &path);
		callpaths_row_add(t, tracks.v[node->track], path.buf, node->depth,
				  &cp->of_node[order[k]]);
	}
	if (cp->lost.nr)
		qsort_r(cp->lost.v, cp->lost.nr, sizeof(*cp->lost.v), cmp_lost, (void *)cp->m);
	for (size_t k = 0; k < cp->lost.nr; k++) {
		const struct lost *l = &cp->lost.v[k];
		struct metrics me = { .calls = l->pieces,
				      .device_inclusive_ns = l->ns,
				      .device_exclusive_ns = l->ns };
		callpaths_row_add(t, model_str(cp->m, l->device), "[unattributed]", 0, &me);
	}
	return t;
}

static void check_sums(const struct callpaths *cp, struct table_set *out)
{
	int64_t exclusive = 0, device = 0, lost = 0, covered = cp->covered_ns;
	for (size_t n = 0; n < cp->cct.nr; n++) {
		exclusive = ns_add(exclusive, cp->of_node[n].exclusive_ns);
		device = ns_add(device, cp->of_node[n].device_exclusive_ns);
	}
	for (size_t k = 0; k < cp->lost.nr; k++)
		lost = ns_add(lost, cp->lost.v[k].ns);
	if (cp->cct.nr)
		table_set_check(out, "exclusive_time", exclusive == covered,
				"sum of exclusive times %" PRId64
				" ns, time covered by calls %" PRId64 " ns",
				exclusive, covered);
	if (cp->device_ns)
		table_set_check(out, "device_time", ns_add(device, lost) == cp->device_ns,
				"attributed %" PRId64 " ns + unattributed %" PRId64
				" ns, device work %" PRId64 " ns",
				device, lost, cp->device_ns);
}

static void add_tables(struct callpaths *cp, struct table_set *out)
{
	sum_subtrees(cp);
	if (cp->cct.cut_spans)
		model_warn(cp->m, UINT32_MAX, W_DEEP_STACK, cp->cct.cut_spans,
			   "calls are nested too deep for paths of their own");
	if (cp->cct.nr || cp->lost.nr) {
		table_set_add(out, make_table(cp));
		check_sums(cp, out);
	}
	cct_release(&cp->cct);
	free(cp->of_node);
	VEC_RELEASE(&cp->lost);
}

static void paths_add(struct callpaths *cp, const struct profile *p)
{
	for (size_t i = 0; i < p->tracks.nr; i++) {
		const struct profile_track *t = p->tracks.v[i];

		for (size_t k = 0; !t->queue && k < t->nodes.nr; k++) {
			struct metrics *me = &cp->of_node[cp->cct.node_of_path[i][k]];

			me->calls += t->nodes.v[k].calls;
			me->exclusive_ns = ns_add(me->exclusive_ns, t->nodes.v[k].exclusive_ns);
			me->device_exclusive_ns =
				ns_add(me->device_exclusive_ns, t->nodes.v[k].device_ns);
		}
		cp->covered_ns = ns_add(cp->covered_ns, t->covered_ns);
	}
}

/* In a window work has the path that launched it in the whole trace. */
static void placed_add(struct callpaths *cp)
{
	const struct model *m = cp->m;

	for (size_t i = 0; i < m->placed.nr; i++) {
		struct metrics *me = &cp->of_node[cp->cct.node_of_place[m->placed.v[i].place]];

		me->device_exclusive_ns =
			ns_add(me->device_exclusive_ns, span_ns(m, m->placed.v[i].work));
	}
}

static void devices_add(struct callpaths *cp, const struct profile *p)
{
	for (size_t i = 0; i < p->devices.nr; i++) {
		const struct profile_device *d = &p->devices.v[i];

		cp->device_ns = ns_add(cp->device_ns, d->sum_ns);
		if (d->pieces > d->linked)
			VEC_PUSH(&cp->lost, ((struct lost){ d->device, d->pieces - d->linked,
							    d->sum_ns - d->linked_ns }));
	}
}

static int callpaths_run(const struct profile *p, const struct analysis_opts *o,
			 struct table_set *out, struct err *err)
{
	struct callpaths cp = { .m = p->m };

	(void)o;
	(void)err;
	cct_build(p, true, &cp.cct);
	cp.of_node = xcalloc(cp.cct.nr + 1, sizeof(*cp.of_node));
	paths_add(&cp, p);
	placed_add(&cp);
	devices_add(&cp, p);
	add_tables(&cp, out);
	return 0;
}

const struct analysis analysis_callpaths = {
	.name = "callpaths",
	.about = "time by call path, with the device work each path launched",
	.nothing = "the inputs hold no calls",
	.tables = { &callpaths_form },
	.of_profile = callpaths_run,
};
