#include "profrig/base/power.h"
#include "quadrature.h"
#include "values.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/bootstrap.h"
#include "profrig/base/mix.h"
#include "profrig/base/samples_test.h"
#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define LEAST 3
#define PANELS 6  /* of each stretch of x */
#define SPREAD 8. /* deviations of x and of r that count */
#define DRAWS 10000
#define FLIPS_MAX 20
#define CHOICES_MAX 4000 /* that are counted of a draw */
#define RARE 1e-3        /* of this nothing is taken away */
#define SEED UINT64_C(0x706f776572)

static void power_add(struct power *to, const struct power *p, double by)
{
	to->slower += by * p->slower;
	to->faster += by * p->faster;
	to->same += by * p->same;
	to->beyond += by * p->beyond;
}

/* ---- given the estimated error ---- */

/* In units of τ; t: of two-sided tests, t_same: one-sided. */
struct normed {
	double shift, margin; /* log ratio, log1p(margin) */
	double k;             /* degrees of x */
	double t, t_same, t_interval;
};

static struct power power_at(const struct normed *d, double x)
{
	double least = fmax(d->margin, d->t * x), within = d->margin - d->t_same * x;
	struct power p = { .slower = normal_below(d->shift - least),
			   .faster = normal_below(-least - d->shift),
			   .beyond = normal_below(d->shift - d->margin - d->t_interval * x) };

	if (within > 0)
		p.same = normal_below(within - d->shift) - normal_below(-within - d->shift);
	return p;
}

/* Of x = √(χ²/k). */
static double chi_density(double x, double k)
{
	int sign;

	if (!(x > 0))
		return 0;
	return exp(M_LN2 + k / 2 * log(k / 2) - lgamma_r(k / 2, &sign) + (k - 1) * log(x) -
		   k * x * x / 2);
}

static void stretch_add(const struct normed *d, double begin, double end, struct power *sum)
{
	double step = (end - begin) / PANELS;

	for (int i = 0; step > 0 && i < PANELS * QUADRATURE_NODES; i++) {
		int panel = i / QUADRATURE_NODES;
		double from = begin + step * panel, by;
		double x = quadrature_at(from, from + step, i % QUADRATURE_NODES, &by);
		struct power p = power_at(d, x);

		power_add(sum, &p, by * chi_density(x, d->k));
	}
}

/*
 * Over x, piece by piece: it bends where t overtakes the margin and where `same` ends, and ends
 * where no D is so far out.
 */
static struct power over_errors(const struct normed *d)
{
	double spread = SPREAD / sqrt(2 * d->k), at = fmax(0, 1 - spread), end = 1 + spread;
	double bend[] = { d->margin / d->t, d->margin / d->t_same, (fabs(d->shift) + SPREAD) / d->t,
			  (fabs(d->shift) + d->margin + SPREAD) / d->t_interval, end };
	struct power sum = { 0 };

	values_sort(bend, ARRAY_LEN(bend));
	for (size_t i = 0; i < ARRAY_LEN(bend); i++) {
		double to = fmin(fmax(bend[i], at), end);

		stretch_add(d, at, to, &sum);
		at = to;
	}
	return sum;
}

/* ---- the design ---- */

static void with_df(struct normed *d, const struct power_design *of, double df)
{
	double alpha = 1 - of->confidence;

	d->t = student_t_real(1 - alpha / (double)of->tests, df);
	d->t_same = student_t_real(1 - 2 * alpha, df);
	d->t_interval = student_t_real(of->confidence, df);
}

/*
 * Over r = sin²θ, whose density by θ is that of (sin 2θ)^(n − 2); its two halves are alike. The
 * weights are made to sum up to 1.
 */
static struct power over_shares(struct normed *d, const struct power_design *of)
{
	double n = (double)of->n, all = 0;
	double end = fmin(M_PI_2, M_PI_4 + SPREAD / (2 * sqrt(n - 2)));
	struct power sum = { 0 }, mean = { 0 };

	for (int i = 0; i < QUADRATURE_NODES; i++) {
		double by, angle = quadrature_at(M_PI_4, end, i, &by), r = sin(angle) * sin(angle);
		struct power p;

		by *= pow(sin(2 * angle), n - 2);
		with_df(d, of, (n - 1) / (r * r + (1 - r) * (1 - r)));
		p = over_errors(d);
		power_add(&sum, &p, by);
		all += by;
	}
	power_add(&mean, &sum, 1 / all);
	return mean;
}

/* Without noise. */
static struct power power_sure(const struct power_design *d)
{
	double away = fabs(log(d->ratio)), margin = log1p(d->margin);

	return (struct power){ .slower = d->ratio > 1 && away > margin,
			       .faster = d->ratio < 1 && away > margin,
			       .same = away<margin, .beyond = d->ratio> 1 && away > margin };
}

static bool design_counts(const struct power_design *d)
{
	return (d->method == SAMPLE_PAIRED || d->method == SAMPLE_WELCH) && isfinite(d->cv) &&
	       d->cv >= 0 && isfinite(d->ratio) && d->ratio > 0 && isfinite(d->margin) &&
	       d->margin > 0 && d->confidence > 0.5 && d->confidence < 1 && d->tests > 0;
}

