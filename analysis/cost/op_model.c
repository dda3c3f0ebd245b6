#include "op_args.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* clang-format off */
#define AT(...) { __VA_ARGS__ }
#define EACH_UNARY(X) \
	X("abs", 0) X("neg", 0) X("exp", OP_REAL) X("exp2", OP_REAL) X("expm1", OP_REAL) \
	X("log", OP_REAL) X("log2", OP_REAL) X("log10", OP_REAL) X("log1p", OP_REAL) \
	X("sqrt", OP_REAL) X("rsqrt", OP_REAL) X("reciprocal", OP_REAL) X("sin", OP_REAL) \
	X("cos", OP_REAL) X("tan", OP_REAL) X("asin", OP_REAL) X("acos", OP_REAL) \
	X("atan", OP_REAL) X("sinh", OP_REAL) X("cosh", OP_REAL) X("tanh", OP_REAL) \
	X("sigmoid", OP_REAL) X("log_sigmoid", OP_REAL) X("relu", 0) X("relu6", 0) X("gelu", 0) \
	X("silu", 0) X("mish", 0) X("elu", 0) X("selu", 0) X("celu", 0) X("hardtanh", 0) \
	X("hardsigmoid", 0) X("hardswish", 0) X("leaky_relu", 0) X("softplus", 0) \
	X("erf", OP_REAL) X("erfc", OP_REAL) X("erfinv", OP_REAL) X("floor", 0) X("ceil", 0) \
	X("round", 0) X("trunc", 0) X("frac", 0) X("sign", 0) X("sgn", 0) X("square", 0) \
	X("clamp", 0) X("clamp_min", 0) X("clamp_max", 0) X("threshold", 0) X("nan_to_num", 0) \
	X("logit", OP_REAL) X("bitwise_not", 0) X("logical_not", OP_BOOL) X("isnan", OP_BOOL) \
	X("isinf", OP_BOOL) X("isfinite", OP_BOOL) X("lgamma", OP_REAL) X("digamma", OP_REAL)
#define EACH_BINARY(X) \
	X("add", 0) X("sub", 0) X("rsub", 0) X("mul", 0) X("div", OP_REAL) \
	X("true_divide", OP_REAL) X("floor_divide", 0) X("remainder", 0) X("fmod", 0) X("pow", 0) \
	X("maximum", 0) X("minimum", 0) X("fmax", 0) X("fmin", 0) X("atan2", OP_REAL) \
	X("hypot", 0) X("xlogy", OP_REAL) X("copysign", OP_REAL) X("bitwise_and", 0) \
	X("bitwise_or", 0) X("bitwise_xor", 0) X("logical_and", OP_BOOL) X("logical_or", OP_BOOL) \
	X("logical_xor", OP_BOOL) X("eq", OP_BOOL) X("ne", OP_BOOL) X("lt", OP_BOOL) \
	X("le", OP_BOOL) X("gt", OP_BOOL) X("ge", OP_BOOL) X("threshold_backward", 0) \
	X("tanh_backward", 0) X("sigmoid_backward", 0) X("gelu_backward", 0) \
	X("silu_backward", 0) X("mish_backward", 0) X("hardswish_backward", 0) \
	X("hardsigmoid_backward", 0) X("hardtanh_backward", 0) X("leaky_relu_backward", 0) \
	X("elu_backward", 0) X("softplus_backward", 0) X("logit_backward", 0)
#define ELEMENTWISE(op, inputs, flags) \
	{ "aten::" op, COST_ELEMENTWISE, cost_elementwise, AT(inputs), flags }, \
	{ "aten::" op "_", COST_ELEMENTWISE, cost_elementwise, AT(inputs), (flags) | OP_IN_PLACE },
#define UNARY(op, flags) ELEMENTWISE(op, 1, flags)
#define BINARY(op, flags) ELEMENTWISE(op, 2, flags)

