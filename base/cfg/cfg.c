#include "profrig/base/cfg.h"
#include "cfg_build.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define MAX_PROBLEMS 200

void cfg_init(struct cfg *c)
{
	*c = (struct cfg){ .pool = POOL_INIT, .problems = PROBLEMS_INIT };
}

void cfg_release(struct cfg *c)
{
	pool_release(&c->pool);
	problems_release(&c->problems);
	c->root = NULL;
}

void problems_release(struct problems *p)
{
	strvec_release(&p->lines);
}

char *cfg_where(const struct cfg_node *n)
{
	if (n->line > 0)
		return xasprintf("%s:%d", n->file, n->line);
	return xstrdup(n->file);
}

void cfg_problem(struct problems *p, const struct cfg_node *at, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list ap;

	if (p->lines.nr > MAX_PROBLEMS)
		return;
	if (p->lines.nr == MAX_PROBLEMS) {
		strvec_push(&p->lines, "there are more problems than these");
		return;
	}
	if (at) {
		CLEANUP(xfreep) char *where = cfg_where(at);

		strbuf_addf(&sb, "%s: ", where);
	}
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (!strvec_has(&p->lines, sb.buf))
		strvec_push(&p->lines, sb.buf);
}

void cfg_append(struct pool *p, struct cfg_node *parent, struct cfg_node *child)
{
	if (parent->nr == parent->cap) {
		size_t cap = parent->cap ? parent->cap * 2 : 4;
		struct cfg_node **v = pool_alloc(p, cap * sizeof(*v));

		if (parent->nr)
			memcpy(v, parent->child, parent->nr * sizeof(*v));
		parent->child = v;
		parent->cap = cap;
	}
	parent->child[parent->nr++] = child;
}

struct cfg_node *cfg_get(const struct cfg_node *map, const char *key)
{
	if (!map || map->kind != CFG_MAP)
		return NULL;
	for (size_t i = 0; i < map->nr; i++)
		if (!strcmp(map->child[i]->key, key))
			return map->child[i];
	return NULL;
}

const char *cfg_text(const struct cfg_node *map, const char *key)
{
	const struct cfg_node *n = cfg_get(map, key);

	return n && n->kind != CFG_NULL && n->kind != CFG_MAP && n->kind != CFG_SEQ ? n->s : NULL;
}

void cfg_words(const struct cfg_node *map, const char *key, struct strvec *to)
{
	const struct cfg_node *list = cfg_get(map, key);

	for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++)
		if (list->child[i]->s)
			strvec_push(to, list->child[i]->s);
}

void cfg_build_init(struct cfg_build *b, struct cfg *c, const char *name, enum cfg_layer layer)
{
	*b = (struct cfg_build){ .c = c, .file = pool_strdup(&c->pool, name), .layer = layer };
}

struct cfg_node *cfg_build_node(struct cfg_build *b, enum cfg_kind kind, int line, struct err *err)
{
	struct cfg_node *n;

	if (b->nodes == CFG_MAX_NODES) {
		err_set(err, E2BIG, "%s:%d: more than %d values", b->file, line, CFG_MAX_NODES);
		return NULL;
	}
	b->nodes++;
	n = pool_alloc(&b->c->pool, sizeof(*n));
	n->kind = kind;
	n->layer = b->layer;
	n->file = b->file;
	n->line = line;
	return n;
}

int cfg_build_attach(struct cfg_build *b, struct cfg_node *parent, const char *key,
		     struct cfg_node *n, struct err *err)
{
	const struct cfg_node *twin;

	if (!key) {
		cfg_append(&b->c->pool, parent, n);
		return 0;
	}
	if (parent->nr == CFG_MAX_KEYS)
		return err_set(err, E2BIG, "%s:%d: a map of more than %d keys", b->file, n->line,
			       CFG_MAX_KEYS);
	twin = cfg_get(parent, key);
	if (twin) {
		cfg_problem(&b->c->problems, n, "key '%s' is there already (line %d)", key,
			    twin->line);
		return 0;
	}
	n->key = key;
	cfg_append(&b->c->pool, parent, n);
	return 0;
}

/* A float of the YAML 1.2 core schema: the number parser alone would also take "nan" and
 * "infinity". */
static bool looks_float(const char *s)
{
	size_t whole, frac = 0;

	s += *s == '+' || *s == '-';
	if (!strcasecmp(s, ".inf"))
		return true;
	whole = strspn(s, "0123456789");
	s += whole;
	if (*s == '.') {
		frac = strspn(s + 1, "0123456789");
		s += 1 + frac;
	}
	if (whole + frac == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		size_t digits;

		s++;
		s += *s == '+' || *s == '-';
		digits = strspn(s, "0123456789");
		if (!digits)
			return false;
		s += digits;
	}
	return !*s;
}

