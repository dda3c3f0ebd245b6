#include "energy_run_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/topology/topology.h"

/* ---- lanes that take part ---- */

/* 0: it does not take part; else its process's weight. */
static uint32_t lane_weight(const struct energy_run *run, const struct job *j, size_t lane)
{
	const struct lane_def *l = &run->lanes.v[lane];
	double weight = 1;

	if ((l->mode == LANE_WORK) != (j->what.view == VIEW_DEVICE) ||
	    !energy_track_takes_part(run->m, &run->o, j->what.series, j->info.device, j->what.view,
				     l->track))
		return 0;
	/* a sharer that gets all of it has no weight, and so has a piece of work */
	if (j->what.view == VIEW_HOST && !run->o.independent)
		weight = topology_weight(run->o.topology, run->m, l->track, j->what.series);
	weight = fmin(fmax(weight * WEIGHT_UNIT, 1), 1000.0 * WEIGHT_UNIT);
	return (uint32_t)lround(weight);
}

/* taking: how many of the weights are not 0. */
static bool same_lanes(const struct domain *d, const uint32_t *weights, size_t taking)
{
	if (taking != d->lanes.nr)
		return false;
	for (size_t i = 0; i < d->lanes.nr; i++) {
		if (weights[d->lanes.v[i].lane] != d->lanes.v[i].weight)
			return false;
	}
	return true;
}

/* ---- a new domain ---- */

static uint32_t class_new(struct domain *d, enum share_class_kind kind, uint32_t weight,
			  size_t sharer)
{
	VEC_PUSH(&d->classes, ((struct share_class){ kind, weight, (uint32_t)sharer }));
	return (uint32_t)(d->classes.nr - 1);
}

static uint32_t sharer_at(struct domain *d, uint32_t *of_track, track_id id, uint32_t weight)
{
	if (of_track[id] == UINT32_MAX) {
		of_track[id] = (uint32_t)d->sharers.nr;
		VEC_PUSH(&d->sharers, (struct sharer){ .id = id, .weight = weight });
	}
	return of_track[id];
}

/* Equal weights have no effect. */
static bool weights_differ(const struct domain *d)
{
	for (size_t s = 1; s < d->sharers.nr; s++) {
		if (d->sharers.v[s].weight != d->sharers.v[0].weight)
			return true;
	}
	return false;
}

static void find_sharers(const struct energy_run *run, struct domain *d)
{
	size_t tracks = run->m->tracks.nr;
	CLEANUP(xfreep) uint32_t *of_track = xreallocarray(NULL, tracks + 1, sizeof(*of_track));
	bool weighted;

	memset(of_track, 0xff, (tracks + 1) * sizeof(*of_track));
	for (size_t i = 0; i < d->lanes.nr; i++) {
		const struct lane_def *l = &run->lanes.v[d->lanes.v[i].lane];
		track_id id = energy_sharer_of(run->m, l->track);
		uint32_t s = sharer_at(d, of_track, id, d->lanes.v[i].weight);

		d->lanes.v[i].sharer = s;
		d->sharers.v[s].lanes += l->mode != LANE_COVER;
	}
	weighted = weights_differ(d);
	for (size_t i = 0; i < d->sharers.nr; i++) {
		struct sharer *s = &d->sharers.v[i];

		s->weight = weighted ? s->weight : 1;
		if (s->lanes > 1 || weighted)
			s->share_class = class_new(d, d->independent ? CLASS_THREADS : CLASS_SPLIT,
						   s->weight, i);
	}
	for (size_t i = 0; i < d->lanes.nr; i++)
		d->lanes.v[i].share_class = d->sharers.v[d->lanes.v[i].sharer].share_class;
}

