/*
 * op_args: the arguments of one call as the formulas read them. Positions are those of the
 * operator's schema; a position that the trace does not have is an argument of kind
 * OPERAND_UNKNOWN.
 */
#ifndef ANALYSIS_COST_OP_ARGS_H
#define ANALYSIS_COST_OP_ARGS_H

#include "profrig/cost/operator_cost.h"

#define OP_ARGS_MAX 24

struct op_arg {
	enum operand_kind kind;
	bool bad;            /* its shape is none: a dimension below 0 */
	const int64_t *dim;  /* nr of them */
	const int64_t *step; /* strides, NULL unknown */
	size_t nr;
	const struct element_type *type; /* NULL unknown */
	const char *text;                /* the value; "" none */
	uint32_t at;                     /* in facts.operands */
};

/* A call, and what its formula finds. */
struct op_call {
	const struct op_model *model;
	const struct facts *f;
	const struct intern *strings;
	const struct operand_list *list;
	struct op_arg v[OP_ARGS_MAX];
	size_t nr;
	bool told; /* the trace has values of arguments at all */

	amount flops, bits;
	bool no_flops, no_bytes;
	enum cost_state state;
	const struct element_type *type;
	bool estimate;
	struct op_product product; /* see operator_cost.h */
};

/* Never NULL. */
const struct op_arg *op_arg(const struct op_call *c, size_t i);
bool arg_is_tensor(const struct op_arg *a);
/* One that the formula cannot do without: sets c->state and returns false when it is not there. */
bool need_tensor(struct op_call *c, const struct op_arg *a, size_t min_dims);
bool misfit(struct op_call *c); /* returns false */
bool untold(struct op_call *c); /* returns false */

/* All elements; those that are stored (dimensions of stride 0 left out). */
amount arg_elements(const struct op_arg *a);
amount arg_stored(const struct op_arg *a);
/* Adds what a tensor (others: nothing) has in memory. */
void move_arg(struct op_call *c, const struct op_arg *a);
/* Adds n elements; type NULL: bytes are unknown from here on. */
void move_elements(struct op_call *c, amount n, const struct element_type *type);

/* "True" → 1, "False" → 0, -1 unknown. Any other text is unknown, too. */
int arg_bool(const struct op_arg *a);
bool arg_int(const struct op_arg *a, int64_t *ret);
/* "[1, 2]" or "1"; -1: no list of numbers; else how many, of which max are stored. */
int arg_ints(const struct op_arg *a, int64_t *ret, int max);
/* "[True, False, True]" → 3. */
int arg_bools(const struct op_arg *a, bool *ret, int max);

/*
 * The element behind operand *at in the list that began there; *at moves on. false: there is none.
 */
bool list_tensor(const struct op_call *c, uint32_t *at, struct op_arg *ret);

/* The shape that two tensors broadcast to: *nr at most FACT_DIMS_MAX. false: they do not fit. */
struct op_shape {
	int64_t dim[FACT_DIMS_MAX];
	size_t nr;
};
bool shape_join(struct op_shape *s, const int64_t *dim, size_t nr);
amount shape_elements(const struct op_shape *s);

/* The formulas. at: positions of the operator's table row. */
void cost_product(struct op_call *c);
void cost_linear(struct op_call *c);
void cost_scaled(struct op_call *c);
void cost_grouped(struct op_call *c);
void cost_conv(struct op_call *c);
void cost_conv_backward(struct op_call *c);
void cost_attention(struct op_call *c);
void cost_attention_backward(struct op_call *c);
void cost_elementwise(struct op_call *c);
void cost_foreach(struct op_call *c);
void cost_softmax(struct op_call *c);
void cost_norm(struct op_call *c);
void cost_reduce(struct op_call *c);
void cost_embedding(struct op_call *c);
void cost_select(struct op_call *c);
void cost_copy(struct op_call *c);
void cost_cat(struct op_call *c);
void cost_moe(struct op_call *c);

/* Rows of op_model.c. */
struct op_model {
	const char *name;
	enum cost_family family;
	void (*cost)(struct op_call *c);
	int at[4];      /* positions and numbers, as the formula's file says; NO_ARG */
	unsigned flags; /* OP_… */
};
#define NO_ARG (-1)
#define OP_WRAPS 1u
#define OP_BOOL 2u       /* its result is bool */
#define OP_REAL 4u       /* of integers it makes f32 */
#define OP_HEADS_LAST 8u /* B, N, H, D instead of B, H, N, D */
#define OP_TRANSPOSED 16u
#define OP_INDEX 32u  /* its result is, or has beside it, an index of 8 bytes */
#define OP_VALUES 64u /* with OP_INDEX: beside it */
#define OP_IN_PLACE 128u

#endif
