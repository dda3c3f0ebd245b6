/* oneDNN on this machine's processor, called by dlopen. */
#include "bench_buffers.h"
#include "bench_clock.h"
#include "dnn_lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

#define MEMORY_BYTES 1024 /* of the library's record of an operand's memory, about */
#define OPERANDS_MAX (DNN_ROLES + 1)

_Static_assert(OPERANDS_MAX <= BENCH_BUFFERS_MAX, "each operand has its buffers");

static struct {
	struct dnn_lib lib;
	struct dnn_op op;
	struct dnn_primitive primitive; /* pd NULL: there is no op */
	struct bench_buffers buffers;
	size_t nr;                        /* operands of the primitive */
	enum dnn_role role[OPERANDS_MAX]; /* DNN_ROLES: the workspace */
	const void *md[OPERANDS_MAX];     /* the primitive's */
	void **memory[OPERANDS_MAX];      /* of each set */
	struct dnn_argument args[OPERANDS_MAX];
} dnn;

static int onednn_work(const char *key, struct bench_work *ret, struct err *err)
{
	struct dnn_op op;
	int r = dnn_op_parse(key, &op, err);

	if (r < 0)
		return r;
	if (!op.bytes || !dnn_elements(&op.of[DNN_DST]) ||
	    (!op.flops && (op.kind == DNN_MATMUL || op.kind == DNN_IP || op.kind == DNN_CONV)))
		return err_set(err, EINVAL, "there is nothing to compute");
	*ret = (struct bench_work){ op.flops, op.bytes,
				    op.of[DNN_SRC].type == DNN_F32 ? BENCH_F32 : BENCH_TYPE_COUNT };
	return 0;
}

static int onednn_open(const char *path, struct bench_hello *ret, struct err *err)
{
	int r = dnn_lib_open(path, &dnn.lib, err);

	if (r < 0)
		return r;
	*ret = (struct bench_hello){ .threads = dnn.lib.threads,
				     .path = dnn.lib.path,
				     .version = dnn.lib.version,
				     .device = "" };
	return 0;
}

static void onednn_drop(void)
{
	for (size_t i = 0; i < dnn.nr; i++) {
		for (size_t k = 0; dnn.memory[i] && k < dnn.buffers.layout.sets[i]; k++)
			if (dnn.memory[i][k])
				dnn.lib.dnnl_memory_destroy(dnn.memory[i][k]);
		free(dnn.memory[i]);
		dnn.memory[i] = NULL;
	}
	dnn.nr = 0;
	dnn_primitive_free(&dnn.lib, &dnn.primitive);
	bench_buffers_release(&dnn.buffers);
}

/* ---- operands ---- */

/* Between a layout of the library and f32 in row-major order. */
static int plain_copy(enum dnn_role role, const void *md, void *at, float *plain, bool to_plain,
		      struct err *err)
{
	void *plain_md = NULL;
	int r = dnn_lib_md(&dnn.lib, &dnn.op.of[role], true, &plain_md, err);

	if (r == 0)
		r = to_plain ? dnn_reorder(&dnn.lib, md, at, plain_md, plain, err)
			     : dnn_reorder(&dnn.lib, plain_md, plain, md, at, err);
	dnn_lib_md_free(&dnn.lib, plain_md);
	return r;
}

static int operand_fill(void *ctx, size_t i, void *to, struct err *err)
{
	enum dnn_role role = dnn.role[i];
	float *plain;
	int r;

	(void)ctx;
	if (role == DNN_ROLES)
		return 0;
	plain = xcalloc(dnn_elements(&dnn.op.of[role]), sizeof(*plain));
	dnn_fill(&dnn.op, role, plain);
	r = plain_copy(role, dnn.md[i], to, plain, false, err);
	free(plain);
	return r;
}

static int operand_add(enum dnn_role role, int arg, struct bench_buffer_kinds *kinds,
		       struct err *err)
{
	const void *md = dnn_primitive_md(&dnn.lib, &dnn.primitive, arg);
	size_t i = dnn.nr;

	if (!md && role == DNN_ROLES)
		return 0;
	if (!md)
		return err_set(err, ENOTSUP, "the library has no operand %d", arg);
	dnn.role[i] = role;
	dnn.md[i] = md;
	dnn.args[i].arg = arg;
	kinds->v[i] = (struct bench_buffer_kind){ .bytes = dnn.lib.dnnl_memory_desc_get_size(md),
						  .beside = MEMORY_BYTES,
						  .weights = role == DNN_WEI };
	kinds->nr = ++dnn.nr;
	return 0;
}

static int operands_find(struct bench_buffer_kinds *kinds, struct err *err)
{
	int r = 0;

	kinds->fill = operand_fill;
	for (int i = 0; r == 0 && i < DNN_ROLES; i++)
		if (dnn.op.of[i].nr)
			r = operand_add((enum dnn_role)i,
					dnn_argument_of(&dnn.op, (enum dnn_role)i), kinds, err);
	return r < 0 ? r : operand_add(DNN_ROLES, DNN_ARG_WORKSPACE, kinds, err);
}

