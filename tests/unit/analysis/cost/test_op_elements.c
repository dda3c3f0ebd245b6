/* Attention, norms, reductions and what is done element by element. */
#include "cost_test.h"

#define QKV "bf16[16,16,559,64] bf16[16,16,559,64] bf16[16,16,559,64] "
#define VIT "bf16[4,12,197,64] bf16[4,12,197,64] bf16[4,12,197,64] "
#define SMALL "f32[2,4,3,8] f32[2,2,5,8] f32[2,2,5,6] "
#define HEADS_LAST "f32[2,3,4,8] f32[2,5,2,8] f32[2,5,2,6] "

enum {
	/* of SMALL: all and causal pairs (twice), elements of Q, K, V, O */
	ALL = 15,
	CAUSAL2 = 3 * (10 - 3),
	Q = 192,
	K = 160,
	V = 120,
	O = 144,
	IO = 4 * (Q + K + V + O),
};

TEST(attention)
{
	static const struct cost_case cases[] = {
		{ "aten::_scaled_dot_product_flash_attention", QKV "=0. =True =False =0.125",
		  245745057792 / 24, 1758461952 / 24 },
		{ "aten::_scaled_dot_product_flash_attention", VIT "=0. =False =False =0.125",
		  5722619904 / 12, 58097664 / 12 },
		{ "aten::_flash_attention_forward",
		  "bf16[16,559,16,64] bf16[16,559,16,64] bf16[16,559,16,64] = = =559 =559 =0. "
		  "=True =False =0.125",
		  245745057792 / 24, 1758461952 / 24 },
		{ "aten::scaled_dot_product_attention", QKV "= =0. =True =0.125 =False",
		  245745057792 / 24, 1758461952 / 24 },
		/* grouped heads, other extents of keys and values */
		{ "aten::scaled_dot_product_attention", SMALL "= =0. =False = =True",
		  2 * 8 * ALL * 14, IO },
		{ "aten::scaled_dot_product_attention", SMALL "= =0. =True = =True",
		  8 * CAUSAL2 * 14, IO },
		{ "aten::_scaled_dot_product_efficient_attention", SMALL "= =True =0. =True",
		  8 * CAUSAL2 * 14, IO },
		{ "aten::_scaled_dot_product_cudnn_attention", SMALL "= =True =0. =False",
		  2 * 8 * ALL * 14, IO },
		{ "aten::_scaled_dot_product_flash_attention_for_cpu",
		  SMALL "=0. =False =", 2 * 8 * ALL * 14, IO },
		{ "aten::_efficient_attention_forward", HEADS_LAST "= = = = = =0. =0 =True",
		  2 * 8 * ALL * 14, IO },
		{ "aten::_efficient_attention_forward", HEADS_LAST "= = = = =0. =0 =True", NONE,
		  IO },
		{ "aten::_efficient_attention_forward", HEADS_LAST "= = = = = =0. =2 =True",
		  8 * CAUSAL2 * 14, IO },
		{ "flash_attn::_flash_attn_forward", HEADS_LAST "=0. =0.125 =True",
		  8 * CAUSAL2 * 14, IO },
		/* more queries than keys: 3 keys, the last 3 of 5 queries: 3²/2 pairs */
		{ "aten::scaled_dot_product_attention",
		  "f32[1,1,5,8] f32[1,1,3,8] f32[1,1,3,8] = =0. =True", 9 * 16,
		  4 * (40 + 24 + 24 + 40) },
		/* whether it is causal is not known, so are lengths of packed sequences */
		{ "aten::scaled_dot_product_attention", SMALL, NONE, IO },
		{ "aten::scaled_dot_product_attention", SMALL "= =0. =", NONE, IO },
		{ "aten::_flash_attention_forward",
		  "f32[6,4,8] f32[10,2,8] f32[10,2,6] i32[3] i32[3] =3 =5 =0. =True =False", NONE,
		  IO },
		{ "flash_attn::_flash_attn_varlen_forward",
		  "f32[6,4,8] f32[10,2,8] f32[10,2,6] i32[3] i32[3] =3 =5 =0. =0.1 =True", NONE,
		  IO },
		/* shared keys: stride 0 */
		{ "aten::scaled_dot_product_attention",
		  "f32[2,4,3,8] f32[2,2,5,8:0,40,8,1] f32[2,2,5,6] = =0. =False", 2 * 8 * ALL * 14,
		  IO - 4 * 80 },
	};

	EXPECT_COSTS(cases);
}

