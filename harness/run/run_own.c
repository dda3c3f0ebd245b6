/*
 * To whom the run directory belongs. A daemon that is not ours runs containers as root, so what a
 * workload writes would be root's, and its owner could neither move nor remove the run. The agent,
 * which is that root, gives it to who started profrig, after the last step. In containers without
 * a daemon root is the caller anyway.
 */
#include "run_priv.h"

#include <sys/stat.h>
#include <unistd.h>

#define OWN_TIMEOUT_NS (60 * NS_PER_S)
#define OWN_ID 0x7fff0001

/* Does what the agent wrote belong to somebody else? */
static bool is_strange(const struct run *rn)
{
	for (size_t i = 0; i < rn->pl->steps.nr; i++) {
		const char *out = rn->pl->steps.v[i].out;
		struct stat st;

		if (rn->steps.v[i].ran && out && stat(out, &st) == 0)
			return st.st_uid != geteuid();
	}
	return false;
}

void run_own(struct run *rn)
{
	int64_t until = clock_monotonic_ns() + OWN_TIMEOUT_NS;
	struct err err = ERR_INIT;
	bool done = false;
	int r;

	if (!rn->pl->engine->container || geteuid() == 0 || !rn->link_up || rn->link_lost ||
	    !is_strange(rn))
		return;
	r = link_send(&rn->link,
		      json_pack("{s:s, s:I, s:s, s:I, s:I}", "op", "own", "id", (json_int_t)OWN_ID,
				"path", rn->pl->run_dir, "uid", (json_int_t)geteuid(), "gid",
				(json_int_t)getegid()),
		      &err);
	while (r >= 0 && !done && clock_monotonic_ns() < until) {
		json_t *ev = NULL;

		r = link_next(&rn->link, 250, &ev, &err);
		if (r > 0)
			done = !strcmp(event_name(ev), "owned") || !strcmp(event_name(ev), "error");
		json_decref(ev);
	}
	if (is_strange(rn))
		run_warn(rn, W_OWNER, "warning",
			 "files of this run belong to the container's user: remove them with '%s'",
			 !strcmp(rn->pl->engine->name, "podman") ? "podman unshare rm" : "sudo rm");
}
