#include "sweep_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/num.h"

#define ENGINE_TIMEOUT_MS 15000
#define MAX_ENTRY 65536
#define MAX_ENVIRON ((size_t)2 << 20)
/* An agent whose profrig died needs a moment to notice and 2 s to end its steps. */
#define AGENT_PATIENCE_MS 4000
#define KILL_ROUNDS 50
#define UNBORN_NS (60 * NS_PER_S)

/* --- rows --- */

static char *sweep_words(const char *fmt, va_list ap)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_vaddf(&sb, fmt, ap);
	return xstrdup(sb.buf);
}

struct leftover *sweep_row(struct sweep *sw, const char *kind, char *what, const char *of, ...)
{
	struct leftover row = { .kind = kind, .what = what, .bytes = -1 };
	va_list ap;

	va_start(ap, of);
	row.of = sweep_words(of, ap);
	va_end(ap);
	VEC_PUSH(&sw->out->rows, row);
	return &sw->out->rows.v[sw->out->rows.nr - 1];
}

void sweep_done(struct leftover *row, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	row->done = sweep_words(fmt, ap);
	va_end(ap);
}

void sweep_error(struct leftover *row, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	row->error = sweep_words(fmt, ap);
	va_end(ap);
}

void leftovers_release(struct leftovers *l)
{
	for (size_t i = 0; i < l->rows.nr; i++) {
		free(l->rows.v[i].what);
		free(l->rows.v[i].of);
		free(l->rows.v[i].done);
		free(l->rows.v[i].error);
	}
	VEC_RELEASE(&l->rows);
}

/* --- processes --- */

/* Value of a variable in the text of /proc/<pid>/environ; NULL when it is not there. */
const char *sweep_value_in(const char *data, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (size_t at = 0; at < n; at += strlen(data + at) + 1)
		if (!strncmp(data + at, name, len) && data[at + len] == '=')
			return data + at + len + 1;
	return NULL;
}

/* Whether dir is the run's directory, by its name or by device and inode. */
static bool swept_is_dir(const struct swept *s, const char *dir)
{
	struct stat st;

	if (s->dir && strcmp(dir, s->dir) == 0)
		return true;
	return s->there && stat(dir, &st) == 0 && st.st_dev == s->known.dev &&
	       st.st_ino == s->known.ino;
}

static bool proc_carries(const char *pid, const struct swept *s)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%s/environ", pid);
	CLEANUP(xfreep) char *data = NULL;
	const char *id, *dir;
	size_t n;

	if (fs_read(path, MAX_ENVIRON, &data, &n, NULL) < 0)
		return false;
	id = sweep_value_in(data, n, "PROFRIG_RUN_ID");
	dir = sweep_value_in(data, n, "PROFRIG_RUN_DIR");
	return id && dir && strcmp(id, s->id) == 0 && swept_is_dir(s, dir);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	int64_t v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = door_fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "PPid:\t", 6)) {
			num_i64(line + 6, strcspn(line + 6, "\n"), &v);
			break;
		}
	if (f)
		fclose(f);
	return (pid_t)v;
}

/* profrig may itself be started inside a run whose profrig is dead. */
bool sweep_is_ancestor(pid_t pid)
{
	pid_t at = getpid();

	for (int i = 0; at > 1 && i < 1000; i++) {
		if (at == pid)
			return true;
		at = parent_of(at);
	}
	return pid == 1;
}

/* sig 0: only counts the processes. */
static size_t signal_carriers(const struct swept *s, int sig)
{
	size_t count = 0;
	struct dirent *e;
	DIR *d = door_opendir("/proc");

	while (d && (e = readdir(d))) {
		int64_t pid;

		if (num_i64(e->d_name, strlen(e->d_name), &pid) < 0 ||
		    !proc_carries(e->d_name, s) || sweep_is_ancestor((pid_t)pid))
			continue;
		count += kill((pid_t)pid, sig) == 0;
	}
	if (d)
		closedir(d);
	return count;
}

static void sweep_nap(int64_t ns)
{
	clock_sleep_until_ns(clock_monotonic_ns() + ns);
}

/* A pidfd of the recorded agent; -1: it is gone, or none is recorded. */
static int agent_of(const struct swept *s)
{
	return s->known.agent > 0 ? proven_pidfd(s->known.agent, s->known.agent_ticks) : -1;
}

