/*
 * Commit and state of the repository around a model's folder. The repository's own configuration is
 * not used: it names programs (filters, monitors, hooks, pagers, helpers) that git would run, and a
 * workload may have written it. So git gets a folder of profrig's in the place of .git: HEAD as a
 * copy, references, objects and index as links, and from the configuration only how files are
 * stored and compared. Content filters do not run: a filtered file (git-lfs) whose times changed
 * since git's last look counts as changed. Submodules count by their commit.
 */
#include "run_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

#define GIT_TIMEOUT_MS 3000
#define MAX_SMALL ((size_t)64 << 10) /* HEAD, .git, commondir */
#define MAX_CONFIG ((size_t)1 << 20)
#define MAX_OUT ((size_t)64 << 10)
#define MAX_FILES ((size_t)64 << 20) /* names of tracked files */

struct repo {
	char *root;   /* of the working tree */
	char *dir;    /* .git, or the folder that a file of this name leads to */
	char *common; /* dir, or for a linked working tree that of the main tree */
	char *ours;   /* the folder in place of dir */
};

FIELD_TABLE(repo_fields, TEXT_FIELDS(struct repo, root, dir, common, ours));

static void repo_release(struct repo *r)
{
	if (r->ours) {
		fs_remove_tree(r->ours, NULL);
		temps_let_go(r->ours);
	}
	fields_release(r, repo_fields);
}

/* --- where it is --- */

/* The text of a small file behind `word`, without the line's end. NULL: none. Owned. */
static char *said_by(const char *path, const char *word)
{
	CLEANUP(xfreep) char *text = NULL;

	if (fs_read(path, MAX_SMALL, &text, NULL, NULL) < 0 ||
	    strncmp(text, word, strlen(word)) != 0)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return text[strlen(word)] ? xstrdup(text + strlen(word)) : NULL;
}

static char *path_from(const char *dir, char *path)
{
	char *full;

	if (!path || *path == '/')
		return path;
	full = fs_join(dir, path);
	free(path);
	return full;
}

/* Most folders have no repository, and starting git to find out takes longer than all the rest. */
static bool find_root(struct repo *r, const char *dir)
{
	CLEANUP(xfreep) char *at = xrealpath(dir);

	while (at) {
		CLEANUP(xfreep) char *git = fs_join(at, ".git");
		char *parent;

		if (fs_is_dir(git))
			r->dir = xstrdup(git);
		else if (fs_exists(git))
			r->dir = path_from(at, said_by(git, "gitdir: "));
		if (r->dir) {
			r->root = xstrdup(at);
			return true;
		}
		if (!strcmp(at, "/"))
			return false;
		parent = fs_dir(at);
		free(at);
		at = parent;
	}
	return false;
}

static bool repo_find(struct repo *r, const char *dir)
{
	CLEANUP(xfreep) char *common = NULL;

	if (!find_root(r, dir))
		return false;
	common = fs_join(r->dir, "commondir");
	r->common = path_from(r->dir, said_by(common, ""));
	if (!r->common)
		r->common = xstrdup(r->dir);
	return true;
}

/* --- asking git --- */

/* Words of env(1): only profrig's variables name places and sources. */
static void add_env(struct strvec *argv, const struct repo *r)
{
	strvec_pushl(argv, "env", "-u", "XDG_CONFIG_HOME", NULL);
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "GIT_", 4)) {
			strvec_push(argv, "-u");
			strvec_pushf(argv, "%.*s", (int)strcspn(*e, "="), *e);
		}
	strvec_pushl(argv, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		     "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		     "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", NULL);
	strvec_pushf(argv, "HOME=%s", r->ours);
	strvec_pushf(argv, "GIT_DIR=%s", r->ours);
	strvec_pushf(argv, "GIT_WORK_TREE=%s", r->root);
	strvec_pushf(argv, "GIT_INDEX_FILE=%s/index", r->dir);
	strvec_push(argv, "git");
}

/* 0 and the output; -ENOENT when git fails, as it does without a result; -errno. */
static int ask_git(struct strvec *argv, size_t max, struct strbuf *out, struct err *err)
{
	struct proc_exit x;
	int r = proc_capture(argv->v, GIT_TIMEOUT_MS, max, out, NULL, &x, err);

	if (r == 0 && out->overflow)
		return err_set(err, EFBIG, "git says more than %zu bytes", max);

	if (r == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "git took longer than %d s", GIT_TIMEOUT_MS / 1000);
	return r < 0 ? r : x.code == 0 ? 0 : err_set(err, ENOENT, "git cannot read it");
}

/* --- the folder in place of .git --- */

static bool path_is_plain(const char *s)
{
	return *s &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.")] ==
		       '\0';
}

/* Copies settings, "key\nvalue\0" each. git reads a copy of the file, and no included file. */
static int copy_settings(const struct repo *r, const char *copy, struct strbuf *to, struct err *err)
{
	static const char wanted[] = "^(extensions\\.objectformat|core\\.(filemode|symlinks|"
				     "ignorecase|trustctime|checkstat|autocrlf|eol))$";
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	int rc;

	add_env(&argv, r);
	strvec_pushl(&argv, "config", "--file", copy, "--no-includes", "-z", "--get-regexp", wanted,
		     NULL);
	rc = ask_git(&argv, MAX_OUT, &out, err);
	for (size_t at = 0; rc == 0 && at < out.len; at += strlen(out.buf + at) + 1) {
		char *key = out.buf + at, *value = strchr(key, '\n'), *dot = strchr(key, '.');

		if (!value || !dot || dot > value)
			continue;
		*value = *dot = '\0';
		if (path_is_plain(value + 1))
			strbuf_addf(to, "[%s]\n\t%s = %s\n", key, dot + 1, value + 1);
		*value = '\n';
	}
	return rc == -ENOENT ? 0 : rc;
}

