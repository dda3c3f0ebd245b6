#include "campaign_job.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/run/run.h"

static void job_init(struct campaign_job *j, struct run_options *o)
{
	*j = (struct campaign_job){ .plan = CAMPAIGN_PLAN_INIT,
				    .lock = CAMPAIGN_LOCK_INIT,
				    .o = o,
				    .ids = STRVEC_INIT,
				    .metrics = STRVEC_INIT };
	j->cells = (struct cells)CELLS_INIT;
	campaign_state_init(&j->state);
}

void campaign_job_close(struct campaign_job *j)
{
	journal_close(j->journal);
	campaign_state_release(&j->state);
	campaign_plan_release(&j->plan);
	cells_release(&j->cells);
	if (j->file.path)
		campaign_file_release(&j->file);
	strvec_release(&j->ids);
	strvec_release(&j->metrics);
	campaign_lock_drop(&j->lock);
	if (j->runs_dir)
		j->o->runs_dir = "runs";
	free(j->runs_dir);
	free(j->dir);
	*j = (struct campaign_job){ .lock = CAMPAIGN_LOCK_INIT };
}

int campaign_job_notes(struct campaign_job *j, const struct campaign_note *v, size_t nr,
		       struct err *err)
{
	struct journal_event seen[CAMPAIGN_NOTES_MAX];
	json_t *kept[CAMPAIGN_NOTES_MAX];
	int r = 0;

	assert(nr > 0 && nr <= CAMPAIGN_NOTES_MAX);
	for (size_t i = 0; i < nr; i++) {
		kept[i] = v[i].fields ? json_deep_copy(v[i].fields) : json_object();
		if (r < 0)
			json_decref(v[i].fields);
		else if (i + 1 < nr)
			r = journal_append_more(j->journal, v[i].ev, v[i].run, v[i].attempt,
						v[i].fields, err);
		else
			r = journal_append(j->journal, v[i].ev, v[i].run, v[i].attempt, v[i].fields,
					   err);
		seen[i] = (struct journal_event){ .seq = journal_events(j->journal),
						  .t_ns = journal_last_ns(j->journal),
						  .boot_id = journal_boot(j->journal),
						  .ev = v[i].ev,
						  .run = v[i].run,
						  .attempt = v[i].attempt,
						  .end = journal_bytes(j->journal),
						  .all = kept[i] };
	}
	for (size_t i = 0; i < nr; i++) {
		if (r == 0)
			r = campaign_state_seen(&j->state, &seen[i], err);
		if (r == 0 && j->noted)
			r = j->noted(j->noted_ctx, &seen[i], err);
		json_decref(kept[i]);
	}
	return r;
}

int campaign_job_note(struct campaign_job *j, const char *ev, const char *run, int64_t attempt,
		      json_t *fields, struct err *err)
{
	const struct campaign_note one = { ev, run, attempt, fields };

	return campaign_job_notes(j, &one, 1, err);
}

/* ---- options of runs that are kept ---- */

static json_t *words_json(const struct strvec *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->nr; i++)
		json_array_append_new(a, json_string(v->v[i]));
	return a;
}

