/*
 * agent_priv: the parts of profrig-init among themselves. One thread, one poll loop (agent_main.c).
 *
 *	agent_main.c	command line, signals, the loop
 *	agent_request.c	request lines → operations
 *	agent_step.c	starts a step, notices that it ended
 *	agent_tree.c	which processes descend from the agent, and to which step each belongs
 *	agent_kill_tree.c	ending processes: TERM, grace, KILL
 *	agent_out.c	events to stdout, never blocking
 *	agent_place.c	on which processors a step runs
 *	agent_probe.c	is this binary, library or path here
 */
#ifndef AGENT_PRIV_H
#define AGENT_PRIV_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/engine/agent.h"

/* --- events --- */

struct agent_out {
	char key[AGENT_KEY_LEN + 1]; /* "" until it is received: no output before */
	struct strbuf q;             /* not yet taken by the reader */
	size_t sent;                 /* of q */
	bool broken;                 /* there is no reader any more */
};

/* An event being written: event_begin, json_* on ev.j, event_end. */
struct event {
	struct json_out j;
	FILE *f;
	char *text;
	size_t len;
};

void event_begin(struct event *ev, const char *name);
void event_end(struct event *ev, struct agent_out *out);
void event_error(struct agent_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes what the pipe takes now. */
void out_flush(struct agent_out *out);
static inline size_t out_pending(const struct agent_out *out)
{
	return out->q.len - out->sent;
}

/* --- steps and their processes --- */

#define AGENT_MAX_STEPS 4096
#define OWNER_NONE (-1) /* descends from us and belongs to no step */
#define OWNER_ALL (-2)  /* as a filter: every descendant */

struct step {
	int64_t id; /* of the request that started it */
	pid_t pid;  /* of its first process, which leads its group */
	bool running;
};

struct tree_proc {
	pid_t pid, ppid, pgrp;
	uint64_t start; /* clock ticks since boot; with the pid it identifies a process */
	bool ours;      /* descends from us */
	bool dead;      /* a zombie */
	bool known;     /* owner is decided */
	int owner;      /* index into steps */
};

struct tree {
	VEC(struct tree_proc) procs; /* of the last scan, by pid */
};

struct tree_kill {
	int64_t id;
	int owner;                /* or OWNER_ALL: the agent itself ends after it */
	int64_t term_ns, kill_ns; /* CLOCK_MONOTONIC */
	int64_t give_up_ns;
	bool termed;
	size_t killed;
};

struct agent {
	const char *run_id;
	struct agent_out out;
	struct strbuf in;
	bool skipping; /* the rest of an oversized line */
	bool in_closed;
	bool ending, done;
	size_t killed; /* for "bye" */
	VEC(struct step) steps;
	struct tree tree;
	VEC(struct tree_kill) tree_kills;
	int64_t kill_nap_ns;
	/* when kill_tree_tick is to be called next, unless something happens */
	int64_t kill_due_ns;
};

/*
 * Reads /proc and decides the owner of every descendant. A process keeps the owner it once had; a
 * new one belongs to the step whose group it is in, else to its parent's, else (an orphan that left
 * its group between two scans) to the step started last. Called before a step starts and when one
 * ends, so that what an earlier step left running is not taken for a later one's.
 */
void tree_scan(struct agent *a);
void tree_release(struct tree *t);
/* Living processes of an owner (OWNER_ALL: all), in the last scan. */
size_t tree_count(const struct agent *a, int owner);
/* Sends sig to each of them but those in group skip_pgrp (0: all); returns how many took it. */
size_t tree_signal(const struct agent *a, int owner, int sig, pid_t skip_pgrp);
/* Sends sig to those of them that have a handler for it; returns how many took it. */
size_t tree_signal_catching(const struct agent *a, int owner, int sig);

int step_find(const struct agent *a, int64_t id); /* the newest of that id, or -1 */
void step_start(struct agent *a, int64_t id, const json_t *rq);
void step_signal(struct agent *a, int index, int sig);
/* See the request "forward" (agent.h). */
void step_forward(struct agent *a, int index, int sig);
void steps_reap(struct agent *a);

void kill_tree_of_step(struct agent *a, int64_t id, int owner, int64_t wait_ms, int64_t grace_ms);
void kill_tree_whole(struct agent *a);
void kill_tree_tick(struct agent *a);
/* Milliseconds until kill_tree_tick has something to do, -1 = nothing. */
int kill_tree_wait_ms(const struct agent *a);

/* --- requests --- */

/* The first event, when the key has come. */
void say_hello(struct agent *a);

/* Takes the bytes of stdin that came; lines that are complete are carried out. */
void requests_feed(struct agent *a, const char *data, size_t n);
/* argv-like array of strings under key; -errno with err. Absent is empty. */
int request_strings(const json_t *rq, const char *key, struct strvec *out, struct err *err);
/* The environment a request asks for: "env", over our own without "unset" with "inherit". */
int request_env(const json_t *rq, struct strvec *out, struct err *err);

/* --- processors --- */

/*
 * "cpus" of a request: sets the agent's own affinity, which the next child inherits, and keeps the
 * old one in *was. 0 not wanted, 1 set, -errno.
 */
int place_take(const json_t *rq, cpu_set_t *was, struct err *err);
void place_back(const cpu_set_t *was);

/* --- probing --- */

void probe_needs(struct agent *a, int64_t id, const struct strvec *needs, const struct strvec *env);
/* "glibc 2.36", "musl", "none". */
void probe_libc(char *buf, size_t n);
/* Value of a variable in an environment vector, or NULL. */
const char *env_get(const struct strvec *env, const char *name);

#endif
