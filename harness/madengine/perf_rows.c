#include "perf_csv.h"
#include "run_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/image/image.h"

const char *const perf_columns[] = {
	/* madengine's, in its order */
	"model", "n_gpus", "nnodes", "gpus_per_node", "training_precision", "pipeline", "args",
	"tags", "docker_file", "base_docker", "docker_sha", "docker_image", "git_commit",
	"machine_name", "deployment_type", "launcher", "gpu_architecture", "performance", "metric",
	"relative_change", "status", "build_duration", "test_duration", "dataname",
	"data_provider_type", "data_size", "data_download_duration", "build_number",
	"additional_docker_run_options",
	/* profrig's */
	"run_id", "started_utc", "ended_utc", "run_status", "reason", "phase", "exit_code",
	"signal", "tools", "profiled", "baseline", "baseline_run_id", "overhead_percent", "pick",
	"matches", "owner", "engine", "labels", "profrig_version", "run_dir", "extra", NULL
};

static void put_text(json_t *row, const char *key, const char *text)
{
	json_object_set_new(row, key, json_string(text ? text : ""));
}

static void put_num(json_t *row, const char *key, const json_t *n)
{
	char buf[32] = "";

	if (json_is_integer(n))
		num_fmt_i64(buf, json_integer_value(n));
	else if (json_is_number(n))
		num_fmt_f64(buf, json_number_value(n));
	put_text(row, key, buf);
}

static const char *text_at(const json_t *doc, const char *key)
{
	return json_string_value(json_object_get(doc, key));
}

/* The words of the program: "bash" or the like and its script count together. */
static size_t program_words(const struct strvec *command)
{
	const char *base = command->nr ? fs_base(command->v[0]) : "";

	return command->nr > 1 && *command->v[1] != '-' &&
			       (!strcmp(base, "sh") || !strcmp(base, "bash") ||
				!strncmp(base, "python", 6))
		       ? 2
		       : 1;
}

/* The words behind the program, with secrets masked. */
static void put_args(json_t *row, const struct plan *pl)
{
	const struct plan_step *ps = plan_workload(pl);
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	for (size_t i = program_words(&pl->conf->command); i < pl->conf->command.nr; i++) {
		CLEANUP(xfreep)
		char *word = ps ? run_masked(ps, pl->conf->command.v[i])
				: xstrdup(pl->conf->command.v[i]);

		strvec_push(&words, word);
	}
	text = strvec_shell(&words);
	put_text(row, "args", text);
}

/* Tools in or around the workload change its pace. A sampler beside it hardly does, and scripts run
 * before and after it. */
static bool tools_perturb(const struct runconf *rc)
{
	return VEC_FIND(&rc->tools, x,
			x->tool->class != TOOL_SAMPLER && x->tool->class != TOOL_SCRIPT);
}

static bool label_is(const struct runconf *rc, const char *name, const char *value)
{
	for (size_t i = 0; i < rc->labels.nr; i++)
		if (!strcmp(rc->labels.v[i].name, name))
			return !strcmp(rc->labels.v[i].value, value);
	return false;
}

static void put_tools(json_t *row, const struct runconf *rc)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	for (size_t i = 0; i < rc->tools.nr; i++)
		strvec_push(&names, rc->tools.v[i].tool->name);
	text = strvec_join(&names, "+");
	put_text(row, "tools", text);
	put_text(row, "profiled", tools_perturb(rc) ? "yes" : "no");
	put_text(row, "baseline", label_is(rc, "baseline", "true") ? "yes" : "no");
}

static void put_labels(json_t *row, const struct runconf *rc)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < rc->labels.nr; i++)
		strbuf_addf(&sb, "%s%s=%s", i ? "," : "", rc->labels.v[i].name,
			    rc->labels.v[i].value);
	put_text(row, "labels", sb.buf);
}

