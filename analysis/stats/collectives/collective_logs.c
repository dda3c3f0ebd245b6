#include "collective_logs.h"
#include "library_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/cost/element_type.h"
#include "profrig/model/library_calls.h"

/* A call of the log. */
struct logged_call {
	uint64_t span; /* its kernel; SPAN_NONE */
	const struct library_row *row;
	const struct library_stream *stream;
	enum collective_kind kind;
	size_t order; /* in the logs */
};

struct log_taking {
	struct collective_parts *cp;
	VEC(struct logged_call) calls; /* by rank, once they were matched by process */
	VEC(struct logged_call) by_span;
	VEC(struct taken_part {
		size_t at;
		struct collective_part before;
	}) taken;
	/* of the current rank and kind */
	VEC(size_t) parts;
	VEC(const struct logged_call *) matching;
	char name[64]; /* of a rank */
};

static bool is_nccl(const struct library_row *r)
{
	return strcmp(r->library, "nccl") == 0 || strcmp(r->library, "rccl") == 0;
}

/* ---- what a call tells ---- */

/* A member of a key, "count=64 dtype=f32": its text. */
static const char *key_member(const char *key, const char *name, size_t *ret_n)
{
	size_t n = strlen(name);

	for (const char *at = key; (at = strstr(at, name)); at += n) {
		if ((at != key && at[-1] != ' ') || at[n] != '=')
			continue;
		*ret_n = strcspn(at + n + 1, " ");
		return at + n + 1;
	}
	return NULL;
}

static int64_t key_number(const char *key, const char *name)
{
	size_t n;
	int64_t v;
	const char *text = key_member(key, name, &n);

	return text && num_i64(text, n, &v) == 0 && v >= 0 ? v : FACT_ABSENT;
}

/* What a call's line calls count: of an all-gather what each rank puts in, of a reduce-scatter what
 * it takes out. */
static bool counts_part(enum collective_kind k)
{
	return k == COLLECTIVE_ALL_GATHER || k == COLLECTIVE_REDUCE_SCATTER ||
	       k == COLLECTIVE_ALL_TO_ALL || k == COLLECTIVE_GATHER || k == COLLECTIVE_SCATTER;
}

static void part_complete(struct log_taking *lt, size_t at, const struct library_row *r)
{
	struct collective_part *p = &lt->cp->v.v[at];
	int64_t count = key_number(r->key, "count"), ranks = key_number(r->key, "nranks"), all;
	size_t n = 0;
	const char *type = key_member(r->key, "dtype", &n);
	const struct element_type *t = type ? element_type(type, n) : NULL;
	enum collective_kind kind = collective_kind_of(r->operation);

	VEC_PUSH(&lt->taken, ((struct taken_part){ at, *p }));
	if (!p->told) {
		p->kind = kind;
		p->name = collective_kind_name(kind);
	}
	if (t && !*p->dtype)
		p->dtype = t->name;
	if (p->size == FACT_ABSENT && ranks > 0)
		p->size = ranks;
	if (counts_part(kind) && count != FACT_ABSENT)
		count = ranks > 0 && !__builtin_mul_overflow(count, ranks, &all) ? all
										 : FACT_ABSENT;
	p->bytes = collective_bytes(count, t                                        ? t->bits
					   : type && strncmp(type, "bytes", n) == 0 ? 8
										    : 0);
	if (p->count == FACT_ABSENT)
		p->count = count;
	if (p->bytes != FACT_ABSENT)
		p->source = COLLECTIVE_FROM_LOG;
}

/* ---- by process ---- */

static int cmp_span(const void *pa, const void *pb)
{
	const struct logged_call *a = pa, *b = pb;

	return (a->span > b->span) - (a->span < b->span);
}

