/* The half of fs.h that walks directories. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

/* One descriptor a level stays open on the way down. */
#define MAX_DEPTH 256
#define MAX_MOVES 1000

static void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* The next entry other than . and ..: 1, 0 at the end, -errno. */
static int next_entry(DIR *d, struct dirent **ret)
{
	for (;;) {
		errno = 0;
		*ret = readdir(d);
		if (!*ret)
			return -errno;
		if (!is_dots((*ret)->d_name))
			return 1;
	}
}

static int list_names(DIR *d, struct strvec *out)
{
	struct dirent *e;
	int r;

	while ((r = next_entry(d, &e)) > 0)
		strvec_push(out, e->d_name);
	return r;
}

/* Sorts the found names and appends them to the caller's. */
static void move_sorted(struct strvec *from, struct strvec *to)
{
	strvec_sort(from);
	for (size_t i = 0; i < from->nr; i++)
		strvec_push_take(to, STEAL(from->v[i]));
	from->nr = 0;
}

int fs_list(const char *dir, struct strvec *out, struct err *err)
{
	CLEANUP(dir_closep) DIR *d = door_opendir(dir);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r;

	if (!d)
		return err_sys(err, errno, "%s", dir);
	r = list_names(d, &names);
	if (r < 0)
		return err_sys(err, -r, "%s", dir);
	move_sorted(&names, out);
	return 0;
}

/* --- removal --- */

/*
 * A tree may be nested more deeply than there are descriptors: folders MAX_DEPTH below the top move
 * up to it and are removed in the next round.
 */
struct removal {
	struct strbuf path; /* for messages */
	int top;            /* borrowed; -1: none yet */
	unsigned int moved;
};

static int remove_at(struct removal *rm, int at, const char *name, int depth, struct err *err);

/*
 * A folder that its owner may not read or change gets those permissions, as it is removed anyway.
 * The change goes through a descriptor, so that a link cannot redirect it.
 */
static int open_for_removal(int at, const char *name)
{
	CLEANUP(xclosep) int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char way[64];
	struct stat st;

	if (fd < 0)
		return -1;
	if (geteuid() != 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 0700) != 0700) {
		snprintf(way, sizeof(way), "/proc/self/fd/%d", fd);
		door_chmod(way, (st.st_mode & 07777) | 0700);
	}
	return openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Names are read first: some file systems skip entries when others are removed during the read. */
static int remove_entries(struct removal *rm, int at, const char *name, int depth, struct err *err)
{
	CLEANUP(dir_closep) DIR *d = NULL;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	size_t len = rm->path.len;
	int fd = open_for_removal(at, name);
	int r;

	if (fd < 0)
		return err_sys(err, errno, "cannot remove '%s'", rm->path.buf);
	d = xfdopendir(fd);
	if (!d)
		return err_sys(err, errno, "cannot remove '%s'", rm->path.buf);
	r = list_names(d, &names);
	if (r < 0)
		return err_sys(err, -r, "cannot remove '%s'", rm->path.buf);
	if (depth == 0)
		rm->top = dirfd(d);
	for (size_t i = 0; i < names.nr; i++) {
		strbuf_addf(&rm->path, "/%s", names.v[i]);
		r = remove_at(rm, dirfd(d), names.v[i], depth + 1, err);
		if (r < 0)
			return r;
		rm->path.len = len;
		rm->path.buf[len] = '\0';
	}
	return 0;
}