/* The last word of a path. */
static const char *key_name(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

/* The value of a variable that is called like a secret would be kept in the folder. */
static void sets_check(const struct run_options *o, struct problems *p)
{
	for (size_t i = 0; i < o->conf.sets.nr; i++) {
		const char *set = o->conf.sets.v[i], *eq = strchr(set, '=');
		CLEANUP(xfreep) char *key = xstrndup(set, eq ? (size_t)(eq - set) : strlen(set));

		if (runconf_is_secret_name(key_name(key)) && strncmp(key, "secrets.", 8) != 0)
			cfg_problem(p, NULL,
				    "--set %s: the campaign's folder would keep the value; use "
				    "secrets: {NAME: {from_env: NAME}} in the file",
				    key);
	}
}

/* Values that stand in the file and are called like secrets, at any depth but below `secrets`. */
static void secrets_walk(const struct cfg_node *in, struct problems *p)
{
	for (size_t i = 0; in && i < in->nr; i++) {
		const struct cfg_node *n = in->child[i];
		const char *name = n->key ? key_name(n->key) : "";
		bool empty = n->kind == CFG_NULL || (n->s && !*n->s);

		/* what was recorded has no secrets (runconf.h) */
		if (n->key && (!strcmp(n->key, "secrets") || !strcmp(n->key, "recorded")))
			continue;
		if (runconf_is_secret_name(name) && !empty)
			cfg_problem(p, n,
				    "%s: the campaign's folder keeps a copy of this file, and its "
				    "labels, secret and all: write secrets: {%s: {from_env: %s}}",
				    n->key, name, name);
		else
			secrets_walk(n, p);
	}
}

static void secrets_check(const struct campaign_file *f, struct problems *p)
{
	static const char *const keys[] = { "vars", "models", "axes", "include", "slots" };

	secrets_walk(f->run.root, p);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		secrets_walk(cfg_get(f->tree.root, keys[i]), p);
	CFG_EACH(n, cfg_get(f->run.root, "secrets"), CFG_MAP)
		if (n->kind != CFG_MAP && n->kind != CFG_NULL)
			cfg_problem(p, n, "secrets.%s: want {from_env: NAME} or {from_file: PATH}",
				    n->key);
}

/* ---- cells and plan ---- */

static void lists_fill(struct campaign_job *j)
{
	for (size_t i = 0; i < j->plan.cells.nr; i++)
		strvec_push(&j->ids, j->plan.cells.v[i].id);
	for (size_t i = 0; i < j->file.gates.nr; i++)
		if (!strvec_has(&j->metrics, j->file.gates.v[i].metric))
			strvec_push(&j->metrics, j->file.gates.v[i].metric);
	j->where = (struct attempt_where){ j->dir, &j->metrics, campaign_nodes(&j->file) };
}

/*
 * Images that are not known: when the engine is down they look as if they had changed, and each run
 * would use up its tries. A cluster's nodes have engines of their own.
 */
static int engines_answer(const struct campaign_job *j, struct err *err)
{
	const struct engine *asked = NULL;

	if (strcmp(j->file.scheduler, "local") != 0)
		return 0;
	for (size_t i = 0; i < j->cells.v.nr; i++) {
		const struct cell *c = &j->cells.v.v[i];
		struct err why = ERR_INIT;

		if (!c->image || !c->engine->words[ENGINE_FACTS] || *c->parts.image ||
		    c->engine == asked)
			continue;
		asked = c->engine;
		if (run_engine_answers(c->engine, &why) < 0)
			return err_set(err, EHOSTDOWN,
				       "engine '%s' does not answer (%.200s): start it",
				       c->engine->name, why.msg);
	}
	return 0;
}

static int cells_find(struct campaign_job *j, const struct campaign_request *rq,
		      struct problems *problems, struct said *said, struct err *err)
{
	CLEANUP(xfreep) char *campaigns = fs_dir(j->dir);
	int r = cells_make(j->o, &j->file, rq->max_cells, &j->cells, problems, said, err);

	if (r == 0)
		r = cells_identify(&j->cells, campaigns, rq->interrupt, problems, err);
	return r < 0 ? r : engines_answer(j, err);
}

/* Writes the plan; the journal has an event when it is another one than before. */
static int plan_set(struct campaign_job *j, bool keep_old, struct err *err)
{
	CLEANUP(xfreep) char *rel = NULL;
	int r = campaign_plan_write(j->dir, &j->file, &j->cells, &j->plan, err);

	if (r < 0)
		return r;
	rel = xasprintf("%s.json", j->plan.name);
	lists_fill(j);
	if (j->state.plan && !strcmp(j->state.plan, rel))
		return 0;
	return campaign_job_note(j, "plan", NULL, 0,
				 json_pack("{s:s, s:I, s:I, s:s, s:I, s:b}", "plan", rel, "cells",
					   (json_int_t)j->plan.cells.nr, "repeat",
					   (json_int_t)j->plan.repeat, "order",
					   run_order_name(j->plan.order), "seed",
					   (json_int_t)j->plan.seed, "keep_old", keep_old),
				 err);
}

int campaign_job_shorten(struct campaign_job *j, uint32_t blocks, struct err *err)
{
	struct campaign_plan before = j->plan;
	uint32_t repeat = j->file.repeat;
	int r;

	if (blocks >= j->plan.repeat)
		return 0;
	j->file.repeat = blocks;
	j->file.most = repeat;
	strvec_clear(&j->ids);
	for (size_t i = 0; i < j->cells.v.nr; i++)
		snprintf(j->cells.v.v[i].id, sizeof(j->cells.v.v[i].id), "%s",
			 before.cells.v[i].id);
	r = plan_set(j, j->state.keep_old, err);
	campaign_plan_release(&before);
	return r;
}

/* ---- a new one ---- */

static int folders_make(const char *dir, struct err *err)
{
	static const char *const names[] = { "runs", "results", "plans", "logs", "files" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names[i]);

		r = fs_mkdirs(path, 0755, err);
	}
	return r;
}

