#include "profrig/cost/collective_cost.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/cost/element_type.h"

/* ---- kinds ---- */

/* In names without case, '_', '-' and blanks; the first match wins. */
static const struct {
	const char *word;
	enum collective_kind kind;
} kind_words[] = {
	{ "allreduce", COLLECTIVE_ALL_REDUCE },
	{ "crossdevicereduce", COLLECTIVE_ALL_REDUCE },
	{ "allgather", COLLECTIVE_ALL_GATHER },
	{ "reducescatter", COLLECTIVE_REDUCE_SCATTER },
	{ "alltoall", COLLECTIVE_ALL_TO_ALL },
	{ "all2all", COLLECTIVE_ALL_TO_ALL },
	{ "broadcast", COLLECTIVE_BROADCAST },
	{ "bcast", COLLECTIVE_BROADCAST },
	{ "barrier", COLLECTIVE_BARRIER },
	{ "sendrecv", COLLECTIVE_PERMUTE },
	{ "permute", COLLECTIVE_PERMUTE },
	{ "gather", COLLECTIVE_GATHER },
	{ "scatter", COLLECTIVE_SCATTER },
	{ "reduce", COLLECTIVE_REDUCE },
	{ "send", COLLECTIVE_SEND },
	{ "recv", COLLECTIVE_RECV },
};

static const char *const kind_names[] = {
	[COLLECTIVE_OTHER] = "collective",
	[COLLECTIVE_ALL_REDUCE] = "allreduce",
	[COLLECTIVE_ALL_GATHER] = "allgather",
	[COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[COLLECTIVE_ALL_TO_ALL] = "all_to_all",
	[COLLECTIVE_BROADCAST] = "broadcast",
	[COLLECTIVE_REDUCE] = "reduce",
	[COLLECTIVE_GATHER] = "gather",
	[COLLECTIVE_SCATTER] = "scatter",
	[COLLECTIVE_BARRIER] = "barrier",
	[COLLECTIVE_PERMUTE] = "sendrecv",
	[COLLECTIVE_SEND] = "send",
	[COLLECTIVE_RECV] = "recv",
};

/* Names of kernels are as long as their types: what they do stands in front. */
#define PLAIN_MAX 256

enum collective_kind collective_kind_of(const char *name)
{
	char plain[PLAIN_MAX];
	size_t n = 0;

	for (; *name && *name != '(' && n + 1 < sizeof(plain); name++)
		if (*name != '_' && *name != '-' && *name != ' ')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(kind_words); i++)
		if (strstr(plain, kind_words[i].word))
			return kind_words[i].kind;
	return COLLECTIVE_OTHER;
}

const char *collective_kind_name(enum collective_kind k)
{
	return kind_names[k];
}

bool collective_is_barrier(enum collective_kind k)
{
	return k == COLLECTIVE_ALL_REDUCE || k == COLLECTIVE_ALL_GATHER ||
	       k == COLLECTIVE_REDUCE_SCATTER || k == COLLECTIVE_ALL_TO_ALL ||
	       k == COLLECTIVE_BARRIER;
}

/* ---- sizes ---- */

double collective_bus_factor(enum collective_kind k, int64_t n)
{
	double part = (double)(n - 1) / (double)n;

	switch (k) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * part;
	case COLLECTIVE_ALL_GATHER:
	case COLLECTIVE_GATHER:
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_ALL_TO_ALL:
		return part;
	default:
		return 1;
	}
}

int64_t collective_size(enum collective_kind k, int64_t in, int64_t out, int64_t n)
{
	int64_t size = k == COLLECTIVE_ALL_GATHER || k == COLLECTIVE_SCATTER ? out : in;

	if (size < 0)
		return INT64_MIN;
	if ((k == COLLECTIVE_GATHER || k == COLLECTIVE_SCATTER) &&
	    __builtin_mul_overflow(size, n, &size))
		return INT64_MIN;
	return size;
}

/* ---- types ---- */

/* PyTorch's c10::ScalarType, as record_param_comms writes it. */
static const struct {
	const char *name;
	unsigned bits;
} scalar_types[] = {
	{ "Byte", 8 },         { "Char", 8 },          { "Short", 16 },          { "Int", 32 },
	{ "Long", 64 },        { "Half", 16 },         { "Float", 32 },          { "Double", 64 },
	{ "ComplexHalf", 32 }, { "ComplexFloat", 64 }, { "ComplexDouble", 128 }, { "Bool", 8 },
	{ "QInt8", 8 },        { "QUInt8", 8 },        { "QInt32", 32 },         { "BFloat16", 16 },
	{ "QUInt4x2", 8 },     { "QUInt2x4", 8 },      { "UInt16", 16 },         { "UInt32", 32 },
	{ "UInt64", 64 },
};

unsigned collective_type_bits(const char *dtype)
{
	const struct element_type *t;

	for (size_t i = 0; i < ARRAY_LEN(scalar_types); i++)
		if (strcmp(dtype, scalar_types[i].name) == 0)
			return scalar_types[i].bits;
	if (strncmp(dtype, "Float8_", 7) == 0 || strcmp(dtype, "bytes") == 0)
		return 8;
	if (strcmp(dtype, "Float4_e2m1fn_x2") == 0)
		return 8; /* a pair */
	t = element_type(dtype, strlen(dtype));
	return t ? t->bits : 0;
}
