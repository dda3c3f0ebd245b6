#include "schema.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define MAX_SIBLINGS 64

struct check {
	const struct schema_key *table;
	struct problems *p, *unknown;
};

/* The place of the walk: the table's pattern, and the path as users write it. */
struct key_path {
	char pattern[128];
	char shown[256];
};

static bool is_scalar(const struct cfg_node *n)
{
	return n->kind != CFG_MAP && n->kind != CFG_SEQ && n->kind != CFG_NULL;
}

static bool is_type(const struct schema_key *k, const char *type)
{
	return !strcmp(k->type, type);
}

bool schema_env_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

bool schema_model_name(const char *name)
{
	bool odd = strlen(name) > 100;

	for (; *name; name++)
		odd |= iscntrl((unsigned char)*name) != 0;
	return !odd;
}

int schema_shown_len(const char *key)
{
	size_t n = strcspn(key, "=");

	n += key[n] == '=';
	return n < 80 ? (int)n : 80;
}

bool schema_env_reserved(const char *name)
{
	static const char *const ours[] = { "PROFRIG_RUN_ID", "PROFRIG_RUN_DIR", "PROFRIG_OUT",
					    "PROFRIG_TOOL",   "PROFRIG_HOST",    "PROFRIG_MARK",
					    "PROFRIG_RECORD" };

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	return false;
}

bool schema_file_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > 100 || *name == '.' || *name == '-')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	return true;
}

bool schema_choice(const char *choices, const char *word)
{
	return text_in_list(choices, '|', word);
}

int schema_seconds(const struct cfg_node *n, double *ret)
{
	if (n->kind == CFG_INT || n->kind == CFG_FLOAT)
		*ret = n->f;
	else if (n->kind != CFG_STR || num_seconds(n->s, strlen(n->s), ret) < 0)
		return -EINVAL;
	return isfinite(*ret) ? 0 : -EINVAL;
}

const struct schema_key *schema_find(const struct schema_key *table, const char *path)
{
	for (; table->path; table++)
		if (!strcmp(table->path, path))
			return table;
	return NULL;
}

/* The last component of a row directly below pattern, else NULL. */
static const char *child_name(const struct schema_key *k, const char *pattern)
{
	size_t n = strlen(pattern);
	const char *rest = k->path;

	if (n) {
		if (strncmp(rest, pattern, n) != 0 || rest[n] != '.')
			return NULL;
		rest += n + 1;
	}
	return strpbrk(rest, ".[") ? NULL : rest;
}

/* Cut at the end: a longer name is in no table, and its beginning is enough for a message. */
static void append_text(char *buf, size_t size, const char *s)
{
	size_t have = strlen(buf), n = strnlen(s, size - have - 1);

	memcpy(buf + have, s, n);
	buf[have + n] = '\0';
}

static struct key_path key_path_below(const struct key_path *at, const char *key)
{
	CLEANUP(xfreep) char *shown = xstrndup(key, (size_t)schema_shown_len(key));
	struct key_path to = *at;

	append_text(to.pattern, sizeof(to.pattern), *at->pattern ? "." : "");
	append_text(to.pattern, sizeof(to.pattern), key);
	append_text(to.shown, sizeof(to.shown), *at->shown ? "." : "");
	append_text(to.shown, sizeof(to.shown), shown);
	return to;
}

static struct key_path key_path_entry(const struct key_path *at, size_t i)
{
	struct key_path to = *at;
	char index[32];

	snprintf(index, sizeof(index), "[%zu]", i);
	append_text(to.pattern, sizeof(to.pattern), "[]");
	append_text(to.shown, sizeof(to.shown), index);
	return to;
}

/* An entry of a map with free keys. */
static struct key_path key_path_any(const struct key_path *at, const char *key)
{
	struct key_path to = key_path_below(at, key);

	memcpy(to.pattern, at->pattern, sizeof(to.pattern));
	append_text(to.pattern, sizeof(to.pattern), ".*");
	return to;
}

