#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/library/library_log.h"
#include "profrig/model/sink.h"

#define BINS 400
#define POWER_BINS 60
#define POWER_NAMES 12

/* The columns of each table, as an analysis writes them. */
/* clang-format off */
#define CALLPATHS(X) \
	X(STR, track) X(STR, path) X(I64, depth) X(U64, calls) X(I64, inclusive_ns) \
	X(I64, exclusive_ns) X(I64, device_inclusive_ns) X(I64, device_exclusive_ns) \
	X(STR, category)
TABLE_FORM(callpaths, CALLPATHS, "one call path of one track");
#define BUSY(X) \
	X(STR, device) X(U64, spans) X(I64, sum_ns) X(I64, union_ns) X(I64, wall_ns) \
	X(F64, busy) X(I64, idle_ns) X(U64, max_concurrency)
TABLE_FORM(busy, BUSY, "one device");
#define KERNELS(X) \
	X(STR, device) X(STR, name) X(STR, class) X(U64, calls) X(I64, total_ns) X(I64, min_ns) \
	X(F64, mean_ns) X(F64, median_ns) X(I64, max_ns) X(F64, stddev_ns) X(F64, share)
TABLE_FORM(kernels, KERNELS, "device work of one name on one device");
#define COUNTERS(X) \
	X(STR, series) X(STR, device) X(STR, kind) X(STR, unit) X(F64, scale) X(U64, samples) \
	X(U64, distinct) X(I64, first_ns) X(I64, last_ns) X(F64, first) X(F64, last) \
	X(F64, min) X(F64, max) X(F64, mean) X(F64, total) X(STR, total_unit) \
	X(I64, max_gap_ns) X(I64, median_period_ns) X(STR, flags)
TABLE_FORM(counters, COUNTERS, "one sampled series");
#define ENERGY(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, name) X(U64, calls) \
	X(F64, inclusive_j) X(F64, exclusive_j) X(I64, exclusive_ns) X(F64, mean_w) \
	X(F64, share) X(STR, flags) X(F64, uncertainty_j) X(F64, modelled_j) \
	X(F64, modelled_uncertainty_j) X(F64, modelled_w) X(STR, separable) X(F64, best_j) \
	X(F64, best_uncertainty_j) X(STR, estimate)
TABLE_FORM(energy, ENERGY, "energy of one function on one track");
#define ENERGY_TOTALS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(F64, total_j) X(F64, attributed_j) \
	X(F64, unattributed_j) X(F64, error_rel)
TABLE_FORM(energy_totals, ENERGY_TOTALS, "one counter on one device");
#define ENERGY_FIT(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(U64, intervals) X(U64, classes) \
	X(F64, explained) X(F64, residual_w) X(U64, rounds) X(F64, lag1) X(STR, used) \
	X(F64, lag_s) X(U64, windows)
TABLE_FORM(energy_fit, ENERGY_FIT, "how well powers explain a counter");
#define POWER_TIMELINE(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, name) X(I64, t_ns) X(I64, dt_ns) \
	X(F64, modelled_w)
TABLE_FORM(power_timeline, POWER_TIMELINE, "modelled power of one name in one bin");
#define ENERGY_CALLS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, name) X(I64, start_ns) \
	X(I64, duration_ns) X(F64, inclusive_j) X(F64, uncertainty_j) X(F64, modelled_j) \
	X(F64, modelled_uncertainty_j) X(F64, best_j) X(F64, best_uncertainty_j) X(STR, estimate) \
	X(F64, mean_w) X(F64, covered) X(STR, flags)
TABLE_FORM(energy_calls, ENERGY_CALLS, "energy of one call");
#define ENERGY_CALLPATHS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, path) X(I64, depth) \
	X(U64, calls) X(F64, inclusive_j) X(F64, exclusive_j) X(I64, exclusive_ns) \
	X(STR, flags) X(F64, modelled_inclusive_j) X(F64, modelled_j) X(F64, best_inclusive_j) \
	X(F64, best_j) X(STR, estimate)
TABLE_FORM(energy_callpaths, ENERGY_CALLPATHS, "energy of one call path");
#define TIMELINE(X) \
	X(STR, series) X(STR, device) X(STR, unit) X(STR, kind) X(I64, t_ns) X(I64, dt_ns) \
	X(F64, mean) X(F64, min) X(F64, max)