static int put_config(const struct repo *r, struct err *err)
{
	CLEANUP(xfreep) char *theirs = fs_join(r->common, "config");
	CLEANUP(xfreep) char *copy = fs_join(r->ours, "theirs");
	CLEANUP(xfreep) char *path = fs_join(r->ours, "config");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strbuf_release) struct strbuf ours = STRBUF_INIT;
	size_t n;
	int rc = fs_read(theirs, MAX_CONFIG, &text, &n, err);

	/* Version 1 allows extensions; without any it equals version 0. */
	strbuf_addstr(&ours, "[core]\n\trepositoryformatversion = 1\n\tbare = false\n");
	if (rc == 0)
		rc = fs_write_atomic(copy, text, n, err);
	else if (rc == -ENOENT)
		rc = 0;
	if (rc == 0 && text)
		rc = copy_settings(r, copy, &ours, err);
	return rc < 0 ? rc : fs_write_atomic(path, ours.buf, ours.len, err);
}

static int put_link(const struct repo *r, const char *dir, const char *name, struct err *err)
{
	CLEANUP(xfreep) char *to = fs_join(dir, name);
	CLEANUP(xfreep) char *at = fs_join(r->ours, name);

	if (!fs_exists(to) || door_symlink(to, at) == 0)
		return 0;
	return err_sys(err, errno, "'%s'", at);
}

static int put_head(const struct repo *r, struct err *err)
{
	CLEANUP(xfreep) char *theirs = fs_join(r->dir, "HEAD");
	CLEANUP(xfreep) char *ours = fs_join(r->ours, "HEAD");
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int rc = fs_read(theirs, MAX_SMALL, &text, &n, err);

	return rc < 0 ? rc : fs_write_atomic(ours, text, n, err);
}

/* An index may be in two parts (core.splitIndex). */
static int put_shared_indexes(const struct repo *r, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int rc = fs_list(r->dir, &names, err);

	for (size_t i = 0; rc == 0 && i < names.nr; i++)
		if (!strncmp(names.v[i], "sharedindex.", 12))
			rc = put_link(r, r->dir, names.v[i], err);
	return rc;
}

static int repo_put(struct repo *r, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	int rc;

	r->ours = fs_temp_name(tmp && *tmp == '/' ? tmp : "/tmp");
	temps_hold(r->ours);
	if (door_mkdir(r->ours, 0700) < 0)
		return err_sys(err, errno, "cannot make '%s'", r->ours);
	rc = put_head(r, err);
	if (rc == 0)
		rc = put_link(r, r->common, "refs", err);
	if (rc == 0)
		rc = put_link(r, r->common, "packed-refs", err);
	if (rc == 0)
		rc = put_link(r, r->common, "objects", err);
	if (rc == 0)
		rc = put_shared_indexes(r, err);
	return rc < 0 ? rc : put_config(r, err);
}

/* --- its output --- */

/* Lines: "# branch.oid <commit>", other lines with '#', then one for each change. */
static void read_status(struct run_git *g, const char *text)
{
	static const char oid[] = "# branch.oid ";

	while (*text) {
		const char *end = strchrnul(text, '\n');

		if (*text != '#')
			g->dirty = true;
		else if (!strncmp(text, oid, strlen(oid)) &&
			 strspn(text + strlen(oid), "0123456789abcdef") >= 40)
			snprintf(g->commit, sizeof(g->commit), "%.*s",
				 (int)(end - text - (ssize_t)strlen(oid)), text + strlen(oid));
		text = *end ? end + 1 : end;
	}
	g->known = *g->commit;
}

void run_git_look(struct run_git *g, const char *dir)
{
	CLEANUP(repo_release) struct repo r = { NULL };
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;
	int rc;

	*g = (struct run_git){ .known = false };
	if (!repo_find(&r, dir))
		return;
	rc = repo_put(&r, &err);
	add_env(&argv, &r);
	strvec_pushl(&argv, "-C", dir, "status", "--porcelain=v2", "--branch",
		     "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames", "--", ".",
		     NULL);
	if (rc == 0)
		rc = ask_git(&argv, MAX_OUT, &out, &err);
	if (rc == 0)
		read_status(g, out.buf ? out.buf : "");
	else
		snprintf(g->why, sizeof(g->why), "%s", err.msg);
}

int run_git_files(const char *dir, struct strvec *ret, struct err *err)
{
	CLEANUP(repo_release) struct repo r = { NULL };
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	int rc;

	if (!repo_find(&r, dir))
		return err_set(err, ENOENT, "'%s' is in no repository", dir);
	rc = repo_put(&r, err);
	add_env(&argv, &r);
	strvec_pushl(&argv, "-C", dir, "ls-files", "-z", "--cached", "--", ".", NULL);
	if (rc == 0)
		rc = ask_git(&argv, MAX_FILES, &out, err);
	for (size_t at = 0; rc == 0 && at < out.len; at += strlen(out.buf + at) + 1)
		strvec_push(ret, out.buf + at);
	return rc;
}
