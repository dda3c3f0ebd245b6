#include "work_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/topology/topology.h"

/* ---- energy up to a moment ---- */

/* point: one of the curve at or before t, the nearer the faster. */
static double live_until(const struct work_meter *me, int64_t t_ns, size_t point)
{
	size_t hint = point;

	return curve_at(&me->c, t_ns, &hint);
}

/* The last moment by t; NULL: nothing has begun. */
static const struct work_moment *moment_by(const struct work_meter *me, int64_t t_ns)
{
	size_t i = LOWER_BOUND(k, 0, me->at.nr, me->at.v[k].t_ns <= t_ns);

	return i ? &me->at.v[i - 1] : NULL;
}

static double since(const struct work_meter *me, const struct work_moment *at, int64_t t_ns)
{
	if (t_ns <= at->t_ns)
		return 0;
	return live_until(me, t_ns, at->point) - live_until(me, at->t_ns, at->point);
}

static double share_of(const struct work_meter *me, uint32_t running, double j)
{
	return me->independent ? j : j / running;
}

static double share_until(const struct work_meter *me, int64_t t_ns)
{
	const struct work_moment *at = moment_by(me, t_ns);

	if (!at)
		return 0;
	return at->share_j + (at->running ? share_of(me, at->running, since(me, at, t_ns)) : 0);
}

static double idle_since(const struct work_meter *me, const struct work_moment *at, int64_t t_ns)
{
	if (!at)
		return live_until(me, t_ns, 0);
	return at->idle_j + (at->running ? 0 : since(me, at, t_ns));
}

static double idle_until(const struct work_meter *me, int64_t t_ns)
{
	return idle_since(me, moment_by(me, t_ns), t_ns);
}

#define NEAR 8 /* moments */

/* As moment_by, when it is not far behind the one that was asked for before. */
static const struct work_moment *moment_near(const struct work_meter *me, int64_t t_ns,
					     size_t *hint)
{
	size_t i = *hint, nr = me->at.nr, end = i + NEAR < nr ? i + NEAR : nr;
	const struct work_moment *at = NULL;

	if (i < nr && me->at.v[i].t_ns <= t_ns) {
		while (i + 1 < end && me->at.v[i + 1].t_ns <= t_ns)
			i++;
		at = i + 1 < end || end == nr ? &me->at.v[i] : NULL;
	}
	at = at ? at : moment_by(me, t_ns);
	*hint = at ? (size_t)(at - me->at.v) : 0;
	return at;
}

static double idle_between(const struct work_meter *me, int64_t from_ns, int64_t to_ns,
			   size_t *hint)
{
	double from_j = idle_since(me, moment_near(me, from_ns, hint), from_ns);

	return idle_since(me, moment_near(me, to_ns, hint), to_ns) - from_j;
}

double work_energy_part(const struct work_energy *we, uint32_t device, int64_t from_ns,
			int64_t to_ns)
{
	const struct work_meter *me = work_meter_of(we, device);

	return me ? share_until(me, to_ns) - share_until(me, from_ns) : NAN;
}

double work_energy_idle(const struct work_energy *we, uint32_t device, int64_t from_ns,
			int64_t to_ns, size_t *hint)
{
	const struct work_meter *me = work_meter_of(we, device);

	return me ? idle_between(me, from_ns, to_ns, hint) / me->devices : NAN;
}

/* ---- sweeps over stretches of time ---- */

/*
 * Rows of v by start, and by end. v has the start and the end of row k in the first two of the
 * `width` numbers from k·width on: of works, and of intervals.
 */
struct edges {
	const int64_t *v;
	size_t width;
	uint32_t *starts, *ends; /* rows; owned */
	size_t n, start, end;
};
#define EDGES_OF(array) \
	((struct edges){ .v = &(array)->start_ns, .width = sizeof(*(array)) / sizeof(int64_t) })

static int64_t edge_ns(const struct edges *e, uint32_t row, bool end)
{
	return e->v[row * e->width + end];
}

