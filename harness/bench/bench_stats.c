#include "profrig/bench/bench_stats.h"

#include <math.h>

#include "profrig/base/student.h"
#include "profrig/base/vec.h"

struct sums {
	size_t n;
	double mean, squares; /* of the differences from the mean (Welford) */
};

static void sums_add(struct sums *s, double v)
{
	double before = v - s->mean;

	s->n++;
	s->mean += before / (double)s->n;
	s->squares += before * (v - s->mean);
}

static double sums_stddev(const struct sums *s)
{
	return s->n < 2 ? 0 : sqrt(s->squares / (double)(s->n - 1));
}

static double sums_error(const struct sums *s)
{
	return s->n < 2 ? NAN : sums_stddev(s) / sqrt((double)s->n);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *v, size_t nr)
{
	if (nr == 0)
		return NAN;
	qsort(v, nr, sizeof(*v), by_value);
	return nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
}

static double median_of(const struct bench_block *blocks, size_t nr)
{
	double *v = xcalloc(nr, sizeof(*v)), median;

	for (size_t i = 0; i < nr; i++)
		v[i] = blocks[i].us;
	median = bench_median(v, nr);
	free(v);
	return median;
}

/* The means of processes, whose blocks lie together. */
static struct sums processes_of(const struct bench_block *blocks, size_t nr)
{
	struct sums all = { 0 }, one = { 0 };

	for (size_t i = 0; i < nr; i++) {
		sums_add(&one, blocks[i].us);
		if (i + 1 == nr || blocks[i + 1].process != blocks[i].process) {
			sums_add(&all, one.mean);
			one = (struct sums){ 0 };
		}
	}
	return all;
}

static void drift_find(const struct bench_block *blocks, size_t nr, struct bench_figures *f)
{
	struct sums first = { 0 }, last = { 0 };
	size_t third = nr / 3;

	for (size_t i = 0; i < third; i++) {
		sums_add(&first, blocks[i].us);
		sums_add(&last, blocks[nr - 1 - i].us);
	}
	if (third < 3)
		return;
	f->drift = (last.mean - first.mean) / f->mean;
	f->drifts = fabs(last.mean - first.mean) > 3 * hypot(sums_error(&first), sums_error(&last));
}

void bench_stats(const struct bench_block *blocks, size_t nr, struct bench_figures *ret)
{
	struct sums all = { 0 }, processes = processes_of(blocks, nr);
	double half = NAN;

	*ret = (struct bench_figures){ .blocks = nr, .processes = processes.n, .error = NAN };
	ret->mean = ret->median = ret->min = ret->stddev = ret->low = ret->high = NAN;
	if (!nr)
		return;
	for (size_t i = 0; i < nr; i++) {
		sums_add(&all, blocks[i].us);
		ret->min = fmin(ret->min, blocks[i].us);
	}
	ret->mean = all.mean;
	ret->stddev = sums_stddev(&all);
	ret->median = median_of(blocks, nr);
	/* fmax takes the number of a number and a NaN */
	if (all.n > 1)
		half = student_t(BENCH_CONFIDENCE, all.n - 1) * sums_error(&all);
	if (processes.n > 1)
		half = fmax(half,
			    student_t(BENCH_CONFIDENCE, processes.n - 1) * sums_error(&processes));
	ret->error = fmax(sums_error(&all), sums_error(&processes));
	ret->low = fmax(ret->mean - half, 0);
	ret->high = ret->mean + half;
	if (isnan(half))
		ret->low = NAN;
	drift_find(blocks, nr, ret);
}
