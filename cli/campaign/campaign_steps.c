#include "campaign_steps.h"
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/proc.h"
#include "profrig/config/placeholder.h"

static void runs_add(const struct campaign_job *j, struct strvec *to)
{
	for (size_t c = 0; c < j->plan.cells.nr; c++)
		for (uint32_t k = 1; k <= j->plan.repeat; k++) {
			struct attempt_name name;
			const struct run_state *r;

			attempt_name_make(j->plan.cells.v[c].id, k, 0, &name);
			r = campaign_state_find(&j->state, name.run);
			if (r && r->stage == RUN_COMMITTED)
				strvec_pushf(to, "%s/runs/%s.%u", j->dir, r->name, r->committed);
		}
}

static const char *placeholder(void *ctx, const char *name)
{
	return strcmp(name, "dir") ? NULL : ((const struct campaign_job *)ctx)->dir;
}

/* < 0: a placeholder that there is not. */
static int words_fill(struct campaign_job *j, const struct campaign_step *s, struct strvec *argv,
		      struct err *err)
{
	strvec_push(argv, "/proc/self/exe");
	for (size_t i = 0; i < s->words.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT;
		CLEANUP(xfreep) char *unknown = NULL;

		if (!strcmp(s->words.v[i], "{runs}")) {
			runs_add(j, argv);
			continue;
		}
		if (placeholder_expand(&word, s->words.v[i], placeholder, j, &unknown) < 0)
			return err_set(err, EINVAL, "{%.60s}: there are {dir} and {runs}", unknown);
		strvec_push(argv, word.buf ? word.buf : "");
	}
	return 0;
}

static int output_open(const struct campaign_job *j, size_t nr, const char *word, const char *end,
		       struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_join(j->dir, "steps");
	CLEANUP(xfreep) char *name = xstrndup(word, 40);
	CLEANUP(xfreep) char *path = NULL;
	int fd, r = fs_mkdirs(dir, 0755, err);

	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '-';
	path = xasprintf("%s/%02zu-%s.%s", dir, nr, name, end);
	if (r < 0)
		return r;
	fd = door_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	return fd < 0 ? err_sys(err, errno, "%s", path) : fd;
}

/* The exit code of a step; < 0: it did not begin. */
static int step_run(struct campaign_job *j, size_t nr, const struct campaign_step *s,
		    struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(xclosep) int out = -1;
	CLEANUP(xclosep) int errs = -1;
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit x = { -1, 0 };
	pid_t pid;
	int r = words_fill(j, s, &argv, err);

	if (r == 0)
		r = out = output_open(j, nr, s->words.v[0], "out", err);
	if (r >= 0)
		r = errs = output_open(j, nr, s->words.v[0], "err", err);
	if (r < 0)
		return r;
	o.argv = argv.v;
	o.cwd = j->state.cwd;
	o.fd_out = out;
	o.fd_err = errs;
	o.same_group = true;
	o.die_with_parent = true;
	r = proc_spawn(&o, &pid, err);
	if (r == 0)
		r = proc_wait(pid, -1, &x, err);
	return r < 0 ? r : x.signal ? 128 + x.signal : x.code;
}

int campaign_steps(struct campaign_job *j)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < j->file.steps.nr && !cli_interrupt; i++) {
		const struct campaign_step *s = &j->file.steps.v[i];
		CLEANUP(xfreep) char *words = strvec_shell(&s->words);
		struct err err = ERR_INIT;
		int r = step_run(j, i + 1, s, &err);

		if (r < 0)
			log_error("step %zu: %s", i + 1, err.msg);
		else if (r > 0)
			log_warn("step %zu, %s: exit status %d; %s/steps has what it printed",
				 i + 1, words, r, j->dir);
		else
			log_notice("step %zu, %s: done", i + 1, words);
		if (campaign_job_note(j, "step", NULL, 0,
				      json_pack("{s:i, s:s, s:i}", "nr", (int)i + 1, "words", words,
						"exit", r),
				      &err) < 0)
			log_error("%s", err.msg);
		code = exit_worse(code, r < 0            ? EXIT_CONFIG
					: r == EXIT_GATE ? EXIT_GATE
					: r              ? EXIT_PARTIAL
							 : EXIT_DONE);
	}
	return code;
}
