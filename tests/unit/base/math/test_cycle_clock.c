#include "test.h"

#include <math.h>

#include "profrig/base/cycle_clock.h"

#define MHZ 560.0

/* An event of a counter with this frequency, whose value at t = 0 is c0; modulo 2^32. */
static struct cycle_stamp stamp(int64_t start_ns, int64_t ns, double mhz, uint64_t c0,
				uint64_t order)
{
	uint64_t first = c0 + (uint64_t)llround((double)start_ns * mhz / 1e3);
	uint64_t last = c0 + (uint64_t)llround((double)(start_ns + ns) * mhz / 1e3);
	uint64_t turns = first / CYCLE_TURN * CYCLE_TURN;

	return (struct cycle_stamp){ start_ns, start_ns + ns, first - turns, last - turns, order,
				     0,        true };
}

TEST(inside_an_event)
{
	uint64_t wraps[] = { 0xfffffff0, 0xfffffffa, 5, 9, 9 };
	uint64_t twice[] = { 0xfffffff0, 5, 0xfffffff0, 7, 8 };
	uint64_t wrong[] = { 100, 200, 199, 300, 400 };

	assert_int_equal(cycle_unwrap(wraps, 5), 1);
	assert_int_equal(wraps[1], 0xfffffffa);
	assert_int_equal(wraps[2], CYCLE_TURN + 5);
	assert_int_equal(wraps[4], CYCLE_TURN + 9);
	assert_int_equal(cycle_unwrap(twice, 5), 2);
	assert_int_equal(twice[4], 2 * CYCLE_TURN + 8);
	assert_int_equal(cycle_unwrap(wrong, 5), -1);
}

/* Turns are counted across gaps in which several of them pass unseen. */
TEST(turns_that_no_event_sees)
{
	struct cycle_stamp v[40];
	struct cycle_clock c;
	int64_t t = 1000000000;

	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		v[i] = stamp(t, 200000, MHZ, 77, i);
		t += i % 8 == 7 ? INT64_C(25000000000) : 400000; /* a turn takes 7.67 s */
	}
	cycle_epochs(v, ARRAY_LEN(v));
	for (size_t i = 1; i < ARRAY_LEN(v); i++) {
		double ns = (double)(v[i].end_ns - v[i - 1].end_ns);

		if (fabs((double)(v[i].last - v[i - 1].last) - ns * MHZ / 1e3) > 2)
			fail_msg("event %zu", i);
	}
	c = cycle_clock_fit(v, ARRAY_LEN(v));
	assert_int_equal(c.flags, 0);
	assert_true(cycle_clock_holds(&c));
	assert_true(fabs(c.mhz - MHZ) < 1e-6);
	assert_int_equal(c.epochs, 13); /* 100.0 s of 7.67 */
	assert_int_equal(c.backwards, 0);
	assert_true(c.residual_ns < 2);
	assert_true(fabs(c.drift_ppm) < 0.1);
}

/* A fifth of the host's stamps are late by a millisecond; the line does not move. */
TEST(late_stamps_do_not_matter)
{
	struct cycle_stamp v[100];
	struct cycle_clock c;

	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		v[i] = stamp((int64_t)i * 5000000, 100000, MHZ, 12, i);
		if (i % 5 == 2) {
			v[i].start_ns += 1000000;
			v[i].end_ns += 1000000;
		}
	}
	cycle_epochs(v, ARRAY_LEN(v));
	c = cycle_clock_fit(v, ARRAY_LEN(v));
	assert_true(fabs(c.mhz - MHZ) < 1e-4);
	assert_true(c.residual_ns > 1.9e5 && c.residual_ns < 2.1e5);
}

TEST(drift)
{
	struct cycle_stamp v[64];
	struct cycle_clock c;

	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		double s = (double)i * 1e-2, later = i >= 32 ? s - 0.315 : 0;
		uint64_t first = (uint64_t)llround(s * 560e6 + later * 560e6 * 50e-6);

		v[i] = (struct cycle_stamp){ (int64_t)i * 10000000,
					     (int64_t)i * 10000000 + 1000000,
					     first,
					     first + 560000,
					     i,
					     0,
					     true };
	}
	cycle_epochs(v, ARRAY_LEN(v));
	c = cycle_clock_fit(v, ARRAY_LEN(v));
	assert_true(fabs(c.drift_ppm - 50) < 1);
}

TEST(what_a_file_has_backwards)
{
	struct cycle_stamp v[3] = { stamp(2000, 100, 1000, 0, 0), stamp(1000, 100, 1000, 0, 1),
				    stamp(1000, 100, 1000, 0, 2) };
	struct cycle_clock c;

	cycle_epochs(v, 3);
	assert_int_equal(v[0].order, 1);
	c = cycle_clock_fit(v, 3);
	assert_int_equal(c.zero_gaps, 2);
	assert_int_equal(c.interval.nr, 3);
	assert_true(c.interval.min == 1000 && c.interval.max == 1000);
	assert_true(c.mhz == 1000 && c.flags == 0);
}

TEST(what_is_no_clock)
{
	struct cycle_stamp one = stamp(5000, 100, 1000, 0, 0),
			   none = { 5, 5, 100, 500, 0, 0, true };
	struct cycle_stamp back[40];
	struct cycle_stamp varies[3] = { stamp(1000, 1000, 1000, 0, 0),
					 stamp(5000, 1000, 1000, 0, 1),
					 stamp(9000, 1000, 1000, 0, 2) };
	struct cycle_clock c = cycle_clock_fit(&one, 1);

	assert_int_equal(c.flags, CYCLE_FEW);
	assert_true(c.mhz == 1000);
	c = cycle_clock_fit(&none, 1); /* without a duration */
	assert_int_equal(c.flags, CYCLE_FEW);
	assert_true(isnan(c.mhz) && !cycle_clock_holds(&c));
	c = cycle_clock_fit(NULL, 0);
	assert_int_equal(c.flags, CYCLE_FEW);
	for (size_t i = 0; i < ARRAY_LEN(back); i++) /* one of them is 0.1 s behind */
		back[i] = stamp((int64_t)i * 20000, 100, 1000, i == 9 ? 100 : 100000000, i);
	cycle_epochs(back, ARRAY_LEN(back));
	c = cycle_clock_fit(back, ARRAY_LEN(back));
	assert_int_equal(c.flags & CYCLE_BACK, CYCLE_BACK);
	assert_int_equal(c.backwards, 1);
	assert_false(cycle_clock_holds(&c));
	varies[1].end_ns += 500;
	cycle_epochs(varies, 3);
	c = cycle_clock_fit(varies, 3);
	assert_int_equal(c.flags, CYCLE_VARIES);
}

/* Of more events than the line takes, evenly spaced ones count. */
TEST(many_events)
{
	size_t n = (size_t)3 * CYCLE_POINTS + 5;
	struct cycle_stamp *v = xcalloc(n, sizeof(*v));
	struct cycle_clock c;

	for (size_t i = 0; i < n; i++)
		v[i] = stamp((int64_t)i * 1000000, 1000, MHZ, 3, i);
	cycle_epochs(v, n);
	c = cycle_clock_fit(v, n);
	assert_true(fabs(c.mhz - MHZ) < 1e-6);
	assert_int_equal(c.epochs, 6);
	free(v);
}
