#include "outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/proc.h"
#include "profrig/base/redact.h"
#include "profrig/base/xalloc.h"

#define EXIT_WORKLOAD_FAILED 1
#define EXIT_OUTPUT_PARTIAL 6
#define EXIT_OUTPUT_BAD 7
#define MAX_WARNINGS 2000 /* run.json lists all of them */

const struct run_warning_info run_warning_table[] = {
	{ W_SAMPLER,
	  "a sampler could not be opened or stopped early: see run.json samplers[].error" },
	{ W_OUTPUT_REQUIRED, "an output that a tool must leave is missing, empty or damaged" },
	{ W_OUTPUT_OPTIONAL, "an output that a tool may leave is missing, empty or damaged" },
	{ W_OUTPUT_UNREAD,
	  "an output was kept, but this profrig has no reader for it: it was not checked" },
	{ W_COLLECT, "an output could not be moved into the run directory, or was not looked at" },
	{ W_STRAYS, "the workload left processes running: they were ended" },
	{ W_DISK_FULL, "the disk of the run directory is full: recorded output may be cut" },
	{ W_NO_RESERVE, "no disk space could be set aside for run.json" },
	{ W_LATEST_LINK, "the link `latest` could not be set" },
	{ W_NOT_REGISTERED, "the run is not registered: if profrig is killed, the next one cannot "
			    "clean up after it" },
	{ W_CONTAINER_LEFT, "the container could not be removed" },
	{ W_FOREIGN_EVENTS,
	  "something else wrote into the connection of profrig-init: it was passed over" },
	{ W_OWNER, "files of the run belong to the container's user, not to who started it" },
	{ W_SOURCE_LEFT, "the folder of the run's own could not be removed" },
	{ W_CLOCK_STEP,
	  "the machine's clock was set during the run: all times of day are those of the clock it "
	  "had when the run began; durations and samples do not depend on it" },
	{ W_IDLE_UNSAMPLED,
	  "idle power was asked for, but no sampler of the run reads power or energy; the run did "
	  "not wait for it" },
	{ W_PULL_FAILED, "the image could not be pulled; the one of that name that was here ran" },
	{ W_DATA_MISSING, "data that is optional is not there" },
	{ W_DATA_SOURCE, "data came from another place than the first one, or is not known to be "
			 "the newest" },
	{ W_DATA_LEFT_OUT,
	  "the copy of a data set lacks what is no file and no folder, or a link that leads "
	  "nowhere or back" },
	{ W_DATA_UNCOUNTED,
	  "a data set has more files than are counted: of their number and size the least is "
	  "known" },
	{ W_WRAP_AT,
	  "none of the programs that tools were to stand in front of was seen to start" },
	{ W_NO_CONTROL,
	  "the run could not listen on its control socket: ctl does not reach it, and marks are "
	  "lost" },
	{ W_MARKS_DROPPED, "more marks or recording windows than are kept: the rest is counted" },
	{ W_OVERHEAD, "tools made the workload slower than their budget allows" },
	{ W_DEVICE_SHARED,
	  "other processes held a device when sampling began: its readings include their share" },
	{ W_POWER_CAP, "a device may draw less power than its default" },
	{ W_SAMPLER_LATE,
	  "a sampler left out ticks, or did not get the real-time priority it asked for: see "
	  "run.json samplers[]" },
	{ W_RESULT, "a result of the workload was read with doubt, or could not be read" },
	{ W_RESULT_MISSING, "a result that was asked for is not there" },
	{ W_LOG_ERROR, "a line of the workload's output looks like an error" },
	{ W_PERF_CSV, "the run's results could not be added to the table of all runs (perf_csv)" },
	{ W_PUBLISH, "a target of publish: has not taken the results of the run; they wait" },
	{ W_OOM, "the kernel killed processes of the run for lack of memory" },
	{ NULL, NULL },
};

static const char *const status_names[] = {
	[RUN_PLANNED] = "planned", [RUN_RUNNING] = "running", [RUN_SUCCESS] = "success",
	[RUN_FAILED] = "failed",   [RUN_TIMEOUT] = "timeout", [RUN_INTERRUPTED] = "interrupted",
	[RUN_PARTIAL] = "partial", [RUN_SKIPPED] = "skipped",
};

const char *run_status_name(enum run_status s)
{
	return status_names[s];
}

void outcome_phase(struct run_outcome *oc, const char *phase)
{
	oc->phase = phase;
	if (oc->events->phase)
		oc->events->phase(oc->events->ctx, phase);
}

void outcome_fail(struct run_outcome *oc, enum run_status status, const char *fmt, ...)
{
	va_list ap;

	if (oc->failed_phase)
		return;
	oc->failed_phase = oc->phase;
	oc->failure = status;
	va_start(ap, fmt);
	vsnprintf(oc->reason, sizeof(oc->reason), fmt, ap);
	va_end(ap);
	redact_str(oc->reason);
}

