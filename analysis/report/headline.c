#include "headline_private.h"
#include "html_private.h"
#include "table_json.h"

#include <math.h>
#include <string.h>

#include "profrig/base/intern.h"

#define COSTS 3
/* Tools around a workload are named when their events span less of it. */
#define AROUND_SHARE 0.9

static struct col col_find(const struct table *t, const char *name, bool text)
{
	int c = t ? table_find_col(t, name) : -1;
	bool fits = c >= 0 && (table_column(t, (size_t)c)->type == TABLE_STR) == text;

	return (struct col){ t, fits ? c : -1 };
}

struct col col_text(const struct table *t, const char *name)
{
	return col_find(t, name, true);
}

struct col col_number(const struct table *t, const char *name)
{
	return col_find(t, name, false);
}

const char *col_str(struct col c, size_t row)
{
	return c.at >= 0 ? table_get_str(c.t, row, (size_t)c.at) : "";
}

double col_f64(struct col c, size_t row)
{
	return c.at >= 0 ? table_get_f64(c.t, row, (size_t)c.at) : NAN;
}

double col_sum(struct col c)
{
	double sum = 0;

	for (size_t i = 0; i < col_rows(c); i++)
		sum += isfinite(col_f64(c, i)) ? col_f64(c, i) : 0;
	return sum;
}

double col_max(struct col c)
{
	double max = 0;

	for (size_t i = 0; i < col_rows(c); i++)
		max = fmax(max, col_f64(c, i));
	return max;
}

static double number_at(const json_t *obj, const char *key)
{
	return json_number_value(json_object_get(obj, key));
}

/* ---- time ---- */

/* From the first to the last event of what tools recorded; 0: nothing, or of no common clock. */
static double tools_extent(const json_t *analysis)
{
	const json_t *in;
	double from = INFINITY, to = -INFINITY;
	size_t i;

	json_array_foreach(json_object_get(analysis, "inputs"), i, in)
	{
		const json_t *clock = json_object_get(in, "clock");
		double shift = number_at(clock, "shift_ns");

		if (!strstr(json_text_at(in, "path"), "/artifacts/") ||
		    !json_is_number(json_object_get(in, "start_ns")) ||
		    !json_is_number(json_object_get(in, "end_ns")) ||
		    !json_is_true(json_object_get(clock, "aligned")))
			continue;
		from = fmin(from, number_at(in, "start_ns") + shift);
		to = fmax(to, number_at(in, "end_ns") + shift);
	}
	return to > from ? to - from : 0;
}

/* A tool around the workload takes time before and after it, which the run's time includes. */
static void around_find(const json_t *analysis, const json_t *run, struct headline *h)
{
	const json_t *tool;
	double ns = tools_extent(analysis);
	size_t i;

	if (!(ns > 0) || !(ns < AROUND_SHARE * h->time_ns))
		return;
	json_array_foreach(json_object_get(run, "tools"), i,
			   tool) if (*json_text_at(tool, "name") &&
				     json_array_size(json_object_get(tool, "argv")))
		strvec_push(&h->around, json_text_at(tool, "name"));
	if (h->around.nr)
		h->around_ns = ns;
}

/* The analysis names its range; without one the tables' own extent is taken. */
static double recorded_extent(const struct report *r, const json_t *analysis)
{
	const json_t *window = json_object_get(analysis, "window");
	double ns = number_at(window, "end_ns") - number_at(window, "start_ns");

	if (!(ns > 0))
		ns = col_max(col_number(table_set_find(&r->tables, "counters"), "last_ns"));
	if (!(ns > 0))
		ns = col_max(col_number(table_set_find(&r->tables, "callpaths"), "inclusive_ns"));
	return ns;
}

static void time_find(const struct report *r, const json_t *analysis, const json_t *run,
		      struct headline *h)
{
	const json_t *s = json_object_get(json_object_get(run, "durations_s"), "workload");
	double recorded = json_is_number(s) ? 0 : recorded_extent(r, analysis);

	h->time_of = json_is_number(s) ? "workload" : recorded > 0 ? "recorded" : "none";
	h->time_ns = json_is_number(s) ? json_number_value(s) * 1e9 : recorded > 0 ? recorded : NAN;
	if (json_is_number(s))
		around_find(analysis, run, h);
}

/* ---- devices ---- */

/* Of the whole recording, or of the windows that it was cut to; 0: not known. */
static double recorded_ns(const json_t *analysis)
{
	const json_t *window = json_object_get(analysis, "window");
	const json_t *parts = json_object_get(window, "parts"), *p;
	double sum = 0;
	size_t i;

	if (!json_array_size(parts))
		return number_at(window, "end_ns") - number_at(window, "start_ns");
	json_array_foreach(parts, i, p) sum += number_at(p, "end_ns") - number_at(p, "start_ns");
	return sum;
}

