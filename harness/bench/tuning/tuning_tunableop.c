#include "tuning_form.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Types in which each version offers hipBLASLt's solutions. */
static const struct {
	const char *type, *compute, *name;
} names[] = { { "f16", "f32", "Half" },
	      { "bf16", "f32", "BFloat16" },
	      { "f32", "f32", "float" },
	      { "f32", "tf32", "tf32" } };

static const char *type_name(const struct vendor_gemm *g)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(g->type[MATRIX_A]->name, names[i].type) &&
		    !strcmp(g->compute->name, names[i].compute))
			return names[i].name;
	return NULL;
}

static bool is_offered(const struct vendor_gemm *g)
{
	bool single = !strcmp(g->type[MATRIX_A]->name, "f32");

	return type_name(g) && !g->mode && !(single && g->ta != 'N' && g->tb != 'N') &&
	       !(g->scale_type && strcmp(g->scale_type->name, "f32") != 0);
}

static bool has_epilogue(const struct vendor_gemm *g)
{
	bool scaled = g->scale_alpha;

	for (int i = 0; i < MATRICES; i++)
		scaled |= g->scale[i] != 0;
	return scaled || g->activation || g->bias || g->aux || g->bias_type;
}

static const char *strange(const struct vendor_gemm *g)
{
	if (g->pointers)
		return "TunableOp has no batches of pointers";
	if (has_epilogue(g))
		return "TunableOp has other operators for epilogues and scales";
	for (int i = 0; i < MATRICES; i++)
		if (g->type[i] != g->type[MATRIX_A])
			return "TunableOp has no products of different types";
	if (g->ta == 'C' || g->tb == 'C')
		return "PyTorch makes no conjugate transposition of real matrices";
	if (!is_offered(g))
		return "not each PyTorch offers hipBLASLt for them";
	if (g->ld[MATRIX_D] != g->ld[MATRIX_C])
		return "PyTorch's products have one matrix for C and D";
	return NULL;
}

static const char *place(const struct vendor_request *q, struct strbuf *to)
{
	const struct vendor_gemm *g = &q->gemm;
	const char *why = strange(g);

	if (why)
		return why;
	strbuf_addf(to, "%s_%s_%c%c,%c%c_%" PRId64 "_%" PRId64 "_%" PRId64,
		    g->batch > 1 ? "GemmStridedBatchedTunableOp" : "GemmTunableOp", type_name(g),
		    g->ta, g->tb, tolower(g->ta), tolower(g->tb), g->m, g->n, g->k);
	if (g->batch > 1)
		strbuf_addf(to, "_B_%" PRId64, g->batch);
	strbuf_addf(to, "_ld_%" PRId64 "_%" PRId64 "_%" PRId64, g->ld[MATRIX_A], g->ld[MATRIX_B],
		    g->ld[MATRIX_C]);
	return NULL;
}

static void line(const struct bench_tuning_line *line, FILE *f)
{
	fprintf(f, "%s,Gemm_Hipblaslt_%" PRId32 ",%g\n", line->place, line->row->solution,
		line->row->mean / 1e3);
}

const struct tuning_form tuning_tunableop = { .rocblas = true,
					      .no_time = "neither rocBLAS nor hipBLASLt has a time",
					      .place = place,
					      .line = line };
