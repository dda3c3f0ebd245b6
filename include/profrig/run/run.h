/*
 * run: walks a plan: engine, agent, pre scripts, samplers, workload, post scripts, teardown,
 * collection, run.json (docs/architecture.md).
 *
 * run_execute never returns early: after any failure post scripts run, samplers stop, outputs are
 * collected and judged, and run.json reports it. It prints nothing; run_events notifies a front end
 * of progress. run.json is rewritten atomically after every step, a small reserve file makes that
 * possible on a full disk.
 *
 * Signals: the caller sets `interrupt` (an int written by its SIGINT/SIGTERM handler) to the
 * signal's number; the workload gets INT, after grace TERM, after grace KILL; a second Ctrl-C goes
 * to KILL at once. run_execute takes the number (sets it to 0, so that it sees the next one) and
 * puts the first one back at its end.
 *
 * Idle power (configuration: idle): samplers start that much before the workload and stop that much
 * after it, before post scripts; run.json has the times. Processes of a pre script keep running,
 * those of the workload have been ended. There is no idle time after a failed workload; an
 * interrupt ends it at once, and the run is interrupted.
 *
 * Rules of judgement:
 *	processes	processes of the workload may end by themselves within a second; one that
 *			has to be ended is a failure ("left 2 processes running"). Processes of a
 *			pre script live until the agent ends: a post script may need them.
 *	outputs		a pattern is fine when one of its files is valid and none is damaged: tools
 *			write a file per process, and those that never used a GPU are empty. Of a
 *			plan_output whose dir is not in the run directory, files newer than the
 *			workload's start are moved into artifacts/<tool>/ first.
 *	a full disk	is a failure, also when the workload did not notice. run.json is then
 *			written over blocks set aside at the beginning.
 *
 * A run is alive while its profrig holds two locks (flock): on its entry in the registry (see
 * run_sweep_leftovers), and on <run>/.lock, a lock beside run.json, which every write replaces
 * together with its locks. Both files are removed at the end of the run. A run directory appears
 * under its name only when it holds a run.json.
 */
#ifndef PROFRIG_RUN_H
#define PROFRIG_RUN_H

#include <signal.h>

#include "profrig/plan/plan.h"
#include "profrig/sampler/sampler.h"

enum run_status {
	RUN_PLANNED,
	RUN_RUNNING,
	RUN_SUCCESS,
	RUN_FAILED,
	RUN_TIMEOUT,
	RUN_INTERRUPTED,
	RUN_PARTIAL,
	RUN_SKIPPED /* all but the workload ran, as requested */
};
const char *run_status_name(enum run_status s);

/*
 * How an artifact is judged; analysis implements it, the command line hands it over. Fields as in
 * reader.h.
 */
struct run_verdict {
	char verdict[16]; /* valid empty damaged */
	bool unread;      /* it could not be looked into; then records are not known */
	char reader[32];
	uint64_t records;
	int64_t first_ns, last_ns;
	char reason[256];
};
typedef int run_check_fn(const char *path, const char *reader, uint64_t min_records,
			 struct run_verdict *ret, struct err *err);

struct run_events {
	/* "probe", "pre", "idle 3 s before the workload", "workload", "post", "collect" */
	void (*phase)(void *ctx, const char *phase);
	/*
	 * --live: the workload's new output. Returns how many bytes were taken, without waiting for
	 * a reader; the rest is offered again.
	 */
	size_t (*output)(void *ctx, const char *text, size_t n);
	void *ctx;
	/* a few times a second while a step runs */
	void (*tick)(void *ctx);
	/* last line of a pull or a fetch of data */
	void (*note)(void *ctx, const char *text);
	/* so much of the data is here; total 0: unknown */
	void (*bytes)(void *ctx, uint64_t done, uint64_t total);
};