/* Mostly they are in order. */
static void edges_sort(const struct edges *e, uint32_t *rows, bool end)
{
	struct sort_span *v;
	size_t i = 1;

	while (i < e->n && edge_ns(e, rows[i - 1], end) <= edge_ns(e, rows[i], end))
		i++;
	if (i >= e->n)
		return;
	v = xreallocarray(NULL, e->n, sizeof(*v));
	for (i = 0; i < e->n; i++)
		v[i] = (struct sort_span){ edge_ns(e, rows[i], end), 0, rows[i] };
	sort_spans(v, e->n);
	for (i = 0; i < e->n; i++)
		rows[i] = (uint32_t)v[i].row;
	free(v);
}

/* Of n rows; takes them. */
static void edges_make(struct edges *e, uint32_t *rows, size_t n)
{
	e->n = n;
	e->starts = rows;
	edges_sort(e, e->starts, false);
	e->ends = xmemdup(e->starts, n * sizeof(*e->ends));
	edges_sort(e, e->ends, true);
}

static void edges_release(struct edges *e)
{
	free(e->starts);
	free(e->ends);
}

/* The next moment at which one begins or ends; false: there is none. */
static bool edges_next(const struct edges *e, int64_t *ret_ns)
{
	int64_t start_ns;

	if (e->end == e->n)
		return false;
	*ret_ns = edge_ns(e, e->ends[e->end], true);
	if (e->start == e->n)
		return true;
	start_ns = edge_ns(e, e->starts[e->start], false);
	*ret_ns = start_ns < *ret_ns ? start_ns : *ret_ns;
	return true;
}

/*
 * What begins at t has what comes behind j, what ends what came until then. wm: of each row, which
 * get the number of the moment; NULL.
 */
static void edges_pass(struct edges *e, int64_t t_ns, double j, double *of_row,
		       struct work_moments *wm, uint32_t moment)
{
	for (; e->start < e->n && edge_ns(e, e->starts[e->start], false) == t_ns; e->start++) {
		of_row[e->starts[e->start]] -= j;
		if (wm)
			wm[e->starts[e->start]].start = moment;
	}
	for (; e->end < e->n && edge_ns(e, e->ends[e->end], true) == t_ns; e->end++) {
		of_row[e->ends[e->end]] += j;
		if (wm)
			wm[e->ends[e->end]].end = moment;
	}
}

void work_energy_idle_split(const struct work_meter *me, const struct interval *v, uint32_t n,
			    double *j)
{
	struct edges e = EDGES_OF(v);
	uint32_t *rows = xreallocarray(NULL, n, sizeof(*rows));
	struct sum share = SUM_INIT;
	double last_j = 0;
	int64_t t_ns;

	for (uint32_t i = 0; i < n; i++)
		rows[i] = i;
	edges_make(&e, rows, n);
	while (edges_next(&e, &t_ns)) {
		double until_j = idle_until(me, t_ns);

		if (e.start > e.end)
			sum_add(&share, (until_j - last_j) / (double)(e.start - e.end));
		last_j = until_j;
		edges_pass(&e, t_ns, sum_value(&share), j, NULL, 0);
	}
	edges_release(&e);
}

/* ---- marks of a curve ---- */

static void marks_count(struct work_meter *me)
{
	const struct curve *c = &me->c;

	if (!c->marks)
		return;
	me->marked = xcalloc(c->n + 1, sizeof(*me->marked));
	for (size_t i = 0; i + 1 < c->n; i++)
		for (int b = 0; b < WORK_MARKS; b++)
			me->marked[i + 1].before[b] =
				me->marked[i].before[b] + (c->marks[i] >> b & 1);
}

struct meter_stretch meter_stretch(const struct work_meter *me, int64_t from_ns, int64_t to_ns,
				   size_t *hint)
{
	struct meter_stretch x = { .from_ns = from_ns, .to_ns = to_ns };
	size_t before;

	if (!me)
		return x;
	before = NEAR_BOUND(k, *hint, me->c.n, me->c.t_ns[k] <= from_ns);
	x.first = before ? before - 1 : 0;
	before = NEAR_BOUND(k, before, me->c.n - 1, me->c.t_ns[k] < to_ns);
	x.end = before > x.first ? before : x.first;
	*hint = x.end;
	return x;
}

