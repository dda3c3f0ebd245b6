/* A batch file: [{"model_name": …, "build_new": …, "registry": …, "registry_image": …}, …] */
#include "mad_int.h"
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"

#define MAX_BATCH ((size_t)4 << 20)

static const struct schema_key batch_table[] = {
	{ .path = "model_name", .type = "string", .required = true },
	{ .path = "build_new", .type = "bool" },
	{ .path = "registry", .type = "string" },
	{ .path = "registry_image", .type = "string" },
	{ .path = NULL },
};

static const char *text_at(const struct cfg_node *n, const char *key)
{
	const struct cfg_node *v = cfg_get(n, key);

	return v && v->kind == CFG_STR ? v->s : NULL;
}

static void add_entry(struct mad_batch *b, struct cfg_node *n, struct problems *p,
		      struct problems *unknown)
{
	const struct cfg_node *build = cfg_get(n, "build_new");
	const char *model, *image;

	if (n->kind != CFG_MAP) {
		cfg_problem(p, n, "want {\"model_name\": …}");
		return;
	}
	mad_drop_empty(n);
	schema_check_keys(n, batch_table, p, unknown);
	model = text_at(n, "model_name");
	image = text_at(n, "registry_image");
	if (build && build->kind != CFG_BOOL)
		return;
	if (!cfg_get(n, "registry_image") && !(build && build->b))
		cfg_problem(p, n,
			    "%s%s%sis not built (build_new is not true), so registry_image has to "
			    "say which image it has",
			    model ? "'" : "a model that ", model ? model : "", model ? "' " : "");
	if (model)
		VEC_PUSH(&b->entries, ((struct mad_batch_entry){
					      .model = xstrdup(model),
					      .build = build && build->b,
					      .registry = xstrdup_null(text_at(n, "registry")),
					      .registry_image = xstrdup_null(image),
					      .where = cfg_where(n),
				      }));
}

static void read_list(struct mad_batch *b, struct cfg_node *root, bool lenient, struct problems *p,
		      struct strvec *notes)
{
	struct problems unknown = PROBLEMS_INIT;

	if (root->kind != CFG_SEQ)
		cfg_problem(p, root, "want a list of models, [{\"model_name\": …}, …]");
	else if (!root->nr)
		cfg_problem(p, root, "names no model: [{\"model_name\": …}, …]");
	CFG_EACH(kid, root, CFG_SEQ)
		add_entry(b, kid, p, &unknown);
	mad_unknown(&unknown, lenient, p, notes);
	problems_release(&unknown);
}

int mad_batch_parse(struct mad_batch *ret, const char *text, size_t n, const char *name,
		    bool lenient, struct problems *p, struct strvec *notes)
{
	size_t before = p->lines.nr;
	struct err why = ERR_INIT;
	struct cfg c;
	int r;

	*ret = (struct mad_batch){ .entries = VEC_INIT };
	cfg_init(&c);
	r = cfg_parse_value(&c, text, n, name, CFG_JSON, LAYER_FILE, &why);
	for (size_t i = 0; i < c.problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", c.problems.lines.v[i]);
	if (r < 0 && !c.problems.lines.nr)
		cfg_problem(p, NULL, "%s", why.msg);
	if (c.root)
		mad_drop_comments(c.root), read_list(ret, c.root, lenient, p, notes);
	cfg_release(&c);
	return p->lines.nr > before ? -EINVAL : 0;
}

int mad_batch_load(struct mad_batch *ret, const char *path, bool lenient, struct problems *p,
		   struct strvec *notes, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	struct err why = ERR_INIT;
	size_t n = 0;
	int r;

	*ret = (struct mad_batch){ .entries = VEC_INIT };
	r = fs_read(path, MAX_BATCH, &text, &n, &why);
	if (r == -ENOENT)
		return err_set(err, ENOENT, "no file '%s'", path);
	if (r < 0) {
		cfg_problem(p, NULL, "%s", why.msg);
		return -EINVAL;
	}
	return mad_batch_parse(ret, text, n, path, lenient, p, notes);
}

FIELD_TABLE(entry_fields,
	    TEXT_FIELDS(struct mad_batch_entry, model, registry, registry_image, where));
FIELD_TABLE(batch_fields, FIELD_VEC(struct mad_batch, entries, entry_fields));

void mad_batch_release(struct mad_batch *b)
{
	fields_release(b, batch_fields);
}
