/*
 * Several run directories are an ensemble: each is analysed by itself into DIR/each/<id>; DIR has
 * the tables `ensemble` (mean, spread, outliers of the figures they share) and `runs`.
 */
#include "session_private.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/stats/ensemble.h"

#define MAX_FACTS 256

struct member {
	const char *path; /* as named */
	char *name;       /* of its folder: its id where that can be one */
	char *model, *status, *command;
	bool read;
	struct strvec facts; /* what may set it apart: "status failed", "host.cpu …" */
};

struct group {
	const struct session_opts *o;
	struct session_outcome *out;
	struct report *rep;
	struct model *m;
	struct ensemble *e;
	VEC(struct member) members;
	size_t read; /* of them */
};

static void json_freep(json_t **doc)
{
	json_decref(*doc);
}

static const char *text_at(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

/* ---- which inputs are runs ---- */

/* An ensemble beside its runs, which a shell pattern for the runs matches too. */
static bool is_analysis(const char *dir)
{
	CLEANUP(xfreep) char *facts = fs_join(dir, "analysis.json");

	return fs_is_file(facts);
}

size_t session_runs_of(const struct strvec *inputs, const struct session_opts *o,
		       struct session_outcome *out, struct strvec *ret, const char **ret_other)
{
	CLEANUP(strvec_release) struct strvec seen = STRVEC_INIT;

	*ret_other = NULL;
	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(xfreep) char *whole = xrealpath(inputs->v[i]);

		if (whole && !run_dir_held(whole) && is_analysis(whole)) {
			session_note(o, out, SESSION_NO_RUN, "%s: an analysis of runs, left out",
				     inputs->v[i]);
		} else if (!whole || !run_dir_held(whole)) {
			*ret_other = inputs->v[i];
		} else if (!strvec_has(&seen, whole)) {
			strvec_push(&seen, whole);
			strvec_push(ret, inputs->v[i]);
		}
	}
	return ret->nr;
}

/* ---- facts of a run ---- */

/* An id comes out of a file; only a plain one may name a folder. */
static bool is_plain(const char *id)
{
	size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n > 0 && n <= 128 && !id[n] && *id != '.';
}

static bool is_taken(const struct group *g, const char *name)
{
	for (size_t i = 0; i < g->members.nr; i++)
		if (strcmp(g->members.v[i].name, name) == 0)
			return true;
	return false;
}

static char *name_of(const struct group *g, const char *id)
{
	if (id && is_plain(id) && !is_taken(g, id))
		return xstrdup(id);
	return xasprintf("run-%zu", g->members.nr + 1);
}

/* The workload's words and its tools. The run's id is cut out of paths, so that runs compare. */
static char *command_of(const json_t *run)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *id = text_at(run, "id"), *s;
	const json_t *steps = json_object_get(run, "steps"), *tools = json_object_get(run, "tools");
	const json_t *step, *word, *tool;
	size_t i, k;

	json_array_foreach(steps, i, step)
	{
		if (strcmp(text_at(step, "kind"), "workload") != 0)
			continue;
		json_array_foreach(json_object_get(step, "argv"), k, word)
		{
			const char *at;

			s = json_string_value(word);
			for (; s && *id && (at = strstr(s, id)); s = at + strlen(id))
				strbuf_add(&sb, s, (size_t)(at - s));
			strbuf_addf(&sb, "%s ", s ? s : "");
		}
	}
	strbuf_rtrim(&sb);
	json_array_foreach(tools, i, tool)
		strbuf_addf(&sb, "%s%s", i ? "," : ", tools ", text_at(tool, "name"));
	return strbuf_steal(&sb);
}

#define METRICS(X) X(STR, name) X(STR, unit) X(STR, source) X(F64, value)
TABLE_FORM(metrics, METRICS, "");

/* The metrics that the run measured and its workload reported, as a table like the others. */
static struct table *metrics_of(const json_t *run)
{
	const json_t *metrics = json_object_get(run, "metrics"), *metric;
	struct table *t = table_make(&metrics_form);
	size_t i;

	json_array_foreach(metrics, i, metric)
	{
		const json_t *value = json_object_get(metric, "value");

		if (json_is_number(value))
			table_add(t, &(struct metrics_row){
					     text_at(metric, "name"), text_at(metric, "unit"),
					     text_at(metric, "source"), json_number_value(value) });
	}
	return t;
}

/* ---- why a run may stand out ---- */

static void facts_of(struct member *mb, const char *of, const json_t *obj)
{
	const char *key;
	const json_t *v;

	json_object_foreach((json_t *)(uintptr_t)obj, key, v)
	{
		CLEANUP(xfreep) char *text = NULL;

		if (!json_is_string(v) || mb->facts.nr >= MAX_FACTS)
			continue;
		text = xasprintf("%s%s %.200s", of, key, json_string_value(v));
		strvec_push(&mb->facts, text);
	}
}

