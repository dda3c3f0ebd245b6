/*
 * The sink of one track. Times of a track only go forward, so its calls are a stack, and only the
 * order of calls at one moment is left to decide. The model sorts by start, longer first: a call
 * without length is a child of the innermost call that is open after that moment, and a sibling of
 * others without length. So calls get their nodes when time moves on: those still open are the long
 * ones, in the order of the stack, and those that opened and closed meanwhile are their children.
 */
#include "profile_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/name_map.h"
#include "profrig/model/warnings.h"

#define INSTANTS_LIMIT ((size_t)4096)
/* records per pull without another limit; progress is shown in between */
#define PULL_RECORDS ((uint64_t)1 << 18)

/* Out of line, so that the path of nearly every event is short. */
#define RARE __attribute__((noinline))

static struct lane *lane_of(struct sink *s)
{
	return (struct lane *)((char *)s - offsetof(struct lane, sink));
}

/* ---- warnings: as the model counts them, kept until all lanes are done ---- */

/* The text is formatted for the first one, and for each error. */
static void lane_warn(struct lane *l, const char *code, uint64_t count, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void lane_warn(struct lane *l, const char *code, uint64_t count, const char *fmt, ...)
{
	bool error = warning_keeps_texts(warning_find(code));
	char *text;
	va_list ap;

	for (size_t i = 0; !error && i < l->warnings.nr; i++) {
		if (strcmp(l->warnings.v[i].code, code) == 0) {
			l->warnings.v[i].count += count;
			return;
		}
	}
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	VEC_PUSH(&l->warnings, (struct lane_warning){ code, count, text });
}

/* Other lanes may be adding strings; the text itself stays where it is. */
static const char *text_of(struct lane *l, str_id id)
{
	const char *text;

	pthread_mutex_lock(&l->p->priv->lock);
	text = model_str(l->p->m, id);
	pthread_mutex_unlock(&l->p->priv->lock);
	return text;
}

static const char *track_text(struct lane *l)
{
	return text_of(l, l->p->m->tracks.v[l->t.track].name);
}

static void lane_op_warn(struct sink *s, const char *code, uint64_t count, const char *text)
{
	lane_warn(lane_of(s), code, count, "%s", text);
}

static str_id lane_op_string(struct sink *s, const char *str, size_t n)
{
	struct lane *l = lane_of(s);
	struct profile *p = l->p;
	uint64_t hash;
	str_id id;

	pthread_mutex_lock(&p->priv->lock);
	id = sink_text_put(p->m, str, n, &hash);
	pthread_mutex_unlock(&p->priv->lock);
	if (__builtin_expect(hash != 0, 0))
		lane_warn(l, W_LONG_TEXT, 1, SAY_LONG_TEXT, n, text_of(l, id));
	return id;
}

/* ---- calls ---- */

/* The time on the common base. */
static inline int64_t time_take(struct lane *l, int64_t t_ns)
{
	if (__builtin_expect(t_ns > TIME_MAX || t_ns < TIME_MIN, 0)) {
		lane_warn(l, W_TIME_RANGE, 1, SAY_BAD_TIME, t_ns);
		t_ns = time_clamp(t_ns);
	}
	if (t_ns < l->first_ns)
		l->first_ns = t_ns;
	if (t_ns > l->last_ns)
		l->last_ns = t_ns;
	return time_shift(t_ns, l->shift_ns);
}

static bool is_work(const struct frame *f)
{
	return f->kind == SPAN_KERNEL || f->kind == SPAN_COPY || f->kind == SPAN_FILL;
}

void work_count(struct lane *l, const struct frame *f, int64_t ns)
{
	uint32_t node = f->node != NODE_NONE
				? f->node
				: tree_child(l, NODE_NONE, f->name, f->category, f->kind);
	struct profile_node *n = &l->t.nodes.v[node];

	n->calls++;
	n->exclusive_ns = ns_sum(n->exclusive_ns, ns);
	calls_add(l, n->calls_id, ns);
	longest_take(l, f->start_ns, ns, node, NODE_NONE);
	l->pieces++;
	l->work_ns = ns_sum(l->work_ns, ns);
	if (f->start_ns < l->work_first_ns)
		l->work_first_ns = f->start_ns;
	if (f->start_ns + ns > l->work_last_ns)
		l->work_last_ns = f->start_ns + ns;
}

static RARE void queue_settle(struct lane *l)
{
	for (; l->settled < l->open.nr; l->settled++) {
		struct frame *f = &l->open.v[l->settled];

		if (!is_work(f))
			continue;
		f->node = tree_child(l, NODE_NONE, f->name, f->category, f->kind);
		event_put(l, f->node, +1);
	}
}

static RARE void instants_settle(struct lane *l, uint32_t below)
{
	for (size_t i = 0; i < l->instants.nr; i++) {
		const struct instant_calls *c = &l->instants.v[i];
		uint32_t node = tree_child(l, below, c->name, c->category, SPAN_HOST);
		struct profile_node *n = &l->t.nodes.v[node];

		n->calls += c->calls;
		for (uint64_t k = 0; k < c->calls; k++)
			calls_add(l, n->calls_id, c->ns);
	}
	VEC_CLEAR(&l->instants);
}

/* Returns the innermost call that is open from here on. */
static inline uint32_t thread_settle(struct lane *l)
{
	uint32_t node = l->settled ? l->open.v[l->settled - 1].node : NODE_NONE;

	for (; l->settled < l->open.nr; l->settled++) {
		struct frame *f = &l->open.v[l->settled];

		f->node = node = tree_child(l, node, f->name, f->category, SPAN_HOST);
	}
	if (__builtin_expect(l->instants.nr > 0, 0))
		instants_settle(l, node);
	if (__builtin_expect(l->marks_pending < l->marks.nr, 0))
		marks_settle(l, node);
	return node;
}

/* What happened at one moment is complete: a later one comes. */
static inline void moment_end(struct lane *l, int64_t next_ns)
{
	if (__builtin_expect(l->nests, 1)) {
		innermost_until(l, thread_settle(l), next_ns);
		return;
	}
	queue_settle(l);
	l->now_ns = next_ns;
}

/* An enter or leave that is the first one, out of range or before the one before it. */
static RARE int64_t odd_time(struct lane *l, int64_t t_ns)
{
	int64_t shifted = time_take(l, t_ns);

	if (shifted < l->frame_ns)
		lane_warn(l, W_TIME_ORDER, 1, SAY_TIME_ORDER, track_text(l), l->frame_ns - shifted);
	return shifted;
}

static inline int64_t lane_time(struct lane *l, int64_t t_ns)
{
	/* nearly always: last_ns is no earlier than any time so far */
	if (__builtin_expect(t_ns >= l->last_ns && t_ns <= TIME_MAX && l->first_ns <= t_ns, 1)) {
		l->last_ns = t_ns;
		if (l->shift_ns)
			t_ns = time_shift(t_ns, l->shift_ns);
	} else {
		t_ns = odd_time(l, t_ns);
	}
	l->frame_ns = t_ns;
	if (t_ns > l->now_ns)
		moment_end(l, t_ns);
	return t_ns;
}

static void lane_op_enter(struct sink *s, track_id t, int64_t t_ns, str_id name, str_id category)
{
	struct lane *l = lane_of(s);

	(void)t;
	t_ns = lane_time(l, t_ns);
	if (l->nests)
		name = name_map_use(l->p->m, name);
	tree_fetch(l, l->last_node, name, category);
	VEC_PUSH(&l->open, (struct frame){ t_ns, NODE_NONE, name, category, SPAN_HOST, 0 });
	l->t.spans++;
}

static void lane_op_open_kind(struct sink *s, track_id t, enum span_kind kind)
{
	struct lane *l = lane_of(s);

	(void)t;
	if (l->open.nr > l->settled)
		l->open.v[l->open.nr - 1].kind = kind;
}

static void lane_op_leave_args(struct sink *s, track_id t, str_id args)
{
	(void)s, (void)t, (void)args;
}

static int cmp_instants(const void *pa, const void *pb)
{
	const struct instant_calls *a = pa, *b = pb;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->category != b->category)
		return a->category < b->category ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* A clock that ticks every millisecond puts thousands of calls into one moment. */
static void instants_pack(struct lane *l)
{
	size_t nr = 0;

	qsort(l->instants.v, l->instants.nr, sizeof(*l->instants.v), cmp_instants);
	for (size_t i = 0; i < l->instants.nr; i++) {
		if (nr && cmp_instants(&l->instants.v[nr - 1], &l->instants.v[i]) == 0)
			l->instants.v[nr - 1].calls += l->instants.v[i].calls;
		else
			l->instants.v[nr++] = l->instants.v[i];
	}
	l->instants.nr = nr;
	l->instants_limit = nr * 2 > INSTANTS_LIMIT ? nr * 2 : INSTANTS_LIMIT;
}

static RARE void instant_add(struct lane *l, const struct frame *f, int64_t ns)
{
	if (l->instants.nr >= l->instants_limit)
		instants_pack(l);
	VEC_PUSH(&l->instants, (struct instant_calls){ f->name, f->category, ns, 1 });
}

static inline void thread_leave(struct lane *l, const struct frame *f, int64_t ns)
{
	struct profile_node *n;

	if (l->settled <= l->open.nr) {
		instant_add(l, f, ns);
		marks_instant(l, f);
		return;
	}
	n = &l->t.nodes.v[f->node];
	n->calls++;
	calls_add(l, n->calls_id, ns);
	longest_take(l, f->start_ns, ns, f->node, NODE_NONE);
}

static RARE void queue_leave(struct lane *l, const struct frame *f, int64_t ns)
{
	if (!is_work(f)) {
		marks_work(l, f, MARK_NO_WORK);
		return;
	}
	marks_work(l, f, ns);
	work_count(l, f, ns);
	if (l->settled > l->open.nr)
		event_put(l, f->node, -1);
}

/* The innermost call ends. */
static inline void lane_leave(struct lane *l, int64_t t_ns)
{
	const struct frame *f = &l->open.v[--l->open.nr];
	int64_t ns = t_ns - f->start_ns;

	if (ns < 0) {
		lane_warn(l, W_NEGATIVE_DURATION, 1, SAY_NEGATIVE, text_of(l, f->name), -ns);
		ns = 0;
	}
	if (l->nests)
		thread_leave(l, f, ns);
	else
		queue_leave(l, f, ns);
	if (l->settled > l->open.nr)
		l->settled = l->open.nr;
}

static span_id lane_op_leave(struct sink *s, track_id t, int64_t t_ns, str_id name)
{
	struct lane *l = lane_of(s);
	str_id open;

	(void)t;
	t_ns = lane_time(l, t_ns);
	if (l->open.nr == 0) {
		lane_warn(l, W_STRAY_LEAVE, 1, SAY_STRAY_LEAVE, text_of(l, name), track_text(l));
		return SPAN_NONE;
	}
	open = l->open.v[l->open.nr - 1].name;
	if (name != STR_NONE && name != open && name_map_of(l->p->m, name) != open)
		lane_warn(l, W_LEAVE_MISMATCH, 1, SAY_LEAVE_MISMATCH, text_of(l, name),
			  text_of(l, open), track_text(l));
	lane_leave(l, t_ns);
	return SPAN_NONE;
}

/* ---- samples ---- */

static series_id lane_op_series(struct sink *s, const struct series_def *d)
{
	struct lane *l = lane_of(s);
	CLEANUP(xfreep)
	char *key = xasprintf("%s\n%s", d->device ? d->device : "", d->name);
	struct lane_series *se;
	str_id id;

	if (!l->series_keys)
		l->series_keys = intern_new();
	id = intern_puts(l->series_keys, key);
	if (id <= l->series.nr)
		return id - 1;
	VEC_PUSH(&l->series, (struct lane_series){ .def = *d, .id = SERIES_NONE });
	se = &l->series.v[l->series.nr - 1];
	se->def.name = se->name = xstrdup(d->name);
	se->def.unit = se->unit = d->unit ? xstrdup(d->unit) : NULL;
	se->def.device = se->device = d->device ? xstrdup(d->device) : NULL;
	se->def.host = se->host = d->host ? xstrdup(d->host) : NULL;
	se->def.pci = se->pci = d->pci ? xstrdup(d->pci) : NULL;
	return id - 1;
}

static void lane_op_sample(struct sink *s, series_id id, int64_t t_ns, double value)
{
	struct lane *l = lane_of(s);
	struct lane_series *se;

	if (id >= l->series.nr) {
		lane_warn(l, W_UNKNOWN_REFERENCE, 1, SAY_UNKNOWN_SERIES);
		return;
	}
	se = &l->series.v[id];
	if (__builtin_expect(!isfinite(value), 0)) {
		se->failed++;
		if (isnan(value))
			lane_warn(l, W_READ_FAILED, 1, SAY_READ_FAILED, se->name);
		else
			lane_warn(l, W_BAD_NUMBER, 1, SAY_INFINITE, se->name);
		return;
	}
	t_ns = time_take(l, t_ns);
	if (t_ns > l->sample_ns)
		l->sample_ns = t_ns;
	VEC_PUSH(&se->t_ns, t_ns);
	VEC_PUSH(&se->value, value);
	l->samples++;
}

static const struct sink_ops lane_ops = {
	.string = lane_op_string,
	.series = lane_op_series,
	.enter = lane_op_enter,
	.leave = lane_op_leave,
	.leave_args = lane_op_leave_args,
	.open_kind = lane_op_open_kind,
	.sample = lane_op_sample,
	.warn = lane_op_warn,
	.callsite = lane_op_callsite,
};

#define VEC_STEAL(to, from) \
	do { \
		VEC_RELEASE(to); \
		(to)->v = STEAL((from)->v); \
		(to)->nr = (from)->nr; \
		(to)->cap = (from)->cap; \
		(from)->nr = (from)->cap = 0; \
	} while (0)

static void series_move(struct series *to, struct lane_series *from)
{
	to->failed += from->failed;
	from->failed = 0;
	/* nearly always all of it, at once */
	if (to->t_ns.nr == 0) {
		VEC_STEAL(&to->t_ns, &from->t_ns);
		VEC_STEAL(&to->value, &from->value);
		return;
	}
	for (size_t i = 0; i < from->t_ns.nr; i++) {
		VEC_PUSH(&to->t_ns, from->t_ns.v[i]);
		VEC_PUSH(&to->value, from->value.v[i]);
	}
	VEC_CLEAR(&from->t_ns);
	VEC_CLEAR(&from->value);
}

void lane_series_merge(struct lane *l)
{
	struct sink *s = model_sink(l->p->m);

	for (size_t i = 0; i < l->series.nr; i++) {
		struct lane_series *se = &l->series.v[i];

		if (se->id == SERIES_NONE)
			se->id = s->ops->series(s, &se->def);
		series_move(&l->p->m->series.v[se->id], se);
	}
}

/* ---- life ---- */

static struct lane *lane_new(struct profile *p, track_id track)
{
	struct lane *l = xcalloc(1, sizeof(*l));

	l->sink.ops = &lane_ops;
	l->sink.no_links = true;
	l->p = p;
	l->shift_ns = p->priv->shift_ns;
	tree_init(l);
	l->t.track = track;
	l->t.queue = p->m->tracks.v[track].kind == TRACK_QUEUE;
	l->t.device = LANE_NONE;
	l->nests = p->m->tracks.v[track].kind == TRACK_THREAD;
	l->samples_only = true;
	l->instants_limit = INSTANTS_LIMIT;
	l->rank = comm_rank(p->priv->o.comm);
	l->here = true;
	l->now_ns = l->frame_ns = l->sample_ns = l->mark_ns = INT64_MIN;
	l->last_node = NODE_NONE;
	l->longest_ns = 1;
	l->work_first_ns = l->first_ns = INT64_MAX;
	l->work_last_ns = l->last_ns = INT64_MIN;
	return l;
}

struct lane *lane_add(struct profile *p, track_id track)
{
	struct lane *l = lane_new(p, track);

	l->index = p->priv->lanes.nr;
	VEC_PUSH(&p->priv->lanes, l);
	VEC_PUSH(&p->tracks, &l->t);
	if (l->t.queue)
		l->t.device = device_of(p, l);
	return l;
}

static void series_free(struct lane_series *se)
{
	free(se->name);
	free(se->unit);
	free(se->device);
	free(se->host);
	free(se->pci);
	VEC_RELEASE(&se->t_ns);
	VEC_RELEASE(&se->value);
}

void lane_empty(struct lane *l)
{
	lane_read_release(l);
	VEC_RELEASE(&l->sources);
	VEC_RELEASE(&l->open);
	VEC_RELEASE(&l->instants);
	VEC_RELEASE(&l->events);
	VEC_RELEASE(&l->cover);
	VEC_RELEASE(&l->marks);
	for (size_t i = 0; i < l->series.nr; i++)
		series_free(&l->series.v[i]);
	VEC_RELEASE(&l->series);
	intern_free(STEAL(l->series_keys));
	for (size_t i = 0; i < l->warnings.nr; i++)
		free(l->warnings.v[i].text);
	VEC_RELEASE(&l->warnings);
	free(STEAL(l->slots));
	l->nr_slots = 0;
}

void lane_free(struct lane *l)
{
	lane_empty(l);
	tree_release(l);
	free(l);
}

/* Calls that the reader left open end with the track's last event, which may be a sample. */
static void lane_end(struct lane *l)
{
	l->left_open = l->open.nr;
	if (l->left_open)
		l->left_open_name = l->open.v[l->open.nr - 1].name;
	if (l->left_open && l->sample_ns > l->now_ns)
		moment_end(l, l->sample_ns);
	while (l->open.nr)
		lane_leave(l, l->now_ns);
	moment_end(l, l->now_ns);
	l->done = true;
}

/* Of its share of the buffer. */
static size_t lane_room(const struct lane *l)
{
	size_t all = l->p->priv->lane_events, used = l->events.nr + l->marks.nr * 4;

	return used < all ? all - used : 0;
}

void lane_pull(struct lane *l, struct worker *w)
{
	l->worker = w;
	if (l->reader) {
		lane_read_spans(l);
		return;
	}
	/* some of it in any case: a full buffer may hold nothing but what happens at one moment */
	do {
		struct source *src = l->sources.v[l->source];
		uint64_t max = !l->in_step    ? PULL_RECORDS
			       : lane_room(l) ? lane_room(l)
					      : LANE_EVENTS_MIN;

		if (src->pull(src, &l->sink, max) > 0)
			progress_update(atomic_fetch_add(&l->p->priv->pulled, max) + max);
		else if (++l->source == l->sources.nr)
			lane_end(l);
	} while (!l->done && (!l->in_step || lane_room(l)));
}

void lane_close(struct lane *l)
{
	struct model *m = l->p->m;
	struct input *in = &m->inputs.v[l->p->priv->input];

	lane_series_merge(l);
	in->spans += l->t.spans;
	in->samples += l->samples;
	if (l->first_ns < in->first_ns)
		in->first_ns = l->first_ns;
	if (l->last_ns > in->last_ns)
		in->last_ns = l->last_ns;
	for (size_t i = 0; i < l->warnings.nr; i++)
		model_warn(m, l->p->priv->input, l->warnings.v[i].code, l->warnings.v[i].count,
			   "%s", l->warnings.v[i].text);
	lane_empty(l);
}

void lane_say_open(const struct lane *l)
{
	if (l->left_open)
		model_warn(l->p->m, l->p->priv->input, W_OPEN_SPAN, l->left_open, SAY_OPEN,
			   model_str(l->p->m, l->left_open_name), l->left_open - 1);
}