static size_t group_new(struct energy_run *run, enum energy_view view, const uint32_t *weights)
{
	struct share_group t = { .d = { .view = view, .independent = run->o.independent } };

	class_new(&t.d, t.d.independent ? CLASS_ALONE : CLASS_COMMON, 1, 0); /* number 0 */
	for (size_t i = 0; i < run->lanes.nr; i++) {
		if (weights[i])
			VEC_PUSH(&t.d.lanes,
				 (struct domain_lane){ .lane = i, .weight = weights[i] });
	}
	if (view == VIEW_HOST)
		find_sharers(run, &t.d);
	t.idle_class = class_new(&t.d, CLASS_IDLE, 1, 0);
	t.given_class = class_new(&t.d, CLASS_GIVEN, 1, 0);
	VEC_PUSH(&run->groups, t);
	return run->groups.nr - 1;
}

static size_t group_of(struct energy_run *run, const struct job *j)
{
	CLEANUP(xfreep) uint32_t *weights = xcalloc(run->lanes.nr + 1, sizeof(*weights));
	size_t taking = 0;

	for (size_t i = 0; i < run->lanes.nr; i++) {
		weights[i] = lane_weight(run, j, i);
		taking += weights[i] > 0;
	}
	for (size_t i = 0; i < run->groups.nr; i++) {
		const struct domain *d = &run->groups.v[i].d;

		if (d->view == j->what.view && same_lanes(d, weights, taking))
			return i;
	}
	return group_new(run, j->what.view, weights);
}

/* ---- jobs ---- */

/* The counter's resolution: the greatest common divisor of its increments when they are whole
 * numbers; most energy counters are too fine to have one. Equal increments give none. */
static double step_of(const struct series *se)
{
	double before = NAN, first = 0;
	uint64_t gcd = 0;
	bool differ = false;

	for (size_t i = 0; i < se->value.nr && gcd != 1; i++) {
		double v = se->value.v[i], d = fabs(v - before);

		if (isnan(v))
			continue;
		before = v;
		if (isnan(d))
			continue;
		if (d != floor(d) || d > 0x1p52)
			return 0;
		differ |= d < first || (first > 0 && d > first);
		if (first == 0)
			first = d;
		for (uint64_t a = (uint64_t)d; a;) {
			uint64_t rest = gcd % a;

			gcd = a;
			a = rest;
		}
	}
	return differ && gcd > 1 ? (double)gcd : 0;
}

static void totals_begin(struct job *j, const struct curve *c)
{
	struct energy_totals *t = &j->totals;

	snprintf(t->device, sizeof(t->device), "%s", j->info.device);
	t->flags = c->flags;
	t->median_period_ns = c->median_period_ns;
	t->total_j = curve_total(c);
	t->first_ns = c->n ? c->t_ns[0] : 0;
	t->last_ns = c->n ? c->t_ns[c->n - 1] : -1;
	for (size_t i = 0; c->marks && i + 1 < c->n; i++) {
		if (c->marks[i] & CURVE_DEAD)
			sum_add(&j->dead_j, c->de[i]);
	}
}

static void job_to_grid(struct energy_run *run, size_t job, struct curve *c)
{
	struct job *j = &run->jobs.v[job];
	struct domain *d = &run->groups.v[j->domain].d;
	const struct series *se = &run->m->series.v[j->what.series];
	double step_j = j->info.kind == SERIES_CUMULATIVE ? step_of(se) * j->info.scale : 0;
	size_t g = 0;

	while (g < d->grids.nr && !grid_fits(&d->grids.v[g], c))
		g++;
	if (g == d->grids.nr)
		VEC_PUSH(&d->grids, (struct grid){ 0 });
	j->grid = g;
	j->counter = d->grids.v[g].counters.nr;
	grid_add(&d->grids.v[g], job, c, step_j, j->info.max_rate);
}

static int job_add(struct energy_run *run, const struct energy_job *what, struct err *err)
{
	struct job j = { .what = *what,
			 .info = counter_info(run->m, what->series),
			 .domain = DOMAIN_NONE };
	CLEANUP(curve_release) struct curve c = { 0 };
	int r = curve_make(run->m, what->series, &j.info, &run->o, &c, err);

	if (r < 0)
		return r;
	totals_begin(&j, &c);
	if (c.n >= 2)
		j.domain = group_of(run, &j);
	VEC_PUSH(&run->jobs, j);
	if (c.n >= 2)
		job_to_grid(run, run->jobs.nr - 1, &c);
	return 0;
}

