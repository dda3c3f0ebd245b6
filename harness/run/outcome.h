/*
 * outcome: the progress and end of a run: its phase, the first failure, warnings, interrupts, and
 * the resulting status, reason and exit code. Independent of plans, engines and files; every part
 * of a run may call it.
 *
 *	outcome_phase(&oc, "pre")		the run enters a phase; the front end is notified
 *	outcome_fail(&oc, RUN_TIMEOUT, …)	the first failure gives the run's status and phase;
 *						later ones change nothing
 *	outcome_warn(&oc, W_…, "note", …)	one more row of run.json warnings[]
 *	outcome_take_interrupt(&oc)		between two waits: whether a signal came
 *	outcome_good(&oc)			neither a failure nor an interrupt so far
 *	outcome_conclude(&oc)			once, at the end: sets status, returns the exit code
 *	outcome_release(&oc)
 *
 * All calls are of the run's thread. Texts are copied, without the secrets that redact.h knows;
 * phases are borrowed and are string constants.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <signal.h>

#include "profrig/base/vec.h"
#include "profrig/run/run.h"

struct run_warning {
	char code[32];
	const char *severity; /* "note", "warning", "error" */
	uint64_t count;
	char text[400];
};

struct run_outcome {
	const struct run_events *events;
	volatile sig_atomic_t *pending; /* run_opts.interrupt; NULL: none can come */

	enum run_status status;  /* planned, running and in the end how it ended */
	enum run_status failure; /* of the first failure */
	char reason[512];
	const char *phase;        /* where the run is */
	const char *failed_phase; /* where it failed first; NULL: it did not */
	size_t failed_step;       /* by which step, counted from 1; 0: by none */
	int interrupt;            /* the first signal that ended the run, 0 none */
	int interrupts;           /* how many so far */
	const char *interrupted_phase;
	bool skipped; /* the workload was not to run */
	bool outputs_required_bad, outputs_optional_bad;
	VEC(struct run_warning) warnings;
};

void outcome_phase(struct run_outcome *oc, const char *phase);
void outcome_fail(struct run_outcome *oc, enum run_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Above 2000 rows, one more of a known code only raises the count of the last of that code. */
void outcome_warn(struct run_outcome *oc, const char *code, const char *severity, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* Takes the pending signal (run.h, Signals). True when one came. */
bool outcome_take_interrupt(struct run_outcome *oc);
bool outcome_good(const struct run_outcome *oc);
/* Outputs that are bad become a failure, an interrupt comes before all else. docs/contract.md. */
int outcome_conclude(struct run_outcome *oc);
/* run.json itself could not be written: the run failed, with any earlier status. */
int outcome_unwritten(struct run_outcome *oc, const char *why);
void outcome_release(struct run_outcome *oc);

#endif
