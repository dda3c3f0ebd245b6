#include "profrig/base/door.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

/* Limits retries for a file that appears and vanishes while it is opened. */
#define MAX_TRIES 16

/* --- the folders that are held --- */

struct owners {
	uid_t first, count;
};

struct held {
	char *name; /* as given, without slashes at its end */
	char *abs;
	int fd; /* O_PATH; -1: left out, by door_leave_out */
	unsigned refs;
	uid_t owner;
	VEC(struct owners) expected;
};

static VEC(struct held) held;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/*
 * The part of a path behind a folder's name, "" for the folder itself; NULL when it is elsewhere.
 */
static const char *rest_behind(const char *name, const char *path)
{
	const char *rest = fs_below(name, path);

	while (rest && *rest == '/')
		rest++;
	return rest;
}

/*
 * The innermost held folder of a path. A path that begins with a held folder's name belongs to that
 * folder. With ".." in it, it is refused below the folder and not treated as a path elsewhere.
 */
static const struct held *held_find(const char *path, const char **ret_rest)
{
	const struct held *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < held.nr; i++) {
		const struct held *h = &held.v[i];
		const char *const names[] = { h->name, h->abs };

		for (size_t k = 0; k < 2; k++) {
			const char *rest = rest_behind(names[k], path);
			size_t n = strlen(names[k]);

			if (!rest || (best && n <= longest))
				continue;
			best = h;
			longest = n;
			*ret_rest = rest;
		}
	}
	return best;
}

/* Where a path leads; found under the lock. */
struct way {
	const struct held *h; /* NULL: not held */
	const char *rest;
	char *clean; /* owned; set when only the clean absolute form is in a held folder */
};

static void way_begin(struct way *w, const char *path)
{
	*w = (struct way){ .rest = path };
	pthread_rwlock_rdlock(&lock);
	if (!held.nr)
		return;
	w->h = held_find(path, &w->rest);
	if (!w->h) {
		w->clean = fs_abs(path);
		w->h = held_find(w->clean, &w->rest);
	}
	if (w->h && w->h->fd < 0)
		w->h = NULL;
	if (!w->h)
		w->rest = path;
}

static void way_end(struct way *w)
{
	int code = errno;

	pthread_rwlock_unlock(&lock);
	free(w->clean);
	errno = code;
}

static char *without_slashes(const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return xstrndup(dir, n);
}

int door_hold(const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *name = without_slashes(*dir ? dir : ".");
	struct held h = { .refs = 1 };
	struct stat st;

	h.fd = door_open(name, O_PATH | O_DIRECTORY, 0);
	if (h.fd < 0)
		return err_sys(err, errno, "%s", dir);
	if (fstat(h.fd, &st) == 0)
		h.owner = st.st_uid;
	h.abs = fs_abs(name);
	pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < held.nr; i++)
		if (!strcmp(held.v[i].abs, h.abs) && held.v[i].fd >= 0) {
			held.v[i].refs++;
			pthread_rwlock_unlock(&lock);
			close(h.fd);
			free(h.abs);
			return 0;
		}
	h.name = STEAL(name);
	VEC_PUSH(&held, h);
	pthread_rwlock_unlock(&lock);
	return 0;
}

void door_let_go(const char *dir)
{
	CLEANUP(xfreep) char *abs = fs_abs(*dir ? dir : ".");

	pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < held.nr; i++) {
		struct held *h = &held.v[i];

		if (strcmp(h->abs, abs) != 0 || h->fd < 0)
			continue;
		if (--h->refs == 0) {
			close(h->fd);
			free(h->name);
			free(h->abs);
			VEC_RELEASE(&h->expected);
			held.v[i] = held.v[--held.nr];
		}
		break;
	}
	pthread_rwlock_unlock(&lock);
}

void door_leave_out(const char *dir)
{
	struct held h = { .fd = -1, .refs = 1, .name = without_slashes(dir), .abs = fs_abs(dir) };
	bool known = false;

	pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < held.nr; i++)
		known |= held.v[i].fd < 0 && !strcmp(held.v[i].abs, h.abs);
	if (!known)
		VEC_PUSH(&held, h);
	pthread_rwlock_unlock(&lock);
	if (known) {
		free(h.name);
		free(h.abs);
	}
}

bool door_holds(const char *path)
{
	struct way w;
	bool is;

	way_begin(&w, path);
	is = w.h != NULL;
	way_end(&w);
	return is;
}

