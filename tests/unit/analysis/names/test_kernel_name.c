/* Names of kernels and the fields in them: known names, names made from fields, hostile ones. */
#include "test.h"

#include "profrig/base/strbuf.h"
#include "profrig/names/demangle.h"
#include "profrig/names/kernel_name.h"

struct name_case {
	const char *name;
	struct kernel_name k;
};

#define SIMT KERNEL_PATH_SIMT
#define TENSOR KERNEL_PATH_TENSOR

/* clang-format off */
static const struct name_case cases[] = {
	{ "ampere_sgemm_32x128_tn",
	  { .lib = "cublas", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .tile = { 32, 128 }, .layout = "TN", .arch = 80 } },
	{ "ampere_sgemm_32x32_sliced1x4_tn",
	  { .lib = "cublas", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .tile = { 32, 32 }, .slice = "1x4", .layout = "TN", .arch = 80 } },
	{ "cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align1",
	  { .lib = "cutlass", .op = "gemm", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR,
	    .tile = { 128, 128, 16 }, .stages = 4, .layout = "NT", .align = 1, .arch = 80 } },
	{ "cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
	  { .lib = "cutlass", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .tile = { 128, 32, 8 }, .stages = 5, .layout = "NN", .align = 1, .arch = 80 } },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_"
	  "warpsize1x4x1_ffma_aligna4_"
	  "alignc4_execute_split_k_kernel__5x_cublas",
	  { .lib = "cublas", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .tile = { 64, 256, 8 }, .stages = 3, .layout = "TN", .split_k = true, .align = 4,
	    .arch = 80 } },
	{ "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
	  "tensor16x8x16_execute_kernel__5x_cublas",
	  { .lib = "cublas", .op = "gemm", .in = "bf16", .acc = "f32", .out = "bf16",
	    .path = TENSOR,
	    .tile = { 128, 128, 32 }, .stages = 4, .layout = "TN", .arch = 80 } },
	{ "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_"
	  "nchw_tilesize128x128x16_"
	  "stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn_infer",
	  { .lib = "cudnn", .op = "conv_fprop", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR, .tile = { 128, 128, 16 }, .stages = 4, .arch = 80 } },
	{ "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_"
	  "nhwc_tilesize128x128x16_"
	  "stage4_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn_train",
	  { .lib = "cudnn", .op = "conv_wgrad", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR, .tile = { 128, 128, 16 }, .stages = 4, .split_k = true, .arch = 80 } },
	{ "Cijk_Alik_Bljk_HHS_BH_Bias_AS_SAV_UserArgs_MT16x32x128_MI16x16x1_SN_LDSB0_AFC1_..ISA942",
	  { .lib = "tensile", .op = "gemm", .in = "fp16", .acc = "f32", .out = "fp16",
	    .path = TENSOR, .tile = { 16, 32, 128 }, .layout = "TN", .isa = "gfx942" } },
	{ "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN_GSU4_SK3_ISA90a_IU1",
	  { .lib = "tensile", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32",
	    .path = TENSOR,
	    .tile = { 64, 16, 16 }, .layout = "NT", .isa = "gfx90a", .gsu = 4, .split_k = true,
	    .stream_k = true } },
	{ "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64_MI16x16x1_"
	  "SN_SK0_GSUAMB_ISA942_",
	  { .lib = "tensile", .op = "gemm", .in = "bf16", .acc = "f32", .out = "bf16",
	    .path = TENSOR, .tile = { 128, 224, 64 }, .layout = "TN", .isa = "gfx942" } },
	{ "Cijk_Ailk_Bljk_F8B8HS_BH_MT128x128x32_SN",
	  { .lib = "tensile", .op = "gemm", .in = "fp8", .acc = "f32", .out = "fp16", .path = SIMT,
	    .tile = { 128, 128, 32 }, .layout = "NN" } },
	{ "Cijk_Ailk_Bljk_I8II_BH_MT64x64x32_MI32x32x1",
	  { .lib = "tensile", .op = "gemm", .in = "i8", .acc = "i32", .out = "i32", .path = TENSOR,
	    .tile = { 64, 64, 32 }, .layout = "NN" } },
	{ "Cijk_Ailk_Bljk_S_MX_B_Bias_MT64x64x32_MI32x32x1",
	  { .lib = "tensile", .op = "gemm", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR,
	    .tile = { 64, 64, 32 }, .layout = "NN" } },
	{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16_wt16x16x4_gkgs",
	  { .lib = "miopen", .op = "conv_fprop", .in = "bf16", .acc = "f32", .path = TENSOR,
	    .tile = { 64, 64, 16 }, .split_k = true } },
	{ "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1",
	  { .lib = "miopen", .op = "conv", .in = "f32", .algo = "winograd" } },
	{ "naive_conv_ab_nonpacked_wrw_nchw_half_double_float",
	  { .lib = "miopen", .op = "conv_wgrad", .in = "fp16", .acc = "f64", .out = "f32",
	    .path = SIMT } },
	{ "cudnn_infer_volta_scudnn_128x64_3dconv_fprop_medium_nn_v1",
	  { .lib = "cudnn", .op = "conv_fprop", .in = "f32", .acc = "f32", .out = "f32",
	    .path = SIMT, .tile = { 128, 64 }, .layout = "NN", .arch = 70 } },
	{ "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_"
	  "optimized_tf32_128x128_16x4_"
	  "nhwc_unity_stride_align4>(cutlass_tensorop_s1688dgrad_optimized_tf32_128x128::Params)",
	  { .lib = "cudnn", .op = "conv_dgrad", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR, .tile = { 128, 128, 16 }, .stages = 4, .align = 4 } },
	{ "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
	  { .lib = "cublas", .op = "gemm", .in = "bf16", .acc = "f32", .out = "bf16",
	    .path = TENSOR, .tile = { 128, 128, 32 }, .stages = 5, .layout = "TN", .arch = 80 } },
	{ "ampere_s16816gemm_fp16_64x64_ldg8_stages_64x5_nt",
	  { .lib = "cublas", .op = "gemm", .in = "fp16", .acc = "f32", .out = "f32",
	    .path = TENSOR, .tile = { 64, 64, 64 }, .stages = 5, .layout = "NT", .arch = 80 } },
	{ "volta_h884gemm_64x128_ldg8_nn",
	  { .lib = "cublas", .op = "gemm", .in = "fp16", .acc = "fp16", .out = "fp16",
	    .path = TENSOR, .tile = { 64, 128 }, .layout = "NN", .arch = 70 } },
	{ "cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8",
	  { .lib = "cutlass", .op = "gemm", .in = "fp16", .acc = "f32", .out = "fp16",
	    .path = TENSOR, .tile = { 256, 128, 32 }, .stages = 3, .layout = "TN", .align = 8,
	    .arch = 80 } },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align8",
	  { .lib = "cutlass", .op = "gemm", .in = "bf16", .acc = "f32", .out = "bf16",
	    .path = TENSOR, .tile = { 32, 32, 128 }, .stages = 2, .layout = "NN", .align = 8,
	    .arch = 80 } },
	{ "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnn_"
	  "align8_warpspecialized_pingpong_epi_tma",
	  { .lib = "cutlass", .op = "gemm", .in = "bf16", .acc = "f32", .out = "bf16",
	    .path = TENSOR, .tile = { 128, 128, 64 }, .cluster = { 2, 1, 1 }, .layout = "TN",
	    .align = 8, .arch = 90 } },
	{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT",
	  { .lib = "cublas", .op = "gemm", .in = "fp16", .acc = "f32", .out = "fp16",
	    .path = TENSOR, .tile = { 128, 256, 64 }, .stages = 4, .cluster = { 2, 1 },
	    .layout = "TN" } },
	{ "nvjet_qst_64x8_128x12_4x1_v_bz_splitK_TNN",
	  { .lib = "cublas", .op = "gemm", .in = "fp8", .acc = "f32", .out = "bf16",
	    .path = TENSOR, .tile = { 64, 8, 128 }, .stages = 12, .cluster = { 4, 1 },
	    .layout = "TN", .split_k = true } },
	{ "attn_fwd", { .op = "attention" } },
	{ "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(Flash_fwd_params)",
	  { .lib = "flash_attn", .op = "attention" } },
	{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
	  { .lib = "nccl", .op = "allreduce", .in = "f32", .algo = "ring", .proto = "LL",
	    .reduction = "Sum", .type = "float" } },
	{ "ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_TREE_SIMPLE(ncclDevKernelArgsStorage<4096ul>)",
	  { .lib = "nccl", .op = "reducescatter", .in = "bf16", .algo = "nvls", .proto = "SIMPLE",
	    .reduction = "Sum", .type = "bf16" } },
	{ "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
	  { .lib = "nccl", .op = "sendrecv", .algo = "ring", .proto = "SIMPLE",
	    .reduction = "Sum", .type = "int8_t" } },
	{ "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", { .lib = "nccl" } },
	{ "void splitKreduce_kernel<32, 16, int, float, float>(cublasSplitKParams<float>)",
	  { .lib = "cublas", .op = "gemm_reduce" } },
	{ "_ZN7cutlass6KernelI52cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align1EEvNT_6ParamsE",
	  { .lib = "cutlass", .op = "gemm", .in = "tf32", .acc = "f32", .out = "f32",
	    .path = TENSOR, .tile = { 128, 128, 16 }, .stages = 4, .layout = "NT", .align = 1,
	    .arch = 80 } },
	{ "_ZN19cutlass_cudnn_train6KernelINS_"
	  "4conv6kernel23ImplicitGemmConvolutionINS_4gemm9GemmShape"
	  "ILi64ELi128ELi32EEENS_4conv12Conv2dWgradXENS_10tfloat32_tENS_11MmaTensorOpEEEEEvNT_1PE",
	  { .lib = "cudnn", .op = "conv_wgrad", .in = "tf32", .path = TENSOR,
	    .tile = { 64, 128, 32 } } },
	{ "triton_poi_fused_add_0", { .lib = "triton" } },
	{ "heavy_kernel", { .lib = NULL } },
	{ "", { .lib = NULL } },
	{ "f", { .lib = NULL } },
	/* what looks like a grammar and is none */
	{ "ampere", { .lib = NULL } },
	{ "Cijk_", { .op = "gemm" } },
	{ "nvjet_", { .op = "gemm" } },
	{ "ampere_sgemm_0x0_tn",
	  { .lib = "cublas", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .layout = "TN", .arch = 80 } },
	{ "ampere_sgemm_99999999999x128_tn",
	  { .lib = "cublas", .op = "gemm", .in = "f32", .acc = "f32", .out = "f32", .path = SIMT,
	    .layout = "TN", .arch = 80 } },
};
/* clang-format on */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *difference(const struct kernel_name *a, const struct kernel_name *b)
{
	if (!same_text(a->lib, b->lib))
		return "lib";
	if (!same_text(a->op, b->op))
		return "op";
	if (!same_text(a->in, b->in) || !same_text(a->acc, b->acc) || !same_text(a->out, b->out))
		return "types";
	if (memcmp(a->tile, b->tile, sizeof(a->tile)) != 0)
		return "tile";
	if (memcmp(a->cluster, b->cluster, sizeof(a->cluster)) != 0)
		return "cluster";
	if (a->path != b->path || a->split_k != b->split_k || a->stream_k != b->stream_k)
		return "path, split or stream";
	if (a->stages != b->stages || a->gsu != b->gsu || a->align != b->align ||
	    a->arch != b->arch)
		return "numbers";
	if (!same_text(a->layout, b->layout) || !same_text(a->isa, b->isa) ||
	    !same_text(a->slice, b->slice))
		return "layout, isa or slice";
	if (!same_text(a->algo, b->algo) || !same_text(a->proto, b->proto) ||
	    !same_text(a->type, b->type) || !same_text(a->reduction, b->reduction))
		return "collective";
	return NULL;
}

