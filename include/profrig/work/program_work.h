/*
 * program_work: what executions of a compiled program's modules and operations did on devices
 * (program_facts): device work goes to the operation and the execution that launched it.
 *
 *	struct program_work *pw = program_work_new(w);	w of a finished, nested model
 *	pw->runs, pw->ops, pw->of_work
 *	program_work_free(pw);
 *
 * Work belongs to the operation that its own facts name, else to the innermost range of a program
 * around its launch. An execution of a module has the work of its operations, and its time on the
 * device is from the first start to the last end of it (a projection).
 *
 * An execution of an operation is the range that launched it, else the one on the device's line
 * that its work begins in; where only work tells, it is the works of one operation and execution
 * that follow each other on a queue with no other between.
 *
 * Executions are those of program_facts: by device, module name and number. Executions of the host
 * of a module that the device's own line also has are the same ones and left out.
 *
 * Cut: the last execution of a module on a device, where it has fewer operations than the mean of
 * those before it less their standard deviation (of the population): the recording ended in it.
 * Steady: behind as many executions as are warm-up by what they do: one if the module was compiled
 * in the recording, and one if it communicates (xla_warmup.h); all, where that leaves none.
 * Source of both rules: nsys-jax.
 *
 * O(n log n).
 */
#ifndef PROFRIG_PROGRAM_WORK_H
#define PROFRIG_PROGRAM_WORK_H

#include "profrig/base/vec.h"
#include "profrig/work/works.h"

#define PROGRAM_NONE UINT32_MAX

struct program_run {
	str_id module;
	uint32_t number;    /* execution */
	uint64_t place;     /* hash: where executions of a name are counted */
	uint32_t device;    /* index in works.devices; PROGRAM_NONE: its place has no work */
	int64_t job_device; /* the job's number of its device; FACT_ABSENT */
	uint64_t span;      /* of the module; SPAN_NONE */
	uint64_t ops;       /* operations that were launched, or that the device's line has */
	uint64_t works;
	int64_t start_ns, end_ns; /* of its works; both 0 without */
	int64_t sum_ns, union_ns;
	bool cut, steady;
};

struct program_op {
	uint32_t run;
	str_id name;
	int64_t start_ns, end_ns; /* of its works */
	int64_t sum_ns;
	uint64_t works;
	enum work_class class; /* of its first work */
};

struct program_work {
	VEC(struct program_run) runs; /* by device, module (as text), number */
	VEC(struct program_op) ops;   /* with work, in no order that matters */
	uint32_t *of_work;            /* row of works → runs; PROGRAM_NONE */
	uint64_t unowned;             /* works of no execution */
	bool all_warmup;              /* of a module: all executions, which are steady for that */
};

struct program_work *program_work_new(const struct works *w);
void program_work_free(struct program_work *pw); /* NULL is fine */

#endif
