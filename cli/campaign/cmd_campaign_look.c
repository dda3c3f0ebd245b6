/* campaign status, logs, cancel: looks at a campaign, or ends the process that works on it. */
#include "campaign_dir.h"
#include "campaign_drive.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/table.h"
#include "profrig/base/text.h"

#define LOG_MAX ((size_t)16 << 20)
#define CANCEL_WAIT_MS 250
#define CANCEL_WAITS 480 /* two minutes */

struct look {
	const struct command *c;
	const char *campaigns;
	char *dir;
	struct run_options o;
	struct campaign_job j;
	bool json;
};

/* -1 to go on. */
static int job_read(struct look *l)
{
	struct err err = ERR_INIT;

	if (campaign_job_look(l->dir, &l->o, false, &l->j, &err) == 0)
		return -1;
	log_error("%s", err.msg);
	return EXIT_UNREADABLE;
}

static int look_open(struct look *l, const char *operand)
{
	int code = campaign_dir_find(l->c, operand, l->campaigns, &l->dir);

	return code < 0 ? job_read(l) : code;
}

static void look_init(struct look *l, const struct command *c)
{
	*l = (struct look){ .c = c, .campaigns = CAMPAIGNS_DIR };
	run_options_init(&l->o);
}

static void look_release(struct look *l)
{
	if (l->j.dir)
		campaign_job_close(&l->j);
	run_options_release(&l->o);
	free(l->dir);
}

/* ---- status ---- */

struct cell_count {
	uint32_t done, open, failed, attempts;
	double seconds;
	const char *reason; /* of a failure; NULL */
};

static struct cell_count cell_count(const struct campaign_job *j, size_t cell)
{
	struct cell_count c = { 0 };

	for (uint32_t k = 1; k <= j->plan.repeat; k++) {
		struct attempt_name name;
		const struct run_state *r;

		attempt_name_make(j->plan.cells.v[cell].id, k, 0, &name);
		r = campaign_state_find(&j->state, name.run);
		if (!r)
			continue;
		c.done += r->stage == RUN_COMMITTED;
		c.open += r->stage == RUN_OPEN;
		c.failed += r->stage == RUN_GIVEN_UP;
		c.attempts += r->attempts;
		if (r->stage == RUN_COMMITTED && r->ended_ns > r->begun_ns)
			c.seconds += (double)(r->ended_ns - r->begun_ns) / 1e9;
		if (r->stage != RUN_COMMITTED && *r->reason)
			c.reason = r->reason;
	}
	return c;
}

struct failure {
	char *run, *reason;
	uint64_t attempts;
};

struct status {
	char *name;
	uint64_t cells, runs, committed, failed, left, superseded, attempts;
	uint64_t running, block;
	double eta_s;
	VEC(struct failure) failures; /* runs that have no further attempt */
	int holder;                   /* campaign_lock_holder */
	pid_t pid;
	char host[65];
};

static void status_release(struct status *s)
{
	for (size_t i = 0; i < s->failures.nr; i++) {
		free(s->failures.v[i].run);
		free(s->failures.v[i].reason);
	}
	VEC_RELEASE(&s->failures);
	free(s->name);
}

static void failure_add(struct status *s, const char *run, uint64_t attempts, const char *reason)
{
	VEC_PUSH(&s->failures, ((struct failure){ xstrdup(run), xstrdup(reason), attempts }));
}

static void failures_find(const struct campaign_job *j, struct status *s)
{
	for (size_t i = 0; i < j->plan.cells.nr; i++)
		for (uint32_t k = 1; k <= j->plan.repeat; k++) {
			struct attempt_name name;
			const struct run_state *r;

			attempt_name_make(j->plan.cells.v[i].id, k, 0, &name);
			r = campaign_state_find(&j->state, name.run);
			if (!r)
				continue;
			s->block = k > s->block && r->attempts ? k : s->block;
			if (r->stage == RUN_GIVEN_UP)
				failure_add(s, r->name, r->attempts, r->reason);
		}
}

/* From the journal. */
static void status_find(const struct campaign_job *j, struct status *s)
{
	struct drive_outcome out;
	double seconds = 0;
	uint64_t done = 0;

	*s = (struct status){ .name = xstrdup(j->plan.campaign), .eta_s = NAN };
	campaign_count(j, &out, &s->running);
	s->cells = j->plan.cells.nr;
	s->runs = out.runs;
	s->committed = out.committed;
	s->failed = out.failed;
	s->left = out.left;
	s->superseded = out.superseded;
	s->attempts = out.attempts;
	for (size_t i = 0; i < j->plan.cells.nr; i++) {
		struct cell_count c = cell_count(j, i);

		seconds += c.seconds;
		done += c.done;
	}
	failures_find(j, s);
	if (done)
		s->eta_s = seconds / (double)done * (double)s->left;
}

