/* What must hold before a run: which engine, and what is missing. */
#include "run_rig.h"

#include <pthread.h>

/* --- which engine --- */

RUN_TEST(test_pick_engine)
{
	CLEANUP(xfreep) char *notice = NULL;
	struct err err = ERR_INIT;
	const struct engine *e;

	setenv("PROFRIG_DOCKER", "/no/such/docker", 1);
	setenv("PROFRIG_PODMAN", "false", 1);
	e = run_pick_engine("auto", NULL, &notice, &err);
	assert_string_equal(e->name, "host");
	assert_null(notice);
	e = run_pick_engine("auto", "img:1", &notice, &err);
	assert_string_equal(e->name, "host");
	assert_has(notice, "/no/such/docker", "img:1");
	free(notice);
	setenv("PROFRIG_PODMAN", "true", 1);
	e = run_pick_engine(NULL, "img:1", &notice, &err);
	assert_string_equal(e->name, "podman");
	assert_null(notice);
	e = run_pick_engine("docker", "img:1", &notice, &err);
	assert_string_equal(e->name, "docker");
	assert_null(run_pick_engine("dockr", "img:1", &notice, &err));
	assert_has(err.msg, "'dockr'");
	assert_int_equal(err.code, ENOENT);
	unsetenv("PROFRIG_DOCKER");
	unsetenv("PROFRIG_PODMAN");
}

/* --- preflight --- */

static void need(struct rig *g, const char *tool, const char *what)
{
	VEC_PUSH(&g->plan.needs, ((struct plan_need){ xstrdup(tool), xstrdup(what) }));
}

RUN_TEST(test_preflight)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct plan_step *s = add_step(g, STEP_WORKLOAD, "workload", "true");
	struct err err = ERR_INIT;
	int n;

	need(g, "a", "sh");
	need(g, "a", "no-such-program");
	need(g, "b", "libno-such.so.7");
	put_env(s, "LD_PRELOAD", "/no/such/libpre.so", false);
	add_sampler(g, "no-such-source");
	if (access("/dev/kfd", F_OK) < 0 && access("/dev/nvidiactl", F_OK) < 0)
		g->plan.spec.gpus = xstrdup("all");
	n = run_preflight(&g->plan, &g->opts, &missing, &err);
	assert_int_equal(n, missing.nr);
	assert_int_equal(missing.nr, g->plan.spec.gpus ? 5 : 4);
	CLEANUP(xfreep) char *all = strvec_shell(&missing);
	assert_has(all, "no-such-program", "libno-such.so.7", "libpre.so", "no-such-source");
	/* Nothing was made. */
	assert_false(fs_exists(g->runs));
}

RUN_TEST(test_preflight_content)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;

	add_step(g, STEP_WORKLOAD, "workload", "true");
	need(g, "a", "sh");
	add_sampler(g, "procfs");
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, NULL), 0);
	assert_int_equal(missing.nr, 0);
}

/*
 * An engine that is a shell script: it writes down what it is asked, knows whether its image is
 * there, and runs the agent without a container. That is all that preflight sees of a real one.
 */
static const char fake_script[] =
	"#!/bin/sh\n"
	"d=$(dirname \"$0\")\n"
	"echo \"$*\" >>$d/log\n"
	"case $1 in\n"
	"version) echo 1.2.3 ;;\n"
	"image) test -e $d/image && echo sha256:abc ;;\n"
	"pull) if test -e $d/slow; then touch $d/pulling; exec sleep 900; fi\n"
	"	test -e $d/pullable && touch $d/image && exit 0\n"
	"	echo 'access denied' >&2; exit 1 ;;\n"
	"run) test ! -e $d/broken || { echo 'no such runtime' >&2; exit 125; }\n"
	"	ls $XDG_RUNTIME_DIR/profrig >$d/registered\n"
	"	while [ $# -gt 2 ]; do shift; done; exec $AGENT \"$@\" ;;\n"
	"esac\n";

static char *in_top(const struct rig *g, const char *name)
{
	return fs_join(g->top, name);
}

static void fake_touch(const struct rig *g, const char *name)
{
	assert_int_equal(fs_write_atomic(kept(in_top(g, name)), "", 0, NULL), 0);
}

static void fake_engine(struct rig *g)
{
	CLEANUP(xfreep) char *path = in_top(g, "fakedocker");

	assert_int_equal(fs_write_atomic(path, fake_script, sizeof(fake_script) - 1, NULL), 0);
	assert_int_equal(chmod(path, 0755), 0);
	setenv("PROFRIG_DOCKER", path, 1);
	setenv("AGENT", in_dir(g->plan.spec.lib_dir, "profrig-init"), 1);
	g->plan.engine = engine_find("docker");
	g->plan.spec.image = xstrdup("img:1");
	add_step(g, STEP_WORKLOAD, "workload", "true");
}

static char *fake_log(const struct rig *g)
{
	char *data = NULL;

	assert_int_equal(fs_read(kept(in_top(g, "log")), 1 << 20, &data, NULL, NULL), 0);
	return data;
}

