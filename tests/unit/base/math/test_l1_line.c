#include "test.h"

#include <math.h>

#include "profrig/base/l1_line.h"

/* Of a line through all points but a fifth, which are wild, the fit is as good, or the same. */
TEST(test_wild_points)
{
	size_t same = 0;

	for (uint64_t n = 1; n < 200; n++) {
		uint64_t seed = n * 77 + 1;
		size_t nr = 9 + rnd(&seed) % 60;
		struct l1_point *p = xcalloc(nr, sizeof(*p));
		struct l1_line l,
			want = { (double)(rnd(&seed) % 1000), (double)(rnd(&seed) % 100) / 8 };

		for (size_t i = 0; i < nr; i++) {
			p[i].x = (double)(rnd(&seed) % 100000);
			p[i].y = want.at_zero + want.slope * p[i].x;
			if (i % 5 == 0)
				p[i].y += (double)(rnd(&seed) % 100000) - 50000;
		}
		l = l1_line_fit(p, nr);
		if (l1_line_sum(p, nr, l) > l1_line_sum(p, nr, want) + 1e-3)
			fail_msg("case %d: %g + %g x, not %g + %g x", (int)n, l.at_zero, l.slope,
				 want.at_zero, want.slope);
		same += fabs(l.slope - want.slope) < 1e-9;
		free(p);
	}
	assert_true(same > 190);
}

/* No line through two of the points is better. */
TEST(test_best_of_pairs)
{
	for (uint64_t n = 1; n < 300; n++) {
		uint64_t seed = n * 31 + 5;
		size_t nr = 3 + rnd(&seed) % 12;
		struct l1_point *p = xcalloc(nr, sizeof(*p));
		struct l1_line l;
		double sum;

		for (size_t i = 0; i < nr; i++)
			p[i] = (struct l1_point){ (double)(rnd(&seed) % 1000),
						  (double)(rnd(&seed) % 1000) };
		l = l1_line_fit(p, nr);
		sum = l1_line_sum(p, nr, l);
		for (size_t i = 0; i < nr; i++)
			for (size_t k = i + 1; k < nr; k++) {
				struct l1_line o;

				if (p[i].x == p[k].x)
					continue;
				o.slope = (p[k].y - p[i].y) / (p[k].x - p[i].x);
				o.at_zero = p[i].y - o.slope * p[i].x;
				if (l1_line_sum(p, nr, o) < sum - 1e-6)
					fail_msg("case %d: %g < %g", (int)n, l1_line_sum(p, nr, o),
						 sum);
			}
		free(p);
	}
}

TEST(test_without_a_line)
{
	struct l1_point same[] = { { 5, 1 }, { 5, 9 }, { 5, 2 } };
	struct l1_line none = l1_line_fit(NULL, 0), flat = l1_line_fit(same, 3),
		       one = l1_line_fit(same, 1);

	assert_true(none.at_zero == 0 && none.slope == 0);
	assert_true(flat.at_zero == 2 && flat.slope == 0);
	assert_true(one.at_zero == 1 && one.slope == 0);
}
