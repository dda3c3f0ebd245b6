/* Command lines of the programs, by key; and keys that must never reach one. */
#include "../../../test.h"
#include "vendor.h"

static char path[] = "/opt/x/all_reduce_perf", mpirun[] = "/usr/bin/mpirun";

static int argv_of(const struct bench_program *p, const char *key, enum bench_cache cache,
		   unsigned gpus, bool launch, struct strvec *ret, struct err *err)
{
	struct bench_vendor_end end = {
		.program = p, .path = path, .gpus = gpus, .launch = launch ? mpirun : NULL
	};
	struct vendor_request r;
	int e = vendor_request_read(key, &r, err);

	r.end = &end;
	r.cache = cache;
	return e < 0 ? e : p->argv(&r, ret, err);
}

struct golden {
	const struct bench_program *p;
	const char *key;
	enum bench_cache cache;
	const char *want; /* "" not supported */
	const char *why;  /* a part of it */
};

#define GEMM "gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=f32"
#define CONV "conv dir=fwd n=4 c=64 k=128 g=2 in=56x28 filter=3x5 pad=1x2 stride=2x1 dilation=1x2"
#define F32 " x=f32 w=f32 y=f32"
#define ROCBLAS &bench_program_rocblas_bench
#define LT &bench_program_hipblaslt_bench
#define MIOPEN &bench_program_miopen_driver
#define RCCL &bench_program_rccl_tests
#define NCCL &bench_program_nccl_tests
#define DNN &bench_program_benchdnn
#define CUTLASS &bench_program_cutlass_profiler
#define ROCBLAS_RUN " -i 10 -j 2 --initialization trig_float"
#define LT_RUN " -i 10 -j 2 --use_gpu_timer --print_kernel_info --initialization trig_float"
#define DNN_RUN(driver, cold) \
	"--mode=P --" driver " --engine=cpu --allow-enum-tags-only=false" cold \
	" --fix-times-per-prb=10 --perf-template=perf,%impl%,%-time%,%0time% "

