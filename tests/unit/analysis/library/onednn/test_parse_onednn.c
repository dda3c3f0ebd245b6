#include "library_mangle.h"

#define CONV_OLD \
	"onednn_verbose,exec,cpu,convolution,jit:avx512_core,forward_training," \
	"src_f32::blocked:aBcd16b:f0 wei_f32::blocked:ABcd16b16a:f0 bia_undef::undef::f0 " \
	"dst_f32::blocked:aBcd16b:f0,attr-scratchpad:user ,alg:convolution_direct," \
	"mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1,"
#define CONV_KEY(with) \
	"conv dir=fwd n=4 c=64 k=128 g=1 in=24x24 filter=3x3 pad=1x1 stride=2x2 dilation=1x1 " \
	"x=f32 w=f32 y=f32 layout=aBcd16b.ABcd16b16a.aBcd16b with=" with
#define CONV_FLOPS (2LL * 4 * 128 * 64 * 9 * 144)

/* One convolution as all versions spell it, with and without a stamp, version and component. */
TEST(spellings_of_one_convolution)
{
	static const char *const lines[] = {
		CONV_OLD "0.5\n",
		CONV_OLD "0.5\r\n",
		"step 3 [==>  ] " CONV_OLD "0.5   \n",
		"dnnl_verbose,exec,cpu,convolution,jit_1x1:any,forward_training,"
		"src_f32::blocked:aBcd16b:f0 wei_f32::blocked:ABcd16b16a:f0 bia_undef::undef::f0 "
		"dst_f32::blocked:aBcd16b:f0,,alg:convolution_direct,"
		"mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1,0.5\n",
		"onednn_verbose,1607054150784.885010,exec,cpu1,convolution,brg:any,forward_"
		"training,"
		"src_f32::blocked:aBcd16b:f0 wei_f32::blocked:ABcd16b16a:f0 bia_undef::undef::f0 "
		"dst_f32::blocked:aBcd16b:f0,,alg:convolution_direct,"
		"g1mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1,0.5\n",
		"onednn_verbose,primitive,exec,cpu,convolution,brg:any,forward_training,"
		"src_f32::blocked:aBcd16b::f0 wei_f32::blocked:ABcd16b16a::f0 "
		"bia_undef::undef::: dst_f32::blocked:aBcd16b::f0,,alg:convolution_direct,"
		"mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1,0.5\n",
		"onednn_verbose,v1,1700000000000.25,primitive,exec,cpu,convolution,brg:any,"
		"forward_training,src:f32::blocked:aBcd16b::f0 wei:f32::blocked:ABcd16b16a::f0 "
		"bia:undef::undef::: dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,"
		"alg:convolution_direct,mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1,"
		"0,5\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(lines[i]);

		assert_counts(&l, 1, 0, 0, 0, 0, 0);
		assert_row(&l, CONV_KEY("forward_training,alg:convolution_direct"), "convolution",
			   1, CONV_FLOPS);
		assert_int_equal(l.calls->rows.v[0].total_ns, 500000);
		assert_string_equal(l.calls->rows.v[0].library, "onednn");
	}
	CLEANUP(logged_release) struct logged l = logged_of(lines[4]);
	assert_int_equal(l.calls->rows.v[0].first_ns, 1607054150784885010);
}

