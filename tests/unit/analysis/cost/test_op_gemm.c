/*
 * Products of matrices and convolutions. Numbers of whole models are from recordings of PyTorch on
 * an MI300X and an A100; those of small shapes are counted by hand.
 */
#include "cost_test.h"

TEST(products)
{
	static const struct cost_case cases[] = {
		{ "aten::mm", "bf16[8944,1024] bf16[1024,2816]", 2475914428416 / 48,
		  3573940224 / 48 },
		{ "aten::mm", "bf16[8944,2816] bf16[2816,1024]", 1237957214208 / 24,
		  1786970112 / 24 },
		{ "aten::mm", "f32[512,8192] f32[8192,8192]", 137438953472 / 2, 603979776 / 2 },
		{ "aten::addmm", "bf16[1024] bf16[8944,1024] bf16[1024,1024] =1 =1",
		  1351158202368 / 72, 2788835328 / 72 },
		{ "aten::addmm", "bf16[3072] bf16[788,768] bf16[768,3072] =1 =1", 44648054784 / 12,
		  129318912 / 12 },
		{ "aten::addmm", "f32[3906] f32[2048,512] f32[512,3906]", 65595801600 / 8,
		  353658944 / 8 },
		{ "aten::bmm", "f32[1,32,1:32,1,1] f32[1,1,559:559,559,1]", 35776, 73916 },
		/* by hand */
		{ "aten::mm", "f32[2,3] f32[3,5]", 60, 4 * (6 + 15 + 10) },
		{ "aten::addmm_", "f32[2,5] f32[2,3] f32[3,5]", 70, 4 * (10 + 6 + 15 + 10) },
		{ "aten::addmm", "f32[2,1] f32[2,3] f32[3,5]", 70, 4 * (2 + 6 + 15 + 10) },
		{ "aten::bmm", "f64[4,2,3] f64[4,3,5]", 240, 8 * (24 + 60 + 40) },
		{ "aten::bmm", "f64[4,2,3:0,3,1] f64[4,3,5]", 240, 8 * (6 + 60 + 40) },
		{ "aten::baddbmm", "f32[4,1,5] f32[4,2,3] f32[4,3,5] =1 =1", 280,
		  4 * (20 + 24 + 60 + 40) },
		{ "aten::mv", "f32[2,3] f32[3]", 12, 4 * (6 + 3 + 2) },
		{ "aten::dot", "f32[3] f32[3]", 6, 4 * (3 + 3 + 1) },
		{ "aten::matmul", "f32[7,1,2,3] f32[4,3,5]", 60 * 28, 4 * (42 + 60 + 280) },
		{ "aten::matmul", "f32[3] f32[4,3,5]", 4 * 30, 4 * (3 + 60 + 20) },
		{ "aten::linear", "f32[2,7,3] f32[5,3] f32[5]", 14 * 30 + 70,
		  4 * (42 + 15 + 5 + 70) },
		{ "aten::linear", "f32[2,7,3] f32[5,3] =", 14 * 30, 4 * (42 + 15 + 70) },
		{ "aten::linear", "f32[2,7,3] f32[3]", 14 * 6, 4 * (42 + 3 + 14) },
		{ "aten::_int_mm", "i8[2,3] i8[3,5]", 60, 6 + 15 + 40 },
		{ "aten::mm", "c64[2,3] c64[3,5]", 240, 8 * (6 + 15 + 10) },
		/* no rows are no work, and the weights are read all the same */
		{ "aten::mm", "f32[0,3] f32[3,5]", 0, 60 },
		{ "aten::mm", "f32[2,0] f32[0,5]", 0, 40 },
		/* a type that nothing is known of */
		{ "aten::mm", "huh[2,3] huh[3,5]", 60, NONE },
	};

	EXPECT_COSTS(cases);
}

static void expect_product(const char *op, const char *call, const char *want)
{
	struct op_product p = cost_of(op, call).product;
	CLEANUP(xfreep)
	char *have = xasprintf("%lld %lld %lld %lld", (long long)p.m, (long long)p.n,
			       (long long)p.k, (long long)p.batch);

	assert_string_equal(have, want);
}