TABLE_FORM(timeline, TIMELINE, "one bin of one series");
#define FUNCTIONS(X) \
	X(STR, scope) X(STR, name) X(STR, category) X(U64, calls) X(I64, inclusive_ns) \
	X(I64, exclusive_ns) X(I64, min_ns) X(F64, mean_ns) X(F64, median_ns) X(F64, p95_ns) \
	X(I64, max_ns) X(F64, stddev_ns) X(F64, share)
TABLE_FORM(functions, FUNCTIONS, "one function");
/* clang-format on */

void fx_add(struct report *r, struct table *t)
{
	VEC_PUSH(&r->tables.tables, t);
}

struct table *fx_find(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->tables.tables.nr; i++)
		if (strcmp(table_name(r->tables.tables.v[i]), name) == 0)
			return r->tables.tables.v[i];
	return NULL;
}

static int64_t inclusive(const struct fx_call *c, size_t n, size_t at, bool device)
{
	int64_t sum = device ? c[at].device_ns : c[at].own_ns;

	for (size_t i = at + 1; i < n && c[i].depth > c[at].depth; i++)
		sum += device ? c[i].device_ns : c[i].own_ns;
	return sum;
}

static void path_of(const struct fx_call *c, size_t at, struct strbuf *sb)
{
	const char *names[64];
	int depth = c[at].depth;

	strbuf_clear(sb);
	for (size_t i = at + 1; i-- > 0 && depth >= 0;)
		if (c[i].depth == depth)
			names[depth--] = c[i].name;
	for (int d = 0; d <= c[at].depth; d++)
		strbuf_addf(sb, "%s%s", d ? ";" : "", names[d]);
}

void fx_calls(struct report *r, const char *const *tracks, const struct fx_call *calls, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	struct table *t = table_make(&callpaths_form);

	for (size_t k = 0; tracks[k]; k++) {
		for (size_t i = 0; i < n; i++) {
			/* Later tracks do a little less of everything. */
			int64_t part = k == 0 ? 1 : 4 + (int64_t)k;

			path_of(calls, i, &path);
			table_add(t, &(struct callpaths_row){
					     tracks[k], path.buf, calls[i].depth, calls[i].calls,
					     inclusive(calls, n, i, false) / part,
					     calls[i].own_ns / part,
					     inclusive(calls, n, i, true) / part,
					     calls[i].device_ns / part, calls[i].category });
		}
	}
	fx_add(r, t);
}

static void add_busy(struct report *r, const struct fx_kernel *k, size_t n)
{
	struct table *t = table_make(&busy_form);

	for (size_t i = 0; i < n; i++) {
		int64_t sum = 0, wall = FX_SPAN_NS - 1400000000;
		uint64_t spans = 0;

		if (i > 0 && strcmp(k[i].device, k[i - 1].device) == 0)
			continue;
		for (size_t j = i; j < n && strcmp(k[j].device, k[i].device) == 0; j++) {
			sum += k[j].total_ns;
			spans += k[j].calls;
		}
		int64_t covered = sum - sum / 50;
		table_add(t,
			  &(struct busy_row){ k[i].device, spans, sum, covered, wall,
					      (double)covered / (double)wall, wall - covered, 2 });
	}
	fx_add(r, t);
}

void fx_kernels(struct report *r, const struct fx_kernel *k, size_t n)
{
	struct table *t = table_make(&kernels_form);

	for (size_t i = 0; i < n; i++) {
		double mean = (double)k[i].total_ns / (double)k[i].calls, sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += strcmp(k[j].device, k[i].device) == 0 ? (double)k[j].total_ns : 0;
		table_add(t, &(struct kernels_row){ k[i].device, k[i].name, k[i].class, k[i].calls,
						    k[i].total_ns, (int64_t)(0.8 * mean), mean,
						    0.97 * mean, (int64_t)(2.3 * mean), 0.11 * mean,
						    (double)k[i].total_ns / sum });
	}
	fx_add(r, t);
	add_busy(r, k, n);
}

static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

/* Watts that a call or a kernel draws: always the same for the same name. */
static double watts(const char *name, const struct fx_counter *c)
{
	return c->low + (c->high - c->low) * (0.3 + 0.7 * (hash_of(name) % 1000) / 1000.0);
}

