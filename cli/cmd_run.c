/*
 * run: prepare → preflight → execute → analyse → summary. plan: prepare → print.
 */
#include "baseline.h"
#include "cli.h"
#include "manifest_models.h"
#include "package_images.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/base/text.h"
#include "profrig/readers/reader.h"

/*
 * run and plan take the same, so that a line can be tried by changing one word. clang-format would
 * take the rows of the table apart.
 */
/* clang-format off */
#define RUN_OPTS(o) \
	{ "tools-dir", 0, OPT_LIST, &(o)->tools_dirs, "DIR", \
	  "look for tools here first (repeatable)" }, \
	{ "output", 'o', OPT_STR, &(o)->runs_dir, "DIR", "where run directories go (./runs)" }, \
	{ "label", 0, OPT_LIST, &(o)->labels, "K=V", "label of the run (repeatable)" }, \
	{ "engine", 0, OPT_STR, &(o)->engine, "NAME", "auto, docker, podman, apptainer or host" }, \
	{ "image", 0, OPT_STR, &(o)->image, "NAME", "container image" }, \
	{ "build", 0, OPT_FLAG, &(o)->build, NULL, "build the models' images first" }, \
	{ "manifest", 0, OPT_STR, &(o)->manifest, "FILE", \
	  "run the images of this manifest of 'profrig build'" }, \
	{ "data-cache", 0, OPT_STR, &(o)->data_cache, "DIR", "where to keep fetched data" }, \
	{ "tools", 0, OPT_STR, &(o)->tools, "A,B,…", \
	  "tools to use instead of the configured ones, innermost first" }, \
	{ "config", 0, OPT_LIST, &(o)->config, "FILE", \
	  "configuration, YAML or JSON (repeatable, last wins)" }, \
	{ "set", 0, OPT_LIST, &(o)->sets, "KEY=VALUE", \
	  "set one value, such as env.OMP_NUM_THREADS=4" }, \
	{ "timeout", 0, OPT_SECONDS, &(o)->timeout_s, "S", \
	  "end the workload after this time" }, \
	{ "idle", 0, OPT_SECONDS, &(o)->idle_s, "S", \
	  "sample S seconds before and after the workload" }, \
	{ "wrap-at", 0, OPT_STR, &(o)->wrap_at, "PROG,…", \
	  "wrap these programs of the workload, not the whole workload" }, \
	{ "privileged-profiling", 0, OPT_FLAG, &(o)->privileged_profiling, NULL, \
	  "give the container the privileges that the tools of this run declare" }, \
	{ "force-tools", 0, OPT_FLAG, &(o)->force_tools, NULL, \
	  "treat unsupported tools as warnings" }, \
	{ "record-start", 0, OPT_STR, &(o)->record_start, "WHEN", \
	  "when tools start recording: begin, manual ('profrig ctl') or 'mark NAME'" }, \
	{ "record-after", 0, OPT_SECONDS, &(o)->record_after_s, "S", \
	  "start recording S seconds after that" }, \
	{ "record-for", 0, OPT_SECONDS, &(o)->record_for_s, "S", "record for S seconds" }, \
	{ "record-only", 0, OPT_FLAG, &(o)->record_only, NULL, \
	  "pause samplers too while tools pause" }, \
	{ "keep", 0, OPT_FLAG, &(o)->keep, NULL, "keep the container" }, \
	{ "live", 0, OPT_FLAG, &(o)->live, NULL, "show the workload's output while it runs" }, \
	{ "repeat", 0, OPT_INT, &(o)->repeat, "N", "run each model N times" }, \
	{ "cooldown", 0, OPT_SECONDS, &(o)->cooldown_s, "S", \
	  "pause between runs" }, \
	{ "baseline", 0, OPT_MAYBE, &(o)->baseline, "tools", \
	  "run each model without tools too, to measure what they cost; " \
	  "=tools: also with each tool alone" }, \
	{ "overhead-budget", 0, OPT_STR, &(o)->overhead_budget, "P%", \
	  "how much longer the workload may take with tools" }, \
	{ "gate", 0, OPT_FLAG, &(o)->gate, NULL, \
	  "exit 7 when tools cost more than their budget" }, \
	{ "no-analyze", 0, OPT_FLAG, &(o)->no_analyze, NULL, \
	  "skip the analysis; 'profrig report' does it later" }, \
	{ "perf-csv", 0, OPT_STR, &(o)->perf_csv, "FILE", \
	  "add the results of each run to this table" }, \
	{ "skip-model-run", 0, OPT_FLAG, &(o)->skip_workload, NULL, \
	  "run the scripts but not the workload" }, \
	{ "disable-skip-gpu-arch", 0, OPT_FLAG, &(o)->all_archs, NULL, \
	  "also run models that skip this GPU (model.skip_gpu_arch)" }, \
	{ "propagate", 0, OPT_FLAG, &(o)->propagate, NULL, \
	  "exit with the workload's own status instead of 1" }
