#include "power_calls.h"
#include "power_timeline.h"

#include <string.h>

#include "profrig/base/workers.h"

/*
 * Energy by power. The powers of a fit divide the energy of each interval of the sample among what
 * was there; the rest of the energy is divided by power × rest of the time. A factor for each class
 * brings the intervals' parts to the energy that the fit gives it (with what a lag moves), and one
 * for all keeps the sum.
 */

#define REFINE_PARTS ((size_t)200000) /* at most so many give the powers of finer classes */
#define SMALL 1e-6                    /* of a node's time: less is what rounding leaves */
/* Standard errors of a leaf's power: what the data do not tell is often alike for a whole track. */
#define LEAF_DOUBT 3.0

/* Sums over the sample; by node, or by class. */
struct shares {
	size_t nodes;
	double *node_j, *time_ns, *share_ns; /* [nodes] */
	double *item_j;                      /* [items of the sample] */
	fixed128 *class_j;                   /* [classes + 1] */
	double idle_ns, all_j;
};

static size_t node_at(const struct power_split *p, const struct sample_item *item)
{
	return p->first_node[item->lane] + item->node;
}

/* ---- nodes of a group ---- */

static void nodes_number(const struct share_group *t, size_t g, struct power_split *p)
{
	size_t nr = 0;

	p->first_node = xcalloc(t->d.lanes.nr + 1, sizeof(*p->first_node));
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		const struct accumulator *w = &t->accumulators[i * t->d.grids.nr + g];

		p->first_node[i] = nr;
		nr += w->mode == LANE_COVER ? 0 : w->nodes;
	}
	p->first_node[t->d.lanes.nr] = nr;
	p->node_j = xcalloc(nr + 1, sizeof(*p->node_j));
}

/* Calls put(ctx, …) for every node: its place, its class, and its results by time. */
struct node_visit {
	size_t at;
	uint32_t class_id, leaf_id;
	struct node_energy by_time;
};
typedef void visit_fn(void *ctx, const struct node_visit *v);

static void nodes_visit(const struct energy_run *run, const struct job *j,
			const struct energy_classes *classes, const struct power_split *p,
			visit_fn *visit, void *ctx)
{
	const struct share_group *t = &run->groups.v[j->domain];

	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		const struct accumulator *w = &t->accumulators[i * t->d.grids.nr + j->grid];
		size_t lane = t->d.lanes.v[i].lane;
		const uint32_t *of = classes->of[lane];

		for (uint32_t n = 0; of && w->mode != LANE_COVER && n < w->nodes; n++) {
			struct node_visit v = { .at = p->first_node[i] + n,
						.by_time = accumulator_value(w, j->counter, n) };

			if (v.by_time.share_ns <= 0 && v.by_time.exclusive_ns <= 0)
				continue;
			v.class_id = of[n];
			v.leaf_id = classes->leaf_of ? classes->leaf_of[lane][n] : 0;
			visit(ctx, &v);
		}
	}
}

/* ---- the sample ---- */

/* Powers while an interval is divided: of its classes, or of leaves where they are known better. */
struct powers {
	const struct power_fit *fit;
	const double *leaf_w; /* NULL: not known */
	double *class_w;      /* [classes + 1], of the present interval */
	bool device;
};

static void powers_of(const struct sample_data *d, size_t k, struct powers *p)
{
	for (size_t i = d->first[k]; i < d->first[k + 1]; i++)
		p->class_w[d->parts.v[i].class_id] = p->fit->weight_w[i];
}

static double item_power(const struct powers *p, const struct sample_item *item)
{
	return p->leaf_w ? p->leaf_w[item->leaf_id] : p->class_w[item->class_id];
}

/* What of the interval the base class has, or no class is charged for. */
static double base_left_ns(const struct sample *s, const struct sample_data *d, size_t k)
{
	double left_ns = d->length_s[k] * 1e9;

	for (size_t i = s->first[k]; i < s->first[k + 1]; i++)
		left_ns -= s->items[i].share_ns;
	return fmax(left_ns, 0);
}

