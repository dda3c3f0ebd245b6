/*
 * critical_path: what an iteration waited for, from its end back to its start
 * (work/critical_path.h). critical_spans: the longest parts of it. critical_parts: all of it, for a
 * timeline, of the longest iterations.
 */
#include "analyses_private.h"
#include "track_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/work/critical_path.h"

#define SPANS_OF_EACH 10
/* Of more iterations the longest ones have critical_spans. */
#define SPANS_ITERATIONS ((size_t)1000)
#define MAX_PARTS 20000 /* rows of critical_parts */

/* clang-format off */
#define CRITICAL_PATH(X) X(STR, iteration) X(STR, class) X(I64, ns) X(F64, share) X(F64, rank)
#define CRITICAL_SPANS(X) \
	X(STR, iteration) X(I64, start_ns) X(I64, dur_ns) X(STR, class) X(STR, name) X(F64, rank)
#define CRITICAL_PARTS(X) \
	X(STR, iteration) X(I64, start_ns) X(I64, dur_ns) X(STR, class) X(STR, name) \
	X(STR, track) X(F64, rank)
/* clang-format on */
TABLE_FORM(
	critical_path, CRITICAL_PATH,
	"one row per iteration and class of time on its critical path; they add up to its window");
TABLE_FORM(critical_spans, CRITICAL_SPANS, "the longest parts of each critical path");
TABLE_FORM(critical_parts, CRITICAL_PARTS,
	   "the parts of critical paths in order of time, as a timeline shows them");

struct path_tables {
	const struct model *m;
	const struct works *w;
	const struct iterations *it;
	struct table *classes, *spans, *parts;
	struct strvec tracks; /* names */
	int64_t least_ns;     /* iterations that are shorter have no rows in spans */
	struct path path;
	uint32_t *longest; /* room for rows of the path */
	size_t room;
};

static const char *iteration_name(const struct path_tables *t, const struct iteration *i,
				  char buf[24])
{
	if (i->marker != SPAN_NONE)
		return model_str(t->m, t->m->spans.name[i->marker]);
	snprintf(buf, 24, "%u", i->index);
	return buf;
}

static void classes_add(struct path_tables *t, const struct iteration *i)
{
	int64_t ns[PATH_CLASSES] = { 0 }, window = t->path.end_ns - t->path.start_ns;
	char buf[24];

	for (size_t k = 0; k < t->path.v.nr; k++)
		ns[t->path.v.v[k].class] += t->path.v.v[k].end_ns - t->path.v.v[k].start_ns;
	for (int c = 0; c < PATH_CLASSES; c++)
		if (ns[c])
			table_add(t->classes, &(struct critical_path_row){
						      iteration_name(t, i, buf),
						      path_class_name((enum path_class)c), ns[c],
						      (double)ns[c] / (double)window,
						      iteration_rank(t->m, t->w, i) });
}

static int cmp_longest(const void *pa, const void *pb, void *ctx)
{
	const struct path *p = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int64_t ns_a = p->v.v[a].end_ns - p->v.v[a].start_ns;
	int64_t ns_b = p->v.v[b].end_ns - p->v.v[b].start_ns;

	if (ns_a != ns_b)
		return ns_a > ns_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void spans_add(struct path_tables *t, const struct iteration *i)
{
	size_t nr = t->path.v.nr;
	char buf[24];

	if (nr > t->room) {
		t->room = nr;
		t->longest = xreallocarray(t->longest, nr, sizeof(*t->longest));
	}
	for (uint32_t k = 0; k < nr; k++)
		t->longest[k] = k;
	if (nr)
		qsort_r(t->longest, nr, sizeof(*t->longest), cmp_longest, &t->path);
	for (size_t k = 0; k < nr && k < SPANS_OF_EACH; k++) {
		const struct path_part *p = &t->path.v.v[t->longest[k]];

		table_add(t->spans,
			  &(struct critical_spans_row){
				  iteration_name(t, i, buf), p->start_ns - t->m->first_ns,
				  p->end_ns - p->start_ns, path_class_name(p->class),
				  p->span == SPAN_NONE ? ""
						       : model_str(t->m, t->m->spans.name[p->span]),
				  iteration_rank(t->m, t->w, i) });
	}
}

/* Whole paths, as long as there is room. */
static void parts_add(struct path_tables *t, const struct iteration *i)
{
	const struct span_columns *s = &t->m->spans;
	char buf[24];

	if (table_rows(t->parts) + t->path.v.nr > MAX_PARTS)
		return;
	for (size_t k = 0; k < t->path.v.nr; k++) {
		const struct path_part *p = &t->path.v.v[k];
		bool none = p->span == SPAN_NONE;

		table_add(t->parts, &(struct critical_parts_row){
					    iteration_name(t, i, buf), p->start_ns - t->m->first_ns,
					    p->end_ns - p->start_ns, path_class_name(p->class),
					    none ? "" : model_str(t->m, s->name[p->span]),
					    none ? "" : t->tracks.v[s->track[p->span]],
					    iteration_rank(t->m, t->w, i) });
	}
}

static int cmp_falling(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return a > b ? -1 : a < b;
}

static int64_t least_of_longest(const struct iterations *it)
{
	int64_t ret, *v;

	if (it->v.nr <= SPANS_ITERATIONS)
		return INT64_MIN;
	v = xcalloc(it->v.nr, sizeof(*v));
	for (size_t i = 0; i < it->v.nr; i++)
		v[i] = iteration_ns(&it->v.v[i]);
	qsort(v, it->v.nr, sizeof(*v), cmp_falling);
	ret = v[SPANS_ITERATIONS - 1];
	free(v);
	return ret;
}

static int critical_path_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			     struct err *err)
{
	const struct works *w = analysis_works(m, o);
	struct path_tables t = { .m = m, .w = w, .tracks = STRVEC_INIT };
	struct path_finder *f;
	int r = analysis_iterations(m, o, &t.it, err);

	if (r < 0)
		return r;
	if (t.it->v.nr == 0)
		return table_set_skip(out, "critical_path", "needs iterations");
	f = path_finder_new(w);
	t.classes = table_make(&critical_path_form);
	t.spans = table_make(&critical_spans_form);
	t.parts = table_make(&critical_parts_form);
	track_names(m, &t.tracks);
	t.least_ns = least_of_longest(t.it);
	for (size_t i = 0; i < t.it->v.nr; i++) {
		path_find(f, t.it, i, &t.path);
		classes_add(&t, &t.it->v.v[i]);
		parts_add(&t, &t.it->v.v[i]);
		if (iteration_ns(&t.it->v.v[i]) >= t.least_ns &&
		    table_rows(t.spans) < SPANS_ITERATIONS * SPANS_OF_EACH)
			spans_add(&t, &t.it->v.v[i]);
	}
	path_finder_free(f);
	path_release(&t.path);
	free(t.longest);
	strvec_release(&t.tracks);
	table_set_add(out, t.classes);
	table_set_add(out, t.spans);
	if (table_rows(t.parts))
		table_set_add(out, t.parts);
	else
		table_free(t.parts);
	return 0;
}

const struct analysis analysis_critical_path = {
	.name = "critical_path",
	.about = "what each iteration waited for, from its end back to its start",
	.tables = { &critical_path_form, &critical_spans_form, &critical_parts_form },
	.run = critical_path_run,
	.needs_work = true,
};
