/*
 * flock that takes SLOW_FLOCK_MS more (preloaded): what others do between the making of a file and
 * its lock has the time to happen.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>

int flock(int fd, int operation)
{
	int (*real)(int, int);
	const char *ms = getenv("SLOW_FLOCK_MS");
	long n = ms ? strtol(ms, NULL, 10) : 0;
	struct timespec ts = { .tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000 };

	*(void **)&real = dlsym(RTLD_NEXT, "flock");
	nanosleep(&ts, NULL);
	return real(fd, operation);
}
