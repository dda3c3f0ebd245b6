/*
 * rpd: the parts of the RPD reader (read_rpd.c has the map of the format).
 *
 *	read_rpd.c	probe, version, strings, the order of reading
 *	rpd_api.c	calls, ranges and marks on threads; stack frames
 *	rpd_ops.c	device work on queues, its launches, arguments of launches and copies
 *	rpd_monitor.c	monitor rows as series
 */
#ifndef ANALYSIS_RPD_H
#define ANALYSIS_RPD_H

#include "capture_call.h"
#include "db_scan.h"

/* The class of a row of rocpd_api, by its name. */
enum rpd_class { RPD_UNASKED, RPD_CALL, RPD_MARKER, RPD_OVERHEAD };

struct rpd_counts {
	uint64_t api, ops, frames, monitors, markers, overhead, hsa, links;
	int64_t overhead_ns;
	uint64_t unlinked, lost_ops, found_ops, double_links;
	uint64_t copies, copies_unsized;
	int64_t copy_bytes;
	struct tally unknown_strings;
};

/* A row of rocpd_api_ops of an op with several: those beyond the first, then the first. */
struct rpd_extra {
	int64_t api, op;
	span_id op_span; /* of the one that extra_ops names */
};

struct rpd {
	const char *path;
	struct db_scan sc;
	int version;        /* 1, 2, 3 */
	int64_t pid_stride; /* several nodes in one file; 0 none */
	int64_t gpu_stride;
	struct rpd_counts n;

	struct sqlite_strings names; /* rocpd_string */
	struct sqlite_strings texts; /* rocpd_ustring; empty below version 3 */
	/* cache by the low bits of the id: names are few and looked up in every row */
	struct rpd_known {
		int64_t id;
		str_id name;
		enum rpd_class class;
		enum capture_kind capture;
	} known[256];
	str_id empty, marker;

	/* rpd_api.c */
	struct sqlite_ids process_at; /* by pid */
	VEC(struct rpd_process {
		int64_t pid;
		track_id track;
	}) processes;
	struct u64map thread_at; /* by number of process and of tid */
	struct sqlite_ids tid_at;
	uint32_t tids;
	struct {
		int64_t pid, tid;
		track_id track;
	} last; /* TRACK_NONE: none yet */
	track_id overhead;
	bool hsa; /* rows of rocpd_hsaApi are read */
	VEC(struct rpd_frame { int64_t api, depth, name; }) frames; /* by api and depth */

	/* rpd_ops.c */
	VEC(int64_t) launches;       /* by first mention: the api of an op */
	struct sqlite_ids op_launch; /* op → index of launches */
	struct sqlite_ids launching; /* apis that launched work */
	VEC(struct rpd_extra) extras;
	struct sqlite_ids extra_apis; /* api → index of extra_spans */
	struct sqlite_ids extra_ops;  /* op → index of extras: its first launch */
	VEC(span_id) extra_spans;
	VEC(struct rpd_queue {
		int64_t gpu, queue, slot;
		track_id track;
	}) queues;
	struct u64map queue_at;
	size_t queue; /* of the op before */
	struct {
		int64_t type;
		enum span_kind kind;
		bool known;
	} kind; /* of the op before */
	bool cuda;
	struct sqlite_ids args_at; /* api → index of args_of, of launches and copies */
	VEC(char *) args_of;
	struct sqlite_ids shape_at; /* api (version 1: op) → text of its launch's shape */
	struct sqlite_ids fact_at;  /* api (version 1: op) → index of facts */
	VEC(struct rpd_fact {
		struct span_facts f;
		int64_t stream, name; /* where the file has captures; 0: no name */
		bool used;            /* the bytes of a copy: its first op has them */
	}) facts;
	bool captures;             /* a call begins the capture of a graph */
	struct sqlite_ids slot_at; /* writer → index of slots */
	VEC(struct rpd_slot {
		int64_t pid;
		bool several;
	}) slots;
	struct {
		int64_t slot, pid;
	} writer; /* of the call before */
};

/* read_rpd.c */
/* A name and its class; rpd_learn fills the cache. */
const struct rpd_known *rpd_learn(struct rpd *r, struct rpd_known *into, int64_t id);
static inline const struct rpd_known *rpd_known(struct rpd *r, int64_t id)
{
	struct rpd_known *k = &r->known[id & 255];

	return __builtin_expect(k->id == id && k->class != RPD_UNASKED, 1) ? k
									   : rpd_learn(r, k, id);
}
/* The text of args_id of rocpd_api. NULL unknown. */
const char *rpd_args_text(struct rpd *r, int64_t id, size_t *ret_n);
/* The writer of a row: ids are offset by the writing process's number times 2^32. */
static inline int64_t rpd_slot_of(int64_t id)
{
	return id >> 32;
}

/* rpd_api.c */
void rpd_api_read(struct rpd *r);
track_id rpd_process(struct rpd *r, int64_t pid);
/* "node3" in a file of several nodes; else NULL. buf holds 32. */
const char *rpd_host(int64_t node, char *buf);

/* rpd_ops.c */
void rpd_launches_read(struct rpd *r);
void rpd_ops_read(struct rpd *r);
void rpd_extra_api(struct rpd *r, int64_t api, span_id span);
/* Notes that the writer of this row belongs to this process. */
void rpd_writer(struct rpd *r, int64_t id, int64_t pid);
/* Arguments of a call (version 1: of an op) as JSON; NULL none. */
const char *rpd_launch_args(struct rpd *r, int64_t of);
/* Facts of a call that launched work, for its own span. */
void rpd_call_facts(struct rpd *r, int64_t api, span_id span);
/* Facts of a call that captures, instantiates or launches a graph. */
void rpd_capture_facts(struct rpd *r, enum capture_kind kind, int64_t args, span_id span);
void rpd_ops_release(struct rpd *r);

/* rpd_monitor.c */
void rpd_monitor_read(struct rpd *r);

#endif
