#include "run_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/text.h"

#define MAX_JSON ((size_t)64 << 20)

static json_t *load_file(const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	json_error_t jerr;
	json_t *doc;
	size_t n;

	if (fs_read(path, MAX_JSON, &text, &n, err) < 0)
		return NULL;
	doc = json_loadb(text, n, 0, &jerr);
	if (!doc || !json_is_object(doc)) {
		err_set(err, EINVAL, "%s:%d: %s", path, jerr.line,
			doc ? "not an object" : jerr.text);
		json_decref(doc);
		return NULL;
	}
	return doc;
}

json_t *run_json_load(const char *run_dir, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");

	return load_file(path, err);
}

static int run_json_store(const char *run_dir, json_t *doc, struct err *err)
{
	CLEANUP(xfreep) char *text = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(16));
	size_t n;

	if (!text)
		return err_set(err, EINVAL, "run.json cannot be written");
	n = strlen(text);
	n = redact_json(text, n);
	text[n] = '\n'; /* replaces the NUL: the write takes a length */
	return run_write_reserved(run_dir, "run.json", text, n + 1, err);
}

static json_t *array_of(json_t *doc, const char *key)
{
	json_t *list = json_object_get(doc, key);

	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(doc, key, list);
	}
	return list;
}

/* --- after a run that died --- */

int run_note_interrupted(const char *run_dir, struct err *err)
{
	json_t *doc = run_json_load(run_dir, err);
	const char *status, *started;
	char now[32];
	int r = 0;

	if (!doc)
		return err && err->code ? -err->code : -EINVAL;
	status = json_string_value(json_object_get(doc, "status"));
	if (!status || !strcmp(status, "running") || !strcmp(status, "planned")) {
		json_object_set_new(doc, "status", json_string("interrupted"));
		json_object_set_new(doc, "reason", json_string("profrig ended before the run did"));
		started = json_string_value(json_object_get(doc, "started_utc"));
		clock_utc(clock_realtime_ns(), now);
		/* Times have a fixed width, so text order is time order. The clock may have been
		 * set. */
		json_object_set_new(
			doc, "ended_utc",
			json_string(started && strcmp(now, started) < 0 ? started : now));
		r = run_json_store(run_dir, doc, err);
		if (r == 0)
			r = 1;
	}
	json_decref(doc);
	return r;
}

/* --- after analysis --- */

static json_t *row_of_analysis(const json_t *rows, const char *code)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *is = json_string_value(json_object_get(row, "code"));

		if (json_object_get(row, "source") && is && !strcmp(is, code))
			return row;
	}
	return NULL;
}

/* One row per code, with the text of the first: thousands of inputs may have warnings. */
static void copy_warning(json_t *to, json_t *w)
{
	const char *code = json_string_value(json_object_get(w, "code"));
	json_t *row = code ? row_of_analysis(to, code) : NULL;

	if (row) {
		json_int_t count = json_integer_value(json_object_get(row, "count")) +
				   json_integer_value(json_object_get(w, "count"));

		json_object_set_new(row, "count", json_integer(count));
	} else if (code) {
		row = json_copy(w);
		json_object_set_new(row, "source", json_string("analysis"));
		json_array_append_new(to, row);
	}
}

static void copy_warnings(json_t *doc, const json_t *analysis)
{
	json_t *to = array_of(doc, "warnings"), *w;
	const json_t *from = json_object_get(analysis, "warnings");
	size_t i;

	/* A repeated analysis replaces the warnings of the last one. */
	for (i = json_array_size(to); i-- > 0;) {
		const char *s = json_string_value(json_object_get(json_array_get(to, i), "source"));

		if (s && !strcmp(s, "analysis"))
			json_array_remove(to, i);
	}
	json_array_foreach(from, i, w) copy_warning(to, w);
}

static void drop_metrics(json_t *metrics, const char *source)
{
	for (size_t i = json_array_size(metrics); i-- > 0;) {
		const char *s =
			json_string_value(json_object_get(json_array_get(metrics, i), "source"));

		if (s && !strncmp(s, source, strlen(source)))
			json_array_remove(metrics, i);
	}
}

/*
 * The file's first columns are fixed: counter,device,view,total_j; the eighth is flags. The views
 * of host and device share a total.
 */