TEST(attention_backward)
{
	static const struct cost_case cases[] = {
		{ "aten::_scaled_dot_product_flash_attention_backward",
		  "f32[2,4,3,6] " SMALL "f32[2,4,3,6] f32[2,4,3] = = =3 =5 =0. =True",
		  8 * CAUSAL2 * 36, 2 * IO },
		{ "aten::_scaled_dot_product_efficient_attention_backward",
		  "f32[2,4,3,6] " SMALL "= f32[2,4,3,6] f32[2,4,3] = = =0. =[1,1,1,0] =False",
		  2 * 8 * ALL * 36, 2 * IO },
		{ "aten::_flash_attention_backward",
		  "f32[2,3,4,6] " HEADS_LAST "f32[2,3,4,6] f32[2,4,3] = = =3 =5 =0. =False",
		  2 * 8 * ALL * 36, 2 * IO },
		{ "aten::_flash_attention_backward",
		  "f32[6,4,6] f32[6,4,8] f32[10,2,8] f32[10,2,6] f32[6,4,6] f32[4,6] i32[3] "
		  "i32[3] =3 =5 =0. =False",
		  NONE, 2 * IO },
	};

	EXPECT_COSTS(cases);
	/* 2.5 times the forward where D = Dv */
	assert_int_equal(
		2 * cost_of("aten::_scaled_dot_product_flash_attention_backward",
			    "bf16[4,12,197,64] " VIT "? ? = = =1 =1 =0. =True")
				.flops,
		5 * cost_of("aten::_scaled_dot_product_flash_attention", VIT "=0. =True").flops);
}

TEST(norms)
{
	static const struct cost_case cases[] = {
		{ "aten::native_layer_norm", "bf16[4,197,768] =[768] bf16[768] bf16[768] =1e-5",
		  8 * 605184, 2 * (2 * 605184 + 2 * 768) },
		{ "aten::native_layer_norm", "f32[2,3] =[3] = = =1e-5", 48, 48 },
		{ "aten::native_batch_norm",
		  "f32[2,3,4] f32[3] f32[3] f32[3] f32[3] =False =0.1 =1e-5", 192,
		  4 * (24 + 24 + 12) },
		{ "aten::cudnn_batch_norm",
		  "f32[2,3,4] f32[3] f32[3] f32[3] f32[3] =True =0.1 =1e-5", 192,
		  4 * (48 + 24 + 12) },
		{ "aten::native_batch_norm", "f32[2,3,4] f32[3] f32[3] f32[3] f32[3]", 192, NONE },
		{ "aten::native_group_norm", "f32[2,6,4] f32[6] f32[6] =2 =6 =4 =3 =1e-5", 384,
		  4 * (96 + 12) },
		{ "aten::_fused_rms_norm", "bf16[2,6] =[6] bf16[6] =1e-6", 96, 2 * (24 + 6) },
	};

	EXPECT_COSTS(cases);
}

TEST(softmax)
{
	static const struct cost_case cases[] = {
		{ "aten::_softmax", "f32[2,3] =1 =False", 30, 48 },
		{ "aten::_softmax", "f16[2,3] =1 =True", 30, 12 + 24 },
		{ "aten::_log_softmax", "f16[2,3] =1 =False", 30, 24 },
		{ "aten::_softmax_backward_data", "f32[2,3] f32[2,3] =1 =6", 30, 72 },
	};

	EXPECT_COSTS(cases);
}

