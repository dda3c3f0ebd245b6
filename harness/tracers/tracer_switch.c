/*
 * libprofrig_switch.so: passes the run's recording switch on to profilers that are switched from
 * inside the program only: rocprofv3 --selected-regions (roctxProfilerResume, roctxProfilerPause)
 * and nsys --capture-range=cudaProfilerApi (cuProfilerStart, cuProfilerStop of the driver library;
 * the runtime's cudaProfilerStart calls them).
 *
 * A thread per process that has such a library waits for the flag to change (record.h) and calls
 * them. Libraries that are loaded later are found at the next look, once a second. All signals are
 * blocked in it, and it ends when the process does.
 */
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#if defined(__x86_64__)
#define OLD_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLD_VERSION "GLIBC_2.17"
#endif
__asm__(".symver dlsym,dlsym@" OLD_VERSION);
__asm__(".symver dlopen,dlopen@" OLD_VERSION);
__asm__(".symver dlclose,dlclose@" OLD_VERSION);
__asm__(".symver pthread_create,pthread_create@" OLD_VERSION);
__asm__(".symver pthread_detach,pthread_detach@" OLD_VERSION);

/* A pair of calls that some profiler listens to. */
struct profiler {
	const char *const *libraries; /* where they are looked for when they are not global */
	const char *on, *off;
	int argument; /* they take one, which is 0: all threads */
	uint32_t told;
};

static const char *const roctx_libraries[] = { "librocprofiler-sdk-roctx.so.1",
					       "librocprofiler-sdk-roctx.so.0",
					       "librocprofiler-sdk-roctx.so", "libroctx64.so.4",
					       NULL };
static const char *const cuda_libraries[] = { "libcuda.so.1", NULL };

static struct profiler profilers[] = {
	{ roctx_libraries, "roctxProfilerResume", "roctxProfilerPause", 1, 0 },
	{ cuda_libraries, "cuProfilerStart", "cuProfilerStop", 0, 0 },
};

/* Never loads anything: only what the program has is of interest. */
static void *find(const struct profiler *p, const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	for (size_t i = 0; !f && p->libraries[i]; i++) {
		void *h = dlopen(p->libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		f = h ? dlsym(h, name) : NULL;
		if (h && !f)
			dlclose(h);
	}
	return f;
}

static void tell(struct profiler *p, uint32_t on)
{
	void *f = p->told == on ? NULL : find(p, on ? p->on : p->off);

	if (!f)
		return;
	if (p->argument)
		((int (*)(uint64_t))f)(0);
	else
		((int (*)(void))f)();
	p->told = on;
}

static void *watch(void *unused)
{
	uint32_t seen;

	(void)unused;
	do {
		seen = record_on();
		for (size_t i = 0; i < sizeof(profilers) / sizeof(profilers[0]); i++)
			tell(&profilers[i], seen);
	} while (record_wait(seen));
	return NULL;
}

static void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(profilers) / sizeof(profilers[0]); i++)
		profilers[i].told = 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&thread, NULL, watch, NULL) == 0)
		pthread_detach(thread);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	record_setup();
	if (!record_wait(!record_on()))
		return;
	pthread_atfork(NULL, NULL, start);
	start();
}