void door_expect(const char *dir, uid_t first, uid_t count)
{
	CLEANUP(xfreep) char *abs = fs_abs(dir);

	pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < held.nr; i++)
		if (!strcmp(held.v[i].abs, abs))
			VEC_PUSH(&held.v[i].expected, ((struct owners){ first, count }));
	pthread_rwlock_unlock(&lock);
}

/* --- below a descriptor --- */

static bool without_openat2;

/* Opens a path that surely exists: a seccomp filter may answer EPERM to a call it does not know. */
static void openat2_probe(void)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC };
	long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	without_openat2 = fd < 0 && (errno == ENOSYS || errno == EPERM);
	if (fd >= 0)
		close((int)fd);
}

static int errno_fail(int code)
{
	errno = code;
	return -1;
}

/* One component. The kernel reports a link and a file that is no folder with the same code. */
static int open_component(int dir, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	struct stat st;

	if (fd >= 0 || errno != ENOTDIR)
		return fd;
	return errno_fail(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)
				  ? DOOR_LINK
				  : ENOTDIR);
}

static int open_by_components(int dir, const char *rel, int flags, mode_t mode)
{
	CLEANUP(xfreep) char *parts = xstrdup(rel);
	CLEANUP(xclosep) int own = -1;
	int at = dir;
	char *p = parts;

	if (*rel == '/')
		return errno_fail(DOOR_OUTSIDE);
	for (;;) {
		char *end = strchrnul(p, '/');
		bool last = !end[strspn(end, "/")];
		int next;

		end[0] = '\0';
		if (!strcmp(p, ".."))
			return errno_fail(DOOR_OUTSIDE);
		next = open_component(at, *p ? p : ".", last ? flags : O_PATH | O_DIRECTORY, mode);
		if (next < 0 || last)
			return next;
		xclosep(&own);
		own = at = next;
		p = end + 1;
		p += strspn(p, "/");
	}
}

