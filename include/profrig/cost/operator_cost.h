/*
 * operator_cost: flops and compulsory bytes of one call of an operator, from its operands.
 *
 *	const struct op_model *om = op_model_find("aten::mm");		NULL: it has no model
 *	struct op_cost c = op_cost(om, &m->facts, m->strings, op->operands);
 * Equal (name, operand list) give equal costs: callers keep them.
 *
 * Bytes are what must move at least once: each operand read once, each result written once. An
 * operand's elements leave out dimensions with stride 0, which repeat what is there. So bytes by
 * time is an effective rate, and may be above that of the memory where data comes out of caches.
 *
 * Formulas, with their sources and what they leave out, are in docs/cost.md; each has its row in
 * the table of op_model.c and its function in the file of its family.
 *
 * Wrappers (linear, matmul, conv2d, layer_norm, scaled_dot_product_attention …) call another
 * operator that does the work: that one counts where the trace has it, else the wrapper.
 *
 * Nothing is guessed: where the trace lacks what a formula needs (whether attention is causal, the
 * lengths of packed sequences, a mask of outputs) there is no number, and where shapes do not fit
 * each other there is none either. All arithmetic saturates (amount.h).
 */
#ifndef PROFRIG_OPERATOR_COST_H
#define PROFRIG_OPERATOR_COST_H

#include "profrig/cost/amount.h"
#include "profrig/cost/element_type.h"
#include "profrig/model/facts.h"

enum cost_family {
	COST_GEMM,
	COST_CONV,
	COST_ATTENTION,
	COST_NORM,
	COST_SOFTMAX,
	COST_ELEMENTWISE,
	COST_REDUCE,
	COST_EMBEDDING,
	COST_MOE,
	COST_COPY
};

enum cost_state {
	COST_KNOWN,   /* flops, bytes or both */
	COST_UNTOLD,  /* the trace does not have what the formula needs */
	COST_MISFIT,  /* shapes that do not fit each other, or are none */
	COST_OVERFLOW /* past 64 bits */
};

/* [m,k]·[k,n], batch times; batch 0: it is no such product. */
struct op_product {
	int64_t m, n, k;
	amount batch;
};

struct op_cost {
	enum cost_state state;
	enum cost_family family;
	uint64_t flops, bytes; /* AMOUNT_UNKNOWN */
	/* flops are a convention (1, 5 or 8 for an element): shown, but no roofline of flops */
	bool nominal;
	bool estimate;                   /* bytes depend on data: at most so many experts */
	const struct element_type *type; /* of the operands that are multiplied; NULL */
	struct op_product product;       /* of mm, addmm, bmm, linear, _scaled_mm and the like */
};

struct op_model;

const struct op_model *op_model_find(const char *name);
bool op_model_wraps(const struct op_model *om);
/* "gemm", "conv" …: the words of class_rules where there is one. */
const char *cost_family_name(enum cost_family f);
/* list: FACT_NONE: COST_UNTOLD. */
struct op_cost op_cost(const struct op_model *om, const struct facts *f,
		       const struct intern *strings, uint32_t list);

#endif
