#include "run_control.h"
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

/* --- a file that must be written also on a full disk --- */

static bool no_space(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

static int make_reserve(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, RUN_RESERVE);
	CLEANUP(xclosep) int fd = door_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		return -errno;
	return -posix_fallocate(fd, 0, (off_t)RUN_RESERVE_BYTES);
}

/* The reserve's blocks are allocated, so writing over them needs no space. Then it takes the other
 * file's name. */
static int write_over_reserve(const char *reserve, const char *path, const char *text, size_t n)
{
	CLEANUP(xclosep) int fd = door_open(reserve, O_WRONLY, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = fs_write_all(fd, text, n);
	if (r < 0)
		return r;
	if (ftruncate(fd, (off_t)n) < 0 || fsync(fd) < 0 || door_rename(reserve, path) < 0)
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
	/* The text is larger than the reserve, or the file system writes to new blocks: removing
	 * the reserve frees its space. */
	door_unlink(reserve);
	return fs_write_atomic(path, text, n, err);
}

/* Tested by a write, since reserved blocks and quotas make statvfs a guess. */
bool run_disk_full(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, RUN_SPACE);
	CLEANUP(xclosep) int fd = door_open(path, O_WRONLY | O_CREAT, 0600);
	int r;

	if (fd < 0)
		return errno == ENOSPC || errno == EDQUOT;
	r = posix_fallocate(fd, 0, 4096);
	door_unlink(path);
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
	FILE *f = xmemstream(&text, &n);

	plan_print_json(pl, f);
	fclose(f);
	return fs_write_kept(path, text, n, FS_KEEP_NOTHING, err);
}

/* An unlocked lock file means a dead run, so the file gets its name only when it is locked. */
static int make_lock(const char *dir, const char *lock, int *ret_fd)
{
	CLEANUP(xfreep) char *tmp = fs_join(dir, ".profrig-lock.tmp");
	int r = registry_lock(tmp, true, ret_fd);

	if (r == 0 && door_rename(tmp, lock) < 0)
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
		outcome_warn(&rn->outcome, W_NO_RESERVE, "warning",
			     "no space could be set aside: on a full disk run.json may stay old");
	r = write_plan(rn->pl, dir, err);
	if (r == 0)
		r = run_json_write(rn, dir, false, err);
	return r;
}

/* The uppermost missing folder on the way to dir; NULL: all exist. Owned. */
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

/* Adds advice for the user to the reason. */
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

/* Made under a name that readers ignore and then renamed, so that a directory with its real name
 * always holds a run.json. */
int run_dir_make(struct run *rn, struct err *err)
{
	const struct plan *pl = rn->pl;
	CLEANUP(xfreep) char *parent = fs_dir(pl->run_dir);
	CLEANUP(xfreep) char *tmp = temporary_name(pl);
	const char *made = tmp;
	int r;

	rn->made = first_missing(parent);
	r = fs_mkdirs(parent, 0777, err);
	/* Held until this process ends: before the next repetition a workload could put a link in
	 * its place. */
	if (r == 0)
		r = door_hold(parent, err);
	if (r < 0)
		return cannot_make(r, parent, err);
	if (fs_exists(pl->run_dir))
		return err_set(err, EEXIST, "'%s' exists already", pl->run_dir);
	if (door_mkdir(tmp, 0777) < 0)
		return cannot_make(err_sys(err, errno, "cannot make '%s'", tmp), parent, err);
	r = fill_skeleton(rn, tmp, err);
	if (r == 0 && door_rename(tmp, pl->run_dir) < 0)
		r = err_sys(err, errno, "cannot make '%s'", pl->run_dir);
	else if (r == 0)
		made = pl->run_dir;
	if (r == 0)
		r = door_hold(pl->run_dir, err);
	if (r < 0) {
		xclosep(&rn->lock_fd);
		fs_remove_tree(made, NULL);
	}
	return cannot_make(r, parent, err);
}

/* --- the link to the newest --- */

static char *link_target(const char *link)
{
	char buf[PATH_MAX];
	ssize_t n = door_readlink(link, buf, sizeof(buf) - 1);

	return n > 0 ? xstrndup(buf, (size_t)n) : NULL;
}

static int set_link(const struct run *rn, const char *link, const char *target)
{
	CLEANUP(xfreep) char *tmp = xasprintf("%s/.latest.%s", rn->o->runs_dir, rn->pl->run_id);
	int r = 0;

	door_unlink(tmp);
	if (door_symlink(target, tmp) < 0 || door_rename(tmp, link) < 0)
		r = -errno;
	door_unlink(tmp);
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
		outcome_warn(&rn->outcome, W_LATEST_LINK, "note", "'%s' could not be set: %s", link,
			     strerror(-r));
}

