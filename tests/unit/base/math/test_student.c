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
