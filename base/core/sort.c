#include "profrig/base/sort.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define SMALL 64

static void insertion_sort(int64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t x = v[i];
		size_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* One pass for each byte that differs at all: durations rarely fill more than four of the eight. */
void sort_i64(int64_t *v, size_t n)
{
	if (n < SMALL) {
		insertion_sort(v, n);
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

static void pairs_pass(const struct sort_pair *from, struct sort_pair *to, size_t n, unsigned shift)
{
	size_t at[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].key >> shift & 0xff]++;
	for (size_t b = 0; b < 256; b++) {
		size_t c = at[b];

		at[b] = sum;
		sum += c;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & 0xff]++] = from[i];
}

void sort_pairs(struct sort_pair *v, size_t n)
{
	CLEANUP(xfreep) struct sort_pair *spare = NULL;
	struct sort_pair *from = v, *to;
	uint64_t differ = 0;
	bool sorted = true;

	for (size_t i = 1; i < n; i++) {
		differ |= v[0].key ^ v[i].key;
		sorted = sorted && v[i - 1].key <= v[i].key;
	}
	if (sorted)
		return;
	to = spare = xreallocarray(NULL, n, sizeof(*spare));
	for (unsigned shift = 0; shift < 64; shift += 8) {
		struct sort_pair *swap = from;

		if (!(differ >> shift & 0xff))
			continue;
		pairs_pass(from, to, n, shift);
		from = to;
		to = swap;
	}
	if (from != v)
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

/* ---- spans ---- */

/* Shorter runs are extended to this length. */
#define RUN 16

static void run_insert(struct sort_span *v, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++) {
		struct sort_span x = v[i];
		size_t k = i;

		for (; k > from && sort_span_before(&x, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* The end of the run that begins at from. */
static size_t run_end(struct sort_span *v, size_t n, size_t from)
{
	size_t to = from + 1;

	while (to < n && !sort_span_before(&v[to], &v[to - 1]))
		to++;
	if (to - from >= RUN || to == n)
		return to;
	to = n - from < RUN ? n : from + RUN;
	run_insert(v, from, to);
	return to;
}

static void spans_merge(const struct sort_span *from, struct sort_span *to, size_t lo, size_t mid,
			size_t hi)
{
	size_t a = lo, b = mid, at = lo;

	while (a < mid && b < hi)
		to[at++] = sort_span_before(&from[b], &from[a]) ? from[b++] : from[a++];
	memcpy(to + at, from + a, (mid - a) * sizeof(*to));
	memcpy(to + at + (mid - a), from + b, (hi - b) * sizeof(*to));
}

/* Merges neighbouring runs; returns how many are left. */
static size_t runs_merge(const struct sort_span *from, struct sort_span *to, size_t *ends,
			 size_t nr)
{
	size_t lo = 0, left = 0;

	for (size_t i = 0; i < nr; i += 2) {
		size_t mid = ends[i], hi = i + 1 < nr ? ends[i + 1] : mid;

		spans_merge(from, to, lo, mid, hi);
		ends[left++] = lo = hi;
	}
	return left;
}

void sort_spans(struct sort_span *v, size_t n)
{
	CLEANUP(xfreep) struct sort_span *spare = NULL;
	CLEANUP(xfreep) size_t *ends = NULL;
	struct sort_span *from = v, *to;
	size_t nr = 0;

	if (n < 2 || run_end(v, n, 0) == n)
		return;
	ends = xreallocarray(NULL, n / RUN + 1, sizeof(*ends));
	for (size_t at = 0; at < n; nr++)
		at = ends[nr] = run_end(v, n, at);
	to = spare = xreallocarray(NULL, n, sizeof(*spare));
	while (nr > 1) {
		struct sort_span *swap = from;

		nr = runs_merge(from, to, ends, nr);
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}
