#include "engine_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/strbuf.h"

bool engine_is_nvidia(const struct engine_spec *s)
{
	if (s->gpu_vendor)
		return !strcmp(s->gpu_vendor, "nvidia");
	return access("/dev/kfd", F_OK) < 0 && access("/dev/nvidiactl", F_OK) == 0;
}

void engine_node_devices(const struct engine_spec *s, struct strvec *argv)
{
	for (size_t i = 0; i < s->gpu_nodes.nr; i++)
		strvec_pushl(argv, "--device", s->gpu_nodes.v[i], NULL);
	for (size_t i = 0; i < s->gpu_groups.nr; i++)
		strvec_pushl(argv, "--group-add", s->gpu_groups.v[i], NULL);
}

void engine_amd_devices(const struct engine_spec *s, struct strvec *argv)
{
	if (s->gpu_nodes.nr) {
		engine_node_devices(s, argv);
		return;
	}
	strvec_pushl(argv, "--device", "/dev/kfd", NULL);
	if (!strcmp(s->gpus, "all"))
		strvec_pushl(argv, "--device", "/dev/dri", NULL);
	/* Linux numbers render nodes from 128. */
	else
		for (size_t i = 0; i < s->gpu_list.nr; i++) {
			strvec_push(argv, "--device");
			strvec_pushf(argv, "/dev/dri/renderD%d", 128 + s->gpu_list.v[i]);
		}
}

static void csv_quoted(struct strbuf *sb, const char *key, const char *value)
{
	strbuf_addf(sb, "\"%s=", key);
	for (; *value; value++) {
		if (*value == '"')
			strbuf_addch(sb, '"');
		strbuf_addch(sb, *value);
	}
	strbuf_addch(sb, '"');
}

static int add_mount(const struct engine_mount *mount, struct strvec *argv, struct err *err)
{
	const char *host = mount->host, *inside = mount->container;
	CLEANUP(strbuf_release) struct strbuf m = STRBUF_INIT;

	(void)err;
	/* -v cuts at colons; the fields of --mount are CSV, in which a quoted one may hold any
	 * character. */
	if (!strpbrk(host, ":,\"\n") && !strpbrk(inside, ":,\"\n")) {
		strvec_push(argv, "-v");
		strvec_pushf(argv, "%s:%s%s", host, inside, mount->read_only ? ":ro" : "");
		return 0;
	}
	strbuf_addstr(&m, "type=bind,");
	csv_quoted(&m, "source", host);
	strbuf_addch(&m, ',');
	csv_quoted(&m, "target", inside);
	if (mount->read_only)
		strbuf_addstr(&m, ",readonly");
	strvec_pushl(argv, "--mount", m.buf, NULL);
	return 0;
}

static void add_option(struct strvec *argv, const char *name, const char *value)
{
	if (value)
		strvec_pushl(argv, name, value, NULL);
}

static int container_check(const struct engine_spec *s, struct err *err)
{
	int r = engine_check(s, err);

	if (r < 0)
		return r;
	if (!s->name || !isalnum((unsigned char)s->name[0]))
		return err_set(err, EINVAL, "container name '%s'", s->name ? s->name : "");
	for (const char *p = s->name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-", *p))
			return err_set(err, EINVAL, "container name '%s'", s->name);
	return 0;
}

int engine_container_start(const struct engine_spec *s,
			   void (*gpus)(const struct engine_spec *s, struct strvec *argv),
			   struct strvec *argv, struct err *err)
{
	int r = container_check(s, err);

	if (r < 0)
		return r;
	/* The engine need not keep the agent's events as a log. */
	strvec_push(argv, "run");
	if (!s->keep)
		strvec_push(argv, "--rm");
	strvec_pushl(argv, "-i", "--init=false", "--pull=never", "--log-driver=none", "--name",
		     s->name, "--label", NULL);
	strvec_pushf(argv, "profrig.run=%s", s->run_id);
	r = engine_mounts(s, add_mount, argv, err);
	if (r < 0)
		return r;
	add_option(argv, "--workdir", s->workdir);
	add_option(argv, "--user", s->user);
	add_option(argv, "--network", s->network);
	add_option(argv, "--ipc", s->ipc);
	add_option(argv, "--shm-size", s->shm_size);
	for (size_t i = 0; i < s->caps.nr; i++)
		add_option(argv, "--cap-add", s->caps.v[i]);
	for (size_t i = 0; i < s->security.nr; i++)
		add_option(argv, "--security-opt", s->security.v[i]);
	add_option(argv, "--cpuset-cpus", s->cpus);
	if (s->gpus)
		gpus(s, argv);
	strvec_pushv(argv, s->options.v);
	strvec_pushl(argv, "--entrypoint", ENGINE_LIB_DIR "/profrig-init", s->image, "--run",
		     s->run_id, NULL);
	return 0;
}

void image_build_words(const struct image_build *b, struct strvec *argv)
{
	if (!b) {
		strvec_push(argv, "--help");
		return;
	}
	for (size_t i = 0; i < b->args->nr; i++)
		add_option(argv, "--build-arg", b->args->v[i]);
	for (size_t i = 0; i < b->labels->nr; i++)
		add_option(argv, "--label", b->labels->v[i]);
	for (size_t i = 0; i < b->secrets->nr; i++)
		add_option(argv, "--secret", b->secrets->v[i]);
	add_option(argv, "--target", b->target);
	add_option(argv, "--network", b->network);
	if (b->no_cache)
		strvec_push(argv, "--no-cache");
	strvec_pushv(argv, b->options->v);
	strvec_pushl(argv, "-f", b->dockerfile, "-t", b->image, "--", b->context, NULL);
}
