/*
 * Changes to a tree after it was read: merging, --set, values from tables; and the spelling helper.
 */
#include "cfg_build.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define MEAN_MAX 64 /* longer words are not compared */

static struct cfg_node *node_copy(struct pool *p, const struct cfg_node *from)
{
	struct cfg_node *n = pool_alloc(p, sizeof(*n));

	*n = *from;
	n->file = pool_strdup(p, from->file);
	n->key = from->key ? pool_strdup(p, from->key) : NULL;
	n->s = from->s ? pool_strdup(p, from->s) : NULL;
	n->child = NULL;
	n->nr = n->cap = 0;
	for (size_t i = 0; i < from->nr; i++)
		cfg_append(p, n, node_copy(p, from->child[i]));
	return n;
}

/* Moves the content of over into base's slot; the slot keeps its key. */
static void node_replace(struct cfg_node *base, const struct cfg_node *over)
{
	const char *key = base->key;

	*base = *over;
	base->key = key;
}

static void merge_maps(struct pool *p, struct cfg_node *base, const struct cfg_node *over)
{
	for (size_t i = 0; i < over->nr; i++) {
		const struct cfg_node *from = over->child[i];
		struct cfg_node *to = cfg_get(base, from->key);

		if (!to)
			cfg_append(p, base, node_copy(p, from));
		else if (to->kind == CFG_MAP && from->kind == CFG_MAP)
			merge_maps(p, to, from);
		else
			node_replace(to, node_copy(p, from));
	}
}

void cfg_merge(struct cfg *base, const struct cfg *over)
{
	if (!base->root) {
		base->root = node_copy(&base->pool, over->root);
		return;
	}
	merge_maps(&base->pool, base->root, over->root);
}

static struct cfg_node *node_fresh(struct cfg *c, enum cfg_kind kind, const char *text,
				   const char *file, enum cfg_layer layer)
{
	struct cfg_node *n = pool_alloc(&c->pool, sizeof(*n));

	if (text)
		cfg_build_plain(n, pool_strdup(&c->pool, text));
	n->kind = kind;
	n->file = pool_strdup(&c->pool, file);
	n->layer = layer;
	return n;
}

struct cfg_node *cfg_put(struct cfg *c, struct cfg_node *map, const char *key, enum cfg_kind kind,
			 const char *text, const char *file, enum cfg_layer layer)
{
	struct cfg_node *n = node_fresh(c, kind, text, file, layer);
	struct cfg_node *old = cfg_get(map, key);

	if (old) {
		node_replace(old, n);
		return old;
	}
	n->key = pool_strdup(&c->pool, key);
	cfg_append(&c->pool, map, n);
	return n;
}

struct cfg_node *cfg_add(struct cfg *c, struct cfg_node *seq, enum cfg_kind kind, const char *text,
			 const char *file, enum cfg_layer layer)
{
	struct cfg_node *n = node_fresh(c, kind, text, file, layer);

	cfg_append(&c->pool, seq, n);
	return n;
}

/*
 * One piece of a path: "name" or "[3]". next_piece returns the rest of the path, NULL when the
 * piece is malformed.
 */
struct piece {
	const char *name;
	size_t len;
	uint64_t index;
	bool is_index;
};

static const char *next_piece(const char *path, bool first, struct piece *ret)
{
	size_t n;

	*ret = (struct piece){ 0 };
	if (*path == '[') {
		n = strcspn(path + 1, "]");
		if (path[1 + n] != ']' || num_u64(path + 1, n, &ret->index) < 0)
			return NULL;
		ret->is_index = true;
		return path + n + 2;
	}
	if (!first && *path++ != '.')
		return NULL;
	n = strcspn(path, ".[");
	if (!n)
		return NULL;
	ret->name = path;
	ret->len = n;
	return path + n;
}

static struct cfg_node *step_into(const struct cfg_node *n, const struct piece *p)
{
	if (p->is_index)
		return n->kind == CFG_SEQ && p->index < n->nr ? n->child[p->index] : NULL;
	if (n->kind != CFG_MAP)
		return NULL;
	for (size_t i = 0; i < n->nr; i++)
		if (strlen(n->child[i]->key) == p->len &&
		    !memcmp(n->child[i]->key, p->name, p->len))
			return n->child[i];
	return NULL;
}

struct cfg_node *cfg_path(const struct cfg_node *root, const char *path)
{
	const struct cfg_node *n = root;
	struct piece p;

	for (bool first = true; n && *path; first = false) {
		path = next_piece(path, first, &p);
		if (!path)
			return NULL;
		n = step_into(n, &p);
	}
	return (struct cfg_node *)n;
}