/* MKL-DNN had neither engine nor attributes, and no types of a convolution's memory. */
TEST(spellings_of_0)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"mkldnn_verbose,info,Intel MKL-DNN v0.21.1 (Git Hash N/A),Intel AVX2\n"
		"mkldnn_verbose,create,convolution,jit:avx2,forward_inference,fsrc:nChw8c "
		"fwei:OIhw8i8o fbia:x fdst:nChw8c,alg:convolution_direct,"
		"mb2_g1ic16oc16_ih7oh7kh5sh1dh0ph2_iw7ow7kw5sw1dw0pw2,0.1\n"
		"mkldnn_verbose,exec,convolution,jit:avx2,forward_inference,fsrc:nChw8c "
		"fwei:OIhw8i8o fbia:x fdst:nChw8c,alg:convolution_direct,"
		"mb2_g1ic16oc16_ih7oh7kh5sh1dh0ph2_iw7ow7kw5sw1dw0pw2,0.0319824\n"
		"mkldnn_verbose,exec,reorder,simple:any,undef,in:f32_nchw out:f32_nChw8c,num:1,"
		"2x16x7x7,0.483154\n"
		"mkldnn_verbose,exec,reorder,undef,in:f32_nchw out:f32_nChw8c,num:1,2x16x7x7,"
		"0,484863\n"
		"mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_x out:f32_x,num:1,1,0,25\n");

	assert_counts(&l, 4, 0, 2, 0, 0, 0);
	assert_row(&l,
		   "conv dir=fwd n=2 c=16 k=16 g=1 in=7x7 filter=5x5 pad=2x2 stride=1x1 "
		   "dilation=1x1 layout=nChw8c.OIhw8i8o.nChw8c "
		   "with=forward_inference,alg:convolution_direct,bia:x",
		   "convolution", 1, 2LL * 2 * 16 * 16 * 25 * 49);
	assert_true(l.calls->rows.v[0].bytes == LIBRARY_UNKNOWN && l.calls->rows.v[0].inexact);
	assert_row(&l, "reorder num=1 src=f32:nchw dst=f32:nChw8c dims=2x16x7x7", "reorder", 2, 0);
	assert_int_equal(l.calls->rows.v[1].total_ns, 483154 + 484863);
	assert_int_equal(l.calls->rows.v[1].bytes, 2 * 4 * 2 * 16 * 7 * 7);
	assert_int_equal(l.calls->rows.v[2].total_ns, 250000);
}

