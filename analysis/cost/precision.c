#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/cost/element_type.h"
#include "profrig/cost/peaks.h"
#include "profrig/names/kernel_name.h"

const char *precision_name(enum precision p)
{
	static const char *const names[PRECISIONS] = { "",     "fp64", "fp32", "tf32",
						       "bf16", "fp16", "fp8",  "int8" };

	return names[p];
}

static const struct {
	const char *type; /* of element types and of kernel names */
	enum precision is;
} precisions[] = {
	{ "f64", PRECISION_FP64 },  { "f64c", PRECISION_FP64 }, { "c64", PRECISION_FP64 },
	{ "f32", PRECISION_FP32 },  { "f32c", PRECISION_FP32 }, { "c32", PRECISION_FP32 },
	{ "tf32", PRECISION_TF32 }, { "bf16", PRECISION_BF16 }, { "f16", PRECISION_FP16 },
	{ "fp16", PRECISION_FP16 }, { "f8", PRECISION_FP8 },    { "bf8", PRECISION_FP8 },
	{ "fp8", PRECISION_FP8 },   { "i8", PRECISION_INT8 },
};

static enum precision precision_named(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++)
		if (strcmp(precisions[i].type, type) == 0)
			return precisions[i].is;
	return PRECISION_UNKNOWN;
}

enum precision precision_of_type(const struct element_type *t)
{
	return t ? precision_named(t->name) : PRECISION_UNKNOWN;
}

/* What adds up the parts of a split product multiplies nothing. */
enum precision precision_of_kernel(const char *name)
{
	struct kernel_name k;

	kernel_name_parse(name, &k);
	if (!k.in || (k.op && strcmp(k.op, "gemm_reduce") == 0))
		return PRECISION_UNKNOWN;
	return precision_named(k.in);
}
