/*
 * frames: the Python functions, or the modules of torch.nn, that were open when work was launched:
 * one row for each name, with its work and its time on the host.
 *
 *	struct frames *f = frames_new(m, w, we, &backward, FRAMES_MODULES);
 *	f->v					m is nested, w and we of m
 *	frames_free(f);
 *
 * A Python frame is a span on a thread of the category "python_function", or one that has a Python
 * id; it is a module where its name begins with "nn.Module: ". Frames nest as spans do. Functions
 * pass modules over, and modules functions; operators and API calls between two frames belong to
 * the outer one.
 *	Own work was launched with no deeper frame open, nested work also below. host_self is the
 * time in which a frame is the innermost open one: of those that overlap the one that began last.
 * Under recursion a name's nested work and host time count once: they are those of its outermost
 * calls. So
 *
 *	Σ own + none + unlinked = all work
 *	Σ host_self + none = the time in which threads have any call open
 *
 * The dialect of 2021 writes the stack of an operator as one text, "f.py(3): g;f.py(9): main", the
 * innermost function first, separated by semicolons and white space (PyTorch's export_stacks
 * reverses them for flame graphs). Such an operator stands for the frames of its text where no
 * recorded frame is around it: the first one has what it launches as own work, each of them has it
 * as nested work. How often these functions were called is not known.
 *
 * O(n + w), and for each text that differs the length of it. Memory while it is made: 24 bytes for
 * each frame, 4 for each span and string.
 */
#ifndef PROFRIG_FRAMES_H
#define PROFRIG_FRAMES_H

#include "operator_calls.h"
#include "work_energy.h"

#define FRAME_NONE UINT32_MAX

enum frames_kind { FRAMES_FUNCTIONS, FRAMES_MODULES };

struct frame_sums {
	uint64_t works; /* own */
	int64_t own_ns, nested_ns, host_ns, host_self_ns;
	/* work of the backward operators of forward ones in it */
	int64_t backward_own_ns, backward_nested_ns;
};

struct frame_row {
	str_id name;     /* in names */
	uint64_t calls;  /* recorded ones */
	uint32_t inside; /* row around its first call; FRAME_NONE */
	uint32_t open;   /* while calls are gathered */
	uint32_t text;   /* the last text that has it, plus 1 */
	struct frame_sums s;
	struct joules j; /* of own work */
};

struct frames {
	const struct model *m;
	enum frames_kind kind;
	struct intern *names;
	VEC(struct frame_row) v; /* by first use */
	struct frame_sums none, unlinked;
	struct joules none_j, unlinked_j;
};

/* Operators and, by call, the forward one of a backward one (operator_backward.h); NULL: none. */
struct frames_backward {
	const struct operator_calls *oc;
	const uint32_t *forward;
};

/* Whether a model may have any; cheap. */
bool frames_some(const struct model *m);
struct frames *frames_new(const struct model *m, const struct works *w,
			  const struct work_energy *we, const struct frames_backward *back,
			  enum frames_kind kind);
void frames_free(struct frames *f); /* NULL is fine */
void frames_freep(struct frames **f);

#endif
