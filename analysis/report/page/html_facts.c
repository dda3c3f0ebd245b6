#include "html_private.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define COSTS 3
#define MAX_PARTS 5

static int col(const struct table *t, const char *name, bool string)
{
	int c = t ? table_find_col(t, name) : -1;

	return c >= 0 && (table_column(t, (size_t)c)->type == TABLE_STR) == string ? c : -1;
}

static const char *str_at(const struct table *t, size_t row, const char *name)
{
	int c = col(t, name, true);

	return c >= 0 ? table_get_str(t, row, (size_t)c) : "";
}

static double num_at(const struct table *t, size_t row, const char *name)
{
	int c = col(t, name, false);

	return c >= 0 ? table_get_f64(t, row, (size_t)c) : NAN;
}

static double sum_of(const struct table *t, const char *name)
{
	double sum = 0;

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double v = num_at(t, i, name);

		sum += isfinite(v) ? v : 0;
	}
	return sum;
}

static void time_facts(const struct report *r, const json_t *analysis, const json_t *run,
		       struct html_facts *f)
{
	const json_t *w = json_object_get(json_object_get(run, "durations_s"), "workload");
	const json_t *window = json_object_get(analysis, "window");
	const struct table *t = table_set_find(&r->tables, "counters");
	const struct table *paths = table_set_find(&r->tables, "callpaths");
	double end = json_number_value(json_object_get(window, "end_ns")) -
		     json_number_value(json_object_get(window, "start_ns"));

	f->time_ns = NAN;
	f->time_words = "no time was recorded";
	if (json_is_number(w)) {
		f->time_ns = json_number_value(w) * 1e9;
		f->time_words = "of the workload";
		return;
	}
	for (size_t i = 0; end <= 0 && t && i < table_rows(t); i++)
		end = fmax(end, num_at(t, i, "last_ns"));
	for (size_t i = 0; end <= 0 && paths && i < table_rows(paths); i++)
		end = fmax(end, num_at(paths, i, "inclusive_ns"));
	if (end > 0) {
		f->time_ns = end;
		f->time_words = "recorded";
	}
}

/* A counter's place among those of its device: measured before estimated, energy counters before
 * integrated power. */
static int rank_of(const struct table *counters, const char *series, const char *device,
		   bool *ret_estimated)
{
	for (size_t i = 0; counters && i < table_rows(counters); i++) {
		if (strcmp(str_at(counters, i, "series"), series) != 0 ||
		    strcmp(str_at(counters, i, "device"), device) != 0)
			continue;
		*ret_estimated = text_in_list(str_at(counters, i, "flags"), '|', "estimated");
		return (*ret_estimated ? 4 : 0) +
		       (strcmp(str_at(counters, i, "kind"), "gauge") == 0 ? 2 : 0);
	}
	*ret_estimated = false;
	return 0;
}

/* What a counter drew in the idle time around the workload, which its total has too. */
static double idle_j(const struct report *r, const char *counter, const char *device)
{
	const struct table *t = table_set_find(&r->tables, "idle_power");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double j = num_at(t, i, "idle_j");

		if (strcmp(str_at(t, i, "counter"), counter) == 0 &&
		    strcmp(str_at(t, i, "device"), device) == 0)
			return isfinite(j) ? j : 0;
	}
	return 0;
}

struct device_energy {
	const char *device;
	double j;
	int rank;
	bool estimated;
};

static bool is_accelerator(const char *device)
{
	const char *s = strrchr(device, ':');
	size_t n;

	s = s ? s + 1 : device;
	n = strcspn(s, "0123456789");
	return n > 0 && s[n] && s[n + strspn(s + n, "0123456789")] == '\0' &&
	       (strncasecmp(s, "gpu", n) == 0 || strncasecmp(s, "xpu", n) == 0 ||
		strncasecmp(s, "aiu", n) == 0);
}

typedef VEC(struct device_energy) energies;

