/*
 * NVIDIA's products of matrices and convolutions:
 *
 *	CUTLASS 2	cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_tn_align8
 *			            [out type] acc, instruction, kind  [in type]  M×N  K×stages
 *	CUTLASS 3	cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_
 *			128x128x64_2x1x1_0_tnn_align8_…      types of A, B, sum, C, D
 *	cuBLAS		ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn
 *			volta_sgemm_32x128_sliced1x4_tn      no instruction: vector units
 *	cuDNN		cudnn_infer_volta_scudnn_128x64_3dconv_fprop_medium_nn_v1
 *			cutlass_tensorop_s1688dgrad_optimized_tf32_128x128_16x4_nhwc_…
 *
 * A tensor operation on f32 without another type is TF32: the hardware has no other.
 */
#include "kernel_words.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static const struct {
	const char *word;
	uint32_t arch;
} arches[] = { { "maxwell", 50 }, { "pascal", 60 }, { "volta", 70 },  { "turing", 75 },
	       { "ampere", 80 },  { "ada", 89 },    { "hopper", 90 }, { "blackwell", 100 } };

static const struct {
	const char *word, *op;
} kinds[] = { { "gemm", "gemm" },        { "gemv", "gemv" },        { "cudnn", "conv" },
	      { "fprop", "conv_fprop" }, { "dgrad", "conv_dgrad" }, { "wgrad", "conv_wgrad" } };

static uint32_t arch_of(const struct kernel_word *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(arches); i++)
		if (word_is(w, arches[i].word))
			return arches[i].arch;
	if (word_number(w, "sm", &n) && n >= 30 && n < 1000)
		return n;
	return 0;
}

/* Of a sum: its letter, as BLAS has it. */
static const char *type_of_letter(char c)
{
	static const char letters[] = "sdhcizq";
	static const char *const types[] = { "f32", "f64", "fp16", "c32", "i32", "c64", "fp8" };
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? types[at - letters] : NULL;
}

/* "s16816gemm", "scudnn", "s1688tf32gemm", "s64x128x16gemm": acc, instruction, kind. */
static bool core_word(const struct kernel_word *w, bool simt, struct kernel_name *k)
{
	const char *acc = w->n ? type_of_letter(w->p[0]) : NULL;
	size_t i = 1, digits = 0;

	for (; i < w->n && (isdigit((unsigned char)w->p[i]) || (digits && w->p[i] == 'x')); i++)
		digits++;
	for (size_t c = 0; acc && c < ARRAY_LEN(kinds); c++) {
		size_t n = strlen(kinds[c].word);
		const char *math;

		if (w->n < i + n || memcmp(w->p + w->n - n, kinds[c].word, n) != 0)
			continue;
		math = type_of_word(w->p + i, w->n - n - i);
		if (w->n > i + n && !math)
			return false;
		if (!digits && !math && strcmp(kinds[c].word, "gemm") != 0 &&
		    strcmp(kinds[c].word, "cudnn") != 0 && !simt)
			return false;
		k->op = kinds[c].op;
		k->acc = acc;
		k->path = digits ? KERNEL_PATH_TENSOR : KERNEL_PATH_SIMT;
		k->in = math;
		return true;
	}
	return false;
}

/* What the words in front of the core say. */
static void front_words(const struct kernel_words *w, size_t core, struct kernel_name *k)
{
	for (size_t i = 0; i < core; i++) {
		const char *type = type_of_word(w->v[i].p, w->v[i].n);
		uint32_t n = arch_of(&w->v[i]);

		if (!n && i == 1 && word_is(&w->v[0], "cutlass"))
			word_number(&w->v[1], "", &n);
		if (n)
			k->arch = n;
		else if (type)
			k->out = type;
	}
}

static void op_word(const struct kernel_word *w, struct kernel_name *k)
{
	for (size_t c = 0; c < ARRAY_LEN(kinds); c++)
		if (strncmp(kinds[c].op, "conv_", 5) == 0 && word_is(w, kinds[c].word))
			k->op = kinds[c].op;
	if (word_is(w, "winograd"))
		k->algo = "winograd";
}

