/*
 * The run's own folder, in which some models run:
 *
 *	<run>/work/run_directory	model.url cloned, the files of model.copy over it
 *	<run>/work/scripts		→ model.scripts
 *
 * Files that a workload writes beside its folder (../results.csv) stay in the run directory this
 * way, and two runs of one model share nothing.
 */
#include "plan_flat.h"
#include "plan_int.h"

#include <stdlib.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"

void plan_source(struct maker *m)
{
	const struct runconf *c = m->conf;

	if (!c->source.url && !c->source.copy)
		return;
	m->pl->source_dir = fs_join(m->rq->run_dir, "work/run_directory");
	free(m->cwd);
	m->cwd = xstrdup(m->pl->source_dir);
}

void plan_source_mount(const struct maker *m, struct engine_spec *s)
{
	const char *scripts = m->conf->source.scripts;

	if (m->pl->source_dir && scripts)
		VEC_PUSH(&s->mounts,
			 ((struct engine_mount){ xstrdup(scripts), xstrdup(scripts), true }));
}

void plan_source_json(const struct plan *pl, struct json_out *j)
{
	if (!pl->source_dir)
		return;
	json_obj(j, "source");
	json_str(j, "dir", pl->source_dir);
	json_str(j, "url", pl->conf->source.url);
	json_str(j, "copy", pl->conf->source.copy);
	json_str(j, "scripts", pl->conf->source.scripts);
	json_bool(j, "keep", pl->conf->source.keep);
	json_end(j);
}

void plan_source_text(const struct plan *pl, FILE *f)
{
	const struct runconf *c = pl->conf;

	if (!pl->source_dir)
		return;
	fprintf(f, "folder     %s\n", pl->source_dir);
	if (c->source.url)
		fprintf(f, "           git clone of %s%s\n", c->source.url,
			c->source.password || c->source.ssh_key ? ", with credentials" : "");
	if (c->source.copy)
		fprintf(f, "           the files of %s\n", c->source.copy);
	if (c->source.scripts)
		fprintf(f, "           ../scripts is %s\n", c->source.scripts);
	fprintf(f, "           %s\n", c->source.keep ? "it is kept" : "it goes behind the run");
}

static void print_command(FILE *f, const char *words, const char *a, const char *b, const char *c)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *const args[] = { a, b, c };

	for (size_t i = 0; i < ARRAY_LEN(args); i++) {
		if (!args[i])
			continue;
		strbuf_addch(&sb, ' ');
		strbuf_add_shell(&sb, args[i]);
	}
	fprintf(f, "%s%s || exit\n", words, sb.buf);
}

void plan_source_sh(const struct plan *pl, FILE *f)
{
	const struct runconf *c = pl->conf;
	CLEANUP(xfreep) char *work = NULL;

	if (!pl->source_dir)
		return;
	work = fs_dir(pl->source_dir);
	print_command(f, "mkdir -p", work, NULL, NULL);
	if (c->source.url)
		print_command(f, "git clone --depth 1 --recurse-submodules --", c->source.url,
			      pl->source_dir, NULL);
	else
		print_command(f, "mkdir", pl->source_dir, NULL, NULL);
	if (c->source.copy) {
		CLEANUP(xfreep) char *all = fs_join(c->source.copy, ".");

		print_command(f, "cp -RL", all, pl->source_dir, NULL);
	}
	if (c->source.scripts) {
		CLEANUP(xfreep) char *link = fs_join(work, "scripts");

		print_command(f, "ln -s", c->source.scripts, link, NULL);
	}
}