static const struct golden goldens[] = {
	{ ROCBLAS, GEMM " lda=70 ldb=32 ldc=64 ldd=64 alpha=1 beta=0", BENCH_WARM,
	  "-f gemm -r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 --lda 70 --ldb 32 "
	  "--ldc "
	  "64 --alpha 1 --beta 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS, "gemm ta=T tb=N m=64 n=32 k=16 a=f16 b=f16 c=f16 d=f16 compute=f32 beta=0.5",
	  BENCH_COLD,
	  "-f gemm_ex --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type "
	  "f32_r --transposeA T --transposeB N -m 64 -n 32 -k 16 --lda 16 --ldb 16 --ldc 64 --ldd "
	  "64 "
	  "--alpha 1 --beta 0.5" ROCBLAS_RUN " --flush_memory_size 536870912",
	  NULL },
	{ ROCBLAS, GEMM " batch=8 stride_a=0 alpha=other", BENCH_WARM,
	  "-f gemm_strided_batched -r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 --lda "
	  "64 "
	  "--ldb 32 --ldc 64 --batch_count 8 --stride_a 0 --stride_b 512 --stride_c 2048 --alpha "
	  "0.5 "
	  "--beta 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS, GEMM " batch=8 stride_c=64 stride_d=64", BENCH_WARM,
	  "-f gemm_strided_batched -r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 --lda "
	  "64 "
	  "--ldb 32 --ldc 64 --batch_count 8 --stride_a 1024 --stride_b 512 --stride_c 64 "
	  "--any_stride "
	  "--alpha 1 --beta 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS,
	  "gemm ta=C tb=N m=4 n=4 k=4 batch=2 by=pointers a=f32c b=f32c c=f32c d=f32c compute=f32c "
	  "alpha=1+2i",
	  BENCH_WARM,
	  "-f gemm_batched -r f32_c --transposeA C --transposeB N -m 4 -n 4 -k 4 --lda 4 --ldb 4 "
	  "--ldc "
	  "4 --batch_count 2 --alpha 1 --beta 0 --alphai 2 --betai 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS, "gemm ta=N tb=N m=8 n=8 k=8 a=i8 b=i8 c=i32 d=i32 compute=i32 alpha=other",
	  BENCH_WARM,
	  "-f gemm_ex --a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type "
	  "i32_r "
	  "--transposeA N --transposeB N -m 8 -n 8 -k 8 --lda 8 --ldb 8 --ldc 8 --ldd 8 --alpha 2 "
	  "--beta "
	  "0 -i 10 -j 2 --initialization rand_int",
	  NULL },
	{ ROCBLAS, GEMM " ldd=80", BENCH_WARM,
	  "-f gemm_ex --a_type f32_r --b_type f32_r --c_type f32_r --d_type f32_r --compute_type "
	  "f32_r "
	  "--outofplace --transposeA N --transposeB T -m 64 -n 32 -k 16 --lda 64 --ldb 32 --ldc 64 "
	  "--ldd "
	  "80 --alpha 1 --beta 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS, "gemm ta=N tb=N m=3000000000 n=1 k=1 a=f32", BENCH_WARM,
	  "--api 1 -f gemm -r f32_r --transposeA N --transposeB N -m 3000000000 -n 1 -k 1 --lda "
	  "3000000000 --ldb 1 --ldc 3000000000 --alpha 1 --beta 0" ROCBLAS_RUN,
	  NULL },
	{ ROCBLAS, GEMM, BENCH_WEIGHTS_COLD, "", "rocblas-bench has no cache mode weights-cold" },
	{ ROCBLAS, GEMM " epilogue=bias", BENCH_WARM, "", "no option for 'epilogue'" },
	{ ROCBLAS, "gemm ta=N tb=N m=8 n=8 k=8 a=f8 compute=f32", BENCH_WARM, "", "no type f8" },
	{ ROCBLAS, "gemm ta=N tb=N m=8 n=8 k=8 a=f16", BENCH_WARM, "", "the type 'compute'" },
	{ ROCBLAS, CONV F32, BENCH_WARM, "", "rocblas-bench has no 'conv'" },

	{ LT,
	  "gemm ta=N tb=T m=48 n=176 k=1024 a=bf16 b=bf16 c=bf16 d=bf16 compute=f32 lda=48 ldb=176 "
	  "ldc=48 ldd=48 alpha=1 beta=0",
	  BENCH_WARM,
	  "--api_method c --transA N --transB T -m 48 -n 176 -k 1024 --lda 48 --ldb 176 --ldc 48 "
	  "--ldd "
	  "48 --alpha 1 --beta 0 --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r "
	  "--compute_type f32_r" LT_RUN,
	  NULL },
	{ LT,
	  "gemm ta=T tb=N m=8 n=8 k=8 batch=3 a=f8 b=bf8 c=f16 d=f16 compute=f32 stride_b=0 "
	  "epilogue=gelu+aux+bias bias_type=f32_r scale_a=1 scale_b=2 compute_mode=fast_16bf",
	  BENCH_COLD,
	  "--api_method c --transA T --transB N -m 8 -n 8 -k 8 --lda 8 --ldb 8 --ldc 8 --ldd 8 "
	  "--batch_count 3 --stride_a 64 --stride_b 0 --stride_c 64 --stride_d 64 --any_stride "
	  "--alpha 1 "
	  "--beta 0 --a_type f8_r --b_type bf8_r --c_type f16_r --d_type f16_r --compute_type "
	  "f32_bf16_r "
	  "--activation_type gelu --bias_vector --bias_type f32_r --use_e --scaleA 1 --scaleB "
	  "2" LT_RUN " --rotating 512",
	  NULL },
	{ LT, GEMM " epilogue=dgelu+bgrad", BENCH_WARM, "", "the epilogue 'dgelu'" },
	{ LT, GEMM " groups=2", BENCH_WARM, "", "the key has 'groups'" },
	{ LT, "gemm ta=N tb=N m=8 n=8 k=8 a=f32c", BENCH_WARM, "", "no type f32c" },
	{ LT, GEMM, BENCH_WEIGHTS_COLD, "", "weights-cold" },

	{ MIOPEN, CONV F32 " layout=NCHW", BENCH_WARM,
	  "conv -n 4 -c 64 -k 128 -H 56 -W 28 -y 3 -x 5 -p 1 -q 2 -u 2 -v 1 -l 1 -j 2 -g 2 -m conv "
	  "-F 1 "
	  "-t 1 -V 0 -w 0 -i 10",
	  NULL },
	{ MIOPEN,
	  "conv dir=bwd_data+bwd_weights n=1 c=2 k=3 g=1 in=4x5x6 filter=3x3x3 pad=1x1x1 "
	  "stride=1x1x2 dilation=1x1x1 x=bf16 w=bf16 y=bf16 layout=NDHWC with=bias",
	  BENCH_WARM,
	  "convbfp16 -n 1 -c 2 -k 3 --spatial_dim 3 --in_d 4 -H 5 -W 6 --fil_d 3 -y 3 -x 3 --pad_d "
	  "1 -p "
	  "1 -q 1 --conv_stride_d 1 -u 1 -v 2 --dilation_d 1 -l 1 -j 1 --in_layout NDHWC "
	  "--fil_layout "
	  "NDHWC --out_layout NDHWC -g 1 -m conv -b 1 -F 6 -t 1 -V 0 -w 0 -i 10",
	  NULL },
	{ MIOPEN,
	  "conv dir=fwd mode=transposed n=1 c=4 k=2 g=1 in=5x5 filter=3x3 pad=0x0 stride=2x2 "
	  "dilation=1x1 x=f16 w=f16 y=f16 layout=NHWC,NCHW,NCHW pad_y_h=1 pad_y_w=1",
	  BENCH_WARM,
	  "convfp16 -n 1 -c 4 -k 2 -H 5 -W 5 -y 3 -x 3 -p 0 -q 0 -u 2 -v 2 -l 1 -j 1 -Y 1 -X 1 "
	  "--in_layout NHWC --fil_layout NCHW --out_layout NCHW -g 1 -m trans -F 1 -t 1 -V 0 -w 0 "
	  "-i 10",
	  NULL },
	{ MIOPEN, CONV " x=i8 w=i8 y=i32", BENCH_WARM,
	  "convint8 -n 4 -c 64 -k 128 -H 56 -W 28 -y 3 -x 5 -p 1 -q 2 -u 2 -v 1 -l 1 -j 2 -g 2 -m "
	  "conv -F "
	  "1 -t 1 -V 0 -w 0 -i 10",
	  NULL },
	{ MIOPEN, CONV F32, BENCH_COLD, "", "no cache mode but warm" },
	{ MIOPEN, CONV F32 " layout=NCHW,NHWC", BENCH_WARM, "", "no layout" },
	{ MIOPEN, CONV F32 " layout=CHWN", BENCH_WARM, "", "no layout" },
	{ MIOPEN, CONV F32 " with=bias+activ", BENCH_WARM, "", "no option for 'bias+activ'" },
	{ MIOPEN, CONV F32 " pad_mode=same", BENCH_WARM, "", "the key has 'pad_mode'" },
	{ MIOPEN, CONV " x=f32 w=f16 y=f32", BENCH_WARM, "", "no convolution of f32, f16" },

	{ RCCL, "AllReduce count=1048576 dtype=f32 op=sum nranks=4", BENCH_WARM,
	  "/opt/x/all_reduce_perf -b 4194304 -e 4194304 -d float -o sum -g 4 -n 10 -w 2 -c 1",
	  NULL },
	{ RCCL, "AllGather count=1024 dtype=bytes nranks=4", BENCH_WARM,
	  "/opt/x/all_gather_perf -b 4096 -e 4096 -d int8 -g 4 -n 10 -w 2 -c 1", NULL },
	{ RCCL, "ReduceScatter count=8 dtype=f8 op=avg nranks=2", BENCH_WARM, "",
	  "counts of whole 16 bytes alone for ReduceScatter" },
	{ RCCL, "ReduceScatter count=16 dtype=f8 op=avg nranks=2", BENCH_WARM,
	  "/opt/x/reduce_scatter_perf -b 32 -e 32 -d fp8_e4m3 -o avg -g 2 -n 10 -w 2 -c 1", NULL },
	{ NCCL, "Broadcast count=3 dtype=bf16 root=2 nranks=16", BENCH_WARM,
	  "/usr/bin/mpirun -n 16 /opt/x/broadcast_perf -b 6 -e 6 -d bfloat16 -r 2 -g 1 -n 10 -w 2 "
	  "-c 1 "
	  "-a 3",
	  NULL },
	{ NCCL, "AllReduce count=4 dtype=f32 op=premulsum nranks=2", BENCH_WARM, "", "its factor" },
	{ NCCL, "AllReduce count=4 dtype=f32 op=sum", BENCH_WARM, "", "number of ranks" },
	{ NCCL, "AllReduce count=4 dtype=f32 op=sum nranks=2", BENCH_COLD, "", "no cache mode" },
	{ NCCL, "AllReduce count=4 dtype=f32 op=sum nranks=2 acc=1", BENCH_WARM, "", "has 'acc'" },
	{ NCCL, "Send count=4 dtype=f32 peer=1 nranks=2", BENCH_WARM, "", "replays 'Send'" },

	{ DNN, GEMM, BENCH_WARM,
	  DNN_RUN("matmul", "") "--dt=f32:f32:f32 --stag=ba --wtag=ab --dtag=ab 32x16:16x64",
	  NULL },
	{ DNN, GEMM " batch=8 stride_a=0 beta=1", BENCH_WEIGHTS_COLD,
	  DNN_RUN("matmul", " --cold-cache=wei") "--dt=f32:f32:f32 --stag=acb --wtag=abc "
						 "--dtag=abc --attr-post-ops=sum:1 8x32x16:1x16x64",
	  NULL },
	{ DNN, GEMM " lda=70 ldb=40", BENCH_COLD,
	  DNN_RUN("matmul",
		  " --cold-cache=all") "--dt=f32:f32:f32 --strides=1x40:70x1:64x1 32x16:16x64",
	  NULL },
	{ DNN, GEMM " alpha=2", BENCH_WARM, "", "no alpha but 1" },
	{ DNN, "gemm ta=N tb=N m=8 n=8 k=8 a=f16 compute=f16", BENCH_WARM, "",
	  "arithmetic in f16" },
	{ DNN, GEMM " with=post-ops:eltwise_relu", BENCH_WARM, "", "the key has 'with'" },
	{ DNN,
	  CONV F32 " layout=abcd.Acdb16a.aBcd16b with=forward_training,alg:convolution_direct,"
		   "bia:f32:a",
	  BENCH_WEIGHTS_COLD,
	  DNN_RUN("conv",
		  " --cold-cache=wei") "--dir=FWD_B --dt=f32:f32:f32 --bia-dt=f32 --stag=abcd "
				       "--wtag=Acdb16a --dtag=aBcd16b "
				       "--alg=direct "
				       "g2mb4ic64oc128_ih56oh28kh3sh2ph1dh0_iw28ow24kw5sw1pw2dw1",
	  NULL },
	{ DNN,
	  "conv dir=fwd n=1 c=8 k=4 g=2 in=16 filter=3 pad=4 stride=1 dilation=2 x=i8 w=i8 y=u8 "
	  "layout=abc.abc.abc with=forward_inference,out:16",
	  BENCH_WARM,
	  DNN_RUN("conv", "") "--dir=FWD_I --dt=s8:s8:u8 --stag=abc --wtag=abc --dtag=abc "
			      "g2mb1ic8oc4_iw16ow16kw3sw1pw4dw1",
	  NULL },
	{ DNN, CONV F32 " layout=NHWC", BENCH_WARM,
	  DNN_RUN("conv", "") "--dir=FWD_D --dt=f32:f32:f32 --stag=axb --wtag=axb --dtag=axb "
			      "g2mb4ic64oc128_ih56oh28kh3sh2ph1dh0_iw28ow24kw5sw1pw2dw1",
	  NULL },
	{ DNN,
	  "conv dir=bwd_weights n=1 c=8 k=4 g=1 in=5x5 filter=3x3 pad=0x0 stride=2x2 "
	  "dilation=1x1" F32 " layout=a.b.c",
	  BENCH_WEIGHTS_COLD, "", "no cache mode weights-cold" },
	{ DNN, CONV F32 " layout=a.b", BENCH_WARM, "", "no layout" },
	{ DNN, CONV F32 " layout=a.b.c with=fpmath:bf16", BENCH_WARM, "", "'fpmath:bf16'" },
	{ DNN,
	  "conv dir=bwd_data mode=transposed n=1 c=8 k=4 g=1 in=5x5 filter=3x3 pad=0x0 stride=2x2 "
	  "dilation=1x1" F32 " layout=a.b.c",
	  BENCH_WARM,
	  DNN_RUN("deconv", "") "--dir=BWD_D --dt=f32:f32:f32 --stag=a --wtag=b --dtag=c "
				"g1mb1ic8oc4_ih5oh11kh3sh2ph0dh0_iw5ow11kw3sw2pw0dw0",
	  NULL },
	{ DNN,
	  "ip prop=forward_training src=f32:abcd wei=f32:bcda bia=f32:a dst=f32:ab "
	  "dims=mb2ic512ih2iw2oc48",
	  BENCH_WEIGHTS_COLD,
	  DNN_RUN("ip", " --cold-cache=wei") "--dir=FWD_B --dt=f32:f32:f32 --bia-dt=f32 "
					     "--stag=abcd --wtag=bcda --dtag=ab "
					     "mb2ic512ih2iw2oc48",
	  NULL },
	{ DNN,
	  "pooling prop=forward_training alg=pooling_max src=bf16:acdb dst=bf16:acdb ws=u8:acdb "
	  "dims=mb1ic64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0",
	  BENCH_COLD,
	  DNN_RUN("pool", " --cold-cache=all") "--dir=FWD_D --dt=bf16:bf16 --tag=acdb --alg=max "
					       "mb1ic64ih112oh56kh3sh2dh0ph0iw112ow56kw3sw2dw0pw0",
	  NULL },
	{ DNN,
	  "batch_normalization prop=forward_inference flags=GSR data=f32:acdb "
	  "dims=mb1ic64ih112iw112",
	  BENCH_WARM,
	  DNN_RUN("bnorm", "") "--dir=FWD_I --dt=f32 --tag=acdb --flags=GSR mb1ic64ih112iw112",
	  NULL },
	{ DNN,
	  "softmax prop=forward_inference alg=softmax_accurate axis=1 src=f32:ab dst=f32:ab "
	  "dims=4x10",
	  BENCH_WARM,
	  DNN_RUN("softmax",
		  "") "--dir=FWD_I --sdt=f32 --ddt=f32 --stag=ab --dtag=ab --alg=SOFTMAX "
		      "--axis=1 4x10",
	  NULL },
	{ DNN,
	  "eltwise prop=backward_data alg=eltwise_relu alpha=0 beta=0 data=f32:ab diff=f32:ab "
	  "dims=3x5",
	  BENCH_WARM,
	  DNN_RUN("eltwise", "") "--dir=BWD_D --dt=f32 --tag=ab --alg=relu --alpha=0 --beta=0 3x5",
	  NULL },
	{ DNN, "eltwise prop=forward_training alg=eltwise_relu data=f32:ab dims=3x5",
	  BENCH_WEIGHTS_COLD, "", "weights-cold for what has no weights" },

	{ CUTLASS, GEMM, BENCH_WARM,
	  "--operation=Gemm --providers=cutlass --m=64 --n=32 --k=16 --A=f32:column --B=f32:row "
	  "--C=f32:column --alpha=1 --beta=0 --accum=f32 --op_class=simt --profiling-iterations=10 "
	  "--warmup-iterations=2 --workspace-count=1 --dist=uniform,min:-1,max:1,scale:-1 "
	  "--verification-enabled=true --verification-providers=device",
	  NULL },
	{ CUTLASS, "gemm ta=N tb=N m=8 n=8 k=8 batch=2 a=f32 compute=tf32", BENCH_COLD,
	  "--operation=Gemm --providers=cutlass --m=8 --n=8 --k=8 --batch_count=2 --A=f32:column "
	  "--B=f32:column --C=f32:column --alpha=1 --beta=0 --accum=f32 --kernels=tf32gemm "
	  "--profiling-iterations=10 --warmup-iterations=2 --workspace-count=0 "
	  "--dist=uniform,min:-1,max:1,scale:-1 --verification-enabled=true "
	  "--verification-providers=device",
	  NULL },
	{ CUTLASS, GEMM " lda=70", BENCH_WARM, "", "only packed matrices" },
	{ CUTLASS, GEMM, BENCH_WEIGHTS_COLD, "", "weights-cold" },
};