/* Divides an interval's energy; the parts of its items, then what is left. */
static void shares_interval(const struct sample *s, const struct sample_data *d, size_t k,
			    const struct powers *w, const struct power_split *p, struct shares *sh)
{
	double base_w = w->leaf_w ? w->leaf_w[s->leaves] : w->class_w[s->classes];
	double static_w = w->device ? base_w : 0;
	double left_ns = base_left_ns(s, d, k);
	fixed128 all = fixed_from(base_w * left_ns);
	double by;

	for (size_t i = s->first[k]; i < s->first[k + 1]; i++)
		all += fixed_from(item_power(w, &s->items[i]) * s->items[i].time_ns +
				  static_w * s->items[i].share_ns);
	by = all > 0 ? d->energy_j[k] / fixed_value(all) : 0;
	for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
		const struct sample_item *item = &s->items[i];
		double j = by * (item_power(w, item) * item->time_ns + static_w * item->share_ns);

		sh->item_j[i] = j;
		sh->node_j[node_at(p, item)] += j;
		sh->time_ns[node_at(p, item)] += item->time_ns;
		sh->share_ns[node_at(p, item)] += item->share_ns;
		sh->class_j[item->class_id] += fixed_from(j);
	}
	sh->class_j[s->classes] += fixed_from(by * base_w * left_ns);
	sh->idle_ns += left_ns;
	sh->all_j += d->energy_j[k];
}

static void shares_sum(const struct sample *s, const struct sample_data *d,
		       const struct power_split *p, const double *leaf_w, struct shares *sh)
{
	CLEANUP(xfreep) double *class_w = xcalloc((size_t)s->classes + 2, sizeof(*class_w));
	struct powers w = { .fit = &p->fit,
			    .leaf_w = leaf_w,
			    .class_w = class_w,
			    .device = s->view == VIEW_DEVICE };

	for (size_t k = 0; k < s->n; k++) {
		if (d->halo[k])
			continue;
		powers_of(d, k, &w);
		shares_interval(s, d, k, &w, p, sh);
	}
}

/* ---- finer classes ---- */

/*
 * The powers of leaves, [leaves + 1]; NULL: they say no more than the classes', or powers change
 * between parts of the trace. error_w: [leaves + 1].
 */
static double *leaves_refine(const struct sample *s, const struct grid_counter *c,
			     const struct energy_classes *classes, const struct power_fit *f,
			     double *error_w)
{
	CLEANUP(sample_data_release) struct sample_data d = { 0 };
	CLEANUP(xfreep) double *parent_w = xcalloc((size_t)s->classes + 1, sizeof(*parent_w));
	CLEANUP(xfreep) uint32_t *parent = xcalloc((size_t)s->leaves + 1, sizeof(*parent));
	CLEANUP(xfreep) double *leaf_w = xcalloc((size_t)s->leaves + 1, sizeof(*leaf_w));

	if (s->leaves <= s->classes || f->windows > 1)
		return NULL;
	memcpy(parent, classes->class_of_leaf, s->leaves * sizeof(*parent));
	parent[s->leaves] = s->classes;
	for (uint32_t k = 0; k <= s->classes; k++)
		parent_w[k] = f->classes[k].w;
	sample_data_make(&d, s, c, NAN, true);
	sample_data_thin(&d, s, REFINE_PARTS);
	if (!power_fit_refine(&d.d, parent, parent_w, f->lag_s, leaf_w, error_w))
		return NULL;
	return STEAL(leaf_w);
}

/* ---- all of the time ---- */

struct rest {
	struct power_split *p;
	struct shares *sh;
	double *factor;       /* by class: the fit's energy / the sum over intervals */
	double *power_w;      /* by class */
	const double *leaf_w; /* by leaf; NULL: as the class */
	const double *leaf_error_w;
	double base_w;   /* static; 0 in the host view */
	fixed128 rest_j; /* Σ power × rest of the time */
	double give;     /* energy of the rest / rest_j */
	bool device;
};

