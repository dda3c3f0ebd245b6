#include "profrig/base/temps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "profrig/base/door.h"

/* profrig's temporary trees are two levels deep: an OTF2 archive and its folder. */
#define MAX_DEPTH 4
#define PASSES 2 /* over what is held: other threads end what they have begun */

enum state { FREE, BUSY, HELD };

static struct held {
	_Atomic int state;
	_Atomic uint32_t sum; /* of path, which others may only read while the state is theirs */
	pid_t owner;
	int dir; /* the folder of path, or AT_FDCWD with all of path as the name */
	char path[PATH_MAX], name[PATH_MAX];
} held[TEMPS_MAX];
static atomic_bool ending;

/* FNV-1a. */
static uint32_t path_sum(const char *path)
{
	uint32_t sum = 2166136261u;

	for (; *path; path++)
		sum = (sum ^ (unsigned char)*path) * 16777619u;
	return sum;
}

/* The signal handler cannot take the locks of door.h, so the folder is opened now. */
static void hold_name(struct held *h)
{
	char *name = NULL;

	if (door_parent(h->path, &h->dir, &name) < 0) {
		h->dir = -1;
		return;
	}
	memcpy(h->name, name, strlen(name) + 1);
	free(name);
}

void temps_wait(void)
{
	while (atomic_load(&ending))
		pause();
}

void temps_hold(const char *path)
{
	size_t len = strlen(path);

	temps_wait();
	for (size_t i = 0; i < TEMPS_MAX && len < PATH_MAX; i++) {
		int is = FREE;

		if (!atomic_compare_exchange_strong(&held[i].state, &is, BUSY))
			continue;
		memcpy(held[i].path, path, len + 1);
		atomic_store(&held[i].sum, path_sum(path));
		hold_name(&held[i]);
		held[i].owner = getpid();
		atomic_store(&held[i].state, HELD);
		return;
	}
}

void temps_let_go(const char *path)
{
	const uint32_t sum = path_sum(path);

	for (size_t i = 0; i < TEMPS_MAX; i++) {
		int is = HELD;

		if (atomic_load(&held[i].sum) != sum ||
		    !atomic_compare_exchange_strong(&held[i].state, &is, BUSY))
			continue;
		if (strcmp(held[i].path, path) != 0) {
			atomic_store(&held[i].state, HELD);
			continue;
		}
		if (held[i].dir >= 0)
			close(held[i].dir);
		atomic_store(&held[i].state, FREE);
		return;
	}
}

/* Returns whether the entry is gone. */
static bool remove_at(int at, const char *name, int depth);

/* Returns whether any of the first entries could be removed: if not, another look is useless. */
static bool remove_some(int dir, int depth)
{
	/* opendir allocates */
	_Alignas(struct dirent64) char buf[4096];
	ssize_t n = getdents64(dir, buf, sizeof(buf));
	bool any = false;

	for (ssize_t at = 0; at < n;) {
		const struct dirent64 *e = (const struct dirent64 *)(buf + at);

		at += e->d_reclen;
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			any |= remove_at(dir, e->d_name, depth);
	}
	return any;
}

static bool remove_at(int at, const char *name, int depth)
{
	int dir;

	if (unlinkat(at, name, 0) == 0)
		return true;
	if ((errno != EISDIR && errno != EPERM) || depth == MAX_DEPTH)
		return false;
	dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return false;
	/* From the start each time: some file systems skip entries when others are removed. */
	while (remove_some(dir, depth + 1))
		lseek(dir, 0, SEEK_SET);
	close(dir);
	return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* Other threads may be about to create something in it: below another name they cannot. */
static void remove_held(const struct held *h)
{
	static const char more[] = ".tmp";
	size_t n = strlen(h->name);
	char away[NAME_MAX + sizeof(more)];

	if (n <= NAME_MAX) {
		memcpy(away, h->name, n);
		memcpy(away + n, more, sizeof(more));
		if (renameat(h->dir, h->name, h->dir, away) == 0)
			remove_at(h->dir, away, 0);
	}
	/* it could not be renamed, or was made again in that moment */
	remove_at(h->dir, h->name, 0);
}

void temps_remove(void)
{
	const pid_t self = getpid();

	atomic_store(&ending, true);
	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < TEMPS_MAX; i++)
			if (atomic_load(&held[i].state) == HELD && held[i].owner == self)
				remove_held(&held[i]);
}
