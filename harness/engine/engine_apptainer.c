/*
 * Apptainer: containers as processes of the caller, common on clusters.
 *
 * There is no daemon and no name: the container is the agent with its descendants, and ends with
 * it. Images are SIF files and folders ("./x.sif", "/images/x"), or addresses that apptainer
 * fetches ("docker://…"; a plain name is one of docker's). GPUs are given all or none (--rocm,
 * --nv), so variables select some of them; the agent sets the processors.
 */
#include "engine_priv.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

static void push_image(const char *image, struct strvec *argv)
{
	bool here = *image == '/' || !strncmp(image, "./", 2) || text_suffix(image, ".sif");

	if (here || strstr(image, "://"))
		strvec_push(argv, image);
	else
		strvec_pushf(argv, "docker://%s", image);
}

/* source:target[:ro]; apptainer has no quoting. */
static int add_bind(const struct engine_mount *m, struct strvec *argv, struct err *err)
{
	if (strpbrk(m->host, ":,") || strpbrk(m->container, ":,"))
		return err_set(err, EINVAL,
			       "mount '%s' → '%s': apptainer takes no ':' or ',' in a path",
			       m->host, m->container);
	strvec_push(argv, "--bind");
	strvec_pushf(argv, "%s:%s%s", m->host, m->container, m->read_only ? ":ro" : "");
	return 0;
}

/* Settings that apptainer does not support are refused and not left out. */
static int apptainer_check(const struct engine_spec *s, struct err *err)
{
	const char *what = s->user ? "container.user" : s->shm_size ? "container.shm_size" : NULL;
	int r = engine_check(s, err);

	if (r < 0)
		return r;
	if (what)
		return err_set(err, EINVAL, "%s: apptainer has no such thing: leave it out", what);
	return 0;
}

static void add_privileges(const struct engine_spec *s, struct strvec *argv)
{
	for (size_t i = 0; i < s->caps.nr; i++) {
		strvec_push(argv, "--add-caps");
		strvec_pushf(argv, "CAP_%s", s->caps.v[i]);
	}
	for (size_t i = 0; i < s->security.nr; i++)
		strvec_pushl(argv, "--security", s->security.v[i], NULL);
}

static int apptainer_start(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	int r = apptainer_check(s, err);

	if (r < 0)
		return r;
	engine_words(&engine_apptainer, argv);
	/* Without the caller's environment, home and /tmp, and with process ids of its own. */
	strvec_pushl(argv, "--quiet", "exec", "--cleanenv", "--contain", "--no-home", "--pid",
		     NULL);
	r = engine_mounts(s, add_bind, argv, err);
	if (r < 0)
		return r;
	if (s->workdir)
		strvec_pushl(argv, "--pwd", s->workdir, NULL);
	if (s->network && strcmp(s->network, "host") != 0)
		strvec_pushl(argv, "--net", "--network", s->network, NULL);
	if (s->ipc && !strcmp(s->ipc, "private"))
		strvec_push(argv, "--ipc");
	add_privileges(s, argv);
	if (s->gpus)
		strvec_push(argv, engine_is_nvidia(s) ? "--nv" : "--rocm");
	strvec_pushv(argv, s->options.v);
	push_image(s->image, argv);
	strvec_pushl(argv, ENGINE_LIB_DIR "/profrig-init", "--run", s->run_id, NULL);
	return 0;
}

/* A file is inspected. An image to be fetched is fetched by this too, and kept in apptainer's
 * cache. */
static void apptainer_image(const char *image, struct strvec *argv)
{
	CLEANUP(strvec_release) struct strvec one = STRVEC_INIT;

	push_image(image, &one);
	if (strstr(one.v[0], "://"))
		strvec_pushl(argv, "--quiet", "exec", "--contain", one.v[0], "true", NULL);
	else
		strvec_pushl(argv, "inspect", one.v[0], NULL);
}

const struct engine engine_apptainer = {
	.name = "apptainer",
	.about = "Apptainer: containers as the caller's own processes",
	.variable = "PROFRIG_APPTAINER",
	.container = true,
	.never_auto = true,
	.all_devices = true,
	.start = apptainer_start,
	.words = { [ENGINE_PROBE] = WORDS("--version") },
	.ask_image = apptainer_image,
	.fix = "dnf install apptainer || apt-get install apptainer",
};
