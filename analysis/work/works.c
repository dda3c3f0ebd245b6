#include "profrig/work/works.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"

/* ---- devices ---- */

static bool has_work(const struct model *m, track_id t)
{
	const struct track *tr = &m->tracks.v[t];

	for (uint64_t i = tr->first_span; i < tr->first_span + tr->spans; i++)
		if (span_is_work(m, i))
			return true;
	return false;
}

/* The rank of each track that is a process: its own, else that of its first thread with one. */
static int32_t *process_ranks(const struct model *m)
{
	int32_t *v = xcalloc(m->tracks.nr + 1, sizeof(*v));

	for (track_id t = 0; t < m->tracks.nr; t++)
		v[t] = m->tracks.v[t].rank;
	for (track_id t = 0; t < m->tracks.nr; t++) {
		track_id process =
			m->tracks.v[t].kind == TRACK_THREAD ? model_process_of(m, t) : TRACK_NONE;

		if (process != TRACK_NONE && v[process] == RANK_NONE)
			v[process] = m->tracks.v[t].rank;
	}
	return v;
}

static int32_t rank_of(const struct track *queue, const int32_t *ranks)
{
	return queue->rank != RANK_NONE || queue->owner == TRACK_NONE ? queue->rank
								      : ranks[queue->owner];
}

struct queue_place {
	const char *device;
	track_id track;
};

static int cmp_place(const void *pa, const void *pb)
{
	const struct queue_place *a = pa, *b = pb;
	int d = natural_cmp(a->device, b->device);

	return d ? d : (a->track > b->track) - (a->track < b->track);
}

/* Queues with work, those of one device together. Owned. */
static struct queue_place *queues_of(const struct model *m, size_t *ret_nr)
{
	struct queue_place *v = xcalloc(m->tracks.nr + 1, sizeof(*v));
	size_t nr = 0;

	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE && has_work(m, t))
			v[nr++] = (struct queue_place){ model_str(m, m->tracks.v[t].device), t };
	qsort(v, nr, sizeof(*v), cmp_place);
	*ret_nr = nr;
	return v;
}

/* ---- rows ---- */

struct taking {
	struct works *w;
	struct u64map classes; /* by name */
	VEC(struct sort_span) spans;
};

static enum work_class class_of(struct taking *tk, uint64_t span)
{
	const struct model *m = tk->w->m;
	str_id name = m->spans.name[span];
	uint32_t *class;

	if (m->spans.kind[span] != SPAN_KERNEL)
		return WORK_COPY;
	class = u64map_at(&tk->classes, name);
	if (*class == U64MAP_NONE)
		*class = strcmp(kernel_class_by(m->classes, model_str(m, name)), "collective") == 0
				 ? WORK_COLLECTIVE
				 : WORK_COMPUTE;
	return (enum work_class) * class;
}

static int cmp_end(const void *pa, const void *pb)
{
	const struct sort_span *a = pa, *b = pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* sort_spans has the longer one first; a row of works has it last. */
static void order_ties(struct sort_span *v, size_t nr)
{
	for (size_t i = 0, to; i < nr; i = to) {
		for (to = i + 1; to < nr && v[to].start_ns == v[i].start_ns;)
			to++;
		if (to > i + 1)
			qsort(v + i, to - i, sizeof(*v), cmp_end);
	}
}

static void rows_put(struct taking *tk, uint32_t device)
{
	struct works *w = tk->w;
	struct work_device *d = &w->devices.v[device];

	sort_spans(tk->spans.v, tk->spans.nr);
	order_ties(tk->spans.v, tk->spans.nr);
	d->first = w->v.nr;
	d->nr = tk->spans.nr;
	d->first_ns = tk->spans.v[0].start_ns;
	for (size_t i = 0; i < tk->spans.nr; i++) {
		const struct sort_span *s = &tk->spans.v[i];
		track_id queue = w->m->spans.track[s->row];

		w->row_of.v[w->rows_at.v[queue] + s->row - w->m->tracks.v[queue].first_span] =
			(uint32_t)w->v.nr;
		if (i == 0 || s->end_ns > d->last_ns)
			d->last_ns = s->end_ns;
		VEC_PUSH(&w->v, ((struct work){ s->start_ns, s->end_ns, s->row, SPAN_NONE, queue,
						device, class_of(tk, s->row) }));
	}
	VEC_CLEAR(&tk->spans);
}

static void queue_take(struct taking *tk, track_id queue)
{
	const struct model *m = tk->w->m;
	const struct track *t = &m->tracks.v[queue];
	struct works *w = tk->w;

	w->rows_at.v[queue] = w->row_of.nr;
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		w->row_of.v[w->row_of.nr++] = U64MAP_NONE;
		if (span_is_work(m, i))
			VEC_PUSH(&tk->spans, ((struct sort_span){ m->spans.start_ns[i],
								  m->spans.end_ns[i], i }));
	}
}

