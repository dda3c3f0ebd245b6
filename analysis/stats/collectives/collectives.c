/* The tables of collectives: instances, ranks, sizes. */
#include "analyses_private.h"
#include "collective_alignment.h"
#include "collective_energy.h"
#include "collective_messages.h"
#include "collective_waits.h"
#include "ns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define COLLECTIVES(X) \
	X(STR, collective) X(STR, dtype) X(F64, count) X(F64, bytes) X(I64, ranks) \
	X(I64, instances) X(I64, complete) X(F64, dur_mean_ns) X(I64, dur_min_ns) \
	X(F64, skew_mean_ns) X(F64, algbw_gbps) X(F64, busbw_gbps) X(F64, busbw_median_gbps) \
	X(STR, slowest_rank) X(F64, transfer_mean_ns) X(F64, algbw_mean_gbps) \
	X(F64, busbw_mean_gbps) X(F64, busbw_fastest_gbps) X(F64, busbw_fastest_stderr_gbps) \
	X(F64, wait_ns) X(STR, nodes) X(F64, wait_joules) X(F64, transfer_joules) \
	X(F64, joules_per_gb) X(STR, energy_flags) X(I64, exposed_ns) X(I64, hidden_ns) \
	X(F64, wait_uncertainty_j) \
	X(F64, transfer_uncertainty_j)
#define COLLECTIVE_INSTANCES(X) \
	X(STR, group) X(I64, seq) X(STR, name) X(F64, bytes) X(I64, ranks) X(STR, complete) \
	X(I64, start_ns) X(F64, transfer_ns) X(F64, skew_ns) X(STR, first_rank) \
	X(STR, last_rank) X(STR, dtype) X(I64, present) X(STR, why) X(F64, wait_ns) \
	X(F64, algbw_gbps) X(F64, busbw_gbps) X(STR, nodes) X(STR, members) X(STR, source) \
	X(I64, exposed_ns) X(I64, hidden_ns) X(F64, exposed_spread_ns) X(STR, op)
#define COLLECTIVE_RANKS(X) \
	X(STR, rank) X(I64, count) X(I64, dur_ns) X(F64, wait_ns) X(F64, last_count) \
	X(F64, caused_wait_ns) X(F64, wait_joules) X(I64, complete) X(I64, complete_dur_ns) \
	X(F64, transfer_joules) X(STR, energy_flags) X(I64, exposed_ns) X(I64, hidden_ns) \
	X(F64, wait_uncertainty_j) \
	X(F64, transfer_uncertainty_j)
/* clang-format on */
TABLE_FORM(collectives, COLLECTIVES,
	   "one row per collective, type and size: durations, skew and bandwidth");
TABLE_FORM(collective_instances, COLLECTIVE_INSTANCES,
	   "one row per collective of a group: which ranks came first and last, and its transfer");
TABLE_FORM(collective_ranks, COLLECTIVE_RANKS,
	   "one row per rank: its time in collectives, its waits and those that it caused");

struct telling {
	struct model *m;
	struct collective_match *cm;
	const struct work_energy *we;
	struct collective_clocks cc;
	struct strvec labels; /* of ranks: "3", or the device */
	size_t *order;        /* instances by start */
	/* by rank, 0 between rows: how often it was last, and the waits that it caused */
	uint64_t *last;
	int64_t *caused;
};

static double known(int64_t v)
{
	return v == FACT_ABSENT ? NAN : (double)v;
}

/* ---- instances ---- */

/* "intra", "inter", "unknown" node, of the ranks present; "" of one rank. */
static const char *nodes_of(const struct telling *t, const struct collective_instance *ci)
{
	const struct collective_part *p = &t->cm->parts.v[ci->first];
	const struct collective_rank *ranks = t->cm->cp->ranks.v;
	bool inter = false;

	if (ci->nr < 2)
		return "";
	for (size_t i = 0; i < ci->nr; i++) {
		if (!*ranks[p[i].rank].host)
			return "unknown";
		inter |= strcmp(ranks[p[i].rank].host, ranks[p->rank].host) != 0;
	}
	return inter ? "inter" : ci->why == COLLECTIVE_MISSING ? "unknown" : "intra";
}

static double alg_gbps(const struct collective_instance *ci, int64_t in_ns)
{
	return ci->bytes == FACT_ABSENT || in_ns <= 0 ? NAN : (double)ci->bytes / (double)in_ns;
}

static double bus_factor(const struct collective_instance *ci)
{
	return collective_bus_factor(ci->kind, ci->size);
}

