/*
 * The analysis driver: inputs → model → tables → files. The only place where readers, analyses and
 * writers meet.
 */
#include "session_private.h"
#include "shared_reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/temps.h"
#include "profrig/hlo/hlo.h"
#include "profrig/model/name_map.h"
#include "profrig/model/warnings.h"
#include "profrig/names/range_name.h"
#include "profrig/session/window.h"
#include "profrig/stats/clock_inputs.h"

/* ---- analyses ---- */

/* Energy comes with the table of counters, which flags odd and estimated ones. */
static bool is_wanted(const struct strvec *only, const char *name)
{
	return !only->nr || strvec_has(only, name) ||
	       (strcmp(name, "counters") == 0 && strvec_has(only, "energy"));
}

bool session_wants_shapes(const struct session *s)
{
	return is_wanted(&s->o->only, "energy") && s->ao.energy.estimate != ESTIMATE_TIME &&
	       !s->ao.energy.independent;
}

bool session_wants_facts(const struct session *s)
{
	for (const struct analysis *const *a = analyses; !s->o->keep_args && *a; a++)
		if ((*a)->run && !(*a)->series_only && is_wanted(&s->o->only, (*a)->name))
			return true;
	return false;
}

static void analyses_run(struct session *s, struct table_set *ts)
{
	VEC(const struct analysis *) wanted = VEC_INIT;
	int64_t at = clock_monotonic_ns();

	session_phase(s->o, SESSION_ANALYSE, "");
	counters_learn(s->m, s->o->counters);
	s->times.attribute_s += session_lap_s(&at);
	for (size_t i = 0; analyses[i]; i++)
		if (is_wanted(&s->o->only, analyses[i]->name))
			VEC_PUSH(&wanted, analyses[i]);
	session_run_analyses(s, wanted.v, wanted.nr, ts);
	VEC_RELEASE(&wanted);
}

void session_strict(const struct model *m, const struct session_opts *o,
		    struct session_outcome *out)
{
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];

		if (w->severity < SEV_WARNING)
			continue;
		session_note(o, out, SESSION_STRICT, "%s, %" PRIu64 " of them, the first: %s",
			     w->code, w->count, w->text);
		session_worsen(out, SESSION_PARTIAL);
	}
}

/* One note for each reason, with all that are skipped for it. */
static void skipped_note(struct session *s, const struct table_set *ts)
{
	for (size_t i = 0; i < ts->skipped.nr; i++) {
		const struct skip *sk = ts->skipped.v;
		CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
		bool first = true;

		for (size_t k = 0; k < ts->skipped.nr; k++) {
			if (strcmp(sk[k].reason, sk[i].reason) != 0)
				continue;
			first = first && k >= i;
			strbuf_addf(&names, "%s%s", names.len ? ", " : "", sk[k].name);
		}
		if (first)
			session_note(s->o, s->out, SESSION_ANALYSIS_SKIPPED, "skipped: %s: %s",
				     names.buf, sk[i].reason);
	}
}

static void checks_note(struct session *s, const struct table_set *ts)
{
	for (size_t i = 0; i < ts->checks.nr; i++) {
		if (ts->checks.v[i].ok)
			continue;
		session_note(s->o, s->out, SESSION_CHECK_FAILED, "check failed: %s: %s",
			     ts->checks.v[i].name, ts->checks.v[i].detail);
		session_worsen(s->out, SESSION_PARTIAL);
	}
}

/* Those of functions and kernels. */
static void approximate_warn(struct model *m, const struct table_set *ts)
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

