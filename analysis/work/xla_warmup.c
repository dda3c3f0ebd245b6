#include "xla_warmup.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define MODULE "XlaModule:#"
#define COMPILE "XlaCompile:#"

struct text {
	const char *p; /* NULL: absent */
	size_t n;
};

/* A program as an annotation names it. */
struct program {
	struct text name, id;
};

static bool same_text(struct text a, struct text b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* The value of "key=" between '#', ',' and '#'. */
static struct text field(const char *fields, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = fields; *at && *at != '#'; at += strcspn(at, ",#")) {
		at += *at == ',';
		if (strncmp(at, key, n) == 0 && at[n] == '=')
			return (struct text){ at + n + 1, strcspn(at + n + 1, ",#") };
	}
	return (struct text){ NULL, 0 };
}

/* False: the name is no annotation of this kind, or names no program. */
static bool program_of(const char *name, const char *kind, const char *key, struct program *ret)
{
	const char *at = strstr(name, kind);

	if (!at)
		return false;
	*ret = (struct program){ field(at + strlen(kind), key),
				 field(at + strlen(kind), "program_id") };
	return ret->name.p;
}

static bool same_program(const struct program *a, const struct program *b)
{
	return same_text(a->name, b->name) && (!a->id.p || !b->id.p || same_text(a->id, b->id));
}

/* By string: whether it names a compilation of the program. Owned; NULL: none does. */
static bool *compilations(const struct model *m, const struct program *p)
{
	size_t nr = intern_count(m->strings);
	bool *of = xcalloc(nr + 1, sizeof(*of)), some = false;
	struct program c;

	for (str_id id = 0; id < nr; id++) {
		of[id] = program_of(model_str(m, id), COMPILE, "module", &c) && same_program(p, &c);
		some |= of[id];
	}
	if (some)
		return of;
	free(of);
	return NULL;
}

static bool compiled(const struct model *m, const struct program *p, track_id thread)
{
	CLEANUP(xfreep) bool *of = compilations(m, p);

	for (size_t i = 0; of && i < m->spans.nr; i++)
		if (of[m->spans.name[i]] &&
		    model_process_of(m, m->spans.track[i]) == model_process_of(m, thread) &&
		    m->tracks.v[m->spans.track[i]].pid == m->tracks.v[thread].pid)
			return true;
	return false;
}

static bool communicates(const struct iterations *it, const struct works *w,
			 const struct iteration_group *g)
{
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].class == WORK_COLLECTIVE && it->of_work[i] != U64MAP_NONE &&
		    it->of_work[i] >= g->first && it->of_work[i] < g->first + g->nr)
			return true;
	return false;
}

size_t xla_warmup(const struct iterations *it, const struct works *w,
		  const struct iteration_group *g)
{
	const struct model *m = w->m;
	const struct iteration *v = &it->v.v[g->first];
	struct program p;

	for (size_t i = 0; i < g->nr; i++)
		if (v[i].marker == SPAN_NONE ||
		    m->spans.name[v[i].marker] != m->spans.name[v[0].marker])
			return 0;
	if (!program_of(model_str(m, m->spans.name[v[0].marker]), MODULE, "hlo_module", &p))
		return 0;
	return (size_t)compiled(m, &p, v[0].track) + communicates(it, w, g);
}
