/*
 * Slurm as a scheduler of campaigns: which command runs when. One runs at a time: scancel before
 * sbatch before squeue before sacct. What answers mean is in slurm_answer.c, what is believed of
 * jobs in slurm_jobs.c.
 */
#include "sched_command.h"
#include "scheduler.h"
#include "slurm_answer.h"
#include "slurm_jobs.h"
#include "slurm_script.h"
#include "slurm_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define NAMES_MAX ((size_t)200) /* in one command line */
#define SUBMISSION_MAX ((size_t)5000)
#define SACCT_EVERY_S 15
#define IDLE_MS 1000

enum doing { NOTHING, SBATCH, SQUEUE, SACCT, SCANCEL };

struct sched {
	char *dir, *name, *program;
	const struct slurm_settings *settings;
	struct slurm_jobs jobs;
	struct strvec env, env_sbatch;
	char user[24];
	struct slurm_site site;

	struct sched_command command;
	enum doing doing;
	struct slurm_batch *sending; /* of the sbatch in flight */
	size_t chunk;                /* batches that this round of squeue has asked for */
	int64_t began_ns;            /* of the command in flight */
	int64_t poll_ns, sacct_ns;   /* when the next one is due */
	double poll_min_s, poll_max_s, interval_s;
	int64_t answered_ns; /* the last answer of squeue */
	bool silent;         /* the last squeue failed */
	bool accounting;
	char trouble[300];
	uint64_t commands, failed, timeouts;
	VEC(struct sched_view) views;
};

static bool settled_default(void *ctx, const char *attempt)
{
	const struct sched *s = ctx;

	return sched_settled(s->dir, attempt, slurm_run_nodes(s->settings));
}

/* ---- commands ---- */

static int command_start(struct sched *s, enum doing doing, struct strvec *argv)
{
	struct err err = ERR_INIT;
	int r = sched_command_begin(&s->command, argv->v,
				    doing == SBATCH ? s->env_sbatch.v : s->env.v,
				    s->settings->command_timeout_s, &err);

	s->commands++;
	if (r < 0) {
		s->failed++;
		snprintf(s->trouble, sizeof(s->trouble), "%s", err.msg);
		return r;
	}
	s->doing = doing;
	s->began_ns = clock_monotonic_ns();
	return 0;
}

/* Whether it ended well; else the trouble says how not. */
static bool command_well(struct sched *s, const char *program)
{
	CLEANUP(xfreep) char *said = sched_command_said(&s->command);

	if (s->command.timed_out)
		snprintf(s->trouble, sizeof(s->trouble), "%s gave no answer in %.0f s%s%s", program,
			 s->settings->command_timeout_s, *said ? ": " : "", said);
	else if (s->command.exit.code != 0)
		snprintf(s->trouble, sizeof(s->trouble), "%s failed: %s", program,
			 *said ? said : "without a word");
	else if (s->command.out.overflow)
		snprintf(s->trouble, sizeof(s->trouble), "%s printed more than %zu MiB", program,
			 SCHED_OUT_MAX >> 20);
	else
		return true;
	s->failed++;
	s->timeouts += s->command.timed_out;
	return false;
}

/* ---- sbatch ---- */

static char *script_path(const struct sched *s, const struct slurm_batch *b)
{
	return xasprintf("%s/submit/%s.sh", s->dir, b->nonce);
}

static int script_write(struct sched *s, const struct slurm_submission *sub, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	slurm_script_text(s->settings, sub, &text);
	return fs_write_atomic(sub->script, text.buf, text.len, err);
}

