/*
 * Tables of library calls: what logs of libraries tell (library_calls.h), by configuration, what a
 * trace of the same session tells of them (library_trace.h), and which library handed calls on to
 * which.
 */
#include "analyses_private.h"
#include "library_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/strbuf.h"
#include "profrig/model/library_calls.h"
#include "profrig/model/warnings.h"

#define LIBRARY_CALLS(X) \
	X(STR, library) \
	X(STR, operation) \
	X(U64, calls) \
	X(U64, ranks) \
	X(F64, flops) \
	X(F64, bytes) \
	X(F64, logged_ns) \
	X(F64, share) \
	X(F64, tflops) \
	X(STR, key) \
	X(STR, config) \
	X(U64, trace_calls) \
	X(F64, trace_ns) \
	X(F64, trace_share) \
	X(F64, trace_tflops) \
	X(U64, kernels) \
	X(STR, kernel) \
	X(STR, called_by) \
	X(STR, unmatched)
TABLE_FORM(library_calls, LIBRARY_CALLS,
	   "one row per library and configuration of its calls, as logs of the library tell them");

#define LIBRARY_LAYERS(X) \
	X(STR, caller) \
	X(STR, library) \
	X(STR, operation) \
	X(U64, configurations) \
	X(U64, calls) \
	X(F64, flops)
TABLE_FORM(library_layers, LIBRARY_LAYERS,
	   "one row per library and operation, and by which library it was called; '' a program");

static double known_sum(uint64_t one, library_sum all)
{
	return one == LIBRARY_UNKNOWN && all == 0 ? NAN : (double)all;
}

/* Of all flops that are not handed on: the share of a configuration. */
static double share_of(const struct library_row *r, const struct library_totals *t)
{
	return t->flops ? (double)(r->all_flops - r->nested_flops) / (double)t->flops : NAN;
}

static void calls_add(struct table *t, const struct library_row *r,
		      const struct library_totals *all, const struct library_traced *traced)
{
	char why[128];
	bool timed = r->timed > 0;
	double flops = known_sum(r->flops, r->all_flops);

	table_add(t, &(struct library_calls_row){
			     .library = r->library,
			     .operation = r->operation,
			     .calls = r->calls,
			     .ranks = r->ranks.nr,
			     .flops = flops,
			     .bytes = known_sum(r->bytes, r->all_bytes),
			     .logged_ns = timed ? (double)r->total_ns : NAN,
			     .share = share_of(r, all),
			     .tflops = r->timed == r->calls && r->total_ns > 0
					       ? flops / (double)r->total_ns * 1e-3
					       : NAN,
			     .key = r->key,
			     .config = r->config,
			     .trace_calls = traced->match->calls,
			     .trace_ns = traced->timed ? (double)traced->ns : NAN,
			     .trace_share = traced->share,
			     .trace_tflops = traced->tflops,
			     .kernels = traced->kernels,
			     .kernel = traced->kernel,
			     .called_by = traced->caller,
			     .unmatched = library_why_text(traced->match, why, sizeof(why)),
		     });
}

/* By flops, then by time, then as the rows came. */
static struct table *calls_table(const struct library_calls *lc, const struct library_trace *lt)
{
	struct table *t = table_make(&library_calls_form);
	struct library_totals all = library_calls_totals(lc);
	const int keys[] = { ~4, ~6, ~2, 0, 9 };

	for (size_t i = 0; i < lc->rows.nr; i++)
		calls_add(t, &lc->rows.v[i], &all, &lt->row[i]);
	table_sort(t, keys, sizeof(keys) / sizeof(*keys));
	return t;
}

/* ---- who called whom ---- */

struct layer {
	const char *caller, *library, *operation;
	uint64_t configurations, calls;
	library_sum flops;
};

struct layers {
	VEC(struct layer) v;
};

static void layer_add(struct layers *l, const char *caller, const struct library_row *r,
		      uint64_t calls, library_sum flops)
{
	struct layer *at;

	if (calls == 0)
		return;
	at = VEC_FIND(&l->v, k,
		      !strcmp(k->caller, caller) && !strcmp(k->library, r->library) &&
			      !strcmp(k->operation, r->operation));
	if (!at) {
		VEC_PUSH(&l->v, ((struct layer){ caller, r->library, r->operation, 0, 0, 0 }));
		at = &l->v.v[l->v.nr - 1];
	}
	at->configurations++;
	at->calls += calls;
	at->flops += flops;
}