static const struct {
	const char *columns, *key;
	int64_t flops, bytes; /* -1: unknown */
} kinds[] = {
	{ "cpu,matmul,brg,undef,src:f32::blocked:ab::f0 wei:f32::blocked:ba::f0 "
	  "dst:f32::blocked:ab::f0,attr-scratchpad:user,,64x128:128x32",
	  "gemm ta=T tb=N m=32 n=64 k=128 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=128 ldb=128 "
	  "ldc=32 ldd=32 alpha=1 beta=0",
	  2 * 64 * 128 * 32, 4 * (64 * 128 + 128 * 32 + 64 * 32) },
	/* strides are not told */
	{ "cpu,matmul,brg,undef,src_bf16::blocked:ab:f0 wei_bf16::blocked:ab:f0 "
	  "dst_f32::blocked:ab:f0,,,64x128:128x32:64x32",
	  "gemm ta=N tb=N m=32 n=64 k=128 a=bf16 b=bf16 c=f32 d=f32 compute=f32 alpha=1 beta=0",
	  2 * 64 * 128 * 32, 2 * (64 * 128 + 128 * 32) + 4 * 64 * 32 },
	{ "cpu,matmul,brg,undef,src:f32::blocked:abc::f0 wei:f32::blocked:acb::f0 "
	  "bia:f32::blocked:abc::f0_mask4 dst:f32::blocked:abc::f0,attr-post-ops:eltwise_relu,,"
	  "16x64x128:1x128x32:16x64x32",
	  "gemm ta=T tb=N m=32 n=64 k=128 batch=16 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=128 "
	  "ldb=128 ldc=32 ldd=32 stride_a=0 stride_b=8192 stride_c=2048 stride_d=2048 beta=0 "
	  "with=post-ops:eltwise_relu,bia:f32:abc:f0_mask4",
	  2 * 64 * 128 * 32 * 16, 4 * (16 * 64 * 128 + 128 * 32 + 16 * 64 * 32) },
	{ "gpu:0,matmul,jit:gemm:any,undef,src:f16::blocked:ab::f0 wei:u4::blocked:ba::f0 "
	  "dst:f16::blocked:ab::f0,attr-fpmath:f16:true attr-scales:wei:2:f16,,8x64:64x32",
	  "gemm ta=T tb=N m=32 n=8 k=64 a=i4 b=f16 c=f16 d=f16 lda=64 ldb=64 ldc=32 ldd=32 beta=0 "
	  "with=fpmath:f16:true,scales:wei:2:f16 engine=gpu",
	  2 * 8 * 64 * 32, 8 * 64 * 2 + 64 * 32 / 2 + 8 * 32 * 2 },
	{ "cpu,matmul,brg,undef,src:f32::blocked:ab::f0 wei:f32::blocked:BA16a64b::f0 "
	  "dst:f32::blocked:ab::f0,,,64x128:128x32:64x32",
	  "matmul src=f32:ab wei=f32:BA16a64b dst=f32:ab dims=64x128:128x32:64x32",
	  2 * 64 * 128 * 32, 4 * (64 * 128 + 128 * 32 + 64 * 32) },
	/* the list of the result is left out */
	{ "cpu,matmul,brg,undef,src:f32::blocked:ab::f0 wei:f32:a:blocked:AB16b64a::f0 "
	  "dst:f32::blocked:ab::f0,,,64x128:128x32",
	  "matmul src=f32:ab wei=f32:AB16b64a:a dst=f32:ab dims=64x128:128x32", 2 * 64 * 128 * 32,
	  57344 },
	{ "cpu,matmul,brg,undef,src_f32::blocked:abcd:f0 wei_f32::blocked:abdc:f0 "
	  "dst_f32::blocked:abcd:f0,,,1x3x64x128:2x1x128x32",
	  "matmul src=f32:abcd wei=f32:abdc dst=f32:abcd dims=1x3x64x128:2x1x128x32",
	  2 * 64 * 128 * 32 * 6, 4 * (3 * 64 * 128 + 2 * 128 * 32 + 6 * 64 * 32) },
	{ "cpu,matmul,brg,undef,src_f32::blocked:abcd:f0 wei_f32::blocked:abdc:f0 "
	  "dst_f32::blocked:abcd:f0,,,2x3x64x128:2x1x128x32:2x3x64x32",
	  "matmul src=f32:abcd wei=f32:abdc dst=f32:abcd dims=2x3x64x128:2x1x128x32:2x3x64x32",
	  2 * 64 * 128 * 32 * 6, 4 * (6 * 64 * 128 + 2 * 128 * 32 + 6 * 64 * 32) },
	{ "cpu,matmul,zen:grouped,undef,src:f32::sparse:grouped::f0 wei:f32::blocked:acb::f0 "
	  "dst:f32::sparse:grouped::f0,,,16x32:3x32x24",
	  "matmul src=f32:sparse:grouped wei=f32:acb dst=f32:sparse:grouped dims=16x32:3x32x24", -1,
	  -1 },
	{ "cpu,matmul,ref,undef,src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 "
	  "dst:f32::blocked:ab::f0,,,*x128:128x32:*x32",
	  "matmul src=f32:ab wei=f32:ab dst=f32:ab dims=*x128:128x32:*x32", -1, -1 },
	{ "cpu,matmul,gemm:jit,undef,src_f32::blocked:abc:f0 wei_f32::blocked:abc:f0 "
	  "dst_f32::blocked:abc:f0,,,b10m20n20k30",
	  "gemm ta=N tb=N m=20 n=20 k=30 batch=10 a=f32 b=f32 c=f32 d=f32 compute=f32 alpha=1 "
	  "beta=0",
	  2 * 20 * 20 * 30 * 10, 4 * 10 * (600 + 600 + 400) },
	{ "cpu,gemm_api,,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ba:f0 "
	  "dst_f32::blocked:ab:f0,lda:200 attr-scales:src:common:2 attr-post-ops:sum:0.5 ,,"
	  "64x128:128x32",
	  "gemm ta=T tb=N m=32 n=64 k=128 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=128 ldb=200 "
	  "alpha=2 beta=0.5",
	  2 * 64 * 128 * 32, 4 * (64 * 128 + 128 * 32 + 2 * 64 * 32) },
	/* 2.7 */
	{ "cpu,gemm_api,,undef,src_u8::blocked:ab:f0 wei_s8::blocked:ab:f0 "
	  "dst_s32::blocked:ab:f0,,64x128:128x32",
	  "gemm ta=N tb=N m=32 n=64 k=128 a=i8 b=u8 c=i32 d=i32 compute=i32 lda=32 ldb=128 "
	  "alpha=1 beta=0",
	  2 * 64 * 128 * 32, 64 * 128 + 128 * 32 + 4 * 64 * 32 },
	{ "cpu,inner_product,gemm:jit,forward_training,src_f32::blocked:abcd:f0 "
	  "wei_f32::blocked:bcda:f0 bia_f32::blocked:a:f0 dst_f32::blocked:ab:f0,,,"
	  "mb2ic512ih2iw2oc48",
	  "ip prop=forward_training src=f32:abcd wei=f32:bcda bia=f32:a dst=f32:ab "
	  "dims=mb2ic512ih2iw2oc48",
	  2 * 2 * 512 * 4 * 48, 4 * (2 * 2048 + 2048 * 48 + 2 * 48) },
	{ "cpu,deconvolution,jit:any,backward_data,diff_src:f32::blocked:abcd::f0 "
	  "wei:f32:a:blocked:abcd::f0 bia:undef::undef::: diff_dst:f32::blocked:abcd::f0,,"
	  "alg:deconvolution_direct,mb1_ic8oc4_ih5oh11kh3sh2dh0ph0_iw5ow11kw3sw2dw0pw0",
	  "conv dir=bwd_data mode=transposed n=1 c=8 k=4 g=1 in=5x5 filter=3x3 pad=0x0 stride=2x2 "
	  "dilation=1x1 x=f32 w=f32 y=f32 layout=abcd.abcd:a.abcd with=alg:deconvolution_direct",
	  2 * 8 * 4 * 9 * 25, 4 * (200 + 288 + 484) },
	/* padding on the right differs: the output tells it; 1 dimension, a dilation */
	{ "cpu,convolution,jit:any,forward_inference,src:s8::blocked:abc::f0 "
	  "wei:s8::blocked:abc::f0 bia:f32::blocked:a::f0 dst:u8::blocked:abc::f0,"
	  "attr-post-ops:eltwise_relu:0:1+sum,alg:convolution_auto,"
	  "mb1_g2ic8oc4_iw16ow16kw3sw1dw1pw4",
	  "conv dir=fwd n=1 c=8 k=4 g=2 in=16 filter=3 pad=4 stride=1 dilation=2 x=i8 w=i8 y=u8 "
	  "layout=abc.abc.abc with=forward_inference,alg:convolution_auto,"
	  "post-ops:eltwise_relu:0:1+sum,bia:f32:a,out:16",
	  2 * 4 * 4 * 3 * 16, 128 + 64 + 48 },
	{ "cpu,pooling_v2,jit:any,forward_training,src_bf16::blocked:acdb:f0 "
	  "dst_bf16::blocked:acdb:f0 ws_u8::blocked:acdb:f0,,alg:pooling_max,"
	  "mb1ic64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0",
	  "pooling prop=forward_training alg=pooling_max src=bf16:acdb dst=bf16:acdb ws=u8:acdb "
	  "dims=mb1ic64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0",
	  0, 2 * 64 * (112 * 112 + 56 * 56) },
	{ "cpu,batch_normalization,bnorm:any,forward_inference,data_f32::blocked:acdb:f0 "
	  "diff_undef::undef::f0,,flags:GSR,mb1ic64ih112iw112",
	  "batch_normalization prop=forward_inference flags=GSR data=f32:acdb "
	  "dims=mb1ic64ih112iw112",
	  0, 2 * 4 * 64 * 112 * 112 },
	{ "cpu,eltwise,jit:any,backward_data,data_f32::blocked:ab:f0 diff_f32::blocked:ab:f0,,"
	  "alg:eltwise_relu alpha:0 beta:0,3x5",
	  "eltwise prop=backward_data alg=eltwise_relu alpha=0 beta=0 data=f32:ab diff=f32:ab "
	  "dims=3x5",
	  0, 3 * 4 * 15 },
	{ "cpu,concat,simple:any,undef,src_f32::blocked:ab:f0 src_f32::blocked:ab:f0 "
	  "dst_f32::blocked:ab:f0,,axis:1,4x16:4x32 4x48",
	  "concat axis=1 src=f32:ab src=f32:ab dst=f32:ab dims=4x16:4x32_4x48", 0, 2 * 4 * 4 * 48 },
	/* the lists of sources alone */
	{ "cpu,concat,simple:any,undef,src_f32::blocked:ab:f0 src_f32::blocked:ab:f0 "
	  "dst_f32::blocked:ab:f0,,axis:1,4x16:4x32",
	  "concat axis=1 src=f32:ab src=f32:ab dst=f32:ab dims=4x16:4x32", 0, 2 * 4 * 4 * 48 },
	{ "cpu,binary,jit:uni,undef,src_f32::blocked:ab:f0 src_f32::blocked:ab:f0 "
	  "dst_f32::blocked:ab:f0,,alg:binary_add,4x16:4x1",
	  "binary alg=binary_add src=f32:ab src=f32:ab dst=f32:ab dims=4x16:4x1", 0,
	  4 * (64 + 4 + 64) },
	{ "cpu,prelu,ref:any,forward_inference,data_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 "
	  "diff_undef::undef::f0 diff_wei_undef::undef::f0,,,4x16:1x16",
	  "prelu prop=forward_inference data=f32:ab wei=f32:ab dims=4x16:1x16", 0,
	  4 * (2 * 64 + 16) },
	{ "cpu,lrn,ref:any,forward_inference,data_f32::blocked:abcd:f0 diff_undef::undef::f0,,"
	  "alg:lrn_across_channels,mb2ic8ih6iw6ls5beta0.75",
	  "lrn prop=forward_inference alg=lrn_across_channels data=f32:abcd "
	  "dims=mb2ic8ih6iw6ls5beta0.75",
	  0, 2 * 4 * 2 * 8 * 36 },
	{ "cpu,layer_normalization,ref:any,forward_inference,data_f32::blocked:ab:f0 "
	  "stats_undef::undef::f0 diff_undef::undef::f0,,flags:,4x10",
	  "layer_normalization prop=forward_inference data=f32:ab dims=4x10", 0, 2 * 4 * 40 },
	{ "cpu,rnn,ref:any,forward_training,src_layer_f32::blocked:abc:f0 "
	  "wei_layer_f8_e5m2::blocked:ldigo:f0 dst_layer_f32::blocked:abc:f0,,"
	  "alg:vanilla_lstm direction:unidirectional_left2right activation:undef,"
	  "l2t10mb16sic32slc64dhc32dlc32",
	  "rnn prop=forward_training alg=vanilla_lstm direction=unidirectional_left2right "
	  "activation=undef src_layer=f32:abc wei_layer=bf8:ldigo dst_layer=f32:abc "
	  "dims=l2t10mb16sic32slc64dhc32dlc32",
	  8LL * 2 * 10 * 16 * 32 * (32 + 64), -1 },
	{ "cpu,unheard_of,ref,undef,src:f32::blocked:ab::f0,,what,a b/c",
	  "unheard_of aux=what src=f32:ab dims=a_b/c", -1, -1 },
};