/* Its status, machine, versions and warnings, and whether its data is whole. */
static void facts_take(struct member *mb, const json_t *run, const json_t *analysis)
{
	const json_t *w;
	size_t i;
	CLEANUP(xfreep) char *status = xasprintf("status %s", mb->status);

	strvec_push(&mb->facts, status);
	if (!analysis || json_is_true(json_object_get(analysis, "partial")))
		strvec_push(&mb->facts, "its data is partial");
	facts_of(mb, "host.", json_object_get(run, "host"));
	facts_of(mb, "versions.", json_object_get(run, "versions"));
	json_array_foreach(json_object_get(run, "warnings"), i, w)
	{
		CLEANUP(xfreep) char *text = xasprintf("warning %.64s", text_at(w, "code"));

		if (mb->facts.nr < MAX_FACTS && !strvec_has(&mb->facts, text))
			strvec_push(&mb->facts, text);
	}
}

/* What fewer than half of the runs share with it; "; " between them. */
static char *reasons_of(const struct group *g, const struct member *mb)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < mb->facts.nr; i++) {
		size_t same = 0;

		for (size_t k = 0; k < g->members.nr; k++)
			same += strvec_has(&g->members.v[k].facts, mb->facts.v[i]);
		if (2 * same < g->read)
			strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", mb->facts.v[i]);
	}
	return strbuf_steal(&sb);
}

static input_id input_begin(struct group *g, const struct member *mb)
{
	struct sink *s = model_sink(g->m);
	input_id id = s->ops->input(s, mb->path, "run");

	s->ops->current(s)->format = xstrdup("profrig run");
	s->ops->input_end(s);
	return id;
}

/* The run's inputs as one. */
static void input_count(struct input *in, const json_t *analysis)
{
	static const char *const keys[] = { "spans",  "instants", "samples",
					    "series", "links",    "tracks" };
	uint64_t *const to[] = { &in->spans,  &in->instants, &in->samples,
				 &in->series, &in->links,    &in->tracks };
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(analysis, "inputs"), i, one)
	{
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			*to[k] += (uint64_t)json_integer_value(json_object_get(one, keys[k]));
	}
	in->partial = !analysis || json_is_true(json_object_get(analysis, "partial"));
}

/* ---- one run ---- */

static void member_add(struct group *g, const char *path)
{
	struct member mb = { .path = path };
	struct rundir run;
	struct err err = ERR_INIT;

	if (rundir_open(path, &run, &err) == 0) {
		mb.name = name_of(g, run.id);
		mb.model = xstrdup(run.model ? run.model : "");
		mb.status = xstrdup(run.status ? run.status : "");
		mb.read = true;
		g->read++;
		rundir_release(&run);
	} else {
		input_id id = input_begin(g, &mb);

		mb.name = name_of(g, NULL);
		session_note(g->o, g->out, SESSION_UNREADABLE, "%s", err.msg);
		session_worsen(g->out, SESSION_PARTIAL);
		g->m->inputs.v[id].partial = true;
		model_warn(g->m, id, W_UNREADABLE, 1, "%s", err.msg);
	}
	VEC_PUSH(&g->members, mb);
}

static void checks_add(struct group *g, const struct member *mb, const struct table_set *ts)
{
	CLEANUP(xfreep) char *name = xasprintf("run %s", mb->name);
	size_t held = 0;

	for (size_t i = 0; i < ts->checks.nr; i++)
		held += ts->checks.v[i].ok;
	table_set_check(&g->rep->tables, name, held == ts->checks.nr, "%zu of %zu checks hold",
			held, ts->checks.nr);
}

static void member_warn(struct group *g, const struct member *first, const struct member *mb,
			input_id id)
{
	if (strcmp(first->model, mb->model) != 0)
		model_warn(g->m, id, W_DIFFERENT_RUNS, 1, "%s is of model '%s', %s of '%s'",
			   mb->name, mb->model, first->name, first->model);
	else if (strcmp(first->command, mb->command) != 0)
		model_warn(g->m, id, W_DIFFERENT_RUNS, 1, "%s ran '%s', %s '%s'", mb->name,
			   mb->command, first->name, first->command);
	if (strcmp(mb->status, "success") != 0 && strcmp(mb->status, "partial") != 0)
		model_warn(g->m, id, W_FAILED_RUN, 1, "%s ended as '%s'", mb->name, mb->status);
}

static void outcome_add(struct group *g, const struct session_outcome *one)
{
	session_worsen(g->out, one->end);
	g->out->read += one->read;
	g->out->partial += one->partial;
	for (size_t i = 0; i < SESSION_NOTE_KINDS; i++)
		g->out->noted[i] += one->noted[i];
}