/* at: see the head of each formula's file. "addmm_" has the row of "addmm". */
static const struct op_model models[] = {
	/* matrices, what is added to their product, dimensions of the matrices (0: any) */
	{ "aten::mm", COST_GEMM, cost_product, AT(0, 1, NO_ARG, 2), 0 },
	{ "aten::_int_mm", COST_GEMM, cost_product, AT(0, 1, NO_ARG, 2), 0 },
	{ "aten::bmm", COST_GEMM, cost_product, AT(0, 1, NO_ARG, 3), 0 },
	{ "aten::mv", COST_GEMM, cost_product, AT(0, 1, NO_ARG), 0 },
	{ "aten::dot", COST_GEMM, cost_product, AT(0, 1, NO_ARG), 0 },
	{ "aten::matmul", COST_GEMM, cost_product, AT(0, 1, NO_ARG), OP_WRAPS },
	{ "aten::addmm", COST_GEMM, cost_product, AT(1, 2, 0, 2), 0 },
	{ "aten::_addmm_activation", COST_GEMM, cost_product, AT(1, 2, 0, 2), 0 },
	{ "aten::addmv", COST_GEMM, cost_product, AT(1, 2, 0), 0 },
	{ "aten::baddbmm", COST_GEMM, cost_product, AT(1, 2, 0, 3), 0 },
	{ "aten::linear", COST_GEMM, cost_linear, AT(0, 1, 2), OP_WRAPS },
	{ "aten::mkldnn_linear", COST_GEMM, cost_linear, AT(0, 1, 2), 0 },
	{ "aten::_scaled_mm", COST_GEMM, cost_scaled, AT(NO_ARG), 0 },
	{ "aten::_grouped_mm", COST_GEMM, cost_grouped, AT(2, NO_ARG, NO_ARG, 4), 0 },
	{ "aten::_scaled_grouped_mm", COST_GEMM, cost_grouped, AT(4, 2, 3, 7), 0 },
	/* stride, padding, dilation, groups */
	{ "aten::convolution", COST_CONV, cost_conv, AT(3, 4, 5, 8), 0 },
	{ "aten::_convolution", COST_CONV, cost_conv, AT(3, 4, 5, 8), 0 },
	{ "aten::convolution_overrideable", COST_CONV, cost_conv, AT(3, 4, 5, 8), 0 },
	{ "aten::cudnn_convolution", COST_CONV, cost_conv, AT(3, 2, 4, 5), 0 },
	{ "aten::miopen_convolution", COST_CONV, cost_conv, AT(4, 3, 5, 6), 0 },
	{ "aten::miopen_depthwise_convolution", COST_CONV, cost_conv, AT(4, 3, 5, 6), 0 },
	{ "aten::mkldnn_convolution", COST_CONV, cost_conv, AT(4, 3, 5, 6), 0 },
	{ "aten::cudnn_convolution_transpose", COST_CONV, cost_conv, AT(4, 2, 5, 6),
	  OP_TRANSPOSED },
	{ "aten::miopen_convolution_transpose", COST_CONV, cost_conv, AT(5, 3, 6, 7),
	  OP_TRANSPOSED },
	{ "aten::conv1d", COST_CONV, cost_conv, AT(3, 4, 5, 6), OP_WRAPS },
	{ "aten::conv2d", COST_CONV, cost_conv, AT(3, 4, 5, 6), OP_WRAPS },
	{ "aten::conv3d", COST_CONV, cost_conv, AT(3, 4, 5, 6), OP_WRAPS },
	{ "aten::conv_transpose1d", COST_CONV, cost_conv, AT(3, 4, 7, 6),
	  OP_WRAPS | OP_TRANSPOSED },
	{ "aten::conv_transpose2d", COST_CONV, cost_conv, AT(3, 4, 7, 6),
	  OP_WRAPS | OP_TRANSPOSED },
	{ "aten::conv_transpose3d", COST_CONV, cost_conv, AT(3, 4, 7, 6),
	  OP_WRAPS | OP_TRANSPOSED },
	{ "aten::convolution_backward", COST_CONV, cost_conv_backward, AT(7, 9, 10), 0 },
	/* is_causal, lengths of packed sequences, a mask by number */
	{ "aten::scaled_dot_product_attention", COST_ATTENTION, cost_attention,
	  AT(5, NO_ARG, NO_ARG), OP_WRAPS },
	{ "aten::_scaled_dot_product_flash_attention", COST_ATTENTION, cost_attention,
	  AT(4, NO_ARG, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu", COST_ATTENTION, cost_attention,
	  AT(4, NO_ARG, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_efficient_attention", COST_ATTENTION, cost_attention,
	  AT(6, NO_ARG, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_cudnn_attention", COST_ATTENTION, cost_attention,
	  AT(6, NO_ARG, NO_ARG), 0 },
	{ "aten::_flash_attention_forward", COST_ATTENTION, cost_attention, AT(8, 3, NO_ARG),
	  OP_HEADS_LAST },
	{ "aten::_efficient_attention_forward", COST_ATTENTION, cost_attention,
	  AT(NO_ARG, 4, 9), OP_HEADS_LAST },
	{ "flash_attn::_flash_attn_forward", COST_ATTENTION, cost_attention,
	  AT(5, NO_ARG, NO_ARG), OP_HEADS_LAST },
	{ "flash_attn::_flash_attn_varlen_forward", COST_ATTENTION, cost_attention,
	  AT(NO_ARG, 3, NO_ARG), OP_HEADS_LAST },
	{ "aten::_scaled_dot_product_flash_attention_backward", COST_ATTENTION,
	  cost_attention_backward, AT(11, 6, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu_backward", COST_ATTENTION,
	  cost_attention_backward, AT(7, NO_ARG, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_efficient_attention_backward", COST_ATTENTION,
	  cost_attention_backward, AT(11, NO_ARG, NO_ARG), 0 },
	{ "aten::_scaled_dot_product_cudnn_attention_backward", COST_ATTENTION,
	  cost_attention_backward, AT(14, 9, NO_ARG), 0 },
	{ "aten::_flash_attention_backward", COST_ATTENTION, cost_attention_backward,
	  AT(11, 6, NO_ARG), OP_HEADS_LAST },
	{ "aten::_efficient_attention_backward", COST_ATTENTION, cost_attention_backward,
	  AT(NO_ARG, 6, 14), OP_HEADS_LAST },
	{ "flash_attn::_flash_attn_backward", COST_ATTENTION, cost_attention_backward,
	  AT(11, NO_ARG, NO_ARG), OP_HEADS_LAST },
	/* parameters: first and last; whether it trains */
	{ "aten::native_layer_norm", COST_NORM, cost_norm, AT(2, 3, NO_ARG), 0 },
	{ "aten::layer_norm", COST_NORM, cost_norm, AT(2, 3, NO_ARG), OP_WRAPS },
	{ "aten::native_batch_norm", COST_NORM, cost_norm, AT(1, 4, 5), 0 },
	{ "aten::cudnn_batch_norm", COST_NORM, cost_norm, AT(1, 4, 5), 0 },
	{ "aten::miopen_batch_norm", COST_NORM, cost_norm, AT(1, 4, 5), 0 },
	{ "aten::_native_batch_norm_legit", COST_NORM, cost_norm, AT(1, 4, 5), 0 },
	{ "aten::batch_norm", COST_NORM, cost_norm, AT(1, 4, 5), OP_WRAPS },
	{ "aten::_batch_norm_impl_index", COST_NORM, cost_norm, AT(1, 4, 5), OP_WRAPS },
	{ "aten::native_group_norm", COST_NORM, cost_norm, AT(1, 2, NO_ARG), 0 },
	{ "aten::group_norm", COST_NORM, cost_norm, AT(2, 3, NO_ARG), OP_WRAPS },
	{ "aten::_fused_rms_norm", COST_NORM, cost_norm, AT(2, 2, NO_ARG), 0 },
	{ "aten::rms_norm", COST_NORM, cost_norm, AT(2, 2, NO_ARG), OP_WRAPS },
	/* inputs; where its result is stated to be f32 */
	{ "aten::_softmax", COST_SOFTMAX, cost_softmax, AT(1, 2), 0 },
	{ "aten::_log_softmax", COST_SOFTMAX, cost_softmax, AT(1, 2), 0 },
	{ "aten::softmax", COST_SOFTMAX, cost_softmax, AT(1, NO_ARG), OP_WRAPS },
	{ "aten::log_softmax", COST_SOFTMAX, cost_softmax, AT(1, NO_ARG), OP_WRAPS },
	{ "aten::_softmax_backward_data", COST_SOFTMAX, cost_softmax, AT(2, NO_ARG), 0 },
	{ "aten::_log_softmax_backward_data", COST_SOFTMAX, cost_softmax, AT(2, NO_ARG), 0 },
	/* dim, dtype, least number of arguments of the form that has a dim */
	{ "aten::sum", COST_REDUCE, cost_reduce, AT(1, 3, 3), 0 },
	{ "aten::mean", COST_REDUCE, cost_reduce, AT(1, 3, 3), 0 },
	{ "aten::nansum", COST_REDUCE, cost_reduce, AT(1, 3, 3), 0 },
	{ "aten::prod", COST_REDUCE, cost_reduce, AT(1, 3, 3), 0 },
	{ "aten::amax", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), 0 },
	{ "aten::amin", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), 0 },
	{ "aten::max", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_INDEX | OP_VALUES },
	{ "aten::min", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_INDEX | OP_VALUES },
	{ "aten::argmax", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_INDEX },
	{ "aten::argmin", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_INDEX },
	{ "aten::any", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_BOOL },
	{ "aten::all", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), OP_BOOL },
	{ "aten::logsumexp", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 3), 0 },
	{ "aten::var", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 4), 0 },
	{ "aten::std", COST_REDUCE, cost_reduce, AT(1, NO_ARG, 4), 0 },
	{ "aten::norm", COST_REDUCE, cost_reduce, AT(2, 4, 4), 0 },
	{ "aten::linalg_vector_norm", COST_REDUCE, cost_reduce, AT(2, 4, 4), 0 },
	{ "aten::embedding", COST_EMBEDDING, cost_embedding, AT(0, 1), 0 },
	{ "aten::index_select", COST_EMBEDDING, cost_select, AT(0, 1, 2), 0 },
	{ "aten::copy_", COST_COPY, cost_copy, AT(1), 0 },
	{ "aten::clone", COST_COPY, cost_copy, AT(0), OP_WRAPS },
	{ "aten::fill_", COST_COPY, cost_copy, AT(NO_ARG), 0 },
	{ "aten::zero_", COST_COPY, cost_copy, AT(NO_ARG), 0 },
	{ "aten::cat", COST_COPY, cost_cat, AT(0), 0 },
	{ "aten::stack", COST_COPY, cost_cat, AT(0), OP_WRAPS },
	{ "vllm::inplace_fused_experts", COST_MOE, cost_moe, AT(0, 1, 2, 4), 0 },
	{ "vllm::outplace_fused_experts", COST_MOE, cost_moe, AT(0, 1, 2, 4), 0 },
	{ "sglang::inplace_fused_experts", COST_MOE, cost_moe, AT(0, 1, 2, 4), 0 },
	{ "sglang::outplace_fused_experts", COST_MOE, cost_moe, AT(0, 1, 2, 4), 0 },
	{ "aiter::fused_moe_", COST_MOE, cost_moe, AT(0, 1, 2, 4), 0 },
	{ "aten::where", COST_ELEMENTWISE, cost_elementwise, AT(3), 0 },
	ELEMENTWISE("addcmul", 3, 0)
	ELEMENTWISE("addcdiv", 3, 0)
	ELEMENTWISE("lerp", 3, 0)
	ELEMENTWISE("masked_fill", 2, 0)
	EACH_UNARY(UNARY)
	EACH_BINARY(BINARY)
};
static const struct op_model foreach_model = { "aten::_foreach_", COST_ELEMENTWISE, cost_foreach,
					       AT(0), 0 };