/* clang-format on */

#define TICK_NS (250 * NS_PER_MS)
#define MAX_COOLDOWN_S 86400

static int check_artifact(const char *path, const char *reader, uint64_t min_records,
			  struct run_verdict *ret, struct err *err)
{
	struct artifact_check a;

	(void)err;
	reader_check(path, reader, min_records, &a);
	*ret = (struct run_verdict){
		.unread = a.unread,
		.records = a.records,
		.first_ns = a.first_ns,
		.last_ns = a.last_ns,
	};
	snprintf(ret->verdict, sizeof(ret->verdict), "%s", a.verdict);
	snprintf(ret->reader, sizeof(ret->reader), "%s", a.reader);
	snprintf(ret->reason, sizeof(ret->reason), "%s", a.reason);
	return 0;
}

/* ctx: whether the workload's output, shown live, stands in the middle of a line. */
static void on_phase(void *ctx, const char *phase)
{
	bool *mid_line = ctx;

	if (*mid_line && progress_heard(0)) {
		fputc('\n', stderr);
		*mid_line = false;
	}
	progress_phase("%s", phase);
}

static void on_tick(void *ctx)
{
	(void)ctx;
	progress_tick();
}

static void on_note(void *ctx, const char *text)
{
	(void)ctx;
	progress_note(text);
}

static void on_bytes(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	progress_total(total);
	progress_update(done);
}

/* A pipe or terminal that is writable takes so much without waiting, mostly. */
static size_t on_output(void *ctx, const char *text, size_t n)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };
	bool *mid_line = ctx;
	size_t at = 0;

	while (at < n && poll(&p, 1, 0) > 0) {
		size_t part = n - at < PIPE_BUF ? n - at : PIPE_BUF;
		ssize_t w = write(2, text + at, part);
		if (w < 0 && errno == EINTR)
			break;
		if (w <= 0) /* it will never be read */
			return n;
		at += (size_t)w;
	}
	if (at > 0)
		*mid_line = text[at - 1] != '\n';
	return at;
}

static void say_leftovers(const char *runs_dir)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = fs_abs(runs_dir);

	run_sweep_leftovers(dir, &lines, NULL);
	for (size_t i = 0; i < lines.nr; i++)
		log_notice("%s", lines.v[i]);
}

static void print_json(const struct prepared *p, const struct run_result *r, int code)
{
	struct json_out j;

	json_out_init(&j, stdout, 0);
	json_obj(&j, NULL);
	json_str(&j, "id", p->run_id);
	json_str(&j, "run_dir", p->run_dir);
	json_str(&j, "status", run_status_name(r->status));
	json_str(&j, "reason", r->reason[0] ? r->reason : NULL);
	json_i64(&j, "exit_code", code);
	json_i64(&j, "workload_exit_code", r->workload_code);
	json_i64(&j, "workload_signal", r->workload_signal);
	json_f64(&j, "workload_s", r->workload_s);
	json_str(&j, "result", *r->result ? r->result : NULL);
	json_end(&j);
	putchar('\n');
	fflush(stdout);
}

