#include "attempt.h"
#include "steady.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/devices/devices.h"
#include "profrig/run/runs.h"

#define RUN_JSON_MAX ((size_t)64 << 20)
#define LINE_MAX_BYTES 256
#define LOG_TAIL 16384

/* ---- judging ---- */

static const char *text_at(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static bool is_folder(const char *path)
{
	struct stat st;

	return door_lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A regular file, through no link, without waiting for it; -1. */
static int file_open(const char *path)
{
	int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* NULL: there is none that can be read. */
static json_t *run_json(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(xclosep) int fd = is_folder(run_dir) ? file_open(path) : -1;
	struct stat st;
	ssize_t n, at = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > (off_t)RUN_JSON_MAX)
		return NULL;
	text = xmalloc((size_t)st.st_size + 1);
	while ((n = pread(fd, text + at, (size_t)(st.st_size - at), at)) > 0 ||
	       (n < 0 && errno == EINTR))
		at += n > 0 ? n : 0;
	return n < 0 ? NULL : json_loadb(text, (size_t)at, 0, NULL);
}

static bool has_warning(const json_t *doc, const char *code)
{
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(doc, "warnings"), i,
			   w) if (!strcmp(text_at(w, "code"), code)) return true;
	return false;
}

/* The step that the run was about: the workload's, or the one that failed in front of it. */
static const json_t *last_step(const json_t *doc, const char *kind)
{
	const json_t *step, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(doc, "steps"), i,
			   step) if (!kind || !strcmp(text_at(step, "kind"), kind)) found = step;
	return found;
}

static void workload_read(const json_t *doc, struct attempt_outcome *ret)
{
	const json_t *step = last_step(doc, "workload"), *code;

	code = json_object_get(step, "exit_code");
	ret->exit_code = json_is_integer(code) ? (int)json_integer_value(code) : -1;
	snprintf(ret->signal, sizeof(ret->signal), "%s", text_at(step, "signal"));
	ret->workload_s =
		json_number_value(json_object_get(json_object_get(doc, "durations_s"), "workload"));
	if (!json_is_number(json_object_get(json_object_get(doc, "durations_s"), "workload")))
		ret->workload_s = NAN;
}

/* A step that began and has no end: its agent, its engine or its machine went away. */
static bool step_is_lost(const json_t *doc)
{
	const json_t *step = last_step(doc, NULL);

	return step && !json_is_integer(json_object_get(step, "exit_code")) &&
	       !json_is_string(json_object_get(step, "signal"));
}

static void fail(struct attempt_outcome *ret, enum attempt_class class, const char *kind,
		 const char *reason)
{
	ret->class = class;
	snprintf(ret->kind, sizeof(ret->kind), "%s", kind);
	snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
}

static void failure_judge(const json_t *doc, struct attempt_outcome *ret)
{
	const char *reason = text_at(doc, "reason"), *phase = text_at(doc, "phase");

	if (has_warning(doc, W_DISK_FULL))
		fail(ret, ATTEMPT_INFRASTRUCTURE, "disk", reason);
	else if (has_warning(doc, W_OOM))
		fail(ret, ATTEMPT_WORKLOAD, "oom", reason);
	else if (!strcmp(ret->state, "timeout"))
		fail(ret, ATTEMPT_WORKLOAD, "timeout", reason);
	else if (!strcmp(phase, "probe") || !last_step(doc, NULL) || step_is_lost(doc))
		fail(ret, ATTEMPT_INFRASTRUCTURE, "engine", reason);
	else if (*ret->signal)
		fail(ret, ATTEMPT_WORKLOAD, "signal", reason);
	else if (ret->exit_code > 0)
		fail(ret, ATTEMPT_WORKLOAD, "exit", reason);
	else
		fail(ret, ATTEMPT_WORKLOAD, "output", reason);
}

static bool has_metric(const json_t *doc, const char *name)
{
	const json_t *m;
	size_t i;

	if (!strcmp(name, "duration"))
		return true;
	json_array_foreach(json_object_get(doc, "metrics"), i,
			   m) if (!strcmp(text_at(m, "name"), name) &&
				  json_is_number(json_object_get(m, "value"))) return true;
	/* figures of tables are read when they are compared */
	return strchr(name, '.') != NULL;
}

