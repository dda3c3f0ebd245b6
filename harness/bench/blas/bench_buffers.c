#include "bench_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "profrig/base/xalloc.h"

#define LINE ((uint64_t)64) /* bytes of a cache line */

int bench_buffers_make(const struct bench_op *op, enum bench_cache cache, uint64_t rotate,
		       uint64_t limit, struct bench_buffers *ret, struct err *err)
{
	struct bench_buffers b = { 0 };
	struct bench_layout *l = &b.layout;
	int r = bench_layout_make(op, cache, LINE, rotate, limit, l, err);

	if (r < 0)
		return r;
	b.map = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b.map == MAP_FAILED)
		return err_sys(err, ENOMEM, "%" PRIu64 " bytes for operands", (uint64_t)l->bytes);
	xpopulate(b.map, l->bytes);
	for (int i = 0; i < OPERANDS; i++) {
		if (!l->step[i])
			continue;
		bench_op_fill(op, i, bench_buffer(&b, i, 0));
		for (size_t k = 1; k < l->sets[i]; k++)
			memcpy(bench_buffer(&b, i, k), bench_buffer(&b, i, 0), l->step[i]);
	}
	if (l->unused_c)
		memcpy(b.map + l->unused_c, bench_buffer(&b, OPERAND_C, 0), l->step[OPERAND_C]);
	*ret = b;
	return 0;
}

void bench_buffers_release(struct bench_buffers *b)
{
	if (b->map)
		munmap(b->map, b->layout.bytes);
	*b = (struct bench_buffers){ 0 };
}

void bench_buffers_refresh(struct bench_buffers *b)
{
	const struct bench_layout *l = &b->layout;

	for (size_t k = 0; l->unused_c && k < l->sets[OPERAND_C]; k++)
		memcpy(bench_buffer(b, OPERAND_C, k), b->map + l->unused_c, l->step[OPERAND_C]);
}
