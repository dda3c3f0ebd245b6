#include "run_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/num.h"

#define ENGINE_TIMEOUT_MS 15000
#define MAX_ENTRY 65536
#define MAX_ENVIRON ((size_t)2 << 20)
/* An agent whose profrig died takes 2 s to end what it started, and a little to notice. */
#define AGENT_PATIENCE_NS (4 * NS_PER_S)
#define KILL_ROUNDS 50
#define UNBORN_NS (60 * NS_PER_S)
#define LOCK_TRIES 25
#define LOCK_NAP_NS (20 * NS_PER_MS)

/* --- processes --- */

/* data: NUL-terminated entries, and a NUL behind the last. */
static bool holds_entry(const char *data, size_t n, const char *entry)
{
	for (size_t at = 0; at < n; at += strlen(data + at) + 1)
		if (!strcmp(data + at, entry))
			return true;
	return false;
}

static bool carries(const char *pid, const char *entry)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%s/environ", pid);
	CLEANUP(xfreep) char *data = NULL;
	size_t n;

	return fs_read(path, MAX_ENVIRON, &data, &n, NULL) == 0 && holds_entry(data, n, entry);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	int64_t v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "PPid:\t", 6)) {
			num_i64(line + 6, strcspn(line + 6, "\n"), &v);
			break;
		}
	if (f)
		fclose(f);
	return (pid_t)v;
}

/* profrig may itself run inside a run whose profrig is dead. */
static bool is_our_ancestor(pid_t pid)
{
	pid_t at = getpid();

	for (int i = 0; at > 1 && i < 1000; i++) {
		if (at == pid)
			return true;
		at = parent_of(at);
	}
	return pid == 1;
}

static size_t signal_carriers(const char *entry, int sig)
{
	size_t count = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d))) {
		int64_t pid;

		if (num_i64(e->d_name, strlen(e->d_name), &pid) < 0 || !carries(e->d_name, entry) ||
		    is_our_ancestor((pid_t)pid))
			continue;
		count += kill((pid_t)pid, sig) == 0;
	}
	if (d)
		closedir(d);
	return count;
}

static void nap(int64_t ns)
{
	clock_sleep_until_ns(clock_monotonic_ns() + ns);
}

size_t sweep_processes(const char *run_id)
{
	CLEANUP(xfreep) char *entry = xasprintf("PROFRIG_RUN_ID=%s", run_id);
	int64_t until = clock_monotonic_ns() + AGENT_PATIENCE_NS;
	size_t ended = 0, n;
	pid_t agent;

	agent = sampler_find_agent(run_id);
	if (agent > 0 && is_our_ancestor(agent))
		return 0;
	/* Its input has closed, mostly; under a dead dockerd nobody tells it. */
	if (agent > 0)
		ended += kill(agent, SIGTERM) == 0;
	while (agent > 0 && clock_monotonic_ns() < until) {
		nap(20 * NS_PER_MS);
		agent = sampler_find_agent(run_id);
	}
	if (agent > 0)
		kill(agent, SIGKILL);
	for (int i = 0; i < KILL_ROUNDS && (n = signal_carriers(entry, SIGKILL)) > 0; i++) {
		ended = n > ended ? n : ended;
		nap(20 * NS_PER_MS);
	}
	return ended;
}

/* --- containers --- */

/* 1 it is there, 0 not, -errno: the engine does not say. */
static int container_there(const struct engine *e, const char *run_id, char **ret_name)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, lines = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;
	int r;

	if (!e->list)
		return 0;
	e->list(&argv);
	r = proc_capture(argv.v, ENGINE_TIMEOUT_MS, (size_t)4 << 20, &out, NULL, &x, NULL);
	if (r < 0 || x.code != 0)
		return r < 0 ? r : -EIO;
	strvec_split(&lines, out.buf, "\n");
	for (size_t i = 0; i < lines.nr; i++) {
		const char *blank = strchr(lines.v[i], ' ');

		if (!blank || strcmp(blank + 1, run_id) != 0)
			continue;
		*ret_name = xstrndup(lines.v[i], (size_t)(blank - lines.v[i]));
		return 1;
	}
	return 0;
}

static int remove_container(const struct engine *e, const char *name)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_exit x;
	int r;

	e->remove(name, &argv);
	r = proc_capture(argv.v, ENGINE_TIMEOUT_MS, 0, NULL, NULL, &x, NULL);
	return r < 0 ? r : x.code != 0 ? -EIO : 0;
}

