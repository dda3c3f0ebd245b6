#include "bench_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "profrig/base/xalloc.h"

#define LINE ((uint64_t)64) /* bytes of a cache line */

static int operand_fill(const struct bench_buffer_kinds *kinds, struct bench_buffers *b, size_t i,
			struct err *err)
{
	const struct bench_layout *l = &b->layout;
	int r = l->step[i] ? kinds->fill(kinds->ctx, i, bench_buffer(b, i, 0), err) : 0;

	if (r < 0 || !l->step[i])
		return r;
	for (size_t k = 1; k < l->sets[i]; k++)
		memcpy(bench_buffer(b, i, k), bench_buffer(b, i, 0), l->step[i]);
	if (l->unused[i])
		memcpy(b->map + l->unused[i], bench_buffer(b, i, 0), l->step[i]);
	return 0;
}

int bench_buffers_make(const struct bench_buffer_kinds *kinds, enum bench_cache cache,
		       uint64_t rotate, uint64_t limit, struct bench_buffers *ret, struct err *err)
{
	struct bench_buffers b = { 0 };
	int r = bench_layout_make(kinds->v, kinds->nr, cache, LINE, rotate, limit, &b.layout, err);

	if (r < 0)
		return r;
	b.map = mmap(NULL, b.layout.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (b.map == MAP_FAILED)
		return err_sys(err, ENOMEM, "%" PRIu64 " bytes for operands",
			       (uint64_t)b.layout.bytes);
	xpopulate(b.map, b.layout.bytes);
	for (size_t i = 0; r == 0 && i < kinds->nr; i++)
		r = operand_fill(kinds, &b, i, err);
	if (r < 0)
		bench_buffers_release(&b);
	else
		*ret = b;
	return r;
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

	for (size_t i = 0; i < l->nr; i++)
		for (size_t k = 0; l->unused[i] && k < l->sets[i]; k++)
			memcpy(bench_buffer(b, i, k), b->map + l->unused[i], l->step[i]);
}