/* Analyses a run into its folder and takes its numbers. */
static void member_analyze(struct group *g, struct member *mb)
{
	CLEANUP(strvec_release) struct strvec input = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = xasprintf("%s/each/%s", g->rep->dir, mb->name);
	CLEANUP(json_freep) json_t *run = NULL, *analysis = NULL;
	CLEANUP(session_result_release) struct session_result one;
	struct report *rep = &one.report;
	input_id id = input_begin(g, mb);
	const struct member *first = mb;
	struct session_opts with = *g->o;
	struct err err = ERR_INIT;

	strvec_push(&input, mb->path);
	/* the reasons why nothing could be read are noted already */
	with.member = true;
	if (session_analyze(&input, &with, dir, &one, &err) < 0 &&
	    one.outcome.end != SESSION_NOTHING_READ)
		session_note(g->o, g->out, SESSION_MEMBER_FAILED, "%s", err.msg);
	outcome_add(g, &one.outcome);
	run = json_loads(rep->run_json ? rep->run_json : "", 0, NULL);
	analysis = json_loads(rep->analysis_json ? rep->analysis_json : "", 0, NULL);
	mb->command = command_of(run);
	for (size_t i = g->members.nr; i-- > 0;)
		if (g->members.v[i].command)
			first = &g->members.v[i];
	member_warn(g, first, mb, id);
	facts_take(mb, run, analysis);
	input_count(&g->m->inputs.v[id], analysis);
	checks_add(g, mb, &rep->tables);
	table_set_add(&rep->tables, metrics_of(run));
	ensemble_add(g->e, mb->name, &rep->tables);
}

/* ---- all of them ---- */

/* clang-format off */
#define RUNS(X) \
	X(STR, run) X(STR, model) X(STR, status) X(STR, dir) X(STR, analysis) X(U64, rows) \
	X(U64, outlier_rows) X(STR, sets_apart)
/* clang-format on */
TABLE_FORM(runs, RUNS, "one run of the ensemble");

static struct table *runs_table(const struct group *g)
{
	struct table *t = table_make(&runs_form);
	size_t at = 0;

	for (size_t i = 0; i < g->members.nr; i++) {
		const struct member *mb = &g->members.v[i];
		CLEANUP(xfreep) char *analysis = xasprintf("each/%s", mb->name), *apart = NULL;

		if (!mb->read)
			continue;
		apart = reasons_of(g, mb);
		table_add(t, &(struct runs_row){ mb->name, mb->model, mb->status, mb->path,
						 analysis, ensemble_rows_of(g->e, at),
						 ensemble_outliers_of(g->e, at), apart });
		at++;
	}
	return t;
}

static void members_analyze(struct group *g, struct report_timings *times)
{
	static struct table *(*const tables[])(struct ensemble * e) = { ensemble_table,
									ensemble_outliers_table,
									ensemble_runs_table };
	int64_t at = clock_monotonic_ns();

	for (size_t i = 0; i < g->members.nr; i++)
		if (g->members.v[i].read)
			member_analyze(g, &g->members.v[i]);
	model_finish(g->m);
	times->read_s = session_lap_s(&at);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		struct table *t = tables[i](g->e);

		if (t)
			table_set_add(&g->rep->tables, t);
	}
	table_set_add(&g->rep->tables, runs_table(g));
	times->stats_s = session_lap_s(&at);
	if (g->o->strict)
		session_strict(g->m, g->o, g->out);
}

static void group_release(struct group *g)
{
	for (size_t i = 0; i < g->members.nr; i++) {
		free(g->members.v[i].name);
		free(g->members.v[i].model);
		free(g->members.v[i].status);
		free(g->members.v[i].command);
		strvec_release(&g->members.v[i].facts);
	}
	VEC_RELEASE(&g->members);
	ensemble_free(g->e);
	model_free(g->m);
}

int session_analyze_runs(const struct strvec *runs, const struct session_opts *o,
			 struct session_result *ret, struct err *err)
{
	CLEANUP(group_release)
	struct group g = { .o = o,
			   .out = &ret->outcome,
			   .rep = &ret->report,
			   .m = model_new(),
			   .e = ensemble_new() };
	struct report_timings times = { 0 };
	int r;

	for (size_t i = 0; i < runs->nr; i++)
		member_add(&g, runs->v[i]);
	if (g.read == 0)
		return session_fail(g.out, SESSION_NOTHING_READ,
				    err_set(err, ENODATA, "no run could be read"));
	r = fs_mkdirs(g.rep->dir, 0755, err);
	if (r < 0)
		return session_fail(g.out, SESSION_NO_OUTPUT, r);
	members_analyze(&g, &times);
	session_write(g.rep, g.m, &times, o, g.out);
	return 0;
}
