/*
 * Which mappings: those of /proc/self/maps that are shared, writable and of a file without a name.
 * By the time they are acted on other memory may lie there. msync then does nothing, and
 * MADV_PAGEOUT may write that memory to swap, from where it comes back: MADV_DONTNEED and
 * MADV_REMOVE, which are quicker, would destroy it.
 *
 * The search goes on where it ended the time before, so that all pages have their turn: which of
 * them are in use is not known.
 */
#include "spill_trim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/spill.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

/* Written out at a time. */
#define PIECE ((size_t)32 << 20)

static struct {
	atomic_uint_fast64_t budget;
	_Atomic(void (*)(const char *)) say;
	atomic_uint_fast64_t trims, most_bytes;
} trim;

/* Neither stdio nor malloc: this is asked inside allocations. */
struct spill_sizes spill_sizes(void)
{
	static _Atomic int fd = -1;
	uint64_t v[6] = { 0 }, page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[160];
	int at = atomic_load(&fd), none = -1;
	ssize_t n;
	size_t k = 0;

	if (at < 0) {
		at = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
		if (at >= 0 && !atomic_compare_exchange_strong(&fd, &none, at)) {
			close(at);
			at = none;
		}
	}
	n = at >= 0 ? pread(at, text, sizeof(text), 0) : -1;
	for (ssize_t i = 0; i < n && k < 6; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			v[k] = v[k] * 10 + (uint64_t)(text[i] - '0');
		else
			k++;
	}
	return (struct spill_sizes){ .resident = v[1] * page, .private = v[5] * page };
}

struct mapping {
	uintptr_t from, to;
};

struct mappings {
	struct mapping *v;
	size_t nr, cap;
	uint64_t bytes;
};

/* "7f0c-7f1c rw-s 00000000 fe:00 1095 /folder/#1095 (deleted)" */
static bool mapping_read(const char *line, struct mapping *ret)
{
	static const char gone[] = " (deleted)\n";
	const size_t len = strlen(line), tail = sizeof(gone) - 1;
	char *end;

	ret->from = strtoul(line, &end, 16);
	if (*end != '-')
		return false;
	ret->to = strtoul(end + 1, &end, 16);
	return strncmp(end, " rw-s ", 6) == 0 && len > tail && strcmp(line + len - tail, gone) == 0;
}

/* Memory that ends here is no reason to end the process: false. */
static bool mappings_add(struct mappings *m, const struct mapping *one)
{
	if (m->nr == m->cap) {
		size_t cap = m->cap * 2 + 64;
		struct mapping *v = realloc(m->v, cap * sizeof(*v));

		if (!v)
			return false;
		m->v = v;
		m->cap = cap;
	}
	m->v[m->nr++] = *one;
	m->bytes += one->to - one->from;
	return true;
}

static void mappings_find(struct mappings *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t cap = 0;
	struct mapping one;

	while (f && getline(&line, &cap, f) > 0)
		if (mapping_read(line, &one) && !mappings_add(m, &one))
			break;
	free(line);
	if (f)
		fclose(f);
}

/* Gives pages back until `wanted` are resident. False: the system has no such call. */
static bool mapping_let_go(const struct mapping *one, uintptr_t *hand, uint64_t wanted)
{
	uintptr_t at = *hand > one->from ? *hand : one->from;

	while (at < one->to && spill_sizes().resident > wanted) {
		size_t n = one->to - at < PIECE ? one->to - at : PIECE;

		msync((void *)at, n, MS_SYNC);
		if (madvise((void *)at, n, MADV_PAGEOUT) < 0 && errno == EINVAL)
			return false;
		at += n;
	}
	*hand = at;
	return true;
}

/* Once round all mappings, from the hand on. */
static bool mappings_let_go(const struct mappings *m, uintptr_t *hand, uint64_t wanted)
{
	const uintptr_t begun = *hand;

	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < m->nr; i++) {
			const struct mapping *one = &m->v[i];

			if (one->to <= *hand || (turn && one->from >= begun))
				continue;
			if (!mapping_let_go(one, hand, wanted))
				return false;
			if (spill_sizes().resident <= wanted)
				return true;
		}
		*hand = 0;
	}
	return true;
}

static void most_note(uint64_t bytes)
{
	if (bytes > atomic_load(&trim.most_bytes))
		atomic_store(&trim.most_bytes, bytes);
}

static void *trimmer_main(void *arg)
{
	const struct timespec pause = { .tv_nsec = SPILL_LOOK_MS * 1000000L };
	void (*say)(const char *);
	uintptr_t hand = 0;
	uint64_t begin = 0; /* resident bytes at which to act */
	bool can = true;

	(void)arg;
	while (can) {
		const uint64_t budget = atomic_load(&trim.budget);
		const uint64_t resident = spill_sizes().resident;
		struct mappings m = { NULL, 0, 0, 0 };

		nanosleep(&pause, NULL);
		if (!budget || resident <= budget)
			begin = budget;
		mappings_find(&m);
		most_note(m.bytes);
		if (budget && resident > begin) {
			can = mappings_let_go(&m, &hand, budget / 8 * 7);
			begin = spill_sizes().resident + budget / 8;
			begin = begin > budget ? begin : budget;
			atomic_fetch_add(&trim.trims, 1);
		}
		free(m.v);
	}
	say = atomic_load(&trim.say);
	if (say)
		say("this system cannot take back single pages (Linux before 5.4): more of the "
		    "memory that lies in files stays resident than --memory allows");
	return NULL;
}

void spill_trim_to(uint64_t budget_bytes, void (*say)(const char *text))
{
	atomic_store(&trim.say, say);
	atomic_store(&trim.budget, budget_bytes);
	atomic_store(&trim.trims, 0);
	atomic_store(&trim.most_bytes, 0);
}

static void trimmer_start(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	/* no handler of the program's runs in this thread; SIGBUS is that of whom it hits */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attr, trimmer_main, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void spill_trim_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, trimmer_start);
}

void spill_trim_use(uint64_t *ret_trims, uint64_t *ret_most_bytes)
{
	*ret_trims = atomic_load(&trim.trims);
	*ret_most_bytes = atomic_load(&trim.most_bytes);
}
