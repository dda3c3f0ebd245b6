#include "analyses_private.h"
#include "energy_flags.h"
#include "energy_outside.h"
#include "energy_rows.h"
#include "energy_stream.h"
#include "power_tables.h"
#include "series_label.h"
#include "track_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/workers.h"
#include "profrig/base/xalloc.h"
#include "profrig/energy/power_fit.h"
#include "profrig/model/warnings.h"

#define UNATTRIBUTED "[unattributed]"
#define MAX_ERROR_REL 1e-9

/* clang-format off */
#define ENERGY(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, name) X(U64, calls) \
	X(F64, inclusive_j) X(F64, exclusive_j) X(I64, exclusive_ns) X(F64, mean_w) \
	X(F64, share) X(STR, flags) X(F64, uncertainty_j) X(F64, static_j) X(F64, dynamic_j) \
	X(F64, modelled_j) X(F64, modelled_uncertainty_j) X(F64, modelled_w) X(STR, separable) \
	X(F64, best_j) X(F64, best_uncertainty_j) X(STR, estimate)
/* clang-format on */
TABLE_FORM(energy, ENERGY,
	   "energy of every function (host view) or device operation (device view) of a track by "
	   "counter; the two views are never added; by counter, device and view, then exclusive_j "
	   "descending, [unattributed] last");

/* clang-format off */
#define ENERGY_TOTALS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(F64, total_j) X(F64, attributed_j) \
	X(F64, unattributed_j) X(F64, error_rel) X(STR, flags) X(F64, modelled_j) \
	X(F64, modelled_unattributed_j)
/* clang-format on */
TABLE_FORM(energy_totals, ENERGY_TOTALS,
	   "what each counter counted and where it went: attributed + unattributed = total, "
	   "error_rel at most 1e-9");

/* clang-format off */
#define ENERGY_CALLPATHS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, path) X(U64, depth) \
	X(U64, calls) X(F64, inclusive_j) X(F64, exclusive_j) X(I64, exclusive_ns) X(STR, flags) \
	X(F64, modelled_inclusive_j) X(F64, modelled_j) X(F64, best_inclusive_j) X(F64, best_j) \
	X(STR, estimate)
/* clang-format on */
TABLE_FORM(energy_callpaths, ENERGY_CALLPATHS,
	   "energy of every call path (host view) or device operation (device view) by counter; a "
	   "path after its caller, the dearest first, [unattributed] last");

/* State of adding one (counter, device, view) to the tables. */
struct job {
	const struct series_label *label;
	enum energy_view view;
	struct energy_totals r;
	double idle_w; /* NaN: not known */
	size_t number; /* in the run; SIZE_MAX: it has too few samples, or is not there */
	const struct power_fit *fit; /* NULL: not split by power */
	double power_idle_j;         /* by power, as the next; with dead intervals */
	double power_attributed_j, power_idle_uncertainty_j;
	bool paths_by_power; /* best of all paths; else by time */
};

struct tables {
	struct model *m;
	const struct profile *p;
	const struct energy_opts *o;
	unsigned threads;
	const struct idle_opts *idle;
	struct table_set *out;
	struct table *energy, *totals, *paths;
	struct power_tables power;
	const struct lane_def *lanes;
	struct energy_groups g;
	struct strvec tracks;
	uint32_t *track_place; /* by track: its position in the order */
	/* What was not sampled as a whole, for any counter: of a model calls, else call paths, and
	 * device work by name behind them. */
	uint64_t outside;
	const char *outside_counter;
	bool *outside_path;
	VEC(struct job) jobs;
};

static const char *view_name(enum energy_view view)
{
	return view == VIEW_HOST ? "host" : "device";
}

static struct energy_flags flags_of(const struct tables *ts, const struct job *j)
{
	return (struct energy_flags){ ts->m, ts->o, j->label, &j->r };
}

/* ---- rows ---- */

/* Where a counter is dead in all of a call's exclusive time (a reset), energy is unknown, not 0. */
static bool is_unknown(const struct energy_group *g, const struct energy_value *v)
{
	return v->exclusive_ns == 0 && v->marks & CURVE_DEAD && g->exclusive_ns > 0;
}

/* A single sample gives no energy. */
static double known_j(const struct job *j, double v)
{
	return j->r.flags & CF_SHORT ? NAN : v;
}

