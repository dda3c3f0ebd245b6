#include "library_names.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool digits_are(const char *s, size_t n)
{
	return n > 0 && strspn(s, "0123456789") >= n;
}

/* "gemmEx_v11000", "dgemm_v2_64": the length without what names a version of the function. */
static size_t function_length(const char *s)
{
	size_t n = strlen(s), at;

	for (;;) {
		for (at = n; at > 0 && s[at - 1] != '_'; at--)
			;
		if (at < 2 || !((s[at] == 'v' && digits_are(s + at + 1, n - at - 1)) ||
				(n - at == 2 && !strncmp(s + at, "64", 2))))
			return n;
		n = at - 1;
	}
}

/* The library and a function of it, without case and '_'; false: it is too long, or empty. */
static bool class_put(const char *library, const char *function, size_t n,
		      char ret[LIBRARY_CLASS_MAX])
{
	size_t len = (size_t)snprintf(ret, LIBRARY_CLASS_MAX, "%s ", library), begin = len;

	for (size_t i = 0; i < n; i++) {
		if (function[i] == '_')
			continue;
		if (len + 1 >= LIBRARY_CLASS_MAX)
			return false;
		ret[len++] = lower(function[i]);
	}
	ret[len] = '\0';
	return len > begin;
}

/* ---- rows ---- */

/* "conv dir=bwd_data n=4 …": one direction has a function, several of one line have none. */
static bool miopen_row_class(const struct library_row *r, char ret[LIBRARY_CLASS_MAX])
{
	const char *dir = strstr(r->key, " dir=");
	size_t n = dir ? strcspn(dir + 5, " ") : 0;

	if (strncmp(r->key, "conv ", 5) != 0 || n == 0 || memchr(dir + 5, '+', n))
		return false;
	return snprintf(ret, LIBRARY_CLASS_MAX, "miopen conv %.*s", (int)n, dir + 5) <
	       LIBRARY_CLASS_MAX;
}

bool library_class_of_row(const struct library_row *r, char ret[LIBRARY_CLASS_MAX])
{
	static const char *const libraries[][2] = {
		{ "rocblas", "rocblas" },     { "rocblas_function", "rocblas" },
		{ "hipblaslt", "hipblaslt" }, { "cublas", "cublas" },
		{ "cublaslt", "cublaslt" },   { "cudnn", "cudnn" },
		{ "nccl", "nccl" },           { "rccl", "nccl" },
		{ "blas", "blas" },
	};

	const char *function = r->operation;

	if (!strcmp(r->library, "miopen"))
		return miopen_row_class(r, ret);
	if (!strncmp(function, "cblas_", 6))
		function += 6;
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		if (!strcmp(r->library, libraries[i][0]))
			return class_put(libraries[i][1], function, function_length(function), ret);
	return false;
}

/* ---- calls of a trace ---- */

static bool miopen_call_class(const char *function, size_t n, char ret[LIBRARY_CLASS_MAX])
{
	static const char *const names[][2] = {
		{ "miopen convolutionforward", "miopen conv fwd" },
		{ "miopen convolutionforwardimmediate", "miopen conv fwd" },
		{ "miopen convolutionbackwarddata", "miopen conv bwd_data" },
		{ "miopen convolutionbackwarddataimmediate", "miopen conv bwd_data" },
		{ "miopen convolutionbackwardweights", "miopen conv bwd_weights" },
		{ "miopen convolutionbackwardweightsimmediate", "miopen conv bwd_weights" },
	};

	if (!class_put("miopen", function, n, ret))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(ret, names[i][0])) {
			snprintf(ret, LIBRARY_CLASS_MAX, "%s", names[i][1]);
			return true;
		}
	return false;
}

bool library_class_of_call(const char *name, const char *category, char ret[LIBRARY_CLASS_MAX])
{
	static const char *const prefixes[][2] = {
		{ "rocblas_", "rocblas" }, { "hipblasLt", "hipblaslt" }, { "cublasLt", "cublaslt" },
		{ "cublas", "cublas" },    { "cudnn", "cudnn" },         { "miopen", "miopen" },
		{ "nccl", "nccl" },        { "cblas_", "blas" },
	};
	size_t n = function_length(name);

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t at = strlen(prefixes[i][0]);

		if (strncmp(name, prefixes[i][0], at) != 0 || at >= n)
			continue;
		return strcmp(prefixes[i][1], "miopen") == 0
			       ? miopen_call_class(name + at, n - at, ret)
			       : class_put(prefixes[i][1], name + at, n - at, ret);
	}
	return !strcmp(category, "blas") && class_put("blas", name, n, ret);
}

/* ---- kernels ---- */

static bool name_begins(const char **name, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*name, prefix, n) != 0)
		return false;
	*name += n;
	return true;
}

/* Without what algorithm and protocol add, of the form without '_': AllReduceRingLLKernel. */
static size_t collective_length(const char *name)
{
	static const char *const algorithms[] = { "Ring", "Tree", "CollNet" };
	size_t n = strcspn(name, "_(<");

	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
		const char *at = strstr(name, algorithms[i]);

		if (at && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

bool library_class_of_kernel(const char *name, char ret[LIBRARY_CLASS_MAX])
{
	const char *at = name;

	if (name_begins(&at, "ncclDevKernel_") || name_begins(&at, "ncclKernel_"))
		return class_put("nccl", at, strcspn(at, "_(<"), ret);
	return name_begins(&at, "nccl") && strstr(at, "Kernel_") &&
	       class_put("nccl", at, collective_length(at), ret);
}

/* ---- the processor's libraries ---- */

bool library_is_cpu(const char *library)
{
	return !strcmp(library, "blas") || !strcmp(library, "onednn") || !strcmp(library, "mkl");
}

bool library_operator_fits(const char *operation, const char *name)
{
	static const char *const words[][8] = {
		{ "convolution", "conv" },
		{ "deconvolution", "conv" },
		{ "matmul", "mm", "linear", "matmul" },
		{ "inner_product", "mm", "linear" },
		{ "gemv", "mv", "mm", "linear", "matmul" },
		{ "dot", "dot", "mv", "mm" },
		{ "pooling", "pool" },
		{ "batch_normalization", "norm" },
		{ "layer_normalization", "norm" },
		{ "softmax", "softmax" },
		{ "rnn", "rnn", "lstm", "gru" },
		{ "eltwise", "elu", "tanh", "sigmoid", "silu", "hardswish" },
		{ "binary", "add", "mul", "sub", "div" },
		{ "sum", "add", "sum" },
		{ "concat", "cat" },
		{ "shuffle", "shuffle" },
		{ "reorder", "conv", "linear", "mm", "mkldnn", "copy" },
	};

	if (strstr(operation, "gemm"))
		operation = "matmul";
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!strstr(operation, words[i][0]))
			continue;
		for (size_t w = 1; w < ARRAY_LEN(words[i]) && words[i][w]; w++)
			if (strcasestr(name, words[i][w]))
				return true;
	}
	return false;
}