static const char *kind_words(const struct cfg_node *n)
{
	static const char *const words[] = { "nothing", "true or false", "a number", "a number",
					     "a text",  "a list",        "a map" };

	return words[n->kind];
}

static void unknown_key(struct check *ck, const struct cfg_node *n, const struct key_path *at)
{
	const char *names[MAX_SIBLINGS + 1] = { NULL };
	size_t nr = 0;
	CLEANUP(xfreep) char *in = *at->shown ? xasprintf(" in %s", at->shown) : xstrdup("");

	for (const struct schema_key *k = ck->table; k->path && nr < MAX_SIBLINGS; k++)
		if (child_name(k, at->pattern))
			names[nr++] = child_name(k, at->pattern);
	/* JSON has no comments, so users write them as keys */
	if (strncmp(n->key, "_comment", 8) == 0)
		return;
	CLEANUP(xfreep) char *hint = cfg_hint(n->key, names, "");

	cfg_problem(ck->unknown, n, "unknown key '%.80s'%s%s", n->key, in, hint);
}

static void check_range(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			const struct key_path *at, double v)
{
	if (k->min < k->max && !(v >= k->min && v <= k->max))
		cfg_problem(ck->p, n, "%s: %.80s is not between %.15g and %.15g", at->shown, n->s,
			    k->min, k->max);
}

static void check_choice(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			 const struct key_path *at)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *list = NULL;
	CLEANUP(xfreep) char *hint = NULL;

	if (!k->choices || schema_choice(k->choices, n->s))
		return;
	strvec_split(&words, k->choices, "|");
	hint = cfg_hint(n->s, (const char *const *)words.v, "");
	list = strvec_join(&words, ", ");
	cfg_problem(ck->p, n, "%s: unknown '%.80s'%s (one of: %s)", at->shown, n->s, hint, list);
}

static void check_number(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			 const struct key_path *at)
{
	double v = n->f;

	if (is_type(k, "seconds") && schema_seconds(n, &v) < 0)
		cfg_problem(ck->p, n, "%s: want a time such as 10, 1.5, 90s, 5m or 2h, not %.80s",
			    at->shown, n->kind == CFG_STR ? n->s : kind_words(n));
	else if (is_type(k, "int") && n->kind != CFG_INT)
		cfg_problem(ck->p, n, "%s: want a whole number, not %s", at->shown, kind_words(n));
	else if (is_type(k, "float") && n->kind != CFG_INT && n->kind != CFG_FLOAT)
		cfg_problem(ck->p, n, "%s: want a number, not %s", at->shown, kind_words(n));
	else if (!isfinite(v))
		cfg_problem(ck->p, n, "%s: want a finite number", at->shown);
	else
		check_range(ck, k, n, at, v);
}

static void check_scalar(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			 const struct key_path *at)
{
	if (is_type(k, "string") || is_type(k, "path")) {
		/* An unquoted true is hardly meant as a name. */
		if (!is_scalar(n) || n->kind == CFG_BOOL)
			cfg_problem(ck->p, n, "%s: want a text, not %s%s", at->shown, kind_words(n),
				    n->kind == CFG_BOOL ? " (put it in quotes)" : "");
		else if (!*n->s)
			cfg_problem(ck->p, n, "%s: is empty", at->shown);
		else
			check_choice(ck, k, n, at);
	} else if (is_type(k, "scalar")) {
		if (!is_scalar(n))
			cfg_problem(ck->p, n, "%s: want a single value, not %s", at->shown,
				    kind_words(n));
	} else if (is_type(k, "bool")) {
		if (n->kind != CFG_BOOL)
			cfg_problem(ck->p, n, "%s: want true or false, not %s", at->shown,
				    kind_words(n));
	} else {
		check_number(ck, k, n, at);
	}
}

/* In a map with free keys, null removes a value of a lower layer. */
static bool takes_back(const struct cfg_node *n)
{
	return n->kind == CFG_NULL && n->layer >= LAYER_FILE;
}

