/*
 * MIOpen:
 *	igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x64x8_…	tile; gkgs: K is split
 *	miopenSp3AsmConv_v30_3_1_gfx9_fp16_…_f3x2	Winograd: fewer operations than nominal
 *	naive_conv_ab_nonpacked_fwd_nchw_half_double_half	types of in, sum, out
 * NCCL and RCCL:
 *	ncclKernel_AllReduce_RING_LL_Sum_float
 *	ncclDevKernel_AllReduce_Sum_bf16_RING_LL
 *	ncclDevKernel_Generic		the operation is in its arguments
 */
#include "kernel_words.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static const char *miopen_op(const struct kernel_word *w)
{
	if (word_is(w, "fwd"))
		return "conv_fprop";
	if (word_is(w, "bwd"))
		return "conv_dgrad";
	return word_is(w, "wrw") ? "conv_wgrad" : NULL;
}

static void igemm_word(const struct kernel_word *w, struct kernel_name *k)
{
	uint32_t v[3];

	if (!k->op)
		k->op = miopen_op(w);
	if (!k->in) {
		k->in = type_of_word(w->p, w->n);
		if (k->in)
			k->acc = strcmp(k->in, "i8") == 0 ? "i32" : "f32";
	}
	if (word_begins(w, "gtcx"))
		k->path = KERNEL_PATH_TENSOR;
	if (word_numbers(w, "bt", v) == 3)
		memcpy(k->tile, v, sizeof(v));
	k->split_k |= word_is(w, "gkgs");
}

static void naive_types(const struct kernel_words *w, struct kernel_name *k)
{
	const char *types[3] = { NULL };
	size_t nr = 0;

	for (size_t i = 0; i < w->nr && nr < ARRAY_LEN(types); i++) {
		const char *type = type_of_word(w->v[i].p, w->v[i].n);

		if (type)
			types[nr++] = type;
		if (!k->op)
			k->op = miopen_op(&w->v[i]);
	}
	k->in = types[0];
	k->acc = types[1];
	k->out = types[2];
	k->path = KERNEL_PATH_SIMT;
}

bool kernel_miopen(const struct kernel_words *w, struct kernel_name *k)
{
	if (w->nr < 2)
		return false;
	if (word_is(&w->v[0], "igemm")) {
		for (size_t i = 1; i < w->nr; i++)
			igemm_word(&w->v[i], k);
	} else if (word_begins(&w->v[0], "miopenSp3")) {
		k->algo = "winograd";
		for (size_t i = 1; i < w->nr && !k->in; i++)
			k->in = type_of_word(w->v[i].p, w->v[i].n);
	} else if (word_is(&w->v[0], "naive") && word_is(&w->v[1], "conv")) {
		naive_types(w, k);
	} else {
		return false;
	}
	k->lib = "miopen";
	k->op = k->op ?: "conv";
	return true;
}

static const struct pair {
	const char *word, *text;
} collectives[] = { { "AllReduce", "allreduce" },    { "AllGather", "allgather" },
		    { "AllGatherV", "allgather" },   { "ReduceScatter", "reducescatter" },
		    { "Broadcast", "broadcast" },    { "Reduce", "reduce" },
		    { "SendRecv", "sendrecv" },      { "AllToAll", "alltoall" },
		    { "AllToAllPivot", "alltoall" }, { "Gather", "gather" },
		    { "Scatter", "scatter" } },
  algos[] = { { "RING", "ring" },
	      { "TREE", "tree" },
	      { "COLLNET", "collnet" },
	      { "NVLS", "nvls" },
	      { "PAT", "pat" } },
  protos[] = { { "LL", "LL" }, { "LL128", "LL128" }, { "SIMPLE", "SIMPLE" } };

static const char *pair_find(const struct pair *v, size_t nr, const struct kernel_word *w)
{
	for (size_t i = 0; i < nr; i++)
		if (word_is(w, v[i].word))
			return v[i].text;
	return NULL;
}

static bool is_reduction(const struct kernel_word *w)
{
	static const char *const words[] = { "Sum", "Prod",      "Min",        "Max",
					     "Avg", "PreMulSum", "SumPostDiv", "MinMax" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (word_is(w, words[i]))
			return true;
	return false;
}

static void nccl_word(const struct kernel_word *w, struct kernel_name *k)
{
	const char *op = pair_find(collectives, ARRAY_LEN(collectives), w);
	const char *algo = pair_find(algos, ARRAY_LEN(algos), w);
	const char *proto = pair_find(protos, ARRAY_LEN(protos), w);
	size_t n = strlen(k->type);

	if (op && !k->op) {
		k->op = op;
	} else if (algo) {
		k->algo = k->algo ?: algo; /* NVLS_TREE */
	} else if (proto) {
		k->proto = proto;
	} else if (is_reduction(w)) {
		snprintf(k->reduction, sizeof(k->reduction), "%.*s", (int)w->n, w->p);
	} else if (k->op && !word_is(w, "DIRECT") && !word_is(w, "CHAIN")) {
		snprintf(k->type + n, sizeof(k->type) - n, "%s%.*s", n ? "_" : "", (int)w->n, w->p);
	}
}

bool kernel_nccl(const struct kernel_words *w, struct kernel_name *k)
{
	static const char *const fronts[] = { "ncclKernel", "ncclDevKernel", "ncclSymDevKernel",
					      "rcclGenericKernel" };
	bool ours = false;

	for (size_t i = 0; w->nr && i < ARRAY_LEN(fronts); i++)
		ours |= word_is(&w->v[0], fronts[i]);
	if (!ours)
		return false;
	k->lib = "nccl";
	for (size_t i = 1; i < w->nr; i++)
		nccl_word(&w->v[i], k);
	if (k->type[0])
		k->in = type_of_word(k->type, strlen(k->type));
	return true;
}