static double inclusive_of(const struct energy_group *g, const struct energy_value *v)
{
	double j = sum_value(&v->inclusive_j);

	return j == 0 && is_unknown(g, v) ? NAN : j;
}

static double exclusive_of(const struct energy_group *g, const struct energy_value *v)
{
	return is_unknown(g, v) ? NAN : sum_value(&v->exclusive_j);
}

/* Without the sign that 0 gets from a negative total. */
static double share_of(double j, double total_j)
{
	return total_j == 0 ? NAN : j == 0 ? 0 : j / total_j;
}

static bool is_by_power(const struct job *j)
{
	return j->fit && j->fit->used == POWER_USED;
}

/* A row's time without others on the device. */
#define ALONE 0.99

/*
 * How far a division by time may be off. Its own interval is about what runs before and behind a
 * row, not beside it: it is at least what the division by power says it is, and where others share
 * the device what that leaves open, too.
 */
static double time_width(const struct energy_row *row, double share_ns)
{
	double off_j = fabs(row->exclusive_j - row->modelled_j);

	if (isnan(off_j) || isnan(row->modelled_uncertainty_j))
		return row->uncertainty_j;
	if (share_ns < ALONE * (double)row->exclusive_ns)
		off_j += row->modelled_uncertainty_j;
	return fmax(row->uncertainty_j, off_j);
}

/* The narrower of the two, or the one that was asked for; which follows from the columns. */
static void best_set(const struct tables *ts, const struct job *j, double share_ns,
		     struct energy_row *row)
{
	bool power = is_by_power(j) && !isnan(row->modelled_uncertainty_j) &&
		     (ts->o->estimate == ESTIMATE_POWER ||
		      !(row->modelled_uncertainty_j >= time_width(row, share_ns)));

	row->best_j = power ? row->modelled_j : row->exclusive_j;
	row->best_uncertainty_j = power ? row->modelled_uncertainty_j : row->uncertainty_j;
	row->estimate = isnan(row->best_j) ? "" : power ? "power" : "time";
}

/* Adds a row with the columns of all rows of energy: E = idle power · time + dynamic; the time of a
 * shared device is shared like its energy. */
static void energy_add(const struct tables *ts, const struct job *j, struct energy_row row,
		       double share_ns)
{
	double idle_j = j->idle_w * share_ns * 1e-9;

	best_set(ts, j, share_ns, &row);
	row.counter = j->label->name;
	row.device = j->label->device;
	row.view = view_name(j->view);
	row.static_j = isnan(row.exclusive_j) ? NAN : idle_j;
	row.dynamic_j = row.exclusive_j - idle_j;
	table_add(ts->energy, &row);
}

static double power_of(const struct job *j, const struct energy_group *g,
		       const struct energy_value *v)
{
	return !j->fit || is_unknown(g, v) ? NAN : sum_value(&v->power_j);
}

/* Where powers are not used the division by time stands here, too. */
static double power_uncertainty_of(const struct job *j, const struct energy_value *v)
{
	if (!j->fit)
		return NAN;
	return is_by_power(j) ? v->power_uncertainty_j : v->uncertainty_j;
}

static double uncertainty_of(const struct energy_group *g, const struct energy_value *v)
{
	return is_unknown(g, v) ? NAN : v->uncertainty_j;
}

static double class_power_of(const struct job *j, const struct energy_group *g)
{
	return is_by_power(j) ? j->fit->classes[g->class_id].w : NAN;
}

static const char *separable_of(const struct job *j, const struct energy_group *g)
{
	if (!j->fit)
		return "";
	return is_by_power(j) && j->fit->classes[g->class_id].separable ? "yes" : "no";
}

static void energy_row(const struct tables *ts, const struct job *j, const struct energy_group *g,
		       const struct energy_value *v)
{
	double exclusive = exclusive_of(g, v), s = (double)v->exclusive_ns * 1e-9;
	struct energy_flags of = flags_of(ts, j);
	char flags[ENERGY_FLAGS_MAX];

	energy_flags_row(&of, g, v, flags);
	energy_add(ts, j,
		   (struct energy_row){ .track = ts->tracks.v[g->track],
					.name = model_str(ts->m, g->name),
					.calls = g->calls,
					.inclusive_j = inclusive_of(g, v),
					.exclusive_j = exclusive,
					.exclusive_ns = v->exclusive_ns,
					.mean_w = v->exclusive_ns > 0 ? exclusive / s : NAN,
					.share = share_of(exclusive, j->r.total_j),
					.flags = flags,
					.uncertainty_j = uncertainty_of(g, v),
					.modelled_j = power_of(j, g, v),
					.modelled_uncertainty_j = power_uncertainty_of(j, v),
					.modelled_w = class_power_of(j, g),
					.separable = separable_of(j, g) },
		   sum_value(&v->share_ns));
}