/* "campaign.yaml" and, of what it extends, "files/1-common.yaml". Owned. */
static char *copy_name(const struct campaign_file *f, size_t i)
{
	const char *path = f->sources.v.v[i].path;

	if (i == 0)
		return xstrdup(text_suffix(path, ".json") ? "campaign.json" : "campaign.yaml");
	return xasprintf("files/%zu-%s", i, fs_base(path));
}

static int copies_make(const struct campaign_job *j, json_t *list, struct err *err)
{
	for (size_t i = 0; i < j->file.sources.v.nr; i++) {
		const struct campaign_source *s = &j->file.sources.v.v[i];
		CLEANUP(xfreep) char *name = copy_name(&j->file, i);
		CLEANUP(xfreep) char *path = fs_join(j->dir, name);
		int r = fs_write_atomic(path, s->text, s->n, err);

		if (r < 0)
			return r;
		json_array_append_new(list, json_pack("{s:s, s:s}", "path", s->path, "copy", name));
	}
	return 0;
}

static int opened_note(struct campaign_job *j, const struct campaign_request *rq, struct err *err)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	json_t *files = json_array();
	int r = copies_make(j, files, err);

	if (r < 0) {
		json_decref(files);
		return r;
	}
	return campaign_job_note(j, "open", NULL, 0,
				 json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "version",
					   rq->version, "file", j->file.path, "dir", j->file.dir,
					   "cwd", cwd, "name", j->file.name, "files", files, "sets",
					   words_json(&j->o->conf.sets), "tools_dirs",
					   words_json(&j->o->tools_dirs)),
				 err);
}

static char *dir_of(const struct campaign_request *rq, const char *name)
{
	CLEANUP(xfreep) char *campaigns = fs_abs(rq->campaigns);

	return fs_join(campaigns, name);
}

static void runs_dir_set(struct campaign_job *j)
{
	j->runs_dir = fs_join(j->dir, "runs");
	j->o->runs_dir = j->runs_dir;
}

static bool is_campaign(const char *dir)
{
	CLEANUP(xfreep) char *journal = fs_join(dir, "journal.ndjson");

	return fs_size(journal) > 0;
}

/* A path that a relative --tools-dir means, whatever the working directory is later. */
static void tools_dirs_fix(struct run_options *o)
{
	for (size_t i = 0; i < o->tools_dirs.nr; i++) {
		char *abs = fs_abs(o->tools_dirs.v[i]);

		free(o->tools_dirs.v[i]);
		o->tools_dirs.v[i] = abs;
	}
}

static int job_make(const struct campaign_request *rq, struct campaign_job *j,
		    struct problems *problems, struct said *said, struct err *err)
{
	CLEANUP(xfreep) char *journal = NULL;
	int r = campaign_file_read(rq->file, NULL, &j->file, problems, err);

	sets_check(j->o, problems);
	if (r == 0)
		secrets_check(&j->file, problems);
	if (r < 0 || problems->lines.nr)
		return r < 0 ? r : -EINVAL;
	j->dir = dir_of(rq, j->file.name);
	if (is_campaign(j->dir))
		return err_set(err, EEXIST, "campaign '%s' is there already: %s", j->file.name,
			       j->dir);
	tools_dirs_fix(j->o);
	runs_dir_set(j);
	r = cells_find(j, rq, problems, said, err);
	if (r == 0)
		r = folders_make(j->dir, err);
	if (r == 0)
		r = campaign_lock_take(j->dir, rq->take_over, &j->lock, err);
	if (r < 0)
		return r;
	/* another process may have been quicker */
	if (is_campaign(j->dir))
		return err_set(err, EEXIST, "campaign '%s' is there already: %s", j->file.name,
			       j->dir);
	journal = fs_join(j->dir, "journal.ndjson");
	r = journal_open(journal, campaign_state_seen, &j->state, &j->journal, &j->read, err);
	if (r == 0)
		r = opened_note(j, rq, err);
	return r < 0 ? r : plan_set(j, false, err);
}

