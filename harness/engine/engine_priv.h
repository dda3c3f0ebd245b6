/* engine_priv: what docker and podman share: their command lines are one family. */
#ifndef ENGINE_PRIV_H
#define ENGINE_PRIV_H

#include "profrig/engine/engine.h"
#include "profrig/engine/engine_image.h"

/* The words of an environment variable, else the program's own name. */
void engine_words(struct strvec *argv, const char *variable, const char *program);
/* "run … IMAGE --run ID" behind the engine's words. gpus adds this engine's options for GPUs. */
int engine_container_start(const struct engine_spec *s,
			   void (*gpus)(const struct engine_spec *s, struct strvec *argv),
			   struct strvec *argv, struct err *err);
/* One --device for each of gpu_nodes, and their groups. */
void engine_node_devices(const struct engine_spec *s, struct strvec *argv);
void engine_amd_devices(const struct engine_spec *s, struct strvec *argv);
bool engine_is_nvidia(const struct engine_spec *s);

/* Id and names by digest, for image_engine.facts. */
#define IMAGE_FACTS "{{.Id}}{{range .RepoDigests}} {{.}}{{end}}"
/* "--build-arg … -f … -t … -- CONTEXT": what both call the same. */
void image_build_words(const struct image_build *b, struct strvec *argv);

/* What image_engines.c and engines.c list. */
/* clang-format off */
#define IMAGE_ENGINES(X) \
	X(docker) X(podman)
#define IMAGE_DECLARE(name) extern const struct image_engine image_##name;
IMAGE_ENGINES(IMAGE_DECLARE)

#define ENGINES(X) \
	X(docker) X(podman) X(apptainer) X(host)
#define ENGINE_DECLARE(name) extern const struct engine engine_##name;
ENGINES(ENGINE_DECLARE)
/* clang-format on */

#endif
