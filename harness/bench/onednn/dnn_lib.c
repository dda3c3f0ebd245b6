#include "dnn_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define CPU 1
#define IN_ORDER 1
#define TYPES_END 32
#define TAGS_END 4096
#define MD_BYTES 4096 /* more than the struct of any oneDNN 2 */

/* Runtimes for processors, in dnnl_version. */
#define RUNTIME_SEQUENTIAL 1
#define RUNTIME_OPENMP 2

/* ---- opening ---- */

typedef int int_fn(void);
typedef const char *isa_name_fn(int);

static void isa_add(struct dnn_lib *lib)
{
	dynlib_function *get = dynlib_find(lib->handle, "dnnl_get_effective_cpu_isa");
	dynlib_function *name = dynlib_find(lib->handle, "dnnl_cpu_isa2str");
	size_t n = strlen(lib->version);
	const char *text = "";

	if (!get)
		return;
	if (name)
		text = ((isa_name_fn *)name)(((int_fn *)get)());
	if (!strncmp(text, "cpu_isa_", strlen("cpu_isa_")))
		text += strlen("cpu_isa_");
	if (name && *text)
		snprintf(lib->version + n, sizeof(lib->version) - n, " (cpu isa %s)", text);
	else
		snprintf(lib->version + n, sizeof(lib->version) - n, " (cpu isa 0x%x)",
			 (unsigned)((int_fn *)get)());
}

static void identify(struct dnn_lib *lib)
{
	const struct dnn_lib_version *v = lib->dnnl_version();
	dynlib_function *threads = dynlib_find(lib->handle, "omp_get_max_threads");

	snprintf(lib->version, sizeof(lib->version), "oneDNN %d.%d.%d", v->major, v->minor,
		 v->patch);
	isa_add(lib);
	text_no_controls(lib->version, ' ');
	if (v->cpu_runtime == RUNTIME_SEQUENTIAL)
		lib->threads = 1;
	else if (v->cpu_runtime == RUNTIME_OPENMP && threads)
		lib->threads = ((int_fn *)threads)();
}

int dnn_lib_open(const char *path, struct dnn_lib *ret, struct err *err)
{
#define ROW(f) DYNLIB_SYM(struct dnn_lib, f),
	static const struct dynlib_sym syms[] = { DNN_SYMS(ROW) };
#undef ROW
	const char *const names[] = { path, NULL };
	dynlib_function *mark;
	int r;

	*ret = (struct dnn_lib){ 0 };
	r = dynlib_open(names, &ret->handle, err);
	if (r == 0)
		r = dynlib_load(ret->handle, syms, ARRAY_LEN(syms), ret, err);
	if (r < 0)
		return r;
	mark = dynlib_find(ret->handle, "dnnl_matmul_primitive_desc_create");
	ret->described = !mark;
	if (!mark)
		mark = dynlib_find(ret->handle, "dnnl_primitive_desc_create");
	if (!mark)
		return err_set(err, ENOSYS, "it is neither oneDNN 2 nor 3");
	ret->path = dynlib_file(mark);
	if (!ret->path)
		ret->path = xstrdup(path);
	identify(ret);
	r = ret->dnnl_engine_create(&ret->engine, CPU, 0);
	if (r == 0)
		r = ret->dnnl_stream_create(&ret->stream, ret->engine, IN_ORDER);
	if (r != 0)
		return err_set(err, EIO, "oneDNN makes no engine for the processor: %s",
			       ret->dnnl_status2str(r));
	return 0;
}

/* ---- numbers by names ---- */

/* -1: none of the numbers has this name. */
static int number_named(const char *(*name_of)(int), int from, int end, const char *name)
{
	for (int i = from; i < end; i++) {
		const char *is = name_of(i);

		if (is && !strcmp(is, name))
			return i;
	}
	return -1;
}

int dnn_lib_type(const struct dnn_lib *lib, enum dnn_type type, int *ret, struct err *err)
{
	*ret = number_named(lib->dnnl_dt2str, 1, TYPES_END, dnn_type_name(type));
	if (*ret < 0)
		return err_set(err, ENOTSUP, "the library has no type %s", dnn_type_name(type));
	return 0;
}

int dnn_lib_alg(const struct dnn_lib *lib, const char *name, int *ret, struct err *err)
{
	/* small ones, pooling, softmax */
	static const int ranges[][2] = { { 1, 0x400 }, { 0x30000, 0x30010 } };

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		*ret = number_named(lib->dnnl_alg_kind2str, ranges[i][0], ranges[i][1], name);
		if (*ret >= 0)
			return 0;
	}
	return err_set(err, ENOTSUP, "the library has no %.40s", name);
}

/* ---- memory ---- */

typedef int md_tag_2(void *md, int nr, const int64_t *dims, int type, int tag);
typedef int md_strides_2(void *md, int nr, const int64_t *dims, int type, const int64_t *strides);
typedef int md_tag_3(void **md, int nr, const int64_t *dims, int type, int tag);
typedef int md_strides_3(void **md, int nr, const int64_t *dims, int type, const int64_t *strides);
typedef int md_free_3(void *md);

