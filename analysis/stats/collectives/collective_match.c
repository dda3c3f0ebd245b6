#include "collective_match.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* A part on its way to an instance. */
struct match_row {
	const struct collective_part *p;
	size_t at;           /* its place among the parts, which are in order */
	uint32_t group;      /* number of its group, or of a pair in it */
	bool numbered;       /* by the trace */
	int64_t number;      /* sequence, or ordinal */
	uint32_t occurrence; /* of the number on the rank */
};

struct matcher {
	struct collective_parts *cp;
	struct collective_match *cm;
	VEC(struct match_row) rows;
	VEC(struct match_group) groups;
	bool alike; /* parts without a group are the same on all ranks */
};

struct match_group {
	uint32_t first;       /* part that has it first */
	int64_t size;         /* as stated; FACT_ABSENT */
	uint32_t ranks;       /* that have parts in it */
	uint32_t parts, most; /* of all ranks; of one rank */
	bool pair, known;
};

/* ---- groups ---- */

static bool is_pair(const struct collective_part *p)
{
	return p->kind == COLLECTIVE_SEND || p->kind == COLLECTIVE_RECV;
}

/* The ranks between which a part sends: of the two ends one is its own. */
static void pair_of(const struct matcher *mt, const struct collective_part *p, int64_t *ret_from,
		    int64_t *ret_to)
{
	int32_t own = mt->cp->ranks.v[p->rank].rank;
	int64_t self = own == RANK_NONE ? FACT_ABSENT : own;

	*ret_from = p->kind == COLLECTIVE_SEND ? self : p->from;
	*ret_to = p->kind == COLLECTIVE_SEND ? p->to : self;
}

static bool same_group(const struct matcher *mt, const struct collective_part *a,
		       const struct collective_part *b)
{
	int64_t a_from = 0, a_to = 0, b_from = 0, b_to = 0;

	if (a->known != b->known || a->group != b->group || a->op != b->op ||
	    a->members != b->members || (a->members == FACT_NONE && a->size != b->size) ||
	    is_pair(a) != is_pair(b))
		return false;
	if (!is_pair(a))
		return true;
	pair_of(mt, a, &a_from, &a_to);
	pair_of(mt, b, &b_from, &b_to);
	return a_from == b_from && a_to == b_to;
}

static uint64_t group_hash(const struct matcher *mt, const struct collective_part *p)
{
	int64_t from = 0, to = 0;
	uint64_t h = mix64(mix64(u64map_pair(p->group, p->members)) ^ p->op);

	if (p->members == FACT_NONE)
		h = mix64(h ^ (uint64_t)p->size);
	if (is_pair(p)) {
		pair_of(mt, p, &from, &to);
		h = mix64(mix64(h + 1 + (uint64_t)from) ^ (uint64_t)to);
	}
	return h + p->known;
}

static void find_groups(struct matcher *mt)
{
	CLEANUP(u64map_release) struct u64map at = U64MAP_INIT;

	for (size_t i = 0; i < mt->cp->v.nr; i++) {
		const struct collective_part *p = &mt->cp->v.v[i];
		uint64_t h = group_hash(mt, p);
		uint32_t *g = u64map_at(&at, h);

		/* of two groups with one hash the next number is tried */
		while (*g != U64MAP_NONE &&
		       !same_group(mt, p, &mt->cp->v.v[mt->groups.v[*g].first]))
			g = u64map_at(&at, ++h);
		if (*g == U64MAP_NONE) {
			*g = (uint32_t)mt->groups.nr;
			VEC_PUSH(&mt->groups,
				 ((struct match_group){ .first = (uint32_t)i,
							.size = is_pair(p) ? 2 : p->size,
							.pair = is_pair(p),
							.known = p->known }));
		}
		VEC_PUSH(&mt->rows, ((struct match_row){ p, i, *g, p->sequence != FACT_ABSENT,
							 p->sequence, 0 }));
	}
}

/* ---- numbers ---- */

static int cmp_rank_rows(const void *pa, const void *pb)
{
	const struct match_row *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->p->rank != b->p->rank)
		return a->p->rank < b->p->rank ? -1 : 1;
	if (a->numbered != b->numbered)
		return a->numbered ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Ordinals of what has no number, and occurrences of each number. */
