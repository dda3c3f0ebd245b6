/*
 * span_filter: the part of a trace that `convert` is asked for: spans by name, by category, the
 * first so many. Counters are not filtered.
 */
#ifndef CLI_SPAN_FILTER_H
#define CLI_SPAN_FILTER_H

#include "cli.h"

#include "profrig/base/regex.h"
#include "profrig/model/replay.h"

struct span_filter {
	const char *names;        /* --only-names; NULL: all */
	struct strvec categories; /* --only-categories, as given; empty: all */
	long limit;               /* --limit; 0: none */
	struct regex *re;
};
/* clang-format off */
#define SPAN_FILTER_INIT { .categories = STRVEC_INIT }
/* clang-format on */

/* 0, or 2 after an error message. */
int span_filter_begin(struct span_filter *f, const struct command *c);
void span_filter_release(struct span_filter *f);
bool span_filter_any(const struct span_filter *f);
/* The window of m without what the filter leaves out, as a model of one input. */
struct model *span_filter_cut(const struct span_filter *f, const struct model *m,
			      const struct window *w, struct replayed *ret);

#endif