static void widths_add(struct power_widths *w, const struct job *j, const struct energy_group *g,
		       const struct energy_value *v)
{
	struct energy_row row = { .exclusive_j = exclusive_of(g, v),
				  .exclusive_ns = v->exclusive_ns,
				  .uncertainty_j = uncertainty_of(g, v),
				  .modelled_j = power_of(j, g, v),
				  .modelled_uncertainty_j = power_uncertainty_of(j, v) };

	power_widths_add(w, time_width(&row, sum_value(&v->share_ns)), row.modelled_uncertainty_j);
}

/* All paths of a counter and view are of one estimate, so that they add up. */
static bool choose_of_paths(const struct tables *ts, const struct job *j)
{
	struct power_widths w = { .time_j2 = SUM_INIT, .power_j2 = SUM_INIT };

	if (!is_by_power(j) || ts->o->estimate == ESTIMATE_POWER)
		return is_by_power(j);
	for (size_t l = 0; l < ts->g.taken.nr; l++) {
		const struct lane_place *p = &ts->g.places.v[ts->g.taken.v[l]];

		for (size_t i = p->first_row; i < p->first_row + p->rows; i++)
			if (ts->g.rows[i].taken)
				widths_add(&w, j, &ts->g.groups.v[i], &ts->g.rows[i]);
	}
	power_widths_add(&w, known_j(j, j->r.unattributed_uncertainty_j),
			 j->power_idle_uncertainty_j);
	return power_widths_narrower(&w);
}

static void path_add(const struct tables *ts, const struct job *j, struct energy_callpaths_row row)
{
	bool power = j->paths_by_power;

	row.best_inclusive_j = power ? row.modelled_inclusive_j : row.inclusive_j;
	row.best_j = power ? row.modelled_j : row.exclusive_j;
	row.estimate = power ? "power" : "time";
	row.counter = j->label->name;
	row.device = j->label->device;
	row.view = view_name(j->view);
	table_add(ts->paths, &row);
}

static void path_row(const struct tables *ts, const struct job *j, const char *track,
		     const char *path, uint32_t depth, const struct energy_group *g,
		     const struct energy_value *v)
{
	struct energy_flags of = flags_of(ts, j);
	char flags[ENERGY_FLAGS_MAX];

	energy_flags_row(&of, g, v, flags);
	path_add(ts, j,
		 (struct energy_callpaths_row){ .track = track,
						.path = path,
						.depth = depth,
						.calls = g->calls,
						.inclusive_j = inclusive_of(g, v),
						.exclusive_j = exclusive_of(g, v),
						.exclusive_ns = v->exclusive_ns,
						.flags = flags,
						.modelled_inclusive_j =
							j->fit && j->view == VIEW_HOST
								? sum_value(&v->power_inclusive_j)
								: power_of(j, g, v),
						.modelled_j = power_of(j, g, v) });
}

/* Of idle time (host view), or the static power (device view). */
static double base_power_of(const struct tables *ts, const struct job *j)
{
	const struct power_class *base = j->fit ? &j->fit->classes[ts->g.classes] : NULL;

	return is_by_power(j) && base->time_s > 0 ? base->w : NAN;
}

/* Energy without a call or work, in the tables of functions and of paths. */
static void unattributed_rows(const struct tables *ts, const struct job *j)
{
	const struct energy_totals *r = &j->r;
	double idle_j = r->unattributed_j - r->dead_j, idle_s = (double)r->unattributed_ns * 1e-9;
	double known = known_j(j, r->unattributed_j);
	struct energy_flags of = flags_of(ts, j);
	char flags[ENERGY_FLAGS_MAX];

	energy_flags_unattributed(&of, flags);
	energy_add(ts, j,
		   (struct energy_row){ .track = "",
					.name = UNATTRIBUTED,
					.inclusive_j = known,
					.exclusive_j = known,
					.exclusive_ns = r->unattributed_ns,
					.mean_w = r->unattributed_ns > 0 ? idle_j / idle_s : NAN,
					.share = share_of(r->unattributed_j, r->total_j),
					.flags = flags,
					.uncertainty_j = known_j(j, r->unattributed_uncertainty_j),
					.modelled_j = j->power_idle_j,
					.modelled_uncertainty_j = j->power_idle_uncertainty_j,
					.modelled_w = base_power_of(ts, j),
					.separable = "" },
		   r->unattributed_share_ns);
	path_add(ts, j,
		 (struct energy_callpaths_row){ .track = "",
						.path = UNATTRIBUTED,
						.inclusive_j = known,
						.exclusive_j = known,
						.exclusive_ns = r->unattributed_ns,
						.flags = flags,
						.modelled_inclusive_j = j->power_idle_j,
						.modelled_j = j->power_idle_j });
}

