/*
 * nccl_comm: which process writes a line of an NCCL log, and which rank of which communicator it
 * is. The log tells both on lines of their own:
 *
 *	[2026-11-26 10:00:00.123456] node3:65704:65722 [0] NCCL INFO …	time, host, pid, tid, device
 *	ncclCommInitRank comm 0x55d5f5ac09e0 rank 0 nranks 2 cudaDev 0 … - Init START|COMPLETE
 *	comm 0x55d5f5ac09e0 rank 0 nranks 2 cudaDev 0 busId 17000 - Destroy|Abort COMPLETE
 *
 * The device is the thread's current one and says nothing of the rank. An address is of one process
 * and is used again after Destroy. The time of NCCL_DEBUG_TIMESTAMP_FORMAT (2.26 and later, with or
 * without brackets) has no zone: it is taken as UTC.
 *
 * Other text may be glued to the host ("-1mew0:65704:65704", "<stdout>:mew0:…"): a host that was
 * seen with the same pid is its end. Hosts have no dots: NCCL cuts them there.
 *
 * At most NCCL_PROCESSES_MAX processes and NCCL_COMMS_MAX communicators; ranks of later ones are
 * unknown. Zeroed memory is an empty nccl_comms.
 */
#ifndef ANALYSIS_NCCL_COMM_H
#define ANALYSIS_NCCL_COMM_H

#include "text_slice.h"

#include <stdint.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

#define NCCL_PROCESSES_MAX ((size_t)1 << 14)
#define NCCL_COMMS_MAX ((size_t)1 << 20)
#define NCCL_HOST_MAX 64

struct nccl_process {
	char host[NCCL_HOST_MAX];
	size_t host_n;
	int64_t pid;
	uint32_t before; /* the process before with this pid; U64MAP_NONE */
};

struct nccl_comm {
	uint64_t address;
	uint32_t process;
	int32_t rank; /* < 0: it was destroyed */
	int64_t nranks;
};

struct nccl_comms {
	VEC(struct nccl_process) processes;
	VEC(struct nccl_comm) comms;
	struct u64map by_name, by_pid, by_address;
	uint64_t changes; /* of what lines are read by */
};

void nccl_comms_release(struct nccl_comms *c);

/* What stands in front of a record. */
struct nccl_origin {
	int64_t pid, tid; /* LIBRARY_NO_ID */
	int64_t t_ns;     /* LIBRARY_NO_TIME */
	uint32_t process; /* U64MAP_NONE: not known */
	bool foreign;     /* text that is not of the record stands there, too */
};
/* before: of the record's line, up to its marker. */
struct nccl_origin nccl_origin_read(struct nccl_comms *c, struct text_slice before);

/* Cuts "[2026-11-26 10:00:00.123456] " off the front, where it stands there. */
void nccl_stamp_cut(struct text_slice *before, int64_t *ret_ns);

/* A line that is no call: it may tell that a communicator begins or ends. text: behind the marker.
 */
void nccl_comms_learn(struct nccl_comms *c, uint32_t process, struct text_slice text);
/* NULL: it is not known. Valid until the next nccl_comms_learn. */
const struct nccl_comm *nccl_comms_find(const struct nccl_comms *c, uint32_t process,
					uint64_t address);

/* "0x55d5f5ac09e0", "(nil)"; false: it is no address. */
bool nccl_address(struct text_slice t, uint64_t *ret);

#endif