size_t sweep_processes(const struct swept *s)
{
	CLEANUP(xclosep) int agent = agent_of(s);
	size_t ended = 0, n;

	if (agent >= 0 && sweep_is_ancestor(s->known.agent))
		return 0;
	/* Mostly the agent's input has closed, which ends it; a dead dockerd keeps it open. SIGCONT
	 * wakes a stopped agent. */
	if (agent >= 0) {
		ended += proven_signal(agent, SIGTERM) == 0;
		proven_signal(agent, SIGCONT);
	}
	if (agent >= 0 && !proven_ended(agent, AGENT_PATIENCE_MS) &&
	    proven_signal(agent, SIGKILL) == 0)
		proven_ended(agent, AGENT_PATIENCE_MS);
	for (int i = 0; i < KILL_ROUNDS && (n = signal_carriers(s, SIGKILL)) > 0; i++) {
		ended = n > ended ? n : ended;
		sweep_nap(20 * NS_PER_MS);
	}
	return ended;
}

/* --- containers --- */

int sweep_list_containers(const struct engine *e, struct strvec *lines)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;
	int r;

	if (!e->words[ENGINE_LIST])
		return 0;
	engine_ask(e, ENGINE_LIST, &argv);
	r = proc_capture(argv.v, ENGINE_TIMEOUT_MS, (size_t)4 << 20, &out, NULL, &x, NULL);
	if (r < 0 || x.code != 0)
		return r < 0 ? r : -EIO;
	strvec_split(lines, out.buf, "\n");
	return 0;
}

int sweep_remove_container(const struct engine *e, const char *name)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_exit x;
	int r;

	engine_ask(e, ENGINE_REMOVE, &argv, .of = name);
	r = proc_capture(argv.v, ENGINE_TIMEOUT_MS, 0, NULL, NULL, &x, NULL);
	return r < 0 ? r : x.code != 0 ? -EIO : 0;
}

/* "a-1.2-c0ffee" is of a-1.2, and of a-1.2/node-0. */
static bool id_begins(const char *run_id, const char *name)
{
	size_t n = strlen(name);

	return n && !strncmp(run_id, name, n) && run_id[n] == '-' && !strchr(run_id + n + 1, '-');
}

bool sweep_is_dir_of(const char *run_dir, const char *run_id)
{
	CLEANUP(xfreep) char *above = fs_dir(run_dir);

	return !strcmp(fs_base(run_dir), run_id) || id_begins(run_id, fs_base(run_dir)) ||
	       (!strncmp(fs_base(run_dir), "node-", 5) && id_begins(run_id, fs_base(above)));
}

/* The run directory that a container mounts, itself or the folder made for it (PLAN_INSIDE). */
char *sweep_mounted_dir(const struct engine *e, const char *name, const char *run_id,
			bool *ret_running)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, lines = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;

	*ret_running = false;
	if (!e->words[ENGINE_MOUNTS])
		return NULL;
	engine_ask(e, ENGINE_MOUNTS, &argv, .of = name);
	if (proc_capture(argv.v, ENGINE_TIMEOUT_MS, 1 << 20, &out, NULL, &x, NULL) < 0 || x.code)
		return NULL;
	strvec_split(&lines, out.buf, "\n");
	*ret_running = lines.nr > 0 && !strcmp(lines.v[0], "true");
	for (size_t i = 1; i < lines.nr; i++) {
		CLEANUP(xfreep) char *above = fs_dir(lines.v[i]);

		if (!strcmp(fs_base(lines.v[i]), PLAN_INSIDE) && sweep_is_dir_of(above, run_id))
			return STEAL(above);
		if (sweep_is_dir_of(lines.v[i], run_id))
			return xstrdup(lines.v[i]);
	}
	return NULL;
}

/* Only this user can write the registry, so an id from there is proof enough. */
static bool is_its_container(const struct engine *e, const char *name, const struct swept *s)
{
	bool running;
	CLEANUP(xfreep)
	char *dir = s->in_registry ? NULL : sweep_mounted_dir(e, name, s->id, &running);

	return s->in_registry || (dir && swept_is_dir(s, dir));
}

static bool sweep_container(struct sweep *sw, const struct engine *e, const char *name,
			    const char *run_id)
{
	struct leftover *row = sweep_row(sw, "container", xstrdup(name),
					 "%s, of run %s, whose profrig is dead", e->name, run_id);

	if (!sw->o->fix)
		return false;
	if (sweep_remove_container(e, name) < 0) {
		sweep_error(row, "%s does not remove it", e->name);
		return false;
	}
	sweep_done(row, "removed container %s, which its run had left", name);
	return true;
}

/* Returns whether no container of this run is left. */
static bool sweep_containers(struct sweep *sw, const struct engine *e, const struct swept *s)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	bool gone = true;

	if (sweep_list_containers(e, &lines) < 0) {
		struct leftover *row = sweep_row(sw, "container", xasprintf("profrig-%s", s->id),
						 "perhaps: %s does not say", e->name);

		row->kept = true;
		return false;
	}
	for (size_t i = 0; i < lines.nr; i++) {
		const char *blank = strchr(lines.v[i], ' ');

		if (blank && !strcmp(blank + 1, s->id)) {
			CLEANUP(xfreep)
			char *name = xstrndup(lines.v[i], (size_t)(blank - lines.v[i]));

			if (is_its_container(e, name, s))
				gone &= sweep_container(sw, e, name, s->id);
		}
	}
	return gone;
}

