/* What lib trace says a call of oneDNN works is what the drivers of lib perf say. */
#include "library_mangle.h"

#include <errno.h>

#include "profrig/bench/bench_driver.h"
#include "profrig/bench/bench_op.h"

#define LINE(kind, prop, mds, attrs, aux, desc) \
	"onednn_verbose,exec,cpu," kind ",jit:any," prop "," mds "," attrs "," aux "," desc ",0." \
	"5\n"

static void same_work(const struct logged *l, const char *text)
{
	assert_true(l->calls->rows.nr > 0);
	for (size_t i = 0; i < l->calls->rows.nr; i++) {
		const struct library_row *c = &l->calls->rows.v[i];
		struct err err = ERR_INIT;
		struct bench_work w;

		if (bench_work(c->key, &w, &err) < 0)
			fail_msg("%s: %s (%s)", c->key, err.msg, text);
		assert_int_equal(w.flops, c->flops);
		assert_int_equal(w.bytes, c->bytes);
	}
}

TEST(work_of_oneDNN)
{
	static const char *const lines[] = {
		LINE("convolution", "forward_training",
		     "src_f32::blocked:aBcd16b:f0 wei_bf16::blocked:ABcd16b16a:f0 "
		     "bia_f32::blocked:a:f0 dst_f32::blocked:aBcd16b:f0",
		     "", "alg:convolution_direct",
		     "mb4_ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12kw3sw2dw0pw1"),
		LINE("convolution", "backward_weights",
		     "src_f32::blocked:abcd:f0 wei_f32::blocked:abcde:f0 bia_undef::undef::f0 "
		     "dst_f32::blocked:abcd:f0",
		     "", "alg:convolution_direct",
		     "g4mb4_ic64oc128_ih24oh13kh3sh2dh1ph2_iw24ow13kw3sw2dw1pw2"),
		LINE("deconvolution", "backward_data",
		     "src_f32::blocked:abc:f0 wei_f32::blocked:abc:f0 bia_undef::undef::f0 "
		     "dst_f32::blocked:abc:f0",
		     "", "alg:deconvolution_direct", "mb4_ic8oc12_iw5ow11kw3sw2dw0pw0"),
		LINE("matmul", "undef",
		     "src_u8::blocked:ab:f0 wei_s8::blocked:ba:f0 dst_f32::blocked:ab:f0", "", "",
		     "64x128:128x32:64x32"),
		LINE("matmul", "undef",
		     "src_f32::blocked:abc:f0 wei_f32::blocked:acb:f0 dst_f32::blocked:abc:f0",
		     "attr-post-ops:eltwise_relu", "", "16x64x128:1x128x32:16x64x32"),
		LINE("inner_product", "forward_training",
		     "src_bf16::blocked:abcd:f0 wei_bf16::blocked:bcda:f0 bia_f32::blocked:a:f0 "
		     "dst_f32::blocked:ab:f0",
		     "", "", "mb8ic256ih2iw3oc64"),
		LINE("pooling_v2", "forward_training",
		     "src_bf16::blocked:acdb:f0 dst_bf16::blocked:acdb:f0 "
		     "ws_u8::blocked:acdb:f0",
		     "", "alg:pooling_max", "mb2ic64_ih32oh16kh3sh2dh0ph1_iw32ow16kw3sw2dw0pw1"),
		LINE("batch_normalization", "forward_inference",
		     "data_f32::blocked:aBcd16b:f0 diff_undef::undef::f0", "", "flags:GS",
		     "mb2ic64ih32iw31"),
		LINE("layer_normalization", "forward_training",
		     "data_f32::blocked:abc:f0 stats_f32::blocked:ab:f0 diff_undef::undef::f0", "",
		     "flags:CH", "4x10x33"),
		LINE("softmax_v2", "forward_inference",
		     "src_f32::blocked:ab:f0 dst_bf16::blocked:ab:f0", "",
		     "alg:softmax_accurate axis:1", "64x1000"),
		LINE("logsoftmax", "forward_inference", "data_f32::blocked:ab:f0", "", "axis:1",
		     "64x1000"),
		LINE("eltwise", "forward_training",
		     "data_bf16::blocked:abcd:f0 diff_undef::undef::f0", "",
		     "alg:eltwise_gelu_erf alpha:0 beta:0", "4x16x8x9"),
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(lines[i]);

		same_work(&l, lines[i]);
	}
}

/* gemm is a key of several drivers. */
TEST(drivers_agree)
{
	static const char *const keys[] = {
		"gemm ta=N tb=T m=33 n=17 k=65 a=f32 lda=40 alpha=-1 beta=0.5",
		"gemm ta=T tb=N m=33 n=17 k=65 a=f32 batch=3 stride_b=0",
		"gemm ta=T tb=C m=33 n=17 k=65 a=f64 c=f64 d=f64 compute=f64 ldc=40 ldd=40",
		"gemm ta=T tb=N m=0 n=17 k=65 a=f32",
		"gemm ta=T tb=N m=33 n=17 k=65 a=f32 lda=4",
		"gemm ta=N tb=N m=99999999999 n=99999999999 k=9 a=f32",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		int first = 1;
		struct bench_work of = { 0 };

		for (size_t d = 0; bench_drivers[d]; d++) {
			struct bench_work w = { 0 };
			int r = bench_drivers[d]->work(keys[i], &w, NULL);

			if (r == -ENOTSUP)
				continue;
			if (first == 1) {
				first = r;
				of = w;
			}
			assert_int_equal(r, first);
			assert_int_equal(w.flops, of.flops);
			assert_int_equal(w.bytes, of.bytes);
		}
		assert_true(first <= 0);
	}
}