static void sbatch_begin(struct sched *s, struct slurm_batch *b)
{
	CLEANUP(xfreep) char *script = script_path(s, b);
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	VEC(struct sched_job) jobs = VEC_INIT;
	struct err err = ERR_INIT;
	int r;

	for (size_t i = 0; i < b->jobs.nr; i++)
		VEC_PUSH(&jobs,
			 ((struct sched_job){ b->jobs.v[i].attempts.v, b->jobs.v[i].time_s }));
	struct slurm_submission sub = { .nonce = b->nonce,
					.jobs = jobs.v,
					.nr = jobs.nr,
					.dir = s->dir,
					.name = s->name,
					.program = s->program,
					.script = script,
					.exclude = &s->jobs.excluded,
					.array = b->array };

	slurm_sbatch_argv(s->settings, &sub, &argv);
	r = script_write(s, &sub, &err);
	VEC_RELEASE(&jobs);
	b->submitted_real_ns = clock_realtime_ns();
	if (r == 0) {
		r = command_start(s, SBATCH, &argv);
		snprintf(err.msg, sizeof(err.msg), "%s", s->trouble);
	}
	if (r < 0) {
		slurm_batch_refuse(b, r != -ENOENT && r != -EACCES, "%s", err.msg);
		return;
	}
	b->fate = SLURM_SENDING;
	b->id = 0;
	s->sending = b;
}

static void sbatch_done(struct sched *s)
{
	struct slurm_batch *b = STEAL(s->sending);
	CLEANUP(xfreep) char *said = sched_command_said(&s->command);
	bool well = command_well(s, "sbatch");
	uint64_t id = 0;
	int code = s->command.timed_out || s->command.exit.signal ? -1 : s->command.exit.code;

	switch (slurm_sbatch_read(code, s->command.out.buf, s->command.errs.buf, &id)) {
	case SLURM_ACCEPTED:
		slurm_batch_queued(b, id);
		if (well)
			s->trouble[0] = '\0';
		break;
	case SLURM_DOUBTFUL:
		b->fate = SLURM_DOUBT;
		b->absent_ns = 0;
		if (s->command.timed_out)
			snprintf(b->why, sizeof(b->why), "%s", s->trouble);
		else
			snprintf(b->why, sizeof(b->why), "%s",
				 *said ? said : "no number in what it printed");
		break;
	case SLURM_BUSY:
		slurm_batch_refuse(b, true, "%s", said);
		break;
	case SLURM_REFUSED:
		slurm_batch_refuse(b, false, "%s", said);
		break;
	}
	s->jobs.changed = true;
	/* Soon, but not faster than squeue may be asked. */
	s->interval_s = s->poll_min_s;
	if (s->poll_ns > clock_monotonic_ns() + (int64_t)(s->poll_min_s * (double)NS_PER_S))
		s->poll_ns = clock_monotonic_ns() + (int64_t)(s->poll_min_s * (double)NS_PER_S);
}

/* ---- squeue ---- */

static void argv_names(const struct strvec *names, struct strvec *argv)
{
	CLEANUP(xfreep) char *list = strvec_join(names, ",");

	strvec_pushf(argv, "--name=%s", list);
}

/* Up to NAMES_MAX of the batches from s->chunk on. */
static void names_take(struct sched *s, struct strvec *names)
{
	for (size_t i = 0; i < s->jobs.batches.nr; i++)
		s->jobs.batches.v[i]->asked = false;
	for (; s->chunk < s->jobs.batches.nr && names->nr < NAMES_MAX; s->chunk++) {
		struct slurm_batch *b = s->jobs.batches.v[s->chunk];

		if (slurm_batch_asks(b)) {
			b->asked = true;
			strvec_push(names, b->name);
		}
	}
}

static void poll_later(struct sched *s, bool well)
{
	if (!well)
		s->interval_s *= 2;
	else if (s->jobs.changed)
		s->interval_s = s->poll_min_s;
	else
		s->interval_s *= 1.5;
	s->interval_s = fmin(fmax(s->interval_s, s->poll_min_s), s->poll_max_s);
	s->poll_ns = clock_monotonic_ns() + (int64_t)(s->interval_s * (double)NS_PER_S);
	s->chunk = 0;
	s->jobs.changed = false;
}

