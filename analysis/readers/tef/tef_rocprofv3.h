/*
 * tef_rocprofv3: the parts of the reader of rocprofv3's JSON (tef_rocprofv3.c has the map).
 *
 *	tef_rocprofv3.c		the document, its processes, damage
 *	tef_rocprofv3_defs.c	agents, names, tracks
 *	tef_rocprofv3_work.c	records → spans, marks, samples
 */
#ifndef ANALYSIS_TEF_ROCPROFV3_H
#define ANALYSIS_TEF_ROCPROFV3_H

#include "tef.h"

/* Members of a process. */
enum v3_member {
	V3_METADATA,
	V3_AGENTS,
	V3_COUNTERS,
	V3_STRINGS,
	V3_SYMBOLS,
	V3_CALLBACKS,
	V3_BUFFERS,
	V3_MEMBERS
};

struct v3_agent {
	bool gpu, numbered;
	int64_t node, index; /* of the driver; among the devices of its type */
	char device[32], pci[32];
};

struct v3_kind {
	str_id name;
	size_t first_op, ops;
	bool marker;
};

struct v3_op {
	str_id name;
	bool range; /* of a process */
};

/* Names by a number of the file. */
struct v3_names {
	struct u64map at; /* → v */
	VEC(str_id) v;
};

/* Fields of a record, at any of its levels. */
enum v3_field {
	V3_START,
	V3_END,
	V3_TIME,
	V3_THREAD,
	V3_KIND,
	V3_OPERATION,
	V3_KERNEL,
	V3_DISPATCH,
	V3_CORRELATION,
	V3_AGENT,
	V3_QUEUE,
	V3_STREAM,
	V3_SOURCE,
	V3_DESTINATION,
	V3_INSTRUCTION,
	V3_FIELDS
};

struct v3_record {
	struct json_text field[V3_FIELDS];
	struct json_text values; /* "records": of counters */
	struct json_text raw;
};

struct v3_process {
	const char *at[V3_MEMBERS]; /* start of a member's value; NULL */
};

struct v3 {
	struct tef *t;
	VEC(struct v3_process) processes;
	int damage; /* 0, JSON_CUT or JSON_BAD: the first */
	size_t damaged_at;
	uint64_t records, dropped;
	struct tally unknown;

	/* of the current process; numbers of the file are unique together with nr */
	uint32_t nr;
	int64_t pid;
	track_id process, pc;
	int64_t agents_listed; /* with those that were left out */
	VEC(struct v3_agent) agents;
	struct u64map agent_at;
	VEC(struct v3_kind) kinds;
	VEC(struct v3_op) ops;
	VEC(str_id) instructions;
	struct v3_names kernels, markers;
	struct u64map counter_at; /* → counters */
	VEC(struct json_text) counters;
	struct u64map dispatch_at; /* → dispatch_ends */
	VEC(int64_t) dispatch_ends;
	/* by their identity, of all processes */
	struct u64map track_at; /* → tracks */
	VEC(track_id) tracks;
	struct u64map series_at;
};

static inline struct json_cur v3_cursor(const struct v3 *v, const char *p)
{
	return (struct json_cur){ p, v->t->map.data + v->t->map.len };
}

/* tef_rocprofv3.c */
void v3_damaged(struct v3 *v, const struct json_cur *c, int r);
void v3_unknown(struct v3 *v, const char *what, uint64_t id);
bool v3_number(const struct json_text *text, uint64_t *ret);

/* tef_rocprofv3_defs.c: of the process whose members are at p */
void v3_define(struct v3 *v, const struct v3_process *p);
void v3_forget(struct v3 *v);
int v3_take_handle(struct json_cur *c, void *to);          /* json_take_fn of a struct json_text */
str_id v3_name(const struct v3_names *names, uint64_t id); /* STR_NONE: there is none */
const struct v3_agent *v3_agent(const struct v3 *v, const struct json_text *handle); /* NULL */
track_id v3_thread(struct v3 *v, const struct json_text *tid);
/* agent NULL: unknown, or not in the list. */
track_id v3_queue(struct v3 *v, const struct v3_agent *agent, const struct json_text *queue);
track_id v3_pc_track(struct v3 *v);

/* tef_rocprofv3_work.c: the lists of records */
void v3_work(struct v3 *v, const struct v3_process *p);

#endif
