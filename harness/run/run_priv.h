/*
 * run_priv: the parts of a run. run.c walks the plan; struct run is the whole state.
 *
 *	run.c		run_execute: the order of the phases, also after failures
 *	outcome.h	status, reason, warnings, interrupts
 *	run_step.c	one step: start, wait, time limits, interrupts, live output
 *	run_dir.c	the run directory: made whole, the `latest` link, the reserve for a full
 *			disk
 *	run_hold.c	other folders in which the workload may write
 *	run_source.c	the run's own copy of the source, where a model has one
 *	run_json.c	struct run → run.json
 *	run_note.c	changes to a run.json already written (analysis, leftovers)
 *	run_facts.c	host, versions, git
 *	run_today.c	the same without a run
 *	run_data.c	the workload's data: checks and fetches it
 *	run_pull.c	the image, when it must be fetched
 *	run_sampling.c	samplers beside the workload
 *	run_idle.c	samplers alone, before and after the workload
 *	run_registry.h	the live runs
 *	preflight.c	checks before a run directory exists
 *	agentlink.h	talking to profrig-init
 *
 * Five folders, each with one header for the others:
 *	clock/		mean_clock.h	mean clocks of processors and GPUs
 *	control/	run_control.h	requests to a live run
 *	collect/	run_collect.h	outputs → artifacts with verdicts
 *	results/	run_results.h	numbers in the workload's output and results files
 *	sweep/		run_sweep.h	cleaning up after killed profrigs
 */
#ifndef RUN_PRIV_H
#define RUN_PRIV_H

#include "agentlink.h"
#include "mean_clock.h"
#include "outcome.h"
#include "record_state.h"
#include "run_oom.h"
#include "run_registry.h"
#include "run_results.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>

#include "profrig/base/clock.h"
#include "profrig/base/json_out.h"
#include "profrig/data/data.h"
#include "profrig/run/run.h"

#define RUN_SCHEMA "profrig.run/1"
#define RUN_LOCK ".lock"
#define RUN_RESERVE ".reserve"
#define RUN_SPACE ".space"
#define RUN_RESERVE_BYTES ((size_t)512 << 10)

struct run_clock {
	const char *at;
	struct clock_anchor anchor;
};

/* A time in which samplers ran and nothing of the workload did. */
struct run_idle_window {
	const char *when;         /* "before", "after" */
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

/* What became of one step of the plan. */
struct run_step {
	bool ran, ended;
	int64_t started_ns, ended_ns; /* CLOCK_MONOTONIC, 0 unknown */
	int64_t pid, host_pid;        /* as the step sees it; as the host does, 0 unknown */
	int code, signal;             /* code −1: none */
	int timed_out, interrupted;   /* the first signal we sent for that reason, or 0 */
	int sent;                     /* the last signal we sent */
	double user_s, sys_s;
	int64_t maxrss_bytes;
	uint64_t strays, killed;
	struct oom_watch oom;
	uint64_t oom_group, oom_machine; /* killed for lack of memory meanwhile */
	char text[400];                  /* why it could not be started or went missing */
};

struct run_artifact {
	const struct plan_output *output;
	char *path; /* below the run directory; the pattern when missing */
	int64_t bytes;
	char sha256[65];
	struct run_verdict v; /* .verdict also "missing" */
};

struct run_device {
	const char *sampler;
	struct sampler_device device;
	struct sampler_facts facts;
	bool estimated; /* it or its source */
};

struct run_sampler {
	const struct plan_sampler *plan;
	const struct sampler *source;
	struct sampling *sampling; /* while it lasts */
	bool opened, stopped, estimated;
	struct sampling_stats stats;
	char error[256];
};

struct run_data {
	struct data_result r;
	bool optional;
};

struct run_host {
	char hostname[256], kernel[128], arch[128], os[128], cpu[128];
	char governor[64]; /* of the CPUs' frequency; "mixed" when they differ, "" unknown */
	int64_t cores, memory_bytes;
};

struct run_git {
	bool known, dirty;
	char commit[65];
	char why[200]; /* there is a repository, and nothing is known of it */
};

/* A thread collects facts that need programs, while the engine starts. */
struct run_facts_job {
	const struct plan *pl;
	pthread_t thread;
	bool running;
	struct run_git git;
	char image_digest[128], image_repo_digest[512], engine_version[64];
};

struct run {
	const struct plan *pl;
	const struct run_opts *o;
	double grace_s;