/* False: nothing is to be asked. */
static bool squeue_begin(struct sched *s)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, names = STRVEC_INIT;

	names_take(s, &names);
	if (!names.nr) {
		poll_later(s, true);
		return false;
	}
	strvec_pushl(&argv, "squeue", "-h", "-r", "-t", "all", "-u", s->user, NULL);
	argv_names(&names, &argv);
	strvec_pushl(&argv, "-o", SLURM_SQUEUE_FORMAT, NULL);
	if (command_start(s, SQUEUE, &argv) < 0) {
		s->silent = true;
		poll_later(s, false);
	}
	return true;
}

static void squeue_done(struct sched *s)
{
	bool well = command_well(s, "squeue");
	struct slurm_read r;

	s->silent = !well;
	if (s->command.timed_out || s->command.exit.code != 0) {
		poll_later(s, false);
		return;
	}
	r = slurm_jobs_squeue(&s->jobs, s->command.out.buf, s->command.out.len, well, s->began_ns);
	s->answered_ns = clock_monotonic_ns();
	if (well)
		s->trouble[0] = '\0';
	if (r.odd)
		snprintf(s->trouble, sizeof(s->trouble),
			 "squeue: %zu lines of its answer are no rows, such as '%s'", r.odd,
			 r.sample);
	else if (s->jobs.odd_word[0])
		snprintf(s->trouble, sizeof(s->trouble),
			 "squeue: '%s' is no state that profrig knows; is a wrapper in PATH?",
			 s->jobs.odd_word);
	if (s->chunk >= s->jobs.batches.nr)
		poll_later(s, well);
}

/* ---- sacct ---- */

static bool sacct_begin(struct sched *s)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, names = STRVEC_INIT;
	int64_t first_ns = clock_realtime_ns();
	char day[32];

	for (size_t i = 0; i < s->jobs.batches.nr && names.nr < NAMES_MAX; i++) {
		const struct slurm_batch *b = s->jobs.batches.v[i];

		if (!slurm_batch_wants_sacct(b))
			continue;
		strvec_push(&names, b->name);
		if (b->submitted_real_ns && b->submitted_real_ns < first_ns)
			first_ns = b->submitted_real_ns;
	}
	if (!names.nr)
		return false;
	s->sacct_ns = clock_monotonic_ns() +
		      (int64_t)(fmin(SACCT_EVERY_S, s->poll_min_s * 3) * (double)NS_PER_S);
	/* A day earlier: its own day begins at the cluster's midnight. */
	clock_utc(first_ns - 86400 * NS_PER_S, day);
	day[10] = '\0';
	strvec_pushl(&argv, "sacct", "-X", "-P", "-n", "-D", "-u", s->user, "-S", day, NULL);
	argv_names(&names, &argv);
	strvec_pushl(&argv, "-o", SLURM_SACCT_FORMAT, NULL);
	if (command_start(s, SACCT, &argv) < 0)
		s->accounting = false;
	return true;
}

static void sacct_done(struct sched *s)
{
	if (!command_well(s, "sacct")) {
		/* Records decide without it. */
		if (strstr(s->command.errs.buf, "accounting storage is disabled"))
			s->accounting = false;
		s->trouble[0] = '\0';
		return;
	}
	slurm_jobs_sacct(&s->jobs, s->command.out.buf, s->command.out.len, clock_monotonic_ns());
}

/* ---- scancel ---- */

/*
 * A whole submission by its name. With a name scancel takes "28_3" for all tasks of the array that
 * have not begun, so single tasks go by their numbers alone: those that the last answer showed
 * under our name, as a number may be another job's by now.
 */
static void scancel_tasks(struct sched *s, struct slurm_batch *b, struct strvec *argv)
{
	int64_t now = clock_monotonic_ns(), fresh_ns = (int64_t)(2 * s->poll_min_s * 1e9);
	bool stale = now - s->answered_ns > fresh_ns;

	if (stale && !s->silent && s->poll_ns > now)
		s->poll_ns = now;
	for (size_t i = 0; i < b->jobs.nr && argv->nr < NAMES_MAX; i++) {
		struct slurm_job *job = &b->jobs.v[i];

		if (!job->cancel_due || stale || b->id == 0 || job->round != b->round)
			continue;
		strvec_pushf(argv, "%" PRIu64 "_%zu", b->id, i);
		job->cancel_due = false;
	}
}

