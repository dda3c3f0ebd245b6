#include "base_test.h"

#include <sys/resource.h>

#include "profrig/base/clock.h"
#include "profrig/base/metronome.h"

#define PERIOD NS_PER_MS

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Waits for every beat of n; never before its time, and on time at least once in four. */
static void keep_time(struct metronome *m, int64_t start, int n)
{
	int on_time = 0;

	for (int k = 0; k < n; k++) {
		int64_t t = start + k * PERIOD;
		bool past = clock_monotonic_ns() >= t;
		int64_t late;

		metronome_wait(m, t);
		late = clock_monotonic_ns() - t;
		assert_true(late >= 0);
		on_time += !past && late < PERIOD;
	}
	assert_true(on_time > n / 4);
}

TEST(test_beats)
{
	int before = open_descriptors();
	int64_t start = clock_monotonic_ns() + 5 * PERIOD;
	struct metronome m;

	metronome_start(&m, start, PERIOD);
	assert_int_equal(open_descriptors(), before + 2);
	keep_time(&m, start, 200);
	metronome_release(&m);
	assert_int_equal(open_descriptors(), before);
	/* again is nothing */
	metronome_release(&m);
	assert_int_equal(open_descriptors(), before);
}

/* What was not waited for, by one beat or several, odd or even, does not wake who waits later. */
TEST(test_beats_left_out)
{
	int64_t start = clock_monotonic_ns();
	struct metronome m;

	metronome_start(&m, start, PERIOD);
	for (int left_out = 0; left_out < 8; left_out++)
		for (int i = 0; i < 5; i++) {
			int64_t t, k;

			clock_sleep_until_ns(clock_monotonic_ns() + left_out * PERIOD + PERIOD / 2);
			k = (clock_monotonic_ns() - start) / PERIOD + 1;
			t = start + k * PERIOD;
			metronome_wait(&m, t);
			assert_true(clock_monotonic_ns() >= t);
			/* and no beat is waited for twice */
			metronome_wait(&m, t);
			metronome_wait(&m, t - 3 * PERIOD);
		}
	metronome_release(&m);
}

TEST(test_start_in_the_past)
{
	struct metronome m;
	int64_t now = clock_monotonic_ns(), next = now / PERIOD * PERIOD + 20 * PERIOD;

	metronome_start(&m, 0, PERIOD);
	metronome_wait(&m, 0);
	metronome_wait(&m, PERIOD);
	keep_time(&m, next, 20);
	metronome_release(&m);
}

/* Without descriptors, or with one only, the times are the same. */
TEST(test_no_descriptors)
{
	for (rlim_t room = 0; room < 2; room++) {
		int64_t start = clock_monotonic_ns() + 5 * PERIOD;
		int lowest = dup(0), before = open_descriptors();
		struct rlimit old, few;
		struct metronome m;

		assert_true(lowest >= 0);
		close(lowest);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
		few = (struct rlimit){ (rlim_t)lowest + room, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		metronome_start(&m, start, PERIOD);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_true(m.fd[0] < 0 && m.fd[1] < 0);
		assert_int_equal(open_descriptors(), before - 1);
		keep_time(&m, start, 50);
		metronome_release(&m);
	}
}