static void check_strings(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			  const struct key_path *at)
{
	bool map = is_type(k, "map of strings");

	if (n->kind != (map ? CFG_MAP : CFG_SEQ)) {
		const char *more = "";

		if (!map && is_scalar(n))
			more = ": write [word, word]";
		cfg_problem(ck->p, n, "%s: want a %s, not %s%s", at->shown,
			    map ? "map" : "list of words", kind_words(n), more);
		return;
	}
	for (size_t i = 0; i < n->nr; i++) {
		struct key_path to =
			map ? key_path_below(at, n->child[i]->key) : key_path_entry(at, i);

		/* Values are left out of messages: they may be secrets. */
		if (map && takes_back(n->child[i]))
			continue;
		if (n->child[i]->kind == CFG_NULL)
			cfg_problem(ck->p, n->child[i],
				    "%s: has no value (write '' for an empty one)", to.shown);
		else if (!is_scalar(n->child[i]))
			cfg_problem(ck->p, n->child[i], "%s: want a text, not %s", to.shown,
				    kind_words(n->child[i]));
	}
}

static void check_map(struct check *ck, const struct cfg_node *n, const struct key_path *at);

static void check_maps(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
		       const struct key_path *at)
{
	bool map = is_type(k, "map of maps");

	if (n->kind != (map ? CFG_MAP : CFG_SEQ)) {
		cfg_problem(ck->p, n, "%s: want a %s, not %s", at->shown, map ? "map" : "list",
			    kind_words(n));
		return;
	}
	for (size_t i = 0; i < n->nr; i++) {
		struct key_path to =
			map ? key_path_any(at, n->child[i]->key) : key_path_entry(at, i);

		if (n->child[i]->kind == CFG_MAP)
			check_map(ck, n->child[i], &to);
		else if (!map || !takes_back(n->child[i]))
			cfg_problem(ck->p, n->child[i], "%s: want a map, not %s", to.shown,
				    kind_words(n->child[i]));
	}
}

/* A value in place of a map: as its member. */
static void check_short(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			const struct key_path *at)
{
	struct key_path to = key_path_below(at, k->shorthand);
	const struct schema_key *member = schema_find(ck->table, to.pattern);

	assert(member);
	check_scalar(ck, member, n, at);
}

static void check_value(struct check *ck, const struct schema_key *k, const struct cfg_node *n,
			const struct key_path *at)
{
	if (n->kind == CFG_NULL || is_type(k, "any"))
		return;
	if (is_type(k, "words") && is_scalar(n) && n->kind != CFG_BOOL)
		return;
	if (is_type(k, "words") && n->kind != CFG_SEQ) {
		cfg_problem(ck->p, n, "%s: want a list of words, or one text with commas, not %s",
			    at->shown, kind_words(n));
	} else if (is_type(k, "map")) {
		if (n->kind == CFG_MAP)
			check_map(ck, n, at);
		else if (k->shorthand && is_scalar(n))
			check_short(ck, k, n, at);
		else
			cfg_problem(ck->p, n, "%s: want a map, not %s", at->shown, kind_words(n));
	} else if (is_type(k, "map of strings") || is_type(k, "list of strings") ||
		   is_type(k, "words")) {
		check_strings(ck, k, n, at);
	} else if (is_type(k, "map of maps") || is_type(k, "list of maps")) {
		check_maps(ck, k, n, at);
	} else {
		check_scalar(ck, k, n, at);
	}
}

static void check_map(struct check *ck, const struct cfg_node *n, const struct key_path *at)
{
	for (size_t i = 0; i < n->nr; i++) {
		struct key_path to = key_path_below(at, n->child[i]->key);
		const struct schema_key *k = schema_find(ck->table, to.pattern);

		/* "a.b" as one key would look like a path. */
		if (k && !strpbrk(n->child[i]->key, ".[*"))
			check_value(ck, k, n->child[i], &to);
		else
			unknown_key(ck, n->child[i], at);
	}
	for (const struct schema_key *k = ck->table; k->path; k++) {
		const char *name = k->required ? child_name(k, at->pattern) : NULL;
		const struct cfg_node *kid = name ? cfg_get(n, name) : NULL;

		if (name && (!kid || kid->kind == CFG_NULL))
			cfg_problem(ck->p, n, "%s%s'%s' is missing", at->shown,
				    *at->shown ? ": " : "", name);
	}
}