static bool scancel_words(struct sched *s, struct slurm_batch *b, struct strvec *argv)
{
	size_t due = 0, spared = 0;

	if (b->strays.nr) {
		strvec_pushl(argv, "-u", s->user, NULL);
		strvec_pushf(argv, "--name=%s", b->name);
		strvec_pushf(argv, "%" PRIu64, b->strays.v[--b->strays.nr]);
		return true;
	}
	if (b->fate == SLURM_TO_SEND || b->fate == SLURM_SENDING)
		return false;
	for (size_t i = 0; i < b->jobs.nr; i++) {
		due += b->jobs.v[i].cancel_due;
		spared += b->jobs.v[i].state < SCHED_ENDED && !b->jobs.v[i].cancel_due;
	}
	if (!due)
		return false;
	if (spared) {
		size_t before = argv->nr;

		scancel_tasks(s, b, argv);
		return argv->nr > before;
	}
	for (size_t i = 0; i < b->jobs.nr; i++)
		b->jobs.v[i].cancel_due = false;
	strvec_pushl(argv, "-u", s->user, NULL);
	strvec_pushf(argv, "--name=%s", b->name);
	return true;
}

static bool scancel_begin(struct sched *s)
{
	for (size_t i = 0; i < s->jobs.batches.nr; i++) {
		struct slurm_batch *b = s->jobs.batches.v[i];
		CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

		strvec_push(&argv, "scancel");
		if (scancel_words(s, b, &argv)) {
			command_start(s, SCANCEL, &argv);
			return true;
		}
	}
	return false;
}

/* ---- what must not begin any more ---- */

static void stop_write(struct sched *s, const struct slurm_batch *b, size_t task)
{
	CLEANUP(xfreep) char *path = slurm_stop_path(s->dir, b->nonce, task);
	struct err err = ERR_INIT;

	if (fs_write_atomic(path, "", 0, &err) < 0)
		snprintf(s->trouble, sizeof(s->trouble), "%s", err.msg);
}

static void stops_write(struct sched *s)
{
	for (size_t i = 0; i < s->jobs.batches.nr; i++) {
		struct slurm_batch *b = s->jobs.batches.v[i];
		size_t due = 0;

		for (size_t k = 0; k < b->jobs.nr; k++)
			due += b->jobs.v[k].stop_due;
		if (due && due == b->jobs.nr)
			stop_write(s, b, SCHED_ALL);
		for (size_t k = 0; due && k < b->jobs.nr; k++) {
			if (b->jobs.v[k].stop_due && due < b->jobs.nr)
				stop_write(s, b, k);
			b->jobs.v[k].stop_due = false;
		}
	}
}

/* ---- steps ---- */

static void command_done(struct sched *s)
{
	enum doing doing = s->doing;

	s->doing = NOTHING;
	switch (doing) {
	case NOTHING:
		break;
	case SBATCH:
		sbatch_done(s);
		break;
	case SQUEUE:
		squeue_done(s);
		break;
	case SACCT:
		sacct_done(s);
		break;
	case SCANCEL:
		/* What still runs at the next squeue is cancelled again. */
		command_well(s, "scancel");
		break;
	}
}

static struct slurm_batch *batch_to_send(const struct sched *s)
{
	for (size_t i = 0; i < s->jobs.batches.nr; i++)
		if (s->jobs.batches.v[i]->fate == SLURM_TO_SEND)
			return s->jobs.batches.v[i];
	return NULL;
}

static bool lives(const struct sched *s)
{
	for (size_t i = 0; i < s->jobs.batches.nr; i++)
		if (s->jobs.batches.v[i]->fate != SLURM_TO_SEND &&
		    slurm_batch_lives(s->jobs.batches.v[i]))
			return true;
	return false;
}

