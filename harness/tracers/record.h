/*
 * record: whether tracers inside the workload shall write now: the flag of the run's control
 * (profrig/control.h has the same layout). Without one, or where it cannot be read, always.
 *
 * The file is mapped once, when the library is loaded, and shared: a change is seen by the next
 * call, in every process of the workload and through the mounts of containers.
 */
#ifndef PROFRIG_RECORD_H
#define PROFRIG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct record_flag {
	uint32_t on;
	uint32_t changes;
};
#define RECORD_FLAG_BYTES 4096

extern const struct record_flag *record_flag;

/* From the library's constructor. */
void record_setup(void);
/* false: there is no flag to watch. Else returns when it differs from `seen`, or at the timeout. */
bool record_wait(uint32_t seen, int timeout_ms);

static inline bool record_on(void)
{
	return __atomic_load_n(&record_flag->on, __ATOMIC_RELAXED) != 0;
}

#endif
