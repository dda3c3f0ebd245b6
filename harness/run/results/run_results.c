#include "run_results.h"
#include "results_priv.h"
#include "run_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/text.h"

/* How many values run.json lists; the count is of all. */
#define SHOWN_VALUES 1000
#define MAX_FILE ((size_t)64 << 20)

static const struct results_conf *conf_of(const struct run *rn)
{
	static const struct results_conf none = { .scan = SCAN_OFF,
						  .error_patterns = STRVEC_INIT,
						  .benign_patterns = STRVEC_INIT };

	return rn->pl->conf ? &rn->pl->conf->results : &none;
}

static void add_metric(struct run *rn, const char *name, double value, const char *unit,
		       const char *source, char *detail)
{
	struct run_metric m = { .value = value, .detail = detail };

	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.unit, sizeof(m.unit), "%s", unit);
	snprintf(m.source, sizeof(m.source), "%s", source);
	VEC_PUSH(&rn->metrics, m);
}

/* A required result that is missing or unreadable counts like a tool's missing output. */
static void results_missing(struct run *rn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void results_missing(struct run *rn, const char *fmt, ...)
{
	bool required = conf_of(rn)->require;
	CLEANUP(xfreep) char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	outcome_warn(&rn->outcome, W_RESULT_MISSING, required ? "error" : "warning", "%s", words);
	if (required)
		rn->outcome.outputs_required_bad = true;
	else
		rn->outcome.outputs_optional_bad = true;
}

/*
 * An output file that cannot be read. A missing one was removed by the workload and gives a
 * warning, as the rest of the run exists.
 */
static void output_unread(struct run *rn, const struct plan_step *ps, const char *sought,
			  const struct err *err)
{
	if (err->code == ENOENT)
		outcome_warn(&rn->outcome, W_RESULT, "warning", "%s", err->msg);
	else
		results_missing(rn, "%s in the output of '%s': %s", sought, ps->name, err->msg);
}

/* --- values in the output --- */

static void put_value(struct json_out *j, const struct values *vs, const struct value *v)
{
	json_obj(j, NULL);
	json_u64(j, "line", v->line);
	json_f64(j, "value", v->value);
	json_str(j, "unit", vs->units.v[v->unit]);
	json_end(j);
}

/* The `detail` of a metric in run.json. Owned. */
static char *detail_of(const struct run *rn, const struct values *vs, uint32_t name,
		       const struct picked *p, const char *step, const char *file)
{
	size_t left_out = p->matches > SHOWN_VALUES ? p->matches - SHOWN_VALUES : 0, seen = 0;
	char *text = NULL;
	struct json_out j;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "step", step);
	json_str(&j, "file", file);
	if (p->line)
		json_u64(&j, "line", p->line);
	json_str(&j, "pick", results_pick_name(conf_of(rn)->pick));
	json_u64(&j, "matches", p->matches + (name == 0 ? vs->more : 0));
	json_u64(&j, "skipped", p->skipped);
	json_arr(&j, "values");
	for (size_t i = 0; i < vs->v.nr; i++)
		if (vs->v.v[i].name == name && seen++ >= left_out)
			put_value(&j, vs, &vs->v.v[i]);
	json_end(&j);
	json_u64(&j, "values_left_out", left_out + (name == 0 ? vs->more : 0));
	json_end(&j);
	fclose(f);
	return text;
}

static void note_values(struct run *rn, const struct values *vs, const char *file)
{
	if (vs->grouped)
		outcome_warn(&rn->outcome, W_RESULT, "note",
			     "%s:%llu: digits in groups, such as 1,234, were read as one number "
			     "(%llu time%s)",
			     file, (unsigned long long)vs->grouped_line,
			     (unsigned long long)vs->grouped, vs->grouped == 1 ? "" : "s");
	if (vs->odd)
		outcome_warn(&rn->outcome, W_RESULT, "note",
			     "%s:%llu: '%s' begins like a result and is none; 'performance: VALUE "
			     "UNIT' on one line is (%llu such line%s)",
			     file, (unsigned long long)vs->odd_line, vs->odd_text,
			     (unsigned long long)vs->odd, vs->odd == 1 ? "" : "s");
	if (vs->given_up)
		outcome_warn(
			&rn->outcome, W_RESULT, "warning",
			"results.pattern took too long on %llu line%s of %s, which were left out",
			(unsigned long long)vs->given_up, vs->given_up == 1 ? "" : "s", file);
	if (vs->more)
		outcome_warn(&rn->outcome, W_RESULT, "warning",
			     "%s holds %llu more results than the %zu that are kept", file,
			     (unsigned long long)vs->more, VALUES_MAX);
}