static void calls_read(struct log_taking *lt)
{
	const struct model *m = lt->cp->m;
	const struct library_calls *lc = m->library;
	struct library_match lm;

	library_match(m, &lm);
	for (size_t i = 0; i < lc->events.nr; i++) {
		const struct library_event *e = &lc->events.v[i];
		const struct library_row *r = &lc->rows.v[e->row];
		struct logged_call c = { SPAN_NONE, r, &lc->streams.v[e->stream],
					 collective_kind_of(r->operation), i };

		if (!is_nccl(r))
			continue;
		if (lm.span[i] != SPAN_NONE && span_is_work(m, lm.span[i]))
			c.span = lm.span[i];
		VEC_PUSH(&lt->calls, c);
		if (c.span != SPAN_NONE)
			VEC_PUSH(&lt->by_span, c);
	}
	library_match_release(&lm);
	if (lt->by_span.nr)
		qsort(lt->by_span.v, lt->by_span.nr, sizeof(*lt->by_span.v), cmp_span);
}

static void take_by_process(struct log_taking *lt)
{
	for (size_t i = 0; lt->by_span.nr && i < lt->cp->v.nr; i++) {
		struct collective_part *p = &lt->cp->v.v[i];
		struct logged_call key = { .span = p->span }, *c;

		if (p->bytes != FACT_ABSENT)
			continue;
		c = bsearch(&key, lt->by_span.v, lt->by_span.nr, sizeof(*lt->by_span.v), cmp_span);
		if (c)
			part_complete(lt, i, c->row);
	}
}

/* ---- by rank ---- */

