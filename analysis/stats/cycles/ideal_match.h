/*
 * ideal_match: which table of ideal cycles (cost/ideal_cycles.h) a job ran by. A job is what one
 * input has of one device; a log has a table for each graph that was compiled.
 *
 * The confidence is the mean of three shares:
 *	order	of the job's first 30 kernels, those that the table has, behind the row of the one
 *		before; the job's first kernel may begin it again
 *	found	of all its executions, those of kernels that the table has
 *	used	of the table's kernels, those that were executed
 * The highest wins. It is uncertain below IDEAL_SURE, and when a table that expects other cycles of
 * the job, or is of another phase, comes within IDEAL_TIE.
 */
#ifndef PROFRIG_IDEAL_MATCH_H
#define PROFRIG_IDEAL_MATCH_H

#include <stdbool.h>

#include "profrig/cost/ideal_cycles.h"

#define IDEAL_SURE 0.8
#define IDEAL_TIE 0.2
#define IDEAL_ORDER 30

struct ideal_match {
	const struct ideal_table *table; /* NULL: there is none at all */
	double confidence;
	bool uncertain;
};

/* kernels: the executions in their order, without words of phases. */
struct ideal_match ideal_match(const struct ideal_cycles *ic, const char *const *kernels, size_t n);

#endif
