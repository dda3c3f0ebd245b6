/* nsys: the parts of the reader of Nsight Systems exports; read_nsys.c describes the format. */
#ifndef ANALYSIS_NSYS_H
#define ANALYSIS_NSYS_H

#include "db_scan.h"

#include "profrig/base/intern.h"

typedef uint32_t nsys_slot;
#define NSYS_SLOT_NONE U64MAP_NONE
#define NSYS_COPY_KINDS 14
#define NSYS_SEVERAL (UINT32_MAX - 1)

struct nsys_process {
	track_id id;
	int64_t global, pid;
	track_id overhead; /* of the profiler's own work; TRACK_NONE not yet */
};

struct nsys_thread {
	track_id id;
	nsys_slot process;
	int64_t global;
	int64_t last_ns; /* the latest end of its calls and ranges */
};

struct nsys_gpu {
	int64_t id;
	str_id name; /* of nsys.names */
	char pci[32];
	track_id track; /* TRACK_NONE until it has work */
};

/* An id of CUPTI that says that there is none. */
#define NSYS_NO_EVENT ((int64_t)UINT32_MAX)

/* A call that recorded an event on a stream; of a wait what is known of the record. */
struct nsys_record {
	int64_t process, event, sync, correlation, stream; /* as in the file */
};

/* NCCL's part of a payload (nsys_payload.c). */
enum nsys_field {
	FIELD_COMM,
	FIELD_BYTES,
	FIELD_RANKS,
	FIELD_RANK,
	FIELD_ROOT,
	FIELD_PEER,
	FIELD_TYPE,
	FIELD_COUNT,
	FIELD_SEQUENCE,
	NSYS_FIELDS
};

struct nsys_schema {
	uint64_t size; /* of the payload */
	struct nsys_entry {
		uint32_t offset;
		uint8_t width; /* 0: the schema has no such field */
		bool is_signed;
	} at[NSYS_FIELDS];
	bool some; /* it has one */
};

struct nsys_payloads {
	struct u64map at; /* by domain and schema: in v */
	VEC(struct nsys_schema) v;
	struct u64map ranks_of; /* by communicator: how many ranks it has */
	/* by slot of a thread: of the group that is open, how many collectives it has so far */
	VEC(struct nsys_group {
		uint32_t depth, calls;
		struct collective_facts facts; /* of the last one */
	}) groups;
	int64_t read, other, unknown, torn, grouped; /* events */
};

struct nsys {
	struct db_scan sc;
	struct nsys_payloads payloads;
	struct sqlite_strings strings; /* StringIds */
	struct intern *names;          /* of processes, threads, devices */
	char host[256], product[64], schema[32];
	int64_t schema_major;
	/* times count from the session's start; else they are of the real-time clock, shifted */
	bool normalized;
	int64_t shift_ns, session_utc_ns; /* 0 unknown */
	const char *device;               /* where the file names none; NULL */
	bool by_process;                  /* device work has its process */
	/* by db_hash of their identity: slots, and ids of names */
	struct u64map slots, process_names, thread_names, ranks, device_numbers, gpu_slots;
	/*
	 * XLA's devices in the job, by process and device, and by process when it has one
	 * (NSYS_SEVERAL otherwise): they are the ranks of collectives
	 */
	struct u64map xla_devices, xla_processes;
	struct u64map domains; /* of NVTX: their categories, ids of the sink */
	struct u64map graphs;  /* correlations of graph launches whose nodes were recorded */
	str_id copy_names[NSYS_COPY_KINDS];
	int64_t copied; /* bytes */
	VEC(struct nsys_process) processes;
	VEC(struct nsys_thread) threads;
	VEC(struct nsys_gpu) gpus;
	VEC(struct nsys_record) records; /* by process, event, correlation */
	struct u64map record_of_sync;
	int64_t last_global; /* the last thread that was looked up, and its slot */
	nsys_slot last_thread;
};

/* ---- nsys_events.c ---- */

/* Where facts are wanted. */
void nsys_events_load(struct nsys *ns);
void nsys_events_release(struct nsys *ns);
/* The record that a wait is for; NULL: not known. */
const struct nsys_record *nsys_event_record(const struct nsys *ns, const struct nsys_record *wait);

/* ---- nsys_tracks.c ---- */

/* Reads names, ranks and devices; a track is made for its first span. */
void nsys_tracks_load(struct nsys *ns);
void nsys_tracks_release(struct nsys *ns);
nsys_slot nsys_thread(struct nsys *ns, int64_t global);
/* The track of the profiler's own work in a process. */
track_id nsys_overhead(struct nsys *ns, int64_t global);
/* A new track for the stack samples of a thread; call it once per thread. */
track_id nsys_sampled(struct nsys *ns, int64_t global);
/* The device's id in the machine, "gpu0"; buf holds 32. */
track_id nsys_device(struct nsys *ns, int64_t global, int64_t device, char *buf);
track_id nsys_queue(struct nsys *ns, int64_t global, int64_t device, int64_t context,
		    int64_t stream);
/* The process is part of it, as each process numbers its calls itself. 0: none. */
uint64_t nsys_correlation(struct nsys *ns, int64_t global, int64_t id);
/* The text of a StringIds row as an id of the sink; `otherwise` without one. */
str_id nsys_string(struct nsys *ns, struct sqlite_rows *q, int col, str_id otherwise);

/* ---- the rows ---- */

void nsys_read_work(struct nsys *ns);  /* nsys_work.c: kernels, copies, fills, graphs */
void nsys_read_calls(struct nsys *ns); /* nsys_calls.c: APIs, the profiler's overhead */
void nsys_read_nvtx(struct nsys *ns);  /* nsys_nvtx.c */

/* ---- nsys_payload.c ---- */

/* Reads the schemas, and which ranks processes have in their communicators. Before any track. */
void nsys_payloads_load(struct nsys *ns);
void nsys_payloads_release(struct nsys *ns);
/* A range of NCCL that was pushed, with its name and its payload, which may be NULL. */
void nsys_payload_take(struct nsys *ns, nsys_slot thread, span_id span, const char *name,
		       const char *payload, size_t n);
/* Facts and warnings of the input. */
void nsys_payloads_told(struct nsys *ns);

/* The global id of its process. */
int64_t nsys_process_global(int64_t global);

void nsys_read_metrics(struct nsys *ns); /* nsys_metrics.c: GPU metrics, memory events */
void nsys_read_samples(struct nsys *ns); /* nsys_samples.c: call stacks of the CPU */

#endif
