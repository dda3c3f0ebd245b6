#include "engine_priv.h"

#include <string.h>

static void docker_gpus(const struct engine_spec *s, struct strvec *argv)
{
	if (!engine_is_nvidia(s)) {
		engine_amd_devices(s, argv);
		return;
	}
	strvec_push(argv, "--gpus");
	/* The value is CSV, so a list of devices keeps its quotes. */
	if (!strcmp(s->gpus, "all"))
		strvec_push(argv, "all");
	else
		strvec_pushf(argv, "\"device=%s\"", s->gpus);
}

static int docker_start(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	engine_words(&engine_docker, argv);
	return engine_container_start(s, docker_gpus, argv, err);
}

/* The last --config counts, also when PROFRIG_DOCKER holds one. */
static void docker_auth(const struct image_auth *a, struct strvec *argv)
{
	if (a->dir)
		strvec_pushl(argv, "--config", a->dir, NULL);
}

/* The caller's DOCKER_BUILDKIT must not decide. */
static void docker_build(const struct image_build *b, struct strvec *argv)
{
	bool buildkit = !b || b->secrets_work;

	strvec_pushl(argv, "env", buildkit ? "DOCKER_BUILDKIT=1" : "DOCKER_BUILDKIT=0", NULL);
	engine_words(&engine_docker, argv);
	strvec_push(argv, "build");
	if (b && b->secrets_work)
		strvec_pushl(argv, "--progress", "plain", NULL);
	image_build_words(b, argv);
}

const struct engine engine_docker = {
	.name = "docker",
	.about = "Docker Engine, through its command line",
	.variable = "PROFRIG_DOCKER",
	.container = true,
	.start = docker_start,
	.words = {
		[ENGINE_PROBE] = WORDS("version", "--format", "{{.Server.Version}}"),
		[ENGINE_IMAGE] = WORDS("image", "inspect", "--format", "{{.Id}}", "--", OF),
		[ENGINE_PULL] = WORDS(AUTH, "pull", "--", OF),
		[ENGINE_REMOVE] = WORDS("rm", "--force", "--volumes", "--", OF),
		[ENGINE_LIST] = WORDS(OUR_CONTAINERS, "{{.Names}} {{.Label \"profrig.run\"}}"),
		[ENGINE_MOUNTS] =
			WORDS("container", "inspect", "--format", CONTAINER_MOUNTS, "--", OF),
		[ENGINE_LOGIN] =
			WORDS(AUTH, "login", "--username", WITH, "--password-stdin", "--", OF),
		[ENGINE_TAG] = WORDS("tag", "--", OF, WITH),
		[ENGINE_PUSH] = WORDS(AUTH, "push", "--", OF),
		[ENGINE_FACTS] = WORDS("image", "inspect", "--format", IMAGE_FACTS, "--", OF),
	},
	.auth = docker_auth,
	.build = docker_build,
	.fix = "apt-get install docker.io && systemctl start docker",
	.denied = "usermod -aG docker YOU, as root, and log in again",
};