TEST(reductions)
{
	static const struct cost_case cases[] = {
		{ "aten::mean", "f32[16,559,1024] =[-1] =True =", 16 * 559 * 1024, 36670400 },
		{ "aten::mean", "f32[16,559,1024] =[2] =False =", 16 * 559 * 1024, 36670400 },
		{ "aten::sum", "f32[5,128] =[0] =True =", 640, 4 * (640 + 128) },
		{ "aten::sum", "f32[5,128] =[0,1] =False =", 640, 4 * 641 },
		{ "aten::sum", "f32[5,128] =", 640, 4 * 641 },
		{ "aten::sum", "f32[5,128] =7", 640, 4 * 640 + 8 },
		{ "aten::sum", "f32[5,128] =[1] =True =7", 640, 4 * 640 + 5 * 8 },
		{ "aten::mean", "f32[5,128] =[] =False = =", 640, 4 * 641 },
		{ "aten::sum", "i32[5,128] =[1] =False =", 640, 4 * 640 + 5 * 8 },
		{ "aten::sum", "f32[5,128:0,1] =[0] =False =", 640, 4 * 256 },
		{ "aten::amax", "f16[5,128] =[1] =False", 640, 2 * 645 },
		{ "aten::max", "f32[2,2048,1] =0 =False", 4096, 4 * 4096 + 2048 * 12 },
		{ "aten::max", "f32[5]", 5, 24 },
		{ "aten::max", "f32[5] f32[5]", 5, 60 },
		{ "aten::argmax", "f32[5,8] =-1 =False", 40, 160 + 40 },
		{ "aten::argmax", "f32[5,8] = =False", 40, 168 },
		{ "aten::any", "b[5,8] =1 =False", 40, 45 },
		{ "aten::all", "b[5,8]", 40, 41 },
		{ "aten::linalg_vector_norm", "f32[5,8] =2 =[1] =False =", 40, 180 },
		{ "aten::var", "f32[5,8] =[1] =1 =False", 40, 180 },
		{ "aten::sum", "f32[] =[0] =False =", 1, 8 },
		/* no dim is known in a trace without values; none of these is one */
		{ "aten::sum", "f32[5,8] ? ? ?", NONE, NONE },
		{ "aten::sum", "f32[5,8] =[2] =True =", NONE, NONE },
		{ "aten::sum", "f32[5,8] =[0,0] =True =", NONE, NONE },
		{ "aten::sum", "f32[5,8] =[-3] =True =", NONE, NONE },
		{ "aten::sum", "f32[5,8] =[x] =True =", NONE, NONE },
	};

	EXPECT_COSTS(cases);
}

TEST(elements)
{
	static const struct cost_case cases[] = {
		{ "aten::add", "bf16[4,197,768] bf16[1,197,768] =1", 605184,
		  2 * (605184 + 151296 + 605184) },
		{ "aten::add_", "bf16[4,768,14,14] bf16[1,768,1,1] =1", 602112,
		  2 * (602112 + 768 + 602112) },
		{ "aten::mul", "f32[2,3] f64[]", 6, 24 + 8 + 24 },
		{ "aten::mul", "f32[2,1] f32[1,3]", 6, 4 * (2 + 3 + 6) },
		{ "aten::mul", "f32[2,3:0,1] f32[2,3]", 6, 4 * (3 + 6 + 6) },
		{ "aten::mul", "f16[4] f32[4]", 4, 8 + 16 + 16 },
		{ "aten::mul", "f16[4] bf16[4]", 4, 8 + 8 + 16 },
		{ "aten::mul_", "f16[4] f32[4]", 4, 8 + 16 + 8 },
		{ "aten::add", "i64[4] i32[4] =1", 4, 32 + 16 + 32 },
		{ "aten::div", "i64[4] =2", 4, 32 + 16 },
		{ "aten::eq", "i64[16,559] =1", 8944, 8 * 8944 + 8944 },
		{ "aten::eq_", "f32[4] f32[4]", 4, 48 },
		{ "aten::where", "b[8] f32[8] f32[]", 8, 8 + 32 + 4 + 32 },
		{ "aten::where", "b[8,1] f32[4] f32[4]", 32, 8 + 16 + 16 + 128 },
		{ "aten::silu", "bf16[16,559,2816]", 25186304, 4 * 25186304 },
		{ "aten::addcmul_", "f32[4] f32[4] f32[4] =1", 4, 64 },
		{ "aten::masked_fill_", "f32[4] b[4] =0", 4, 16 + 4 + 16 },
		{ "aten::_foreach_add_", "(f32[2,3] f32[5]) (f32[2,3] f32[5]) =1", 11, 4 * 33 },
		{ "aten::pow", "f32[512,2842] f32[512] f32[2048,1421]", NONE, NONE },
		{ "aten::add_", "f32[1,3] f32[2,3] =1", NONE, NONE },
		{ "aten::add", "? ?", NONE, NONE },
	};

	EXPECT_COSTS(cases);
}