TEST(test_known_names)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kernel_name k;
		const char *d;

		memset(&k, 0xff, sizeof(k));
		kernel_name_parse(cases[i].name, &k);
		d = difference(&k, &cases[i].k);
		if (d)
			ROW_FAIL(i, "'%s' differs in %s", cases[i].name, d);
	}
}

/* ---- names made from fields read back as these fields ---- */

static uint64_t seed = 20;

static uint32_t pick(uint32_t n)
{
	return (uint32_t)(splitmix64(&seed) % n);
}

static uint32_t size_pick(void)
{
	return 8u << pick(6);
}

static const char *layout_pick(char *ret)
{
	ret[0] = "NT"[pick(2)];
	ret[1] = "NT"[pick(2)];
	ret[2] = '\0';
	return ret;
}

static void fields_fill(struct kernel_name *k)
{
	*k = (struct kernel_name){ .op = "gemm" };
	for (int i = 0; i < 3; i++)
		k->tile[i] = size_pick();
	layout_pick(k->layout);
	k->stages = 2 + pick(6);
	k->align = 1u << pick(4);
}

static char lower(char c)
{
	return (char)(c - 'A' + 'a');
}

static void cutlass_make(struct kernel_name *k, struct strbuf *name)
{
	static const struct {
		const char *out, *core, *in, *in_type, *acc, *out_type;
	} forms[] = { { "", "s1688gemm", "", "tf32", "f32", "f32" },
		      { "f16_", "s16816gemm", "f16_", "fp16", "f32", "fp16" },
		      { "", "s16816gemm", "bf16_", "bf16", "f32", "f32" },
		      { "", "d884gemm", "", "f64", "f64", "f64" },
		      { "", "h16816gemm", "", "fp16", "fp16", "fp16" },
		      { "", "s1688tf32gemm", "", "tf32", "f32", "f32" } };
	uint32_t f = pick(ARRAY_LEN(forms));

	fields_fill(k);
	k->lib = "cutlass";
	k->path = TENSOR;
	k->arch = 70 + 5 * pick(5);
	k->in = forms[f].in_type;
	k->acc = forms[f].acc;
	k->out = forms[f].out_type;
	strbuf_addf(name,
		    "void cutlass::Kernel<cutlass_%u_tensorop_%s%s_%s%ux%u_%ux%u_%c%c_align%u>(x)",
		    k->arch, forms[f].out, forms[f].core, forms[f].in, k->tile[0], k->tile[1],
		    k->tile[2], k->stages, lower(k->layout[0]), lower(k->layout[1]), k->align);
}

