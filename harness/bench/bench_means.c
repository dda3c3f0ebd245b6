#include "bench_means.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/paired.h"
#include "profrig/base/strvec.h"
#include "profrig/base/student.h"
#include "profrig/bench/bench_compare.h"

#define DF_CAREFUL 2 /* where the number of processes is not known */
#define PROCESSES_MIN 3
#define PROCESSES_MAX 64

static struct contrast_mean mean_of(const struct bench_table_row *r)
{
	uint64_t df = r->processes ? r->processes - 1 : DF_CAREFUL;
	/* one process says nothing of the next one */
	double error = df ? (r->high - r->mean) / student_t(BENCH_CONFIDENCE, df) : NAN;

	return (struct contrast_mean){ r->mean, error, df ? (double)df : NAN };
}

static double others_error(const struct bench_table_row *r, bool levels)
{
	double most = levels ? BENCH_OTHERS_ERROR_LEVELS : BENCH_OTHERS_ERROR;

	return r->others > 0 ? r->others * r->others * most : 0;
}

bool bench_together(const struct bench_tables *t, const struct bench_table_row *a,
		    const struct bench_table_row *b)
{
	const struct bench_table_side *sides = t->sides.v;

	return sides[a->side].file == sides[b->side].file && a->id == b->id && a->measured_ms &&
	       a->measured_ms == b->measured_ms;
}

/* The means or levels of processes; 0: they are not known, or damaged. */
static size_t processes_read(const char *text, double *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, text, " ");
	if (words.nr > PROCESSES_MAX)
		return 0;
	for (size_t i = 0; i < words.nr; i++)
		if (num_f64(words.v[i], strlen(words.v[i]), &ret[i]) < 0 || !isfinite(ret[i]) ||
		    !(ret[i] > 0))
			return 0;
	return words.nr;
}

/*
 * Of processes that were alive together, the logarithms of the ratios: what slowed both is not in
 * them. The error of the difference is b's, and b's mean is what the ratio makes of a's.
 */
static bool paired(double a_mean, const char *of_a, const char *of_b, double trimmed,
		   struct bench_means *ret)
{
	double x[PROCESSES_MAX], y[PROCESSES_MAX], mean;
	size_t n = processes_read(of_a, x);
	struct paired_ratio p;

	if (n < PROCESSES_MIN || processes_read(of_b, y) != n)
		return false;
	paired_ratio_trimmed(y, x, n, trimmed, BENCH_CONFIDENCE, &p);
	mean = a_mean * p.ratio;
	if (p.n != n || !isfinite(mean))
		return false;
	*ret = (struct bench_means){ .a = { a_mean, 0, INFINITY },
				     .b = { mean, mean * p.error, p.df },
				     .paired = true };
	return true;
}

/* The mean of the logarithms of a row's levels, as a ratio to 1. */
static bool level_of(const struct bench_table_row *r, struct paired_ratio *ret)
{
	double x[PROCESSES_MAX], ones[PROCESSES_MAX];
	size_t n = processes_read(r->level_us, x);

	for (size_t i = 0; i < n; i++)
		ones[i] = 1;
	paired_ratio_trimmed(x, ones, n, BENCH_LEVELS_TRIMMED, BENCH_CONFIDENCE, ret);
	return n >= PROCESSES_MIN && ret->n == n;
}

/* Of processes that were not alive together; b's mean is what the ratio makes of a's. */
static bool apart_by_levels(const struct bench_table_row *a, const struct bench_table_row *b,
			    struct bench_means *ret)
{
	struct paired_ratio x, y;
	double mean;

	if (!level_of(a, &x) || !level_of(b, &y))
		return false;
	mean = a->mean * y.ratio / x.ratio;
	if (!isfinite(mean))
		return false;
	ret->a = (struct contrast_mean){ a->mean, a->mean * x.error, x.df };
	ret->b = (struct contrast_mean){ mean, mean * y.error, y.df };
	ret->levels = true;
	return true;
}

/* How much the speed of the device differs between two rows; 0 where it is not known. */
static double speeds_differ(const struct bench_tables *t, const struct bench_table_row *a,
			    const struct bench_table_row *b)
{
	const struct bench_table_side *sides = t->sides.v;
	double clock = fabs(log(b->clock_mhz / a->clock_mhz));
	double loop = fabs(log(b->loop_gflops / a->loop_gflops));

	/* of another device it is what is compared */
	if (strcmp(sides[a->side].device, sides[b->side].device) != 0)
		return 0;
	return fmax(isfinite(clock) ? clock : 0, isfinite(loop) ? loop : 0);
}

struct bench_means bench_means(const struct bench_tables *t, const struct bench_table_row *a,
			       const struct bench_table_row *b)
{
	bool apart = !bench_together(t, a, b);
	struct bench_means m = { .a = mean_of(a), .b = mean_of(b) };

	if (!apart && paired(a->mean, a->level_us, b->level_us, BENCH_LEVELS_TRIMMED, &m)) {
		m.levels = true;
		return m;
	}
	if (!apart && paired(a->mean, a->process_us, b->process_us, 0, &m))
		return m;
	/* unless it is known better, the difference has the degrees of the worse one */
	if (!(apart && apart_by_levels(a, b, &m)) && (!a->processes || !b->processes)) {
		m.b.error = m.b.mean * hypot(m.a.error / m.a.mean, m.b.error / m.b.mean);
		m.b.df = fmin(m.a.df, m.b.df);
		m.a.error *= 0;
	}
	if (apart) {
		m.speed = speeds_differ(t, a, b);
		m.extra = hypot(hypot(others_error(a, m.levels), others_error(b, m.levels)),
				m.speed / sqrt(3));
	}
	return m;
}
