/*
 * drive: a campaign's scheduler by hand, for scripts: words on stdin, what changes on stdout.
 *
 *	drive DIR POLL_MIN POLL_MAX LOST_AFTER [SETTINGS.yaml]
 *
 *	submit NONCE JOBS ATTEMPTS	jobs NONCE-0.1, … of so many attempts each
 *	adopt NONCE JOBS ATTEMPTS known|announced
 *	cancel NONCE [TASK]
 *	blame NODE
 *	end				ends when all jobs have; so does the end of stdin
 *	quit				ends now, as a process that is killed leaves things
 *
 * prints "T NONCE/TASK STATE CLASS JOB NODE WORD [REASON]" for each job that changed, T in seconds
 * since the start, "T trouble: …" for a new trouble, and at the end "counts …".
 */
#include "scheduler.h"
#include "slurm_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

struct drive {
	struct sched *s;
	struct strvec shown; /* a line for each view */
	char *trouble;
	int64_t start_ns;
	struct strbuf in;
	bool ending, quit;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "drive: %s\n", what);
	exit(2);
}

static double number(const char *text)
{
	double v;

	if (num_f64(text, strlen(text), &v) < 0)
		die("want a number");
	return v;
}

/* Names of attempts live as long as the process: the client copies them. */
static struct sched_job *jobs_make(const char *nonce, size_t n, size_t each)
{
	struct sched_job *jobs = xcalloc(n, sizeof(*jobs));

	for (size_t i = 0; i < n; i++) {
		struct strvec list = STRVEC_INIT;

		for (size_t k = 0; k < each; k++)
			strvec_pushf(&list, "%s-%zu.%zu", nonce, i, k + 1);
		jobs[i].attempts = list.v;
	}
	return jobs;
}

static void hand_over(struct drive *d, const struct strvec *w)
{
	struct err e = ERR_INIT;
	size_t n, each;
	struct sched_job *jobs;
	int r;

	if (w->nr < 4)
		die("submit NONCE JOBS ATTEMPTS");
	n = (size_t)number(w->v[2]);
	each = (size_t)number(w->v[3]);
	jobs = jobs_make(w->v[1], n, each);
	if (!strcmp(w->v[0], "submit"))
		r = scheduler_slurm.submit(d->s, w->v[1], jobs, n, &e);
	else
		r = scheduler_slurm.adopt(d->s, w->v[1], jobs, n,
					  w->nr > 4 && !strcmp(w->v[4], "known"),
					  clock_realtime_ns(), &e);
	if (r < 0)
		printf("error: %s\n", e.msg);
	for (size_t i = 0; i < n; i++) {
		for (char *const *a = jobs[i].attempts; *a; a++)
			free(*a);
		free((void *)(uintptr_t)jobs[i].attempts);
	}
	free(jobs);
}

static void obey(struct drive *d, const char *line)
{
	CLEANUP(strvec_release) struct strvec w = STRVEC_INIT;

	strvec_split(&w, line, " ");
	if (!w.nr)
		return;
	if (!strcmp(w.v[0], "submit") || !strcmp(w.v[0], "adopt"))
		hand_over(d, &w);
	else if (!strcmp(w.v[0], "cancel") && w.nr > 1)
		scheduler_slurm.cancel(d->s, w.v[1], w.nr > 2 ? (size_t)number(w.v[2]) : SCHED_ALL);
	else if (!strcmp(w.v[0], "blame") && w.nr > 1)
		scheduler_slurm.blame(d->s, w.v[1]);
	else if (!strcmp(w.v[0], "end"))
		d->ending = true;
	else if (!strcmp(w.v[0], "quit"))
		d->quit = true;
	else
		die(line);
}

/* Whole lines of what there is on stdin. */
static void listen_to(struct drive *d, int wait_ms)
{
	struct pollfd p = { .fd = d->ending ? -1 : STDIN_FILENO, .events = POLLIN };
	char buf[4096], *end;
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return;
	n = read(STDIN_FILENO, buf, sizeof(buf));
	if (n <= 0) {
		d->ending = true;
		return;
	}
	strbuf_add(&d->in, buf, (size_t)n);
	while ((end = strchr(d->in.buf, '\n')) != NULL) {
		CLEANUP(xfreep) char *line = xstrndup(d->in.buf, (size_t)(end - d->in.buf));
		CLEANUP(xfreep) char *rest = xstrdup(end + 1);

		strbuf_clear(&d->in);
		strbuf_addstr(&d->in, rest);
		obey(d, line);
	}
}

