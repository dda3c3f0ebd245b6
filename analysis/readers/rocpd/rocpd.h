/*
 * rocpd: the parts of the reader of rocprofiler-sdk databases; read_rocpd.c describes the format.
 */
#ifndef ANALYSIS_ROCPD_H
#define ANALYSIS_ROCPD_H

#include "db_scan.h"

#include "profrig/base/intern.h"

/* Things with ids that are unique together with a guid. */
enum rocpd_kind {
	ROCPD_STRING, /* → id of the sink */
	ROCPD_EVENT,
	ROCPD_NODE, /* → id of names: its host */
	ROCPD_PROCESS,
	ROCPD_THREAD,
	ROCPD_AGENT,
	ROCPD_QUEUE,  /* → id of names */
	ROCPD_STREAM, /* → id of names */
	ROCPD_SYMBOL, /* → id of the sink */
	ROCPD_PMC,
	ROCPD_TRACK,
	ROCPD_KINDS
};

/*
 * Numbers by (guid, id). The first guids, mostly the only ones, have arrays of their own; more
 * guids share a map, which bounds the memory of a hostile file.
 */
#define ROCPD_NEAR 8
struct rocpd_ids {
	struct sqlite_ids near[ROCPD_NEAR];
	struct u64map far;
};

/* Tables of one suffix. */
struct rocpd_set {
	char *suffix;
	uint32_t guid; /* of rows without one */
};

struct rocpd_process {
	track_id id; /* TRACK_NONE until it has a span */
	int64_t pid;
	int32_t rank;
	str_id host, name; /* of names */
};

struct rocpd_thread {
	track_id id;
	uint32_t process;
	int64_t tid;
	str_id name;
};

struct rocpd_agent {
	track_id id, memory;
	char device[32], pci[32];
	bool gpu;
	str_id host, name;
};

struct rocpd_pmc {
	series_id id;
	uint32_t agent; /* SQLITE_ID_NONE */
	enum series_kind kind;
	str_id name, unit; /* of names */
	int64_t instance;
};

struct rocpd_track {
	uint32_t thread; /* SQLITE_ID_NONE: of a whole process */
	uint32_t process;
	str_id name; /* of the sink */
};

struct rocpd_event {
	uint64_t stack; /* internal correlation id; 0 none */
	str_id category, message, args;
	bool counted; /* it has values of counters */
};

struct rocpd_value {
	uint32_t event, pmc;
	double value;
};

struct rocpd {
	struct db_scan sc;
	struct intern *names, *guid_names;
	const char *device; /* where the file names none; NULL */
	uint32_t last_guid; /* the one that was looked up last */
	struct rocpd_ids ids[ROCPD_KINDS];
	VEC(struct rocpd_set) sets;
	VEC(struct rocpd_process) processes;
	VEC(struct rocpd_thread) threads;
	VEC(struct rocpd_agent) agents;
	VEC(struct rocpd_pmc) pmcs;
	VEC(struct rocpd_track) tracks;
	VEC(struct rocpd_event) events;
	VEC(struct rocpd_value) values;
	uint32_t args_event;   /* the event whose arguments are collected */
	int64_t copied;        /* bytes */
	VEC(int64_t) event_ns; /* by event; only where there are values */
	struct u64map queues;
	struct u64map process_ranges; /* ids of the sink: names of calls that start one */
	const struct rocpd_set *set;  /* the current one */
	struct strbuf json;
	char version[32];
};

/* As db_scan_table, for the current set: table "rocpd_" + t->name + suffix. */
bool rocpd_table(struct rocpd *rc, const struct db_table *t);
/* The guid of the current row, by its id in guid_names. */
uint32_t rocpd_guid_of(struct rocpd *rc, struct sqlite_rows *q, int col);
/* SQLITE_ID_NONE: the id is NULL or names nothing. */
uint32_t rocpd_find(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, struct sqlite_rows *q,
		    int col);
uint32_t rocpd_get(const struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, int64_t id);
/* false: the id has a number already, which is kept. */
bool rocpd_add(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, int64_t id, uint32_t number);
/* Numbers the current row; false: it has no id, or another row has it. */
bool rocpd_number(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, struct sqlite_rows *q,
		  int col, uint32_t number);
/* A text member of a JSON object; owned, NULL when it is not there. */
char *rocpd_json_member(struct rocpd *rc, const char *json, size_t n, const char *key);

/* ---- rocpd_defs.c ---- */

void rocpd_read_definitions(struct rocpd *rc);
/* These make entries that the file does not define. */
uint32_t rocpd_process(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int col);
uint32_t rocpd_thread(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int tid, int pid);
uint32_t rocpd_agent(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int col);
track_id rocpd_process_track(struct rocpd *rc, uint32_t process);
track_id rocpd_thread_track(struct rocpd *rc, uint32_t thread);
track_id rocpd_memory_track(struct rocpd *rc, uint32_t agent);
track_id rocpd_queue_track(struct rocpd *rc, uint32_t guid, uint32_t agent, uint32_t process,
			   struct sqlite_rows *q, int stream, int queue);
/* The process is part of it, as each process numbers its calls itself. 0: none. */
uint64_t rocpd_correlation(uint32_t process, uint64_t stack);

/* ---- rocpd_events.c: regions, marks, arguments, counters ---- */

void rocpd_read_strings(struct rocpd *rc);
void rocpd_read_events(struct rocpd *rc);
void rocpd_read_arguments(struct rocpd *rc); /* and values of counters */
void rocpd_read_regions(struct rocpd *rc);
void rocpd_read_samples(struct rocpd *rc);
void rocpd_push_values(struct rocpd *rc);
static inline const struct rocpd_event *rocpd_event_at(const struct rocpd *rc, uint32_t event)
{
	return event == SQLITE_ID_NONE ? NULL : &rc->events.v[event];
}
void rocpd_event_time(struct rocpd *rc, uint32_t event, int64_t t_ns);

/* ---- rocpd_work.c: device work ---- */

void rocpd_read_work(struct rocpd *rc);

#endif