/* One for each set, so that no call has to tell the library where its operands are. */
static int memories_make(struct err *err)
{
	for (size_t i = 0; i < dnn.nr; i++) {
		dnn.memory[i] = xcalloc(dnn.buffers.layout.sets[i], sizeof(*dnn.memory[i]));
		for (size_t k = 0; k < dnn.buffers.layout.sets[i]; k++) {
			int s = dnn.lib.dnnl_memory_create(&dnn.memory[i][k], dnn.md[i],
							   dnn.lib.engine,
							   bench_buffer(&dnn.buffers, i, k));

			if (s)
				return err_set(err, EIO, "the library takes no operand (%s)",
					       dnn.lib.dnnl_status2str(s));
		}
	}
	return 0;
}

/* The most that an operand takes as f32, while it is filled or compared. */
static uint64_t plain_bytes(void)
{
	uint64_t most = 0;

	for (int i = 0; i < DNN_ROLES; i++)
		if (dnn_elements(&dnn.op.of[i]) > most)
			most = dnn_elements(&dnn.op.of[i]);
	return most * sizeof(float);
}

static enum bench_status onednn_prepare(const struct bench_request *r, size_t *ret_bytes,
					struct err *err)
{
	struct bench_buffer_kinds kinds = { 0 };
	int e;

	onednn_drop();
	if (dnn_op_parse(r->key, &dnn.op, err) < 0)
		return BENCH_UNSUPPORTED;
	if (plain_bytes() > r->limit) {
		err_set(err, ENOMEM, "its operands take more than the %.4g GB that are free",
			(double)r->limit / 1e9);
		return BENCH_SKIPPED;
	}
	if (dnn_primitive_make(&dnn.lib, &dnn.op, &dnn.primitive, err) < 0)
		return BENCH_UNSUPPORTED;
	e = operands_find(&kinds, err);
	if (e == 0)
		e = bench_buffers_make(&kinds, r->cache, r->rotate, r->limit - plain_bytes(),
				       &dnn.buffers, err);
	if (e == -ENOMEM)
		return BENCH_SKIPPED;
	if (e < 0)
		return BENCH_UNSUPPORTED;
	*ret_bytes = dnn.buffers.layout.bytes;
	return memories_make(err) < 0 ? BENCH_FAILED : BENCH_OK;
}

/* ---- calls ---- */

/* 0, or what the library says. */
static int call(uint64_t set)
{
	for (size_t i = 0; i < dnn.nr; i++)
		dnn.args[i].memory = dnn.memory[i][set % dnn.buffers.layout.sets[i]];
	return dnn.lib.dnnl_primitive_execute(dnn.primitive.primitive, dnn.lib.stream, (int)dnn.nr,
					      dnn.args);
}

static enum bench_status call_failed(int status, struct err *err)
{
	err_set(err, EIO, "the library does not execute it (%s)", dnn.lib.dnnl_status2str(status));
	return BENCH_FAILED;
}

static enum bench_status result_check(size_t i, double *worst, struct err *err)
{
	uint64_t n = dnn_elements(&dnn.op.of[dnn.role[i]]);
	float *plain = xcalloc(n, sizeof(*plain));
	double error = 0;
	enum bench_status s = BENCH_FAILED;

	if (plain_copy(dnn.role[i], dnn.md[i], bench_buffer(&dnn.buffers, i, 0), plain, true,
		       err) == 0)
		s = dnn_check(&dnn.op, dnn.role[i], plain, &error, err) < 0 ? BENCH_WRONG
									    : BENCH_OK;
	free(plain);
	*worst = error > *worst ? error : *worst;
	return s;
}

static enum bench_status onednn_check(double *ret_error, struct err *err)
{
	int status;

	for (size_t i = 0; i < dnn.nr; i++)
		if (dnn.role[i] != DNN_ROLES && dnn_is_result(&dnn.op, dnn.role[i]) &&
		    operand_fill(NULL, i, bench_buffer(&dnn.buffers, i, 0), err) < 0)
			return BENCH_FAILED;
	status = call(0);
	if (status == 0)
		status = dnn.lib.dnnl_stream_wait(dnn.lib.stream);
	if (status)
		return call_failed(status, err);
	*ret_error = 0;
	for (size_t i = 0; i < dnn.nr; i++) {
		enum bench_status s = BENCH_OK;

		if (dnn.role[i] != DNN_ROLES && dnn_is_result(&dnn.op, dnn.role[i]))
			s = result_check(i, ret_error, err);
		if (s != BENCH_OK)
			return s;
	}
	return BENCH_OK;
}

static enum bench_status onednn_block(uint64_t n, int64_t *ret_ns, struct err *err)
{
	int status = call(dnn.buffers.at++);
	int64_t begin = bench_clock_ns();

	for (uint64_t i = 0; status == 0 && i < n; i++)
		status = call(dnn.buffers.at++);
	if (status == 0)
		status = dnn.lib.dnnl_stream_wait(dnn.lib.stream);
	*ret_ns = bench_clock_ns() - begin;
	return status ? call_failed(status, err) : BENCH_OK;
}

static const char *onednn_chosen(void)
{
	return dnn.primitive.chosen;
}

const struct bench_driver bench_driver_onednn = { .name = "onednn",
						  .file = "libdnnl",
						  .timer = "host",
						  .energy = "rapl",
						  .work = onednn_work,
						  .open = onednn_open,
						  .prepare = onednn_prepare,
						  .chosen = onednn_chosen,
						  .check = onednn_check,
						  .block = onednn_block,
						  .drop = onednn_drop };
