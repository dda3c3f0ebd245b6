/*
 * Preloaded: one allocation of profrig finds no memory. Allocations are told apart by their call
 * stacks, so that each place in the code, and each way to it, fails once, however often it runs.
 *
 *	NO_MEMORY_LIST=FILE	fails nothing; writes one line for each call stack, in order
 *	NO_MEMORY_AT=STACK	the first allocation with that call stack fails …
 *	NO_MEMORY_STAYS=1	… and so does every later one of the process
 *	NO_MEMORY_HIT=FILE	gets the call stack when it failed
 *
 * Only the process that is called profrig counts, not what it starts. What libc maps for itself is
 * not seen; what profrig maps is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEPTH 24
#define SLOTS 65536

/* NOLINTBEGIN(bugprone-reserved-identifier): libc's own names */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
/* NOLINTEND(bugprone-reserved-identifier) */

static pid_t me;
static int list = -1;
static const char *hit;
static uint64_t at;
static bool stays;
static _Atomic(uint64_t) seen[SLOTS];
static atomic_bool failed;
static _Thread_local bool inside;
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static void *(*real_mremap)(void *, size_t, size_t, int, ...);

/* Where the libraries lie differs from run to run; how far into one a call is does not. */
static struct {
	uintptr_t from, to;
} modules[64];
static size_t nr_modules;

static int module_add(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && nr_modules < 64) {
			modules[nr_modules].from = info->dlpi_addr + h->p_vaddr;
			modules[nr_modules++].to = info->dlpi_addr + h->p_vaddr + h->p_memsz;
		}
	}
	return 0;
}

static uintptr_t place_of(const void *p)
{
	const uintptr_t a = (uintptr_t)p;

	for (size_t i = 0; i < nr_modules; i++)
		if (a >= modules[i].from && a < modules[i].to)
			return (i << 40) + (a - modules[i].from);
	return 0;
}

static void __attribute__((constructor)) begin(void)
{
	void *stack[DEPTH];
	const char *s;

	inside = true;
	real_mmap = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	real_mremap = (void *(*)(void *, size_t, size_t, int, ...))dlsym(RTLD_NEXT, "mremap");
	backtrace(stack, DEPTH); /* loads what it needs */
	dl_iterate_phdr(module_add, NULL);
	s = strrchr(program_invocation_name, '/');
	if (!strcmp(s ? s + 1 : program_invocation_name, "profrig")) {
		if ((s = getenv("NO_MEMORY_AT")))
			at = strtoull(s, NULL, 16);
		if ((s = getenv("NO_MEMORY_LIST")))
			list = open(s, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		stays = getenv("NO_MEMORY_STAYS");
		hit = getenv("NO_MEMORY_HIT");
		if (at || list >= 0)
			me = getpid();
	}
	inside = false;
}

static uint64_t stack_hash(void *const *stack, int n)
{
	uint64_t h = 14695981039346656037ull;

	for (int i = 2; i < n; i++)
		h = (h ^ place_of(stack[i])) * 1099511628211ull;
	return h ? h : 1;
}

static bool first_time(uint64_t h)
{
	for (size_t i = h % SLOTS;; i = (i + 1) % SLOTS) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&seen[i], &none, h))
			return true;
		if (none == h)
			return false;
	}
}

static __attribute__((noinline)) bool fails(void)
{
	void *stack[DEPTH];
	bool yes = false;
	uint64_t h;
	int n;

	if (!me || inside)
		return false;
	/* Once it failed no call stack is looked for any more, which is most of what this costs. */
	if (atomic_load(&failed))
		return stays && getpid() == me;
	inside = true;
	if (getpid() == me) {
		n = backtrace(stack, DEPTH);
		h = stack_hash(stack, n);
		if (list >= 0 && first_time(h))
			dprintf(list, "%016llx\n", (unsigned long long)h);
		yes = h == at && !atomic_exchange(&failed, true);
		if (yes && hit) {
			int fd = open(hit, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

			backtrace_symbols_fd(stack + 2, n - 2, fd);
			close(fd);
		}
	}
	inside = false;
	return yes;
}

void *malloc(size_t n)
{
	if (!fails())
		return __libc_malloc(n);
	errno = ENOMEM;
	return NULL;
}

void *calloc(size_t n, size_t size)
{
	if (!fails())
		return __libc_calloc(n, size);
	errno = ENOMEM;
	return NULL;
}

void *realloc(void *p, size_t n)
{
	if (!fails())
		return __libc_realloc(p, n);
	errno = ENOMEM;
	return NULL;
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) && !fails())
		return __libc_realloc(p, bytes);
	errno = ENOMEM;
	return NULL;
}

void *memalign(size_t align, size_t n); /* <malloc.h> has attributes that no wrapper keeps */
void *memalign(size_t align, size_t n)
{
	if (!fails())
		return __libc_memalign(align, n);
	errno = ENOMEM;
	return NULL;
}

void *aligned_alloc(size_t align, size_t n)
{
	if (!fails())
		return __libc_memalign(align, n);
	errno = ENOMEM;
	return NULL;
}

int posix_memalign(void **p, size_t align, size_t n)
{
	void *q = fails() ? NULL : __libc_memalign(align, n);

	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (!fails())
		return real_mmap(p, n, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

void *mremap(void *p, size_t was, size_t n, int flags, ...)
{
	va_list ap;
	void *to;

	va_start(ap, flags);
	to = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	if (!fails())
		return real_mremap(p, was, n, flags, to);
	errno = ENOMEM;
	return MAP_FAILED;
}
