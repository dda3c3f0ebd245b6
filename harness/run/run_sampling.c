#include "run_priv.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"

#define READ_BLOCK ((size_t)1 << 16)

/* --- which source --- */

void run_sampler_opts(const struct plan_sampler *ps, struct sampler_opts *ret)
{
	*ret = (struct sampler_opts){ .device = ps->device ? ps->device : "all",
				      .period_s = ps->period_s };
	for (size_t i = 0; i < ps->options.nr; i++)
		VEC_PUSH(&ret->options, ((struct sampler_option){ ps->options.v[i].name,
								  ps->options.v[i].value }));
}

const struct sampler *run_sampler_source(const struct plan_sampler *ps, struct err *err)
{
	const struct sampler *s = NULL;
	struct sampler_opts so;

	run_sampler_opts(ps, &so);
	sampler_resolve(ps->kind, &so, &s, err);
	VEC_RELEASE(&so.options);
	return s;
}

int run_sampler_probe(const struct plan_sampler *ps, struct err *err)
{
	const struct sampler *s = run_sampler_source(ps, err);
	struct sampler_opts so;
	int r;

	if (!s)
		return -ENODEV;
	run_sampler_opts(ps, &so);
	r = sampler_probe(s, &so, err);
	VEC_RELEASE(&so.options);
	return r;
}

/* --- beside the workload --- */

static void note_failure(struct run *rn, struct run_sampler *s, const char *words)
{
	snprintf(s->error, sizeof(s->error), "%s", words);
	rn->outcome.outputs_optional_bad = true;
	outcome_warn(&rn->outcome, W_SAMPLER, "error", "sampler of tool '%s': %s", s->plan->tool,
		     words);
}

/* A workload that ends before the second tick leaves no reading, which is no error. */
static void note_silence(struct run *rn, struct run_sampler *s)
{
	if (rn->workload_s + rn->idle_s < 2 * s->plan->period_s)
		outcome_warn(&rn->outcome, W_SAMPLER, "note",
			     "sampler of tool '%s': the workload was over before its first reading",
			     s->plan->tool);
	else
		note_failure(rn, s, "not one reading was made");
}

/* A distortion of the measurement is reported once per device, also with several samplers. */
static void judge_device(struct run *rn, const char *id, const struct sampler_facts *f)
{
	CLEANUP(xfreep) char *shared = NULL;
	CLEANUP(xfreep) char *capped = NULL;

	for (size_t i = 0; i < rn->devices.nr; i++)
		if (!strcmp(rn->devices.v[i].device.id, id) && rn->devices.v[i].facts.nr)
			return;
	sampler_facts_judge(f, id, &shared, &capped);
	if (shared)
		outcome_warn(&rn->outcome, W_DEVICE_SHARED, "warning", "%s", shared);
	if (capped)
		outcome_warn(&rn->outcome, W_POWER_CAP, "warning", "%s", capped);
}

static void note_devices(struct run *rn, struct run_sampler *s)
{
	const struct sampler_device *d;
	size_t n = sampling_devices(s->sampling, &d);

	for (size_t i = 0; i < n; i++) {
		bool estimated = s->source->estimated || d[i].estimated;
		const struct sampler_facts *f = sampling_facts(s->sampling, i);

		s->estimated |= estimated;
		judge_device(rn, d[i].id, f);
		VEC_PUSH(&rn->devices,
			 ((struct run_device){ s->source->name, d[i], *f, estimated }));
	}
}

/* run.json has the number of skipped ticks; a fifth of all is worth a warning. */
static void note_ticks(struct run *rn, const struct run_sampler *s)
{
	const struct sampling_stats *st = &s->stats;
	/* several devices share a tick */
	bool slow = st->read_ns_mean * 8 > (double)st->period_ns;

	if (st->realtime_error)
		outcome_warn(&rn->outcome, W_SAMPLER_LATE, "note",
			     "sampler of tool '%s': no real-time priority: %s (needs root, "
			     "CAP_SYS_NICE or an rtprio limit)",
			     s->plan->tool, strerror(-st->realtime_error));
	if (st->overruns * 5 > st->ticks + st->overruns)
		outcome_warn(
			&rn->outcome, W_SAMPLER_LATE, "warning",
			"sampler of tool '%s': %" PRIu64 " of %" PRIu64
			" ticks were left out: a read takes %.3g ms where the period is %g ms%s",
			s->plan->tool, st->overruns, st->ticks + st->overruns,
			st->read_ns_mean / 1e6, (double)st->period_ns / 1e6,
			slow ? "" : ", so something else kept the machine busy (option realtime)");
}

/* Option compat: writes views for other programs into the tool's folder before post scripts run. */
static void write_views(struct run *rn, const struct run_sampler *s)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s/artifacts/%s", rn->pl->run_dir, s->plan->tool);
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;
	struct err err = ERR_INIT;
	struct sampler_opts so;

	run_sampler_opts(s->plan, &so);
	if (!strcmp(sampler_option(&so, "compat", ""), "madengine") &&
	    sampler_compat_write(s->plan->out, dir, &written, &err) < 0)
		outcome_warn(&rn->outcome, W_COLLECT, "warning",
			     "tool '%s': no view for madengine: %s", s->plan->tool, err.msg);
	VEC_RELEASE(&so.options);
}