/* The child that p names, made when it is missing. A value that is no map or list is replaced. */
static struct cfg_node *make_child(struct cfg *c, struct cfg_node *n, const struct piece *p,
				   const struct cfg_node *value, struct err *err)
{
	enum cfg_kind want = p->is_index ? CFG_SEQ : CFG_MAP;
	struct cfg_node *kid;

	if (n->kind == CFG_NULL) {
		n->kind = want;
		n->file = pool_strdup(&c->pool, value->file);
		n->line = value->line;
		n->layer = value->layer;
	}
	if (n->kind != want) {
		err_set(err, EINVAL, "%s is %s", n->key ? n->key : "the value before it",
			n->kind == CFG_SEQ   ? "a list: write [N]"
			: n->kind == CFG_MAP ? "a map: write .NAME"
					     : "a single value");
		return NULL;
	}
	kid = step_into(n, p);
	if (kid)
		return kid;
	if (!p->is_index) {
		CLEANUP(xfreep) char *key = xstrndup(p->name, p->len);

		if (n->nr < CFG_MAX_KEYS)
			return cfg_put(c, n, key, CFG_NULL, NULL, value->file, value->layer);
		err_set(err, E2BIG, "too many keys");
		return NULL;
	}
	if (p->index == n->nr)
		return cfg_add(c, n, CFG_NULL, NULL, value->file, value->layer);
	err_set(err, EINVAL, "index %llu, but the list has %zu %s", (unsigned long long)p->index,
		n->nr, n->nr == 1 ? "entry" : "entries");
	return NULL;
}

static int parse_value(const char *text, struct cfg *ret, struct err *err)
{
	struct cfg_build b;
	int r;

	cfg_build_init(&b, ret, "--set", LAYER_CLI);
	if (strlen(text) > CFG_MAX_BYTES)
		return err_set(err, EFBIG, "too long");
	r = cfg_parse_yaml(&b, text, strlen(text), err);
	if (r == 0 && ret->problems.lines.nr)
		r = err_set(err, EINVAL, "%s", ret->problems.lines.v[0]);
	if (r == 0 && !ret->root)
		ret->root = node_fresh(ret, CFG_NULL, NULL, "--set", LAYER_CLI);
	return r;
}

static void drop_lines(struct cfg_node *n)
{
	n->line = 0;
	for (size_t i = 0; i < n->nr; i++)
		drop_lines(n->child[i]);
}

static int set_path(struct cfg *c, const char *path, const struct cfg_node *value, struct err *err)
{
	struct cfg_node *n = c->root;
	struct piece p;
	size_t depth = 0;

	do {
		path = next_piece(path, depth == 0, &p);
		if (!path || ++depth > CFG_MAX_DEPTH)
			return err_set(err, EINVAL, "want a path like a.b[0].c");
		n = make_child(c, n, &p, value, err);
		if (!n)
			return -EINVAL;
	} while (*path);
	node_replace(n, node_copy(&c->pool, value));
	return 0;
}

int cfg_assign(struct cfg *c, const char *path, const struct cfg_node *value, struct err *err)
{
	int r = set_path(c, path, value, err);

	return r < 0 ? err_wrap(err, r, "'%.200s'", path) : 0;
}

int cfg_set(struct cfg *c, const char *assignment, struct err *err)
{
	const char *eq = strchr(assignment, '=');
	struct cfg value;
	int r;

	if (!eq || eq == assignment)
		return err_set(err, EINVAL, "--set '%s': want KEY=VALUE", assignment);
	cfg_init(&value);
	r = parse_value(eq + 1, &value, err);
	if (r == 0) {
		CLEANUP(xfreep) char *path = xstrndup(assignment, (size_t)(eq - assignment));

		drop_lines(value.root);
		r = set_path(c, path, value.root, err);
	}
	if (r < 0)
		/* The value may be a secret: only the key is repeated. */
		err_wrap(err, r, "--set %.*s", (int)(eq - assignment), assignment);
	cfg_release(&value);
	return r;
}

/*
 * Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. Case does
 * not count. Damerau, "A technique for computer detection and correction of spelling errors", CACM
 * 7 (1964).
 */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][MEAN_MAX + 1];
	size_t *before = rows[0], *prev = rows[1], *cur = rows[2];

	for (size_t j = 0; j <= nb; j++)
		prev[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;
		int ca = tolower((unsigned char)a[i - 1]);

		cur[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			int cb = tolower((unsigned char)b[j - 1]);
			size_t best = prev[j - 1] + (ca != cb);

			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			cur[j] = best;
		}
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[nb];
}

/* The longest candidate that begins the word: timeout for timeout_multiplier. */
static const char *candidate_beginning(const char *word, const char *const *candidates)
{
	const char *found = NULL;

	for (; *candidates; candidates++) {
		size_t len = strlen(*candidates);

		if (strncmp(word, *candidates, len) == 0 &&
		    (word[len] == '_' || word[len] == '-') && len > (found ? strlen(found) : 3))
			found = *candidates;
	}
	return found;
}

const char *cfg_did_you_mean(const char *word, const char *const *candidates)
{
	size_t n = strlen(word), best = n <= 3 ? 1 : n <= 8 ? 2 : 3;
	const char *found = NULL, *start = candidate_beginning(word, candidates);

	if (n > MEAN_MAX)
		return NULL;
	for (; *candidates; candidates++) {
		size_t len = strlen(*candidates), d;

		if (len > MEAN_MAX)
			continue;
		d = edit_distance(word, n, *candidates, len);
		/* With as many changes as letters, any word of that length would match. */
		if (d >= len || d > best || (found && d == best))
			continue;
		best = d;
		found = *candidates;
	}
	return found ? found : start;
}

char *cfg_hint(const char *word, const char *const *candidates, const char *otherwise)
{
	const char *near = cfg_did_you_mean(word, candidates);

	return near ? xasprintf("; did you mean '%s'?", near) : xstrdup(otherwise);
}
