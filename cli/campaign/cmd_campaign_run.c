/* campaign run, resume: makes the runs that a campaign lacks. campaign-work: a worker of theirs. */
#include "campaign_dir.h"
#include "campaign_drive.h"
#include "campaign_publish.h"
#include "campaign_steps.h"
#include "campaign_verdict.h"
#include "drive_show.h"
#include "report_show.h"
#include "run_campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"

#define CHANGES_SHOWN 10

struct campaign_args {
	const struct command *c;
	struct run_options o;
	const char *campaigns;
	long max_cells;
	bool keep_old, redo, take_over, json;
	struct strvec changes;
	struct problems problems;
	struct said said;
};

static void args_init(struct campaign_args *a, const struct command *c)
{
	*a = (struct campaign_args){ .c = c,
				     .campaigns = CAMPAIGNS_DIR,
				     .max_cells = (long)MATRIX_CELLS_MAX,
				     .changes = STRVEC_INIT,
				     .problems = PROBLEMS_INIT };
	run_options_init(&a->o);
}

static void args_release(struct campaign_args *a)
{
	run_options_release(&a->o);
	strvec_release(&a->changes);
	problems_release(&a->problems);
	said_release(&a->said);
}

/* The exit code of opening a campaign that failed with r. */
static int open_failed(struct campaign_args *a, int r, const struct err *err, const char *what)
{
	cli_said(&a->said);
	cli_problems(&a->problems);
	for (size_t i = 0; i < a->changes.nr && i < CHANGES_SHOWN; i++)
		log_error("%s", a->changes.v[i]);
	if (a->changes.nr > CHANGES_SHOWN)
		log_error("and %zu more", a->changes.nr - CHANGES_SHOWN);
	switch (r) {
	case -EEXIST:
		log_error("%s; 'profrig campaign resume %s' goes on with it", err->msg, what);
		return EXIT_USAGE;
	case -ESTALE:
		log_error("%s: --keep-old counts what was measured with the new runs, --redo "
			  "measures the changed cells again",
			  err->msg);
		return EXIT_USAGE;
	case -EBUSY:
		log_error("%s", err->msg);
		return EXIT_MISSING;
	case -EBADMSG:
		if (!a->problems.lines.nr)
			log_error("%s", err->msg);
		return a->problems.lines.nr ? EXIT_CONFIG : EXIT_UNREADABLE;
	case -EINVAL:
		return a->problems.lines.nr ? EXIT_CONFIG : cli_failed(a->c, r, err);
	case -ENOENT:
		log_error("%s", err->msg);
		return EXIT_UNREADABLE;
	default:
		log_error("%s", err->msg);
		return cli_interrupt ? cli_interrupt_code(cli_interrupt) : EXIT_MISSING;
	}
}

/* Runs that count, although the machine was not as the others had it. */
static void steady_print(const struct campaign_state *s)
{
	if (s->cooldown_limit)
		log_warn("%" PRIu64 " attempt%s began at the limit of a cool-down: the machine was "
			 "not as it was before the first run",
			 s->cooldown_limit, s->cooldown_limit == 1 ? "" : "s");
	if (s->throttled)
		log_warn("%" PRIu64 " run%s although the processor was throttled", s->throttled,
			 s->throttled == 1 ? " counts" : "s count");
}