/* The Dockerfile, when only one can have made the image, and its base image. */
static void put_dockerfile(json_t *row, const struct runconf *rc)
{
	struct dockerfiles all = { VEC_INIT };
	const struct dockerfile *one = NULL;
	size_t kept = 0;

	put_text(row, "docker_file", rc->dockerfile);
	if (rc->base_image)
		put_text(row, "base_docker", rc->base_image);
	if (rc->base_image || !rc->dockerfile ||
	    dockerfiles_find(rc->dockerfile, &rc->build, &all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.v.nr; i++)
		if (!all.v.v[i].why) {
			one = &all.v.v[i];
			kept++;
		}
	if (kept == 1) {
		const char *base = dockerfile_arg(one, &rc->build, IMAGE_BASE_ARG);

		put_text(row, "docker_file", one->path);
		put_text(row, "base_docker", base ? base : one->from);
	}
	dockerfiles_release(&all);
}

/* Of a job's run the configuration has how many there are (harness/campaign). */
static const char *nodes_of(const struct runconf *rc)
{
	const struct runconf_env *e = VEC_FIND(&rc->env, x, !strcmp(x->name, "NNODES"));

	return e && *e->value ? e->value : "1";
}

/* Values that are known before the run. */
static void put_conf(json_t *row, const struct plan *pl)
{
	const struct runconf *rc = pl->conf;
	CLEANUP(xfreep) char *tags = strvec_join(&rc->tags, ",");
	CLEANUP(xfreep) char *options = strvec_shell(&rc->container.options);
	CLEANUP(strvec_release) struct strvec archs = STRVEC_INIT;
	CLEANUP(xfreep) char *arch = NULL;
	char host[256] = "";
	const char *build = getenv("JENKINS_BUILD_NUMBER");

	gethostname(host, sizeof(host) - 1);
	run_gpu_archs(pl->devices, &archs);
	arch = strvec_join(&archs, "+");
	put_text(row, "model", rc->model_name);
	put_text(row, "n_gpus", rc->n_gpus);
	put_text(row, "nnodes", nodes_of(rc));
	put_text(row, "gpus_per_node", rc->n_gpus);
	put_text(row, "training_precision", rc->precision);
	put_text(row, "pipeline", getenv("pipeline"));
	put_args(row, pl);
	put_text(row, "tags", tags);
	if (pl->engine->container)
		put_dockerfile(row, rc);
	put_text(row, "docker_image", pl->engine->container ? pl->spec.image : NULL);
	put_text(row, "machine_name", host);
	put_text(row, "deployment_type", getenv("SLURM_JOB_ID") ? "slurm" : "local");
	put_text(row, "launcher", rc->launcher);
	put_text(row, "gpu_architecture", arch);
	put_text(row, "build_number", build && *build ? build : "0");
	put_text(row, "additional_docker_run_options", options);
	put_text(row, "owner", rc->owner);
	put_text(row, "engine", pl->engine->name);
	put_text(row, "run_dir", pl->run_dir);
	put_tools(row, rc);
	put_labels(row, rc);
}

/* Values from run.json. */
static void put_run(json_t *row, const json_t *doc)
{
	const json_t *d = json_object_get(doc, "durations_s");
	const json_t *data = json_object_get(doc, "data");

	put_text(row, "run_id", text_at(doc, "id"));
	put_text(row, "started_utc", text_at(doc, "started_utc"));
	put_text(row, "ended_utc", text_at(doc, "ended_utc"));
	put_text(row, "phase", text_at(doc, "phase"));
	put_num(row, "exit_code", json_object_get(doc, "exit_code"));
	put_text(row, "signal", text_at(doc, "signal"));
	put_text(row, "docker_sha", text_at(doc, "image_digest"));
	put_text(row, "git_commit", text_at(json_object_get(doc, "git"), "commit"));
	put_text(row, "profrig_version", text_at(json_object_get(doc, "versions"), "profrig"));
	put_num(row, "build_duration", json_object_get(d, "build"));
	put_num(row, "test_duration", json_object_get(d, "workload"));
	/* the first data set, when the run used one */
	data = json_is_array(data) ? json_array_get(data, 0) : NULL;
	put_text(row, "dataname", text_at(data, "name"));
	put_text(row, "data_provider_type", text_at(data, "provider"));
	put_num(row, "data_size", json_object_get(data, "bytes"));
	put_num(row, "data_download_duration", json_object_get(data, "seconds"));
}

/* The tools' overhead (run_note_overhead). */
static void put_pair(json_t *row, const json_t *doc)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(doc, "metrics"), i, m)
	{
		const char *name = text_at(m, "name");

		if (name && !strcmp(name, "overhead")) {
			put_text(row, "baseline_run_id", text_at(m, "source"));
			put_num(row, "overhead_percent", json_object_get(m, "value"));
		}
	}
}

/* --- one row for each result --- */

static bool is_result(const json_t *m)
{
	const json_t *detail = json_object_get(m, "detail");

	return json_object_get(detail, "values") || json_object_get(detail, "columns");
}

