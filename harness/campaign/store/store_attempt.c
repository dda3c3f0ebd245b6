#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define RUN_JSON_MAX ((size_t)64 << 20)
#define ENV_MAX ((size_t)1 << 20)
#define METRICS_MAX 100000
#define ARTIFACTS_MAX 100000
#define TEXT_MAX ((size_t)4096)

enum store_better store_better_of(const char *name, const char *unit)
{
	size_t n = unit ? strlen(unit) : 0;

	return !strcmp(name, "performance") || (n >= 2 && !strcmp(unit + n - 2, "/s"))
		       ? STORE_HIGHER
		       : STORE_LOWER;
}

/* A text of run.json, not longer than a page; owned, NULL when it is none. */
static char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	size_t n = s ? strlen(s) : 0;

	if (!s)
		return NULL;
	if (n <= TEXT_MAX)
		return xstrdup(s);
	for (n = TEXT_MAX; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return xstrndup(s, n);
}

/* ---- the environment ---- */

static json_t *members_of(const json_t *from, const char *const *keys, size_t n)
{
	json_t *to = json_object();

	for (size_t i = 0; i < n; i++) {
		json_t *v = json_object_get(from, keys[i]);

		if (v && !json_is_null(v))
			json_object_set(to, keys[i], v);
	}
	return to;
}

/* What stays the same from run to run on one machine, as canonical JSON; owned. NULL: too long. */
static char *env_text(const json_t *run)
{
	static const char *const facts[] = { "host",         "versions",          "engine", "image",
					     "image_digest", "image_repo_digest", "git" };
	static const char *const of_device[] = {
		"id",  "source", "vendor", "name",         "arch",
		"pci", "uuid",   "driver", "memory_bytes", "facts"
	};
	static const char *const of_tool[] = { "name", "version", "vendor" };
	json_t *env = members_of(run, facts, ARRAY_LEN(facts));
	json_t *devices = json_array(), *tools = json_array();
	const json_t *one;
	char *text;
	size_t i;

	json_array_foreach(json_object_get(run, "devices"), i, one)
		json_array_append_new(devices, members_of(one, of_device, ARRAY_LEN(of_device)));
	json_array_foreach(json_object_get(run, "tools"), i, one)
		json_array_append_new(tools, members_of(one, of_tool, ARRAY_LEN(of_tool)));
	json_object_set_new(env, "devices", devices);
	json_object_set_new(env, "tools", tools);
	text = json_dumps(env, STORE_JSON_TEXT | JSON_SORT_KEYS);
	json_decref(env);
	if (text && strlen(text) > ENV_MAX)
		free(STEAL(text));
	return text;
}

static int env_put(struct store *s, const json_t *run, char ret_sha[65], struct err *err)
{
	CLEANUP(xfreep) char *text = env_text(run);

	*ret_sha = 0;
	if (!text)
		return 0;
	fs_sha256_text(text, strlen(text), ret_sha);
	return store_run(s, STORE_ENV, err, "tt", ret_sha, text);
}

/* ---- artifacts and metrics ---- */

static int artifact_put(struct store *s, const char *id, const json_t *a, struct err *err)
{
	CLEANUP(xfreep) char *tool = text_at(a, "tool"), *path = text_at(a, "path");
	CLEANUP(xfreep) char *sha = text_at(a, "sha256"), *verdict = text_at(a, "verdict");
	const json_t *size = json_object_get(a, "bytes");
	int64_t bytes = json_integer_value(size);

	return store_run(s, STORE_ARTIFACT, err, "tttott", id, tool ? tool : "", path ? path : "",
			 json_is_integer(size) ? &bytes : NULL, sha, verdict);
}

/* lost: there were too many. */
static int artifacts_put(struct store *s, const char *id, const json_t *run, bool *lost,
			 struct err *err)
{
	const json_t *list = json_object_get(run, "artifacts"), *one;
	size_t i;
	int r = store_run(s, STORE_NO_ARTIFACTS, err, "t", id);

