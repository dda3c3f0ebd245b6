#include "sweep_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/num.h"
#include "profrig/run/control.h"

#define LOCK_TRIES 25
#define LOCK_NAP_NS (20 * NS_PER_MS)
#define MAX_DEPTH 64
#define MAX_LOCK 65536
/* The age up to which a run directory may be unlocked, or a link wait for its renaming. */
#define UNBORN_NS (60 * NS_PER_S)
/* 20260304T050607Z-model-c0ffee */
#define STAMP "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9]Z-"

int sweep_lock_of_dead(const char *path, pid_t owner, int *ret_fd)
{
	int r = registry_lock(path, false, ret_fd);

	for (int i = 0; i < LOCK_TRIES && r == -EWOULDBLOCK; i++) {
		if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH)
			return r;
		clock_sleep_until_ns(clock_monotonic_ns() + LOCK_NAP_NS);
		r = registry_lock(path, false, ret_fd);
	}
	return r;
}

/* --- the owner --- */

/*
 * The folder around the directory stays held, so that a link which others put in the place of the
 * directory, or of an entry in it, is refused.
 */
void sweep_look(struct swept *s)
{
	CLEANUP(xfreep) char *parent = fs_dir(s->dir);
	struct stat st;

	s->there = (door_holds(parent) || door_hold(parent, NULL) == 0) &&
		   door_lstat(s->dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		   (!s->known.ino || s->known.ino == st.st_ino) &&
		   (!s->known.dev || s->known.dev == st.st_dev);
	if (!s->there)
		return;
	s->known.dev = st.st_dev;
	s->known.ino = st.st_ino;
}

/* The text of .lock, which must be a file of this user's. NULL: none. */
static json_t *sweep_read_lock(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	struct stat st;
	size_t n;

	if (door_lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink != 1 || fs_read(path, MAX_LOCK, &text, &n, NULL) < 0)
		return NULL;
	return json_loadb(text, n, 0, NULL);
}

/* --- its entries --- */

static bool is_rubbish(const char *name, mode_t mode, bool top)
{
	static const char *const ours[] = { RUN_RESERVE, RUN_LOCK, RUN_SPACE, CONTROL_FLAG };

	for (size_t i = 0; top && S_ISREG(mode) && i < ARRAY_LEN(ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	return S_ISSOCK(mode) || S_ISFIFO(mode) ||
	       (S_ISREG(mode) && !fnmatch(FS_TEMP_PATTERN, name, FNM_PERIOD));
}

static void find_rubbish(const char *dir, dev_t dev, size_t depth, struct strvec *out)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (depth > MAX_DEPTH || fs_list(dir, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		struct stat st;

		if (door_lstat(path, &st) < 0 || st.st_dev != dev)
			continue;
		if (S_ISDIR(st.st_mode) && fs_temp_pid(names.v[i]) <= 0)
			find_rubbish(path, dev, depth + 1, out);
		else if (S_ISDIR(st.st_mode) || is_rubbish(names.v[i], st.st_mode, depth == 0))
			strvec_push(out, path);
	}
}

/* Half-written files, and files that only live runs need. */
static void sweep_rubbish(struct sweep *sw, const struct swept *s)
{
	CLEANUP(strvec_release) struct strvec rubbish = STRVEC_INIT;

	find_rubbish(s->dir, s->known.dev, 0, &rubbish);
	for (size_t i = 0; i < rubbish.nr; i++) {
		bool lock = !strcmp(fs_base(rubbish.v[i]), RUN_LOCK);

		/* Every killed run has one, so it is not listed. */
		if (!sw->o->fix && lock)
			continue;
		if (sw->o->fix && (lock || !sw->o->all)) {
			fs_remove_tree(rubbish.v[i], NULL);
			continue;
		}
		struct leftover *row = sweep_row(sw, "file", xstrdup(rubbish.v[i]),
						 "of run %s, whose profrig is dead", s->id);
		struct err err = ERR_INIT;

		row->bytes = fs_size(row->what);
		if (sw->o->fix && fs_remove_tree(row->what, &err) < 0)
			sweep_error(row, "%s", err.msg);
		else if (sw->o->fix)
			sweep_done(row, "removed %s", row->what);
	}
}

/* The folders that were mounted in containers. */
static void sweep_skeleton(struct sweep *sw, const struct swept *s)
{
	static const char *const shown[] = { PLAN_INSIDE, PLAN_HIDDEN };

	for (size_t i = 0; sw->o->fix && i < ARRAY_LEN(shown); i++) {
		CLEANUP(xfreep) char *path = fs_join(s->dir, shown[i]);

		fs_remove_tree(path, NULL);
	}
}

/* --- mounts below it --- */

/* mountinfo writes blanks and the like as \040. */
static void mount_unescape(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		if (s[0] == '\\' && s[1] && s[2] && s[3]) {
			*to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to = *s;
		}
	}
	*to = '\0';
}

/* Mount points strictly below a directory; of several at one point the uppermost last. */
static void mounts_below(const char *top, struct strvec *points, struct strvec *ids)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	if (fs_read("/proc/self/mountinfo", (size_t)16 << 20, &text, NULL, NULL) < 0)
		return;
	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++) {
		CLEANUP(strvec_release) struct strvec field = STRVEC_INIT;
		const char *below;

		strvec_split(&field, lines.v[i], " ");
		if (field.nr < 5)
			continue;
		mount_unescape(field.v[4]);
		below = fs_below(top, field.v[4]);
		if (below && *below) {
			strvec_push(points, below);
			strvec_push(ids, field.v[0]);
		}
	}
}