static void run_sampler_open(struct run *rn, struct run_sampler *s)
{
	struct sampling_opts o = { .path = s->plan->out, .run_id = rn->pl->run_id };
	struct err err = ERR_INIT;

	s->source = run_sampler_source(s->plan, &err);
	if (!s->source) {
		note_failure(rn, s, err.msg);
		return;
	}
	o.sampler = s->source;
	run_sampler_opts(s->plan, &o.source);
	if (sampling_open(&o, &s->sampling, &err) < 0) {
		note_failure(rn, s, err.msg);
	} else {
		s->opened = true;
		note_devices(rn, s);
	}
	VEC_RELEASE(&o.source.options);
}

void run_samplers_open(struct run *rn)
{
	for (size_t i = 0; i < rn->pl->samplers.nr; i++) {
		VEC_PUSH(&rn->samplers, ((struct run_sampler){ .plan = &rn->pl->samplers.v[i] }));
		run_sampler_open(rn, &rn->samplers.v[i]);
	}
}

void run_samplers_start(struct run *rn)
{
	for (size_t i = 0; i < rn->samplers.nr; i++) {
		struct run_sampler *s = &rn->samplers.v[i];
		struct err err = ERR_INIT;

		if (!s->opened || sampling_start(s->sampling, &err) == 0)
			continue;
		note_failure(rn, s, err.msg);
		sampling_free(s->sampling);
		s->sampling = NULL;
		s->opened = false;
	}
}

void run_samplers_mark(struct run *rn, const char *name)
{
	for (size_t i = 0; i < rn->samplers.nr; i++)
		if (rn->samplers.v[i].opened)
			sampling_mark(rn->samplers.v[i].sampling, name);
}

void run_samplers_pause(struct run *rn, bool pause)
{
	if (!rn->pl->conf || !rn->pl->conf->record.samplers)
		return;
	for (size_t i = 0; i < rn->samplers.nr; i++)
		if (rn->samplers.v[i].opened && rn->samplers.v[i].sampling)
			sampling_pause(rn->samplers.v[i].sampling, pause);
}

void run_samplers_target(struct run *rn, pid_t pid)
{
	for (size_t i = 0; i < rn->samplers.nr; i++)
		if (rn->samplers.v[i].opened)
			sampling_target(rn->samplers.v[i].sampling, pid);
}

void run_samplers_stop(struct run *rn)
{
	for (size_t i = 0; i < rn->samplers.nr; i++) {
		struct run_sampler *s = &rn->samplers.v[i];

		if (!s->opened || s->stopped)
			continue;
		sampling_stop(s->sampling, &s->stats);
		s->stopped = true;
		sampling_free(s->sampling);
		s->sampling = NULL;
		note_ticks(rn, s);
		write_views(rn, s);
		if (s->stats.error)
			note_failure(rn, s, s->stats.error_text);
		else if (s->stats.rows == 0)
			note_silence(rn, s);
	}
}

/* --- checks of the files --- */

/* Rows of a samples file begin with their time, a digit. A hole in the file has none. */
static uint64_t count_rows(FILE *f)
{
	CLEANUP(xfreep) char *block = xmalloc(READ_BLOCK);
	bool begins = true;
	uint64_t rows = 0;
	size_t n;

	while ((n = fread(block, 1, READ_BLOCK, f)) > 0)
		for (size_t i = 0; i < n; i++) {
			rows += begins && block[i] >= '0' && block[i] <= '9';
			begins = block[i] == '\n';
		}
	return rows;
}

static void check_file(struct run *rn, struct run_sampler *s)
{
	const char *rel = fs_below(rn->pl->run_dir, s->plan->out);
	char words[sizeof(s->error)];
	uint64_t rows;
	FILE *f;

	rel = rel ? rel : s->plan->out;
	if (!fs_exists(s->plan->out)) {
		snprintf(words, sizeof(words),
			 "'%s' is missing: it was written, and something removed it during the run",
			 rel);
		note_failure(rn, s, words);
		return;
	}
	f = door_fopen(s->plan->out, "re");
	if (!f) {
		snprintf(words, sizeof(words), "'%s' cannot be read: %s", rel, err_words(errno));
		note_failure(rn, s, words);
		return;
	}
	rows = count_rows(f);
	fclose(f);
	if (rows >= s->stats.rows)
		return;
	snprintf(words, sizeof(words),
		 "'%s' has %" PRIu64 " of the %" PRIu64
		 " rows that were written: something changed it during the run",
		 rel, rows, s->stats.rows);
	note_failure(rn, s, words);
}

void run_samplers_check(struct run *rn)
{
	for (size_t i = 0; i < rn->samplers.nr; i++) {
		struct run_sampler *s = &rn->samplers.v[i];

		if (s->stopped && s->stats.rows && !*s->error)
			check_file(rn, s);
	}
}

/* --- the processes they follow --- */
