/*
 * topology: which processes share which device, and on which device a queue's work really runs.
 *
 * Without a topology (NULL) the rule of the node holds: every process of a device's node shares it,
 * and work belongs to the device whose id its queue has. A topology narrows this down and never
 * widens it beyond the node. Its sources, the first that applies wins:
 *
 *	file		rules of the user (topology_add_rule, topology_add_counter). A device that a
 *			rule names is shared by the processes that rules name with it and by no
 *			other; a device that no rule names is discovered as without a file.
 *	pci		the queue's device and a sampled device have the same PCI address
 *	visible_devices	the variables of the run (topology_add_env): a process sees the devices
 *			that are listed, and its own device number i is the i-th of them
 *	queues		on a node where every process with calls has opened queues, a device is
 *			shared by the processes that have queues on it; a device without queues by
 *			all
 *	rank		where ranks whose hosts are not known have devices of one id, each is a
 *			node of its own (model_node_of): what is counted in its file is its own. A
 *			rule of the file goes beyond such a node, as that is an assumption
 *	node, index	otherwise: the node's processes, the number in the names
 *
 * Discovery excludes a process from a device only when the process's own energy is measured
 * elsewhere: all devices that it sees, or has queues on, must have a counter of the same quantity
 * that moves. (On MI250X one counter serves two devices; there nothing is excluded unless a file
 * says so.)
 *
 * Life cycle:
 *	topology_new → topology_add_… → model_finish → topology_resolve(tp, m)
 *	→ topology_sees, topology_runs_on, topology_weight … (read-only, from any thread)
 *	→ topology_free
 * It belongs to one model, which must outlive it. Strings that it returns live as long as it does.
 */
#ifndef PROFRIG_TOPOLOGY_H
#define PROFRIG_TOPOLOGY_H

#include "profrig/base/strvec.h"
#include "profrig/counters/counters.h"

struct topology;

/* Inclusive. */
struct topology_range {
	int64_t first, last;
};

/*
 * The processes that match all selectors which are not empty, and the devices they see. devices:
 * ids with or without their host, shell patterns ("gpu0", "node3:gpu2", "gpu*"). visible: physical
 * indexes in the order in which these processes number them (as in ROCR_VISIBLE_DEVICES); for a
 * process the first matching rule with such a list counts.
 */
struct topology_rule {
	VEC(struct topology_range) ranks;
	VEC(struct topology_range) local_ranks; /* index among the ranks of a host, from 0 */
	struct strvec hosts;     /* patterns; the name up to its first '.' may match too */
	struct strvec processes; /* pids, or patterns of process names */
	struct strvec devices;
	VEC(int64_t) visible; /* in addition to devices */
	double weight;        /* > 0; default 1 */
	char *where;          /* "topology.yaml:3", for warnings */
};
void topology_rule_init(struct topology_rule *r);
void topology_rule_release(struct topology_rule *r);

/* Counters of one device that measure several: queues and processes of all of them take part. */
struct topology_counter {
	char *device;           /* "gpu0", "node3:gpu0" */
	struct strvec measures; /* ids without a host: "gpu0", "gpu1" */
	char *where;
};
void topology_counter_release(struct topology_counter *c);

enum topology_vendor { TOPOLOGY_ANY, TOPOLOGY_AMD, TOPOLOGY_NVIDIA };

/* The devices that a run made visible to its processes. Strings are borrowed for the call. */
struct topology_env {
	const char *host;            /* of the processes; "" any */
	input_id first, end;         /* the inputs [first, end) are of this run */
	enum topology_vendor vendor; /* of the runtime that reads the variables */
	const char *gpus;            /* indexes that the container has ("0,2-4"); NULL all */
	/* ROCR_VISIBLE_DEVICES, then within its devices HIP_VISIBLE_DEVICES, else
	 * CUDA_VISIBLE_DEVICES, else GPU_DEVICE_ORDINAL; NULL unset */
	const char *rocr, *hip, *cuda, *ordinal;
};

enum topology_why {
	WHY_NODE,    /* all processes of the device's node */
	WHY_INDEX,   /* of a queue: the number in its name */
	WHY_RANK,    /* the counter is in the rank's own file, and no host is known */
	WHY_PCI,     /* of a queue: the address of its device */
	WHY_VISIBLE, /* variables such as ROCR_VISIBLE_DEVICES */
	WHY_QUEUES,  /* the process has queues on the device */
	WHY_FILE,    /* a rule of the file */
	WHY_THREAD,  /* this thread read the counter */
};
const char *topology_why_name(enum topology_why why); /* "visible_devices" */

struct topology *topology_new(void);
void topology_free(struct topology *tp); /* NULL is fine */
void topology_add_rule(struct topology *tp, struct topology_rule *take);
void topology_add_counter(struct topology *tp, struct topology_counter *take);
void topology_add_env(struct topology *tp, const struct topology_env *env);
/* false: devices that no rule names are shared by the node, by the numbers in their names. */
void topology_discover(struct topology *tp, bool on);
/*
 * Applies the rules to a finished model. Rules that match no process and names of absent devices
 * become W_TOPOLOGY, variables that cannot be followed W_VISIBLE_DEVICES.
 */
void topology_resolve(struct topology *tp, struct model *m);
/* Whether a user has stated rules or counters. */
bool topology_stated(const struct topology *tp);
/* The same for a model that is settled (model_settle), without warnings; resolve it again later. */
void topology_prepare(struct topology *tp, struct model *m);
/* For the next model: keeps the rules of the file, forgets runs and what was resolved. */
void topology_again(struct topology *tp);

/*
 * Host view: whether a thread's process shares the device of series s. device: the series'
 * counter_info().device, which costs a look-up. Whether the process has calls does not matter.
 */
bool topology_sees(const struct topology *tp, const struct model *m, track_id thread, series_id s,
		   const char *device);
/* Device view: whether a queue's work runs on a device that series s measures. */
bool topology_runs_on(const struct topology *tp, const struct model *m, track_id queue, series_id s,
		      const char *device);
/* Weight of the thread's process in the share; 1 unless a rule gives another. */
double topology_weight(const struct topology *tp, const struct model *m, track_id thread,
		       series_id s);

/* The reason, where topology_sees or topology_runs_on is true. */
enum topology_why topology_why_sees(const struct topology *tp, const struct model *m,
				    track_id thread, series_id s);
enum topology_why topology_why_runs_on(const struct topology *tp, const struct model *m,
				       track_id queue, series_id s);
/* The id of the device a queue's work runs on, without a host: "gpu2"; "" unknown. */
const char *topology_queue_device(const struct topology *tp, const struct model *m, track_id queue);

#endif
