/*
 * program_runs: which execution of a module the spans of compiled programs belong to (program_facts
 * in model/facts.h), worked out when all rows are known and sorted.
 *
 * A place is where executions of one name are counted: on the host the process, or of a process
 * with several devices the device that the row states; of device tracks the device. In the order of
 * their starts the k-th PROGRAM_MODULE row of a name in its place is execution k.
 *
 * Another row belongs to
 *	1. the execution of its place with its run number, where the trace has such numbers;
 *	2. else the innermost execution around its start on its own thread, or on its device, of the
 *	   module that it names, of any where it names none.
 * Where a place has no PROGRAM_MODULE rows of a name, its run numbers are the executions, in the
 * order in which they appear. What is left has no execution; an operation without one that names no
 * module is W_OP_WITHOUT_MODULE. Compilations have no execution.
 *
 * A row takes from its execution's row what it does not state: module, fingerprint, program_id, run
 * and device. The k-th row of one kind and operation in an execution, by start, has ordinal k.
 *
 * Executions on one thread nest. Of those on one device several may be open: of each row at most
 * PROGRAM_RUNS_OPEN of them, the latest ones, are looked at.
 */
#ifndef PROGRAM_RUNS_H
#define PROGRAM_RUNS_H

#define PROGRAM_RUNS_OPEN 64

struct model;

/* Sets execution and ordinal of all rows. Spans and facts are sorted. O(n log tracks). */
void program_runs_number(struct model *m);

#endif