struct run_opts {
	run_check_fn *check;
	struct run_events events;
	volatile sig_atomic_t *interrupt;
	/* two, or NULL: SIGUSR1, SIGUSR2 came. The workload gets them while it runs */
	volatile sig_atomic_t *forward;
	const char *runs_dir; /* for the `latest` link */
	const char *version;  /* of profrig */
	double build_s;       /* how long the image took to build; 0: not known */
	/* preflight adds deviations that do not prevent a run; run_execute writes them into
	 * run.json, and adds messages for the end. May be NULL. */
	struct strvec *notes;
	/*
	 * preflight for `plan`: pulls nothing, starts no container (so what an image lacks is not
	 * known)
	 */
	bool dry;
	/*
	 * Trust the engine: preflight leaves the checks of engine, image and tools' needs to
	 * run_execute, which then starts the only container. When that does not start, or lacks a
	 * need, run_execute removes everything it made and returns -ENOLINK (preflight without
	 * quick finds the reason, and pulls) or -ENOPKG with the lines in `missing`.
	 */
	bool quick;
	struct strvec *missing;
	/* preflights of this machine that share one agent instead of starting one each; NULL: they
	 * do not */
	struct run_prober *prober;
};

struct run_result {
	enum run_status status;
	char reason[512]; /* one line for people, "" on success */
	int exit_code;    /* docs/contract.md: 0 1 6 7 130 143 */
	int workload_code, workload_signal;
	double workload_s;
	char result[160]; /* "14164 samples/s": the first of its results, "" none */
	uint64_t artifacts, artifacts_bad, artifacts_unread, samples;
	char *run_dir;
	size_t failed_step; /* whose end is the reason, counted from 1; 0: none is */
	bool locked;        /* the run directory is, by lock_fd, until run_result_over */
	int lock_fd;
};
/* Nothing more will be written into the run directory: it is no live one any more. */
void run_result_over(struct run_result *r);
void run_result_release(struct run_result *r); /* also that */

/*
 * The checks before a run begins: the engine answers, the image is there (or pulled), needs are met
 * (checked in a throw-away container, unless quick), samplers work. Everything missing becomes a
 * line with advice; returns their number (exit 4 when > 0), < 0 on an internal failure.
 */
int run_preflight(const struct plan *pl, const struct run_opts *o, struct strvec *missing,
		  struct err *err);

/* Message when the disk has too little room; owned, NULL. */
char *run_disk_warning(const struct plan *pl);

/* Starts nothing by itself; free accepts NULL. */
struct run_prober *run_prober_new(void);
void run_prober_free(struct run_prober *p);

/*
 * Picks for "auto": docker, else podman, else host; a container engine only when the model states
 * an image. notice: owned line for the user or NULL.
 */
const struct engine *run_pick_engine(const char *name, const char *image, char **ret_notice,
				     struct err *err);
/* 0 when the engine answers, else -errno with its message. */
int run_engine_answers(const struct engine *e, struct err *err);

/* < 0: the run directory could not be created at all, or see `quick`; otherwise ret is complete. */
int run_execute(const struct plan *pl, const struct run_opts *o, struct run_result *ret,
		struct err *err);

/* Appends a warning (W_…) to run.json, of a run that has ended. */
int run_note_warning(const char *run_dir, const char *code, const char *severity, const char *text,
		     struct err *err);
/* Appends to run.json after analysis: durations_s.analyze, warnings, metrics. */
int run_note_analysis(const char *run_dir, double analyze_s, struct err *err);

/*
 * Adds to the metrics of run.json what the tools cost: "baseline" (s), the workload's time in the
 * run of its pair without tools, and "overhead" (%), by how much it was exceeded here; of several
 * pairs also "overhead_mean", of three or more "overhead_low" and "overhead_high" (%), and
 * W_OVERHEAD when a budget is exceeded.
 */
struct run_overhead {
	const char *baseline_id; /* NULL, and NAN below: that run did not end well */
	double baseline_s, workload_s;
	size_t pairs;
	double mean, low, high; /* 0.1 is 10 % longer */
	double budget;          /* that is exceeded; NAN: none is */
	const char *tools;
};
int run_note_overhead(const char *run_dir, const struct run_overhead *o, struct err *err);

/*
 * Adds the rows of a run to the table of results.perf_csv (perf_csv.h). status NULL: that of
 * run.json; else no run directory was made, and it is "failed" or "skipped". For the cost of the
 * run's tools call run_note_overhead before.
 */
