/* trace_side: what a comparison of traces reads of one side: tables of its analyses, added up. */
#ifndef TRACE_SIDE_H
#define TRACE_SIDE_H

#include "path_tree.h"

#include "profrig/base/intern.h"
#include "profrig/compare/operands.h"
#include "profrig/compare/trace_compare.h"

struct trace_side {
	VEC(struct trace_total) totals[TRACE_KINDS];
	VEC(struct trace_total) precisions; /* time by precision */
	struct path_tree paths;             /* of all tracks; totals of them: trace_paths_put */
	/* steady iterations, by unit and index; of several ranks or devices the slowest */
	VEC(struct trace_iteration {
		const char *unit; /* "ProfilerStep#"; TRACE_PERIOD */
		uint32_t run;
		int64_t index;
		double time_ns, host_ns, works; /* NaN unknown */
	}) iterations;
};

/* Of the first `runs` runs. Texts go into `texts`; what cannot be read into `problems`. */
int trace_side_read(const struct run_set *s, size_t runs, struct intern *texts,
		    struct strvec *problems, struct trace_side *ret, struct err *err);
void trace_side_release(struct trace_side *s);
/* Matches the paths of both, and makes them totals of both. */
void trace_paths_put(struct trace_side *a, struct trace_side *b, struct intern *texts);

#endif