static void number_rows(struct matcher *mt)
{
	struct match_row *v = mt->rows.v;
	uint32_t run = 0;

	qsort(v, mt->rows.nr, sizeof(*v), cmp_rank_rows);
	for (size_t i = 0; i < mt->rows.nr; i++) {
		struct match_group *g = &mt->groups.v[v[i].group];
		bool begins =
			i == 0 || v[i - 1].group != v[i].group || v[i - 1].p->rank != v[i].p->rank;

		run = begins ? 1 : run + 1;
		g->ranks += begins;
		g->parts++;
		if (run > g->most)
			g->most = run;
		if (!v[i].numbered)
			v[i].number = begins || v[i - 1].numbered ? 0 : v[i - 1].number + 1;
		else if (!begins && v[i - 1].numbered && v[i - 1].number == v[i].number)
			v[i].occurrence = v[i - 1].occurrence + 1;
	}
}

static int cmp_instance_rows(const void *pa, const void *pb)
{
	const struct match_row *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->numbered != b->numbered)
		return a->numbered ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static bool same_instance(const struct match_row *a, const struct match_row *b)
{
	return a->group == b->group && a->numbered == b->numbered && a->number == b->number &&
	       a->occurrence == b->occurrence;
}

/* ---- instances ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || strcmp(a, b) == 0;
}

/* Of a send and its receive one may tell the size alone. */
static bool same_size(const struct collective_part *a, const struct collective_part *b)
{
	if (is_pair(a) && (a->bytes == FACT_ABSENT || b->bytes == FACT_ABSENT))
		return true;
	return a->bytes == b->bytes && a->count == b->count;
}

/* Parts that were matched agree in all that both tell. */
static bool agree(const struct collective_part *a, const struct collective_part *b)
{
	if (!is_pair(a) && !same_text(a->name, b->name))
		return false;
	if (!same_text(a->dtype, b->dtype))
		return false;
	return a->uneven || b->uneven || same_size(a, b);
}

/* The mean of what parts tell; FACT_ABSENT when one does not. */
static int64_t mean_of(const struct collective_part *p, size_t n, bool bytes)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t v = bytes ? p[i].bytes : p[i].count;
		if (v == FACT_ABSENT)
			return FACT_ABSENT;
		sum += v;
	}
	return (int64_t)(sum / (__int128)n);
}

static int64_t world_of(const struct matcher *mt, const struct match_group *g)
{
	return mt->cp->ranks.v[mt->cp->v.v[g->first].rank].world;
}

static int64_t group_size(const struct matcher *mt, const struct match_group *g)
{
	int64_t world = world_of(mt, g);

	return g->size > 0 ? g->size : world > 0 ? world : g->ranks;
}

static bool size_stated(const struct matcher *mt, const struct match_group *g)
{
	return g->size > 0 || world_of(mt, g) > 0;
}

static void judge(const struct matcher *mt, const struct match_group *g,
		  struct collective_instance *ci)
{
	const struct collective_part *p = &mt->cm->parts.v[ci->first];

	ci->why = (int64_t)ci->nr < ci->size   ? COLLECTIVE_MISSING
		  : (int64_t)ci->nr > ci->size ? COLLECTIVE_TWICE
					       : COLLECTIVE_COMPLETE;
	/* one rank alone, and the trace does not say of how many */
	if ((!g->known && !mt->alike) || (ci->size < 2 && !size_stated(mt, g)))
		ci->why = COLLECTIVE_UNKNOWN;
	for (size_t i = 1; i < ci->nr; i++)
		if (!agree(p, &p[i]))
			ci->why = COLLECTIVE_DIFFERS;
}

static void add_instance(struct matcher *mt, const struct match_row *r, size_t n)
{
	const struct match_group *g = &mt->groups.v[r->group];
	const struct collective_part *p = r->p;
	struct collective_instance ci = { .first = mt->cm->parts.nr,
					  .nr = n,
					  .kind = p->kind,
					  .name = p->name,
					  .dtype = p->dtype,
					  .group = p->group,
					  .op = p->op,
					  .members = p->members,
					  .sequence = r->number,
					  .numbered = r->numbered };

	for (size_t i = 0; i < n; i++)
		VEC_PUSH(&mt->cm->parts, *r[i].p);
	p = &mt->cm->parts.v[ci.first];
	ci.size = group_size(mt, g);
	ci.stated = size_stated(mt, g);
	ci.even = r->numbered || (uint64_t)g->most * g->ranks == g->parts;
	ci.count = p->uneven ? mean_of(p, n, false) : p->count;
	ci.bytes = p->uneven ? mean_of(p, n, true) : p->bytes;
	if (g->pair && n == 2) {
		ci.kind = COLLECTIVE_PERMUTE;
		ci.name = collective_kind_name(ci.kind);
		ci.count = ci.count == FACT_ABSENT ? p[1].count : ci.count;
		ci.bytes = ci.bytes == FACT_ABSENT ? p[1].bytes : ci.bytes;
	}
	judge(mt, g, &ci);
	VEC_PUSH(&mt->cm->v, ci);
}

