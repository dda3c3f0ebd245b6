#include "xla_warmup.h"

#include <string.h>

#define COMPILE "XlaCompile"

static bool same_program(const struct program_facts *a, const struct program_facts *b)
{
	return a->module == b->module &&
	       (a->program_id == FACT_ABSENT || b->program_id == FACT_ABSENT ||
		a->program_id == b->program_id);
}

static bool compiled(const struct model *m, const struct program_facts *p, track_id thread)
{
	for (size_t i = 0; i < m->facts.programs.nr; i++) {
		const struct program_facts *c = &m->facts.programs.v[i];
		track_id at = m->spans.track[c->span];

		if (c->kind == PROGRAM_COMPILE && same_program(p, c) &&
		    strcmp(model_str(m, c->op), COMPILE) == 0 &&
		    model_process_of(m, at) == model_process_of(m, thread) &&
		    m->tracks.v[at].pid == m->tracks.v[thread].pid)
			return true;
	}
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
	const struct program_facts *p = NULL;

	for (size_t i = 0; i < g->nr; i++) {
		const struct program_facts *f =
			v[i].marker == SPAN_NONE ? NULL : facts_program(m, v[i].marker);

		if (!f || f->kind != PROGRAM_MODULE || f->module == STR_NONE ||
		    (p && !same_program(p, f)))
			return 0;
		p = p ? p : f;
	}
	return p ? (size_t)compiled(m, p, v[0].track) + communicates(it, w, g) : 0;
}
