#include "profrig/names/classes.h"

#include <stdbool.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/demangle.h"

/* The first match wins, so more specific rules come first. */
const struct class_rule class_rules[] = {
	/* names of a compiler's pointwise kernels list all fused operations, also attention
	   and convolution */
	{ "elementwise", "^triton_poi_" },
	{ "elementwise", "^triton_for_" },
	{ "collective", "|nccl" },
	{ "collective", "|rccl" },
	{ "collective", "|mscclkernel" },
	{ "collective", "allreduce" },
	{ "collective", "all_reduce" },
	{ "collective", "allgather" },
	{ "collective", "all_gather" },
	{ "collective", "reducescatter" },
	{ "collective", "reduce_scatter" },
	{ "collective", "alltoall" },
	{ "collective", "all_to_all" },
	{ "collective", "all2all" },
	{ "collective", "sendrecv" },
	{ "collective", "cross_device_reduce" },
	{ "collective", "senrdma" },
	{ "collective", "hcoll" },
	{ "collective", "nvshmem" },
	{ "collective", "rocshmem" },
	/* Tensile, the generator behind rocBLAS and hipBLASLt */
	{ "gemm", "|cijk_" },
	{ "attention", "flash_fwd" },
	{ "attention", "flash_bwd" },
	{ "attention", "flash_attn" },
	{ "attention", "flashattn" },
	{ "attention", "flash::" },
	{ "attention", "fmha" },
	{ "attention", "attn" },
	{ "attention", "attention" },
	{ "attention", "sdpa" },
	{ "attention", "|mha_" },
	{ "attention", "|mla_" },
	/* before gemm and sort: their products and choices */
	{ "moe", "|moe" },
	{ "moe", "_moe" },
	{ "moe", "fmoe" },
	{ "moe", "::moe" },
	{ "moe", "mixture_of_experts" },
	{ "norm", "layer_norm" },
	{ "norm", "layernorm" },
	{ "norm", "rms_norm" },
	{ "norm", "rmsnorm" },
	{ "norm", "batch_norm" },
	{ "norm", "batchnorm" },
	{ "norm", "group_norm" },
	{ "norm", "groupnorm" },
	{ "norm", "instance_norm" },
	{ "norm", "instancenorm" },
	{ "norm", "|bn_fw" },
	{ "norm", "|bn_bw" },
	{ "norm", "|ln_fwd" },
	{ "norm", "|ln_bwd" },
	{ "norm", "gammabetabackward" },
	{ "norm", "rowwisemoments" },
	{ "norm", "welford" },
	{ "norm", "l2norm" },
	{ "norm", "l2_norm" },
	{ "softmax", "softmax" },
	{ "softmax", "logsumexp" },
	{ "reduce", "^triton_red_" },
	{ "reduce", "^triton_per_" },
	/* a split product adds up its parts, also one that stands for a convolution */
	{ "gemm", "splitkreduce" },
	{ "gemm", "reducesplitk" },
	{ "gemm", "splitk_reduce" },
	/* before gemm: most convolutions are matrix products, with "gemm" in their name */
	{ "conv", "implicit_gemm" },
	{ "conv", "implicitgemm" },
	{ "conv", "implicit_convolve" },
	{ "conv", "igemm_fwd" },
	{ "conv", "igemm_bwd" },
	{ "conv", "igemm_wrw" },
	{ "conv", "convolution" },
	{ "conv", "convolve" },
	{ "conv", "winograd" },
	{ "conv", "|conv_" },
	{ "conv", "_conv_" },
	{ "conv", "conv_fwd" },
	{ "conv", "conv_bwd" },
	{ "conv", "conv1d" },
	{ "conv", "conv2d" },
	{ "conv", "conv3d" },
	{ "conv", "3dconv" },
	{ "conv", "sp3asmconv" },
	{ "conv", "asmconv" },
	{ "conv", "gridwiseconv" },
	{ "conv", "depthwise" },
	{ "conv", "dgrad" },
	{ "conv", "wgrad" },
	{ "conv", "fprop" },
	{ "conv", "scudnn" },
	{ "conv", "cask_cudnn" },
	{ "conv", "cudnn::cnn" },
	{ "conv", "im2col" },
	{ "conv", "im2d2col" },
	{ "conv", "col2im" },
	{ "solver", "getrf" },
	{ "solver", "getrs" },
	{ "solver", "potrf" },
	{ "solver", "geqrf" },
	{ "solver", "gesv" },
	{ "solver", "trsm" },
	{ "solver", "trsv" },
	{ "solver", "syev" },
	{ "solver", "heev" },
	{ "solver", "cholesky" },
	{ "sparse", "csrmv" },
	{ "sparse", "csrmm" },
	{ "sparse", "spmv" },
	{ "sparse", "spmm" },
	{ "sparse", "csr2" },
	{ "gemm", "gemm" },
	{ "gemm", "gemv" },
	{ "gemm", "|xmma" },
	{ "gemm", "_xmma_" },
	{ "gemm", "hmma" },
	{ "gemm", "nvjet" },
	{ "gemm", "matmul" },
	{ "gemm", "|mm_" },
	{ "gemm", "_mm_" },
	{ "gemm", "|bmm" },
	{ "gemm", "_bmm" },
	{ "gemm", "addmm" },
	{ "gemm", "wvsplitk" },
	{ "gemm", "marlin" },
	{ "gemm", "syrk" },
	{ "gemm", "trmm" },
	{ "gemm", "|symm" },
	{ "gemm", "|herk" },
	{ "gemm", "cutlass" },
	{ "gemm", "epilogue" },
	{ "fft", "fft" },
	{ "fft", "stockham" },
	{ "sort", "radixsort" },
	{ "sort", "radix_sort" },
	{ "sort", "bitonicsort" },
	{ "sort", "bitonic_sort" },
	{ "sort", "mergesort" },
	{ "sort", "merge_sort" },
	{ "sort", "|sort_" },
	{ "sort", "_sort_" },
	{ "sort", "sort_kernel" },
	{ "sort", "sort_pairs" },
	{ "sort", "onesweep" },
	{ "sort", "topk" },
	{ "sort", "top_k" },
	{ "sort", "kthvalue" },
	/* before rng: their updates round stochastically */
	{ "embedding", "embedding" },
	{ "rng", "philox" },
	{ "rng", "curand" },
	{ "rng", "hiprand" },
	{ "rng", "rocrand" },
	{ "rng", "distribution_" },
	{ "rng", "random" },
	{ "rng", "|rng" },
	{ "rng", "dropout" },
	{ "rng", "bernoulli" },
	{ "rng", "multinomial" },
	{ "rng", "normal_and_transform" },
	{ "rng", "uniform_and_transform" },
	{ "scan", "devicescan" },
	{ "scan", "lookback_scan" },
	{ "scan", "|scan_" },
	{ "scan", "_scan_" },
	{ "scan", "scan_kernel" },
	{ "scan", "cumsum" },
	{ "scan", "cumprod" },
	{ "optimizer", "multi_tensor_apply" },
	{ "optimizer", "multitensor" },
	{ "optimizer", "fusedadam" },
	{ "optimizer", "fused_adam" },
	{ "optimizer", "|adam" },
	{ "optimizer", "sgdfunctor" },
	{ "optimizer", "fusedlamb" },
	{ "index", "gather" },
	{ "index", "scatter" },
	{ "index", "indexselect" },
	{ "index", "index_select" },
	{ "index", "index_put" },
	{ "index", "indexput" },
	{ "index", "index_add" },
	{ "index", "indexadd" },
	{ "index", "index_copy" },
	{ "index", "index_elementwise" },
	{ "index", "masked_select" },
	{ "index", "indices" },
	{ "index", "|linearize_index" },
	{ "index", "partition_kernel" },
	{ "index", "deviceselect" },
	{ "index", "devicecompact" },
	{ "index", "copy_if" },
	{ "loss", "nll_loss" },
	{ "loss", "cross_entropy" },
	{ "loss", "crossentropy" },
	{ "loss", "mse_loss" },
	{ "loss", "ctc_loss" },
	{ "copy", "copy" },
	{ "copy", "|memset" },
	{ "copy", "fillbuffer" },
	{ "copy", "fill_buffer" },
	{ "copy", "catarray" },
	{ "copy", "transpose" },
	{ "copy", "nchwtonhwc" },
	{ "copy", "nhwctonchw" },
	{ "copy", "permute" },
	{ "copy", "reshape_and_cache" },
	{ "pool", "max_pool" },
	{ "pool", "avg_pool" },
	{ "pool", "maxpool" },
	{ "pool", "avgpool" },
	{ "pool", "adaptive_average" },
	{ "pool", "adaptive_max" },
	{ "pool", "pooling" },
	{ "reduce", "reduce" },
	{ "reduce", "reduction" },
	{ "reduce", "|sum_" },
	{ "reduce", "_sum_" },
	{ "reduce", "argmax" },
	{ "reduce", "argmin" },
	{ "reduce", "meanops" },
	{ "reduce", "dot_kernel" },
	{ "reduce", "|asum" },
	{ "reduce", "nrm2" },
	{ "reduce", "iamax" },
	{ "reduce", "iamin" },
	{ "elementwise", "elementwise" },
	{ "elementwise", "pointwise" },
	{ "elementwise", "|unary" },
	{ "elementwise", "|binary" },
	{ "elementwise", "functor" },
	{ "elementwise", "activation" },
	{ "elementwise", "silu" },
	{ "elementwise", "gelu" },
	{ "elementwise", "relu" },
	{ "elementwise", "sigmoid" },
	{ "elementwise", "tanh" },
	{ "elementwise", "swiglu" },
	{ "elementwise", "geglu" },
	{ "elementwise", "|add_" },
	{ "elementwise", "_add_" },
	{ "elementwise", "|mul_" },
	{ "elementwise", "_mul_" },
	{ "elementwise", "addition" },
	{ "elementwise", "subtract" },
	{ "elementwise", "multiply" },
	{ "elementwise", "divide" },
	{ "elementwise", "vectoradd" },
	{ "elementwise", "vector_add" },
	{ "elementwise", "vec_add" },
	{ "elementwise", "scal_kernel" },
	{ "elementwise", "|scale" },
	{ "elementwise", "axpy" },
	{ "elementwise", "axpby" },
	{ "elementwise", "|triad" },
	{ "elementwise", "optensor" },
	{ "elementwise", "op1dtensor" },
	{ "elementwise", "op2dtensor" },
	{ "elementwise", "opwithscalar" },
	{ "elementwise", "tensorop" },
	{ "elementwise", "scalepackedtensor" },
	{ "elementwise", "clamp" },
	{ "elementwise", "|cast" },
	{ "elementwise", "convert" },
	{ "elementwise", "quantize" },
	{ "elementwise", "_to_float" },
	{ "elementwise", "qparam" },
	{ "elementwise", "dequant" },
	{ "elementwise", "|fill" },
	{ "elementwise", "masked_fill" },
	{ "elementwise", "rotary" },
	{ "elementwise", "|rope" },
	{ "elementwise", "bias_act" },
	{ NULL, NULL },
};