/* The window of the options, or those in which the run's tools recorded. */
static int windows_cut(struct session *s, struct report *rep, struct err *err)
{
	const struct analysis_marks *marks = s->ao.marks;
	CLEANUP(xfreep) struct window *w = xcalloc(marks->windows.nr + 1, sizeof(*w));
	size_t nr = marks->windows.nr;
	int r = 0;

	if (session_wants_steady(s->o)) {
		rep->window = s->o->steady ? "steady" : "skip-first";
		return session_steady_cut(s, &rep->windowed, err);
	}
	for (size_t i = 0; i < nr; i++)
		w[i] = marks->windows.v[i].w;
	if (s->o->window && (r = window_of(s->o->window, s->m, &w[0], err)) < 0)
		return err_wrap(err, session_fail(s->out, SESSION_BAD_REQUEST, r), "--window");
	rep->window = s->o->window;
	nr = s->o->window ? strcmp(s->o->window, ":") != 0 : nr;
	if (nr && s->profile)
		model_warn(s->m, UINT32_MAX, W_WINDOW_IGNORED, 1,
			   "the run has %zu recording window%s", nr, nr == 1 ? "" : "s");
	else if (nr)
		model_window(s->m, w, nr, &rep->windowed);
	return 0;
}

/* ---- one analysis ---- */

static char *run_json_read(struct session *s, const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t n;

	if (fs_read(path, (size_t)256 << 20, &text, &n, &err) == 0)
		return text;
	session_note(s->o, s->out, SESSION_UNREADABLE, "the report has no facts of the run: %s",
		     err.msg);
	session_worsen(s->out, SESSION_PARTIAL);
	return NULL;
}

static void session_begin(struct session *s)
{
	s->m = model_new();
	s->m->classes = s->o->classes;
	s->ao = s->o->analysis;
	s->ao.comm = s->o->comm;
	topology_again(s->o->topology);
	s->energy = energy_stream_new(s->m, &s->ao, s->o->counters, s->o->topology);
}

/* Only of what is analysed: other readers of a trace (convert, info) want the names as they are. */
static void ranges_rename(struct session *s)
{
	if (!s->o->raw_names)
		name_map_set(s->m, range_name);
}

static void session_release(struct session *s)
{
	profile_free(s->profile);
	profile_free(s->of_model);
	energy_stream_free(s->energy);
	model_free(s->m);
	hlo_programs_free(s->programs);
	free(s->run_dir);
	free(s->alone);
}

/* Lanes cost time, and only energy needs them. */
static struct lane_reader lanes_for(const struct session *s)
{
	return is_wanted(&s->o->only, "energy") ? energy_stream_reader(s->energy)
						: (struct lane_reader){ .ctx = NULL };
}

/* A counter's samples are among the calls of threads: its energy needs single calls. */
static bool energy_needs_calls(const struct session *s)
{
	return is_wanted(&s->o->only, "energy") && energy_stream_lacks(s->energy);
}

/* The calls of all ranks' models into one profile, which is rank 0's. */
static void model_share(struct session *s)
{
	struct profile_opts po = { .threads = s->o->threads ? (unsigned)s->o->threads : 1,
				   .lanes = lanes_for(s),
				   .comm = s->o->comm };
	int64_t at = clock_monotonic_ns();

	topology_resolve(s->o->topology, s->m);
	s->ao.energy.topology = s->o->topology;
	counters_learn(s->m, s->o->counters);
	s->profile = profile_of_model(s->m, &po);
	s->times.attribute_s += session_lap_s(&at);
	if (s->m->library)
		model_warn(s->m, UINT32_MAX, W_NOT_IN_PROFILE, 1,
			   "calls of libraries are not looked for in the trace");
}

/*
 * Inputs → model, with the calls in a profile where they are streamed. *ret_again: all must be done
 * again with SINK_MODEL.
 */
static int inputs_take(struct session *s, const struct strvec *inputs, struct report *rep,
		       bool *ret_again, struct err *err)
{
	bool fits;
	int r = session_pick_sink(s, inputs, lanes_for(s), &fits, err);

	if (r == 0)
		r = session_read_inputs(s, inputs, err);
	rep->run_dir = STEAL(s->run_dir);
	if (s->profile)
		profile_give_up(s->profile, NULL);
	if (r < 0)
		return r;
	*ret_again = s->profile && fits && energy_needs_calls(s);
	if (*ret_again)
		return 0;
	if (s->profile)
		profile_finish(s->profile);
	s->ao.stream = s->energy;
	if (s->lanes)
		model_share(s);
	else
		topology_resolve(s->o->topology, s->m);
	if (s->profile)
		rep->sink = "profile";
	else if (s->o->align)
		clock_inputs_align(s->m);
	return windows_cut(s, rep, err);
}