struct meter_stretch meter_stretch_of_work(const struct work_energy *we,
					   const struct work_meter *me, size_t row)
{
	const struct work_moment *from = &me->at.v[we->moments[row].start];
	const struct work_moment *to = &me->at.v[we->moments[row].end];
	size_t last = me->c.n - 1, until = to->point + (me->c.t_ns[to->point] < to->t_ns);

	until = until < last ? until : last;
	return (struct meter_stretch){ .from_ns = from->t_ns,
				       .to_ns = to->t_ns,
				       .first = from->point,
				       .end = until > from->point ? until : from->point };
}

double meter_stretch_from_j(const struct work_meter *me, const struct meter_stretch *x)
{
	return live_until(me, x->from_ns, x->first);
}

double meter_stretch_to_j(const struct work_meter *me, const struct meter_stretch *x)
{
	return live_until(me, x->to_ns, x->end ? x->end - 1 : 0);
}

uint8_t meter_stretch_marks(const struct work_meter *me, const struct meter_stretch *x)
{
	const struct curve *c = &me->c;
	uint8_t marks = 0;

	if (x->from_ns < c->t_ns[0] || x->to_ns > c->t_ns[c->n - 1])
		marks |= SPAN_OUTSIDE;
	if (!me->marked)
		return marks;
	for (int b = 0; b < WORK_MARKS && x->first < x->end; b++)
		if (me->marked[x->end].before[b] > me->marked[x->first].before[b])
			marks |= (uint8_t)(1u << b);
	return marks;
}

bool meter_stretch_live(const struct work_meter *me, const struct meter_stretch *x)
{
	const struct curve *c = &me->c;

	if (x->from_ns == x->to_ns)
		return x->from_ns >= c->t_ns[0] && x->to_ns <= c->t_ns[c->n - 1];
	if (x->from_ns >= c->t_ns[c->n - 1] || x->to_ns <= c->t_ns[0])
		return false;
	if (!me->marked)
		return true;
	return me->marked[x->end].before[0] - me->marked[x->first].before[0] < x->end - x->first;
}

/* ---- one meter ---- */

/* Dead intervals have energy, but none knows when: it is taken out. */
static void curve_cut(struct curve *c, struct sum *dead)
{
	struct sum e = SUM_INIT;

	for (size_t i = 0; c->marks && i + 1 < c->n; i++) {
		c->e[i] = sum_value(&e);
		if (c->marks[i] & CURVE_DEAD) {
			sum_add(dead, c->de[i]);
			c->de[i] = 0;
			if (c->p0)
				c->p0[i] = c->p1[i] = 0;
		}
		sum_add(&e, c->de[i]);
		c->e[i + 1] = sum_value(&e);
	}
}

/* The devices of which some queue takes part, by index. */
static void measured_by(const struct work_energy *we, const struct energy_opts *o,
			const struct series_label *l, const uint32_t *device_of, bool *ret)
{
	const struct model *m = we->w->m;

	memset(ret, 0, we->w->devices.nr * sizeof(*ret));
	for (track_id q = 0; q < m->tracks.nr; q++)
		if (device_of[q] != U64MAP_NONE && !ret[device_of[q]])
			ret[device_of[q]] = energy_track_takes_part(m, o, l->series, l->info.device,
								    VIEW_DEVICE, q);
}

/* The last point of the curve by t, from the last one by an earlier moment on. */
static size_t point_by(const struct curve *c, int64_t t_ns, size_t point)
{
	while (point + 1 < c->n && c->t_ns[point + 1] <= t_ns)
		point++;
	return point;
}

/* Takes the rows. */
static void meter_sweep(struct work_energy *we, struct work_meter *me, uint32_t *rows, size_t n,
			struct work_moments *wm)
{
	struct edges e = EDGES_OF(we->w->v.v);
	struct sum share = SUM_INIT, idle = SUM_INIT, work = SUM_INIT;
	double last_j = 0;
	size_t hint = 0, point = 0;
	int64_t t_ns;

