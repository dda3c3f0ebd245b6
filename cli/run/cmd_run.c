/*
 * run: prepares runs and executes them (run_campaign). plan: prepares and prints.
 */
#include "build_images.h"
#include "manifest_models.h"
#include "pick_models.h"
#include "run_campaign.h"
#include "run_replay.h"
#include "run_slurm.h"
#include "slurm_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/sampler/sampler.h"

/*
 * run and plan take the same options, so that a line can be tried by changing one word.
 * clang-format would reflow the rows of the table.
 */
/* clang-format off */
#define RUN_OPTS(o) \
	{ "tools-dir", 0, OPT_LIST, &(o)->tools_dirs, "DIR", \
	  "look for tools here first (repeatable)" }, \
	{ "output", 'o', OPT_STR, &(o)->runs_dir, "DIR", "where run directories go (./runs)" }, \
	{ "label", 0, OPT_LIST, &(o)->conf.labels, "K=V", "label of the run (repeatable)" }, \
	{ "engine", 0, OPT_CONF_STR, GIVEN(o, "engine"), "NAME", \
	  "auto" ENGINE_WORDS }, \
	{ "image", 0, OPT_CONF_STR, GIVEN(o, "model.image"), "NAME", "container image" }, \
	{ "replay", 0, OPT_STR, &(o)->replay_dir, "RUNDIR", \
	  "repeat the run of this run directory, and say what differs today" }, \
	{ "replay-foreign", 0, OPT_FLAG, &(o)->replay_foreign, NULL, \
	  "repeat it also when it belongs to another user" }, \
	{ "build", 0, OPT_FLAG, &(o)->build, NULL, "build the models' images first" }, \
	{ "manifest", 0, OPT_STR, &(o)->manifest, "FILE", \
	  "run the images of this manifest of 'profrig build'" }, \
	{ "data-cache", 0, OPT_CONF_STR, GIVEN(o, "data_cache"), "DIR", \
	  "where to keep fetched data" }, \
	{ "tools", 0, OPT_CONF_WORDS, GIVEN(o, "tools"), "A,B,…", \
	  "tools to use instead of the configured ones, innermost first" }, \
	{ "config", 0, OPT_LIST, &(o)->conf.config_files, "FILE", \
	  "configuration, YAML or JSON (repeatable, last wins)" }, \
	{ "set", 0, OPT_LIST, &(o)->conf.sets, "KEY=VALUE", \
	  "set one value, such as env.OMP_NUM_THREADS=4" }, \
	{ "timeout", 0, OPT_CONF_SECONDS, GIVEN(o, "model.timeout"), "S", \
	  "end the workload after this time" }, \
	{ "idle", 0, OPT_CONF_SECONDS, GIVEN(o, "idle"), "S", \
	  "sample S seconds before and after the workload" }, \
	{ "wrap-at", 0, OPT_CONF_WORDS, GIVEN(o, "wrap_at"), "PROG,…", \
	  "wrap these programs of the workload, not the whole workload" }, \
	{ "privileged-profiling", 0, OPT_CONF_FLAG, GIVEN(o, "container.privileged_profiling"), \
	  NULL, "give the container the privileges that the tools of this run declare" }, \
	{ "force-tools", 0, OPT_CONF_FLAG, GIVEN(o, "force_tools"), NULL, \
	  "treat unsupported tools as warnings" }, \
	{ "record-start", 0, OPT_CONF_STR, GIVEN(o, "record.start"), "WHEN", \
	  "when tools start recording: begin, manual ('profrig ctl') or 'mark NAME'" }, \
	{ "record-after", 0, OPT_CONF_SECONDS, GIVEN(o, "record.after"), "S", \
	  "start recording S seconds after that" }, \
	{ "record-for", 0, OPT_CONF_SECONDS, GIVEN(o, "record.for"), "S", \
	  "record for S seconds" }, \
	{ "record-only", 0, OPT_CONF_FLAG, GIVEN(o, "record.samplers", "windows"), NULL, \
	  "pause samplers too while tools pause" }, \
	{ "keep", 0, OPT_CONF_FLAG, GIVEN(o, "keep"), NULL, "keep the container" }, \
	{ "live", 0, OPT_CONF_FLAG, GIVEN(o, "live"), NULL, \
	  "show the workload's output while it runs" }, \
	{ "repeat", 0, OPT_INT, &(o)->repeat, "N", "run each model N times" }, \
	{ "cooldown", 0, OPT_SECONDS, &(o)->cooldown_s, "S", \
	  "pause between runs" }, \
	{ "baseline", 0, OPT_MAYBE, &(o)->baseline, "tools", \
	  "run each model without tools too, to measure what they cost; " \
	  "=tools: also with each tool alone" }, \
	{ "overhead-budget", 0, OPT_CONF_STR, GIVEN(o, "overhead.budget"), "P%", \
	  "how much longer the workload may take with tools" }, \
	{ "gate", 0, OPT_FLAG, &(o)->gate, NULL, \
	  "exit 7 when tools cost more than their budget" }, \
	{ "no-analyze", 0, OPT_FLAG, &(o)->no_analyze, NULL, \
	  "skip the analysis; 'profrig report' does it later" }, \
	{ "perf-csv", 0, OPT_CONF_STR, GIVEN(o, "results.perf_csv"), "FILE", \
	  "add the results of each run to this table" }, \
	{ "skip-model-run", 0, OPT_FLAG, &(o)->conf.skip_workload, NULL, \
	  "run the scripts but not the workload" }, \
	{ "disable-skip-gpu-arch", 0, OPT_FLAG, &(o)->all_archs, NULL, \
	  "also run models that skip this GPU (model.skip_gpu_arch)" }, \
	{ "propagate", 0, OPT_FLAG, &(o)->propagate, NULL, \
	  "exit with the workload's own status instead of 1" }
