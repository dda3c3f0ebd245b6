/*
 * The fields of the rows of facts, for what treats all alike: checks, logs of sinks, sorting.
 */
#ifndef FACTS_PRIVATE_H
#define FACTS_PRIVATE_H

#include <stddef.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/model/facts.h"

/* Rows of spans, all of which begin with the span: (member of struct span_facts, vector). */
#define FACT_ROWS(X) \
	X(op, ops) \
	X(kernel, kernels) \
	X(copy, copies) \
	X(sync, syncs) \
	X(collective, collectives) \
	X(memory, memory) \
	X(capture, captures) \
	X(program, programs) \
	X(stamp, stamps)

enum fact_type {
	FACT_NUMBER,   /* int64_t, any */
	FACT_SIZE,     /* int64_t, [0, FACT_SIZE_MAX] */
	FACT_CHANGE,   /* int64_t, [-FACT_SIZE_MAX, FACT_SIZE_MAX] */
	FACT_TEXT,     /* str_id */
	FACT_OPERANDS, /* uint32_t, of sink.operands */
	FACT_NUMBERS,  /* uint32_t, of sink.numbers */
	FACT_FLAG,     /* bool */
	FACT_WORD      /* an enum below `end` */
};

struct fact_field {
	enum fact_type type;
	unsigned at, end;
};

struct fact_form {
	const struct fact_field *fields;
	size_t nr, size;
};

/* The forms of enum facts_kind, then these. */
#define FACT_FORM_DEVICE ((unsigned)FACTS_LAST + 1)
#define FACT_FORM_WORLD ((unsigned)FACTS_LAST + 2)
#define FACT_FORMS ((unsigned)FACTS_LAST + 3)
extern const struct fact_form fact_forms[FACT_FORMS];

static inline void fact_take(const void *row, const struct fact_field *f, void *to, size_t n)
{
	__builtin_memcpy(to, (const char *)row + f->at, n);
}

static inline void fact_put(void *row, const struct fact_field *f, const void *from, size_t n)
{
	__builtin_memcpy((char *)row + f->at, from, n);
}

/* The sink's state beside model.facts. */
struct facts_state {
	struct u64map list_ids, number_ids; /* by a hash of their contents */
	VEC(struct fact_list_state {
		uint64_t bad;   /* numbers that it lacks */
		uint32_t input; /* that had it last */
	}) lists;
	struct strbuf text; /* of one list, with room behind it for the scanner */
	VEC(int64_t) values;
	VEC(struct operand) operands;
};

struct model_priv;
struct sink;

void facts_release(struct model *m); /* all of them, and the sink's state */
void facts_drop_spans(struct model *m);
/* The spans have other places; place: the new one by the old one. */
void facts_move(struct model *m, const uint64_t *place);
/* By span; the first of several of one kind stays. */
void facts_sort(struct model *m);
/* The spans are replaced by parts of them; from: the old span by part, ascending. */
void facts_cut(struct model *m, const uint64_t *from, size_t parts);
/* Parses the texts and appends a list, whose number is returned; *ret_bad: what is wrong in it. */
uint32_t facts_parse(struct model_priv *p, const struct operand_texts *t, uint64_t *ret_bad);
/* The list of these texts, parsed when they are new; *ret_bad: what is wrong in a new one. */
uint32_t facts_operands(struct model_priv *p, const struct operand_texts *t, uint64_t *ret_bad);
uint32_t facts_numbers_put(struct model_priv *p, const int64_t *v, size_t n);

bool operand_texts_any(const struct operand_texts *t);
uint64_t operand_texts_hash(const struct operand_texts *t);

void sink_op_facts(struct sink *s, uint64_t span, const struct span_facts *f);
uint32_t sink_op_operands(struct sink *s, const struct operand_texts *t);
uint32_t sink_op_numbers(struct sink *s, const int64_t *v, size_t n);
void sink_op_device(struct sink *s, const struct device_facts *d);
void sink_op_world(struct sink *s, const struct world_facts *w);

#endif