	*lost |= json_array_size(list) > ARTIFACTS_MAX;
	json_array_foreach(list, i, one) if (r == 0 && i < ARTIFACTS_MAX) r =
		artifact_put(s, id, one, err);
	return r;
}

static int metric_put(struct store *s, const char *id, const struct store_figure *f,
		      struct err *err)
{
	if (isnan(f->value))
		return 0;
	return store_run(s, STORE_METRIC, err, "tttttf", id, f->name, f->key ? f->key : "",
			 f->unit ? f->unit : "", f->better == STORE_HIGHER ? "higher" : "lower",
			 f->value);
}

/* A name that comes again has its number as key: "2". seen: how often each came. */
static int run_metric_put(struct store *s, const char *id, const json_t *m, json_t *seen,
			  struct err *err)
{
	CLEANUP(xfreep) char *name = text_at(m, "name"), *unit = text_at(m, "unit");
	const json_t *value = json_object_get(m, "value");
	struct store_figure f = { .name = name, .key = "", .unit = unit };
	json_int_t times;
	char key[24];

	if (!name || !json_is_number(value))
		return 0;
	times = json_integer_value(json_object_get(seen, name)) + 1;
	json_object_set_new(seen, name, json_integer(times));
	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT, times);
	f.key = times > 1 ? key : "";
	f.better = store_better_of(name, unit);
	f.value = json_number_value(value);
	return metric_put(s, id, &f, err);
}

static int run_metrics_put(struct store *s, const char *id, const json_t *run, bool *lost,
			   struct err *err)
{
	const json_t *list = json_object_get(run, "metrics"), *one;
	json_t *seen = json_object();
	size_t i;
	int r = 0;

	*lost |= json_array_size(list) > METRICS_MAX;
	json_array_foreach(list, i, one) if (r == 0 && i < METRICS_MAX) r =
		run_metric_put(s, id, one, seen, err);
	json_decref(seen);
	return r;
}

struct figures {
	struct store *s;
	const char *id;
	size_t nr;
	int r;
	struct err err;
};

static void figure_add(void *to, const struct store_figure *f)
{
	struct figures *fs = to;

	if (fs->r == 0 && fs->nr++ < METRICS_MAX)
		fs->r = metric_put(fs->s, fs->id, f, &fs->err);
}

static int figures_put(struct store *s, const char *id, const char *run_dir, const json_t *run,
		       bool *lost, struct err *err)
{
	struct figures fs = { .s = s, .id = id };

	if (!run || !s->o.figures || !s->metrics.nr)
		return 0;
	if (s->o.figures(s->o.figures_ctx, run_dir, &s->metrics, figure_add, &fs, NULL) < 0)
		*lost = true;
	*lost |= fs.nr > METRICS_MAX;
	if (fs.r < 0 && err)
		*err = fs.err;
	return fs.r;
}

/* ---- the run directory ---- */

/* NULL: it is not there, or none. */
static json_t *run_json_read(const char *run_dir)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json"), *text = NULL;
	const char *schema;
	json_t *run;
	size_t n = 0;

	if (fs_read(path, RUN_JSON_MAX, &text, &n, NULL) < 0)
		return NULL;
	run = json_loadb(text, n, 0, NULL);
	schema = json_string_value(json_object_get(run, "schema"));
	if (schema && !strncmp(schema, "profrig.run/", 12))
		return run;
	json_decref(run);
	return NULL;
}

/* What workloads write is read through the held folder `runs`. */
static bool runs_hold(const struct store *s, char **ret_runs)
{
	*ret_runs = fs_join(s->dir, "runs");
	return door_hold(*ret_runs, NULL) == 0;
}

/* Where its record is: with several nodes in that of the first one. Owned. */
static char *run_dir_of(const char *runs, const char *id)
{
	CLEANUP(xfreep) char *dir = fs_join(runs, id);
	CLEANUP(xfreep) char *first = fs_join(dir, "node-0");
	struct stat st;

	return door_lstat(first, &st) == 0 && S_ISDIR(st.st_mode) ? STEAL(first) : STEAL(dir);
}

