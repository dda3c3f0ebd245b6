/*
 * The owner of the run directory. A daemon that runs as root starts containers as root, so files of
 * the workload would belong to root, and the user could neither move nor remove the run. The agent,
 * which is root there, gives them to the folder's owner after the last step. In containers without
 * a daemon root is the caller anyway.
 */
#include "run_collect.h"
#include "run_priv.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define OWN_TIMEOUT_NS (60 * NS_PER_S)

/* Whether files of the agent belong to another user. */
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

/* Waits for the agent's answer, so that the files are readable when outputs are collected. */
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

/* In the model's folder only files that the workload made or changed. */
void run_own(struct run *rn)
{
	const struct plan *pl = rn->pl;
	struct fs_owned owned = { 0 };
	bool in_use = pl->conf && pl->conf->dir && !pl->conf->container.workdir;
	struct stat st;

	if (!pl->engine->container)
		return;
	/* A folder of root's is used by root and needs no change; it may be large. */
	in_use = in_use && door_stat(pl->conf->dir, &st) == 0 && st.st_uid != 0;
	if (rn->link_up && !rn->link_lost) {
		dir_give_back(rn, pl->run_dir, 0);
		if (in_use)
			dir_give_back(rn, pl->conf->dir, rn->started_realtime_ns);
	}
	/* A user of the image wrote these files, and the agent may not change their owner. */
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
