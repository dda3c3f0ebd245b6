/* trace_facts: whether two sides of a comparison of traces compare. */
#ifndef TRACE_FACTS_H
#define TRACE_FACTS_H

#include "trace_side.h"

struct trace_facts_in {
	const struct trace_compare_opts *o;
	const struct run_set *a, *b;
	const struct trace_side *side_a, *side_b;
	struct comparable *comparable;
};

/* Fills facts, compared, unit, time, refused and judged; t->of is made. */
void trace_facts_find(struct trace_compare *t, const struct trace_facts_in *in);
/* Chooses the unit of work, and compares its times. */
void trace_unit_find(struct trace_compare *t, const struct trace_facts_in *in);
/* A fact, and its reason "FACT: a in A, b in B"; a and b are taken. */
void trace_fact_add(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		    char *a, char *b, enum trace_fact_verdict verdict);
/* The same with a reason of its own. */
void trace_fact_say(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		    char *a, char *b, enum trace_fact_verdict verdict, const char *reason);

#endif
