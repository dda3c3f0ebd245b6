/*
 * cfg_build: what the YAML and JSON parsers share: nodes under construction, their limits, and the
 * kinds of plain scalars.
 */
#ifndef PROFRIG_CFG_BUILD_H
#define PROFRIG_CFG_BUILD_H

#include "profrig/base/cfg.h"

#define CFG_MAX_BYTES ((size_t)4 << 20)
#define CFG_MAX_DEPTH 64
#define CFG_MAX_NODES 100000
#define CFG_MAX_KEYS 1024

struct cfg_build {
	struct cfg *c;
	const char *file; /* in the pool */
	enum cfg_layer layer;
	size_t nodes;
};

void cfg_build_init(struct cfg_build *b, struct cfg *c, const char *name, enum cfg_layer layer);
/* NULL with err past CFG_MAX_NODES. */
struct cfg_node *cfg_build_node(struct cfg_build *b, enum cfg_kind kind, int line, struct err *err);
/*
 * Puts n under parent (a map when key is not NULL). A key that is there already is a problem and n
 * is left out. -E2BIG past CFG_MAX_KEYS.
 */
int cfg_build_attach(struct cfg_build *b, struct cfg_node *parent, const char *key,
		     struct cfg_node *n, struct err *err);
/* Kind and value of an unquoted scalar; text lives in the pool. */
void cfg_build_plain(struct cfg_node *n, const char *text);

/* Without limits or checks. */
void cfg_append(struct pool *p, struct cfg_node *parent, struct cfg_node *child);

int cfg_parse_yaml(struct cfg_build *b, const char *text, size_t n, struct err *err);
int cfg_parse_json(struct cfg_build *b, const char *text, size_t n, struct err *err);
int cfg_parse_python(struct cfg_build *b, const char *text, size_t n, struct err *err);

#endif
