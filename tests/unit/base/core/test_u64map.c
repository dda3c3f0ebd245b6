#include "base_test.h"

#include "profrig/base/u64map.h"

TEST(test_numbering)
{
	CLEANUP(u64map_release) struct u64map map = U64MAP_INIT;
	uint32_t next = 0;

	u64map_ahead(&map, 7); /* of an empty one, too */
	for (int round = 0; round < 2; round++) {
		for (uint32_t a = 0; a < 100; a++) {
			for (uint32_t b = 0; b < 100; b++) {
				uint32_t *v;

				u64map_ahead(&map, u64map_pair(a, b + 16));
				v = u64map_at(&map, u64map_pair(a, b));

				if (*v == U64MAP_NONE) {
					assert_int_equal(round, 0);
					*v = next++;
				}
				assert_int_equal(*v, a * 100 + b);
			}
		}
	}
	assert_int_equal(map.nr, 10000);
	assert_int_equal(u64map_get(&map, u64map_pair(99, 98)), 9998);
	assert_int_equal(u64map_get(&map, u64map_pair(98, 100)), U64MAP_NONE);
	assert_true(map.nr * 4 <= map.cap * 3);
}

/* Keys that are all alike in the bits a table looks at first, and the outermost ones. */
TEST(test_odd_keys)
{
	CLEANUP(u64map_release) struct u64map map = U64MAP_INIT;

	assert_int_equal(u64map_get(&map, 0), U64MAP_NONE);
	for (uint32_t i = 0; i < 3000; i++)
		*u64map_at(&map, (uint64_t)i << 40) = i;
	*u64map_at(&map, UINT64_MAX) = 7;
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(u64map_get(&map, (uint64_t)i << 40), i);
	assert_int_equal(u64map_get(&map, UINT64_MAX), 7);
	assert_int_equal(u64map_get(&map, 1), U64MAP_NONE);
	u64map_release(&map);
	assert_int_equal(u64map_get(&map, UINT64_MAX), U64MAP_NONE);
}

/*
 * Keys that would all fall into one place, were the table's multiplier all there is: multiples of
 * its inverse. They are spread as random ones are: n places of 2 n hold 0.79 n.
 */
TEST(test_chosen_keys)
{
	CLEANUP(u64map_release) struct u64map map = U64MAP_INIT;
	CLEANUP(u64map_release) struct u64map places = U64MAP_INIT;
	const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t inverse = multiplier; /* right in 3 bits; each round doubles them */
	enum { N = 100000 };

	for (int i = 0; i < 5; i++)
		inverse *= 2 - multiplier * inverse;
	assert_true(multiplier * inverse == 1);
	for (uint32_t i = 0; i < N; i++)
		*u64map_at(&map, i * inverse) = i;
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(u64map_get(&map, i * inverse), i);
		*u64map_at(&places, u64map_place(&map, i * inverse)) = 0;
	}
	assert_true(places.nr > N / 2);
}
