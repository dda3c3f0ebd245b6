/* A BLAS on this machine's processor, called by dlopen. */
#include "bench_buffers.h"
#include "bench_clock.h"
#include "bench_lib.h"

#include <errno.h>
#include <stdio.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

static struct {
	struct bench_lib lib;
	char version[sizeof(((struct bench_lib *)0)->version) + 60];
	struct bench_op op;
	struct bench_call call;
	struct bench_buffers buffers; /* map NULL: there is no op */
} blas;

static int blas_work(const char *key, struct bench_work *ret, struct err *err)
{
	struct bench_op op;
	int r = bench_op_parse(key, &op, err);

	if (r < 0)
		return r;
	if (bench_type_half(op.type) || op.tf32)
		return err_set(err, ENOTSUP, "no BLAS of a processor computes in %s",
			       op.tf32 ? "tf32" : bench_type_name(op.type));
	if (!op.flops)
		return err_set(err, EINVAL, "there is nothing to compute");
	*ret = (struct bench_work){ op.flops, op.bytes, op.type };
	return 0;
}

static int blas_open(const char *path, struct bench_hello *ret, struct err *err)
{
	struct bench_lib *lib = &blas.lib;
	int r = bench_lib_open(path, lib, err);

	if (r < 0)
		return r;
	snprintf(blas.version, sizeof(blas.version), "%s%s%s", lib->version,
		 lib->core[0] ? " on " : "", lib->core);
	*ret = (struct bench_hello){ lib->wide, lib->threads, lib->path, blas.version, "" };
	return 0;
}

static void blas_drop(void)
{
	bench_buffers_release(&blas.buffers);
}

static int operand_fill(void *ctx, size_t operand, void *to, struct err *err)
{
	(void)ctx, (void)err;
	bench_op_fill(&blas.op, (int)operand, to);
	return 0;
}

static struct bench_buffer_kinds operands_of(const struct bench_op *op)
{
	struct bench_buffer_kinds kinds = { .nr = OPERANDS, .fill = operand_fill };

	bench_layout_kinds(op, kinds.v);
	return kinds;
}

static enum bench_status blas_prepare(const struct bench_request *r, size_t *ret_bytes,
				      struct err *err)
{
	struct bench_buffer_kinds kinds;

	blas_drop();
	if (bench_op_parse(r->key, &blas.op, err) < 0)
		return BENCH_UNSUPPORTED;
	if (!blas.lib.wide && !bench_op_fits_int32(&blas.op)) {
		err_set(err, ERANGE, "its sizes need 64-bit integers, the library has 32 bits");
		return BENCH_UNSUPPORTED;
	}
	if (bench_lib_call(&blas.lib, &blas.op, &blas.call, err) < 0)
		return BENCH_UNSUPPORTED;
	kinds = operands_of(&blas.op);
	if (bench_buffers_make(&kinds, r->cache, r->rotate, r->limit, &blas.buffers, err) < 0)
		return BENCH_SKIPPED;
	*ret_bytes = blas.buffers.layout.bytes;
	return BENCH_OK;
}

static void call_on(const char *a, const char *b, char *c)
{
	const struct bench_op *op = &blas.op;
	size_t size = bench_type_size(op->type);

	if (blas.call.whole) {
		blas.call.call(op, blas.call.fn, a, b, c);
		return;
	}
	for (int64_t i = 0; i < op->batch; i++) {
		blas.call.call(op, blas.call.fn, a, b, c);
		a += (size_t)op->of[OPERAND_A].stride * size;
		b += (size_t)op->of[OPERAND_B].stride * size;
		c += (size_t)op->of[OPERAND_C].stride * size;
	}
}

static void call_next(void)
{
	struct bench_buffers *b = &blas.buffers;
	uint64_t set = b->at++;

	call_on(bench_buffer(b, OPERAND_A, set), bench_buffer(b, OPERAND_B, set),
		bench_buffer(b, OPERAND_C, set));
}

static enum bench_status blas_check(double *ret_error, struct err *err)
{
	const struct bench_buffers *b = &blas.buffers;
	char *c = bench_buffer(b, OPERAND_C, 0);

	bench_op_fill(&blas.op, OPERAND_C, c);
	call_on(bench_buffer(b, OPERAND_A, 0), bench_buffer(b, OPERAND_B, 0), c);
	return bench_op_check(&blas.op, c, ret_error, err) < 0 ? BENCH_WRONG : BENCH_OK;
}

static enum bench_status blas_block(uint64_t n, int64_t *ret_ns, struct err *err)
{
	int64_t begin;

	(void)err;
	bench_buffers_refresh(&blas.buffers);
	call_next();
	begin = bench_clock_ns();
	for (uint64_t i = 0; i < n; i++)
		call_next();
	*ret_ns = bench_clock_ns() - begin;
	return BENCH_OK;
}

const struct bench_driver bench_driver_blas = { .name = "blas",
						.timer = "host",
						.energy = "rapl",
						.work = blas_work,
						.open = blas_open,
						.prepare = blas_prepare,
						.check = blas_check,
						.block = blas_block,
						.drop = blas_drop };