static const char *last_name(const char *path)
{
	const char *name = strrchr(path, ';');

	return name ? name + 1 : path;
}

struct energy_tables {
	struct table *energy, *totals, *paths, *fits;
};

/* The first counter is divided by power, the others are not. */
static void power_cells(const struct fx_counter *c, const char *name, double w,
			struct energy_row *row)
{
	bool power = strcmp(c->device, "gpu0") == 0, wide = strlen(name) % 3 == 0;
	double excl = row->exclusive_j;

	row->modelled_j = power ? excl * (wide ? 1.25 : 0.9) : excl;
	row->modelled_uncertainty_j = power ? excl * (wide ? 0.03 : 0.01) : row->uncertainty_j;
	row->modelled_w = power ? w * 0.9 : NAN;
	row->separable = power && !wide ? "yes" : "no";
	row->estimate = power && !wide ? "power" : "time";
	row->best_j = power && !wide ? row->modelled_j : excl;
	row->best_uncertainty_j = power && !wide ? row->modelled_uncertainty_j : row->uncertainty_j;
}

static void fit_row(struct table *t, const struct fx_counter *c, const char *view)
{
	bool power = strcmp(c->device, "gpu0") == 0;

	table_add(t, &(struct energy_fit_row){ c->series, c->device, view, 1239, 33,
					       power ? 0.943 : 0.004, power ? 12.5 : 80, 17, 0.12,
					       power ? "power" : "poor", 0.0004, 1 });
}

/* By power calls get a tenth less, what no call covers gets it. */
static void path_row(struct table *t, struct energy_callpaths_row row, double total)
{
	bool power = strcmp(row.device, "gpu0") == 0, lost = !*row.track;
	double excl = row.exclusive_j, incl = row.inclusive_j;

	row.modelled_j = !power ? excl : lost ? excl + 0.1 * (total - excl) : 0.9 * excl;
	row.modelled_inclusive_j = !power || lost ? row.modelled_j : 0.9 * incl;
	row.best_j = row.modelled_j;
	row.best_inclusive_j = power ? row.modelled_inclusive_j : incl;
	row.estimate = power ? "power" : "time";
	table_add(t, &row);
}

static void energy_row(struct table *t, const struct fx_counter *c, const char *view,
		       const char *track, const char *name, int64_t depth, uint64_t calls,
		       double incl, double excl, int64_t ns, double total, const char *flags)
{
	double w = ns > 0 ? excl / ((double)ns / 1e9) : NAN;

	if (depth >= 0)
		path_row(t,
			 (struct energy_callpaths_row){ .counter = c->series,
							.device = c->device,
							.view = view,
							.track = track,
							.path = name,
							.depth = depth,
							.calls = calls,
							.inclusive_j = incl,
							.exclusive_j = excl,
							.exclusive_ns = ns,
							.flags = flags },
			 total);
	else {
		struct energy_row row = {
			.counter = c->series,
			.device = c->device,
			.view = view,
			.track = track,
			.name = name,
			.calls = calls,
			.inclusive_j = incl,
			.exclusive_j = excl,
			.exclusive_ns = ns,
			.mean_w = w,
			.share = total > 0 ? excl / total : NAN,
			.flags = flags,
			.uncertainty_j = c->flags[0] ? NAN : excl * 0.02,
		};

		power_cells(c, name, w, &row);
		table_add(t, &row);
	}
}

static void totals_row(struct table *t, const struct fx_counter *c, const char *view, double total,
		       double attributed, double unattributed)
{
	table_add(t, &(struct energy_totals_row){
			     c->series, c->device, view, total, attributed, unattributed,
			     fabs(total - attributed - unattributed) / total });
}

/* The energy table has one row per function of a track: what its call paths add up to. */
static void host_functions(const struct table *p, const double *own, const double *incl,
			   const struct fx_counter *c, struct energy_tables *e, double total)
{
	for (size_t i = 0; i < table_rows(p); i++) {
		const char *name = last_name(table_get_str(p, i, 1));
		double j_own = 0, j_incl = 0;
		uint64_t calls = 0;
		int64_t ns = 0;
		bool first = true;

		for (size_t k = 0; k < table_rows(p); k++) {
			if (strcmp(table_get_str(p, k, 0), table_get_str(p, i, 0)) != 0 ||
			    strcmp(last_name(table_get_str(p, k, 1)), name) != 0)
				continue;
			first &= k >= i;
			j_own += own[k];
			j_incl += incl[k];
			calls += table_get_u64(p, k, 3);
			ns += table_get_i64(p, k, 5);
		}
		if (first)
			energy_row(e->energy, c, "host", table_get_str(p, i, 0), name, -1, calls,
				   j_incl, j_own, ns, total,
				   c->flags[0]     ? c->flags
				   : ns < 30000000 ? "below_resolution"
						   : "");
	}
}

