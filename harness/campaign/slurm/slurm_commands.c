/* Which command of Slurm's runs when, and what becomes of its answer. */
#include "slurm_client.h"
#include "slurm_script.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define NAMES_MAX ((size_t)200) /* in one command line */
#define SACCT_EVERY_S 15
#define IDLE_MS 1000

/* ---- commands ---- */

int slurm_command_start(struct sched *s, enum doing doing, struct strvec *argv)
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

bool slurm_command_well(struct sched *s, const char *program)
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
		r = slurm_command_start(s, SBATCH, &argv);
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

/* Perhaps for nodes that are left out, which may be all of a partition: then they count again. */
static void sbatch_refused(struct sched *s, struct slurm_batch *b, const char *said)
{
	CLEANUP(xfreep) char *nodes = NULL;

	if (!s->jobs.excluded.nr) {
		slurm_batch_refuse(b, false, "%s", said);
		return;
	}
	nodes = strvec_join(&s->jobs.excluded, ", ");
	snprintf(s->trouble, sizeof(s->trouble),
		 "%.150s: nodes that failed before (%.60s) are not left out any more", said, nodes);
	slurm_jobs_pardon(&s->jobs);
	b->fate = SLURM_TO_SEND;
}

static void sbatch_done(struct sched *s)
{
	struct slurm_batch *b = STEAL(s->sending);
	CLEANUP(xfreep) char *said = sched_command_said(&s->command);
	bool well = slurm_command_well(s, "sbatch");
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
		sbatch_refused(s, b, said);
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
	if (slurm_command_start(s, SQUEUE, &argv) < 0) {
		s->silent = true;
		poll_later(s, false);
	}
	return true;
}

static void squeue_done(struct sched *s)
{
	bool well = slurm_command_well(s, "squeue");
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
	if (slurm_command_start(s, SACCT, &argv) < 0)
		s->accounting = false;
	return true;
}

static void sacct_done(struct sched *s)
{
	if (!slurm_command_well(s, "sacct")) {
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
			slurm_command_start(s, SCANCEL, &argv);
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

void slurm_stops_write(struct sched *s)
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
		slurm_command_well(s, "scancel");
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

int slurm_step(struct sched *s)
{
	int64_t now = clock_monotonic_ns(), left;

	if (s->doing != NOTHING) {
		if (!sched_command_step(&s->command))
			return now - s->began_ns < 200 * NS_PER_MS ? 10 : 50;
		command_done(s);
	}
	slurm_jobs_judge(&s->jobs, s->silent, now);
	slurm_stops_write(s);
	command_choose(s);
	if (s->doing != NOTHING || batch_to_send(s))
		return 10;
	if (slurm_jobs_wait(&s->jobs))
		return IDLE_MS;
	left = (s->poll_ns - now) / NS_PER_MS;
	return !lives(s) || left > IDLE_MS ? IDLE_MS : left < 10 ? 10 : (int)left;
}