/* Several analyses share the aggregates of a model. */
static void aggregate(struct session *s)
{
	int64_t at = clock_monotonic_ns();
	bool wanted = false;

	for (size_t i = 0; analyses[i]; i++)
		wanted |= analyses[i]->of_profile && is_wanted(&s->o->only, analyses[i]->name);
	if (!s->profile && wanted)
		s->of_model = profile_of_model(
			s->m, &(struct profile_opts){ .threads = (unsigned)s->o->threads,
						      .lanes = lanes_for(s) });
	session_done(s->o, SESSION_ANALYSE, "profile");
	s->times.attribute_s += session_lap_s(&at);
}

static int tables_make(struct session *s, struct report *rep, struct err *err)
{
	int r;

	s->ao.energy.topology = s->o->topology;
	s->ao.threads = (unsigned)s->o->threads;
	counters_learn(s->m, s->o->counters);
	aggregate(s);
	analyses_run(s, &rep->tables);
	if (s->profile)
		approximate_warn(s->m, &rep->tables);
	skipped_note(s, &rep->tables);
	checks_note(s, &rep->tables);
	if (s->o->strict)
		session_strict(s->m, s->o, s->out);
	rep->run_json = rep->run_dir ? run_json_read(s, rep->run_dir) : NULL;
	r = fs_mkdirs(rep->dir, 0755, err);
	if (r < 0)
		return session_fail(s->out, SESSION_NO_OUTPUT, r);
	session_write(rep, s->m, &s->times, s->o, s->out);
	return 0;
}

/* rep->dir and rep->final are set. */
static int analyze_into(struct session *s, const struct strvec *inputs, struct report *rep,
			bool *ret_again, struct err *err)
{
	CLEANUP(analysis_marks_release)
	struct analysis_marks marks = { VEC_INIT, VEC_INIT, VEC_INIT };
	int r;

	session_begin(s);
	ranges_rename(s);
	s->ao.marks = &marks;
	*ret_again = false;
	r = inputs_take(s, inputs, rep, ret_again, err);
	if (*ret_again)
		free(STEAL(rep->run_dir));
	else if (r == 0)
		r = tables_make(s, rep, err);
	session_release(s);
	return r;
}

/*
 * All ranks but the first read and write nothing. A rank that fails stops the others with its
 * reason.
 */
static void analyze_along(struct session *s, const struct strvec *inputs, bool lanes)
{
	struct err err = ERR_INIT;

	session_begin(s);
	ranges_rename(s);
	s->lanes = lanes;
	if (lanes) {
		if (session_read_inputs(s, inputs, &err) == 0)
			model_share(s);
		session_release(s);
		return;
	}
	session_stream(s, lanes_for(s));
	if (session_read_inputs(s, inputs, &err) == 0 || s->out->end == SESSION_NOTHING_READ)
		err_set(&err, EIO, "%s", s->out->last_error);
	profile_give_up(s->profile, err.msg);
	session_release(s);
}

/* At most twice: a streamed input is read again, into a model, when energy needs single calls. */
static int analyze_one(const struct strvec *inputs, const struct session_opts *o,
		       const char *output, struct session_result *ret, struct err *err)
{
	const struct session_outcome before = ret->outcome;
	struct session_opts with = *o;
	bool again;
	int r;

	do {
		struct session s = { .o = &with, .out = &ret->outcome, .output = output };

		ret->outcome = before;
		r = analyze_into(&s, inputs, &ret->report, &again, err);
		with.sink = SINK_MODEL;
	} while (again);
	return r;
}

/* One analysis of all inputs, or an ensemble. */
static int analyze_inputs(const struct strvec *inputs, const struct session_opts *o,
			  const char *output, struct session_result *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;
	const char *other;

	if (session_runs_of(inputs, o, &ret->outcome, &runs, &other) < 2)
		return analyze_one(inputs, o, output, ret, err);
	if (!other)
		return session_analyze_runs(&runs, o, ret, err);
	return session_fail(&ret->outcome, SESSION_BAD_REQUEST,
			    err_set(err, EINVAL,
				    "%s is no run: several runs are analysed without anything else",
				    other));
}