int door_open_beneath(int dir, const char *rel, int flags, mode_t mode)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
				.mode = flags & O_CREAT ? mode : 0,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	long fd = -1;

	pthread_once(&once, openat2_probe);
	if (!*rel)
		rel = ".";
	if (without_openat2)
		return open_by_components(dir, rel, flags, mode);
	/* EAGAIN: a name with ".." was renamed by another process meanwhile; ask again. */
	for (int i = 0; i < MAX_TRIES; i++) {
		fd = syscall(SYS_openat2, dir, rel, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

/* The folder that holds a path's last name. */
struct parent_dir {
	int dir;
	int own;    /* to be closed; −1 none */
	char *name; /* owned */
};
#define PARENT_DIR_INIT \
	{ \
		AT_FDCWD, -1, NULL \
	}

static void parent_dir_release(struct parent_dir *p)
{
	int code = errno;

	xclosep(&p->own);
	free(p->name);
	errno = code;
}

static int parent_dir_open(const struct way *w, struct parent_dir *ret)
{
	CLEANUP(xfreep) char *dir = NULL;
	CLEANUP(xfreep) char *rest = without_slashes(w->rest);

	if (!w->h) {
		ret->name = xstrdup(w->rest);
		return 0;
	}
	ret->name = xstrdup(fs_base(rest));
	if (!*ret->name || !strcmp(ret->name, ".") || !strcmp(ret->name, ".."))
		return errno_fail(DOOR_OUTSIDE);
	dir = fs_dir(rest);
	ret->dir = w->h->fd;
	if (strcmp(dir, ".") != 0) {
		ret->own = door_open_beneath(w->h->fd, dir, O_PATH | O_DIRECTORY, 0);
		ret->dir = ret->own;
	}
	return ret->dir < 0 ? -1 : 0;
}

/* --- files --- */

static bool is_expected(const struct held *h, uid_t uid)
{
	if (!h->expected.nr || uid == 0 || uid == geteuid() || uid == h->owner)
		return true;
	return VEC_FIND(&h->expected, x, uid - x->first < x->count && uid >= x->first);
}

/* 0, or the reason why a file is refused. */
static int entry_refusal(const struct held *h, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return DOOR_LINK;
	if (S_ISDIR(st->st_mode))
		return EISDIR;
	if (!S_ISREG(st->st_mode))
		return DOOR_NO_FILE;
	if (st->st_nlink > 1)
		return DOOR_HARD_LINK;
	return is_expected(h, st->st_uid) ? 0 : DOOR_OWNER;
}

#define HOLLOW_FROM ((off_t)1 << 30)
#define HOLLOW_PARTS 16
/* Each piece costs a call; a file with more pieces than this has real content. */
#define MAX_PIECES 100000

bool door_is_hollow(int fd)
{
	struct stat st;
	off_t at = 0, written = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= HOLLOW_FROM)
		return false;
	for (int i = 0; i < MAX_PIECES && written <= st.st_size / HOLLOW_PARTS; i++) {
		off_t data = lseek(fd, at, SEEK_DATA);

		if (data < 0 || data >= st.st_size) {
			/* ENXIO: only holes follow. Other codes come from systems without holes. */
			bool hollow = data >= 0 || errno == ENXIO;

			lseek(fd, 0, SEEK_SET);
			return hollow;
		}
		at = lseek(fd, data, SEEK_HOLE);
		if (at <= data)
			break;
		written += at - data;
	}
	lseek(fd, 0, SEEK_SET);
	return false;
}

/*
 * Reopens the file that was checked, even when another file has its name by now. Without /proc the
 * name is opened again and the two files are compared.
 */
static int entry_reopen(int seen, const struct held *h, const char *rest, int flags)
{
	char path[64];
	struct stat a, b;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
	fd = open(path, (flags & ~O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = door_open_beneath(h->fd, rest, flags | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	if (fstat(seen, &a) < 0 || fstat(fd, &b) < 0 || a.st_ino != b.st_ino ||
	    a.st_dev != b.st_dev) {
		close(fd);
		return errno_fail(DOOR_NO_FILE);
	}
	return fd;
}

static int open_existing(const struct held *h, const char *rest, int flags)
{
	CLEANUP(xclosep) int seen = door_open_beneath(h->fd, rest, O_PATH, 0);
	struct stat st;
	int fd, code;

	if (seen < 0 || fstat(seen, &st) < 0)
		return -1;
	code = entry_refusal(h, &st);
	if (code)
		return errno_fail(code);
	fd = entry_reopen(seen, h, rest, flags & ~(O_CREAT | O_EXCL | O_TRUNC));
	if (fd >= 0 && (flags & O_ACCMODE) == O_RDONLY && door_is_hollow(fd)) {
		close(fd);
		return errno_fail(DOOR_HOLLOW);
	}
	if (fd >= 0 && (flags & O_TRUNC) && ftruncate(fd, 0) < 0) {
		code = errno;
		close(fd);
		return errno_fail(code);
	}
	return fd;
}

static int open_held(const struct held *h, const char *rest, int flags, mode_t mode)
{
	if (flags & (O_PATH | O_DIRECTORY))
		return door_open_beneath(h->fd, rest, flags, mode);
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return door_open_beneath(h->fd, rest, flags, mode);
	for (int i = 0; i < MAX_TRIES; i++) {
		int fd = open_existing(h, rest, flags);

		if (fd >= 0 || errno != ENOENT || !(flags & O_CREAT))
			return fd;
		fd = door_open_beneath(h->fd, rest, flags | O_EXCL, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return errno_fail(EBUSY);
}

int door_open(const char *path, int flags, mode_t mode)
{
	struct way w;
	int fd;

	way_begin(&w, path);
	if (!w.h) {
		/*
		 * open may wait for the other end of a FIFO; other threads must not wait for that.
		 */
		way_end(&w);
		return open(path, flags | O_CLOEXEC, mode);
	}
	fd = open_held(w.h, w.rest, flags, mode);
	way_end(&w);
	return fd;
}

FILE *door_fopen(const char *path, const char *mode)
{
	int flags = *mode == 'w'   ? O_WRONLY | O_CREAT | O_TRUNC
		    : *mode == 'a' ? O_WRONLY | O_CREAT | O_APPEND
				   : O_RDONLY;
	int fd = door_open(path, flags, 0666);

	return fd >= 0 ? xfdopen(fd, mode) : NULL;
}

int door_open_fifo(const char *path, int flags)
{
	struct way w;
	struct stat st;
	int fd;

	way_begin(&w, path);
	fd = w.h ? door_open_beneath(w.h->fd, w.rest, flags | O_NONBLOCK, 0)
		 : open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	way_end(&w);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))) {
		close(fd);
		return errno_fail(DOOR_NO_FILE);
	}
	return fd;
}

DIR *door_opendir(const char *path)
{
	int fd = door_open(path, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 ? xfdopendir(fd) : NULL;
}

/* --- names --- */

int door_stat(const char *path, struct stat *ret)
{
	CLEANUP(xclosep) int fd = -1;
	struct way w;
	int r;

	way_begin(&w, path);
	if (w.h) {
		fd = door_open_beneath(w.h->fd, w.rest, O_PATH, 0);
		r = fd < 0 ? -1 : fstat(fd, ret);
	} else {
		r = stat(path, ret);
	}
	way_end(&w);
	return r;
}

int door_lstat(const char *path, struct stat *ret)
{
	return door_holds(path) ? door_stat(path, ret) : lstat(path, ret);
}

int door_parent(const char *path, int *ret_dir, char **ret_name)
{
	struct parent_dir p = PARENT_DIR_INIT;
	struct way w;
	int r;

	way_begin(&w, path);
	r = parent_dir_open(&w, &p);
	if (r == 0 && w.h && p.own < 0)
		p.own = p.dir = fcntl(w.h->fd, F_DUPFD_CLOEXEC, 3);
	way_end(&w);
	if (r < 0 || p.dir == -1) {
		parent_dir_release(&p);
		return -1;
	}
	*ret_dir = p.dir;
	*ret_name = p.name;
	return 0;
}

/* A path's last name in its folder; found under the lock. */
struct named {
	struct way w;
	struct parent_dir p;
};

static int name_begin(struct named *n, const char *path)
{
	n->p = (struct parent_dir)PARENT_DIR_INIT;
	way_begin(&n->w, path);
	return parent_dir_open(&n->w, &n->p);
}

static void name_end(struct named *n)
{
	way_end(&n->w);
	parent_dir_release(&n->p);
}

int door_mkdir(const char *path, mode_t mode)
{
	CLEANUP(name_end) struct named n;
	int r = name_begin(&n, path);

	/* The path is the held folder itself, which exists. */
	if (n.w.h && !*n.w.rest)
		return errno_fail(EEXIST);
	return r < 0 ? r : mkdirat(n.p.dir, n.p.name, mode);
}

int door_mkfifo(const char *path, mode_t mode)
{
	CLEANUP(name_end) struct named n;

	return name_begin(&n, path) < 0 ? -1 : mkfifoat(n.p.dir, n.p.name, mode);
}

static int remove_name(const char *path, int flags)
{
	CLEANUP(name_end) struct named n;

	return name_begin(&n, path) < 0 ? -1 : unlinkat(n.p.dir, n.p.name, flags);
}

int door_unlink(const char *path)
{
	return remove_name(path, 0);
}

int door_rmdir(const char *path)
{
	return remove_name(path, AT_REMOVEDIR);
}

#define BOTH_NAMES (1U << 31) /* none of renameat2's: the file keeps its first one */

static int rename_at(const char *from, const char *to, unsigned int flags)
{
	CLEANUP(parent_dir_release) struct parent_dir a = PARENT_DIR_INIT, b = PARENT_DIR_INIT;
	struct way w;
	int r;

	way_begin(&w, from);
	r = parent_dir_open(&w, &a);
	way_end(&w);
	if (r < 0)
		return r;
	way_begin(&w, to);
	r = parent_dir_open(&w, &b);
	if (r == 0)
		r = flags == BOTH_NAMES ? linkat(a.dir, a.name, b.dir, b.name, 0)
		    : flags             ? renameat2(a.dir, a.name, b.dir, b.name, flags)
					: renameat(a.dir, a.name, b.dir, b.name);
	way_end(&w);
	return r;
}

int door_rename(const char *from, const char *to)
{
	return rename_at(from, to, 0);
}

int door_exchange(const char *a, const char *b)
{
	return rename_at(a, b, RENAME_EXCHANGE);
}

int door_link(const char *from, const char *to)
{
	return rename_at(from, to, BOTH_NAMES);
}

int door_symlink(const char *target, const char *path)
{
	CLEANUP(name_end) struct named n;

	return name_begin(&n, path) < 0 ? -1 : symlinkat(target, n.p.dir, n.p.name);
}

ssize_t door_readlink(const char *path, char *buf, size_t size)
{
	CLEANUP(name_end) struct named n;

	return name_begin(&n, path) < 0 ? -1 : readlinkat(n.p.dir, n.p.name, buf, size);
}

int door_chmod(const char *path, mode_t mode)
{
	CLEANUP(xclosep) int fd = -1;
	struct way w;
	char link[64];
	struct stat st;

	way_begin(&w, path);
	fd = w.h ? door_open_beneath(w.h->fd, w.rest, O_PATH, 0) : open(path, O_PATH | O_CLOEXEC);
	way_end(&w);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return errno_fail(DOOR_LINK);
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && door_holds(path))
		return errno_fail(DOOR_HARD_LINK);
	/* fchmod takes no O_PATH. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, mode);
}
