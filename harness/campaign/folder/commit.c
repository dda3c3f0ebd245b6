#include "commit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define CELL_HEX 12
#define NUMBER_MAX 1000000
#define TRIES 4

void attempt_name_make(const char *cell, uint32_t repeat, uint32_t number, struct attempt_name *ret)
{
	struct attempt_name a = { .repeat = repeat, .number = number };

	snprintf(a.cell, sizeof(a.cell), "%s", cell);
	snprintf(a.run, sizeof(a.run), "%s-%" PRIu32, a.cell, repeat);
	snprintf(a.all, sizeof(a.all), "%s-%" PRIu32 ".%" PRIu32, a.cell, repeat, number);
	*ret = a;
}

static bool number_read(const char **at, char end, uint32_t *ret)
{
	size_t n = strspn(*at, "0123456789");
	uint64_t v;

	if (n == 0 || **at == '0' || num_u64(*at, n, &v) < 0 || v > NUMBER_MAX || (*at)[n] != end)
		return false;
	*ret = (uint32_t)v;
	*at += n + (end != 0);
	return true;
}

bool attempt_name_parse(const char *text, struct attempt_name *ret)
{
	char cell[CELL_HEX + 1];
	const char *at = text + CELL_HEX + 1;
	uint32_t repeat, number = 0;

	if (strspn(text, "0123456789abcdef") != CELL_HEX || text[CELL_HEX] != '-')
		return false;
	memcpy(cell, text, CELL_HEX);
	cell[CELL_HEX] = 0;
	if (strchr(at, '.')) {
		if (!number_read(&at, '.', &repeat) || !number_read(&at, 0, &number))
			return false;
	} else if (!number_read(&at, 0, &repeat)) {
		return false;
	}
	attempt_name_make(cell, repeat, number, ret);
	return true;
}

int commit_look(const char *dir, const char *run, struct attempt_name *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/results/%s", dir, run);
	CLEANUP(xclosep)
	int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	char text[ATTEMPT_NAME_MAX + 1];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0
		       : errno == ELOOP ? err_set(err, EBADMSG, "%s: a link", path)
					: err_sys(err, errno, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, EBADMSG, "%s: no regular file", path);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return err_sys(err, errno, "%s", path);
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	if (!attempt_name_parse(text, ret) || ret->number == 0 || strcmp(ret->run, run) != 0)
		return err_set(err, EBADMSG, "%s: names no attempt of this run", path);
	return 1;
}

/* A name that is free; the workload may have made the others. */
static int move_aside(const char *path, char said[200], struct err *err)
{
	for (unsigned i = 1; i < 1000; i++) {
		CLEANUP(xfreep) char *to = xasprintf("%s.odd-%u", path, i);

		if (fs_exists(to))
			continue;
		if (door_rename(path, to) < 0)
			return errno == ENOENT ? 0 : err_sys(err, errno, "%s", path);
		snprintf(said, 200, "results/%.70s is no commit of profrig's and is now %.70s",
			 fs_base(path), fs_base(to));
		return 0;
	}
	return err_set(err, EEXIST, "%s: cannot be moved aside", path);
}

int commit_put_aside(const char *dir, const char *run, char said[200], struct err *err)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/results/%s", dir, run);

	*said = 0;
	return move_aside(path, said, err);
}

/* COMMITTED, SUPERSEDED, or why not. */
static int named_link(const char *dir, const struct attempt_name *a, const char *temp,
		      const char *path, char said[200], struct err *err)
{
	for (int i = 0; i < TRIES; i++) {
		struct attempt_name other;
		struct err why = ERR_INIT;
		int r;

		if (door_link(temp, path) == 0)
			return COMMITTED;
		if (errno != EEXIST)
			return err_sys(err, errno, "%s", path);
		r = commit_look(dir, a->run, &other, &why);
		if (r == 1)
			return strcmp(other.all, a->all) ? SUPERSEDED : COMMITTED;
		/* 0: it is gone again */
		if (r == -EBADMSG)
			r = move_aside(path, said, err);
		else if (r < 0)
			err_set(err, -r, "%s", why.msg);
		if (r < 0)
			return r;
	}
	return err_set(err, EEXIST, "%s: its name is taken again and again", path);
}

/* A workload may have taken the folder away. */
static int results_make(const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *results = fs_join(dir, "results");

	return fs_mkdirs(results, 0755, err);
}

int commit_attempt(const char *dir, const struct attempt_name *a, char said[200], struct err *err)
{
	CLEANUP(xfreep) char *temp = xasprintf("%s/results/.%s", dir, a->all);
	CLEANUP(xfreep) char *path = xasprintf("%s/results/%s", dir, a->run);
	CLEANUP(xfreep) char *text = xasprintf("%s\n", a->all);
	struct attempt_name there;
	int r;

	*said = 0;
	/* the first to commit it may have had the last room on the disk */
	if (commit_look(dir, a->run, &there, NULL) == 1)
		return strcmp(there.all, a->all) ? SUPERSEDED : COMMITTED;
	r = results_make(dir, err);
	if (r < 0)
		return r;
	door_unlink(temp);
	r = fs_write_atomic(temp, text, strlen(text), err);
	if (r == 0)
		r = named_link(dir, a, temp, path, said, err);
	door_unlink(temp);
	return r;
}
