/*
 * cost_test: operand lists from short texts, and what they cost. A call is written as its
 * arguments, separated by blanks:
 *	bf16[16,559,64]		a tensor; "float[]": one without dimensions
 *	f32[4,8:0,1]		with strides
 *	(f32[2] f32[3])		a list of tensors
 *	=[1,2] =True =6		a value; "=" alone: none (an argument that was left out)
 *	?			an argument of which nothing is known
 */
#ifndef PROFRIG_COST_TEST_H
#define PROFRIG_COST_TEST_H

#include "test.h"

#include "profrig/cost/operator_cost.h"

struct operands {
	struct facts f;
	struct intern *strings;
};

static inline void operands_release(struct operands *o)
{
	VEC_RELEASE(&o->f.lists);
	VEC_RELEASE(&o->f.operands);
	VEC_RELEASE(&o->f.numbers);
	VEC_RELEASE(&o->f.values);
	intern_free(o->strings);
}

static inline const char *torch_word(const char *s, size_t n)
{
	static const char *const words[][2] = {
		{ "bf16", "c10::BFloat16" },
		{ "f16", "c10::Half" },
		{ "f32", "float" },
		{ "f64", "double" },
		{ "i64", "long int" },
		{ "i32", "int" },
		{ "f8", "c10::Float8_e4m3fn" },
		{ "i8", "signed char" },
		{ "b", "bool" },
		{ "c64", "c10::complex<float>" },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i][0]) == n && memcmp(words[i][0], s, n) == 0)
			return words[i][1];
	return "c10::Unheard";
}

/* "1,2" up to a ':' or ']'. */
static inline uint32_t operand_numbers(struct operands *o, const char **at)
{
	struct fact_numbers list = { (uint32_t)o->f.values.nr, 0 };

	while (**at != ']' && **at != ':') {
		char *end;

		VEC_PUSH(&o->f.values, strtoll(*at, &end, 10));
		assert_true(end > *at);
		list.nr++;
		*at = end + (*end == ',');
	}
	VEC_PUSH(&o->f.numbers, list);
	return (uint32_t)o->f.numbers.nr - 1;
}

static inline void operand_tensor(struct operands *o, const char **at, bool in)
{
	size_t n = strcspn(*at, "[");
	struct operand op = { OPERAND_TENSOR, in, FACT_NONE, FACT_NONE, STR_NONE, STR_NONE };

	op.type = intern_puts(o->strings, torch_word(*at, n));
	*at += n + 1;
	op.dims = operand_numbers(o, at);
	if (**at == ':') {
		++*at;
		op.strides = operand_numbers(o, at);
	}
	++*at;
	VEC_PUSH(&o->f.operands, op);
}

/* A blank behind a comma is in it. */
static inline size_t value_length(const char *s)
{
	size_t n = 1;

	while (s[n] && (s[n] != ' ' || s[n - 1] == ','))
		n++;
	return n;
}

static inline void operand_value(struct operands *o, const char **at)
{
	size_t n = value_length(*at);
	struct operand op = { n == 1 ? OPERAND_UNKNOWN : OPERAND_SCALAR,
			      false,
			      FACT_NONE,
			      FACT_NONE,
			      STR_NONE,
			      STR_NONE };

	op.concrete = intern_put(o->strings, *at + 1, n - 1);
	*at += n;
	VEC_PUSH(&o->f.operands, op);
}

/* One list; values: whether the trace has values of arguments. */
static inline struct operands operands_of(const char *call)
{
	struct operands o = { .strings = intern_new() };
	struct operand_list list = { 0, 0, STR_NONE, STR_NONE, STR_NONE, STR_NONE };
	bool in = false;

	for (const char *at = call; *at;) {
		if (*at == ' ') {
			at++;
		} else if (*at == '(') {
			struct operand op = { OPERAND_LIST, false,    FACT_NONE,
					      FACT_NONE,    STR_NONE, STR_NONE };

			VEC_PUSH(&o.f.operands, op);
			in = true;
			at++;
		} else if (*at == ')') {
			in = false;
			at++;
		} else if (*at == '=') {
			operand_value(&o, &at);
			list.concrete = intern_puts(o.strings, "[]");
		} else if (*at == '?') {
			struct operand op = { OPERAND_UNKNOWN, false,    FACT_NONE,
					      FACT_NONE,       STR_NONE, STR_NONE };

			VEC_PUSH(&o.f.operands, op);
			at++;
		} else {
			operand_tensor(&o, &at, in);
		}
	}
	list.nr = (uint32_t)o.f.operands.nr;
	VEC_PUSH(&o.f.lists, list);
	return o;
}

static inline struct op_cost cost_of(const char *op, const char *call)
{
	const struct op_model *om = op_model_find(op);
	CLEANUP(operands_release) struct operands o = operands_of(call);

	if (!om)
		fail_msg("%s has no model", op);
	return op_cost(om, &o.f, o.strings, 0);
}

struct cost_case {
	const char *op, *call;
	uint64_t flops, bytes; /* NONE: no number */
};
#define NONE AMOUNT_UNKNOWN

static inline void expect_costs(const struct cost_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct op_cost c = cost_of(cases[i].op, cases[i].call);

		if (c.flops != cases[i].flops || c.bytes != cases[i].bytes)
			ROW_FAIL(i, "%s %s: %lld flops, %lld bytes, state %d", cases[i].op,
				 cases[i].call, (long long)c.flops, (long long)c.bytes, c.state);
	}
}
#define EXPECT_COSTS(cases) expect_costs(cases, ARRAY_LEN(cases))

#endif