TEST(command_lines)
{
	for (size_t i = 0; i < ARRAY_LEN(goldens); i++) {
		const struct golden *g = &goldens[i];
		CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
		CLEANUP(xfreep) char *got = NULL;
		struct err err = ERR_INIT;
		int r = argv_of(g->p, g->key, g->cache, 8, true, &argv, &err);

		got = strvec_join(&argv, " ");
		if (*g->want ? r < 0 || strcmp(got, g->want) != 0
			     : r != -ENOTSUP || !strstr(err.msg, g->why))
			ROW_FAIL(i, "%s: %d %s: %s", g->key, r, err.msg, got);
	}
}

TEST(ranks_that_cannot_be_had)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	const char *key = "AllReduce count=4 dtype=f32 op=sum nranks=4";
	struct err err = ERR_INIT;

	assert_int_equal(argv_of(RCCL, key, BENCH_WARM, 2, false, &argv, &err), -ENOTSUP);
	assert_string_equal(err.msg,
			    "it needs 4 ranks: 2 GPUs can be seen, and there is no mpirun");
	assert_int_equal(argv_of(RCCL, key, BENCH_WARM, 4, false, &argv, &err), 0);
}

/* No word of a key is a word of a command; numbers and known names are all that come through. */
TEST(hostile_keys)
{
	static const char *const keys[] = {
		"gemm ta=$(id) tb=N m=8 n=8 k=8 a=f32",
		"gemm ta=N tb=N m=8;touch n=8 k=8 a=f32",
		"gemm ta=N tb=N m=-8 n=8 k=8 a=f32",
		"gemm ta=N tb=N m=0 n=8 k=8 a=f32",
		"gemm ta=N tb=N m=99999999999999999999 n=8 k=8 a=f32",
		"gemm ta=N tb=N m=281474976710656 n=281474976710656 k=8 a=f32",
		"gemm ta=N tb=N m=8 n=8 k=8 batch=3000000000 a=f32",
		"gemm ta=N tb=N m=8 n=8 k=8 a=--help",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 lda=7",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 lda=281474976710656",
		"gemm ta=N tb=N m=8 n=8 k=8 batch=9 stride_a=-1 a=f32",
		"gemm ta=N tb=N m=8 n=8 k=8 batch=9 stride_a=281474976710656 a=f32",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 alpha=nan",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 alpha=`id`",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 --yaml=/etc/passwd",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 epilogue=relu+--yaml",
		"gemm ta=N tb=N m=8 n=8 k=8 a=f32 bias_type=/etc/passwd_r",
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4;x filter=1x1 pad=0x0 stride=1x1 "
		"dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4x4x4 filter=1x1 pad=0x0 stride=1x1 "
		"dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=1 pad=0x0 stride=1x1 dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=5x5 pad=0x0 stride=1x1 "
		"dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=1x1 pad=0x0 stride=0x1 "
		"dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x99999999999 filter=1x1 pad=0x0 stride=1x1 "
		"dilation=1x1" F32,
		"conv dir=fwd n=1 c=3 k=4 g=2 in=4x4 filter=1x1 pad=0x0 stride=1x1 "
		"dilation=1x1" F32,
		"conv dir=up n=1 c=1 k=1 g=1 in=4x4 filter=1x1 pad=0x0 stride=1x1 dilation=1x1" F32,
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=1x1 pad=0x0 stride=1x1 dilation=1x1" F32
		" layout=a.b.c$(id)",
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=1x1 pad=0x0 stride=1x1 dilation=1x1" F32
		" layout=../../x",
		"conv dir=fwd n=1 c=1 k=1 g=1 in=4x4 filter=1x1 pad=0x0 stride=1x1 dilation=1x1" F32
		" layout=a.b.c with=out:--batch",
		"AllReduce count=-1 dtype=f32 op=sum nranks=2",
		"AllReduce count=1 dtype=f32 op=sum nranks=0",
		"AllReduce count=1 dtype=f32 op=sum nranks=100000",
		"AllReduce count=281474976710656 dtype=f64 op=sum nranks=2",
		"AllReduce count=1 dtype=f32 op=--output_file nranks=2",
		"AllReduce count=1 dtype=f32;id op=sum nranks=2",
		"Broadcast count=1 dtype=f32 root=2 nranks=2",
		"eltwise prop=forward_training alg=--batch=x data=f32:ab dims=3x5",
		"eltwise prop=forward_training alg=eltwise_relu data=f32:a$b dims=3x5",
		"eltwise prop=forward_training alg=eltwise_relu data=f32:ab "
		"dims=--batch=/etc/passwd",
		"eltwise prop=forward_training alg=eltwise_relu data=f32:ab dims=3x5x",
		"eltwise prop=forward_training alg=eltwise_relu data=f32:ab dims=3x-5",
		"ip prop=forward_training src=f32:ab wei=f32:ab dst=f32:ab dims=mb8ic8oc8n--batch",
		"ip prop=forward_training src=f32:ab wei=f32:ab dst=f32:ab dims=mbic8oc8",
		"batch_normalization prop=forward_inference flags=G;id data=f32:ab dims=mb1ic6",
		"pooling prop=forward_training alg=x src=f32:ab dst=f32:ab dims=mb1ic6",
		"$(touch pwned)",
		"gemm",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		for (size_t p = 0; bench_programs[p]; p++) {
			CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
			struct err err = ERR_INIT;

			if (argv_of(bench_programs[p], keys[i], BENCH_WARM, 8, true, &argv, &err) >=
			    0)
				ROW_FAIL(i, "%s takes '%s'", bench_programs[p]->name, keys[i]);
			if (!err.msg[0])
				ROW_FAIL(i, "%s says nothing to '%s'", bench_programs[p]->name,
					 keys[i]);
		}
}

/* All bytes of all prefixes and of keys with a byte changed: no crash, and only plain words. */
TEST(mangled_keys)
{
	for (size_t i = 0; i < ARRAY_LEN(goldens); i++)
		for (size_t at = 0; goldens[i].key[at]; at++) {
			CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
			CLEANUP(xfreep) char *key = xstrdup(goldens[i].key);

			key[at] = "9;-$x=/"[(i + at) % 7];
			if (argv_of(goldens[i].p, key, goldens[i].cache, 8, true, &argv, NULL) < 0)
				continue;
			for (size_t w = 0; w < argv.nr; w++)
				if (strpbrk(argv.v[w], ";$`'\"\\ <>|&*?()") ||
				    (w && strchr(argv.v[w], '/') && strcmp(argv.v[w], path) != 0 &&
				     !strstr(argv.v[w], "/opt/x/")))
					ROW_FAIL(i, "'%s' has the word '%s'", key, argv.v[w]);
		}
}

TEST(environment)
{
	CLEANUP(strvec_release) struct strvec from = STRVEC_INIT;
	CLEANUP(strvec_release) struct strvec a = STRVEC_INIT, b = STRVEC_INIT;
	CLEANUP(xfreep) char *first = NULL, *second = NULL;

	strvec_split(&from,
		     "PATH=/bin HIPBLASLT_TUNING_FILE=x HIPBLASLT_TUNING_OVERRIDE_FILE=x "
		     "ROCBLAS_LAYER=2 MIOPEN_ENABLE_LOGGING_CMD=1 NCCL_DEBUG=INFO NCCL_ALGO=Ring "
		     "OMP_NUM_THREADS=7 LC_ALL=de_DE.UTF-8",
		     " ");
	vendor_environment(ROCBLAS, 3, from.v, &a);
	vendor_environment(DNN, 3, from.v, &b);
	first = strvec_join(&a, " ");
	second = strvec_join(&b, " ");
	assert_string_equal(first, "PATH=/bin NCCL_ALGO=Ring OMP_NUM_THREADS=7 LC_ALL=C");
	assert_string_equal(second, "PATH=/bin NCCL_ALGO=Ring LC_ALL=C OMP_NUM_THREADS=3");
}
