#include "profrig/names/kernel_name.h"
#include "kernel_words.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"
#include "profrig/names/demangle.h"

static bool in_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void words_cut(const char *p, size_t n, const char *whole, struct kernel_words *ret)
{
	size_t from = 0;

	ret->text = p;
	ret->n = n;
	ret->nr = 0;
	ret->whole = whole;
	for (size_t i = 0; i <= n && ret->nr < KERNEL_WORDS_MAX; i++)
		if (i == n || p[i] == '_') {
			if (i > from)
				ret->v[ret->nr++] = (struct kernel_word){ p + from, i - from };
			from = i + 1;
		}
}

static bool grammar_find(const struct kernel_words *w, struct kernel_name *k)
{
	static bool (*const grammars[])(const struct kernel_words *, struct kernel_name *) = {
		kernel_tensile, kernel_xmma, kernel_nvjet, kernel_nccl, kernel_miopen, kernel_blas
	};

	for (size_t i = 0; i < ARRAY_LEN(grammars); i++) {
		*k = (struct kernel_name){ .lib = NULL };
		if (grammars[i](w, k))
			return true;
	}
	*k = (struct kernel_name){ .lib = NULL };
	return false;
}

/* Each identifier of a name, of which one may follow a grammar: cutlass::Kernel<cutlass_80_…>. */
static bool identifiers_look(const char *text, struct kernel_name *k)
{
	size_t n = strnlen(text, KERNEL_NAME_LOOK);

	for (size_t i = 0; i < n;) {
		struct kernel_words w;
		size_t from = i;

		while (i < n && in_identifier(text[i]))
			i++;
		if (i > from + 4) {
			words_cut(text + from, i - from, text, &w);
			if (grammar_find(&w, k))
				return true;
		}
		i += i == from || i < n;
	}
	return false;
}

/* The numbers of the first GemmShape<128, 128, 32>, which is the block's. */
static void shape_read(const char *text, uint32_t *tile)
{
	const char *p = strstr(text, "GemmShape<");
	uint32_t v[3] = { 0 };

	if (!p)
		return;
	p += strlen("GemmShape<");
	for (size_t i = 0; i < 3; i++) {
		for (; isdigit((unsigned char)*p) && v[i] <= KERNEL_NUMBER_MAX; p++)
			v[i] = v[i] * 10 + (uint32_t)(*p - '0');
		if (v[i] == 0 || v[i] > KERNEL_NUMBER_MAX)
			return;
		while (*p == ',' || *p == ' ')
			p++;
	}
	memcpy(tile, v, sizeof(v));
}

/* CUTLASS by its templates: types and tile stand in their arguments. */
static void templates_read(const char *text, struct kernel_name *k)
{
	static const struct {
		const char *part, *op;
	} ops[] = { { "Conv2dFprop", "conv_fprop" },      { "Conv3dFprop", "conv_fprop" },
		    { "Conv2dDgrad", "conv_dgrad" },      { "Conv3dDgrad", "conv_dgrad" },
		    { "Conv2dWgrad", "conv_wgrad" },      { "Conv3dWgrad", "conv_wgrad" },
		    { "ImplicitGemmConvolution", "conv" } };
	static const struct {
		const char *part, *type;
	} types[] = { { "tfloat32_t", "tf32" },
		      { "bfloat16_t", "bf16" },
		      { "half_t", "fp16" },
		      { "float_e4m3_t", "fp8" } };

	k->lib = strstr(text, "cutlass_cudnn") ? "cudnn" : "cutlass";
	shape_read(text, k->tile);
	for (size_t i = 0; !k->op && i < ARRAY_LEN(ops); i++)
		if (strstr(text, ops[i].part))
			k->op = ops[i].op;
	for (size_t i = 0; k->tile[0] && !k->in && i < ARRAY_LEN(types); i++)
		if (strstr(text, types[i].part))
			k->in = types[i].type;
	if (strstr(text, "TensorOp") && k->tile[0])
		k->path = KERNEL_PATH_TENSOR;
}

static const char *lib_of(const char *text)
{
	static const struct {
		const char *part, *lib;
	} libs[] = { { "triton_", "triton" },
		     { "aiter", "aiter" },
		     { "ck::", "ck" },
		     { "ck_tile::", "ck" },
		     { "kernel_gemm_xdl", "ck" },
		     { "flash::", "flash_attn" },
		     { "flash_fwd", "flash_attn" },
		     { "flash_bwd", "flash_attn" },
		     { "pytorch_flash", "flash_attn" },
		     { "cudnn", "cudnn" },
		     { "cublas", "cublas" },
		     { "gemvNSP", "cublas" },
		     { "gemvx::", "cublas" },
		     { "rocblas", "rocblas" },
		     { "miopen", "miopen" },
		     { "MIOpen", "miopen" },
		     { "nccl", "nccl" },
		     { "rccl", "nccl" },
		     { "fbgemm", "fbgemm" },
		     { "at::native", "pytorch" },
		     { "at::cuda", "pytorch" },
		     { "vllm::", "vllm" },
		     { "cub::", "cub" },
		     { "rocprim::", "rocprim" },
		     { "thrust::", "thrust" } };

	for (size_t i = 0; i < ARRAY_LEN(libs); i++)
		if (strstr(text, libs[i].part))
			return libs[i].lib;
	return NULL;
}

/* Names without a grammar. */
static void parts_look(const char *text, struct kernel_name *k)
{
	const char *class = kernel_class(text);

	if (strstr(text, "splitKreduce") || strstr(text, "ReduceSplitK") ||
	    strstr(text, "splitK_reduce")) {
		k->op = "gemm_reduce";
		k->lib = strstr(text, "cutlass") ? "cutlass" : "cublas";
		return;
	}
	if (strstr(text, "cutlass"))
		templates_read(text, k);
	if (!k->lib)
		k->lib = lib_of(text);
	if (!k->op && strcmp(class, "gemm") == 0)
		k->op = strstr(text, "gemv") ? "gemv" : "gemm";
	else if (!k->op && strcmp(class, "conv") == 0)
		k->op = "conv";
	else if (!k->op && strcmp(class, "attention") == 0)
		k->op = "attention";
}

void kernel_name_parse(const char *name, struct kernel_name *ret)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT;
	const char *text = name;

	*ret = (struct kernel_name){ .lib = NULL };
	if (demangle(name, &plain))
		text = plain.buf;
	if (strnlen(text, KERNEL_NAME_LOOK + 1) > KERNEL_NAME_LOOK) {
		CLEANUP(strbuf_release) struct strbuf cut = STRBUF_INIT;

		strbuf_add(&cut, text, KERNEL_NAME_LOOK);
		if (!identifiers_look(cut.buf, ret))
			parts_look(cut.buf, ret);
		return;
	}
	if (!identifiers_look(text, ret))
		parts_look(text, ret);
}

const char *kernel_path_name(enum kernel_path path)
{
	static const char *const names[] = { "", "simt", "tensor" };

	return names[path];
}
