/* Values of one block that lie far apart. */
#include "test.h"

#include <math.h>

#include "profrig/base/block_spread.h"

TEST(blocks_that_are_too_wide)
{
	static const struct sample v[] = {
		{ 2000, 7 },
		{ 2101, 3 },
		{ 2000, 3 },
		{ 2099, 7 },
		{ 2500, 1 },
		{ 5000, SAMPLE_BLOCK_NONE },
		{ 1, SAMPLE_BLOCK_NONE },
		{ NAN, 1 },
		{ 0, 1 },
		{ -1, 7 },
		{ INFINITY, 3 },
		{ 2150, 3 },
		{ 1000, 1 },
		{ 2500, 1 },
		{ 1000, 1 },
	};
	struct block_spread *b;

	/* block 7 is 4.95 % wide */
	assert_int_equal(block_spreads(v, ARRAY_LEN(v), 0.05, &b), 2);
	assert_int_equal(b[0].block, 1);
	assert_int_equal(b[0].nr, 4);
	assert_true(b[0].low == 1000 && b[0].at_low == 12 && b[0].high == 2500 &&
		    b[0].at_high == 4);
	assert_int_equal(b[1].block, 3);
	assert_int_equal(b[1].nr, 3);
	assert_true(b[1].low == 2000 && b[1].at_low == 2 && b[1].high == 2150 &&
		    b[1].at_high == 11);
	free(b);
	assert_int_equal(block_spreads(v, ARRAY_LEN(v), 0.049, &b), 3);
	free(b);
	assert_int_equal(block_spreads(v, ARRAY_LEN(v), 2, &b), 0);
	free(b);
	assert_int_equal(block_spreads(NULL, 0, 0.05, &b), 0);
	free(b);
}
