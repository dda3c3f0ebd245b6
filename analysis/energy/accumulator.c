#include "attribution_private.h"

#include <string.h>

#define RARE __attribute__((noinline))

/*
 * An accumulator reads one lane on one grid. Inside an interval it only adds up time: a node's own
 * and its share-time. When the interval ends, each node that was touched turns into energy of every
 * counter of the grid, and each row into one observation for the statistics. So an event costs the
 * same for one counter as for eight, and a call that spans thousands of intervals costs one
 * look-up.
 */

void accumulator_init(struct accumulator *w, const struct grid *g, enum lane_mode mode,
		      bool statistics, struct log_budget *budget)
{
	*w = (struct accumulator){
		.grid = g,
		.mode = mode,
		.now_ns = INT64_MIN,
		.interval = OUTSIDE_BEFORE,
		.statistics = statistics,
		.times_per_node = g->marked ? g->counters.nr : 1,
		.rate = xcalloc(g->counters.nr, sizeof(*w->rate)),
		.log = { .budget = budget, .level = interval_log_first_level(g->n) },
	};
}

void accumulator_release(struct accumulator *w)
{
	free(w->node);
	free(w->row);
	free(w->moment);
	free(w->outside);
	free(w->energy);
	free(w->times);
	free(w->rate);
	free(w->stats);
	free(w->row_times);
	free(w->sums);
	free(w->summed);
	VEC_RELEASE(&w->open_nodes);
	VEC_RELEASE(&w->open_rows);
	VEC_RELEASE(&w->running);
	interval_log_release(&w->log);
}

/* ---- room for new nodes and rows ---- */

static struct touched *grow_touched(struct touched *v, size_t from, size_t to)
{
	v = xreallocarray(v, to, sizeof(*v));
	for (size_t i = from; i < to; i++)
		v[i] = (struct touched){ .interval = UNTOUCHED };
	return v;
}

static void *grow_zeroed(void *v, size_t from, size_t to, size_t size)
{
	char *p = xreallocarray(v, to, size);

	memset(p + from * size, 0, (to - from) * size);
	return p;
}

static uint32_t with_room(uint32_t have, uint32_t need)
{
	size_t cap = vec_grow_cap(have, need);

	return cap < NODE_NONE ? (uint32_t)cap : NODE_NONE;
}

static void make_rows(struct accumulator *w, uint32_t rows)
{
	size_t counters = w->grid->counters.nr;

	if (rows <= w->rows)
		return;
	rows = with_room(w->rows, rows);
	w->row = grow_touched(w->row, w->rows, rows);
	w->stats = grow_zeroed(w->stats, w->rows * counters, rows * counters, sizeof(*w->stats));
	w->row_times = grow_zeroed(w->row_times, w->rows * w->times_per_node,
				   rows * w->times_per_node, sizeof(*w->row_times));
	VEC_RESERVE(&w->open_rows, rows + 1);
	w->rows = rows;
}

static uint32_t row_of(const struct accumulator *w, uint32_t node)
{
	return w->row_of ? w->row_of[node] : node;
}

static void make_nodes(struct accumulator *w, uint32_t nodes)
{
	size_t counters = w->grid->counters.nr;
	uint32_t from = w->nodes;

	if (nodes <= w->nodes)
		return;
	nodes = with_room(w->nodes, nodes);
	w->node = grow_touched(w->node, from, nodes);
	w->outside = grow_zeroed(w->outside, from, nodes, 1);
	w->energy = grow_zeroed(w->energy, from * counters, nodes * counters, sizeof(*w->energy));
	w->times = grow_zeroed(w->times, from * w->times_per_node, nodes * w->times_per_node,
			       sizeof(*w->times));
	if (w->grid->moments)
		w->moment = grow_zeroed(w->moment, from, nodes, sizeof(*w->moment));
	VEC_RESERVE(&w->open_nodes, nodes + 1);
	w->nodes = nodes;
}

static void make_room(struct accumulator *w, const struct lane_feed *feed)
{
	w->row_of = feed->row_of;
	make_nodes(w, feed->nodes);
	if (w->statistics)
		make_rows(w, feed->row_of ? feed->rows : feed->nodes);
}