static void tensile_make(struct kernel_name *k, struct strbuf *name)
{
	static const struct {
		const char *word, *in, *acc, *out;
	} forms[] = { { "HHS_BH", "fp16", "f32", "fp16" },   { "BBS_BH", "bf16", "f32", "bf16" },
		      { "B_BS_BH", "bf16", "f32", "bf16" },  { "SB", "f32", "f32", "f32" },
		      { "DB", "f64", "f64", "f64" },         { "HB", "fp16", "fp16", "fp16" },
		      { "HBH", "fp16", "f32", "fp16" },      { "BSS_BH", "bf16", "f32", "f32" },
		      { "F8F8S_BH", "fp8", "f32", "fp8" },   { "F8BS_BH", "fp8", "f32", "bf16" },
		      { "B8F8BS_BH", "bf8", "f32", "bf16" }, { "S_B", "f32", "f32", "f32" } };
	uint32_t f = pick(ARRAY_LEN(forms));

	fields_fill(k);
	k->stages = k->align = 0;
	k->lib = "tensile";
	k->path = pick(2) ? TENSOR : SIMT;
	k->gsu = 1 + pick(8);
	k->split_k = k->gsu > 1;
	k->stream_k = pick(2);
	k->in = forms[f].in;
	k->acc = forms[f].acc;
	k->out = forms[f].out;
	snprintf(k->isa, sizeof(k->isa), pick(2) ? "gfx942" : "gfx90a");
	strbuf_addf(name, "Cijk_A%s_B%s_%s_Bias_UserArgs_MT%ux%ux%u%s_SN_GSU%u_SK%u_ISA%s_PLR1",
		    k->layout[0] == 'N' ? "ilk" : "lik", k->layout[1] == 'N' ? "ljk" : "jlk",
		    forms[f].word, k->tile[0], k->tile[1], k->tile[2],
		    k->path == TENSOR ? "_MI16x16x1" : "", k->gsu, k->stream_k ? 3 : 0, k->isa + 3);
}

