#include "run_control.h"
#include "run_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/redact.h"

static void json_text(struct json_out *j, const char *key, const char *s)
{
	json_str(j, key, s && *s ? s : NULL);
}

static void json_utc(struct json_out *j, const char *key, int64_t realtime_ns)
{
	char buf[32];

	json_str(j, key, realtime_ns ? clock_utc(realtime_ns, buf) : NULL);
}

static void json_count_or_null(struct json_out *j, const char *key, bool known, int64_t v)
{
	if (known)
		json_i64(j, key, v);
	else
		json_nil(j, key);
}

/* --- argv without secrets --- */

#define MIN_SECRET 4

char *run_masked(const struct plan_step *s, const char *text)
{
	char *word = xstrdup(text);

	for (size_t k = 0; k < s->env.nr; k++) {
		const char *value = s->env.v[k].secret ? s->env.v[k].value : NULL;
		char *at;

		if (!value || strlen(value) < MIN_SECRET)
			continue;
		while ((at = strstr(word, value))) {
			char *masked =
				xasprintf("%.*s***%s", (int)(at - word), word, at + strlen(value));

			free(word);
			word = masked; /* shorter, so the loop ends */
		}
	}
	return word;
}

/* A secret in a command of the user's configuration must not get into run.json. */
static void json_masked(struct json_out *j, const char *key, const struct plan_step *s,
			const struct strvec *words)
{
	json_arr(j, key);
	for (size_t i = 0; i < words->nr; i++) {
		CLEANUP(xfreep) char *word = run_masked(s, words->v[i]);

		json_str(j, NULL, word);
	}
	json_end(j);
}

/* --- parts --- */

static void json_signal(struct json_out *j, const char *key, int sig)
{
	char number[16];
	const char *name = proc_signal_name(sig);

	if (sig > 0 && !name) {
		snprintf(number, sizeof(number), "SIG%d", sig);
		name = number;
	}
	json_str(j, key, sig > 0 ? name : NULL);
}

static const char *path_below(const struct run *rn, const char *path)
{
	const char *rest = path ? fs_below(rn->pl->run_dir, path) : NULL;

	return rest && *rest ? rest : path;
}

JSON_TABLE(time_fields, JSON_SET_FIELDS(struct run_step, started_ns, ended_ns));
JSON_TABLE(pid_fields, JSON_SET_FIELDS(struct run_step, pid, host_pid));
JSON_TABLE(usage_fields, JSON_FIELDS(struct run_step, user_s, sys_s, maxrss_bytes, strays),
	   JSON_FIELD_AS(false, struct run_step, killed, "strays_killed"));

static void put_step(struct json_out *j, const struct run *rn, size_t i)
{
	const struct plan_step *ps = &rn->pl->steps.v[i];
	const struct run_step *s = &rn->steps.v[i];
	CLEANUP(xfreep) char *text = xstrdup(s->text);
	char ref[64];

	snprintf(ref, sizeof(ref), "plan.json#/steps/%zu/env", i);
	json_obj(j, NULL);
	json_str(j, "name", ps->name);
	json_str(j, "kind", plan_step_kind(ps->kind));
	json_str(j, "tool", ps->tool);
	json_masked(j, "argv", ps, &ps->argv);
	json_str(j, "env_ref", ref);
	json_str(j, "cwd", ps->cwd);
	json_fields(j, s, time_fields);
	json_count_or_null(j, "exit_code", s->ended && s->code >= 0, s->code);
	json_signal(j, "signal", s->ended ? s->signal : 0);
	json_str(j, "out", path_below(rn, ps->out));
	json_str(j, "err", path_below(rn, ps->err));
	json_fields(j, s, pid_fields);
	json_bool(j, "timed_out", s->timed_out != 0);
	json_bool(j, "interrupted", s->interrupted != 0);
	json_signal(j, "ended_by", s->sent);
	if (s->ended)
		json_fields(j, s, usage_fields);
	json_text(j, "error", redact_str(text));
	json_end(j);
}

static void put_steps(struct json_out *j, const struct run *rn)
{
	json_arr(j, "steps");
	for (size_t i = 0; i < rn->steps.nr; i++)
		if (rn->steps.v[i].ran)
			put_step(j, rn, i);
	json_end(j);
}

