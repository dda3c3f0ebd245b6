/*
 * topology: which processes share which device, and on which device a queue's work really runs.
 *
 * Without one (NULL) the rule of the node holds: every process of a device's node shares it, and
 * work belongs to the device whose id its queue has. A topology narrows that down; it never widens
 * it beyond the node. What it says comes from, the first that speaks:
 *
 *	file		rules a person wrote (topology_add_rule, topology_add_counter). A device
 *			that any rule names is shared by the processes that the rules name with it,
 *			and by no other process; what no rule names is discovered as without a file.
 *	pci		the queue's device and a sampled device sit at the same PCI address
 *	visible_devices	the variables of the run (topology_add_env): a process sees the devices
 *			that are listed, and its own device number i is the i-th of them
 *	queues		on a node where every process with calls has opened queues, a device is
 *			shared by the processes that have queues on it; one without queues by all
 *	node, index	nothing is known: the node's processes, the number in the names
 *
 * Discovery takes a device from a process only when the process' own energy is measured elsewhere:
 * all devices that it sees, or has queues on, must have a counter of the same quantity that moves.
 * (On MI250X one counter serves two devices; there nothing is excluded until a file says which.)
 *
 * Life cycle:
 *	topology_new() → topology_add_… (what is known) → model_finish → topology_resolve(tp, m)
 *	→ topology_sees, topology_runs_on, topology_weight … (read-only, from any thread)
 *	→ topology_free()
 * It belongs to one model, which must outlive it. Strings it hands out live as long as it does.
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
 * The processes that match all selectors which are not empty, and what they see. devices: ids with
 * or without their host, shell patterns ("gpu0", "node3:gpu2", "gpu*"). visible: physical indexes
 * in the order in which these processes number them (as ROCR_VISIBLE_DEVICES would list them); of
 * several rules with such a list the first that matches a process counts for it.
 */
struct topology_rule {
	VEC(struct topology_range) ranks;
	VEC(struct topology_range) local_ranks; /* places among the ranks of a host, from 0 */
	struct strvec hosts;     /* patterns; the name up to its first '.' may match too */
	struct strvec processes; /* pids, or patterns of process names */
	struct strvec devices;
	VEC(int64_t) visible; /* beside devices, which it adds to */
	double weight;        /* > 0; 1 = as everybody */
	char *where;          /* "topology.yaml:3", for warnings */
};
void topology_rule_init(struct topology_rule *r);
void topology_rule_release(struct topology_rule *r);

/* The counters of one device measure several: queues and processes of all of them take part. */
struct topology_counter {
	char *device;           /* "gpu0", "node3:gpu0" */
	struct strvec measures; /* ids without a host: "gpu0", "gpu1" */
	char *where;
};
void topology_counter_release(struct topology_counter *c);

enum topology_vendor { TOPOLOGY_ANY, TOPOLOGY_AMD, TOPOLOGY_NVIDIA };

/* What a run showed its processes. Strings are borrowed for the call. */
struct topology_env {
	const char *host;            /* of the processes; "" any */
	input_id first, end;         /* the inputs [first, end) are of this run */
	enum topology_vendor vendor; /* whose runtime reads the variables */
	const char *gpus;            /* indexes that a container was given ("0,2-4"); NULL all */
	/* ROCR_VISIBLE_DEVICES, then inside what that leaves HIP_VISIBLE_DEVICES, else
	 * CUDA_VISIBLE_DEVICES, else GPU_DEVICE_ORDINAL; NULL unset */
	const char *rocr, *hip, *cuda, *ordinal;
};

enum topology_why {
	WHY_NODE,    /* all processes of the device's node */
	WHY_INDEX,   /* of a queue: the number in its name */
	WHY_PCI,     /* of a queue: the address of its device */
	WHY_VISIBLE, /* variables such as ROCR_VISIBLE_DEVICES */
	WHY_QUEUES,  /* who has queues on the device */
	WHY_FILE,    /* a rule of the file */
	WHY_THREAD,  /* the counter was read by this very thread */
};
const char *topology_why_name(enum topology_why why); /* "visible_devices" */

struct topology *topology_new(void);
void topology_free(struct topology *tp); /* NULL is fine */
void topology_add_rule(struct topology *tp, struct topology_rule *take);
void topology_add_counter(struct topology *tp, struct topology_counter *take);
void topology_add_env(struct topology *tp, const struct topology_env *env);
/* false: what no rule names is shared by the node, with the numbers that the names have. */
void topology_discover(struct topology *tp, bool on);
/*
 * Applies what was added to a finished model. Rules that match no process and names of devices that
 * are not there become W_TOPOLOGY, variables that cannot be followed W_VISIBLE_DEVICES.
 */
void topology_resolve(struct topology *tp, struct model *m);
/* The same from what is known so far (model_settle), in silence; topology_resolve comes later. */
void topology_prepare(struct topology *tp, struct model *m);
/* For the next model: keeps what a file says, forgets what runs told and what was resolved. */
void topology_again(struct topology *tp);

/*
 * Host view: whether a thread's process shares the device of series s. device: the series'
 * counter_info().device, which costs a look-up. Says nothing about whether it has calls.
 */
bool topology_sees(const struct topology *tp, const struct model *m, track_id thread, series_id s,
		   const char *device);
/* Device view: whether a queue's work runs on what series s measures. */
bool topology_runs_on(const struct topology *tp, const struct model *m, track_id queue, series_id s,
		      const char *device);
/* What part its process takes in proportion to the others, 1 unless a rule says otherwise. */
double topology_weight(const struct topology *tp, const struct model *m, track_id thread,
		       series_id s);

/* Why it sees or runs on it; to be asked only where that is so. */
enum topology_why topology_why_sees(const struct topology *tp, const struct model *m,
				    track_id thread, series_id s);
enum topology_why topology_why_runs_on(const struct topology *tp, const struct model *m,
				       track_id queue, series_id s);
/* The id of the device a queue's work runs on, without a host: "gpu2"; "" unknown. */
const char *topology_queue_device(const struct topology *tp, const struct model *m, track_id queue);

#endif