static void xmma_make(struct kernel_name *k, struct strbuf *name)
{
	static const struct {
		const char *word, *in, *acc, *out;
		enum kernel_path path;
	} forms[] = { { "f32f32_f32f32_f32", "f32", "f32", "f32", SIMT },
		      { "tf32f32_tf32f32_f32", "tf32", "f32", "f32", TENSOR },
		      { "bf16bf16_bf16f32_f32", "bf16", "f32", "bf16", TENSOR },
		      { "f16f16_f16f16_f16", "fp16", "fp16", "fp16", TENSOR },
		      { "i8i8_i8i32_f32", "i8", "i32", "i8", TENSOR } };
	static const char *const ops[] = { "gemm", "fprop_implicit_gemm", "dgrad_implicit_gemm",
					   "wgrad_implicit_gemm_indexed" };
	static const char *const op_names[] = { "gemm", "conv_fprop", "conv_dgrad", "conv_wgrad" };
	uint32_t f = pick(ARRAY_LEN(forms)), op = pick(ARRAY_LEN(ops));

	fields_fill(k);
	k->arch = 80 + 10 * pick(3);
	k->op = op_names[op];
	k->lib = op ? "cudnn" : "cublas";
	k->in = forms[f].in;
	k->acc = forms[f].acc;
	k->out = forms[f].out;
	k->path = forms[f].path;
	k->split_k = pick(2);
	strbuf_addf(name, "sm%u_xmma_%s_%s_", k->arch, ops[op], forms[f].word);
	if (op) {
		k->layout[0] = '\0';
		strbuf_addstr(name, "nhwckrsc_nhwc_");
	} else {
		strbuf_addf(name, "%c%c_n_", lower(k->layout[0]), lower(k->layout[1]));
	}
	strbuf_addf(name,
		    "tilesize%ux%ux%u_stage%u_warpsize2x2x1_g1_%s_aligna%u_alignc4_execute_%s%s",
		    k->tile[0], k->tile[1], k->tile[2], k->stages,
		    k->path == SIMT ? "ffma" : "tensor16x8x8", k->align,
		    k->split_k ? "split_k_kernel" : "kernel", op ? "_cudnn" : "__5x_cublas");
}