static void totals_row(const struct tables *ts, const struct job *j)
{
	const struct energy_totals *r = &j->r;
	struct energy_flags of = flags_of(ts, j);
	char flags[ENERGY_FLAGS_MAX];

	energy_flags_totals(&of, flags);
	table_add(ts->totals,
		  &(struct energy_totals_row){ j->label->name, j->label->device, view_name(j->view),
					       known_j(j, r->total_j), known_j(j, r->attributed_j),
					       known_j(j, r->unattributed_j), r->error_rel, flags,
					       j->power_attributed_j, j->power_idle_j });
}

/* ---- order of rows ---- */

/* Exclusive descending, unknown last; then track, then name. */
static int cmp_rows(const void *pa, const void *pb, void *ctx)
{
	const struct tables *ts = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct energy_group *ga = &ts->g.groups.v[a], *gb = &ts->g.groups.v[b];
	double ja = exclusive_of(ga, &ts->g.rows[a]), jb = exclusive_of(gb, &ts->g.rows[b]);

	if (isnan(ja) != isnan(jb))
		return isnan(ja) ? 1 : -1;
	if (ja > jb || ja < jb)
		return ja > jb ? -1 : 1;
	if (ga->track != gb->track)
		return ts->track_place[ga->track] < ts->track_place[gb->track] ? -1 : 1;
	return strcmp(model_str(ts->m, ga->name), model_str(ts->m, gb->name));
}

static void energy_rows(struct tables *ts, const struct job *j)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	VEC(uint32_t) order = VEC_INIT;

	for (size_t l = 0; l < ts->g.taken.nr; l++) {
		const struct lane_place *p = &ts->g.places.v[ts->g.taken.v[l]];

		for (size_t i = p->first_row; i < p->first_row + p->rows; i++)
			if (ts->g.rows[i].taken)
				VEC_PUSH(&order, (uint32_t)i);
	}
	if (order.nr)
		qsort_r(order.v, order.nr, sizeof(*order.v), cmp_rows, ts);
	for (size_t i = 0; i < order.nr; i++) {
		const struct energy_group *g = &ts->g.groups.v[order.v[i]];
		const struct energy_value *v = &ts->g.rows[order.v[i]];

		energy_row(ts, j, g, v);
		if (j->view != VIEW_DEVICE)
			continue;
		strbuf_clear(&path);
		strbuf_addstr(&path, model_str(ts->m, g->name));
		for (char *p = path.buf; *p; p++)
			*p = *p == ';' ? ':' : *p;
		path_row(ts, j, ts->tracks.v[g->track], path.buf, 0, g, v);
	}
	VEC_RELEASE(&order);
}

static void path_rows_of(struct tables *ts, const struct job *j, const struct lane_place *p)
{
	const struct cct *c = &ts->g.cct;
	CLEANUP(xfreep) double *weight = xcalloc((size_t)p->paths + 1, sizeof(*weight));
	CLEANUP(xfreep) uint32_t *order = NULL;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;

	for (uint32_t i = 0; i < p->paths; i++)
		weight[i] = sum_value(&ts->g.paths[p->first_path + i].inclusive_j);
	order = cct_preorder_of_track(c, p->first_path, p->paths, weight);
	for (uint32_t i = 0; i < p->paths; i++) {
		uint32_t node = order[i];

		if (!ts->g.paths[node].taken)
			continue;
		cct_path(c, node, &path);
		path_row(ts, j, ts->tracks.v[c->nodes[node].track], path.buf, c->nodes[node].depth,
			 &ts->g.of_path[node], &ts->g.paths[node]);
	}
}