void schema_check_keys(const struct cfg_node *root, const struct schema_key *table,
		       struct problems *p, struct problems *unknown)
{
	struct check ck = { .table = table, .p = p, .unknown = unknown };
	struct key_path at = { "", "" };

	check_map(&ck, root, &at);
}

void schema_check(const struct cfg_node *root, const struct schema_key *table, struct problems *p)
{
	schema_check_keys(root, table, p, p);
}

void schema_expand(struct cfg *c, const struct schema_key *table)
{
	for (const struct schema_key *k = table; k->path; k++) {
		struct cfg_node *list = k->shorthand ? cfg_get(c->root, k->path) : NULL;

		for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++) {
			struct cfg_node *was = list->child[i], *map, *kid;

			if (!is_scalar(was))
				continue;
			map = pool_alloc(&c->pool, sizeof(*map));
			*map = *was;
			map->kind = CFG_MAP;
			map->s = NULL;
			list->child[i] = map;
			kid = cfg_put(c, map, k->shorthand, was->kind, was->s, was->file,
				      was->layer);
			kid->line = was->line;
		}
	}
}

static void drop_unknown(const struct schema_key *table, struct cfg_node *n,
			 const struct key_path *at);

static void drop_below(const struct schema_key *table, const struct schema_key *k,
		       struct cfg_node *n, const struct key_path *at)
{
	bool free_keys = is_type(k, "map of strings") || is_type(k, "map of maps");
	size_t nr = 0;

	if (is_type(k, "map"))
		drop_unknown(table, n, at);
	for (size_t i = 0; free_keys && n->kind == CFG_MAP && i < n->nr; i++)
		if (!takes_back(n->child[i]))
			n->child[nr++] = n->child[i];
	if (free_keys && n->kind == CFG_MAP)
		n->nr = nr;
	for (size_t i = 0; i < n->nr; i++) {
		struct key_path to;

		if (is_type(k, "map of maps") && n->kind == CFG_MAP)
			to = key_path_any(at, n->child[i]->key);
		else if (is_type(k, "list of maps") && n->kind == CFG_SEQ)
			to = key_path_entry(at, i);
		else
			break;
		drop_unknown(table, n->child[i], &to);
	}
}

static void drop_unknown(const struct schema_key *table, struct cfg_node *n,
			 const struct key_path *at)
{
	CFG_EACH(kid, n, CFG_MAP) {
		struct key_path to = key_path_below(at, kid->key);
		const struct schema_key *k = schema_find(table, to.pattern);

		if (k)
			drop_below(table, k, kid, &to);
	}
}

void schema_drop_nulls(struct cfg *c, const struct schema_key *table)
{
	struct key_path at = { "", "" };

	drop_unknown(table, c->root, &at);
}

void schema_defaults(struct cfg *c, const struct schema_key *table)
{
	for (const struct schema_key *k = table; k->path; k++) {
		CLEANUP(xfreep) char *path = xstrdup(k->path);
		char *dot = strrchr(path, '.');
		struct cfg_node *map = c->root, *kid;

		if (!k->def || strpbrk(path, "[*"))
			continue;
		if (dot) {
			*dot = '\0';
			map = cfg_path(c->root, path);
			if (!map || map->kind == CFG_NULL)
				map = cfg_put(c, c->root, path, CFG_MAP, NULL, "built-in",
					      LAYER_BUILTIN);
		}
		kid = cfg_get(map, dot ? dot + 1 : path);
		if (map->kind != CFG_MAP || (kid && kid->kind != CFG_NULL))
			continue;
		cfg_put(c, map, dot ? dot + 1 : path,
			is_type(k, "bool")     ? CFG_BOOL
			: is_type(k, "string") ? CFG_STR
			: strchr(k->def, '.')  ? CFG_FLOAT
					       : CFG_INT,
			k->def, "built-in", LAYER_BUILTIN);
	}
}