static void metrics_judge(const json_t *doc, const struct strvec *metrics,
			  struct attempt_outcome *ret)
{
	for (size_t i = 0; metrics && i < metrics->nr; i++)
		if (!has_metric(doc, metrics->v[i])) {
			fail(ret, ATTEMPT_WORKLOAD, "metric", "");
			snprintf(ret->reason, sizeof(ret->reason),
				 "metric '%.80s' is missing: the workload printed none of it",
				 metrics->v[i]);
			return;
		}
}

static void figure_read(const json_t *doc, const struct strvec *metrics,
			struct attempt_outcome *ret)
{
	const char *name = metrics && metrics->nr ? metrics->v[0] : "performance";
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(doc, "metrics"), i, m)
	{
		const json_t *v = json_object_get(m, "value");

		if (!json_is_number(v) || strcmp(text_at(m, "name"), name) != 0)
			continue;
		snprintf(ret->figure, sizeof(ret->figure), "%.5g %.60s", json_number_value(v),
			 text_at(m, "unit"));
		return;
	}
}

static void dir_judge(const char *run_dir, const struct strvec *metrics,
		      struct attempt_outcome *ret)
{
	json_t *doc = run_json(run_dir);

	*ret = (struct attempt_outcome){ .exit_code = -1, .workload_s = NAN };
	if (!doc) {
		snprintf(ret->state, sizeof(ret->state), "lost");
		fail(ret, ATTEMPT_INTERRUPTED, "", "no trace of it");
		return;
	}
	ret->found = true;
	snprintf(ret->state, sizeof(ret->state), "%s", text_at(doc, "status"));
	snprintf(ret->node, sizeof(ret->node), "%s",
		 text_at(json_object_get(doc, "host"), "hostname"));
	workload_read(doc, ret);
	if (!strcmp(ret->state, "success")) {
		figure_read(doc, metrics, ret);
		metrics_judge(doc, metrics, ret);
	} else if (!strcmp(ret->state, "running") || !strcmp(ret->state, "planned")) {
		ret->running = run_is_live(run_dir);
		fail(ret, ATTEMPT_INTERRUPTED, "", "its profrig ended before it did");
	} else if (!strcmp(ret->state, "interrupted")) {
		fail(ret, ATTEMPT_INTERRUPTED, "", text_at(doc, "reason"));
	} else {
		failure_judge(doc, ret);
	}
	json_decref(doc);
}

/* Owned. */
static char *run_dir_of(const struct attempt_where *w, const struct attempt_name *a, size_t node)
{
	return w->nodes > 1 ? xasprintf("%s/runs/%s/node-%zu", w->dir, a->all, node)
			    : xasprintf("%s/runs/%s", w->dir, a->all);
}

/* Owned. */
static char *throttled_path(const struct attempt_where *w, const struct attempt_name *a,
			    size_t node)
{
	return w->nodes > 1 ? xasprintf("%s/logs/%s.%zu.throttled", w->dir, a->all, node)
			    : xasprintf("%s/logs/%s.throttled", w->dir, a->all);
}

/* 0: no such note. */
static uint64_t throttled_read(const struct attempt_where *w, const struct attempt_name *a,
			       size_t node)
{
	CLEANUP(xfreep) char *path = throttled_path(w, a, node);
	CLEANUP(xclosep) int fd = file_open(path);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t times;

	return n > 1 && num_u64(text, (size_t)n - 1, &times) == 0 ? times : 0;
}

static int throttled_write(const struct attempt_work *w, const struct attempt_name *a,
			   uint64_t times, struct err *err)
{
	CLEANUP(xfreep) char *path = throttled_path(&w->where, a, w->node);
	CLEANUP(xfreep) char *dir = fs_dir(path);
	char text[32];
	int r = fs_mkdirs(dir, 0755, err);

	snprintf(text, sizeof(text), "%" PRIu64 "\n", times);
	return r < 0 ? r : fs_write_atomic(path, text, strlen(text), err);
}

/* A failure of the machine explains one of the workload on another node, not the reverse. */
static int badness(const struct attempt_outcome *o)
{
	static const int of[] = { [ATTEMPT_OK] = 0,
				  [ATTEMPT_INVALID] = 1,
				  [ATTEMPT_WORKLOAD] = 2,
				  [ATTEMPT_INTERRUPTED] = 3,
				  [ATTEMPT_INFRASTRUCTURE] = 4 };

	return of[o->class];
}

void attempt_judge(const struct attempt_where *w, const struct attempt_name *a,
		   struct attempt_outcome *ret)
{
	size_t nodes = w->nodes > 1 ? w->nodes : 1;

