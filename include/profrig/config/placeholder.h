/*
 * placeholder: {out}, {run_id} and {opt.NAME} in the argv, env and globs of tools
 * (docs/tools.md).
 *
 * A placeholder is '{', a name of letters, digits, '_', '-' and '.', '}'. "{{name}}" stands for the
 * text "{name}". Every other brace is literal, so JSON and shell text need no escape unless they
 * hold exactly such a word.
 */
#ifndef PROFRIG_PLACEHOLDER_H
#define PROFRIG_PLACEHOLDER_H

#include "profrig/base/strbuf.h"

/* The value of "out", "opt.period", …; NULL when there is none of that name. */
typedef const char *placeholder_fn(void *ctx, const char *name);

/* Appends text with its placeholders replaced. -EINVAL at the first unknown one, its name in
 * *ret_unknown (owned by the caller, may be NULL). */
int placeholder_expand(struct strbuf *out, const char *text, placeholder_fn *value, void *ctx,
		       char **ret_unknown);

#endif
