/*
 * libprofrig_switch.so: passes the run's recording switch on to profilers that are switched from
 * inside the program only: rocprofv3 --selected-regions (roctxProfilerResume, roctxProfilerPause)
 * and nsys --capture-range=cudaProfilerApi (cuProfilerStart, cuProfilerStop of the driver library;
 * the runtime's cudaProfilerStart calls them).
 *
 * A thread per process waits for the flag to change (record.h) and calls those that the process
 * has. Libraries that are loaded later are found at the next look, once a second. The driver's
 * calls are about the context of the calling thread, so the first device's primary context that
 * the program has made is made this thread's; until there is one it is looked for more often. All
 * signals are blocked in the thread, and it ends when the process does.
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

#define LOOK_MS 1000
#define LOOK_SOON_MS 20
#define MAX_DEVICES 64

/* A pair of calls that some profiler listens to. */
struct profiler {
	const char *const *libraries; /* where they are looked for when they are not global */
	const char *on, *off;
	bool cuda; /* they take nothing and want a context; else 0, which means all threads */
	uint32_t told;
};

static const char *const roctx_libraries[] = { "librocprofiler-sdk-roctx.so.1",
					       "librocprofiler-sdk-roctx.so.0",
					       "librocprofiler-sdk-roctx.so", "libroctx64.so.4",
					       NULL };
static const char *const cuda_libraries[] = { "libcuda.so.1", NULL };

static struct profiler profilers[] = {
	{ roctx_libraries, "roctxProfilerResume", "roctxProfilerPause", false, 0 },
	{ cuda_libraries, "cuProfilerStart", "cuProfilerStop", true, 0 },
};

/* Never loads anything: only what the program has is of interest. */
static void *find_function(const struct profiler *p, const char *name)
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

/* A primary context that is there already becomes this thread's; none is made. */
static bool have_context(const struct profiler *p)
{
	int (*current)(void **) = (int (*)(void **))find_function(p, "cuCtxGetCurrent");
	int (*count)(int *) = (int (*)(int *))find_function(p, "cuDeviceGetCount");
	int (*state)(int, unsigned *, int *) =
		(int (*)(int, unsigned *, int *))find_function(p, "cuDevicePrimaryCtxGetState");
	int (*retain)(void **, int) =
		(int (*)(void **, int))find_function(p, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = (int (*)(void *))find_function(p, "cuCtxSetCurrent");
	void *ctx = NULL;
	int n = 0;

	if (!current || !count || !state || !retain || !set)
		return true; /* not the driver library as one knows it */
	if (current(&ctx) != 0 || count(&n) != 0)
		return false; /* the program has not begun with it */
	for (int d = 0; !ctx && d < n && d < MAX_DEVICES; d++) {
		unsigned flags;
		int active = 0;

		if (state(d, &flags, &active) == 0 && active && retain(&ctx, d) == 0)
			set(ctx);
	}
	return ctx != NULL;
}

/* Whether it has to be tried again soon: the library is there, and not ready. */
static bool switch_profiler(struct profiler *p, uint32_t on)
{
	void *f = p->told == on ? NULL : find_function(p, on ? p->on : p->off);

	if (!f)
		return false;
	if (p->cuda && !have_context(p))
		return true;
	if (p->cuda)
		((int (*)(void))f)();
	else
		((int (*)(uint64_t))f)(0);
	p->told = on;
	return false;
}

static void *switch_watch(void *unused)
{
	uint32_t seen;
	bool soon;

	(void)unused;
	do {
		soon = false;
		seen = record_on();
		for (size_t i = 0; i < sizeof(profilers) / sizeof(profilers[0]); i++)
			soon |= switch_profiler(&profilers[i], seen);
	} while (record_wait(seen, soon ? LOOK_SOON_MS : LOOK_MS));
	return NULL;
}

static void start_switch(void)
{
	sigset_t all, before;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(profilers) / sizeof(profilers[0]); i++)
		profilers[i].told = 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&thread, NULL, switch_watch, NULL) == 0)
		pthread_detach(thread);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	record_setup();
	if (!record_wait(!record_on(), 0))
		return;
	pthread_atfork(NULL, NULL, start_switch);
	start_switch();
}