static void host_energy(struct report *r, const struct fx_counter *c, struct energy_tables *e)
{
	struct table *p = fx_find(r, "callpaths");
	double attributed = 0, unattributed = c->low * (double)FX_SPAN_NS / 1e9 * 0.2, total;
	double *own, *incl;

	if (!p)
		return;
	own = xcalloc(table_rows(p), sizeof(*own));
	incl = xcalloc(table_rows(p), sizeof(*incl));
	for (size_t i = 0; i < table_rows(p); i++) {
		own[i] = (double)table_get_i64(p, i, 5) / 1e9 *
			 watts(last_name(table_get_str(p, i, 1)), c);
		attributed += own[i];
	}
	total = attributed + unattributed;
	for (size_t i = 0; i < table_rows(p); i++) {
		int64_t ns = table_get_i64(p, i, 5), depth = table_get_i64(p, i, 2);

		incl[i] = own[i];
		for (size_t j = i + 1; j < table_rows(p) && table_get_i64(p, j, 2) > depth; j++)
			incl[i] += own[j];
		energy_row(e->paths, c, "host", table_get_str(p, i, 0), table_get_str(p, i, 1),
			   depth, table_get_u64(p, i, 3), incl[i], own[i], ns, total, c->flags);
	}
	host_functions(p, own, incl, c, e, total);
	energy_row(e->paths, c, "host", "", "[unattributed]", 0, 0, unattributed, unattributed, 0,
		   total, "idle");
	energy_row(e->energy, c, "host", "", "[unattributed]", -1, 0, unattributed, unattributed, 0,
		   total, "idle");
	totals_row(e->totals, c, "host", total, attributed, unattributed);
	free(own);
	free(incl);
}

static void device_energy(struct report *r, const struct fx_counter *c, struct energy_tables *e)
{
	struct table *k = fx_find(r, "kernels");
	double attributed = 0, total = 0;
	bool any = false;

	/* The counter says the same in both views: what the host view made it say. */
	for (size_t i = 0; i < table_rows(e->totals); i++)
		if (strcmp(table_get_str(e->totals, i, 0), c->series) == 0)
			total = table_get_f64(e->totals, i, 3);
	for (size_t i = 0; k && i < table_rows(k); i++) {
		double j = (double)table_get_i64(k, i, 4) / 1e9 * watts(table_get_str(k, i, 1), c) *
			   0.8;

		if (strcmp(table_get_str(k, i, 0), c->device) != 0)
			continue;
		any = true;
		attributed += j;
		energy_row(e->energy, c, "device", c->device, table_get_str(k, i, 1), -1,
			   table_get_u64(k, i, 3), j, j, table_get_i64(k, i, 4), total, c->flags);
		energy_row(e->paths, c, "device", c->device, table_get_str(k, i, 1), 0,
			   table_get_u64(k, i, 3), j, j, table_get_i64(k, i, 4), total, c->flags);
	}
	if (!any)
		return;
	energy_row(e->energy, c, "device", "", "[unattributed]", -1, 0, total - attributed,
		   total - attributed, 0, total, "idle");
	energy_row(e->paths, c, "device", "", "[unattributed]", 0, 0, total - attributed,
		   total - attributed, 0, total, "idle");
	totals_row(e->totals, c, "device", total, attributed, total - attributed);
}

/* A plausible load: idle, a rise, epochs, a fall. */
static double wave(const struct fx_counter *c, size_t bin)
{
	double x = (double)bin / BINS;
	double load =
		x < 0.06 ? x / 0.06 * 0.2
		: x > 0.93
			? (1 - x) * 2
			: 0.72 + 0.22 * sin(x * 40) +
				  0.05 * ((hash_of(c->series) + (uint32_t)bin * 2654435761u) % 97) /
					  97.0;

	return c->low + (c->high - c->low) * fmin(1, fmax(0, load));
}

