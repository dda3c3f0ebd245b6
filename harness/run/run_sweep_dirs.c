#include "sweep_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/control.h"

#define LOCK_TRIES 25
#define LOCK_NAP_NS (20 * NS_PER_MS)
#define MAX_DEPTH_FDS 16
/* A run directory that has been made and not locked yet, a link that is about to be renamed. */
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

/* --- what lies in a tree --- */

/* nftw has no argument for its function; nothing here runs in two threads. */
static _Thread_local struct {
	int64_t bytes;
	const char *top;
	struct strvec *rubbish;
} walk;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path, (void)type, (void)ftw;
	walk.bytes += (int64_t)st->st_blocks * 512;
	return 0;
}

int64_t sweep_tree_bytes(const char *path)
{
	walk.bytes = 0;
	return nftw(path, add_bytes, MAX_DEPTH_FDS, FTW_PHYS | FTW_MOUNT) < 0 ? -1 : walk.bytes;
}

static int add_rubbish(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *base = path + ftw->base;
	bool ours = ftw->level == 1 && (!strcmp(base, RUN_RESERVE) || !strcmp(base, RUN_LOCK) ||
					!strcmp(base, RUN_SPACE) || !strcmp(base, CONTROL_FLAG));

	if (type == FTW_F && (ours || S_ISSOCK(st->st_mode) || S_ISFIFO(st->st_mode) ||
			      !fnmatch(FS_TEMP_PATTERN, base, FNM_PERIOD)))
		strvec_push(walk.rubbish, path);
	return 0;
}

/* Half-written files and what only the living have a use for. */
static void sweep_rubbish(struct sweep *sw, const char *run_dir, const char *run_id)
{
	CLEANUP(strvec_release) struct strvec rubbish = STRVEC_INIT;

	walk.rubbish = &rubbish;
	nftw(run_dir, add_rubbish, MAX_DEPTH_FDS, FTW_PHYS | FTW_MOUNT);
	for (size_t i = 0; i < rubbish.nr; i++) {
		bool lock = !strcmp(fs_base(rubbish.v[i]), RUN_LOCK);

		/* Every killed run has these: no news. */
		if (!sw->o->fix && lock)
			continue;
		if (sw->o->fix && (lock || !sw->o->all)) {
			unlink(rubbish.v[i]);
			continue;
		}
		struct leftover *row = sweep_row(sw, "file", xstrdup(rubbish.v[i]),
						 "of run %s, whose profrig is dead", run_id);

		row->bytes = sweep_tree_bytes(row->what);
		if (sw->o->fix && unlink(row->what) < 0)
			sweep_error(row, "%s", strerror(errno));
		else if (sw->o->fix)
			sweep_done(row, "removed %s", row->what);
	}
}

/* --- mounts below it --- */

/* Blanks and the like stand in mountinfo as \040. */
static void unescape(char *s)
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

/* Mount points strictly below a directory, the deepest of a pile last. */
static void mounts_below(const char *dir, struct strvec *out)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(xfreep) char *top = realpath(dir, NULL);
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	if (!top || fs_read("/proc/self/mountinfo", (size_t)16 << 20, &text, NULL, NULL) < 0)
		return;
	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++) {
		CLEANUP(strvec_release) struct strvec field = STRVEC_INIT;
		const char *below;

		strvec_split(&field, lines.v[i], " ");
		if (field.nr < 5)
			continue;
		unescape(field.v[4]);
		below = fs_below(top, field.v[4]);
		if (below && *below)
			strvec_push(out, field.v[4]);
	}
}

