/*
 * stack_spans: samples of call stacks as spans of a thread (perf, folded, speedscope).
 *
 * A sample is not a call. It says which frames were there at one moment, and stands for a weight:
 * the time until the next sample was due. The spans that come of it say so in their category
 * (STACK_SAMPLED and its kin), and this is what they are:
 *
 *	- A sample takes the interval [start, start + weight) of its track; its frames are nested
 *	  in it, root first. So the inclusive time of a function is the sum of the weights of the
 *	  samples that it is in, its exclusive time that of those which it is the leaf of: exactly
 *	  the figures of a folded file, times the weight.
 *	- Frames that consecutive samples share from the root on become one span where the
 *	  intervals touch. `calls` of such a function is the number of uninterrupted stretches,
 *	  not of calls.
 *	- Intervals of one track never overlap, or sums would be wrong. A sample that comes before
 *	  the one before it is used up starts at that one's end; one that comes less than half a
 *	  weight after it is taken to follow it at once (timers jitter). So a span may lie beside
 *	  its true place, by half a weight as a rule and by more after a burst of samples.
 *	- A sample without weight has no place in time and cannot be kept: the caller counts it.
 *	- Where the budget of memory is used up, the frames below are one, "[deeper]", which samples
 *	  share: times still add up, but what they are of is not known further down.
 *
 * stack_push once per sample in the order of time, stack_close at the end of the track.
 */
#ifndef ANALYSIS_STACK_SPANS_H
#define ANALYSIS_STACK_SPANS_H

#include "mem_budget.h"

#include "profrig/model/sink.h"

#define STACK_SAMPLED "sampled"
#define STACK_SAMPLED_KERNEL "sampled kernel"
#define STACK_SAMPLED_INLINED "sampled inlined"
#define STACK_SAMPLED_JIT "sampled jit"

struct stack_frame {
	str_id name, category;
	str_id args; /* STR_NONE */
};

/* What the tracks of one input have in common. */
struct stack_limit {
	struct mem_budget memory;
	str_id newest;            /* strings above it are new to the sink */
	str_id category;          /* of frames that stand for others */
	uint64_t samples, frames; /* that were cut, and what they lost */
	uint64_t lost;            /* samples that could not even be [deeper] */
};

/* Deeper than any stack is; callers collect no more of one. */
#define STACK_MAX_FRAMES ((size_t)1 << 20)

/* A frame's name was put: takes its memory. */
void stack_named(struct stack_limit *l, str_id id, size_t n);
/* Warns of what was cut and lost; what was lost makes its input partial. */
void stack_limit_warn(const struct stack_limit *l, struct sink *s);

struct stack_track {
	track_id id;
	enum span_kind kind; /* SPAN_HOST unless set */
	int64_t end_ns;      /* of its latest sample */
	bool begun;
	VEC(struct stack_frame) open; /* root first */
};
#define STACK_TRACK_INIT(track) \
	{ \
		.id = (track) \
	}

/*
 * v: n frames, root first, and so many more that the caller left away; weight_ns > 0. Returns how
 * far behind t_ns the sample was laid, or -1 when it would end beyond what the model can hold and
 * was not taken.
 */
int64_t stack_push(struct sink *s, struct stack_limit *l, struct stack_track *t, int64_t t_ns,
		   int64_t weight_ns, const struct stack_frame *v, size_t n, size_t more);
void stack_close(struct sink *s, struct stack_track *t);

#endif
