/*
 * model_shift: moves inputs of a finished model in time, for clocks that turn out to differ.
 *
 *	model_shift_inputs(m, by_ns)	by_ns: one for each input, added to all of its times
 *
 * Spans, pieces and samples move with their input, and its shift_ns says so; windows, marks and
 * logs of libraries do not. Call it before anything else has read times of the model: before
 * model_window and before a profile is made.
 *	false, and nothing is moved, when a track has spans of inputs that would move apart.
 */
#ifndef PROFRIG_MODEL_SHIFT_H
#define PROFRIG_MODEL_SHIFT_H

#include "profrig/model/model.h"

bool model_shift_inputs(struct model *m, const int64_t *by_ns);

#endif
