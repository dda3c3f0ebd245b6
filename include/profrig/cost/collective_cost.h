/*
 * collective_cost: what a collective does, by the word of a framework or the name of a kernel, and
 * what follows from it for sizes and bandwidth.
 *
 * Size S of a message, from what one of n ranks puts in and takes out:
 *	all-reduce, reduce, reduce-scatter, all-to-all, broadcast, send, receive	in
 *	all-gather									out
 *	gather										in · n
 *	scatter										out · n
 * algorithm bandwidth = S / transfer time, bus bandwidth = algorithm bandwidth · factor:
 *	all-reduce					2(n − 1)/n
 *	all-gather, gather, reduce-scatter, scatter, all-to-all	(n − 1)/n
 *	all others					1
 * Source: NVIDIA's nccl-tests, doc/PERFORMANCE.md. All are decimal (1 GB/s = 1e9 byte/s).
 */
#ifndef PROFRIG_COLLECTIVE_COST_H
#define PROFRIG_COLLECTIVE_COST_H

#include <stdbool.h>
#include <stdint.h>

enum collective_kind {
	COLLECTIVE_OTHER,
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_REDUCE,
	COLLECTIVE_GATHER,
	COLLECTIVE_SCATTER,
	COLLECTIVE_BARRIER,
	COLLECTIVE_PERMUTE, /* each rank sends and receives: a kernel SendRecv, too */
	COLLECTIVE_SEND,
	COLLECTIVE_RECV,
};

/* "allreduce", "_allgather_base", "all-gather-start.2", "ncclDevKernel_ReduceScatter_…" */
enum collective_kind collective_kind_of(const char *name);
/* "allreduce"; "collective" for COLLECTIVE_OTHER */
const char *collective_kind_name(enum collective_kind k);
/* Whether no rank can end before the last one has started. */
bool collective_is_barrier(enum collective_kind k);
/* Of n > 0 ranks. */
double collective_bus_factor(enum collective_kind k, int64_t n);
/* S, in elements or bytes; INT64_MIN when what it takes is that (absent), or S is too large. */
int64_t collective_size(enum collective_kind k, int64_t in, int64_t out, int64_t n);
/*
 * Bits of an element by the word of a trace or log: "Float" and "BFloat16" (PyTorch's ScalarType),
 * "f32", "bf16" (element_type.h); 0 unknown.
 */
unsigned collective_type_bits(const char *dtype);

#endif
