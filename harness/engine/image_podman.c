#include "engine_priv.h"

#include <string.h>

static void words(const char *command, struct strvec *argv)
{
	engine_words(argv, "PROFRIG_PODMAN", "podman");
	strvec_push(argv, command);
}

static void auth_words(const struct image_auth *a, struct strvec *argv)
{
	if (a->dir) {
		strvec_push(argv, "--authfile");
		strvec_pushf(argv, "%s/auth.json", a->dir);
	}
	if (a->insecure)
		strvec_push(argv, "--tls-verify=false");
}

static void podman_build_probe(struct strvec *argv)
{
	words("build", argv);
	strvec_push(argv, "--help");
}

static void podman_build(const struct image_build *b, struct strvec *argv)
{
	words("build", argv);
	/* docker's format keeps HEALTHCHECK, SHELL and ONBUILD, which OCI's has no place for. */
	strvec_pushl(argv, "--format", "docker", NULL);
	image_build_words(b, argv);
}

static void podman_login(const struct image_auth *a, const char *registry, const char *user,
			 struct strvec *argv)
{
	words("login", argv);
	auth_words(a, argv);
	strvec_pushl(argv, "--username", user, "--password-stdin", "--", registry, NULL);
}

static void podman_tag(const char *from, const char *to, struct strvec *argv)
{
	words("tag", argv);
	strvec_pushl(argv, "--", from, to, NULL);
}

static void podman_push(const struct image_auth *a, const char *image, const char *digest_file,
			struct strvec *argv)
{
	words("push", argv);
	auth_words(a, argv);
	strvec_pushl(argv, "--digestfile", digest_file, NULL);
	strvec_pushl(argv, "--", image, NULL);
}

static void podman_pull(const struct image_auth *a, const char *image, struct strvec *argv)
{
	words("pull", argv);
	auth_words(a, argv);
	strvec_pushl(argv, "--", image, NULL);
}

static void podman_facts(const char *image, struct strvec *argv)
{
	words("image", argv);
	strvec_pushl(argv, "inspect", "--format", IMAGE_FACTS, "--", image, NULL);
}

const struct image_engine image_podman = {
	.name = "podman",
	.build_probe = podman_build_probe,
	.build = podman_build,
	.login = podman_login,
	.tag = podman_tag,
	.push = podman_push,
	.pull = podman_pull,
	.facts = podman_facts,
};
