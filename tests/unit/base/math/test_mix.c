#include "test.h"

/* What the authors' own program prints for this state. */
TEST(the_known_row)
{
	static const uint64_t row[] = {
		UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint64_t now = 1234567;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		assert_true(mix64(now) == row[i]);
		assert_true(splitmix64(&now) == row[i]);
	}
}
