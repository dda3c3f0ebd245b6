#include "library_matching.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"

/* The outer one of two calls that begin together is first. */
static int in_time(const struct traced *a, const struct traced *b)
{
	ORDER(a->start_ns, b->start_ns);
	ORDER(b->end_ns, a->end_ns);
	ORDER(a->span, b->span);
	return 0;
}

static int by_time(const void *va, const void *vb)
{
	return in_time(va, vb);
}

static int by_thread(const void *va, const void *vb)
{
	const struct traced *a = va, *b = vb;

	ORDER(a->tid, b->tid);
	return in_time(a, b);
}

static int by_process(const void *va, const void *vb)
{
	const struct traced *a = va, *b = vb;
	int host = strcmp(a->host, b->host);

	ORDER(a->class, b->class);
	ORDER(b->kernel, a->kernel);
	ORDER(a->pid, b->pid);
	return host ? host : in_time(a, b);
}

static int logged_by_process(const void *va, const void *vb)
{
	const struct logged *a = va, *b = vb;

	ORDER(a->class, b->class);
	ORDER(a->pid, b->pid);
	ORDER(a->event, b->event);
	return 0;
}

static int logged_by_thread(const void *va, const void *vb)
{
	const struct logged *a = va, *b = vb;

	ORDER(a->tid, b->tid);
	ORDER(a->event, b->event);
	return 0;
}

/* Calls of the log, and of the trace, that may be the same. */
struct sides {
	struct logged *l;
	struct traced *t;
	size_t logs, traces;
};

static struct library_row_match *row_of(const struct matching *mt, const struct logged *l)
{
	return &mt->lm->row[mt->lc->events.v[l->event].row];
}

static void unmatched(const struct matching *mt, const struct sides *s, enum library_why why)
{
	for (size_t i = 0; i < s->logs; i++) {
		struct library_row_match *r = row_of(mt, &s->l[i]);

		if (r->why != WHY_NONE)
			continue;
		r->why = why;
		r->logged = s->logs;
		r->traced = s->traces;
	}
}

static enum library_why sides_match(const struct matching *mt, const struct sides *s)
{
	if (s->logs != s->traces)
		return WHY_COUNTS;
	for (size_t i = 0; i < s->logs; i++) {
		mt->lm->span[s->l[i].event] = s->t[i].span;
		row_of(mt, &s->l[i])->calls++;
	}
	return WHY_NONE;
}

/* The sides of the thread at the beginning of what is left of s, which is cut off. */
static struct sides thread_cut(struct sides *s)
{
	struct sides one = { s->l, s->t, 0, 0 };

	while (s->traces && s->t->tid < one.l->tid)
		s->t++, s->traces--;
	one.t = s->t;
	for (; s->logs && s->l->tid == one.l->tid; s->l++, s->logs--)
		one.logs++;
	for (; s->traces && s->t->tid == one.l->tid; s->t++, s->traces--)
		one.traces++;
	return one;
}

/* Whether the log names threads that the trace has; both sides are by thread, then. */
static bool threads_known(const struct sides *s)
{
	struct sides rest = *s;

	qsort(s->l, s->logs, sizeof(*s->l), logged_by_thread);
	qsort(s->t, s->traces, sizeof(*s->t), by_thread);
	while (rest.logs) {
		if (rest.l->tid == LIBRARY_NO_ID || thread_cut(&rest).traces == 0)
			return false;
	}
	return true;
}

static void threads_match(const struct matching *mt, struct sides rest)
{
	while (rest.logs) {
		struct sides one = thread_cut(&rest);
		enum library_why why = sides_match(mt, &one);

		if (why != WHY_NONE)
			unmatched(mt, &one, why);
	}
}

/* Whether calls of two threads overlap; of calls by time. */
static bool threads_overlap(const struct sides *s)
{
	size_t last = 0; /* of those up to i, which ends last */

	for (size_t i = 1; i < s->traces; i++) {
		if (s->t[i].tid != s->t[last].tid && s->t[i].start_ns < s->t[last].end_ns)
			return true;
		if (s->t[i].end_ns >= s->t[last].end_ns)
			last = i;
	}
	return false;
}

/* Kernels in the order of their launches, or of one queue. */
static bool kernels_ordered(const struct model *m, const struct sides *s)
{
	bool linked = true, unlinked = true, one_queue = true;
	str_id device = m->tracks.v[s->t->track].device;

	for (size_t i = 0; i < s->traces; i++) {
		linked &= s->t[i].linked;
		unlinked &= !s->t[i].linked;
		one_queue &= s->t[i].track == s->t->track;
		if (m->tracks.v[s->t[i].track].device != device)
			return false;
	}
	return linked || (one_queue && unlinked);
}

/* The call that ends the group in which a kernel was launched; SPAN_NONE. */
static uint64_t group_of(const struct matching *mt, const struct traced *t)
{
	const struct span_columns *c = &mt->m->spans;
	uint64_t up = t->linked ? span_parent(c, mt->lm->launch[t->span]) : SPAN_NONE;

	return up != SPAN_NONE && strstr(model_str(mt->m, c->name[up]), "GroupEnd") ? up
										    : SPAN_NONE;
}