static int missing_prerequisites(const struct prepared *p, const struct run_opts *ro)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct err err = ERR_INIT;
	int n = run_preflight(&p->plan, ro, &missing, &err);

	if (n == -EINTR)
		return cli_interrupt_code(cli_interrupt);
	for (size_t i = 0; i < missing.nr; i++)
		log_error("%s", missing.v[i]);
	if (n < 0)
		log_error("%s", err.msg);
	return n == 0 ? EXIT_DONE : EXIT_MISSING;
}

/* -v: the commands, -vv: also what is set for them. */
static void say_plan(const struct plan *pl)
{
	CLEANUP(xfreep) char *start = strvec_shell(&pl->engine_argv);

	log_info("%s starts: %s", pl->engine->name, start);
	for (size_t i = 0; i < pl->steps.nr; i++) {
		const struct plan_step *s = &pl->steps.v[i];
		CLEANUP(xfreep) char *argv = strvec_shell(&s->argv);

		log_info("step %s, in %s: %s", s->name, s->cwd, argv);
		for (size_t k = 0; k < s->env.nr; k++) {
			const struct plan_env *e = &s->env.v[k];

			log_debug("%s: %s=%s (%s)", s->name, e->name, e->secret ? "***" : e->value,
				  e->origin);
		}
	}
	for (size_t i = 0; i < pl->samplers.nr; i++)
		log_info("sampler %s of %s, every %g s", pl->samplers.v[i].kind,
			 pl->samplers.v[i].tool, pl->samplers.v[i].period_s);
}

/*
 * The container that is the run's tells by starting that all is there; only when it does not is it
 * looked into why, and what can be pulled is.
 */
static int execute(const struct prepared *p, struct run_opts *ro, struct run_result *ret)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct err err = ERR_INIT;
	int code, r;

	ro->quick = true;
	ro->missing = &missing;
	code = missing_prerequisites(p, ro);
	if (code != EXIT_DONE)
		return code;
	xalloc_last_words(
		"the run ends here; the next one, or 'profrig doctor', tidies up behind it",
		EXIT_WORKLOAD);
	r = run_execute(&p->plan, ro, ret, &err);
	for (size_t i = 0; i < missing.nr; i++)
		log_error("%s", missing.v[i]);
	ro->quick = false;
	ro->missing = NULL;
	if (r == -ENOLINK) {
		code = missing_prerequisites(p, ro);
		if (code != EXIT_DONE)
			return code;
		r = run_execute(&p->plan, ro, ret, &err);
	}
	if (r < 0 && !missing.nr)
		log_error("%s", err.msg);
	return r < 0 ? EXIT_MISSING : EXIT_DONE;
}

/*
 * status NULL: as run.json says. A table that cannot be written takes nothing from the run, but it
 * is not all that was asked for.
 */
static int note_results(const struct prepared *p, const char *status, const char *reason)
{
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;

	if (p->conf.results.perf_csv && !pin_holds(p, p->conf.results.perf_csv))
		err_set(&err, ELOOP,
			"not kept: '%s' is a link now, and was none when profrig began",
			p->conf.results.perf_csv);
	else if (!p->conf.results.perf_csv ||
		 run_perf_csv(&p->plan, status, reason, &cli_interrupt, &err) == 0)
		return EXIT_DONE;
	text = xasprintf("results of %s: %s", p->run_id, err.msg);
	log_error("%s", text);
	if (!status && run_note_warning(p->run_dir, W_PERF_CSV, "error", text, &err) < 0)
		log_error("%s", err.msg);
	return EXIT_PARTIAL;
}

/* An exit code, with everything said, for a model that is not for the GPUs of this machine; else
 * -1. */