static void command_choose(struct sched *s)
{
	int64_t now = clock_monotonic_ns();
	struct slurm_batch *b;

	if (scancel_begin(s))
		return;
	b = batch_to_send(s);
	if (b) {
		sbatch_begin(s, b);
		return;
	}
	/* The parts of a round follow each other at once. */
	if (lives(s) && (now >= s->poll_ns || s->chunk > 0) && squeue_begin(s))
		return;
	if (s->accounting && now >= s->sacct_ns)
		sacct_begin(s);
}

static int slurm_step(struct sched *s)
{
	int64_t now = clock_monotonic_ns(), left;

	if (s->doing != NOTHING) {
		if (!sched_command_step(&s->command))
			return now - s->began_ns < 200 * NS_PER_MS ? 10 : 50;
		command_done(s);
	}
	slurm_jobs_judge(&s->jobs, s->silent, now);
	stops_write(s);
	command_choose(s);
	if (s->doing != NOTHING || batch_to_send(s))
		return 10;
	if (slurm_jobs_wait(&s->jobs))
		return IDLE_MS;
	left = (s->poll_ns - now) / NS_PER_MS;
	return !lives(s) || left > IDLE_MS ? IDLE_MS : left < 10 ? 10 : (int)left;
}

static size_t slurm_views(struct sched *s, const struct sched_view **ret)
{
	VEC_CLEAR(&s->views);
	for (size_t i = 0; i < s->jobs.batches.nr; i++) {
		struct slurm_batch *b = s->jobs.batches.v[i];

		for (size_t k = 0; k < b->jobs.nr; k++) {
			struct slurm_job *job = &b->jobs.v[k];
			bool waits = job->state == SCHED_PENDING,
			     queue = job->state == SCHED_SUBMITTING || job->state == SCHED_REFUSED;

			job->name[0] = '\0';
			if (b->id)
				snprintf(job->name, sizeof(job->name),
					 b->array ? "%" PRIu64 "_%zu" : "%" PRIu64, b->id, k);
			VEC_PUSH(&s->views,
				 ((struct sched_view){
					 .nonce = b->nonce,
					 .task = k,
					 .state = job->state,
					 .class = job->class,
					 .job = job->name,
					 .word = job->word,
					 .reason = queue ? b->why : job->reason,
					 .node = job->node,
					 .stuck = waits && slurm_reason_stuck(job->reason),
					 .later = b->later,
					 .submitted_ns = b->submitted_real_ns,
					 .running_ns = job->running_real_ns,
					 .left_ns = job->left_real_ns,
				 }));
		}
	}
	*ret = s->views.v;
	return s->views.nr;
}

/* ---- submissions ---- */

static size_t slurm_submission_max(const struct sched *s)
{
	return s->site.max_array <= 1               ? 1
	       : s->site.max_array < SUBMISSION_MAX ? s->site.max_array
						    : SUBMISSION_MAX;
}

static int submission_check(const struct sched *s, const char *nonce, const struct sched_job *jobs,
			    size_t nr, struct err *err)
{
	if (!sched_name_ok(nonce, SCHED_NONCE_MAX))
		return err_set(err, EINVAL, "'%.80s' is no nonce", nonce);
	if (nr == 0)
		return err_set(err, EINVAL, "submission %s has no jobs", nonce);
	if (nr > slurm_submission_max(s))
		return err_set(err, E2BIG,
			       "submission %s has %zu jobs; an array of this cluster has at most "
			       "%zu (MaxArraySize)",
			       nonce, nr, slurm_submission_max(s));
	for (size_t i = 0; i < nr; i++) {
		if (!jobs[i].attempts || !jobs[i].attempts[0])
			return err_set(err, EINVAL, "job %zu of submission %s has no attempts", i,
				       nonce);
		for (char *const *a = jobs[i].attempts; *a; a++)
			if (!sched_name_ok(*a, 200))
				return err_set(err, EINVAL, "'%.80s' is no attempt's name", *a);
	}
	return 0;
}

