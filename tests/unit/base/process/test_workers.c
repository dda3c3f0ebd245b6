#include "test.h"

#include "profrig/base/workers.h"

struct tally {
	unsigned char done[1000]; /* by job */
	size_t by_worker[WORKERS_MAX];
	unsigned workers;
};

static void job_count(void *ctx, size_t i, unsigned worker)
{
	struct tally *t = ctx;

	assert_true(worker < t->workers);
	t->done[i]++;
	t->by_worker[worker] += i;
}

/* Every job once, whatever there is of workers and jobs, one run after the other. */
TEST(test_each_job_once)
{
	static const unsigned pools[] = { 1, 2, 3, 8 };
	static const size_t jobs[] = { 0, 1, 2, 7, 1000 };

	for (size_t p = 0; p < ARRAY_LEN(pools); p++) {
		CLEANUP(workers_freep) struct workers *w = workers_new(pools[p]);

		assert_int_equal(workers_count(w), pools[p]);
		for (size_t k = 0; k < 50; k++) {
			struct tally t = { .workers = pools[p] };
			size_t n = jobs[k % ARRAY_LEN(jobs)], sum = 0;

			workers_run(w, n, job_count, &t);
			for (size_t i = 0; i < ARRAY_LEN(t.done); i++)
				assert_int_equal(t.done[i], i < n);
			for (size_t i = 0; i < ARRAY_LEN(t.by_worker); i++)
				sum += t.by_worker[i];
			assert_int_equal(sum, n ? n * (n - 1) / 2 : 0);
		}
	}
}

static void job_slow(void *ctx, size_t i, unsigned worker)
{
	unsigned *worker_of = ctx;

	usleep(20000);
	worker_of[i] = worker;
}

/* Jobs that wait are waited for side by side. */
TEST(test_several_at_once)
{
	CLEANUP(workers_freep) struct workers *w = workers_new(4);
	unsigned worker_of[16], seen = 0;

	workers_run(w, ARRAY_LEN(worker_of), job_slow, worker_of);
	for (size_t i = 0; i < ARRAY_LEN(worker_of); i++)
		seen |= 1U << worker_of[i];
	assert_true((seen & (seen - 1)) != 0);
}

TEST(test_default)
{
	CLEANUP(workers_freep) struct workers *w = workers_new(0), *many = workers_new(100000);

	assert_true(workers_count(w) >= 1);
	assert_true(workers_count(many) <= WORKERS_MAX);
	workers_free(NULL);
}