/* Returns how many values there were, good or not; sets *bad when a metric has no value. */
static size_t report_values(struct run *rn, const struct values *vs, const char *step,
			    const char *file, bool *bad)
{
	for (uint32_t name = 0; name < vs->names.nr; name++) {
		struct picked p = values_pick(vs, name, conf_of(rn));
		const char *words = vs->names.v[name];

		if (!p.matches)
			continue;
		add_metric(rn, words, p.value, vs->units.v[p.unit], "workload",
			   detail_of(rn, vs, name, &p, step, file));
		*bad |= isnan(p.value);
		if (*p.why)
			outcome_warn(&rn->outcome, W_RESULT, "warning", "%s in %s: %s", words, file,
				     p.why);
		if (p.mixed)
			outcome_warn(&rn->outcome, W_RESULT, "warning",
				     "%s in %s has several units; the values in %s count", words,
				     file, vs->units.v[p.unit]);
	}
	note_values(rn, vs, file);
	return vs->v.nr;
}

static const char *path_below(const struct run *rn, const char *path)
{
	const char *rest = fs_below(rn->pl->run_dir, path);

	return rest ? rest : path;
}

/* Results mostly go to stdout; loggers write to stderr. */
static size_t output_values(struct run *rn, const struct plan_step *ps, bool *bad)
{
	const char *const files[] = { ps->out, ps->err };
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_LEN(files) && !found; i++) {
		CLEANUP(values_release) struct values vs;
		struct err err = ERR_INIT;

		values_init(&vs);
		if (!files[i])
			continue;
		if (values_read(files[i], conf_of(rn), &vs, &err) < 0)
			output_unread(rn, ps, "results", &err);
		else
			found = report_values(rn, &vs, ps->name, path_below(rn, files[i]), bad);
	}
	return found;
}

/* --- rows of results files --- */

/* A folder that exists only in the container is not the host's folder of that name. */
static bool is_shared(const struct run *rn, const char *path)
{
	const char *dir = rn->pl->conf ? rn->pl->conf->dir : NULL;

	return !rn->pl->engine->container || (dir && fs_below(dir, path)) ||
	       (rn->pl->source_dir && fs_below(rn->pl->source_dir, path)) ||
	       fs_below(rn->pl->run_dir, path);
}

/* Includes special files: they are refused by name when they are opened. */
static bool is_there(const char *path)
{
	return fs_exists(path) && !fs_is_dir(path);
}

/* The workload's folder first, then the model's, then the copy in the run directory. */
static void results_files(const struct run *rn, const struct plan_step *ps, struct strvec *paths)
{
	const char *csv = conf_of(rn)->csv;
	/* Scripts of a package write the file beside the run's own folder. */
	CLEANUP(xfreep) char *beside = rn->pl->source_dir ? fs_dir(rn->pl->source_dir) : NULL;
	const char *const dirs[] = { ps->cwd && is_shared(rn, ps->cwd) ? ps->cwd : NULL, beside,
				     rn->pl->conf ? rn->pl->conf->dir : NULL,
				     plan_step_env(ps, "PROFRIG_OUT") };

	if (*csv == '/') {
		if (is_there(csv) && is_shared(rn, csv))
			strvec_push(paths, csv);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(dirs) && !paths->nr; i++) {
		CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
		CLEANUP(xfreep) char *plain = dirs[i] ? fs_join(dirs[i], csv) : NULL;

		if (plain && is_there(plain))
			strvec_push(paths, plain);
		else if (plain && strpbrk(csv, "*?"))
			fs_glob(dirs[i], csv, &names, NULL);
		for (size_t k = 0; k < names.nr; k++)
			strvec_push_take(paths, fs_join(dirs[i], names.v[k]));
	}
}