/* clang-format on */

#define MAX_COOLDOWN_S 86400
#define MAX_ALONE 32 /* tools of --baseline=tools */

static size_t nr_models(const struct strvec *models)
{
	return models->nr ? models->nr : 1;
}

static void say_leftovers(const char *runs_dir)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = fs_abs(runs_dir);

	run_sweep_leftovers(dir, &lines, NULL);
	for (size_t i = 0; i < lines.nr; i++)
		log_notice("%s", lines.v[i]);
}

/* Printed before the run starts, where it is seen. Whether another sampler can read power is only
 * known when it is open. */
static void say_idle(const struct prepared *p)
{
	for (size_t i = 0; i < p->plan.samplers.nr; i++) {
		const struct sampler *s = sampler_find(p->plan.samplers.v[i].kind);

		if (!s || !s->no_energy)
			return;
	}
	if (p->conf.idle_s > 0)
		log_warn("idle: no tool of this run samples power or energy (cpu_power, gpu_power "
			 "and rapl do), so there is nothing to wait for");
}

/* What a repeated run will execute, and what is not as it was: before it starts. */
static void say_replay(const struct prepared *p)
{
	CLEANUP(xfreep) char *words = strvec_shell(&p->conf.command);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	if (log_level() < 1)
		return;
	FILE *f = xmemstream(&text, &n);
	text_visible(&sb, words, strlen(words), "");
	strbuf_addstr(&sb, ", in ");
	text_visible(&sb, p->conf.dir, strlen(p->conf.dir), "");
	fprintf(f, "replay     %s, on %s\n", sb.buf, p->engine->name);
	plan_replay_text(&p->replay, f);
	fclose(f);
	redact_str(text);
	fputs(text, stderr);
}

/* Several passes take longer than users expect of one run. */
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

/* r: the exit code of preparing p. */
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

static int same_model(const struct command *c, const struct run_options *o,
		      const struct prepared *p, size_t i)
{
	struct err err = ERR_INIT;

	return cli_failed(c, manifest_same_model(o, &p->conf, i, &err), &err);
}

/* The other runs that --baseline asks for: one without tools, and one with each tool alone. */
static int prepare_compared(const struct command *c, const struct run_options *o, const char *model,
			    char *const *cmd, const struct prepared *full, struct campaign_model *m,
			    struct problems *problems)
{
	size_t tools = strcmp(o->baseline, "tools") == 0 ? full->conf.tools.nr : 0;
	struct run_options one = *o;
	int code;

	/* Both runs share their problems, which are reported once. */
	one.conf.bare = true;
	code = cli_prepare(c, &one, model, cmd, campaign_add_variant(m), problems);
	one = *o;
	if (code == EXIT_DONE && tools > MAX_ALONE)
		return cli_usage(c, "--baseline=tools takes at most %d tools", MAX_ALONE);
	for (size_t i = 0; code == EXIT_DONE && tools > 1 && i < tools; i++) {
		one.conf.only_tool = full->conf.tools.v[i].tool->name;
		code = cli_prepare(c, &one, model, cmd, campaign_add_variant(m), problems);
	}
	return code;
}