static int left_out(const struct run_options *o, const struct prepared *p)
{
	CLEANUP(xfreep) char *why = NULL;
	const char *arch;

	if (o->all_archs || !p->conf.skip_gpu_arch.nr)
		return -1;
	arch = run_skip_arch(&p->conf, &p->devices);
	if (!arch)
		return -1;
	why = xasprintf("model.skip_gpu_arch leaves out %s, which this machine has", arch);
	log_notice("%s is skipped: %s (--disable-skip-gpu-arch runs it all the same)",
		   p->conf.model_name, why);
	return note_results(p, "skipped", why);
}

static int run_one(const struct run_options *o, const struct prepared *p, struct pairing *pairing,
		   size_t block)
{
	struct baseline base = { .workload_s = NAN };
	struct run_result r = { 0 };
	struct report rep = REPORT_INIT;
	bool mid_line = false;
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	struct run_opts ro = {
		.check = check_artifact,
		.events = { on_phase, p->conf.live ? on_output : NULL, &mid_line,
			    p->conf.live ? NULL : on_tick, p->conf.live ? NULL : on_note,
			    p->conf.live ? NULL : on_bytes },
		.notes = &notes,
		.interrupt = &cli_interrupt,
		.forward = cli_forward,
		.runs_dir = p->runs_dir,
		.version = PROFRIG_VERSION,
		.build_s = p->build_s,
	};
	/* A line that is drawn again and again does not go with output between. */
	if (p->conf.live && log_level() > 0)
		progress_setup(1);
	say_plan(&p->plan);
	int code = execute(p, &ro, &r);

	for (size_t i = 0; i < notes.nr; i++)
		log_warn("%s", notes.v[i]);
	if (code != EXIT_DONE)
		return code;
	code = r.exit_code;
	xalloc_last_words("the run directory is complete", exit_worse(code, EXIT_PARTIAL));
	if (o->baseline && !p->bare)
		base = pairing_base(pairing, block);
	if (o->baseline)
		pairing_add(pairing, p, block, &r);
	else
		code = exit_worse(code, note_results(p, NULL, NULL));
	if (!o->no_analyze && r.status != RUN_SKIPPED) {
		/* whatever kept it from being whole: the run itself is there */
		if (analyze_run(p->run_dir, code, &rep) != EXIT_DONE)
			code = exit_worse(code, EXIT_PARTIAL);
	}
	progress_end();
	run_result_over(&r);
	if (o->propagate && code == EXIT_WORKLOAD && (r.workload_code > 0 || r.workload_signal))
		code = r.workload_signal ? 128 + r.workload_signal : r.workload_code;
	if (o->json)
		print_json(p, &r, code);
	else
		printf("%s\n", p->run_dir);
	fflush(stdout);
	print_summary(p, &r, &rep, &base);
	report_release(&rep);
	run_result_release(&r);
	return code;
}

/*
 * How many kinds of run there may be of one model: without tools, with each alone, with all. Those
 * that there are not have no engine.
 */
#define MAX_ALONE 32
static size_t runs_each(const struct run_options *o)
{
	return !o->baseline ? 1 : strcmp(o->baseline, "tools") == 0 ? 2 + MAX_ALONE : 2;
}

static size_t runs_of(const struct run_options *o, const struct strvec *models)
{
	return runs_each(o) * (models->nr ? models->nr : 1);
}

/* What a run has heated up makes the next one dearer. False: interrupted. */
static bool cool_down(double s)
{
	int64_t until = clock_monotonic_ns() + (int64_t)(s * 1e9), left;

	progress_phase("cooldown %g s", s);
	while (!cli_interrupt && (left = until - clock_monotonic_ns()) > 0) {
		poll(NULL, 0, left < TICK_NS ? (int)(left / NS_PER_MS) + 1 : TICK_NS / NS_PER_MS);
		progress_tick();
	}
	progress_end();
	return !cli_interrupt;
}

/* Of several runs of one thing: mean, spread and outliers. They lie beside the runs, under a name
 * that no run has. */
