/*
 * Async spans (b … e, in older files S … F) belong to no thread and overlap freely. Within a group
 * (pid, category, id) they nest. A run of a group, from its first begin until all its spans are
 * closed, gets the first row that is free; every row is a track of its own.
 */
#include "tef.h"

#include "profrig/model/nest_rows.h"
#include "profrig/model/warnings.h"

/* An end that fits no name searches the open spans of its group. */
#define MAX_SEARCH 64

struct async_span {
	int64_t start_ns, end_ns;
	const struct tef_async *begin;
	str_id args;
	bool instant;
};

/* A stretch of one group in which something was open all the time. */
struct async_run {
	int64_t start_ns, end_ns;
	size_t first, nr; /* of the spans */
	const struct tef_async *begin;
};

struct asyncs {
	struct tef *t;
	int64_t last_ns;
	VEC(struct async_span) spans;
	VEC(struct async_run) runs;
	VEC(size_t) open; /* spans */
	uint64_t strays, mismatches, left_open;
};

void tef_async_add(struct tef *t, const struct tef_event *ev, char ph)
{
	struct tef_async a = { .ph = ph,
			       .pid = ev->pid,
			       .cat = ev->cat,
			       .order = (uint32_t)t->asyncs.nr,
			       .named = ev->name.p && ev->name.n > 0 };

	if (!tef_time(t, ev, &a.t_ns))
		return;
	if (t->asyncs.nr >= UINT32_MAX) {
		tef_bad_event(t, "more async events than can be paired");
		return;
	}
	a.name = tef_name_of(t, ev);
	a.category = tef_category_of(t, ev);
	a.args = tef_args(t, &ev->args);
	a.pid_key = tef_id_key(&ev->pid);
	a.group = tef_hash(a.pid_key, a.category, tef_id_key(&ev->id));
	if (ev->ph != ph) /* those of the older kind are matched among themselves */
		a.group = tef_hash(a.group, 'S', 0);
	if (ev->scoped)
		a.group = tef_hash(a.group, ev->scope, 0);
	VEC_PUSH(&t->asyncs, a);
}

static int by_group(const void *va, const void *vb)
{
	const struct tef_async *a = va, *b = vb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void span_add(struct asyncs *as, const struct tef_async *b, bool instant)
{
	if (as->open.nr == 0)
		VEC_PUSH(&as->runs, (struct async_run){ .start_ns = b->t_ns,
							.first = as->spans.nr,
							.begin = b });
	as->runs.v[as->runs.nr - 1].nr++;
	as->runs.v[as->runs.nr - 1].end_ns = b->t_ns;
	VEC_PUSH(&as->spans, (struct async_span){ .start_ns = b->t_ns,
						  .end_ns = b->t_ns,
						  .begin = b,
						  .args = b->args,
						  .instant = instant });
}

static void span_end(struct asyncs *as, size_t at, int64_t end_ns, str_id args)
{
	struct async_span *s = &as->spans.v[as->open.v[at]];
	struct async_run *run = &as->runs.v[as->runs.nr - 1];

	s->end_ns = end_ns;
	if (s->args == STR_NONE)
		s->args = args;
	if (end_ns > run->end_ns)
		run->end_ns = end_ns;
	memmove(&as->open.v[at], &as->open.v[at + 1], (as->open.nr - at - 1) * sizeof(*as->open.v));
	as->open.nr--;
}

static void event_take(struct asyncs *as, const struct tef_async *a)
{
	size_t i = as->open.nr;

	if (a->ph != 'e') {
		span_add(as, a, a->ph == 'n');
		if (a->ph == 'b')
			VEC_PUSH(&as->open, as->spans.nr - 1);
		return;
	}
	for (size_t tries = 0; a->named && i > 0 && tries < MAX_SEARCH; tries++, i--)
		if (as->spans.v[as->open.v[i - 1]].begin->name == a->name)
			break;
	if (i == 0 || (a->named && as->spans.v[as->open.v[i - 1]].begin->name != a->name))
		i = as->open.nr; /* of another name: the innermost */
	if (i == 0) {
		as->strays++;
		return;
	}
	as->mismatches += a->named && as->spans.v[as->open.v[i - 1]].begin->name != a->name;
	span_end(as, i - 1, a->t_ns, a->args);
}

static void group_close(struct asyncs *as)
{
	as->left_open += as->open.nr;
	while (as->open.nr > 0)
		span_end(as, as->open.nr - 1, as->last_ns, STR_NONE);
}

static int by_row_order(const void *va, const void *vb)
{
	const struct async_run *a = va, *b = vb;

	if (a->begin->pid_key != b->begin->pid_key)
		return a->begin->pid_key < b->begin->pid_key ? -1 : 1;
	if (a->begin->category != b->begin->category)
		return a->begin->category < b->begin->category ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->begin->order < b->begin->order ? -1 : a->begin->order > b->begin->order;
}

static tef_slot row_slot(struct tef *t, const struct tef_async *a, uint32_t row)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;

	json_decode(&a->cat, &name);
	strbuf_addstr(&name, name.len ? " async" : "async");
	if (row > 0)
		strbuf_addf(&name, " #%u", row + 1);
	return tef_row(t, &a->pid, a->category, name.buf, row);
}

