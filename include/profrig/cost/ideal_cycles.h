/*
 * ideal_cycles: how many cycles a compiler expects of each kernel, if all of the matrix engine
 * worked all of the time. Two forms:
 *
 *	a log	between the lines " Ideal/Total Cycles " and "====== Perf Summary End ======" a
 *		kernel and its cycles on each line. "-opCat" in the name begins the category, "-NA"
 *		ends it without one. Lines of Precompute and -LxPreload are no kernels. What runs is
 *		stated before: DECODING (ITL, the time between tokens), PREFILL (TTFT, the time to
 *		the first one).
 *	a folder	<folder>/inductor-spyre/<kernel>/perf/ideal_cycles.json with the members
 *		ideal_cycles and op_category
 *
 *	struct ideal_cycles *ic = ideal_cycles_new();
 *	ideal_cycles_read(ic, path, &err);	any number of times
 *	row = ideal_row_find(&ic->tables.v[0], "add_11");
 *	ideal_cycles_free(ic);
 */
#ifndef PROFRIG_IDEAL_CYCLES_H
#define PROFRIG_IDEAL_CYCLES_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

#define IDEAL_FILE_MAX ((size_t)256 << 20)
/* Of one kernel: so that no sum overflows. */
#define IDEAL_CYCLES_MAX (INT64_C(1) << 40)
/* MHz of the core's clock that ideal cycles count, when none is stated. */
#define IDEAL_CORE_MHZ 1100.0

struct ideal_row {
	char *kernel, *category; /* category: "other" where the log has none */
	int64_t cycles;
};

struct ideal_table {
	const char *phase; /* "ITL", "TTFT", "" not told */
	char *source;      /* file and, of a log, line */
	VEC(struct ideal_row) rows;
	struct u64map at; /* by a hash of the kernel: the first row */
	int64_t total;    /* of all rows */
};

struct ideal_cycles {
	VEC(struct ideal_table) tables;
};

struct ideal_cycles *ideal_cycles_new(void);
void ideal_cycles_free(struct ideal_cycles *ic); /* NULL is fine */
/* Adds the tables of a log or folder. -EINVAL: it has none, or one with a line that is no row. */
int ideal_cycles_read(struct ideal_cycles *ic, const char *path, struct err *err);
int ideal_cycles_read_text(struct ideal_cycles *ic, const char *text, size_t n, const char *name,
			   struct err *err);
/* NULL: it has none of this name. O(1). */
const struct ideal_row *ideal_row_find(const struct ideal_table *t, const char *kernel);

#endif