static int removal_move_up(struct removal *rm, int at, const char *name, struct err *err)
{
	for (int i = 0; i < MAX_MOVES; i++) {
		CLEANUP(xfreep) char *to = xasprintf(".deep-%u", rm->moved++);

		if (renameat2(at, name, rm->top, to, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_sys(err, errno, "cannot remove '%s'", rm->path.buf);
}

static int remove_dir(struct removal *rm, int at, const char *name, int depth, struct err *err)
{
	unsigned int moved;
	int r;

	if (depth > MAX_DEPTH)
		return removal_move_up(rm, at, name, err);
	do {
		moved = rm->moved;
		r = remove_entries(rm, at, name, depth, err);
	} while (r == 0 && depth == 0 && rm->moved != moved);
	if (r < 0)
		return r;
	if (unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot remove '%s'", rm->path.buf);
	return 0;
}

static int remove_at(struct removal *rm, int at, const char *name, int depth, struct err *err)
{
	struct stat st;
	int r;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	r = -errno;
	if ((r != -EISDIR && r != -EPERM) || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return err_sys(err, -r, "cannot remove '%s'", rm->path.buf);
	return remove_dir(rm, at, name, depth, err);
}

int fs_remove_tree(const char *path, struct err *err)
{
	struct removal rm = { .path = STRBUF_INIT, .top = -1 };
	CLEANUP(xfreep) char *name = NULL;
	const char *last;
	int at = -1, r;

	/* With a slash at the end the kernel would follow a link. */
	strbuf_addstr(&rm.path, path);
	while (rm.path.len > 1 && rm.path.buf[rm.path.len - 1] == '/')
		rm.path.buf[--rm.path.len] = '\0';
	last = fs_base(rm.path.buf);
	if (rm.path.len && (!*last || is_dots(last)))
		r = err_set(err, EINVAL, "will not remove '%s'", path);
	else if (door_parent(rm.path.buf, &at, &name) < 0)
		r = errno == ENOENT ? 0 : err_sys(err, errno, "cannot remove '%s'", path);
	else
		r = remove_at(&rm, at, name, 0, err);
	if (at >= 0)
		close(at);
	strbuf_release(&rm.path);
	return r;
}

/* --- patterns --- */

/*
 * Two places to go back to are enough: the last '*', which grows inside its component, and the last
 * '**', which grows over any. The shortest match of an earlier star is the best one, as the later
 * star takes the rest. Time is at most quadratic.
 */
struct back {
	const char *p, *s;
	bool whole; /* "**" with a slash: grows by components */
};

static bool grow_deep(struct back *deep)
{
	if (!deep->p)
		return false;
	if (deep->whole) {
		const char *slash = strchr(deep->s, '/');

		if (!slash)
			return false;
		deep->s = slash + 1;
		return true;
	}
	if (!*deep->s)
		return false;
	deep->s++;
	return true;
}

static bool glob_match(const char *pattern, const char *end, const char *s)
{
	struct back star = { 0 }, deep = { 0 };
	const char *p = pattern;

	for (;;) {
		if (end - p >= 2 && p[0] == '*' && p[1] == '*') {
			deep.whole = (p == pattern || p[-1] == '/') && end - p > 2 && p[2] == '/';
			p += deep.whole ? 3 : 2;
			deep.p = p;
			deep.s = s;
			star.p = NULL;
		} else if (p < end && *p == '*') {
			star = (struct back){ .p = ++p, .s = s };
		} else if (p == end && !*s) {
			return true;
		} else if (p < end && *p == '?' && *s && *s != '/') {
			p++;
			s++;
			while (((unsigned char)*s & 0xc0) == 0x80)
				s++;
		} else if (p < end && *s && *p == *s) {
			p++;
			s++;
		} else if (star.p && *star.s && *star.s != '/') {
			s = ++star.s;
			p = star.p;
		} else if (grow_deep(&deep)) {
			s = deep.s;
			p = deep.p;
			star.p = NULL;
		} else {
			return false;
		}
	}
}

/* Whether something below the directory `rel` can match; a walk of other directories is saved. */
static bool may_hold(const char *pattern, const char *rel)
{
	const char *end = pattern;

	for (const char *s = rel; s; s = strchr(s, '/')) {
		const char *from = end;

		if (s != rel)
			s++;
		end = strchrnul(from, '/');
		if (memmem(from, (size_t)(end - from), "**", 2))
			return true;
		if (!*end)
			return false;
		end++;
	}
	return glob_match(pattern, end - 1, rel);
}

struct walk {
	const char *pattern;
	struct strvec found;
	struct strbuf path;  /* the given directory, then the path below it */
	size_t root;         /* where the relative part begins */
	bool held;           /* door.h: no link is followed */
	struct strvec *lost; /* unreadable directories; NULL: one is an error */
};

/* In a held folder every entry but a directory is listed. An entry that is no regular file is
 * refused by its name when it is opened, and so does not vanish without a message. */
static int entry_type(const struct walk *w, DIR *d, const struct dirent *e)
{
	struct stat st;

	if (e->d_type == DT_DIR || e->d_type == DT_REG)
		return e->d_type;
	if (e->d_type == DT_UNKNOWN) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return DT_UNKNOWN;
		if (S_ISDIR(st.st_mode))
			return DT_DIR;
	}
	if (w->held)
		return DT_REG;
	if (e->d_type == DT_UNKNOWN) {
		if (S_ISREG(st.st_mode))
			return DT_REG;
		if (!S_ISLNK(st.st_mode))
			return DT_UNKNOWN;
	} else if (e->d_type != DT_LNK) {
		return DT_UNKNOWN;
	}
	return fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) ? DT_REG
										: DT_UNKNOWN;
}

static int walk_dir(struct walk *w, int depth, struct err *err);

static int walk_entry(struct walk *w, int type, int depth, struct err *err)
{
	const char *rel = w->path.buf + w->root;

	if (type == DT_REG && glob_match(w->pattern, w->pattern + strlen(w->pattern), rel))
		strvec_push(&w->found, rel);
	if (type == DT_DIR && may_hold(w->pattern, rel))
		return walk_dir(w, depth + 1, err);
	return 0;
}

/* A directory below the first that cannot be read ends the walk, or goes to w->lost. */
static int walk_fails(struct walk *w, int depth, const struct err *why, struct err *err)
{
	if (!w->lost || depth == 0)
		return err_set(err, why->code, "%s", why->msg);
	strvec_push(w->lost, why->msg);
	return 0;
}

static int walk_dir(struct walk *w, int depth, struct err *err)
{
	CLEANUP(dir_closep) DIR *d = NULL;
	size_t len = w->path.len;
	struct err why = ERR_INIT;
	struct dirent *e;
	int r;

	if (depth > MAX_DEPTH) {
		err_set(&why, ELOOP, "%s: nested too deeply", w->path.buf);
		return walk_fails(w, depth, &why, err);
	}
	d = door_opendir(w->path.buf);
	/* A directory that was removed since its parent was read is no error. */
	if (!d && depth > 0 && errno == ENOENT)
		return 0;
	if (!d) {
		err_sys(&why, errno, "%s", w->path.buf);
		return walk_fails(w, depth, &why, err);
	}
	while ((r = next_entry(d, &e)) > 0) {
		int type = entry_type(w, d, e);

		if (len == 0 || w->path.buf[len - 1] != '/')
			strbuf_addch(&w->path, '/');
		if (depth == 0)
			w->root = w->path.len;
		strbuf_addstr(&w->path, e->d_name);
		r = walk_entry(w, type, depth, err);
		w->path.len = len;
		w->path.buf[len] = '\0';
		if (r < 0)
			return r;
	}
	if (r == 0)
		return 0;
	err_sys(&why, -r, "%s", w->path.buf);
	return walk_fails(w, depth, &why, err);
}

int fs_glob(const char *dir, const char *pattern, struct strvec *out, struct err *err)
{
	return fs_glob_all(dir, pattern, out, NULL, err);
}

int fs_glob_all(const char *dir, const char *pattern, struct strvec *out, struct strvec *lost,
		struct err *err)
{
	struct walk w = {
		.pattern = pattern, .found = STRVEC_INIT, .path = STRBUF_INIT, .lost = lost
	};
	int r;

	strbuf_addstr(&w.path, *dir ? dir : ".");
	w.held = door_holds(w.path.buf);
	r = walk_dir(&w, 0, err);
	if (r == 0)
		move_sorted(&w.found, out);
	strvec_release(&w.found);
	strbuf_release(&w.path);
	return r;
}