/* Whether all have ended. */
static bool show(struct drive *d)
{
	const struct sched_view *v;
	size_t n = scheduler_slurm.views(d->s, &v);
	double t = (double)(clock_monotonic_ns() - d->start_ns) / (double)NS_PER_S;
	const char *trouble = scheduler_slurm.trouble(d->s);
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		CLEANUP(xfreep)
		char *line = xasprintf("%s/%zu %s %s %s %s %s%s%s [%s]", v[i].nonce, v[i].task,
				       sched_state_word(v[i].state),
				       *sched_class_word(v[i].class) ? sched_class_word(v[i].class)
								     : "-",
				       *v[i].job ? v[i].job : "-", *v[i].node ? v[i].node : "-",
				       *v[i].word ? v[i].word : "-", v[i].stuck ? " stuck" : "",
				       v[i].later ? " later" : "", v[i].reason);

		all &= v[i].state >= SCHED_ENDED;
		if (i == d->shown.nr)
			strvec_push(&d->shown, "");
		if (!strcmp(d->shown.v[i], line))
			continue;
		printf("%.2f %s\n", t, line);
		free(d->shown.v[i]);
		d->shown.v[i] = STEAL(line);
	}
	if (strcmp(trouble, d->trouble) != 0) {
		printf("%.2f trouble: %s\n", t, trouble);
		free(d->trouble);
		d->trouble = xstrdup(trouble);
	}
	fflush(stdout);
	return all;
}

static void settings_load(const char *path, struct slurm_settings *settings)
{
	struct problems p = PROBLEMS_INIT;
	struct err e = ERR_INIT;
	struct cfg c;

	cfg_init(&c);
	if (cfg_parse_file(&c, path, LAYER_FILE, &e) < 0)
		die(e.msg);
	slurm_settings_read(c.root, settings, &p);
	if (p.lines.nr)
		die(p.lines.v[0]);
	problems_release(&p);
	cfg_release(&c);
}

int main(int argc, char **argv)
{
	CLEANUP(slurm_settings_release) struct slurm_settings settings;
	struct drive d = { .shown = STRVEC_INIT,
			   .in = STRBUF_INIT,
			   .start_ns = clock_monotonic_ns() };
	struct err e = ERR_INIT;

	if (argc < 5)
		die("drive DIR POLL_MIN POLL_MAX LOST_AFTER [SETTINGS.yaml]");
	CLEANUP(xfreep) char *dir = fs_abs(argv[1]), *program = fs_join(dir, "profrig");
	struct sched_opts o = { .dir = dir,
				.name = "drive",
				.program = program,
				.slurm = &settings,
				.poll_min_s = number(argv[2]),
				.poll_max_s = number(argv[3]),
				.lost_after_s = number(argv[4]) };
	slurm_settings_init(&settings);
	if (argc > 5)
		settings_load(argv[5], &settings);
	if (scheduler_slurm.open(&o, &d.s, &e) < 0)
		die(e.msg);
	d.trouble = xstrdup("");
	printf("max %zu\n", scheduler_slurm.submission_max(d.s));
	for (int wait = 0; !d.quit; wait = scheduler_slurm.step(d.s)) {
		if (show(&d) && d.ending)
			break;
		listen_to(&d, wait);
	}
	struct sched_counts c = scheduler_slurm.counts(d.s);

	printf("counts commands=%" PRIu64 " failed=%" PRIu64 " timeouts=%" PRIu64 " odd=%" PRIu64
	       " strays=%" PRIu64 " lookups=%" PRIu64 "\n",
	       c.commands, c.failed, c.timeouts, c.odd_rows, c.strays, c.lookups);
	scheduler_slurm.close(d.s);
	strvec_release(&d.shown);
	strbuf_release(&d.in);
	free(d.trouble);
	return 0;
}
