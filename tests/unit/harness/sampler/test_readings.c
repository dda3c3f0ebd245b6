/* Readings on their way from one thread to another, and the even sample of intervals. */
#include "read_periods.h"
#include "readings.h"
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

/* Two devices, of three series and of one. */
static const struct sampler_device devices[] = { { .nr = 3 }, { .nr = 1 } };

static void reading_add(struct readings *r, int64_t number)
{
	struct reading *rd = readings_next(r);

	rd->t_ns = number;
	rd->code = (int)(number % 3);
	for (size_t i = 0; i < devices[rd->device].nr; i++)
		rd->v[i] = (double)number + (double)i / 4;
	readings_add(r);
}

/* The reading of that number, to the last value. */
static void readings_check(const struct reading *rd, int64_t number)
{
	assert_non_null(rd);
	assert_int_equal(rd->t_ns, number);
	assert_int_equal(rd->device, number % 2);
	assert_int_equal(rd->code, number % 3);
	for (size_t i = 0; i < devices[rd->device].nr; i++)
		assert_int_equal(llround(rd->v[i] * 4), number * 4 + (int64_t)i);
}

TEST(in_order)
{
	struct readings r;
	int64_t added = 0, taken = 0;

	readings_init(&r, devices, 2);
	assert_null(readings_take(&r));
	/* rounds until it is full, some taken in between: every place comes to be used */
	for (int lap = 0; lap < 50; lap++) {
		while (!readings_full(&r)) {
			assert_true(added - taken < 100);
			reading_add(&r, added++);
			reading_add(&r, added++);
		}
		for (int k = 0; k < 1 + lap % 7; k++)
			readings_check(readings_take(&r), taken++);
	}
	assert_true(added > 50);
	while (taken < added)
		readings_check(readings_take(&r), taken++);
	assert_null(readings_take(&r));
	assert_false(readings_full(&r));
	readings_release(&r);
}

TEST(without_devices)
{
	struct readings r;

	readings_init(&r, NULL, 0);
	assert_null(readings_take(&r));
	assert_false(readings_full(&r));
	readings_release(&r);
}

#define SHARED 200000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread_adds(void *arg)
{
	struct readings *r = arg;

	for (int64_t k = 0; k < SHARED;) {
		bool full;

		pthread_mutex_lock(&lock);
		full = readings_full(r);
		pthread_mutex_unlock(&lock);
		if (full) {
			sched_yield();
			continue;
		}
		reading_add(r, k++);
		reading_add(r, k++);
	}
	return NULL;
}

TEST(between_threads)
{
	struct readings r;
	pthread_t thread;
	int64_t taken = 0;

	readings_init(&r, devices, 2);
	assert_int_equal(pthread_create(&thread, NULL, thread_adds, &r), 0);
	while (taken < SHARED) {
		const struct reading *rd;
		bool some = false;

		pthread_mutex_lock(&lock);
		while ((rd = readings_take(&r))) {
			readings_check(rd, taken++);
			some = true;
		}
		pthread_mutex_unlock(&lock);
		if (!some)
			sched_yield();
	}
	pthread_join(thread, NULL);
	assert_null(readings_take(&r));
	readings_release(&r);
}

TEST(median_of_read_periods)
{
	struct read_periods i;

	read_periods_init(&i);
	assert_int_equal(read_periods_median(&i), 0);
	read_periods_add(&i, 30);
	read_periods_add(&i, 10);
	read_periods_add(&i, 20);
	assert_int_equal(read_periods_median(&i), 20);
	read_periods_release(&i);
}

/* A million, rising: the sample stays small and even, so its median stays in the middle. */
TEST(median_of_many_intervals)
{
	struct read_periods i;

	read_periods_init(&i);
	for (int64_t k = 0; k < 1000000; k++)
		read_periods_add(&i, k);
	assert_in_range(i.kept.nr, 32768, 65536);
	assert_in_range(read_periods_median(&i), 500000 - 64, 500000 + 64);
	assert_int_equal(i.kept.v[0], 0);
	assert_int_equal(i.kept.v[i.kept.nr - 1] % (int64_t)i.stride, 0);
	read_periods_release(&i);
}
