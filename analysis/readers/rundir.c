#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"

#define SCHEMA_FAMILY "profrig.run/"
#define SCHEMA SCHEMA_FAMILY "1"
#define PLAN_SCHEMA "profrig.plan/1"
#define RUN_JSON_MAX ((size_t)64 << 20)
#define MAX_ANCHORS 100000
#define MAX_NS (INT64_C(1) << 61)
#define SAMPLES_HEADER 4096

static bool is_unseen(int code)
{
	return code == EIO || code == EMFILE || code == ENFILE;
}

/*
 * Other programs write a run.json too, so the name alone proves nothing. One that cannot be read
 * counts: opening it then gives the error.
 */
bool rundir_is(const char *path)
{
	CLEANUP(xfreep) char *file = fs_join(path, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	struct stat st;
	size_t n = 0;
	int r;

	if (door_stat(file, &st) < 0)
		return is_unseen(errno);
	if (!S_ISREG(st.st_mode))
		return false;
	r = fs_read(file, RUN_JSON_MAX, &text, &n, NULL);
	return r < 0 ? is_unseen(-r)
		     : memmem(text, n, "\"" SCHEMA_FAMILY, sizeof(SCHEMA_FAMILY)) != NULL;
}

static int json_load(const char *path, json_t **ret, struct err *err)
{
	CLEANUP(xfreep) char *file = fs_join(path, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_decrefp) json_t *j = NULL;
	json_error_t e;
	const char *schema;
	size_t n = 0;
	int r = fs_read(file, RUN_JSON_MAX, &text, &n, err);

	if (r < 0)
		return r;
	j = json_loadb(text, n, 0, &e);
	if (!j)
		return err_set(err, EINVAL, "%s:%d: %s", file, e.line, e.text);
	schema = json_string_value(json_object_get(j, "schema"));
	if (!json_is_object(j) ||
	    (schema && strncmp(schema, SCHEMA_FAMILY, strlen(SCHEMA_FAMILY)) != 0))
		return err_set(err, EINVAL, "%s: not a run.json of profrig (schema '%.40s')", file,
			       schema ? schema : "");
	if (schema && strcmp(schema, SCHEMA) != 0)
		return err_set(err, EINVAL, "%s: schema '%.40s' is not the one that is read, '%s'",
			       file, schema, SCHEMA);
	*ret = STEAL(j);
	return 0;
}

static const char *string_of(struct rundir *rd, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return pool_strdup(&rd->texts, s ? s : "");
}

static int64_t int_of(const json_t *o, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(o, key));
}

/* host is an object of facts; its names depend on the version that wrote it. */
static const char *host_of(struct rundir *rd, const json_t *run)
{
	static const char *const names[] = { "hostname", "name", "nodename" };
	const json_t *host = json_object_get(run, "host");

	if (json_is_string(host))
		return pool_strdup(&rd->texts, json_string_value(host));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *s = json_string_value(json_object_get(host, names[i]));

		if (s)
			return pool_strdup(&rd->texts, s);
	}
	return "";
}

static bool in_container(const json_t *run)
{
	const char *engine = json_string_value(json_object_get(run, "engine"));

	return engine && *engine && strcmp(engine, "host") != 0;
}

static void take_anchors(const json_t *run, struct rundir *rd)
{
	const json_t *clocks = json_object_get(run, "clocks"), *c;
	size_t i;

	json_array_foreach(clocks, i, c)
	{
		struct clock_anchor a = { .monotonic_ns = int_of(c, "monotonic_ns"),
					  .realtime_ns = int_of(c, "realtime_ns"),
					  .boottime_ns = int_of(c, "boottime_ns"),
					  .spread_ns = int_of(c, "spread_ns") };

		if (rd->anchors.nr >= MAX_ANCHORS)
			return;
		if (a.monotonic_ns <= 0 || a.realtime_ns <= 0)
			continue;
		if (a.boottime_ns <= 0)
			a.boottime_ns = a.monotonic_ns; /* equal on machines that never sleep */
		VEC_PUSH(&rd->anchors, a);
	}
}