static void make_sums(struct accumulator *w)
{
	if (w->nr_sums == w->nodes)
		return;
	w->sums = grow_touched(w->sums, w->nr_sums, w->nodes);
	w->summed = xreallocarray(w->summed, w->nodes + 1, sizeof(*w->summed));
	w->nr_sums = w->nodes;
}

/* ---- from one rank to another ---- */

void accumulator_save(const struct accumulator *w, struct strbuf *to)
{
	size_t counters = w->grid->counters.nr;

	SERIAL_PUT(to, w->nodes);
	SERIAL_PUT(to, w->rows);
	SERIAL_PUT_ARRAY(to, w->outside, w->nodes);
	SERIAL_PUT_ARRAY(to, w->energy, w->nodes * counters);
	SERIAL_PUT_ARRAY(to, w->times, w->nodes * w->times_per_node);
	SERIAL_PUT_ARRAY(to, w->stats, w->rows * counters);
	SERIAL_PUT_ARRAY(to, w->row_times, w->rows * w->times_per_node);
	interval_log_save(&w->log, to);
}

void accumulator_load(struct accumulator *w, struct serial_in *from)
{
	size_t counters = w->grid->counters.nr, left;
	uint32_t nodes, rows;

	SERIAL_TAKE(from, nodes);
	SERIAL_TAKE(from, rows);
	left = (size_t)(from->end - from->at);
	/* of each at least a byte must follow */
	if (from->bad || nodes > left || rows > left || (rows && !w->statistics)) {
		from->bad = true;
		return;
	}
	make_nodes(w, nodes);
	make_rows(w, rows);
	serial_take(from, w->outside, nodes);
	serial_take(from, w->energy, nodes * counters * sizeof(*w->energy));
	serial_take(from, w->times, nodes * w->times_per_node * sizeof(*w->times));
	serial_take(from, w->stats, rows * counters * sizeof(*w->stats));
	serial_take(from, w->row_times, rows * w->times_per_node * sizeof(*w->row_times));
	interval_log_load(&w->log, from);
}

/* ---- the end of an interval ---- */

/* Where nothing is marked, nothing is dead, and time is the same for all counters. */
static void flush_time(struct accumulator *w, uint32_t node, int64_t interval)
{
	const struct touched *t = &w->node[node];
	struct node_time *time = &w->times[node * w->times_per_node];

	if (!w->grid->marked) {
		time->share_time += t->share_time;
		time->live_ns += t->own_ns;
		return;
	}
	for (size_t c = 0; c < w->times_per_node; c++, time++) {
		const struct grid_counter *gc = &w->grid->counters.v[c];

		if (gc->curve.marks)
			time->marks |= gc->curve.marks[interval];
		if (w->rate[c].dead)
			continue;
		time->share_time += t->share_time;
		time->live_ns += t->own_ns;
	}
}

static void flush_node(struct accumulator *w, uint32_t node, int64_t interval)
{
	const struct grid *g = w->grid;
	const struct touched *t = &w->node[node];
	fixed128 *energy = &w->energy[node * g->counters.nr];
	double ns = fixed_time_value(t->share_time);

	flush_time(w, node, interval);
	if (g->moments) {
		for (size_t c = 0; c < g->counters.nr; c++) {
			if (!w->rate[c].dead)
				energy[c] += grid_energy(&g->counters.v[c], interval, t->share_time,
							 w->moment[node]);
		}
	} else if (!w->negative && w->most_units_per_ns * ns < 0x1p62) {
		/* nearly always: small at the highest rate is small at all */
		for (size_t c = 0; c < g->counters.nr; c++)
			energy[c] += fixed_from_units(w->rate[c].units_per_ns * ns);
	} else {
		for (size_t c = 0; c < g->counters.nr; c++)
			energy[c] += fixed_from(w->rate[c].units_per_ns * FIXED_UNIT * ns);
	}
}

/*
 * Adds a piece of time. Whether it is the first one in the interval is unpredictable, so there is
 * no branch: the sum of an earlier interval is masked away, and the id is always written behind the
 * others, where it counts or not. Returns the new number of ids.
 */
