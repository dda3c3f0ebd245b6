#include "engine_priv.h"

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
