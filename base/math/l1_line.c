#include "profrig/base/l1_line.h"
#include "values.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

#define TURNS_MAX 100

struct turn {
	double slope, weight;
	size_t to; /* the point that gives the slope */
};

static int cmp_point(const void *pa, const void *pb)
{
	const struct l1_point *a = pa, *b = pb;

	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return (a->y > b->y) - (a->y < b->y);
}

static bool turn_before(const struct turn *a, const struct turn *b)
{
	return a->slope < b->slope || (a->slope == b->slope && a->to < b->to);
}

/* The first turn, by slope, up to which the weights are at least half. Reorders t. */
static struct turn half_way(struct turn *t, size_t n, double half)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		struct turn pivot = t[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;
		double below = 0;

		for (;;) {
			while (turn_before(&t[i], &pivot))
				i++;
			while (turn_before(&pivot, &t[j]))
				j--;
			if (i >= j)
				break;
			struct turn x = t[i];
			t[i++] = t[j];
			t[j--] = x;
		}
		/* t[lo..j] are not above the pivot, t[j+1..hi] not below it */
		for (size_t k = lo; k <= j; k++)
			below += t[k].weight;
		if (below >= half) {
			hi = j;
		} else {
			half -= below;
			lo = j + 1;
		}
	}
	return t[lo];
}

double l1_line_sum(const struct l1_point *p, size_t n, struct l1_line l)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(p[i].y - l.at_zero - l.slope * p[i].x);
	return sum;
}

static struct l1_line line_flat(const struct l1_point *p, size_t n)
{
	CLEANUP(xfreep) double *y = xcalloc(n + 1, sizeof(*y));

	for (size_t i = 0; i < n; i++)
		y[i] = p[i].y;
	return (struct l1_line){ n ? values_median(y, n) : 0, 0 };
}

/* The best line through point `at`; *ret_to: another point of it. */
static struct l1_line line_through(const struct l1_point *p, size_t n, size_t at, struct turn *t,
				   size_t *ret_to)
{
	double half = 0;
	size_t nr = 0;
	struct turn best;

	for (size_t i = 0; i < n; i++) {
		double dx = p[i].x - p[at].x;

		if (dx == 0)
			continue;
		t[nr++] = (struct turn){ (p[i].y - p[at].y) / dx, fabs(dx), i };
		half += fabs(dx) / 2;
	}
	best = half_way(t, nr, half);
	*ret_to = best.to;
	return (struct l1_line){ p[at].y - best.slope * p[at].x, best.slope };
}

struct l1_line l1_line_fit(struct l1_point *p, size_t n)
{
	CLEANUP(xfreep) struct turn *t = NULL;
	struct l1_line best = { 0, 0 };
	double best_sum = INFINITY;
	size_t at = n / 2, to;

	if (n == 0)
		return best;
	qsort(p, n, sizeof(*p), cmp_point);
	if (!(p[0].x < p[n - 1].x))
		return line_flat(p, n);
	t = xcalloc(n, sizeof(*t));
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		struct l1_line l = line_through(p, n, at, t, &to);
		double sum = l1_line_sum(p, n, l);

		if (!(sum < best_sum))
			break;
		best = l;
		best_sum = sum;
		at = to;
	}
	return best;
}