	/* state */
	struct registration reg;
	int lock_fd;
	struct control *control; /* NULL before and after */
	struct agent_link link;
	bool link_up; /* the agent has sent "hello" */
	bool link_lost;
	/* the workload may have CAP_SYS_PTRACE, and so forge the agent's events */
	bool verdicts_open;
	int unstarted;       /* -ENOLINK, -ENOPKG: it cannot begin (run_opts.quick), 0 it can */
	bool container_left; /* it could not be removed */
	bool workload_done;  /* it ran, well or not */
	struct strvec held;  /* folders, until the run is over (run_hold.c) */
	char *latest_was;    /* target of the link `latest` before this run; NULL: none */
	char *made; /* the outermost folder of the run directory's path that was created, owned */

	/* what run.json holds */
	struct run_outcome outcome;
	int64_t started_realtime_ns, ended_realtime_ns;
	double data_s, pre_s, workload_s, post_s, idle_s;
	char image_repo_digest[512];
	char image_digest[128], engine_version[64], agent_version[32], libc[64];
	struct run_host host;
	struct run_git git;
	struct run_facts_job facts;
	VEC(struct run_clock) clocks;
	VEC(struct run_idle_window) idle;
	VEC(struct run_step) steps; /* as many as the plan has */
	VEC(struct run_artifact) artifacts;
	size_t artifact_bytes; /* that run.json has of them, about */
	VEC(struct run_metric) metrics;
	VEC(struct run_seen) seen;
	VEC(struct run_device) devices;
	VEC(struct run_sampler) samplers;
	VEC(struct run_data) data;
	struct mean_clock mean_clock;
	struct record_state record; /* once control is over */
};

/* --- run_step.c --- */

/* Names of the variables that a step does not inherit, for a request to the agent. */
json_t *step_unset(const struct plan_step *ps);
/* The agent's request that starts a step. */
json_t *step_start_request(const struct run *rn, const struct plan_step *ps, int64_t id);
/* Never fails: what happened is in rn->steps. */
void step_run(struct run *rn, size_t index);
bool step_went_well(const struct run_step *s);

/* --- run_idle.c --- */

/* How long to wait on each side of the workload, once samplers are open: 0 also, with a warning,
 * when none of them reads power. */
double run_idle_s(struct run *rn);
/* Waits, and notes the window as far as it came: an interrupt, or the loss of the agent (which is
 * then the run's failure), ends it early. */
void run_idle(struct run *rn, const char *when, double s);

/* --- run_dir.c --- */

int run_dir_make(struct run *rn, struct err *err);
/* Folders and copies of scripts. */
int run_dir_fill(struct run *rn, struct err *err);
/* The `latest` link, as soon as the run directory is there; a failure is a warning. */
void run_dir_latest(struct run *rn);
/* As if the run had never been, `latest` too: of one that could not begin. */
void run_dir_unmake(struct run *rn);
/*
 * Gives an agent of another user access to the folders, and write access where steps and tools
 * write. uid_inside: its user in the container.
 */
void run_dir_share(struct run *rn, int64_t uid_inside);
void run_dir_close(struct run *rn);
/* A file written whole; on a full disk the reserve beside it becomes the file. */
int run_write_reserved(const char *run_dir, const char *name, const char *text, size_t n,
		       struct err *err);
bool run_disk_full(const char *run_dir);

/* --- run_disk.c --- */

/* A line when there is less room for the run than there must be. */
void run_disk_room(const struct plan *pl, struct strvec *missing);

/* --- run_data.c --- */

/* preflight: one line for each data set that is nowhere. 0, or -EINTR. */
int run_data_check(const struct plan *pl, const struct run_opts *o, struct strvec *missing,
		   struct strvec *optional);
/* Fetches all data; a failure for data that is not optional is the run's failure. */
void run_data_fetch(struct run *rn);
/* Whether the variables of a data set are set; name NULL: they belong to none. */
bool run_data_there(const struct run *rn, const char *name);
void run_data_release(struct run *rn);

/* --- run_pull.c --- */

/* The image of the plan; -EINTR, or why not. */
int run_pull(const struct plan *pl, const struct run_opts *o, struct err *err);

/* --- preflight.c --- */

/*
 * Checks the tools' needs through the agent of a container, after its "hello". Returns the number
 * of lines added to missing, or -errno when the agent does not answer.
 */
int preflight_needs(const struct plan *pl, const struct run_opts *o, struct agent_link *l,
		    struct strvec *missing, struct err *err);

/* --- run_json.c --- */

/* final: may use up the reserve. */
int run_json_write(struct run *rn, const char *run_dir, bool final, struct err *err);
/* Its text, without secrets. Owned. */
char *run_json_text(const struct run *rn);

/* --- run_note.c --- */

json_t *run_json_load(const char *run_dir, struct err *err);
/* 1 when it was marked, 0 when it had ended before. */
int run_note_interrupted(const char *run_dir, struct err *err);

/* --- the rest --- */

/* Host, git, engine and image. What begin leaves to a thread is in rn only after end, which may be
 * called again. */
void run_facts_begin(struct run *rn);
void run_facts_end(struct run *rn);
/* The commit of the repository around dir, when it is known. */
void run_git_facts(struct run *rn, const char *dir);
/* Without running anything that the repository names, and within some seconds (run_git.c). */
void run_git_look(struct run_git *g, const char *dir);
/* --- run_source.c: nothing without plan.source_dir --- */

/* --- run_hold.c: after all that is taken from these folders, before the engine starts --- */
void run_hold(struct run *rn);
/*
 * Expects in a held folder only files of users that a process may be, by its /proc/PID/uid_map.
 * Where the map cannot be read, files of all users are expected.
 */
void run_expect_owners(const char *dir, const char *uid_map);
void run_let_go(struct run *rn);

/* Failing is the run's failure; an interrupt is noted. */
void run_source_make(struct run *rn);
/* For an agent that is another user than we are. */
void run_source_share(const struct run *rn);
void run_source_done(struct run *rn);
void run_samplers_open(struct run *rn);
void run_samplers_start(struct run *rn);
void run_samplers_mark(struct run *rn, const char *name);
/* Where samplers pause with the tools; by the control's thread, while the workload runs. */
void run_samplers_pause(struct run *rn, bool pause);
void run_samplers_target(struct run *rn, pid_t pid);
void run_samplers_stop(struct run *rn);
/* After all processes have ended: a samples file that is gone or lacks rows means a failed
 * sampler. */
void run_samplers_check(struct run *rn);
int run_sampler_probe(const struct plan_sampler *ps, struct err *err);
/* The source of a plan's sampler ("auto": the first GPU source that works here), or NULL with err
 * set; and its options, a vector that the caller releases. */
const struct sampler *run_sampler_source(const struct plan_sampler *ps, struct err *err);
void run_sampler_opts(const struct plan_sampler *ps, struct sampler_opts *ret);
/* The workload, whether it ran or not; NULL: there is no such step. */
const struct run_step *run_workload(const struct run *rn);
/* text with "***" for every secret that the step's environment holds. Owned. */
char *run_masked(const struct plan_step *s, const char *text);

#endif