/* --- runs --- */

static bool processes_of(struct sweep *sw, const struct swept *s)
{
	CLEANUP(xclosep) int agent = agent_of(s);
	struct leftover *row;
	size_t n;

	/* profrig may itself be started inside a run whose profrig is dead. */
	if (agent >= 0 && sweep_is_ancestor(s->known.agent))
		return true;
	if (sw->o->fix)
		n = sweep_processes(s);
	else
		n = signal_carriers(s, 0) + (agent >= 0 && !proven_ended(agent, 0));
	if (n == 0)
		return true;
	row = sweep_row(sw, "processes", xasprintf("%zu process%s", n, n == 1 ? "" : "es"),
			"of run %s, whose profrig is dead", s->id);
	if (sw->o->fix)
		sweep_done(row, "ended %zu process%s of %s", n, n == 1 ? "" : "es", s->id);
	return sw->o->fix;
}

bool sweep_run(struct sweep *sw, const struct swept *s, const char *engine)
{
	const struct engine *e = engine ? engine_find(engine) : NULL;
	bool gone = processes_of(sw, s);

	if (e && e->container)
		gone &= sweep_containers(sw, e, s);
	return gone;
}

/* --- entries --- */

static json_t *read_entry(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;

	return fs_read(path, MAX_ENTRY, &text, &n, NULL) == 0 ? json_loadb(text, n, 0, NULL) : NULL;
}

static void sweep_entry(struct sweep *sw, const char *path, const char *run_id)
{
	json_t *entry = read_entry(path);
	const char *run_dir = json_string_value(json_object_get(entry, "run_dir"));
	const char *engine = json_string_value(json_object_get(entry, "engine"));
	pid_t owner = (pid_t)json_integer_value(json_object_get(entry, "pid"));
	struct swept s = { .id = run_id, .in_registry = true };
	CLEANUP(xclosep) int fd = -1;

	s.dir = run_dir && *run_dir == '/' ? run_dir : NULL;
	registry_read(entry, &s.known);
	strvec_push(&sw->seen, run_id);
	/* Otherwise the run is alive, or another profrig finishes it off. */
	if (sweep_lock_of_dead(path, owner, &fd) == 0 &&
	    (!s.dir || sweep_dir(sw, &s, owner) == 0)) {
		sw->dead++;
		/*
		 * While the engine does not answer the entry stays, for the next profrig to try
		 * again.
		 */
		if (sweep_run(sw, &s, engine) && sw->o->fix)
			unlink(path);
		else if (!sw->o->fix)
			sweep_row(sw, "entry", xstrdup(path), "of run %s, whose profrig is dead",
				  run_id)
				->bytes = fs_size(path);
	}
	json_decref(entry);
}

/* An entry whose profrig died before it was complete; a fresh one may still become complete. */
static void sweep_unborn_entry(struct sweep *sw, const char *path)
{
	CLEANUP(xclosep) int fd = -1;

	if (!fs_is_file(path) || clock_realtime_ns() - fs_mtime_ns(path) <= UNBORN_NS ||
	    registry_lock(path, false, &fd) < 0)
		return;
	if (!sw->o->fix)
		sweep_row(sw, "entry", xstrdup(path), "never finished")->bytes = fs_size(path);
	else
		unlink(path);
}

static int sweep_registry(struct sweep *sw, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = registry_dir(err);
	int r = dir ? fs_list(dir, &names, err) : err && err->code ? -err->code : -EPERM;

	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);

		if (names.v[i][0] != '.')
			sweep_entry(sw, path, names.v[i]);
		else
			sweep_unborn_entry(sw, path);
	}
	return r;
}

int leftovers_find(const struct leftovers_opts *o, struct leftovers *ret, struct err *err)
{
	struct sweep sw = { .o = o, .out = ret, .seen = STRVEC_INIT };
	int r = sweep_registry(&sw, err);

	if (o->runs_dir)
		sweep_runs_dir(&sw);
	if (o->all)
		sweep_rest(&sw);
	strvec_release(&sw.seen);
	return r < 0 ? r : sw.dead;
}

int run_sweep_leftovers(const char *runs_dir, struct strvec *lines, struct err *err)
{
	struct leftovers_opts o = { .runs_dir = runs_dir, .fix = true };
	struct leftovers found = { VEC_INIT };
	int r = leftovers_find(&o, &found, err);

	for (size_t i = 0; i < found.rows.nr; i++)
		if (found.rows.v[i].done)
			strvec_push(lines, found.rows.v[i].done);
	leftovers_release(&found);
	return r;
}
