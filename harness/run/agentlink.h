/*
 * agentlink: profrig's end of the connection to profrig-init (agent.h), for any engine.
 *
 *	link_open(&l, argv, err)		starts the engine's process, which is the agent or
 *						leads to it, and hands it the key of this
 *						connection: bytes that lack it are no events
 *	link_send(&l, rq, err)			one request (the json_t reference is taken over)
 *	link_next(&l, timeout_ms, &ev, err)	1 and an event (owned), 0 none in time or a signal
 *						came, -EPIPE the engine is gone: err has its last
 *						output
 *	link_end(&l)				asks the agent to end, waits, in the end kills; safe
 *						at any time
 *	link_release(&l)
 *
 *	link_agent(&l)				the agent's pid here while it lives, 0 unknown
 *
 * The engine's stderr is kept (bounded) in l.errs: docker's reasons for a failed start are there.
 * Writing to a dead engine raises no signal.
 */
#ifndef AGENTLINK_H
#define AGENTLINK_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/engine/agent.h"

struct agent_link {
	pid_t pid; /* of the engine's process, 0 none */
	int to, from, errs_fd;
	int wake_fd; /* of the caller, or -1: input there ends a wait in link_next */
	char key[AGENT_KEY_LEN + 1];
	struct strbuf in;     /* bytes of events not yet taken */
	size_t taken;         /* of in */
	uint64_t foreign;     /* bytes after "hello" that are of no event */
	uint64_t damaged;     /* events with the key that are no JSON */
	bool greeted, old;    /* old: one of another version greets */
	pid_t agent;          /* as this machine counts, 0 not known */
	int agent_fd;         /* of it, a pidfd */
	uint64_t agent_ticks; /* when it began, as /proc/PID/stat has it */
	struct strbuf errs;
	bool eof;
	bool ended;
	struct proc_exit exit; /* when ended */
};

#define AGENT_LINK_INIT \
	{ \
		.to = -1, .from = -1, .errs_fd = -1, .wake_fd = -1, .agent_fd = -1, \
		.in = STRBUF_INIT, .errs = STRBUF_INIT \
	}

int link_open(struct agent_link *l, char *const *argv, struct err *err);
int link_send(struct agent_link *l, json_t *rq, struct err *err);
int link_next(struct agent_link *l, int timeout_ms, json_t **ret, struct err *err);
void link_end(struct agent_link *l);
void link_release(struct agent_link *l);
/*
 * "hello" within the time, owned by the caller; then the agent's process is looked for. -ETIMEDOUT,
 * -EPIPE, -EINTR when *interrupt is set meanwhile.
 */
int link_hello(struct agent_link *l, int timeout_ms, const volatile sig_atomic_t *interrupt,
	       json_t **ret, struct err *err);

/*
 * The process of this machine that sent "hello" (agent_proof.c). Its name proves nothing. On the
 * host it is a child of profrig. In a container it is the one with the pid of the hello in the
 * innermost pid namespace, the start tick of the hello, and its pid namespace where that is
 * readable. No workload can match, as none has started yet. 0 when none is found (another machine's
 * engine, a virtual machine) or several are.
 */
void link_prove(struct agent_link *l, const json_t *hello);
pid_t link_agent(const struct agent_link *l);
/* The agent's effective user here, -1 unknown. The owner in /proc is no help: root's for a process
 * that is not dumpable. */
int64_t link_agent_uid(const struct agent_link *l);
/*
 * A pidfd of the agent's child that has this pid where the agent lives, and its pid here. -1: not
 * found.
 */
int link_child(const struct agent_link *l, int64_t inner, pid_t *ret_pid);
/* A pidfd of the process with this pid and start time; -1: it is gone. */
int proven_pidfd(pid_t pid, uint64_t start_ticks);
int proven_signal(int pidfd, int sig);
bool proven_ended(int pidfd, int timeout_ms); /* a zombie has ended, too */
/* A stopped agent goes on. */
void link_wake(const struct agent_link *l);

/* Fields of an event, which may lack them. */
const char *event_name(const json_t *ev);
int64_t event_int(const json_t *ev, const char *key, int64_t def);
double event_num(const json_t *ev, const char *key, double def);
const char *event_str(const json_t *ev, const char *key, const char *def);

#endif