static int see_together(const struct run_options *o, const struct strvec *dirs)
{
	CLEANUP(xfreep) char *runs = fs_dir(dirs->v[0]);
	CLEANUP(xfreep) char *out = xasprintf("%s/ensemble-%s", runs, fs_base(dirs->v[0]));
	struct report rep = REPORT_INIT;
	int code;

	if (dirs->nr < 2 || o->no_analyze || cli_interrupt)
		return EXIT_DONE;
	cli_exit_at_signal("profrig: interrupted: the runs are complete\n");
	code = analyze_runs(dirs, out, &rep);
	cli_exit_at_signal(NULL);
	progress_end();
	if (rep.dir)
		log_notice("mean, spread and outliers of these %zu runs: %s", dirs->nr, rep.dir);
	report_release(&rep);
	return code == EXIT_DONE ? EXIT_DONE : EXIT_PARTIAL;
}

/* What a run cost is known when its pair has ended, and goes into the table of results with it. */
static int end_block(struct pairing *pairing)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < pairing->v.nr; i++) {
		struct outcome *oc = &pairing->v.v[i];

		if (oc->noted)
			continue;
		oc->noted = true;
		pairing_pair(pairing, i);
		code = exit_worse(code, note_results(oc->prepared, NULL, NULL));
	}
	return code;
}

/* The repeats of one model, p being its kinds of run. */
static int run_model(const struct run_options *o, struct prepared *p, bool *first)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	CLEANUP(pairing_release) struct pairing pairing = { VEC_INIT };
	size_t each = runs_each(o), all = each * (size_t)o->repeat;
	int code = EXIT_DONE;

	for (size_t i = 0; i < all && !cli_interrupt; i++) {
		size_t block = i / each, at = i % each;
		/* There and back: what drifts is no overhead. */
		struct prepared *one = &p[block % 2 ? each - 1 - at : at];
		if (at == 0)
			code = exit_worse(code, end_block(&pairing));
		if (!one->engine)
			continue;
		if (!*first && o->cooldown_s > 0 && !cool_down(o->cooldown_s))
			break;
		int r = *first ? EXIT_DONE : pins_hold(one) ? prepare_again(one) : EXIT_CONFIG;
		*first = false;
		if (all > 1)
			log_notice("run %zu/%zu of %s", i + 1, all, one->conf.model_name);
		int skipped = r == EXIT_DONE ? left_out(o, one) : -1;
		if (skipped >= 0) {
			code = exit_worse(code, skipped);
			continue;
		}
		if (r == EXIT_DONE)
			r = run_one(o, one, &pairing, block);
		/* Also what could not even be set up is a result. */
		if (r != EXIT_DONE && !cli_interrupt && !fs_is_dir(one->run_dir))
			r = exit_worse(r, note_results(one, "failed", log_last_error()));
		code = exit_worse(code, r);
		if (!one->bare && fs_is_dir(one->run_dir))
			strvec_push(&dirs, one->run_dir);
	}
	code = exit_worse(code, end_block(&pairing));
	if (o->baseline && pairing_conclude(&pairing, !o->no_analyze) == EXIT_GATE && o->gate)
		code = exit_worse(code, EXIT_GATE);
	if (dirs.nr == (size_t)o->repeat)
		code = exit_worse(code, see_together(o, &dirs));
	return code;
}

/* One model after the other, each as often as asked. */
static int run_each(const struct run_options *o, struct prepared *p, size_t nr)
{
	CLEANUP(xfreep) char *room = run_disk_warning(&p[runs_each(o) - 1].plan);
	bool first = true;
	int code = EXIT_DONE;

	if (room)
		log_warn("%s (disk.warn_free)", room);
	for (size_t i = 0; i < nr && !cli_interrupt; i += runs_each(o))
		code = exit_worse(code, run_model(o, &p[i], &first));
	return code;
}

/* Told before anything starts, where it shows: a sampler that can read no power is only known once
 * it is open. */
