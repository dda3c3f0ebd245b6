#include "plan_flat.h"

#include <stdlib.h>

#include "profrig/base/strbuf.h"

const char *plan_env_value(const struct plan_env *e)
{
	return e->secret ? "***" : e->value;
}

const char *plan_step_kind(enum step_kind k)
{
	static const char *const names[] = { "pre", "workload", "post" };

	return names[k];
}

const struct plan_step *plan_workload(const struct plan *pl)
{
	return VEC_FIND(&pl->steps, s, s->kind == STEP_WORKLOAD);
}

const char *plan_step_env(const struct plan_step *s, const char *name)
{
	const struct plan_env *e = VEC_FIND(&s->env, x, !strcmp(x->name, name));

	return e ? e->value : NULL;
}

static bool is_leaf(const struct cfg_node *n)
{
	return n->kind != CFG_MAP && n->kind != CFG_SEQ;
}

static bool all_leaves(const struct cfg_node *n)
{
	for (size_t i = 0; i < n->nr; i++)
		if (!is_leaf(n->child[i]))
			return false;
	return true;
}

static const char *node_text(const struct cfg_node *n)
{
	return n->kind == CFG_NULL || !n->s ? "null" : n->s;
}

static void flat_add(struct flat *f, const struct cfg_node *n, const char *key, char *value)
{
	char *origin =
		n->layer == LAYER_CLI && n->line == 0 ? xstrdup("command line") : cfg_where(n);

	VEC_PUSH(&f->rows, ((struct flat_row){ xstrdup(key), value, origin }));
}

static void add_list(struct flat *f, const struct cfg_node *n, const char *key)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addch(&sb, '[');
	for (size_t i = 0; i < n->nr; i++) {
		strbuf_addstr(&sb, i ? ", " : "");
		strbuf_add_shell(&sb, node_text(n->child[i]));
	}
	strbuf_addch(&sb, ']');
	flat_add(f, n, key, strbuf_steal(&sb));
}

static void flat_add_node(struct flat *f, const struct cfg_node *n, const char *key)
{
	if (is_leaf(n)) {
		flat_add(f, n, key, xstrdup(node_text(n)));
		return;
	}
	if (n->kind == CFG_SEQ && all_leaves(n)) {
		add_list(f, n, key);
		return;
	}
	for (size_t i = 0; i < n->nr; i++) {
		CLEANUP(xfreep) char *below = NULL;

		if (n->kind == CFG_SEQ)
			below = xasprintf("%s[%zu]", key, i);
		else
			below = xasprintf("%s%s%s", key, *key ? "." : "", n->child[i]->key);
		flat_add_node(f, n->child[i], below);
	}
}

void plan_flatten(const struct runconf *rc, struct flat *ret)
{
	*ret = (struct flat){ .rows = VEC_INIT };
	if (rc->effective.root)
		flat_add_node(ret, rc->effective.root, "");
}

void flat_release(struct flat *f)
{
	for (size_t i = 0; i < f->rows.nr; i++) {
		free(f->rows.v[i].key);
		free(f->rows.v[i].value);
		free(f->rows.v[i].origin);
	}
	VEC_RELEASE(&f->rows);
}
