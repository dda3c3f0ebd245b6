#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"

#define ENGINE_AT(name) &engine_##name,
const struct engine *const engines[] = { ENGINES(ENGINE_AT) NULL };

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

const char *engine_remedy(const struct engine *e, const char *said)
{
	if (e->denied && said && strcasestr(said, "permission denied"))
		return e->denied;
	return e->fix ? e->fix : "start it";
}

void engine_words(const struct engine *e, struct strvec *argv)
{
	const char *words = getenv(e->variable);
	size_t before = argv->nr;

	if (words)
		strvec_split(argv, words, " \t\n");
	if (argv->nr == before)
		strvec_push(argv, e->name);
}

void engine_ask_about(const struct engine *e, enum engine_question q, const struct engine_about *a,
		      struct strvec *argv)
{
	engine_words(e, argv);
	if (e->ask_image && (q == ENGINE_IMAGE || q == ENGINE_PULL)) {
		e->ask_image(a->of, argv);
		return;
	}
	for (const char *const *w = e->words[q]; *w; w++)
		if (!strcmp(*w, AUTH) && a->auth)
			e->auth(a->auth, argv);
		else if (strcmp(*w, AUTH) != 0)
			strvec_push(argv, !strcmp(*w, OF)     ? a->of
					  : !strcmp(*w, WITH) ? a->with
							      : *w);
}

int engine_check(const struct engine_spec *s, struct err *err)
{
	if (!s->image || !*s->image)
		return err_set(err, EINVAL, "no image is stated");
	if (s->image[0] == '-')
		return err_set(err, EINVAL, "image '%s' would be an option", s->image);
	if (!s->lib_dir)
		return err_set(err, ENOENT, "the folder of profrig-init is not known");
	return 0;
}

static int mount_add(const struct engine_mount *m, engine_mount_fn *add, struct strvec *argv,
		     struct err *err)
{
	if (m->host[0] == '/' && m->container[0] == '/')
		return add(m, argv, err);
	return err_set(err, EINVAL, "mount '%s' → '%s': both must be absolute paths", m->host,
		       m->container);
}

int engine_mounts(const struct engine_spec *s, engine_mount_fn *add, struct strvec *argv,
		  struct err *err)
{
	static char inside[] = ENGINE_LIB_DIR;
	const struct engine_mount lib = { s->lib_dir, inside, true };
	int r = mount_add(&lib, add, argv, err);

	for (size_t i = 0; r == 0 && i < s->mounts.nr; i++)
		r = mount_add(&s->mounts.v[i], add, argv, err);
	for (size_t i = 0; r == 0 && s->run_dir && i < s->run_mounts.nr; i++)
		r = mount_add(&s->run_mounts.v[i], add, argv, err);
	for (size_t i = 0; r == 0 && s->run_dir && i < s->late_mounts.nr; i++)
		r = mount_add(&s->late_mounts.v[i], add, argv, err);
	return r;
}

bool image_registry_is_local(const char *registry)
{
	static const char *const hosts[] = { "localhost", "127.", "[::1]" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t n = strlen(hosts[i]);
		bool part = hosts[i][n - 1] == '.';

		if (!strncmp(registry, hosts[i], n) && (part || strchr(":/", registry[n])))
			return true;
	}
	return false;
}

FIELD_TABLE(mount_fields, TEXT_FIELDS(struct engine_mount, host, container));
FIELD_TABLE(spec_fields, TEXT_FIELDS(struct engine_spec, run_id, name, image, lib_dir, run_dir),
	    TEXT_FIELDS(struct engine_spec, workdir, user, network, ipc, shm_size, pull, cpus,
			gpus),
	    WORDS_FIELDS(struct engine_spec, caps, security, options, gpu_nodes, gpu_groups),
	    FIELD_VEC(struct engine_spec, mounts, mount_fields),
	    FIELD_VEC(struct engine_spec, run_mounts, mount_fields),
	    FIELD_VEC(struct engine_spec, late_mounts, mount_fields),
	    FIELD_VEC(struct engine_spec, gpu_list, NULL));

void engine_spec_init(struct engine_spec *s)
{
	memset(s, 0, sizeof(*s));
	fields_init(s, spec_fields);
}

void engine_spec_release(struct engine_spec *s)
{
	fields_release(s, spec_fields);
	engine_spec_init(s);
}
