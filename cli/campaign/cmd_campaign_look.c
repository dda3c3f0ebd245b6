/* campaign status, logs, cancel: looks at a campaign, or ends the process that works on it. */
#include "campaign_dir.h"
#include "campaign_drive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"

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
static int look_open(struct look *l, const char *operand)
{
	struct err err = ERR_INIT;
	int code = campaign_dir_find(l->c, operand, l->campaigns, &l->dir), r;

	if (code >= 0)
		return code;
	r = campaign_job_look(l->dir, &l->o, false, &l->j, &err);
	if (r == 0)
		return -1;
	log_error("%s", err.msg);
	return EXIT_UNREADABLE;
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

struct status {
	struct drive_outcome out;
	uint64_t running, block;
	double eta_s, mean_s;
	int holder; /* campaign_lock_holder */
	pid_t pid;
	char host[65];
};

static void status_find(const struct campaign_job *j, struct status *s)
{
	double seconds = 0;
	uint64_t done = 0;

	*s = (struct status){ .eta_s = NAN, .mean_s = NAN };
	campaign_count(j, &s->out, &s->running);
	s->holder = campaign_lock_holder(j->dir, &s->pid, s->host);
	if (!s->holder)
		s->running = 0;
	for (size_t i = 0; i < j->plan.cells.nr; i++) {
		struct cell_count c = cell_count(j, i);

		seconds += c.seconds;
		done += c.done;
	}
	for (size_t i = 0; i < j->state.runs.nr; i++) {
		struct attempt_name name;

		if (attempt_name_parse(j->state.runs.v[i].name, &name) && name.repeat > s->block &&
		    name.repeat <= j->plan.repeat)
			s->block = name.repeat;
	}
	if (done) {
		s->mean_s = seconds / (double)done;
		s->eta_s = s->mean_s * (double)s->out.left;
	}
}

static void status_json(const struct campaign_job *j, const struct status *s)
{
	struct json_out out;

	json_out_init(&out, stdout, 0);
	json_obj(&out, NULL);
	json_u64(&out, "cells", j->plan.cells.nr);
	json_u64(&out, "runs", s->out.runs);
	json_u64(&out, "committed", s->out.committed);
	json_u64(&out, "running", s->running);
	json_u64(&out, "failed", s->out.failed);
	json_u64(&out, "left", s->out.left);
	json_u64(&out, "superseded", s->out.superseded);
	json_u64(&out, "block", s->block);
	json_f64(&out, "eta_s", s->out.left ? s->eta_s : 0);
	json_str(&out, "name", j->plan.campaign);
	json_bool(&out, "live", s->holder != 0);
	json_u64(&out, "attempts", s->out.attempts);
	json_arr(&out, "failures");
	for (size_t i = 0; i < j->state.runs.nr; i++) {
		const struct run_state *r = &j->state.runs.v[i];

		if (r->stage != RUN_GIVEN_UP)
			continue;
		json_obj(&out, NULL);
		json_str(&out, "run", r->name);
		json_u64(&out, "attempts", r->attempts);
		json_str(&out, "reason", r->reason);
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
	       j->plan.campaign, s->out.committed, s->out.runs, s->running, s->out.failed,
	       s->out.left);
	if (s->out.superseded)
		printf(", %" PRIu64 " superseded attempts", s->out.superseded);
	if (s->out.left && s->eta_s > 0)
		printf(", about %s", cli_si(s->eta_s, "s", done));
	if (s->holder == 1)
		printf("\nprocess %d works on it\n", (int)s->pid);
	else if (s->holder == 2)
		printf("\nprocess %d on host %s works on it\n", (int)s->pid, s->host);
	else
		printf(s->out.left ? "\nno process works on it: 'profrig campaign resume' does\n"
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
		code = look_open(&l, operands.v[0]);
	if (code < 0) {
		code = EXIT_DONE;
		status_find(&l.j, &s);
		if (l.json)
			status_json(&l.j, &s);
		else
			status_text(&l.j, &s);
	}
	look_release(&l);
	return code;
}

/* ---- logs ---- */

/* What a workload printed, made harmless for a terminal. */
static bool file_show(const char *path, const char *head)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);

	if (fd >= 0)
		close(fd);
	if (fd < 0 || !fs_is_file(path) || fs_read(path, LOG_MAX, &text, &n, NULL) < 0 || n == 0)
		return false;
	printf("== %s\n", head);
	if (!isatty(1)) {
		fwrite(text, 1, n, stdout);
	} else {
		for (size_t i = 0; i < n; i++)
			putchar((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t'
					? '?'
					: text[i]);
	}
	if (text[n - 1] != '\n')
		putchar('\n');
	return true;
}

static int attempt_show(const struct look *l, const struct attempt_name *a)
{
	CLEANUP(xfreep) char *log = xasprintf("%s/logs/%s.log", l->dir, a->all);
	CLEANUP(xfreep) char *steps = xasprintf("%s/runs/%s/steps", l->dir, a->all);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	bool any = file_show(log, "profrig");

	fs_list(steps, &names, NULL);
	strvec_sort(&names);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(steps, names.v[i]);

		any |= file_show(path, names.v[i]);
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
