#include "engine_priv.h"

#include <string.h>

static void words(struct strvec *argv)
{
	engine_words(argv, "PROFRIG_PODMAN", "podman");
}

static void podman_gpus(const struct engine_spec *s, struct strvec *argv)
{
	if (!engine_is_nvidia(s)) {
		engine_amd_devices(s, argv);
		return;
	}
	/* Without a CDI file the bare devices; the driver's libraries are then the image's. */
	if (s->gpu_nodes.nr) {
		engine_node_devices(s, argv);
		return;
	}
	/* podman knows NVIDIA's devices by their CDI names; --gpus came with version 5 only. */
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
	words(argv);
	/* Near the front, so that the user's own options win. */
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

static void podman_probe(struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "version", "--format", "{{.Client.Version}}", NULL);
}

static void podman_image(const char *image, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "image", "inspect", "--format", "{{.Id}}", "--", image, NULL);
}

static void podman_pull(const char *image, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "pull", "--", image, NULL);
}

static void podman_remove(const char *container, struct strvec *argv)
{
	words(argv);
	/* Without --time 0 it waits ten seconds for a polite end. */
	strvec_pushl(argv, "rm", "--force", "--time", "0", "--ignore", "--volumes", "--", container,
		     NULL);
}

static void podman_list(struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "ps", "--all", "--no-trunc", "--filter", "label=profrig.run", "--format",
		     "{{.Names}} {{index .Labels \"profrig.run\"}}", NULL);
}

static void podman_mounts(const char *container, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "container", "inspect", "--format",
		     "{{.State.Running}}\n{{range .Mounts}}{{println .Source}}{{end}}", "--",
		     container, NULL);
}

const struct engine engine_podman = {
	.name = "podman",
	.about = "Podman: containers without a daemon",
	.container = true,
	.start = podman_start,
	.probe = podman_probe,
	.image = podman_image,
	.pull = podman_pull,
	.remove = podman_remove,
	.list = podman_list,
	.mounts = podman_mounts,
	.fix = "apt-get install podman",
};
