/*
 * To whom the run directory belongs. A daemon that is not ours runs containers as root, so what a
 * workload writes would be root's, and its owner could neither move nor remove the run. The agent,
 * which is that root, gives it to the folder's owner, after the last step. In containers without a
 * daemon root is the caller anyway.
 */
#include "run_collect.h"
#include "run_priv.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define OWN_TIMEOUT_NS (60 * NS_PER_S)

/* Does what the agent wrote belong to another user? */
static bool is_strange(const struct run *rn)
{
	for (size_t i = 0; i < rn->pl->steps.nr; i++) {
		const char *out = rn->pl->steps.v[i].out;
		struct stat st;

		if (rn->steps.v[i].ran && out && door_stat(out, &st) == 0)
			return st.st_uid != geteuid();
	}
	return false;
}

/* The agent's answer is waited for: it is to be done when outputs are collected. */
static void dir_give_back(struct run *rn, const char *dir, int64_t since_ns)
{
	int64_t until = clock_monotonic_ns() + OWN_TIMEOUT_NS;
	bool answered = false;
	json_t *ev;

	if (link_send(&rn->link,
		      json_pack("{s:s, s:i, s:s, s:I}", "op", "own", "id", 0, "dir", dir,
				"since_ns", (json_int_t)since_ns),
		      NULL) < 0)
		return;
	while (!answered && clock_monotonic_ns() < until) {
		int r = link_next(&rn->link, 250, &ev, NULL);

		if (r < 0)
			return;
		answered = r > 0 && !strcmp(event_name(ev), "owned");
		if (r > 0)
			json_decref(ev);
	}
}

/* Of the model's folder, what the workload made or changed there. */
void run_own(struct run *rn)
{
	const struct plan *pl = rn->pl;
	struct fs_owned owned = { 0 };
	bool in_use = pl->conf && pl->conf->dir && !pl->conf->container.workdir;
	struct stat st;

	if (!pl->engine->container)
		return;
	/* Mostly root's own, by root: nothing to give away, and it may be large. */
	in_use = in_use && door_stat(pl->conf->dir, &st) == 0 && st.st_uid != 0;
	if (rn->link_up && !rn->link_lost) {
		dir_give_back(rn, pl->run_dir, 0);
		if (in_use)
			dir_give_back(rn, pl->conf->dir, rn->started_realtime_ns);
	}
	/* A user of the image wrote these files and may not change their owner. */
	if (geteuid() == 0) {
		fs_own_below(pl->run_dir, 0, &owned);
		if (in_use)
			fs_own_below(pl->conf->dir, rn->started_realtime_ns, &owned);
	}
	if (is_strange(rn))
		outcome_warn(
			&rn->outcome, W_OWNER, "warning",
			"files of this run belong to the container's user: remove them with '%s'",
			!strcmp(pl->engine->name, "podman") ? "podman unshare rm" : "sudo rm");
}