/* Compared with the file before the workload, not by times: a file server has its own clock. */
static struct run_seen look_at_file(const char *path)
{
	struct run_seen f = { .size = -1 };
	struct stat st;

	if (door_stat(path, &st) == 0)
		f = (struct run_seen){ .inode = st.st_ino,
				       .size = st.st_size,
				       .mtime_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S +
						   st.st_mtim.tv_nsec };
	return f;
}

void run_results_before(struct run *rn)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;

	for (size_t i = 0; conf_of(rn)->csv && i < rn->pl->steps.nr; i++)
		if (rn->pl->steps.v[i].kind == STEP_WORKLOAD)
			results_files(rn, &rn->pl->steps.v[i], &paths);
	for (size_t i = 0; i < paths.nr; i++) {
		struct run_seen f = look_at_file(paths.v[i]);

		f.path = xstrdup(paths.v[i]);
		VEC_PUSH(&rn->seen, f);
	}
}

static bool is_old(const struct run *rn, const char *path)
{
	struct run_seen now = look_at_file(path);

	for (size_t i = 0; i < rn->seen.nr; i++) {
		const struct run_seen *f = &rn->seen.v[i];

		if (!strcmp(f->path, path))
			return f->inode == now.inode && f->size == now.size &&
			       f->mtime_ns == now.mtime_ns;
	}
	return false;
}

/* A later run may replace the file in the workload's folder. */
static void keep_copy(struct run *rn, const char *path)
{
	CLEANUP(xfreep) char *dir = fs_join(rn->pl->run_dir, "results");
	CLEANUP(xfreep) char *to = fs_join(dir, fs_base(path));
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (fs_below(rn->pl->run_dir, path))
		return;
	if (fs_read(path, MAX_FILE, &text, &n, &err) < 0 || fs_mkdirs(dir, 0755, &err) < 0 ||
	    fs_write_atomic(to, text, n, &err) < 0)
		outcome_warn(&rn->outcome, W_COLLECT, "warning", "%s", err.msg);
}

static char *row_detail(const struct result_row *r)
{
	char *text = NULL;
	struct json_out j;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "file", r->file);
	json_u64(&j, "line", r->line);
	if (r->merged) {
		json_u64(&j, "merged", r->merged);
		json_str(&j, "merge",
			 (const char *const[]){ "sum", "mean",
						"max" }[results_merge_of(r->metric, r->metric)]);
	}
	json_obj(&j, "columns");
	for (size_t i = 0; i < r->cells.nr; i++)
		json_str(&j, r->cells.v[i].name, r->cells.v[i].text);
	json_end(&j);
	json_end(&j);
	fclose(f);
	return text;
}

static size_t report_rows(struct run *rn, const struct result_rows *rr, bool *bad)
{
	const char *model = rn->pl->conf->model_name;

	for (size_t i = 0; i < rr->v.nr; i++) {
		const struct result_row *r = &rr->v.v[i];
		CLEANUP(xfreep) char *name = xasprintf("%s_%s", model, r->model);

		add_metric(rn, name, r->value, r->metric, RESULTS_CSV_SOURCE, row_detail(r));
		*bad |= isnan(r->value);
	}
	for (size_t i = 0; i < rr->problems.nr; i++)
		outcome_warn(&rn->outcome, W_RESULT, "warning", "%s", rr->problems.v[i]);
	if (rr->more)
		outcome_warn(
			&rn->outcome, W_RESULT, "warning",
			"%s: %llu rows are left out: of the first %zu, as many are kept as take "
			"%zu MiB with the names of their columns",
			conf_of(rn)->csv, (unsigned long long)rr->more, ROWS_MAX,
			ROWS_MAX_BYTES >> 20);
	return rr->v.nr;
}

static size_t file_rows(struct run *rn, const struct plan_step *ps, bool *bad)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	CLEANUP(result_rows_release) struct result_rows rr = { .problems = STRVEC_INIT };
	size_t fresh = 0;

	results_files(rn, ps, &paths);
	for (size_t i = 0; i < paths.nr; i++) {
		if (is_old(rn, paths.v[i])) {
			outcome_warn(
				&rn->outcome, W_RESULT, "warning",
				"%s was there before the workload began, so it is not its result",
				paths.v[i]);
			continue;
		}
		fresh += result_rows_read(paths.v[i], &rr) == 0;
		keep_copy(rn, paths.v[i]);
	}
	if (fresh > 1)
		result_rows_merge(&rr);
	if (!fresh)
		results_missing(
			rn,
			"no usable results file '%s' (results.csv): it is looked for in %s and in "
			"the model's folder",
			conf_of(rn)->csv, ps->cwd ? ps->cwd : "the workload's folder");
	return report_rows(rn, &rr, bad);
}

