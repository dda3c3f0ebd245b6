/*
 * Folders that the workload may write and profrig reads afterwards are held (door.h) before the
 * engine starts: outputs that tools write to the working directory, and results files. Scripts,
 * copies and data were read before; there the user's own links are followed.
 */
#include "run_priv.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define UID_MAP_MAX 65536 /* 340 lines at most */

/* "/" is not held: it also holds /proc and the programs, which are reached through links. */
static void hold_one(struct run *rn, const char *dir)
{
	struct err err = ERR_INIT;

	if (!dir || !*dir || !strcmp(dir, "/") || strvec_has(&rn->held, dir) || !fs_is_dir(dir))
		return;
	if (door_hold(dir, &err) < 0) {
		outcome_warn(&rn->outcome, W_COLLECT, "warning",
			     "what the workload leaves is not looked at: %s", err.msg);
		return;
	}
	strvec_push(&rn->held, dir);
}

void run_hold(struct run *rn)
{
	const struct plan *pl = rn->pl;
	const char *csv = pl->conf ? pl->conf->results.csv : NULL;

	hold_one(rn, pl->conf ? pl->conf->dir : NULL);
	for (size_t i = 0; i < pl->outputs.nr; i++)
		if (!fs_below(pl->run_dir, pl->outputs.v[i].dir))
			hold_one(rn, pl->outputs.v[i].dir);
	for (size_t i = 0; i < pl->steps.nr; i++)
		if (pl->steps.v[i].cwd && !fs_below(pl->run_dir, pl->steps.v[i].cwd))
			hold_one(rn, pl->steps.v[i].cwd);
	if (csv && *csv == '/') {
		CLEANUP(xfreep) char *dir = fs_dir(csv);

		hold_one(rn, dir);
	}
}

/* Lines "inside outside count" (user_namespaces(7)), with outside as this process sees it. */
void run_expect_owners(const char *dir, const char *uid_map)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	char *at;

	if (fs_read(uid_map, UID_MAP_MAX, &text, &n, NULL) < 0)
		return;
	at = text;
	while (*at) {
		unsigned long v[3];

		for (int i = 0; i < 3; i++) {
			char *end;

			v[i] = strtoul(at, &end, 10);
			if (end == at)
				return;
			at = end;
		}
		door_expect(dir, (uid_t)v[1], (uid_t)v[2]);
		at += strspn(at, " \n");
	}
}

void run_let_go(struct run *rn)
{
	for (size_t i = 0; i < rn->held.nr; i++)
		door_let_go(rn->held.v[i]);
	strvec_release(&rn->held);
}