/* clocks: blocks in which they differ. */
static void outcome_print(const struct campaign_job *j, const struct drive_outcome *o,
			  size_t clocks, bool json)
{
	struct json_out out;

	if (!json) {
		printf("%s\n", j->dir);
		log_notice("%" PRIu64 " of %" PRIu64 " runs done%s", o->committed, o->runs,
			   o->failed || o->left ? "" : ": the campaign is complete");
		if (o->failed)
			log_warn("%" PRIu64 " run%s failed for good: 'profrig campaign status %s' "
				 "lists what failed, 'profrig campaign retry --failed %s' makes "
				 "it again",
				 o->failed, o->failed == 1 ? "" : "s", j->dir, j->dir);
		steady_print(&j->state);
		if (o->left)
			log_notice("%" PRIu64
				   " runs are left: 'profrig campaign resume %s' goes on",
				   o->left, j->dir);
		return;
	}
	json_out_init(&out, stdout, 0);
	json_obj(&out, NULL);
	json_str(&out, "dir", j->dir);
	json_u64(&out, "cells", j->plan.cells.nr);
	json_u64(&out, "runs", o->runs);
	json_u64(&out, "committed", o->committed);
	json_u64(&out, "failed", o->failed);
	json_u64(&out, "left", o->left);
	json_u64(&out, "superseded", o->superseded);
	json_u64(&out, "cooldown_limit", j->state.cooldown_limit);
	json_u64(&out, "throttled", j->state.throttled);
	json_u64(&out, "clocks_differ", clocks);
	json_end(&out);
	putchar('\n');
}

static int outcome_code(const struct drive_outcome *o)
{
	if (o->signal)
		return cli_interrupt_code(o->signal);
	return o->left ? EXIT_PARTIAL : o->failed ? EXIT_WORKLOAD : EXIT_DONE;
}

/* The store is a cache: what it lacks is made up for later. */
struct store_keeping {
	struct store *store; /* NULL: it does not open */
	bool warned;
	struct campaign_publishing publishing;
};

static int store_noted(void *ctx, const struct journal_event *e, struct err *err)
{
	struct store_keeping *k = ctx;
	struct err why = ERR_INIT;

	(void)err;
	if (!strcmp(e->ev, "committed"))
		campaign_publish_run(&k->publishing, e->run, (uint32_t)e->attempt);
	if (!k->store || !strcmp(e->ev, "intend") || !strcmp(e->ev, "ended"))
		return 0;
	if (store_follow(k->store, &why) < 0 && !k->warned) {
		log_warn("the store is not up to date, and is made so later: %s", why.msg);
		k->warned = true;
	}
	return 0;
}

static void store_begin(struct store_keeping *k, struct campaign_job *j)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = campaign_store_opts(false, &said);
	struct err err = ERR_INIT;

	if (store_open(j->dir, &o, &k->store, &err) < 0) {
		log_warn("the store is not kept: %s", err.msg);
		k->store = NULL;
	}
	for (size_t i = 0; i < said.nr; i++)
		log_notice("%s", said.v[i]);
	j->noted = store_noted;
	j->noted_ctx = k;
}

/* All runs are done: steps once, the verdict. */
static int runs_conclude(const struct campaign_args *a, struct campaign_job *j)
{
	bool again = j->state.concluded;
	int code = again ? EXIT_DONE : campaign_steps(j);
	struct err err = ERR_INIT;

	code = exit_worse(code, campaign_judge(j, log_level() < 1 || a->json));
	if (!again && !cli_interrupt && campaign_job_note(j, "concluded", NULL, 0, NULL, &err) < 0)
		log_error("%s", err.msg);
	return code;
}

static int job_drive(struct campaign_args *a, struct campaign_job *j)
{
	struct store_keeping keeping = { .store = NULL };
	struct drive_show *show = drive_show_new(j->cells.v.nr);
	struct drive_opts o = { .program = "/proc/self/exe",
				.interrupt = &cli_interrupt,
				.moment = drive_show_moment,
				.ctx = show,
				.ticks = drive_show_ticks(show) };
	struct drive_outcome out;
	struct err err = ERR_INIT;
	int gate = EXIT_DONE, r;
	size_t clocks;

	campaign_publish_begin(&keeping.publishing, j);
	store_begin(&keeping, j);
	r = campaign_drive(j, &o, &out, &err);
	drive_show_free(show);
	if (r < 0)
		log_error("%s", err.msg);
	if (r == 0 && !out.left && !out.signal)
		gate = runs_conclude(a, j);
	campaign_publish_end(&keeping.publishing);
	store_close(keeping.store);
	j->noted = NULL;
	clocks = campaign_report_at_end(j->dir);
	outcome_print(j, &out, clocks, a->json);
	return r < 0 && !out.signal ? EXIT_MISSING : exit_worse(outcome_code(&out), gate);
}

