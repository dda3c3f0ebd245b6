#include "pack_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"
#include "profrig/readers/reader.h"

#define RUN_JSON_MAX ((size_t)64 << 20)

static void pack_note(struct pack_walk *w, struct strvec *to, const char *path, const char *why)
{
	strvec_pushf(to, "%s: %s", path, why);
	bundle_manifest_add(w->m->left_out, path, "why", why, NULL);
}

void pack_walk_lost(struct pack_walk *w, const char *path, const char *why)
{
	pack_note(w, &w->said->lost, path, why);
}

/* ---- run directories ---- */

static const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* Of a label such as rank=3. */
static int64_t label_rank(const json_t *run)
{
	const char *s = text_at(json_object_get(run, "labels"), "rank");
	int64_t rank;

	return *s && num_i64(s, strlen(s), &rank) == 0 && rank >= 0 ? rank : RANK_UNKNOWN;
}

static void rank_set(json_t *row, int64_t rank)
{
	json_object_set_new(row, "rank", rank == RANK_UNKNOWN ? json_null() : json_integer(rank));
}

/* The facts of a run directory, from its run.json; returns its rank. */
static int64_t run_take(struct pack_walk *w, const char *dir, const char *path)
{
	CLEANUP(xfreep) char *file = fs_join(dir, "run.json"), *text = NULL;
	json_t *run = NULL, *row;
	int64_t rank = w->rank;
	size_t n = 0;

	if (fs_read(file, RUN_JSON_MAX, &text, &n, NULL) == 0)
		run = json_loadb(text, n, 0, NULL);
	if (rank == RANK_UNKNOWN)
		rank = label_rank(run);
	row = bundle_manifest_add(w->m->runs, path, "id", text_at(run, "id"), "model",
				  text_at(run, "model"), "status", text_at(run, "status"), "host",
				  text_at(json_object_get(run, "host"), "hostname"), "started_utc",
				  text_at(run, "started_utc"), NULL);
	rank_set(row, rank);
	json_object_set(row, "versions", json_object_get(run, "versions"));
	json_object_set(row, "clocks", json_object_get(run, "clocks"));
	json_decref(run);
	return rank;
}

/* ---- files ---- */

static const char *kind_of(mode_t mode)
{
	return S_ISLNK(mode)    ? "a symbolic link"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

static void file_add(struct pack_walk *w, const char *from, const char *path, const struct stat *st,
		     int64_t rank)
{
	struct err err = ERR_INIT;

	if (w->ino && st->st_ino == w->ino && st->st_dev == w->dev)
		return;
	if (zip_name_check(path, strlen(path), &err) < 0)
		pack_walk_lost(w, path, err.msg);
	else if (redact_found(path, strlen(path)))
		pack_walk_lost(w, "(a name)", "it has the value of a secret variable");
	else
		VEC_PUSH(&w->files,
			 ((struct pack_file){
				 xstrdup(path), xstrdup(from),
				 rank != RANK_UNKNOWN ? rank : bundle_manifest_rank_of(path) }));
}

static void folder_take(struct pack_walk *w, const char *dir, const char *path, int depth,
			int64_t rank);

static void entry_take(struct pack_walk *w, const char *from, const char *path, int depth,
		       int64_t rank)
{
	struct stat st;

	if (fs_temp_pid(fs_base(from)) > 0)
		pack_note(w, &w->said->left_out, path, "an unfinished file");
	else if (door_lstat(from, &st) < 0)
		pack_walk_lost(w, path, err_words(errno));
	else if (S_ISDIR(st.st_mode))
		folder_take(w, from, path, depth + 1, rank);
	else if (S_ISREG(st.st_mode))
		file_add(w, from, path, &st, rank);
	else
		pack_note(w, &w->said->left_out, path, kind_of(st.st_mode));
}

static void folder_take(struct pack_walk *w, const char *dir, const char *path, int depth,
			int64_t rank)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (depth > ZIP_DEPTH_MAX) {
		pack_walk_lost(w, path, "too deep");
		return;
	}
	if (fs_list(dir, &names, &err) < 0) {
		pack_walk_lost(w, path, err.msg);
		return;
	}
	if (strvec_has(&names, "run.json") && rundir_is(dir))
		rank = run_take(w, dir, path);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *from = fs_join(dir, names.v[i]);
		CLEANUP(xfreep) char *to = fs_join(path, names.v[i]);

		entry_take(w, from, to, depth, rank);
	}
}

/* ---- inputs ---- */

/* A name in the bundle: that of the file, with a number where it is taken. */
static const char *name_take(struct pack_walk *w, const char *real)
{
	const char *base = *fs_base(real) ? fs_base(real) : "root";
	CLEANUP(xfreep) char *name = xstrdup(base);

	for (unsigned k = 2; strvec_has(&w->names, name) || strcmp(name, PACK_MANIFEST) == 0; k++) {
		free(name);
		name = xasprintf("%s-%u", base, k);
	}
	return strvec_push(&w->names, name);
}

static int folder_input(struct pack_walk *w, const char *real, const char *name, struct err *err)
{
	int r = door_hold(real, err);

	if (r < 0)
		return r;
	strvec_push(&w->held, real);
	bundle_manifest_add(w->m->inputs, name, "origin", real, "kind",
			    rundir_is(real) ? "run" : "folder", NULL);
	folder_take(w, real, name, 1, w->rank);
	return 0;
}

/* Where it leads: a named input may be a link, as runs/latest is. */
int pack_walk_input(struct pack_walk *w, const char *input, struct err *err)
{
	CLEANUP(xfreep) char *real = xrealpath(input);
	struct stat st;
	const char *name;

	if (!real || door_lstat(real, &st) < 0)
		return err_sys(err, errno, "%s", input);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: %s is not packed", input, kind_of(st.st_mode));
	name = name_take(w, real);
	if (S_ISDIR(st.st_mode))
		return folder_input(w, real, name, err);
	bundle_manifest_add(w->m->inputs, name, "origin", real, "kind", "file", NULL);
	file_add(w, real, name, &st, w->rank);
	return 0;
}

void pack_walk_release(struct pack_walk *w)
{
	for (size_t i = 0; i < w->held.nr; i++)
		door_let_go(w->held.v[i]);
	for (size_t i = 0; i < w->files.nr; i++) {
		free(w->files.v[i].path);
		free(w->files.v[i].from);
	}
	VEC_RELEASE(&w->files);
	strvec_release(&w->held);
	strvec_release(&w->names);
}
