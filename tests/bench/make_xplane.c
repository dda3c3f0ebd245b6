/*
 * make_xplane N: an XSpace file as JAX's profiler writes it on a GPU, on stdout: N events of a
 * training job in executions of 500 operations. Of ten events three are kernels with ten stats
 * each, three their launches on a host thread with two, two are calls of Python without any, and
 * two show the kernels again ("XLA Ops", "Framework Ops"). About 45 bytes an event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profrig/base/num.h"
#include "profrig/base/protobuf.h"

#define OPS 500
#define KERNEL_PS 4000000

enum {
	CORRELATION = 1,
	DETAILS,
	OP,
	MODULE,
	PROGRAM,
	CONTEXT,
	OCCUPANCY,
	GRID_SIZE,
	BLOCK_SIZE,
	FRAMEWORK,
	DEVICE,
	TEXTS = 100
};

static void stat(struct strbuf *b, uint64_t meta, uint32_t field, uint64_t v)
{
	char one[24];
	size_t n = 0;

	one[n++] = 0x08;
	one[n++] = (char)meta;
	one[n++] = (char)(field << 3);
	for (; v >= 0x80; v >>= 7)
		one[n++] = (char)(v | 0x80);
	one[n++] = (char)v;
	pb_put_bytes(b, 4, one, n);
}

static void stat_real(struct strbuf *b, uint64_t meta, double v)
{
	struct strbuf s = STRBUF_INIT;

	pb_put_u64(&s, 1, meta);
	pb_put_double(&s, 2, v);
	pb_put_bytes(b, 4, s.buf, s.len);
	strbuf_release(&s);
}

static void event(struct strbuf *line, struct strbuf *e, uint64_t meta, uint64_t at, uint64_t ps)
{
	struct strbuf head = STRBUF_INIT;

	pb_put_u64(&head, 1, meta);
	pb_put_u64(&head, 2, at);
	pb_put_u64(&head, 3, ps);
	strbuf_add(&head, e->buf, e->len);
	pb_put_bytes(line, 4, head.buf, head.len);
	strbuf_release(&head);
	strbuf_clear(e);
}

static void line_put(struct strbuf *plane, struct strbuf *events, uint64_t id, const char *name)
{
	struct strbuf l = STRBUF_INIT;

	pb_put_u64(&l, 1, id);
	pb_put_str(&l, 2, name);
	pb_put_u64(&l, 3, 1000);
	strbuf_add(&l, events->buf, events->len);
	pb_put_bytes(plane, 3, l.buf, l.len);
	strbuf_release(&l);
	strbuf_release(events);
}

static void row_put(struct strbuf *plane, uint32_t table, uint64_t id, const char *name)
{
	struct strbuf r = STRBUF_INIT, e = STRBUF_INIT;

	pb_put_u64(&r, 1, id);
	pb_put_str(&r, 2, name);
	pb_put_u64(&e, 1, id);
	pb_put_bytes(&e, 2, r.buf, r.len);
	pb_put_bytes(plane, table, e.buf, e.len);
	strbuf_release(&r);
	strbuf_release(&e);
}

static void plane_put(struct strbuf *plane, const char *name)
{
	struct strbuf p = STRBUF_INIT, out = STRBUF_INIT;

	pb_put_u64(&p, 1, 1);
	pb_put_str(&p, 2, name);
	strbuf_add(&p, plane->buf, plane->len);
	pb_put_bytes(&out, 1, p.buf, p.len);
	fwrite(out.buf, 1, out.len, stdout);
	strbuf_release(&p);
	strbuf_release(&out);
	strbuf_clear(plane);
}

static void stat_rows(struct strbuf *plane)
{
	static const char *const names[] = {
		"correlation_id",
		"kernel_details",
		"hlo_op",
		"hlo_module",
		"program_id",
		"context_id",
		"theoretical_occupancy_pct",
		"occupancy_min_grid_size",
		"occupancy_suggested_block_size",
		"tf_op",
		"device_id",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		row_put(plane, 5, i + 1, names[i]);
}

static void kernel(struct strbuf *e, uint64_t k)
{
	uint64_t op = k % OPS;

	stat(e, CORRELATION, 3, k + 1);
	stat(e, CONTEXT, 7, TEXTS);
	stat_real(e, OCCUPANCY, 50);
	stat(e, GRID_SIZE, 4, 264);
	stat(e, BLOCK_SIZE, 4, 1024);
	stat(e, DETAILS, 7, TEXTS + 2 + op % 40);
	stat(e, FRAMEWORK, 7, TEXTS + 50 + op);
	stat(e, OP, 7, TEXTS + 600 + op);
	stat(e, MODULE, 7, TEXTS + 1);
	stat(e, PROGRAM, 3, 17);
}

int main(int argc, char **argv)
{
	struct strbuf gpu = STRBUF_INIT, host = STRBUF_INIT, e = STRBUF_INIT;
	struct strbuf stream = STRBUF_INIT, ops = STRBUF_INIT, frames = STRBUF_INIT;
	struct strbuf thread = STRBUF_INIT, python = STRBUF_INIT, modules = STRBUF_INIT;
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	char text[200];

	for (uint64_t k = 0; k < n * 3 / 10; k++) {
		uint64_t at = k * KERNEL_PS;

		kernel(&e, k);
		event(&stream, &e, 1 + k % 60, at, KERNEL_PS - 200000);
		stat(&e, CORRELATION, 3, k + 1);
		stat(&e, DEVICE, 3, 0);
		event(&thread, &e, 1, at, 1500000);
		if (k % 3 != 2) {
			event(&python, &e, 2 + k % 50, at, KERNEL_PS - 1000);
			event(&ops, &e, 100 + k % OPS, at, KERNEL_PS - 200000);
		} else {
			event(&python, &e, 2 + k % 50, at, KERNEL_PS - 1000);
			event(&frames, &e, 100 + k % OPS, at, KERNEL_PS - 200000);
		}
		if (k % OPS == 0)
			event(&modules, &e, 99, at, (uint64_t)OPS * KERNEL_PS - 200000);
	}
	line_put(&gpu, &stream, 7, "Stream #7(Compute)");
	line_put(&gpu, &modules, 0xdeadbef0, "XLA Modules");
	line_put(&gpu, &ops, 0xdeadbef1, "XLA Ops");
	line_put(&gpu, &frames, 0xdeadbef2, "Framework Ops");
	for (uint64_t i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "loop_add_fusion_%" PRIu64, i);
		row_put(&gpu, 4, 1 + i, text);
	}
	row_put(&gpu, 4, 99, "jit_train_step(17)");
	stat_rows(&gpu);
	row_put(&gpu, 5, TEXTS, "$$1");
	row_put(&gpu, 5, TEXTS + 1, "jit_train_step");
	for (uint64_t i = 0; i < 40; i++) {
		snprintf(text, sizeof(text),
			 "regs:%" PRIu64 " static_shared:0 dynamic_shared:%" PRIu64 " grid:%" PRIu64
			 ",1,1 block:256,1,1 occ_pct:50",
			 32 + i, i * 1024, 100 + i);
		row_put(&gpu, 5, TEXTS + 2 + i, text);
	}
	for (uint64_t i = 0; i < OPS; i++) {
		snprintf(text, sizeof(text), "jit(train_step)/layer_%" PRIu64 "/add", i);
		row_put(&gpu, 5, TEXTS + 50 + i, text);
		snprintf(text, sizeof(text), "loop_add_fusion.%" PRIu64, i);
		row_put(&gpu, 5, TEXTS + 600 + i, text);
		row_put(&gpu, 4, 100 + i, text);
	}
	plane_put(&gpu, "/device:GPU:0");
	line_put(&host, &thread, 4711, "main");
	line_put(&host, &python, 4712, "python");
	row_put(&host, 4, 1, "cuLaunchKernel");
	for (uint64_t i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "$train.py:%" PRIu64 " step", i);
		row_put(&host, 4, 2 + i, text);
	}
	stat_rows(&host);
	plane_put(&host, "/host:CPU");
	strbuf_release(&gpu);
	strbuf_release(&host);
	strbuf_release(&e);
	return fflush(stdout) == 0 ? 0 : 1;
}