static int lacks(const char *name, struct err *err)
{
	return err_set(err, ENOTSUP, "the library has no %s", name);
}

static int md_by_strides(const struct dnn_lib *lib, const struct dnn_tensor *t, int type,
			 const int64_t *strides, void **ret, struct err *err)
{
	const char *name = lib->described ? "dnnl_memory_desc_init_by_strides"
					  : "dnnl_memory_desc_create_with_strides";
	dynlib_function *f = dynlib_find(lib->handle, name);
	int r;

	if (!f)
		return lacks(name, err);
	if (lib->described)
		r = ((md_strides_2 *)f)(*ret, t->nr, t->dims, type, strides);
	else
		r = ((md_strides_3 *)f)(ret, t->nr, t->dims, type, strides);
	return r ? err_set(err, ENOTSUP, "the library takes no such strides (%s)",
			   lib->dnnl_status2str(r))
		 : 0;
}

static int md_by_tag(const struct dnn_lib *lib, const struct dnn_tensor *t, int type,
		     const char *tag, void **ret, struct err *err)
{
	const char *name = lib->described ? "dnnl_memory_desc_init_by_tag"
					  : "dnnl_memory_desc_create_with_tag";
	dynlib_function *f = dynlib_find(lib->handle, name);
	int number = number_named(lib->dnnl_fmt_tag2str, 1, TAGS_END, tag), r;

	if (!f)
		return lacks(name, err);
	if (number < 0)
		return err_set(err, ENOTSUP, "the library has no layout %s", tag);
	if (lib->described)
		r = ((md_tag_2 *)f)(*ret, t->nr, t->dims, type, number);
	else
		r = ((md_tag_3 *)f)(ret, t->nr, t->dims, type, number);
	return r ? err_set(err, ENOTSUP, "the library makes no layout %s (%s)", tag,
			   lib->dnnl_status2str(r))
		 : 0;
}

static void row_major(const struct dnn_tensor *t, int64_t ret[DNN_DIMS_MAX])
{
	int64_t step = 1;

	for (int i = t->nr; i-- > 0;) {
		ret[i] = step;
		step *= t->dims[i] > 0 ? t->dims[i] : 1;
	}
}

void dnn_lib_md_free(const struct dnn_lib *lib, void *md)
{
	dynlib_function *f;

	if (!md)
		return;
	if (lib->described) {
		free(md);
		return;
	}
	f = dynlib_find(lib->handle, "dnnl_memory_desc_destroy");
	if (f)
		((md_free_3 *)f)(md);
}

int dnn_lib_md(const struct dnn_lib *lib, const struct dnn_tensor *t, bool plain, void **ret,
	       struct err *err)
{
	void *md = lib->described ? xcalloc(1, MD_BYTES) : NULL;
	int64_t strides[DNN_DIMS_MAX];
	int type, r = dnn_lib_type(lib, plain ? DNN_F32 : t->type, &type, err);

	row_major(t, strides);
	if (r == 0 && (plain || t->strided))
		r = md_by_strides(lib, t, type, plain ? strides : t->strides, &md, err);
	else if (r == 0)
		r = md_by_tag(lib, t, type, t->tag[0] ? t->tag : "any", &md, err);
	if (r < 0)
		dnn_lib_md_free(lib, md);
	else
		*ret = md;
	return r;
}

/* ---- reordering ---- */

int dnn_reorder(const struct dnn_lib *lib, const void *from_md, void *from, const void *to_md,
		void *to, struct err *err)
{
	void *pd = NULL, *primitive = NULL, *a = NULL, *b = NULL;
	int r = lib->dnnl_reorder_primitive_desc_create(&pd, from_md, lib->engine, to_md,
							lib->engine, NULL);

	if (r == 0)
		r = lib->dnnl_primitive_create(&primitive, pd);
	if (r == 0)
		r = lib->dnnl_memory_create(&a, from_md, lib->engine, from);
	if (r == 0)
		r = lib->dnnl_memory_create(&b, to_md, lib->engine, to);
	if (r == 0) {
		const struct dnn_argument args[] = { { DNN_ARG_SRC, a }, { DNN_ARG_DST, b } };

		r = lib->dnnl_primitive_execute(primitive, lib->stream, 2, args);
	}
	if (r == 0)
		r = lib->dnnl_stream_wait(lib->stream);
	if (a)
		lib->dnnl_memory_destroy(a);
	if (b)
		lib->dnnl_memory_destroy(b);
	if (primitive)
		lib->dnnl_primitive_destroy(primitive);
	if (pd)
		lib->dnnl_primitive_desc_destroy(pd);
	if (r)
		return err_set(err, ENOTSUP,
			       "the library does not bring its operands into the "
			       "layout (%s)",
			       lib->dnnl_status2str(r));
	return 0;
}
