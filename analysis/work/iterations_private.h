/* The steps of iterations_new, each in the file of its name. */
#ifndef PROFRIG_ITERATIONS_PRIVATE_H
#define PROFRIG_ITERATIONS_PRIVATE_H

#include "profrig/base/u64map.h"
#include "profrig/work/iterations.h"

/* Groups and iterations of host ranges. -EINVAL: the pattern. */
int markers_find(struct iterations *it, const struct model *m, const char *pattern,
		 struct err *err);
/* The period of each device. */
void periods_find(struct iterations *it, const struct works *w);
/* Iterations of accepted periods, and the works that they own. */
void periods_own(struct iterations *it, const struct works *w);
/* Of iterations of periods: their times are those of their works. */
void periods_times(struct iterations *it);

#endif
