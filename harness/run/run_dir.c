#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/fs.h"

/* --- a file that must be written also when nothing else can be --- */

static bool no_space(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

static int make_reserve(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, RUN_RESERVE);
	CLEANUP(xclosep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	return -posix_fallocate(fd, 0, (off_t)RUN_RESERVE_BYTES);
}

static int write_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, text, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		text += w;
		n -= (size_t)w;
	}
	return 0;
}

/* The reserve's blocks are ours already, so writing over them needs no space; then it takes the
 * other file's name. */
static int write_over_reserve(const char *reserve, const char *path, const char *text, size_t n)
{
	CLEANUP(xclosep) int fd = open(reserve, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text, n);
	if (r < 0)
		return r;
	if (ftruncate(fd, (off_t)n) < 0 || fsync(fd) < 0 || rename(reserve, path) < 0)
		return -errno;
	return 0;
}

int run_write_reserved(const char *run_dir, const char *name, const char *text, size_t n,
		       struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, name);
	CLEANUP(xfreep) char *reserve = fs_join(run_dir, RUN_RESERVE);
	int r = fs_write_atomic(path, text, n, err);

	if (!no_space(r))
		return r;
	if (write_over_reserve(reserve, path, text, n) == 0)
		return 0;
	/* Larger than the reserve, or a file system that writes elsewhere: what it held is free
	 * now. */
	unlink(reserve);
	return fs_write_atomic(path, text, n, err);
}

/* Asked by trying, since reserved blocks and quotas make statvfs a guess. */
bool run_disk_full(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, RUN_SPACE);
	CLEANUP(xclosep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return errno == ENOSPC || errno == EDQUOT;
	r = posix_fallocate(fd, 0, 4096);
	unlink(path);
	return no_space(-r);
}

/* --- the directory --- */

static char *temporary_name(const struct plan *pl)
{
	CLEANUP(xfreep) char *parent = fs_dir(pl->run_dir);

	return xasprintf("%s/.%s.tmp", parent, fs_base(pl->run_dir));
}

static int write_plan(const struct plan *pl, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "plan.json");
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return err_sys(err, errno, "plan.json");
	plan_print_json(pl, f);
	if (fclose(f) != 0)
		return err_sys(err, errno, "plan.json");
	return fs_write_kept(path, text, n, FS_KEEP_NOTHING, err);
}

/* A lock file that nobody holds is one of the dead, so it gets its name when it is locked. */
static int make_lock(const char *dir, const char *lock, int *ret_fd)
{
	CLEANUP(xfreep) char *tmp = fs_join(dir, ".profrig-lock.tmp");
	int r = registry_lock(tmp, true, ret_fd);

	if (r == 0 && rename(tmp, lock) < 0)
		r = -errno;
	return r;
}

static int fill_skeleton(struct run *rn, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *lock = fs_join(dir, RUN_LOCK);
	int r = make_lock(dir, lock, &rn->lock_fd);

	if (r < 0)
		return err_sys(err, -r, "cannot lock '%s'", lock);
	if (make_reserve(dir) < 0)
		run_warn(rn, W_NO_RESERVE, "warning",
			 "no space could be set aside: on a full disk run.json may stay old");
	r = write_plan(rn->pl, dir, err);
	if (r == 0)
		r = run_json_write(rn, dir, false, err);
	return r;
}

/* The first folder on the way to dir that is not there; NULL: all are. Owned. */
static char *first_missing(const char *dir)
{
	char *at = xstrdup(dir), *missing = NULL;

	while (!fs_exists(at)) {
		char *up = fs_dir(at);

		free(missing);
		missing = at;
		at = up;
	}
	free(at);
	return missing;
}

/* What the user can do about it, behind the reason. */
static int cannot_make(int r, const char *parent, struct err *err)
{
	CLEANUP(xfreep) char *why = err ? xstrdup(err->msg) : NULL;

	if (r == -EROFS || r == -EACCES || r == -EPERM)
		return err_set(err, -r,
			       "cannot write to '%s' (%s): name another folder with -o DIR", parent,
			       strerror(-r));
	if (r == -ENOSPC || r == -EDQUOT)
		return err_set(err, -r,
			       "no space for a run in '%s' (%s): make room, or name a folder on "
			       "another disk with -o DIR",
			       parent, strerror(-r));
	if (r < 0 && r != -EEXIST && r != -EMFILE && r != -EFBIG && why)
		return err_set(err, -r, "%s: name another folder with -o DIR", why);
	return r;
}

/* Made under a name that no reader looks at and then renamed, so that a directory with its real
 * name always holds a run.json. */
int run_dir_make(struct run *rn, struct err *err)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *parent = fs_dir(pl->run_dir);
	CLEANUP(xfreep) char *tmp = temporary_name(pl);
	int r;

	rn->made = first_missing(parent);
	r = fs_mkdirs(parent, 0777, err);
	if (r < 0)
		return cannot_make(r, parent, err);
	if (fs_exists(pl->run_dir))
		return err_set(err, EEXIST, "'%s' exists already", pl->run_dir);
	if (mkdir(tmp, 0777) < 0)
		return cannot_make(err_sys(err, errno, "cannot make '%s'", tmp), parent, err);
	r = fill_skeleton(rn, tmp, err);
	if (r == 0 && rename(tmp, pl->run_dir) < 0)
		r = err_sys(err, errno, "cannot make '%s'", pl->run_dir);
	if (r < 0) {
		xclosep(&rn->lock_fd);
		fs_remove_tree(tmp, NULL);
	}
	return cannot_make(r, parent, err);
}

/* --- the link to the newest --- */

