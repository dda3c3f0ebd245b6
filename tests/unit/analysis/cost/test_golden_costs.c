/*
 * Flops and bytes that TraceLens published for operators of recordings on MI300X and H100, against
 * those counted here. Source of the figures: AMD-AGI/TraceLens (MIT), the sheets of tests/traces
 * named in each row, columns GFLOPS_first and Data Moved (MB)_first, a MB of 2^20 bytes. Where the
 * two differ, a row states by how much, in elements and flops, and why; all else is equal.
 */
#include "cost_test.h"

#include <math.h>

static const struct golden_cost {
	const char *sheet, *op, *call;
	double gflop, mb;             /* as published */
	double more_flop, more_elems; /* counted here beyond that; elements of 2 bytes */
	const char *why;              /* NULL: they are equal */
} goldens[] = {
	{ "inference/graph_full GEMM", "aten::addmm",
	  "bf16[5120] bf16[32,2880] bf16[2880,5120] =1 =1", 0.94388224, 28.623046875, 0, 0, NULL },
	{ "inference/graph_full GEMM", "aten::addmm",
	  "bf16[2880] bf16[32,4096] bf16[4096,2880] =1 =1", 0.75506688, 22.9312744140625, 0, 0,
	  NULL },
	{ "inference/graph_full GEMM", "aten::addmm", "bf16[32] bf16[32,2880] bf16[2880,32] =1 =1",
	  0.005899264, 0.35357666015625, 0, 0, NULL },
	{ "inference/graph_full GEMM", "aten::mm", "bf16[32,2880] bf16[2880,201088]", 37.06454016,
	  1117.05859375, 0, 0, NULL },
	{ "mi300/resnet GEMM", "aten::mm", "bf16[10,1000] bf16[1000,512]", 0.01024,
	  1.005401611328125, 0, 0, NULL },
	{ "mi300/resnet GEMM", "aten::mm", "bf16[1000,10:1,1000] bf16[10,512:512,1]", 0.01024,
	  1.005401611328125, 0, 0, NULL },
	{ "mi300/resnet GEMM", "aten::addmm", "bf16[1000] bf16[10,512] bf16[512,1000] =1 =1",
	  0.01025, 1.0073089599609375, 0, 0, NULL },
	{ "mi300/gaunernst_bert SDPA_fwd", "aten::_scaled_dot_product_flash_attention",
	  "bf16[1,8,141,64] bf16[1,8,141,64] bf16[1,8,141,64] =0. =False =False =0.125",
	  0.040716288, 0.55078125, 0, 0, NULL },
	{ "h100/Wan CONV_fwd", "aten::convolution",
	  "bf16[1,96,6,258,258] bf16[96,96,3,3,3] bf16[96] =[1,1,1] =[0,0,0] =[1,1,1] =False "
	  "=[0,0,0] =1",
	  130.459631616, 121.60400390625, 96 * 4 * 256 * 256, 96,
	  "the bias is lost, although the call has one" },
	{ "h100/Wan CONV_fwd", "aten::convolution",
	  "bf16[1,192,6,130,130] bf16[192,192,3,3,3] bf16[192] =[1,1,1] =[0,0,0] =[1,1,1] =False "
	  "=[0,0,0] =1",
	  130.459631616, 63.0322265625, 192 * 4 * 128 * 128, 192, "likewise" },
	{ "h100/Wan CONV_fwd", "aten::convolution",
	  "bf16[1,384,4,66,66] bf16[384,384,3,3,3] bf16[384] =[1,1,1] =[0,0,0] =[1,1,1] =False "
	  "=[0,0,0] =1",
	  65.229815808, 26.35546875, 384 * 2 * 64 * 64, 384, "likewise" },
	{ "mi300/resnet CONV_bwd", "aten::convolution_backward",
	  "bf16[10,64,56,56] bf16[10,64,56,56] bf16[64,64,3,3] =[0] =[1,1] =[1,1] =[1,1] =False "
	  "=[0,0] =1 =[True,True,False]",
	  4.62422016, 15.453125, 0, -10 * 64 * 56 * 56,
	  "the gradient is read for each of the two products; here it has to be read once" },
	{ "mi300/resnet CONV_bwd", "aten::convolution_backward",
	  "bf16[10,512,7,7] bf16[10,512,7,7] bf16[512,512,3,3] =[0] =[1,1] =[1,1] =[1,1] =False "
	  "=[0,0] =1 =[True,True,False]",
	  4.62422016, 10.9140625, 0, -10 * 512 * 7 * 7, "likewise" },
	{ "mi300/resnet Reduce_fwd", "aten::mean", "bf16[10,1000] =[] =False =", 1e-05,
	  0.019075393676757812, 0, 0, NULL },
	{ "mi300/resnet Reduce_fwd", "aten::sum", "bf16[10,1000] =[0] =True =", 1e-05,
	  0.019075393676757812, 0, 999, "one element is taken for the result along a dimension" },
	{ "mi300/resnet Reduce_fwd", "aten::mean", "bf16[10,512,7,7] =[-1,-2] =True =", 0.00025088,
	  0.4785175323486328, 0, 5119, "likewise" },
};

TEST(published_costs)
{
	for (size_t i = 0; i < ARRAY_LEN(goldens); i++) {
		const struct golden_cost *g = &goldens[i];
		struct op_cost c = cost_of(g->op, g->call);
		double flop = g->gflop * 1e9 + g->more_flop;
		double bytes = g->mb * 1048576 + 2 * g->more_elems;

		if (fabs((double)c.flops - flop) > 0.5 || fabs((double)c.bytes - bytes) > 0.5)
			ROW_FAIL(i, "%s: %s %s: %lld flop, not %.0f; %lld bytes, not %.0f (%s)",
				 g->sheet, g->op, g->call, (long long)c.flops, flop,
				 (long long)c.bytes, bytes, g->why ? g->why : "equal");
		assert_true((g->why != NULL) == (g->more_flop != 0 || g->more_elems != 0));
	}
}

/*
 * A batch norm that trains needs its input twice, for the statistics and to apply them; TraceLens
 * counts one pass, and 5 flops for each element and 6 for each channel where 8 are nominal here.
 */
TEST(published_batch_norm)
{
	struct op_cost c =
		cost_of("aten::native_batch_norm", "bf16[10,64,56,56] bf16[64] bf16[64] "
						   "bf16[64] bf16[64] =True =0.1 =1e-05");
	double n = 10 * 64 * 56 * 56;

	assert_true(c.nominal && fabs((double)c.flops - 8 * n) < 0.5);
	assert_true(0.010035584e9 == 5 * n + 6 * 64);
	assert_true((double)c.bytes - 7.656982421875 * 1048576 > 2 * n - 1024 &&
		    (double)c.bytes - 7.656982421875 * 1048576 < 2 * n + 1024);
}
