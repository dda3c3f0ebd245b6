#include "op_range.h"
#include "model_private.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* ---- one name ---- */

struct op_text {
	const char *p;
	size_t n, at;
};

static bool word_take(struct op_text *t, const char *word)
{
	size_t len = strlen(word);

	if (t->n - t->at < len || memcmp(t->p + t->at, word, len) != 0)
		return false;
	t->at += len;
	return true;
}

/* ", seq = 5": absent is fine, a number that is none is not. */
static bool number_take(struct op_text *t, const char *word, int64_t *ret)
{
	size_t from;

	*ret = FACT_ABSENT;
	if (!word_take(t, word))
		return true;
	from = t->at;
	t->at += t->at < t->n && t->p[t->at] == '-';
	while (t->at < t->n && isdigit((unsigned char)t->p[t->at]))
		t->at++;
	return num_i64(t->p + from, t->at - from, ret) >= 0;
}

/* A list in brackets, which may hold others. */
static bool list_take(struct op_text *t, const char *word, const char **ret, size_t *ret_n)
{
	size_t from, depth = 0;

	*ret = NULL;
	*ret_n = 0;
	if (!word_take(t, word))
		return true;
	for (from = t->at; t->at < t->n; t->at++) {
		char c = t->p[t->at];

		depth += c == '[' || c == '(';
		if (depth == 0)
			return false;
		if ((c == ']' || c == ')') && --depth == 0) {
			*ret = t->p + from;
			*ret_n = ++t->at - from;
			return true;
		}
	}
	return false;
}

static bool rest_take(struct op_text t, struct op_range *ret)
{
	const char *ids;
	size_t ids_n;

	ret->name_n = t.at;
	return number_take(&t, ", seq = ", &ret->sequence) &&
	       number_take(&t, ", op_id = ", &ret->op_id) &&
	       (ret->sequence != FACT_ABSENT || ret->op_id != FACT_ABSENT) &&
	       list_take(&t, ", sizes = ", &ret->sizes, &ret->sizes_n) &&
	       list_take(&t, ", input_op_ids = ", &ids, &ids_n) && t.at == t.n;
}

bool op_range_parse(const char *text, size_t n, struct op_range *ret)
{
	struct op_text t = { .p = text, .n = n };
	int tries = 0;

	while (tries < OP_RANGE_TRIES) {
		const char *comma = memchr(text + t.at, ',', n - t.at);
		struct op_text here = t;

		if (!comma)
			return false;
		here.at = t.at = (size_t)(comma - text);
		if (word_take(&here, ", seq = ") || word_take(&here, ", op_id = ")) {
			if (t.at > 0 && rest_take(t, ret))
				return true;
			tries++;
		}
		t.at++;
	}
	return false;
}

/* ---- all names of a model ---- */

struct named_op {
	str_id name;
	uint32_t operands;
	int64_t sequence, op_id;
};

struct named_ops {
	VEC(struct named_op) v;
	uint32_t *of; /* by string; UINT32_MAX: no operator; NULL: none is one */
	size_t nr;
	uint64_t bad;
};

static void op_add(struct model *m, struct named_ops *ops, str_id id, const struct op_range *r)
{
	struct named_op op = { .operands = FACT_NONE, .sequence = r->sequence, .op_id = r->op_id };
	const struct operand_texts t = { .shapes = { r->sizes, r->sizes_n } };
	uint64_t bad = 0;

	if (r->sizes)
		op.operands = facts_operands(m->priv, &t, &bad);
	ops->bad += bad;
	op.name = intern_put(m->strings, model_str(m, id), r->name_n);
	if (!ops->of) {
		ops->of = xmalloc(ops->nr * sizeof(*ops->of));
		memset(ops->of, 0xff, ops->nr * sizeof(*ops->of));
	}
	ops->of[id] = (uint32_t)ops->v.nr;
	VEC_PUSH(&ops->v, op);
}

static void names_look(struct model *m, struct named_ops *ops)
{
	struct op_range r;

	ops->nr = intern_count(m->strings);
	for (str_id id = 0; id < ops->nr; id++) {
		const char *text = model_str(m, id);
		size_t n = intern_len(m->strings, id);

		if (memchr(text, '=', n) && op_range_parse(text, n, &r))
			op_add(m, ops, id, &r);
	}
}

static bool may_be_operator(const struct model *m, const struct named_ops *ops, size_t span)
{
	enum span_kind kind = m->spans.kind[span];
	str_id name = m->spans.name[span];

	return (kind == SPAN_HOST || kind == SPAN_ANNOTATION) && name < ops->nr &&
	       ops->of[name] != UINT32_MAX;
}

void facts_of_ranges(struct model *m)
{
	struct named_ops ops = { .nr = 0 };
	char *has;

	if (m->spans.nr == 0)
		return;
	names_look(m, &ops);
	if (!ops.of)
		return;
	has = xcalloc(m->spans.nr, 1);
	for (size_t i = 0; i < m->facts.ops.nr; i++)
		has[m->facts.ops.v[i].span] = 1;
	for (size_t i = 0; i < m->spans.nr; i++) {
		struct op_facts row = OP_FACTS_NONE;
		const struct named_op *op;

		if (has[i] || !may_be_operator(m, &ops, i))
			continue;
		op = &ops.v.v[ops.of[m->spans.name[i]]];
		row.span = i;
		row.name = op->name;
		row.operands = op->operands;
		row.sequence = op->sequence;
		row.op_id = op->op_id;
		VEC_PUSH(&m->facts.ops, row);
	}
	if (ops.bad)
		model_warn(m, UINT32_MAX, W_BAD_FACT, ops.bad,
			   "sizes in the names of operators are no lists of sizes, or too many");
	free(has);
	free(ops.of);
	VEC_RELEASE(&ops.v);
}