	for (size_t k = 0; k < nodes; k++) {
		CLEANUP(xfreep) char *run_dir = run_dir_of(w, a, k);
		struct attempt_outcome one;

		/* a program prints its figures once, on whichever node */
		dir_judge(run_dir, k ? NULL : w->metrics, &one);
		one.throttled = throttled_read(w, a, k);
		if (k && ret->throttled > one.throttled)
			one.throttled = ret->throttled;
		one.running |= k && ret->running;
		one.found |= k && ret->found;
		if (k == 0 || badness(&one) > badness(ret)) {
			*ret = one;
		} else {
			ret->running = one.running;
			ret->found = one.found;
			ret->throttled = one.throttled;
		}
	}
}

double attempt_metric(const struct attempt_where *w, const struct attempt_name *a,
		      const char *metric)
{
	CLEANUP(xfreep) char *run_dir = run_dir_of(w, a, 0);
	json_t *doc = run_json(run_dir);
	const json_t *m, *found = NULL;
	double value = NAN;
	size_t i;

	if (!strcmp(metric, "duration"))
		found = json_object_get(json_object_get(doc, "durations_s"), "workload");
	else
		json_array_foreach(json_object_get(doc, "metrics"), i,
				   m) if (!found && !strcmp(text_at(m, "name"), metric)) found =
			json_object_get(m, "value");
	if (json_is_number(found))
		value = json_number_value(found);
	json_decref(doc);
	return value;
}

bool attempt_holds(const struct attempt_where *w, const struct attempt_name *a)
{
	/* metrics that a gate wants since then take back nothing */
	const struct attempt_where any = { w->dir, NULL, w->nodes };
	struct attempt_outcome o;

	attempt_judge(&any, a, &o);
	return o.found && (o.class == ATTEMPT_OK || !strcmp(o.state, "running") ||
			   !strcmp(o.state, "planned"));
}

int attempt_commit(const struct attempt_where *w, const struct attempt_name *a, char said[200],
		   struct err *err)
{
	char more[200] = "";
	struct attempt_name other;
	int r = 0;

	*said = 0;
	if (commit_look(w->dir, a->run, &other, NULL) == 1 && strcmp(other.all, a->all) != 0 &&
	    !attempt_holds(w, &other))
		r = commit_put_aside(w->dir, a->run, said, err);
	if (r == 0)
		r = commit_attempt(w->dir, a, more, err);
	if (*more)
		snprintf(said, 200, "%s", more);
	return r;
}

void attempt_last_words(const char *path, const char *with, char ret[200])
{
	static const char error[] = "profrig: error: ";
	CLEANUP(xclosep) int fd = file_open(path);
	CLEANUP(xfreep) char *text = xmalloc(LOG_TAIL + 1);
	struct stat st;
	ssize_t n = 0;

	*ret = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	n = pread(fd, text, LOG_TAIL, st.st_size < (off_t)LOG_TAIL ? 0 : st.st_size - LOG_TAIL);
	while (n > 0) {
		char *line;

		while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
			n--;
		text[n] = 0;
		line = strrchr(text, '\n');
		line = line ? line + 1 : text;
		n = line - text;
		if (!strstr(line, with))
			continue;
		if (!strncmp(line, error, strlen(error)))
			line += strlen(error);
		snprintf(ret, 200, "%s", line);
		return;
	}
}

/* ---- executing ---- */

static struct cell *cell_of(const struct attempt_work *w, const char *id)
{
	for (size_t i = 0; i < w->ids->nr && i < w->cells->v.nr; i++)
		if (!strcmp(w->ids->v[i], id))
			return &w->cells->v.v[i];
	return NULL;
}

static void labels_set(const struct attempt_work *w, const struct attempt_name *a,
		       struct prepared *p)
{
	char repeat[16], node[24];

	snprintf(repeat, sizeof(repeat), "%u", a->repeat);
	prepare_label(p, "campaign", w->campaign);
	prepare_label(p, "cell", a->cell);
	prepare_label(p, "repeat", repeat);
	prepare_label(p, "block", repeat);
	if (w->where.nodes > 1) {
		snprintf(node, sizeof(node), "%zu", w->node);
		prepare_label(p, "node", node);
	}
}

static int commit_if_good(const struct attempt_work *w, const struct attempt_name *a,
			  enum attempt_end *ret, char said[200], struct err *err)
{
	struct attempt_outcome o;
	int r;

	*ret = ATTEMPT_ENDED;
	attempt_judge(&w->where, a, &o);
	if (o.class != ATTEMPT_OK || o.throttled)
		return 0;
	r = attempt_commit(&w->where, a, said, err);
	if (r < 0)
		return r;
	*ret = r == COMMITTED ? ATTEMPT_COMMITTED : ATTEMPT_SUPERSEDED;
	return 0;
}

