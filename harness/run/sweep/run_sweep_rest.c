#include "sweep_priv.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/num.h"

#define MAX_ENVIRON ((size_t)2 << 20)

/* The state of a run's profrig, by the lock in its directory. */
enum life { LIVES, DEAD, UNKNOWN };

static enum life life_of(const char *run_dir)
{
	CLEANUP(xfreep) char *lock = fs_join(run_dir, RUN_LOCK);
	CLEANUP(xclosep) int fd = -1;
	int r;

	if (!fs_is_dir(run_dir))
		return UNKNOWN;
	r = registry_lock(lock, false, &fd);
	return r == -EWOULDBLOCK ? LIVES : r == 0 || r == -ENOENT ? DEAD : UNKNOWN;
}

/* --- containers --- */

static void stray_container(struct sweep *sw, const struct engine *e, const char *name,
			    const char *run_id)
{
	bool running = false;
	CLEANUP(xfreep) char *dir = sweep_mounted_dir(e, name, run_id, &running);
	enum life life = dir ? life_of(dir) : UNKNOWN;
	struct leftover *row;

	if (life == LIVES)
		return;
	if (life == DEAD && !running) {
		row = sweep_row(sw, "container", xstrdup(name),
				"ended and kept (--keep); '%s rm %s' removes it", e->name, name);
		row->kept = true;
		return;
	}
	row = sweep_row(sw, "container", xstrdup(name),
			life == DEAD ? "%s, of run %s, whose profrig is dead"
				     : "%s, of run %s, of which nothing is known here",
			e->name, run_id);
	row->kept = life == UNKNOWN;
	if (row->kept || !sw->o->fix)
		return;
	if (sweep_remove_container(e, name) < 0)
		sweep_error(row, "%s does not remove it", e->name);
	else
		sweep_done(row, "removed container %s, which its run had left", name);
}

static void stray_containers(struct sweep *sw, const struct engine *e)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	if (!e->container || sweep_list_containers(e, &lines) < 0)
		return;
	for (size_t i = 0; i < lines.nr; i++) {
		const char *blank = strchr(lines.v[i], ' ');
		CLEANUP(xfreep) char *name = NULL;

		if (!blank || strvec_has(&sw->seen, blank + 1))
			continue;
		name = xstrndup(lines.v[i], (size_t)(blank - lines.v[i]));
		stray_container(sw, e, name, blank + 1);
	}
}

/* --- processes --- */

static bool is_ours(const char *pid)
{
	CLEANUP(xfreep) char *path = fs_join("/proc", pid);
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

static void stray_process(struct sweep *sw, const char *name)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%s/environ", name);
	CLEANUP(xfreep) char *data = NULL;
	const char *run_id, *run_dir;
	enum life life;
	int64_t pid;
	size_t n;

	if (num_i64(name, strlen(name), &pid) < 0 || !is_ours(name) ||
	    fs_read(path, MAX_ENVIRON, &data, &n, NULL) < 0)
		return;
	run_id = sweep_value_in(data, n, "PROFRIG_RUN_ID");
	run_dir = sweep_value_in(data, n, "PROFRIG_RUN_DIR");
	if (!run_id || !run_dir || !sweep_is_dir_of(run_dir, run_id) ||
	    strvec_has(&sw->seen, run_id) || sweep_is_ancestor((pid_t)pid))
		return;
	/* One row for all processes of a run. */
	strvec_push(&sw->seen, run_id);
	life = life_of(run_dir);
	if (life == DEAD) {
		struct swept s = { .id = run_id, .dir = run_dir };

		sweep_look(&s);
		sweep_run(sw, &s, NULL);
	} else if (life == UNKNOWN) {
		struct leftover *row = sweep_row(sw, "processes", xasprintf("process %s", name),
						 "of run %s, whose directory is not here", run_id);

		row->kept = true;
	}
}

void sweep_rest(struct sweep *sw)
{
	struct dirent *e;
	DIR *d;

	for (size_t i = 0; engines[i]; i++)
		stray_containers(sw, engines[i]);
	d = door_opendir("/proc");
	while (d && (e = readdir(d)))
		stray_process(sw, e->d_name);
	if (d)
		closedir(d);
}