/* Points back to the previous run, unless a newer one has taken the link. */
static void latest_undo(const struct run *rn)
{
	const char *dir = rn->o->runs_dir;
	CLEANUP(xfreep) char *link = dir ? fs_join(dir, "latest") : NULL;
	CLEANUP(xfreep) char *now = dir ? link_target(link) : NULL;

	if (!now || strcmp(now, fs_base(rn->pl->run_dir)) != 0)
		return;
	if (!rn->latest_was || set_link(rn, link, rn->latest_was) < 0)
		door_unlink(link);
}

void run_dir_unmake(struct run *rn)
{
	CLEANUP(xfreep) char *at = fs_dir(rn->pl->run_dir);

	xclosep(&rn->lock_fd);
	latest_undo(rn);
	door_let_go(rn->pl->run_dir);
	fs_remove_tree(rn->pl->run_dir, NULL);
	/* A held folder cannot be removed. */
	door_let_go(at);
	/* rmdir leaves folders that another run uses by now. */
	while (rn->made && fs_below(rn->made, at) && door_rmdir(at) == 0) {
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
	if (r == 0 && door_chmod(to, 0755) < 0)
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

static int make_empty(const char *path, struct err *err)
{
	CLEANUP(xclosep) int fd = door_open(path, O_WRONLY | O_CREAT, 0644);

	return fd < 0 ? err_sys(err, errno, "cannot make '%s'", path) : 0;
}

/* Folders that hold only names: whatever the umask, any user of a container may pass. */
static int make_passage(const char *top, const char *rel, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(top, rel);
	int r = fs_mkdirs(path, 0755, err);

	for (size_t n = strlen(path); r == 0 && n >= strlen(top); n--) {
		if (path[n] && path[n] != '/')
			continue;
		path[n] = '\0';
		if (door_chmod(path, 0755) < 0)
			r = err_sys(err, errno, "cannot open '%s' to the container", path);
	}
	return r;
}

/* Makes a mounted file or folder, and its mount point in the empty copy of the run directory. */
static int make_inside(const struct plan *pl, const struct plan_inside *in, struct err *err)
{
	CLEANUP(xfreep) char *top = fs_join(pl->run_dir, PLAN_INSIDE);
	CLEANUP(xfreep) char *place = fs_join(top, in->rel);
	CLEANUP(xfreep) char *path = fs_join(pl->run_dir, in->rel);
	CLEANUP(xfreep) char *dir = in->file ? fs_dir(in->rel) : xstrdup(in->rel);
	CLEANUP(xfreep) char *real_dir = fs_join(pl->run_dir, dir);
	int r = fs_mkdirs(real_dir, 0777, err);

	if (r == 0)
		r = make_passage(top, strcmp(dir, ".") ? dir : "", err);
	if (r == 0 && in->file)
		r = make_empty(path, err);
	if (r == 0 && in->file)
		r = make_empty(place, err);
	return r;
}

static int make_all_inside(const struct plan *pl, struct err *err)
{
	CLEANUP(xfreep) char *hidden = fs_join(pl->run_dir, PLAN_HIDDEN);
	int r = pl->inside.nr ? make_passage(hidden, fs_base(pl->run_dir), err) : 0;

	for (size_t i = 0; r == 0 && i < pl->inside.nr; i++)
		r = make_inside(pl, &pl->inside.v[i], err);
	return r;
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
	return r < 0 ? r : make_all_inside(pl, err);
}

/* Whether the agent runs as another user: the image, its configuration and user namespaces all
 * matter. */
static bool agent_is_other_user(const struct run *rn, int64_t uid_inside)
{
	int64_t uid = link_agent_uid(&rn->link);

	return uid < 0 ? uid_inside != 0 : uid != 0 && uid != geteuid();
}

static void add_mode(const char *path, mode_t mode)
{
	struct stat st;

	if (door_stat(path, &st) == 0)
		door_chmod(path, (st.st_mode & 07777) | mode);
}

void run_dir_share(struct run *rn, int64_t uid_inside)
{
	const struct plan *pl = rn->pl;

	if (!pl->engine->container || !agent_is_other_user(rn, uid_inside))
		return;
	control_share(rn);
	run_source_share(rn);
	for (size_t i = 0; i < pl->inside.nr; i++) {
		const struct plan_inside *in = &pl->inside.v[i];
		CLEANUP(xfreep) char *path = fs_join(pl->run_dir, in->rel);

		add_mode(path, in->file       ? (in->writable ? 0666 : 0444)
			       : in->writable ? 0777
					      : 0055);
	}
}

static void drop_skeleton(const struct plan *pl)
{
	CLEANUP(xfreep) char *inside = fs_join(pl->run_dir, PLAN_INSIDE);
	CLEANUP(xfreep) char *hidden = fs_join(pl->run_dir, PLAN_HIDDEN);

	fs_remove_tree(inside, NULL);
	fs_remove_tree(hidden, NULL);
}

void run_dir_close(struct run *rn)
{
	CLEANUP(xfreep) char *reserve = fs_join(rn->pl->run_dir, RUN_RESERVE);

	drop_skeleton(rn->pl);
	door_unlink(reserve);
}
