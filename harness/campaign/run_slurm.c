#include "run_slurm.h"
#include "cells.h"
#include "commit.h"
#include "prepare.h"
#include "slurm_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

#define TEXT_MAX ((size_t)4 << 20) /* what cfg reads */
#define NONCE "NONCE"

static const struct cfg_node *slurm_of(const struct prepared *p)
{
	const struct cfg_node *n = cfg_get(p->conf.effective.root, "slurm");

	return n && n->kind != CFG_NULL ? n : NULL;
}

bool run_slurm_wanted(const struct campaign *cp)
{
	for (size_t i = 0; i < cp->models.nr; i++)
		if (slurm_of(campaign_full(&cp->models.v[i])))
			return true;
	return false;
}

/* ---- the file ---- */

static void node_json(struct json_out *j, const char *key, const struct cfg_node *n)
{
	switch (n->kind) {
	case CFG_MAP:
	case CFG_SEQ:
		if (n->kind == CFG_MAP)
			json_obj(j, key);
		else
			json_arr(j, key);
		for (size_t i = 0; i < n->nr; i++)
			node_json(j, n->child[i]->key, n->child[i]);
		json_end(j);
		break;
	case CFG_BOOL:
		json_bool(j, key, n->b);
		break;
	case CFG_INT:
		json_i64(j, key, n->i);
		break;
	case CFG_FLOAT:
		json_f64(j, key, n->f);
		break;
	default:
		json_str(j, key, n->kind == CFG_STR ? n->s : NULL);
	}
}

/* Two images of one model are two runs: "mlp", "mlp-2". Owned. */
static char *label_of(const struct campaign *cp, size_t at)
{
	const char *name = campaign_full(&cp->models.v[at])->conf.model_name;
	size_t same = 1;

	for (size_t i = 0; i < at; i++)
		same += !strcmp(campaign_full(&cp->models.v[i])->conf.model_name, name);
	return same > 1 ? xasprintf("%s-%zu", name, same) : xstrdup(name);
}

static void models_json(const struct campaign *cp, struct json_out *j)
{
	json_arr(j, "models");
	for (size_t i = 0; i < cp->models.nr; i++) {
		const struct prepared *p = campaign_full(&cp->models.v[i]);
		CLEANUP(xfreep) char *label = label_of(cp, i);

		json_obj(j, NULL);
		json_str(j, "name", label);
		runconf_recorded_json(&p->conf, p->conf.engine, j);
		json_end(j);
	}
	json_end(j);
}

static void text_make(const struct run_options *o, const struct campaign *cp,
		      const struct cfg_node *slurm, struct run_slurm *rs)
{
	FILE *f;
	struct json_out j;

	f = xmemstream(&rs->text, &rs->n);
	json_out_init(&j, f, 2);
	json_obj(&j, NULL);
	json_str(&j, "name", rs->name);
	json_str(&j, "scheduler", "slurm");
	node_json(&j, "slurm", slurm);
	json_u64(&j, "repeat", cp->repeats);
	json_bool(&j, "analyze", !o->no_analyze);
	json_obj(&j, "retry");
	json_i64(&j, "infrastructure", 0);
	json_i64(&j, "invalid", 0);
	json_end(&j);
	models_json(cp, &j);
	json_end(&j);
	fputc('\n', f);
	fclose(f);
}

/* ---- checks ---- */

static void same_check(const struct campaign *cp, struct problems *problems)
{
	const struct prepared *first = campaign_full(&cp->models.v[0]);

	for (size_t i = 1; i < cp->models.nr; i++) {
		const struct prepared *p = campaign_full(&cp->models.v[i]);
		const struct cfg_node *a = slurm_of(first), *b = slurm_of(p);

		if (a && b && matrix_same(a, b))
			continue;
		cfg_problem(problems, b ? b : a,
			    "slurm: models '%.80s' and '%.80s' do not ask for the same jobs: run "
			    "them by commands of their own",
			    first->conf.model_name, p->conf.model_name);
	}
}

/* What a job would not find on its node, where its configuration is read again. */
static void secrets_check(const struct prepared *p, const struct slurm_settings *s,
			  struct problems *problems)
{
	const struct cfg_node *root = p->conf.effective.root;

	CFG_EACH(n, cfg_get(root, "secrets"), CFG_MAP) {
		const char *from = cfg_text(n, "from_env");

		if (from && runconf_is_secret_name(from) && !strvec_has(&s->export, from))
			cfg_problem(problems, n,
				    "secrets.%s: jobs do not inherit %s, a variable with a "
				    "secret's name: use from_file, or name it in slurm.export",
				    n->key, from);
	}
	CFG_EACH(n, cfg_get(root, "env"), CFG_MAP)
		if (runconf_is_secret_name(n->key))
			cfg_problem(problems, n,
				    "env.%s: the file of which a job reads it holds no secret: use "
				    "secrets: {%s: {from_file: PATH}}",
				    n->key, n->key);
}

int run_slurm_make(const struct run_options *o, const struct campaign *cp, struct run_slurm *ret,
		   struct problems *problems)
{
	const struct prepared *first = campaign_full(&cp->models.v[0]);
	CLEANUP(xfreep) char *id = run_new_id(first->conf.model_name);
	size_t before = problems->lines.nr;