static void take_workload(const json_t *run, struct rundir *rd)
{
	const json_t *steps = json_object_get(run, "steps"), *s;
	size_t i;

	json_array_foreach(steps, i, s)
	{
		const char *name = json_string_value(json_object_get(s, "name"));

		if (!name || strcmp(name, "workload") != 0)
			continue;
		rd->workload_start_ns = int_of(s, "started_ns");
		rd->workload_end_ns = int_of(s, "ended_ns");
		rd->root_pid =
			int_of(s, "pid"); /* as the workload sees it, like the pids of its traces */
	}
	if (rd->root_pid <= 0)
		rd->root_pid = 0;
}

static void take_idle(const json_t *run, struct rundir *rd)
{
	const json_t *idle = json_object_get(run, "idle"), *w;
	size_t i;

	json_array_foreach(idle, i, w)
	{
		const char *when = json_string_value(json_object_get(w, "when"));
		int64_t start_ns = int_of(w, "start_ns"), end_ns = int_of(w, "end_ns");
		bool before = when && strcmp(when, "before") == 0;

		if (start_ns <= 0 || end_ns <= start_ns || end_ns > MAX_NS ||
		    (!before && !(when && strcmp(when, "after") == 0)))
			continue;
		(before ? rd->idle_before_ns : rd->idle_after_ns)[0] = start_ns;
		(before ? rd->idle_before_ns : rd->idle_after_ns)[1] = end_ns;
	}
}

#define MAX_MARKS 100000

static int by_time(const void *pa, const void *pb)
{
	const struct rundir_mark *a = pa, *b = pb;

	return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

static void take_marks(const json_t *run, struct rundir *rd)
{
	const json_t *m, *u;
	size_t i;

	json_array_foreach(json_object_get(run, "marks"), i, m)
	{
		int64_t t_ns = int_of(m, "t_ns");
		const char *stamped = json_string_value(json_object_get(m, "stamped"));

		if (t_ns <= 0 || t_ns > MAX_NS || rd->marks.nr >= MAX_MARKS)
			continue;
		u = json_object_get(m, "uncertainty_ns");
		VEC_PUSH(&rd->marks,
			 ((struct rundir_mark){
				 .name = string_of(rd, m, "name"),
				 .by = string_of(rd, m, "by"),
				 .t_ns = t_ns,
				 .uncertainty_ns = json_is_integer(u) ? json_integer_value(u) : -1,
				 .made = stamped && !strcmp(stamped, "made") }));
	}
	if (rd->marks.nr)
		qsort(rd->marks.v, rd->marks.nr, sizeof(*rd->marks.v), by_time);
}

/* A window that is still open was so when its profrig died, with the workload. */
static void take_windows(const json_t *run, struct rundir *rd)
{
	const json_t *w;
	int64_t last = 0;
	size_t i;

	json_array_foreach(json_object_get(run, "windows"), i, w)
	{
		int64_t start = int_of(w, "start_ns"), end = int_of(w, "end_ns");

		if (!json_is_integer(json_object_get(w, "end_ns")))
			end = MAX_NS;
		if (start <= 0 || end <= start || end > MAX_NS || start < last ||
		    rd->windows.nr >= MAX_MARKS)
			continue;
		last = end;
		VEC_PUSH(&rd->windows,
			 ((struct rundir_window){ string_of(rd, w, "name"), string_of(rd, w, "by"),
						  start, end }));
	}
}

#define BASELINE_SCHEMA "profrig.baseline/1"
#define MAX_OVERHEAD 1000

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take_overhead_row(const json_t *o, struct rundir *rd)
{
	int64_t pairs = int_of(o, "pairs");

	VEC_PUSH(&rd->overhead,
		 ((struct rundir_overhead){ .tools = string_of(rd, o, "tools"),
					    .unit = string_of(rd, o, "unit"),
					    .verdict = string_of(rd, o, "verdict"),
					    .alone = json_is_true(json_object_get(o, "alone")),
					    .pairs = pairs > 0 ? (uint64_t)pairs : 0,
					    .overhead = number_of(o, "overhead"),
					    .ci_low = number_of(o, "ci_low"),
					    .ci_high = number_of(o, "ci_high"),
					    .baseline_s = number_of(o, "baseline_s"),
					    .tools_s = number_of(o, "tools_s"),
					    .baseline_performance =
						    number_of(o, "baseline_performance"),
					    .tools_performance = number_of(o, "tools_performance"),
					    .performance_ratio = number_of(o, "performance_ratio"),
					    .performance_low = number_of(o, "performance_low"),
					    .performance_high = number_of(o, "performance_high"),
					    .budget = number_of(o, "budget") }));
}

/* A file beside run.json. NULL when it is missing, damaged or of another schema. */
static json_t *document_read(const struct rundir *rd, const char *name, const char *schema)
{
	CLEANUP(xfreep) char *file = fs_join(rd->path, name);
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_decrefp) json_t *doc = NULL;
	const char *said;
	size_t n = 0;

	if (fs_read(file, RUN_JSON_MAX, &text, &n, NULL) < 0)
		return NULL;
	doc = json_loadb(text, n, 0, NULL);
	said = json_string_value(json_object_get(doc, "schema"));
	return said && strcmp(said, schema) == 0 ? STEAL(doc) : NULL;
}

