#include "bench_layout.h"

#include <errno.h>

typedef unsigned __int128 wide;

static bool changes(const struct bench_buffer_kind *k, enum bench_cache cache)
{
	return k->bytes && (cache == BENCH_COLD || (cache == BENCH_WEIGHTS_COLD && k->weights));
}

static uint64_t step_of(const struct bench_buffer_kind *k, uint64_t align)
{
	return (k->bytes + align - 1) / align * align;
}

/* Sets of the operands that change. */
static uint64_t sets_of(const struct bench_buffer_kind *kinds, size_t nr, enum bench_cache cache,
			uint64_t align, uint64_t rotate)
{
	uint64_t one = 0, sets;

	for (size_t i = 0; i < nr; i++)
		if (changes(&kinds[i], cache))
			one += step_of(&kinds[i], align) + kinds[i].beside;
	if (!one)
		return 1;
	sets = rotate / one + (rotate % one != 0);
	return sets < 2 ? 2 : sets;
}

int bench_layout_make(const struct bench_buffer_kind *kinds, size_t nr, enum bench_cache cache,
		      uint64_t align, uint64_t rotate, uint64_t limit, struct bench_layout *ret,
		      struct err *err)
{
	uint64_t sets = sets_of(kinds, nr, cache, align, rotate);
	struct bench_layout l = { .nr = nr };
	wide bytes = 0, beside = 0, at[BENCH_BUFFERS_MAX], unused[BENCH_BUFFERS_MAX];

	for (size_t i = 0; i < nr; i++) {
		at[i] = bytes;
		l.step[i] = step_of(&kinds[i], align);
		l.sets[i] = changes(&kinds[i], cache) ? sets : 1;
		bytes += (wide)l.step[i] * l.sets[i];
		unused[i] = kinds[i].in_place ? bytes : 0;
		bytes += kinds[i].in_place ? l.step[i] : 0;
		beside += (wide)kinds[i].beside * l.sets[i];
	}
	if (bytes + beside > limit)
		return err_set(err, ENOMEM,
			       "its operands take %.4g GB, and %.4g GB of memory are free for a "
			       "back end",
			       (double)(bytes + beside) / 1e9, (double)limit / 1e9);
	for (size_t i = 0; i < nr; i++) {
		l.at[i] = (size_t)at[i];
		l.unused[i] = (size_t)unused[i];
	}
	l.bytes = (size_t)bytes;
	*ret = l;
	return 0;
}

void bench_layout_kinds(const struct bench_op *op, struct bench_buffer_kind ret[OPERANDS])
{
	for (int i = 0; i < OPERANDS; i++)
		ret[i] = (struct bench_buffer_kind){ .bytes = bench_op_bytes(op, i),
						     .weights = i == OPERAND_A,
						     .in_place = i == OPERAND_C &&
								 op->kind == BENCH_trsm };
}