/* [m,k]·[k,n], batch times; none where the shapes do not fit, or it is none. */
TEST(sizes_of_products)
{
	expect_product("aten::mm", "f32[2,3] f32[3,5]", "2 5 3 1");
	expect_product("aten::addmm", "f32[5] f32[2,3] f32[3,5] =1 =1", "2 5 3 1");
	expect_product("aten::baddbmm", "f32[4,1,5] f32[4,2,3] f32[4,3,5] =1 =1", "2 5 3 4");
	expect_product("aten::linear", "f32[2,7,3] f32[5,3] f32[5]", "14 5 3 1");
	expect_product("aten::_scaled_mm", "f8[16,32] f8[32,8] f32[] f32[] = = =6 =True",
		       "16 8 32 1");
	expect_product("aten::mm", "huh[2,3] huh[3,5]", "2 5 3 1");
	expect_product("aten::mm", "f32[2,3] f32[4,5]", "0 0 0 0");
	expect_product("aten::relu", "f32[2,3]", "0 0 0 0");
}

TEST(scaled_and_grouped)
{
	static const struct cost_case cases[] = {
		/* scales of rows and columns, a bias, out_dtype bfloat16 */
		{ "aten::_scaled_mm", "f8[16,32] f8[32,8] f32[16,1] f32[1,8] bf16[8] = =15 =False",
		  2 * 4096 + 128, 512 + 256 + 64 + 32 + 16 + 256 },
		{ "aten::_scaled_mm", "f8[16,32] f8[32,8] f32[] f32[] = = =6 =True", 2 * 4096,
		  512 + 256 + 4 + 4 + 512 },
		/* before 2.5 */
		{ "aten::_scaled_mm", "f8[16,32] f8[32,8] bf16[8] =15 f32[] f32[] = =False",
		  2 * 4096 + 128, 512 + 256 + 16 + 8 + 256 },
		/* any split of 10 rows: 2·K·N·ΣM */
		{ "aten::_grouped_mm", "bf16[10,4] bf16[3,4,6] i32[3] = =", 480,
		  2 * (40 + 72 + 60) + 12 },
		{ "aten::_grouped_mm", "bf16[3,10,4] bf16[4,6] i32[3] = =", 3 * 0 + 480,
		  2 * (120 + 24 + 60) + 12 },
		{ "aten::_grouped_mm", "bf16[10,4] bf16[4,6] i32[3] = =", 480,
		  2 * (40 + 24 + 180) + 12 },
		{ "aten::_grouped_mm", "bf16[3,10,4] bf16[3,4,6] = = =", 3 * 480,
		  2 * (120 + 72 + 180) },
		{ "aten::_grouped_mm", "bf16[10,4] bf16[4,6] = = =", NONE, NONE },
		{ "aten::_scaled_grouped_mm", "f8[10,4] f8[3,4,6] f32[10] f32[3,6] i32[3] = = =15",
		  480, 40 + 72 + 40 + 72 + 12 + 120 },
	};

	EXPECT_COSTS(cases);
}

TEST(experts)
{
	static const struct cost_case cases[] = {
		/* 5 tokens with 2 of 8 experts, H 4, I 3: all of 8 experts at most */
		{ "vllm::outplace_fused_experts",
		  "bf16[5,4] bf16[8,6,4] bf16[8,4,3] f32[5,2] i64[5,2] =silu", 6 * 10 * 12,
		  2 * (8 * 24 + 8 * 12 + 40) + 40 + 80 },
		{ "vllm::inplace_fused_experts",
		  "bf16[1,4] bf16[8,6,4] bf16[8,4,3] f32[1,2] i64[1,2] =silu", 6 * 2 * 12,
		  2 * (2 * 24 + 2 * 12 + 8) + 8 + 16 },
		{ "vllm::inplace_fused_experts",
		  "bf16[1,4] bf16[8,3,4] bf16[8,4,3] f32[1,2] i64[1,2] =relu", 4 * 2 * 12,
		  2 * (2 * 12 + 2 * 12 + 8) + 8 + 16 },
		/* weights packed two in a byte are no such shapes */
		{ "vllm::inplace_fused_experts",
		  "bf16[1,4] bf16[8,6,2] bf16[8,4,1] f32[1,2] i64[1,2]", NONE, NONE },
	};

	EXPECT_COSTS(cases);
	assert_true(cost_of(cases[0].op, cases[0].call).estimate);
}