/* ---- into a folder ---- */

static char *stage_make(const char *final, struct err *err)
{
	CLEANUP(xfreep) char *parent = fs_dir(final);
	char *stage = NULL;
	int r = fs_mkdirs(parent, 0777, err);

	if (r == 0 && !(stage = report_stage(final)))
		r = err_sys(err, errno, "%s", final);
	if (r < 0)
		err_wrap(err, r, "cannot write to %s", final);
	return stage;
}

/* Writes beside an earlier result and replaces it once the new one is whole. */
static int analyze_staged(const struct strvec *inputs, const struct session_opts *o,
			  const char *final, struct session_result *ret, struct err *err)
{
	CLEANUP(xfreep) char *stage = NULL;
	struct report *rep = &ret->report;
	struct err failed = ERR_INIT;
	int r;

	session_output_sweep(final, o, &ret->outcome);
	stage = stage_make(final, err);
	if (!stage)
		return session_fail(&ret->outcome, SESSION_NO_OUTPUT, -EACCES);
	temps_hold(stage);
	rep->dir = stage;
	rep->final = final;
	r = analyze_inputs(inputs, o, final, ret, err);
	if (!rep->analysis_json) {
		fs_remove_tree(stage, NULL);
	} else if (report_commit(stage, final, &failed) < 0) {
		session_note(o, &ret->outcome, SESSION_NOT_WRITTEN, "%s", failed.msg);
		session_worsen(&ret->outcome, SESSION_PARTIAL);
	}
	temps_let_go(stage);
	rep->final = NULL;
	rep->dir = rep->analysis_json ? xstrdup(final) : NULL;
	return r;
}

static int names_check(const struct session_opts *o, struct err *err)
{
	for (size_t i = 0; i < o->only.nr; i++)
		if (!analysis_find(o->only.v[i]))
			return err_set(err, EINVAL,
				       "unknown analysis '%s' ('profrig list analyses' shows them)",
				       o->only.v[i]);
	return session_formats_check(&o->formats, err);
}

int session_analyze(const struct strvec *inputs, const struct session_opts *opts, const char *out,
		    struct session_result *ret, struct err *err)
{
	struct counter_rules none = COUNTER_RULES_INIT;
	struct session_opts o = *opts;
	CLEANUP(xfreep) char *final = fs_abs(out);
	struct session along = { .o = &o, .out = &ret->outcome, .output = final };
	int r;

	*ret = (struct session_result){ .report = REPORT_INIT };
	o.counters = o.counters ? o.counters : &none;
	r = names_check(&o, err);
	if (r < 0)
		return session_fail(&ret->outcome, SESSION_BAD_REQUEST, r);
	if (comm_rank(o.comm) > 0) {
		if (comm_begin(o.comm, true, 0, NULL))
			session_ranks_serve(&along, inputs, analyze_along);
	} else if ((r = session_output_check(final, err)) < 0) {
		session_fail(&ret->outcome, SESSION_NO_OUTPUT, r);
	} else {
		r = analyze_staged(inputs, &o, final, ret, err);
	}
	if (comm_rank(o.comm) == 0 && !o.member)
		session_ranks_dismiss(o.comm);
	counter_rules_release(&none);
	return r;
}

int session_read(const struct strvec *inputs, const struct session_opts *o,
		 struct session_trace *ret, struct err *err)
{
	struct session s = { .o = o, .out = &ret->outcome };
	int r;

	*ret = (struct session_trace){ .m = NULL };
	session_begin(&s);
	r = session_pick_sink(&s, inputs, (struct lane_reader){ .ctx = NULL }, NULL, err);
	if (r == 0)
		r = session_read_inputs(&s, inputs, err);
	ret->m = STEAL(s.m);
	ret->profile = STEAL(s.profile);
	session_release(&s);
	return r;
}