/* --- lines that look like errors --- */

static void report_scan(struct run *rn, const struct plan_step *ps, const char *path)
{
	CLEANUP(scan_release) struct scan sc = { .found = 0 };
	struct err err = ERR_INIT;
	const char *file = path_below(rn, path);

	if (scan_file(path, conf_of(rn), &sc, &err) < 0) {
		if (err.code != ENOENT)
			output_unread(rn, ps, "errors", &err);
		return;
	}
	for (size_t i = 0; i < sc.lines.nr; i++) {
		const struct scan_line *l = &sc.lines.v[i];
		CLEANUP(xfreep) char *text = run_masked(ps, l->text);

		outcome_warn(&rn->outcome, W_LOG_ERROR,
			     conf_of(rn)->scan == SCAN_FAIL ? "error" : "warning",
			     "%s:%llu: %.200s (pattern '%.80s')", file, (unsigned long long)l->line,
			     text, l->pattern);
		if (conf_of(rn)->scan == SCAN_FAIL)
			outcome_fail(&rn->outcome, RUN_FAILED,
				     "the workload's output looks like an error: %s:%llu: %.160s "
				     "(results.log_scan)",
				     file, (unsigned long long)l->line, text);
	}
	if (sc.found > sc.lines.nr)
		outcome_warn(&rn->outcome, W_LOG_ERROR, "note", "%s: %llu more such lines", file,
			     (unsigned long long)(sc.found - sc.lines.nr));
}

static void workload_metrics(struct run *rn, const struct run_step *s)
{
	if (s->started_ns && s->ended_ns)
		add_metric(rn, "wall", (double)(s->ended_ns - s->started_ns) / 1e9, "s", "workload",
			   NULL);
	add_metric(rn, "cpu_user", s->user_s, "s", "rusage", NULL);
	add_metric(rn, "cpu_system", s->sys_s, "s", "rusage", NULL);
	add_metric(rn, "max_rss", (double)s->maxrss_bytes, "bytes", "rusage", NULL);
}

static void clock_metrics(struct run *rn)
{
	const struct mean_clock *c = &rn->mean_clock;

	if (c->cpu_hz > 0)
		add_metric(rn, "clock_mhz", c->cpu_hz / 1e6, "MHz", c->cpu_source, NULL);
	if (c->gpu_hz > 0)
		add_metric(rn, "gpu_clock_mhz", c->gpu_hz / 1e6, "MHz", c->gpu_source, NULL);
}

void run_results(struct run *rn)
{
	const struct results_conf *rc = conf_of(rn);

	/* Too short to be shown as a phase, but a run can fail in it. */
	rn->outcome.phase = "results";
	for (size_t i = 0; i < rn->steps.nr; i++) {
		const struct plan_step *ps = &rn->pl->steps.v[i];
		const struct run_step *s = &rn->steps.v[i];
		bool bad = false;
		size_t found;

		if (ps->kind != STEP_WORKLOAD || !s->ended)
			continue;
		found = output_values(rn, ps, &bad);
		if (rc->csv)
			found += file_rows(rn, ps, &bad);
		workload_metrics(rn, s);
		clock_metrics(rn);
		if (rc->scan != SCAN_OFF && ps->out)
			report_scan(rn, ps, ps->out);
		if (rc->scan != SCAN_OFF && ps->err)
			report_scan(rn, ps, ps->err);
		/* In the other cases the reason was reported. */
		if (rc->require && !found && !rc->csv)
			results_missing(
				rn, "no result: %s",
				rc->pattern ? "results.pattern matches no line of the workload's "
					      "output"
					    : "the workload printed no 'performance: VALUE UNIT' "
					      "(results.require)");
		else if (rc->require && bad)
			results_missing(rn, "a result is not a number: see the warnings");
	}
}