TEST(convolutions)
{
	static const struct cost_case cases[] = {
		{ "aten::convolution",
		  "bf16[4,3,224,224] bf16[768,3,16,16] bf16[768] =[16,16] =[0,0] =[1,1] =False "
		  "=[0,0] =1",
		  925446144, 3589632 },
		{ "aten::convolution",
		  "bf16[4,3,224,224] bf16[768,3,16,16] = =[16,16] =[0,0] =[1,1] =False =[0,0] =1",
		  924844032, 3589632 - 1536 },
		{ "aten::miopen_convolution",
		  "bf16[4,3,224,224] bf16[768,3,16,16] bf16[768] =[0,0] =[16,16] =[1,1] =1 "
		  "=False =False",
		  925446144, 3589632 },
		{ "aten::cudnn_convolution",
		  "bf16[4,3,224,224] bf16[768,3,16,16] =[0,0] =[16,16] =[1,1] =1 =False =False "
		  "=True",
		  924844032, 3589632 - 1536 },
		{ "aten::conv2d", "f32[1,4,5,5] f32[6,2,3,3] f32[6] =[2,2] =[1,1] =[1,1] =2",
		  2 * 6 * 9 * 2 * 9 + 54, 4 * (100 + 108 + 6 + 54) },
		/* one number for both axes; no images */
		{ "aten::conv2d", "f32[4,5,5] f32[6,2,3,3] = =2 =[1] =1 =2", 2 * 6 * 9 * 2 * 9,
		  4 * (100 + 108 + 54) },
		/* dilation 2: 3 taps reach over 5 */
		{ "aten::conv1d", "f32[2,4,9] f32[6,4,3] = =[1] =[0] =[2] =1", 2 * 2 * 6 * 5 * 12,
		  4 * (72 + 72 + 60) },
		{ "aten::conv3d", "f32[1,1,3,3,3] f32[1,1,3,3,3] = =[1] =[0] =[1] =1", 54,
		  4 * (27 + 27 + 1) },
		/* transposed: (3 − 1)·2 − 2 + 3 + 1 = 6 on each axis */
		{ "aten::convolution",
		  "f32[1,4,3,3] f32[4,5,3,3] f32[5] =[2,2] =[1,1] =[1,1] =True =[1,1] =1",
		  2 * 36 * 45 + 180, 4 * (36 + 180 + 5 + 180) },
		{ "aten::conv_transpose2d",
		  "f32[1,4,3,3] f32[4,5,3,3] f32[5] =[2,2] =[1,1] =[1,1] =1 =[1,1]",
		  2 * 36 * 45 + 180, 4 * (36 + 180 + 5 + 180) },
		{ "aten::cudnn_convolution_transpose",
		  "f32[1,4,3,3] f32[4,5,3,3] =[1,1] =[1,1] =[2,2] =[1,1] =1 =False =False =True",
		  2 * 36 * 45, 4 * (36 + 180 + 180) },
		{ "aten::miopen_convolution_transpose",
		  "f32[1,4,3,3] f32[4,5,3,3] = =[1,1] =[1,1] =[2,2] =[1,1] =1 =False =False",
		  2 * 36 * 45, 4 * (36 + 180 + 180) },
	};

	EXPECT_COSTS(cases);
}

#define BACKWARD(mask) \
	"f32[1,6,3,3] f32[1,4,5,5] f32[6,2,3,3] =[6] =[2,2] =[1,1] =[1,1] =False =[0,0] =2 " mask

TEST(gradients_of_convolutions)
{
	enum { g = 54, x = 100, w = 108, one = 2 * g * 18 };
	static const struct cost_case cases[] = {
		{ "aten::convolution_backward", BACKWARD("=[True,True,True]"), 2 * one + g,
		  4 * (g + w + x + x + w + 6) },
		{ "aten::convolution_backward", BACKWARD("=[True, False, False]"), one,
		  4 * (g + w + x) },
		{ "aten::convolution_backward", BACKWARD("=[False, True, False]"), one,
		  4 * (g + x + w) },
		{ "aten::convolution_backward", BACKWARD("=[0,0,1]"), g, 4 * (g + 6) },
		{ "aten::convolution_backward", BACKWARD("=[False,False,False]"), 0, 4 * g },
		/* no guess when the mask is not there, or is none */
		{ "aten::convolution_backward", BACKWARD("="), NONE, NONE },
		{ "aten::convolution_backward", BACKWARD("=[True,True]"), NONE, NONE },
		{ "aten::convolution_backward", BACKWARD("=[True,True,maybe]"), NONE, NONE },
		{ "aten::convolution_backward",
		  "f32[1,5,6,6] f32[1,4,3,3] f32[4,5,3,3] =[5] =[2,2] =[1,1] =[1,1] =True =[1,1] "
		  "=1 =[True,True,False]",
		  2 * 2 * 36 * 45, 4 * (180 + 180 + 36 + 36 + 180) },
	};

	EXPECT_COSTS(cases);
}