static void say_idle(const struct prepared *p)
{
	for (size_t i = 0; i < p->plan.samplers.nr; i++)
		if (strcmp(p->plan.samplers.v[i].kind, "procfs") != 0)
			return;
	if (p->conf.idle_s > 0)
		log_warn("idle: no tool of this run samples power or energy (cpu_power, gpu_power "
			 "and rapl do), so there is nothing to wait for");
}

/* How long it will take is not what people expect of one run. */
static void say_passes(const struct prepared *p)
{
	for (size_t i = 0; i < p->conf.tools.nr; i++) {
		const struct runconf_tool *t = &p->conf.tools.v[i];
		double timeout_s = p->conf.timeout_s * (double)p->plan.passes;

		if (t->passes <= 1 && t->passes_why)
			log_notice("tool '%s' may run the workload several times: %s",
				   t->tool->name, t->passes_why);
		else if (t->passes > 1 && timeout_s > 0)
			log_notice("tool '%s' runs the workload at least %llu times (%s); all of "
				   "them together are ended after %g s",
				   t->tool->name, (unsigned long long)t->passes,
				   t->passes_why ? t->passes_why : "", timeout_s);
		else if (t->passes > 1)
			log_notice("tool '%s' runs the workload at least %llu times (%s)",
				   t->tool->name, (unsigned long long)t->passes,
				   t->passes_why ? t->passes_why : "");
	}
}

/* p: the kinds of run of a model, of which the first and the last are prepared. */
static int prepare_alone(const struct command *c, const struct run_options *o, const char *model,
			 char *const *cmd, struct prepared *p, struct problems *problems)
{
	const struct prepared *full = &p[runs_each(o) - 1];
	struct run_options one = *o;
	int code = EXIT_DONE;

	if (full->conf.tools.nr > MAX_ALONE)
		return cli_usage(c, "--baseline=tools takes at most %d tools", MAX_ALONE);
	for (size_t i = 0; full->conf.tools.nr > 1 && i < full->conf.tools.nr; i++) {
		one.only_tool = full->conf.tools.v[i].tool->name;
		code = exit_worse(code, prepare(c, &one, model, cmd, &p[1 + i], problems));
	}
	return code;
}

/* r: what preparing p came to. */
static int without_tools(const struct command *c, const struct run_options *o,
			 const struct prepared *p, int r)
{
	if (r != EXIT_DONE || !o->baseline || p->conf.tools.nr)
		return r;
	return cli_usage(c,
			 "--baseline compares runs with tools and runs without any, and '%s' has "
			 "no tool: name some with --tools A,B ('profrig list tools')",
			 p->conf.model_name);
}

/* A typing error in the last model must not show when the first has run for an hour. */
static int prepare_all(const struct command *c, const struct run_options *o,
		       const struct strvec *models, char *const *cmd, struct prepared *p)
{
	struct problems problems = PROBLEMS_INIT;
	size_t each = runs_each(o);
	int code = EXIT_DONE;

	for (size_t i = 0; i < runs_of(o, models); i += each) {
		const char *model = models->nr ? models->v[i / each] : NULL;
		struct run_options one = *o;

		if (o->images.nr && !o->image && *o->images.v[i / each])
			one.image = o->images.v[i / each];
		if (o->builds_s.nr)
			one.build_s = o->builds_s.v[i / each];
		if (o->dockerfiles.nr && !o->image) {
			one.dockerfile = o->dockerfiles.v[i / each];
			one.base = o->bases.v[i / each];
		}
		int r = prepare(c, &one, model, cmd, &p[i + each - 1], &problems);
		if (r == EXIT_DONE)
			r = manifest_same_model(o, &p[i + each - 1].conf, i / each);
		r = without_tools(c, o, &p[i + each - 1], r);
		/* What is wrong with the one is wrong with the other and told once. */
		one.bare = true;
		if (r == EXIT_DONE && each > 1)
			r = prepare(c, &one, model, cmd, &p[i], &problems);
		if (r == EXIT_DONE && each > 2)
			r = prepare_alone(c, o, model, cmd, &p[i], &problems);
		code = exit_worse(code, r);
	}
	for (size_t i = each - 1; code == EXIT_DONE && i < runs_of(o, models); i += each) {
		say_idle(&p[i]);
		say_passes(&p[i]);
	}
	cli_problems(&problems);
	problems_release(&problems);
	return code;
}

