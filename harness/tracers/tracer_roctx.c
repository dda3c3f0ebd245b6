/*
 * libprofrig_roctx.so: the roctx marker calls without ROCm. Marked-up code gives spans on any
 * machine.
 *
 * Preloaded, it provides the calls to programs that were linked with -lroctx64 or look them up
 * weakly. Its soname is that of ROCm's own library, so a program that needs libroctx64.so.4 starts
 * in an image without it. When another roctx follows in the search order, calls are passed on to
 * it, too.
 *
 * push/pop → B/E of the calling thread, written when they happen, so that the file shows the open
 * ranges after a kill. start/stop → async b/e by id. mark → instant. A range that begins while
 * recording is paused is not written, and neither is its end. A range that began before gets its
 * end also during a pause.
 */
#include "record.h"
#include "spool.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#endif

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
roctx_range_id_t roctxRangeStartA(const char *message);
void roctxRangeStop(roctx_range_id_t id);
int roctxProfilerPause(roctx_thread_id_t tid);
int roctxProfilerResume(roctx_thread_id_t tid);
int roctxNameOsThread(const char *name);
int roctxGetThreadId(roctx_thread_id_t *tid);

static __thread int depth __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void)
{
	record_setup();
	spool_setup("roctx", "PROFRIG_ROCTX_OUT");
}

/*
 * Ranges of this thread that were not written, by level, and ranges between threads, by id. Deeper
 * levels, and older ids that are still open, count as written.
 */
#define LEVELS 256
#define IDS 4096
static __thread uint64_t unwritten[LEVELS / 64] __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t unwritten_id[IDS];

static bool begin_level(int level)
{
	bool on = level < 0 || level >= LEVELS || record_on();

	if (level >= 0 && level < LEVELS) {
		unwritten[level / 64] &= ~(UINT64_C(1) << level % 64);
		unwritten[level / 64] |= (uint64_t)!on << level % 64;
	}
	return on;
}

static bool end_level(int level)
{
	return level < 0 || level >= LEVELS || !(unwritten[level / 64] >> level % 64 & 1);
}

static bool begin_id(roctx_range_id_t id)
{
	bool on = record_on();

	if (!on)
		atomic_store(&unwritten_id[id % IDS], id + 1);
	return on;
}

static bool end_id(roctx_range_id_t id)
{
	uint64_t mine = id + 1;

	return !atomic_compare_exchange_strong(&unwritten_id[id % IDS], &mine, 0);
}

/* The same call in a roctx library further down, or NULL. */
#define NEXT(f) \
	static __typeof__(f) *next; \
	static atomic_int looked; \
	if (!atomic_load_explicit(&looked, memory_order_acquire)) { \
		next = (__typeof__(f) *)dlsym(RTLD_NEXT, #f); \
		atomic_store_explicit(&looked, 1, memory_order_release); \
	}

static void range_event(char ph, const char *name, roctx_range_id_t id)
{
	struct spool_line l;

	if (!spool_enabled())
		return;
	spool_begin(&l, ph, spool_now_ns(), -1);
	if (name)
		spool_str(&l, "name", name);
	spool_str(&l, "cat", "roctx");
	if (ph == 'b' || ph == 'e')
		spool_int(&l, "id", (int64_t)id);
	if (ph == 'i')
		spool_str(&l, "s", "t");
	spool_commit(&l);
}

uint32_t roctx_version_major(void)
{
	return 4;
}

uint32_t roctx_version_minor(void)
{
	return 1;
}

void roctxMarkA(const char *message)
{
	NEXT(roctxMarkA)
	if (record_on())
		range_event('i', message ? message : "", 0);
	if (next)
		next(message);
}

/* Returns the level of the new range, 0 for the outermost. */
int roctxRangePushA(const char *message)
{
	NEXT(roctxRangePushA)
	if (begin_level(depth))
		range_event('B', message ? message : "", 0);
	if (next)
		next(message);
	return depth++;
}

/* Returns the level of the ended range, -1 when none is open (no event is written then). */
int roctxRangePop(void)
{
	NEXT(roctxRangePop)
	if (next)
		next();
	if (depth == 0)
		return -1;
	if (end_level(--depth))
		range_event('E', NULL, 0);
	return depth;
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
	static _Atomic uint64_t last;
	NEXT(roctxRangeStartA)
	roctx_range_id_t id = next ? next(message) : atomic_fetch_add(&last, 1) + 1;

	if (begin_id(id))
		range_event('b', message ? message : "", id);
	return id;
}

void roctxRangeStop(roctx_range_id_t id)
{
	NEXT(roctxRangeStop)
	if (end_id(id))
		range_event('e', "", id);
	if (next)
		next(id);
}

int roctxProfilerPause(roctx_thread_id_t tid)
{
	NEXT(roctxProfilerPause)
	return next ? next(tid) : 0;
}

int roctxProfilerResume(roctx_thread_id_t tid)
{
	NEXT(roctxProfilerResume)
	return next ? next(tid) : 0;
}

int roctxNameOsThread(const char *name)
{
	NEXT(roctxNameOsThread)
	struct spool_line l;

	if (spool_enabled()) {
		spool_begin(&l, 'M', 0, -1);
		spool_str(&l, "name", "thread_name");
		spool_args(&l);
		spool_str(&l, "name", name ? name : "");
		spool_commit(&l);
	}
	return next ? next(name) : 0;
}

int roctxGetThreadId(roctx_thread_id_t *tid)
{
	NEXT(roctxGetThreadId)
	if (next)
		return next(tid);
	*tid = (roctx_thread_id_t)syscall(SYS_gettid);
	return 0;
}