/* Of a run that has been compared with others without tools. */
static void take_overhead(struct rundir *rd)
{
	CLEANUP(json_decrefp) json_t *doc = document_read(rd, "baseline.json", BASELINE_SCHEMA);
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(doc, "overhead"), i, o)
	{
		if (i < MAX_OVERHEAD)
			take_overhead_row(o, rd);
	}
}

static const json_t *named_in(const json_t *list, const char *key, const char *name)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
	{
		const char *s = json_string_value(json_object_get(o, key));

		if (s && strcmp(s, name) == 0)
			return o;
	}
	return NULL;
}

static const char *value_of(struct rundir *rd, const json_t *list, const char *key,
			    const char *name)
{
	const char *s = json_string_value(json_object_get(named_in(list, key, name), "value"));

	return s ? pool_strdup(&rd->texts, s) : NULL;
}

static const char *vendor_of(const json_t *run)
{
	const json_t *devices = json_object_get(run, "devices");
	bool amd = named_in(devices, "source", "amdgpu") ||
		   named_in(devices, "source", "rocm_smi") || named_in(devices, "vendor", "amd");
	bool nvidia = named_in(devices, "source", "nvml") || named_in(devices, "vendor", "nvidia");

	return amd == nvidia ? "" : amd ? "amd" : "nvidia";
}

/* A run without a valid plan is assumed to show all devices. */
static void take_visible(struct rundir *rd)
{
	CLEANUP(json_decrefp) json_t *plan = document_read(rd, "plan.json", PLAN_SCHEMA);
	const json_t *workload = named_in(json_object_get(plan, "steps"), "name", "workload");
	const json_t *env = json_object_get(workload, "env");
	const json_t *inside = json_object_get(json_object_get(plan, "engine"), "container");

	if (json_is_boolean(inside))
		rd->container = json_is_true(inside);

	rd->visible.rocr = value_of(rd, env, "name", "ROCR_VISIBLE_DEVICES");
	rd->visible.hip = value_of(rd, env, "name", "HIP_VISIBLE_DEVICES");
	rd->visible.cuda = value_of(rd, env, "name", "CUDA_VISIBLE_DEVICES");
	rd->visible.ordinal = value_of(rd, env, "name", "GPU_DEVICE_ORDINAL");
	if (rd->container)
		rd->visible.gpus =
			value_of(rd, json_object_get(plan, "configuration"), "key", "gpus");
}

/*
 * A path of run.json, relative to the run directory or absolute below it. NULL when it is missing,
 * is a link, or leads out of the directory: run directories are untrusted. The directory is held,
 * so no component is a link either.
 */
static const char *path_inside(struct rundir *rd, const char *path)
{
	CLEANUP(xfreep) char *top = fs_abs(rd->path);
	CLEANUP(xfreep) char *absolute = *path == '/' ? fs_abs(path) : NULL;
	const char *rel = absolute ? fs_below(top, absolute) : path;
	CLEANUP(xfreep) char *joined = rel && *rel ? fs_join(rd->path, rel) : NULL;
	struct stat st;

	if (!joined || door_stat(joined, &st) < 0 || S_ISLNK(st.st_mode))
		return NULL;
	return pool_strdup(&rd->texts, joined);
}