#define MEMBERS_SHOWN 16

static void members_text(const struct telling *t, uint32_t members, struct strbuf *out)
{
	size_t n;
	const int64_t *v = facts_numbers(t->m, members, &n);

	strbuf_clear(out);
	for (size_t i = 0; i < n && i < MEMBERS_SHOWN; i++)
		strbuf_addf(out, "%s%lld", i ? " " : "", (long long)v[i]);
	if (n > MEMBERS_SHOWN)
		strbuf_addf(out, " [%zu more]", n - MEMBERS_SHOWN);
}

static const char *why_text(enum collective_why why)
{
	static const char *const texts[] = {
		[COLLECTIVE_COMPLETE] = "",
		[COLLECTIVE_MISSING] = "ranks are missing",
		[COLLECTIVE_DIFFERS] = "name, type or size differ",
		[COLLECTIVE_UNKNOWN] = "the group is not known",
		[COLLECTIVE_TWICE] = "more parts than ranks",
	};

	return texts[why];
}

/* Where the size is from; parts of ranks may have it from both. */
static const char *source_text(const struct collective_match *cm,
			       const struct collective_instance *ci)
{
	bool from[COLLECTIVE_FROM_LOG + 1] = { false };

	for (size_t i = ci->first; i < ci->first + ci->nr; i++)
		from[cm->parts.v[i].source] = true;
	return from[COLLECTIVE_FROM_TRACE] && from[COLLECTIVE_FROM_LOG] ? "trace, log"
	       : from[COLLECTIVE_FROM_LOG]                              ? "log"
	       : from[COLLECTIVE_FROM_TRACE]                            ? "trace"
									: "";
}

