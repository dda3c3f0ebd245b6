/* The configuration of one cell: the file's keys, the model, variables, `when`, the axes. */
#include "campaign_file.h"

#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define VAR "{var."

struct making {
	const struct campaign_file *f;
	const struct matrix_cell *cell;
	struct cfg *to;
	struct cfg vars; /* with those of axes */
	struct problems *p;
};

static const struct cfg_node *cell_value(const struct matrix_cell *c, const char *path)
{
	for (size_t i = 0; i < c->sets.nr; i++)
		if (!strcmp(c->sets.v[i].path, path))
			return c->sets.v[i].value;
	return NULL;
}

/* ---- variables ---- */

static const char *var_value(const struct making *mk, const char *name)
{
	return cfg_text(mk->vars.root, name);
}

/* False: there is none in it. */
static bool text_expand(struct making *mk, const struct cfg_node *at, const char *text,
			struct strbuf *to)
{
	const char *begin, *from = text;

	while ((begin = strstr(from, VAR))) {
		const char *name = begin + strlen(VAR), *end = strchr(name, '}');
		CLEANUP(xfreep) char *word = NULL;
		const char *value;

		if (!end)
			break;
		word = xstrndup(name, (size_t)(end - name));
		value = var_value(mk, word);
		if (!value)
			cfg_problem(mk->p, at, "{var.%.80s}: no such entry of 'vars'", word);
		strbuf_add(to, from, (size_t)(begin - from));
		strbuf_addstr(to, value ? value : "");
		from = end + 1;
		if (to->len > CAMPAIGN_TEXT_MAX) {
			cfg_problem(mk->p, at, "more than %zu bytes, with its variables",
				    CAMPAIGN_TEXT_MAX);
			break;
		}
	}
	strbuf_addstr(to, from);
	return from != text;
}

static void vars_expand(struct making *mk, struct cfg_node *n)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < n->nr; i++)
		vars_expand(mk, n->child[i]);
	if (n->kind == CFG_STR && text_expand(mk, n, n->s, &text))
		n->s = pool_strdup(&mk->to->pool, text.buf);
}

/* ---- when ---- */

/* Whether the cell has one of the values of each key. */
static bool when_holds(struct making *mk, const struct cfg_node *when)
{
	if (when->kind != CFG_MAP) {
		cfg_problem(mk->p, when, "'when' wants a map of axes and values");
		return true;
	}
	CFG_EACH(want, when, CFG_MAP) {
		const struct cfg_node *have = cell_value(mk->cell, want->key);
		bool one = false;

		if (!have)
			cfg_problem(mk->p, want,
				    "'when' names '%.80s', which is no axis of this cell",
				    want->key);
		else if (matrix_same(want, have))
			one = true;
		else
			CFG_EACH(value, want, CFG_SEQ)
				one |= matrix_same(value, have);
		if (!one)
			return false;
	}
	return true;
}

static void child_drop(struct cfg_node *n, size_t at)
{
	memmove(n->child + at, n->child + at + 1, (n->nr - at - 1) * sizeof(*n->child));
	n->nr--;
}

static size_t key_place(const struct cfg_node *n, const char *key)
{
	for (size_t i = 0; n->kind == CFG_MAP && i < n->nr; i++)
		if (!strcmp(n->child[i]->key, key))
			return i;
	return SIZE_MAX;
}

/* {value: X} stands for X, once its `when` is gone. */
static void value_lift(struct cfg_node *n)
{
	const char *key = n->key;

	if (n->nr == 1 && !strcmp(n->child[0]->key, "value")) {
		*n = *n->child[0];
		n->key = key;
	}
}

static void when_apply(struct making *mk, struct cfg_node *n)
{
	for (size_t i = 0; i < n->nr;) {
		struct cfg_node *kid = n->child[i];
		size_t at = key_place(kid, "when");

		if (at != SIZE_MAX && !when_holds(mk, kid->child[at])) {
			child_drop(n, i);
			continue;
		}
		if (at != SIZE_MAX) {
			child_drop(kid, at);
			value_lift(kid);
		}
		when_apply(mk, kid);
		i++;
	}
}

/* ---- all ---- */

static void axes_put(struct making *mk)
{
	struct err why = ERR_INIT;

	for (size_t i = 0; i < mk->cell->sets.nr; i++) {
		const struct matrix_set *s = &mk->cell->sets.v[i];
		bool var = !strncmp(s->path, "vars.", 5);
		int r = cfg_assign(var ? &mk->vars : mk->to, var ? s->path + 5 : s->path, s->value,
				   &why);

		if (r < 0)
			cfg_problem(mk->p, s->value, "axis %s", why.msg);
	}
}

void campaign_cell_config(const struct campaign_file *f, const struct campaign_model_entry *m,
			  const struct matrix_cell *cell, struct cfg *ret, struct problems *p)
{
	const struct cfg_node *vars = cfg_get(f->tree.root, "vars");
	struct making mk = { .f = f, .cell = cell, .to = ret, .p = p };

	cfg_init(ret);
	cfg_merge(ret, &f->run);
	cfg_init(&mk.vars);
	cfg_parse_text(&mk.vars, "", 0, f->path, false, LAYER_FILE, NULL);
	CFG_EACH(n, vars, CFG_MAP)
		cfg_assign(&mk.vars, n->key, n, NULL);
	CFG_EACH(n, m->recorded.tree ? NULL : m->node, CFG_MAP) {
		CLEANUP(xfreep) char *path = xasprintf("model.%s", n->key);

		cfg_assign(ret, path, n, NULL);
	}
	axes_put(&mk);
	when_apply(&mk, ret->root);
	vars_expand(&mk, ret->root);
	cfg_release(&mk.vars);
}