/* How far a node's energy may be off because its power is its leaf's. */
static double doubt_of(const struct rest *r, const struct node_visit *v)
{
	double time_ns = r->device ? (double)v->by_time.exclusive_ns : v->by_time.share_ns;

	return LEAF_DOUBT * 1e-9 * r->leaf_error_w[v->leaf_id] * time_ns;
}

/* Power × time that was not sampled. */
static double rest_of(const struct rest *r, const struct node_visit *v)
{
	double share_ns = v->by_time.share_ns;
	double time_ns = r->device ? (double)v->by_time.exclusive_ns : share_ns;
	double left_ns = left_of(time_ns, r->sh->time_ns[v->at], SMALL);
	double left_share_ns = left_of(share_ns, r->sh->share_ns[v->at], SMALL);

	double w = r->leaf_w ? r->leaf_w[v->leaf_id] : r->power_w[v->class_id];

	return 1e-9 * (w * left_ns + r->base_w * left_share_ns);
}

static void visit_rest(void *ctx, const struct node_visit *v)
{
	struct rest *r = ctx;

	r->rest_j += fixed_from(rest_of(r, v));
}

static void visit_give(void *ctx, const struct node_visit *v)
{
	struct rest *r = ctx;
	double j = r->sh->node_j[v->at] * r->factor[v->class_id];
	double rest_j = r->give * rest_of(r, v);

	r->p->node_j[v->at] = j + rest_j;
	r->p->doubt_j[v->at] = doubt_of(r, v);
	r->p->rest_j[v->class_id] += fixed_from(rest_j);
	r->p->class_j[v->class_id] += fixed_from(r->p->node_j[v->at]);
}

/*
 * What the fit gives a class less what its power divides (fit_j) is added to what its leaves come
 * to: where its power is next to nothing theirs need not be.
 */
static void factors_set(const struct sample *s, const double *fit_j, const struct shares *sh,
			struct rest *r)
{
	const struct power_fit *f = &r->p->fit;
	double all_j = 0, all_s = 0;

	for (uint32_t c = 0; c <= s->classes; c++) {
		all_j += f->classes[c].energy_j;
		all_s += f->classes[c].time_s;
	}
	for (uint32_t c = 0; c <= s->classes; c++) {
		const struct power_class *k = &f->classes[c];

		double now_j = fixed_value(sh->class_j[c]);

		r->factor[c] = now_j > 0 ? fmax(now_j + k->energy_j - fit_j[c], 0) / now_j : 1;
		r->power_w[c] = k->time_s > 0 ? k->w : all_j / fmax(all_s, 1e-300);
	}
	r->base_w = r->device ? r->power_w[s->classes] : 0;
}

/* The sum is that of the live intervals. */
static void split_scale(struct power_split *p, double live_j)
{
	size_t nodes = p->first_node[p->lanes];
	fixed128 sum = fixed_from(p->idle_j);
	double by;

	for (size_t n = 0; n < nodes; n++)
		sum += fixed_from(p->node_j[n]);
	by = sum > 0 ? live_j / fixed_value(sum) : 0;
	p->idle_j *= by;
	for (size_t n = 0; n < nodes; n++)
		p->node_j[n] *= by;
	p->scale = by;
}

/* The energy of the intervals that are not dead. */
static double live_of(const struct energy_run *run, const struct job *j)
{
	struct energy_totals t = j->totals;

	totals_of(run, j, &t);
	return t.total_j - t.dead_j;
}

static void split_rest(const struct energy_run *run, const struct job *j,
		       const struct energy_classes *classes, const struct sample *s, struct rest *r)
{
	struct energy_totals t = j->totals;
	double idle_j, rest_j, live_j;

	totals_of(run, j, &t);
	live_j = live_of(run, j);
	nodes_visit(run, j, classes, r->p, visit_rest, r);
	idle_j = 1e-9 * r->power_w[s->classes] *
		 left_of(t.unattributed_share_ns, r->sh->idle_ns, SMALL);
	rest_j = fixed_value(r->rest_j) + idle_j;
	if (rest_j > 0 && live_j > r->sh->all_j)
		r->give = (live_j - r->sh->all_j) / rest_j;
	nodes_visit(run, j, classes, r->p, visit_give, r);
	r->p->idle_j =
		fixed_value(r->sh->class_j[s->classes]) * r->factor[s->classes] + r->give * idle_j;
	r->p->class_j[s->classes] = fixed_from(r->p->idle_j);
	r->p->rest_j[s->classes] = fixed_from(r->give * idle_j);
	split_scale(r->p, live_j);
}

