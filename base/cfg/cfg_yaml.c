/*
 * YAML through libyaml's events. Features that a configuration does not need are refused with their
 * line: tags, several documents, keys that are no scalars, merge keys. An alias is a copy of its
 * anchor's value. The copies count against the limit of values, so that a few lines cannot grow
 * into gigabytes. An anchor is known only when its value is complete, so none contains itself.
 */
#include "cfg_build.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define MAX_ANCHORS 1000 /* each alias searches all of them */

struct frame {
	struct cfg_node *node;
	const char *key; /* of the next value; NULL: a key comes next */
	const char *anchor;
	int key_line;
};

struct anchor {
	const char *name;
	const struct cfg_node *node;
};

struct yaml_state {
	struct cfg_build *b;
	yaml_parser_t parser;
	struct frame stack[CFG_MAX_DEPTH];
	size_t depth;
	VEC(struct anchor) anchors;
	bool ended;
};

static int line_of(const yaml_event_t *ev)
{
	return (int)ev->start_mark.line + 1;
}

static int at_line(struct yaml_state *st, const yaml_event_t *ev, struct err *err, const char *what)
{
	return err_set(err, EINVAL, "%s:%d: %s", st->b->file, line_of(ev), what);
}

static int parser_error(struct yaml_state *st, struct err *err)
{
	const yaml_parser_t *p = &st->parser;
	size_t line = p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		xalloc_failed();
	if (p->error == YAML_READER_ERROR)
		return err_set(err, EINVAL, "%s: no UTF-8 text (byte %zu): %s", st->b->file,
			       p->problem_offset, p->problem);
	/* The usual mistakes; libyaml does not name the character. */
	if (strstr(p->problem, "cannot start any token"))
		return err_set(
			err, EINVAL,
			"%s:%zu: a tab, which cannot indent, or a text that begins with '@', "
			"'`' or '%%' and needs quotes",
			st->b->file, line);
	if (p->context)
		return err_set(err, EINVAL, "%s:%zu: %s (%s that begins at line %zu)", st->b->file,
			       line, p->problem, p->context, p->context_mark.line + 1);
	return err_set(err, EINVAL, "%s:%zu: %s", st->b->file, line, p->problem);
}

/* Hands a finished or opened value to its map, list or document. */
static int node_place(struct yaml_state *st, struct cfg_node *n, struct err *err)
{
	struct frame *f = st->depth ? &st->stack[st->depth - 1] : NULL;
	const char *key;

	if (!f) {
		st->b->c->root = n;
		return 0;
	}
	if (f->node->kind != CFG_MAP)
		return cfg_build_attach(st->b, f->node, NULL, n, err);
	key = STEAL(f->key);
	/* Messages give the line of the key, not the line where a folded value begins. */
	n->line = f->key_line;
	return cfg_build_attach(st->b, f->node, key, n, err);
}

static bool wants_key(const struct yaml_state *st)
{
	const struct frame *f = st->depth ? &st->stack[st->depth - 1] : NULL;

	return f && f->node->kind == CFG_MAP && !f->key;
}

static int note_anchor(struct yaml_state *st, const char *name, const struct cfg_node *n,
		       struct err *err)
{
	if (!name)
		return 0;
	if (st->anchors.nr == MAX_ANCHORS)
		return err_set(err, E2BIG, "%s:%d: more than %d anchors", st->b->file, n->line,
			       MAX_ANCHORS);
	VEC_PUSH(&st->anchors, ((struct anchor){ name, n }));
	return 0;
}

static const char *text_keep(struct yaml_state *st, const yaml_char_t *s)
{
	return s ? pool_strdup(&st->b->c->pool, (const char *)s) : NULL;
}

/* The word is not repeated here or for an alias: it may be a secret without its quotes. */
static void check_tag(struct yaml_state *st, const yaml_char_t *tag, const struct cfg_node *n)
{
	if (tag)
		cfg_problem(&st->b->c->problems, n,
			    "a tag, which has no meaning here (a text that begins with '!' needs "
			    "quotes)");
}

static int take_key(struct yaml_state *st, const yaml_event_t *ev, const char *text,
		    struct err *err)
{
	struct frame *f = &st->stack[st->depth - 1];