static int cmp_lanes(const void *pa, const void *pb, void *ctx)
{
	const struct tables *ts = ctx;
	uint32_t a = ts->track_place[ts->lanes[*(const size_t *)pa].track];
	uint32_t b = ts->track_place[ts->lanes[*(const size_t *)pb].track];

	return (a > b) - (a < b);
}

/* Track by track. */
static void path_rows(struct tables *ts, const struct job *j)
{
	size_t nr = ts->g.taken.nr;
	CLEANUP(xfreep) size_t *lanes = xcalloc(nr + 1, sizeof(*lanes));

	for (size_t i = 0; i < nr; i++)
		lanes[i] = ts->g.taken.v[i];
	qsort_r(lanes, nr, sizeof(*lanes), cmp_lanes, ts);
	for (size_t i = 0; i < nr; i++)
		path_rows_of(ts, j, &ts->g.places.v[lanes[i]]);
}

/* ---- one job ---- */

static double power_error_rel(const struct job *j)
{
	double sum_j = j->power_attributed_j + j->power_idle_j, total_j = j->r.total_j;

	return !j->fit || total_j == 0 ? 0 : fabs((sum_j - total_j) / total_j);
}

static void job_check(const struct tables *ts, const struct job *j)
{
	const struct energy_totals *r = &j->r;
	double power_rel = power_error_rel(j);
	CLEANUP(xfreep)
	char *name =
		xasprintf("energy conservation %s%s%s %s", j->label->name,
			  j->label->device[0] ? " " : "", j->label->device, view_name(j->view));

	table_set_check(ts->out, name, r->error_rel <= MAX_ERROR_REL && power_rel <= MAX_ERROR_REL,
			"error_rel %.3g, by power %.3g: total %.9g J, attributed %.9g J, "
			"unattributed %.9g J%s",
			r->error_rel, power_rel, r->total_j, r->attributed_j, r->unattributed_j,
			ts->o->independent ? " (every sharer gets all)" : "");
}

static void note_outside_calls(struct tables *ts, const struct energy_stream *es)
{
	struct sampled_jobs jobs = { VEC_INIT };

	for (size_t i = 0; i < ts->jobs.nr; i++) {
		const struct job *j = &ts->jobs.v[i];

		if (j->number != SIZE_MAX)
			VEC_PUSH(&jobs.v,
				 ((struct sampled_job){ j->number,
							j->label->name,
							{ j->r.first_ns, j->r.last_ns } }));
	}
	ts->outside +=
		energy_calls_outside(ts->m, &ts->g, ts->lanes, es ? energy_stream_run(es) : NULL,
				     &jobs, &ts->outside_counter);
	VEC_RELEASE(&jobs.v);
}

/* Paths of the host view, rows of the device view. */
static void note_outside_paths(struct tables *ts, const struct job *j)
{
	bool host = j->view == VIEW_HOST;
	const struct energy_value *v = host ? ts->g.paths : ts->g.rows;
	bool *seen = ts->outside_path + (host ? 0 : ts->g.cct.nr);

	for (size_t l = 0; l < ts->g.taken.nr; l++) {
		const struct lane_place *p = &ts->g.places.v[ts->g.taken.v[l]];
		size_t first = host ? p->first_path : p->first_row;

		for (size_t i = first; i < first + (host ? p->paths : p->rows); i++) {
			if (!(v[i].own_marks & SPAN_OUTSIDE))
				continue;
			ts->outside += !seen[i];
			seen[i] = true;
			if (!ts->outside_counter)
				ts->outside_counter = j->label->name;
		}
	}
}

/* The machine is idle outside of the windows that a trace was cut to. */
static double idle_of(const struct tables *ts, const struct job *j, const struct curve *c)
{
	const struct series_label *l = j->label;
	CLEANUP(curve_release) struct curve all = { 0 };
	struct energy_opts whole = *ts->o;

	if (!c || !ts->m->windows.nr)
		return c ? idle_level_w(ts->m, l->series, &l->info, c, ts->idle) : NAN;
	whole.whole = true;
	if (curve_make(ts->m, l->series, &l->info, &whole, &all, NULL) < 0)
		return NAN;
	return idle_level_w(ts->m, l->series, &l->info, &all, ts->idle);
}

