/*
 * agentlink: our end of the wire to profrig-init (profrig/agent.h), whatever engine started it.
 *
 *	link_open(&l, argv, err)		starts the engine's process, which is the agent or
 *						leads to it
 *	link_send(&l, rq, err)			one request (the json_t reference is taken over)
 *	link_next(&l, timeout_ms, &ev, err)	1 and an event (owned), 0 none in time or a signal
 *						came, -EPIPE the engine is gone: err says what it
 *						left
 *	link_end(&l)				asks the agent to end, waits, in the end kills; safe
 *						at any time
 *	link_release(&l)
 *
 * What the engine writes to stderr is kept (bounded) in l.errs: it is where docker says why nothing
 * starts. No signal is raised by writing to an engine that died.
 */
#ifndef AGENTLINK_H
#define AGENTLINK_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/err.h"
#include "profrig/proc.h"
#include "profrig/strbuf.h"

struct agent_link {
	pid_t pid; /* of the engine's process, 0 none */
	int to, from, errs_fd;
	int wake_fd;      /* of the caller, or -1: what comes there ends a wait in link_next */
	struct strbuf in; /* bytes of events not yet taken */
	size_t taken;     /* of in */
	struct strbuf errs;
	bool skipping; /* an oversized event */
	bool eof;
	bool ended;
	struct proc_exit exit; /* when ended */
};

#define AGENT_LINK_INIT \
	{ \
		.to = -1, .from = -1, .errs_fd = -1, .wake_fd = -1, .in = STRBUF_INIT, \
		.errs = STRBUF_INIT \
	}

int link_open(struct agent_link *l, char *const *argv, struct err *err);
int link_send(struct agent_link *l, json_t *rq, struct err *err);
int link_next(struct agent_link *l, int timeout_ms, json_t **ret, struct err *err);
void link_end(struct agent_link *l);
void link_release(struct agent_link *l);
/* "hello" within the time, owned by the caller. -ETIMEDOUT, -EPIPE, -EINTR when *interrupt is set
 * meanwhile. */
int link_hello(struct agent_link *l, int timeout_ms, const volatile sig_atomic_t *interrupt,
	       json_t **ret, struct err *err);

/* Fields of an event, which may lack them. */
const char *event_name(const json_t *ev);
int64_t event_int(const json_t *ev, const char *key, int64_t def);
double event_num(const json_t *ev, const char *key, double def);
const char *event_str(const json_t *ev, const char *key, const char *def);

#endif