/* Prepares model number i. model NULL: the configuration's model, or cmd. */
static int prepare_model(const struct command *c, const struct run_options *o, const char *model,
			 size_t i, char *const *cmd, struct campaign *cp, struct problems *problems)
{
	struct campaign_model *m = campaign_add_model(cp);
	struct prepared *full = campaign_add_variant(m);
	struct run_options one = *o;
	int code;

	if (o->images.nr && !run_given_image(o) && *o->images.v[i])
		one.conf.image = o->images.v[i];
	if (o->builds_s.nr)
		one.build_s = o->builds_s.v[i];
	if (o->dockerfiles.nr && !run_given_image(o)) {
		one.dockerfile = o->dockerfiles.v[i];
		one.base = o->bases.v[i];
	}
	code = cli_prepare(c, &one, model, cmd, full, problems);
	if (code == EXIT_DONE)
		code = same_model(c, o, full, i);
	code = without_tools(c, o, full, code);
	if (code == EXIT_DONE && o->baseline)
		code = prepare_compared(c, &one, model, cmd, full, m, problems);
	campaign_full_last(m);
	return code;
}

/* All models are prepared first, so that a typing error in the last one is found before the first
 * has run for an hour. */
static int prepare_all(const struct command *c, const struct run_options *o,
		       const struct strvec *models, char *const *cmd, struct campaign *cp)
{
	struct problems problems = PROBLEMS_INIT;
	int code = EXIT_DONE;

	*cp = (struct campaign){
		.repeats = (size_t)o->repeat,
		.cooldown_s = o->cooldown_s,
	};
	for (size_t i = 0; i < nr_models(models); i++)
		code = exit_worse(code, prepare_model(c, o, models->nr ? models->v[i] : NULL, i,
						      cmd, cp, &problems));
	for (size_t i = 0; code == EXIT_DONE && i < cp->models.nr; i++) {
		say_idle(campaign_full(&cp->models.v[i]));
		say_passes(campaign_full(&cp->models.v[i]));
	}
	cli_problems(&problems);
	problems_release(&problems);
	return code;
}

static int bad_call(const struct command *c, const struct run_options *o,
		    const struct strvec *operands, char **rest)
{
	const struct cfg_node *given = o->conf.given.root;
	const struct cfg_node *record_for = cfg_path(given, "record.for");

	if (!*o->runs_dir)
		return cli_usage(c, "-o names no folder");
	if (o->baseline && *o->baseline && strcmp(o->baseline, "tools") != 0)
		return cli_usage(c, "--baseline=%s: there is --baseline, and --baseline=tools",
				 o->baseline);
	if (o->gate && !o->baseline)
		return cli_usage(c, "--gate needs --baseline: overhead is not known without");
	if (cfg_path(given, "overhead.budget") && !o->baseline)
		return cli_usage(c, "--overhead-budget needs --baseline: overhead is not known "
				    "without");
	if (record_for && record_for->f == 0)
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
	if (o->replay_foreign && !o->replay_dir)
		return cli_usage(c, "--replay-foreign goes with --replay RUNDIR");
	if (o->replay_dir && (operands->nr || o->tags.nr || rest || o->manifest || o->build))
		return cli_usage(c, "--replay repeats the recorded model or command: leave out "
				    "MODEL, --tags, --manifest, --build and what is behind --");
	if (!operands->nr && !o->tags.nr && !rest && !o->conf.config_files.nr && !o->manifest &&
	    !o->replay_dir)
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
	int code = o->manifest ? choose_images(c, o, operands, cat, models)
			       : pick_models(c, o, operands, cat, models);

	o->conf.catalog = *cat;
	return code;
}

static int models_run(const struct command *c, const struct run_options *o,
		      const struct strvec *models, char *const *cmd)
{
	struct campaign cp;
	int code = prepare_all(c, o, models, cmd, &cp);

	if (code == EXIT_DONE && o->replay)
		say_replay(campaign_full(&cp.models.v[0]));
	if (code == EXIT_DONE)
		code = run_slurm_wanted(&cp) ? slurm_run(c, o, &cp) : run_campaign(o, &cp);
	campaign_release(&cp);
	return code;
}

/* A model whose image could not be built also gets its row. */
static int note_unbuilt(const struct command *c, const struct run_options *o)
{
	int code = o->build_code;

	for (size_t i = 0; i < o->unbuilt.nr; i++) {
		const struct unbuilt *u = &o->unbuilt.v[i];
		struct problems problems = PROBLEMS_INIT;
		struct run_options one = *o;
		struct prepared p;

		one.conf.image = u->image;
		one.dockerfile = u->dockerfile;
		one.base = u->base;
		if (cli_prepare(c, &one, u->word, NULL, &p, &problems) == EXIT_DONE)
			code = exit_worse(code, note_results(&p, "failed", u->why));
		prepared_release(&p);
		problems_release(&problems);
	}
	return code;
}