/* Sizes behind the core: M×N and K×stages, or M×N×K and the cluster. */
static void size_word(const struct kernel_word *w, struct kernel_name *k)
{
	uint32_t v[3];
	unsigned nr = word_numbers(w, "", v);

	if (nr < 2)
		return;
	if (!k->tile[0]) {
		memcpy(k->tile, v, nr * sizeof(*v));
	} else if (k->tile[2]) {
		if (!k->cluster[0])
			memcpy(k->cluster, v, nr * sizeof(*v));
	} else if (nr == 2) {
		k->tile[2] = v[0];
		k->stages = v[1];
	}
}

static void slice_word(const struct kernel_word *w, struct kernel_name *k)
{
	uint32_t v[3];

	if (word_numbers(w, "sliced", v) && w->n - 6 < sizeof(k->slice)) {
		memcpy(k->slice, w->p + 6, w->n - 6);
		k->slice[w->n - 6] = '\0';
	}
}

static void tail_words(const struct kernel_words *w, size_t core, struct kernel_name *k)
{
	const char *types[5] = { NULL };
	size_t nr = 0;

	for (size_t i = core + 1; i < w->nr; i++) {
		const struct kernel_word *word = &w->v[i];
		const char *type = type_of_word(word->p, word->n);

		if (type && nr < ARRAY_LEN(types) && !k->tile[0])
			types[nr++] = type;
		size_word(word, k);
		slice_word(word, k);
		op_word(word, k);
		if (!k->layout[0])
			word_layout(word, k->layout);
		word_number(word, "align", &k->align);
		k->split_k |= word_is(word, "splitK") || word_is(word, "splitk") ||
			      word_begins(word, "splitK");
		k->stream_k |= word_is(word, "streamk") || word_is(word, "stream-k");
	}
	if (nr)
		k->in = types[0];
	if (nr > 2)
		k->acc = types[2];
	if (nr > 3)
		k->out = types[nr - 1];
}

static void types_settle(struct kernel_name *k)
{
	static const struct {
		const char *out, *in;
	} same[] = { { "f32", "tf32" }, { "fp16", "fp16" }, { "bf16", "bf16" }, { "f64", "f64" },
		     { "i32", "i8" },   { "c32", "c32" },   { "c64", "c64" } };

	for (size_t i = 0; !k->in && i < ARRAY_LEN(same); i++)
		if (k->path == KERNEL_PATH_TENSOR && strcmp(k->acc, same[i].out) == 0)
			k->in = same[i].in;
	if (!k->in)
		k->in = k->out ?: k->acc;
	if (!k->out)
		k->out = k->acc;
	if (strcmp(k->in, "f32") == 0 && k->path == KERNEL_PATH_TENSOR)
		k->in = "tf32";
}

static const char *blas_lib(const struct kernel_words *w, const struct kernel_name *k)
{
	if (word_begins(&w->v[0], "cudnn") || strstr(w->whole, "cutlass_cudnn"))
		return "cudnn";
	if (word_begins(&w->v[0], "cutlass"))
		return "cutlass";
	return strncmp(k->op, "conv", 4) == 0 ? "cudnn" : "cublas";
}

bool kernel_blas(const struct kernel_words *w, struct kernel_name *k)
{
	bool cutlass = w->nr && word_begins(&w->v[0], "cutlass");
	bool cudnn = w->nr && word_is(&w->v[0], "cudnn");
	bool known = cutlass || cudnn || (w->nr && arch_of(&w->v[0]));

	for (size_t i = 0; known && i < w->nr; i++) {
		bool simt = i && word_is(&w->v[i - 1], "simt");

		if (!core_word(&w->v[i], simt, k))
			continue;
		front_words(w, i, k);
		tail_words(w, i, k);
		types_settle(k);
		k->lib = blas_lib(w, k);
		k->column_major = strncmp(k->op, "gemm", 4) == 0;
		return true;
	}
	return false;
}
