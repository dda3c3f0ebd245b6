/* nsys: the parts of the reader of Nsight Systems exports; read_nsys.c describes the format. */
#ifndef ANALYSIS_NSYS_H
#define ANALYSIS_NSYS_H

#include "db_scan.h"

#include "profrig/base/intern.h"

typedef uint32_t nsys_slot;
#define NSYS_SLOT_NONE U64MAP_NONE
#define NSYS_COPY_KINDS 14

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

struct nsys {
	struct db_scan sc;
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

void nsys_read_work(struct nsys *ns);    /* nsys_work.c: kernels, copies, fills, graphs */
void nsys_read_calls(struct nsys *ns);   /* nsys_calls.c: APIs, the profiler's overhead */
void nsys_read_nvtx(struct nsys *ns);    /* nsys_nvtx.c */
void nsys_read_metrics(struct nsys *ns); /* nsys_metrics.c: GPU metrics, memory events */
void nsys_read_samples(struct nsys *ns); /* nsys_samples.c: call stacks of the CPU */

#endif