/* -1 to go on, or an exit code. The run directory's name becomes a label of the new run. */
static int open_replay(struct run_options *o, struct replay *rp)
{
	struct err err = ERR_INIT;
	int r;

	if (!o->replay_dir)
		return -1;
	r = replay_open(rp, o->replay_dir, o->replay_foreign, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		return r == -ENOENT ? EXIT_USAGE : EXIT_CONFIG;
	}
	o->replay = rp;
	strvec_pushf(&o->conf.labels, "replay_of=%s", rp->id);
	return -1;
}

static int run_main(const struct command *c, int argc, char **argv)
{
	struct replay rp = REPLAY_INIT;
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
	if (code < 0)
		code = open_replay(&o, &rp);
	if (code < 0) {
		cli_catch_signals();
		say_leftovers(o.runs_dir);
		slurm_say_left(o.runs_dir);
		code = o.build ? build_first(c, &o, &operands) : -1;
	}
	if (code < 0)
		code = choose_models(c, &o, &operands, &cat, &models);
	if (code < 0)
		code = package_images(c, &o, false, &models);
	if (code < 0) {
		code = models_run(c, &o, &models, rest);
		/* An interrupt may also come between two runs, or before the first. */
		if (cli_interrupt)
			code = exit_worse(code, cli_interrupt_code(cli_interrupt));
	}
	code = exit_worse(code, note_unbuilt(c, &o));
	catalog_free(cat);
	replay_close(&rp);
	run_options_release(&o);
	return code;
}

/* here: it would run on this machine. */
static int print_plan(const struct run_options *o, const char *format, const struct prepared *p,
		      bool here)
{
	if (strcmp(format, "json") == 0)
		plan_print_json(&p->plan, stdout);
	else if (strcmp(format, "sh") == 0)
		plan_print_sh(&p->plan, stdout);
	else
		plan_print_text(&p->plan, stdout);
	struct run_opts ro = { .interrupt = &cli_interrupt, .dry = true };
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	if (here)
		run_preflight(&p->plan, &ro, &missing, NULL);
	for (size_t i = 0; i < missing.nr; i++) {
		/* this gives exit code 4, so it is an error */
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
	size_t nr = nr_models(models) * (o->baseline ? 2 : 1);
	const char *format = o->json ? "json" : o->format;
	struct campaign cp;
	bool bad, by_slurm;
	int code;

	if (!text_in_list("text,json,sh", ',', format))
		return cli_usage(c, "--format is text, json or sh, not '%s'", format);
	/* The first script would end the shell before the second begins. */
	if (nr > 1 && strcmp(format, "sh") == 0)
		return cli_usage(c, "as a script one run at a time, not %zu", nr);
	code = prepare_all(c, o, models, cmd, &cp);
	by_slurm = code == EXIT_DONE && run_slurm_wanted(&cp);
	if (by_slurm && strcmp(format, "sh") == 0)
		code = cli_usage(c, "--format sh repeats a run of this machine: text and json show "
				    "the job script");
	if (by_slurm && code == EXIT_DONE && slurm_bad_call(c, o) >= 0)
		code = EXIT_USAGE;
	bad = code != EXIT_DONE;
	for (size_t i = 0; i < cp.models.nr && !bad; i++)
		for (size_t k = 0; k < cp.models.v[i].variants.nr; k++)
			code = exit_worse(code, print_plan(o, format, cp.models.v[i].variants.v[k],
							   !by_slurm));
	if (by_slurm && !bad)
		code = exit_worse(code, slurm_plan(o, &cp, format));
	campaign_release(&cp);
	return code;
}

static int plan_main(const struct command *c, int argc, char **argv)
{
	struct replay rp = REPLAY_INIT;
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
	if (code < 0)
		code = open_replay(&o, &rp);
	if (code < 0 && o.build)
		code = build_foresee(c, &o, &operands, false, &models);
	else if (code < 0)
		code = choose_models(c, &o, &operands, &cat, &models);
	if (code < 0)
		code = package_images(c, &o, true, &models);
	if (code < 0)
		code = plan_each(c, &o, &models, rest);
	catalog_free(cat);
	replay_close(&rp);
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
