/*
 * perf_input: what `lib perf` is to measure: a library_trace.csv, or runs and logs as `lib trace`
 * reads them.
 */
#ifndef PROFRIG_PERF_INPUT_H
#define PROFRIG_PERF_INPUT_H

#include "cli.h"

#include "profrig/bench/bench.h"

/*
 * Adds the configurations of all inputs. 0 or 6, also where parts could not be read, or 5 after
 * saying why nothing could. A row of a table that is damaged becomes a configuration with its
 * problem.
 */
int perf_inputs_read(const struct strvec *inputs, struct bench_set *set);

#endif