static inline size_t touched_add(struct touched *t, int64_t interval, int64_t own_ns,
				 fixed128 share_time, uint32_t id, uint32_t *open, size_t nr)
{
	int64_t again = -(int64_t)(t->interval == interval);

	t->interval = interval;
	t->own_ns = (t->own_ns & again) + own_ns;
	t->share_time = (t->share_time & again) + share_time;
	open[nr] = id;
	return nr + 1 + (size_t)again;
}

static void touch_row(struct accumulator *w, uint32_t node, int64_t interval)
{
	const struct touched *from = &w->node[node];
	uint32_t row = row_of(w, node);

	w->open_rows.nr = touched_add(&w->row[row], interval, from->own_ns, from->share_time, row,
				      w->open_rows.v, w->open_rows.nr);
}

/* A row's part of the changes of filtered readings. */
static void flush_changes(struct accumulator *w, uint32_t row, int64_t interval, double share_ns)
{
	const struct grid *g = w->grid;

	for (size_t c = 0; c < g->counters.nr; c++)
		w->stats[row * g->counters.nr + c].change +=
			grid_change(&g->counters.v[c], interval, share_ns);
}

static void flush_row(struct accumulator *w, uint32_t row, int64_t interval)
{
	const struct touched *t = &w->row[row];
	const struct grid *g = w->grid;
	struct row_stats *r = &w->stats[row * g->counters.nr];
	struct row_times *times = &w->row_times[row * w->times_per_node];
	int64_t len_ns = g->t_ns[interval + 1] - g->t_ns[interval];
	struct row_part part = row_part_of(t->own_ns, fixed_time_value(t->share_time), len_ns);
	bool whole = t->own_ns >= len_ns;

	if (g->lags)
		flush_changes(w, row, interval, fixed_time_value(t->share_time));
	for (size_t c = 0; c < w->times_per_node; c++) {
		if (w->rate[c].dead)
			continue;
		if (whole)
			times[c].whole++;
		else
			row_times_mixed(&times[c], &part);
	}
	for (size_t c = 0; c < g->counters.nr; c++) {
		if (w->rate[c].dead)
			continue;
		if (whole)
			row_stats_whole(&r[c], &g->counters.v[c], interval, interval + 1);
		else
			row_stats_mixed(&r[c], &w->rate[c], &part);
	}
}

/* No energy in a dead interval. */
static void find_rates(struct accumulator *w, int64_t interval)
{
	int64_t len_ns = w->grid->t_ns[interval + 1] - w->grid->t_ns[interval];

	w->most_units_per_ns = 0;
	w->negative = false;
	for (size_t c = 0; c < w->grid->counters.nr; c++) {
		const struct grid_counter *gc = &w->grid->counters.v[c];
		double rate = grid_rate(gc, interval);
		double statistic_j = curve_statistic_j(&gc->curve, interval);
		bool dead = grid_dead(gc, interval);

		w->rate[c] =
			(struct interval_rate){ .dead = dead,
						.units_per_ns = dead ? 0 : rate / FIXED_UNIT,
						.w = statistic_j / (double)len_ns * 1e9,
						.j = statistic_j,
						.max_w = gc->max_w > 0 ? gc->max_w : INFINITY };
		w->most_units_per_ns = fmax(w->most_units_per_ns, w->rate[c].units_per_ns);
		w->negative |= w->rate[c].units_per_ns < 0;
	}
}

static void accumulator_flush(struct accumulator *w, int64_t interval)
{
	if (w->open_nodes.nr == 0)
		return;
	find_rates(w, interval);
	if (interval_log_wants(&w->log, interval))
		accumulator_log(w, interval);
	for (size_t i = 0; i < w->open_nodes.nr; i++) {
		flush_node(w, w->open_nodes.v[i], interval);
		if (w->statistics)
			touch_row(w, w->open_nodes.v[i], interval);
	}
	for (size_t i = 0; i < w->open_rows.nr; i++)
		flush_row(w, w->open_rows.v[i], interval);
	VEC_CLEAR(&w->open_nodes);
	VEC_CLEAR(&w->open_rows);
}

/* ---- pieces of time ---- */

