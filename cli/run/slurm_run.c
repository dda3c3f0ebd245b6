#include "slurm_run.h"
#include "campaign_drive.h"
#include "drive_show.h"
#include "publish_run.h"
#include "run_campaign.h"
#include "run_slurm.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/proc.h"
#include "profrig/run/runs.h"

/* ---- what cannot be ---- */

int slurm_bad_call(const struct command *c, const struct run_options *o)
{
	if (o->baseline)
		return cli_usage(c,
				 "--baseline pairs runs of this machine, and these are of Slurm: a "
				 "campaign with 'axes: {tools: [[], [A, B]]}' and 'scheduler: "
				 "slurm' compares them");
	if (o->cooldown_s > 0)
		return cli_usage(c, "--cooldown is of this machine, and these runs are of Slurm");
	if (o->conf.skip_workload)
		return cli_usage(c, "--skip-model-run is of this machine, and these runs are of "
				    "Slurm");
	if (o->tools_config)
		return cli_usage(c, "--tools-config is of this machine, and these runs are of "
				    "Slurm: jobs have the tools of --tools-dir and of the package");
	return -1;
}

static int settings_make(const struct run_options *o, const struct campaign *cp,
			 struct run_slurm *rs)
{
	struct problems problems = PROBLEMS_INIT;
	int r = run_slurm_make(o, cp, rs, &problems);

	cli_problems(&problems);
	problems_release(&problems);
	return r < 0 ? EXIT_CONFIG : EXIT_DONE;
}

static int failed(struct problems *problems, const struct err *err)
{
	cli_problems(problems);
	if (problems->lines.nr)
		return EXIT_CONFIG;
	log_error("%s", err->msg);
	return cli_interrupt ? cli_interrupt_code(cli_interrupt) : EXIT_MISSING;
}

/* ---- plan ---- */

static void plan_json(const struct strvec *argv, const struct strbuf *script,
		      const struct run_slurm *rs)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "schema", "profrig.plan.slurm/1");
	json_str(&j, "dir", rs->dir);
	json_words(&j, "sbatch", argv);
	json_str(&j, "script", script->buf);
	json_end(&j);
	putchar('\n');
}

int slurm_plan(const struct run_options *o, const struct campaign *cp, const char *format)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf script = STRBUF_INIT;
	CLEANUP(xfreep) char *words = NULL;
	struct problems problems = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	struct run_options job;
	struct run_slurm rs;
	int code = settings_make(o, cp, &rs);

	run_slurm_options(o, &job);
	if (code == EXIT_DONE && run_slurm_plan(&rs, &job, &argv, &script, &problems, &err) < 0)
		code = failed(&problems, &err);
	if (code == EXIT_DONE && !strcmp(format, "json")) {
		plan_json(&argv, &script, &rs);
	} else if (code == EXIT_DONE) {
		words = strvec_shell(&argv);
		printf("\nslurm      in %s\n%s\n\n%s", rs.dir, words, script.buf);
	}
	problems_release(&problems);
	run_options_release(&job);
	run_slurm_release(&rs);
	return code;
}

/* ---- run ---- */

/* One run once it has ended. */
struct slurm_ended {
	char *dir; /* NULL: it left none */
	struct attempt_outcome o;
	int code;
};

struct slurm_running {
	const struct run_options *o;
	const struct campaign *cp;
	struct campaign_job *j;
	struct drive_show *show;
	struct strvec refused;         /* runs whose jobs were never queued */
	VEC(struct slurm_ended) ended; /* of the model at hand */
	int code;
};

/* Each run has one attempt: that it failed is said, and that is all. */
static void running_moment(void *ctx, const struct drive_moment *m)
{
	struct slurm_running *sr = ctx;

	if (m->what != DRIVE_FAILED)
		drive_show_moment(sr->show, m);
}

static int running_noted(void *ctx, const struct journal_event *e, struct err *err)
{
	struct slurm_running *sr = ctx;
	const char *state = json_string_value(json_object_get(e->all, "state"));

	(void)err;
	if (e->run && !strcmp(e->ev, "ended") && state && !strcmp(state, "refused"))
		strvec_push(&sr->refused, e->run);
	return 0;
}

static int signal_number(const char *name)
{
	for (int sig = 1; *name && sig < 65; sig++) {
		const char *n = proc_signal_name(sig);

		if (n && !strcmp(n, name))
			return sig;
	}
	return 0;
}

