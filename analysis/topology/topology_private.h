/* The rules of a topology, and their result for one model. */
#ifndef TOPOLOGY_PRIVATE_H
#define TOPOLOGY_PRIVATE_H

#include "profrig/base/pool.h"
#include "profrig/topology/topology.h"

/* Physical indexes in the order in which a process numbers them; all: every device, its number. */
struct device_list {
	bool all;
	VEC(int64_t) v;
};

/* One run: the devices after ROCR_VISIBLE_DEVICES (driver), then after the other variables. */
struct topology_run {
	char *host;
	input_id first, end;
	struct device_list driver, runtime;
	char *unknown; /* why a variable cannot be followed; then both are all. NULL */
};
#define MAX_RUNS 64 /* bits of struct topology_series */

struct slice {
	uint32_t at, nr;
};

/* By track. */
struct topology_track {
	/* a sharer: a process, or a thread without one */
	bool is_sharer, active; /* active: it has calls */
	int32_t rank;
	int64_t local_rank; /* −1 */
	struct slice rules; /* of rule_ids, ascending: rules that match it */
	struct slice owned; /* of device_ids: devices on which it has queues */
	int run;            /* −1 */
	/* a queue */
	str_id device; /* of ids; 0 when it has none */
	enum topology_why why;
};

/* By series; only of energy and power. */
struct topology_series {
	struct slice measures; /* of device_ids */
	struct slice rules;    /* of rule_ids, ascending: rules that name it */
	bool queues;           /* shared by the processes with queues on it */
	uint64_t runs;         /* bit: variables of this run may exclude its processes */
};

struct topology {
	VEC(struct topology_rule) rules;
	VEC(struct topology_counter) counters;
	VEC(struct topology_run) runs;
	bool discover;
	/* after topology_resolve */
	struct intern *ids; /* of devices, without hosts */
	struct topology_track *track;
	struct topology_series *series;
	VEC(uint32_t) rule_ids;
	VEC(str_id) device_ids;
};

/* The id behind the host: "node3:gpu2" → "gpu2". */
const char *topology_id(const char *device);
/* "gpu7" → 7, −1 for other names. */
int64_t topology_gpu(const char *id);
/* Unknown hosts match any. The host may be a prefix of the device's name instead of the track's. */
bool topology_same_node(const char *a_host, const char *a_device, const char *b_host,
			const char *b_device);
track_id topology_sharer(const struct model *m, track_id t);

/* State while a topology is resolved. */
struct topology_work {
	bool quiet; /* no warnings */
	struct topology *tp;
	struct model *m;
	struct counter_info *info; /* by series */
	struct intern *devices;    /* of all series and queues, "host:id" or "id" */
	bool *matched;             /* by rule: some process */
	bool own_numbers; /* each process numbers its queues' devices itself: no use across them */
	/* processes that opened or used a queue; by sharer, then queue, no pair twice */
	VEC(struct topology_owner { track_id sharer, queue; }) owners;
	VEC(struct topology_owner) by_queue; /* the same the other way round */
};

bool topology_rule_matches(const struct topology *tp, const struct topology_rule *r,
			   const struct model *m, track_id sharer);
/* Whether a rule names the device of this host. */
bool topology_rule_names(const struct topology_rule *r, const char *host, const char *id);
/* Warns of rules that match no process and of names that no device has. */
void topology_rules_check(struct topology_work *w);

/* topology_owners.c */
void topology_find_owners(struct topology_work *w);
/* topology_devices.c: sets device and why of every queue */
void topology_place_queues(struct topology_work *w);
/* topology_nodes.c: sets queues and runs of every series */
void topology_find_limits(struct topology_work *w);

void topology_warn(struct topology_work *w, input_id input, const char *code, uint64_t count,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Drops the result, keeps the rules. */
void topology_forget(struct topology *tp);

#endif