TEST(kinds_have_keys)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char text[1000];
		struct library_row row;

		snprintf(text, sizeof(text), "onednn_verbose,v1,primitive,exec,%s,0.25\n",
			 kinds[i].columns);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		assert_counts(&l, 1, 0, 0, 0, 0, 0);
		row = row_with(&l, kinds[i].key);
		if ((int64_t)row.flops != kinds[i].flops || (int64_t)row.bytes != kinds[i].bytes)
			ROW_FAIL(i, "flops %lld, bytes %lld", (long long)row.flops,
				 (long long)row.bytes);
		assert_int_equal(row.total_ns, 250000);
	}
}

/* Columns stand where the header says; a template of other names keeps the usual order. */
TEST(template_maps_columns)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"onednn_verbose,v1,primitive,info,template:timestamp,operation,engine,primitive,"
		"prop_kind,implementation,new_thing,memory_descriptors,attributes,problem_desc,"
		"auxiliary,exec_time\n"
		"onednn_verbose,v1,1700000000000,primitive,exec,cpu,reorder,undef,jit:uni,7,"
		"src:f32::blocked:ab::f0 dst:f32::blocked:ba::f0,,3x5,,0.25\n"
		"onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 "
		"dst_f32::blocked:ba:f0,,,3x5,1e-05\n"
		"onednn_verbose,graph,info,template:operation,engine,partition_id,exec_time\n"
		"onednn_verbose,v1,graph,exec,gpu,100002,sdp,matmul_qk;softmax,,in0_f16:1,fpm,"
		"larch,0.5\n"
		"onednn_verbose,v1,primitive,exec:check,cpu,matmul,bad\n"
		"onednn_verbose,v1,primitive,create:cache_hit,cpu,reorder,jit:uni,undef,"
		"src:f32::blocked:ab::f0 dst:f32::blocked:ba::f0,,,3x5,0.25\n"
		"onednn_verbose,v1,primitive,error,gpu,jit::gemm,Insufficient registers\n");

	assert_counts(&l, 2, 0, 6, 0, 0, 0);
	assert_row(&l, "reorder src=f32:ab dst=f32:ba dims=3x5", "reorder", 2, 0);
	assert_int_equal(l.calls->rows.v[0].total_ns, 250010);
	assert_int_equal(l.calls->rows.v[0].first_ns, 1700000000000000000);
}