static int bad_call(const struct command *c, const struct run_options *o,
		    const struct strvec *operands, char **rest)
{
	if (!*o->runs_dir)
		return cli_usage(c, "-o names no folder");
	if (o->baseline && *o->baseline && strcmp(o->baseline, "tools") != 0)
		return cli_usage(c, "--baseline=%s: there is --baseline, and --baseline=tools",
				 o->baseline);
	if (o->gate && !o->baseline)
		return cli_usage(c, "--gate needs --baseline: overhead is not known without");
	if (o->overhead_budget && !o->baseline)
		return cli_usage(c, "--overhead-budget needs --baseline: overhead is not known "
				    "without");
	if (o->record_for_s == 0)
		return cli_usage(
			c, "--record-for 0 records nothing: leave it out to record to the end");
	if (o->cooldown_s > MAX_COOLDOWN_S)
		return cli_usage(c, "--cooldown is at most a day");
	if ((operands->nr || o->tags.nr) && rest)
		return cli_usage(c, "name a model or give a command after --, not both");
	if (rest && !*rest)
		return cli_usage(c, "no command after --");
	if (rest && (o->manifest || o->build))
		return cli_usage(c, "a command has no image of its own: name models");
	if (!operands->nr && !o->tags.nr && !rest && !o->config.nr && !o->manifest)
		return cli_usage(c,
				 "no model and no command: profrig %s MODEL, "
				 "or profrig %s -- CMD ARG…",
				 c->name, c->name);
	return -1;
}

/* -1 to go on, or an exit code. */
static int choose_models(const struct command *c, struct run_options *o,
			 const struct strvec *operands, struct catalog **cat, struct strvec *models)
{
	int code = o->manifest ? manifest_models(c, o, operands, cat, models)
			       : pick_models(c, o, operands, cat, models);

	o->catalog = *cat;
	return code;
}

static int run_all(const struct command *c, const struct run_options *o,
		   const struct strvec *models, char *const *cmd)
{
	size_t nr = runs_of(o, models);
	struct prepared *p = xcalloc(nr, sizeof(*p));
	int code = prepare_all(c, o, models, cmd, p);

	if (code == EXIT_DONE)
		code = run_each(o, p, nr);
	for (size_t i = 0; i < nr; i++)
		prepared_release(&p[i]);
	free(p);
	return code;
}

/* Also a model whose image could not be built has its row. */
static int note_unbuilt(const struct command *c, const struct run_options *o)
{
	int code = o->build_code;

	for (size_t i = 0; i < o->unbuilt.nr; i++) {
		const struct unbuilt *u = &o->unbuilt.v[i];
		struct problems problems = PROBLEMS_INIT;
		struct run_options one = *o;
		struct prepared p;

		one.image = u->image;
		one.dockerfile = u->dockerfile;
		one.base = u->base;
		if (prepare(c, &one, u->word, NULL, &p, &problems) == EXIT_DONE)
			code = exit_worse(code, note_results(&p, "failed", u->why));
		prepared_release(&p);
		problems_release(&problems);
	}
	return code;
}

static int run_main(const struct command *c, int argc, char **argv)
{
	struct run_options o;
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT, models = STRVEC_INIT;
	struct catalog *cat = NULL;
	char **rest;

	run_options_init(&o);
	const struct opt opts[] = {
		RUN_OPTS(&o), PACKAGE_OPTS(&o), PACKAGE_RUN_OPTS(&o), MAD_RUN_OPTS(&o), { 0 },
	};
	int code = cli_parse(c, opts, &o.json, argc, argv, &operands, &rest);
	if (code < 0)
		code = bad_call(c, &o, &operands, rest);
	if (code < 0) {
		cli_catch_signals();
		say_leftovers(o.runs_dir);
		code = o.build ? build_first(c, &o, &operands) : -1;
	}
	if (code < 0)
		code = choose_models(c, &o, &operands, &cat, &models);
	if (code < 0)
		code = package_images(c, &o, false, &models);
	if (code < 0) {
		code = run_all(c, &o, &models, rest);
		/* Also when it came between two runs, or before the first. */
		if (cli_interrupt)
			code = exit_worse(code, cli_interrupt_code(cli_interrupt));
	}
	code = exit_worse(code, note_unbuilt(c, &o));
	catalog_free(cat);
	run_options_release(&o);
	return code;
}