/* Of two campaigns with the same cells, too, each run has an id, and a container, of its own. */
static char *run_id_of(const struct attempt_name *a, const char *run_dir)
{
	char sha[65];

	fs_sha256_text(run_dir, strlen(run_dir), sha);
	return xasprintf("%s-%.6s", a->all, sha);
}

static int execute_counted(const struct attempt_work *w, const struct attempt_name *a,
			   struct prepared *p, struct err *err)
{
	struct throttle *before = throttle_read(devices_root()), *after;
	uint64_t times;

	w->execute(w->ctx, p);
	after = throttle_read(devices_root());
	times = throttle_between(before, after);
	throttle_free(before);
	throttle_free(after);
	return times ? throttled_write(w, a, times, err) : 0;
}

int attempt_execute(const struct attempt_work *w, const struct attempt_name *a,
		    enum attempt_end *ret, char said[200], struct err *err)
{
	CLEANUP(xfreep) char *run_dir = run_dir_of(&w->where, a, w->node);
	struct cell *cell = cell_of(w, a->cell);
	struct attempt_name other;
	struct prepared *p;
	CLEANUP(xfreep) char *id = NULL;
	int r;

	*said = 0;
	*ret = ATTEMPT_SUPERSEDED;
	if (!cell)
		return err_set(err, EINVAL, "'%s' is of no cell of the plan", a->all);
	/* it may have run elsewhere meanwhile; what is no commit is left to ours */
	if (commit_look(w->where.dir, a->run, &other, NULL) == 1 &&
	    attempt_holds(&w->where, &other))
		return 0;
	p = cell_ready(w->o, w->cells, cell, err);
	if (!p)
		return -EBADMSG;
	labels_set(w, a, p);
	id = run_id_of(a, run_dir);
	r = prepare_at(p, id, run_dir, err);
	if (r < 0)
		return r;
	r = execute_counted(w, a, p, err);
	return r < 0 ? r : commit_if_good(w, a, ret, said, err);
}

/* ---- the worker ---- */

/* Both outputs of this process go there. */
static int log_open(const char *dir, const char *name, struct err *err)
{
	CLEANUP(xfreep) char *logs = fs_join(dir, "logs");
	CLEANUP(xfreep) char *path = xasprintf("%s/%s.log", logs, name);
	CLEANUP(xclosep) int fd = -1;
	struct stat st;
	int r = fs_mkdirs(logs, 0755, err);

	if (r < 0)
		return r;
	fd = door_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		       0644);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: no regular file", path);
	if (dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		return err_sys(err, errno, "%s", path);
	return 0;
}

static int answer(int out, const char *name, const char *word, const char *words, struct err *err)
{
	CLEANUP(xfreep) char *line = xasprintf("%s %s %s\n", name, word, words);

	for (char *c = line; *c; c++)
		if (*c == '\n' && c[1])
			*c = ' ';
	return fs_write_all(out, line, strlen(line)) < 0 ? err_sys(err, errno, "the campaign") : 0;
}

static int line_work(const struct attempt_work *w, int out, const char *line, struct err *err)
{
	static const char *const ends[] = { "ended", "committed", "superseded" };
	struct err why = ERR_INIT;
	struct attempt_name a;
	enum attempt_end end;
	char said[200];
	int r;

	if (!attempt_name_parse(line, &a) || a.number == 0)
		return err_set(err, EINVAL, "'%.60s' is no attempt", line);
	r = log_open(w->where.dir, a.all, &why);
	if (r == 0)
		r = attempt_execute(w, &a, &end, said, &why);
	fflush(stdout);
	fflush(stderr);
	return r < 0 ? answer(out, a.all, "unable", why.msg, err)
		     : answer(out, a.all, ends[end], said, err);
}

int attempt_worker(const struct attempt_work *w, int in, int out, struct err *err)
{
	char line[LINE_MAX_BYTES];
	size_t n = 0;
	int r = 0;

	while (r == 0) {
		ssize_t got = read(in, line + n, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? err_sys(err, errno, "the campaign") : 0;
		if (line[n] != '\n') {
			if (++n >= sizeof(line) - 1)
				return err_set(err, EINVAL, "a line is too long");
			continue;
		}
		line[n] = 0;
		n = 0;
		r = line_work(w, out, line, err);
	}
	return r;
}