static int cmp_start(const void *pa, const void *pb, void *ctx)
{
	const struct collective_match *cm = ctx;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (cm->v.v[a].start_ns != cm->v.v[b].start_ns)
		return cm->v.v[a].start_ns < cm->v.v[b].start_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void instances_table(const struct telling *t, struct table_set *out)
{
	CLEANUP(strbuf_release) struct strbuf members = STRBUF_INIT;
	struct table *table = table_make(&collective_instances_form);

	for (size_t i = 0; i < t->cm->v.nr; i++) {
		const struct collective_instance *ci = &t->cm->v.v[t->order[i]];
		bool ok = ci->why == COLLECTIVE_COMPLETE;
		double alg = ok ? alg_gbps(ci, ci->transfer_ns) : NAN;
		struct exposure e = collective_exposure(t->cm, ci);

		members_text(t, ci->members, &members);
		table_add(table, &(struct collective_instances_row){
					 model_str(t->m, ci->group),
					 ci->sequence,
					 ci->name,
					 known(ci->bytes),
					 ci->size,
					 ok ? "yes" : "no",
					 ci->start_ns - t->m->first_ns,
					 ok ? (double)ci->transfer_ns : NAN,
					 ok ? (double)ci->skew_ns : NAN,
					 ok ? t->labels.v[ci->first_rank] : "",
					 ok ? t->labels.v[ci->last_rank] : "",
					 ci->dtype,
					 (int64_t)ci->nr,
					 why_text(ci->why),
					 ok ? (double)ci->wait_ns : NAN,
					 alg,
					 alg * bus_factor(ci),
					 nodes_of(t, ci),
					 members.buf,
					 source_text(t->cm, ci),
					 e.exposed_ns,
					 e.hidden_ns,
					 ok ? (double)(e.most_ns - e.least_ns) : NAN,
					 ci->op == STR_NONE ? "" : model_str(t->m, ci->op) });
	}
	table_set_add(out, table);
}

/* ---- sizes ---- */

static int cmp_shape(const void *pa, const void *pb, void *ctx)
{
	const struct collective_match *cm = ctx;
	const struct collective_instance *a = &cm->v.v[*(const size_t *)pa];
	const struct collective_instance *b = &cm->v.v[*(const size_t *)pb];
	int d = strcmp(a->name, b->name);

	if (!d)
		d = strcmp(a->dtype, b->dtype);
	if (d)
		return d;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

/*
 * The rank that is last most often, of several the one that caused more waits, then the first.
 * v[0..n) are instances; RANK_NONE: none is complete.
 */
static int64_t slowest(const struct telling *t, const size_t *v, size_t n)
{
	int64_t at = RANK_NONE;

	for (size_t i = 0; i < n; i++) {
		const struct collective_instance *ci = &t->cm->v.v[v[i]];

		if (ci->why != COLLECTIVE_COMPLETE)
			continue;
		t->last[ci->last_rank]++;
		t->caused[ci->last_rank] += ci->wait_ns;
	}
	for (size_t i = 0; i < n; i++) {
		const struct collective_instance *ci = &t->cm->v.v[v[i]];
		uint32_t r = ci->last_rank;

		if (ci->why != COLLECTIVE_COMPLETE)
			continue;
		if (at == RANK_NONE || t->last[r] > t->last[at] ||
		    (t->last[r] == t->last[at] &&
		     (t->caused[r] > t->caused[at] || (t->caused[r] == t->caused[at] && r < at))))
			at = r;
	}
	for (size_t i = 0; i < n; i++)
		t->last[t->cm->v.v[v[i]].last_rank] = 0;
	for (size_t i = 0; i < n; i++)
		t->caused[t->cm->v.v[v[i]].last_rank] = 0;
	return at;
}

struct shape_sums {
	int64_t parts, complete, dur_min_ns, exposed_ns, hidden_ns;
	double dur_ns, transfer_ns, skew_ns, bytes, wait_ns;
	double *alg, *bus, *fastest; /* of complete instances, where they are known */
	size_t nr;
	const char *nodes;
	struct part_joules j;
	double moved_bytes; /* of the parts that j has */
};

static void shape_add(const struct telling *t, const struct collective_instance *ci,
		      struct shape_sums *s)
{
	const char *nodes = nodes_of(t, ci);
	double alg = alg_gbps(ci, ci->transfer_ns), least = alg_gbps(ci, ci->least_ns);
	struct exposure e = collective_exposure(t->cm, ci);

	s->exposed_ns = ns_add(s->exposed_ns, e.exposed_ns);
	s->hidden_ns = ns_add(s->hidden_ns, e.hidden_ns);
	for (size_t k = ci->first; k < ci->first + ci->nr; k++) {
		int64_t dur = t->cm->parts.v[k].end_ns - t->cm->parts.v[k].start_ns;
		s->dur_ns += (double)dur;
		s->dur_min_ns = dur < s->dur_min_ns ? dur : s->dur_min_ns;
		s->parts++;
	}
	s->nodes = !s->nodes ? nodes : strcmp(s->nodes, nodes) == 0 ? nodes : "mixed";
	if (ci->why != COLLECTIVE_COMPLETE)
		return;
	s->complete++;
	for (size_t k = ci->first; k < ci->first + ci->nr; k++)
		part_joules_add(t->cm, t->we, k, &s->j);
	s->moved_bytes += ci->bytes == FACT_ABSENT ? NAN : (double)ci->bytes * (double)ci->nr;
	s->transfer_ns += (double)ci->transfer_ns;
	s->skew_ns += (double)ci->skew_ns;
	s->bytes += (double)ci->bytes;
	s->wait_ns += (double)ci->wait_ns;
	if (isnan(alg) || isnan(least))
		return;
	s->alg[s->nr] = alg;
	s->bus[s->nr] = alg * bus_factor(ci);
	s->fastest[s->nr++] = least * bus_factor(ci);
}

static double mean_f64(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : NAN;
}

static double stderr_f64(const double *v, size_t n)
{
	double mean = mean_f64(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return n > 1 ? sqrt(sum / (double)(n - 1) / (double)n) : NAN;
}

/* The instances of one row: v[0..n) of the same shape. */
static void shape_row(const struct telling *t, const size_t *v, size_t n, struct table *table)
{
	const struct collective_instance *ci = &t->cm->v.v[v[0]];
	int64_t slow = slowest(t, v, n);
	CLEANUP(xfreep) double *rates = xcalloc(3 * n + 1, sizeof(*rates));
	struct shape_sums s = {
		.dur_min_ns = INT64_MAX, .alg = rates, .bus = rates + n, .fastest = rates + 2 * n
	};
	double nr, alg, bus_mean;
	char flags[ENERGY_FLAGS_MAX];

	for (size_t i = 0; i < n; i++)
		shape_add(t, &t->cm->v.v[v[i]], &s);
	nr = s.complete ? (double)s.complete : NAN;
	alg = s.nr ? s.bytes / s.transfer_ns : NAN;
	bus_mean = mean_f64(s.bus, s.nr);
	table_add(table,
		  &(struct collectives_row){
			  ci->name,
			  ci->dtype,
			  known(ci->count),
			  known(ci->bytes),
			  ci->size,
			  (int64_t)n,
			  s.complete,
			  s.dur_ns / (double)s.parts,
			  s.dur_min_ns,
			  s.skew_ns / nr,
			  alg,
			  alg * bus_factor(ci),
			  median_f64(s.bus, s.nr),
			  slow == RANK_NONE ? "" : t->labels.v[slow],
			  s.transfer_ns / nr,
			  mean_f64(s.alg, s.nr),
			  bus_mean,
			  mean_f64(s.fastest, s.nr),
			  stderr_f64(s.fastest, s.nr),
			  s.complete ? s.wait_ns : NAN,
			  s.nodes,
			  part_wait_j(&s.j),
			  part_transfer_j(&s.j),
			  s.moved_bytes > 0 ? part_transfer_j(&s.j) / (s.moved_bytes * 1e-9) : NAN,
			  part_joules_flags(&s.j, flags),
			  s.exposed_ns,
			  s.hidden_ns,
			  part_wait_width(&s.j),
			  part_transfer_width(&s.j) });
}

static void shapes_table(const struct telling *t, struct table_set *out)
{
	CLEANUP(xfreep) size_t *v = xcalloc(t->cm->v.nr + 1, sizeof(*v));
	struct table *table = table_make(&collectives_form);

	memcpy(v, t->order, t->cm->v.nr * sizeof(*v));
	qsort_r(v, t->cm->v.nr, sizeof(*v), cmp_shape, t->cm);
	for (size_t i = 0, end; i < t->cm->v.nr; i = end) {
		for (end = i + 1; end < t->cm->v.nr && cmp_shape(&v[i], &v[end], t->cm) == 0; end++)
			;
		shape_row(t, &v[i], end - i, table);
	}
	table_set_add(out, table);
}

/* ---- ranks ---- */

static void ranks_table(const struct telling *t, struct table_set *out)
{
	const struct collective_match *cm = t->cm;
	size_t ranks = cm->cp->ranks.nr;
	struct rank_sums {
		int64_t count, dur_ns, wait_ns, last, caused_ns, complete, complete_ns;
		int64_t exposed_ns, hidden_ns;
		struct part_joules j;
	} *v = xcalloc(ranks + 1, sizeof(*v));
	struct table *table = table_make(&collective_ranks_form);

	for (size_t i = 0; i < cm->v.nr; i++) {
		const struct collective_instance *ci = &cm->v.v[i];
		bool ok = ci->why == COLLECTIVE_COMPLETE;

		for (size_t k = ci->first; k < ci->first + ci->nr; k++) {
			const struct collective_part *p = &cm->parts.v[k];
			struct rank_sums *r = &v[p->rank];

			r->count++;
			r->dur_ns += p->end_ns - p->start_ns;
			r->exposed_ns = ns_add(r->exposed_ns, p->exposed_ns);
			r->hidden_ns = ns_add(r->hidden_ns, p->kernels_ns - p->exposed_ns);
			r->wait_ns += cm->wait_ns.v[k];
			r->complete += ok;
			if (ok)
				part_joules_add(t->cm, t->we, k, &r->j);
			r->complete_ns += ok ? p->end_ns - p->start_ns : 0;
		}
		if (ok) {
			v[ci->last_rank].last++;
			v[ci->last_rank].caused_ns += ci->wait_ns;
		}
	}
	for (size_t r = 0; r < ranks; r++) {
		bool ok = v[r].complete > 0;
		char flags[ENERGY_FLAGS_MAX];

		table_add(table,
			  &(struct collective_ranks_row){
				  t->labels.v[r], v[r].count, v[r].dur_ns,
				  ok ? (double)v[r].wait_ns : NAN, ok ? (double)v[r].last : NAN,
				  ok ? (double)v[r].caused_ns : NAN, part_wait_j(&v[r].j),
				  v[r].complete, v[r].complete_ns, part_transfer_j(&v[r].j),
				  part_joules_flags(&v[r].j, flags), v[r].exposed_ns,
				  v[r].hidden_ns, part_wait_width(&v[r].j),
				  part_transfer_width(&v[r].j) });
	}
	free(v);
	table_set_add(out, table);
}

/* ---- all ---- */

static void label_ranks(struct telling *t)
{
	for (size_t r = 0; r < t->cm->cp->ranks.nr; r++) {
		const struct collective_rank *cr = &t->cm->cp->ranks.v[r];

		if (cr->rank != RANK_NONE)
			strvec_pushf(&t->labels, "%d", (int)cr->rank);
		else
			strvec_push(&t->labels, model_str(t->m, cr->device));
	}
}

static void warn_incomplete(const struct telling *t)
{
	uint64_t nr = 0, several = 0;
	const struct collective_instance *first = NULL;

	for (size_t i = 0; i < t->cm->v.nr; i++) {
		const struct collective_instance *ci = &t->cm->v.v[i];

		if (ci->why == COLLECTIVE_COMPLETE)
			continue;
		first = first ? first : ci;
		nr++;
		several += ci->nr > 1;
	}
	if (nr && t->cm->cp->ranks.nr > 1)
		model_warn(t->m, UINT32_MAX, W_COLLECTIVE_INCOMPLETE, nr,
			   "%llu of %zu collectives are incomplete, %llu of them have parts of "
			   "several ranks; the first is '%s' of group '%s': %s",
			   (unsigned long long)nr, t->cm->v.nr, (unsigned long long)several,
			   first->name, model_str(t->m, first->group), why_text(first->why));
}

/* A program that ranks name differently falls apart into groups that all look complete. */
static void warn_fragments(const struct telling *t)
{
	size_t ranks = t->cm->cp->ranks.nr;
	uint64_t nr = 0;
	const struct collective_instance *first = NULL;

	for (size_t i = 0; i < t->cm->v.nr; i++) {
		const struct collective_instance *ci = &t->cm->v.v[i];

		if (ci->stated || ci->group == STR_NONE || ci->size >= (int64_t)ranks)
			continue;
		first = first ? first : ci;
		nr++;
	}
	if (nr)
		model_warn(
			t->m, UINT32_MAX, W_COLLECTIVE_GROUPS, nr,
			"%llu of %zu collectives are of groups that fewer than all %zu ranks have "
			"parts in, and nothing tells how many they have; the first is '%s' of "
			"group '%s', with ranks: %lld",
			(unsigned long long)nr, t->cm->v.nr, ranks, first->name,
			model_str(t->m, first->group), (long long)first->size);
}

static void collectives_tell(struct telling *t, struct table_set *out)
{
	struct table *waits, *messages;

	collective_clocks_find(t->cm, &t->cc);
	collective_clocks_apply(&t->cc, t->cm);
	collective_measure(t->cm);
	label_ranks(t);
	t->order = xcalloc(t->cm->v.nr + 1, sizeof(*t->order));
	t->last = xcalloc(t->cm->cp->ranks.nr + 1, sizeof(*t->last));
	t->caused = xcalloc(t->cm->cp->ranks.nr + 1, sizeof(*t->caused));
	for (size_t i = 0; i < t->cm->v.nr; i++)
		t->order[i] = i;
	qsort_r(t->order, t->cm->v.nr, sizeof(*t->order), cmp_start, t->cm);
	shapes_table(t, out);
	instances_table(t, out);
	ranks_table(t, out);
	waits = collective_waits_table(t->cm, t->order, &t->labels);
	if (waits)
		table_set_add(out, waits);
	messages = collective_messages_table(t->cm);
	if (messages)
		table_set_add(out, messages);
	collective_alignment(t->cm, &t->cc, &t->labels, out);
	warn_incomplete(t);
	warn_fragments(t);
	free(t->order);
	free(t->last);
	free(t->caused);
	strvec_release(&t->labels);
	collective_clocks_release(&t->cc);
}

static int collectives_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			   struct err *err)
{
	struct collective_parts *cp = collective_parts_new(m, analysis_works(m, o));
	struct telling t = { .m = m, .we = analysis_work_energy(m, o), .labels = STRVEC_INIT };
	int r = 0;

	(void)err;
	if (cp->v.nr == 0) {
		r = table_set_skip(out, "collectives", "no kernel of the inputs is a collective");
	} else {
		t.cm = collective_match_new(cp);
		collectives_tell(&t, out);
		collective_match_free(t.cm);
		if (cp->unsized)
			table_set_skip(out, "collectives.sizes", "%s", cp->unsized);
	}
	collective_parts_free(cp);
	return r;
}

const struct analysis analysis_collectives = {
	.name = "collectives",
	.about = "collectives of ranks: bandwidth, waits, stragglers, and the clocks of ranks",
	.tables = { &collectives_form, &collective_instances_form, &collective_ranks_form,
		    &collective_waits_form, &message_collectives_form, &alignment_form },
	.run = collectives_run,
	.needs_work = true,
};
