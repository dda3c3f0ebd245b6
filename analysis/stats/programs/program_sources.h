/*
 * program_sources: the time of compiled programs by where their operations come from in the source,
 * as stacks of a flame graph whose parts add up. Of the executions that are steady and whole, on
 * all devices:
 *	(1) the times of all operations
 *	(2) the times of all executions of modules
 *	(3) of each device the time from the first execution's start to the last one's end
 *
 * An operation's time is divided equally among the paths of it and of what it calls (hlo_sources):
 * "[GPU active];path;op". Where no source is known: "[GPU active];[Unknown];op"; where the dumps of
 * its program differ: "[GPU active];[inconsistent metadata];op". Then
 *	[GPU idle during module execution]	max(0, (2) − (1))
 *	[GPU idle between module executions]	max(0, (3) − (2))
 * so that all rows together are (1) and these two. Source: nsys-jax. Operations that run side by
 * side count each, so (1) may be more than (2).
 */
#ifndef PROGRAM_SOURCES_H
#define PROGRAM_SOURCES_H

#include "profrig/stats/analysis.h"
#include "profrig/work/program_work.h"

/* clang-format off */
#define PROGRAM_SOURCES(X) \
	X(STR, path) X(I64, calls) X(I64, total_ns) X(F64, share)
/* clang-format on */
TABLE_FORM(program_sources, PROGRAM_SOURCES,
	   "one row per stack of source frames of compiled programs: its time on devices");

/* programs: NULL: there are no dumps. Adds the table, and a check of its sum. */
void program_sources_add(const struct model *m, const struct program_work *pw,
			 const struct hlo_programs *programs, struct table_set *out);

#endif