static struct table *layers_table(const struct library_calls *lc)
{
	struct table *t = table_make(&library_layers_form);
	struct layers l = { VEC_INIT };
	const int keys[] = { 0, 1, ~4, 2 };

	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];

		layer_add(&l, "", r, r->calls - r->nested, r->all_flops - r->nested_flops);
		if (r->caller != LIBRARY_ROW_NONE)
			layer_add(&l, lc->rows.v[r->caller].library, r, r->nested, r->nested_flops);
	}
	for (size_t i = 0; i < l.v.nr; i++) {
		const struct layer *k = &l.v.v[i];

		table_add(t, &(struct library_layers_row){ k->caller, k->library, k->operation,
							   k->configurations, k->calls,
							   (double)k->flops });
	}
	table_sort(t, keys, sizeof(keys) / sizeof(*keys));
	VEC_RELEASE(&l.v);
	return t;
}

/* ---- graphs ---- */

struct graph_calls {
	uint64_t launches, instances;
};

/* "cudaGraphLaunch", "hipGraphLaunch_v2" … */
static bool name_is_graph(const char *name, const char *what)
{
	static const char *const prefixes[] = { "cuda", "cu", "hip" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], n) && !strncmp(name + n, what, strlen(what)))
			return true;
	}
	return false;
}

static struct graph_calls graph_calls_of(const struct model *m)
{
	CLEANUP(xfreep) char *kind = xcalloc(intern_count(m->strings) + 1, 1);
	struct graph_calls g = { 0, 0 };

	for (str_id i = 0; i < intern_count(m->strings); i++) {
		const char *name = intern_str(m->strings, i);

		kind[i] = name_is_graph(name, "GraphLaunch")        ? 'l'
			  : name_is_graph(name, "GraphInstantiate") ? 'i'
								    : 0;
	}
	for (size_t i = 0; i < m->spans.nr; i++) {
		char k = m->spans.kind[i] == SPAN_HOST ? kind[m->spans.name[i]] : 0;

		g.launches += k == 'l';
		g.instances += k == 'i';
	}
	return g;
}

/* Libraries log at capture; what is replayed is silent. */
static void graphs_warn(struct model *m)
{
	struct graph_calls g = graph_calls_of(m);

	if (g.launches <= g.instances)
		return;
	model_warn(m, UINT32_MAX, W_LIBRARY_GRAPHS, g.launches,
		   "%" PRIu64 " launches of %" PRIu64 " graphs: libraries log the calls of a graph "
		   "when it is captured only, so their counts are up to %.3g times too low",
		   g.launches, g.instances,
		   (double)g.launches / (double)(g.instances ? g.instances : 1));
}

/* Calls that the trace has, and that cannot be told apart there. */
static void unmatched_warn(struct model *m, const struct library_trace *lt)
{
	const struct library_row *first = NULL;
	const struct library_row_match *why = NULL;
	uint64_t calls = 0;
	char text[128];

	for (size_t i = 0; i < m->library->rows.nr; i++) {
		const struct library_row *r = &m->library->rows.v[i];
		const struct library_row_match *match = &lt->match.row[i];

		if (match->why == WHY_NONE || match->why == WHY_ABSENT || r->calls <= match->calls)
			continue;
		calls += r->calls - match->calls;
		first = first ? first : r;
		why = why ? why : match;
	}
	if (first)
		model_warn(m, UINT32_MAX, W_LIBRARY_UNMATCHED, calls,
			   "%" PRIu64
			   " logged calls have no time by the trace; the first are %s of %s: %s",
			   calls, first->operation, first->library,
			   library_why_text(why, text, sizeof(text)));
}

static int run(struct model *m, const struct analysis_opts *o, struct table_set *out,
	       struct err *err)
{
	struct library_trace lt;

	(void)o, (void)err;
	if (!m->library || m->library->rows.nr == 0)
		return 0;
	graphs_warn(m);
	if (m->spans.nr && !m->windows.nr)
		model_nest(m);
	library_trace_of(m, &lt);
	unmatched_warn(m, &lt);
	table_set_add(out, calls_table(m->library, &lt));
	table_set_add(out, layers_table(m->library));
	library_trace_release(&lt);
	return 0;
}

const struct analysis analysis_library_tables = {
	.name = "library",
	.about = "calls of libraries by configuration, as their logs tell them",
	.nothing = "no calls of libraries were recorded",
	.tables = { &library_calls_form, &library_layers_form },
	.run = run,
	.series_only = true,
};
