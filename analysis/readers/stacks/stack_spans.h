/*
 * stack_spans: samples of call stacks as spans of a thread (perf, folded, speedscope).
 *
 * A sample is not a call. It shows the frames of one moment and has a weight: the time until the
 * next sample was due. Spans made of samples have a category of their own (STACK_SAMPLED…):
 *
 *	- A sample takes the interval [start, start + weight) of its track; its frames are nested
 *	  in it, root first. So the inclusive time of a function is the sum of the weights of the
 *	  samples with it, its exclusive time that of the samples with it as the leaf: exactly the
 *	  figures of a folded file, times the weight.
 *	- Frames that consecutive samples share from the root on become one span where the
 *	  intervals touch. `calls` of such a function counts uninterrupted spans, not calls.
 *	- Intervals of one track never overlap, or sums would be wrong. A sample that comes before
 *	  the end of the previous interval starts at that end; one that comes less than half a
 *	  weight after it starts there too (timers jitter). So a span may be off its true time, by
 *	  half a weight as a rule and by more after a burst of samples.
 *	- A sample without weight has no length and is dropped: the caller counts it.
 *	- Where the memory budget is used up, the deeper frames become one span "[deeper]", which
 *	  samples share: times still add up, without the names further down.
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

/* Shared by the tracks of one input. */
struct stack_limit {
	struct mem_budget memory;
	str_id newest;            /* strings above it are new to the sink */
	str_id category;          /* of "[deeper]" */
	uint64_t samples, frames; /* samples that were cut, frames that they lost */
	uint64_t lost;            /* samples without memory even for "[deeper]" */
};

/* Above any real depth; callers collect no more frames of a stack. */
#define STACK_MAX_FRAMES ((size_t)1 << 20)

/* Takes the memory of a frame's name of n bytes off the budget. */
void stack_named(struct stack_limit *l, str_id id, size_t n);
/* Warns of cut and lost samples; lost ones make the input partial. */
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
 * v: n frames, root first; more: number of frames that the caller left out; weight_ns > 0. Returns
 * the delay of the sample's interval after t_ns, or -1 for a dropped one that would end beyond the
 * model's range.
 */
int64_t stack_push(struct sink *s, struct stack_limit *l, struct stack_track *t, int64_t t_ns,
		   int64_t weight_ns, const struct stack_frame *v, size_t n, size_t more);
void stack_close(struct sink *s, struct stack_track *t);

#endif