/* Whether a group launched several kernels, of calls that differ: it may sort them by size. */
static bool groups_sort(const struct matching *mt, const struct sides *s)
{
	const struct library_event *e = mt->lc->events.v;
	bool differ = false;

	for (size_t i = 1; i < s->logs; i++)
		differ |= e[s->l[i].event].row != e[s->l[0].event].row;
	for (size_t i = 1; differ && i < s->traces; i++) {
		uint64_t group = group_of(mt, &s->t[i]);

		if (group != SPAN_NONE && group == group_of(mt, &s->t[i - 1]))
			return true;
	}
	return false;
}

/* Of one process. */
static enum library_why process_match(const struct matching *mt, struct sides *s)
{
	if (s->t->kernel && s->logs != s->traces)
		return WHY_COUNTS;
	if (s->t->kernel && !kernels_ordered(mt->m, s))
		return WHY_QUEUES;
	if (s->t->kernel && groups_sort(mt, s))
		return WHY_GROUPS;
	if (threads_known(s)) {
		threads_match(mt, *s);
		return WHY_NONE;
	}
	qsort(s->l, s->logs, sizeof(*s->l), logged_by_process);
	qsort(s->t, s->traces, sizeof(*s->t), by_time);
	if (s->logs != s->traces)
		return WHY_COUNTS;
	return threads_overlap(s) ? WHY_THREADS : sides_match(mt, s);
}

/* Those of [t, t + n), which are by process, that may be the log's; only: no other log has any. */
static enum library_why side_of(struct traced *t, size_t n, bool only, struct sides *s)
{
	int64_t pid = s->l->pid;
	size_t at;

	if (pid == LIBRARY_NO_ID) {
		if (n && (!only || t->pid != t[n - 1].pid || strcmp(t->host, t[n - 1].host) != 0))
			return WHY_PROCESSES;
		s->t = t;
		s->traces = n;
		return n ? WHY_NONE : WHY_ABSENT;
	}
	at = LOWER_BOUND(i, 0, n, t[i].pid < pid);
	t += at;
	n -= at;
	s->t = t;
	s->traces = LOWER_BOUND(i, 0, n, t[i].pid <= pid);
	if (s->traces && strcmp(t->host, t[s->traces - 1].host) != 0)
		return WHY_PROCESSES;
	return s->traces ? WHY_NONE : WHY_ABSENT;
}

static bool several_logs(const struct matching *mt, const struct sides *s)
{
	const struct library_calls *lc = mt->lc;
	uint32_t first = lc->streams.v[lc->events.v[s->l[0].event].stream].input;

	for (size_t i = 1; i < s->logs; i++)
		if (lc->streams.v[lc->events.v[s->l[i].event].stream].input != first)
			return true;
	return false;
}

/* What one process logs of a class. t: n of the class, kernels first; `kernels` of them are. */
static void group_match(const struct matching *mt, struct sides s, struct traced *t, size_t n,
			size_t kernels, bool only)
{
	const struct {
		struct traced *t;
		size_t n;
	} sides[] = { { t, kernels }, { t + kernels, n - kernels } };
	enum library_why why = WHY_ABSENT;

	if (n && several_logs(mt, &s)) {
		unmatched(mt, &s, WHY_LOGS);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		struct sides one = s;
		enum library_why w = side_of(sides[i].t, sides[i].n, only, &one);

		if (w == WHY_NONE)
			w = process_match(mt, &one);
		if (w == WHY_NONE)
			return;
		if (w == WHY_ABSENT)
			continue;
		s.traces = one.traces;
		why = w;
	}
	unmatched(mt, &s, why);
}

static void class_match(struct matching *mt, uint32_t class, struct sides all)
{
	struct call_class *c = &mt->classes.v[class];
	size_t kernels = 0;

	if (all.traces && c->calls != c->events) {
		c->no_order = true;
		return;
	}
	while (kernels < all.traces && all.t[kernels].kernel)
		kernels++;
	for (size_t i = 0, n; i < all.logs; i += n) {
		struct sides s = { .l = all.l + i };

		for (n = 0; i + n < all.logs && all.l[i + n].pid == all.l[i].pid; n++)
			;
		s.logs = n;
		group_match(mt, s, all.t, all.traces, kernels, n == all.logs);
	}
}

void library_order_match(struct matching *mt)
{
	struct logged *l = mt->logged.v, *logs_end = l + mt->logged.nr;
	struct traced *t = mt->traced.v, *end = t + mt->traced.nr;

	if (mt->logged.nr)
		qsort(l, mt->logged.nr, sizeof(*l), logged_by_process);
	if (mt->traced.nr)
		qsort(t, mt->traced.nr, sizeof(*t), by_process);
	for (uint32_t c = 0; c < mt->classes.nr; c++) {
		struct sides s = { .l = l, .t = t };

		for (; l < logs_end && l->class == c; l++)
			s.logs++;
		for (; t < end && t->class == c; t++)
			s.traces++;
		class_match(mt, c, s);
	}
	for (size_t i = 0; i < mt->lc->rows.nr; i++)
		if (mt->of_row[i] != CLASS_NONE && mt->classes.v[mt->of_row[i]].no_order)
			mt->lm->row[i].why = WHY_NO_ORDER;
}
