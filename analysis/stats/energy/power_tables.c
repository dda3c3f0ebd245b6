#include "power_tables.h"

#include <math.h>

#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

void power_tables_make(struct power_tables *t, const struct model *m, const struct energy_groups *g,
		       const struct strvec *tracks)
{
	*t = (struct power_tables){ .m = m,
				    .g = g,
				    .tracks = tracks,
				    .classes = g->classes,
				    .names = xcalloc((size_t)g->classes + 1, sizeof(*t->names)),
				    .fits = table_make(&energy_fit_form),
				    .timeline = table_make(&power_timeline_form),
				    .calls = table_make(&energy_calls_form) };
	for (size_t i = 0; i < g->groups.nr; i++)
		t->names[g->groups.v[i].class_id] = g->groups.v[i].name;
}

void power_tables_release(struct power_tables *t)
{
	table_free(t->fits);
	table_free(t->timeline);
	table_free(t->calls);
	free(t->names);
	*t = (struct power_tables){ 0 };
}

static void fit_add(struct power_tables *t, const struct power_key *k, const struct power_fit *f)
{
	uint64_t classes = 0;

	for (uint32_t c = 0; c <= t->classes; c++)
		classes += f->classes[c].time_s > 0;
	table_add(t->fits,
		  &(struct energy_fit_row){ k->counter, k->device, k->view, f->intervals, classes,
					    f->explained, f->residual_w, f->rounds, f->lag1,
					    power_used_name(f->used), f->lag_s, f->windows });
}

static const char *column_name(const struct power_tables *t, const struct power_timeline *timeline,
			       size_t c)
{
	if (c < timeline->shown)
		return model_str(t->m, t->names[timeline->classes[c]]);
	return c == timeline->shown ? "[other]" : "[unattributed]";
}

static void timeline_add(struct power_tables *t, const struct power_key *k,
			 const struct power_timeline *timeline)
{
	for (size_t i = 0; i < timeline->bins * timeline->columns; i++) {
		size_t bin = i / timeline->columns;
		int64_t t_ns = timeline->from_ns + (int64_t)bin * timeline->bin_ns;

		if (timeline->w[i] > 0)
			table_add(t->timeline,
				  &(struct power_timeline_row){
					  k->counter, k->device, k->view,
					  column_name(t, timeline, i % timeline->columns),
					  t_ns - t->m->first_ns, timeline->bin_ns,
					  timeline->w[i] });
	}
}

void power_tables_add(struct power_tables *t, const struct power_key *k, const struct power_fit *f,
		      const struct power_timeline *timeline)
{
	if (f)
		fit_add(t, k, f);
	if (timeline)
		timeline_add(t, k, timeline);
}

/* ---- single calls ---- */

/* The narrower of the two, or the one that was asked for. */
static void call_best(struct energy_calls_row *row, enum energy_estimate estimate)
{
	bool power = !isnan(row->modelled_uncertainty_j) &&
		     (estimate == ESTIMATE_POWER ||
		      !(row->modelled_uncertainty_j >= row->uncertainty_j));

	row->best_j = power ? row->modelled_j : row->inclusive_j;
	row->best_uncertainty_j = power ? row->modelled_uncertainty_j : row->uncertainty_j;
	row->estimate = power ? "power" : "time";
}

void power_tables_calls(struct power_tables *t, const struct power_key *k,
			const struct energy_flags *of, const struct energy_call_value *v, size_t nr)
{
	char flags[ENERGY_FLAGS_MAX];

	for (size_t i = 0; i < nr; i++) {
		const struct energy_call *c = &t->g->calls.v[v[i].call];
		size_t node = t->g->places.v[c->lane].first_node + c->node;
		const struct energy_group *g = &t->g->groups.v[t->g->nodes.v[node].group];
		struct energy_calls_row row = { .counter = k->counter,
						.device = k->device,
						.view = k->view,
						.track = t->tracks->v[g->track],
						.name = model_str(t->m, g->name),
						.start_ns = c->start_ns - t->m->first_ns,
						.duration_ns = c->end_ns - c->start_ns,
						.inclusive_j = v[i].time_j,
						.uncertainty_j = v[i].time_half_width_j,
						.modelled_j = v[i].power_j,
						.modelled_uncertainty_j = v[i].power_half_width_j,
						.covered = v[i].covered };

		call_best(&row, of->o->estimate);
		row.mean_w = row.best_j / ((double)v[i].live_ns * 1e-9);
		energy_flags_call(of, v[i].marks, flags);
		row.flags = flags;
		table_add(t->calls, &row);
	}
}

void power_tables_put(struct power_tables *t, struct table_set *to)
{
	if (table_rows(t->fits))
		table_set_add(to, STEAL(t->fits));
	if (table_rows(t->timeline))
		table_set_add(to, STEAL(t->timeline));
	if (table_rows(t->calls))
		table_set_add(to, STEAL(t->calls));
}

void power_widths_add(struct power_widths *w, double time_j, double power_j)
{
	w->time += !isnan(time_j);
	w->power += !isnan(power_j);
	if (isnan(time_j) || isnan(power_j))
		return;
	sum_add(&w->time_j2, time_j * time_j);
	sum_add(&w->power_j2, power_j * power_j);
}

bool power_widths_narrower(const struct power_widths *w)
{
	double time_j2 = sum_value(&w->time_j2), power_j2 = sum_value(&w->power_j2);

	if (power_j2 < time_j2 || time_j2 < power_j2)
		return power_j2 < time_j2;
	return w->power > w->time;
}