static void collect_power(const struct tables *ts, const struct energy_run *run, size_t number,
			  struct job *j)
{
	j->fit = energy_run_fit(run, number);
	j->power_idle_j = energy_run_power_idle_j(run, number) + j->r.dead_j;
	j->power_attributed_j = energy_run_power_attributed_j(run, number);
	j->power_idle_uncertainty_j =
		!is_by_power(j) ? j->fit ? j->r.unattributed_uncertainty_j : NAN
				: energy_run_power_half_width(run, number, ts->g.classes,
							      j->power_idle_j - j->r.dead_j, 0);
	j->paths_by_power = choose_of_paths(ts, j);
}

static void power_rows(struct tables *ts, const struct energy_run *run, size_t number,
		       const struct job *j)
{
	struct power_key key = { j->label->name, j->label->device, view_name(j->view) };
	struct energy_flags flags = flags_of(ts, j);
	size_t nr;
	const struct energy_call_value *calls = energy_run_calls(run, number, &nr);

	power_tables_add(&ts->power, &key, j->r.taken ? j->fit : NULL,
			 energy_run_timeline(run, number));
	power_tables_calls(&ts->power, &key, &flags, calls, nr);
}

static void collect_job(struct tables *ts, const struct energy_run *run, size_t number,
			struct job *j)
{
	const struct curve *c = energy_run_curve(run, number);

	energy_run_job(run, number, &j->r);
	j->number = j->r.flags & CF_SHORT ? SIZE_MAX : number;
	j->idle_w = idle_of(ts, j, c);
	if (!j->r.taken && !(j->r.flags & CF_SHORT))
		model_warn(ts->m, ts->m->series.v[j->label->series].input, W_NO_SHARER, 1,
			   "%s: nothing in the %s view", j->label->name, view_name(j->view));
	energy_collect(&ts->g, run, number);
	collect_power(ts, run, number, j);
	if (!ts->p->of_model)
		note_outside_paths(ts, j);
	energy_rows(ts, j);
	if (j->view == VIEW_HOST)
		path_rows(ts, j);
	unattributed_rows(ts, j);
	totals_row(ts, j);
	power_rows(ts, run, number, j);
	if (!(j->r.flags & CF_SHORT))
		job_check(ts, j);
}

/* ---- tables ---- */

static void tables_prepare(struct tables *ts)
{
	struct model *m = ts->m;
	CLEANUP(xfreep) track_id *order = track_order(m);

	track_names(m, &ts->tracks);
	ts->track_place = xcalloc(m->tracks.nr + 1, sizeof(*ts->track_place));
	for (uint32_t i = 0; i < m->tracks.nr; i++)
		ts->track_place[order[i]] = i;
	ts->energy = table_make(&energy_form);
	ts->totals = table_make(&energy_totals_form);
	ts->paths = table_make(&energy_callpaths_form);
}

static void tables_finish(struct tables *ts)
{
	if (ts->outside > 0)
		model_warn(ts->m, UINT32_MAX, W_OUTSIDE_SAMPLES, ts->outside,
			   "%s outside the sampled time, first met for %s",
			   ts->p->of_model ? "calls" : "call paths", ts->outside_counter);
	if (ts->o->independent)
		model_warn(ts->m, UINT32_MAX, W_DOUBLE_COUNTING, 1, "independent attribution");
	if (table_rows(ts->totals) > 0) {
		table_set_add(ts->out, STEAL(ts->energy));
		table_set_add(ts->out, STEAL(ts->totals));
		table_set_add(ts->out, STEAL(ts->paths));
		power_tables_put(&ts->power, ts->out);
	}
	power_tables_release(&ts->power);
	table_free(ts->energy);
	table_free(ts->totals);
	table_free(ts->paths);
	energy_groups_release(&ts->g);
	strvec_release(&ts->tracks);
	VEC_RELEASE(&ts->jobs);
	free(ts->track_place);
	free(ts->outside_path);
}

static bool any_energy(const struct model *m, const struct series_label *labels)
{
	for (size_t i = 0; i < m->series.nr; i++) {
		if (counter_is_energy(&labels[i].info))
			return true;
	}
	return false;
}

/* The label of every series, by its id. */
static void jobs_label(struct tables *ts, const struct series_label *labels,
		       const struct energy_jobs *what)
{
	CLEANUP(xfreep) size_t *of_series = xcalloc(ts->m->series.nr + 1, sizeof(*of_series));

	for (size_t i = 0; i < ts->m->series.nr; i++)
		of_series[labels[i].series] = i;
	for (size_t i = 0; i < what->v.nr; i++)
		VEC_PUSH(&ts->jobs, (struct job){ .label = &labels[of_series[what->v.v[i].series]],
						  .view = what->v.v[i].view,
						  .number = SIZE_MAX });
}

