/* Calls that are handed on (library_open.h). */
#include "library_open.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* Which libraries call which; a path of two (MIOpen → rocBLAS → hipBLASLt) has two rows here. */
static bool hands_on(const char *from, const char *to)
{
	static const char *const pairs[][2] = {
		{ "miopen", "rocblas" },  { "miopen", "hipblaslt" }, { "rocblas", "hipblaslt" },
		{ "cublas", "cublaslt" }, { "cudnn", "cublas" },     { "cudnn", "cublaslt" },
		{ "onednn", "blas" }
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (!strcmp(from, pairs[i][0]) && !strcmp(to, pairs[i][1]))
			return true;
	return false;
}

static bool open_takes(const struct open_call *o, const char *library, enum library_level level,
		       const struct library_product *product)
{
	static const int64_t none[3];
	const int64_t *size = product->size[0];

	return product->flops > 0 && o->left[level] >= product->flops &&
	       (!memcmp(o->product.size[0], size, sizeof(none)) ||
		(memcmp(o->product.size[1], none, sizeof(none)) != 0 &&
		 !memcmp(o->product.size[1], size, sizeof(none)))) &&
	       hands_on(o->library, library);
}

uint32_t open_calls_take(struct open_calls *o, const char *library, uint32_t row,
			 enum library_level level, const struct library_product *product)
{
	struct open_call *inner;
	size_t depth = o->nr;

	while (depth > 0 && !open_takes(&o->v[depth - 1], library, level, product))
		depth--;
	if (depth > 0)
		o->v[depth - 1].left[level] -= product->flops;
	o->nr = depth < ARRAY_LEN(o->v) ? depth + 1 : depth;
	inner = &o->v[o->nr - 1];
	*inner = (struct open_call){ .library = library, .row = row, .product = *product };
	for (size_t l = 0; l <= LEVEL_MAX; l++)
		inner->left[l] = product->flops;
	return depth > 0 ? o->v[depth - 1].row : LIBRARY_ROW_NONE;
}