static void said_of(struct campaign_args *a, const struct campaign_job *j)
{
	cli_said(&a->said);
	if (j->read.torn_bytes)
		log_warn("the journal ended in the middle of a line: %zu bytes are in "
			 "journal.ndjson.torn",
			 j->read.torn_bytes);
	for (size_t i = 0; i < a->changes.nr && i < CHANGES_SHOWN; i++)
		log_notice("%s", a->changes.v[i]);
}

static void leftovers_say(const char *dir)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *runs = fs_join(dir, "runs");

	run_sweep_leftovers(runs, &lines, NULL);
	for (size_t i = 0; i < lines.nr; i++)
		log_notice("%s", lines.v[i]);
}

static struct campaign_request request_of(struct campaign_args *a)
{
	return (struct campaign_request){ .campaigns = a->campaigns,
					  .o = &a->o,
					  .max_cells = (uint64_t)a->max_cells,
					  .decided = a->keep_old ? CHANGES_KEEP_OLD
						     : a->redo   ? CHANGES_REDO
								 : CHANGES_ASK,
					  .take_over = a->take_over,
					  .interrupt = &cli_interrupt,
					  .version = PROFRIG_VERSION };
}

static int run_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	struct campaign_args a;
	struct campaign_job j;
	struct err err = ERR_INIT;
	int code, r;

	args_init(&a, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &a.campaigns, "DIR",
		  "folder of campaigns (./campaigns)" },
		{ "set", 0, OPT_LIST, &a.o.conf.sets, "KEY=VALUE",
		  "set one value of all runs, such as model.timeout=60" },
		{ "tools-dir", 0, OPT_LIST, &a.o.tools_dirs, "DIR",
		  "look for tools here first (repeatable)" },
		{ "max-cells", 0, OPT_INT, &a.max_cells, "N", "allow so many cells (10000)" },
		{ 0 },
	};
	code = cli_parse(c, opts, &a.json, argc, argv, &operands, NULL);
	if (code < 0 && a.max_cells < 1)
		code = cli_usage(c, "--max-cells wants a number from 1 on");
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name one campaign file");
	if (code < 0) {
		struct campaign_request rq = request_of(&a);

		cli_catch_signals();
		rq.file = operands.v[0];
		r = campaign_job_new(&rq, &j, &a.problems, &a.said, &err);
		if (r < 0) {
			code = open_failed(&a, r, &err, operands.v[0]);
		} else {
			said_of(&a, &j);
			code = job_drive(&a, &j);
			campaign_job_close(&j);
		}
	}
	args_release(&a);
	return code;
}

/* Runs that failed for good are left again: those that are named, or all. */
static int runs_retry(struct campaign_job *j, const struct strvec *names, struct err *err)
{
	size_t nr = 0;
	int r = 0;

	for (size_t i = 0; i < j->state.runs.nr && r == 0; i++) {
		const struct run_state *run = &j->state.runs.v[i];

		if (run->stage != RUN_GIVEN_UP || (names->nr && !strvec_has(names, run->name)))
			continue;
		nr++;
		r = campaign_job_note(j, "retry", run->name, 0, NULL, err);
	}
	for (size_t i = 0; i < names->nr && r == 0; i++) {
		const struct run_state *run = campaign_state_find(&j->state, names->v[i]);

		if (!run || (run->stage != RUN_LEFT && run->stage != RUN_GIVEN_UP))
			log_warn("'%s' is no run that failed for good", names->v[i]);
	}
	log_notice("%zu runs are made again", nr);
	return r;
}