/* A part of one interval, for everything that is open. */
static void node_give(struct accumulator *w, int64_t interval, int64_t own_ns, fixed128 share_time,
		      fixed128 moment)
{
	for (size_t i = 0; i < w->running.nr; i++) {
		const struct running *r = &w->running.v[i];
		uint32_t n = w->mode == LANE_WORK ? r->pieces : 1;

		if (w->moment)
			w->moment[r->node] =
				moment * n +
				(w->node[r->node].interval == interval ? w->moment[r->node] : 0);
		w->open_nodes.nr =
			touched_add(&w->node[r->node], interval, own_ns * n, share_time * n,
				    r->node, w->open_nodes.v, w->open_nodes.nr);
	}
}

static void give_outside(struct accumulator *w)
{
	for (size_t i = 0; i < w->running.nr; i++)
		w->outside[w->running.v[i].node] = 1;
}

/* Whole intervals [from, to) of the share curve. */
static void whole_of(struct accumulator *w, const struct share_curve *l, uint32_t node,
		     int64_t from, int64_t to)
{
	size_t counters = w->grid->counters.nr;
	const struct share_sum *s0 = &l->before.v[(size_t)(from - l->first_interval) * counters];
	const struct share_sum *s1 = &l->before.v[(size_t)(to - l->first_interval) * counters];
	struct node_time *time = &w->times[node * w->times_per_node];

	for (size_t c = 0; c < counters; c++) {
		const struct grid_counter *gc = &w->grid->counters.v[c];

		w->energy[node * counters + c] += s1[c].energy - s0[c].energy;
		if (w->statistics) {
			struct row_stats *r = &w->stats[row_of(w, node) * counters + c];

			row_stats_whole(r, gc, from, to);
			r->change += s1[c].change - s0[c].change;
		}
		if (c >= w->times_per_node)
			continue;
		time[c].share_time += s1[c].share_time - s0[c].share_time;
		time[c].live_ns += grid_live_ns(gc, from, to);
		time[c].marks |= grid_marks(gc, from, to);
		if (w->statistics)
			w->row_times[row_of(w, node) * w->times_per_node + c].whole +=
				(uint64_t)grid_whole(gc, from, to);
	}
}

static void give_whole(struct accumulator *w, const struct share_curve *l, int64_t from, int64_t to)
{
	for (size_t i = 0; i < w->running.nr; i++) {
		whole_of(w, l, w->running.v[i].node, from, to);
		if (w->log.budget)
			accumulator_log_whole(w, l, w->running.v[i].node, from, to);
	}
}

/* Work of one row that overlaps itself. */
static bool accumulator_doubled(const struct accumulator *w)
{
	for (size_t i = 0; i < w->running.nr; i++) {
		if (w->running.v[i].pieces > 1)
			return true;
		for (size_t k = 0; k < i; k++) {
			if (row_of(w, w->running.v[k].node) == row_of(w, w->running.v[i].node))
				return true;
		}
	}
	return false;
}

/* Several pieces of one row are one observation per interval, so they are added one by one. */
static bool may_give_whole(const struct accumulator *w, const struct share_curve *l, int64_t from,
			   int64_t to)
{
	if (from >= to || from < l->first_interval || !grid_inside(w->grid, from) ||
	    w->now_ns != w->grid->t_ns[from])
		return false;
	return w->mode != LANE_WORK || !accumulator_doubled(w);
}

/* ---- going on in time ---- */

static RARE size_t knot_seek_far(const struct share_curve *l, size_t lo, int64_t t_ns)
{
	const int64_t *v = l->t_ns.v;
	size_t step = KNOTS_AT_ONCE, hi, nr = l->knots.nr;

	while (lo + step < nr && v[lo + step] <= t_ns) {
		lo += step;
		step *= 2;
	}
	hi = lo + step < nr ? lo + step : nr;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid] <= t_ns)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Behind knot lo; the curve ends with so many times that are never reached. */
static inline size_t knots_passed(const int64_t *t_ns, size_t lo, int64_t until_ns)
{
	const int64_t *v = t_ns + lo;

#define PASSED(i) (size_t)(v[i] <= until_ns)
	return ((PASSED(1) + PASSED(2)) + (PASSED(3) + PASSED(4))) +
	       ((PASSED(5) + PASSED(6)) + (PASSED(7) + PASSED(8)));
#undef PASSED
}

/*
 * The last knot at or before t_ns, which is not before knot k. The distance is unpredictable, so
 * the next few times are counted without a branch; a larger one is searched.
 */