#define MATMUL_MDS "src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0"
#define MATMUL "matmul,cpu,jit,undef," MATMUL_MDS ",,"
#define USUAL \
	"onednn_verbose,v1,primitive,exec,cpu,matmul,jit,undef," MATMUL_MDS ",,,64x128:128x32,"
#define TEMPLATE "onednn_verbose,v1,primitive,info,template:operation,"
#define EXEC "onednn_verbose,v1,primitive,exec,"

/* The engine is not the first column, the time not the last; other versions write the same log. */
TEST(template_of_another_order)
{
	static const struct {
		const char *columns, *lines;
		int torn;
		int64_t ns; /* of two calls */
	} cases[] = {
		{ "primitive,engine,implementation,prop_kind,memory_descriptors,attributes,"
		  "auxiliary,problem_desc,exec_time",
		  EXEC MATMUL ",64x128:128x32,0.3\n" EXEC MATMUL ",64x128:128x32,0,4\n" EXEC MATMUL
			      ",64x128:128x32\n",
		  1, 700000 },
		{ "primitive,engine,implementation,prop_kind,memory_descriptors,attributes,"
		  "auxiliary,exec_time,problem_desc",
		  EXEC MATMUL ",0.3,64x128:128x32\n" EXEC MATMUL ",0,4,64x128:128x32\n" EXEC MATMUL
			      ",0.3,64x128:12",
		  1, 700000 },
		{ "exec_time,primitive,engine,implementation,prop_kind,memory_descriptors,"
		  "attributes,auxiliary,problem_desc",
		  EXEC "0.3," MATMUL ",64x128:128x32\n" EXEC "0,4," MATMUL ",64x128:128x32\n", 0,
		  700000 },
		{ "primitive,engine,implementation,prop_kind,memory_descriptors,attributes,"
		  "auxiliary,problem_desc,exec_time",
		  EXEC MATMUL ",64x128:128x32,0.3\n" USUAL "0.4\n", 0, 700000 },
		{ "engine,primitive,implementation,prop_kind,memory_descriptors,attributes,"
		  "auxiliary,exec_time,problem_desc",
		  USUAL "0.3\n" USUAL "0.4\n" USUAL "x\n", 1, 700000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf(TEMPLATE "%s\n%s", cases[i].columns, cases[i].lines);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.n.records != 2 || (int)l.n.torn != cases[i].torn || l.calls->distinct != 1)
			ROW_FAIL(i, "%d records, %d torn: %s", (int)l.n.records, (int)l.n.torn,
				 l.n.torn_text);
		assert_row(&l,
			   "gemm ta=N tb=N m=32 n=64 k=128 a=f32 b=f32 c=f32 d=f32 compute=f32 "
			   "lda=32 ldb=128 ldc=32 ldd=32 alpha=1 beta=0",
			   "matmul", 2, 2 * 64 * 128 * 32);
		assert_int_equal(l.calls->rows.v[0].total_ns, cases[i].ns);
	}
}