/* clang-format on */

static const struct op_model *model_named(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(models); i++)
		if (strncmp(models[i].name, name, n) == 0 && !models[i].name[n])
			return &models[i];
	return NULL;
}

const struct op_model *op_model_find(const char *name)
{
	size_t n = strlen(name);
	const struct op_model *om = model_named(name, n);

	if (!om && n && name[n - 1] == '_')
		om = model_named(name, n - 1);
	if (!om && strncmp(name, foreach_model.name, strlen(foreach_model.name)) == 0)
		om = &foreach_model;
	return om;
}

bool op_model_wraps(const struct op_model *om)
{
	return om->flags & OP_WRAPS;
}

const char *cost_family_name(enum cost_family f)
{
	static const char *const names[] = { "gemm",    "conv",        "attention", "norm",
					     "softmax", "elementwise", "reduce",    "embedding",
					     "moe",     "copy" };

	return names[f];
}

static const char *text_of(const struct op_call *c, str_id id)
{
	return id == STR_NONE ? "" : intern_str(c->strings, id);
}

static const int64_t *numbers_of(const struct op_call *c, uint32_t id, size_t *ret_nr)
{
	if (id >= c->f->numbers.nr) {
		*ret_nr = 0;
		return NULL;
	}
	*ret_nr = c->f->numbers.v[id].nr;
	return c->f->values.v + c->f->numbers.v[id].first;
}

