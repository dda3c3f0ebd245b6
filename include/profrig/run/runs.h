/*
 * runs: the run directories in a folder: lists them, chooses some by a rule, and removes them.
 *
 *	struct run_list rl = RUN_LIST_INIT;
 *	runs_load("runs", &filter, &rl, &err);		oldest first
 *	runs_choose(&rl, &rule, now_ns);		marks them: .doomed
 *	run_remove("runs", &rl.v[i], &err);		each
 *	run_list_release(&rl);
 *
 * A run directory is a folder of that name with a run.json of profrig in it whose id is the
 * folder's name; nothing else is listed or removed. Links are not followed. A run whose profrig
 * lives (run.h: locks) is `live`. One with the status "running" and no living profrig is
 * `interrupted`.
 */
#ifndef PROFRIG_RUNS_H
#define PROFRIG_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

struct run_info {
	char *id, *dir; /* dir: the folder's path, below the listed one */
	char *model, *status, *reason, *engine, *result;
	char *started_utc;
	int64_t started_ns; /* CLOCK_REALTIME, 0 unknown */
	double duration_s;  /* of all of it; NAN unknown */
	struct strvec tools;
	struct strvec labels; /* "k=v" */
	int64_t bytes;        /* on the disk; −1: not measured */
	bool bytes_least;     /* not all of it could be looked at */
	bool live;
	bool kept;   /* label keep, with any value but false */
	bool doomed; /* by runs_choose */
};

struct run_list {
	VEC(struct run_info) v;
	struct strvec odd; /* folders that look like runs and cannot be read: "path: why" */
};
#define RUN_LIST_INIT \
	{ \
		.odd = STRVEC_INIT \
	}
void run_list_release(struct run_list *rl);

struct run_filter {
	const char *status, *model, *tool; /* NULL: any; model and tool by their whole names */
	struct strvec labels;              /* "k=v", or "k" with any value; all of them */
	bool sizes;                        /* ask for bytes */
};

/* Whether the run in this folder has a profrig that lives. */
bool run_is_live(const char *run_dir);

/* -ENOENT: no such folder. */
int runs_load(const char *dir, const struct run_filter *f, struct run_list *ret, struct err *err);
/* Only the names, unread: for completion. Newest first. */
int runs_names(const char *dir, struct strvec *ret, struct err *err);

/* Whether a folder's name has the form of a run's id: <UTC>-<model>-<6 hex>. */
bool runs_is_id(const char *s);

struct prune_rule {
	double older_s;       /* < 0: not by age */
	int64_t larger_bytes; /* < 0: not by size; all together, the oldest go first */
	int64_t keep;         /* number of newest ones that always stay; 0 none */
};
/*
 * Which of the listed runs go: neither live nor kept ones, and not the newest `keep`. Without a
 * rule by age or size, all others do.
 */
void runs_choose(struct run_list *rl, const struct prune_rule *rule, int64_t now_ns);

/*
 * Removes a run: 0; -EBUSY: it lives, or another process is removing it. It is renamed first, so
 * that an interrupted removal leaves nothing that looks like a run; runs_sweep_removed removes such
 * remains. ret_bytes: its size on the disk.
 */
int run_remove(const char *dir, const struct run_info *r, int64_t *ret_bytes, struct err *err);
/* What earlier removals left; how many. dry: only counts. */
/* failed: a line for each that cannot be removed; may be NULL. */
size_t runs_sweep_removed(const char *dir, bool dry, int64_t *ret_bytes, struct strvec *failed);
/* `latest` to the newest run that is left, or away when there is none. */
void runs_relink_latest(const char *dir);
/* `latest` of this folder to a run directory, by its path from there. */
void runs_point_latest(const char *dir, const char *rel);
/* From one run to another of the same folder, unless `latest` is a third one by now. */
void runs_move_latest(const char *from_dir, const char *to_dir);

#endif