static void sweep_mounts(struct sweep *sw, const char *run_dir, const char *run_id)
{
	CLEANUP(strvec_release) struct strvec mounts = STRVEC_INIT;

	mounts_below(run_dir, &mounts);
	for (size_t i = mounts.nr; i-- > 0;) {
		struct leftover *row =
			sweep_row(sw, "mount", xstrdup(mounts.v[i]),
				  "in the directory of run %s, whose profrig is dead", run_id);

		if (!sw->o->fix)
			continue;
		if (umount2(row->what, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			sweep_error(row, "%s", strerror(errno));
		else
			sweep_done(row, "unmounted %s", row->what);
	}
}

/* --- a run directory --- */

/* A lock on a shared file system may be known on its own machine only. */
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

static void mark(struct sweep *sw, const char *run_dir)
{
	struct leftover *row = sweep_row(sw, "run", xstrdup(run_dir),
					 "still says it is running; its profrig is dead");
	struct err err = ERR_INIT;

	row->bytes = sweep_tree_bytes(run_dir);
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

	row->bytes = sweep_tree_bytes(path);
	if (!sw->o->fix)
		return;
	if (fs_remove_tree(path, &err) < 0)
		sweep_error(row, "%s", err.msg);
	else
		sweep_done(row, "removed %s, a run that had not begun", path);
}

int sweep_dir(struct sweep *sw, const char *run_dir, pid_t owner)
{
	CLEANUP(xfreep) char *lock = fs_join(run_dir, RUN_LOCK);
	CLEANUP(xfreep) char *parent = fs_dir(run_dir);
	CLEANUP(xfreep) char *unborn = xasprintf("%s/.%s.tmp", parent, fs_base(run_dir));
	CLEANUP(xclosep) int fd = -1;

	if (sweep_lock_of_dead(lock, owner, &fd) == -EWOULDBLOCK)
		return 1;
	if (fs_is_dir(run_dir)) {
		json_t *doc = run_json_load(run_dir, NULL);
		bool foreign = of_another_machine(doc), open = is_open(doc);

		json_decref(doc);
		if (foreign)
			return 1;
		if (open)
			mark(sw, run_dir);
		sweep_mounts(sw, run_dir, fs_base(run_dir));
		sweep_rubbish(sw, run_dir, fs_base(run_dir));
	}
	if (fs_is_dir(unborn))
		sweep_unborn(sw, unborn);
	return 0;
}

/* --- a folder of runs --- */

/* ".20260304T050607Z-model-c0ffee.tmp" and the link that was to be `latest`. */
static void sweep_dot(struct sweep *sw, const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *lock = fs_join(path, RUN_LOCK);
	CLEANUP(xclosep) int fd = -1;
	struct stat st;
	bool fresh;

	if (lstat(path, &st) < 0)
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

		if (sw->o->fix && unlink(path) == 0)
			sweep_done(row, "removed %s", path);
	}
}

static void sweep_forgotten(struct sweep *sw, const char *run_dir)
{
	CLEANUP(xfreep) char *lock = fs_join(run_dir, RUN_LOCK);
	const char *run_id = fs_base(run_dir);
	json_t *doc;

	/* Who ends well takes it away. */
	if (access(lock, F_OK) < 0 || strvec_has(&sw->seen, run_id))
		return;
	strvec_push(&sw->seen, run_id);
	if (sweep_dir(sw, run_dir, 0) != 0)
		return;
	sw->dead++;
	doc = run_json_load(run_dir, NULL);
	sweep_run(sw, run_id, json_string_value(json_object_get(doc, "engine")));
	json_decref(doc);
}

/* Left by an analysis: the run itself had ended well. The file's name holds its writer's pid. */
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
			if (sw->o->fix && unlink(path) == 0)
				sweep_done(row, "removed %s", path);
		}
	}
}

void sweep_runs_dir(struct sweep *sw)
{
	const char *dir = sw->o->runs_dir;
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		if (e->d_name[0] == '.')
			sweep_dot(sw, dir, e->d_name);
		else if (!fnmatch(STAMP "*", e->d_name, 0))
			strvec_push(&runs, e->d_name);
	if (d)
		closedir(d);
	/* To look at very many takes longer than a run should. */
	for (size_t i = 0; i < runs.nr && (sw->o->all || runs.nr <= LEFTOVERS_MAX_RUNS); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, runs.v[i]);

		sweep_forgotten(sw, path);
		if (sw->o->all)
			sweep_analysis(sw, path);
	}
}
