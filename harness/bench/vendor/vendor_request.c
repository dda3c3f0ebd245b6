#include "vendor.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/*
 * Sources: rocBLAS and hipBLASLt, clients' --precision; MIOpenDriver's base arguments; nccl-tests
 * and rccl-tests, src/common.cu; oneDNN, tests/benchdnn/doc/knobs_dt.md; CUTLASS, library/util.cu.
 */
/* clang-format off */
static const struct vendor_type types[] = {
	/* name, bits, complex, integer, rocblas, hipblaslt, miopen, nccl, rccl, dnn, cutlass */
	{ "f64", 64, false, false, "f64_r", "f64_r", NULL, "double", "double", "f64", "f64" },
	{ "f32", 32, false, false, "f32_r", "f32_r", "conv", "float", "float", "f32", "f32" },
	{ "f16", 16, false, false, "f16_r", "f16_r", "convfp16", "half", "half", "f16", "f16" },
	{ "bf16", 16, false, false, "bf16_r", "bf16_r", "convbfp16", "bfloat16", "bfloat16", "bf16",
	  "bf16" },
	{ "f8", 8, false, false, NULL, "f8_r", "convfp8", "f8e4m3", "fp8_e4m3", "f8_e4m3",
	  "fe4m3" },
	{ "bf8", 8, false, false, NULL, "bf8_r", "convbfp8", "f8e5m2", "fp8_e5m2", "f8_e5m2",
	  "fe5m2" },
	{ "i32", 32, false, true, "i32_r", "i32_r", NULL, "int32", "int32", "s32", "s32" },
	{ "i8", 8, false, true, "i8_r", "i8_r", "convint8", "int8", "int8", "s8", "s8" },
	{ "u8", 8, false, true, NULL, NULL, NULL, "uint8", "uint8", "u8", "u8" },
	{ "u32", 32, false, true, NULL, NULL, NULL, "uint32", "uint32", NULL, NULL },
	{ "i64", 64, false, true, NULL, NULL, NULL, "int64", "int64", NULL, NULL },
	{ "u64", 64, false, true, NULL, NULL, NULL, "uint64", "uint64", NULL, NULL },
	{ "f32c", 64, true, false, "f32_c", NULL, NULL, NULL, NULL, NULL, "cf32" },
	{ "f64c", 128, true, false, "f64_c", NULL, NULL, NULL, NULL, NULL, "cf64" },
	{ "tf32", 32, false, false, NULL, "xf32_r", NULL, NULL, NULL, NULL, "tf32" },
};
/* clang-format on */

const struct vendor_type *vendor_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

int vendor_type_read(struct bench_key *k, const char *name, const struct vendor_type *otherwise,
		     const struct vendor_type **ret, struct err *err)
{
	const char *v = bench_key_word(k, name);

	*ret = v ? vendor_type(v) : otherwise;
	if (*ret)
		return 0;
	if (v)
		return err_set(err, ENOTSUP, "no program has the type %s=%.40s", name, v);
	return err_set(err, ENOTSUP, "the key does not tell the type '%s'", name);
}

int vendor_size(struct bench_key *k, const char *name, int64_t otherwise, int64_t min, int64_t *ret,
		struct err *err)
{
	int r = bench_key_int(k, name, otherwise, ret, err);

	if (r < 0)
		return r;
	if (*ret >= min && *ret <= VENDOR_SIZE_MAX)
		return 0;
	if (!bench_key_word(k, name))
		return err_set(err, EINVAL, "the key has no '%s'", name);
	return err_set(err, *ret > VENDOR_SIZE_MAX ? ERANGE : EINVAL, "%s=%lld is no size", name,
		       (long long)*ret);
}

int vendor_all_read(const struct bench_key *k, struct err *err)
{
	const char *unused = bench_key_unused(k);

	if (!unused)
		return 0;
	return err_set(err, ENOTSUP, "the key has '%.40s', for which there is no option", unused);
}

int vendor_lacks(const struct vendor_request *r, struct err *err, const char *fmt, ...)
{
	char words[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set(err, ENOTSUP, "%s has %s", r->end->program->name, words);
}

static const struct {
	const char *operation;
	enum vendor_family family;
} families[] = {
	{ "gemm", FAMILY_GEMM },
	{ "conv", FAMILY_CONV },
	{ "AllReduce", FAMILY_COLLECTIVE },
	{ "AllGather", FAMILY_COLLECTIVE },
	{ "ReduceScatter", FAMILY_COLLECTIVE },
	{ "Broadcast", FAMILY_COLLECTIVE },
	{ "Reduce", FAMILY_COLLECTIVE },
	{ "AlltoAll", FAMILY_COLLECTIVE },
	{ "Gather", FAMILY_COLLECTIVE },
	{ "Scatter", FAMILY_COLLECTIVE },
	{ "ip", FAMILY_DNN },
	{ "pooling", FAMILY_DNN },
	{ "pooling_v2", FAMILY_DNN },
	{ "batch_normalization", FAMILY_DNN },
	{ "softmax", FAMILY_DNN },
	{ "softmax_v2", FAMILY_DNN },
	{ "eltwise", FAMILY_DNN },
	{ "eltwise_v2", FAMILY_DNN },
};

static int family_of(const char *operation, enum vendor_family *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (!strcmp(families[i].operation, operation)) {
			*ret = families[i].family;
			return 0;
		}
	return err_set(err, ENOTSUP, "no program replays '%.40s'", operation);
}

int vendor_request_read(const char *key, struct vendor_request *ret, struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->flops = ret->bytes = NAN;
	ret->iterations = 10;
	ret->warmup = 2;
	r = bench_key_parse(key, &ret->key, err);
	if (r == 0)
		r = family_of(bench_key_operation(&ret->key), &ret->family, err);
	if (r < 0)
		return r;
	switch (ret->family) {
	case FAMILY_GEMM:
		return vendor_gemm_read(ret, err);
	case FAMILY_CONV:
		return vendor_conv_read(ret, err);
	case FAMILY_COLLECTIVE:
		return vendor_collective_read(ret, err);
	case FAMILY_DNN:
		break;
	}
	return 0;
}
