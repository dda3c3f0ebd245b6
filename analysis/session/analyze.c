/*
 * The analysis driver: inputs → model → tables → files. The only place where readers, analyses and
 * writers meet.
 */
#include "cli.h"
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/base/temps.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"

void analyze_options_init(struct analyze_options *o)
{
	*o = (struct analyze_options){ .only = STRVEC_INIT,
				       .formats = STRVEC_INIT,
				       .topology = topology_new() };
}

void analyze_options_release(struct analyze_options *o)
{
	strvec_release(&o->only);
	strvec_release(&o->formats);
	idle_opts_release(&o->analysis.idle);
	topology_free(o->topology);
}

double analyze_lap_s(int64_t *at)
{
	int64_t now = clock_monotonic_ns();
	double s = (double)(now - *at) / 1e9;

	*at = now;
	return s;
}

static const char *const all_formats[] = { "csv", "json", "folded", "html" };

static size_t format_count(const struct strvec *formats)
{
	return formats->nr ? formats->nr : ARRAY_LEN(all_formats);
}

static const char *format_at(const struct strvec *formats, size_t i)
{
	return formats->nr ? formats->v[i] : all_formats[i];
}

int formats_known(const struct strvec *formats)
{
	for (size_t i = 0; i < formats->nr; i++) {
		if (writer_find(formats->v[i]))
			continue;
		log_error("unknown report format '%s' ('profrig list reports' shows them)",
			  formats->v[i]);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

void cli_write_failed(const struct err *err, bool advise)
{
	bool full = err->code == ENOSPC || err->code == EDQUOT;

	log_error("%s%s", err->msg,
		  full && advise ? ": make room there, or name another place, and write it again"
				 : "");
}

/* A stage is no place that a user knows: the file is named as it would be in the end. */
static void name_final(const struct report *r, struct err *err)
{
	const char *at = r->final ? strstr(err->msg, r->dir) : NULL;
	const struct err was = *err;

	if (at)
		err_set(err, was.code, "%.*s%s%s", (int)(at - err->msg), was.msg, r->final,
			was.msg + (at - err->msg) + strlen(r->dir));
}

/* A full disk fails every writer in the same words; once is enough. */
static void say_once(const struct report *r, struct strvec *said, struct err *err)
{
	name_final(r, err);
	if (strvec_has(said, err->msg))
		return;
	cli_write_failed(err, said->nr == 0);
	strvec_push(said, err->msg);
}

static int write_each(const struct report *r, const struct strvec *formats, struct strvec *said)
{
	int code = EXIT_DONE;

	progress_phase("write reports");
	for (size_t i = 0; i < format_count(formats); i++) {
		struct err err = ERR_INIT;

		if (writer_find(format_at(formats, i))->write(r, &err) == 0)
			continue;
		say_once(r, said, &err);
		code = EXIT_PARTIAL;
	}
	return code;
}

int write_formats(const struct report *r, const struct strvec *formats)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;

	return write_each(r, formats, &said);
}

void say_written(const struct report *r, const struct strvec *formats)
{
	static const char *const order[] = { "html", "csv", "json" };

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		const struct writer *w = writer_find(order[i]);
		CLEANUP(xfreep) char *path = w && w->path ? w->path(r) : NULL;

		if (path && (!formats->nr || strvec_has(formats, order[i])) && fs_exists(path)) {
			printf("%s\n", path);
			return;
		}
	}
	if (fs_exists(r->dir))
		printf("%s\n", r->dir);
}

/*
 * Tables and reports; analysis.json last and once more, as it states how long the others took: what
 * was written before knows that time as unknown.
 */
int analyze_write(struct report *rep, const struct model *m, struct report_timings *times,
		  const struct strvec *formats)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT, all = STRVEC_INIT;
	CLEANUP(xfreep) char *path = fs_join(rep->dir, "analysis.json");
	struct err err = ERR_INIT;
	int64_t at = clock_monotonic_ns();
	int code;

	/* analysis.json names the tables, and `report` makes every other format of them */
	for (size_t i = 0; i < formats->nr; i++)
		strvec_push(&all, formats->v[i]);
	if (all.nr && !strvec_has(&all, "csv"))
		strvec_push(&all, "csv");
	times->write_s = NAN;
	rep->analysis_json = report_analysis_json(m, rep, times);
	code = write_each(rep, &all, &said);
	times->write_s = analyze_lap_s(&at);
	free(rep->analysis_json);
	rep->analysis_json = report_analysis_json(m, rep, times);
	if (fs_write_atomic(path, rep->analysis_json, strlen(rep->analysis_json), &err) == 0)
		return code;
	say_once(rep, &said, &err);
	return EXIT_PARTIAL;
}