#define CLOCK_SUFFIX ".clock"
#define CLOCK_MAX 4096

/* {"own_ns": 0, "monotonic_ns": N, "realtime_ns": N}; anything else is no clock. */
static struct clock_origin origin_of(const char *path)
{
	CLEANUP(xfreep) char *file = xasprintf("%s" CLOCK_SUFFIX, path);
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_decrefp) json_t *doc = NULL;
	struct clock_origin o = { .known = false };
	size_t n = 0;

	if (!fs_exists(file) || fs_read(file, CLOCK_MAX, &text, &n, NULL) < 0)
		return o;
	doc = json_loadb(text, n, 0, NULL);
	o.own_ns = int_of(doc, "own_ns");
	o.monotonic_ns = int_of(doc, "monotonic_ns");
	o.realtime_ns = int_of(doc, "realtime_ns");
	o.known = o.monotonic_ns > 0 && o.realtime_ns > 0 && o.monotonic_ns < MAX_NS &&
		  o.realtime_ns < MAX_NS && o.own_ns > -MAX_NS && o.own_ns < MAX_NS;
	return o;
}

/* path: of path_inside. */
static void add_input(struct rundir *rd, const char *path, const char *reader, const char *tool)
{
	VEC_PUSH(&rd->inputs,
		 (struct rundir_input){ path, pool_strdup(&rd->texts, reader),
					pool_strdup(&rd->texts, tool), origin_of(path) });
}

__attribute__((format(printf, 3, 4))) static void add_lost(struct rundir *rd, const char *path,
							   const char *fmt, ...)
{
	CLEANUP(xfreep) char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	why = xvasprintf(fmt, ap);
	va_end(ap);
	VEC_PUSH(&rd->lost, (struct rundir_lost){ pool_strdup(&rd->texts, path),
						  pool_strdup(&rd->texts, why) });
}

/* The run itself reported "missing" and "empty" at its end. */
static bool is_to_read(const char *verdict)
{
	return verdict && strcmp(verdict, "missing") != 0 && strcmp(verdict, "empty") != 0;
}

static void take_artifact(const json_t *a, struct rundir *rd)
{
	const char *rel = json_string_value(json_object_get(a, "path"));
	const char *reader = json_string_value(json_object_get(a, "reader"));
	const char *verdict = json_string_value(json_object_get(a, "verdict"));
	const char *tool = json_string_value(json_object_get(a, "tool"));
	const char *path;

	/* without a reader it is a file for people */
	if (!rel || !reader || !*reader || !is_to_read(verdict))
		return;
	if (!reader_find(reader)) {
		add_lost(rd, rel, "%s: artifact '%s' wants reader '%s', which there is not",
			 rd->path, rel, reader);
		return;
	}
	path = path_inside(rd, rel);
	if (path)
		add_input(rd, path, reader, tool ? tool : "");
	else
		add_lost(rd, rel,
			 "%s: artifact '%s' is not there, is a link, or leads out of the run "
			 "directory",
			 rd->path, rel);
}

static bool is_claimed(const char *dir, const char *rel)
{
	for (const struct reader *const *r = readers; *r; r++)
		if ((*r)->claims && (*r)->claims(dir, rel))
			return true;
	return false;
}

static void find_files(struct rundir *rd, const char *dir, const char *pattern,
		       struct strvec *files)
{
	CLEANUP(strvec_release) struct strvec lost = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (fs_glob_all(dir, pattern, files, &lost, &err) < 0)
		add_lost(rd, dir, "%s", err.msg);
	for (size_t i = 0; i < lost.nr; i++)
		add_lost(rd, dir, "%s", lost.v[i]);
}

