/* The exact words that builders, registries and image stores are asked with. */
#include "test.h"

#include "profrig/engine/engine.h"

static void is(struct strvec *argv, const char *want)
{
	assert_string_equal(kept(strvec_shell(argv)), want);
	strvec_clear(argv);
}

static struct image_build full(struct strvec lists[4])
{
	static const char *const words[] = { "A=1 2", "B=", "profrig.model=m",
					     "id=TOK,src=/run/u/p/TOK", "--shm-size=1g" };

	for (size_t i = 0; i < 4; i++)
		lists[i] = (struct strvec)STRVEC_INIT;
	strvec_push(&lists[0], words[0]);
	strvec_push(&lists[0], words[1]);
	strvec_push(&lists[1], words[2]);
	strvec_push(&lists[2], words[3]);
	strvec_push(&lists[3], words[4]);
	return (struct image_build){ .image = "ci-m_x",
				     .dockerfile = "/m/docker/x.Dockerfile",
				     .context = "/m/docker",
				     .target = "run",
				     .network = "none",
				     .args = &lists[0],
				     .labels = &lists[1],
				     .secrets = &lists[2],
				     .options = &lists[3],
				     .no_cache = true,
				     .secrets_work = true };
}

#define FULL \
	" --build-arg 'A=1 2' --build-arg B= --label profrig.model=m --secret " \
	"id=TOK,src=/run/u/p/TOK --target run --network none --no-cache --shm-size=1g -f " \
	"/m/docker/x.Dockerfile -t ci-m_x -- /m/docker"

TEST(test_docker)
{
	const struct engine *e = engine_find("docker");
	struct image_auth own = { 0 }, private = { .dir = "/p" };
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, none = STRVEC_INIT;
	struct strvec lists[4];
	struct image_build b = full(lists);
	struct image_build plain = { "i",
				     "/d/Dockerfile",
				     "/d",
				     .args = &none,
				     .labels = &none,
				     .secrets = &none,
				     .options = &none };

	e->build(&b, &argv);
	is(&argv, "env DOCKER_BUILDKIT=1 docker build --progress plain" FULL);
	e->build(&plain, &argv);
	is(&argv, "env DOCKER_BUILDKIT=0 docker build -f /d/Dockerfile -t i -- /d");
	e->build(NULL, &argv);
	is(&argv, "env DOCKER_BUILDKIT=1 docker build --help");
	engine_ask(e, ENGINE_LOGIN, &argv, .of = "r:5000", .with = "me", .auth = &private);
	is(&argv, "docker --config /p login --username me --password-stdin -- r:5000");
	engine_ask(e, ENGINE_TAG, &argv, .of = "a", .with = "r:5000/a");
	is(&argv, "docker tag -- a r:5000/a");
	engine_ask(e, ENGINE_PUSH, &argv, .of = "r:5000/a", .with = "/d", .auth = &private);
	is(&argv, "docker --config /p push -- r:5000/a");
	engine_ask(e, ENGINE_PULL, &argv, .of = "r:5000/a", .auth = &own);
	is(&argv, "docker pull -- r:5000/a");
	engine_ask(e, ENGINE_FACTS, &argv, .of = "a");
	is(&argv,
	   "docker image inspect --format '{{.Id}}{{range .RepoDigests}} {{.}}{{end}}' -- a");
	setenv("PROFRIG_DOCKER", "docker --config /mine -H unix:///s", 1);
	engine_ask(e, ENGINE_PUSH, &argv, .of = "a", .with = "/d", .auth = &private);
	is(&argv, "docker --config /mine -H unix:///s --config /p push -- a");
	unsetenv("PROFRIG_DOCKER");
	for (size_t i = 0; i < 4; i++)
		strvec_release(&lists[i]);
}

TEST(test_podman)
{
	const struct engine *e = engine_find("podman");
	struct image_auth own = { 0 }, private = { .dir = "/p", .insecure = true };
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct strvec lists[4];
	struct image_build b = full(lists);

	e->build(&b, &argv);
	is(&argv, "podman build --format docker" FULL);
	e->build(NULL, &argv);
	is(&argv, "podman build --help");
	engine_ask(e, ENGINE_LOGIN, &argv, .of = "localhost:5000", .with = "me", .auth = &private);
	is(&argv, "podman login --authfile /p/auth.json --tls-verify=false --username me "
		  "--password-stdin -- localhost:5000");
	engine_ask(e, ENGINE_TAG, &argv, .of = "a", .with = "r/a");
	is(&argv, "podman tag -- a r/a");
	engine_ask(e, ENGINE_PUSH, &argv, .of = "localhost:5000/a", .with = "/d", .auth = &private);
	is(&argv, "podman push --authfile /p/auth.json --tls-verify=false --digestfile /d -- "
		  "localhost:5000/a");
	engine_ask(e, ENGINE_PULL, &argv, .of = "r/a", .auth = &own);
	is(&argv, "podman pull -- r/a");
	engine_ask(e, ENGINE_FACTS, &argv, .of = "a");
	is(&argv,
	   "podman image inspect --format '{{.Id}}{{range .RepoDigests}} {{.}}{{end}}' -- a");
	for (size_t i = 0; i < 4; i++)
		strvec_release(&lists[i]);
}

TEST(test_registry)
{
	assert_null(engine_find("host")->build);
	assert_true(image_registry_is_local("localhost:5000"));
	assert_true(image_registry_is_local("localhost"));
	assert_true(image_registry_is_local("127.0.0.1:5000/x"));
	assert_true(image_registry_is_local("[::1]:5000"));
	assert_false(image_registry_is_local("localhost.example.org"));
	assert_false(image_registry_is_local("docker.io"));
}

int main(void)
{
	unsetenv("PROFRIG_DOCKER");
	unsetenv("PROFRIG_PODMAN");
	return tests_run(NULL, NULL);
}