static int counts_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct status *s = ctx;

	(void)n, (void)err;
	free(s->name);
	s->name = xstrdup(c[0].kind == STORE_TEXT ? c[0].text : "");
	s->attempts = (uint64_t)c[1].i;
	s->superseded = (uint64_t)c[2].i;
	s->block = (uint64_t)c[3].i;
	return 0;
}

static int failure_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	(void)n, (void)err;
	failure_add(ctx, c[0].text, (uint64_t)c[1].i, c[2].kind == STORE_TEXT ? c[2].text : "");
	return 0;
}

/* From the store, which has counted already: false where it is not up to date. */
static bool status_ask(const char *dir, struct status *s)
{
	struct store_opts o = { .read = true, .current = true };
	struct store_query q = { .ctx = s, .row = counts_row };
	struct store_summary sum;
	struct store_answer a;
	struct store *store;
	int r = store_open(dir, &o, &store, NULL);

	*s = (struct status){ .eta_s = NAN };
	if (r < 0)
		return false;
	r = store_summary(store, &sum, NULL);
	if (r == 0)
		r = store_ask(store,
			      "SELECT (SELECT name FROM campaign), count(*), "
			      "count(iif(attempt.state = 'superseded', 1, NULL)), max(repeat) "
			      "FROM attempt JOIN run ON run.id = attempt.run WHERE run.current",
			      &q, &a, NULL);
	q.row = failure_row;
	if (r == 0 && sum.failed)
		r = store_ask(store,
			      "SELECT run.id, max(n), reason FROM run JOIN cell ON cell.id = cell "
			      "JOIN attempt ON attempt.run = run.id WHERE run.current AND "
			      "run.state = 'failed' GROUP BY run.id ORDER BY ord, repeat",
			      &q, &a, NULL);
	store_close(store);
	if (r == 0 && sum.cells) {
		s->cells = sum.cells;
		s->runs = sum.runs;
		s->committed = sum.committed;
		s->failed = sum.failed;
		s->running = sum.running;
		s->left = sum.runs - sum.committed - sum.failed;
		s->eta_s = sum.mean_s * (double)s->left;
		return true;
	}
	status_release(s);
	return false;
}

static void holder_find(const char *dir, struct status *s)
{
	s->holder = campaign_lock_holder(dir, &s->pid, s->host);
	if (!s->holder)
		s->running = 0;
}

static void status_json(const struct status *s)
{
	struct json_out out;

	json_out_init(&out, stdout, 0);
	json_obj(&out, NULL);
	json_u64(&out, "cells", s->cells);
	json_u64(&out, "runs", s->runs);
	json_u64(&out, "committed", s->committed);
	json_u64(&out, "running", s->running);
	json_u64(&out, "failed", s->failed);
	json_u64(&out, "left", s->left);
	json_u64(&out, "superseded", s->superseded);
	json_u64(&out, "block", s->block);
	json_f64(&out, "eta_s", s->left ? s->eta_s : 0);
	json_str(&out, "name", s->name);
	json_bool(&out, "live", s->holder != 0);
	json_u64(&out, "attempts", s->attempts);
	json_arr(&out, "failures");
	for (size_t i = 0; i < s->failures.nr; i++) {
		json_obj(&out, NULL);
		json_str(&out, "run", s->failures.v[i].run);
		json_u64(&out, "attempts", s->failures.v[i].attempts);
		json_str(&out, "reason", s->failures.v[i].reason);
		json_end(&out);
	}
	json_end(&out);
	json_end(&out);
	putchar('\n');
}

