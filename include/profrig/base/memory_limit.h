/*
 * memory_limit: how much memory this process may take: the smallest of the machine's physical
 * memory, the limits of its control group and of the groups above that (memory.max of version 2,
 * memory.limit_in_bytes of version 1), and RLIMIT_AS.
 */
#ifndef PROFRIG_MEMORY_LIMIT_H
#define PROFRIG_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes; 0: unknown. */
uint64_t memory_limit(void);
/*
 * The limit of control groups alone, UINT64_MAX without one: groups is the text of
 * /proc/self/cgroup, root the folder where they are mounted (/sys/fs/cgroup). In a container the
 * group's path may not be seen there; its limit is then that of the root.
 */
uint64_t memory_limit_of_groups(const char *groups, const char *root);

#endif
