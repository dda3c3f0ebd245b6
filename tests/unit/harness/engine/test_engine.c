#include "test.h"

#include "profrig/base/strbuf.h"
#include "profrig/config/runconf.h"
#include "profrig/engine/engine.h"

static struct engine_spec spec_of(const char *image)
{
	struct engine_spec s = {
		.run_id = xstrdup("R1"),
		.name = xstrdup("profrig-R1"),
		.image = image ? xstrdup(image) : NULL,
		.lib_dir = xstrdup("/opt/profrig/lib"),
		.run_dir = xstrdup("/runs/R1"),
		.caps = STRVEC_INIT,
		.options = STRVEC_INIT,
	};

	VEC_PUSH(&s.run_mounts,
		 ((struct engine_mount){ xstrdup("/runs/R1/.inside"), xstrdup("/runs/R1"), true }));
	return s;
}

static void start_is(const char *engine, const struct engine_spec *s, const char *want)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (engine_find(engine)->start(s, &argv, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(kept(strvec_shell(&argv)), want);
}

#define HEAD \
	" run --rm -i --init=false --pull=never --log-driver=none --name profrig-R1 --label " \
	"profrig.run=R1 -v /opt/profrig/lib:/.profrig:ro"
#define TAIL " --entrypoint /.profrig/profrig-init img:1 --run R1"
#define RUN_DIR " -v /runs/R1/.inside:/runs/R1:ro"

static bool knows(const struct engine *e, enum engine_question q)
{
	return e->words[q] || (e->ask_image && (q == ENGINE_IMAGE || q == ENGINE_PULL));
}

TEST(test_registry)
{
	static const char *const order[] = { "docker", "podman", "apptainer", "host" };
	size_t n = 0;

	for (; engines[n]; n++) {
		assert_true(n < ARRAY_LEN(order));
		assert_string_equal(engines[n]->name, order[n]);
		assert_ptr_equal(engine_find(order[n]), engines[n]);
		assert_true(strlen(engines[n]->about) > 10);
		/* A container engine can do all of it, the host none of it. */
		assert_int_equal(engines[n]->container, knows(engines[n], ENGINE_PROBE));
		assert_int_equal(engines[n]->container, knows(engines[n], ENGINE_IMAGE));
		assert_int_equal(engines[n]->container, knows(engines[n], ENGINE_PULL));
		/* What is left to be removed can be listed, and the other way round. */
		assert_int_equal(knows(engines[n], ENGINE_LIST), knows(engines[n], ENGINE_REMOVE));
	}
	assert_int_equal(n, ARRAY_LEN(order));
	assert_null(engine_find("dockers"));
	assert_null(engine_find(""));
}

/* What lies in the run directory is mounted behind it, and not where there is none. */
TEST(test_late_mounts)
{
	for (size_t i = 0; engines[i]; i++) {
		CLEANUP(strvec_release) struct strvec with = STRVEC_INIT, without = STRVEC_INIT;
		CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
		struct err err = ERR_INIT;

		if (!engines[i]->container)
			continue;
		VEC_PUSH(&s.late_mounts, ((struct engine_mount){ xstrdup("/runs/R1/data/d"),
								 xstrdup("/data/d"), true }));
		assert_int_equal(engines[i]->start(&s, &with, &err), 0);
		CLEANUP(xfreep) char *got = strvec_shell(&with);
		const char *run = strstr(got, "/runs/R1/.inside:/runs/R1:ro "),
			   *late = strstr(got, " /runs/R1/data/d:/data/d:ro ");

		assert_true(run && late && run < late);
		free(STEAL(s.run_dir));
		assert_int_equal(engines[i]->start(&s, &without, &err), 0);

		assert_lacks(kept(strvec_shell(&without)), "/data/d");
	}
}

/* What a configuration may ask for is what there is. */
TEST(test_choices)
{
	const struct schema_key *k = schema_table;
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;

	while (strcmp(k->path, "engine") != 0)
		k++;
	strbuf_addstr(&want, "auto");
	for (size_t i = 0; engines[i]; i++)
		strbuf_addf(&want, "|%s", engines[i]->name);
	assert_string_equal(k->choices, want.buf);
}

TEST(test_host)
{
	struct engine_spec s = spec_of(NULL);

	start_is("host", &s, "/opt/profrig/lib/profrig-init --run R1");
	engine_spec_release(&s);
	assert_null(s.run_id);
}

TEST(test_plain)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");

	start_is("docker", &s, "docker" HEAD RUN_DIR TAIL);
	start_is("podman", &s, "podman" HEAD RUN_DIR TAIL);
	/* A probe container has no run directory. */
	free(s.run_dir);
	s.run_dir = NULL;
	start_is("docker", &s, "docker" HEAD TAIL);
}