/* ---- ranks ---- */

/* The rank that reads the first lane reads the idle time too. */
static void group_place(const struct energy_run *run, struct share_group *t)
{
	const struct domain *d = &t->d;
	int rank = comm_rank(run->comm);
	int home = d->lanes.nr ? run->lanes.v[d->lanes.v[0].lane].rank : 0;

	t->spread = false;
	t->idle_here = home == rank;
	for (size_t i = 0; i < d->lanes.nr; i++) {
		int at = run->lanes.v[d->lanes.v[i].lane].rank;

		t->spread |= at != home;
		t->here[i] = at == rank;
	}
}

void energy_run_ranks(struct energy_run *run, struct comm *c)
{
	run->comm = c;
	for (size_t i = 0; i < run->groups.nr; i++)
		group_place(run, &run->groups.v[i]);
}

static void group_save(const struct share_group *t, struct strbuf *to)
{
	size_t grids = t->d.grids.nr;

	SERIAL_PUT_ARRAY(to, t->here, t->d.lanes.nr);
	SERIAL_PUT(to, t->idle_here);
	for (size_t i = 0; i < t->d.lanes.nr * grids; i++) {
		if (t->here[i / grids])
			accumulator_save(&t->accumulators[i], to);
	}
	for (size_t g = 0; t->idle_here && g < grids; g++) {
		accumulator_save(&t->idle[g], to);
		accumulator_save(&t->given[g], to);
	}
}

static void group_load(struct share_group *t, struct serial_in *from)
{
	size_t grids = t->d.grids.nr;
	CLEANUP(xfreep) bool *here = xcalloc(t->d.lanes.nr + 1, sizeof(*here));
	bool idle_there;

	serial_take(from, here, t->d.lanes.nr * sizeof(*here));
	SERIAL_TAKE(from, idle_there);
	for (size_t i = 0; i < t->d.lanes.nr * grids && !from->bad; i++) {
		if (here[i / grids])
			accumulator_load(&t->accumulators[i], from);
	}
	for (size_t g = 0; idle_there && g < grids && !from->bad; g++) {
		accumulator_load(&t->idle[g], from);
		accumulator_load(&t->given[g], from);
	}
	for (size_t i = 0; i < t->d.lanes.nr; i++)
		t->here[i] |= here[i];
	t->idle_here |= idle_there;
}

void energy_run_save(const struct energy_run *run, struct strbuf *to)
{
	for (size_t i = 0; i < run->groups.nr; i++)
		group_save(&run->groups.v[i], to);
	log_budget_save(&run->budget, to);
}

void energy_run_load(struct energy_run *run, struct serial_in *from)
{
	for (size_t i = 0; i < run->groups.nr; i++)
		group_load(&run->groups.v[i], from);
	log_budget_load(&run->budget, from);
}

/* ---- life ---- */

static void group_start(struct energy_run *run, struct share_group *t)
{
	const struct domain *d = &t->d;
	size_t grids = d->grids.nr;
	struct log_budget *budget = energy_run_by_power(run) ? &run->budget : NULL;

	t->parts = xcalloc(d->lanes.nr + 1, sizeof(*t->parts));
	t->accumulators = xcalloc(d->lanes.nr * grids + 1, sizeof(*t->accumulators));
	t->idle = xcalloc(grids + 1, sizeof(*t->idle));
	t->given = xcalloc(grids + 1, sizeof(*t->given));
	t->here = xcalloc(d->lanes.nr + 1, sizeof(*t->here));
	t->at_ns = INT64_MIN;
	share_state_zero(d, &t->at);
	group_place(run, t);
	for (size_t g = 0; g < grids; g++) {
		const struct grid *grid = &d->grids.v[g];

		run->budget.intervals =
			grid->n > run->budget.intervals ? grid->n : run->budget.intervals;
		for (size_t l = 0; l < d->lanes.nr; l++) {
			enum lane_mode mode = run->modes[d->lanes.v[l].lane];

			accumulator_init(&t->accumulators[l * grids + g], grid, mode,
					 mode != LANE_COVER, mode != LANE_COVER ? budget : NULL);
		}
		accumulator_init(&t->idle[g], grid, LANE_CALLS, true, NULL);
		accumulator_init(&t->given[g], grid, LANE_CALLS, false, NULL);
	}
}