/* A nonce that was refused may be tried again: its name finds also a first try that comes late. */
static void batch_again(const struct sched *s, struct slurm_batch *b)
{
	CLEANUP(xfreep) char *stop = slurm_stop_path(s->dir, b->nonce, SCHED_ALL);

	door_unlink(stop);
	b->fate = SLURM_TO_SEND;
	b->absent_ns = 0;
	b->later = false;
	for (size_t i = 0; i < b->jobs.nr; i++)
		b->jobs.v[i].state = SCHED_SUBMITTING;
}

static int slurm_submit(struct sched *s, const char *nonce, const struct sched_job *jobs, size_t nr,
			struct err *err)
{
	struct slurm_batch *b;
	int r = submission_check(s, nonce, jobs, nr, err);

	if (r < 0)
		return r;
	b = slurm_batch_find(&s->jobs, nonce);
	if (b && (b->fate != SLURM_NOT_QUEUED || !b->later || b->jobs.nr != nr))
		return err_set(err, EINVAL, "submission %s is in use", nonce);
	if (b) {
		batch_again(s, b);
		return 0;
	}
	b = slurm_batch_add(&s->jobs, nonce, jobs, nr);
	b->array = s->site.max_array > 1;
	b->fate = SLURM_TO_SEND;
	return 0;
}

static int slurm_adopt(struct sched *s, const char *nonce, const struct sched_job *jobs, size_t nr,
		       bool known, int64_t submitted_ns, struct err *err)
{
	struct slurm_batch *b;
	int r = submission_check(s, nonce, jobs, nr, err);

	if (r < 0)
		return r;
	if (slurm_batch_find(&s->jobs, nonce))
		return err_set(err, EINVAL, "submission %s is in use", nonce);
	b = slurm_batch_add(&s->jobs, nonce, jobs, nr);
	b->array = s->site.max_array > 1;
	/* The number is not trusted without the name, so both kinds are looked up. */
	b->fate = SLURM_DOUBT;
	if (known)
		slurm_batch_queued(b, 0);
	b->submitted_real_ns = submitted_ns;
	return 0;
}

static void slurm_cancelled(struct sched *s, const char *nonce, size_t task)
{
	struct slurm_batch *b = slurm_batch_find(&s->jobs, nonce);

	for (size_t i = 0; b && i < b->jobs.nr; i++)
		if (task == SCHED_ALL || task == i)
			b->jobs.v[i].cancelled = true;
}

static void slurm_cancel(struct sched *s, const char *nonce, size_t task)
{
	struct slurm_batch *b = slurm_batch_find(&s->jobs, nonce);

	if (!b)
		return;
	slurm_jobs_cancel(&s->jobs, b, task);
	/* Now, as the caller may end before the next step. */
	stops_write(s);
}

static void slurm_blame(struct sched *s, const char *node)
{
	slurm_jobs_blame(&s->jobs, node);
}

static const char *slurm_trouble(const struct sched *s)
{
	return s->trouble;
}

static struct sched_counts slurm_counts(const struct sched *s)
{
	struct sched_counts c = s->jobs.counts;

	c.commands = s->commands;
	c.failed = s->failed;
	c.timeouts = s->timeouts;
	return c;
}

/* ---- life ---- */

static int programs_check(struct err *err)
{
	static const char *const names[] = { "sbatch", "squeue", "scancel", "scontrol" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *path = fs_which(names[i], NULL);

		if (!path)
			return err_set(err, ENOENT,
				       "slurm: no '%s' in PATH; run this where Slurm's commands "
				       "are, such as a login node",
				       names[i]);
	}
	return 0;
}

