/*
 * store: the results of a campaign as a database, <campaign>/store.sqlite: cells, runs, attempts,
 * environments, artifacts, metrics and verdicts, for questions and for export.
 *
 * The store is a cache. One function makes it: store_apply, which takes the events of the journal
 * in their order and reads what they name: the plan, and the run directory of an attempt that has
 * ended. So a store that was kept beside a campaign and one that is made anew (store_rebuild) are
 * equal; times in it come from the journal and from run.json. A damaged, deleted or foreign store
 * is made again, which is said.
 *
 *	struct store_opts o = { .said = &lines };
 *	store_open(dir, &o, &s, &err);		made or migrated where needed, up to date
 *	journal_append(…); store_follow(s, &err);	after each event, or after several
 *	store_summary(s, &sum, &err);
 *	store_close(s);
 *
 * A writer: the campaign's process alone. It goes on without a store that is locked, or that cannot
 * be written (disk full, permissions): store_open says so, store_follow returns it, which may be
 * ignored, and 10 s later the next call takes what is missing. When the file is deleted or
 * replaced under it, it opens the new one, or makes it again.
 *
 * A reader (opts.read) changes no event of a store. One that is missing or damaged it makes anew;
 * where it may not write, and where the store is older, or behind its journal, the reader has a
 * copy in memory that is up to date.
 *
 * Files: WAL on filesystems that statfs(2) shows to be local, else a rollback journal (TRUNCATE)
 * without fsync: there a store whose writer did not close it is made again after a reboot. An older
 * version is copied to store.sqlite.v<N> (VACUUM INTO), then migrated in one transaction; a newer
 * one is opened read-only, and its writer applies nothing. What is damaged goes to
 * store.sqlite.damaged.
 *
 * Run directories are what a workload can write: they are read through door.h, run.json up to 64
 * MiB. What is not there, or no run.json, leaves its columns NULL, and is counted (unread) when the
 * attempt ended well.
 *
 * One thread for each store.
 */
#ifndef STORE_H
#define STORE_H

#include "journal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profrig/base/strvec.h"

#define STORE_FILE "store.sqlite"
#define STORE_VERSION 1 /* user_version of the database */

struct store;

enum store_better { STORE_LOWER, STORE_HIGHER };
/* For a metric of run.json: contract.md (compare). */
enum store_better store_better_of(const char *name, const char *unit);

/* A key figure of a table. */
struct store_figure {
	const char *name, *key; /* key "": the figure is of the whole run */
	const char *unit;
	enum store_better better;
	double value; /* NAN: none, there is no row */
};
typedef void store_figure_add(void *to, const struct store_figure *f);
/*
 * Figures of a run directory for the names of the campaign's `metrics`; those of run.json are in
 * the store already. It reads only below run_dir, which is held (door.h). An error leaves the
 * attempt without figures, and is counted (unread).
 */
typedef int store_figures_fn(void *ctx, const char *run_dir, const struct strvec *metrics,
			     store_figure_add *add, void *to, struct err *err);

/* SQL that makes version N + 1 of version N; v[0] is of version 1. */
struct store_migrations {
	const char *const *v;
	size_t nr;
};

struct store_opts {
	bool read;
	bool current; /* of a reader: -ESTALE where it is not there, or not up to date */
	store_figures_fn *figures; /* NULL: metrics of run.json alone */
	void *figures_ctx;
	struct strvec *said; /* gets a line for what the user should know; NULL */
	/* for tests */
	const struct store_migrations *migrations; /* NULL: those of this program (none yet) */
	bool shared;                               /* as on a filesystem that is not local */
	int busy_ms;                               /* how long to wait for a lock; 0: 5000 */
};

/*
 * dir: of the campaign. -ENOENT: it has no journal; -EBADMSG: the journal or a plan is damaged;
 * of a reader also -EBUSY and the like when there is no memory for a copy.
 */
int store_open(const char *dir, const struct store_opts *o, struct store **ret, struct err *err);
/* Commits. NULL is fine. */
void store_close(struct store *s);

/*
 * Applies one event; one that was applied is passed over, and when some in front of it are missing
 * they are read from the journal first. Lasts with store_commit. An error takes back all since the
 * last commit; the events are taken from the journal next time.
 */
int store_apply(struct store *s, const struct journal_event *e, struct err *err);
int store_commit(struct store *s, struct err *err);
/* Applies what the journal has more, and commits. */
int store_follow(struct store *s, struct err *err);
/* Whether nothing can be written to it (it is newer; a reader). */
bool store_is_read_only(const struct store *s);

struct store_summary {
	uint64_t cells, runs; /* of the current plan */
	uint64_t committed, running, failed, left;
	uint64_t superseded; /* attempts */
	uint64_t old_cells;  /* of earlier plans alone */
	int64_t block;       /* of the run that began last; 0: none */
	double mean_s;       /* of committed attempts; NAN: none */
	uint64_t events;     /* of the journal that are in it */
	uint64_t unread;     /* that ended well, but cannot be read, or not all */
	uint64_t disputed;   /* committed by the journal, but results/ does not agree */
	uint64_t unknown;    /* events that this program does not know */
};
int store_summary(struct store *s, struct store_summary *ret, struct err *err);

/* Makes the file anew. ret may be NULL. */
int store_rebuild(const char *dir, const struct store_opts *o, struct store_summary *ret,
		  struct err *err);

/* ---- questions ---- */

enum store_kind { STORE_NULL, STORE_I64, STORE_F64, STORE_TEXT, STORE_BLOB };
struct store_cell {
	enum store_kind kind;
	int64_t i;
	double f;
	const char *text; /* of a text (NUL-terminated) and of a blob */
	size_t n;
};

struct store_query {
	double seconds; /* limits; 0: none */
	uint64_t rows, bytes;
	const volatile int *interrupt; /* NULL */
	void *ctx;
	/* Before the first row. */
	int (*columns)(void *ctx, char *const *names, size_t n, struct err *err);
	int (*row)(void *ctx, const struct store_cell *cells, size_t n, struct err *err);
};
struct store_answer {
	uint64_t rows;
	bool cut; /* there are more rows than the limits allow */
};
/*
 * One SELECT (or WITH … SELECT, VALUES). -EINVAL: no such SQL; -EACCES: it does more than read;
 * -ETIME: it took too long; -EINTR.
 */
int store_ask(struct store *s, const char *sql, const struct store_query *q,
	      struct store_answer *ret, struct err *err);

/* ---- export ---- */

enum store_format { STORE_CSV, STORE_JSON, STORE_NDJSON };
struct store_exported {
	uint64_t rows, metrics;
	uint64_t uncommitted;  /* rows of attempts that are not committed */
	uint64_t old_left_out; /* runs of earlier plans */
};
/*
 * All of it in a defined order: cells as in the plan, repeat, attempt, metric, key. old: cells and
 * repeats of earlier plans, too, behind the others. docs/campaigns.md has the columns.
 */
int store_export(struct store *s, enum store_format format, bool old, FILE *f,
		 struct store_exported *ret, struct err *err);

#endif