struct named {
	const char *name;
	double j;
};
typedef VEC(struct named) named_energies;

static int by_energy(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return a->j < b->j ? 1 : a->j > b->j ? -1 : strcmp(a->name, b->name);
}

static void put_energy(named_energies *v, const char *name, double j)
{
	for (size_t i = 0; i < v->nr; i++) {
		if (strcmp(v->v[i].name, name) == 0) {
			v->v[i].j += j;
			return;
		}
	}
	VEC_PUSH(v, ((struct named){ name, j }));
}

/* The names with the most energy, then [other] and [unattributed]. */
static void power_names(const struct table *energy, const struct fx_counter *c, const char *view,
			named_energies *v)
{
	double idle = 0, other = 0;

	for (size_t i = 0; i < table_rows(energy); i++) {
		const char *name = table_get_str(energy, i, 4);
		double j = table_get_f64(energy, i, 7);

		if (strcmp(table_get_str(energy, i, 0), c->series) != 0 ||
		    strcmp(table_get_str(energy, i, 2), view) != 0)
			continue;
		if (strcmp(name, "[unattributed]") == 0)
			idle = j;
		else
			put_energy(v, name, j);
	}
	if (v->nr == 0)
		return;
	qsort(v->v, v->nr, sizeof(*v->v), by_energy);
	for (; v->nr > POWER_NAMES; v->nr--)
		other += v->v[v->nr - 1].j;
	if (other > 0)
		VEC_PUSH(v, ((struct named){ "[other]", other }));
	VEC_PUSH(v, ((struct named){ "[unattributed]", idle }));
}

/* What a name draws beside the others; 0: not in the bin. [unattributed] is in all of them. */
static double part_of(const named_energies *v, size_t name, size_t bin)
{
	if (name + 1 < v->nr && name > 1 && (bin + 2 * name) % 7 < 2)
		return 0;
	return v->v[name].j * (1 + 0.5 * sin(0.35 * (double)bin + (double)name));
}

/* The sum is the counter's power; three bins in the middle have no sample. */
static void power_rows(struct table *t, const struct table *energy, const struct fx_counter *c,
		       const char *view)
{
	named_energies v = VEC_INIT;
	int64_t dt = FX_SPAN_NS / POWER_BINS;

	power_names(energy, c, view, &v);
	for (size_t i = 0; i < v.nr; i++) {
		for (size_t b = 0; b < POWER_BINS; b++) {
			double part = part_of(&v, i, b), sum = 0;

			for (size_t k = 0; k < v.nr; k++)
				sum += part_of(&v, k, b);
			if (part > 0 && (b < 24 || b > 26))
				table_add(t, &(struct power_timeline_row){
						     c->series, c->device, view, v.v[i].name,
						     dt * (int64_t)b, dt,
						     wave(c, b * BINS / POWER_BINS) * part / sum });
		}
	}
	VEC_RELEASE(&v);
}

/* Steps of a second, each dearer than the one before it; by power but for each fourth. */
static void calls_rows(struct table *t, const struct fx_counter *c, const char *view)
{
	bool device = strcmp(view, "device") == 0;

	for (int i = 8; i-- > 0;) {
		double j = 100 + 20 * i, by_power = 0.9 * j;
		bool power = i % 4 != 0;

		table_add(t,
			  &(struct energy_calls_row){
				  c->series, c->device, view, device ? "queue 0" : "Master thread",
				  device ? "gemm_long" : "training_step", INT64_C(1300000000) * i,
				  INT64_C(1000000000), j, 9, by_power, power ? 2.5 : 12,
				  power ? by_power : j, power ? 2.5 : 9, power ? "power" : "time",
				  power ? by_power : j, i == 3 ? 0.62 : 1,
				  i == 0 ? "outside_samples" : "" });
	}
}

static void timeline_rows(struct table *t, const struct fx_counter *c)
{
	for (size_t b = 0; b < BINS; b++) {
		double v = wave(c, b);

		/* Energy counters are drawn as power. */
		table_add(t, &(struct timeline_row){ c->series, c->device,
						     c->cumulative ? "W" : c->unit,
						     c->cumulative ? "cumulative" : "gauge",
						     FX_SPAN_NS / BINS * (int64_t)b,
						     FX_SPAN_NS / BINS, v, 0.93 * v, 1.06 * v });
	}
}

