/*
 * The line of a run or an analysis on what libraries' logs tell:
 *
 *	  library rocblas 36456 calls, 926 Tflop; nccl 990 calls (library_calls.csv)
 */
#ifndef PROFRIG_LIBRARY_SHOW_H
#define PROFRIG_LIBRARY_SHOW_H

#include <stdbool.h>

#include "profrig/report/writer.h"

/* Whether a log tells any call. */
bool has_library_calls(const struct report *rep);
/* On stderr; nothing without such calls. */
void library_say(const struct report *rep);

#endif