	if (!strcmp(text, "<<") && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return at_line(st, ev, err, "merge keys ('<<') are not supported");
	if (!*text)
		return at_line(st, ev, err, "an empty key");
	if (ev->data.scalar.anchor)
		return at_line(st, ev, err, "an anchor at a key");
	f->key = text;
	f->key_line = line_of(ev);
	return 0;
}

static int on_scalar(struct yaml_state *st, const yaml_event_t *ev, struct err *err)
{
	const char *value = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	char *text = pool_strndup(&st->b->c->pool, value, len);
	struct cfg_node *n;
	int r;

	if (strlen(text) != len)
		return at_line(st, ev, err, "a NUL byte in a string");
	if (wants_key(st))
		return take_key(st, ev, text, err);
	n = cfg_build_node(st->b, CFG_STR, line_of(ev), err);
	if (!n)
		return -E2BIG;
	n->s = text;
	if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		cfg_build_plain(n, text);
	check_tag(st, ev->data.scalar.tag, n);
	r = note_anchor(st, text_keep(st, ev->data.scalar.anchor), n, err);
	return r < 0 ? r : node_place(st, n, err);
}

static int on_open(struct yaml_state *st, const yaml_event_t *ev, struct err *err)
{
	bool map = ev->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *tag = map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;
	const yaml_char_t *anchor =
		map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor;
	struct cfg_node *n;
	int r;

	if (wants_key(st))
		return at_line(st, ev, err, "a key must be a plain word");
	if (st->depth == CFG_MAX_DEPTH)
		return at_line(st, ev, err, "nested too deeply");
	n = cfg_build_node(st->b, map ? CFG_MAP : CFG_SEQ, line_of(ev), err);
	if (!n)
		return -E2BIG;
	check_tag(st, tag, n);
	r = node_place(st, n, err);
	if (r < 0)
		return r;
	st->stack[st->depth++] = (struct frame){ .node = n, .anchor = text_keep(st, anchor) };
	return 0;
}

static struct cfg_node *copy_tree(struct yaml_state *st, const struct cfg_node *from, size_t depth,
				  const yaml_event_t *ev, struct err *err)
{
	struct cfg_node *n;

	if (depth >= CFG_MAX_DEPTH) {
		at_line(st, ev, err, "nested too deeply");
		return NULL;
	}
	n = cfg_build_node(st->b, from->kind, from->line, err);
	if (!n)
		return NULL;
	*n = *from;
	n->child = NULL;
	n->nr = n->cap = 0;
	for (size_t i = 0; i < from->nr; i++) {
		struct cfg_node *kid = copy_tree(st, from->child[i], depth + 1, ev, err);

		if (!kid)
			return NULL;
		cfg_append(&st->b->c->pool, n, kid);
	}
	return n;
}

static int on_alias(struct yaml_state *st, const yaml_event_t *ev, struct err *err)
{
	const char *name = (const char *)ev->data.alias.anchor;

	if (wants_key(st))
		return at_line(st, ev, err, "an alias as a key");
	/* The last anchor of a name counts. */
	for (size_t i = st->anchors.nr; i-- > 0;) {
		struct cfg_node *n;

		if (strcmp(st->anchors.v[i].name, name) != 0)
			continue;
		n = copy_tree(st, st->anchors.v[i].node, st->depth, ev, err);
		if (!n)
			return -EINVAL;
		n->key = NULL; /* the anchor's key; the copy may stand in a list */
		return node_place(st, n, err);
	}
	return at_line(st, ev, err,
		       "an alias that names no anchor before it (a text that begins with '*' needs "
		       "quotes)");
}

static int on_event(struct yaml_state *st, const yaml_event_t *ev, struct err *err)
{
	struct frame *f;

	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (st->b->c->root)
			return at_line(st, ev, err, "a second document");
		return 0;
	case YAML_SCALAR_EVENT:
		return on_scalar(st, ev, err);
	case YAML_ALIAS_EVENT:
		return on_alias(st, ev, err);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return on_open(st, ev, err);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		f = &st->stack[--st->depth];
		return note_anchor(st, f->anchor, f->node, err);
	case YAML_STREAM_END_EVENT:
		st->ended = true;
		return 0;
	default:
		return 0;
	}
}

int cfg_parse_yaml(struct cfg_build *b, const char *text, size_t n, struct err *err)
{
	struct yaml_state st = { .b = b, .anchors = VEC_INIT };
	int r = 0;

	if (!yaml_parser_initialize(&st.parser))
		xalloc_failed();
	yaml_parser_set_input_string(&st.parser, (const unsigned char *)text, n);
	while (r == 0 && !st.ended) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&st.parser, &ev)) {
			r = parser_error(&st, err);
			break;
		}
		r = on_event(&st, &ev, err);
		yaml_event_delete(&ev);
	}
	VEC_RELEASE(&st.anchors);
	yaml_parser_delete(&st.parser);
	return r;
}
