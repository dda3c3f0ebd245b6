/*
 * lib_peaks: what this machine can do at most (bench_peak.h), for the commands that show it or
 * compare with it: out of the user's store, else measured now and stored.
 */
#ifndef CLI_LIB_PEAKS_H
#define CLI_LIB_PEAKS_H

#include <stdbool.h>

#include "profrig/base/err.h"
#include "profrig/bench/bench_peak.h"

/*
 * again: not from the store. What is wrong with the store is printed, once in a process. -ERANGE:
 * there are less processors; that a part cannot be measured is a status.
 */
int lib_peaks_get(unsigned threads, bool again, struct bench_peaks *ret, bool *ret_stored,
		  struct err *err);

#endif