static int cmp_rank(const void *pa, const void *pb)
{
	const struct logged_call *a = pa, *b = pb;

	if (a->stream->rank != b->stream->rank)
		return a->stream->rank < b->stream->rank ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The calls that a rank logged, [*ret, *ret + the result) of those sorted by rank. */
static size_t calls_of(const struct log_taking *lt, uint32_t rank, size_t *ret)
{
	const struct logged_call *v = lt->calls.v;
	int32_t own = lt->cp->ranks.v[rank].rank;
	size_t n = lt->calls.nr, end;

	*ret = 0;
	/* of one rank only: a log without ranks, and a trace without them */
	if (lt->cp->ranks.nr == 1 && (own == RANK_NONE || v[n - 1].stream->rank == LIBRARY_NO_ID))
		return n;
	if (own == RANK_NONE)
		return 0;
	*ret = LOWER_BOUND(at, 0, n, v[at].stream->rank < own);
	end = LOWER_BOUND(at, *ret, n, v[at].stream->rank == own);
	return end - *ret;
}

/* "rank 3", or the device that stands for it; in buf. */
static const char *rank_name(const struct collective_parts *cp, uint32_t rank, char buf[64])
{
	const struct collective_rank *r = &cp->ranks.v[rank];

	if (r->rank == RANK_NONE)
		snprintf(buf, 64, "%.60s", model_str(cp->m, r->device));
	else
		snprintf(buf, 64, "rank %d", r->rank);
	return buf;
}

static void unsized_say(struct log_taking *lt, uint32_t rank, enum collective_kind kind,
			const char *what)
{
	if (lt->cp->unsized)
		return;
	lt->cp->unsized = xasprintf("%s: the log of NCCL has %zu calls of %s%s, the trace has %zu",
				    rank_name(lt->cp, rank, lt->name), lt->matching.nr,
				    collective_kind_name(kind), what, lt->parts.nr);
}

/* Parts [first, end) of a rank, of one kind: whether some lack a size, and no log told one. */
static bool parts_lack_size(struct log_taking *lt, size_t first, size_t end,
			    enum collective_kind kind)
{
	bool lacks = false, taken = false;

	VEC_CLEAR(&lt->parts);
	for (size_t i = first; i < end; i++) {
		const struct collective_part *p = &lt->cp->v.v[i];

		if (p->kind != kind)
			continue;
		lacks |= p->bytes == FACT_ABSENT;
		taken |= p->source == COLLECTIVE_FROM_LOG;
		VEC_PUSH(&lt->parts, i);
	}
	return lacks && !taken;
}

/* Whether calls of the kind are of several processes. */
static bool calls_match(struct log_taking *lt, size_t at, size_t n, enum collective_kind kind)
{
	bool several = false;

	VEC_CLEAR(&lt->matching);
	for (size_t i = at; i < at + n; i++) {
		const struct logged_call *c = &lt->calls.v[i];

		if (c->kind != kind)
			continue;
		VEC_PUSH(&lt->matching, c);
		several |= c->stream->pid != lt->matching.v[0]->stream->pid ||
			   c->stream->input != lt->matching.v[0]->stream->input;
	}
	return several;
}

static void take_kind(struct log_taking *lt, uint32_t rank, size_t first, size_t end,
		      enum collective_kind kind)
{
	size_t at, n = calls_of(lt, rank, &at);
	bool several;

	if (!parts_lack_size(lt, first, end, kind))
		return;
	several = calls_match(lt, at, n, kind);
	if (several || lt->matching.nr != lt->parts.nr) {
		unsized_say(lt, rank, kind, several ? " of several processes" : "");
		return;
	}
	for (size_t i = 0; i < lt->parts.nr; i++)
		if (lt->cp->v.v[lt->parts.v[i]].bytes == FACT_ABSENT)
			part_complete(lt, lt->parts.v[i], lt->matching.v[i]->row);
}

static void take_by_rank(struct log_taking *lt)
{
	const struct collective_parts *cp = lt->cp;

	qsort(lt->calls.v, lt->calls.nr, sizeof(*lt->calls.v), cmp_rank);
	for (size_t i = 0, end; i < cp->v.nr; i = end) {
		for (end = i + 1; end < cp->v.nr && cp->v.v[end].rank == cp->v.v[i].rank; end++)
			;
		for (int k = COLLECTIVE_ALL_REDUCE; k <= COLLECTIVE_RECV; k++)
			if (k != COLLECTIVE_BARRIER)
				take_kind(lt, cp->v.v[i].rank, i, end, (enum collective_kind)k);
	}
}

/* What only some ranks have would make parts differ that are one collective. */
static void some_give_back(struct log_taking *lt)
{
	struct collective_parts *cp = lt->cp;
	uint32_t lacks[COLLECTIVE_RECV + 1];

	memset(lacks, 0xff, sizeof(lacks));
	for (size_t i = 0; i < cp->v.nr; i++)
		if (cp->v.v[i].bytes == FACT_ABSENT)
			lacks[cp->v.v[i].kind] = cp->v.v[i].rank;
	for (size_t i = 0; i < lt->taken.nr; i++) {
		enum collective_kind kind = lt->taken.v[i].before.kind;

		if (lacks[kind] == UINT32_MAX)
			continue;
		cp->v.v[lt->taken.v[i].at] = lt->taken.v[i].before;
		if (!cp->unsized)
			cp->unsized = xasprintf("no log of NCCL tells the sizes of %s on %s",
						collective_kind_name(kind),
						rank_name(cp, lacks[kind], lt->name));
	}
}

void collective_logs_take(struct collective_parts *cp)
{
	struct log_taking lt = { .cp = cp };
	uint64_t lack = 0;

	for (size_t i = 0; i < cp->v.nr; i++)
		lack += cp->v.v[i].bytes == FACT_ABSENT;
	if (lack == 0 || !cp->m->library || cp->m->library->events.nr == 0)
		return;
	calls_read(&lt);
	take_by_process(&lt);
	if (lt.calls.nr)
		take_by_rank(&lt);
	some_give_back(&lt);
	VEC_RELEASE(&lt.calls);
	VEC_RELEASE(&lt.by_span);
	VEC_RELEASE(&lt.taken);
	VEC_RELEASE(&lt.parts);
	VEC_RELEASE(&lt.matching);
}
