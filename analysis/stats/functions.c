#include "analyses_private.h"
#include "cct.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* clang-format off */
#define FUNCTIONS(X) \
	X(STR, scope) X(STR, name) X(STR, category) X(I64, calls) X(I64, inclusive_ns) \
	X(I64, exclusive_ns) X(I64, min_ns) X(F64, mean_ns) X(F64, median_ns) X(F64, p95_ns) \
	X(I64, max_ns) X(F64, stddev_ns) X(F64, share)
/* clang-format on */
TABLE_FORM(functions, FUNCTIONS,
	   "one row per function (host) and per kernel, copy or fill (device)");

enum scope { SCOPE_DEVICE, SCOPE_HOST, SCOPES };
static const char *const scope_name[] = { "device", "host" };

struct function {
	enum scope scope;
	str_id name, category;
	uint64_t calls;
	int64_t inclusive_ns, exclusive_ns;
	struct call_stats stats;
	/* The part of the present track that calls of this function cover already: a recursive call
	 * adds nothing to inclusive. */
	track_id track;
	int64_t covered_until_ns;
};

struct functions {
	VEC(struct function) all;
	uint32_t *of_span; /* U64MAP_NONE: not counted */
};

static bool scope_of(const struct model *m, size_t i, enum scope *ret)
{
	if (span_is_work(m, i)) {
		*ret = SCOPE_DEVICE;
		return true;
	}
	*ret = SCOPE_HOST;
	return m->spans.kind[i] != SPAN_INSTANT && cct_host_track(m, m->spans.track[i]);
}

static int64_t newly_covered(struct function *f, const struct model *m, size_t i)
{
	int64_t from = m->spans.start_ns[i], to = m->spans.end_ns[i];
	if (f->track != m->spans.track[i]) {
		f->track = m->spans.track[i];
		f->covered_until_ns = from;
	}
	if (from < f->covered_until_ns)
		from = f->covered_until_ns;
	if (to <= from)
		return 0;
	f->covered_until_ns = to;
	return to - from;
}

static void functions_collect(const struct model *m, struct functions *fs)
{
	struct u64map ids[SCOPES] = { U64MAP_INIT, U64MAP_INIT };
	for (size_t i = 0; i < m->spans.nr; i++) {
		enum scope scope;
		fs->of_span[i] = U64MAP_NONE;
		if (!scope_of(m, i, &scope))
			continue;
		str_id name = m->spans.name[i], category = m->spans.category[i];
		uint32_t *id = u64map_at(&ids[scope], u64map_pair(name, category));
		if (*id == U64MAP_NONE) {
			*id = (uint32_t)fs->all.nr;
			VEC_PUSH(&fs->all,
				 ((struct function){ scope, name, category, .track = TRACK_NONE }));
		}
		struct function *f = &fs->all.v[*id];
		fs->of_span[i] = *id;
		f->calls++;
		if (scope == SCOPE_HOST) {
			f->inclusive_ns = ns_add(f->inclusive_ns, newly_covered(f, m, i));
			f->exclusive_ns = ns_add(f->exclusive_ns, m->spans.exclusive_ns[i]);
		} else {
			/* queues do not nest */
			f->inclusive_ns = ns_add(f->inclusive_ns, span_ns(m, i));
			f->exclusive_ns = f->inclusive_ns;
		}
	}
	for (size_t s = 0; s < SCOPES; s++)
		u64map_release(&ids[s]);
}

static void functions_row_add(struct table *t, const struct model *m, const struct function *f,
			      int64_t scope_sum)
{
	const struct call_stats *s = &f->stats;

	table_add(t, &(struct functions_row){
			     scope_name[f->scope], model_str(m, f->name), model_str(m, f->category),
			     (int64_t)f->calls, f->inclusive_ns, f->exclusive_ns, s->min_ns,
			     s->mean_ns, s->median_ns, s->p95_ns, s->max_ns, s->stddev_ns,
			     scope_sum > 0 ? (double)f->exclusive_ns / (double)scope_sum : 0 });
}

static void add_table(const struct model *m, const struct function *v, size_t n,
		      struct table_set *out)
{
	int64_t sum[SCOPES] = { 0 };
	struct table *t;

