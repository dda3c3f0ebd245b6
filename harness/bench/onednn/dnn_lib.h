/*
 * dnn_lib: oneDNN in this process, by dlopen (driver_onednn.c). Used by the child alone.
 *
 * The C interface of oneDNN 2 and 3, declared here as far as it is called. They differ in how
 * memory and operations are described: 2 fills structs (dnnl_…_desc_init) for
 * dnnl_primitive_desc_create, 3 has opaque objects and a function for each operation
 * (dnnl_…_primitive_desc_create). Which it is is seen by the functions that are there. Numbers of
 * formats, algorithms and types differ too, and are asked by their names (dnnl_fmt_tag2str,
 * dnnl_alg_kind2str, dnnl_dt2str). Source: the headers of oneDNN 2.6 and 3.
 */
#ifndef DNN_LIB_H
#define DNN_LIB_H

#include "dnn_op.h"

#include "profrig/base/dynlib.h"

/* Arguments of an execution, memories of a primitive: the same in 2 and 3. */
enum {
	DNN_ARG_SRC = 1,
	DNN_ARG_DST = 17,
	DNN_ARG_WEIGHTS = 33,
	DNN_ARG_BIAS = 41,
	DNN_ARG_MEAN = 49,
	DNN_ARG_VARIANCE = 50,
	DNN_ARG_SCALE = 51,
	DNN_ARG_SHIFT = 52,
	DNN_ARG_WORKSPACE = 64,
	DNN_ARG_DIFF_SRC = 129,
	DNN_ARG_DIFF_DST = 145,
	DNN_ARG_DIFF_WEIGHTS = 161,
	DNN_ARG_DIFF_BIAS = 169,
};

struct dnn_argument {
	int arg;
	void *memory;
};

struct dnn_lib_version {
	int major, minor, patch;
	const char *hash;
	unsigned cpu_runtime, gpu_runtime;
};

/* Functions that 2 and 3 have alike; 0 is success. */
int dnnl_engine_create(void **engine, int kind, size_t index);
int dnnl_stream_create(void **stream, void *engine, unsigned flags);
int dnnl_stream_wait(void *stream);
const struct dnn_lib_version *dnnl_version(void);
const char *dnnl_status2str(int status);
const char *dnnl_dt2str(int type);
const char *dnnl_fmt_tag2str(int tag);
const char *dnnl_alg_kind2str(int alg);
int dnnl_primitive_create(void **primitive, const void *pd);
int dnnl_primitive_execute(const void *primitive, void *stream, int nr,
			   const struct dnn_argument *);
int dnnl_primitive_destroy(void *primitive);
int dnnl_primitive_desc_destroy(void *pd);
int dnnl_primitive_desc_query(const void *pd, int what, int index, void *ret);
const void *dnnl_primitive_desc_query_md(const void *pd, int what, int index);
size_t dnnl_memory_desc_get_size(const void *md);
int dnnl_memory_create(void **memory, const void *md, void *engine, void *at);
int dnnl_memory_destroy(void *memory);
int dnnl_reorder_primitive_desc_create(void **pd, const void *from, void *from_engine,
				       const void *to, void *to_engine, const void *attr);
int dnnl_primitive_attr_create(void **attr);
int dnnl_primitive_attr_destroy(void *attr);
int dnnl_primitive_attr_set_post_ops(void *attr, const void *posts);
int dnnl_post_ops_create(void **posts);
int dnnl_post_ops_destroy(void *posts);

#define DNN_SYMS(X) \
	X(dnnl_engine_create) \
	X(dnnl_stream_create) \
	X(dnnl_stream_wait) \
	X(dnnl_version) \
	X(dnnl_status2str) \
	X(dnnl_dt2str) \
	X(dnnl_fmt_tag2str) \
	X(dnnl_alg_kind2str) \
	X(dnnl_primitive_create) \
	X(dnnl_primitive_execute) \
	X(dnnl_primitive_destroy) \
	X(dnnl_primitive_desc_destroy) \
	X(dnnl_primitive_desc_query) \
	X(dnnl_primitive_desc_query_md) \
	X(dnnl_memory_desc_get_size) \
	X(dnnl_memory_create) \
	X(dnnl_memory_destroy) \
	X(dnnl_reorder_primitive_desc_create) \
	X(dnnl_primitive_attr_create) \
	X(dnnl_primitive_attr_destroy) \
	X(dnnl_primitive_attr_set_post_ops) \
	X(dnnl_post_ops_create) \
	X(dnnl_post_ops_destroy)

struct dnn_lib {
	void *handle;
	DYNLIB_MEMBERS(DNN_SYMS)
	bool described; /* 2: by structs */
	void *engine, *stream;
	char *path;
	char version[120]; /* "oneDNN 2.6.3 (cpu isa avx512_core_bf16)" */
	int threads;       /* 0: it does not say */
};

/* Stays loaded until the process ends. -ENOENT with the loader's words; a function is missing. */
int dnn_lib_open(const char *path, struct dnn_lib *ret, struct err *err);

/* -ENOTSUP: it has no such type, algorithm, format. */
int dnn_lib_type(const struct dnn_lib *lib, enum dnn_type type, int *ret, struct err *err);
int dnn_lib_alg(const struct dnn_lib *lib, const char *name, int *ret, struct err *err);

/*
 * A description of memory; plain: f32 in row-major order, whatever layout and type t has. Freed by
 * dnn_lib_md_free.
 */
int dnn_lib_md(const struct dnn_lib *lib, const struct dnn_tensor *t, bool plain, void **ret,
	       struct err *err);
void dnn_lib_md_free(const struct dnn_lib *lib, void *md);

/* A primitive, and what the library chose for it. */
struct dnn_primitive {
	void *pd, *primitive;
	char chosen[80]; /* its implementation: "jit:avx512_core" */
};
/* -ENOTSUP: the library has none. */
int dnn_primitive_make(const struct dnn_lib *lib, const struct dnn_op *op,
		       struct dnn_primitive *ret, struct err *err);
void dnn_primitive_free(const struct dnn_lib *lib, struct dnn_primitive *p);
int dnn_argument_of(const struct dnn_op *op, enum dnn_role role);
/* Memory of an operand, of the workspace; NULL: it has none. Lives as long as p. */
const void *dnn_primitive_md(const struct dnn_lib *lib, const struct dnn_primitive *p, int arg);

/* Copies from one description to the other one. -ENOTSUP: the library cannot. */
int dnn_reorder(const struct dnn_lib *lib, const void *from_md, void *from, const void *to_md,
		void *to, struct err *err);

#endif
