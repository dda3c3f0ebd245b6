/*
 * run_registry: which runs are alive. Each has an entry, a file that its profrig holds a lock on
 * (run.h).
 */
#ifndef RUN_REGISTRY_H
#define RUN_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"

struct plan;
struct run;

struct registration {
	int fd; /* holds the lock, -1 none */
	char *path;
};
#define REGISTRATION_INIT \
	{ \
		-1, NULL \
	}

/* $XDG_RUNTIME_DIR/profrig, else /tmp/profrig-<uid>; owned. */
char *registry_dir(struct err *err);
int registry_enter(const struct plan *pl, struct registration *ret, struct err *err);
void registry_leave(struct registration *reg);
/* The entry stays, without its owner: the next profrig finishes what we could not. */
void registry_leave_behind(struct registration *reg);
/* Takes the lock of an entry or a run directory's .lock; -EWOULDBLOCK: its owner lives. */
int registry_lock(const char *path, bool create, int *ret_fd);
/*
 * Records the run's directory and agent in the entry and the .lock, once they are known: a later
 * profrig cleans up only what it can prove to be this run's.
 */
void registry_note(const struct run *rn);
struct registered {
	dev_t dev; /* of the run directory, as ino; 0: not known */
	ino_t ino;
	pid_t agent; /* of this start of the machine, as this process counts pids; 0: not known */
	uint64_t agent_ticks; /* when it began */
};
void registry_read(const json_t *entry, struct registered *ret);

#endif
