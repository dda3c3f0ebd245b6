/*
 * The spans of the recording as a page draws them: a lane for each queue and thread. The longest
 * spans stay as they are; the others, which are shorter than a pixel unless a drawing is magnified,
 * become bins of one grid. Bins hold how many spans begin in them and how much of their time lies
 * in them, so nothing is lost from the sums.
 */
#include "analyses_private.h"
#include "track_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"

/* Together about 2 MB of a page. */
#define MAX_EXACT 25000 /* of devices, and of threads */
#define MAX_BINS 80000  /* of all rows */
#define MAX_ROW_BINS 20000
#define MIN_ROW_BINS 8
#define MAX_LANES 200
#define MAX_DEPTH 128 /* Python's stacks are deep */

/* clang-format off */
#define LANES(X) \
	X(I64, lane) X(STR, kind) X(STR, device) X(STR, name) X(F64, rank) X(I64, depth) \
	X(I64, spans) X(I64, exact) X(I64, binned) X(I64, left_out) X(I64, longest_binned_ns) \
	X(I64, bin_ns) X(F64, process)
#define LANE_SPANS(X) \
	X(I64, lane) X(I64, depth) X(I64, start_ns) X(I64, dur_ns) X(STR, name) X(STR, category) \
	X(STR, launch) X(F64, launch_lane) X(F64, launch_ns)
#define LANE_BINS(X) \
	X(I64, lane) X(I64, depth) X(I64, start_ns) X(I64, count) X(I64, busy_ns) X(STR, name) \
	X(STR, category)
/* clang-format on */
TABLE_FORM(lanes, LANES, "one row per queue and thread with spans: how the timeline shows them");
TABLE_FORM(lane_spans, LANE_SPANS,
	   "one row per span that the timeline shows by itself: the longest ones");
TABLE_FORM(lane_bins, LANE_BINS,
	   "one row per lane, depth and equal part of the recording with shorter spans");

struct lane {
	track_id track;
	bool device;
	uint32_t rows; /* depths; 0: the lane is left out */
	uint64_t spans;
};

struct bin {
	int64_t count, busy_ns, longest_ns;
	uint64_t longest; /* span */
};

struct drawing {
	struct model *m;
	const struct works *w;
	const char **class; /* by name; NULL: not asked for yet */
	VEC(struct lane) lanes;
	uint32_t *lane_of;      /* by track; UINT32_MAX */
	int64_t longest_bin[2]; /* spans up to this length are in bins; of threads, of devices */
	VEC(int64_t) open_ns;   /* ends of the thread's calls around the last one asked for */
	int64_t bin_ns;
	size_t bins;           /* of the grid */
	size_t at_bin;         /* of the lane's last start: starts never go back */
	int64_t at_bin_end_ns; /* since the recording's start */
	struct bin *bin;       /* of the lane at hand: rows × bins */
	struct table *lane_table, *span_table, *bin_table;
};

static void drawing_release(struct drawing *d)
{
	free(d->class);
	VEC_RELEASE(&d->lanes);
	free(d->lane_of);
	free(d->bin);
	VEC_RELEASE(&d->open_ns);
	table_free(d->lane_table);
	table_free(d->span_table);
	table_free(d->bin_table);
}

/* Annotations on queues and moments on threads are not drawn. */
static bool is_drawn(const struct model *m, const struct lane *l, uint64_t i)
{
	return l->device ? span_is_work(m, i) : m->spans.kind[i] != SPAN_INSTANT;
}

/*
 * The depth of a call (model_depths), for the calls of a thread in turn: the number of calls open
 * where it starts. One that ended below another that outlived it counts. (Parents are not there for
 * traces without device work.)
 */
static inline uint32_t depth_next(struct drawing *d, uint64_t i)
{
	int64_t start_ns = d->m->spans.start_ns[i];

	while (d->open_ns.nr && d->open_ns.v[d->open_ns.nr - 1] <= start_ns)
		d->open_ns.nr--;
	VEC_PUSH(&d->open_ns, d->m->spans.end_ns[i]);
	return (uint32_t)d->open_ns.nr - 1;
}

static int64_t length_of(const struct model *m, uint64_t i)
{
	return m->spans.end_ns[i] - m->spans.start_ns[i];
}

/* ---- which lanes ---- */

static int by_device(const void *pa, const void *pb, void *ctx)
{
	const struct lane *a = pa, *b = pb;
	const struct drawing *d = ctx;
	const struct track *s = &d->m->tracks.v[a->track], *t = &d->m->tracks.v[b->track];
	int c = a->device == b->device ? 0 : a->device ? -1 : 1;

	if (!c && a->device)
		c = natural_cmp(model_str(d->m, s->device), model_str(d->m, t->device));
	if (c)
		return c;
	return (d->lane_of[a->track] > d->lane_of[b->track]) -
	       (d->lane_of[a->track] < d->lane_of[b->track]);
}