/* An array that grows by copies would be written three times. */
static void rows_reserve(struct works *w, const struct queue_place *queues, size_t nr)
{
	size_t spans = 0;

	for (size_t i = 0; i < nr; i++)
		spans += w->m->tracks.v[queues[i].track].spans;
	VEC_RESERVE(&w->v, spans);
	VEC_RESERVE(&w->row_of, spans);
}

static void devices_take(struct works *w)
{
	struct taking tk = { .w = w, .classes = U64MAP_INIT, .spans = VEC_INIT };
	size_t nr;
	CLEANUP(xfreep) struct queue_place *queues = queues_of(w->m, &nr);
	CLEANUP(xfreep) int32_t *ranks = process_ranks(w->m);

	rows_reserve(w, queues, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct track *t = &w->m->tracks.v[queues[i].track];
		bool same = i > 0 && strcmp(queues[i - 1].device, queues[i].device) == 0;
		int32_t rank = rank_of(t, ranks);

		if (!same)
			VEC_PUSH(&w->devices,
				 ((struct work_device){ .name = t->device, .rank = rank }));
		if (w->devices.v[w->devices.nr - 1].rank != rank)
			w->devices.v[w->devices.nr - 1].rank = RANK_NONE;
		queue_take(&tk, queues[i].track);
		if (i + 1 == nr || strcmp(queues[i + 1].device, queues[i].device) != 0)
			rows_put(&tk, (uint32_t)w->devices.nr - 1);
	}
	u64map_release(&tk.classes);
	VEC_RELEASE(&tk.spans);
}

/* ---- launches ---- */

/* Columns are by start, and of equal starts the outer call comes first. */
static bool is_later(const struct model *m, uint64_t a, uint64_t b)
{
	if (m->spans.start_ns[a] != m->spans.start_ns[b])
		return m->spans.start_ns[a] > m->spans.start_ns[b];
	return a > b;
}

static void launches_join(struct works *w)
{
	const struct link_columns *l = &w->m->links;

	for (size_t i = 0; i < l->nr; i++) {
		size_t row = l->kind[i] == LINK_LAUNCH ? works_find(w, l->to[i]) : SIZE_MAX;
		struct work *k = row == SIZE_MAX ? NULL : &w->v.v[row];

		if (k && (k->launch == SPAN_NONE || is_later(w->m, l->from[i], k->launch)))
			k->launch = l->from[i];
	}
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch == SPAN_NONE)
			w->unlinked++;
		else
			w->linked++;
}

struct works *works_new(const struct model *m)
{
	struct works *w = xcalloc(1, sizeof(*w));

	w->m = m;
	VEC_RESERVE(&w->rows_at, m->tracks.nr);
	for (size_t t = 0; t < m->tracks.nr; t++)
		VEC_PUSH(&w->rows_at, SIZE_MAX);
	devices_take(w);
	launches_join(w);
	return w;
}

void works_free(struct works *w)
{
	if (!w)
		return;
	VEC_RELEASE(&w->v);
	VEC_RELEASE(&w->devices);
	VEC_RELEASE(&w->row_of);
	VEC_RELEASE(&w->rows_at);
	free(w);
}

uint8_t *works_launching(const struct works *w)
{
	const struct model *m = w->m;
	uint8_t *did = xcalloc(m->spans.nr + 1, 1);

	for (size_t i = 0; i < w->v.nr; i++)
		for (uint64_t s = w->v.v[i].launch; s != SPAN_NONE && !did[s];
		     s = span_parent(&m->spans, s))
			did[s] = 1;
	return did;
}

size_t works_find(const struct works *w, uint64_t span)
{
	track_id t = span < w->m->spans.nr ? w->m->spans.track[span] : TRACK_NONE;
	uint32_t row;

	if (t == TRACK_NONE || w->rows_at.v[t] == SIZE_MAX)
		return SIZE_MAX;
	row = w->row_of.v[w->rows_at.v[t] + span - w->m->tracks.v[t].first_span];
	return row == U64MAP_NONE ? SIZE_MAX : row;
}

/* ---- launch order ---- */

uint32_t *works_launch_order(const struct works *w, uint32_t device)
{
	const struct work_device *d = &w->devices.v[device];
	CLEANUP(xfreep) struct sort_span *v = xreallocarray(NULL, d->nr, sizeof(*v));
	uint32_t *order = xreallocarray(NULL, d->nr, sizeof(*order));

	/* at one moment the longer first, which is the larger -launch; then rows: by start */
	for (size_t i = 0; i < d->nr; i++) {
		uint64_t launch = w->v.v[d->first + i].launch;

		v[i] = launch == SPAN_NONE ? (struct sort_span){ INT64_MAX, 0, d->first + i }
					   : (struct sort_span){ w->m->spans.start_ns[launch],
								 -(int64_t)launch, d->first + i };
	}
	sort_spans(v, d->nr);
	for (size_t i = 0; i < d->nr; i++)
		order[i] = (uint32_t)v[i].row;
	return order;
}