static inline size_t knot_seek(const struct share_curve *l, size_t k, int64_t t_ns)
{
	for (int tries = 0; tries < 4; tries++) {
		size_t passed = knots_passed(l->t_ns.v, k, t_ns);

		k += passed;
		if (passed < KNOTS_AT_ONCE)
			return k;
	}
	return knot_seek_far(l, k, t_ns);
}

/* Share-time and moment of a part of an interval; a and b are knots that hold its ends. */
static void knots_measure(const struct share_curve *l, size_t a, int64_t from_ns, size_t b,
			  int64_t to_ns, fixed128 *share_time, fixed128 *moment)
{
	const struct knot *ka = &l->knots.v[a], *kb = &l->knots.v[b];
	const struct grid *g = l->grid;
	int64_t start_ns = g->t_ns[ka->interval], a_ns = l->t_ns.v[a], b_ns = l->t_ns.v[b];

	*share_time = kb->share_time - ka->share_time + fixed_time(to_ns - b_ns, kb->share) -
		      fixed_time(from_ns - a_ns, ka->share);
	*moment = 0;
	if (g->moments && g->t_ns[ka->interval + 1] - start_ns <= MOMENT_MAX_NS)
		*moment = l->moments.v[b] - l->moments.v[a] +
			  moment_of(b_ns - start_ns, to_ns - start_ns, kb->share) -
			  moment_of(a_ns - start_ns, from_ns - start_ns, ka->share);
}

static void accumulator_move(struct accumulator *w, const struct share_curve *l, size_t knot,
			     int64_t t_ns)
{
	int64_t interval = l->knots.v[knot].interval;

	if (interval != w->interval) {
		accumulator_flush(w, w->interval);
		w->interval = interval;
	}
	w->knot = knot;
	w->now_ns = t_ns;
}

/* To the end of the interval, or to t_ns inside it (which knot `at` holds). */
static void pass_part(struct accumulator *w, const struct share_curve *l, size_t at, int64_t t_ns)
{
	int64_t interval = l->knots.v[w->knot].interval, to_ns = t_ns;
	size_t last = at, next = at;
	fixed128 share_time, moment;

	if (l->knots.v[at].interval != interval) {
		next = l->first_knot.v[interval + 1 - l->first_interval];
		last = next - 1;
		to_ns = l->t_ns.v[next];
	}
	if (!grid_inside(w->grid, interval)) {
		if (to_ns > w->now_ns)
			give_outside(w);
	} else if (to_ns > w->now_ns) {
		knots_measure(l, w->knot, w->now_ns, last, to_ns, &share_time, &moment);
		node_give(w, interval, to_ns - w->now_ns, share_time, moment);
	}
	accumulator_move(w, l, next, to_ns);
}

static void accumulator_pass(struct accumulator *w, const struct share_curve *l, int64_t t_ns)
{
	size_t at = knot_seek(l, w->knot, t_ns);
	int64_t to = l->knots.v[at].interval;

	if (w->running.nr == 0) {
		accumulator_move(w, l, at, t_ns);
		return;
	}
	while (w->now_ns < t_ns) {
		int64_t from = l->knots.v[w->knot].interval;

		if (may_give_whole(w, l, from, to)) {
			give_whole(w, l, from, to);
			accumulator_move(w, l, l->first_knot.v[to - l->first_interval],
					 w->grid->t_ns[to]);
		} else {
			pass_part(w, l, at, t_ns);
		}
	}
}

static void accumulator_advance(struct accumulator *w, const struct share_curve *l, int64_t t_ns)
{
	if (t_ns > w->now_ns)
		accumulator_pass(w, l, t_ns);
}

/* ---- events ---- */

static void node_run(struct accumulator *w, uint32_t node, int32_t change)
{
	for (size_t i = 0; i < w->running.nr; i++) {
		struct running *r = &w->running.v[i];

		if (r->node != node)
			continue;
		r->pieces += (uint32_t)change;
		if (r->pieces == 0)
			*r = w->running.v[--w->running.nr];
		return;
	}
	if (change > 0)
		VEC_PUSH(&w->running, (struct running){ node, (uint32_t)change });
}