/* Unmounts through a descriptor opened from the run directory without links, when it is the mount
 * of this number. */
static int sweep_unmount(int dir, const char *below, const char *id)
{
	CLEANUP(xclosep) int fd = door_open_beneath(dir, below, O_PATH, 0);
	CLEANUP(xfreep) char *way = NULL;
	struct statx st;
	uint64_t want;

	if (fd < 0)
		return -errno;
	if (num_u64(id, strlen(id), &want) < 0 ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID) ||
	    st.stx_mnt_id != want)
		return -ESTALE;
	way = xasprintf("/proc/self/fd/%d", fd);
	return umount2(way, MNT_DETACH) < 0 ? -errno : 0;
}

static void sweep_mounts(struct sweep *sw, const struct swept *s)
{
	CLEANUP(strvec_release) struct strvec points = STRVEC_INIT, ids = STRVEC_INIT;
	CLEANUP(xclosep) int dir = door_open(s->dir, O_PATH | O_DIRECTORY, 0);
	CLEANUP(xfreep) char *way = dir < 0 ? NULL : xasprintf("/proc/self/fd/%d", dir);
	char top[PATH_MAX];
	ssize_t n = way ? readlink(way, top, sizeof(top) - 1) : -1;
	struct stat st;

	if (n <= 0 || fstat(dir, &st) < 0 || st.st_dev != s->known.dev || st.st_ino != s->known.ino)
		return;
	top[n] = '\0';
	mounts_below(top, &points, &ids);
	for (size_t i = points.nr; i-- > 0;) {
		struct leftover *row =
			sweep_row(sw, "mount", fs_join(s->dir, points.v[i]),
				  "in the directory of run %s, whose profrig is dead", s->id);
		int r = sw->o->fix ? sweep_unmount(dir, points.v[i], ids.v[i]) : 0;

		if (r < 0)
			sweep_error(row, "%s", strerror(-r));
		else if (sw->o->fix)
			sweep_done(row, "unmounted %s", row->what);
	}
}

/* --- a run directory --- */

/* The lock of a run on a shared file system may be visible on its own machine only. */
static bool of_another_machine(const json_t *doc)
{
	const char *there =
		json_string_value(json_object_get(json_object_get(doc, "host"), "hostname"));
	char here[256] = "";

	gethostname(here, sizeof(here) - 1);
	return there && *there && strcmp(there, here) != 0;
}

static bool is_open(const json_t *doc)
{
	const char *status = json_string_value(json_object_get(doc, "status"));

	return !status || !strcmp(status, "running") || !strcmp(status, "planned");
}

static void sweep_unended(struct sweep *sw, const char *run_dir)
{
	struct leftover *row = sweep_row(sw, "run", xstrdup(run_dir),
					 "still says it is running; its profrig is dead");
	struct err err = ERR_INIT;

	row->bytes = fs_usage(run_dir, NULL);
	if (!sw->o->fix)
		return;
	if (run_note_interrupted(run_dir, &err) < 0)
		sweep_error(row, "%s", err.msg);
	else
		sweep_done(row, "%s: marked interrupted, its profrig had died", run_dir);
}

static void sweep_unborn(struct sweep *sw, const char *path)
{
	struct leftover *row = sweep_row(sw, "folder", xstrdup(path),
					 "of a run whose profrig died before it began");
	struct err err = ERR_INIT;

	row->bytes = fs_usage(path, NULL);
	if (!sw->o->fix)
		return;
	if (fs_remove_tree(path, &err) < 0)
		sweep_error(row, "%s", err.msg);
	else
		sweep_done(row, "removed %s, a run that had not begun", path);
}