/* As `run` on this machine ends (docs/contract.md). */
static int code_of(const struct slurm_running *sr, const struct slurm_ended *e)
{
	const struct attempt_outcome *o = &e->o;

	if (o->class == ATTEMPT_OK)
		return EXIT_DONE;
	if (!strcmp(o->state, "partial"))
		return EXIT_PARTIAL;
	if (!strcmp(o->kind, "output"))
		return EXIT_GATE;
	if (sr->o->propagate && (o->exit_code > 0 || *o->signal))
		return *o->signal ? 128 + signal_number(o->signal) : o->exit_code;
	return EXIT_WORKLOAD;
}

static void ended_json(const struct slurm_ended *e, const char *run)
{
	struct json_out j;

	json_out_init(&j, stdout, 0);
	json_obj(&j, NULL);
	json_str(&j, "id", e->dir ? fs_base(e->dir) : run);
	json_str(&j, "run_dir", e->dir);
	json_str(&j, "status", e->o.state);
	json_str(&j, "reason", *e->o.reason ? e->o.reason : NULL);
	json_i64(&j, "exit_code", e->code);
	json_i64(&j, "workload_exit_code", e->o.exit_code);
	json_i64(&j, "workload_signal", signal_number(e->o.signal));
	json_f64(&j, "workload_s", e->o.workload_s);
	json_str(&j, "result", *e->o.figure ? e->o.figure : NULL);
	json_str(&j, "node", *e->o.node ? e->o.node : NULL);
	json_end(&j);
	putchar('\n');
}

static void ended_print(const struct slurm_running *sr, const struct slurm_ended *e,
			const char *run)
{
	size_t nodes = sr->j->where.nodes;

	if (sr->o->json) {
		ended_json(e, run);
		return;
	}
	for (size_t k = 0; e->dir && nodes > 1 && k < nodes; k++)
		printf("%s/node-%zu\n", e->dir, k);
	if (e->dir && nodes <= 1)
		printf("%s\n", e->dir);
}

/* The results go where those of a run on this machine go, by this process alone. */
static void ended_publish(const struct slurm_running *sr, size_t model, const struct slurm_ended *e)
{
	struct prepared *p = campaign_full(&sr->cp->models.v[model]);
	CLEANUP(xfreep) char *first = NULL;
	struct err err = ERR_INIT;

	if (!e->dir || !p->conf.publish.targets.nr)
		return;
	first = sr->j->where.nodes > 1 ? fs_join(e->dir, "node-0") : xstrdup(e->dir);
	if (prepare_at(p, fs_base(first), first, &err) < 0)
		log_warn("not published: %s", err.msg);
	else
		publish_run_end(p);
}

static void run_ended(struct slurm_running *sr, size_t model, uint32_t repeat)
{
	const struct campaign_job *j = sr->j;
	struct slurm_ended e = { .code = EXIT_DONE };
	const struct run_state *r;
	struct attempt_name name;

	attempt_name_make(j->plan.cells.v[model].id, repeat, 0, &name);
	r = campaign_state_find(&j->state, name.run);
	if (!r || !r->attempts)
		return;
	attempt_name_make(name.cell, repeat, r->committed ? r->committed : r->attempts, &name);
	attempt_judge(&j->where, &name, &e.o);
	if (e.o.found)
		e.dir = xasprintf("%s/runs/%s", j->dir, name.all);
	if (r->stage != RUN_COMMITTED && *r->reason)
		snprintf(e.o.reason, sizeof(e.o.reason), "%s", r->reason);
	e.code = r->stage == RUN_COMMITTED                      ? EXIT_DONE
		 : !e.dir && strvec_has(&sr->refused, name.run) ? EXIT_MISSING
		 : e.o.class == ATTEMPT_OK                      ? EXIT_WORKLOAD
								: code_of(sr, &e);
	sr->code = exit_worse(sr->code, e.code);
	ended_print(sr, &e, name.run);
	ended_publish(sr, model, &e);
	VEC_PUSH(&sr->ended, e);
}

/* To the last run directory, of several nodes the first one's. */
static void latest_set(const struct slurm_running *sr)
{
	const char *last = sr->ended.nr ? sr->ended.v[sr->ended.nr - 1].dir : NULL;
	CLEANUP(xfreep) char *runs = fs_dir(sr->j->dir);
	CLEANUP(xfreep) char *dir = NULL;

	if (!last)
		return;
	dir = sr->j->where.nodes > 1 ? fs_join(last, "node-0") : xstrdup(last);
	runs_point_latest(runs, dir + strlen(runs) + 1);
}

static void model_ended(struct slurm_running *sr, size_t model)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;

	for (uint32_t k = 1; k <= sr->j->plan.repeat; k++)
		run_ended(sr, model, k);
	for (size_t i = 0; i < sr->ended.nr; i++)
		if (sr->ended.v[i].dir && sr->j->where.nodes <= 1)
			strvec_push(&dirs, sr->ended.v[i].dir);
	fflush(stdout);
	if (dirs.nr == sr->j->plan.repeat)
		sr->code = exit_worse(sr->code, runs_together(sr->o, &dirs));
	latest_set(sr);
	for (size_t i = 0; i < sr->ended.nr; i++)
		free(sr->ended.v[i].dir);
	VEC_CLEAR(&sr->ended);
}