/* Waits, as nothing can begin without an answer. */
static int site_ask(struct sched *s, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	int r;

	strvec_pushl(&argv, "scontrol", "show", "config", NULL);
	r = command_start(s, NOTHING, &argv);
	if (r < 0)
		return err_set(err, -r, "slurm: %s", s->trouble);
	while (!sched_command_step(&s->command))
		usleep(5000);
	if (!command_well(s, "scontrol show config"))
		return err_set(err, EAGAIN, "slurm: %s; is the controller up ('scontrol ping')?",
			       s->trouble);
	s->site = slurm_config_read(s->command.out.buf, s->command.out.len);
	if (!s->site.known)
		return err_set(err, EAGAIN,
			       "slurm: 'scontrol show config' names no MaxArraySize: is this "
			       "Slurm's scontrol?");
	s->accounting = s->site.accounting;
	return 0;
}

static int dirs_make(const struct sched *s, struct err *err)
{
	CLEANUP(xfreep) char *logs = fs_join(s->dir, "logs"), *submit = fs_join(s->dir, "submit");
	int r = fs_mkdirs(logs, 0755, err);

	return r < 0 ? r : fs_mkdirs(submit, 0755, err);
}

static int paths_check(const struct sched_opts *o, struct err *err)
{
	const char *paths[] = { o->dir, o->program };

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		if (*paths[i] != '/')
			return err_set(err, EINVAL, "slurm: '%s' is no absolute path", paths[i]);
		for (const char *c = paths[i]; *c; c++)
			if ((unsigned char)*c < ' ' || *c == '\\')
				return err_set(err, EINVAL,
					       "slurm: '%s' has a backslash or a control "
					       "character, which Slurm does not take",
					       paths[i]);
	}
	return 0;
}

static void slurm_close(struct sched *s)
{
	if (!s)
		return;
	sched_command_end(&s->command);
	strbuf_release(&s->command.out);
	strbuf_release(&s->command.errs);
	slurm_jobs_release(&s->jobs);
	strvec_release(&s->env);
	strvec_release(&s->env_sbatch);
	VEC_RELEASE(&s->views);
	free(s->dir);
	free(s->name);
	free(s->program);
	free(s);
}

static double or_default(double v, double def)
{
	return v > 0 ? v : def;
}

static int slurm_open(const struct sched_opts *o, struct sched **ret, struct err *err)
{
	struct sched *s = xcalloc(1, sizeof(*s));
	int r;

	*s = (struct sched){
		.dir = xstrdup(o->dir),
		.name = xstrdup(o->name),
		.program = xstrdup(o->slurm->program ? o->slurm->program : o->program),
		.settings = o->slurm,
		.env = STRVEC_INIT,
		.env_sbatch = STRVEC_INIT,
		.command = SCHED_COMMAND_INIT,
		.jobs = { .settled = o->settled ? o->settled : settled_default,
			  .ctx = o->settled ? o->ctx : s,
			  .excluded = STRVEC_INIT },
	};
	s->poll_min_s = s->interval_s = or_default(o->poll_min_s, 5);
	s->poll_max_s = or_default(o->poll_max_s, 60);
	s->jobs.lost_after_ns = (int64_t)(or_default(o->lost_after_s, 60) * (double)NS_PER_S);
	snprintf(s->user, sizeof(s->user), "%lu", (unsigned long)geteuid());
	slurm_environment(s->settings, environ, false, &s->env);
	slurm_environment(s->settings, environ, true, &s->env_sbatch);
	r = paths_check(o, err);
	if (r == 0)
		r = programs_check(err);
	if (r == 0)
		r = dirs_make(s, err);
	if (r == 0)
		r = site_ask(s, err);
	if (r < 0) {
		slurm_close(s);
		return r;
	}
	s->poll_ns = clock_monotonic_ns();
	*ret = s;
	return 0;
}

const struct scheduler scheduler_slurm = {
	.name = "slurm",
	.about = "jobs of a cluster that Slurm schedules",
	.open = slurm_open,
	.submission_max = slurm_submission_max,
	.submit = slurm_submit,
	.adopt = slurm_adopt,
	.cancelled = slurm_cancelled,
	.step = slurm_step,
	.views = slurm_views,
	.cancel = slurm_cancel,
	.blame = slurm_blame,
	.trouble = slurm_trouble,
	.counts = slurm_counts,
	.close = slurm_close,
};