TEST(test_words_from_environment)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	setenv("PROFRIG_DOCKER", "sudo  docker -H unix:///run/x", 1);
	setenv("PROFRIG_PODMAN", " ", 1);
	start_is("docker", &s, "sudo docker -H unix:///run/x" HEAD RUN_DIR TAIL);
	start_is("podman", &s, "podman" HEAD RUN_DIR TAIL);
	engine_ask(engine_find("docker"), ENGINE_PROBE, &argv);
	assert_string_equal(argv.v[0], "sudo");
	assert_string_equal(argv.v[3], "unix:///run/x");
	unsetenv("PROFRIG_DOCKER");
	unsetenv("PROFRIG_PODMAN");
}

TEST(test_every_option)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");

	s.workdir = xstrdup("/work dir");
	s.user = xstrdup("1000:1000");
	s.network = xstrdup("none");
	s.ipc = xstrdup("host");
	s.shm_size = xstrdup("8g");
	strvec_pushl(&s.caps, "SYS_PTRACE", "PERFMON", NULL);
	strvec_pushl(&s.options, "--ulimit", "nofile=1024:1024", NULL);
	VEC_PUSH(&s.mounts, ((struct engine_mount){ xstrdup("/data"), xstrdup("/in"), true }));
	VEC_PUSH(&s.mounts,
		 ((struct engine_mount){ xstrdup("/home/m"), xstrdup("/home/m"), false }));
	s.cpus = xstrdup("0-3,7");
	s.security = (struct strvec)STRVEC_INIT;
	strvec_push(&s.security, "seccomp=unconfined");
	start_is("docker", &s,
		 "docker" HEAD " -v /data:/in:ro -v /home/m:/home/m" RUN_DIR
		 " --workdir '/work dir' --user 1000:1000 --network none --ipc host --shm-size 8g "
		 "--cap-add SYS_PTRACE --cap-add PERFMON --security-opt seccomp=unconfined "
		 "--cpuset-cpus 0-3,7"
		 " --ulimit nofile=1024:1024" TAIL);
}

#define APPTAINER "apptainer --quiet exec --cleanenv --contain --no-home --pid --bind "
#define A_BINDS "/opt/profrig/lib:/.profrig:ro --bind /runs/R1/.inside:/runs/R1:ro "
#define A_TAIL " /.profrig/profrig-init --run R1"

/* Containers that are processes: all is in one line, and nothing of the caller comes along. */
TEST(test_apptainer)
{
	static const struct {
		const char *image, *shown;
	} images[] = LIST({ "img:1", "docker://img:1" }, { "docker://img:1", "docker://img:1" },
			  { "oras://r/i:2", "oras://r/i:2" }, { "/images/x.sif", "/images/x.sif" },
			  { "./box", "./box" }, { "x.sif", "x.sif" });

	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		CLEANUP(engine_spec_release) struct engine_spec s = spec_of(images[i].image);

		start_is("apptainer", &s, textf(APPTAINER A_BINDS "%s" A_TAIL, images[i].shown));
	}
}

TEST(test_apptainer_options)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");

	s.workdir = xstrdup("/work dir");
	s.network = xstrdup("none");
	s.ipc = xstrdup("private");
	s.cpus = xstrdup("0-3"); /* the agent sees to it */
	s.gpus = xstrdup("0,2");
	s.gpu_vendor = "amd";
	strvec_push(&s.caps, "SYS_ADMIN");
	s.security = (struct strvec)STRVEC_INIT;
	strvec_push(&s.security, "seccomp:/x.json");
	strvec_pushl(&s.options, "--fakeroot", NULL);
	VEC_PUSH(&s.mounts, ((struct engine_mount){ xstrdup("/data"), xstrdup("/in"), true }));
	start_is("apptainer", &s,
		 APPTAINER
		 "/opt/profrig/lib:/.profrig:ro --bind /data:/in:ro --bind "
		 "/runs/R1/.inside:/runs/R1:ro --pwd '/work dir' --net --network none --ipc "
		 "--add-caps CAP_SYS_ADMIN --security seccomp:/x.json --rocm "
		 "--fakeroot docker://img:1" A_TAIL);
	s.gpu_vendor = "nvidia";
	free(s.network);
	s.network = xstrdup("host");
	start_is("apptainer", &s,
		 APPTAINER "/opt/profrig/lib:/.profrig:ro --bind /data:/in:ro --bind "
			   "/runs/R1/.inside:/runs/R1:ro --pwd '/work dir' --ipc "
			   "--add-caps CAP_SYS_ADMIN --security seccomp:/x.json --nv "
			   "--fakeroot docker://img:1" A_TAIL);
}