static int job_drive(struct slurm_running *sr)
{
	struct campaign_job *j = sr->j;
	struct drive_opts o = { .program = "/proc/self/exe",
				.interrupt = &cli_interrupt,
				.moment = running_moment,
				.ctx = sr,
				.at_once = true };
	struct drive_outcome out = { 0 };
	struct err err = ERR_INIT;
	int r;

	sr->show = drive_show_new(j->cells.v.nr);
	o.ticks = drive_show_ticks(sr->show);
	j->noted = running_noted;
	j->noted_ctx = sr;
	r = campaign_drive(j, &o, &out, &err);
	drive_show_free(sr->show);
	if (r < 0)
		log_error("%s", err.msg);
	for (size_t i = 0; i < j->plan.cells.nr && i < sr->cp->models.nr; i++)
		model_ended(sr, i);
	if (r < 0)
		sr->code = exit_worse(sr->code, EXIT_MISSING);
	if (out.signal)
		return exit_worse(sr->code, cli_interrupt_code(out.signal));
	if (r == 0 && !out.left && campaign_job_note(j, "concluded", NULL, 0, NULL, &err) < 0)
		log_error("%s", err.msg);
	return sr->code;
}

/* A folder in which nothing was submitted is of no use. */
static bool nothing_began(const struct campaign_job *j)
{
	for (size_t i = 0; i < j->state.runs.nr; i++)
		if (j->state.runs.v[i].attempts)
			return false;
	return true;
}

static int job_make(const struct run_slurm *rs, struct slurm_running *sr, struct run_options *job)
{
	struct campaign_request rq = { .campaigns = rs->runs_dir,
				       .file = rs->path,
				       .o = job,
				       .max_cells = MATRIX_CELLS_MAX,
				       .interrupt = &cli_interrupt,
				       .version = PROFRIG_VERSION };
	struct problems problems = PROBLEMS_INIT;
	struct said said = SAID_INIT; /* was said when the runs were prepared */
	struct campaign_job j;
	struct err err = ERR_INIT;
	bool nothing = true;
	int code;

	if (run_slurm_write(rs, &err) < 0 ||
	    campaign_job_new(&rq, &j, &problems, &said, &err) < 0) {
		code = failed(&problems, &err);
	} else {
		log_notice("by Slurm, in %s; should profrig end before the jobs, 'profrig campaign "
			   "resume %s' goes on",
			   rs->dir, rs->dir);
		sr->j = &j;
		code = job_drive(sr);
		nothing = nothing_began(&j);
		campaign_job_close(&j);
	}
	if (nothing)
		fs_remove_tree(rs->dir, NULL);
	said_release(&said);
	problems_release(&problems);
	return code;
}

int slurm_run(const struct command *c, const struct run_options *o, const struct campaign *cp)
{
	struct slurm_running sr = { .o = o, .cp = cp, .refused = STRVEC_INIT };
	struct run_options job;
	struct run_slurm rs;
	int code = slurm_bad_call(c, o);

	if (code >= 0)
		return code;
	code = settings_make(o, cp, &rs);
	run_slurm_options(o, &job);
	if (code == EXIT_DONE)
		code = job_make(&rs, &sr, &job);
	VEC_RELEASE(&sr.ended);
	strvec_release(&sr.refused);
	run_options_release(&job);
	run_slurm_release(&rs);
	return code;
}

/* ---- what is left ---- */

static void left_say(const char *dir)
{
	struct run_options o;
	struct campaign_job j;
	struct drive_outcome n;
	pid_t pid;
	char host[65];

	run_options_init(&o);
	if (campaign_lock_holder(dir, &pid, host) == 0 &&
	    campaign_job_look(dir, &o, false, &j, NULL) == 0) {
		campaign_count(&j, &n, NULL);
		if (n.left)
			log_notice("%" PRIu64 " of %" PRIu64 " runs of %s have no end yet, and no "
				   "profrig waits for them: 'profrig campaign resume %s' does, and "
				   "Ctrl-C twice there cancels them",
				   n.left, n.runs, dir, dir);
		campaign_job_close(&j);
	}
	run_options_release(&o);
}

void slurm_say_left(const char *runs_dir)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	fs_list(runs_dir, &names, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(runs_dir, names.v[i]);

		if (!strncmp(names.v[i], RUN_SLURM_PREFIX, strlen(RUN_SLURM_PREFIX)))
			left_say(dir);
	}
}
