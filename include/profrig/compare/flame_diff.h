/*
 * flame_diff: folded stacks of two sets of runs (DIR/folded/<name>.folded) as one tree, each frame
 * with its mean of either side.
 *
 *	struct flame_diff f;
 *	flame_diff_read(&a, &b, "time", &f);
 *	… f.v.v[0] is the root; .first, .next lead to its frames, the widest of B in front
 *	flame_diff_release(&f);
 *
 * The outermost frame is a thread: numbers that the system gave it (thread 4711) do not count.
 *
 * Values are integers of the file's unit (ns, µJ), summed over a run's stacks, and divided by the
 * number of runs that have the file. Untrusted as all of a run directory: it is held meanwhile;
 * frames beyond FLAME_FRAMES_MAX and levels beyond FLAME_DEPTH_MAX are counted in `cut`: their time
 * is the last frame's that is kept.
 */
#ifndef PROFRIG_FLAME_DIFF_H
#define PROFRIG_FLAME_DIFF_H

#include "profrig/base/intern.h"
#include "profrig/compare/operands.h"

#define FLAME_FRAMES_MAX ((size_t)1 << 20)
#define FLAME_DEPTH_MAX 512
#define FLAME_NONE UINT32_MAX

struct flame_frame {
	str_id name;
	uint32_t parent, first, next; /* FLAME_NONE */
	double a, b;                  /* with all frames above it; mean of the runs */
	double own_a, own_b;          /* without them */
	double change;                /* Σ |own_b − own_a| of it and of all frames above it */
};

struct flame_diff {
	VEC(struct flame_frame) v; /* parents in front of their frames; empty: no such file */
	struct intern *texts;
	size_t files_a, files_b; /* that were read */
	size_t cut, bad;         /* stacks that were cut; lines that are none */
	struct strvec problems;
};
void flame_diff_release(struct flame_diff *f);

/* name: "time", "device", "energy-…", a plain word. */
void flame_diff_read(const struct run_set *a, const struct run_set *b, const char *name,
		     struct flame_diff *ret);
/* The names of which either set has a file, sorted, `time` and `device` in front. */
void flame_diff_names(const struct run_set *a, const struct run_set *b, struct strvec *ret);

#endif