/* What it cannot do is refused. */
TEST(test_apptainer_refuses)
{
	static const char *const words[] = { "container.user", "container.shm_size",
					     "takes no ':' or ','", "no image",
					     "would be an option" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		CLEANUP(engine_spec_release)
		struct engine_spec s = spec_of(i == 3 ? NULL : i == 4 ? "-x" : "img:1");
		CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
		struct err err = ERR_INIT;

		if (i == 0)
			s.user = xstrdup("1000");
		if (i == 1)
			s.shm_size = xstrdup("8g");
		if (i == 2)
			VEC_PUSH(&s.mounts,
				 ((struct engine_mount){ xstrdup("/a:b"), xstrdup("/b"), false }));
		assert_int_equal(engine_find("apptainer")->start(&s, &argv, &err), -EINVAL);
		assert_has(err.msg, words[i]);
	}
}

TEST(test_apptainer_questions)
{
	const struct engine *a = engine_find("apptainer");
	CLEANUP(strvec_release)
	struct strvec probe = STRVEC_INIT, file = STRVEC_INIT, far = STRVEC_INIT;

	setenv("PROFRIG_APPTAINER", "singularity -d", 1);
	engine_ask(a, ENGINE_PROBE, &probe);
	engine_ask(a, ENGINE_IMAGE, &file, .of = "/x.sif");
	engine_ask(a, ENGINE_PULL, &far, .of = "img:1");
	unsetenv("PROFRIG_APPTAINER");
	CLEANUP(xfreep) char *r = strvec_shell(&far);
	assert_string_equal(kept(strvec_shell(&probe)), "singularity -d --version");
	assert_string_equal(kept(strvec_shell(&file)), "singularity -d inspect /x.sif");
	assert_string_equal(r, "singularity -d --quiet exec --contain docker://img:1 true");
}

/* A path is never cut at what an engine takes for a separator. */
TEST(test_mount_quoting)
{
	static const struct {
		const char *host, *inside, *want;
	} cases[] = {
		{ "/a:b", "/c", "--mount 'type=bind,\"source=/a:b\",\"target=/c\",readonly'" },
		{ "/a,b", "/c:d", "--mount 'type=bind,\"source=/a,b\",\"target=/c:d\",readonly'" },
		{ "/q\"q", "/c", "--mount 'type=bind,\"source=/q\"\"q\",\"target=/c\",readonly'" },
		{ "/a b", "/c", "-v '/a b:/c:ro'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;

		VEC_PUSH(&s.mounts, ((struct engine_mount){ xstrdup(cases[i].host),
							    xstrdup(cases[i].inside), true }));
		strbuf_addf(&want, "docker" HEAD " %s" RUN_DIR TAIL, cases[i].want);
		start_is("docker", &s, want.buf);
	}
}

static void gpus_are(const char *engine, const char *vendor, const char *gpus, const char *want)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	s.gpu_vendor = vendor;
	s.gpus = xstrdup(gpus);
	strvec_split(&words, strcmp(gpus, "all") ? gpus : "", ",");
	for (size_t i = 0; i < words.nr; i++)
		VEC_PUSH(&s.gpu_list, (int)strtol(words.v[i], NULL, 10));
	strbuf_addf(&line, "%s" HEAD RUN_DIR " %s" TAIL, engine, want);
	start_is(engine, &s, line.buf);
}

TEST(test_gpus)
{
	gpus_are("docker", "amd", "all", "--device /dev/kfd --device /dev/dri");
	gpus_are("docker", "amd", "0,2",
		 "--device /dev/kfd --device /dev/dri/renderD128 --device /dev/dri/renderD130");
	gpus_are("podman", "amd", "1", "--device /dev/kfd --device /dev/dri/renderD129");
	gpus_are("docker", "nvidia", "all", "--gpus all");
	gpus_are("docker", "nvidia", "0,2", "--gpus '\"device=0,2\"'");
	gpus_are("podman", "nvidia", "all", "--device nvidia.com/gpu=all");
	gpus_are("podman", "nvidia", "0,2", "--device nvidia.com/gpu=0 --device nvidia.com/gpu=2");
}