static char *link_target(const char *link)
{
	char buf[PATH_MAX];
	ssize_t n = readlink(link, buf, sizeof(buf) - 1);

	return n > 0 ? xstrndup(buf, (size_t)n) : NULL;
}

static int set_link(const struct run *rn, const char *link, const char *target)
{
	CLEANUP(xfreep) char *tmp = xasprintf("%s/.latest.%s", rn->o->runs_dir, rn->pl->run_id);
	int r = 0;

	unlink(tmp);
	if (symlink(target, tmp) < 0 || rename(tmp, link) < 0)
		r = -errno;
	unlink(tmp);
	return r;
}

void run_dir_latest(struct run *rn)
{
	const char *dir = rn->o->runs_dir;
	CLEANUP(xfreep) char *link = dir ? fs_join(dir, "latest") : NULL;
	int r;

	if (!dir)
		return;
	rn->latest_was = link_target(link);
	r = set_link(rn, link, fs_base(rn->pl->run_dir));
	if (r < 0)
		run_warn(rn, W_LATEST_LINK, "note", "'%s' could not be set: %s", link,
			 strerror(-r));
}

/* Back to the run before, unless a newer one has taken it meanwhile. */
static void latest_undo(const struct run *rn)
{
	const char *dir = rn->o->runs_dir;
	CLEANUP(xfreep) char *link = dir ? fs_join(dir, "latest") : NULL;
	CLEANUP(xfreep) char *now = dir ? link_target(link) : NULL;

	if (!now || strcmp(now, fs_base(rn->pl->run_dir)) != 0)
		return;
	if (!rn->latest_was || set_link(rn, link, rn->latest_was) < 0)
		unlink(link);
}

void run_dir_unmake(struct run *rn)
{
	CLEANUP(xfreep) char *at = fs_dir(rn->pl->run_dir);

	xclosep(&rn->lock_fd);
	latest_undo(rn);
	fs_remove_tree(rn->pl->run_dir, NULL);
	/* Not what is in use by now: rmdir leaves it. */
	while (rn->made && fs_below(rn->made, at) && rmdir(at) == 0) {
		char *up = fs_dir(at);

		free(at);
		at = up;
	}
}

static int put_script(const char *to, const char *data, size_t n, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(to);
	int r = fs_mkdirs(dir, 0777, err);

	if (r == 0)
		r = fs_write_kept(to, data, n, FS_KEEP_NOTHING, err);
	if (r == 0 && chmod(to, 0755) < 0)
		r = err_sys(err, errno, "cannot make '%s' executable", to);
	return r;
}

static int copy_script(const char *from, const char *to, struct err *err)
{
	CLEANUP(xfreep) char *data = NULL;
	size_t n;
	int r = fs_read(from, (size_t)16 << 20, &data, &n, err);

	return r < 0 ? r : put_script(to, data, n, err);
}

int run_dir_fill(struct run *rn, struct err *err)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *steps = fs_join(pl->run_dir, "steps");
	int r = fs_mkdirs(steps, 0777, err);

	for (size_t i = 0; r == 0 && i < pl->mkdirs.nr; i++)
		r = fs_mkdirs(pl->mkdirs.v[i], 0777, err);
	for (size_t i = 0; r == 0 && i < pl->copies.nr; i++)
		r = copy_script(pl->copies.v[i].from, pl->copies.v[i].to, err);
	for (size_t i = 0; r == 0 && i < pl->made.nr; i++)
		r = put_script(pl->made.v[i].to, pl->made.v[i].text, strlen(pl->made.v[i].text),
			       err);
	return r;
}

/* Who the agent is here: the image, its configuration and user namespaces all have a say. */
static bool agent_is_stranger(const struct run *rn, int64_t uid_inside)
{
	pid_t agent = sampler_find_agent(rn->pl->run_id);
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)agent);
	if (agent <= 0 || stat(path, &st) < 0)
		return uid_inside != 0;
	return st.st_uid != 0 && st.st_uid != geteuid();
}

static void add_mode(const char *path, mode_t mode)
{
	struct stat st;

	if (stat(path, &st) == 0)
		chmod(path, (st.st_mode & 07777) | mode);
}

/*
 * Where a folder around it is mounted too, as the working directory mostly is, the way leads
 * through the folder of runs. One elsewhere stays as private as its owner made it.
 */
static void share_way(const struct plan *pl)
{
	CLEANUP(xfreep) char *runs = fs_dir(pl->run_dir);

	for (size_t i = 0; i < pl->spec.mounts.nr; i++) {
		const char *below = fs_below(pl->spec.mounts.v[i].host, runs);

		if (below && *below) {
			add_mode(runs, 0011);
			return;
		}
	}
}

void run_dir_share(struct run *rn, int64_t uid_inside)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *steps = fs_join(pl->run_dir, "steps");

	if (!pl->engine->container || !agent_is_stranger(rn, uid_inside))
		return;
	share_way(pl);
	add_mode(pl->run_dir, 0011);
	control_share(rn);
	add_mode(steps, 0777);
	run_source_share(rn);
	for (size_t i = 0; i < pl->mkdirs.nr; i++) {
		const char *rel = fs_below(pl->run_dir, pl->mkdirs.v[i]);
		bool writes = rel && !strncmp(rel, "artifacts/", 10);

		add_mode(pl->mkdirs.v[i], writes ? 0777 : 0011);
	}
}

void run_dir_close(struct run *rn)
{
	CLEANUP(xfreep) char *lock = fs_join(rn->pl->run_dir, RUN_LOCK);
	CLEANUP(xfreep) char *reserve = fs_join(rn->pl->run_dir, RUN_RESERVE);

	unlink(reserve);
	unlink(lock);
	xclosep(&rn->lock_fd);
}