/* ---- by time, where the fit is of no use ---- */

static void visit_by_time(void *ctx, const struct node_visit *v)
{
	struct rest *r = ctx;

	r->p->node_j[v->at] = v->by_time.exclusive_j;
	r->p->class_j[v->class_id] += fixed_from(v->by_time.exclusive_j);
}

static void split_by_time(const struct energy_run *run, const struct job *j,
			  const struct energy_classes *classes, struct power_split *p)
{
	struct energy_totals t = j->totals;
	struct rest r = { .p = p };

	totals_of(run, j, &t);
	nodes_visit(run, j, classes, p, visit_by_time, &r);
	p->idle_j = t.unattributed_j - t.dead_j;
	p->scale = 1;
}

/* ---- a job ---- */

static void shares_clear(struct shares *sh, uint32_t classes)
{
	memset(sh->node_j, 0, sh->nodes * sizeof(*sh->node_j));
	memset(sh->time_ns, 0, sh->nodes * sizeof(*sh->time_ns));
	memset(sh->share_ns, 0, sh->nodes * sizeof(*sh->share_ns));
	memset(sh->class_j, 0, ((size_t)classes + 1) * sizeof(*sh->class_j));
	sh->idle_ns = sh->all_j = 0;
}

/* What the items of the sample have in the end. */
static void items_scale(const struct sample *s, const double *factor, double scale, double *item_j)
{
	for (size_t i = 0; i < s->first[s->n]; i++)
		item_j[i] *= factor[s->items[i].class_id] * scale;
}

/* item_j: [items of the sample] */
static void split_by_power(const struct energy_run *run, const struct job *j,
			   const struct energy_classes *classes, const struct sample *s,
			   const struct sample_data *d, struct power_split *p, double *item_j)
{
	const struct grid_counter *c = &s->grid->counters.v[j->counter];
	CLEANUP(xfreep) double *error_w = xcalloc((size_t)s->leaves + 1, sizeof(*error_w));
	CLEANUP(xfreep) double *leaf_w = leaves_refine(s, c, classes, &p->fit, error_w);
	size_t nodes = p->first_node[p->lanes];
	CLEANUP(xfreep) double *by_node = xcalloc(3 * nodes + 1, sizeof(*by_node));
	CLEANUP(xfreep) fixed128 *class_j = xcalloc((size_t)s->classes + 2, sizeof(*class_j));
	CLEANUP(xfreep) double *by_class = xcalloc(3 * (size_t)s->classes + 6, sizeof(*by_class));
	double *fit_j = by_class + 2 * (size_t)s->classes + 4;
	struct shares sh = { .nodes = nodes,
			     .node_j = by_node,
			     .time_ns = by_node + nodes,
			     .share_ns = by_node + 2 * nodes,
			     .item_j = item_j,
			     .class_j = class_j };
	struct rest r = { .p = p,
			  .sh = &sh,
			  .factor = by_class,
			  .power_w = by_class + s->classes + 2,
			  .leaf_w = leaf_w,
			  .leaf_error_w = error_w,
			  .device = s->view == VIEW_DEVICE };

	p->doubt_j = xcalloc(nodes + 1, sizeof(*p->doubt_j));
	shares_sum(s, d, p, NULL, &sh);
	for (uint32_t k = 0; k <= s->classes; k++)
		fit_j[k] = fixed_value(class_j[k]);
	if (leaf_w) {
		shares_clear(&sh, s->classes);
		shares_sum(s, d, p, leaf_w, &sh);
	}
	factors_set(s, fit_j, &sh, &r);
	split_rest(run, j, classes, s, &r);
	items_scale(s, r.factor, p->scale, item_j);
}