	edges_make(&e, rows, n);
	while (edges_next(&e, &t_ns)) {
		double until_j = curve_at(&me->c, t_ns, &hint), j = until_j - last_j;
		uint32_t running = (uint32_t)(e.start - e.end);

		sum_add(running ? &work : &idle, j);
		if (running)
			sum_add(&share, share_of(me, running, j));
		last_j = until_j;
		point = point_by(&me->c, t_ns, point);
		edges_pass(&e, t_ns, sum_value(&share), we->work_j, wm, (uint32_t)me->at.nr);
		VEC_PUSH(&me->at,
			 ((struct work_moment){ t_ns, sum_value(&share), sum_value(&idle),
						(uint32_t)(e.start - e.end), (uint32_t)point }));
	}
	sum_add(&idle, curve_total(&me->c) - last_j);
	me->work_j = sum_value(&work);
	me->idle_j = sum_value(&idle);
	edges_release(&e);
}

/* Works outside the samples, and in dead intervals, have no energy that is known. */
static void rows_judge(struct work_energy *we, const struct work_meter *me, uint32_t device)
{
	const struct work_device *d = &we->w->devices.v[device];

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		struct meter_stretch x = meter_stretch_of_work(we, me, i);

		if (!meter_stretch_live(me, &x))
			we->work_j[i] = NAN;
	}
}

static void rows_forget(struct work_energy *we, struct work_meter *me, uint32_t device)
{
	const struct work_device *d = &we->w->devices.v[device];
	struct sum other = SUM_INIT;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		sum_add(&other, we->work_j[i]);
		we->work_j[i] = 0;
	}
	me->other_j += sum_value(&other);
}

/* Of the rows of devices whose meter this is. */
static void moments_put(struct work_energy *we, uint32_t device, const struct work_moments *wm)
{
	const struct work_device *d = &we->w->devices.v[device];

	memcpy(we->moments + d->first, wm + d->first, d->nr * sizeof(*wm));
}

/* Rows of the devices that are its own or, with a better meter, of others. Owned. */
static uint32_t *rows_of(const struct work_energy *we, const bool *mine, size_t *ret_nr)
{
	uint32_t *rows;
	size_t n = 0;

	for (uint32_t d = 0; d < we->w->devices.nr; d++)
		n += mine[d] ? we->w->devices.v[d].nr : 0;
	rows = xreallocarray(NULL, n + 1, sizeof(*rows));
	n = 0;
	for (uint32_t d = 0; d < we->w->devices.nr; d++) {
		const struct work_device *dev = &we->w->devices.v[d];

		for (size_t i = dev->first; mine[d] && i < dev->first + dev->nr; i++)
			rows[n++] = (uint32_t)i;
	}
	*ret_nr = n;
	return rows;
}

static void meter_run(struct work_energy *we, uint32_t number, const uint32_t *device_of)
{
	struct work_meter *me = &we->meters.v[number];
	bool *mine = xcalloc(we->w->devices.nr + 1, sizeof(*mine)), others = false;
	struct work_moments *wm = we->moments;
	uint32_t *rows;
	size_t n;

	measured_by(we, me->o, me->label, device_of, mine);
	for (uint32_t d = 0; d < we->w->devices.nr; d++) {
		me->devices += mine[d];
		others |= mine[d] && we->meter_of[d] != number;
	}
	if (others)
		wm = xcalloc(we->w->v.nr + 1, sizeof(*wm));
	rows = rows_of(we, mine, &n);
	meter_sweep(we, me, rows, n, wm);
	for (uint32_t d = 0; d < we->w->devices.nr; d++) {
		if (mine[d] && we->meter_of[d] != number) {
			rows_forget(we, me, d);
		} else if (mine[d]) {
			if (others)
				moments_put(we, d, wm);
			rows_judge(we, me, d);
		}
	}
	if (others)
		free(wm);
	free(mine);
}

/* ---- which meter a device has ---- */

#define PREFERENCES 4

static int preference(const struct model *m, const struct series_label *l)
{
	return (m->series.v[l->series].estimated ? 2 : 0) +
	       (l->info.quantity == QUANTITY_POWER ? 1 : 0);
}

static bool meter_new(const struct model *m, const struct series_label *l,
		      const struct energy_opts *o, struct work_meter *me)
{
	struct sum dead = SUM_INIT;

	*me = (struct work_meter){ .label = l, .m = m, .o = o, .independent = o->independent };
	if (curve_make(m, l->series, &l->info, o, &me->c, NULL) < 0)
		return false;
	if (me->c.n < 2) {
		curve_release(&me->c);
		return false;
	}
	me->holds = counter_holds(m, l->series, &l->info);
	me->total_j = curve_total(&me->c);
	marks_count(me);
	curve_cut(&me->c, &dead);
	me->dead_j = sum_value(&dead);
	return true;
}

