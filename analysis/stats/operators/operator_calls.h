/*
 * operator_calls: the calls of operators of a model, and the device work that each has launched.
 *
 * An operator is a span on a thread whose category is PyTorch's word for one ("cpu_op", in 2021
 * "Operator"), or that has operands or a sequence number and is neither a Python frame nor a range
 * that a program marks, or a range whose name is that of an operator and its numbers
 * (op_facts.name: NVTX, RPD). Operators nest as spans do; Python frames, modules and API calls
 * between two operators are passed over. Work belongs to the innermost operator around its launch
 * (own), and to all around that one (nested).
 *
 * Which calls count for flops and bytes: the outermost one whose cost is known (operator_cost.h),
 * and what it launches at any depth is its time, so nothing counts twice. A wrapper counts only
 * where nothing below it does.
 *
 * Without any device work in the inputs the host computes: a call that counts then has its own
 * duration as time.
 *
 * Memory: 112 bytes for each call, 4 for each work, until all analyses have ended; while they are
 * made, which goes part by part (operator_parts.h), 4 for each span and 8 for each call of a part.
 * O(n + w), but for sorting the works of a call that come from several queues.
 */
#ifndef PROFRIG_OPERATOR_CALLS_H
#define PROFRIG_OPERATOR_CALLS_H

#include "analyses_private.h"

#include "profrig/base/u64map.h"
#include "profrig/cost/operator_cost.h"
#include "profrig/cost/peaks.h"

#define OPERATOR_NONE UINT32_MAX

struct operator_call {
	uint64_t span;
	str_id name;
	uint32_t around;   /* the operator around it; OPERATOR_NONE */
	uint32_t cost;     /* in costs; OPERATOR_NONE: it has no model */
	uint32_t counts;   /* the call that counts, at or around this one; OPERATOR_NONE */
	uint32_t operands; /* in facts.lists; FACT_NONE */
	int64_t sequence, forward_thread, op_id; /* FACT_ABSENT */
	uint64_t works;                          /* own */
	int64_t own_ns, nested_ns;
	int64_t host_self_ns; /* its time on the thread without that of operators below */
	/* of calls that count: union of what is launched in them; the device of the first work */
	int64_t time_ns;
	uint64_t timed;           /* works in it; 1 for the host */
	uint32_t device;          /* in works.devices; OPERATOR_NONE: the host */
	enum precision precision; /* of the kernels that took longest, else of its operands */
};

struct operator_calls {
	const struct model *m;
	const struct works *works;
	VEC(struct operator_call) v; /* in the order of spans: around < index */
	VEC(struct op_cost) costs;
	uint32_t *of_work; /* by row of works: the innermost call; OPERATOR_NONE */
	bool host;         /* no device work at all */
	uint64_t no_op, unlinked;
	int64_t no_op_ns, unlinked_ns;
	uint64_t misfits, overflows; /* calls */
};

/* False: no span is an operator; known without a look at spans. */
bool operators_possible(const struct model *m);
struct operator_calls *operator_calls_new(const struct model *m, const struct works *works);
void operator_calls_free(struct operator_calls *oc); /* NULL is fine */
void operator_calls_freep(struct operator_calls **oc);
/* Those of the model, made once for all analyses. Borrowed. */
const struct operator_calls *analysis_operator_calls(struct model *m,
						     const struct analysis_opts *o);
/* The call that counts a row of works; OPERATOR_NONE. */
uint32_t operator_counting(const struct operator_calls *oc, size_t row);

#endif