/* Goes on with a campaign; names: runs whose failure is forgotten first, NULL: none. */
static int job_resume(struct campaign_args *a, const char *operand, const char *dir,
		      const struct strvec *names)
{
	CLEANUP(xfreep) char *file = NULL;
	struct campaign_request rq = request_of(a);
	struct campaign_job j;
	struct err err = ERR_INIT;
	int code, r;

	cli_catch_signals();
	rq.dir = dir;
	if (!fs_is_dir(operand)) {
		file = fs_abs(operand);
		rq.file = file;
	}
	leftovers_say(dir);
	r = campaign_job_open(&rq, &j, &a->changes, &a->problems, &a->said, &err);
	if (r < 0)
		return open_failed(a, r, &err, dir);
	said_of(a, &j);
	r = names ? runs_retry(&j, names, &err) : 0;
	if (r < 0)
		log_error("%s", err.msg);
	code = r < 0 ? EXIT_MISSING : job_drive(a, &j);
	campaign_job_close(&j);
	return code;
}

static int retry_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT, names = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	struct campaign_args a;
	bool failed = false;
	int code;

	args_init(&a, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &a.campaigns, "DIR",
		  "folder of campaigns, when FILE is named (./campaigns)" },
		{ "failed", 0, OPT_FLAG, &failed, NULL, "all runs that failed for good" },
		{ "keep-old", 0, OPT_FLAG, &a.keep_old, NULL,
		  "what was measured counts, although code or configuration have changed" },
		{ "redo", 0, OPT_FLAG, &a.redo, NULL, "measure cells again that have changed" },
		{ 0 },
	};
	code = cli_parse(c, opts, &a.json, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr == 0)
		code = cli_usage(c, "name one campaign: its file, or its folder");
	if (code < 0 && failed == (operands.nr > 1))
		code = cli_usage(c, "name runs, or say --failed");
	for (size_t i = 1; code < 0 && i < operands.nr; i++)
		strvec_push(&names, operands.v[i]);
	if (code < 0)
		code = campaign_dir_find(c, operands.v[0], a.campaigns, &dir);
	if (code < 0)
		code = job_resume(&a, operands.v[0], dir, &names);
	args_release(&a);
	return code;
}

static int resume_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	struct campaign_args a;
	int code;

	args_init(&a, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &a.campaigns, "DIR",
		  "folder of campaigns, when FILE is named (./campaigns)" },
		{ "keep-old", 0, OPT_FLAG, &a.keep_old, NULL,
		  "what was measured counts, although code or configuration have changed" },
		{ "redo", 0, OPT_FLAG, &a.redo, NULL, "measure cells again that have changed" },
		{ "take-over", 0, OPT_FLAG, &a.take_over, NULL,
		  "believe that the process of another host is gone" },
		{ "max-cells", 0, OPT_INT, &a.max_cells, "N", "allow so many cells (10000)" },
		{ 0 },
	};
	code = cli_parse(c, opts, &a.json, argc, argv, &operands, NULL);
	if (code < 0 && a.max_cells < 1)
		code = cli_usage(c, "--max-cells wants a number from 1 on");
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name one campaign: its file, or its folder");
	if (code < 0 && a.keep_old && a.redo)
		code = cli_usage(c, "--keep-old or --redo, not both");
	if (code < 0)
		code = campaign_dir_find(c, operands.v[0], a.campaigns, &dir);
	if (code < 0)
		code = job_resume(&a, operands.v[0], dir, NULL);
	args_release(&a);
	return code;
}

/* ---- a worker ---- */

struct working {
	const struct run_options *o;
	bool goes_on; /* with the next name, also after a run that a signal ended */
};

static int work_execute(void *ctx, struct prepared *p)
{
	const struct working *w = ctx;
	/* the campaign was stopped between the name and now */
	int code = cli_interrupt ? cli_interrupt_code(cli_interrupt) : run_alone(w->o, p);

	if (w->goes_on)
		cli_interrupt = 0;
	return code;
}

/* A scheduler says with SIGUSR1 that the job's time ends soon: the workload has no part in that. */
static volatile sig_atomic_t time_ends;

static void on_time_ends(int sig)
{
	(void)sig;
	time_ends = 1;
}

static void time_ends_catch(void)
{
	struct sigaction sa = { .sa_handler = on_time_ends };

	sigaction(SIGUSR1, &sa, NULL);
}

