/*
 * collective_parts: what each rank did of each collective: one row for each call, from its kernels
 * on devices and what the trace says of them.
 *
 *	struct collective_parts *cp = collective_parts_new(m, w);	m is nested, w of m
 *	cp->v, cp->ranks
 *	collective_parts_free(cp);
 *
 * Work: kernels of the class collective (works.h). Facts: those of the kernel, else those of the
 * innermost call around its launch that has any (record_param_comms contains the launch), else the
 * name of the kernel alone. What they lack of the size comes from a log of NCCL
 * (collective_logs.h), and each part says where its size is from. Kernels that share a call with
 * facts, and have no others of their own, are one part: from the first start to the last end.
 *
 * Without a group a part may have an identity in a compiled program (program_facts): those of the
 * kernel, else of the innermost call around its launch that has any. Then parts of one module and
 * operation are a group, numbered by the module's executions, whatever ids and fingerprints the
 * ranks' programs have.
 *
 * Rank: that of the device's queues (works.h); without one the device stands for it.
 */
#ifndef PROFRIG_COLLECTIVE_PARTS_H
#define PROFRIG_COLLECTIVE_PARTS_H

#include "profrig/base/vec.h"
#include "profrig/cost/collective_cost.h"
#include "profrig/work/works.h"

/* Where the size of a part is from. */
enum collective_source { COLLECTIVE_FROM_NOTHING, COLLECTIVE_FROM_TRACE, COLLECTIVE_FROM_LOG };

struct collective_part {
	uint32_t rank; /* in ranks */
	int64_t start_ns, end_ns;
	int64_t kernels_ns, exposed_ns; /* of its kernels (collective_exposed.h) */
	uint64_t span;                  /* its first kernel */
	int64_t order_ns;               /* start of the launch, else of the kernel */
	enum collective_kind kind;
	/* the trace's words, borrowed; "" unknown; without facts name is collective_kind_name */
	const char *name, *dtype;
	/* elements and bytes of the message (collective_size); FACT_ABSENT */
	int64_t count, bytes;
	bool uneven; /* ranks may have other sizes */
	bool told;   /* it has facts of the trace, and not the kernel's name alone */
	enum collective_source source;
	/* its group; known: something tells it */
	bool known;
	str_id group;     /* STR_NONE; of a program's operation its module */
	str_id op;        /* of a compiled program; STR_NONE */
	uint32_t members; /* numbers: global ranks; FACT_NONE */
	int64_t size;     /* of the group; FACT_ABSENT */
	int64_t sequence; /* FACT_ABSENT */
	int64_t from, to; /* of a send or receive: ranks; FACT_ABSENT */
};

struct collective_rank {
	int32_t rank; /* RANK_NONE: the device stands for it */
	str_id device;
	input_id input;
	const char *host; /* "" unknown */
	int64_t world;    /* size of the job; FACT_ABSENT */
};

struct collective_parts {
	const struct model *m;
	VEC(struct collective_part) v;     /* by rank, then in order of their launches */
	VEC(struct collective_rank) ranks; /* by number, then by device; with parts only */
	/* why parts have no size although there is a log of NCCL, owned; NULL */
	char *unsized;
};

struct collective_parts *collective_parts_new(const struct model *m, const struct works *w);
void collective_parts_free(struct collective_parts *cp); /* NULL is fine */
/* Bytes of elements; FACT_ABSENT where one of the two is not known. */
int64_t collective_bytes(int64_t count, unsigned bits);

#endif
