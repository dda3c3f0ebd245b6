/* engine_priv: what engines share; the command lines of docker and podman are one family. */
#ifndef ENGINE_PRIV_H
#define ENGINE_PRIV_H

#include "profrig/engine/engine.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* In the words of a question: what struct engine_about has. */
#define OF "\1"
#define WITH "\2"
#define AUTH "\3"
/* Id and names by digest, of ENGINE_FACTS; what containers are found by; the mounts of one. */
#define IMAGE_FACTS "{{.Id}}{{range .RepoDigests}} {{.}}{{end}}"
#define OUR_CONTAINERS "ps", "--all", "--no-trunc", "--filter", "label=profrig.run", "--format"
#define CONTAINER_MOUNTS "{{.State.Running}}\n{{range .Mounts}}{{println .Source}}{{end}}"

/* The words of the engine's variable, else its name. */
void engine_words(const struct engine *e, struct strvec *argv);
/* What no container can be started with; 0 or -errno. */
int engine_check(const struct engine_spec *s, struct err *err);
/* add, for the agent's folder and every mount, those of the run last: they lie over others. */
typedef int engine_mount_fn(const struct engine_mount *m, struct strvec *argv, struct err *err);
int engine_mounts(const struct engine_spec *s, engine_mount_fn *add, struct strvec *argv,
		  struct err *err);
/* "run … IMAGE --run ID" behind the engine's words. gpus adds what this engine calls GPUs. */
int engine_container_start(const struct engine_spec *s,
			   void (*gpus)(const struct engine_spec *s, struct strvec *argv),
			   struct strvec *argv, struct err *err);
/* One --device for each of gpu_nodes, and their groups. */
void engine_node_devices(const struct engine_spec *s, struct strvec *argv);
void engine_amd_devices(const struct engine_spec *s, struct strvec *argv);
bool engine_is_nvidia(const struct engine_spec *s);

/* "--build-arg … -f … -t … -- CONTEXT": what both call the same; b NULL: "--help". */
void image_build_words(const struct image_build *b, struct strvec *argv);

#define ENGINE_DECLARE(name) extern const struct engine engine_##name;
ENGINES(ENGINE_DECLARE)

#endif
