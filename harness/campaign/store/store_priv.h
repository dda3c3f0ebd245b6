/*
 * store_priv: the parts of the store.
 *
 *	store.c		its life: opened, followed, closed, summed up
 *	store_open.c	the file, whatever it is, becomes a store that can be used
 *	store_make.c	how far it is; what the journal has more; made anew, copied
 *	store_db.c	the file: schema, versions, statements, errors of SQLite
 *	store_apply.c	events → rows
 *	store_plan.c	the plan → campaign, cells, runs
 *	store_attempt.c	a run directory → attempt, environment, artifacts, metrics
 *	store_ask.c	questions
 *	store_export.c	all of it, as CSV, JSON, NDJSON
 */
#ifndef STORE_PRIV_H
#define STORE_PRIV_H

#include "store.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "profrig/base/vec.h"

/* Numbers as people write them: 0.05. */
#define STORE_JSON_TEXT (JSON_COMPACT | JSON_REAL_PRECISION(16))

/* What is kept prepared. ?N are bound from the arguments of store_run in order. */
/* clang-format off */
#define STORE_STATEMENTS(X) \
	X(OPEN, "INSERT INTO campaign(id, name, created_ns) VALUES(?1, ?1, ?2) " \
		"ON CONFLICT DO NOTHING") \
	X(CAMPAIGN, "INSERT INTO campaign(id, name, config_json, config_sha, created_ns, seed) " \
		"VALUES(?1, ?1, ?2, ?3, ?4, ?5) ON CONFLICT(id) DO UPDATE SET " \
		"config_json = excluded.config_json, config_sha = excluded.config_sha, " \
		"seed = excluded.seed") \
	X(CELLS_OLD, "UPDATE cell SET current = 0 WHERE current") \
	X(RUNS_OLD, "UPDATE run SET current = 0 WHERE current") \
	X(CELL, "INSERT INTO cell VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1) " \
		"ON CONFLICT(id) DO UPDATE SET axes_json = excluded.axes_json, " \
		"label = excluded.label, is_baseline = excluded.is_baseline, " \
		"model = excluded.model, baseline = excluded.baseline, ord = excluded.ord, " \
		"current = 1") \
	X(RUN, "INSERT INTO run(id, cell, repeat, state, current) " \
		"VALUES(?1, ?2, ?3, 'planned', 1) ON CONFLICT(id) DO UPDATE SET current = 1") \
	X(INTEND_RUN, "INSERT INTO run VALUES(?1, ?2, ?3, ?4, ?5, 'running', 0) " \
		"ON CONFLICT(id) DO UPDATE SET block = excluded.block, pos = excluded.pos, " \
		"state = iif(state = 'committed', state, 'running')") \
	X(INTEND, "INSERT INTO attempt(id, run, n, state, started_ns, dir, committed) " \
		"VALUES(?1, ?2, ?3, 'running', ?4, ?5, 0) ON CONFLICT(id) DO UPDATE SET " \
		"state = 'running'") \
	X(ATTEMPT, "INSERT INTO attempt(id, run, n, dir, committed) VALUES(?1, ?2, ?3, ?4, 0) " \
		"ON CONFLICT DO NOTHING") \
	X(JOB, "UPDATE attempt SET job = ?2, " \
		"state = iif(coalesce(state, 'running') = 'running', 'queued', state) " \
		"WHERE id = ?1") \
	X(STARTED, "UPDATE attempt SET node = coalesce(?2, node), " \
		"state = iif(coalesce(state, 'queued') = 'queued', 'running', state) " \
		"WHERE id = ?1") \
	X(ENDED, "UPDATE attempt SET state = ?2, class = ?3, reason = ?4, exit = ?5, " \
		"signal = ?6, node = coalesce(?7, node, ?8), env_sha = ?9, " \
		"started_ns = coalesce(?10, started_ns), ended_ns = ?11 WHERE id = ?1") \
	X(RUN_STATE, "UPDATE run SET state = ?2 WHERE id = ?1 AND state <> 'committed'") \
	X(RUN_ENDED, "UPDATE run SET state = 'ended' WHERE id = ?1 " \
		"AND state NOT IN ('committed', 'failed')") \
	X(RUN_RETRY, "UPDATE run SET state = 'planned' WHERE id = ?1 " \
		"AND state IN ('failed', 'committed')") \
	X(RUN_COMMITTED, "UPDATE run SET state = 'committed' WHERE id = ?1") \
	X(COMMIT_NONE, "UPDATE attempt SET committed = 0 " \
		"WHERE id > ?1 || '.' AND id < ?1 || '/' AND committed") \
	X(COMMIT_ONE, "UPDATE attempt SET committed = 1 WHERE id = ?1") \
	X(SUPERSEDED, "UPDATE attempt SET state = 'superseded' WHERE id = ?1") \
	X(ENV, "INSERT INTO env VALUES(?1, ?2) ON CONFLICT DO NOTHING") \
	X(ARTIFACT, "INSERT INTO artifact VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING") \
	X(METRIC, "INSERT INTO metric VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING") \
	X(NO_METRICS, "DELETE FROM metric WHERE attempt = ?1") \
	X(NO_ARTIFACTS, "DELETE FROM artifact WHERE attempt = ?1") \
	X(VERDICT, "INSERT OR REPLACE INTO verdict VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, " \
		"?10, ?11, ?12, ?13, ?14, ?15, ?16)") \
	X(APPLIED, "UPDATE applied SET seq = ?1, events = ?2, bytes = ?3, block = ?4, " \
		"unread = ?5, disputed = ?6, unknown = ?7, metrics = ?8, first = ?9")
