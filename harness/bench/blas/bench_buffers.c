#include "bench_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "profrig/base/xalloc.h"

#define LINE ((uint64_t)64) /* bytes of a cache line */

static bool changes(enum bench_cache cache, int operand)
{
	return cache == BENCH_COLD || (cache == BENCH_WEIGHTS_COLD && operand == OPERAND_A);
}

static uint64_t step_of(const struct bench_op *op, int operand)
{
	return (bench_op_bytes(op, operand) + LINE - 1) / LINE * LINE;
}

/* Sets of the operands that change. */
static uint64_t sets_of(const struct bench_op *op, enum bench_cache cache, uint64_t rotate)
{
	uint64_t one = 0, sets;

	for (int i = 0; i < OPERANDS; i++)
		one += changes(cache, i) ? step_of(op, i) : 0;
	if (!one)
		return 1;
	sets = rotate / one + (rotate % one != 0);
	return sets < 2 ? 2 : sets;
}

int bench_buffers_make(const struct bench_op *op, enum bench_cache cache, uint64_t rotate,
		       uint64_t limit, struct bench_buffers *ret, struct err *err)
{
	struct bench_buffers b = { 0 };
	bool in_place = op->kind == BENCH_trsm;
	uint64_t sets = sets_of(op, cache, rotate);
	unsigned __int128 bytes = in_place ? step_of(op, OPERAND_C) : 0;
	size_t at = 0;

	for (int i = 0; i < OPERANDS; i++) {
		b.step[i] = step_of(op, i);
		b.sets[i] = changes(cache, i) ? sets : 1;
		bytes += (unsigned __int128)b.step[i] * b.sets[i];
	}
	if (bytes > limit)
		return err_set(err, ENOMEM,
			       "its operands take %.4g GB, and %.4g GB of memory are free for a "
			       "back end",
			       (double)bytes / 1e9, (double)limit / 1e9);
	b.bytes = (size_t)bytes;
	b.map = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b.map == MAP_FAILED)
		return err_sys(err, ENOMEM, "%" PRIu64 " bytes for operands", (uint64_t)b.bytes);
	xpopulate(b.map, b.bytes);
	for (int i = 0; i < OPERANDS; i++) {
		b.base[i] = b.map + at;
		at += b.step[i] * b.sets[i];
		if (!b.step[i])
			continue;
		bench_op_fill(op, i, b.base[i]);
		for (size_t k = 1; k < b.sets[i]; k++)
			memcpy(b.base[i] + k * b.step[i], b.base[i], b.step[i]);
	}
	if (in_place) {
		b.unused_c = b.map + at;
		memcpy(b.unused_c, b.base[OPERAND_C], b.step[OPERAND_C]);
	}
	*ret = b;
	return 0;
}

void bench_buffers_release(struct bench_buffers *b)
{
	if (b->map)
		munmap(b->map, b->bytes);
	*b = (struct bench_buffers){ 0 };
}

void bench_buffers_refresh(struct bench_buffers *b)
{
	for (size_t k = 0; b->unused_c && k < b->sets[OPERAND_C]; k++)
		memcpy(b->base[OPERAND_C] + k * b->step[OPERAND_C], b->unused_c,
		       b->step[OPERAND_C]);
}
