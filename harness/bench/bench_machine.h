/*
 * bench_machine: facts of this machine that measurements need. What the kernel does not tell is 0,
 * NaN or "".
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"

#define BENCH_CACHE_DEFAULT (UINT64_C(32) << 20) /* bytes, where the kernel tells of no cache */

uint64_t machine_cache_bytes(void);              /* the last level's */
uint64_t machine_caches_bytes(const char *cpus); /* of all last levels of these processors */
uint64_t machine_memory_free(void); /* bytes that programs can have, cgroup's limit included */
char *machine_processor(void);      /* its name, owned */
/* "2,3": the last n processors that this process may use; -ERANGE: there are less. */
int machine_cpus(unsigned n, struct strbuf *to, struct err *err);
double machine_temperature_c(void); /* of the hottest processor, now; NaN unknown */

/*
 * The share of all processors' time that others than this process and its children that have ended
 * used between two moments, a hypervisor's (steal) included: machine_moment twice, and
 * machine_others. NaN unknown; 0 to 1. The kernel counts in ticks of 10 ms.
 */
struct machine_moment {
	double busy, all, own; /* s of processors; NaN unknown */
};
void machine_moment(struct machine_moment *ret);
double machine_others(const struct machine_moment *from, const struct machine_moment *to);

#endif
