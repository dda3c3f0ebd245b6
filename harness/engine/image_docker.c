#include "engine_priv.h"

#include <string.h>

static void words(const struct image_auth *a, struct strvec *argv)
{
	engine_words(argv, "PROFRIG_DOCKER", "docker");
	/* The last one counts, also when the words have one. */
	if (a && a->dir)
		strvec_pushl(argv, "--config", a->dir, NULL);
}

/* What the caller's DOCKER_BUILDKIT says must not decide. */
static void builder_words(bool buildkit, struct strvec *argv)
{
	strvec_pushl(argv, "env", buildkit ? "DOCKER_BUILDKIT=1" : "DOCKER_BUILDKIT=0", NULL);
	engine_words(argv, "PROFRIG_DOCKER", "docker");
	strvec_push(argv, "build");
}

static void docker_build_probe(struct strvec *argv)
{
	builder_words(true, argv);
	strvec_push(argv, "--help");
}

static void docker_build(const struct image_build *b, struct strvec *argv)
{
	builder_words(b->secrets_work, argv);
	if (b->secrets_work)
		strvec_pushl(argv, "--progress", "plain", NULL);
	image_build_words(b, argv);
}

static void docker_login(const struct image_auth *a, const char *registry, const char *user,
			 struct strvec *argv)
{
	words(a, argv);
	strvec_pushl(argv, "login", "--username", user, "--password-stdin", "--", registry, NULL);
}

static void docker_tag(const char *from, const char *to, struct strvec *argv)
{
	words(NULL, argv);
	strvec_pushl(argv, "tag", "--", from, to, NULL);
}

static void docker_push(const struct image_auth *a, const char *image, const char *digest_file,
			struct strvec *argv)
{
	(void)digest_file;
	words(a, argv);
	strvec_pushl(argv, "push", "--", image, NULL);
}

static void docker_pull(const struct image_auth *a, const char *image, struct strvec *argv)
{
	words(a, argv);
	strvec_pushl(argv, "pull", "--", image, NULL);
}

static void docker_facts(const char *image, struct strvec *argv)
{
	words(NULL, argv);
	strvec_pushl(argv, "image", "inspect", "--format", IMAGE_FACTS, "--", image, NULL);
}

const struct image_engine image_docker = {
	.name = "docker",
	.build_probe = docker_build_probe,
	.build = docker_build,
	.login = docker_login,
	.tag = docker_tag,
	.push = docker_push,
	.pull = docker_pull,
	.facts = docker_facts,
};
