#include "engine_priv.h"

#include <string.h>

static void words(struct strvec *argv)
{
	engine_words(argv, "PROFRIG_DOCKER", "docker");
}

static void docker_gpus(const struct engine_spec *s, struct strvec *argv)
{
	if (!engine_is_nvidia(s)) {
		engine_amd_devices(s, argv);
		return;
	}
	strvec_push(argv, "--gpus");
	/* The value is CSV itself, so a list of devices keeps its quotes. */
	if (!strcmp(s->gpus, "all"))
		strvec_push(argv, "all");
	else
		strvec_pushf(argv, "\"device=%s\"", s->gpus);
}

static int docker_start(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	words(argv);
	return engine_container_start(s, docker_gpus, argv, err);
}

static void docker_probe(struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "version", "--format", "{{.Server.Version}}", NULL);
}

static void docker_image(const char *image, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "image", "inspect", "--format", "{{.Id}}", "--", image, NULL);
}

static void docker_pull(const char *image, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "pull", "--", image, NULL);
}

static void docker_remove(const char *container, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "rm", "--force", "--volumes", "--", container, NULL);
}

static void docker_list(struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "ps", "--all", "--no-trunc", "--filter", "label=profrig.run", "--format",
		     "{{.Names}} {{.Label \"profrig.run\"}}", NULL);
}

static void docker_mounts(const char *container, struct strvec *argv)
{
	words(argv);
	strvec_pushl(argv, "container", "inspect", "--format",
		     "{{.State.Running}}\n{{range .Mounts}}{{println .Source}}{{end}}", "--",
		     container, NULL);
}

const struct engine engine_docker = {
	.name = "docker",
	.about = "Docker Engine, through its command line",
	.container = true,
	.start = docker_start,
	.probe = docker_probe,
	.image = docker_image,
	.pull = docker_pull,
	.remove = docker_remove,
	.list = docker_list,
	.mounts = docker_mounts,
	.fix = "apt-get install docker.io && systemctl start docker",
	.denied = "usermod -aG docker YOU, as root, and log in again",
};
