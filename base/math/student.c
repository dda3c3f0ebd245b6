#include "profrig/base/student.h"

#include <math.h>
#include <stdbool.h>

#define CLOSED_FORM_DF 30
#define STEPS 64
#define NORMAL_DF 1e6
#define FRACTION_STEPS 20000
#define T_MAX 1e9

/*
 * A(t|ν) = P(|T| <= t), with tan θ = t/√ν:
 *	ν odd	2/π (θ + sin θ (cos θ + 2/3 cos³θ + … + 2·4·…·(ν−3) / 3·5·…·(ν−2) cos^(ν−2) θ))
 *	ν even	sin θ (1 + 1/2 cos²θ + 1·3/2·4 cos⁴θ + … + 1·3·…·(ν−3) / 2·4·…·(ν−2) cos^(ν−2) θ)
 */
static double student_probability(double theta, unsigned df)
{
	double c = cos(theta), odd = df % 2, term = odd ? c : 1, sum = df > 1 ? term : 0;

	for (unsigned k = odd ? 3 : 2; k < df; k += 2) {
		term *= c * c * (k - 1) / k;
		sum += term;
	}
	return odd ? (theta + sin(theta) * sum) * M_2_PI : sin(theta) * sum;
}

static double closed_form(double confidence, unsigned df)
{
	double lo = 0, hi = M_PI_2;

	for (int i = 0; i < STEPS; i++) {
		double mid = lo + (hi - lo) / 2;

		if (student_probability(mid, df) < confidence)
			lo = mid;
		else
			hi = mid;
	}
	return sqrt(df) * tan(lo + (hi - lo) / 2);
}

/* P(|Z| <= z) = confidence */
static double normal_z(double confidence)
{
	double lo = 0, hi = 40;

	for (int i = 0; i < STEPS; i++) {
		double mid = lo + (hi - lo) / 2;

		if (erf(mid * M_SQRT1_2) < confidence)
			lo = mid;
		else
			hi = mid;
	}
	return lo + (hi - lo) / 2;
}

/* Nearly every call asks for this one, so its quantile is a constant. */
#define USUAL_CONFIDENCE 0.95
#define USUAL_Z 1.959963984540054

static double student_expansion(double confidence, double v)
{
	bool usual = confidence >= USUAL_CONFIDENCE && confidence <= USUAL_CONFIDENCE;
	double z = usual ? USUAL_Z : normal_z(confidence), z2 = z * z;
	double g1 = z * (z2 + 1) / 4;
	double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

double student_t(double confidence, uint64_t df)
{
	if (df == 0 || !(confidence > 0 && confidence < 1))
		return NAN;
	if (df <= CLOSED_FORM_DF)
		return closed_form(confidence, (unsigned)df);
	return student_expansion(confidence, (double)df);
}

/*
 * The continued fraction of I_x(a, b), 1/(1 + d1/(1 + d2/(1 + …))), by Lentz's method:
 *	d(2m)	m(b − m)x / ((a + 2m − 1)(a + 2m))
 *	d(2m+1)	−(a + m)(a + b + m)x / ((a + 2m)(a + 2m + 1))
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 0, f = 1;

	for (int j = 1; j <= FRACTION_STEPS; j++) {
		double m = floor(j / 2.0), step, two = a + 2 * m;
		double part = j % 2 ? -(a + m) * (a + b + m) * x / (two * (two + 1))
				    : m * (b - m) * x / ((two - 1) * two);

		d = 1 + part * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + part / c;
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return 1 / f;
}

/* I_x(a, b) for the a and b of Student's t; y is 1 − x, which may be too small to be had from x. */
static double beta_regularised(double a, double b, double x, double y)
{
	int sign;
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		    b * log(y));
	/* the fraction converges fast on one side of the mean */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double student_p(double t, double df)
{
	double t2 = t * t;

	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	if (df > NORMAL_DF)
		return erfc(fabs(t) * M_SQRT1_2);
	if (isinf(t2))
		return student_p(1e150, df);
	return beta_regularised(df / 2, 0.5, df / (df + t2), t2 / (df + t2));
}

double student_t_real(double confidence, double df)
{
	/* of log t: t may be anything from 0 to T_MAX */
	double lo = -25, hi = log(T_MAX);

	if (!(df > 0) || !(confidence > 0 && confidence < 1))
		return NAN;
	for (int i = 0; i < STEPS; i++) {
		double mid = lo + (hi - lo) / 2;

		if (student_p(exp(mid), df) > 1 - confidence)
			lo = mid;
		else
			hi = mid;
	}
	return exp(lo + (hi - lo) / 2);
}