TEST(shapes_that_are_none)
{
	static const struct {
		const char *op, *call;
		enum cost_state state;
	} cases[] = {
		{ "aten::mm", "f32[2,3] f32[4,5]", COST_MISFIT },
		{ "aten::mm", "f32[2,-3] f32[-3,5]", COST_MISFIT },
		{ "aten::mm", "f32[2] f32[2]", COST_MISFIT },
		{ "aten::mm", "f32[7,2,3] f32[3,5]", COST_MISFIT },
		{ "aten::mm", "f32[] f32[]", COST_MISFIT },
		{ "aten::mm", "f32[2,3]", COST_UNTOLD },
		{ "aten::mm", "? ?", COST_UNTOLD },
		{ "aten::mm", "", COST_UNTOLD },
		{ "aten::mm", "=1 =2", COST_UNTOLD },
		{ "aten::addmm", "f32[4] f32[2,3] f32[3,5]", COST_MISFIT },
		{ "aten::bmm", "f32[2,2,3] f32[3,3,5]", COST_MISFIT },
		{ "aten::matmul", "f32[2,2,3] f32[3,3,5]", COST_MISFIT },
		{ "aten::linear", "f32[2,3] f32[5,4]", COST_MISFIT },
		{ "aten::linear", "f32[2,3] f32[5,3] f32[4]", COST_MISFIT },
		{ "aten::mm", "f32[4611686018427387904,4] f32[4,4]", COST_OVERFLOW },
		{ "aten::mm", "f32[4294967296,4294967296] f32[4294967296,4294967296]",
		  COST_OVERFLOW },
		{ "aten::mm",
		  "f32[9223372036854775807,9223372036854775807] "
		  "f32[9223372036854775807,9223372036854775807]",
		  COST_OVERFLOW },
		{ "aten::linear", "f32[9223372036854775807,2,3] f32[5,3]", COST_OVERFLOW },
		{ "aten::conv2d", "f32[1,3,2,2] f32[6,3,3,3] = =[1,1] =[0,0] =[1,1] =1",
		  COST_MISFIT },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,2,3,3] = =[1,1] =[0,0] =[1,1] =1",
		  COST_MISFIT },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3] = =[0,0] =[0,0] =[1,1] =1",
		  COST_MISFIT },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3] = =[1,1] =[0,0] =[1,1] =0",
		  COST_MISFIT },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3]", COST_UNTOLD },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3] = =[1,1 =[0,0] =[1,1] =1",
		  COST_UNTOLD },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3] = =[1,1,1] =[0,0] =[1,1] =1",
		  COST_UNTOLD },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3] f32[5] =[1,1] =[0,0] =[1,1] =1",
		  COST_MISFIT },
		{ "aten::conv2d", "f32[1,3,5,5] f32[6,3,3,3,3,3] = =[1,1] =[0,0] =[1,1] =1",
		  COST_MISFIT },
		{ "aten::convolution",
		  "f32[1,3,5,5] f32[6,3,3,3] = =[1,1] =[0,0] =[1,1] =perhaps =[0,0] =1",
		  COST_UNTOLD },
		{ "aten::conv1d",
		  "f32[9223372036854775807,1,9223372036854775807] f32[1,1,1] = =[1] =[0] =[1] =1",
		  COST_OVERFLOW },
		{ "aten::conv1d",
		  "f32[1,1,5] f32[1,1,5] = =[1] =[9223372036854775807] =[9223372036854775807] =1",
		  COST_MISFIT },
		{ "aten::convolution_backward",
		  "f32[1,6,3,3] f32[1,4,5,5] f32[6,2,3,3] =[6] =[2,2] =[1,1] =[1,1] =False "
		  "=[0,0] =1 =[True,True,True]",
		  COST_MISFIT },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct op_cost c = cost_of(cases[i].op, cases[i].call);

		if (c.state != cases[i].state || c.flops != NONE || c.bytes != NONE)
			ROW_FAIL(i, "%s %s: state %d, %lld flops", cases[i].op, cases[i].call,
				 c.state, (long long)c.flops);
	}
}

/* What no operator list has: no list at all. */
TEST(without_operands)
{
	CLEANUP(operands_release) struct operands o = operands_of("f32[2,3] f32[3,5]");
	const struct op_model *mm = op_model_find("aten::mm");

	assert_int_equal(op_cost(mm, &o.f, o.strings, FACT_NONE).state, COST_UNTOLD);
	assert_int_equal(op_cost(mm, &o.f, o.strings, 7).state, COST_UNTOLD);
	assert_null(op_model_find("aten::mmm"));
	assert_null(op_model_find("aten::m"));
	assert_null(op_model_find(""));
	assert_null(op_model_find("_"));
	assert_true(op_model_wraps(op_model_find("aten::linear")));
	assert_false(op_model_wraps(mm));
}