/* Energy comes with its counters: what is odd or estimated about them is said there. */
static bool is_wanted(const struct strvec *only, const char *name)
{
	return !only->nr || strvec_has(only, name) ||
	       (strcmp(name, "counters") == 0 && strvec_has(only, "energy"));
}

static int run_one(const struct analysis *a, struct model *m, const struct profile *p,
		   const struct analysis_opts *ao, struct table_set *ts, struct err *err)
{
	int r = analysis_run(a, m, p, ao, ts, err);

	if (r != ANALYSIS_LEFT_OUT)
		return r;
	model_warn(m, UINT32_MAX, W_NOT_IN_PROFILE, 1, "%s", a->name);
	log_warn("analysis %s is left out: it needs --sink model", a->name);
	return 0;
}

static int run_analyses(struct model *m, const struct profile *p, const struct analyze_options *o,
			const struct analysis_opts *ao, struct table_set *ts,
			struct report_timings *times)
{
	int64_t start = clock_monotonic_ns();
	int code = EXIT_DONE;

	progress_phase("analyse");
	counters_learn(m, o->counters);
	times->attribute_s += analyze_lap_s(&start);
	for (size_t i = 0; analyses[i]; i++) {
		const struct analysis *a = analyses[i];
		struct err err = ERR_INIT;
		int64_t at = clock_monotonic_ns();
		if (!is_wanted(&o->only, a->name))
			continue;
		if (run_one(a, m, p, ao, ts, &err) < 0) {
			log_error("analysis %s: %s", a->name, err.msg);
			code = EXIT_PARTIAL;
		}
		*(strcmp(a->name, "energy") == 0 ? &times->attribute_s : &times->stats_s) +=
			analyze_lap_s(&at);
	}
	return code;
}

static char *read_run_json(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	char *text = NULL;
	size_t n;

	return fs_read(path, (size_t)256 << 20, &text, &n, NULL) < 0 ? NULL : text;
}

int analyze_strict_code(const struct model *m)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];

		if (w->severity < SEV_WARNING)
			continue;
		log_error("--strict: %s, %" PRIu64 " of them, the first: %s", w->code, w->count,
			  w->text);
		code = EXIT_PARTIAL;
	}
	return code;
}

static int checks_code(const struct table_set *ts)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < ts->checks.nr; i++) {
		if (ts->checks.v[i].ok)
			continue;
		log_error("check failed: %s: %s", ts->checks.v[i].name, ts->checks.v[i].detail);
		code = EXIT_PARTIAL;
	}
	return code;
}

int output_code(const char *dir)
{
	CLEANUP(xfreep) char *at = xstrdup(dir);

	while (!fs_exists(at) && strcmp(at, "/") != 0) {
		char *up = fs_dir(at);

		free(at);
		at = up;
	}
	if (!fs_is_dir(at))
		log_error("cannot write to %s: %s is not a directory", dir, at);
	else if (access(at, W_OK | X_OK) < 0)
		log_error("cannot write to %s: %s", dir, strerror(errno));
	else
		return EXIT_DONE;
	return EXIT_MISSING;
}

void output_sweep(const char *dir)
{
	static const char *const below[] = { ".", "tables", "folded" };
	CLEANUP(xfreep) char *beside = fs_dir(dir);
	char size[32];
	int64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, below[i]);

		n += fs_temp_sweep(path, &bytes);
	}
	/* whole results, on their way */
	n += fs_temp_sweep(beside, &bytes);
	if (n)
		log_notice("%s: removed %zu half-written file%s of a profrig that was killed, %s",
			   dir, n, n == 1 ? "" : "s", cli_si((double)bytes, "B", size));
}

