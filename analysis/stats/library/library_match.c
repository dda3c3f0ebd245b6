#include "library_matching.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/intern.h"

/* ---- classes ---- */

/* CLASS_NONE: no row has it, or, of two texts of one hash, it is the later one. */
static uint32_t class_find(const struct matching *mt, const char *text)
{
	uint32_t at = u64map_get(&mt->class_at, XXH3_64bits(text, strlen(text)));

	return at != U64MAP_NONE && !strcmp(mt->classes.v[at].text, text) ? at : CLASS_NONE;
}

static uint32_t class_make(struct matching *mt, const char *text)
{
	uint32_t *at = u64map_at(&mt->class_at, XXH3_64bits(text, strlen(text)));
	struct call_class c = { .calls = 0 };

	if (*at != U64MAP_NONE)
		return class_find(mt, text);
	snprintf(c.text, sizeof(c.text), "%s", text);
	*at = (uint32_t)mt->classes.nr;
	VEC_PUSH(&mt->classes, c);
	return *at;
}

static void rows_class(struct matching *mt)
{
	char text[LIBRARY_CLASS_MAX];

	mt->of_row = xcalloc(mt->lc->rows.nr + 1, sizeof(*mt->of_row));
	for (size_t i = 0; i < mt->lc->rows.nr; i++) {
		const struct library_row *r = &mt->lc->rows.v[i];

		mt->of_row[i] = library_class_of_row(r, text) ? class_make(mt, text) : CLASS_NONE;
		if (mt->of_row[i] != CLASS_NONE)
			mt->classes.v[mt->of_row[i]].calls += r->calls;
	}
	for (size_t i = 0; i < mt->lc->events.nr; i++) {
		const struct library_event *e = &mt->lc->events.v[i];
		const struct library_stream *s = &mt->lc->streams.v[e->stream];
		uint32_t class = mt->of_row[e->row];

		if (class == CLASS_NONE)
			continue;
		mt->classes.v[class].events++;
		VEC_PUSH(&mt->logged, ((struct logged){ class, (uint32_t)i, s->pid, s->tid }));
	}
}

/* ---- calls of the trace ---- */

/* By string: the class of a call or kernel that it names. */
struct name_classes {
	uint32_t *call, *blas, *kernel;
	str_id blas_category;
};

static uint32_t *names_of(struct matching *mt, bool (*class_of)(const char *name, char *ret))
{
	size_t n = intern_count(mt->m->strings);
	uint32_t *v = xcalloc(n + 1, sizeof(*v));
	char text[LIBRARY_CLASS_MAX];

	for (str_id i = 0; i < n; i++)
		v[i] = class_of(intern_str(mt->m->strings, i), text) ? class_find(mt, text)
								     : CLASS_NONE;
	return v;
}

static bool class_of_plain(const char *name, char *ret)
{
	return library_class_of_call(name, "", ret);
}

static bool class_of_blas(const char *name, char *ret)
{
	return library_class_of_call(name, "blas", ret);
}

static uint32_t span_class(const struct model *m, const struct name_classes *n, uint64_t i)
{
	const struct span_columns *c = &m->spans;

	if (c->kind[i] == SPAN_KERNEL)
		return span_is_work(m, i) ? n->kernel[c->name[i]] : CLASS_NONE;
	if (c->kind[i] != SPAN_HOST || m->tracks.v[c->track[i]].kind != TRACK_THREAD)
		return CLASS_NONE;
	return c->category[i] == n->blas_category ? n->blas[c->name[i]] : n->call[c->name[i]];
}

/* Of a kernel whose launch is unknown: the process that opened its queue. */
static void owner_put(const struct model *m, const struct track *queue, struct traced *t)
{
	if (queue->owner == TRACK_NONE)
		return;
	t->pid = m->tracks.v[queue->owner].pid;
	t->host = model_host_of(m, queue->owner);
}

static void traced_add(struct matching *mt, uint32_t class, uint64_t span)
{
	const struct model *m = mt->m;
	bool kernel = m->spans.kind[span] == SPAN_KERNEL;
	uint64_t launch = kernel && mt->lm->launch ? mt->lm->launch[span] : SPAN_NONE;
	uint64_t from = launch != SPAN_NONE ? launch : span;
	struct traced t = { .class = class,
			    .track = m->spans.track[span],
			    .kernel = kernel,
			    .linked = launch != SPAN_NONE,
			    .pid = LIBRARY_NO_ID,
			    .tid = LIBRARY_NO_ID,
			    .start_ns = m->spans.start_ns[from],
			    .end_ns = m->spans.end_ns[from],
			    .host = "",
			    .span = span };
	const struct track *thread = &m->tracks.v[m->spans.track[from]];

	if (kernel && !t.linked) {
		owner_put(m, thread, &t);
	} else {
		t.pid = thread->pid;
		t.tid = thread->tid;
		t.host = model_host_of(m, m->spans.track[from]);
	}
	VEC_PUSH(&mt->traced, t);
}