/* Words with a pattern that do not describe the kernel: FBGEMM began with matrix products and now
 * does everything. */
static const char *const noise[] = { "fbgemm" };

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* name is lower-case. */
static bool pattern_matches(const char *name, const char *pattern)
{
	if (*pattern == '^')
		return strstr(name, pattern + 1) == name;
	if (*pattern != '|')
		return strstr(name, pattern) != NULL;
	for (const char *p = name; (p = strstr(p, pattern + 1)); p++)
		if (p == name || !is_letter(p[-1]))
			return true;
	return false;
}

static const char *rules_find(const struct class_rule *v, size_t nr, const char *lower)
{
	for (size_t i = 0; i < nr; i++)
		if (pattern_matches(lower, v[i].pattern))
			return v[i].class;
	return NULL;
}

static void lower_put(const char *name, char *lower, size_t max)
{
	size_t n = 0;

	for (; name[n] && n < max - 1; n++)
		lower[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] - 'A' + 'a') : name[n];
	lower[n] = '\0';
}

static const char *class_built_in(char *lower)
{
	for (size_t i = 0; i < ARRAY_LEN(noise); i++)
		for (char *p = lower; (p = strstr(p, noise[i]));)
			memset(p, ' ', strlen(noise[i]));
	return rules_find(class_rules, ARRAY_LEN(class_rules) - 1, lower);
}

const char *kernel_class_by(const struct kernel_classes *kc, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT;
	char lower[4096]; /* C++ names can be pages long; the class is in front */
	const char *class = NULL;

	lower_put(demangle(name, &plain) ? plain.buf : name, lower, sizeof(lower));
	if (kc)
		class = rules_find(kc->rules.v, kc->rules.nr, lower);
	if (!class && (!kc || !kc->alone))
		class = class_built_in(lower);
	return class ? class : "other";
}

const char *kernel_class(const char *name)
{
	return kernel_class_by(NULL, name);
}
