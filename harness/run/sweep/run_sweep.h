/*
 * run_sweep: what the rest of run/ calls to end the processes of one run. Everything that dead runs
 * left: profrig/run/leftovers.h; the parts: sweep_priv.h.
 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "run_registry.h"

/*
 * A run of which something may be left. What carries its id alone may be another run's, so a
 * process must carry its directory too, an agent the start that is on record, and a container must
 * have its directory mounted or stand in the registry.
 */
struct swept {
	const char *id, *dir;
	bool there; /* dir is, and is proven to be the run's: the one of known */
	bool in_registry;
	struct registered known;
};
/* Ends what a host run left: its agent and every process that carries its id and its directory.
 * Returns how many were ended. */
size_t sweep_processes(const struct swept *s);

#endif