static void innermost_set(struct accumulator *w, uint32_t node)
{
	VEC_RESERVE(&w->running, 1);
	w->running.v[0] = (struct running){ node, 1 };
	w->running.nr = node != NODE_NONE;
}

/* Calls that follow each other, and the sums that their time goes into. */
struct calls {
	struct touched *sums; /* by node */
	int64_t interval;
	uint32_t *touched; /* nodes, with room for all */
	size_t nr_touched;
	uint64_t share;
	int64_t now_ns;
	uint32_t node; /* innermost from now on */
};

/*
 * The hot loop: calls whose next event is before the next knot, as nearly all are. A call then
 * costs one multiplication and three additions for any number of counters. Returns the first event
 * behind the knot.
 */
static inline size_t calls_read(struct calls *ret, const struct lane_feed *feed, size_t from,
				int64_t end_ns)
{
	struct calls c = *ret; /* in registers */
	size_t i = from;

	for (; i < feed->nr && feed->v[i].t_ns < end_ns; i++) {
		int64_t dt_ns = feed->v[i].t_ns - c.now_ns;

		if (c.node != NODE_NONE && dt_ns > 0)
			c.nr_touched = touched_add(&c.sums[c.node], c.interval, dt_ns,
						   fixed_time(dt_ns, c.share), c.node, c.touched,
						   c.nr_touched);
		c.now_ns = feed->v[i].t_ns;
		c.node = feed->v[i].node;
	}
	*ret = c;
	return i;
}

static uint32_t innermost_of(const struct accumulator *w)
{
	return w->running.nr ? w->running.v[0].node : NODE_NONE;
}

/* The first knot of the interval behind that of a knot. */
static size_t next_interval(const struct share_curve *l, size_t knot)
{
	size_t next = (size_t)(l->knots.v[knot].interval + 1 - l->first_interval);

	return next < l->first_knot.nr ? l->first_knot.v[next] : l->knots.nr;
}

/*
 * Calls of one interval, where others change the share as often as this lane's calls do. A call
 * costs one multiplication, the additions, and a search for its knot where it makes none itself.
 * Returns the first event behind.
 */
static size_t calls_in_interval(struct accumulator *w, const struct share_curve *l,
				const struct lane_feed *feed, size_t from)
{
	size_t end = next_interval(l, w->knot), at = w->knot, nr = w->open_nodes.nr, i;
	int64_t end_ns = end < l->knots.nr ? l->t_ns.v[end] : INT64_MAX, now_ns = w->now_ns;
	const struct knot *knots = l->knots.v;
	const int64_t *knots_ns = l->t_ns.v;
	struct touched *nodes = w->node;
	uint32_t *open = w->open_nodes.v, node = innermost_of(w);
	fixed128 now;

	if (w->moment || !grid_inside(w->grid, w->interval))
		return from;
	/* share-time since the interval's (or the curve's) beginning */
	now = knots[at].share_time + fixed_time(now_ns - knots_ns[at], knots[at].share);
	for (i = from; i < feed->nr && feed->v[i].t_ns < end_ns; i++) {
		int64_t t_ns = feed->v[i].t_ns;
		fixed128 then;

		if (feed->v[i].change && w->step_of) {
			size_t known = l->knot_of.v[*w->step_of++];

			at = known > at ? known : at;
		}
		if (knots_ns[at + 1] <= t_ns)
			at = knot_seek(l, at, t_ns);
		then = knots[at].share_time + fixed_time(t_ns - knots_ns[at], knots[at].share);
		if (node != NODE_NONE && t_ns > now_ns)
			nr = touched_add(&nodes[node], w->interval, t_ns - now_ns, then - now, node,
					 open, nr);
		now = then;
		now_ns = t_ns;
		node = feed->v[i].node;
	}
	w->open_nodes.nr = nr;
	w->knot = at;
	w->now_ns = now_ns;
	innermost_set(w, node);
	return i;
}

static void read_event(struct accumulator *w, const struct share_curve *l,
		       const struct lane_event *e)
{
	accumulator_advance(w, l, e->t_ns);
	if (e->change && w->step_of)
		w->step_of++;
	if (w->mode == LANE_CALLS)
		innermost_set(w, e->node);
	else
		node_run(w, e->node, e->change);
}

