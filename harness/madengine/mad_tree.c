#include "mad_int.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/shell_words.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

extern char **environ;

void mad_tree_init(struct cfg *c, enum cfg_layer layer)
{
	cfg_init(c);
	cfg_parse_text(c, "", 0, "", false, layer, NULL);
}

void mad_drop_comments(struct cfg_node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->nr; i++) {
		if (n->kind == CFG_MAP &&
		    strncmp(n->child[i]->key, "_comment", strlen("_comment")) == 0)
			continue;
		mad_drop_comments(n->child[i]);
		n->child[kept++] = n->child[i];
	}
	n->nr = kept;
}

static struct cfg_node *node_origin(struct cfg_node *n, const struct cfg_node *from)
{
	n->line = from->line;
	return n;
}

struct cfg_node *mad_put(struct cfg *c, struct cfg_node *map, const char *key, enum cfg_kind kind,
			 const char *text, const struct cfg_node *from)
{
	return node_origin(cfg_put(c, map, key, kind, text, from->file, from->layer), from);
}

struct cfg_node *mad_add(struct cfg *c, struct cfg_node *list, enum cfg_kind kind, const char *text,
			 const struct cfg_node *from)
{
	return node_origin(cfg_add(c, list, kind, text, from->file, from->layer), from);
}

static struct cfg_node *node_container(struct cfg *c, struct cfg_node *map, const char *key,
				       enum cfg_kind kind, const struct cfg_node *from)
{
	struct cfg_node *n = cfg_get(map, key);

	return n && n->kind == kind ? n : mad_put(c, map, key, kind, NULL, from);
}

struct cfg_node *mad_map(struct cfg *c, struct cfg_node *map, const char *key,
			 const struct cfg_node *from)
{
	return node_container(c, map, key, CFG_MAP, from);
}

struct cfg_node *mad_list(struct cfg *c, struct cfg_node *map, const char *key,
			  const struct cfg_node *from)
{
	return node_container(c, map, key, CFG_SEQ, from);
}

void mad_put_text(struct cfg *c, struct cfg_node *map, const char *key, const struct cfg_node *n)
{
	if (n && n->s && n->kind != CFG_NULL)
		mad_put(c, map, key, CFG_STR, n->s, n);
}

void mad_put_words(struct cfg *c, struct cfg_node *map, const char *key, const struct strvec *words,
		   const struct cfg_node *from)
{
	struct cfg_node *list = mad_put(c, map, key, CFG_SEQ, NULL, from);

	for (size_t i = 0; i < words->nr; i++)
		mad_add(c, list, CFG_STR, words->v[i], from);
}

void mad_words(const struct cfg_node *n, struct strvec *to)
{
	if (!n)
		return;
	if (n->kind != CFG_SEQ && n->s && n->kind != CFG_NULL)
		strvec_split(to, n->s, ",");
	CFG_EACH(kid, n, CFG_SEQ)
		if (kid->s)
			strvec_push(to, kid->s);
}

void mad_note(struct strvec *notes, const struct cfg_node *at, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	CLEANUP(xfreep) char *where = at ? cfg_where(at) : NULL;
	va_list ap;

	if (where)
		strbuf_addf(&sb, "%s: ", where);
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (!strvec_has(notes, sb.buf))
		strvec_push(notes, sb.buf);
}

void mad_shell_words(const struct cfg_node *n, const char *what, struct strvec *to,
		     struct problems *p, struct strvec *notes)
{
	struct err err = ERR_INIT;
	char special;

	if (!n || !n->s || n->kind == CFG_NULL)
		return;
	if (shell_words(n->s, to, &err) < 0) {
		cfg_problem(p, n, "%s: %s", what, err.msg);
		return;
	}
	special = shell_words_special(n->s);
	if (special)
		mad_note(notes, n, "%s: '%c' is handed on as it is, no shell reads it", what,
			 special);
}

void mad_env_secrets(struct cfg *ret)
{
	const struct cfg_node from = { .file = "the caller's environment",
				       .layer = ret->root->layer };

	for (char **e = environ; *e; e++) {
		CLEANUP(xfreep) char *name = xstrndup(*e, strcspn(*e, "="));
		struct cfg_node *s;

		if (!strstr(name, "MAD_SECRETS"))
			continue;
		s = mad_map(ret, mad_map(ret, ret->root, "secrets", &from), name, &from);
		mad_put(ret, s, "from_env", CFG_STR, name, &from);
	}
}

int mad_truth(const struct cfg_node *n)
{
	if (n->kind == CFG_BOOL)
		return n->b;
	if (n->kind == CFG_INT && (n->i == 0 || n->i == 1))
		return (int)n->i;
	if (n->kind != CFG_STR)
		return -EINVAL;
	if (!strcasecmp(n->s, "true") || !strcasecmp(n->s, "yes") || !strcasecmp(n->s, "on") ||
	    !strcmp(n->s, "1"))
		return 1;
	if (!strcasecmp(n->s, "false") || !strcasecmp(n->s, "no") || !strcasecmp(n->s, "off") ||
	    !strcmp(n->s, "0"))
		return 0;
	return -EINVAL;
}
