#include "profrig/base/hash_seed.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/mix.h"

static uint64_t seed;

static void seed_draw(void)
{
	/* where the kernel has no random numbers yet, early after booting */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = mix64((uint64_t)clock_monotonic_ns()) ^ mix64((uint64_t)getpid());
}

uint64_t hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, seed_draw);
	return seed;
}
