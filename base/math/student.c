#include "profrig/base/student.h"

#include <math.h>
#include <stdbool.h>

#define CLOSED_FORM_DF 30
#define STEPS 64

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
