#include "hlo_private.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/cost/collective_cost.h"
#include "profrig/model/model.h"
#include "profrig/model/warnings.h"

/* What is known of an operation; found once for each that differs. */
struct known {
	enum { KNOWN_PLAIN, KNOWN_COLLECTIVE, KNOWN_NO_MODULE, KNOWN_NO_OP } what;
	bool several, mixed;
	struct collective_facts facts;
};

struct join {
	const struct hlo_programs *p;
	struct model *m;
	bool dumps;
	struct u64map at; /* module, program, operation → known */
	VEC(struct known) known;
	VEC(struct collective_facts) rows;
	uint64_t no_module, no_op, mixed, several;
	str_id lost_module, lost_op, mixed_op, several_op; /* the first */
};

static str_id text_at(const struct join *j, str_id of_model)
{
	const char *s = model_str(j->m, of_model);

	return of_model == STR_NONE ? STR_NONE : intern_find(j->p->texts, s, strlen(s));
}

/* The dump of a row's module; *ret_named: there is one of its name. */
static const struct hlo_module *module_of(const struct join *j, const struct program_facts *f,
					  str_id op)
{
	str_id name = text_at(j, f->module), print = text_at(j, f->fingerprint);
	const struct hlo_module *best = NULL;
	int rank = 0;

	for (size_t i = 0; name != STR_NONE && i < j->p->v.nr; i++) {
		const struct hlo_module *m = &j->p->v.v[i];
		int r = 1;

		if (m->name != name)
			continue;
		r += hlo_instruction(m, op) ? 1 : 0;
		r += print != STR_NONE && m->fingerprint == print ? 2 : 0;
		r += f->program_id != FACT_ABSENT && m->id == f->program_id ? 4 : 0;
		if (r > rank) {
			rank = r;
			best = m;
		}
	}
	return best;
}

static int64_t size_of(enum collective_kind kind, const struct hlo_instruction *c)
{
	int64_t out = HLO_ABSENT, n = c->group_size;

	if (c->operand_bytes == HLO_ABSENT)
		return FACT_ABSENT;
	if (kind == COLLECTIVE_ALL_GATHER &&
	    (n == HLO_ABSENT || __builtin_mul_overflow(c->operand_bytes, n, &out)))
		return FACT_ABSENT;
	out = collective_size(kind, c->operand_bytes, out, n == HLO_ABSENT ? 1 : n);
	return out > FACT_SIZE_MAX ? FACT_ABSENT : out;
}

static void collective_fill(const struct join *j, const struct hlo_instruction *c,
			    struct collective_facts *f)
{
	const char *opcode = intern_str(j->p->texts, c->opcode);
	const char *end = strstr(opcode, "-start");
	size_t n = end ? (size_t)(end - opcode) : strlen(opcode);

	*f = COLLECTIVE_FACTS_NONE;
	f->name = intern_put(j->m->strings, opcode, n);
	if (c->type)
		f->dtype = intern_puts(j->m->strings, intern_str(j->p->texts, c->type));
	if (c->group_size != HLO_ABSENT)
		f->group_size = c->group_size;
	f->bytes = size_of(collective_kind_of(model_str(j->m, f->name)), c);
}

static struct known learn(const struct join *j, const struct program_facts *f)
{
	str_id op = text_at(j, f->op);
	const struct hlo_module *m = module_of(j, f, op);
	const struct hlo_instruction *i = m && op != STR_NONE ? hlo_instruction(m, op) : NULL;
	const struct hlo_instruction *c;
	struct known k = { .what = KNOWN_PLAIN };

	if (!i) {
		k.what = m ? KNOWN_NO_OP : KNOWN_NO_MODULE;
		return k;
	}
	c = hlo_collective(j->p, m, i, &k.several);
	if (!c)
		return k;
	k.what = KNOWN_COLLECTIVE;
	k.mixed = c->mixed;
	collective_fill(j, c, &k.facts);
	return k;
}

static const struct known *known_of(struct join *j, const struct program_facts *f)
{
	uint64_t key = mix64(mix64(u64map_pair(f->module, f->op)) ^
			     mix64((uint64_t)f->program_id ^ (uint64_t)f->fingerprint << 32));
	uint32_t *at = u64map_at(&j->at, key);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)j->known.nr;
		VEC_PUSH(&j->known, learn(j, f));
	}
	return &j->known.v[*at];
}

static void count(uint64_t *nr, str_id *first, str_id what)
{
	if ((*nr)++ == 0)
		*first = what;
}

/* Lines that show the work of others again need no sizes. */
static bool shows_again(const struct model *m, uint64_t span)
{
	return m->spans.kind[span] == SPAN_ANNOTATION &&
	       m->tracks.v[m->spans.track[span]].kind == TRACK_QUEUE;
}

static void row_join(struct join *j, const struct program_facts *f)
{
	const struct known *k;

	if ((f->kind != PROGRAM_OP && f->kind != PROGRAM_WORK) || f->module == STR_NONE ||
	    f->op == STR_NONE || shows_again(j->m, f->span))
		return;
	k = known_of(j, f);
	if (k->what == KNOWN_NO_MODULE)
		count(&j->no_module, &j->lost_module, f->module);
	else if (k->what == KNOWN_NO_OP)
		count(&j->no_op, &j->lost_op, f->op);
	if (k->several)
		count(&j->several, &j->several_op, f->op);
	if (k->what != KNOWN_COLLECTIVE)
		return;
	if (k->mixed)
		count(&j->mixed, &j->mixed_op, f->op);
	if (facts_collective(j->m, f->span))
		return;
	VEC_PUSH(&j->rows, k->facts);
	j->rows.v[j->rows.nr - 1].span = f->span;
}

/* Both are in the order of spans, and no span is in both. */
static void rows_merge(struct join *j)
{
	size_t own = j->m->facts.collectives.nr, more = j->rows.nr, to = own + more;
	struct collective_facts *v;

	VEC_RESERVE(&j->m->facts.collectives, to);
	v = j->m->facts.collectives.v;
	j->m->facts.collectives.nr = to;
	while (more > 0) {
		if (own > 0 && v[own - 1].span > j->rows.v[more - 1].span)
			v[--to] = v[--own];
		else
			v[--to] = j->rows.v[--more];
	}
}

static void join_warn(const struct join *j)
{
	struct model *m = j->m;

	if (j->no_module && j->dumps)
		model_warn(m, UINT32_MAX, W_HLO_MISSING, j->no_module,
			   "no dump has the module '%s'", model_str(m, j->lost_module));
	if (j->no_op && j->dumps)
		model_warn(m, UINT32_MAX, W_HLO_OTHER, j->no_op,
			   "the dump of its module has no instruction '%s'",
			   model_str(m, j->lost_op));
	if (j->mixed)
		model_warn(m, UINT32_MAX, W_HLO_GROUPS, j->mixed,
			   "'%s' has groups of different sizes", model_str(m, j->mixed_op));
	if (j->several)
		model_warn(m, UINT32_MAX, W_HLO_GROUPS, j->several,
			   "'%s' holds several collectives", model_str(m, j->several_op));
}

void hlo_join(const struct hlo_programs *p, struct model *m, bool dumps)
{
	struct join j = { .p = p, .m = m, .dumps = dumps };

	if (p->v.nr == 0)
		return;
	for (size_t i = 0; i < m->facts.programs.nr; i++)
		row_join(&j, &m->facts.programs.v[i]);
	rows_merge(&j);
	join_warn(&j);
	u64map_release(&j.at);
	VEC_RELEASE(&j.known);
	VEC_RELEASE(&j.rows);
}
