/* Limits that this process may not raise, for container managers. */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/engine/engine.h"

/* podman lowers its own limit of processes to this value, so a container cannot have more. */
#define PODMAN_PROCESSES 32768

static bool may_raise_limits(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	/* Only root manages root's containers; for other users podman asks for less. */
	return geteuid() != 0 || syscall(SYS_capget, &head, data) < 0 ||
	       (data[0].effective & (1U << CAP_SYS_RESOURCE));
}

void engine_limits_read(struct engine_limits *ret)
{
	struct rlimit files, processes;

	*ret = (struct engine_limits){ 0 };
	if (may_raise_limits() || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    getrlimit(RLIMIT_NPROC, &processes) < 0)
		return;
	if (files.rlim_max != RLIM_INFINITY)
		ret->files = files.rlim_max;
	ret->processes =
		processes.rlim_max < PODMAN_PROCESSES ? processes.rlim_max : PODMAN_PROCESSES;
}