static void run_push(struct asyncs *as, const struct async_run *run, uint32_t row)
{
	struct tef *t = as->t;
	tef_slot slot = row_slot(t, run->begin, row);

	for (size_t i = run->first; i < run->first + run->nr; i++) {
		const struct async_span *s = &as->spans.v[i];
		struct span_def d = { .start_ns = s->start_ns,
				      .end_ns = s->end_ns,
				      .name = s->begin->name,
				      .category = s->begin->category,
				      .args = s->args,
				      .kind = s->instant ? SPAN_INSTANT : SPAN_ANNOTATION };

		tef_span(t, slot, &d);
	}
}

static bool same_rows(const struct async_run *a, const struct async_run *b)
{
	return a->begin->pid_key == b->begin->pid_key && a->begin->category == b->begin->category;
}

static void rows_push(struct asyncs *as)
{
	CLEANUP(nest_rows_release) struct nest_rows rows = NEST_ROWS_INIT;

	if (as->runs.nr == 0)
		return;
	qsort(as->runs.v, as->runs.nr, sizeof(*as->runs.v), by_row_order);
	for (size_t i = 0; i < as->runs.nr; i++) {
		const struct async_run *run = &as->runs.v[i];

		if (i > 0 && !same_rows(run, &as->runs.v[i - 1]))
			nest_rows_release(&rows);
		run_push(as, run, nest_rows_put(&rows, 0, run->start_ns, run->end_ns, false));
	}
}

void tef_asyncs_push(struct tef *t)
{
	struct asyncs as = { .t = t, .last_ns = INT64_MIN };

	if (t->asyncs.nr == 0)
		return;
	for (size_t i = 0; i < t->asyncs.nr; i++)
		if (t->asyncs.v[i].t_ns > as.last_ns)
			as.last_ns = t->asyncs.v[i].t_ns;
	for (size_t i = 0; i < t->tracks.nr; i++)
		if (t->tracks.v[i].last_ns > as.last_ns)
			as.last_ns = t->tracks.v[i].last_ns;
	qsort(t->asyncs.v, t->asyncs.nr, sizeof(*t->asyncs.v), by_group);
	for (size_t i = 0; i < t->asyncs.nr; i++) {
		if (i > 0 && t->asyncs.v[i].group != t->asyncs.v[i - 1].group)
			group_close(&as);
		event_take(&as, &t->asyncs.v[i]);
	}
	group_close(&as);
	rows_push(&as);
	sink_warn(t->sink, W_STRAY_LEAVE, as.strays,
		  "ends of async spans that were never begun were ignored");
	sink_warn(t->sink, W_LEAVE_MISMATCH, as.mismatches,
		  "ends of async spans closed begins of another name");
	sink_warn(t->sink, W_OPEN_SPAN, as.left_open,
		  "async spans without an end last to the end of the trace");
	VEC_RELEASE(&as.spans);
	VEC_RELEASE(&as.runs);
	VEC_RELEASE(&as.open);
}