static void refused(void (*spoil)(struct engine_spec *s), const char *word)
{
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct err err = ERR_INIT;

	spoil(&s);
	assert_true(engine_find("docker")->start(&s, &argv, &err) < 0);
	assert_has(err.msg, word);
}

static void no_image(struct engine_spec *s)
{
	free(s->image);
	s->image = NULL;
}

static void option_as_image(struct engine_spec *s)
{
	free(s->image);
	s->image = xstrdup("--privileged");
}

static void bad_name(struct engine_spec *s)
{
	free(s->name);
	s->name = xstrdup("a b");
}

static void relative_mount(struct engine_spec *s)
{
	VEC_PUSH(&s->mounts, ((struct engine_mount){ xstrdup("data"), xstrdup("/data"), false }));
}

static void no_lib_dir(struct engine_spec *s)
{
	free(s->lib_dir);
	s->lib_dir = NULL;
}

TEST(test_refused)
{
	refused(no_image, "image");
	refused(option_as_image, "--privileged");
	refused(bad_name, "a b");
	refused(relative_mount, "absolute");
	refused(no_lib_dir, "profrig-init");
}

static void words_are(const struct engine *e, enum engine_question q, const char *of,
		      const char *want)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	engine_ask(e, q, &argv, .of = of);
	assert_string_equal(kept(strvec_shell(&argv)), want);
}

TEST(test_other_commands)
{
	const struct engine *d = engine_find("docker"), *p = engine_find("podman");
	CLEANUP(strvec_release) struct strvec dl = STRVEC_INIT, plist = STRVEC_INIT;

	words_are(d, ENGINE_IMAGE, "img:1", "docker image inspect --format '{{.Id}}' -- img:1");
	words_are(d, ENGINE_PULL, "img:1", "docker pull -- img:1");
	words_are(d, ENGINE_REMOVE, "c1", "docker rm --force --volumes -- c1");
	words_are(p, ENGINE_IMAGE, "img:1", "podman image inspect --format '{{.Id}}' -- img:1");
	words_are(p, ENGINE_PULL, "img:1", "podman pull -- img:1");
	words_are(p, ENGINE_REMOVE, "c1", "podman rm --force --time 0 --ignore --volumes -- c1");
	engine_ask(d, ENGINE_LIST, &dl);
	engine_ask(p, ENGINE_LIST, &plist);
	CLEANUP(xfreep) char *docker = strvec_shell(&dl);
	CLEANUP(xfreep) char *podman = strvec_shell(&plist);
	assert_string_equal(docker, "docker ps --all --no-trunc --filter label=profrig.run "
				    "--format '{{.Names}} {{.Label \"profrig.run\"}}'");
	assert_string_equal(podman, "podman ps --all --no-trunc --filter label=profrig.run "
				    "--format '{{.Names}} {{index .Labels \"profrig.run\"}}'");
	/* Limits that podman may not exceed, in front of options of the user's, which win. */
	CLEANUP(engine_spec_release) struct engine_spec s = spec_of("img:1");
	s.max_files = 20000;
	s.max_processes = 4096;
	strvec_push(&s.options, "--ulimit=nofile=9:9");
	start_is("podman", &s,
		 "podman run --rm -i --ulimit=nofile=20000:20000 --ulimit=nproc=4096:4096 "
		 "--init=false --pull=never --log-driver=none --name profrig-R1 --label "
		 "profrig.run=R1 -v /opt/profrig/lib:/.profrig:ro" RUN_DIR
		 " --ulimit=nofile=9:9" TAIL);
	start_is("docker", &s, "docker" HEAD RUN_DIR " --ulimit=nofile=9:9" TAIL);
	words_are(d, ENGINE_MOUNTS, "c1",
		  "docker container inspect --format '{{.State.Running}}\n{{range "
		  ".Mounts}}{{println .Source}}{{end}}' -- c1");
}

int main(void)
{
	unsetenv("PROFRIG_DOCKER");
	unsetenv("PROFRIG_PODMAN");
	return tests_run(NULL, NULL);
}
