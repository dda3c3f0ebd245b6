/*
 * A user's script that provides data. It runs on this machine and fills PROFRIG_DATA_DIR (also
 * given as MAD_DATAHOME, for scripts written for madengine). Its files are kept until the script
 * itself, or its arguments, change.
 */
#include "data_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/proc_watch.h"
#include "profrig/base/xalloc.h"

#define MAX_FILES 1000000

int script_check(const struct data_source *s, struct err *err)
{
	if (fs_is_file(s->path))
		return 0;
	return err_set(err, ENOENT, "script '%s' is not there", s->path);
}

static void script_environment(const char *dir, const char *name, struct strvec *env)
{
	static const char *const ours[] = { "PROFRIG_DATA_DIR=", "PROFRIG_DATA_NAME=",
					    "MAD_DATAHOME=", "MAD_DATANAME=" };

	for (char **e = environ; *e; e++) {
		bool theirs = true;

		for (size_t i = 0; i < ARRAY_LEN(ours); i++)
			theirs = theirs && strncmp(*e, ours[i], strlen(ours[i])) != 0;
		if (theirs)
			strvec_push(env, *e);
	}
	strvec_pushf(env, "%s%s", ours[0], dir);
	strvec_pushf(env, "%s%s", ours[1], name);
	strvec_pushf(env, "%s%s", ours[2], dir);
	strvec_pushf(env, "%s%s", ours[3], name);
}

static int run_script(struct fetch *f, const char *name, const char *dir, struct err *err)
{
	CLEANUP(strvec_release)
	struct strvec argv = STRVEC_INIT, env = STRVEC_INIT, tail = STRVEC_INIT;
	CLEANUP(xfreep) char *bash = fs_which("bash", NULL);
	CLEANUP(xfreep) char *cwd = fs_dir(f->s->path);
	CLEANUP(xfreep) char *log_path = fs_join(f->dir, "script.log");
	CLEANUP(xclosep)
	int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct proc_watch w = PROC_WATCH_INIT;
	struct proc_exit x;
	int r;

	if (access(f->s->path, X_OK) < 0)
		strvec_push(&argv, bash ? bash : "/bin/sh");
	strvec_push(&argv, f->s->path);
	strvec_pushv(&argv, f->s->args.v);
	script_environment(dir, name, &env);
	w.argv = argv.v;
	w.env = env.v;
	w.cwd = cwd;
	w.log_fd = log;
	w.timeout_s = f->s->timeout_s;
	w.interrupt = f->o->interrupt;
	w.line = f->o->note;
	w.tick = f->o->tick;
	w.ctx = f->o->ctx;
	r = proc_watch(&w, &tail, &x, err);
	if (r < 0)
		return r;
	if (x.code != 0)
		return err_set(err, EIO,
			       "script '%s' ended with status %d (%.200s); its output: %s",
			       f->s->path, x.code > 0 ? x.code : 128 + x.signal,
			       tail.nr ? tail.v[tail.nr - 1] : "it said nothing", log_path);
	return 0;
}

/* Moves a file of the script; files are listed with the script's own hash as their tag. */
static int move_output(struct fetch *f, const struct data_file *file, const char *part,
		       struct err *err)
{
	(void)f;
	if (rename(file->from, part) < 0)
		return err_sys(err, errno, "cannot move '%s'", file->from);
	return 0;
}

static bool same_script(const data_files *have, const char *tag)
{
	for (size_t i = 0; i < have->nr; i++)
		if (!have->v[i].tag || strcmp(have->v[i].tag, tag) != 0)
			return false;
	return true;
}

int script_fetch(struct fetch *f, const char *name, struct err *err)
{
	CLEANUP(data_files_release) data_files have = VEC_INIT, made = VEC_INIT;
	struct local_more *more = &f->more;
	CLEANUP(xfreep) char *dir = fs_join(f->dir, "made");
	CLEANUP(xfreep) char *data = fs_join(f->dir, "data");
	char tag[65];
	int r = fs_sha256(f->s->path, NULL, tag, err);

	if (r < 0)
		return r;
	if (entry_read(f->dir, &have) == 0 && same_script(&have, tag) && entry_use(f) == 0)
		return 0;
	local_more_release(more);
	local_more_init(more);
	r = fs_remove_tree(dir, err);
	if (r == 0)
		r = fs_mkdirs(dir, 0755, err);
	if (r == 0)
		r = run_script(f, name, dir, err);
	if (r == 0)
		r = local_list(dir, MAX_FILES, &made, more, err);
	if (r == 0 && !made.nr)
		r = err_set(err, ENOENT, "script '%s' left nothing in PROFRIG_DATA_DIR",
			    f->s->path);
	for (size_t i = 0; r == 0 && i < made.nr; i++) {
		free(made.v[i].tag);
		made.v[i].tag = xstrdup(tag);
		if (!more->linked)
			f->ret->fetched_bytes += (uint64_t)made.v[i].bytes;
	}
	data_files_sort(&made);
	/* All files are new, so the old ones must not be taken for them. */
	if (r == 0)
		r = fs_remove_tree(data, err);
	/* Files behind a link are copied: they do not belong to the script, or have two names. */
	if (r == 0)
		r = data_sync(f, &made, more->linked ? local_copy : move_output, err);
	if (r == 0)
		r = local_folders(data, more, err);
	if (r == 0)
		data_left_out(f);
	fs_remove_tree(dir, NULL);
	return r;
}
