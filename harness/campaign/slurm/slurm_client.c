/*
 * Slurm as a scheduler of campaigns. What answers mean is in slurm_answer.c, what is believed of
 * jobs in slurm_jobs.c, which command runs when in slurm_commands.c.
 */
#include "slurm_client.h"
#include "slurm_script.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define SUBMISSION_MAX ((size_t)5000)

static bool settled_default(void *ctx, const char *attempt)
{
	const struct sched *s = ctx;

	return sched_settled(s->dir, attempt, slurm_run_nodes(s->settings));
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
					 .stuck = waits ? slurm_reason_stuck(job->reason) : NULL,
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
	slurm_stops_write(s);
}

static void slurm_blame(struct sched *s, const char *node)
{
	slurm_jobs_blame(&s->jobs, node);
}

static const char *slurm_trouble(const struct sched *s)
{
	return s->trouble;
}

static char *slurm_log(const struct sched *s, const char *nonce, size_t task)
{
	const struct slurm_batch *b = slurm_batch_find(&s->jobs, nonce);

	return slurm_log_path(s->dir, nonce, !b || b->array ? task : SCHED_ALL);
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
	r = slurm_command_start(s, NOTHING, &argv);
	if (r < 0)
		return err_set(err, -r, "slurm: %s", s->trouble);
	while (!sched_command_step(&s->command))
		usleep(5000);
	if (!slurm_command_well(s, "scontrol show config"))
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
	.log = slurm_log,
	.counts = slurm_counts,
	.close = slurm_close,
};