/* Warns of counters that the stream did not know in time. */
static void say_missing(struct tables *ts, const struct energy_stream *es, const struct job *j)
{
	struct energy_job what = { j->label->series, j->view };

	if (!es || energy_stream_job(es, &what) == SIZE_MAX)
		model_warn(ts->m, ts->m->series.v[j->label->series].input, W_NOT_IN_PROFILE, 1,
			   "energy of %s: its samples are not in locations of their own",
			   j->label->name);
}

static size_t job_number(const struct energy_stream *es, const struct job *j)
{
	struct energy_job what = { j->label->series, j->view };

	return es ? energy_stream_job(es, &what) : SIZE_MAX;
}

static void split_stream(const struct tables *ts, const struct energy_stream *es)
{
	size_t jobs = energy_stream_jobs(es);
	CLEANUP(workers_freep) struct workers *workers = workers_new(ts->threads);
	CLEANUP(xfreep) double *idle_w = xcalloc(jobs + 1, sizeof(*idle_w));
	struct energy_classes classes = { .nr = ts->g.classes,
					  .of = ts->g.class_of,
					  .leaves = ts->g.leaves,
					  .leaf_of = ts->g.leaf_of,
					  .class_of_leaf = ts->g.class_of_leaf,
					  .idle_w = idle_w,
					  .calls = ts->g.calls.v,
					  .nr_calls = ts->g.calls.nr,
					  .parent_of = ts->g.parent_of,
					  .nodes_of = ts->g.nodes_of };

	for (size_t i = 0; i < jobs; i++)
		idle_w[i] = NAN;
	for (size_t i = 0; i < ts->jobs.nr; i++) {
		const struct job *j = &ts->jobs.v[i];
		size_t n = job_number(es, j);

		if (n != SIZE_MAX)
			idle_w[n] = idle_of(ts, j, energy_run_curve(energy_stream_run(es), n));
	}
	energy_stream_split(es, &classes, workers);
}

static void collect_stream(struct tables *ts, const struct energy_stream *es)
{
	if (es && energy_stream_run(es))
		split_stream(ts, es);
	for (size_t i = 0; i < ts->jobs.nr; i++) {
		struct job *j = &ts->jobs.v[i];
		size_t number = job_number(es, j);

		if (number != SIZE_MAX)
			collect_job(ts, energy_stream_run(es), number, j);
		else if (j->view == VIEW_HOST)
			say_missing(ts, es, j);
	}
}

static void lanes_take(struct tables *ts, const struct energy_stream *es)
{
	size_t nr = 0;

	if (es)
		ts->lanes = energy_stream_lanes(es, &nr);
	energy_groups_make(ts->p, ts->lanes, nr, &ts->g);
	power_tables_make(&ts->power, ts->m, &ts->g, &ts->tracks);
	ts->outside_path = xcalloc(ts->g.cct.nr + ts->g.groups.nr + 1, sizeof(*ts->outside_path));
}

static int energy_tables_run(const struct profile *p, const struct analysis_opts *o,
			     struct table_set *out, struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(p->m);
	struct tables ts = { .m = p->m,
			     .p = p,
			     .o = &o->energy,
			     .threads = o->threads,
			     .idle = &o->idle,
			     .out = out,
			     .tracks = STRVEC_INIT };
	struct energy_jobs what = { VEC_INIT };

	(void)err;
	if (!any_energy(p->m, labels))
		return 0;
	tables_prepare(&ts);
	lanes_take(&ts, o->stream);
	energy_jobs_find(p->m, labels, &o->energy, &what);
	jobs_label(&ts, labels, &what);
	VEC_RELEASE(&what.v);
	collect_stream(&ts, o->stream);
	if (p->of_model)
		note_outside_calls(&ts, o->stream);
	tables_finish(&ts);
	return 0;
}

const struct analysis analysis_energy = {
	.name = "energy",
	.about = "energy and integrated power attributed to functions, call paths and device work",
	.nothing = "no counter of energy or power was sampled, or nothing ran beside it",
	.tables = { &energy_form, &energy_totals_form, &energy_callpaths_form, &energy_fit_form,
		    &power_timeline_form, &energy_calls_form },
	.of_profile = energy_tables_run,
};