static bool warning_only_counts(struct run_outcome *oc, const char *code)
{
	for (size_t i = oc->warnings.nr; oc->warnings.nr >= MAX_WARNINGS && i-- > 0;)
		if (!strcmp(oc->warnings.v[i].code, code)) {
			oc->warnings.v[i].count++;
			return true;
		}
	return false;
}

void outcome_warn(struct run_outcome *oc, const char *code, const char *severity, const char *fmt,
		  ...)
{
	struct run_warning w = { .severity = severity, .count = 1 };
	va_list ap;

	if (warning_only_counts(oc, code))
		return;
	snprintf(w.code, sizeof(w.code), "%s", code);
	va_start(ap, fmt);
	vsnprintf(w.text, sizeof(w.text), fmt, ap);
	va_end(ap);
	redact_str(w.text);
	VEC_PUSH(&oc->warnings, w);
}

bool outcome_take_interrupt(struct run_outcome *oc)
{
	int sig = oc->pending ? *oc->pending : 0;

	if (!sig)
		return false;
	*oc->pending = 0;
	oc->interrupts++;
	if (!oc->interrupt) {
		oc->interrupt = sig;
		oc->interrupted_phase = oc->phase;
	}
	return true;
}

bool outcome_good(const struct run_outcome *oc)
{
	return !oc->failed_phase && !oc->interrupt;
}

/* --- the end --- */

/* Whether a warning gives the reason for bad outputs of the run. */
static bool warning_of_outputs(const struct run_warning *w, bool required)
{
	static const char *const optional[] = { W_OUTPUT_OPTIONAL, W_OUTPUT_UNREAD, W_SAMPLER,
						W_COLLECT, W_RESULT_MISSING };

	if (required)
		return !strcmp(w->code, W_OUTPUT_REQUIRED) ||
		       (!strcmp(w->code, W_RESULT_MISSING) && !strcmp(w->severity, "error"));
	for (size_t i = 0; i < ARRAY_LEN(optional); i++)
		if (!strcmp(w->code, optional[i]))
			return true;
	return false;
}

static void outcome_judge_outputs(struct run_outcome *oc)
{
	bool required = oc->outputs_required_bad;
	enum run_status status = required ? RUN_FAILED : RUN_PARTIAL;
	const struct run_warning *first = NULL;
	size_t more = 0;

	if (!required && !oc->outputs_optional_bad)
		return;
	for (size_t i = 0; i < oc->warnings.nr; i++) {
		if (!warning_of_outputs(&oc->warnings.v[i], required))
			continue;
		more += first != NULL;
		first = first ? first : &oc->warnings.v[i];
	}
	if (first && more)
		outcome_fail(oc, status, "%s, and %zu more", first->text, more);
	else if (first)
		outcome_fail(oc, status, "%s", first->text);
}

static void outcome_interrupted(struct run_outcome *oc)
{
	const char *name = proc_signal_name(oc->interrupt);

	oc->failure = RUN_INTERRUPTED;
	oc->failed_phase = oc->failed_phase ? oc->failed_phase : oc->interrupted_phase;
	snprintf(oc->reason, sizeof(oc->reason), "interrupted by %s", name ? name : "a signal");
}

static int outcome_exit_code(const struct run_outcome *oc, bool outputs_only)
{
	switch (oc->status) {
	case RUN_INTERRUPTED:
		return 128 +
		       (oc->interrupt == SIGTERM || oc->interrupt == SIGALRM ? SIGTERM : SIGINT);
	case RUN_SUCCESS:
	case RUN_SKIPPED:
		return 0;
	case RUN_PARTIAL:
		return EXIT_OUTPUT_PARTIAL;
	default:
		return outputs_only ? EXIT_OUTPUT_BAD : EXIT_WORKLOAD_FAILED;
	}
}

int outcome_conclude(struct run_outcome *oc)
{
	bool outputs_only = !oc->failed_phase;

	outcome_take_interrupt(oc);
	outcome_judge_outputs(oc);
	if (oc->interrupt)
		outcome_interrupted(oc);
	if (oc->skipped && !oc->failed_phase)
		snprintf(oc->reason, sizeof(oc->reason), "the workload was not to run");
	oc->status = oc->failed_phase ? oc->failure : oc->skipped ? RUN_SKIPPED : RUN_SUCCESS;
	oc->phase = "done";
	return outcome_exit_code(oc, outputs_only);
}

int outcome_unwritten(struct run_outcome *oc, const char *why)
{
	outcome_fail(oc, RUN_FAILED, "run.json could not be written: %s", why);
	oc->status = RUN_FAILED;
	return EXIT_WORKLOAD_FAILED;
}

void outcome_release(struct run_outcome *oc)
{
	VEC_RELEASE(&oc->warnings);
}
