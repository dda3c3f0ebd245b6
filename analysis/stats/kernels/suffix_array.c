#include "suffix_array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define NO_SUFFIX UINT32_MAX

/* A suffix is small when it is less than the one behind it, else large. */
struct induced {
	const uint32_t *text;
	size_t n, letters;
	uint32_t *sa;
	uint8_t *small;
	uint32_t *counts, *at; /* by letter */
};

/* A small suffix behind a large one: the others follow from the order of these. */
static bool leftmost(const struct induced *x, size_t i)
{
	return i && x->small[i] && !x->small[i - 1];
}

static void types_set(struct induced *x)
{
	x->small[x->n - 1] = 1;
	for (size_t i = x->n - 1; i-- > 0;)
		x->small[i] = x->text[i] < x->text[i + 1] ||
			      (x->text[i] == x->text[i + 1] && x->small[i + 1]);
	for (size_t i = 0; i < x->n; i++)
		x->counts[x->text[i]]++;
}

/* at: where the bucket of each letter begins, or ends. */
static void buckets(struct induced *x, bool ends)
{
	uint32_t sum = 0;

	for (size_t c = 0; c < x->letters; c++) {
		x->at[c] = ends ? sum + x->counts[c] : sum;
		sum += x->counts[c];
	}
}

/* From the leftmost small ones, which are in sa: all others. */
static void induce(struct induced *x)
{
	buckets(x, false);
	for (size_t i = 0; i < x->n; i++) {
		uint32_t s = x->sa[i];

		if (s != NO_SUFFIX && s > 0 && !x->small[s - 1])
			x->sa[x->at[x->text[s - 1]]++] = s - 1;
	}
	buckets(x, true);
	for (size_t i = x->n; i-- > 0;) {
		uint32_t s = x->sa[i];

		if (s != NO_SUFFIX && s > 0 && x->small[s - 1])
			x->sa[--x->at[x->text[s - 1]]] = s - 1;
	}
}

static bool same_part(const struct induced *x, uint32_t a, uint32_t b)
{
	for (size_t d = 0;; d++) {
		bool end_a = d && leftmost(x, a + d), end_b = d && leftmost(x, b + d);

		if (end_a && end_b)
			return true;
		if (end_a != end_b || a + d + 1 >= x->n || b + d + 1 >= x->n ||
		    x->text[a + d] != x->text[b + d] || x->small[a + d] != x->small[b + d])
			return false;
	}
}

/* Gives equal parts equal numbers, in order. names: by position. Returns how many differ. */
static size_t parts_name(const struct induced *x, uint32_t *names)
{
	uint32_t last = NO_SUFFIX;
	size_t nr = 0;

	for (size_t i = 0; i < x->n; i++) {
		uint32_t s = x->sa[i];

		if (s == NO_SUFFIX || !leftmost(x, s))
			continue;
		if (last == NO_SUFFIX || !same_part(x, last, s))
			nr++;
		names[s] = (uint32_t)nr - 1;
		last = s;
	}
	return nr;
}

/* The leftmost small suffixes into the ends of their buckets, in the order of v from behind. */
static void leftmost_put(struct induced *x, const uint32_t *v, size_t nr)
{
	memset(x->sa, 0xff, x->n * sizeof(*x->sa));
	buckets(x, true);
	for (size_t i = nr; i-- > 0;)
		x->sa[--x->at[x->text[v[i]]]] = v[i];
}

/* v: the leftmost small suffixes by position. After it in order. */
static void leftmost_sort(struct induced *x, uint32_t *v, size_t nr)
{
	uint32_t *names = xreallocarray(NULL, x->n, sizeof(*names));
	uint32_t *text = xreallocarray(NULL, nr + 1, sizeof(*text));
	uint32_t *order = xreallocarray(NULL, nr + 1, sizeof(*order));
	uint32_t *sorted = xreallocarray(NULL, nr + 1, sizeof(*sorted));
	size_t different;

	leftmost_put(x, v, nr);
	induce(x);
	different = parts_name(x, names);
	for (size_t i = 0; i < nr; i++)
		text[i] = names[v[i]];
	free(names);
	if (different == nr)
		for (size_t i = 0; i < nr; i++)
			order[text[i]] = (uint32_t)i;
	else
		suffix_array(text, nr, different, order);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = v[order[i]];
	memcpy(v, sorted, nr * sizeof(*v));
	free(text);
	free(order);
	free(sorted);
}

void suffix_array(const uint32_t *text, size_t n, size_t letters, uint32_t *ret)
{
	struct induced x = { .text = text, .n = n, .letters = letters, .sa = ret };
	uint32_t *v;
	size_t nr = 0;

	if (n <= 1) {
		if (n)
			ret[0] = 0;
		return;
	}
	x.small = xcalloc(n, sizeof(*x.small));
	x.counts = xcalloc(letters + 1, sizeof(*x.counts));
	x.at = xcalloc(letters + 1, sizeof(*x.at));
	types_set(&x);
	v = xreallocarray(NULL, n / 2 + 1, sizeof(*v));
	for (size_t i = 1; i < n; i++)
		if (leftmost(&x, i))
			v[nr++] = (uint32_t)i;
	leftmost_sort(&x, v, nr);
	leftmost_put(&x, v, nr);
	induce(&x);
	free(v);
	free(x.small);
	free(x.counts);
	free(x.at);
}

void suffix_common(const uint32_t *text, const uint32_t *sa, size_t n, uint32_t *ret)
{
	uint32_t *rank = xreallocarray(NULL, n + 1, sizeof(*rank));
	size_t common = 0;

	for (size_t i = 0; i < n; i++)
		rank[sa[i]] = (uint32_t)i;
	if (n)
		ret[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t before;

		if (rank[i] == 0) {
			common = 0;
			continue;
		}
		before = sa[rank[i] - 1];
		while (i + common < n && before + common < n &&
		       text[i + common] == text[before + common])
			common++;
		ret[rank[i]] = (uint32_t)common;
		common -= common > 0;
	}
	free(rank);
}