/* Gives the series to the devices that it measures and that have none yet. */
static void meter_give(struct work_energy *we, const struct series_label *l,
		       const struct energy_opts *o, const bool *measured)
{
	struct work_meter me;
	bool made = false;

	for (uint32_t d = 0; d < we->w->devices.nr; d++) {
		if (we->meter_of[d] != U64MAP_NONE || !measured[d])
			continue;
		if (!made && !meter_new(we->w->m, l, o, &me))
			return; /* too short to integrate */
		made = true;
		we->meter_of[d] = (uint32_t)we->meters.nr;
	}
	if (made)
		VEC_PUSH(&we->meters, me);
}

static void meters_choose(struct work_energy *we, const struct energy_opts *o,
			  const uint32_t *device_of)
{
	const struct model *m = we->w->m;
	CLEANUP(xfreep) bool *measured = xcalloc(we->w->devices.nr + 1, sizeof(*measured));

	for (int want = 0; want < PREFERENCES; want++)
		for (size_t i = 0; i < m->series.nr; i++) {
			const struct series_label *l = &we->labels[i];

			if (!counter_is_energy(&l->info) || !*l->info.device ||
			    preference(m, l) != want)
				continue;
			measured_by(we, o, l, device_of, measured);
			meter_give(we, l, o, measured);
		}
}

static uint32_t *devices_of_queues(const struct works *w)
{
	uint32_t *device_of = xcalloc(w->m->tracks.nr + 1, sizeof(*device_of));

	for (track_id q = 0; q < w->m->tracks.nr; q++)
		device_of[q] = U64MAP_NONE;
	for (size_t i = 0; i < w->v.nr; i++)
		device_of[w->v.v[i].queue] = w->v.v[i].device;
	return device_of;
}

static struct work_energy *work_energy_new(const struct works *w, const struct energy_opts *o)
{
	struct work_energy *we = xcalloc(1, sizeof(*we));
	uint32_t *device_of = devices_of_queues(w);

	we->w = w;
	we->labels = series_labels(w->m);
	we->meter_of = xcalloc(w->devices.nr + 1, sizeof(*we->meter_of));
	we->work_j = xcalloc(w->v.nr + 1, sizeof(*we->work_j));
	we->moments = xcalloc(w->v.nr + 1, sizeof(*we->moments));
	for (size_t d = 0; d < w->devices.nr; d++)
		we->meter_of[d] = U64MAP_NONE;
	/* a stated topology may let a queue draw on another device than the one that it names */
	if (!o->topology || !topology_stated(o->topology))
		meters_choose(we, o, device_of);
	for (uint32_t k = 0; k < we->meters.nr; k++)
		meter_run(we, k, device_of);
	for (size_t i = 0; i < w->v.nr; i++)
		if (we->meter_of[w->v.v[i].device] == U64MAP_NONE)
			we->work_j[i] = NAN;
	free(device_of);
	return we;
}

void work_energy_free(struct work_energy *we)
{
	if (!we)
		return;
	for (size_t i = 0; i < we->meters.nr; i++) {
		curve_release(&we->meters.v[i].c);
		VEC_RELEASE(&we->meters.v[i].at);
		free(we->meters.v[i].marked);
	}
	VEC_RELEASE(&we->meters);
	series_labels_freep(&we->labels);
	free(we->meter_of);
	free(we->work_j);
	free(we->moments);
	free(we);
}

const struct work_energy *analysis_work_energy(struct model *m, const struct analysis_opts *o)
{
	struct analysis_shared *as = o->shared;
	const struct works *w = analysis_works(m, o);

	pthread_mutex_lock(&as->energy_lock);
	if (!as->energy)
		as->energy = work_energy_new(w, &o->energy);
	pthread_mutex_unlock(&as->energy_lock);
	return as->energy;
}

const struct work_meter *work_meter_of(const struct work_energy *we, uint32_t device)
{
	uint32_t at = we->meter_of[device];

	return at == U64MAP_NONE ? NULL : &we->meters.v[at];
}