TEST(tables_and_copies)
{
	static const struct cost_case cases[] = {
		{ "aten::embedding", "bf16[151936,1024] i64[16,559] =-1 =False =False", 0,
		  2 * 8944 * 1024 * 2 + 8944 * 8 },
		{ "aten::index_select", "bf16[151936,1024] =0 i64[8944]", 0,
		  2 * 8944 * 1024 * 2 + 8944 * 8 },
		{ "aten::index_select", "f32[4,5] =-1 i64[2]", 0, 2 * 8 * 4 + 16 },
		{ "aten::copy_", "f32[2048,256] b[2048,256] =False", 0, 5 * 524288 },
		{ "aten::copy_", "f32[2,3] f32[2,3:0,1] =False", 0, 36 },
		{ "aten::fill_", "f32[50] =0", 0, 200 },
		{ "aten::zero_", "f32[50]", 0, 200 },
		{ "aten::clone", "f32[50] =", 0, 400 },
		{ "aten::cat", "(bf16[4,1,768:0,768,1] bf16[4,196,768]) =1", 0,
		  2 * (768 + 3072 + 2 * 602112) },
		{ "aten::cat", "? =1", NONE, NONE },
		{ "aten::cat", "(huh[2,3] huh[2,3]) =1", NONE, NONE },
		{ "aten::index_select", "f32[4,5] =2 i64[2]", NONE, NONE },
		{ "aten::embedding", "f32[7] i64[2]", NONE, NONE },
	};

	EXPECT_COSTS(cases);
}

/* Random texts and shapes: a number, or none, and no fault. */
TEST(anything)
{
	static const char *const ops[] = {
		"aten::mm",
		"aten::baddbmm",
		"aten::matmul",
		"aten::linear",
		"aten::_scaled_mm",
		"aten::_grouped_mm",
		"aten::conv2d",
		"aten::convolution",
		"aten::convolution_backward",
		"aten::sum",
		"aten::max",
		"aten::add",
		"aten::where",
		"aten::cat",
		"aten::embedding",
		"aten::_softmax",
		"aten::index_select",
		"aten::_flash_attention_forward",
		"vllm::inplace_fused_experts",
		"aten::native_batch_norm",
		"aten::_efficient_attention_backward",
		"aten::_foreach_add_",
	};
	static const char *const words[] = {
		"f32[2,3]",
		"f32[3,4]",
		"f32[]",
		"f32[-1,2]",
		"huh[1,2,3]",
		"=[1,2]",
		"=True",
		"=",
		"?",
		"=[",
		"=]",
		"=[,]",
		"=-1",
		"=99999999999999999999",
		"(f32[2])",
		"()",
		"f32[9223372036854775807,2]",
		"f32[2,3:0,0]",
		"f32[2,3:1]",
		"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
		"f32[0]",
		"=[True]",
	};
	uint64_t rnd = 7;
	uint64_t known = 0;

	for (int i = 0; i < 20000; i++) {
		char call[512] = "";
		struct op_cost c;

		for (uint64_t n = splitmix64(&rnd) % 9; n > 0; n--) {
			size_t at = strlen(call);

			snprintf(call + at, sizeof(call) - at, "%s ",
				 words[splitmix64(&rnd) % ARRAY_LEN(words)]);
		}
		c = cost_of(ops[splitmix64(&rnd) % ARRAY_LEN(ops)], call);
		known += c.state == COST_KNOWN;
		assert_int_equal(c.state == COST_KNOWN, c.flops != NONE || c.bytes != NONE);
	}
	assert_in_range(known, 500, 15000);
}