static int options_code(const struct analyze_options *o)
{
	for (size_t i = 0; i < o->only.nr; i++) {
		if (analysis_find(o->only.v[i]))
			continue;
		log_error("unknown analysis '%s' ('profrig list analyses' shows them)",
			  o->only.v[i]);
		return EXIT_USAGE;
	}
	return formats_known(&o->formats);
}

/* Those of functions and kernels. */
static void say_approximate(struct model *m, const struct table_set *ts)
{
	static const char *const names[] = { "functions", "kernels" };
	uint64_t rows = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (table_set_find(ts, names[i]))
			rows += table_rows(table_set_find(ts, names[i]));
	if (rows)
		model_warn(m, UINT32_MAX, W_APPROXIMATE, rows,
			   "median_ns and p95_ns of functions and kernels are at most 0.8 %% off");
}

/* Lanes cost time; who does not ask for energy needs none. */
static struct lane_reader lanes_for(const struct analyze_options *o, struct energy_stream *energy)
{
	return is_wanted(&o->only, "energy") ? energy_stream_reader(energy)
					     : (struct lane_reader){ .ctx = NULL };
}

/* The part that was asked for, or in which the run's tools recorded. */
static int cut_windows(struct model *m, const struct profile *p, const struct analyze_options *o,
		       const struct analysis_opts *ao, struct report *rep)
{
	CLEANUP(xfreep) struct window *w = xcalloc(ao->moments->windows.nr + 1, sizeof(*w));
	size_t nr = ao->moments->windows.nr;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < nr; i++)
		w[i] = ao->moments->windows.v[i].w;
	if (o->window && window_of(o->window, m, &w[0], &err) < 0) {
		log_error("--window: %s", err.msg);
		return EXIT_USAGE;
	}
	rep->window = o->window;
	nr = o->window ? strcmp(o->window, ":") != 0 : nr;
	if (nr && p)
		model_warn(m, UINT32_MAX, W_WINDOW_IGNORED, 1, "the run has %zu recording window%s",
			   nr, nr == 1 ? "" : "s");
	else if (nr)
		model_window(m, w, nr, &rep->windowed);
	return EXIT_DONE;
}

/* Some counter's samples lie among the calls of threads: its energy needs single calls. */
static bool energy_needs_calls(const struct analyze_options *o, const struct energy_stream *energy)
{
	return is_wanted(&o->only, "energy") && energy_stream_lacks(energy);
}

/*
 * rep.dir is set; what is left of it is set once there is something to write. *ret_again: it must
 * be done again with --sink model, and nothing was written.
 */