static struct normed normed_of(const struct power_design *d)
{
	double n = (double)d->n, unit = d->cv * sqrt(2 / n);

	return (struct normed){ .shift = log(d->ratio) / unit,
				.margin = log1p(d->margin) / unit,
				.k = d->method == SAMPLE_PAIRED ? n - 1 : 2 * (n - 1) };
}

/* By the t tests alone. */
static void power_of_t(const struct power_design *d, struct power *ret)
{
	struct normed normed;

	*ret = (struct power){ NAN, NAN, NAN, NAN, NAN };
	if (!design_counts(d))
		return;
	*ret = (struct power){ 0 };
	if (d->n >= LEAST && !(d->cv > 0)) {
		*ret = power_sure(d);
	} else if (d->n >= LEAST) {
		normed = normed_of(d);
		if (d->method == SAMPLE_PAIRED) {
			with_df(&normed, d, normed.k);
			*ret = over_errors(&normed);
		} else {
			*ret = over_shares(&normed, d);
		}
	}
	ret->unclear = fmax(0, 1 - ret->slower - ret->faster - ret->same);
}

/* ---- sign flips ---- */

/*
 * How many choices of values have a sum of at most 0 when `sum` is that of the chosen ones before
 * `at`; stops above `most`. v ascends, so that every choice that is visited is one that counts.
 */
static uint64_t choices_below(const double *v, size_t n, size_t at, double sum, uint64_t most)
{
	uint64_t found = 1;

	for (; at < n && found <= most && sum + v[at] <= 0; at++)
		found += choices_below(v, n, at + 1, sum + v[at], most - found);
	return found;
}

static double uniform(uint64_t *seed)
{
	return ((double)(splitmix64(seed) >> 12) + 0.5) * 0x1p-52;
}

/* Differences of n pairs with deviation 1 around `shift` (Box and Muller); their mean. */
static double pairs_draw(double *v, size_t n, double shift, uint64_t *seed)
{
	for (size_t i = 0; i < n; i += 2) {
		double r = sqrt(-2 * log(uniform(seed))), angle = 2 * M_PI * uniform(seed);

		v[i] = shift + r * cos(angle);
		if (i + 1 < n)
			v[i + 1] = shift + r * sin(angle);
	}
	return values_mean(v, n);
}

/* t: that t is at least this one. */
static bool pairs_differ(const double *v, size_t n, double mean, double t)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return mean > 0 && mean * mean * (double)n * (double)(n - 1) >= t * t * squares;
}

/*
 * The probability that t says slower and the flips do not: 2/2ⁿ of them for each choice of pairs
 * whose signs may turn without the sum getting smaller.
 */
static double flips_refuse(const struct power_design *d, double ratio)
{
	double v[FLIPS_MAX], unit = d->cv * M_SQRT2, alpha = 1 - d->confidence;
	double t = student_t_real(1 - alpha / (double)d->tests, (double)(d->n - 1));
	uint64_t most = (uint64_t)(alpha * exp2((double)d->n - 1)), seed = SEED, refused = 0;

	for (int draw = 0; draw < DRAWS; draw++) {
		double mean = pairs_draw(v, d->n, log(ratio) / unit, &seed);

		if (mean <= log1p(d->margin) / unit || !pairs_differ(v, d->n, mean, t))
			continue;
		values_sort(v, d->n);
		refused += choices_below(v, d->n, 0, 0, most) > most;
	}
	return (double)refused / DRAWS;
}

static bool flips_count(const struct power_design *d)
{
	return design_counts(d) && d->method == SAMPLE_PAIRED && d->n >= SAMPLES_REARRANGED &&
	       d->n <= FLIPS_MAX && d->cv > 0 &&
	       sample_floor_reaches(sign_flip_floor(d->n), d->confidence) &&
	       (1 - d->confidence) * exp2((double)d->n - 1) <= CHOICES_MAX;
}

void power_of(const struct power_design *d, struct power *ret)
{
	double slower = 0, faster = 0;

	power_of_t(d, ret);
	if (!flips_count(d))
		return;
	if (ret->slower > RARE)
		slower = fmin(ret->slower, flips_refuse(d, d->ratio));
	if (ret->faster > RARE)
		faster = fmin(ret->faster, flips_refuse(d, 1 / d->ratio));
	ret->slower -= slower;
	ret->faster -= faster;
	ret->unclear += slower + faster;
}

static double power_verdict(const struct power *p, enum sample_verdict of)
{
	return of == SAMPLE_SLOWER   ? p->slower
	       : of == SAMPLE_FASTER ? p->faster
	       : of == SAMPLE_SAME   ? p->same
				     : p->unclear;
}

size_t power_least(const struct power_design *d, enum sample_verdict of, double wanted, size_t most)
{
	struct power_design design = *d;

	for (design.n = LEAST; design.n <= most; design.n++) {
		struct power p;

		/* the flips take away only, and cost more time */
		power_of_t(&design, &p);
		if (of != SAMPLE_UNCLEAR && power_verdict(&p, of) < wanted)
			continue;
		power_of(&design, &p);
		if (power_verdict(&p, of) >= wanted)
			return design.n;
	}
	return 0;
}
