/*
 * op_range: what PyTorch writes into the names of the ranges that it pushes for its operators
 * (emit_nvtx, emit_itt, the marker ranges of RPD), when no profiler of its own runs:
 *
 *	NAME, seq = N, op_id = N, sizes = [[2, 3], [3, 4]], input_op_ids = [(7,0), (8,0)]
 *
 * Each part behind the name may be missing, but one of the two numbers must be there, and nothing
 * may follow: any other name is a plain range. sizes are the shapes of the arguments, seq is
 * autograd's sequence number, which joins an operator of the forward pass with that of the backward
 * one. Source: torch/csrc/profiler/util.cpp, getNvtxStr.
 *
 * Names are untrusted: of one name at most OP_RANGE_TRIES places are tried, each O(n).
 */
#ifndef OP_RANGE_H
#define OP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OP_RANGE_TRIES 8

struct op_range {
	size_t name_n;           /* the operator is the beginning of the text */
	int64_t sequence, op_id; /* FACT_ABSENT */
	const char *sizes;       /* inside the text; NULL: none */
	size_t sizes_n;
};

bool op_range_parse(const char *text, size_t n, struct op_range *ret);

struct model;
/*
 * Gives facts of an operator (op_facts) to the spans of the host whose names are such ranges, and
 * that have none. Before names are put into their normal form, which leaves out the numbers.
 */
void facts_of_ranges(struct model *m);

#endif