static void status_text(const struct campaign_job *j, const struct status *s)
{
	struct table *t = table_of_texts("cells", "cell", "label", "done", "failed", "attempts",
					 "mean", "last failure");
	char done[32], failed[32], attempts[32], mean[32];

	printf("%s: %" PRIu64 " of %" PRIu64 " runs done, %" PRIu64 " running, %" PRIu64
	       " failed, %" PRIu64 " left",
	       j->plan.campaign, s->committed, s->runs, s->running, s->failed, s->left);
	if (s->superseded)
		printf(", %" PRIu64 " superseded attempts", s->superseded);
	if (s->left && s->eta_s > 0)
		printf(", about %s", cli_si(s->eta_s, "s", done));
	if (s->holder == 1)
		printf("\nprocess %d works on it\n", (int)s->pid);
	else if (s->holder == 2)
		printf("\nprocess %d on host %s works on it\n", (int)s->pid, s->host);
	else
		printf(s->left ? "\nno process works on it: 'profrig campaign resume' does\n"
			       : "\n");
	for (size_t i = 0; i < j->plan.cells.nr; i++) {
		struct cell_count c = cell_count(j, i);

		snprintf(done, sizeof(done), "%u/%u", c.done, j->plan.repeat);
		snprintf(failed, sizeof(failed), "%u", c.failed);
		snprintf(attempts, sizeof(attempts), "%u", c.attempts);
		if (c.done)
			cli_si(c.seconds / c.done, "s", mean);
		table_texts(t, j->plan.cells.v[i].id, j->plan.cells.v[i].label, done, failed,
			    attempts, c.done ? mean : "", c.reason ? c.reason : "");
	}
	table_write_text(t, stdout, 0, 0);
	table_free(t);
}

static int status_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	struct status s;
	struct look l;
	int code;

	look_init(&l, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &l.campaigns, "DIR",
		  "folder of campaigns, when FILE is named (./campaigns)" },
		{ 0 },
	};
	code = cli_parse(c, opts, &l.json, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name one campaign: its file, or its folder");
	if (code < 0)
		code = campaign_dir_find(c, operands.v[0], l.campaigns, &l.dir);
	if (code < 0 && !(l.json && status_ask(l.dir, &s))) {
		code = job_read(&l);
		if (code < 0)
			status_find(&l.j, &s);
	}
	if (code < 0) {
		code = EXIT_DONE;
		holder_find(l.dir, &s);
		if (l.json)
			status_json(&s);
		else
			status_text(&l.j, &s);
		status_release(&s);
	}
	look_release(&l);
	return code;
}

/* ---- logs ---- */

/* What a workload printed, made harmless for a terminal. The folder of path is held. */
static bool file_show(const char *path, const char *head)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT;
	size_t n = 0;

	if (fs_read(path, LOG_MAX, &text, &n, NULL) < 0 || n == 0)
		return false;
	printf("== %s\n", head);
	if (isatty(1))
		text_visible(&shown, text, n, "\n\t");
	else
		strbuf_add(&shown, text, n);
	if (shown.buf[shown.len - 1] != '\n')
		strbuf_addch(&shown, '\n');
	fwrite(shown.buf, 1, shown.len, stdout);
	return true;
}

/* dir: a run directory; node: NULL, or its name. */
static bool steps_show(const char *dir, const char *node)
{
	CLEANUP(xfreep) char *steps = fs_join(dir, "steps");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	bool any = false;

	if (door_hold(dir, NULL) < 0)
		return false;
	fs_list(steps, &names, NULL);
	strvec_sort(&names);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(steps, names.v[i]);
		CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT;

		if (node)
			strbuf_addf(&head, "%s ", node);
		text_visible(&head, names.v[i], strlen(names.v[i]), "");
		any |= file_show(path, head.buf);
	}
	door_let_go(dir);
	return any;
}

