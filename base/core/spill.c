#include "profrig/base/spill.h"
#include "spill_trim.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define OTHER_MALLOC 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OTHER_MALLOC 1
#endif

#define TMPFS 0x01021994
#define RAMFS 0x858458f6
#define HUGETLBFS 0x958458f6

#define MAX_FOLDERS 4
/* Moved at a time: of two blocks this much is there twice. */
#define MOVE_BYTES ((size_t)8 << 20)

struct place {
	char *path; /* NULL: no such place */
	int dir;    /* -1: not open */
};

static struct {
	atomic_size_t share; /* private bytes from which on blocks lie in files; 0: off */
	pthread_mutex_t lock;
	/* under the lock */
	struct place places[MAX_FOLDERS];
	bool looked; /* at the places: those that take files are open */
	bool refused_said;
	void (*say)(const char *text);
	struct spill_use use;
} spill = { .lock = PTHREAD_MUTEX_INITIALIZER };

void spill_use(struct spill_use *ret)
{
	pthread_mutex_lock(&spill.lock);
	*ret = spill.use;
	pthread_mutex_unlock(&spill.lock);
	spill_trim_use(&ret->trims, &ret->most_bytes);
}

/* ---- files ---- */

/* A new file without a name in the folder dir; -errno. */
static int file_make(int dir)
{
	char name[64];
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), ".profrig-%ld-m%u.tmp", (long)getpid(), i);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0) {
			unlinkat(dir, name, 0);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Frees nothing: what lies in such a folder is memory. */
static bool in_memory(int dir)
{
	struct statfs st;

	if (fstatfs(dir, &st) < 0)
		return true;
	return st.f_type == TMPFS || (uint32_t)st.f_type == RAMFS ||
	       (uint32_t)st.f_type == HUGETLBFS;
}

/* The folder, or the nearest above it that is there. */
static int folder_open(char *path)
{
	for (;;) {
		int fd = door_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
		char *slash = strrchr(path, '/');

		if (fd >= 0 || errno != ENOENT || !slash || path[1] == '\0')
			return fd;
		slash[slash == path] = '\0';
	}
}

/* Opens the folders that take files, once. */
static void places_look(void)
{
	for (size_t i = 0; !spill.looked && i < MAX_FOLDERS && spill.places[i].path; i++) {
		CLEANUP(xclosep) int dir = folder_open(spill.places[i].path), fd = -1;

		if (dir < 0 || in_memory(dir))
			continue;
		fd = file_make(dir);
		if (fd < 0)
			continue;
		spill.places[i].dir = dir;
		dir = -1;
	}
	spill.looked = true;
}

/* Space on the disk, so that no page can fail later. The signal of RLIMIT_FSIZE would end the
 * process: it is asked for first. */
static int file_reserve(int fd, size_t n)
{
	struct rlimit most;
	struct statfs st;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
	    n > most.rlim_cur)
		return EFBIG;
	if (fstatfs(fd, &st) < 0)
		return errno;
	if ((uint64_t)st.f_bavail * (uint64_t)st.f_bsize < n + SPILL_LEAVES)
		return ENOSPC;
	return posix_fallocate(fd, 0, (off_t)n);
}

/* A file of n bytes in the first folder that has the space; -errno, -ENODEV: no folder will do. */
static int file_find(size_t n)
{
	int r = -ENODEV;

	places_look();
	for (size_t i = 0; i < MAX_FOLDERS; i++) {
		const struct place *pl = &spill.places[i];
		CLEANUP(xclosep) int fd = pl->path && pl->dir >= 0 ? file_make(pl->dir) : -1;
		int failed = fd < 0 ? 0 : file_reserve(fd, n);

		if (fd < 0)
			continue;
		snprintf(spill.use.folder, sizeof(spill.use.folder), "%s", pl->path);
		if (failed) {
			r = -failed;
			continue;
		}
		r = fd;
		fd = -1;
		return r;
	}
	return r;
}

static void refused_say(int code)
{
	char text[512];

	spill.use.refused++;
	if (spill.refused_said || !spill.say)
		return;
	spill.refused_said = true;
	if (code != ENODEV)
		snprintf(text, sizeof(text),
			 "more memory is taken than --memory allows: no space in %s: %s",
			 spill.use.folder, strerror(code));
	else
		snprintf(text, sizeof(text),
			 "more memory is taken than --memory allows: no folder on a disk takes "
			 "files (TMPDIR may name one)");
	spill.say(text);
}