/* One total per device, so that nothing is added twice. */
static void best_counters(const struct report *r, energies *ret)
{
	const struct table *t = table_set_find(&r->tables, "energy_totals");
	const struct table *counters = table_set_find(&r->tables, "counters");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		struct device_energy e = { .device = str_at(t, i, "device"),
					   .j = num_at(t, i, "total_j") };
		size_t k;

		if (!isfinite(e.j))
			continue;
		e.j -= idle_j(r, str_at(t, i, "counter"), e.device);
		e.rank = rank_of(counters, str_at(t, i, "counter"), e.device, &e.estimated);
		e.rank += strcmp(str_at(t, i, "view"), "host") != 0;
		for (k = 0; k < ret->nr && strcmp(ret->v[k].device, e.device) != 0; k++)
			;
		if (k == ret->nr)
			VEC_PUSH(ret, e);
		else if (e.rank < ret->v[k].rank)
			ret->v[k] = e;
	}
}

static void energy_facts(const struct report *r, struct html_facts *f)
{
	CLEANUP(strbuf_release) struct strbuf words = STRBUF_INIT;
	energies all = VEC_INIT;
	bool accelerators = false;
	char num[48];

	f->energy_j = NAN;
	best_counters(r, &all);
	for (size_t i = 0; i < all.nr; i++)
		accelerators |= is_accelerator(all.v[i].device);
	for (size_t i = 0; i < all.nr; i++) {
		const struct device_energy *e = &all.v[i];

		strbuf_addf(&words, "%s%s %s%s", words.len ? ", " : "", e->device,
			    html_fmt_si(num, e->j, "J"), e->estimated ? " (estimated)" : "");
		if (accelerators && !is_accelerator(e->device)) {
			strbuf_addstr(&words, " beside it");
			continue;
		}
		f->energy_j = (isnan(f->energy_j) ? 0 : f->energy_j) + e->j;
		f->estimated |= e->estimated;
	}
	f->energy_words = words.len ? strbuf_steal(&words)
				    : xstrdup("no energy or power counter was sampled");
	VEC_RELEASE(&all);
}

static void add_part(struct html_facts *f, const char *name, double ns)
{
	if (ns > 0)
		VEC_PUSH(&f->parts, ((struct html_part){ .name = xstrdup(name), .ns = ns }));
}

