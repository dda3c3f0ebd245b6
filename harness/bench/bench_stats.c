#include "profrig/bench/bench_stats.h"

#include <math.h>

#include "profrig/base/student.h"
#include "profrig/base/vec.h"

#define WIDTHS 3 /* of windows */
#define DRIFT_VALUES 24

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

/* ---- levels ---- */

/* How many blocks from this one on are of its process. */
static size_t process_length(const struct bench_turns *side, size_t first)
{
	size_t end = first;

	while (end < side->nr && side->blocks[end].process == side->blocks[first].process)
		end++;
	return end - first;
}

static double fastest_log(const struct bench_block *blocks, size_t nr)
{
	double least = INFINITY;

	for (size_t i = 0; i < nr; i++)
		least = fmin(least, blocks[i].us);
	return log(least);
}

/*
 * Of n blocks from `first` on, in that many windows: the median logarithm of each side's fastest
 * blocks by the common ones, to ret[s * WIDTHS]; it returns that of the common ones.
 */
static double windows_level(const struct bench_turns *sides, size_t nr, size_t first, size_t n,
			    size_t windows, double *ret)
{
	double *common = xcalloc(windows, sizeof(*common)), middle, sum = 0;
	double *own = xcalloc(windows * nr, sizeof(*own));

	for (size_t w = 0; w < windows; w++) {
		size_t from = w * n / windows, to = (w + 1) * n / windows;

		for (size_t s = 0; s < nr; s++) {
			own[s * windows + w] =
				fastest_log(sides[s].blocks + first + from, to - from);
			common[w] += own[s * windows + w] / (double)nr;
		}
		for (size_t s = 0; s < nr; s++)
			own[s * windows + w] -= common[w];
	}
	middle = bench_median(common, windows);
	for (size_t s = 0; s < nr; s++) {
		ret[s * WIDTHS] = bench_median(own + s * windows, windows);
		sum += ret[s * WIDTHS];
	}
	for (size_t s = 0; s < nr; s++)
		ret[s * WIDTHS] -= sum / (double)nr;
	free(common);
	free(own);
	return middle;
}

/* ret[s * room] of each side. */
static void process_levels(const struct bench_turns *sides, size_t nr, size_t first, size_t n,
			   double *ret, size_t room)
{
	static const size_t widths[WIDTHS] = { 1, 3, 8 };
	double *own = xcalloc(nr * WIDTHS, sizeof(*own)), common = 0;

	for (size_t k = 0; k < WIDTHS; k++)
		common = windows_level(sides, nr, first, n, n < widths[k] ? 1 : n / widths[k],
				       own + k);
	for (size_t s = 0; s < nr; s++)
		ret[s * room] = exp(bench_median(own + s * WIDTHS, WIDTHS) + common);
	free(own);
}

size_t bench_levels(const struct bench_turns *sides, size_t nr, double *ret, size_t room)
{
	size_t processes = 0, n;

	for (size_t s = 1; s < nr; s++)
		if (sides[s].nr != sides[0].nr)
			return 0;
	for (size_t first = 0; nr && first < sides[0].nr; first += n) {
		n = process_length(&sides[0], first);
		for (size_t s = 1; s < nr; s++)
			if (process_length(&sides[s], first) != n)
				return 0;
		if (processes >= room)
			return 0;
		process_levels(sides, nr, first, n, ret + processes++, room);
	}
	return processes;
}

/* ---- figures ---- */

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

/* Of the g-th of groups of blocks: whole ones alone count. */
static double group_mean(const struct bench_block *blocks, size_t length, size_t g)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < length; i++)
		sums_add(&s, blocks[g * length + i].us);
	return s.mean;
}

static void drift_find(const struct bench_block *blocks, size_t nr, struct bench_figures *f)
{
	struct sums first = { 0 }, last = { 0 };
	size_t length = (nr + DRIFT_VALUES - 1) / DRIFT_VALUES, groups = nr / length;
	size_t third = groups / 3;

	for (size_t i = 0; i < third; i++) {
		sums_add(&first, group_mean(blocks, length, i));
		sums_add(&last, group_mean(blocks, length, groups - 1 - i));
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
