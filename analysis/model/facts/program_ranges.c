#include "program_ranges.h"
#include "model_private.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/names/xla_range.h"

/* Rows by name: each name is looked at once. */
struct named_programs {
	VEC(struct program_facts) v;
	uint32_t *of; /* by string; UINT32_MAX: plain; NULL: all are */
	size_t nr;
};

static str_id text_put(struct model *m, struct xla_text t)
{
	return t.p ? intern_put(m->strings, t.p, t.n) : STR_NONE;
}

static enum program_kind kind_of(const struct xla_range *r)
{
	switch (r->kind) {
	case XLA_MODULE:
		return PROGRAM_MODULE;
	case XLA_THUNK:
		return PROGRAM_OP;
	case XLA_COMPILE:
		return PROGRAM_COMPILE;
	}
	return PROGRAM_UNKNOWN;
}

static void row_add(struct model *m, struct named_programs *np, str_id id,
		    const struct xla_range *r)
{
	struct program_facts row = PROGRAM_FACTS_NONE;

	row.kind = kind_of(r);
	row.module = text_put(m, r->module);
	row.op = text_put(m, r->op);
	if (r->kind == XLA_COMPILE && !r->op.p)
		row.op = text_put(m, r->word);
	row.program_id = r->program_id == XLA_ABSENT ? FACT_ABSENT : r->program_id;
	if (!np->of) {
		np->of = xmalloc(np->nr * sizeof(*np->of));
		memset(np->of, 0xff, np->nr * sizeof(*np->of));
	}
	np->of[id] = (uint32_t)np->v.nr;
	VEC_PUSH(&np->v, row);
}

/* The texts are copied before more strings are made, as these may move them. */
static void names_look(struct model *m, struct named_programs *np)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct xla_range r;

	np->nr = intern_count(m->strings);
	for (str_id id = 0; id < np->nr; id++) {
		const char *name = model_str(m, id);
		size_t n = intern_len(m->strings, id);

		if (n < 3 || name[n - 1] != '#' || !xla_range_parse(name, n, &r))
			continue;
		strbuf_clear(&text);
		strbuf_add(&text, name, n);
		if (xla_range_parse(text.buf, n, &r))
			row_add(m, np, id, &r);
	}
}

/* By track: the device that a thread launches for. Owned. */
static int64_t *devices_of_threads(const struct model *m)
{
	int64_t *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));

	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];
		struct xla_launcher l;

		v[i] = FACT_ABSENT;
		if (t->kind == TRACK_THREAD &&
		    xla_launcher_parse(model_str(m, t->name), intern_len(m->strings, t->name), &l))
			v[i] = l.global;
	}
	return v;
}

static bool may_be_program(const struct model *m, const struct named_programs *np, size_t span)
{
	enum span_kind kind = m->spans.kind[span];
	str_id name = m->spans.name[span];

	return (kind == SPAN_HOST || kind == SPAN_ANNOTATION) && name < np->nr &&
	       np->of[name] != UINT32_MAX;
}

void facts_of_programs(struct model *m)
{
	struct named_programs np = { .nr = 0 };
	size_t more = 0;
	int64_t *devices;
	char *has;

	if (m->spans.nr == 0)
		return;
	names_look(m, &np);
	if (!np.of)
		return;
	devices = devices_of_threads(m);
	has = xcalloc(m->spans.nr, 1);
	for (size_t i = 0; i < m->facts.programs.nr; i++)
		has[m->facts.programs.v[i].span] = 1;
	/* there may be one for each span: room for just as many */
	for (size_t i = 0; i < m->spans.nr; i++)
		more += !has[i] && may_be_program(m, &np, i);
	VEC_RESERVE(&m->facts.programs, m->facts.programs.nr + more);
	for (size_t i = 0; i < m->spans.nr; i++) {
		struct program_facts row;

		if (has[i] || !may_be_program(m, &np, i))
			continue;
		row = np.v.v[np.of[m->spans.name[i]]];
		row.span = i;
		row.device = devices[m->spans.track[i]];
		VEC_PUSH(&m->facts.programs, row);
	}
	free(has);
	free(devices);
	free(np.of);
	VEC_RELEASE(&np.v);
}