static int by_ns(const void *pa, const void *pb)
{
	const struct html_part *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Outermost host calls by name, the heaviest first; the rest as one. */
static void host_parts(const struct table *paths, struct html_facts *f)
{
	CLEANUP(u64map_release) struct u64map index = U64MAP_INIT;
	struct intern *names = intern_new();
	double shown = 0;

	for (size_t i = 0; paths && i < table_rows(paths); i++) {
		const char *path = str_at(paths, i, "path");
		double ns = num_at(paths, i, "inclusive_ns");
		uint32_t *k;

		if (num_at(paths, i, "depth") != 0 || !(ns > 0) ||
		    strcmp(path, "[unattributed]") == 0)
			continue;
		f->total_ns += ns;
		k = u64map_at(&index, intern_puts(names, path));
		if (*k == U64MAP_NONE) {
			*k = (uint32_t)f->parts.nr;
			add_part(f, path, ns);
		} else {
			f->parts.v[*k].ns += ns;
		}
	}
	intern_free(names);
	if (f->parts.nr == 0)
		return;
	qsort(f->parts.v, f->parts.nr, sizeof(*f->parts.v), by_ns);
	while (f->parts.nr > MAX_PARTS)
		free(f->parts.v[--f->parts.nr].name);
	for (size_t i = 0; i < f->parts.nr; i++)
		shown += f->parts.v[i].ns;
	if (f->total_ns - shown > 0.0005 * f->total_ns)
		add_part(f, "other calls", f->total_ns - shown);
	f->split_words = "host time in outermost calls";
}

/* Of the whole recording, or of the windows that it was cut to; 0: not known. */
static double recorded_ns(const json_t *analysis)
{
	const json_t *window = json_object_get(analysis, "window");
	const json_t *parts = json_object_get(window, "parts"), *p;
	double sum = 0;
	size_t i;

	json_array_foreach(parts, i, p)
	{
		sum += json_number_value(json_object_get(p, "end_ns")) -
		       json_number_value(json_object_get(p, "start_ns"));
	}
	if (json_array_size(parts))
		return sum;
	return json_number_value(json_object_get(window, "end_ns")) -
	       json_number_value(json_object_get(window, "start_ns"));
}

/* Accelerators that are known and have no row in `busy`: they never worked. */
static size_t without_work(const json_t *analysis, const struct table *busy)
{
	const json_t *d;
	size_t nr = 0, i;

	json_array_foreach(json_object_get(analysis, "devices"), i, d)
	{
		const char *id = json_string_value(d);
		bool worked = false;

		for (size_t k = 0; id && k < table_rows(busy); k++)
			worked |= strcmp(str_at(busy, k, "device"), id) == 0;
		nr += id && is_accelerator(id) && !worked;
	}
	return nr;
}

/* How much of the recording the devices worked, over all of them. */
static double busy_share(const json_t *analysis, const struct table *busy)
{
	double all = recorded_ns(analysis);

	if (!busy || !table_rows(busy))
		return NAN;
	if (all > 0)
		all *= (double)(table_rows(busy) + without_work(analysis, busy));
	else
		all = sum_of(busy, "wall_ns");
	return all > 0 ? sum_of(busy, "union_ns") / all : NAN;
}

static void split_facts(const struct report *r, const json_t *analysis, struct html_facts *f)
{
	const struct table *overlap = table_set_find(&r->tables, "overlap");
	const struct table *busy = table_set_find(&r->tables, "busy");
	double wall = sum_of(busy, "wall_ns"), united = sum_of(busy, "union_ns");

	f->busy = busy_share(analysis, busy);
	f->split_words = "";
	if (overlap && table_rows(overlap) > 0) {
		f->split_words = "device time";
		f->total_ns = sum_of(overlap, "wall_ns");
		add_part(f, "compute", sum_of(overlap, "compute_ns"));
		add_part(f, "exposed communication", sum_of(overlap, "exposed_comm_ns"));
		add_part(f, "exposed copy", sum_of(overlap, "exposed_copy_ns"));
		add_part(f, "idle", sum_of(overlap, "idle_ns"));
	} else if (wall > 0) {
		f->split_words = "device time";
		f->total_ns = wall;
		add_part(f, "device busy", united);
		add_part(f, "device idle", wall - united);
	} else {
		host_parts(table_set_find(&r->tables, "callpaths"), f);
	}
}

static void cost_facts(const struct report *r, struct html_facts *f)
{
	const struct table *t = table_set_find(&r->tables, "functions");
	const char *scope = "host";

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strcmp(str_at(t, i, "scope"), "device") == 0)
			scope = "device";
	for (size_t i = 0; t && i < table_rows(t); i++) {
		struct html_cost c = { .ns = num_at(t, i, "exclusive_ns"),
				       .share = num_at(t, i, "share") };
		size_t k;

		if (strcmp(str_at(t, i, "scope"), scope) != 0 ||
		    strcmp(str_at(t, i, "name"), "[unattributed]") == 0 || !(c.ns > 0))
			continue;
		for (k = f->costs.nr; k > 0 && f->costs.v[k - 1].ns < c.ns; k--)
			;
		if (k >= COSTS)
			continue;
		c.name = xstrdup(str_at(t, i, "name"));
		c.calls = (uint64_t)fmax(0, num_at(t, i, "calls"));
		VEC_PUSH(&f->costs, c);
		memmove(&f->costs.v[k + 1], &f->costs.v[k], (f->costs.nr - 1 - k) * sizeof(c));
		f->costs.v[k] = c;
		if (f->costs.nr > COSTS)
			free(f->costs.v[--f->costs.nr].name);
	}
}

void html_facts_make(const struct report *r, const json_t *analysis, const json_t *run,
		     struct html_facts *ret)
{
	*ret = (struct html_facts){ .parts = VEC_INIT, .costs = VEC_INIT };
	time_facts(r, analysis, run, ret);
	energy_facts(r, ret);
	split_facts(r, analysis, ret);
	cost_facts(r, ret);
}

void html_facts_release(struct html_facts *f)
{
	for (size_t i = 0; i < f->parts.nr; i++)
		free(f->parts.v[i].name);
	for (size_t i = 0; i < f->costs.nr; i++)
		free(f->costs.v[i].name);
	VEC_RELEASE(&f->parts);
	VEC_RELEASE(&f->costs);
	free(f->energy_words);
	*f = (struct html_facts){ .parts = VEC_INIT, .costs = VEC_INIT };
}