/* What is last is no time: lines that are alike up to it are not of one configuration. */
TEST(sizes_behind_the_time)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		TEMPLATE "engine,primitive,implementation,prop_kind,memory_descriptors,"
			 "attributes,auxiliary,exec_time,problem_desc\n" EXEC
			 "cpu,reorder,jit,undef,src:f32::blocked:a::f0 dst:f32::blocked:a::f0,,,5,"
			 "5\n" EXEC "cpu,reorder,jit,undef,src:f32::blocked:a::f0 "
			 "dst:f32::blocked:a::f0,,,5,7\n" EXEC
			 "cpu,reorder,jit,undef,src:f32::blocked:a::f0 dst:f32::blocked:a::f0,,,5,"
			 "7\n");

	assert_counts(&l, 3, 0, 1, 0, 0, 0);
	assert_int_equal(row_with(&l, "reorder src=f32:a dst=f32:a dims=5").total_ns, 5000000);
	assert_int_equal(row_with(&l, "reorder src=f32:a dst=f32:a dims=7").total_ns, 10000000);
}

#define REORDER \
	"onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 " \
	"dst_f32::blocked:ba:f0,,,3x5,"

/* A part is missing, or sizes are none; the time of a line that is cut is not known. */
TEST(no_calls)
{
	static const struct {
		const char *text;
		int records, torn, bad;
	} cases[] = {
		{ REORDER "0.25", 1, 0, 0 },
		{ REORDER "0.2" REORDER "0.25\n", 2, 0, 0 },
		{ REORDER "\n", 0, 1, 0 },
		{ REORDER "nan\n", 0, 1, 0 },
		{ REORDER "0.25ms\n", 0, 1, 0 },
		{ "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 " REORDER
		  "1\n",
		  1, 1, 0 },
		{ "onednn_verbose,ex\n", 0, 1, 0 },
		{ "onednn_verbose,exec\n", 0, 1, 0 },
		{ "onednn_verbose,exec,cpu,reorder,,undef,src_f32::blocked:ab:f0,,,3x,1\n", 0, 1,
		  0 },
		{ "onednn_verbose,exec,cpu,reorder,,undef,src_f32::blocked:ab:f0,,,3x-5,1\n", 0, 1,
		  0 },
		{ "onednn_verbose,exec,cpu,reorder,,undef,src_f32::blocked:ab:f0,,,"
		  "3x999999999999999999,1\n",
		  0, 0, 1 },
		{ "onednn_verbose,exec,cpu,matmul,,undef,src:f32::blocked:ab::f0 "
		  "wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0,,,3x5:6x7:3x7,1\n",
		  0, 0, 1 },
		{ "onednn_verbose,exec,cpu,convolution,,forward_inference,"
		  "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0,,,"
		  "mb4_ic64oc128_ih24oh12kh3sh2dh281474976710655ph1_iw24ow12kw3,1\n",
		  1, 0, 0 },
		{ "onednn_verbose,exec,cpu,convolution,,forward_inference,"
		  "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0,,,"
		  "mb4_ic-64oc128_ih24oh12kh3_iw24ow12kw3,1\n",
		  0, 0, 1 },
		{ "onednn_verbose,exec,cpu,convolution,,forward_inference,"
		  "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0,,,"
		  "mb4_ic64_ih24oh12kh3_iw24ow12kw3,1\n",
		  0, 1, 0 },
		{ "onednn_verbose,exec,cpu,inner_product,,forward_inference,"
		  "src_f32::blocked:ab:f0,,,mb281474976710656ic281474976710656oc9,1\n",
		  0, 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if ((int)l.n.records != cases[i].records || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad)
			ROW_FAIL(i, "%d records, %d torn, %d bad: %s", (int)l.n.records,
				 (int)l.n.torn, (int)l.n.bad, l.n.bad_text);
	}
}

TEST(survives)
{
	assert_survives(
		"onednn_verbose,info,prim_template:operation,engine,primitive,"
		"implementation,prop_kind,memory_descriptors,attributes,auxiliary,"
		"problem_desc,exec_time\n" CONV_OLD "10.386\n" REORDER "0.25\n"
		"onednn_verbose,v1,1700000000000.25,primitive,exec,cpu,matmul,brg,undef,"
		"src:f32::blocked:abc::f0 wei:f32::blocked:acb::f0 "
		"dst:f32::blocked:abc::f0,attr-post-ops:sum,,16x64x128:1x128x32:16x64x32,1\n",
		1);
}

static struct logged recording(const char *name)
{
	CLEANUP(xfreep) char *path = test_trace(name);
	struct logged l = { .calls = library_calls_new() };

	assert_int_equal(library_log_read(path, l.calls, &l.n, NULL), 0);
	return l;
}

TEST(resnet18_training)
{
	static const struct {
		const char *direction;
		int64_t calls, flops;
	} want[] = { { "conv dir=fwd ", 60, 7994474496 },
		     { "conv dir=bwd_data ", 57, 7474249728 },
		     { "conv dir=bwd_weights ", 60, 7994474496 },
		     { "reorder ", 525, 0 } };
	CLEANUP(logged_release)
	struct logged l = recording("liblog/onednn-resnet18-train/stdout.log");
	int64_t ns = 0;

	assert_counts(&l, 702, 0, 5, 0, 0, 3);
	assert_int_equal(l.calls->distinct, 74);
	assert_int_equal((int64_t)library_calls_totals(l.calls).flops, 23463198720);
	for (size_t w = 0; w < ARRAY_LEN(want); w++) {
		int64_t calls = 0, flops = 0;

		for (size_t i = 0; i < l.calls->rows.nr; i++) {
			const struct library_row *r = &l.calls->rows.v[i];

			if (strncmp(r->key, want[w].direction, strlen(want[w].direction)) != 0)
				continue;
			calls += (int64_t)r->calls;
			flops += (int64_t)r->all_flops;
			ns += r->total_ns;
		}
		assert_int_equal(calls, want[w].calls);
		assert_int_equal(flops, want[w].flops);
	}
	assert_in_range(ns, 1085532389 - 702, 1085532389 + 702);
}

TEST(benchdnn_of_version_1)
{
	CLEANUP(logged_release)
	struct logged l = recording("liblog/onednn-v1-benchdnn/verbose.txt");

	assert_counts(&l, 3, 0, 7, 0, 0, 8);
	assert_int_equal(l.calls->distinct, 2);
	assert_int_equal(row_with(&l, "reorder src=f32:a dst=f32:a dims=1").total_ns, 5859);
}
