#include "profrig/base/map_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/base/xalloc.h"

/* begin is written last and cleared first: the handler looks without the lock. */
struct guarded {
	_Atomic uintptr_t begin;
	size_t len;
	char *name;
	atomic_bool lost;
};

static struct guarded guarded[MAP_GUARD_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lost_name; /* of a guarded file that was released meanwhile */

/* mmap is a plain system call, so a signal handler may use it. */
static bool hole_fill(struct guarded *g, uintptr_t begin, uintptr_t at)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = at & ~(page - 1), end = (begin + g->len + page - 1) & ~(page - 1);
	void *p = mmap((void *)from, end - from, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED)
		atomic_store(&g->lost, true);
	return p != MAP_FAILED;
}

static void on_sigbus(int sig, siginfo_t *si, void *context)
{
	uintptr_t at = (uintptr_t)si->si_addr;

	(void)context;
	for (size_t i = 0; i < MAP_GUARD_MAX; i++) {
		uintptr_t begin = atomic_load(&guarded[i].begin);

		if (begin && at >= begin && at - begin < guarded[i].len &&
		    hole_fill(&guarded[i], begin, at))
			return;
	}
	/* A fault elsewhere: the same access again ends the process. */
	signal(sig, SIG_DFL);
}

static void set_handler(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

void map_guard(const void *p, size_t len, const char *name)
{
	pthread_mutex_lock(&lock);
	set_handler();
	for (size_t i = 0; i < MAP_GUARD_MAX && len > 0; i++) {
		struct guarded *g = &guarded[i];

		if (atomic_load(&g->begin))
			continue;
		g->len = len;
		g->name = xstrdup(name);
		atomic_store(&g->lost, false);
		atomic_store(&g->begin, (uintptr_t)p);
		break;
	}
	pthread_mutex_unlock(&lock);
}

static void guarded_note(struct guarded *g)
{
	if (!atomic_exchange(&g->lost, false))
		return;
	free(lost_name);
	lost_name = xstrdup(g->name);
}

void map_let_go(const void *p)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAP_GUARD_MAX; i++) {
		struct guarded *g = &guarded[i];

		if (!p || atomic_load(&g->begin) != (uintptr_t)p)
			continue;
		atomic_store(&g->begin, 0);
		guarded_note(g);
		free(g->name);
		break;
	}
	pthread_mutex_unlock(&lock);
}

char *map_lost(void)
{
	char *name;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAP_GUARD_MAX; i++)
		if (atomic_load(&guarded[i].begin))
			guarded_note(&guarded[i]);
	name = lost_name;
	lost_name = NULL;
	pthread_mutex_unlock(&lock);
	return name;
}
