/*
 * NVIDIA's generated kernels:
 *
 *	sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_
 *	tensor16x8x16_execute_split_k_kernel__5x_cublas
 *		types of A and B, of the result and the sum, of the scaling
 *	sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize…_cudnn
 *		TF32 read from f32
 *	nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT
 *		letters of the types of A, the sum and the result; M×N, K×stages, cluster, layout
 */
#include "kernel_words.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* Two types in one word, "bf16f32"; false when it is something else. */
static bool type_pair(const struct kernel_word *w, const char *ret[2])
{
	for (size_t n = 2; n < w->n; n++) {
		ret[0] = type_of_word(w->p, n);
		ret[1] = type_of_word(w->p + n, w->n - n);
		if (ret[0] && ret[1])
			return true;
	}
	return false;
}

static void xmma_types(const struct kernel_words *w, size_t at, struct kernel_name *k)
{
	const char *ab[2], *cd[2];

	if (at + 2 >= w->nr || !type_pair(&w->v[at], ab) || !type_pair(&w->v[at + 1], cd))
		return;
	k->in = ab[0];
	k->acc = cd[1];
	k->out = strcmp(cd[0], "tf32") == 0 ? "f32" : cd[0];
}

static void xmma_word(const struct kernel_word *w, struct kernel_name *k)
{
	uint32_t v[3];

	if (word_numbers(w, "tilesize", v) == 3)
		memcpy(k->tile, v, sizeof(v));
	else if (word_is(w, "ffma") || word_is(w, "hfma") || word_is(w, "hfma2") ||
		 word_is(w, "dfma"))
		k->path = KERNEL_PATH_SIMT;
	else if (word_numbers(w, "tensor", v) == 3)
		k->path = KERNEL_PATH_TENSOR;
	else if (!k->layout[0] && !k->tile[0] && w->n == 2)
		word_layout(w, k->layout);
	word_number(w, "stage", &k->stages);
	word_number(w, "aligna", &k->align);
	word_numbers(w, "cluster", k->cluster);
}

static const char *xmma_op(const struct kernel_word *w)
{
	static const struct {
		const char *word, *op;
	} ops[] = { { "gemm", "gemm" },
		    { "fprop", "conv_fprop" },
		    { "dgrad", "conv_dgrad" },
		    { "wgrad", "conv_wgrad" } };

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (word_is(w, ops[i].word))
			return ops[i].op;
	return NULL;
}

bool kernel_xmma(const struct kernel_words *w, struct kernel_name *k)
{
	size_t at = 0;

	while (at < w->nr && !word_is(&w->v[at], "xmma"))
		at++;
	if (at + 1 >= w->nr)
		return false;
	k->op = xmma_op(&w->v[at + 1]) ?: "gemm";
	for (size_t i = 0; i < at; i++)
		word_number(&w->v[i], "sm", &k->arch);
	for (size_t i = at + 1; i < w->nr; i++) {
		if (!k->in)
			xmma_types(w, i, k);
		xmma_word(&w->v[i], k);
	}
	k->split_k = words_have(w, "split_k");
	k->stream_k = words_have(w, "stream_k");
	if (words_have(w, "cudnn"))
		k->lib = "cudnn";
	else
		k->lib = words_have(w, "cublas") || strcmp(k->op, "gemm") == 0 ? "cublas" : "cudnn";
	k->column_major = strcmp(k->op, "gemm") == 0;
	return true;
}

static const char *nvjet_type(char c)
{
	static const char letters[] = "htsqrdoi";
	static const char *const types[] = { "fp16", "bf16", "f32", "fp8",
					     "bf8",  "f64",  "fp8", "i32" };
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? types[at - letters] : NULL;
}

static void nvjet_sizes(const struct kernel_word *w, unsigned *seen, struct kernel_name *k)
{
	uint32_t v[3];

	if (word_numbers(w, "", v) != 2 || *seen > 2)
		return;
	if (*seen == 0) {
		k->tile[0] = v[0];
		k->tile[1] = v[1];
	} else if (*seen == 1) {
		k->tile[2] = v[0];
		k->stages = v[1];
	} else {
		k->cluster[0] = v[0];
		k->cluster[1] = v[1];
	}
	++*seen;
}

bool kernel_nvjet(const struct kernel_words *w, struct kernel_name *k)
{
	size_t at = 1;
	unsigned seen = 0;

	if (w->nr < 2 || !word_is(&w->v[0], "nvjet"))
		return false;
	if (word_number(&w->v[1], "sm", &k->arch))
		at++;
	k->lib = "cublas";
	k->op = "gemm";
	k->path = KERNEL_PATH_TENSOR;
	k->column_major = true;
	if (at < w->nr && w->v[at].n >= 3) {
		k->in = nvjet_type(w->v[at].p[0]);
		k->acc = nvjet_type(w->v[at].p[1]);
		k->out = nvjet_type(w->v[at].p[2]);
		if (k->in && strcmp(k->in, "f32") == 0)
			k->in = "tf32";
	}
	for (size_t i = at + 1; i < w->nr; i++) {
		nvjet_sizes(&w->v[i], &seen, k);
		k->split_k |= word_is(&w->v[i], "splitK");
		if (w->v[i].n == 3)
			word_layout(&w->v[i], k->layout);
	}
	return true;
}