static void counter_row(struct table *t, const struct fx_counter *c, const struct table *totals)
{
	double total = NAN;

	for (size_t i = 0; i < table_rows(totals); i++)
		if (strcmp(table_get_str(totals, i, 0), c->series) == 0)
			total = table_get_f64(totals, i, 3);
	table_add(t, &(struct counters_row){
			     c->series, c->device, c->cumulative ? "cumulative" : "gauge", c->unit,
			     1, 1240, 1180, 0, FX_SPAN_NS, wave(c, 0), wave(c, BINS - 1), c->low,
			     c->high, (c->low + c->high) / 2, total, isnan(total) ? "" : "J",
			     41000000, 10000000, c->flags });
}

void fx_counters(struct report *r, const struct fx_counter *c, size_t n)
{
	struct energy_tables e = { table_make(&energy_form), table_make(&energy_totals_form),
				   table_make(&energy_callpaths_form),
				   table_make(&energy_fit_form) };
	struct table *counters = table_make(&counters_form);
	struct table *timeline = table_make(&timeline_form);
	struct table *powers = table_make(&power_timeline_form);
	struct table *calls = table_make(&energy_calls_form);

	for (size_t i = 0; i < n; i++) {
		if (c[i].energy) {
			host_energy(r, &c[i], &e);
			device_energy(r, &c[i], &e);
			fit_row(e.fits, &c[i], "host");
		}
		if (c[i].energy && strcmp(c[i].device, "gpu0") == 0) {
			power_rows(powers, e.energy, &c[i], "host");
			power_rows(powers, e.energy, &c[i], "device");
			calls_rows(calls, &c[i], "host");
			calls_rows(calls, &c[i], "device");
		}
		timeline_rows(timeline, &c[i]);
		counter_row(counters, &c[i], e.totals);
	}
	fx_add(r, counters);
	fx_add(r, timeline);
	fx_add(r, e.energy);
	fx_add(r, e.totals);
	fx_add(r, e.paths);
	fx_add(r, e.fits);
	fx_add(r, powers);
	fx_add(r, calls);
}

struct function {
	const char *scope, *name, *category;
	uint64_t calls;
	int64_t inclusive, exclusive;
};
typedef VEC(struct function) functions;

static void put_function(functions *f, struct function x)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (strcmp(f->v[i].name, x.name) != 0 || strcmp(f->v[i].scope, x.scope) != 0)
			continue;
		f->v[i].calls += x.calls;
		f->v[i].inclusive += x.inclusive;
		f->v[i].exclusive += x.exclusive;
		return;
	}
	VEC_PUSH(f, x);
}

static void function_row(struct table *t, const struct function *f, double sum)
{
	double mean = (double)f->inclusive / (double)f->calls;

	table_add(t, &(struct functions_row){ f->scope, f->name, f->category, f->calls,
					      f->inclusive, f->exclusive, (int64_t)(0.7 * mean),
					      mean, 0.96 * mean, 1.4 * mean, (int64_t)(1.9 * mean),
					      f->calls > 1 ? 0.13 * mean : 0,
					      sum > 0 ? (double)f->exclusive / sum : 0 });
}

void fx_functions(struct report *r)
{
	struct table *t = table_make(&functions_form), *p = fx_find(r, "callpaths"),
		     *k = fx_find(r, "kernels");
	functions f = VEC_INIT;
	const int keys[] = { 0, ~5, 1 };

	for (size_t i = 0; p && i < table_rows(p); i++) {
		const char *path = table_get_str(p, i, 1), *name = strrchr(path, ';');

		put_function(&f,
			     (struct function){ "host", name ? name + 1 : path,
						table_get_str(p, i, 8), table_get_u64(p, i, 3),
						table_get_i64(p, i, 4), table_get_i64(p, i, 5) });
	}
	for (size_t i = 0; k && i < table_rows(k); i++)
		put_function(&f,
			     (struct function){ "device", table_get_str(k, i, 1),
						table_get_str(k, i, 2), table_get_u64(k, i, 3),
						table_get_i64(k, i, 4), table_get_i64(k, i, 4) });
	for (size_t i = 0; i < f.nr; i++) {
		double sum = 0;

		for (size_t j = 0; j < f.nr; j++)
			sum += strcmp(f.v[j].scope, f.v[i].scope) == 0 ? (double)f.v[j].exclusive
								       : 0;
		function_row(t, &f.v[i], sum);
	}
	table_sort(t, keys, 3);
	fx_add(r, t);
	VEC_RELEASE(&f);
}