int run_perf_csv(const struct plan *pl, const char *status, const char *reason,
		 const volatile sig_atomic_t *interrupt, struct err *err);

/*
 * The files below dir that git tracks, by their paths from dir. Programs that the repository's own
 * configuration names are not run. -ENOENT: there is no repository, or git cannot read it.
 */
int run_git_files(const char *dir, struct strvec *ret, struct err *err);

/*
 * What run.json would say of this machine, its devices, the image, the model's repository and the
 * tools, if the run began now: the same document, of which the rest is empty. Asks the engine and
 * git, and reads the samplers' devices. Owned.
 */
char *run_today_json(const struct plan *pl, const char *version);

/* The kinds of GPU here: "gfx90a", "NVIDIA A100-SXM4-80GB". d: NULL is fine. */
void run_gpu_archs(const struct devices *d, struct strvec *ret);
/* The one of them that model.skip_gpu_arch names, borrowed; NULL. */
const char *run_skip_arch(const struct runconf *rc, const struct devices *d);

/* New run id "<UTC>-<model>-<6 hex>", owned. */
char *run_new_id(const char *model);
/*
 * Folder with profrig-init and preload libraries: the binary's own in a build tree, ../lib/profrig
 * from it when installed (preflight checks whether it is there). Owned.
 */
char *run_lib_dir(void);

/*
 * Warnings that a run itself puts into run.json (analysis has its own); `list warnings` prints
 * both. Ends with code NULL.
 */
#define W_SAMPLER "W_SAMPLER"
#define W_OUTPUT_REQUIRED "W_OUTPUT_REQUIRED"
#define W_OUTPUT_OPTIONAL "W_OUTPUT_OPTIONAL"
#define W_OUTPUT_UNREAD "W_OUTPUT_UNREAD"
#define W_COLLECT "W_COLLECT"
#define W_STRAYS "W_STRAYS"
#define W_DISK_FULL "W_DISK_FULL"
#define W_NO_RESERVE "W_NO_RESERVE"
#define W_LATEST_LINK "W_LATEST_LINK"
#define W_NOT_REGISTERED "W_NOT_REGISTERED"
#define W_CONTAINER_LEFT "W_CONTAINER_LEFT"
#define W_FOREIGN_EVENTS "W_FOREIGN_EVENTS"
#define W_IDLE_UNSAMPLED "W_IDLE_UNSAMPLED"
#define W_PULL_FAILED "W_PULL_FAILED"
#define W_DATA_MISSING "W_DATA_MISSING"
#define W_DATA_SOURCE "W_DATA_SOURCE"
#define W_DATA_LEFT_OUT "W_DATA_LEFT_OUT"
#define W_DATA_UNCOUNTED "W_DATA_UNCOUNTED"
#define W_CLOCK_STEP "W_CLOCK_STEP"
#define W_NO_CONTROL "W_NO_CONTROL"
#define W_WRAP_AT "W_WRAP_AT"
#define W_MARKS_DROPPED "W_MARKS_DROPPED"
#define W_OVERHEAD "W_OVERHEAD"
#define W_DEVICE_SHARED "W_DEVICE_SHARED"
#define W_POWER_CAP "W_POWER_CAP"
#define W_SAMPLER_LATE "W_SAMPLER_LATE"
#define W_RESULT "W_RESULT"
#define W_RESULT_MISSING "W_RESULT_MISSING"
#define W_LOG_ERROR "W_LOG_ERROR"
#define W_OOM "W_OOM"
#define W_PERF_CSV "W_PERF_CSV"
#define W_PUBLISH "W_PUBLISH"
#define W_SOURCE_LEFT "W_SOURCE_LEFT"
#define W_OWNER "W_OWNER"

struct run_warning_info {
	const char *code, *about;
};
extern const struct run_warning_info run_warning_table[];

/*
 * Cleans up after killed runs, before the next one: leftovers.h, with fix, in the registry and in
 * runs_dir (NULL: none). An engine that does not answer is retried next time. lines: one per
 * action. Returns the number of runs.
 */
int run_sweep_leftovers(const char *runs_dir, struct strvec *lines, struct err *err);

#endif
