#include "attribution_private.h"

#include <string.h>

void intervals_add(struct intervals *iv, int64_t start_ns, int64_t end_ns)
{
	if (start_ns >= end_ns)
		return;
	VEC_PUSH(&iv->start, start_ns);
	VEC_PUSH(&iv->end, end_ns);
}

void intervals_release(struct intervals *iv)
{
	VEC_RELEASE(&iv->start);
	VEC_RELEASE(&iv->end);
}

void intervals_append(struct intervals *to, const struct intervals *from)
{
	for (size_t i = 0; i < from->start.nr; i++)
		intervals_add(to, from->start.v[i], from->end.v[i]);
}

static size_t run_end(const int64_t *v, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && v[i] >= v[i - 1])
		i++;
	return i < n ? i : n;
}

static void merge_runs(const int64_t *from, int64_t *to, size_t a, size_t b, size_t c)
{
	size_t i = a, j = b, k = a;

	while (i < b && j < c)
		to[k++] = from[j] < from[i] ? from[j++] : from[i++];
	while (i < b)
		to[k++] = from[i++];
	while (j < c)
		to[k++] = from[j++];
}

/* Natural merge sort: pairs of runs are merged until one is left. */
void i64_sort_runs(int64_t *v, size_t n)
{
	CLEANUP(xfreep) int64_t *other = NULL;
	int64_t *from = v, *to;

	if (n < 2 || run_end(v, 0, n) == n)
		return;
	to = other = xreallocarray(NULL, n, sizeof(*other));
	for (;;) {
		size_t a = 0, runs = 0;

		while (a < n) {
			size_t b = run_end(from, a, n);
			size_t c = b < n ? run_end(from, b, n) : n;

			merge_runs(from, to, a, b, c);
			a = c;
			runs++;
		}
		int64_t *t = from;
		from = to;
		to = t;
		if (runs <= 1)
			break;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

void steps_make(struct intervals *iv, struct steps *ret)
{
	size_t n = iv->start.nr, i = 0, j = 0, k = 0;
	uint32_t active = 0;

	i64_sort_runs(iv->start.v, n);
	i64_sort_runs(iv->end.v, n);
	*ret = (struct steps){
		.t_ns = xreallocarray(NULL, 2 * n + 1, sizeof(*ret->t_ns)),
		.count = xreallocarray(NULL, 2 * n + 1, sizeof(*ret->count)),
	};
	while (j < n) {
		int64_t t = i < n && iv->start.v[i] < iv->end.v[j] ? iv->start.v[i] : iv->end.v[j];

		while (i < n && iv->start.v[i] == t) {
			active++;
			i++;
		}
		while (j < n && iv->end.v[j] == t) {
			active--;
			j++;
		}
		if (k > 0 && ret->count[k - 1] == active)
			continue; /* one ended where another began */
		ret->t_ns[k] = t;
		ret->count[k++] = active;
	}
	ret->n = k;
}

void steps_release(struct steps *st)
{
	free(st->t_ns);
	free(st->count);
	*st = (struct steps){ 0 };
}

void intervals_union(struct intervals *iv)
{
	struct steps st;
	size_t k = 0;
	bool open = false;

	steps_make(iv, &st);
	for (size_t i = 0; i < st.n; i++) {
		if (!open && st.count[i] > 0) {
			iv->start.v[k] = st.t_ns[i];
			open = true;
		} else if (open && st.count[i] == 0) {
			iv->end.v[k++] = st.t_ns[i];
			open = false;
		}
	}
	iv->start.nr = iv->end.nr = k;
	steps_release(&st);
}