static int metrics_put(struct store *s, const char *id, const char *run_dir, const json_t *run,
		       bool *lost, struct err *err)
{
	int r = store_run(s, STORE_NO_METRICS, err, "t", id);

	if (r == 0)
		r = run_metrics_put(s, id, run, lost, err);
	return r < 0 ? r : figures_put(s, id, run_dir, run, lost, err);
}

int store_metrics_again(struct store *s, const char *id, struct err *err)
{
	CLEANUP(xfreep) char *runs = NULL, *dir = NULL;
	bool held = runs_hold(s, &runs), lost = false;
	json_t *run;
	int r = 0;

	dir = run_dir_of(runs, id);
	run = held ? run_json_read(dir) : NULL;
	if (run)
		r = metrics_put(s, id, dir, run, &lost, err);
	s->now.unread += lost;
	json_decref(run);
	if (held)
		door_let_go(runs);
	return r;
}

static int ended_put(struct store *s, const struct journal_event *e, const char *id,
		     const json_t *run, const char *env_sha, struct err *err)
{
	CLEANUP(xfreep) char *host = text_at(json_object_get(run, "host"), "hostname");
	CLEANUP(xfreep) char *reason = text_at(e->all, "reason");
	const json_t *code = json_object_get(e->all, "exit");
	int64_t status = json_integer_value(code);
	int64_t begin = journal_time_ns(json_string_value(json_object_get(run, "started_utc")));
	int64_t end = journal_time_ns(json_string_value(json_object_get(run, "ended_utc")));

	return store_run(s, STORE_ENDED, err, "ttttottttoi", id,
			 json_string_value(json_object_get(e->all, "state")),
			 json_string_value(json_object_get(e->all, "class")), reason,
			 json_is_integer(code) ? &status : NULL,
			 json_string_value(json_object_get(e->all, "signal")),
			 json_string_value(json_object_get(e->all, "node")), host,
			 *env_sha ? env_sha : NULL, begin ? &begin : NULL, end ? end : e->t_ns);
}

static int run_take(struct store *s, const struct journal_event *e, const char *id,
		    const char *run_dir, const json_t *run, struct err *err)
{
	char sha[65] = "";
	const char *class = json_string_value(json_object_get(e->all, "class"));
	bool lost = run == NULL && class && !strcmp(class, "ok");
	int r = 0;

	if (run)
		r = env_put(s, run, sha, err);
	if (r == 0)
		r = ended_put(s, e, id, run, sha, err);
	if (r == 0)
		r = artifacts_put(s, id, run, &lost, err);
	if (r == 0)
		r = metrics_put(s, id, run_dir, run, &lost, err);
	s->now.unread += lost;
	return r;
}

/* Whether it had ended when the journal said so; else its record may be another one now. */
static bool had_ended(const struct journal_event *e)
{
	const char *state = json_string_value(json_object_get(e->all, "state"));

	return !state || (strcmp(state, "running") != 0 && strcmp(state, "planned") != 0 &&
			  strcmp(state, "lost") != 0);
}

int store_take_ended(struct store *s, const struct journal_event *e, struct err *err)
{
	CLEANUP(xfreep) char *id = store_attempt_id(e->run, e->attempt), *runs = NULL, *dir = NULL;
	CLEANUP(xfreep) char *below = xasprintf("runs/%s", id);
	bool held = runs_hold(s, &runs);
	json_t *run;
	int r = store_run(s, STORE_ATTEMPT, err, "ttit", id, e->run, e->attempt, below);

	dir = run_dir_of(runs, id);
	run = held && had_ended(e) ? run_json_read(dir) : NULL;
	if (r == 0)
		r = run_take(s, e, id, dir, run, err);
	json_decref(run);
	if (held)
		door_let_go(runs);
	return r;
}