static void arg_fill(const struct op_call *c, uint32_t at, struct op_arg *a)
{
	const struct operand *o = &c->f->operands.v[at];
	size_t steps;

	*a = (struct op_arg){ .kind = o->kind, .at = at, .text = text_of(c, o->concrete) };
	a->type = element_type_torch(text_of(c, o->type));
	a->dim = numbers_of(c, o->dims, &a->nr);
	a->step = numbers_of(c, o->strides, &steps);
	if (steps != a->nr)
		a->step = NULL;
	a->bad = o->kind == OPERAND_TENSOR && (o->dims == FACT_NONE || a->nr > FACT_DIMS_MAX);
	for (size_t i = 0; i < a->nr && !a->bad; i++)
		a->bad = a->dim[i] < 0;
}

static void call_fill(struct op_call *c)
{
	for (uint32_t i = 0; i < c->list->nr && c->nr < OP_ARGS_MAX; i++)
		if (!c->f->operands.v[c->list->first + i].in)
			arg_fill(c, c->list->first + i, &c->v[c->nr++]);
	c->told = c->list->concrete != STR_NONE;
}

bool list_tensor(const struct op_call *c, uint32_t *at, struct op_arg *ret)
{
	uint32_t end = c->list->first + c->list->nr;

	if (++*at >= end || !c->f->operands.v[*at].in)
		return false;
	arg_fill(c, *at, ret);
	return true;
}