static void nvjet_make(struct kernel_name *k, struct strbuf *name)
{
	static const char letters[] = "hts";
	static const char *const types[] = { "fp16", "bf16", "f32" };
	uint32_t in = pick(3), out = pick(3);

	fields_fill(k);
	k->align = 0;
	k->lib = "cublas";
	k->path = TENSOR;
	k->in = in == 2 ? "tf32" : types[in];
	k->acc = "f32";
	k->out = types[out];
	k->cluster[0] = 1 + pick(4);
	k->cluster[1] = 1 + pick(2);
	k->split_k = pick(2);
	strbuf_addf(name, "nvjet_%cs%c_%ux%u_%ux%u_%ux%u_h_bz_%s%sT", letters[in], letters[out],
		    k->tile[0], k->tile[1], k->tile[2], k->stages, k->cluster[0], k->cluster[1],
		    k->split_k ? "splitK_" : "", k->layout);
}

static void nccl_make(struct kernel_name *k, struct strbuf *name)
{
	static const char *const ops[] = { "AllReduce", "ReduceScatter", "Reduce" };
	static const char *const op_names[] = { "allreduce", "reducescatter", "reduce" };
	static const char *const algos[] = { "RING", "TREE", "NVLS", "COLLNET_DIRECT" };
	static const char *const algo_names[] = { "ring", "tree", "nvls", "collnet" };
	static const char *const protos[] = { "LL", "LL128", "SIMPLE" };
	static const struct {
		const char *word, *type;
	} types[] = { { "f32", "f32" }, { "half", "fp16" }, { "uint64_t", NULL } };
	uint32_t op = pick(3), algo = pick(4), type = pick(3);

	*k = (struct kernel_name){ .lib = "nccl",
				   .op = op_names[op],
				   .algo = algo_names[algo],
				   .proto = protos[pick(3)],
				   .in = types[type].type,
				   .reduction = "Sum" };
	snprintf(k->type, sizeof(k->type), "%s", types[type].word);
	if (pick(2))
		strbuf_addf(name, "ncclDevKernel_%s_Sum_%s_%s_%s(x)", ops[op], k->type, algos[algo],
			    k->proto);
	else
		strbuf_addf(name, "ncclKernel_%s_%s_%s_Sum_%s(x)", ops[op], algos[algo], k->proto,
			    k->type);
}

