#include "analyses_private.h"
#include "ns.h"

#include <stdlib.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/name_map.h"

/* clang-format off */
#define FUNCTIONS(X) \
	X(STR, scope) X(STR, name) X(STR, category) X(I64, calls) X(I64, inclusive_ns) \
	X(I64, exclusive_ns) X(I64, min_ns) X(F64, mean_ns) X(F64, median_ns) X(F64, p95_ns) \
	X(I64, max_ns) X(F64, stddev_ns) X(F64, share) X(I64, variants)
/* clang-format on */
TABLE_FORM(functions, FUNCTIONS,
	   "one row per function (host) and per kernel, copy or fill (device)");

enum scope { SCOPE_DEVICE, SCOPE_HOST, SCOPES };
static const char *const scope_name[] = { "device", "host" };

struct function {
	enum scope scope;
	str_id name, category;
	int64_t inclusive_ns, exclusive_ns;
	struct call_stats stats;
};

/* Names that calls had before those with numbers of their own became one. */
struct variants {
	uint64_t *v; /* by name; NULL: all names are as recorded */
	size_t nr;
};

static int64_t variants_of(const struct variants *v, const struct function *f)
{
	if (f->scope == SCOPE_DEVICE || f->name >= v->nr || v->v[f->name] == 0)
		return 1;
	return (int64_t)v->v[f->name];
}

static void functions_row_add(struct table *t, const struct model *m, const struct function *f,
			      int64_t scope_sum, const struct variants *v)
{
	const struct call_stats *s = &f->stats;

	table_add(t, &(struct functions_row){
			     scope_name[f->scope], model_str(m, f->name), model_str(m, f->category),
			     (int64_t)s->calls, f->inclusive_ns, f->exclusive_ns, s->min_ns,
			     s->mean_ns, s->median_ns, s->p95_ns, s->max_ns, s->stddev_ns,
			     scope_sum > 0 ? (double)f->exclusive_ns / (double)scope_sum : 0,
			     variants_of(v, f) });
}

static void add_table(const struct model *m, const struct function *v, size_t n,
		      struct table_set *out)
{
	int64_t sum[SCOPES] = { 0 };
	struct variants variants = { NULL, 0 };
	struct table *t;

	if (n == 0)
		return;
	t = table_make(&functions_form);
	variants.v = name_map_variants(m, &variants.nr);
	for (size_t i = 0; i < n; i++)
		sum[v[i].scope] = ns_add(sum[v[i].scope], v[i].exclusive_ns);
	for (size_t i = 0; i < n; i++)
		functions_row_add(t, m, &v[i], sum[v[i].scope], &variants);
	free(variants.v);
	/* scope, exclusive descending, name, category */
	table_sort(t, (const int[]){ 0, ~5, 1, 2 }, 4);
	table_set_add(out, t);
}

static void nodes_add(const struct profile_track *t, struct function *v, const uint32_t *of_calls)
{
	for (size_t i = 0; i < t->nodes.nr; i++) {
		const struct profile_node *n = &t->nodes.v[i];
		struct function *f = &v[of_calls[n->calls_id]];

		f->exclusive_ns = ns_add(f->exclusive_ns, n->exclusive_ns);
		if (!n->recursive && !t->unions.nr)
			f->inclusive_ns = ns_add(f->inclusive_ns, n->inclusive_ns);
	}
	for (size_t i = 0; i < t->unions.nr; i++) {
		struct function *f = &v[of_calls[t->unions.v[i].calls_id]];

		f->inclusive_ns = ns_add(f->inclusive_ns, t->unions.v[i].ns);
	}
}

/* Calls of one name come together, whatever their device and kind. of_calls: by profile.calls. */
static size_t functions_find(const struct profile *p, struct function *v, uint32_t *of_calls)
{
	struct u64map ids[SCOPES] = { U64MAP_INIT, U64MAP_INIT };
	size_t nr = 0;

	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct profile_calls *c = &p->calls.v[i];
		enum scope scope = c->device == UINT32_MAX ? SCOPE_HOST : SCOPE_DEVICE;
		uint32_t *id = u64map_at(&ids[scope], u64map_pair(c->name, c->category));

		if (*id == U64MAP_NONE) {
			*id = (uint32_t)nr;
			v[nr++] = (struct function){ .scope = scope,
						     .name = c->name,
						     .category = c->category };
		}
		of_calls[i] = *id;
	}
	for (size_t s = 0; s < SCOPES; s++)
		u64map_release(&ids[s]);
	return nr;
}

static int functions_run(const struct profile *p, const struct analysis_opts *o,
			 struct table_set *out, struct err *err)
{
	CLEANUP(xfreep) uint32_t *of_calls = xcalloc(p->calls.nr + 1, sizeof(*of_calls));
	CLEANUP(xfreep) struct function *v = xcalloc(p->calls.nr + 1, sizeof(*v));
	CLEANUP(xfreep) struct call_stats *stats = xcalloc(p->calls.nr + 1, sizeof(*stats));
	size_t nr = functions_find(p, v, of_calls);

	(void)o;
	(void)err;
	for (size_t i = 0; i < p->tracks.nr; i++)
		nodes_add(p->tracks.v[i], v, of_calls);
	call_stats_by(p, of_calls, nr, stats);
	for (size_t i = 0; i < nr; i++) {
		v[i].stats = stats[i];
		/* queues do not nest */
		if (v[i].scope == SCOPE_DEVICE)
			v[i].inclusive_ns = v[i].exclusive_ns = stats[i].sum_ns;
	}
	add_table(p->m, v, nr, out);
	return 0;
}

const struct analysis analysis_functions = {
	.name = "functions",
	.about = "calls, inclusive and exclusive time of every function and device operation",
	.nothing = "the inputs hold neither calls nor device work",
	.tables = { &functions_form },
	.of_profile = functions_run,
};
