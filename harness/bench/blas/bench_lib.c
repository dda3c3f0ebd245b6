#include "bench_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

static const char *const suffixes[] = { "", "_64", "64_" };

/* cblas_ddot, cblas_ddot64_ or ddot_, ddot_64_, ddot64_ */
static dynlib_function *function_find(void *handle, enum bench_interface interface,
				      const char *name, const char *suffix)
{
	const char *tail = suffix;
	char full[64];

	if (interface == BENCH_CBLAS)
		snprintf(full, sizeof(full), "cblas_%s%s", name, tail);
	else if (!strcmp(suffix, "64_"))
		snprintf(full, sizeof(full), "%s64_", name);
	else
		snprintf(full, sizeof(full), "%s%s_", name, tail);
	return dynlib_find(handle, full);
}

/* ---- identity ---- */

typedef const char *text_fn(void);
typedef int int_fn(void);
typedef long long_fn(void);

static const char *text_of(void *handle, const char *name)
{
	dynlib_function *f = dynlib_find(handle, name);
	const char *text = f ? ((text_fn *)f)() : NULL;

	return text ? text : "";
}

static void openblas_identify(struct bench_lib *lib)
{
	dynlib_function *threads = dynlib_find(lib->handle, "openblas_get_num_threads");

	snprintf(lib->version, sizeof(lib->version), "%s",
		 text_of(lib->handle, "openblas_get_config"));
	snprintf(lib->core, sizeof(lib->core), "%s", text_of(lib->handle, "openblas_get_corename"));
	if (threads)
		lib->threads = ((int_fn *)threads)();
	lib->wide |= strstr(lib->version, "USE64BITINT") != NULL;
}

typedef int arch_query_fn(void);
typedef const char *arch_string_fn(int);

static void blis_identify(struct bench_lib *lib)
{
	dynlib_function *threads = dynlib_find(lib->handle, "bli_thread_get_num_threads");
	dynlib_function *query = dynlib_find(lib->handle, "bli_arch_query_id");
	dynlib_function *name = dynlib_find(lib->handle, "bli_arch_string");
	dynlib_function *bits = dynlib_find(lib->handle, "bli_info_get_blas_int_type_size");

	snprintf(lib->version, sizeof(lib->version), "BLIS %s",
		 text_of(lib->handle, "bli_info_get_version_str"));
	if (query && name)
		snprintf(lib->core, sizeof(lib->core), "%s",
			 ((arch_string_fn *)name)(((arch_query_fn *)query)()));
	if (threads)
		lib->threads = (int)((long_fn *)threads)();
	/* −1: not set, which is one */
	if (lib->threads < 0)
		lib->threads = 1;
	lib->wide |= bits && ((long_fn *)bits)() == 64;
}

/* The version in the name of a file: libblas.so.3.11.0, libopenblas-r0.3.21.so. */
static void version_of_file(struct bench_lib *lib)
{
	const char *base = lib->path ? fs_base(lib->path) : "", *so = strstr(base, ".so.");

	if (so)
		snprintf(lib->version, sizeof(lib->version), "%s", so + strlen(".so."));
}

static void lib_identify(struct bench_lib *lib)
{
	if (dynlib_find(lib->handle, "openblas_get_config"))
		openblas_identify(lib);
	else if (dynlib_find(lib->handle, "bli_info_get_version_str"))
		blis_identify(lib);
	else
		version_of_file(lib);
	for (char *at = lib->version; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = ' ';
	for (char *at = lib->core; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = ' ';
}

/* ---- opening ---- */

static void integers_ask(struct bench_lib *lib)
{
	for (int i = 0; i < BENCH_INTERFACES; i++) {
		dynlib_function *ddot =
			function_find(lib->handle, (enum bench_interface)i, "ddot", lib->suffix);

		if (!ddot)
			continue;
		lib->wide = bench_calls_64.probe(ddot, (enum bench_interface)i) == 0;
		return;
	}
	lib->wide |= lib->path && strstr(fs_base(lib->path), "64") != NULL;
}

static dynlib_function *any_function(void *handle, const char *suffix)
{
	static const char *const names[] = { "dgemm", "sgemm", "ddot" };
	dynlib_function *f = NULL;

	for (size_t i = 0; !f && i < ARRAY_LEN(names) * BENCH_INTERFACES; i++)
		f = function_find(handle, (enum bench_interface)(i % BENCH_INTERFACES),
				  names[i / BENCH_INTERFACES], suffix);
	return f;
}

int bench_lib_open(const char *path, struct bench_lib *ret, struct err *err)
{
	const char *const names[] = { path, NULL };
	dynlib_function *f = NULL;
	int r;

	*ret = (struct bench_lib){ .suffix = "" };
	r = dynlib_open(names, &ret->handle, err);
	if (r < 0)
		return r;
	for (size_t i = 0; !f && i < ARRAY_LEN(suffixes); i++) {
		f = any_function(ret->handle, suffixes[i]);
		if (f)
			ret->suffix = suffixes[i];
	}
	ret->path = f ? dynlib_file(f) : NULL;
	if (!ret->path)
		ret->path = xstrdup(path);
	lib_identify(ret);
	integers_ask(ret);
	return 0;
}

static const char *function_name(const struct bench_op *op, enum bench_interface interface)
{
	if (op->kind == BENCH_ger && bench_type_complex(op->type))
		return op->conj ? "gerc" : "geru";
	if (op->kind != BENCH_dot || !bench_type_complex(op->type))
		return bench_kind_name(op->kind);
	if (interface == BENCH_FORTRAN)
		return op->conj ? "dotc" : "dotu";
	return op->conj ? "dotc_sub" : "dotu_sub";
}

static bool strides_fit_int32(const struct bench_op *op)
{
	int64_t most = op->batch;

	for (int i = 0; i < OPERANDS; i++)
		most = op->of[i].stride > most ? op->of[i].stride : most;
	return most <= INT32_MAX;
}

int bench_lib_call(const struct bench_lib *lib, const struct bench_op *op, struct bench_call *ret,
		   struct err *err)
{
	const struct bench_blas_calls *calls = lib->wide ? &bench_calls_64 : &bench_calls_32;
	char letter = bench_type_letter(op->type), name[40];

	if (op->kind == BENCH_gemm && op->batch > 1 && (lib->wide || strides_fit_int32(op))) {
		snprintf(name, sizeof(name), "%cgemm_batch_strided", letter);
		ret->fn = function_find(lib->handle, BENCH_CBLAS, name, lib->suffix);
		ret->call = calls->strided[op->type];
		ret->whole = true;
		if (ret->fn)
			return 0;
	}
	ret->whole = false;
	for (int i = 0; i < BENCH_INTERFACES; i++) {
		snprintf(name, sizeof(name), "%c%s", letter,
			 function_name(op, (enum bench_interface)i));
		ret->fn = function_find(lib->handle, (enum bench_interface)i, name, lib->suffix);
		ret->call = calls->of[i][op->kind][op->type];
		if (ret->fn && ret->call)
			return 0;
	}
	return err_set(err, ENOTSUP, "the library has no %s", name);
}
