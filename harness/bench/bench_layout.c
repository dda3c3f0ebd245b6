#include "profrig/bench/bench_layout.h"

#include <errno.h>

typedef unsigned __int128 wide;

static bool changes(enum bench_cache cache, int operand)
{
	return cache == BENCH_COLD || (cache == BENCH_WEIGHTS_COLD && operand == OPERAND_A);
}

static uint64_t step_of(const struct bench_op *op, int operand, uint64_t align)
{
	return (bench_op_bytes(op, operand) + align - 1) / align * align;
}

/* Sets of the operands that change. */
static uint64_t sets_of(const struct bench_op *op, enum bench_cache cache, uint64_t align,
			uint64_t rotate)
{
	uint64_t one = 0, sets;

	for (int i = 0; i < OPERANDS; i++)
		one += changes(cache, i) ? step_of(op, i, align) : 0;
	if (!one)
		return 1;
	sets = rotate / one + (rotate % one != 0);
	return sets < 2 ? 2 : sets;
}

int bench_layout_make(const struct bench_op *op, enum bench_cache cache, uint64_t align,
		      uint64_t rotate, uint64_t limit, struct bench_layout *ret, struct err *err)
{
	uint64_t sets = sets_of(op, cache, align, rotate);
	struct bench_layout l = { 0 };
	wide bytes = 0, at[OPERANDS];

	for (int i = 0; i < OPERANDS; i++) {
		at[i] = bytes;
		l.step[i] = step_of(op, i, align);
		l.sets[i] = changes(cache, i) ? sets : 1;
		bytes += (wide)l.step[i] * l.sets[i];
	}
	if (op->kind == BENCH_trsm) {
		l.unused_c = (size_t)bytes;
		bytes += l.step[OPERAND_C];
	}
	if (bytes > limit)
		return err_set(err, ENOMEM,
			       "its operands take %.4g GB, and %.4g GB of memory are free for a "
			       "back end",
			       (double)bytes / 1e9, (double)limit / 1e9);
	for (int i = 0; i < OPERANDS; i++)
		l.at[i] = (size_t)at[i];
	l.bytes = (size_t)bytes;
	*ret = l;
	return 0;
}