/* Most files of a tool are no traces. */
static void found_artifact(struct rundir *rd, const char *rel, const char *tool)
{
	const char *path = path_inside(rd, rel);
	const struct reader *reader;
	struct err err = ERR_INIT;
	int r;

	if (!path)
		return;
	r = reader_detect(path, &reader, &err);
	if (r == 0) {
		add_input(rd, path, reader->name, tool);
		return;
	}
	if (r != -EINVAL)
		add_lost(rd, path, "%s", err.msg);
}

/* A killed run did not list its artifacts: searches its directory. */
static void find_artifacts(struct rundir *rd)
{
	CLEANUP(xfreep) char *dir = fs_join(rd->path, "artifacts");
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

	if (!fs_is_dir(dir))
		return;
	find_files(rd, dir, "**", &files);
	for (size_t i = 0; i < files.nr; i++) {
		const char *rel = files.v[i], *slash = strchr(rel, '/');
		CLEANUP(xfreep)
		char *tool = slash ? xstrndup(rel, (size_t)(slash - rel)) : xstrdup("");
		CLEANUP(xfreep) char *below = fs_join("artifacts", rel);

		if (is_claimed(dir, rel) || text_suffix(rel, CLOCK_SUFFIX))
			continue;
		found_artifact(rd, below, tool);
	}
}

/* Whether the header of a sampling file calls its values estimated. */
static bool says_estimated(const char *path)
{
	char head[SAMPLES_HEADER];
	int64_t n = input_head(path, head, sizeof(head), NULL);
	static const char line[] = "# estimated: yes";

	return n > 0 && memmem(head, (size_t)n, line, sizeof(line) - 1);
}

static bool is_samples_name(const char *name)
{
	return text_suffix(name, ".csv") || text_suffix(name, ".csv.gz") ||
	       text_suffix(name, ".csv.zst");
}

static void take_samples(struct rundir *rd)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

	find_files(rd, rd->path, "samples/*", &files);
	for (size_t i = 0; i < files.nr; i++) {
		const char *base = fs_base(files.v[i]);
		CLEANUP(xfreep) char *tool = xstrndup(base, strcspn(base, "."));
		const char *path;

		if (!is_samples_name(base))
			continue;
		path = path_inside(rd, files.v[i]);
		if (!path) {
			add_lost(rd, files.v[i],
				 "%s: '%s' is a link or leads out of the run directory", rd->path,
				 files.v[i]);
			continue;
		}
		rd->estimated |= says_estimated(path);
		add_input(rd, path, "samples", tool);
	}
}

int rundir_open(const char *path, struct rundir *ret, struct err *err)
{
	CLEANUP(json_decrefp) json_t *run = NULL;
	const json_t *artifacts, *a;
	struct rundir rd = { .path = NULL };
	size_t i;
	int r = door_hold(path, err);

	if (r < 0)
		return r;
	r = json_load(path, &run, err);
	if (r < 0) {
		door_let_go(path);
		return r;
	}
	rd.path = pool_strdup(&rd.texts, path);
	rd.id = string_of(&rd, run, "id");
	rd.model = string_of(&rd, run, "model");
	rd.status = string_of(&rd, run, "status");
	rd.host = host_of(&rd, run);
	rd.container = in_container(run);
	take_anchors(run, &rd);
	take_workload(run, &rd);
	take_idle(run, &rd);
	take_marks(run, &rd);
	take_windows(run, &rd);
	take_overhead(&rd);
	rd.gpu_vendor = vendor_of(run);
	take_visible(&rd);
	artifacts = json_object_get(run, "artifacts");
	if (json_array_size(artifacts) == 0)
		find_artifacts(&rd);
	json_array_foreach(artifacts, i, a) take_artifact(a, &rd);
	take_samples(&rd);
	*ret = rd;
	return 0;
}

void rundir_release(struct rundir *rd)
{
	VEC_RELEASE(&rd->overhead);
	VEC_RELEASE(&rd->marks);
	VEC_RELEASE(&rd->windows);
	VEC_RELEASE(&rd->inputs);
	VEC_RELEASE(&rd->lost);
	VEC_RELEASE(&rd->anchors);
	if (rd->path)
		door_let_go(rd->path);
	pool_release(&rd->texts);
	*rd = (struct rundir){ .path = NULL };
}
