#include "base_test.h"

#include <math.h>

#include "profrig/base/student.h"

TEST(quantiles)
{
	static const struct {
		double confidence;
		uint64_t df;
		double t;
	} cases[] = LIST(
		{ 0.95, 1, 12.7062047362 }, { 0.95, 2, 4.3026527297 }, { 0.95, 3, 3.1824463053 },
		{ 0.95, 4, 2.7764451052 }, { 0.95, 5, 2.5705818356 }, { 0.95, 9, 2.2621571628 },
		{ 0.95, 10, 2.2281388520 }, { 0.95, 30, 2.0422724563 }, { 0.95, 100, 1.9839715185 },
		{ 0.95, 1000, 1.9623390808 }, { 0.99, 9, 3.2498355416 }, { 0.90, 5, 2.0150483733 },
		{ 0.5, 1, 1 }, { 0.5, 2, 0.8164965809 }, { 0.999, 1, 636.6192487688 },
		{ 0.999, 4, 8.6103015814 }, { 0.95, 31, 2.0395134464 }, { 0.99, 40, 2.7044592674 },
		{ 0.95, UINT64_C(1) << 62, 1.9599639845 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double t = student_t(cases[i].confidence, cases[i].df);

		if (!(fabs(t - cases[i].t) <=
		      (cases[i].df > 30 ? 1e-6 : 1e-9) * cases[i].t + 5e-11))
			ROW_FAIL(i, "%.12g", t);
	}
	assert_true(isnan(student_t(0.95, 0)) && isnan(student_t(1, 3)) && isnan(student_t(0, 3)) &&
		    isnan(student_t(NAN, 3)));
}

/* Tables, and for degrees that are not whole Simpson's rule over the density. */
TEST(p_values)
{
	static const struct {
		double t, df, p;
	} cases[] =
		LIST({ 0, 3, 1 }, { 2.7764451052, 4, 0.05 }, { 12.7062047362, 1, 0.05 },
		     { 1, 1, 0.5 }, { -1, 1, 0.5 }, { 3.2498355416, 9, 0.01 },
		     { 2.0422724563, 30, 0.05 }, { 2, 2.5, 0.1573914958 }, { 1, 3.7, 0.3781413998 },
		     { 5, 7.25, 0.00141120062 }, { 2.5, 24.99, 0.01934610699 },
		     { 10, 4.4, 0.0003440281829 }, { 0.3, 11.5, 0.7695305694 },
		     { 30, 2.2, 0.0006440256782 }, { 2.2, 1000.5, 0.0280349112 },
		     { 1.9599639845, INFINITY, 0.05 }, { INFINITY, 3, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double p = student_p(cases[i].t, cases[i].df);

		if (!(fabs(p - cases[i].p) <= 2e-9 * cases[i].p + 1e-15))
			ROW_FAIL(i, "%.12g", p);
	}
	assert_true(isnan(student_p(NAN, 3)) && isnan(student_p(1, 0)) && isnan(student_p(1, NAN)));
	/* t of 1 with 1 degree is arctan's: P(|T| > 1e200) = 2e-200/π */
	assert_true(student_p(1e200, 1) >= 0 && student_p(1e200, 1) < 1e-140);
}

TEST(quantiles_of_real_degrees)
{
	for (uint64_t df = 1; df < 200; df++) {
		double want = student_t(0.95, df), got = student_t_real(0.95, (double)df);

		if (!(fabs(got - want) <= (df > 30 ? 1e-6 : 1e-9) * want))
			ROW_FAIL(df, "%.12g, not %.12g", got, want);
	}
	for (double df = 0.7; df < 3e7; df *= 3.3)
		for (double confidence = 0.5; confidence < 1; confidence += 0.07) {
			double t = student_t_real(confidence, df), p = student_p(t, df);

			if (!(fabs(p - (1 - confidence)) <= 1e-8))
				fail_msg("df %g: p %.12g of %g", df, p, confidence);
		}
	assert_true(fabs(student_t_real(0.95, INFINITY) - 1.959963984540054) < 1e-9);
	assert_true(isnan(student_t_real(0.95, 0)) && isnan(student_t_real(1, 3)));
}