/* Whether parts without a group have the same names in the same order on each of the ranks. */
static bool all_alike(const struct matcher *mt)
{
	const struct match_row *v = mt->rows.v;

	for (size_t i = 0; i < mt->rows.nr; i++) {
		const struct match_group *g = &mt->groups.v[v[i].group];

		if (g->known)
			continue;
		if ((uint64_t)g->most * g->ranks != g->parts || g->ranks != mt->cp->ranks.nr)
			return false;
		if (i > 0 && same_instance(&v[i - 1], &v[i]) &&
		    !same_text(v[i - 1].p->name, v[i].p->name))
			return false;
	}
	return true;
}

struct collective_match *collective_match_new(struct collective_parts *cp)
{
	struct matcher mt = { .cp = cp };

	mt.cm = xcalloc(1, sizeof(*mt.cm));
	mt.cm->cp = cp;
	find_groups(&mt);
	if (mt.rows.nr) {
		number_rows(&mt);
		qsort(mt.rows.v, mt.rows.nr, sizeof(*mt.rows.v), cmp_instance_rows);
	}
	mt.alike = all_alike(&mt);
	for (size_t i = 0, end; i < mt.rows.nr; i = end) {
		for (end = i + 1;
		     end < mt.rows.nr && same_instance(&mt.rows.v[i], &mt.rows.v[end]) &&
		     (mt.alike || mt.groups.v[mt.rows.v[i].group].known);
		     end++)
			;
		add_instance(&mt, &mt.rows.v[i], end - i);
	}
	VEC_RELEASE(&mt.rows);
	VEC_RELEASE(&mt.groups);
	return mt.cm;
}

void collective_match_free(struct collective_match *cm)
{
	if (!cm)
		return;
	VEC_RELEASE(&cm->parts);
	VEC_RELEASE(&cm->v);
	VEC_RELEASE(&cm->wait_ns);
	free(cm);
}

/* ---- measures ---- */

static void measure(struct collective_match *cm, struct collective_instance *ci)
{
	const struct collective_part *p = &cm->parts.v[ci->first];
	int64_t last_end = INT64_MIN, last_start = INT64_MIN, first_start = INT64_MAX;

	ci->least_ns = INT64_MAX;
	for (size_t i = 0; i < ci->nr; i++) {
		if (p[i].start_ns < first_start) {
			first_start = p[i].start_ns;
			ci->first_rank = p[i].rank;
		}
		if (p[i].start_ns > last_start) {
			last_start = p[i].start_ns;
			ci->last_rank = p[i].rank;
		}
		if (p[i].end_ns > last_end)
			last_end = p[i].end_ns;
		if (p[i].end_ns - p[i].start_ns < ci->least_ns)
			ci->least_ns = p[i].end_ns - p[i].start_ns;
	}
	ci->start_ns = first_start;
	if (ci->why != COLLECTIVE_COMPLETE)
		return;
	ci->transfer_ns = last_end - last_start;
	ci->skew_ns = last_start - first_start;
	for (size_t i = 0; i < ci->nr; i++) {
		int64_t until = p[i].end_ns < last_start ? p[i].end_ns : last_start;

		cm->wait_ns.v[ci->first + i] = until - p[i].start_ns;
		ci->wait_ns += until - p[i].start_ns;
	}
}

void collective_measure(struct collective_match *cm)
{
	VEC_CLEAR(&cm->wait_ns);
	for (size_t i = 0; i < cm->parts.nr; i++)
		VEC_PUSH(&cm->wait_ns, 0);
	for (size_t i = 0; i < cm->v.nr; i++)
		measure(cm, &cm->v.v[i]);
}

struct exposure collective_exposure(const struct collective_match *cm,
				    const struct collective_instance *ci)
{
	const struct collective_part *p = &cm->parts.v[ci->first];
	struct exposure e = { 0, 0, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < ci->nr; i++) {
		e.exposed_ns = ns_add(e.exposed_ns, p[i].exposed_ns);
		e.hidden_ns = ns_add(e.hidden_ns, p[i].kernels_ns - p[i].exposed_ns);
		e.least_ns = p[i].exposed_ns < e.least_ns ? p[i].exposed_ns : e.least_ns;
		e.most_ns = p[i].exposed_ns > e.most_ns ? p[i].exposed_ns : e.most_ns;
	}
	return e;
}
