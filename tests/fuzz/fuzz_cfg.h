/*
 * fuzz_cfg: what must hold for every tree a parser gives, whatever the text was.
 */
#ifndef PROFRIG_FUZZ_CFG_H
#define PROFRIG_FUZZ_CFG_H

#include "schema.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/config/placeholder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static inline void must(bool ok)
{
	if (!ok)
		abort();
}

static inline void must_be_sound(const struct cfg_node *n, int lines, int depth, size_t *count)
{
	bool container = n->kind == CFG_MAP || n->kind == CFG_SEQ;

	must(depth <= 65 && ++*count <= 100000);
	must(n->line >= 1 && n->line <= lines);
	must(container || n->s);
	must(!container || n->nr <= n->cap || n->nr == 0);
	for (size_t i = 0; i < n->nr; i++) {
		must((n->kind == CFG_MAP) == (n->child[i]->key != NULL));
		if (n->kind == CFG_MAP)
			must(cfg_get(n, n->child[i]->key) == n->child[i]);
		must_be_sound(n->child[i], lines, depth + 1, count);
	}
}

static inline const char *no_value(void *ctx, const char *name)
{
	(void)ctx;
	return strlen(name) % 2 ? "v" : NULL;
}

static inline void try_placeholders(const struct cfg_node *n)
{
	for (size_t i = 0; i < n->nr; i++)
		try_placeholders(n->child[i]);
	if (n->s) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		CLEANUP(xfreep) char *unknown = NULL;
		int r = placeholder_expand(&sb, n->s, no_value, NULL, &unknown);

		must((r == 0) == !unknown);
	}
}

static inline int fuzz_cfg(const uint8_t *data, size_t n, bool json)
{
	CLEANUP(xfreep) char *text = xstrndup((const char *)data, n);
	struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	struct cfg c, copy;
	size_t count = 0;
	int lines = 2, r;

	/*
	 * YAML also ends lines with CR, NEL, LS and PS: their first bytes are enough for a bound.
	 */
	for (size_t i = 0; i < n; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] == 0xc2 || data[i] == 0xe2;
	cfg_init(&c);
	cfg_init(&copy);
	cfg_parse_text(&copy, "", 0, "f", false, LAYER_FILE, NULL);
	r = cfg_parse_text(&c, (const char *)data, n, "f", json, LAYER_FILE, &err);
	must((r < 0) == (err.code != 0));
	must(r == 0 || err.msg[0]);
	must(c.root || r < 0);
	if (c.root) {
		must_be_sound(c.root, lines, 0, &count);
		try_placeholders(c.root);
		cfg_merge(&copy, &c);
		cfg_merge(&copy, &c);
		must(copy.root->nr == c.root->nr);
		schema_expand(&c, schema_table);
		schema_defaults(&c, schema_table);
		schema_check(c.root, schema_table, &p);
		must(p.lines.nr <= 201);
	}
	cfg_set(&copy, text, NULL);
	problems_release(&p);
	cfg_release(&copy);
	cfg_release(&c);
	return 0;
}

#endif