static void put_artifacts(struct json_out *j, const struct run *rn)
{
	json_arr(j, "artifacts");
	for (size_t i = 0; i < rn->artifacts.nr; i++) {
		const struct run_artifact *a = &rn->artifacts.v[i];
		bool there = a->bytes >= 0;

		json_obj(j, NULL);
		json_str(j, "tool", a->output->tool);
		json_str(j, "path", a->path);
		json_count_or_null(j, "bytes", there, a->bytes);
		json_text(j, "sha256", a->sha256);
		json_text(j, "reader", *a->v.reader ? a->v.reader : a->output->reader);
		json_count_or_null(j, "records", there && !a->v.unread, (int64_t)a->v.records);
		json_str(j, "verdict", a->v.verdict);
		json_count_or_null(j, "first_ns", a->v.records > 0, a->v.first_ns);
		json_count_or_null(j, "last_ns", a->v.records > 0, a->v.last_ns);
		json_bool(j, "required", a->output->required);
		json_text(j, "reason", a->v.reason);
		json_end(j);
	}
	json_end(j);
}

JSON_TABLE(clock_fields, JSON_FIELDS(struct run_clock, at, anchor.monotonic_ns, anchor.realtime_ns,
				     anchor.boottime_ns, anchor.spread_ns));
JSON_TABLE(idle_fields, JSON_FIELDS(struct run_idle_window, when, start_ns, end_ns));
JSON_TABLE(host_fields, JSON_SET_FIELDS(struct run_host, hostname, kernel, arch, os, cpu, governor,
					cores, memory_bytes));

/* All GPUs of the machine, also those that the run may not use. */
static void put_gpus(struct json_out *j, const struct devices *d)
{
	for (size_t i = 0; d && i < d->gpus.nr; i++) {
		const struct gpu *g = &d->gpus.v[i];
		CLEANUP(xfreep) char *id = xasprintf("gpu%d", g->index);

		json_obj(j, NULL);
		json_str(j, "id", id);
		json_str(j, "source", g->vendor == GPU_AMD ? "kfd" : "nvidia");
		json_str(j, "vendor", gpu_vendor_name(g->vendor));
		json_str(j, "name", g->name);
		json_text(j, "arch", g->arch);
		json_text(j, "pci", g->pci);
		json_text(j, "uuid", g->id);
		json_count_or_null(j, "memory_bytes", g->memory_bytes > 0, g->memory_bytes);
		if (g->vendor == GPU_AMD && g->render_minor >= 0)
			json_i64(j, "render_minor", g->render_minor);
		json_text(j, "driver", g->vendor == GPU_NVIDIA ? d->driver : d->rocm);
		json_end(j);
	}
}

/* The device's facts when sampling began. */
static void put_facts(struct json_out *j, const struct sampler_facts *f)
{
	json_obj(j, "start");
	for (size_t i = 0; i < f->nr; i++)
		if (*f->fact[i].text)
			json_str(j, f->fact[i].name, f->fact[i].text);
		else
			json_f64(j, f->fact[i].name, f->fact[i].number);
	json_end(j);
	json_arr(j, "other_processes");
	for (size_t i = 0; i < f->users && i < SAMPLER_MAX_USERS; i++) {
		json_obj(j, NULL);
		json_i64(j, "pid", f->user[i].pid);
		json_str(j, "name", f->user[i].name);
		json_f64(j, "vram_bytes", f->user[i].vram_bytes);
		json_end(j);
	}
	json_end(j);
}