int sweep_dir(struct sweep *sw, struct swept *s, pid_t owner)
{
	CLEANUP(xfreep) char *lock = fs_join(s->dir, RUN_LOCK);
	CLEANUP(xfreep) char *parent = fs_dir(s->dir);
	CLEANUP(xfreep) char *unborn = xasprintf("%s/.%s.tmp", parent, fs_base(s->dir));
	CLEANUP(xclosep) int fd = -1;
	struct swept early = { .id = s->id, .dir = unborn, .known = s->known };

	if (sweep_lock_of_dead(lock, owner, &fd) == -EWOULDBLOCK)
		return 1;
	sweep_look(s);
	if (s->there) {
		json_t *doc = run_json_load(s->dir, NULL);
		bool foreign = of_another_machine(doc), open = is_open(doc);

		json_decref(doc);
		if (foreign)
			return 1;
		if (open)
			sweep_unended(sw, s->dir);
		sweep_mounts(sw, s);
		sweep_skeleton(sw, s);
		sweep_rubbish(sw, s);
	}
	sweep_look(&early);
	if (early.there)
		sweep_unborn(sw, unborn);
	return 0;
}

/* --- a folder of runs --- */

/* ".20260304T050607Z-model-c0ffee.tmp", and links that were to become `latest`. */
static void sweep_dot(struct sweep *sw, const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *lock = fs_join(path, RUN_LOCK);
	CLEANUP(xclosep) int fd = -1;
	struct stat st;
	bool fresh;

	if (door_lstat(path, &st) < 0 || st.st_uid != geteuid())
		return;
	fresh = clock_realtime_ns() - (int64_t)st.st_mtim.tv_sec * NS_PER_S < UNBORN_NS;
	if (S_ISDIR(st.st_mode) && !fnmatch("." STAMP "*.tmp", name, FNM_PERIOD)) {
		int r = registry_lock(lock, false, &fd);

		if (r == 0 || (r != -EWOULDBLOCK && !fresh))
			sweep_unborn(sw, path);
	} else if (S_ISLNK(st.st_mode) && !fresh &&
		   !fnmatch(".latest." STAMP "*", name, FNM_PERIOD)) {
		struct leftover *row =
			sweep_row(sw, "file", xstrdup(path), "a link that was to become 'latest'");

		if (sw->o->fix && door_unlink(path) == 0)
			sweep_done(row, "removed %s", path);
	}
}

static void sweep_forgotten(struct sweep *sw, const char *run_dir)
{
	CLEANUP(xfreep) char *lock = fs_join(run_dir, RUN_LOCK);
	struct swept s = { .id = fs_base(run_dir), .dir = run_dir };
	json_t *entry, *doc;

	/* A run that ends well removes it. */
	if (!fs_exists(lock) || strvec_has(&sw->seen, s.id))
		return;
	strvec_push(&sw->seen, s.id);
	sweep_look(&s);
	if (!s.there)
		return;
	entry = sweep_read_lock(lock);
	registry_read(entry, &s.known);
	json_decref(entry);
	sweep_look(&s);
	if (!s.there || sweep_dir(sw, &s, 0) != 0)
		return;
	sw->dead++;
	doc = run_json_load(run_dir, NULL);
	sweep_run(sw, &s, json_string_value(json_object_get(doc, "engine")));
	json_decref(doc);
}

/*
 * Files of a killed analysis; the run itself had ended well. A file's name holds its writer's pid.
 */
static void sweep_analysis(struct sweep *sw, const char *run_dir)
{
	static const char *const dirs[] = { ".", "analysis", "analysis/tables", "analysis/folded" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		CLEANUP(xfreep) char *dir = fs_join(run_dir, dirs[i]);
		CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

		if (fs_list(dir, &names, NULL) < 0)
			continue;
		for (size_t k = 0; k < names.nr; k++) {
			CLEANUP(xfreep) char *path = fs_join(dir, names.v[k]);
			struct leftover *row;

			if (fs_temp_pid(names.v[k]) <= 0 || !fs_temp_abandoned(path))
				continue;
			row = sweep_row(sw, "file", xstrdup(path),
					"half written by an analysis that was killed");
			row->bytes = fs_size(path);
			if (sw->o->fix && fs_remove_tree(path, NULL) == 0)
				sweep_done(row, "removed %s", path);
		}
	}
}

void sweep_runs_dir(struct sweep *sw)
{
	const char *dir = sw->o->runs_dir;
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;
	struct dirent *e;
	DIR *d = door_holds(dir) || door_hold(dir, NULL) == 0 ? door_opendir(dir) : NULL;

	while (d && (e = readdir(d)))
		if (e->d_name[0] == '.')
			sweep_dot(sw, dir, e->d_name);
		else if (!fnmatch(STAMP "*", e->d_name, 0))
			strvec_push(&runs, e->d_name);
	if (d)
		closedir(d);
	/* Checking very many runs takes longer than a run should wait. */
	for (size_t i = 0; i < runs.nr && (sw->o->all || runs.nr <= LEFTOVERS_MAX_RUNS); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, runs.v[i]);

		sweep_forgotten(sw, path);
		if (sw->o->all)
			sweep_analysis(sw, path);
	}
}