static int print_plan(const struct run_options *o, const char *format, const struct prepared *p)
{
	if (strcmp(format, "json") == 0)
		plan_print_json(&p->plan, stdout);
	else if (strcmp(format, "sh") == 0)
		plan_print_sh(&p->plan, stdout);
	else
		plan_print_text(&p->plan, stdout);
	struct run_opts ro = { .interrupt = &cli_interrupt, .dry = true };
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	run_preflight(&p->plan, &ro, &missing, NULL);
	for (size_t i = 0; i < missing.nr; i++) {
		/* why the status is 4 is no mere warning */
		if (o->check)
			log_error("missing: %s", missing.v[i]);
		else
			log_warn("missing: %s", missing.v[i]);
	}
	return o->check && missing.nr ? EXIT_MISSING : EXIT_DONE;
}

static int plan_each(const struct command *c, const struct run_options *o,
		     const struct strvec *models, char *const *cmd)
{
	size_t nr = runs_of(o, models);
	const char *format = o->json ? "json" : o->format;

	if (!text_in_list("text,json,sh", ',', format))
		return cli_usage(c, "--format is text, json or sh, not '%s'", format);
	/* The first of two scripts would end before the second begins. */
	if (nr > 1 && strcmp(format, "sh") == 0)
		return cli_usage(c, "as a script one run at a time, not %zu", nr);
	struct prepared *p = xcalloc(nr, sizeof(*p));
	int code = prepare_all(c, o, models, cmd, p);
	bool good = code == EXIT_DONE;
	for (size_t i = 0; i < nr; i++) {
		if (good && p[i].engine)
			code = exit_worse(code, print_plan(o, format, &p[i]));
		prepared_release(&p[i]);
	}
	free(p);
	return code;
}

static int plan_main(const struct command *c, int argc, char **argv)
{
	struct run_options o;
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT, models = STRVEC_INIT;
	struct catalog *cat = NULL;
	char **rest;

	run_options_init(&o);
	const struct opt opts[] = {
		RUN_OPTS(&o),
		PACKAGE_OPTS(&o),
		PACKAGE_RUN_OPTS(&o),
		MAD_RUN_OPTS(&o),
		{ "format", 0, OPT_STR, &o.format, "F",
		  "text, json or sh (a script that does the same)" },
		{ "check", 0, OPT_FLAG, &o.check, NULL, "exit 4 when something is missing" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &o.json, argc, argv, &operands, &rest);
	if (code < 0)
		code = bad_call(c, &o, &operands, rest);
	if (code < 0 && o.build)
		code = plan_build_first(c, &o, &operands, &models);
	else if (code < 0)
		code = choose_models(c, &o, &operands, &cat, &models);
	if (code < 0)
		code = package_images(c, &o, true, &models);
	if (code < 0)
		code = plan_each(c, &o, &models, rest);
	catalog_free(cat);
	run_options_release(&o);
	return code;
}

extern const struct command cmd_run, cmd_plan;
const struct command cmd_run = { "run", "MODEL… | -- CMD ARG…",
				 "run models, or a command, profiled",
				 "profrig run --tools blas_trace,cpu_power examples/mlp",
				 run_main };
const struct command cmd_plan = { "plan", "MODEL… | -- CMD ARG…",
				  "show exactly what run would do, and start nothing",
				  "profrig plan --format sh examples/mlp", plan_main };