static void put_devices(struct json_out *j, const struct run *rn)
{
	json_arr(j, "devices");
	put_gpus(j, rn->pl->devices);
	for (size_t i = 0; i < rn->devices.nr; i++) {
		const struct sampler_device *d = &rn->devices.v[i].device;

		json_obj(j, NULL);
		json_str(j, "id", d->id);
		json_str(j, "source", rn->devices.v[i].sampler);
		json_text(j, "facts", d->facts);
		json_bool(j, "estimated", rn->devices.v[i].estimated);
		put_facts(j, &rn->devices.v[i].facts);
		json_arr(j, "series");
		for (size_t k = 0; k < d->nr && k < SAMPLER_MAX_SERIES; k++) {
			CLEANUP(xfreep)
			char *s = xasprintf("%s[%s]", d->series[k].name, d->series[k].unit);

			json_str(j, NULL, s);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* Whether the workload could have forged the verdicts. */
static void put_verdicts(struct json_out *j, const struct run *rn)
{
	json_obj(j, "verdicts");
	json_bool(j, "protected", !rn->verdicts_open);
	if (rn->verdicts_open)
		json_str(j, "why",
			 "the workload has CAP_SYS_PTRACE (root on the host, or a container with "
			 "it): it may change what profrig-init says of it");
	json_end(j);
}

static void put_git(struct json_out *j, const struct run *rn)
{
	if (!rn->git.known && !*rn->git.why) {
		json_nil(j, "git");
		return;
	}
	json_obj(j, "git");
	if (!rn->git.known) {
		json_nil(j, "commit");
		json_str(j, "why", rn->git.why);
		json_end(j);
		return;
	}
	json_str(j, "commit", rn->git.commit);
	json_bool(j, "dirty", rn->git.dirty);
	json_end(j);
}

/* Of a tool's file: a later run that repeats this one says whether it is the same. */
static void put_file_sum(struct json_out *j, const char *path)
{
	char hex[65];

	json_str(j, "sha256",
		 path && fs_is_file(path) && fs_sha256(path, NULL, hex, NULL) == 0 ? hex : NULL);
}

static void put_tools(struct json_out *j, const struct run *rn)
{
	const struct runconf *rc = rn->pl->conf;

	json_arr(j, "tools");
	for (size_t i = 0; rc && i < rc->tools.nr; i++) {
		const struct runconf_tool *rt = &rc->tools.v[i];
		const struct tool *t = rt->tool;
		const struct strvec *wrap = rt->has_wrap ? &rt->wrap : &t->wrap;

		json_obj(j, NULL);
		json_str(j, "name", t->name);
		json_nil(j, "version");
		json_str(j, "vendor", t->vendor);
		json_str(j, "file", t->file);
		put_file_sum(j, t->file);
		json_words(j, "argv", wrap);
		json_obj(j, "options");
		for (size_t k = 0; k < rt->options.nr; k++)
			json_str(j, rt->options.v[k].name, rt->options.v[k].value);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

JSON_TABLE(stats_fields,
	   JSON_FIELDS(struct sampling_stats, rows, ticks, failed, overruns, late,
		       tick_error_median_ns, tick_error_p99_ns, tick_error_max_ns),
	   JSON_FIELDS(struct sampling_stats, realtime, period_ns, median_period_ns, max_gap_ns,
		       read_ns_mean, read_ns_max, cpu_s));

static void put_sampler_stats(struct json_out *j, const struct sampling_stats *st)
{
	json_fields(j, st, stats_fields);
	json_obj(j, "reasons");
	for (size_t i = 0; i < st->reasons.nr; i++)
		json_u64(j, st->reasons.v[i].text, st->reasons.v[i].count);
	json_end(j);
}

static void put_samplers(struct json_out *j, const struct run *rn)
{
	json_arr(j, "samplers");
	for (size_t i = 0; i < rn->samplers.nr; i++) {
		const struct run_sampler *s = &rn->samplers.v[i];

		json_obj(j, NULL);
		json_str(j, "tool", s->plan->tool);
		json_str(j, "source", s->source ? s->source->name : s->plan->kind);
		json_str(j, "path", path_below(rn, s->plan->out));
		json_bool(j, "estimated", s->estimated);
		if (s->stopped)
			put_sampler_stats(j, &s->stats);
		json_text(j, "error", s->error);
		json_end(j);
	}
	json_end(j);
}

JSON_TABLE(metric_fields, JSON_FIELDS(struct run_metric, name, value, unit, source));

static void put_metrics(struct json_out *j, const struct run *rn)
{
	json_arr(j, "metrics");
	for (size_t i = 0; i < rn->metrics.nr; i++) {
		json_obj(j, NULL);
		json_fields(j, &rn->metrics.v[i], metric_fields);
		if (rn->metrics.v[i].detail)
			json_raw(j, "detail", rn->metrics.v[i].detail);
		json_end(j);
	}
	json_end(j);
}

JSON_TABLE(warning_fields, JSON_FIELDS(struct run_warning, code, severity, count, text));

JSON_TABLE(data_fields, JSON_FIELDS(struct run_data, r.name, r.provider),
	   JSON_SET_FIELDS(struct run_data, r.source),
	   JSON_FIELDS(struct run_data, r.path, optional, r.cached),
	   JSON_SET_FIELDS(struct run_data, r.files));
JSON_TABLE(fetched_fields, JSON_FIELDS(struct data_result, at_least, fetched_bytes, seconds),
	   JSON_SET_FIELDS(struct data_result, sha256, error));

static void put_data(struct json_out *j, const struct run *rn)
{
	json_arr(j, "data");
	for (size_t i = 0; i < rn->data.nr; i++) {
		const struct data_result *r = &rn->data.v[i].r;

		json_obj(j, NULL);
		json_fields(j, &rn->data.v[i], data_fields);
		json_count_or_null(j, "bytes", r->files > 0, (int64_t)r->bytes);
		json_fields(j, r, fetched_fields);
		json_end(j);
	}
	json_end(j);
}

static void put_durations(struct json_out *j, const struct run *rn)
{
	json_obj(j, "durations_s");
	if (rn->o->build_s > 0)
		json_f64(j, "build", rn->o->build_s);
	else
		json_nil(j, "build");
	if (rn->pl->data.nr)
		json_f64(j, "data", rn->data_s);
	json_f64(j, "pre", rn->pre_s);
	json_f64(j, "workload", rn->workload_s);
	json_f64(j, "post", rn->post_s);
	json_f64(j, "idle", rn->idle_s);
	json_nil(j, "analyze");
	json_end(j);
}

/*
 * The folder's name. A run of a campaign has another id, which begins so, that is its own on this
 * machine: two campaigns may have the same cells.
 */
static const char *folder_id(const struct plan *pl)
{
	const char *base = fs_base(pl->run_dir);
	size_t n = strlen(base);

	return !strncmp(pl->run_id, base, n) && pl->run_id[n] == '-' ? base : pl->run_id;
}

JSON_TABLE(image_fields, JSON_SET_FIELDS(struct run, image_digest, image_repo_digest));
JSON_TABLE(version_fields, JSON_FIELD_AS(true, struct run, agent_version, "agent"),
	   JSON_FIELD_AS(true, struct run, engine_version, "engine"),
	   JSON_SET_FIELDS(struct run, libc));

static void run_json_put(struct json_out *j, const struct run *rn)
{
	const struct plan *pl = rn->pl;
	const struct plan_step *step = plan_workload(pl);
	const struct run_step *ran = run_workload(rn), *w = ran && ran->ended ? ran : NULL;

	json_obj(j, NULL);
	json_str(j, "schema", RUN_SCHEMA);
	json_str(j, "id", folder_id(pl));
	json_str(j, "model", pl->conf ? pl->conf->model_name : NULL);
	/* The command as typed, or as in the model: without the tools in front of it. */
	if (step && pl->conf && pl->conf->command.nr)
		json_masked(j, "command", step, &pl->conf->command);
	json_utc(j, "started_utc", rn->started_realtime_ns);
	json_utc(j, "ended_utc", rn->ended_realtime_ns);
	json_str(j, "status", run_status_name(rn->outcome.status));
	json_text(j, "reason", rn->outcome.reason);
	json_str(j, "phase",
		 rn->outcome.failed_phase ? rn->outcome.failed_phase : rn->outcome.phase);
	json_count_or_null(j, "exit_code", w && w->code >= 0, w ? w->code : 0);
	json_signal(j, "signal", w ? w->signal : 0);
	put_durations(j, rn);
	json_str(j, "engine", pl->engine->name);
	json_str(j, "image", pl->engine->container ? pl->spec.image : NULL);
	json_fields(j, rn, image_fields);
	json_obj(j, "labels");
	for (size_t i = 0; pl->conf && i < pl->conf->labels.nr; i++)
		json_str(j, pl->conf->labels.v[i].name, pl->conf->labels.v[i].value);
	json_end(j);
	put_data(j, rn);
	json_obj(j, "host");
	json_fields(j, &rn->host, host_fields);
	json_end(j);
	put_devices(j, rn);
	json_obj(j, "versions");
	json_str(j, "profrig", rn->o->version);
	json_fields(j, rn, version_fields);
	json_end(j);
	if (rn->link_up)
		put_verdicts(j, rn);
	put_git(j, rn);
	put_tools(j, rn);
	json_rows(j, "clocks", &rn->clocks, clock_fields);
	json_rows(j, "idle", &rn->idle, idle_fields);
	run_record_json(j, rn);
	put_steps(j, rn);
	put_samplers(j, rn);
	put_artifacts(j, rn);
	put_metrics(j, rn);
	json_rows(j, "warnings", &rn->outcome.warnings, warning_fields);
	json_end(j);
}

char *run_json_text(const struct run *rn)
{
	struct json_out j;
	char *text = NULL;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&j, f, 1);
	run_json_put(&j, rn);
	putc('\n', f);
	fclose(f);
	text[redact_json(text, n)] = '\0';
	return text;
}

int run_json_write(struct run *rn, const char *run_dir, bool final, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	CLEANUP(xfreep) char *text = run_json_text(rn);
	const struct run_step *w = run_workload(rn);
	size_t n = strlen(text);

	/* Before the workload there is no data yet that a crash of the machine could lose. */
	return final ? run_write_reserved(run_dir, "run.json", text, n, err)
		     : fs_write_kept(path, text, n, w && w->ran ? FS_KEEP_DATA : FS_KEEP_NOTHING,
				     err);
}