TEST(test_made_names)
{
	static void (*const makers[])(struct kernel_name *,
				      struct strbuf *) = { cutlass_make, tensile_make, xmma_make,
							   nvjet_make, nccl_make };

	for (size_t i = 0; i < 20000; i++) {
		CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
		struct kernel_name want, got;
		const char *d;

		makers[i % ARRAY_LEN(makers)](&want, &name);
		kernel_name_parse(name.buf, &got);
		d = difference(&got, &want);
		if (d)
			ROW_FAIL(i, "'%s' differs in %s", name.buf, d);
	}
}

/* ---- mangled names ---- */

static const struct {
	const char *name, *want; /* NULL: it is left alone */
} mangled[] = {
	{ "_Z3addPfS_", "add" },
	{ "_ZN2at6native3fooIfLi4EEEvT_", "at::native::foo<float, 4>" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo" },
	{ "_Z1fI1aIS0_IiEEEvv", "f<a<a<int> > >" },
	{ "_Z1fIJiPKfEEvDpT_", "f<int, float const*>" },
	{ "_Z1fIPFvifEEvT_", "f<void (*)(int, float)>" },
	{ "_Z1fILb1ELj4ELm8ELin1EEvv", "f<true, 4u, 8ul, -1>" },
	{ "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15neg_kernel_cudaERNS_"
	  "18TensorIteratorBaseEENKUlvE0_clEvENKUlvE4_clEvEUlfE_NS_6detail5ArrayIPcLi2EEEEEviT0_"
	  "T1_",
	  "at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda("
	  "at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#6}::operator()() "
	  "const::{lambda(float)#1}, at::detail::Array<char*, 2> >" },
	{ "_Z3foov.kd", "foo" },
	{ "foo", NULL },
	{ "", NULL },
	{ "_Z", NULL },
	{ "_ZN", NULL },
	{ "_Z9foo", NULL },
	{ "_Z99999999999999999999foo", NULL },
	{ "_Z1fIXplLi1ELi2EEEvv", NULL },
	{ "_Z1fS5_", NULL },
};

TEST(test_demangle)
{
	for (size_t i = 0; i < ARRAY_LEN(mangled); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		if (demangle(mangled[i].name, &out) != !!mangled[i].want)
			ROW_FAIL(i, "'%s' → '%s'", mangled[i].name, out.buf);
		if (strcmp(out.buf, mangled[i].want ? mangled[i].want : "") != 0)
			ROW_FAIL(i, "'%s' → '%s'", mangled[i].name, out.buf);
	}
}

/* Back references that double the text, and parts in parts: an end without a result. */
TEST(test_demangle_bounds)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_addstr(&name, "_Z1f1bI1aE");
	for (unsigned i = 1; i < 30; i++) {
		char c = (char)(i - 1 < 10 ? '0' + i - 1 : 'A' + i - 11);

		strbuf_addf(&name, "S_IS%c_S%c_E", c, c);
	}
	assert_false(demangle(name.buf, &out));
	strbuf_clear(&name);
	strbuf_addstr(&name, "_Z1f");
	for (size_t i = 0; i < 100000; i++)
		strbuf_addch(&name, 'P');
	strbuf_addch(&name, 'v');
	assert_false(demangle(name.buf, &out));
	strbuf_clear(&name);
	strbuf_addstr(&name, "_Z1fI");
	for (size_t i = 0; i < 100000; i++)
		strbuf_addch(&name, 'J');
	assert_false(demangle(name.buf, &out));
	assert_int_equal(out.len, 0);
}
