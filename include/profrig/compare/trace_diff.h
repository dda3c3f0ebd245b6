/*
 * trace_diff: what changed between two lists of names with counts and times (kernels, operators),
 * and how much of it is a matter of how often things run, and how much of how long each takes.
 *
 *	struct trace_diff d;
 *	trace_diff_make(a, na, b, nb, &d);
 *	… d.v.v[i], d.sum …
 *	trace_diff_release(&d);
 *
 * Of a name that both sides have, with counts na, nb and means ma = ta/na, mb = tb/nb:
 *
 *	count effect	(nb − na)·(ma + mb)/2	it runs more, or less, often
 *	rate effect	(mb − ma)·(na + nb)/2	each one takes longer, or less long
 *
 * They add up to tb − ta (Marshall's and Edgeworth's way to split a product: neither side is the
 * reference, so the other way round is the same with other signs). Over all names
 *
 *	Δ = new − gone + Σ count effects + Σ rate effects
 *
 * exactly: effects are rounded to 1/1024 ns (to whole ns where a time is 2^42 ns or more), and the
 * rate effect is the rest. Sums of times above INT64_MAX stay there.
 *
 * A count of 0 means that the side has no such name: its time is new or gone. Equal names in a list
 * add up. Names are borrowed and compared byte by byte.
 */
#ifndef PROFRIG_TRACE_DIFF_H
#define PROFRIG_TRACE_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/vec.h"

struct trace_total {
	const char *name;
	uint64_t count;
	int64_t total_ns; /* not negative */
};

/* By count. */
enum trace_state {
	TRACE_NEW,
	TRACE_GONE,
	TRACE_INCREASED,
	TRACE_DECREASED,
	TRACE_UNCHANGED,
	TRACE_STATES
};
const char *trace_state_name(enum trace_state s);

struct trace_diff_row {
	const char *name;
	uint64_t count_a, count_b;
	int64_t total_a_ns, total_b_ns, delta_ns;
	double count_effect_ns, rate_effect_ns; /* 0 of a name that one side lacks */
	enum trace_state state;
};

struct trace_diff {
	VEC(struct trace_diff_row) v; /* by |delta| descending, then by name */
	size_t names_a, names_b, common;
	size_t of[TRACE_STATES];
	struct {
		uint64_t count_a, count_b;
		int64_t total_a_ns, total_b_ns, delta_ns, new_ns, gone_ns;
		double count_effect_ns, rate_effect_ns;
	} sum;
};

void trace_diff_make(const struct trace_total *a, size_t na, const struct trace_total *b, size_t nb,
		     struct trace_diff *ret);
void trace_diff_release(struct trace_diff *d);
/* Names in common by all names (Jaccard); NaN: there are none. */
double trace_diff_overlap(const struct trace_diff *d);

#endif