static int analyze_into(struct model *m, const struct strvec *inputs,
			const struct analyze_options *o, struct report *rep, bool *ret_again)
{
	struct report_timings times = { 0 };
	struct analysis_opts ao = o->analysis;
	struct analyze_options with = *o;
	CLEANUP(analysis_moments_release)
	struct analysis_moments moments = { VEC_INIT, VEC_INIT, VEC_INIT };
	CLEANUP(energy_stream_freep)
	struct energy_stream *energy = energy_stream_new(m, &ao, o->counters, o->topology);
	CLEANUP(profile_freep) struct profile *p = NULL;
	struct err err = ERR_INIT;
	bool fits;
	int code = analyze_pick_sink(inputs, o, m, lanes_for(o, energy), &p, &fits);

	ao.comm = cli_comm;
	ao.moments = &moments;
	topology_again(o->topology);
	with.counters_first = p != NULL;
	if (code == EXIT_DONE)
		code = analyze_read(inputs, &with, m, &ao, &rep->run_dir, &times);
	if (p)
		profile_give_up(p, NULL);
	if (code == EXIT_UNREADABLE || code == EXIT_USAGE)
		return code;
	*ret_again = p && fits && energy_needs_calls(o, energy);
	if (*ret_again) {
		free(STEAL(rep->run_dir));
		return code;
	}
	if (p) {
		profile_finish(p);
		rep->sink = "profile";
		ao.stream = energy;
	}
	topology_resolve(o->topology, m);
	code = exit_worse(code, cut_windows(m, p, o, &ao, rep));
	if (code == EXIT_USAGE)
		return code;
	ao.energy.topology = o->topology;
	code = exit_worse(code, run_analyses(m, p, o, &ao, &rep->tables, &times));
	if (p)
		say_approximate(m, &rep->tables);
	code = exit_worse(code, checks_code(&rep->tables));
	if (o->strict)
		code = exit_worse(code, analyze_strict_code(m));
	rep->run_json = rep->run_dir ? read_run_json(rep->run_dir) : NULL;
	if (fs_mkdirs(rep->dir, 0755, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	return exit_worse(code, analyze_write(rep, m, &times, &o->formats));
}

/*
 * What the ranks but the first do: read along. They write and say nothing; who cannot go on as the
 * others do says so to them.
 */
static int analyze_along(const struct strvec *inputs, const struct analyze_options *o)
{
	struct model *m = model_new();
	struct analysis_opts ao = o->analysis;
	struct energy_stream *energy = energy_stream_new(m, &ao, o->counters, o->topology);
	struct profile *p = analyze_profile(o, m, lanes_for(o, energy));
	struct report_timings times = { 0 };
	struct analyze_options with = *o;
	char *run_dir = NULL;

	ao.comm = cli_comm;
	topology_again(o->topology);
	with.counters_first = true;
	analyze_read(inputs, &with, m, &ao, &run_dir, &times);
	profile_give_up(p, log_last_error());
	free(run_dir);
	profile_free(p);
	energy_stream_free(energy);
	model_free(m);
	return EXIT_DONE;
}

/* One analysis of all inputs, or an ensemble. */
static int analyze_inputs(const struct strvec *inputs, const struct analyze_options *o,
			  struct report *rep)
{
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;
	const char *other;
	struct analyze_options with = *o;
	bool again;
	int code;

	if (analyze_runs_of(inputs, &runs, &other) > 1) {
		if (!other)
			return analyze_runs(&runs, o, rep);
		log_error("%s is no run: several runs are analysed without anything else", other);
		return EXIT_USAGE;
	}
	do {
		struct model *m = model_new();

		code = analyze_into(m, inputs, &with, rep, &again);
		model_free(m);
		with.sink = SINK_MODEL;
	} while (again);
	return code;
}

/* Beside what is there; in its place when it is whole. */
static int analyze_staged(const struct strvec *inputs, const struct analyze_options *o,
			  const char *final, struct report *rep)
{
	CLEANUP(xfreep) char *parent = fs_dir(final);
	struct err err = ERR_INIT;
	int code = EXIT_DONE;

	output_sweep(final);
	if (fs_mkdirs(parent, 0777, &err) == 0 && !(rep->dir = report_stage(final)))
		err_sys(&err, errno, "%s", final);
	if (!rep->dir) {
		log_error("cannot write to %s: %s", final, err.msg);
		return EXIT_MISSING;
	}
	temps_hold(rep->dir);
	rep->final = final;
	code = analyze_inputs(inputs, o, rep);
	if (rep->analysis_json && report_commit(rep->dir, final, &err) < 0) {
		log_error("%s", err.msg);
		code = exit_worse(code, EXIT_PARTIAL);
	} else if (!rep->analysis_json) {
		fs_remove_tree(rep->dir, NULL);
	}
	temps_let_go(rep->dir);
	free(rep->dir);
	rep->final = NULL;
	rep->dir = rep->analysis_json ? xstrdup(final) : NULL;
	return code;
}

int analyze_to(const struct strvec *inputs, const struct analyze_options *opts, const char *out,
	       struct report *ret)
{
	struct counter_rules none = COUNTER_RULES_INIT;
	struct analyze_options o = *opts;
	struct report rep = REPORT_INIT;
	CLEANUP(xfreep) char *final = fs_abs(out);
	int code = options_code(&o);

	o.output = final;
	o.counters = o.counters ? o.counters : &none;
	if (code == EXIT_DONE && comm_rank(cli_comm) > 0) {
		if (comm_begin(cli_comm, true, 0, NULL))
			code = analyze_along(inputs, &o);
	} else {
		if (code == EXIT_DONE)
			code = output_code(final);
		if (code == EXIT_DONE)
			code = analyze_staged(inputs, &o, final, &rep);
	}
	counter_rules_release(&none);
	if (ret)
		*ret = rep;
	else
		report_release(&rep);
	return code;
}
