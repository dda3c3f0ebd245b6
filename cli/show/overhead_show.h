/*
 * overhead_show: what tools cost (baseline.h), for a terminal and for the reports of the runs.
 */
#ifndef OVERHEAD_SHOW_H
#define OVERHEAD_SHOW_H

#include "baseline.h"

/* The table `overhead` in the analyses of the profiled runs that have one. */
void overhead_tables(const struct pairing *s, struct strvec *problems);
/* Two lines for each set of tools, and a warning when its budget is exceeded. */
void overhead_print(const struct pairing *s);

#endif