int campaign_job_new(const struct campaign_request *rq, struct campaign_job *ret,
		     struct problems *problems, struct said *said, struct err *err)
{
	int r;

	job_init(ret, rq->o);
	r = job_make(rq, ret, problems, said, err);
	if (r < 0)
		campaign_job_close(ret);
	return r;
}

/* ---- one that is there ---- */

/* The copies, by the paths that they were read from. */
static int copies_read(const struct campaign_job *j, struct campaign_sources *ret, struct err *err)
{
	for (size_t i = 0; i < j->state.files.nr; i++) {
		const struct state_file *f = &j->state.files.v[i];
		CLEANUP(xfreep) char *path = fs_join(j->dir, f->copy);
		struct campaign_source s = { .path = xstrdup(f->path) };
		int r = fs_exists(path) && !fs_is_file(path)
				? err_set(err, EBADMSG, "%s: no regular file", path)
				: fs_read(path, CAMPAIGN_PLAN_MAX, &s.text, &s.n, err);

		VEC_PUSH(&ret->v, s);
		if (r < 0)
			return r;
	}
	if (ret->v.nr == 0)
		return err_set(err, EBADMSG, "%s: the journal names no campaign file", j->dir);
	return 0;
}

struct opening {
	struct campaign_job *j;
	bool options; /* were taken */
};

/* The options of runs that `open` has go to o. */
static int opening_seen(void *ctx, const struct journal_event *e, struct err *err)
{
	struct opening *op = ctx;
	const json_t *word;
	size_t i;

	if (!strcmp(e->ev, "open") && !op->options) {
		op->options = true;
		json_array_foreach(json_object_get(e->all, "sets"), i,
				   word) if (json_is_string(word))
			strvec_push(&op->j->o->conf.sets, json_string_value(word));
		json_array_foreach(json_object_get(e->all, "tools_dirs"), i,
				   word) if (json_is_string(word))
			strvec_push(&op->j->o->tools_dirs, json_string_value(word));
	}
	return campaign_state_seen(&op->j->state, e, err);
}

static int file_again(struct campaign_job *j, const struct campaign_request *rq,
		      struct problems *problems, struct err *err)
{
	struct campaign_sources copies = { VEC_INIT };
	int r = rq->file ? 0 : copies_read(j, &copies, err);

	if (r == 0)
		r = campaign_file_read(rq->file ? rq->file : copies.v.v[0].path,
				       rq->file ? NULL : &copies, &j->file, problems, err);
	campaign_sources_release(&copies);
	if (r == 0)
		secrets_check(&j->file, problems);
	return r < 0 ? r : problems->lines.nr ? -EINVAL : 0;
}

/* Relative paths of --set begin where the campaign began. */
static int cwd_enter(const struct campaign_job *j, struct err *err)
{
	if (j->state.cwd && chdir(j->state.cwd) < 0)
		return err_sys(err, errno,
			       "relative paths of this campaign begin in '%.300s', where it was "
			       "begun",
			       j->state.cwd);
	return 0;
}

/* Whether the folder has copies of these very files. */
static bool copies_are_same(const struct campaign_job *j)
{
	struct campaign_sources copies = { VEC_INIT };
	bool same = copies_read(j, &copies, NULL) == 0 && copies.v.nr == j->file.sources.v.nr;

	for (size_t i = 0; same && i < copies.v.nr; i++) {
		const struct campaign_source *a = &copies.v.v[i], *b = &j->file.sources.v.v[i];

		same = !strcmp(a->path, b->path) && a->n == b->n && !memcmp(a->text, b->text, a->n);
	}
	campaign_sources_release(&copies);
	return same;
}

static int plan_again(struct campaign_job *j, const struct campaign_request *rq,
		      struct strvec *changes, struct err *err)
{
	struct campaign_plan before;
	bool keep = rq->decided == CHANGES_KEEP_OLD;
	size_t nr;
	int r;

