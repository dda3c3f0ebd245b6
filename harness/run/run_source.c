/*
 * The run's own folder, in which some models run (plan_source.c). This process makes it before the
 * first step, since no image needs git for it, and removes it after the last.
 *
 * git gets credentials through its environment only: a helper that prints two variables, named in
 * GIT_CONFIG_* (git-config(1), gitcredentials(7)). They are not written to any file, and git asks
 * no questions.
 */
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define CLONE_TIMEOUT_S 3600
#define TICK_MS 100

/* --- git --- */

static bool is_ours(const char *var)
{
	static const char *const names[] = {
		"GIT_ASKPASS=",         "GIT_CONFIG_COUNT=", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_",
		"GIT_TERMINAL_PROMPT=", "GIT_DIR=",          "GIT_WORK_TREE=",  "PROFRIG_GIT_"
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(var, names[i], strlen(names[i])))
			return true;
	return false;
}

static void git_env(const struct runconf *c, struct strvec *env)
{
	for (char **e = environ; *e; e++)
		if (!is_ours(*e) &&
		    (!c->source.ssh_key || strncmp(*e, "GIT_SSH_COMMAND=", 16) != 0))
			strvec_push(env, *e);
	strvec_pushl(env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", NULL);
	if (c->source.ssh_key) {
		CLEANUP(strbuf_release) struct strbuf ssh = STRBUF_INIT;

		strbuf_addstr(&ssh,
			      "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o IdentitiesOnly=yes -i ");
		strbuf_add_shell(&ssh, c->source.ssh_key);
		strvec_push(env, ssh.buf);
	}
	if (!c->source.password && !c->source.user)
		return;
	strvec_pushf(env, "PROFRIG_GIT_USERNAME=%s", c->source.user ? c->source.user : "");
	strvec_pushf(env, "PROFRIG_GIT_PASSWORD=%s", c->source.password ? c->source.password : "");
	/* The first setting removes the helpers of the user's configuration. */
	strvec_pushl(env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=credential.helper",
		     "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=credential.helper",
		     "GIT_CONFIG_VALUE_1=!f() { test \"$1\" = get || exit 0; "
		     "printf 'username=%s\\npassword=%s\\n' \"$PROFRIG_GIT_USERNAME\" "
		     "\"$PROFRIG_GIT_PASSWORD\"; }; f",
		     NULL);
}

/* ssh takes the user name of credential.json only from the address. */
static char *clone_url(const struct runconf *c)
{
	const char *url = c->source.url, *host = url + 6;

	if (strncmp(url, "ssh://", 6) != 0 || !c->source.user ||
	    memchr(host, '@', strcspn(host, "/")))
		return xstrdup(url);
	return xasprintf("ssh://%s@%s", c->source.user, host);
}

static void git_start(struct strvec *argv)
{
	strvec_pushl(argv, "git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		     NULL);
}

/* Waits for git; an interrupt or the time limit kills git and its children. */
static int clone_wait(struct run *rn, pid_t pid, struct proc_exit *x, struct err *err)
{
	for (int64_t left = CLONE_TIMEOUT_S * 1000 / TICK_MS; left > 0; left--) {
		int r = proc_wait(pid, TICK_MS, x, err);

		if (r != -ETIMEDOUT)
			return r;
		if (outcome_take_interrupt(&rn->outcome))
			break;
	}
	kill(-pid, SIGKILL);
	proc_wait(pid, -1, x, NULL);
	return rn->outcome.interrupt
		       ? -EINTR
		       : err_set(err, ETIMEDOUT, "git took longer than %d s", CLONE_TIMEOUT_S);
}

/* The last error line of git's output. */
static void last_words(const char *path, char *buf, size_t n)
{
	CLEANUP(xfreep) char *text = NULL;
	char *line, *next;

	snprintf(buf, n, "it said nothing");
	if (fs_read(path, (size_t)1 << 20, &text, NULL, NULL) < 0)
		return;
	for (line = text; line && *line; line = next) {
		next = strpbrk(line, "\r\n");
		if (next)
			*next++ = '\0';
		if (!strncmp(line, "fatal: ", 7) || !strncmp(line, "error: ", 7) ||
		    !strncmp(line, "remote: ", 8))
			snprintf(buf, n, "%s", line);
	}
}

/* 0, or -errno with err set; git's output goes to steps/source.err. */
static int source_git(struct run *rn, struct strvec *argv, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *out = fs_join(rn->pl->run_dir, "steps/source.out");
	CLEANUP(xfreep) char *errs = fs_join(rn->pl->run_dir, "steps/source.err");
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	CLEANUP(xclosep) int fd_out = door_open(out, flags, 0644);
	CLEANUP(xclosep) int fd_err = door_open(errs, flags, 0644);
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit x = { .code = -1 };
	pid_t pid;
	int r;

	git_env(rn->pl->conf, &env);
	o.argv = argv->v;
	o.env = env.v;
	o.cwd = dir;
	o.fd_out = fd_out;
	o.fd_err = fd_err;
	o.die_with_parent = true;
	r = proc_spawn(&o, &pid, err);
	if (r == 0)
		r = clone_wait(rn, pid, &x, err);
	for (size_t i = 0; i < env.nr; i++)
		if (!strncmp(env.v[i], "PROFRIG_GIT_", 12))
			explicit_bzero(env.v[i], strlen(env.v[i]));
	if (r == 0 && x.code != 0) {
		char words[300];

		last_words(errs, words, sizeof(words));
		r = err_set(err, EIO, "%s (steps/source.err has the rest)", words);
	}
	return r;
}

/* Some servers do not send single commits: then the whole history of a submodule is fetched. */
static int source_submodules(struct run *rn, const char *dir, struct err *err)
{
	CLEANUP(strvec_release) struct strvec shallow = STRVEC_INIT, whole = STRVEC_INIT;
	CLEANUP(xfreep) char *list = fs_join(dir, ".gitmodules");
	int r;

	if (!fs_is_file(list))
		return 0;
	git_start(&shallow);
	strvec_pushl(&shallow, "submodule", "update", "--init", "--recursive", "--depth", "1",
		     NULL);
	r = source_git(rn, &shallow, dir, NULL);
	if (r == 0 || r == -EINTR)
		return r;
	git_start(&whole);
	strvec_pushl(&whole, "submodule", "update", "--init", "--recursive", NULL);
	return source_git(rn, &whole, dir, err);
}

static int clone_source(struct run *rn, struct err *err)
{
	const struct runconf *c = rn->pl->conf;
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(xfreep) char *url = clone_url(c);
	int r;

	git_start(&argv);
	strvec_pushl(&argv, "clone", "--depth", "1", "--", url, rn->pl->source_dir, NULL);
	r = source_git(rn, &argv, NULL, err);
	if (r == 0)
		r = source_submodules(rn, rn->pl->source_dir, err);
	if (r == 0)
		run_git_facts(rn, rn->pl->source_dir);
	return r < 0 ? err_wrap(err, r, "cannot clone '%s'", c->source.url) : 0;
}

/* --- the rest of the folder --- */

static int link_scripts(const struct plan *pl, const char *work, struct err *err)
{
	CLEANUP(xfreep) char *link = fs_join(work, "scripts");

	if (pl->conf->source.scripts && door_symlink(pl->conf->source.scripts, link) < 0)
		return err_sys(err, errno, "cannot make '%s'", link);
	return 0;
}

void run_source_make(struct run *rn)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *work = pl->source_dir ? fs_dir(pl->source_dir) : NULL;
	CLEANUP(xfreep) char *runs = fs_dir(pl->run_dir);
	struct err err = ERR_INIT;
	int r;

	if (!pl->source_dir)
		return;
	outcome_phase(&rn->outcome, "source");
	r = fs_mkdirs(work, 0777, &err);
	if (r == 0 && pl->conf->source.url)
		r = clone_source(rn, &err);
	if (r == 0)
		r = fs_mkdirs(pl->source_dir, 0777, &err);
	/* The folder of runs may be inside the copied folder. */
	if (r == 0 && pl->conf->source.copy)
		r = fs_copy_tree(pl->conf->source.copy, pl->source_dir, runs, &err);
	if (r == 0)
		r = link_scripts(pl, work, &err);
	if (r < 0 && r != -EINTR)
		outcome_fail(&rn->outcome, RUN_FAILED, "%s", err.msg);
}

static int entry_open_up(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)at;
	if (type == FTW_F || type == FTW_D)
		door_chmod(path, (st->st_mode & 07777) | (type == FTW_D ? 0777 : 0666) |
					 (st->st_mode & 0111 ? 0111 : 0));
	return 0;
}

void run_source_share(const struct run *rn)
{
	CLEANUP(xfreep) char *work = rn->pl->source_dir ? fs_dir(rn->pl->source_dir) : NULL;

	if (work)
		nftw(work, entry_open_up, 16, FTW_PHYS);
}

void run_source_done(struct run *rn)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *work = pl->source_dir ? fs_dir(pl->source_dir) : NULL;
	CLEANUP(xfreep) char *link = work ? fs_join(work, "scripts") : NULL;
	struct err err = ERR_INIT;

	if (!work || pl->conf->source.keep)
		return;
	if (fs_remove_tree(pl->source_dir, &err) < 0)
		outcome_warn(&rn->outcome, W_SOURCE_LEFT, "warning", "%s", err.msg);
	door_unlink(link);
	/* Files that the model wrote beside its folder stay. */
	door_rmdir(work);
}
