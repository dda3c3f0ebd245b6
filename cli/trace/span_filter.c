#include "span_filter.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/sort.h"

int span_filter_begin(struct span_filter *f, const struct command *c)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < f->categories.nr; i++)
		strvec_split(&words, f->categories.v[i], ",");
	if (f->categories.nr && !words.nr)
		return cli_usage(c, "--only-categories names nothing");
	strvec_clear(&f->categories);
	strvec_pushv(&f->categories, words.v);
	if (f->names && regex_new(f->names, 0, &f->re, &err) < 0)
		return cli_usage(c, "--only-names: %s", err.msg);
	return EXIT_DONE;
}

void span_filter_release(struct span_filter *f)
{
	regex_free(f->re);
	strvec_release(&f->categories);
}

bool span_filter_any(const struct span_filter *f)
{
	return f->re || f->categories.nr || f->limit > 0;
}

static bool *names_matched(const struct span_filter *f, const struct model *m)
{
	size_t nr = intern_count(m->strings), start, end;
	bool *is = xcalloc(nr + 1, sizeof(*is));

	for (size_t i = 0; i < nr; i++)
		is[i] = !f->re ||
			regex_find(f->re, intern_str(m->strings, (str_id)i),
				   intern_len(m->strings, (str_id)i), 0, &start, &end) > 0;
	return is;
}

static bool *categories_matched(const struct span_filter *f, const struct model *m)
{
	size_t nr = intern_count(m->strings);
	bool *is = xcalloc(nr + 1, sizeof(*is));

	for (size_t i = 0; i < nr; i++)
		is[i] = !f->categories.nr ||
			strvec_has(&f->categories, intern_str(m->strings, (str_id)i));
	return is;
}

static bool in_window(const struct model *m, uint64_t i, const struct window *w)
{
	return m->spans.end_ns[i] >= w->from_ns && m->spans.start_ns[i] <= w->to_ns;
}

/* Leaves the first `limit` by their start. */
static void limit_spans(bool *taken, const struct model *m, uint64_t limit)
{
	struct sort_pair *v = xreallocarray(NULL, m->spans.nr + 1, sizeof(*v));
	size_t nr = 0;

	for (uint64_t i = 0; i < m->spans.nr; i++)
		if (taken[i])
			v[nr++] = (struct sort_pair){
				(uint64_t)m->spans.start_ns[i] ^ UINT64_C(1) << 63, i
			};
	sort_pairs(v, nr);
	for (size_t i = limit; i < nr; i++)
		taken[v[i].row] = false;
	free(v);
}

static bool span_is_taken(void *ctx, uint64_t span)
{
	return ((const bool *)ctx)[span];
}

struct model *span_filter_cut(const struct span_filter *f, const struct model *m,
			      const struct window *w, struct replayed *ret)
{
	CLEANUP(xfreep) bool *names = names_matched(f, m), *categories = categories_matched(f, m);
	CLEANUP(xfreep) bool *taken = xcalloc(m->spans.nr + 1, sizeof(*taken));
	const struct replay_pick pick = { .span = span_is_taken, .ctx = taken };

	for (uint64_t i = 0; i < m->spans.nr; i++)
		taken[i] = names[m->spans.name[i]] && categories[m->spans.category[i]] &&
			   in_window(m, i, w);
	if (f->limit > 0)
		limit_spans(taken, m, (uint64_t)f->limit);
	return model_pick(m, w, &pick, ret);
}
