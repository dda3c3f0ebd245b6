/*
 * libprofrig_switch.so: passes the run's recording switch on to profilers that can only be switched
 * from inside the program: rocprofv3 --selected-regions (roctxProfilerResume, roctxProfilerPause)
 * and nsys --capture-range=cudaProfilerApi (cuProfilerStart, cuProfilerStop of the driver library;
 * the runtime's cudaProfilerStart calls them).
 *
 * A thread per process waits for the flag to change (record.h) and calls the functions that the
 * process has. Libraries loaded later are found at the next look, once a second. The driver's calls
 * use the context of the calling thread. So the first primary context that the program has made is
 * also set for this thread; until there is one, the looks are more frequent. All signals are
 * blocked in the thread, and it ends with the process.
 *
 * A look and a fork exclude each other. The child has the dynamic loader's tables as they are at
 * the fork, and one that is taken in the middle of dlopen() (glibc unmaps its cache of names, then
 * forgets it) crashes in the next. A fork waits at most FORK_WAITS_MS, as it may come from a
 * library's constructor: there the look itself waits for the loader, and has changed nothing.
 */
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

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
#define FORK_WAITS_MS 200
#define MAX_DEVICES 64

/* A pair of calls by which a profiler is switched. */
struct profiler {
	const char *const *libraries; /* searched when the calls are not global */
	const char *on, *off;
	bool cuda; /* the calls need a context; others take an argument, 0 for all threads */
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

/* Held by a look or by a fork. */
static bool looking;
static __thread bool fork_holds;

/* Returns whether it is held now; tries for at most `ms` (forever below 0). */
static bool hold_look(int ms)
{
	const struct timespec pause = { 0, 100000 };

	for (long tries = ms * 10L; __atomic_exchange_n(&looking, true, __ATOMIC_ACQUIRE);
	     tries--) {
		if (tries == 0)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void release_look(void)
{
	__atomic_store_n(&looking, false, __ATOMIC_RELEASE);
}

/* Loads no library: only those of the program matter. */
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

/* Sets an existing primary context for this thread; makes none. */
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
		return true; /* an unusual driver library */
	if (current(&ctx) != 0 || count(&n) != 0)
		return false; /* the program has not used CUDA yet */
	for (int d = 0; !ctx && d < n && d < MAX_DEVICES; d++) {
		unsigned flags;
		int active = 0;

		if (state(d, &flags, &active) == 0 && active && retain(&ctx, d) == 0)
			set(ctx);
	}
	return ctx != NULL;
}

/* Returns whether to try again soon: the library is loaded, but not ready. */
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
		hold_look(-1);
		for (size_t i = 0; i < sizeof(profilers) / sizeof(profilers[0]); i++)
			soon |= switch_profiler(&profilers[i], seen);
		release_look();
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

static void before_fork(void)
{
	fork_holds = hold_look(FORK_WAITS_MS);
}

static void after_fork(void)
{
	if (fork_holds)
		release_look();
}

/* In the child, where no other thread is left that could hold it. */
static void after_fork_child(void)
{
	release_look();
	start_switch();
}

__attribute__((constructor)) static void begin(void)
{
	record_setup();
	if (!record_wait(!record_on(), 0))
		return;
	pthread_atfork(before_fork, after_fork, after_fork_child);
	start_switch();
}
