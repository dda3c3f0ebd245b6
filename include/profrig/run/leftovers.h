/*
 * leftovers: finds and removes the remains of killed profrigs on this machine.
 *
 * A run is dead when the locks of its profrig (run.h) are free. Kinds:
 *
 *	entry		the registry's, of a dead run; also a half-written one
 *	run		a directory with the status "running": it is marked interrupted
 *	container	of a dead run, also of its throw-away probe
 *	processes	the agent of a dead run, and all with its PROFRIG_RUN_ID
 *	file		half-written files, blocks set aside, sockets and FIFOs in its directory;
 *			with `all` also half-written files that a killed analysis left
 *	folder		a run directory whose profrig was killed before it had its name
 *	mount		anything mounted below its directory
 *
 * The registry has the runs of all directories; runs_dir also finds runs that it has lost, as after
 * a reboot (a folder of more than LEFTOVERS_MAX_RUNS only with `all`); `all` also searches engines
 * and processes for unknown runs.
 *
 * Never touched: a run whose lock is held; a run of another machine (its locks are invisible here);
 * a container of --keep; processes of other users; anything that may be alive. Doubtful ones are
 * listed, with `kept` and the reason.
 */
#ifndef PROFRIG_LEFTOVERS_H
#define PROFRIG_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/vec.h"

#define LEFTOVERS_MAX_RUNS 2000

struct leftover {
	const char *kind; /* of the list above */
	char *what;       /* a path, a container's name, "2 processes" */
	char *of;         /* the run that it belongs to, and how that is known */
	int64_t bytes;    /* on disk; -1: none, or not known */
	bool kept;        /* left alone on purpose */
	char *done;       /* with fix: the action taken, one line; NULL none */
	char *error;      /* with fix: why not */
};
struct leftovers {
	VEC(struct leftover) rows;
};

struct leftovers_opts {
	const char *runs_dir; /* NULL: the registry only */
	bool fix;
	bool all;
};

/*
 * ret is filled also when a part could not be looked at: -errno then, with the first reason.
 * Returns how many runs were found dead.
 */
int leftovers_find(const struct leftovers_opts *o, struct leftovers *ret, struct err *err);
void leftovers_release(struct leftovers *l);

#endif