	*ret = (struct run_slurm){ .runs_dir = xstrdup(first->runs_dir) };
	slurm_settings_init(&ret->settings);
	same_check(cp, problems);
	if (problems->lines.nr == before)
		slurm_settings_read(slurm_of(first), &ret->settings, problems);
	for (size_t i = 0; i < cp->models.nr; i++)
		secrets_check(campaign_full(&cp->models.v[i]), &ret->settings, problems);
	if (problems->lines.nr > before)
		return -EBADMSG;
	/* at most 100 bytes: a campaign's name */
	ret->name = xasprintf(RUN_SLURM_PREFIX "%s", id);
	ret->dir = fs_join(ret->runs_dir, ret->name);
	ret->path = fs_join(ret->dir, "campaign.json");
	text_make(o, cp, slurm_of(first), ret);
	if (ret->n < TEXT_MAX)
		return 0;
	cfg_problem(problems, NULL,
		    "the configurations of these runs are more than %zu MiB: run fewer models at "
		    "once",
		    TEXT_MAX >> 20);
	return -EBADMSG;
}

int run_slurm_write(const struct run_slurm *rs, struct err *err)
{
	int r = fs_mkdirs(rs->dir, 0755, err);

	return r < 0 ? r : fs_write_atomic(rs->path, rs->text, rs->n, err);
}

void run_slurm_options(const struct run_options *o, struct run_options *ret)
{
	run_options_init(ret);
	strvec_pushv(&ret->tools_dirs, o->tools_dirs.v);
	if (o->all_archs)
		strvec_push(&ret->conf.sets, "model.skip_gpu_arch=[]");
}

/* ---- what would be submitted ---- */

/* Up to `pack` runs of one block in a job, as drive_scheduler.c has them. */
static void jobs_foresee(const struct run_slurm *rs, const struct campaign_file *f,
			 const struct cells *c, struct strvec **ret, size_t *ret_nr)
{
	struct order o;
	struct strvec *jobs;
	size_t nr = 0;

	order_make((uint32_t)c->v.nr, f->repeat, f->order, f->seed, &o);
	jobs = xcalloc(o.runs.nr + 1, sizeof(*jobs));
	for (size_t i = 0; i < o.runs.nr; i++) {
		const struct order_run *run = &o.runs.v[i];
		struct attempt_name a;

		if (i == 0 || run->block != run[-1].block ||
		    jobs[nr - 1].nr >= (size_t)rs->settings.pack)
			strvec_init(&jobs[nr++]);
		attempt_name_make(c->v.v[run->cell].id, run->block + 1, 1, &a);
		strvec_push(&jobs[nr - 1], a.all);
	}
	order_release(&o);
	*ret = jobs;
	*ret_nr = nr;
}

static void submission_foresee(const struct run_slurm *rs, const struct campaign_file *f,
			       const struct cells *c, struct strvec *argv, struct strbuf *script)
{
	CLEANUP(xfreep) char *self = fs_self_dir();
	CLEANUP(xfreep) char *program = fs_join(self, "profrig");
	CLEANUP(xfreep) char *path = xasprintf("%s/submit/" NONCE ".sh", rs->dir);
	CLEANUP(xfreep) struct sched_job *jobs = NULL;
	struct strvec *names;
	size_t nr;

	jobs_foresee(rs, f, c, &names, &nr);
	jobs = xcalloc(nr + 1, sizeof(*jobs));
	for (size_t i = 0; i < nr; i++)
		jobs[i].attempts = names[i].v;
	const struct slurm_submission sub = { .nonce = NONCE,
					      .jobs = jobs,
					      .nr = nr,
					      .dir = rs->dir,
					      .name = rs->name,
					      .program = rs->settings.program ? rs->settings.program
									      : program,
					      .script = path,
					      .array = true };
	slurm_sbatch_argv(&rs->settings, &sub, argv);
	slurm_script_text(&rs->settings, &sub, script);
	for (size_t i = 0; i < nr; i++)
		strvec_release(&names[i]);
	free(names);
}

int run_slurm_plan(const struct run_slurm *rs, struct run_options *job, struct strvec *argv,
		   struct strbuf *script, struct problems *problems, struct err *err)
{
	struct campaign_source source = { rs->path, rs->text, rs->n };
	const struct campaign_sources given = { { .v = &source, .nr = 1 } };
	CLEANUP(xfreep) char *runs = fs_join(rs->dir, "runs");
	struct cells cells = CELLS_INIT;
	struct campaign_file file;
	struct said said = SAID_INIT;
	int r = campaign_file_read(rs->path, &given, &file, problems, err);

	job->runs_dir = runs;
	if (r == 0)
		r = cells_make(job, &file, MATRIX_CELLS_MAX, &cells, problems, &said, err);
	if (r == 0)
		r = cells_identify(&cells, rs->runs_dir, NULL, problems, err);
	if (r == 0)
		submission_foresee(rs, &file, &cells, argv, script);
	job->runs_dir = "runs";
	said_release(&said);
	cells_release(&cells);
	campaign_file_release(&file);
	return r;
}

FIELD_TABLE(run_slurm_fields, TEXT_FIELDS(struct run_slurm, runs_dir, name, dir, path, text));

void run_slurm_release(struct run_slurm *rs)
{
	slurm_settings_release(&rs->settings);
	fields_release(rs, run_slurm_fields);
}
