/*
 * counters_file: a user's rules for counters. A file of --counters is a list; of several entries
 * that match a counter, the first that gives a key decides it:
 *
 *	counters:
 *	  - {match: "*current_socket_power*", tau_s: 0.1}
 *	  - {match: "rack:meter", kind: cumulative, unit: Wh, device: gpu0}
 *
 * Life cycle: counter_options_init, any of the others, session_opts.counters = &o.rules, …,
 * counter_options_release after the analysis.
 */
#ifndef PROFRIG_SESSION_COUNTERS_FILE_H
#define PROFRIG_SESSION_COUNTERS_FILE_H

#include "profrig/base/cfg.h"
#include "profrig/counters/counters.h"

struct counter_options {
	struct cfg file; /* owns the texts of the rules */
	struct counter_rules rules;
};
void counter_options_init(struct counter_options *o);
void counter_options_release(struct counter_options *o);
/*
 * Reads a file, once. -EINVAL: something in it is wrong, and p (empty before) has a line for each
 * problem. Another error: the file cannot be read, and err says why.
 */
int counter_options_file(struct counter_options *o, const char *path, struct problems *p,
			 struct err *err);
/* The time constant of power readings: "none", "fit" or seconds. */
int counter_options_tau(struct counter_options *o, const char *tau, struct err *err);

#endif