static void accumulator_slice(struct accumulator *w, const struct share_curve *l,
			      const struct lane_feed *feed)
{
	for (size_t i = 0; i < feed->nr;) {
		if (w->mode == LANE_CALLS)
			i = calls_in_interval(w, l, feed, i);
		if (i < feed->nr)
			read_event(w, l, &feed->v[i++]);
	}
}

/* ---- several grids at once ---- */

/*
 * Counters with sample times of their own need an accumulator each, but these need not all read
 * every event: between two knots of any of them (a stretch) a node's time is summed once for all,
 * exactly, as sums are of whole numbers. Only events at a knot are read by every accumulator.
 */
struct stretch {
	struct accumulator *w; /* of all grids; the first one lends its sums */
	const struct share_curve *l;
	size_t grids;
	const struct lane_feed *feed;
};

static int64_t stretch_end(const struct stretch *s)
{
	int64_t end_ns = INT64_MAX;

	for (size_t g = 0; g < s->grids; g++) {
		size_t next = s->w[g].knot + 1;

		if (next < s->l[g].knots.nr && s->l[g].t_ns.v[next] < end_ns)
			end_ns = s->l[g].t_ns.v[next];
	}
	return end_ns;
}

static void stretch_give(struct accumulator *w, const struct share_curve *l, const struct calls *c)
{
	int64_t interval = l->knots.v[w->knot].interval;
	bool inside = grid_inside(w->grid, interval);
	size_t open = w->open_nodes.nr;

	for (size_t i = 0; i < c->nr_touched; i++) {
		uint32_t node = c->touched[i];
		const struct touched *t = &c->sums[node];

		if (inside)
			open = touched_add(&w->node[node], interval, t->own_ns, t->share_time, node,
					   w->open_nodes.v, open);
		else
			w->outside[node] = 1;
	}
	w->open_nodes.nr = open;
	w->now_ns = c->now_ns;
	innermost_set(w, c->node);
}

/* Returns the first event behind it. All curves are of one class, so the share is the same. */
static size_t stretch_read(const struct stretch *s, size_t from)
{
	struct accumulator *w = s->w;
	struct calls c = { .sums = w->sums,
			   .interval = ++w->stretch,
			   .touched = w->summed,
			   .share = s->l->knots.v[w->knot].share,
			   .now_ns = w->now_ns,
			   .node = innermost_of(w) };
	size_t i = calls_read(&c, s->feed, from, stretch_end(s));

	for (size_t g = 0; i > from && g < s->grids; g++)
		stretch_give(&w[g], &s->l[g], &c);
	return i;
}

/* Accumulators may be at different knots; an event brings them together. */
static void accumulators_together(const struct stretch *s)
{
	for (size_t i = 0; i < s->feed->nr; i = stretch_read(s, i + 1)) {
		for (size_t g = 0; g < s->grids; g++)
			read_event(&s->w[g], &s->l[g], &s->feed->v[i]);
	}
}

/* Where power varies inside an interval, the position of a node's time counts too. */
static bool may_go_together(const struct accumulator *w, size_t grids)
{
	for (size_t g = 0; g < grids; g++) {
		if (w[g].mode != LANE_CALLS || w[g].moment)
			return false;
	}
	return grids > 1;
}

/* To the start of the next slice; there is no time behind the last one. */
static void slice_end(struct accumulator *w, const struct share_curve *l, int64_t horizon_ns)
{
	accumulator_advance(w, l, horizon_ns < INT64_MAX ? horizon_ns : l->t_ns.v[l->knots.nr - 1]);
}

void accumulators_slice(struct accumulator *w, const struct share_curve *l, size_t grids,
			const struct lane_feed *feed, const uint32_t *step_of, int64_t horizon_ns)
{
	struct stretch s = { w, l, grids, feed };

	for (size_t g = 0; g < grids; g++) {
		make_room(&w[g], feed);
		w[g].step_of = step_of;
		accumulator_move(&w[g], &l[g], 0, w[g].now_ns);
	}
	if (may_go_together(w, grids)) {
		make_sums(w);
		accumulators_together(&s);
	} else {
		for (size_t g = 0; g < grids; g++)
			accumulator_slice(&w[g], &l[g], feed);
	}
	for (size_t g = 0; g < grids; g++)
		slice_end(&w[g], &l[g], horizon_ns);
}