RUN_TEST(test_images)
{
	static const struct {
		const char *pull; /* policy */
		bool image, pullable, dry, broken, dockerfile;
		const char *line; /* NULL: nothing is missing */
		bool pulls, runs, note;
	} cases[] = {
		{ .image = true, .runs = true },
		{ .pullable = true, .pulls = true, .runs = true },
		{ .line = "image 'img:1' cannot be pulled (access denied)", .pulls = true },
		ROW(.pull = "never", .pullable = true,
		    .line = "image 'img:1' is not there: docker pull img:1"),
		{ .pull = "never", .image = true, .runs = true },
		{ .pull = "always", .image = true, .pullable = true, .pulls = true, .runs = true },
		/* The one that is here will do, and is said to be it. */
		{ .pull = "always", .image = true, .pulls = true, .runs = true, .note = true },
		{ .pullable = true, .dry = true, .line = "image 'img:1' is not there" },
		{ .image = true, .dry = true },
		ROW(.pullable = true, .dockerfile = true,
		    .line = "image 'img:1' is not there: 'profrig run --build' builds it first"),
		ROW(.image = true, .broken = true,
		    .line = "does not start (docker ended with status 125: no such runtime)",
		    .runs = true),
	};

	fake_engine(g);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static const char *const files[] = { "log", "image", "pullable", "broken" };
		CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT, notes = STRVEC_INIT;
		int n;

		g->opts.notes = &notes;
		for (size_t k = 0; k < ARRAY_LEN(files); k++) {
			unlink(kept(in_top(g, files[k])));
		}
		if (cases[i].image)
			fake_touch(g, "image");
		if (cases[i].pullable)
			fake_touch(g, "pullable");
		if (cases[i].broken)
			fake_touch(g, "broken");
		free(g->plan.spec.pull);
		g->plan.spec.pull = cases[i].pull ? xstrdup(cases[i].pull) : NULL;
		free(g->conf.dockerfile);
		g->conf.dockerfile = cases[i].dockerfile ? xstrdup("/m/Dockerfile") : NULL;
		g->opts.dry = cases[i].dry;
		n = run_preflight(&g->plan, &g->opts, &missing, NULL);
		CLEANUP(xfreep) char *log = fake_log(g);
		assert_int_equal(n, cases[i].line ? 1 : 0);
		if (cases[i].line && !strstr(missing.v[0], cases[i].line))
			fail_msg("case %zu: %s", i, missing.v[0]);
		assert_int_equal(strstr(log, "\npull -- img:1") != NULL, cases[i].pulls);
		assert_int_equal(strstr(log, "\nrun --rm") != NULL, cases[i].runs);
		assert_int_equal(notes.nr, cases[i].note);
		if (cases[i].note)
			assert_string_equal(
				notes.v[0],
				"image 'img:1' could not be pulled (access denied): the "
				"one that is here is used");
		g->opts.notes = NULL;
	}
	unsetenv("PROFRIG_DOCKER");
}

/* Asked in a container of another name, without the run directory, which does not exist. */
RUN_TEST(test_probe_container)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	CLEANUP(xfreep) char *log = NULL, *name = NULL, *registered = NULL;

	fake_engine(g);
	fake_touch(g, "image");
	need(g, "a", "no-such-program");
	need(g, "a", "sh");
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, NULL), 1);
	assert_string_equal(missing.v[0],
			    "tool 'a' needs 'no-such-program', which is not there in image "
			    "'img:1': use an image that has it, or leave the tool out");
	log = fake_log(g);
	name = xasprintf("--name profrig-%s-probe ", g->plan.run_id);
	assert_has(log, name);
	assert_lacks(log, g->plan.run_dir);
	/* While it was there, one could have cleaned up after us. */
	registered = test_get(g->top, "registered");
	assert_has(registered, g->plan.run_id);
	assert_cleared_away(g);
	unsetenv("PROFRIG_DOCKER");
}

RUN_TEST(test_no_agent)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;

	add_step(g, STEP_WORKLOAD, "workload", "true");
	need(g, "a", "sh");
	free(g->plan.spec.lib_dir);
	g->plan.spec.lib_dir = xstrdup("/no/such/dir");
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, NULL), 1);
	assert_has(missing.v[0], "profrig-init is neither", "/no/such/dir");
}

RUN_TEST(test_missing_mount)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;

	fake_engine(g);
	fake_touch(g, "image");
	VEC_PUSH(&g->plan.spec.mounts,
		 ((struct engine_mount){ xstrdup("/no/such/data"), xstrdup("/data"), true }));
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, NULL), 1);
	assert_has(missing.v[0], "mount '/no/such/data' does not exist");
	assert_lacks(kept(fake_log(g)), "\nrun ");
	unsetenv("PROFRIG_DOCKER");
}

static AS_HANDLER void *interrupt_pull(void *arg)
{
	struct rig *g = arg;

	wait_for_file(kept(in_top(g, "pulling")));
	g->interrupt = SIGINT;
	return NULL;
}

RUN_TEST(test_interrupted_pull)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct err err = ERR_INIT;
	int64_t t0 = clock_monotonic_ns();
	pthread_t th;

	fake_engine(g);
	fake_touch(g, "slow");
	assert_int_equal(pthread_create(&th, NULL, interrupt_pull, g), 0);
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, &err), -EINTR);
	pthread_join(th, NULL);
	assert_true(clock_monotonic_ns() - t0 < 300 * NS_PER_S); /* it would take 900 s */
	unsetenv("PROFRIG_DOCKER");
}

RUN_TEST(test_engine_silent)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;

	fake_engine(g);
	setenv("PROFRIG_DOCKER", "/no/such/docker", 1);
	assert_int_equal(run_preflight(&g->plan, &g->opts, &missing, NULL), 1);
	assert_has(missing.v[0], "engine 'docker' does not answer", engine_find("docker")->fix);
	unsetenv("PROFRIG_DOCKER");
}
