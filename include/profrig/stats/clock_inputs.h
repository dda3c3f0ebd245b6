/*
 * clock_inputs: brings inputs of ranks whose clocks differ onto a common one, for all analyses
 * (analyze --align); docs/collectives.md says which clocks are aligned.
 *
 * An input moves by the median offset of its ranks, as found from their collectives: a drift is
 * taken at the middle of the input.
 */
#ifndef PROFRIG_CLOCK_INPUTS_H
#define PROFRIG_CLOCK_INPUTS_H

#include "profrig/model/model.h"

/*
 * m: finished, nothing else has read it; nested after it. How many inputs were moved, with the note
 * W_CLOCK_ALIGNED.
 */
size_t clock_inputs_align(struct model *m);

#endif
