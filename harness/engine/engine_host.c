#include "engine_priv.h"

#include <errno.h>

static int host_start(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	if (!s->lib_dir)
		return err_set(err, ENOENT, "the folder of profrig-init is not known");
	strvec_pushf(argv, "%s/profrig-init", s->lib_dir);
	strvec_pushl(argv, "--run", s->run_id, NULL);
	return 0;
}

const struct engine engine_host = {
	.name = "host",
	.about = "no container: the workload runs as a process of this machine",
	.start = host_start,
};