static bool plain_number(struct cfg_node *n, const char *s)
{
	const char *digits = s + (*s == '+' || *s == '-');
	const char *start = *s == '+' ? s + 1 : s;
	size_t len = strlen(start);
	double f;

	if (*digits && strspn(digits, "0123456789") == strlen(digits) &&
	    num_i64(start, len, &n->i) == 0) {
		n->kind = CFG_INT;
		n->f = (double)n->i;
		return true;
	}
	if (!strcasecmp(s, ".nan"))
		start = "nan", len = 3;
	else if (!looks_float(s))
		return false;
	else if (!strcasecmp(digits, ".inf"))
		start = *s == '-' ? "-inf" : "inf", len = strlen(start);
	if (num_f64(start, len, &f) < 0)
		return false;
	n->kind = CFG_FLOAT;
	n->f = f;
	return true;
}

void cfg_build_plain(struct cfg_node *n, const char *text)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	static const char *const bools[] = { "true", "True", "TRUE", "false", "False", "FALSE" };

	n->s = text;
	for (size_t i = 0; i < ARRAY_LEN(nulls); i++) {
		if (!strcmp(text, nulls[i])) {
			n->kind = CFG_NULL;
			return;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(bools); i++) {
		if (!strcmp(text, bools[i])) {
			n->kind = CFG_BOOL;
			n->b = i < 3;
			return;
		}
	}
	if (!plain_number(n, text))
		n->kind = CFG_STR;
}

static bool is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
			return false;
	return true;
}

static int cfg_parse(struct cfg *c, const char *text, size_t n, const char *name,
		     enum cfg_syntax syntax, enum cfg_layer layer, struct err *err)
{
	struct cfg_build b;
	int r = 0;

	cfg_build_init(&b, c, name, layer);
	if (n > CFG_MAX_BYTES)
		return err_set(err, EFBIG, "%s: larger than %zu bytes", name, CFG_MAX_BYTES);
	/* Some editors write a byte order mark first. */
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		n -= 3;
	}
	if (!is_blank(text, n)) {
		if (syntax == CFG_JSON)
			r = cfg_parse_json(&b, text, n, err);
		else if (syntax == CFG_PYTHON)
			r = cfg_parse_python(&b, text, n, err);
		else
			r = cfg_parse_yaml(&b, text, n, err);
		if (r < 0)
			return r;
	}
	if (!c->root || c->root->kind == CFG_NULL) {
		c->root = cfg_build_node(&b, CFG_MAP, 1, err);
		return c->root ? 0 : -E2BIG;
	}
	return 0;
}

int cfg_parse_value(struct cfg *c, const char *text, size_t n, const char *name,
		    enum cfg_syntax syntax, enum cfg_layer layer, struct err *err)
{
	int r;

	c->root = NULL;
	r = cfg_parse(c, text, n, name, syntax, layer, err);
	if (r < 0) {
		c->root = NULL;
		return r;
	}
	if (c->problems.lines.nr)
		return err_set(err, EINVAL, "%s", c->problems.lines.v[0]);
	return 0;
}

int cfg_parse_text(struct cfg *c, const char *text, size_t n, const char *name, bool json,
		   enum cfg_layer layer, struct err *err)
{
	int r;

	c->root = NULL;
	r = cfg_parse(c, text, n, name, json ? CFG_JSON : CFG_YAML, layer, err);
	if (r == 0 && c->root->kind != CFG_MAP)
		r = err_set(err, EINVAL, "%s:%d: the file must be a map of keys", name,
			    c->root->line);
	if (r < 0) {
		c->root = NULL;
		return r;
	}
	if (c->problems.lines.nr)
		return err_set(err, EINVAL, "%s", c->problems.lines.v[0]);
	return 0;
}

int cfg_parse_file(struct cfg *c, const char *path, enum cfg_layer layer, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0, len = strlen(path);
	bool json = len > 5 && !strcmp(path + len - 5, ".json");
	int r;

	c->root = NULL;
	if (fs_is_dir(path))
		return err_set(err, EISDIR, "%s: is a directory", path);
	r = fs_read(path, CFG_MAX_BYTES, &text, &n, err);
	if (r < 0)
		return r;
	return cfg_parse_text(c, text, n, path, json, layer, err);
}
