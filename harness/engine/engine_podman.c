#include "engine_priv.h"

#include <string.h>

static void podman_gpus(const struct engine_spec *s, struct strvec *argv)
{
	if (!engine_is_nvidia(s)) {
		engine_amd_devices(s, argv);
		return;
	}
	/* Without a CDI file only the devices are given; the driver's libraries must then be in the
	 * image. */
	if (s->gpu_nodes.nr) {
		engine_node_devices(s, argv);
		return;
	}
	/* podman knows NVIDIA's devices by CDI names; its --gpus exists since version 5 only. */
	if (!strcmp(s->gpus, "all"))
		strvec_pushl(argv, "--device", "nvidia.com/gpu=all", NULL);
	else
		for (size_t i = 0; i < s->gpu_list.nr; i++) {
			strvec_push(argv, "--device");
			strvec_pushf(argv, "nvidia.com/gpu=%d", s->gpu_list.v[i]);
		}
}

static int podman_start(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	CLEANUP(strvec_release) struct strvec start = STRVEC_INIT;
	size_t head = s->keep ? 2 : 3; /* run [--rm] -i */
	int r = engine_container_start(s, podman_gpus, &start, err);

	if (r < 0)
		return r;
	engine_words(&engine_podman, argv);
	/* Placed first, so that the user's own options win. */
	for (size_t i = 0; i < head; i++)
		strvec_push(argv, start.v[i]);
	if (s->max_files)
		strvec_pushf(argv, "--ulimit=nofile=%llu:%llu", (unsigned long long)s->max_files,
			     (unsigned long long)s->max_files);
	if (s->max_processes)
		strvec_pushf(argv, "--ulimit=nproc=%llu:%llu", (unsigned long long)s->max_processes,
			     (unsigned long long)s->max_processes);
	strvec_pushv(argv, start.v + head);
	return 0;
}

static void podman_auth(const struct image_auth *a, struct strvec *argv)
{
	if (a->dir) {
		strvec_push(argv, "--authfile");
		strvec_pushf(argv, "%s/auth.json", a->dir);
	}
	if (a->insecure)
		strvec_push(argv, "--tls-verify=false");
}

static void podman_build(const struct image_build *b, struct strvec *argv)
{
	engine_words(&engine_podman, argv);
	strvec_push(argv, "build");
	/* The docker format keeps HEALTHCHECK, SHELL and ONBUILD, which the OCI format lacks. */
	if (b)
		strvec_pushl(argv, "--format", "docker", NULL);
	image_build_words(b, argv);
}

const struct engine engine_podman = {
	.name = "podman",
	.about = "Podman: containers without a daemon",
	.variable = "PROFRIG_PODMAN",
	.container = true,
	.start = podman_start,
	.words = {
		[ENGINE_PROBE] = WORDS("version", "--format", "{{.Client.Version}}"),
		[ENGINE_IMAGE] = WORDS("image", "inspect", "--format", "{{.Id}}", "--", OF),
		[ENGINE_PULL] = WORDS("pull", AUTH, "--", OF),
		/* Without --time 0 podman waits ten seconds for the container to end. */
		[ENGINE_REMOVE] =
			WORDS("rm", "--force", "--time", "0", "--ignore", "--volumes", "--", OF),
		[ENGINE_LIST] =
			WORDS(OUR_CONTAINERS, "{{.Names}} {{index .Labels \"profrig.run\"}}"),
		[ENGINE_MOUNTS] =
			WORDS("container", "inspect", "--format", CONTAINER_MOUNTS, "--", OF),
		[ENGINE_LOGIN] =
			WORDS("login", AUTH, "--username", WITH, "--password-stdin", "--", OF),
		[ENGINE_TAG] = WORDS("tag", "--", OF, WITH),
		[ENGINE_PUSH] = WORDS("push", AUTH, "--digestfile", WITH, "--", OF),
		[ENGINE_FACTS] = WORDS("image", "inspect", "--format", IMAGE_FACTS, "--", OF),
	},
	.auth = podman_auth,
	.build = podman_build,
	.fix = "apt-get install podman",
};
