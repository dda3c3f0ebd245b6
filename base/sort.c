#include "profrig/sort.h"

#include <stdbool.h>
#include <string.h>

#include "profrig/xalloc.h"

#define SMALL 64

static void insertion(int64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t x = v[i];
		size_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* One pass per byte that differs at all: durations rarely fill more than four of the eight. */
void sort_i64(int64_t *v, size_t n)
{
	if (n < SMALL) {
		insertion(v, n);
		return;
	}
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t all = 0, first = (uint64_t)v[0];
	bool sorted = true;
	for (size_t i = 0; i < n; i++) {
		all |= first ^ (uint64_t)v[i];
		sorted = sorted && (i == 0 || v[i - 1] <= v[i]);
	}
	if (sorted)
		return;
	CLEANUP(xfreep) uint64_t *spare = xreallocarray(NULL, n, sizeof(*spare));
	uint64_t *from = (uint64_t *)v, *to = spare;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(all >> shift & 0xff))
			continue;
		size_t at[256] = { 0 }, sum = 0;
		for (size_t i = 0; i < n; i++)
			at[(from[i] ^ sign) >> shift & 0xff]++;
		for (size_t b = 0; b < 256; b++) {
			size_t c = at[b];
			at[b] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			to[at[(from[i] ^ sign) >> shift & 0xff]++] = from[i];
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != (uint64_t *)v)
		memcpy(v, from, n * sizeof(*v));
}

static void swap_i64(int64_t *a, int64_t *b)
{
	int64_t t = *a;

	*a = *b;
	*b = t;
}

int64_t median_i64(int64_t *v, size_t n)
{
	size_t lo = 0, hi = n - 1, k = (n - 1) / 2;

	if (n == 0)
		return 0;
	while (lo < hi) {
		int64_t pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap_i64(&v[i++], &v[j--]);
		}
		/* v[lo..j] <= pivot <= v[j+1..hi] */
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}