static void group_release(struct share_group *t)
{
	size_t grids = t->d.grids.nr;

	for (size_t i = 0; t->parts && i < t->d.lanes.nr; i++)
		VEC_RELEASE(&t->parts[i].ranks);
	for (size_t i = 0; t->accumulators && i < t->d.lanes.nr * grids; i++)
		accumulator_release(&t->accumulators[i]);
	for (size_t g = 0; t->idle && g < grids; g++) {
		accumulator_release(&t->idle[g]);
		accumulator_release(&t->given[g]);
	}
	free(t->parts);
	free(t->accumulators);
	free(t->idle);
	free(t->given);
	free(t->here);
	batches_release(t);
	share_state_release(&t->at);
	domain_release(&t->d);
}

int energy_run_new(const struct model *m, const struct energy_job *jobs, size_t nr_jobs,
		   const struct lane_def *lanes, size_t nr_lanes, const struct energy_opts *o,
		   struct energy_run **ret, struct err *err)
{
	CLEANUP(energy_run_freep) struct energy_run *run = xcalloc(1, sizeof(*run));

	run->m = m;
	run->o = *o;
	run->budget.most = o->log_entries ? o->log_entries : LOG_ENTRIES;
	run->modes = xcalloc(nr_lanes + 1, sizeof(*run->modes));
	for (size_t i = 0; i < nr_lanes; i++) {
		VEC_PUSH(&run->lanes, lanes[i]);
		run->modes[i] = lanes[i].mode;
	}
	for (size_t i = 0; i < nr_jobs; i++) {
		int r = job_add(run, &jobs[i], err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < run->groups.nr; i++)
		group_start(run, &run->groups.v[i]);
	*ret = STEAL(run);
	return 0;
}

void energy_run_free(struct energy_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->groups.nr; i++)
		group_release(&run->groups.v[i]);
	slices_release(run);
	splits_release(run);
	VEC_RELEASE(&run->groups);
	VEC_RELEASE(&run->jobs);
	VEC_RELEASE(&run->lanes);
	free(run->modes);
	free(run);
}

void energy_run_freep(struct energy_run **run)
{
	energy_run_free(*run);
	*run = NULL;
}

/* ---- results ---- */

size_t domain_place(const struct domain *d, size_t lane)
{
	size_t lo = 0, hi = d->lanes.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->lanes.v[mid].lane < lane)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < d->lanes.nr && d->lanes.v[lo].lane == lane ? lo : SIZE_MAX;
}

static const struct accumulator *accumulator_of(const struct energy_run *run, const struct job *j,
						size_t lane)
{
	const struct share_group *t;
	size_t place;

	if (j->domain == DOMAIN_NONE)
		return NULL;
	t = &run->groups.v[j->domain];
	place = domain_place(&t->d, lane);
	return place == SIZE_MAX ? NULL : &t->accumulators[place * t->d.grids.nr + j->grid];
}

const struct curve *energy_run_curve(const struct energy_run *run, size_t job)
{
	const struct job *j = &run->jobs.v[job];

	if (j->domain == DOMAIN_NONE)
		return NULL;
	return &run->groups.v[j->domain].d.grids.v[j->grid].counters.v[j->counter].curve;
}

bool energy_run_takes_part(const struct energy_run *run, size_t job, size_t lane)
{
	return accumulator_of(run, &run->jobs.v[job], lane) != NULL;
}