	if (!j->state.plan)
		return plan_set(j, false, err);
	r = campaign_plan_read(j->dir, j->state.plan, &before, err);
	if (r < 0)
		return r;
	nr = campaign_plan_changes(&before, &j->cells, keep, changes);
	/* stop_when made it shorter: what was needed is known */
	if (nr == 0 && before.most == j->file.repeat && before.repeat < before.most) {
		j->file.most = before.most;
		j->file.repeat = before.repeat;
	}
	campaign_plan_release(&before);
	if (nr && rq->decided == CHANGES_ASK)
		return err_set(err, ESTALE,
			       "%zu of %zu cells have changed since the campaign began", nr,
			       j->cells.v.nr);
	/* workers read the copies: they must be what the plan was made of */
	if (rq->file && !copies_are_same(j))
		r = opened_note(j, rq, err);
	return r < 0 ? r : plan_set(j, keep, err);
}

static int job_open(const struct campaign_request *rq, struct campaign_job *j,
		    struct strvec *changes, struct problems *problems, struct said *said,
		    struct err *err)
{
	struct opening op = { j, false };
	CLEANUP(xfreep) char *journal = NULL;
	int r;

	j->dir = fs_abs(rq->dir);
	journal = fs_join(j->dir, "journal.ndjson");
	if (!is_campaign(j->dir))
		return err_set(err, ENOENT, "'%s' is no campaign: it has no journal.ndjson",
			       j->dir);
	r = campaign_lock_take(j->dir, rq->take_over, &j->lock, err);
	if (r == 0)
		r = journal_open(journal, opening_seen, &op, &j->journal, &j->read, err);
	if (r == 0)
		r = folders_make(j->dir, err);
	if (r == 0)
		r = cwd_enter(j, err);
	if (r == 0)
		r = file_again(j, rq, problems, err);
	if (r < 0)
		return r;
	runs_dir_set(j);
	r = cells_find(j, rq, problems, said, err);
	return r < 0 ? r : plan_again(j, rq, changes, err);
}

int campaign_job_open(const struct campaign_request *rq, struct campaign_job *ret,
		      struct strvec *changes, struct problems *problems, struct said *said,
		      struct err *err)
{
	int r;

	job_init(ret, rq->o);
	r = job_open(rq, ret, changes, problems, said, err);
	if (r < 0)
		campaign_job_close(ret);
	return r;
}

/* ---- looking ---- */

/* A cell has the id of its place: the file must make the cells of the plan. */
static int cells_agree(const struct campaign_job *j, struct err *err)
{
	bool same = j->cells.v.nr == j->plan.cells.nr;

	for (size_t i = 0; same && i < j->cells.v.nr; i++)
		same = !strcmp(j->cells.v.v[i].label, j->plan.cells.v[i].label) &&
		       !strcmp(j->cells.v.v[i].model->label, j->plan.cells.v[i].model);
	return same ? 0
		    : err_set(err, EBADMSG,
			      "%s: the copy of the campaign's file makes other cells than the "
			      "plan: "
			      "'profrig campaign resume' settles that",
			      j->dir);
}

static int job_look(struct campaign_job *j, bool cells, struct err *err)
{
	struct opening op = { j, false };
	CLEANUP(xfreep) char *journal = fs_join(j->dir, "journal.ndjson");
	struct problems problems = PROBLEMS_INIT;
	struct campaign_request rq = { .max_cells = UINT64_MAX };
	struct said said = SAID_INIT;
	int r;

	if (!is_campaign(j->dir))
		return err_set(err, ENOENT, "'%s' is no campaign: it has no journal.ndjson",
			       j->dir);
	r = journal_look(journal, opening_seen, &op, &j->read, err);
	if (r == 0 && j->state.plan)
		r = campaign_plan_read(j->dir, j->state.plan, &j->plan, err);
	if (r == 0 && cells)
		r = cwd_enter(j, err);
	if (r == 0 && cells)
		r = file_again(j, &rq, &problems, err);
	runs_dir_set(j);
	if (r == 0 && cells)
		r = cells_list(j->o, &j->file, UINT64_MAX, &j->cells, &problems, &said, err);
	if (r == 0 && cells)
		r = cells_agree(j, err);
	if (r < 0 && problems.lines.nr)
		err_set(err, -r, "%s", problems.lines.v[0]);
	if (r == 0)
		lists_fill(j);
	problems_release(&problems);
	said_release(&said);
	return r;
}

int campaign_job_look(const char *dir, struct run_options *o, bool cells, struct campaign_job *ret,
		      struct err *err)
{
	int r;

	job_init(ret, o);
	ret->dir = fs_abs(dir);
	r = job_look(ret, cells, err);
	if (r < 0)
		campaign_job_close(ret);
	return r;
}