	if (n == 0)
		return;
	t = table_make(&functions_form);
	for (size_t i = 0; i < n; i++)
		sum[v[i].scope] = ns_add(sum[v[i].scope], v[i].exclusive_ns);
	for (size_t i = 0; i < n; i++)
		functions_row_add(t, m, &v[i], sum[v[i].scope]);
	/* scope, exclusive descending, name, category */
	table_sort(t, (const int[]){ 0, ~5, 1, 2 }, 4);
	table_set_add(out, t);
}

static int functions_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			 struct err *err)
{
	(void)o;
	(void)err;
	struct functions fs = { VEC_INIT, xreallocarray(NULL, m->spans.nr + 1, sizeof(uint32_t)) };
	functions_collect(m, &fs);
	CLEANUP(xfreep) struct call_stats *stats = xcalloc(fs.all.nr + 1, sizeof(*stats));
	call_stats_by(m, fs.of_span, fs.all.nr, stats);
	for (size_t f = 0; f < fs.all.nr; f++)
		fs.all.v[f].stats = stats[f];
	add_table(m, fs.all.v, fs.all.nr, out);
	VEC_RELEASE(&fs.all);
	free(fs.of_span);
	return 0;
}

/* ---- of a profile ---- */

/* Where the calls of one name on all devices, and kernels and copies of one name, come together. */
struct gathered {
	struct function f;
	struct moments ns;
	struct sketch sketch;
};

static void add_nodes(const struct profile_track *t, struct gathered *all, const uint32_t *place)
{
	for (size_t i = 0; i < t->nodes.nr; i++) {
		const struct profile_node *n = &t->nodes.v[i];
		struct function *f = &all[place[n->calls_id]].f;

		f->exclusive_ns = ns_add(f->exclusive_ns, n->exclusive_ns);
		if (!n->recursive)
			f->inclusive_ns = ns_add(f->inclusive_ns, n->inclusive_ns);
	}
}

/* place: of each of profile.calls in the result. */
static size_t lanes_gather(const struct profile *p, struct gathered *all, uint32_t *place)
{
	struct u64map ids[SCOPES] = { U64MAP_INIT, U64MAP_INIT };
	size_t nr = 0;

	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct profile_calls *c = &p->calls.v[i];
		enum scope scope = c->device == UINT32_MAX ? SCOPE_HOST : SCOPE_DEVICE;
		uint32_t *id = u64map_at(&ids[scope], u64map_pair(c->name, c->category));

		if (*id == U64MAP_NONE) {
			*id = (uint32_t)nr;
			all[nr++].f = (struct function){ .scope = scope,
							 .name = c->name,
							 .category = c->category };
		}
		place[i] = *id;
		moments_merge(&all[*id].ns, &c->ns);
		sketch_merge(&all[*id].sketch, &c->sketch);
	}
	for (size_t s = 0; s < SCOPES; s++)
		u64map_release(&ids[s]);
	return nr;
}

static int functions_run_profile(const struct profile *p, const struct analysis_opts *o,
				 struct table_set *out, struct err *err)
{
	CLEANUP(xfreep) struct gathered *all = xcalloc(p->calls.nr + 1, sizeof(*all));
	CLEANUP(xfreep) uint32_t *place = xcalloc(p->calls.nr + 1, sizeof(*place));
	CLEANUP(xfreep) struct function *v = xcalloc(p->calls.nr + 1, sizeof(*v));
	size_t nr = lanes_gather(p, all, place);

	(void)o;
	(void)err;
	for (size_t i = 0; i < p->tracks.nr; i++)
		add_nodes(p->tracks.v[i], all, place);
	for (size_t i = 0; i < nr; i++) {
		v[i] = all[i].f;
		v[i].calls = all[i].ns.n;
		v[i].stats = call_stats_approx(&all[i].ns, &all[i].sketch);
		if (v[i].scope == SCOPE_DEVICE)
			v[i].inclusive_ns = v[i].exclusive_ns = moments_sum(&all[i].ns);
		sketch_release(&all[i].sketch);
	}
	add_table(p->m, v, nr, out);
	return 0;
}

const struct analysis analysis_functions = {
	.name = "functions",
	.about = "calls, inclusive and exclusive time of every function and device operation",
	.tables = { &functions_form },
	.run = functions_run,
	.run_profile = functions_run_profile,
};