static void lane_add(struct drawing *d, track_id id)
{
	const struct model *m = d->m;
	const struct track *t = &m->tracks.v[id];
	struct lane l = { .track = id, .device = t->kind == TRACK_QUEUE, .rows = 1 };

	if (t->kind != TRACK_QUEUE && t->kind != TRACK_THREAD)
		return;
	if (l.device) {
		for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
			l.spans += is_drawn(m, &l, i);
	} else {
		l.spans = t->nr_calls;
		l.rows = (uint32_t)(t->most_open < MAX_DEPTH ? t->most_open : MAX_DEPTH);
	}
	if (l.spans)
		VEC_PUSH(&d->lanes, l);
}

/* Devices first, then threads, both in the order of tracks. */
static void lanes_find(struct drawing *d)
{
	CLEANUP(xfreep) track_id *order = track_order(d->m);

	d->lane_of = xcalloc(d->m->tracks.nr + 1, sizeof(*d->lane_of));
	for (size_t i = 0; i < d->m->tracks.nr; i++) {
		d->lane_of[order[i]] = (uint32_t)i;
		lane_add(d, order[i]);
	}
	if (d->lanes.nr)
		qsort_r(d->lanes.v, d->lanes.nr, sizeof(*d->lanes.v), by_device, d);
	for (size_t i = 0; i < d->m->tracks.nr; i++)
		d->lane_of[i] = UINT32_MAX;
	for (size_t i = 0; i < d->lanes.nr; i++) {
		d->lane_of[d->lanes.v[i].track] = (uint32_t)i;
		if (i >= MAX_LANES)
			d->lanes.v[i].rows = 0;
	}
}

/* ---- how fine ---- */

/* One more than are drawn by themselves, and as many again before they are sorted out. */
struct longest {
	int64_t *v;
	size_t nr;
	int64_t least; /* shorter ones are none of them */
};

#define LONGEST (MAX_EXACT + 1)

static void longest_trim(struct longest *l)
{
	if (l->nr < LONGEST)
		return;
	sort_i64(l->v, l->nr);
	l->least = l->v[l->nr - LONGEST];
	memmove(l->v, l->v + l->nr - LONGEST, LONGEST * sizeof(*l->v));
	l->nr = LONGEST;
}

static void longest_add(struct longest *l, int64_t ns)
{
	if (ns < l->least)
		return;
	if (l->nr == 2 * LONGEST)
		longest_trim(l);
	l->v[l->nr++] = ns;
}

/* Spans up to this length are in bins; −1: all are drawn by themselves. */
static int64_t longest_binned(const struct drawing *d, bool device)
{
	struct longest longest = { .v = xcalloc(2 * LONGEST, sizeof(*longest.v)) };
	int64_t ns;

	for (size_t k = 0; k < d->lanes.nr; k++) {
		const struct lane *l = &d->lanes.v[k];
		const struct track *t = &d->m->tracks.v[l->track];

		if (l->device != device || !l->rows)
			continue;
		for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
			if (is_drawn(d->m, l, i))
				longest_add(&longest, length_of(d->m, i));
	}
	longest_trim(&longest);
	ns = longest.nr < LONGEST ? -1 : longest.v[0];
	free(longest.v);
	return ns;
}

static void grid_choose(struct drawing *d)
{
	int64_t length = d->m->last_ns - d->m->first_ns;
	size_t rows = 0, most = 1;

	for (size_t k = 0; k < d->lanes.nr; k++) {
		if (d->longest_bin[d->lanes.v[k].device] >= 0)
			rows += d->lanes.v[k].rows;
		if (d->lanes.v[k].rows > most)
			most = d->lanes.v[k].rows;
	}
	d->bins = rows ? MAX_BINS / rows : MIN_ROW_BINS;
	if (d->bins > MAX_ROW_BINS)
		d->bins = MAX_ROW_BINS;
	if (d->bins < MIN_ROW_BINS)
		d->bins = MIN_ROW_BINS;
	d->bin_ns = length / (int64_t)d->bins + 1;
	d->bin = xcalloc(most * d->bins, sizeof(*d->bin));
}

/* ---- the spans of a lane ---- */

static const char *category_of(struct drawing *d, const struct lane *l, uint64_t i)
{
	const struct span_columns *s = &d->m->spans;
	const char **class = &d->class[s->name[i]];

	if (!l->device)
		return model_str(d->m, s->category[i]);
	if (s->kind[i] != SPAN_KERNEL)
		return s->kind[i] == SPAN_COPY ? "copy" : "fill";
	if (!*class)
		*class = kernel_class_by(d->m->classes, model_str(d->m, s->name[i]));
	return *class;
}

static void bin_add(struct drawing *d, uint32_t depth, uint64_t i)
{
	int64_t at = d->m->spans.start_ns[i] - d->m->first_ns, length = length_of(d->m, i), room;
	struct bin *b;

	if (at >= d->at_bin_end_ns) {
		d->at_bin = (size_t)(at / d->bin_ns);
		d->at_bin_end_ns = ((int64_t)d->at_bin + 1) * d->bin_ns;
	}
	b = &d->bin[depth * d->bins + d->at_bin];
	room = d->at_bin_end_ns - at;

	b->count++;
	for (int64_t left = length; left >= 0; b++) {
		if (length >= b->longest_ns) {
			b->longest = i;
			b->longest_ns = length;
		}
		b->busy_ns += left < room ? left : room;
		left -= left > room ? room : left + 1;
		room = d->bin_ns;
	}
}

