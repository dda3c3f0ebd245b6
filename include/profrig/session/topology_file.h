/*
 * topology_file: reads a file of --topology, YAML or JSON: which processes share which device
 * (docs/energy.md, "Who shares a device"):
 *
 *	sharing:
 *	  - {ranks: "0-3", devices: [gpu0, "node3:gpu2"], weight: 2}
 *	  - {local_ranks: 1, hosts: ["node*"], processes: [4711, "solver*"], visible: "2,3"}
 *	counters: {gpu0: [gpu0, gpu1]}
 *	discover: true
 */
#ifndef PROFRIG_SESSION_TOPOLOGY_FILE_H
#define PROFRIG_SESSION_TOPOLOGY_FILE_H

#include "profrig/base/cfg.h"
#include "profrig/topology/topology.h"

/*
 * Adds the rules of the file to tp. -EINVAL: the file cannot be read or something in it is wrong; p
 * (empty before) has a line for each problem.
 */
int topology_file_read(struct topology *tp, const char *path, struct problems *p);

#endif