static void timeline_make(struct power_split *p, const struct sample *s,
			  const struct sample_data *d)
{
	CLEANUP(xfreep) double *energy_j = xcalloc((size_t)s->classes + 1, sizeof(*energy_j));

	for (uint32_t c = 0; c < s->classes; c++)
		energy_j[c] = fixed_value(p->class_j[c]) * p->scale;
	power_timeline_make(&p->timeline, s, d, &p->fit, energy_j);
}

static void job_split(const struct energy_run *run, const struct job *j,
		      const struct energy_classes *classes, const struct sample *s,
		      struct power_split *p)
{
	double idle_w = classes->idle_w ? classes->idle_w[j - run->jobs.v] : NAN;
	const struct share_group *t = &run->groups.v[j->domain];
	const struct grid_counter *c = &s->grid->counters.v[j->counter];
	CLEANUP(sample_data_release) struct sample_data d = { 0 };
	CLEANUP(xfreep) double *item_j = xcalloc(s->first[s->n] + 1, sizeof(*item_j));

	p->made = true;
	p->lanes = t->d.lanes.nr;
	p->class_j = xcalloc((size_t)classes->nr + 1, sizeof(*p->class_j));
	p->rest_j = xcalloc((size_t)classes->nr + 1, sizeof(*p->rest_j));
	nodes_number(t, j->grid, p);
	sample_data_make(&d, s, c, idle_w, false);
	power_fit_make(&d.d, &p->fit);
	/* what the sample leaves out may be below 0, of a gauge */
	if (!(live_of(run, j) > 0) && p->fit.used == POWER_USED)
		p->fit.used = POWER_FEW;
	if (p->fit.used == POWER_USED)
		split_by_power(run, j, classes, s, &d, p, item_j);
	else
		split_by_time(run, j, classes, p);
	timeline_make(p, s, &d);
	power_calls_make(p, s, &d, c, &t->d, classes, item_j);
	/* one per part, of no use any more */
	free(p->fit.weight_w);
	p->fit.weight_w = NULL;
}

static void logs_settle(const struct share_group *t)
{
	for (size_t i = 0; i < t->d.lanes.nr * t->d.grids.nr; i++)
		interval_log_settle(&t->accumulators[i].log);
}

static void logs_publish(const struct share_group *t)
{
	for (size_t i = 0; i < t->d.lanes.nr * t->d.grids.nr; i++)
		interval_log_publish(&t->accumulators[i].log);
}

/* The counters of all grids, each with the sample of its grid. */
struct split_work {
	struct energy_run *run;
	const struct energy_classes *classes;
	VEC(struct sample) samples; /* [group][grid], as many as there are */
	VEC(size_t) first;          /* by group */
};

static void samples_make(struct split_work *w)
{
	unsigned level = atomic_load(&w->run->budget.level);

	for (size_t i = 0; i < w->run->groups.nr; i++) {
		const struct share_group *t = &w->run->groups.v[i];

		logs_settle(t);
		VEC_PUSH(&w->first, w->samples.nr);
		for (size_t g = 0; g < t->d.grids.nr; g++) {
			VEC_PUSH(&w->samples, ((struct sample){ 0 }));
			sample_make(&w->samples.v[w->samples.nr - 1], t, g, level, w->classes);
		}
	}
}

static void job_split_one(void *ctx, size_t i, unsigned worker)
{
	struct split_work *w = ctx;
	const struct job *j = &w->run->jobs.v[i];

	(void)worker;
	if (j->domain != DOMAIN_NONE)
		job_split(w->run, j, w->classes, &w->samples.v[w->first.v[j->domain] + j->grid],
			  &w->run->splits.v[i]);
}

void energy_run_split(struct energy_run *run, const struct energy_classes *classes,
		      struct workers *workers)
{
	struct split_work w = { .run = run, .classes = classes };

	if (!energy_run_by_power(run) || run->splits.nr)
		return;
	for (size_t i = 0; i < run->jobs.nr; i++)
		VEC_PUSH(&run->splits, ((struct power_split){ 0 }));
	for (size_t i = 0; i < run->groups.nr; i++)
		logs_publish(&run->groups.v[i]);
	samples_make(&w);
	workers_run(workers, run->jobs.nr, job_split_one, &w);
	for (size_t i = 0; i < w.samples.nr; i++)
		sample_release(&w.samples.v[i]);
	VEC_RELEASE(&w.samples);
	VEC_RELEASE(&w.first);
}