static void fx_library_span(struct sink *s, track_id t, const char *name, int64_t start_us,
			    int64_t end_us, uint64_t correlation)
{
	struct span_def d = { .track = t,
			      .kind = strstr(name, "Cijk") ? SPAN_KERNEL : SPAN_HOST,
			      .start_ns = start_us * 1000,
			      .end_ns = end_us * 1000,
			      .name = sink_puts(s, name),
			      .correlation = correlation,
			      .args = STR_NONE };

	s->ops->span(s, &d);
}

/* A trace of what the log tells, which lacks a product of f64. */
static void fx_library_trace(struct sink *s)
{
	static const char *const kernels[] = { "Cijk_MT64", "Cijk_MT64", "Cijk_MT32" };
	struct track_def thread = TRACK_DEF_INIT, queue = TRACK_DEF_INIT;
	track_id t, q;

	thread.kind = TRACK_THREAD;
	thread.pid = thread.tid = 77;
	queue.kind = TRACK_QUEUE;
	queue.device = "gpu0";
	queue.tid = 7;
	t = s->ops->track(s, &thread);
	q = s->ops->track(s, &queue);
	fx_library_span(s, t, "aten::conv2d", 0, 60, 0);
	fx_library_span(s, t, "miopenConvolutionForward", 5, 55, 0);
	fx_library_span(s, t, "aten::mm", 60, 90, 0);
	fx_library_span(s, t, "rocblas_dgemm", 90, 95, 0);
	for (int i = 0; i < 3; i++) {
		fx_library_span(s, t, "rocblas_sgemm", 10 + 25 * i, 20 + 25 * i, 0);
		fx_library_span(s, t, "launch", 11 + 25 * i, 12 + 25 * i, (uint64_t)i + 1);
		fx_library_span(s, q, kernels[i], 100 + 50 * i, 140 + 50 * i, (uint64_t)i + 1);
	}
}

void fx_library(struct report *r, const char *log)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	CLEANUP(library_log_freep) struct library_log *reading = library_log_new(NULL, calls);
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct analysis_opts o = { 0 };
	struct library_counts n;

	library_calls_keep_order(calls);
	library_log_text(reading, log, strlen(log));
	library_log_end(reading, &n);
	s->ops->input(s, "libraries.json", "tef");
	s->ops->clock(s);
	fx_library_trace(s);
	s->ops->input_end(s);
	s->ops->input(s, "libraries.log", "library_log");
	s->ops->clock(s);
	s->ops->library(s, STEAL(calls));
	s->ops->input_end(s);
	model_finish(m);
	analysis_run(analysis_find("library"), m, NULL, &o, &r->tables, NULL);
}

void fx_big(struct report *r, size_t paths, size_t n_functions)
{
	static const char *const track[] = { "main", NULL };
	static const struct fx_call none[] = { { 0, "main", "host", 1, 1000, 0 } };
	struct table *p, *t = table_make(&functions_form);
	char text[160];

	fx_calls(r, track, none, 1);
	p = fx_find(r, "callpaths");
	for (size_t i = 0; i < paths; i++) {
		int64_t own = (int64_t)(1000 + 7919 * i % 500000);

		snprintf(text, sizeof(text), "main;stage_%03zu;worker_%05zu;leaf_%zu", i / 2000,
			 i / 20, i);
		table_add(p, &(struct callpaths_row){ "main", text, 3, 1 + i % 13, own, own, 0, 0,
						      "host" });
	}
	for (size_t i = 0; i < n_functions; i++) {
		struct function f = { "host",
				      text,
				      "host",
				      1 + i % 13,
				      (int64_t)(900000000 / (i + 1)),
				      (int64_t)(900000000 / (i + 1)) };

		snprintf(text, sizeof(text), "leaf_%zu", i);
		function_row(t, &f, 9e9);
	}
	fx_add(r, t);
}
