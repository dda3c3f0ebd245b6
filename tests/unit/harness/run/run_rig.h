/*
 * run_rig: what the tests of runs share: a plan made by hand in a scratch folder, a run of it, and
 * run.json read back.
 */
#ifndef RUN_RIG_H
#define RUN_RIG_H

#include "test.h"

#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/run/run.h"

/* --- a plan by hand --- */

/* Of a function that does what a signal's handler does: no order with the thread that it
 * interrupts. */
#define AS_HANDLER __attribute__((no_sanitize("thread")))

struct rig {
	char *top, *runs;
	struct runconf conf;
	struct plan plan;
	struct run_opts opts;
	struct run_result result;
	volatile sig_atomic_t interrupt; /* set by a thread here, by a signal's handler outside */
	struct strbuf live;
	size_t live_takes; /* bytes at a time, 0 all */
	struct strvec phases;
	json_t *doc; /* run.json of the last run */
};

static inline char *lib_dir(void)
{
	const char *b = getenv("B");

	return fs_abs(b ? b : "build");
}

static inline void on_phase(void *ctx, const char *phase)
{
	strvec_push(&((struct rig *)ctx)->phases, phase);
}

static inline size_t on_output(void *ctx, const char *text, size_t n)
{
	struct rig *g = ctx;

	if (g->live_takes && n > g->live_takes)
		n = g->live_takes;
	strbuf_add(&g->live, text, n);
	return n;
}

/* Stands in for analysis: "records N" is valid with N, "bad" is damaged. */
static inline int artifact_check_text(const char *path, const char *reader, uint64_t min_records,
				      struct run_verdict *ret, struct err *err)
{
	CLEANUP(xfreep) char *data = NULL;

	if (reader && !strcmp(reader, "nosuch"))
		return err_set(err, EINVAL, "no reader '%s'", reader);
	assert_int_equal(fs_read(path, 4096, &data, NULL, NULL), 0);
	*ret = (struct run_verdict){ .first_ns = 5, .last_ns = 9 };
	snprintf(ret->reader, sizeof(ret->reader), "%s", reader ? reader : "found");
	if (!strncmp(data, "records ", 8))
		ret->records = strtoull(data + 8, NULL, 10);
	if (!strncmp(data, "bad", 3)) {
		snprintf(ret->verdict, sizeof(ret->verdict), "damaged");
		snprintf(ret->reason, sizeof(ret->reason), "line 1: no record");
	} else {
		snprintf(ret->verdict, sizeof(ret->verdict),
			 ret->records < min_records || !ret->records ? "empty" : "valid");
	}
	return 0;
}

static inline void plan_begin_at(struct rig *g, const char *runs)
{
	struct plan *pl = &g->plan;

	*pl = (struct plan){ .engine = engine_find("host"),
			     .engine_argv = STRVEC_INIT,
			     .mkdirs = STRVEC_INIT,
			     .conf = &g->conf };
	pl->spec.caps = pl->spec.options = (struct strvec)STRVEC_INIT;
	pl->run_id = run_new_id("unit/test");
	pl->run_dir = fs_join(runs, pl->run_id);
	pl->spec.run_id = xstrdup(pl->run_id);
	pl->spec.name = xasprintf("profrig-%s", pl->run_id);
	pl->spec.run_dir = xstrdup(pl->run_dir);
	pl->spec.lib_dir = lib_dir();
}

/* For another run with the same rig. */
static inline void plan_again(struct rig *g)
{
	run_result_release(&g->result);
	plan_release(&g->plan);
	plan_begin_at(g, g->runs);
}

/* False after two minutes, which no machine needs for what tests wait for. */
static inline bool wait_for_file(const char *path)
{
	for (int i = 0; i < 12000; i++) {
		if (fs_size(path) >= 0)
			return true;
		usleep(10000);
	}
	return false;
}

static inline int setup(void **state)
{
	struct rig *g = xcalloc(1, sizeof(*g));
	CLEANUP(xfreep) char *runtime = NULL;

	g->top = test_dir();
	g->runs = fs_join(g->top, "runs");
	runtime = fs_join(g->top, "runtime");
	assert_int_equal(mkdir(runtime, 0700), 0);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	g->conf = (struct runconf){ .model_name = xstrdup("unit/test"),
				    .command = STRVEC_INIT,
				    .tags = STRVEC_INIT,
				    .grace_s = 0.3 };
	g->conf.container.caps = g->conf.container.options = (struct strvec)STRVEC_INIT;
	cfg_init(&g->conf.effective);
	assert_int_equal(
		cfg_parse_text(&g->conf.effective, "", 0, "built-in", false, LAYER_BUILTIN, NULL),
		0);
	g->opts = (struct run_opts){ .check = artifact_check_text,
				     .events = { on_phase, on_output, g },
				     .interrupt = &g->interrupt,
				     .runs_dir = g->runs,
				     .version = "0.0-unit" };
	strbuf_init(&g->live);
	strvec_init(&g->phases);
	plan_begin_at(g, g->runs);
	*state = g;
	return 0;
}

static inline int teardown(void **state)
{
	struct rig *g = *state;

	json_decref(g->doc);
	run_result_release(&g->result);
	plan_release(&g->plan);
	runconf_release(&g->conf);
	strbuf_release(&g->live);
	strvec_release(&g->phases);
	test_dir_done(&g->top);
	free(g->runs);
	free(g);
	return 0;
}

