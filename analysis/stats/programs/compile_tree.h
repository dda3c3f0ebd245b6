/*
 * compile_tree: what compilations of programs spent their time on: a tree of their ranges over all
 * threads (program_facts of PROGRAM_COMPILE), in which every moment of a compilation counts once.
 *
 *	struct compile_tree ct;
 *	compile_tree_make(m, &ct);
 *	ct.v, ct.total_ns
 *	compile_tree_release(&ct);
 *
 * On a thread ranges nest by containment; a range that outlives its parent is cut at the parent's
 * end. Other ranges inside them belong to the innermost range of a compilation around them. A
 * compilation is an outermost range of a thread named XlaCompile that lies in no compilation of
 * another thread of its process. Outermost ranges of other threads that lie inside one are work
 * that it gave away: they hang below the deepest range of its own thread around them, their
 * launcher. What lies in no compilation is left out (outside).
 *
 * Time. A range's own time is its duration without its children. Below a launcher, the time P in
 * which any of the ranges given away ran and the launcher itself was innermost is divided among
 * them and all that is inside them by their own times, and is taken from the launcher. So
 *	Σ self_ns = Σ durations of the compilations (total_ns), exactly.
 * Source of the rule: nsys-jax's compile frame; its region is last end − first start, which here is
 * the union, so that the launcher keeps what no worker did.
 *
 * O(n log n) for n ranges.
 */
#ifndef PROFRIG_COMPILE_TREE_H
#define PROFRIG_COMPILE_TREE_H

#include "profrig/base/vec.h"
#include "profrig/model/model.h"

#define COMPILE_NONE UINT32_MAX

struct compile_range {
	uint64_t span;
	uint32_t parent;          /* in v, before its children; COMPILE_NONE: a compilation */
	uint32_t root;            /* the compilation it is a part of; COMPILE_NONE: outside */
	bool given;               /* to another thread, by its parent */
	int64_t start_ns, end_ns; /* cut to its parent on the same thread */
	int64_t own_ns;           /* without children of its thread */
	int64_t self_ns;          /* its part of the compilation's time */
};

struct compile_tree {
	VEC(struct compile_range) v;
	uint64_t outside, cut; /* ranges that are left out; that outlive their parent */
	int64_t total_ns;      /* of compilations */
};

/* m is finished. */
void compile_tree_make(const struct model *m, struct compile_tree *ret);
void compile_tree_release(struct compile_tree *ct);
/*
 * Gives what is below a range to it: self_ns of everything below becomes 0, and is added to the
 * range's. The sum stays.
 */
void compile_tree_collapse(struct compile_tree *ct, uint32_t range);

#endif