/* clang-format on */
enum store_statement {
#define STORE_NAME(name, sql) STORE_##name,
	STORE_STATEMENTS(STORE_NAME)
#undef STORE_NAME
		STORE_STATEMENTS_NR
};

/* What has been applied: the one row of the table `applied`. */
struct store_applied {
	uint64_t seq; /* of the last event */
	struct journal_place place;
	int64_t block;
	uint64_t unread, disputed, unknown;
};

struct store {
	char *dir, *path; /* path: of the file that is open; "" in memory */
	char *journal;
	struct store_opts o;
	sqlite3 *db;
	sqlite3_stmt *stmt[STORE_STATEMENTS_NR];
	dev_t dev; /* of the file */
	ino_t ino;
	uint32_t first;    /* crc of the first line of the journal, 0: there was none yet */
	int64_t retry_ns;  /* CLOCK_MONOTONIC: it is left alone until then */
	struct err pause;  /* why */
	bool newer, fixed; /* fixed: read-only */
	bool open;         /* a transaction is */
	bool closing_mark; /* its row `applied` says that a writer has it open */
	struct store_applied now, kept; /* kept: as committed */
	struct strvec metrics;          /* of the current plan */
	char *name;                     /* of the campaign; NULL: no event said it */
};

/* --- store_db.c --- */

/* As in store.h: the file, or memory when path is NULL. */
enum store_how { STORE_CREATE, STORE_WRITE, STORE_READ_ONLY };
int store_db_open(struct store *s, const char *path, enum store_how how, struct err *err);
void store_db_close(struct store *s);
/* An empty database becomes a store. */
int store_db_make(struct store *s, struct err *err);
int store_db_version(struct store *s, int *ret, struct err *err);
int store_version_here(const struct store *s);
/* From an older version to this one. -ENOTSUP: there is no way. */
int store_db_migrate(struct store *s, int from, struct err *err);
int store_exec(struct store *s, const char *sql, struct err *err);
/* -errno of a result code, with a message. */
int store_fail(struct store *s, int rc, const char *what, struct err *err);
/*
 * args: a letter for each: t text (NULL is NULL), i int64_t, o const int64_t * (NULL is NULL),
 * f double (NAN is NULL).
 */
int store_run(struct store *s, enum store_statement which, struct err *err, const char *args, ...);
/* One row of integers. -ENOENT: there is none. */
int store_numbers(struct store *s, const char *sql, int64_t *ret, size_t n, struct err *err);
/* Removes a file of the store, and what SQLite keeps beside it. */
void store_db_remove(const char *path);
/* Whether statfs says that a filesystem of this type is on this machine. */
bool store_fs_local(unsigned long type);
void store_say(struct store *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- store_make.c --- */

/* Rolls back; what was applied since the last commit is not. */
void store_undo(struct store *s);
int store_keep(struct store *s, struct err *err); /* commits, when a transaction is open */
/* How far it is; -ESTALE: it is of another journal, or ahead of this one. */
int store_applied_read(struct store *s, struct err *err);
/* ctx: the store; a journal_seen. */
int store_on_event(void *ctx, const struct journal_event *e, struct err *err);
/* What the journal has more; store_keep is for the caller. */
int store_events_take(struct store *s, struct err *err);
/* Makes the file under a temporary name first. Nothing is open afterwards. */
int store_file_make(struct store *s, struct err *err);
int store_memory_make(struct store *s, struct err *err);
/* A copy of the open file, which then is behind no more. */
int store_memory_copy(struct store *s, struct err *err);

/* --- store_open.c --- */

int store_write_open(struct store *s, struct err *err);
int store_read_open(struct store *s, struct err *err);
/* The mark of a writer that is alive, only where nothing is synced. */
int store_writer_mark(struct store *s, bool on, struct err *err);
/* What another program, or a disk, does to the file, and not what is in it. */
static inline bool store_is_outside(int r)
{
	return r == -EBUSY || r == -ENOSPC || r == -EDQUOT || r == -EACCES || r == -EROFS ||
	       r == -EIO;
}
/* The file is not what it should be; the journal has no fault. */
static inline bool store_is_damage(int r)
{
	return r == -EUCLEAN || r == -ESTALE;
}

/* --- store_apply.c --- */

/* One event, inside a transaction. */
int store_take(struct store *s, const struct journal_event *e, struct err *err);

/* --- store_plan.c --- */

int store_take_plan(struct store *s, const struct journal_event *e, struct err *err);
/* The words of `metrics` in a list of JSON. */
void store_metrics_set(struct store *s, const json_t *list);
#define STORE_RUNS_MAX INT64_C(10000000)

/* --- store_attempt.c --- */

/* Whether run is "<cell>-<repeat>", so that it is a name below runs/ and results/. */
bool store_run_name(const char *run, char ret_cell[65], int64_t *ret_repeat);
/* The id "<run>.<n>"; owned. */
char *store_attempt_id(const char *run, int64_t n);
int store_take_ended(struct store *s, const struct journal_event *e, struct err *err);
/* The metrics of an attempt, once more. */
int store_metrics_again(struct store *s, const char *id, struct err *err);

#endif
