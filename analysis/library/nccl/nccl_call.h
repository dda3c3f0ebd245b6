/*
 * nccl_call: a call of NCCL as its line tells it, and its key.
 *
 *	line → struct nccl_call → nccl_call_text, which is equal for all calls of a configuration
 *	text → nccl_call_key:
 *
 *	AllReduce count=7382228 dtype=f32 op=sum nranks=128
 *	Broadcast count=64 dtype=bytes root=3 nranks=8
 *	Send count=10 dtype=bf16 peer=1 nranks=2
 *
 * root and peer belong to the operations that have one. dtype=bytes: the log does not tell the
 * type. A call whose communicator's size is not known has no nranks.
 */
#ifndef ANALYSIS_NCCL_CALL_H
#define ANALYSIS_NCCL_CALL_H

#include "library_parser.h"

#define NCCL_NONE INT64_MIN /* the log does not tell it */
#define NCCL_NAME_MAX 48
#define NCCL_MORE_MAX 8

struct nccl_operation {
	const char *name;
	bool reduces, root, peer, ranks; /* ranks: bytes are times nranks */
	bool bytes;                      /* 2.4-2.21 tell bytes */
	bool late;                       /* NCCL 2.28 and later */
};

struct nccl_call {
	struct text_slice name; /* without prefix; empty: 2.3 */
	const struct nccl_operation *operation;
	int64_t count, size, datatype, redop, root, nranks, rank;
	uint64_t comm;
	bool has_comm, has_stream, rccl, acc, bytes;
	char kind; /* 'I' or 'C' */
	struct call_member {
		struct text_slice name, value;
	} more[NCCL_MORE_MAX]; /* members that have no place here */
	size_t mores;
};

/* kind: 'I' or 'C', of the line. */
void nccl_call_init(struct nccl_call *c, char kind);
/* Sets the operation by its name in a log: "mscclFuncAllToAll" → AlltoAll. */
void nccl_call_name(struct nccl_call *c, struct text_slice name);
/* to: cleared before. */
void nccl_call_text(const struct nccl_call *c, struct strbuf *to);
/* text: of nccl_call_text. RECORD_CALL or RECORD_BAD. */
enum record_is nccl_call_key(struct text_slice text, struct library_key *k);

#endif