size_t energy_run_lanes(const struct energy_run *run, size_t job)
{
	size_t domain = run->jobs.v[job].domain;

	return domain == DOMAIN_NONE ? 0 : run->groups.v[domain].d.lanes.nr;
}

size_t energy_run_lane(const struct energy_run *run, size_t job, size_t i)
{
	return run->groups.v[run->jobs.v[job].domain].d.lanes.v[i].lane;
}

struct node_energy accumulator_value(const struct accumulator *w, size_t counter, uint32_t node)
{
	struct node_energy ret = { 0 };
	const struct node_time *t;

	if (!w || node >= w->nodes)
		return ret;
	t = &w->times[node * w->times_per_node + (w->times_per_node > 1 ? counter : 0)];
	ret.exclusive_j = fixed_value(w->energy[node * w->grid->counters.nr + counter]);
	ret.share_ns = fixed_value(t->share_time);
	ret.exclusive_ns = t->live_ns;
	ret.marks = t->marks | (w->outside[node] ? SPAN_OUTSIDE : 0);
	return ret;
}

struct node_energy energy_run_value(const struct energy_run *run, size_t job, size_t lane,
				    uint32_t node)
{
	const struct job *j = &run->jobs.v[job];

	return accumulator_value(accumulator_of(run, j, lane), j->counter, node);
}

static double half_width_of(const struct accumulator *w, size_t counter, uint32_t row)
{
	size_t times = row * w->times_per_node + (w->times_per_node > 1 ? counter : 0);

	return row_half_width(&w->row_times[times], &w->stats[row * w->grid->counters.nr + counter],
			      &w->grid->counters.v[counter]);
}

double energy_run_uncertainty(const struct energy_run *run, size_t job, size_t lane, uint32_t row)
{
	const struct job *j = &run->jobs.v[job];
	const struct accumulator *w = accumulator_of(run, j, lane);

	if (!w || !w->statistics || row >= w->rows)
		return NAN;
	return half_width_of(w, j->counter, row);
}

/* Of all lanes that share: the sum is exact before it becomes a double. */
static double job_attributed_j(const struct share_group *t, const struct job *j)
{
	size_t grids = t->d.grids.nr;
	fixed128 sum = 0;

	for (size_t l = 0; l < t->d.lanes.nr; l++) {
		const struct accumulator *w = &t->accumulators[l * grids + j->grid];

		for (uint32_t i = 0; w->mode != LANE_COVER && i < w->nodes; i++)
			sum += w->energy[i * w->grid->counters.nr + j->counter];
	}
	return fixed_value(sum);
}

void totals_of(const struct energy_run *run, const struct job *j, struct energy_totals *t)
{
	const struct share_group *group = &run->groups.v[j->domain];
	const struct accumulator *idle = &group->idle[j->grid];
	struct node_energy unused = accumulator_value(idle, j->counter, 0);
	struct node_energy given = accumulator_value(&group->given[j->grid], j->counter, 0);
	double error;

	for (size_t l = 0; l < group->d.lanes.nr; l++)
		t->taken |= run->modes[group->d.lanes.v[l].lane] != LANE_COVER;
	t->attributed_j = job_attributed_j(group, j);
	t->dead_j = sum_value(&j->dead_j);
	t->unattributed_j = unused.exclusive_j + t->dead_j;
	t->unattributed_ns = unused.exclusive_ns;
	t->unattributed_share_ns = unused.share_ns;
	t->unattributed_uncertainty_j = half_width_of(idle, j->counter, 0);
	if (run->o.independent)
		error = given.exclusive_j * (double)(1 << GIVEN_SHIFT) - t->attributed_j;
	else
		error = t->total_j - t->attributed_j - t->unattributed_j;
	t->error_rel = t->total_j == 0 ? 0 : fabs(error / t->total_j);
}

void energy_run_job(const struct energy_run *run, size_t job, struct energy_totals *ret)
{
	const struct job *j = &run->jobs.v[job];

	*ret = j->totals;
	if (j->domain != DOMAIN_NONE)
		totals_of(run, j, ret);
}
