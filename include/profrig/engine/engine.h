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
#include "profrig/engine/engine_image.h"

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

/* A command of an engine; `of`, `with`, `auth`: struct engine_about. */
enum engine_question {
	ENGINE_PROBE,  /* exits 0 when the engine answers, prints its version */
	ENGINE_IMAGE,  /* prints the id of image `of`; exit ≠ 0 when it is absent */
	ENGINE_PULL,   /* image `of` */
	ENGINE_REMOVE, /* container `of`, by force; an absent one is fine */
	ENGINE_LIST,   /* prints "<name> <run id>" of every container labelled profrig.run */
	/*
	 * prints whether container `of` runs (true, false), then the host's side of each of its
	 * mounts, a line each
	 */
	ENGINE_MOUNTS,
	/* of engines that make images (engine_image.h) */
	ENGINE_LOGIN, /* registry `of` as user `with`; the password is read from stdin */
	ENGINE_TAG,   /* image `of` gets the name `with` too */
	/* image `of`; podman writes what the registry calls it to the file `with` */
	ENGINE_PUSH,
	/* prints one line: the id of image `of`, then its names by digest ("repo@sha256:…") */
	ENGINE_FACTS,
	ENGINE_QUESTIONS
};
struct engine_about {
	const char *of, *with;
	const struct image_auth *auth; /* NULL: the caller's own logins */
};

struct engine {
	const char *name, *about;
	/* of the environment: words instead of the program's name, split at blanks, such as
	 * PROFRIG_DOCKER="docker -H unix:///x" */
	const char *variable;
	bool container;
	bool never_auto;  /* only on request */
	bool all_devices; /* a container sees all GPUs or none; variables select among them */
	/* argv that starts the agent with its stdin/stdout on ours. */
	int (*start)(const struct engine_spec *s, struct strvec *argv, struct err *err);
	/*
	 * What engine_ask makes words of; NULL: there is no such question. The host knows none;
	 * apptainer no ENGINE_REMOVE and what follows it, as its containers are no more than the
	 * agent's processes.
	 */
	const char *const *words[ENGINE_QUESTIONS];
	/* Instead of the words of ENGINE_IMAGE and ENGINE_PULL; may be NULL. */
	void (*ask_image)(const char *image, struct strvec *argv);
	void (*auth)(const struct image_auth *a, struct strvec *argv);
	/* NULL: it makes no images. b NULL: prints what a build takes (engine_image.h). */
	void (*build)(const struct image_build *b, struct strvec *argv);
	const char *fix;    /* one command that would make it work, for doctor */
	const char *denied; /* what to do when it is there but refuses the caller; NULL: as fix */
};
/* argv of a question that e knows: engine_ask(e, ENGINE_TAG, &argv, .of = "a", .with = "r/a"). */
#define engine_ask(e, question, argv, ...) \
	engine_ask_about(e, question, &(const struct engine_about){ __VA_ARGS__ }, argv)
void engine_ask_about(const struct engine *e, enum engine_question q, const struct engine_about *a,
		      struct strvec *argv);
/* What to do about an engine that said so. */
const char *engine_remedy(const struct engine *e, const char *said);

/* In order of auto, which never picks apptainer; as choices "|docker|…", as words ", docker, …". */
/* clang-format off */
#define ENGINES(X) X(docker) X(podman) X(apptainer) X(host)
#define ENGINE_CHOICE(name) "|" #name
#define ENGINE_CHOICES ENGINES(ENGINE_CHOICE)
#define ENGINE_WORD(name) ", " #name
#define ENGINE_WORDS ENGINES(ENGINE_WORD)
/* clang-format on */
extern const struct engine *const engines[]; /* NULL-terminated */
const struct engine *engine_find(const char *name);

#endif
