/*
 * JSON. jansson checks the text and gives the values. It keeps members in the order of the text,
 * but no line numbers. A second walk over the text, known to be valid by then, notes line and
 * extent of every key and value in the same order. The tree is made from both together.
 */
#include "cfg_build.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct token {
	size_t at, len; /* the text of a number; set for scalars only */
	int line;
};

struct json_state {
	struct cfg_build *b;
	const char *text;
	VEC(struct token) tokens; /* keys and values in the order of the text */
	size_t next;
};

/* Characters that may stand between values; each ends a number or word. */
static bool is_gap(char c)
{
	switch (c) {
	case ' ':
	case '\t':
	case '\r':
	case '\n':
	case ',':
	case ':':
	case ']':
	case '}':
		return true;
	default:
		return false;
	}
}

static size_t string_end(const char *text, size_t n, size_t at)
{
	for (at++; at < n && text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at + 1;
}

static void tokens_scan(struct json_state *st, size_t n)
{
	const char *t = st->text;
	int line = 1;

	for (size_t i = 0; i < n;) {
		size_t end = i + 1;

		if (t[i] == '\n')
			line++;
		if (is_gap(t[i])) {
			i = end;
			continue;
		}
		if (t[i] == '"')
			end = string_end(t, n, i);
		else if (t[i] != '{' && t[i] != '[')
			while (end < n && !is_gap(t[end]))
				end++;
		VEC_PUSH(&st->tokens, ((struct token){ i, end - i, line }));
		i = end;
	}
}

static struct cfg_node *value_convert(struct json_state *st, json_t *v, size_t depth,
				      struct err *err);

static int members_convert(struct json_state *st, struct cfg_node *n, json_t *v, size_t depth,
			   struct err *err)
{
	const char *key;
	json_t *member;

	json_object_foreach(v, key, member)
	{
		int line = st->tokens.v[st->next++].line;
		struct cfg_node *kid;
		int r;

		if (!*key)
			return err_set(err, EINVAL, "%s:%d: an empty key", st->b->file, line);
		kid = value_convert(st, member, depth, err);
		if (!kid)
			return -EINVAL;
		kid->line = line;
		r = cfg_build_attach(st->b, n, pool_strdup(&st->b->c->pool, key), kid, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int elements_convert(struct json_state *st, struct cfg_node *n, json_t *v, size_t depth,
			    struct err *err)
{
	json_t *element;
	size_t i;

	json_array_foreach(v, i, element)
	{
		struct cfg_node *kid = value_convert(st, element, depth, err);

		if (!kid)
			return -EINVAL;
		cfg_append(&st->b->c->pool, n, kid);
	}
	return 0;
}

static void scalar_convert(struct json_state *st, struct cfg_node *n, json_t *v,
			   const struct token *t)
{
	if (n->kind == CFG_STR) {
		n->s = pool_strdup(&st->b->c->pool, json_string_value(v));
		return;
	}
	n->s = pool_strndup(&st->b->c->pool, st->text + t->at, t->len);
	n->b = json_is_true(v);
	n->i = json_integer_value(v);
	n->f = json_number_value(v);
}

static struct cfg_node *value_convert(struct json_state *st, json_t *v, size_t depth,
				      struct err *err)
{
	static const enum cfg_kind kinds[] = {
		[JSON_OBJECT] = CFG_MAP,  [JSON_ARRAY] = CFG_SEQ,  [JSON_STRING] = CFG_STR,
		[JSON_INTEGER] = CFG_INT, [JSON_REAL] = CFG_FLOAT, [JSON_TRUE] = CFG_BOOL,
		[JSON_FALSE] = CFG_BOOL,  [JSON_NULL] = CFG_NULL,
	};
	const struct token *t = &st->tokens.v[st->next++];
	struct cfg_node *n;
	int r = 0;

	if (depth > CFG_MAX_DEPTH && (json_is_object(v) || json_is_array(v))) {
		err_set(err, EINVAL, "%s:%d: nested too deeply", st->b->file, t->line);
		return NULL;
	}
	n = cfg_build_node(st->b, kinds[json_typeof(v)], t->line, err);
	if (!n)
		return NULL;
	if (n->kind == CFG_MAP)
		r = members_convert(st, n, v, depth + 1, err);
	else if (n->kind == CFG_SEQ)
		r = elements_convert(st, n, v, depth + 1, err);
	else
		scalar_convert(st, n, v, t);
	return r < 0 ? NULL : n;
}

int cfg_parse_json(struct cfg_build *b, const char *text, size_t n, struct err *err)
{
	struct json_state st = { .b = b, .text = text, .tokens = VEC_INIT };
	json_error_t why;
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);

	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s", b->file, why.line, why.text);
	tokens_scan(&st, n);
	b->c->root = value_convert(&st, root, 1, err);
	json_decref(root);
	VEC_RELEASE(&st.tokens);
	return b->c->root ? 0 : -EINVAL;
}
