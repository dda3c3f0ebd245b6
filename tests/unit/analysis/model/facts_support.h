/* What tests of facts share: two models have the same ones, row by row. */
#ifndef FACTS_SUPPORT_H
#define FACTS_SUPPORT_H

#include "facts_private.h"
#include "test.h"

#include "profrig/model/model.h"

/* The values of a row as text: ids of texts as texts. */
static inline char *fact_row_text(const struct model *m, unsigned form, const void *row)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < fact_forms[form].nr; i++) {
		const struct fact_field *f = &fact_forms[form].fields[i];
		int64_t v = 0;
		uint32_t id = 0;
		bool flag = false;

		if (f->type == FACT_FLAG) {
			fact_take(row, f, &flag, sizeof(flag));
			v = flag;
		} else if (f->type <= FACT_CHANGE) {
			fact_take(row, f, &v, sizeof(v));
		} else {
			fact_take(row, f, &id, sizeof(id));
			v = id;
		}
		if (f->type == FACT_TEXT)
			strbuf_addf(&sb, "'%s' ", id == STR_NONE ? "-" : model_str(m, id));
		else if (v == FACT_ABSENT)
			strbuf_addstr(&sb, "- ");
		else
			strbuf_addf(&sb, "%lld ", (long long)v);
	}
	return strbuf_steal(&sb);
}

static inline void same_fact_rows(const char *what, unsigned form, const struct model *a,
				  const void *x, const struct model *b, const void *y)
{
	CLEANUP(xfreep) char *p = fact_row_text(a, form, x), *q = fact_row_text(b, form, y);

	if (strcmp(p, q) != 0)
		fail_msg("%s: facts of form %u are '%s', not '%s'", what, form, q, p);
}

static inline void same_lists(const char *what, const struct model *a, const struct model *b)
{
	const struct facts *x = &a->facts, *y = &b->facts;

	if (x->lists.nr != y->lists.nr || x->operands.nr != y->operands.nr ||
	    x->numbers.nr != y->numbers.nr || x->values.nr != y->values.nr)
		fail_msg("%s: lists differ", what);
	for (size_t i = 0; i < x->lists.nr; i++) {
		const struct operand_list *p = &x->lists.v[i], *q = &y->lists.v[i];

		assert_int_equal(p->first, q->first);
		assert_int_equal(p->nr, q->nr);
		assert_string_equal(model_str(a, p->shapes), model_str(b, q->shapes));
		assert_string_equal(model_str(a, p->types), model_str(b, q->types));
		assert_string_equal(model_str(a, p->strides), model_str(b, q->strides));
		assert_string_equal(model_str(a, p->concrete), model_str(b, q->concrete));
	}
	for (size_t i = 0; i < x->operands.nr; i++) {
		const struct operand *p = &x->operands.v[i], *q = &y->operands.v[i];

		assert_true(p->kind == q->kind && p->in == q->in && p->dims == q->dims &&
			    p->strides == q->strides);
		assert_string_equal(model_str(a, p->type), model_str(b, q->type));
		assert_string_equal(model_str(a, p->concrete), model_str(b, q->concrete));
	}
	for (size_t i = 0; i < x->values.nr; i++)
		assert_int_equal(x->values.v[i], y->values.v[i]);
}

/* Spans must have the same places in both. Returns the number of rows. */
static inline size_t same_facts(const char *what, const struct model *a, const struct model *b)
{
	size_t rows = 0;
	unsigned form = 0;

	same_lists(what, a, b);
#define X(one, all) \
	if (a->facts.all.nr != b->facts.all.nr) \
		fail_msg("%s: %zu rows of " #all ", not %zu", what, b->facts.all.nr, \
			 a->facts.all.nr); \
	for (size_t i = 0; i < a->facts.all.nr; i++) { \
		assert_int_equal(a->facts.all.v[i].span, b->facts.all.v[i].span); \
		same_fact_rows(what, form, a, &a->facts.all.v[i], b, &b->facts.all.v[i]); \
	} \
	rows += a->facts.all.nr; \
	form++;
	FACT_ROWS(X)
#undef X
	for (size_t i = 0; i < a->facts.programs.nr; i++) {
		const struct program_facts *x = &a->facts.programs.v[i];

		assert_int_equal(x->execution, b->facts.programs.v[i].execution);
		assert_int_equal(x->ordinal, b->facts.programs.v[i].ordinal);
	}
	assert_int_equal(a->facts.devices.nr, b->facts.devices.nr);
	for (size_t i = 0; i < a->facts.devices.nr; i++)
		same_fact_rows(what, FACT_FORM_DEVICE, a, &a->facts.devices.v[i], b,
			       &b->facts.devices.v[i]);
	assert_int_equal(a->facts.worlds.nr, b->facts.worlds.nr);
	for (size_t i = 0; i < a->facts.worlds.nr; i++)
		same_fact_rows(what, FACT_FORM_WORLD, a, &a->facts.worlds.v[i], b,
			       &b->facts.worlds.v[i]);
	return rows + a->facts.devices.nr + a->facts.worlds.nr;
}

#endif
