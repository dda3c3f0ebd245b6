/*
 * autograd: which kernels operators launch: one row per operator, shapes of its arguments and
 * kernel, copy or fill. Work belongs to the innermost operator around its launch
 * (operator_calls.h); the rest has rows "[no op]" and "[unlinked]", so the table adds up to all
 * device work, which a check says. Operators without work have one row without a kernel.
 *
 * RPD's autogradKernel view has these sums too, but only of work that is launched in the range
 * itself, and it loses the rest.
 *
 * O(n log n) of operators and works; rows are as many as the kinds that occur.
 */
#ifndef PROFRIG_AUTOGRAD_H
#define PROFRIG_AUTOGRAD_H

#include "operator_calls.h"

/* clang-format off */
#define AUTOGRAD(X) \
	X(STR, name) X(STR, shapes) X(STR, kernel) X(U64, calls) X(F64, mean_ns) \
	X(I64, total_ns) X(F64, share) X(F64, inclusive_ns) X(U64, op_calls) X(F64, seq) \
	X(F64, op_id)
/* clang-format on */
TABLE_FORM(autograd, AUTOGRAD, "one row per operator, shapes and kernel that it launched itself");

void autograd_add(const struct operator_calls *oc, struct table_set *out);

#endif
