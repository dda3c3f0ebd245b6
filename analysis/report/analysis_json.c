#include "table_json.h"
#include "writers_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/json_fields.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

static const char *const clock_name[] = {
	[TRACE_CLOCK_OWN] = "own",
	[TRACE_CLOCK_MONOTONIC] = "monotonic",
	[TRACE_CLOCK_REALTIME] = "realtime",
	[TRACE_CLOCK_BOOTTIME] = "boottime",
};

static const char *const severity_name[] = {
	[SEV_NOTE] = "note",
	[SEV_WARNING] = "warning",
	[SEV_ERROR] = "error",
};

static void write_clock(struct json_out *j, const struct input *in)
{
	json_obj(j, "clock");
	json_str(j, "kind", clock_name[in->clock]);
	json_put(j, struct input, in, resolution_hz, aligned, shift_ns);
	if (in->has_realtime_anchor)
		json_put(j, struct input, in, anchor_own_ns, anchor_realtime_ns);
	json_end(j);
}

static void put_stated(struct json_out *j, const char *key, int64_t v)
{
	if (v == FACT_ABSENT)
		json_nil(j, key);
	else
		json_i64(j, key, v);
}

static void put_text(struct json_out *j, const char *key, const struct model *m, str_id id)
{
	json_str(j, key, id == STR_NONE ? NULL : model_str(m, id));
}

/* What comparisons ask: other GPUs, another number of ranks. */
static void write_machine(struct json_out *j, const struct model *m, uint32_t input)
{
	json_arr(j, "devices");
	for (size_t i = 0; i < m->facts.devices.nr; i++) {
		const struct device_facts *d = &m->facts.devices.v[i];

		if (d->input != input)
			continue;
		json_obj(j, NULL);
		put_stated(j, "number", d->number);
		put_text(j, "name", m, d->name);
		put_text(j, "arch", m, d->arch);
		put_stated(j, "units", d->units);
		put_stated(j, "memory_bytes", d->memory);
		json_end(j);
	}
	json_end(j);
	for (size_t i = 0; i < m->facts.worlds.nr; i++) {
		const struct world_facts *w = &m->facts.worlds.v[i];

		if (w->input != input)
			continue;
		json_obj(j, "world");
		put_stated(j, "rank", w->rank);
		put_stated(j, "size", w->size);
		put_text(j, "backend", m, w->backend);
		json_end(j);
		break;
	}
}

static void write_inputs(struct json_out *j, const struct model *m)
{
	json_arr(j, "inputs");
	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		json_obj(j, NULL);
		json_str(j, "path", in->path);
		json_str(j, "format", in->format ? in->format : in->reader);
		json_put(j, struct input, in, reader, partial, spans, instants, samples, series,
			 links, tracks);
		if (in->first_ns <= in->last_ns) {
			json_i64(j, "start_ns", in->first_ns);
			json_i64(j, "end_ns", in->last_ns);
		}
		write_clock(j, in);
		write_machine(j, m, (uint32_t)i);
		json_obj(j, "facts");
		for (size_t f = 0; f < in->facts.nr; f++)
			json_i64(j, in->facts.v[f].key, in->facts.v[f].value);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void write_warnings(struct json_out *j, const struct model *m)
{
	json_arr(j, "warnings");
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];

		json_obj(j, NULL);
		json_str(j, "code", w->code);
		json_str(j, "severity", severity_name[w->severity]);
		json_put(j, struct warning, w, count, text);
		json_str(j, "input", w->input < m->inputs.nr ? m->inputs.v[w->input].path : NULL);
		json_end(j);
	}
	json_end(j);
}

/* Tracks and series of one device come together mostly. */
static void add_device(struct strvec *sv, const char *s)
{
	if (*s && !(sv->nr && strcmp(sv->v[sv->nr - 1], s) == 0))
		strvec_push(sv, s);
}

/* Those of the tracks, and those that counters name themselves. */
static void write_devices(struct json_out *j, const struct model *m, const struct table_set *ts)
{
	CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;
	struct table *counters = table_set_find(ts, "counters");
	int col = counters ? table_find_col(counters, "device") : -1;

	for (size_t i = 0; i < m->tracks.nr; i++)
		add_device(&sv, model_str(m, m->tracks.v[i].device));
	for (size_t i = 0; i < m->series.nr; i++)
		add_device(&sv, model_str(m, m->series.v[i].device));
	if (col >= 0 && table_column(counters, (size_t)col)->type == TABLE_STR)
		for (size_t r = 0; r < table_rows(counters); r++)
			add_device(&sv, table_get_str(counters, r, (size_t)col));
	strvec_sort(&sv);
	json_arr(j, "devices");
	for (size_t i = 0; i < sv.nr; i++)
		if (i == 0 || strcmp(sv.v[i - 1], sv.v[i]) != 0)
			json_str(j, NULL, sv.v[i]);
	json_end(j);
}

