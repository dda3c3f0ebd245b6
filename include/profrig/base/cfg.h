/*
 * cfg: configuration as one tree, from YAML or JSON; every node has its file and line.
 *
 * Files ending in .json are parsed strictly as JSON, everything else as YAML 1.1 core (no tags, no
 * anchors beyond plain aliases; duplicate keys are problems). Scalars: null, true/false, integers,
 * floats, else strings; quoted scalars are always strings. Limits: 4 MiB a file, depth 64, 100 000
 * nodes, 1024 keys a map. A plain scalar keeps its text, so an environment value of 1.10 or 007
 * reaches the workload as written. Nodes live in the pool of their struct cfg; strings are borrowed
 * from it.
 *
 * Problems are collected, not returned one by one: `struct problems` holds "file:line: words"
 * lines, printed together by the command line (exit 3). A line is kept once; after 200 lines a
 * last one states that there are more.
 */
#ifndef PROFRIG_CFG_H
#define PROFRIG_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/pool.h"
#include "profrig/base/strvec.h"

struct problems {
	struct strvec lines;
};
#define PROBLEMS_INIT \
	{ \
		STRVEC_INIT \
	}
void problems_release(struct problems *p);

/* CFG_PYTHON: literals of Python, {'a': [1, None]} (cfg_python.c). */
enum cfg_syntax { CFG_YAML, CFG_JSON, CFG_PYTHON };

enum cfg_kind { CFG_NULL, CFG_BOOL, CFG_INT, CFG_FLOAT, CFG_STR, CFG_SEQ, CFG_MAP };

/* Where a value came from, lowest precedence first. */
enum cfg_layer { LAYER_BUILTIN, LAYER_TOOL, LAYER_MODEL, LAYER_FILE, LAYER_CLI };

struct cfg_node {
	enum cfg_kind kind;
	enum cfg_layer layer;
	const char *file; /* "profrig.yaml", "--set", "built-in" */
	int line;         /* 0 when it has none */
	const char *key;  /* in a map; else NULL */
	bool b;
	int64_t i;
	double f;
	const char *s; /* CFG_STR; for other scalars their text */
	struct cfg_node **child;
	size_t nr, cap;
};

struct cfg {
	struct pool pool;
	struct cfg_node *root; /* a map, never NULL after a successful parse */
	/* of the text: duplicate keys, tags, NUL bytes; the tree is whole without them */
	struct problems problems;
};

void cfg_init(struct cfg *c);
void cfg_release(struct cfg *c);
/*
 * 0, or -errno when the file cannot be read or is no YAML/JSON (err has file:line). An empty file
 * is an empty map. -EINVAL with root set: readable, but see `problems`; err has the first of them.
 */
int cfg_parse_file(struct cfg *c, const char *path, enum cfg_layer layer, struct err *err);
int cfg_parse_text(struct cfg *c, const char *text, size_t n, const char *name, bool json,
		   enum cfg_layer layer, struct err *err);
/* As cfg_parse_text, but the root may be of any kind, a list or a single value too. */
int cfg_parse_value(struct cfg *c, const char *text, size_t n, const char *name,
		    enum cfg_syntax syntax, enum cfg_layer layer, struct err *err);
/* `a.b[0].c=VALUE`, VALUE in YAML; creates missing nodes, an index may be one past the end. */
int cfg_set(struct cfg *c, const char *assignment, struct err *err);
/* The same with a value that was read before, which keeps its file, line and layer. */
int cfg_assign(struct cfg *c, const char *path, const struct cfg_node *value, struct err *err);
/*
 * over wins: maps merge key by key, everything else replaces. Nodes of `over` are copied into
 * base's pool.
 */
void cfg_merge(struct cfg *base, const struct cfg *over);
/*
 * A new node at key of map, in place of an earlier one; text is copied. For values from the
 * command line or from a table.
 */
struct cfg_node *cfg_put(struct cfg *c, struct cfg_node *map, const char *key, enum cfg_kind kind,
			 const char *text, const char *file, enum cfg_layer layer);
/* As cfg_put, at the end of a list. */
struct cfg_node *cfg_add(struct cfg *c, struct cfg_node *seq, enum cfg_kind kind, const char *text,
			 const char *file, enum cfg_layer layer);
/*
 * CFG_EACH(n, list, CFG_SEQ) { … }: for every child n of a node that is NULL or whatever it is:
 * what is not of this kind has none.
 */
#define CFG_EACH(n, in, want) \
	for (struct cfg_node *const *n##_at = cfg_begin(in, want), \
				    *const *n##_end = cfg_end(in, want), *n; \
	     n##_at < n##_end && (n = *n##_at); n##_at++)
static inline struct cfg_node *const *cfg_begin(const struct cfg_node *n, enum cfg_kind kind)
{
	return n && n->kind == kind ? n->child : NULL;
}
static inline struct cfg_node *const *cfg_end(const struct cfg_node *n, enum cfg_kind kind)
{
	return n && n->kind == kind && n->nr ? n->child + n->nr : NULL;
}
/* NULL when absent or not a map */
struct cfg_node *cfg_get(const struct cfg_node *map, const char *key);
/* Text of the scalar at key, NULL when there is none (absent, null, a list, a map); borrowed. */
const char *cfg_text(const struct cfg_node *map, const char *key);
/* Adds the scalars of the list at key, as written; nothing when it is no list. */
void cfg_words(const struct cfg_node *map, const char *key, struct strvec *to);
struct cfg_node *cfg_path(const struct cfg_node *root, const char *path); /* "container.caps[0]" */
/* "profrig.yaml:12" or "--set"; owned by the caller. */
char *cfg_where(const struct cfg_node *n);
void cfg_problem(struct problems *p, const struct cfg_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Closest of candidates (NULL-terminated) within a small edit distance, else NULL; borrowed. */
const char *cfg_did_you_mean(const char *word, const char *const *candidates);
/* "; did you mean 'NAME'?" of the closest, else what is said otherwise. Owned. */
char *cfg_hint(const char *word, const char *const *candidates, const char *otherwise);

#endif
