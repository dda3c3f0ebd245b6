/*
 * run_oom: what the kernel killed for lack of memory, between two moments.
 */
#ifndef RUN_OOM_H
#define RUN_OOM_H

#include <stdint.h>

struct oom_watch {
	char file[512]; /* "" none */
	uint64_t group, machine;
};
/* From now on. root: "" but in tests. */
void oom_begin(struct oom_watch *w, const char *root, int64_t host_pid);
/* Kills since then: in the process's memory cgroup, and on the whole machine. */
void oom_end(const struct oom_watch *w, const char *root, uint64_t *ret_group,
	     uint64_t *ret_machine);

#endif