static bool of_file(const json_t *m)
{
	return json_object_get(json_object_get(m, "detail"), "columns") != NULL;
}

/* When there is a results file, its rows are the results. */
static size_t results_of(const json_t *doc, json_t *list)
{
	const json_t *m;
	bool file = false;
	size_t i;

	json_array_foreach(json_object_get(doc, "metrics"), i, m) file |= of_file(m);
	json_array_foreach(json_object_get(doc, "metrics"), i, m)
	{
		if (is_result(m) && of_file(m) == file)
			json_array_append(list, (json_t *)m);
	}
	return json_array_size(list);
}

static void put_result(json_t *row, const struct plan *pl, const json_t *m)
{
	const json_t *detail = json_object_get(m, "detail");
	const json_t *extra = json_object_get(detail, "columns");
	const char *name = text_at(m, "name"), *unit = text_at(m, "unit");
	bool named = !extra && name && strcmp(name, "performance") != 0;
	CLEANUP(xfreep)
	char *metric = xasprintf("%s%s%s%s", named ? name : "", named && unit && *unit ? " " : "",
				 unit ? unit : "", tools_perturb(pl->conf) ? " (profiled)" : "");
	char *text = json_object_size(extra) ? json_dumps(extra, JSON_COMPACT) : NULL;

	if (extra)
		put_text(row, "model", name);
	put_num(row, "performance", json_object_get(m, "value"));
	put_text(row, "metric", metric);
	put_text(row, "pick", text_at(detail, "pick"));
	put_num(row, "matches", json_object_get(detail, "matches"));
	put_text(row, "extra", text);
	if (extra)
		json_object_set(row, "multi_results", (json_t *)extra);
	free(text);
}

static void put_status(json_t *row, const char *status, const char *reason, const json_t *m,
		       bool want_result)
{
	bool well = !strcmp(status, "success") || !strcmp(status, "partial");
	bool lacks = m ? !json_is_number(json_object_get(m, "value")) : want_result;

	put_text(row, "run_status", status);
	put_text(row, "reason", reason && *reason ? reason : well && lacks ? "no result" : "");
	put_text(row, "status",
		 !strcmp(status, "skipped") ? "SKIPPED"
		 : well && !lacks           ? "SUCCESS"
					    : "FAILURE");
}

/* The values that all rows of a run share. New reference. */
static json_t *common_row(const struct plan *pl, const json_t *doc)
{
	json_t *row = json_object();

	for (size_t k = 0; perf_columns[k]; k++)
		put_text(row, perf_columns[k], NULL);
	put_conf(row, pl);
	if (doc)
		put_run(row, doc);
	else
		put_text(row, "run_dir", NULL);
	put_pair(row, doc);
	json_object_set_new(row, "multi_results", json_null());
	json_object_set_new(row, "configs", perf_configs(pl));
	return row;
}

/* Masks strings at any depth, except the names by which a run is found. */
static void hide_secrets(json_t *v)
{
	const char *key;
	json_t *e;
	size_t i;

	if (json_is_string(v)) {
		CLEANUP(xfreep) char *text = xstrdup(json_string_value(v));

		redact(text, strlen(text), REDACT_SURE);
		if (strcmp(text, json_string_value(v)) != 0)
			json_string_set(v, text);
	}
	json_object_foreach(v, key, e)
	{
		if (strcmp(key, "run_id") != 0 && strcmp(key, "run_dir") != 0)
			hide_secrets(e);
	}
	json_array_foreach(v, i, e)
	{
		hide_secrets(e);
	}
}

json_t *perf_rows(const struct plan *pl, const json_t *doc, const char *status, const char *reason)
{
	json_t *rows = json_array(), *results = json_array();
	json_t *common = common_row(pl, doc);
	size_t nr = doc ? results_of(doc, results) : 0;

	for (size_t i = 0; i < (nr ? nr : 1); i++) {
		const json_t *m = nr ? json_array_get(results, i) : NULL;
		json_t *row = json_copy(common);

		if (m)
			put_result(row, pl, m);
		put_status(row, doc ? text_at(doc, "status") : status,
			   doc ? text_at(doc, "reason") : reason, m, pl->conf->results.csv != NULL);
		json_array_append_new(rows, row);
	}
	json_decref(common);
	json_decref(results);
	hide_secrets(rows);
	return rows;
}