/* Pages of a new file in place of those at p. A failed mmap may have removed what was there. */
static int pages_replace(void *p, size_t n)
{
	CLEANUP(xclosep) int fd = file_find(n);
	int r;

	if (fd < 0)
		return fd;
	if (mmap(p, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		return 0;
	r = -errno;
	if (mmap(p, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		xalloc_failed();
	return r;
}

bool spill_map(void *p, size_t n)
{
	int r;

	pthread_mutex_lock(&spill.lock);
	r = pages_replace(p, n);
	if (r == 0) {
		spill.use.blocks++;
		spill.use.bytes += n;
	} else {
		refused_say(-r);
	}
	pthread_mutex_unlock(&spill.lock);
	if (r == 0)
		spill_trim_begin();
	return r == 0;
}

/* ---- blocks of malloc's ---- */

/* From here on every large block is a mapping, and none a part of a heap. */
static void blocks_apart(void)
{
#ifndef OTHER_MALLOC
	mallopt(M_MMAP_THRESHOLD, (int)SPILL_BLOCK);
	malloc_trim(0);
#endif
}

bool spill_wanted(size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const size_t share = atomic_load_explicit(&spill.share, memory_order_relaxed);

	if (!share || n < SPILL_BLOCK || spill_sizes().private + n < share)
		return false;
	pthread_once(&once, blocks_apart);
	return true;
}

/*
 * The pages behind the first, which has malloc's own words. Three signs tell a block that is a
 * mapping of glibc's from all others: it begins 16 bytes into a page, its room ends with a page,
 * and the bit IS_MMAPPED of the word in front of it is set. Pages inside a heap must stay what they
 * are: glibc takes what it gave back to the system for zeros when it comes again.
 */
static bool block_pages(void *p, char **ret_at, size_t *ret_n)
{
#ifndef OTHER_MALLOC
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), head = 2 * sizeof(size_t);
	size_t all, word;

	if (((uintptr_t)p - head) % page != 0)
		return false;
	all = malloc_usable_size(p) + head;
	memcpy(&word, (char *)p - sizeof(word), sizeof(word));
	if (all % page != 0 || all <= page || !(word & 2))
		return false;
	*ret_at = (char *)p - head + page;
	*ret_n = all - page;
	return true;
#else
	(void)p;
	(void)ret_at;
	(void)ret_n;
	return false;
#endif
}

static bool block_place(void *p)
{
	char *at;
	size_t n;

	return block_pages(p, &at, &n) && spill_map(at, n);
}

static size_t block_room(void *p)
{
	return malloc_usable_size(p);
}

/* Gives back pages that were moved away, inside a block that is a mapping of its own. */
static void pages_drop(const char *at, size_t n, char *from, size_t to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t a = (uintptr_t)from, b = (uintptr_t)from + to;

	a = a < (uintptr_t)at ? (uintptr_t)at : (a + page - 1) / page * page;
	b = b > (uintptr_t)at + n ? (uintptr_t)at + n : b / page * page;
	if (a < b && madvise((void *)a, b - a, MADV_REMOVE) < 0)
		madvise((void *)a, b - a, MADV_DONTNEED);
}

static void block_move(void *to, void *from, size_t n)
{
	char *at = NULL;
	size_t pages = 0;
	bool apart = block_pages(from, &at, &pages);

	for (size_t i = 0; i < n; i += MOVE_BYTES) {
		size_t k = n - i < MOVE_BYTES ? n - i : MOVE_BYTES;

		xpopulate((char *)to + i, k);
		memcpy((char *)to + i, (char *)from + i, k);
		if (apart)
			pages_drop(at, pages, (char *)from + i, k);
	}
}

static const struct xalloc_large placing = { spill_wanted, block_place, block_room, block_move };

void spill_begin(const struct spill_opts *o)
{
	pthread_mutex_lock(&spill.lock);
	for (size_t i = 0; i < MAX_FOLDERS; i++) {
		struct place *pl = &spill.places[i];

		if (pl->path)
			xclosep(&pl->dir);
		free(pl->path);
		*pl = (struct place){ NULL, -1 };
	}
	for (size_t i = 0; o->folders && i < MAX_FOLDERS && o->folders[i]; i++)
		spill.places[i].path = fs_abs(o->folders[i]);
	spill.looked = spill.refused_said = false;
	spill.say = o->say;
	spill.use = (struct spill_use){ 0 };
	pthread_mutex_unlock(&spill.lock);
	spill_trim_to(o->budget_bytes, o->say);
	atomic_store(&spill.share, o->budget_bytes ? SPILL_SHARE(o->budget_bytes) + 1 : 0);
	xalloc_place_large(o->budget_bytes ? &placing : NULL);
}