static void trace_class(struct matching *mt)
{
	struct name_classes n = { names_of(mt, class_of_plain), names_of(mt, class_of_blas),
				  names_of(mt, library_class_of_kernel),
				  intern_find(mt->m->strings, "blas", 4) };

	for (uint64_t i = 0; i < mt->m->spans.nr; i++) {
		uint32_t class = span_class(mt->m, &n, i);

		if (class != CLASS_NONE)
			traced_add(mt, class, i);
	}
	free(n.call);
	free(n.blas);
	free(n.kernel);
}

/* ---- all ---- */

/* By work: the call that launched it, the deepest of several. */
static uint64_t *launches_of(const struct model *m)
{
	CLEANUP(xfreep) uint32_t *depths = NULL;
	uint64_t *of = NULL;

	for (size_t i = 0; i < m->links.nr; i++) {
		uint64_t from = m->links.from[i], to = m->links.to[i];

		if (m->links.kind[i] != LINK_LAUNCH || !span_is_work(m, to) ||
		    m->tracks.v[m->spans.track[from]].kind != TRACK_THREAD)
			continue;
		if (!of) {
			of = xreallocarray(NULL, m->spans.nr, sizeof(*of));
			for (size_t k = 0; k < m->spans.nr; k++)
				of[k] = SPAN_NONE;
		}
		if (of[to] == SPAN_NONE) {
			of[to] = from;
			continue;
		}
		if (!depths)
			depths = model_depths(m);
		if (depths[from] > depths[of[to]] ||
		    (depths[from] == depths[of[to]] && from < of[to]))
			of[to] = from;
	}
	return of;
}

/* Whether threads had calls that were counted and not kept. */
static bool calls_streamed(const struct model *m)
{
	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].calls && m->tracks.v[i].spans == 0)
			return true;
	return false;
}

static void all_unmatched(const struct matching *mt, enum library_why why)
{
	for (size_t i = 0; i < mt->lc->rows.nr; i++)
		if (mt->of_row[i] != CLASS_NONE || library_match_in_time(&mt->lc->rows.v[i]))
			mt->lm->row[i].why = why;
}

void library_match(const struct model *m, struct library_match *ret)
{
	const struct library_calls *lc = m->library;
	struct matching mt = { .m = m, .lc = lc, .lm = ret, .class_at = U64MAP_INIT };

	ret->span = xreallocarray(NULL, lc->events.nr + 1, sizeof(*ret->span));
	ret->around = xreallocarray(NULL, lc->events.nr + 1, sizeof(*ret->around));
	ret->row = xcalloc(lc->rows.nr + 1, sizeof(*ret->row));
	ret->launch = NULL;
	for (size_t i = 0; i < lc->events.nr; i++)
		ret->span[i] = ret->around[i] = SPAN_NONE;
	rows_class(&mt);
	if (m->windows.nr) {
		all_unmatched(&mt, WHY_WINDOWS);
	} else if (calls_streamed(m)) {
		all_unmatched(&mt, WHY_STREAMED);
	} else if (m->spans.nr) {
		ret->launch = launches_of(m);
		if (mt.classes.nr)
			trace_class(&mt);
		library_order_match(&mt);
		library_around_match(&mt);
	}
	VEC_RELEASE(&mt.classes);
	u64map_release(&mt.class_at);
	free(mt.of_row);
	VEC_RELEASE(&mt.logged);
	VEC_RELEASE(&mt.traced);
}

void library_match_release(struct library_match *lm)
{
	free(lm->span);
	free(lm->around);
	free(lm->row);
	free(lm->launch);
	*lm = (struct library_match){ NULL };
}

const char *library_why_text(const struct library_row_match *r, char *buf, size_t size)
{
	static const char *const texts[] = {
		[WHY_NONE] = "",
		[WHY_ABSENT] = "the trace has no such calls",
		[WHY_STREAMED] = "the trace was streamed; --sink model keeps its calls",
		[WHY_WINDOWS] = "logs are not cut to windows",
		[WHY_NO_ORDER] = "the log does not tell all calls in their order",
		[WHY_LOGS] = "several logs tell calls of one process",
		[WHY_PROCESSES] =
			"several processes make such calls, and the log does not say which",
		[WHY_THREADS] = "calls of several threads overlap",
		[WHY_QUEUES] = "several devices or queues run such kernels",
		[WHY_GROUPS] = "a group launches several calls in an order of its own",
		[WHY_CLOCK] = "times of the log and of the trace cannot be compared",
		[WHY_OPEN] = "no fitting operator is open during all of a call, or several are",
	};

	if (r->why != WHY_COUNTS)
		return texts[r->why];
	snprintf(buf, size, "the log has %" PRIu64 " such calls, the trace %" PRIu64, r->logged,
		 r->traced);
	return buf;
}
