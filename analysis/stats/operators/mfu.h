/*
 * mfu: model flops utilisation: flops of the operators that count, without nominal ones, by wall
 * time and the peak of the precision in which most of their time went. Of each device over all of
 * its work, and of each iteration that the trace marks (work/iterations.h): its operators
 * begin in the marker's range, and its wall time lasts from the range's start to its end, or to
 * that of the last work launched in it.
 */
#ifndef PROFRIG_MFU_H
#define PROFRIG_MFU_H

#include "operator_rows.h"

/* clang-format off */
#define MFU(X) \
	X(STR, device) X(STR, iteration) X(STR, name) X(F64, flop) X(I64, wall_ns) \
	X(I64, busy_ns) X(F64, tflops) X(STR, precision) X(F64, peak_tflops) X(F64, mfu) \
	X(F64, mfu_busy)
/* clang-format on */
TABLE_FORM(mfu, MFU,
	   "one row per device, and per device and marked iteration: flops by wall time and peak");

void mfu_add(const struct operator_calls *oc, const struct operator_rows *rows, struct peaks *peaks,
	     const struct iterations *it, struct table_set *out);

/*
 * Of an iteration, the operators that begin in its range: their flops without nominal ones, their
 * bytes, and how much the devices on which they ran could do in the time of the iteration, at the
 * peak of the precision in which most of their time went. flop / could_flop is its MFU, bytes /
 * could_bytes the use of the memory's bandwidth. NaN unknown.
 */
struct iteration_use {
	double flop, bytes, could_flop, could_bytes;
	int64_t modelled_ns; /* Σ of the times of these operators */
};
/* By iteration. Owned. */
struct iteration_use *iteration_uses(const struct operator_calls *oc, struct peaks *peaks,
				     const struct iterations *it);

#endif