static bool moves_only(enum cost_family f)
{
	return f == COST_COPY || f == COST_EMBEDDING;
}

static void result_set(const struct op_call *c, struct op_cost *ret)
{
	ret->state = c->state;
	ret->type = c->type;
	ret->estimate = c->estimate;
	if (c->state != COST_KNOWN)
		return;
	if ((!c->no_flops && !amount_u64(c->flops, &ret->flops)) ||
	    (!c->no_bytes && (c->bits == AMOUNT_MAX || !amount_u64(c->bits / 8, &ret->bytes)))) {
		ret->flops = ret->bytes = AMOUNT_UNKNOWN;
		ret->state = COST_OVERFLOW;
	} else if (c->no_bytes && (c->no_flops || moves_only(ret->family))) {
		ret->flops = AMOUNT_UNKNOWN;
		ret->state = COST_UNTOLD;
	}
	if (ret->state == COST_KNOWN)
		ret->product = c->product;
}

struct op_cost op_cost(const struct op_model *om, const struct facts *f,
		       const struct intern *strings, uint32_t list)
{
	struct op_call c = { .model = om, .f = f, .strings = strings, .state = COST_KNOWN };
	struct op_cost ret = { .state = COST_UNTOLD,
			       .family = om->family,
			       .flops = AMOUNT_UNKNOWN,
			       .bytes = AMOUNT_UNKNOWN,
			       .nominal = om->family != COST_GEMM && om->family != COST_CONV &&
					  om->family != COST_ATTENTION && om->family != COST_MOE };

	if (list >= f->lists.nr)
		return ret;
	c.list = &f->lists.v[list];
	call_fill(&c);
	om->cost(&c);
	result_set(&c, &ret);
	return ret;
}