/* 0 when no container of this run is left. */
static int sweep_containers(const struct engine *e, const char *run_id, struct strvec *lines)
{
	for (int i = 0; i < 8; i++) {
		CLEANUP(xfreep) char *name = NULL;
		int r = container_there(e, run_id, &name);

		if (r <= 0)
			return r;
		r = remove_container(e, name);
		if (r < 0)
			return r;
		strvec_pushf(lines, "removed container %s, which its run had left", name);
	}
	return -EBUSY;
}

/* --- run directories --- */

static void remove_temporaries(const char *run_dir)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *parent = fs_dir(run_dir);
	CLEANUP(xfreep) char *unborn = xasprintf("%s/.%s.tmp", parent, fs_base(run_dir));

	fs_remove_tree(unborn, NULL);
	if (fs_list(run_dir, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(run_dir, names.v[i]);

		if (!strcmp(names.v[i], RUN_RESERVE) || !strcmp(names.v[i], RUN_LOCK) ||
		    !fnmatch(".profrig-*.tmp", names.v[i], FNM_PERIOD))
			unlink(path);
	}
}

/*
 * The lock of a profrig that is gone. A child it had just forked holds its locks until it calls
 * exec, so a lock whose owner is dead is asked for again for a moment.
 */
static int lock_of_dead(const char *path, pid_t owner, int *ret_fd)
{
	int r = registry_lock(path, false, ret_fd);

	for (int i = 0; i < LOCK_TRIES && r == -EWOULDBLOCK; i++) {
		if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH)
			return r;
		nap(LOCK_NAP_NS);
		r = registry_lock(path, false, ret_fd);
	}
	return r;
}

/* 0 done, 1 its profrig lives. */
static int finish_dir(const char *run_dir, pid_t owner, struct strvec *lines)
{
	CLEANUP(xfreep) char *lock = fs_join(run_dir, RUN_LOCK);
	CLEANUP(xclosep) int fd = -1;
	struct err err = ERR_INIT;
	int r = lock_of_dead(lock, owner, &fd);

	if (r == -EWOULDBLOCK)
		return 1;
	if (fs_is_dir(run_dir)) {
		r = run_note_interrupted(run_dir, &err);
		if (r < 0)
			strvec_pushf(lines, "%s: %s", run_dir, err.msg);
		else if (r > 0)
			strvec_pushf(lines, "%s: marked interrupted, its profrig had died",
				     run_dir);
	}
	remove_temporaries(run_dir);
	return 0;
}

/* --- entries --- */

static json_t *read_entry(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;

	return fs_read(path, MAX_ENTRY, &text, &n, NULL) == 0 ? json_loadb(text, n, 0, NULL) : NULL;
}

/* Returns whether nothing of the run is left. */
static bool sweep_run(const char *run_id, const char *engine, struct strvec *lines)
{
	const struct engine *e = engine ? engine_find(engine) : NULL;
	size_t ended = sweep_processes(run_id);

	if (ended)
		strvec_pushf(lines, "ended %zu process%s of %s", ended, ended == 1 ? "" : "es",
			     run_id);
	return !e || !e->container || sweep_containers(e, run_id, lines) == 0;
}

/* Returns 1 when the run was finished off. */
static int sweep_entry(const char *path, const char *run_id, struct strvec *lines)
{
	json_t *entry = read_entry(path);
	const char *run_dir = json_string_value(json_object_get(entry, "run_dir"));
	pid_t owner = (pid_t)json_integer_value(json_object_get(entry, "pid"));
	CLEANUP(xclosep) int fd = -1;
	int count = 0;

	/* Else it is alive, or being finished off by another profrig. */
	if (lock_of_dead(path, owner, &fd) == 0 &&
	    (!run_dir || *run_dir != '/' || finish_dir(run_dir, owner, lines) == 0)) {
		count = 1;
		/*
		 * While the engine does not answer the entry stays, for the next profrig to ask
		 * again.
		 */
		if (sweep_run(run_id, json_string_value(json_object_get(entry, "engine")), lines))
			unlink(path);
	}
	json_decref(entry);
	return count;
}

int run_sweep_leftovers(struct strvec *lines, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = registry_dir(err);
	int count = 0, r;

	if (!dir)
		return err && err->code ? -err->code : -EPERM;
	r = fs_list(dir, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xclosep) int fd = -1;

		if (names.v[i][0] != '.') {
			count += sweep_entry(path, names.v[i], lines);
			continue;
		}
		/* An entry whose profrig died before it was whole; a fresh one may be about to be.
		 */
		if (clock_realtime_ns() - fs_mtime_ns(path) > UNBORN_NS &&
		    registry_lock(path, false, &fd) == 0)
			unlink(path);
	}
	return count;
}
