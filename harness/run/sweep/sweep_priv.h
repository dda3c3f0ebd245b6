/*
 * sweep_priv: the parts of leftovers among themselves.
 *
 *	run_sweep.c		the registry, processes, containers; run_sweep_leftovers
 *	run_sweep_dirs.c	directories of dead runs, and those the registry has forgotten
 *	run_sweep_rest.c	containers and processes of unknown runs
 */
#ifndef SWEEP_PRIV_H
#define SWEEP_PRIV_H

#include "run_priv.h"
#include "run_sweep.h"

#include "profrig/base/fs.h"
#include "profrig/run/leftovers.h"

struct sweep {
	const struct leftovers_opts *o;
	struct leftovers *out;
	struct strvec seen; /* run ids that were looked at, dead or alive */
	int dead;           /* runs */
};

/* A row; `what` is taken over. */
struct leftover *sweep_row(struct sweep *sw, const char *kind, char *what, const char *of, ...)
	__attribute__((format(printf, 4, 5)));
void sweep_done(struct leftover *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sweep_error(struct leftover *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Processes and containers of a dead run; whether nothing is left of it, or would be with fix. */
bool sweep_run(struct sweep *sw, const struct swept *s, const char *engine);
/* Value of a variable in the text of /proc/<pid>/environ; NULL when it is not there. */
const char *sweep_value_in(const char *data, size_t n, const char *name);
/* pid is profrig itself or what started it. */
bool sweep_is_ancestor(pid_t pid);
int sweep_remove_container(const struct engine *e, const char *name);
/* "<name> <run id>" of all labelled containers; -errno when the engine does not answer. */
int sweep_list_containers(const struct engine *e, struct strvec *lines);

/*
 * The lock of a dead profrig. A child that it had just forked holds its locks until exec, so a lock
 * of a dead owner is retried for a moment.
 */
int sweep_lock_of_dead(const char *path, pid_t owner, int *ret_fd);
/* By their names: a run of a campaign has an id that begins with that of its folder. */
bool sweep_is_dir_of(const char *run_dir, const char *run_id);
/*
 * The run directory that a container has mounted, by the run's id. Owned, NULL:
 * none, or the engine does not answer.
 */
char *sweep_mounted_dir(const struct engine *e, const char *name, const char *run_id,
			bool *ret_running);
/*
 * Holds the parent folder of a run directory (door.h) for the rest of the process, and sets
 * s->there when the directory is a run directory, has the right owner, and is the recorded one.
 */
void sweep_look(struct swept *s);
/* 0 done, 1 its profrig lives, or it is another machine's. */
int sweep_dir(struct sweep *sw, struct swept *s, pid_t owner);
/* Directories of dead runs in o->runs_dir that are in no registry. */
void sweep_runs_dir(struct sweep *sw);

/* What engines and /proc know of runs that were not seen. */
void sweep_rest(struct sweep *sw);

#endif