/* Those of a list, one after the other; a signal ends it before the next one. */
static int work_list(const struct attempt_work *w, const char *list)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int code = EXIT_DONE;

	strvec_split(&names, list, ",");
	for (size_t i = 0; i < names.nr && !cli_interrupt && !time_ends; i++) {
		struct err err = ERR_INIT;
		struct attempt_name a;
		enum attempt_end end;
		char said[200] = "";
		int r = attempt_name_parse(names.v[i], &a) && a.number
				? attempt_execute(w, &a, &end, said, &err)
				: err_set(&err, EINVAL, "'%s' is no attempt", names.v[i]);

		if (*said)
			log_warn("%s", said);
		if (r < 0)
			log_error("%s: %s", names.v[i], err.msg);
		code = r < 0 ? EXIT_MISSING : code;
	}
	return code;
}

static int work_do(struct campaign_job *j, const char *list, size_t node, size_t nodes)
{
	struct working ctx = { j->o, list == NULL };
	const struct attempt_work w = { .where = { j->dir, &j->metrics, nodes },
					.node = node,
					.o = j->o,
					.cells = &j->cells,
					.ids = &j->ids,
					.campaign = j->file.name,
					.execute = work_execute,
					.ctx = &ctx };
	struct err err = ERR_INIT;
	int out, r;

	if (list)
		return work_list(&w, list);
	/* no process of a run may answer in its place */
	out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	r = attempt_worker(&w, 0, out, &err);
	if (r < 0)
		log_error("%s", err.msg);
	close(out);
	return r < 0 ? EXIT_MISSING : EXIT_DONE;
}

static int work_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	const char *list = NULL;
	struct run_options o;
	struct campaign_job j;
	struct err err = ERR_INIT;
	const char *node = "0";
	long slot = 1, nodes = 1;
	uint64_t place = 0;
	int code;

	run_options_init(&o);
	const struct opt opts[] = {
		{ "node", 0, OPT_STR, &node, "K", "this node, from 0" },
		{ "nodes", 0, OPT_INT, &nodes, "N", "of so many" },
		{ "slot", 0, OPT_INT, &slot, "N", "whose keys count" },
		{ "attempts", 0, OPT_STR, &list, "A,B,…", "these; else those whose names come in" },
		{ 0 },
	};
	code = cli_parse(c, opts, NULL, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name the folder of a campaign");
	if (code < 0 && slot < 1)
		code = cli_usage(c, "--slot wants a number from 1 on");
	if (code < 0 && (num_u64(node, strlen(node), &place) < 0 || place >= (uint64_t)nodes))
		code = cli_usage(c, "--node wants a number below that of --nodes");
	if (code < 0) {
		cli_catch_signals();
		if (list)
			time_ends_catch();
		progress_setup(0);
		code = EXIT_DONE;
		if (campaign_job_look(operands.v[0], &o, true, &j, &err) < 0) {
			log_error("%s", err.msg);
			code = EXIT_CONFIG;
		} else {
			/* of jobs that died on this node */
			if (list)
				leftovers_say(operands.v[0]);
			o.of_campaign = true;
			o.no_analyze = !j.file.analyze;
			campaign_slot_config(&j.file, (size_t)slot - 1, &o.conf.given);
			code = work_do(&j, list, (size_t)place, (size_t)nodes);
			campaign_job_close(&j);
		}
	}
	run_options_release(&o);
	return code;
}

extern const struct command cmd_campaign_run, cmd_campaign_resume, cmd_campaign_retry,
	cmd_campaign_work;
const struct command cmd_campaign_run = { "campaign run", "FILE",
					  "make all runs of a campaign file",
					  "profrig campaign run blas.yaml", run_main };
const struct command cmd_campaign_resume = { "campaign resume", "FILE|DIR",
					     "make the runs that a campaign lacks",
					     "profrig campaign resume campaigns/blas",
					     resume_main };
const struct command cmd_campaign_retry = { "campaign retry", "FILE|DIR [RUN…]",
					    "make runs again that failed for good",
					    "profrig campaign retry campaigns/blas --failed",
					    retry_main };
const struct command cmd_campaign_work = { "campaign work", "DIR", "make runs whose names come in",
					   NULL, work_main };