#define RUN_TEST(f) TEST_OF(f, struct rig *g, setup, teardown)

static inline void put_env(struct plan_step *s, const char *name, const char *value, bool secret)
{
	VEC_PUSH(&s->env, ((struct plan_env){ .name = xstrdup(name),
					      .value = xstrdup(value),
					      .origin = xstrdup("unit"),
					      .secret = secret }));
}

static inline struct plan_step *add_step(struct rig *g, enum step_kind kind, const char *name,
					 const char *command)
{
	struct plan *pl = &g->plan;
	struct plan_step s = {
		.kind = kind, .name = xstrdup(name), .argv = STRVEC_INIT, .inherit_env = true
	};
	size_t nr = pl->steps.nr + 1;

	strvec_pushl(&s.argv, "/bin/sh", "-c", command, NULL);
	s.cwd = xstrdup(g->top);
	s.out = xasprintf("%s/steps/%02zu-%s.out", pl->run_dir, nr, name);
	s.err = xasprintf("%s/steps/%02zu-%s.err", pl->run_dir, nr, name);
	put_env(&s, "PROFRIG_RUN_ID", pl->run_id, false);
	put_env(&s, "PROFRIG_RUN_DIR", pl->run_dir, false);
	VEC_PUSH(&pl->steps, s);
	return &pl->steps.v[pl->steps.nr - 1];
}

static inline void add_output(struct rig *g, const char *tool, const char *glob, bool required,
			      uint64_t min_records)
{
	struct plan *pl = &g->plan;

	VEC_PUSH(&pl->outputs,
		 ((struct plan_output){ .tool = xstrdup(tool),
					.dir = xasprintf("%s/artifacts/%s", pl->run_dir, tool),
					.glob = xstrdup(glob),
					.required = required,
					.min_records = min_records }));
	strvec_pushf(&pl->mkdirs, "%s/artifacts/%s", pl->run_dir, tool);
}

static inline json_t *run_doc_load(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	json_error_t e;
	json_t *doc = json_load_file(path, 0, &e);

	if (!doc)
		fail_msg("%s:%d: %s", path, e.line, e.text);
	assert_string_equal(json_string_value(json_object_get(doc, "schema")), "profrig.run/1");
	return doc;
}

static inline void rig_run(struct rig *g)
{
	struct err err = ERR_INIT;

	if (run_execute(&g->plan, &g->opts, &g->result, &err) < 0)
		fail_msg("%s", err.msg);
	/* it lives for others until its caller is done with it */
	assert_true(g->result.locked);
	run_result_over(&g->result);
	json_decref(g->doc);
	g->doc = run_doc_load(g->plan.run_dir);
}

static inline const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static inline json_t *step_of(const struct rig *g, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach(json_object_get(g->doc, "steps"), i,
			   s) if (!strcmp(str(s, "name"), name)) return s;
	return NULL;
}

static inline void ended_as(const struct rig *g, enum run_status status, int exit_code,
			    const char *reason)
{
	if (g->result.status != status || g->result.exit_code != exit_code)
		fail_msg("%s, exit %d: %s", run_status_name(g->result.status), g->result.exit_code,
			 g->result.reason);
	assert_string_equal(str(g->doc, "status"), run_status_name(status));
	if (reason && !strstr(g->result.reason, reason))
		fail_msg("reason '%s' lacks '%s'", g->result.reason, reason);
	assert_string_equal(str(g->doc, "reason"), g->result.reason);
	assert_true(strlen(str(g->doc, "ended_utc")) > 20);
}

static inline char *read_below(const struct rig *g, const char *rel)
{
	return test_get(g->plan.run_dir, rel);
}

static inline pid_t pid_in(const struct rig *g, const char *rel)
{
	CLEANUP(xfreep) char *text = read_below(g, rel);

	return (pid_t)strtol(text, NULL, 10);
}

/* Nothing of this run is registered or locked any more. */
static inline void assert_cleared_away(const struct rig *g)
{
	CLEANUP(xfreep) char *dir = fs_join(getenv("XDG_RUNTIME_DIR"), "profrig");
	CLEANUP(xfreep) char *lock = fs_join(g->plan.run_dir, ".lock");
	CLEANUP(xfreep) char *reserve = fs_join(g->plan.run_dir, ".reserve");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	assert_int_equal(fs_list(dir, &names, NULL), 0);
	/*
	 * A name with a dot is an entry whose profrig was killed before it was whole: younger than
	 * a minute, it may still become one.
	 */
	for (size_t i = 0; i < names.nr; i++)
		if (names.v[i][0] != '.')
			fail_msg("'%s' is still registered", names.v[i]);
	assert_false(fs_exists(lock));
	assert_false(fs_exists(reserve));
}

static inline void add_sampler(struct rig *g, const char *kind)
{
	VEC_PUSH(&g->plan.samplers, ((struct plan_sampler){ .tool = xstrdup("cpu"),
							    .kind = xstrdup(kind),
							    .device = xstrdup("all"),
							    .period_s = 0.05,
							    .out = xasprintf("%s/samples/cpu.csv",
									     g->plan.run_dir) }));
	strvec_pushf(&g->plan.mkdirs, "%s/samples", g->plan.run_dir);
}

#endif