static void span_add(struct drawing *d, uint32_t lane, uint32_t depth, uint64_t i)
{
	const struct model *m = d->m;
	const struct lane *l = &d->lanes.v[lane];
	struct lane_spans_row row = {
		.lane = lane,
		.depth = depth,
		.start_ns = m->spans.start_ns[i] - m->first_ns,
		.dur_ns = length_of(m, i),
		.name = model_str(m, m->spans.name[i]),
		.category = category_of(d, l, i),
		.launch = "",
		.launch_lane = NAN,
		.launch_ns = NAN,
	};
	size_t work = l->device ? works_find(d->w, i) : SIZE_MAX;
	uint64_t launch = work == SIZE_MAX ? SPAN_NONE : d->w->v.v[work].launch;

	if (launch != SPAN_NONE) {
		uint32_t from = d->lane_of[m->spans.track[launch]];

		row.launch = model_str(m, m->spans.name[launch]);
		row.launch_lane = from == UINT32_MAX ? NAN : from;
		row.launch_ns = (double)(m->spans.start_ns[launch] - m->first_ns);
	}
	table_add(d->span_table, &row);
}

static void bins_write(struct drawing *d, uint32_t lane)
{
	const struct lane *l = &d->lanes.v[lane];
	const struct model *m = d->m;

	for (uint32_t depth = 0; depth < l->rows; depth++) {
		for (size_t k = 0; k < d->bins; k++) {
			struct bin *b = &d->bin[depth * d->bins + k];

			if (b->count || b->busy_ns)
				table_add(d->bin_table,
					  &(struct lane_bins_row){
						  lane, depth, (int64_t)k * d->bin_ns, b->count,
						  b->busy_ns,
						  model_str(m, m->spans.name[b->longest]),
						  category_of(d, l, b->longest) });
			*b = (struct bin){ .count = 0 };
		}
	}
}

static void lane_draw(struct drawing *d, uint32_t lane, const char *name)
{
	const struct model *m = d->m;
	const struct lane *l = &d->lanes.v[lane];
	const struct track *t = &m->tracks.v[l->track];
	track_id p = model_process_of(m, l->track);
	int32_t rank = t->rank == RANK_NONE && p != TRACK_NONE ? m->tracks.v[p].rank : t->rank;
	struct lanes_row row = { .lane = lane,
				 .kind = l->device ? "queue" : "thread",
				 .device = model_str(m, t->device),
				 .name = name,
				 .rank = rank == RANK_NONE ? NAN : rank,
				 .depth = l->rows,
				 .process = p == TRACK_NONE ? NAN : p,
				 .spans = (int64_t)l->spans };

	VEC_CLEAR(&d->open_ns);
	d->at_bin_end_ns = 0;
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		uint32_t depth;

		if (!is_drawn(m, l, i))
			continue;
		depth = l->device ? 0 : depth_next(d, i);
		if (depth >= l->rows) {
			row.left_out++;
		} else if (length_of(m, i) > d->longest_bin[l->device]) {
			row.exact++;
			span_add(d, lane, depth, i);
		} else {
			row.binned++;
			bin_add(d, depth, i);
		}
	}
	if (row.binned) {
		row.longest_binned_ns = d->longest_bin[l->device];
		row.bin_ns = d->bin_ns;
		bins_write(d, lane);
	}
	table_add(d->lane_table, &row);
}

static void add_table(struct table_set *out, struct table **t)
{
	if (table_rows(*t))
		table_set_add(out, STEAL(*t));
}

static int lanes_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		     struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(drawing_release)
	struct drawing d = { .m = m, .w = analysis_works(m, o), .lanes = VEC_INIT };

	(void)err;
	lanes_find(&d);
	if (d.lanes.nr == 0)
		return table_set_skip(out, "lanes", "the inputs hold no calls and no device work");
	track_names(m, &names);
	d.class = xcalloc(intern_count(m->strings) + 1, sizeof(*d.class));
	d.longest_bin[false] = longest_binned(&d, false);
	d.longest_bin[true] = longest_binned(&d, true);
	grid_choose(&d);
	d.lane_table = table_make(&lanes_form);
	d.span_table = table_make(&lane_spans_form);
	d.bin_table = table_make(&lane_bins_form);
	for (uint32_t k = 0; k < d.lanes.nr; k++)
		lane_draw(&d, k, names.v[d.lanes.v[k].track]);
	add_table(out, &d.lane_table);
	add_table(out, &d.span_table);
	add_table(out, &d.bin_table);
	return 0;
}

const struct analysis analysis_lanes = {
	.name = "lanes",
	.about = "spans of queues and threads over time, as far as a page can draw them",
	.tables = { &lanes_form, &lane_spans_form, &lane_bins_form },
	.run = lanes_run,
	.needs_calls = true,
};
