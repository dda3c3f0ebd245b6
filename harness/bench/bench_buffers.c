#include "bench_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "profrig/base/xalloc.h"

#define LINE ((uint64_t)64) /* bytes of a cache line */

static bool changes(const struct bench_buffer_kind *k, enum bench_cache cache)
{
	return cache == BENCH_COLD || (cache == BENCH_WEIGHTS_COLD && k->weights);
}

static uint64_t step_of(const struct bench_buffer_kind *k)
{
	return (k->bytes + LINE - 1) / LINE * LINE;
}

/* Sets of the operands that change. */
static uint64_t sets_of(const struct bench_buffer_kinds *kinds, enum bench_cache cache,
			uint64_t rotate)
{
	uint64_t one = 0, sets;

	for (size_t i = 0; i < kinds->nr; i++)
		if (kinds->v[i].bytes && changes(&kinds->v[i], cache))
			one += step_of(&kinds->v[i]) + kinds->v[i].beside;
	if (!one)
		return 1;
	sets = rotate / one + (rotate % one != 0);
	return sets < 2 ? 2 : sets;
}

/* Steps, sets and the bytes of all; false: more than limit, with what is beside them. */
static bool layout(const struct bench_buffer_kinds *kinds, enum bench_cache cache, uint64_t rotate,
		   uint64_t limit, struct bench_buffers *b, struct err *err)
{
	uint64_t sets = sets_of(kinds, cache, rotate);
	unsigned __int128 bytes = 0, beside = 0;

	b->nr = kinds->nr;
	for (size_t i = 0; i < kinds->nr; i++) {
		const struct bench_buffer_kind *k = &kinds->v[i];

		b->step[i] = step_of(k);
		b->sets[i] = k->bytes && changes(k, cache) ? sets : 1;
		bytes += (unsigned __int128)b->step[i] * (b->sets[i] + k->in_place);
		beside += (unsigned __int128)k->beside * b->sets[i];
	}
	if (bytes + beside > limit) {
		err_set(err, ENOMEM,
			"its operands take %.4g GB, and %.4g GB of memory are free for a back end",
			(double)(bytes + beside) / 1e9, (double)limit / 1e9);
		return false;
	}
	b->bytes = (size_t)bytes;
	return true;
}

static int operand_fill(const struct bench_buffer_kinds *kinds, struct bench_buffers *b, size_t i,
			struct err *err)
{
	int r = b->step[i] ? kinds->fill(kinds->ctx, i, b->base[i], err) : 0;

	if (r < 0 || !b->step[i])
		return r;
	for (size_t k = 1; k < b->sets[i]; k++)
		memcpy(b->base[i] + k * b->step[i], b->base[i], b->step[i]);
	if (b->unused[i])
		memcpy(b->unused[i], b->base[i], b->step[i]);
	return 0;
}

int bench_buffers_make(const struct bench_buffer_kinds *kinds, enum bench_cache cache,
		       uint64_t rotate, uint64_t limit, struct bench_buffers *ret, struct err *err)
{
	struct bench_buffers b = { 0 };
	size_t at = 0;
	int r = 0;

	if (!layout(kinds, cache, rotate, limit, &b, err))
		return -ENOMEM;
	b.map = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b.map == MAP_FAILED)
		return err_sys(err, ENOMEM, "%" PRIu64 " bytes for operands", (uint64_t)b.bytes);
	xpopulate(b.map, b.bytes);
	for (size_t i = 0; r == 0 && i < b.nr; i++) {
		b.base[i] = b.map + at;
		at += b.step[i] * b.sets[i];
		if (kinds->v[i].in_place) {
			b.unused[i] = b.map + at;
			at += b.step[i];
		}
		r = operand_fill(kinds, &b, i, err);
	}
	if (r < 0)
		bench_buffers_release(&b);
	else
		*ret = b;
	return r;
}

void bench_buffers_release(struct bench_buffers *b)
{
	if (b->map)
		munmap(b->map, b->bytes);
	*b = (struct bench_buffers){ 0 };
}

void bench_buffers_refresh(struct bench_buffers *b)
{
	for (size_t i = 0; i < b->nr; i++)
		for (size_t k = 0; b->unused[i] && k < b->sets[i]; k++)
			memcpy(b->base[i] + k * b->step[i], b->unused[i], b->step[i]);
}
