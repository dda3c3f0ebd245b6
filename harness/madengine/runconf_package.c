/* Entries of models.json, and contexts, as layers of a run's configuration. */
#include "mad_int.h"
#include "mad_slurm.h"
#include "runconf_int.h"
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct catalog *loader_catalog(struct loader *l)
{
	if (l->rq->catalog)
		return l->rq->catalog;
	if (l->catalog)
		return l->catalog;
	l->catalog = xcalloc(1, sizeof(*l->catalog));
	if (catalog_load(l->catalog, l->rq->cwd, &l->usage) == 0)
		return l->catalog;
	free(STEAL(l->catalog));
	return NULL;
}

char *loader_package_dir(const struct loader *l)
{
	return l->rq->catalog ? xstrdup(l->rq->catalog->mad.dir) : mad_package_dir(l->rq->cwd);
}

void loader_package_release(struct loader *l)
{
	if (l->catalog)
		catalog_release(l->catalog);
	free(STEAL(l->catalog));
	cfg_release(&l->context);
}

/* Read once, before it becomes a layer: an entry searches it for its data. */
static void read_context(struct loader *l)
{
	const struct runconf_request *rq = l->rq;
	const struct mad_context_base base = { rq->context_base, rq->context_base_name };
	struct err err = ERR_INIT;
	int r;

	if (l->context.root)
		return;
	cfg_init(&l->context);
	r = mad_context_load(&l->context, &base, rq->context_file, rq->context, l->p, &err);
	if (r == -ENOENT)
		loader_bad_name(l, NULL, "%s", err.msg);
	else if (r < 0)
		l->broken = true;
	if (r < 0 && r != -EINVAL && r != -ENOENT)
		cfg_problem(l->p, NULL, "%s", err.msg);
}

static void merge_tree(struct loader *l, struct cfg *c)
{
	schema_expand(c, schema_table);
	cfg_merge(&l->tree, c);
}

void loader_entry(struct loader *l, const char *file, const char *name, const struct strvec *args)
{
	const struct catalog *cat = loader_catalog(l);
	const struct mad_entry *e = cat ? mad_models_find(&cat->mad, name) : NULL;
	struct cfg c;

	if (!cat)
		return;
	if (!e || strcmp(e->file, file) != 0) {
		loader_bad_name(l, NULL, "'%s' holds no model '%s' (see 'profrig discover')", file,
				name);
		return;
	}
	read_context(l);
	if (mad_model_config(&cat->mad, e, args, &l->context, l->rq->lenient, &c, l->p,
			     &l->rc->notes) < 0)
		l->broken |= !c.root;
	l->rc->mad_model = true;
	l->model_file = xstrdup(e->file);
	l->package = true;
	merge_tree(l, &c);
	cfg_release(&c);
}

void loader_tag_args(struct loader *l, const struct strvec *args)
{
	struct cfg_node *model = cfg_get(l->tree.root, "model"), *list;

	if (!args->nr || !model || model->kind != CFG_MAP)
		return;
	list = cfg_get(model, "args");
	if (!list || list->kind != CFG_SEQ)
		list = cfg_put(&l->tree, model, "args", CFG_SEQ, NULL, "command line", LAYER_CLI);
	for (size_t i = 0; i < args->nr; i++)
		cfg_add(&l->tree, list, CFG_STR, args->v[i], "command line", LAYER_CLI);
}

void loader_context(struct loader *l)
{
	CLEANUP(xfreep) char *dir = loader_package_dir(l);
	struct cfg c;

	if (!l->rq->context && !l->rq->context_file && !l->rq->context_base)
		return;
	read_context(l);
	if (!l->context.root || l->broken)
		return;
	mad_context_config(&l->context, dir, l->rq->lenient, &c, l->p, &l->rc->notes);
	merge_tree(l, &c);
	cfg_release(&c);
	if (mad_on_slurm(l->context.root))
		mad_slurm_defaults(&l->tree, cfg_get(l->context.root, "slurm"), &l->rc->notes);
}