static void write_tables(struct json_out *j, const struct table_set *ts)
{
	json_arr(j, "tables");
	for (size_t i = 0; i < ts->tables.nr; i++) {
		const struct table *t = ts->tables.v[i];
		CLEANUP(xfreep) char *file = xasprintf("tables/%s.csv", table_name(t));

		json_obj(j, NULL);
		json_str(j, "name", table_name(t));
		json_str(j, "file", file);
		json_u64(j, "rows", table_rows(t));
		json_str(j, "about", table_about_text(t));
		table_json_columns(j, t);
		json_end(j);
	}
	json_end(j);
}

/* The window of the tables; of several their extent, and each. */
static void write_window(struct json_out *j, const struct model *m, const struct report *r)
{
	size_t nr = m->windows.nr;
	int64_t from = nr ? m->windows.v[0].from_ns : m->first_ns;
	int64_t to = nr ? m->windows.v[nr - 1].to_ns : m->last_ns;

	json_obj(j, "window");
	json_i64(j, "start_ns", from - m->first_ns);
	json_i64(j, "end_ns", to - m->first_ns);
	json_str(j, "of", !nr ? "all" : r->window ? r->window : "windows of the run");
	if (nr) {
		json_arr(j, "parts");
		for (size_t i = 0; i < nr; i++) {
			json_obj(j, NULL);
			json_i64(j, "start_ns", m->windows.v[i].from_ns - m->first_ns);
			json_i64(j, "end_ns", m->windows.v[i].to_ns - m->first_ns);
			json_end(j);
		}
		json_end(j);
		json_u64(j, "spans_cut", r->windowed.spans_cut);
		json_u64(j, "spans_outside", r->windowed.spans_out);
		json_u64(j, "links_outside", r->windowed.links_out);
	}
	json_end(j);
}

/* Data with which `report` finds and recognises the run. */
static void write_run(struct json_out *j, const struct report *r)
{
	json_t *run = r->run_dir && r->run_json ? json_loads(r->run_json, 0, NULL) : NULL;

	if (run) {
		json_obj(j, "run");
		json_str(j, "id", json_text_at(run, "id"));
		json_str(j, "dir", r->run_dir);
		json_end(j);
	} else {
		json_nil(j, "run");
	}
	json_decref(run);
}

/* Rows of the table, whole: gates in CI read nothing else. */
static void write_findings(struct json_out *j, const struct table_set *ts)
{
	const struct table *t = table_set_find(ts, "findings");

	json_arr(j, "findings");
	for (size_t i = 0; t && i < table_rows(t); i++) {
		json_obj(j, NULL);
		for (size_t c = 0; c < table_cols(t); c++)
			table_json_cell(j, table_column(t, c)->name, t, i, c, INT64_MAX);
		json_end(j);
	}
	json_end(j);
}

char *report_analysis_json(const struct model *m, const struct report *r,
			   const struct report_timings *t)
{
	JSON_TABLE(check, JSON_FIELDS(struct check, name, ok, detail));
	JSON_TABLE(skip, JSON_FIELDS(struct skip, name, reason));
	JSON_TABLE(timings, JSON_FIELD_AS(false, struct report_timings, read_s, "read"),
		   JSON_FIELD_AS(false, struct report_timings, model_s, "model"),
		   JSON_FIELD_AS(false, struct report_timings, attribute_s, "attribute"),
		   JSON_FIELD_AS(false, struct report_timings, stats_s, "stats"),
		   JSON_FIELD_AS(false, struct report_timings, write_s, "write"));
	char *text = NULL;
	size_t len;
	bool partial = false;
	struct json_out j;
	FILE *f = xmemstream(&text, &len);

	for (size_t i = 0; i < m->inputs.nr; i++)
		partial = partial || m->inputs.v[i].partial;
	json_out_init(&j, f, 1);
	json_obj(&j, NULL);
	json_str(&j, "schema", "profrig.analysis/1");
	json_str(&j, "profrig", PROFRIG_VERSION);
	json_bool(&j, "partial", partial);
	json_str(&j, "sink", r->sink ? r->sink : "model");
	json_i64(&j, "origin_ns", m->first_ns);
	write_window(&j, m, r);
	write_run(&j, r);
	write_inputs(&j, m);
	write_devices(&j, m, &r->tables);
	write_warnings(&j, m);
	write_tables(&j, &r->tables);
	write_findings(&j, &r->tables);
	json_rows(&j, "checks", &r->tables.checks, check);
	json_rows(&j, "skipped", &r->tables.skipped, skip);
	json_obj(&j, "timings_s");
	json_fields(&j, t, timings);
	json_end(&j);
	json_end(&j);
	putc('\n', f);
	fclose(f);
	return text;
}