static int attempt_show(const struct look *l, const struct attempt_name *a)
{
	CLEANUP(xfreep) char *logs = fs_join(l->dir, "logs");
	CLEANUP(xfreep) char *log = xasprintf("%s/%s.log", logs, a->all);
	CLEANUP(xfreep) char *dir = xasprintf("%s/runs/%s", l->dir, a->all);
	bool any = false;
	struct stat st;

	if (door_hold(logs, NULL) == 0) {
		any = file_show(log, "profrig");
		door_let_go(logs);
	}
	if (door_lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		any |= steps_show(dir, NULL);
	for (size_t k = 0;; k++) {
		CLEANUP(xfreep) char *name = xasprintf("node-%zu", k);
		CLEANUP(xfreep) char *node = fs_join(dir, name);

		if (door_lstat(node, &st) < 0 || !S_ISDIR(st.st_mode))
			break;
		any |= steps_show(node, name);
	}
	if (!any)
		log_notice("attempt %s left no output", a->all);
	return EXIT_DONE;
}

static void attempts_list(const struct campaign_job *j)
{
	static const char *const stages[] = { "left", "running", "done", "failed" };

	for (size_t i = 0; i < j->state.runs.nr; i++) {
		const struct run_state *r = &j->state.runs.v[i];

		printf("%s  %-7s  attempt %u%s%s\n", r->name, stages[r->stage],
		       r->stage == RUN_COMMITTED ? r->committed : r->attempts,
		       *r->reason && r->stage != RUN_COMMITTED ? "  " : "",
		       r->stage != RUN_COMMITTED ? r->reason : "");
	}
}

static int logs_of(const struct look *l, const char *word)
{
	struct attempt_name a;
	const struct run_state *r;

	if (!attempt_name_parse(word, &a)) {
		log_error("'%.60s' is no run: 'profrig campaign logs %s' lists them", word, l->dir);
		return EXIT_USAGE;
	}
	r = campaign_state_find(&l->j.state, a.run);
	if (!r) {
		log_error("run %s never began", a.run);
		return EXIT_USAGE;
	}
	if (!a.number)
		attempt_name_make(a.cell, a.repeat,
				  r->stage == RUN_COMMITTED ? r->committed : r->attempts, &a);
	return attempt_show(l, &a);
}

static int logs_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	struct look l;
	int code;

	look_init(&l, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &l.campaigns, "DIR",
		  "folder of campaigns, when FILE is named (./campaigns)" },
		{ 0 },
	};
	code = cli_parse(c, opts, NULL, argc, argv, &operands, NULL);
	if (code < 0 && (operands.nr < 1 || operands.nr > 2))
		code = cli_usage(c, "name one campaign, and a run of it, or one of its attempts");
	if (code < 0)
		code = look_open(&l, operands.v[0]);
	if (code < 0 && operands.nr == 2) {
		code = logs_of(&l, operands.v[1]);
	} else if (code < 0) {
		attempts_list(&l.j);
		code = EXIT_DONE;
	}
	look_release(&l);
	return code;
}

/* ---- cancel ---- */

static int holder_end(const char *dir, pid_t pid, bool drain)
{
	pid_t now;
	char host[65];

	if (kill(pid, drain ? SIGINT : SIGTERM) < 0) {
		log_error("process %d: %s", (int)pid, strerror(errno));
		return EXIT_MISSING;
	}
	if (drain) {
		log_notice("process %d begins no further run", (int)pid);
		return EXIT_DONE;
	}
	for (int i = 0; i < CANCEL_WAITS; i++) {
		if (campaign_lock_holder(dir, &now, host) == 0)
			return EXIT_DONE;
		poll(NULL, 0, CANCEL_WAIT_MS);
	}
	log_error("process %d has not ended within two minutes", (int)pid);
	return EXIT_MISSING;
}

static int cancel_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	bool drain = false;
	struct look l;
	char host[65];
	pid_t pid;
	int code;

	look_init(&l, c);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &l.campaigns, "DIR",
		  "folder of campaigns, when FILE is named (./campaigns)" },
		{ "drain", 0, OPT_FLAG, &drain, NULL, "let runs end that have begun" },
		{ 0 },
	};
	code = cli_parse(c, opts, NULL, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name one campaign: its file, or its folder");
	if (code < 0)
		code = look_open(&l, operands.v[0]);
	if (code < 0)
		switch (campaign_lock_holder(l.dir, &pid, host)) {
		case 1:
			code = holder_end(l.dir, pid, drain);
			break;
		case 2:
			log_error("process %d on host '%s' works on it: cancel it there", (int)pid,
				  host);
			code = EXIT_MISSING;
			break;
		default:
			log_notice("no process works on it");
			code = EXIT_DONE;
		}
	look_release(&l);
	return code;
}

extern const struct command cmd_campaign_status, cmd_campaign_logs, cmd_campaign_cancel;
const struct command cmd_campaign_status = { "campaign status", "FILE|DIR",
					     "how far a campaign has come, and what failed",
					     "profrig campaign status campaigns/blas",
					     status_main };
const struct command cmd_campaign_logs = { "campaign logs", "FILE|DIR [RUN]",
					   "what a run of a campaign printed",
					   "profrig campaign logs campaigns/blas 3fa9c1d2e4b5-2",
					   logs_main };
const struct command cmd_campaign_cancel = { "campaign cancel", "FILE|DIR",
					     "end the runs of a campaign that works",
					     "profrig campaign cancel campaigns/blas",
					     cancel_main };
