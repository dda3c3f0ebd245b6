/*
 * engine: starts profrig-init, the agent. Engines are pure functions from a spec to argv vectors;
 * run/ executes them. Registry: harness/engine/engines.c (docker, podman, apptainer, host).
 *
 * The agent is the container's PID 1 (on host: a subreaper child) and does everything else by
 * requests over its stdin/stdout (agent.h). One container per run, named "profrig-<run id>" and
 * labelled profrig.run=<run id>, started with --rm -i and without a tty. No secret and no
 * environment of the workload is in any argv: steps carry their environment through the agent's
 * stdin.
 *
 * GPUs, when requested: AMD gets /dev/kfd and one render node each (gpu_nodes; where they are not
 * known, /dev/dri or /dev/dri/renderD<128+n>), NVIDIA --gpus (docker) or the CDI devices
 * nvidia.com/gpu (podman). network, ipc, user and the like are the engine's defaults when NULL.
 * `options` come last, so they win.
 *
 * Mounts of every container: the visible parts of the run directory at their own absolute paths
 * (run_mounts), the folder of the agent and the preload libraries at /.profrig (ro), and the
 * model's directory at its own absolute path (rw) unless workdir is elsewhere and the image holds
 * the model.
 */
#ifndef PROFRIG_ENGINE_H
#define PROFRIG_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

#define ENGINE_LIB_DIR "/.profrig" /* inside containers: profrig-init, libprofrig_*.so */

struct engine_mount {
	char *host, *container;
	bool read_only;
};

struct engine_spec {
	char *run_id;
	char *name; /* container name */
	char *image;
	char *lib_dir; /* on the host: holds profrig-init and the preload libraries */
	char *run_dir; /* NULL for a throw-away probe container */
	VEC(struct engine_mount) mounts; /* the user's and the model's */
	/*
	 * the run directory as the container sees it (plan_inside.c), in order, then its contents;
	 * a throw-away container has none of them
	 */
	VEC(struct engine_mount) run_mounts, late_mounts;
	char *workdir, *user, *network, *ipc, *shm_size, *pull; /* NULL = default */
	bool keep;                    /* leave the ended container for a look inside */
	struct strvec caps, security; /* "SYS_ADMIN"; "seccomp=unconfined" */
	struct strvec options;        /* handed to the engine word by word */
	char *cpus;                   /* "0-7,16"; NULL all */
	char *gpus;                   /* NULL none, "all", "0,2" (expanded) */
	VEC(int) gpu_list;
	/*
	 * "amd" or "nvidia"; NULL: from the device files of this machine (amd when there is none)
	 */
	const char *gpu_vendor;
	/*
	 * AMD: their device files, and the groups these belong to, as numbers. NVIDIA: for engines
	 * that know GPUs by CDI names where the machine has no CDI file. Empty: not known.
	 */
	struct strvec gpu_nodes, gpu_groups;
	uint64_t max_files, max_processes; /* engine_limits; 0: there is no such limit */
};
/*
 * The hard limits of open files and processes that this process may not raise, as root without
 * CAP_SYS_RESOURCE may not: a container manager that asks for more, as podman does, starts nothing.
 * 0: there is no such limit.
 */
struct engine_limits {
	uint64_t files, processes;
};
void engine_limits_read(struct engine_limits *ret);
void engine_spec_init(struct engine_spec *s);
void engine_spec_release(struct engine_spec *s);

struct engine {
	const char *name, *about;
	bool container;
	bool never_auto;  /* only on request */
	bool all_devices; /* a container sees all GPUs or none; variables select among them */
	/* argv that starts the agent with its stdin/stdout on ours. */
	int (*start)(const struct engine_spec *s, struct strvec *argv, struct err *err);
	/*
	 * The following are NULL for host; remove and list also for apptainer, whose
	 * containers are no more than the agent's processes. Each makes an argv.
	 */
	/* exits 0 when the engine answers, prints its version */
	void (*probe)(struct strvec *argv);
	/* prints the image id; exit ≠ 0 when absent */
	void (*image)(const char *image, struct strvec *argv);
	void (*pull)(const char *image, struct strvec *argv);
	void (*remove)(const char *container, struct strvec *argv); /* by force; absent is fine */
	/* prints "<name> <run id>" of every container labelled profrig.run */
	void (*list)(struct strvec *argv);
	/*
	 * prints whether the container runs (true, false), then the host's side of each of its
	 * mounts, a line each; NULL: nothing of the kind
	 */
	void (*mounts)(const char *container, struct strvec *argv);
	const char *fix;    /* one command that would make it work, for doctor */
	const char *denied; /* what to do when it is there but refuses the caller; NULL: as fix */
};
/* Advice for an engine's error text. */
const char *engine_remedy(const struct engine *e, const char *said);

/* NULL-terminated, in order of auto: docker, podman, host (apptainer is never picked) */
extern const struct engine *const engines[];
const struct engine *engine_find(const char *name);

/*
 * Extra words for the engine's command line from the environment: PROFRIG_DOCKER="docker -H
 * unix:///x", PROFRIG_PODMAN="podman --root …" (split at blanks).
 */

#endif