static int copy_energy(json_t *doc, const char *run_dir, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "analysis/tables/energy_totals.csv");
	json_t *metrics = array_of(doc, "metrics");
	CLEANUP(strvec_release) struct strvec seen = STRVEC_INIT;
	struct csv_reader *csv;
	char *const *f;
	size_t n;
	int r;

	drop_metrics(metrics, "energy_totals");
	r = csv_open_file(path, &csv, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (bool header = true; (r = csv_next(csv, &f, &n, err)) > 0; header = false) {
		CLEANUP(xfreep) char *key = NULL;
		double joules;

		if (header || n < 4 || num_f64(f[3], strlen(f[3]), &joules) < 0)
			continue;
		key = xasprintf("energy_totals: %s of %s", f[0], f[1]);
		if (strvec_has(&seen, key))
			continue;
		strvec_push(&seen, key);
		json_array_append_new(
			metrics, json_pack("{s:s, s:f, s:s, s:s, s:b}", "name", "energy", "value",
					   joules, "unit", "J", "source", key, "estimated",
					   n > 7 && text_in_list(f[7], '|', "estimated")));
	}
	csv_free(csv);
	return r;
}

int run_note_analysis(const char *run_dir, double analyze_s, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "analysis/analysis.json");
	json_t *doc = run_json_load(run_dir, err), *durations, *analysis;
	struct err why = ERR_INIT, lost = ERR_INIT;
	int r, energy;

	if (!doc)
		return err && err->code ? -err->code : -EINVAL;
	durations = json_object_get(doc, "durations_s");
	if (!json_is_object(durations)) {
		durations = json_object();
		json_object_set_new(doc, "durations_s", durations);
	}
	json_object_set_new(durations, "analyze", json_real(analyze_s));
	analysis = load_file(path, &why);
	copy_warnings(doc, analysis);
	energy = copy_energy(doc, run_dir, &lost);
	r = run_json_store(run_dir, doc, err);
	json_decref(doc);
	if (r == 0 && !analysis && why.code != ENOENT)
		r = err_set(err, why.code, "its warnings are lost: %s", why.msg);
	if (r == 0 && energy < 0)
		r = err_set(err, lost.code, "its energy is lost: %s", lost.msg);
	json_decref(analysis);
	return r;
}

static void add_metric(json_t *metrics, const char *name, double value, const char *unit,
		       const char *source)
{
	if (isfinite(value))
		json_array_append_new(metrics,
				      json_pack("{s:s, s:f, s:s, s:s}", "name", name, "value",
						value, "unit", unit, "source", source));
}

static void warn_overhead(json_t *doc, const struct run_overhead *o)
{
	CLEANUP(xfreep)
	char *text = xasprintf("%s: the workload takes %.1f %% longer (%zu pair%s), the budget is "
			       "%g %%",
			       o->tools, 100 * o->mean, o->pairs, o->pairs == 1 ? "" : "s",
			       100 * o->budget);

	json_array_append_new(array_of(doc, "warnings"),
			      json_pack("{s:s, s:s, s:i, s:s}", "code", W_OVERHEAD, "severity",
					"warning", "count", 1, "text", text));
}

int run_note_warning(const char *run_dir, const char *code, const char *severity, const char *text,
		     struct err *err)
{
	json_t *doc = run_json_load(run_dir, err);
	int r;

	if (!doc)
		return err && err->code ? -err->code : -EINVAL;
	json_array_append_new(array_of(doc, "warnings"),
			      json_pack("{s:s, s:s, s:i, s:s}", "code", code, "severity", severity,
					"count", 1, "text", text));
	r = run_json_store(run_dir, doc, err);
	json_decref(doc);
	return r;
}

int run_note_overhead(const char *run_dir, const struct run_overhead *o, struct err *err)
{
	json_t *doc = run_json_load(run_dir, err), *metrics;
	int r;

	if (!doc)
		return err && err->code ? -err->code : -EINVAL;
	metrics = array_of(doc, "metrics");
	if (o->baseline_id && o->baseline_s > 0) {
		add_metric(metrics, "baseline", o->baseline_s, "s", o->baseline_id);
		add_metric(metrics, "overhead", 100 * (o->workload_s / o->baseline_s - 1), "%",
			   o->baseline_id);
	}
	if (o->pairs > 1) {
		add_metric(metrics, "overhead_mean", 100 * o->mean, "%", "baseline.json");
		add_metric(metrics, "overhead_low", 100 * o->low, "%", "baseline.json");
		add_metric(metrics, "overhead_high", 100 * o->high, "%", "baseline.json");
	}
	if (!isnan(o->budget))
		warn_overhead(doc, o);
	r = run_json_store(run_dir, doc, err);
	json_decref(doc);
	return r;
}