/* Also before the first work of a device, after the last, and of devices without any. */
static void busy_find(const struct report *r, const json_t *analysis, struct headline *h)
{
	const struct table *t = table_set_find(&r->tables, "busy");
	struct col device = col_text(t, "device"), busy = col_number(t, "busy"),
		   used = col_number(t, "union_ns");
	const json_t *known;
	double all;
	size_t i;

	h->recorded_ns = fmax(0, recorded_ns(analysis));
	for (i = 0; i < col_rows(device); i++)
		VEC_PUSH(&h->devices,
			 ((struct headline_device){
				 .device = col_str(device, i),
				 .busy = col_f64(busy, i),
				 .share = h->recorded_ns > 0 ? col_f64(used, i) / h->recorded_ns
							     : col_f64(busy, i) }));
	if (!h->devices.nr)
		return;
	json_array_foreach(json_object_get(analysis, "devices"), i, known)
	{
		const char *id = json_string_value(known);
		size_t k = 0;

		while (id && k < h->devices.nr && strcmp(h->devices.v[k].device, id) != 0)
			k++;
		if (id && k == h->devices.nr && headline_is_accelerator(id))
			strvec_push(&h->without, id);
	}
	all = h->recorded_ns > 0 ? h->recorded_ns * (double)(h->devices.nr + h->without.nr)
				 : col_sum(col_number(t, "wall_ns"));
	h->busy = all > 0 ? col_sum(used) / all : NAN;
}

/* ---- costs ---- */

/* Device work where there is any, else host functions. */
static const char *scope_of(struct col scope, struct col ns)
{
	const char *found = "";

	for (size_t i = 0; i < col_rows(scope); i++) {
		bool device = strcmp(col_str(scope, i), "device") == 0;

		if (device && col_f64(ns, i) > 0)
			return "device";
		if (!device || !*found)
			found = device ? "device" : "host";
	}
	return found;
}

static bool is_summed(const struct headline *h, const char *counter, const char *device)
{
	for (size_t i = 0; i < h->counters.nr; i++)
		if (h->counters.v[i].use == HEADLINE_SUMMED &&
		    strcmp(h->counters.v[i].counter, counter) == 0 &&
		    strcmp(h->counters.v[i].device, device) == 0)
			return true;
	return false;
}

/* How the sum of two is divided; "": not known. */
static const char *estimate_of_both(const char *a, const char *b)
{
	return !*a || strcmp(a, b) == 0 ? b : *b ? "time and power" : a;
}

static void costs_energy(const struct table *t, struct headline *h)
{
	struct col counter = col_text(t, "counter"), device = col_text(t, "device"),
		   view = col_text(t, "view"), name = col_text(t, "name"),
		   estimate = col_text(t, "estimate"), j = col_number(t, "best_j");

	/* of an analysis of before 'profrig analyze --estimate' */
	j = j.at >= 0 ? j : col_number(t, "exclusive_j");

	for (size_t i = 0; i < col_rows(name); i++) {
		for (size_t k = 0; k < h->costs.nr; k++) {
			struct headline_cost *c = &h->costs.v[k];

			if (strcmp(c->name, col_str(name, i)) != 0 ||
			    strcmp(h->cost_scope, col_str(view, i)) != 0 ||
			    !is_summed(h, col_str(counter, i), col_str(device, i)))
				continue;
			c->energy_j = (isnan(c->energy_j) ? 0 : c->energy_j) + col_f64(j, i);
			c->estimate = estimate_of_both(c->estimate, col_str(estimate, i));
		}
	}
}

static void costs_find(const struct report *r, struct headline *h)
{
	const struct table *t = table_set_find(&r->tables, "functions");
	struct col scope = col_text(t, "scope"), name = col_text(t, "name"),
		   ns = col_number(t, "exclusive_ns"), share = col_number(t, "share"),
		   calls = col_number(t, "calls");

	h->cost_scope = scope_of(scope, ns);
	for (size_t i = 0; i < col_rows(name); i++) {
		struct headline_cost c = {
			.row = i,
			.name = col_str(name, i),
			.ns = col_f64(ns, i),
			.share = col_f64(share, i),
			.calls = col_f64(calls, i),
			.energy_j = NAN,
			.estimate = "",
		};
		size_t k = h->costs.nr;

		if (strcmp(col_str(scope, i), h->cost_scope) != 0 ||
		    strcmp(c.name, UNATTRIBUTED) == 0)
			continue;
		while (k > 0 && h->costs.v[k - 1].ns < c.ns)
			k--;
		if (k >= COSTS)
			continue;
		if (h->costs.nr < COSTS)
			VEC_PUSH(&h->costs, c);
		memmove(&h->costs.v[k + 1], &h->costs.v[k], (h->costs.nr - 1 - k) * sizeof(c));
		h->costs.v[k] = c;
	}
	costs_energy(table_set_find(&r->tables, "energy"), h);
}

void headline_make(const struct report *r, struct headline *ret)
{
	json_t *analysis = html_parse(r->analysis_json), *run = html_parse(r->run_json);

	*ret = (struct headline){ .around = STRVEC_INIT,
				  .without = STRVEC_INIT,
				  .energy_j = NAN,
				  .busy = NAN,
				  .split_of = "",
				  .within = "",
				  .names = intern_new() };
	time_find(r, analysis, run, ret);
	headline_energy(r, ret);
	busy_find(r, analysis, ret);
	headline_split(r, ret);
	costs_find(r, ret);
	html_parse_free(analysis);
	html_parse_free(run);
}

void headline_release(struct headline *h)
{
	strvec_release(&h->around);
	strvec_release(&h->without);
	VEC_RELEASE(&h->counters);
	VEC_RELEASE(&h->devices);
	VEC_RELEASE(&h->costs);
	VEC_RELEASE(&h->parts);
	intern_free(h->names);
}