void splits_release(struct energy_run *run)
{
	for (size_t i = 0; i < run->splits.nr; i++) {
		struct power_split *p = &run->splits.v[i];

		power_fit_release(&p->fit);
		power_timeline_release(&p->timeline);
		free(p->first_node);
		free(p->node_j);
		free(p->class_j);
		free(p->rest_j);
		free(p->doubt_j);
		VEC_RELEASE(&p->calls);
	}
	VEC_RELEASE(&run->splits);
}

/* ---- results ---- */

static const struct power_split *split_of(const struct energy_run *run, size_t job)
{
	return job < run->splits.nr && run->splits.v[job].made ? &run->splits.v[job] : NULL;
}

const struct power_fit *energy_run_fit(const struct energy_run *run, size_t job)
{
	const struct power_split *p = split_of(run, job);

	return p ? &p->fit : NULL;
}

const struct power_timeline *energy_run_timeline(const struct energy_run *run, size_t job)
{
	const struct power_split *p = split_of(run, job);

	return p && p->timeline.bins ? &p->timeline : NULL;
}

double energy_run_power_j(const struct energy_run *run, size_t job, size_t lane, uint32_t node)
{
	const struct power_split *p = split_of(run, job);
	size_t place = p ? domain_place(&run->groups.v[run->jobs.v[job].domain].d, lane) : SIZE_MAX;

	if (!p)
		return NAN;
	if (place == SIZE_MAX || node >= p->first_node[place + 1] - p->first_node[place])
		return 0;
	return p->node_j[p->first_node[place] + node];
}

double energy_run_power_idle_j(const struct energy_run *run, size_t job)
{
	const struct power_split *p = split_of(run, job);

	return p ? p->idle_j : NAN;
}

double energy_run_power_attributed_j(const struct energy_run *run, size_t job)
{
	const struct power_split *p = split_of(run, job);
	fixed128 sum = 0;

	for (size_t n = 0; p && n < p->first_node[p->lanes]; n++)
		sum += fixed_from(p->node_j[n]);
	return p ? fixed_value(sum) : NAN;
}

double energy_run_power_doubt_j(const struct energy_run *run, size_t job, size_t lane,
				uint32_t node)
{
	const struct power_split *p = split_of(run, job);
	size_t place = p ? domain_place(&run->groups.v[run->jobs.v[job].domain].d, lane) : SIZE_MAX;

	if (place == SIZE_MAX || !p->doubt_j ||
	    node >= p->first_node[place + 1] - p->first_node[place])
		return 0;
	return p->doubt_j[p->first_node[place] + node] * p->scale;
}

const struct energy_call_value *energy_run_calls(const struct energy_run *run, size_t job,
						 size_t *ret_nr)
{
	const struct power_split *p = split_of(run, job);

	*ret_nr = p ? p->calls.nr : 0;
	return p ? p->calls.v : NULL;
}

double energy_run_power_half_width(const struct energy_run *run, size_t job, uint32_t class_id,
				   double row_j, double doubt_j)
{
	const struct power_split *p = split_of(run, job);
	const struct power_class *k;
	double all, part, more, width_j;

	if (!p || p->fit.used != POWER_USED)
		return NAN;
	k = &p->fit.classes[class_id];
	all = fixed_value(p->class_j[class_id]) * p->scale;
	if (k->energy_j <= 0 || all <= 0)
		return NAN;
	/* one row of several scatters more than its part of the class */
	part = fmin(row_j / all, 1);
	/* calls that were not sampled */
	more = fixed_value(p->rest_j[class_id]) * p->scale / k->energy_j;
	width_j = hypot(k->half_width_j * (all / k->energy_j),
			k->own_width_j * sqrt(more * (1 + more)));
	/* rows of all of a class's time have its power between them */
	return width_j * sqrt(part) + doubt_j * sqrt(1 - part);
}
