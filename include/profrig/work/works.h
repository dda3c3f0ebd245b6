/*
 * works: the work that devices did, as the analyses of devices read it: one row for each kernel,
 * copy and fill, sorted by device and time, joined with the call that launched it.
 *
 *	struct works *w = works_new(m);		m is finished
 *	for each w->devices.v[d]: rows [first, first + nr) of w->v
 *	works_free(w);
 * analysis_works (analyses_private.h) makes them once for all analyses of a model, and nests a
 * model that has any (model_nest).
 *
 * Order: by device (natural order of names), start, end, span. Each interval function below is a
 * sweep over that order, O(n), with integers alone, so that partitions add up exactly.
 *
 * Class: COLLECTIVE when the kernel's class is collective (names/classes.h), COPY for copies and
 * fills, COMPUTE for all other kernels. Spans of annotations on queues (gpu_user_annotation) are no
 * work.
 *
 * Launch: the API call that is linked with the work (LINK_LAUNCH); of several the one that starts
 * last, and of those the innermost. SPAN_NONE when the trace has none.
 */
#ifndef PROFRIG_WORKS_H
#define PROFRIG_WORKS_H

#include "profrig/model/model.h"

enum work_class { WORK_COMPUTE, WORK_COLLECTIVE, WORK_COPY };

/* There are many: 40 bytes. */
struct work {
	int64_t start_ns, end_ns;
	uint64_t span;
	uint64_t launch; /* span of the API call; SPAN_NONE */
	track_id queue;
	uint32_t device : 30; /* index in works.devices */
	enum work_class class : 2;
};

struct work_device {
	str_id name;               /* track.device */
	int32_t rank;              /* of its queues' owner, when all agree; RANK_NONE */
	size_t first, nr;          /* rows */
	int64_t first_ns, last_ns; /* earliest start, latest end */
};

struct works {
	const struct model *m;
	VEC(struct work) v;
	VEC(struct work_device) devices; /* those with work */
	uint64_t linked, unlinked;
	VEC(uint32_t) row_of; /* of the spans of queues; works_find */
	VEC(size_t) rows_at;  /* by track: where its spans begin in row_of, SIZE_MAX */
};

struct works *works_new(const struct model *m);
void works_free(struct works *w); /* NULL is fine */

/* The row of a span, SIZE_MAX when it is no work. O(1). */
size_t works_find(const struct works *w, uint64_t span);
/* A byte for each span: it, or a call in it, launched work. Owned. O(n) in spans and works. */
uint8_t *works_launching(const struct works *w);
/* Rows sorted by (launch's start, launch, start): launch order. Unlinked rows come last. Owned. */
uint32_t *works_launch_order(const struct works *w, uint32_t device);

/* Disjoint intervals in order of time. */
struct intervals {
	VEC(struct interval { int64_t start_ns, end_ns; }) v;
};
#define INTERVALS_INIT \
	{ \
		VEC_INIT \
	}
void intervals_release(struct intervals *iv);
/* Adds [start, end), starts never decrease: joins those that touch. Empty ones are left out. */
void intervals_join(struct intervals *iv, int64_t start_ns, int64_t end_ns);
/* Union of a device's works of the classes in mask (1 << class), cut to [from, to). */
void works_union(const struct works *w, uint32_t device, unsigned mask, int64_t from_ns,
		 int64_t to_ns, struct intervals *ret);
int64_t intervals_length(const struct intervals *iv);
/* Length of what both have; of what a has and b has not. O(n + m). */
int64_t intervals_common(const struct intervals *a, const struct intervals *b);
int64_t intervals_without(const struct intervals *a, const struct intervals *b);
/* What a has and b has not, replaces ret, which is neither. O(n + m). */
void intervals_subtract(const struct intervals *a, const struct intervals *b,
			struct intervals *ret);

/* Disjoint intervals, and how long they are before each of them: the length in any window. */
struct interval_sums {
	struct intervals iv;
	VEC(int64_t) before;
};
#define INTERVAL_SUMS_INIT \
	{ \
		INTERVALS_INIT, VEC_INIT \
	}
void interval_sums_release(struct interval_sums *s);
void interval_sums_make(struct interval_sums *s); /* of s->iv */
/* Their length before t_ns. O(log n). */
int64_t interval_sums_until(const struct interval_sums *s, int64_t t_ns);

#endif
