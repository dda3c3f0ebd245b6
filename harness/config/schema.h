/*
 * schema: checks a tree against a table of keys (struct schema_key): unknown keys with a
 * suggestion, types, choices, ranges, what is required (schema_check, runconf.h).
 *
 * The table is data; only this code interprets its type names. Null means "not given" except in
 * lists of strings, and in maps with free keys (env) of layers without a lower layer whose value it
 * could remove.
 */
#ifndef PROFRIG_SCHEMA_H
#define PROFRIG_SCHEMA_H

#include "profrig/config/runconf.h"

/* A row of a table: path, type, about (or NULL), and members that are not as usual. */
#define KEY(at, kind, ...) \
	{ \
		.path = (at), .type = (kind), .about = __VA_ARGS__ \
	}

/* schema_check with keys that are not in the table going to `unknown`. */
void schema_check_keys(const struct cfg_node *root, const struct schema_key *table,
		       struct problems *p, struct problems *unknown);
/* Entries written in short become maps: tools: [a] → tools: [{name: a}]. Before schema_check. */
void schema_expand(struct cfg *c, const struct schema_key *table);
/* Once layers are merged: entries of maps with free keys that null took back. */
void schema_drop_nulls(struct cfg *c, const struct schema_key *table);
/* Defaults of the table for what is absent or null, in maps that need no index; layer
 * LAYER_BUILTIN. */
void schema_defaults(struct cfg *c, const struct schema_key *table);
const struct schema_key *schema_find(const struct schema_key *table, const char *path);

/* "a|b|c" holds word. */
bool schema_choice(const char *choices, const char *word);
/* A scalar of kind seconds: 10, 1.5, "90s", "5m". */
int schema_seconds(const struct cfg_node *n, double *ret);
bool schema_env_name(const char *name);   /* [A-Za-z_][A-Za-z0-9_]* */
bool schema_model_name(const char *name); /* at most 100 bytes, no control characters */
/*
 * How much of a key messages show: of "NAME=VALUE", written where NAME: VALUE was meant, not the
 * value, which may be a secret.
 */
int schema_shown_len(const char *key);
/* Variables profrig gives to every step (PROFRIG_OUT, …): no other source may set them. */
bool schema_env_reserved(const char *name);
/* Letters, digits and "._-", not beginning with '.' or '-': safe as a folder's name. */
bool schema_file_name(const char *name);

#endif
