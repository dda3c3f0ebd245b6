/*
 * campaign_job: a campaign in its folder, opened to work on it.
 *
 *	campaign_job_new(&rq, &job, …)	makes <campaigns>/<name>: copies of its files, journal, plan
 *	campaign_job_open(&rq, &job, …)	takes up one that is there; says what has changed since
 *	campaign_drive(job, …)		campaign_drive.h
 *	campaign_job_close(job)
 *
 * The folder is locked from the first call to the last. docs/campaigns.md has its contents.
 */
#ifndef CAMPAIGN_JOB_H
#define CAMPAIGN_JOB_H

#include "attempt.h"
#include "campaign_lock.h"
#include "campaign_plan.h"
#include "campaign_state.h"

enum changes_decided { CHANGES_ASK, CHANGES_KEEP_OLD, CHANGES_REDO };

/* Called for each event, once it is on the disk. */
typedef int campaign_noted(void *ctx, const struct journal_event *e, struct err *err);

struct campaign_request {
	const char *campaigns; /* folder of campaigns */
	const char *file;      /* the campaign's file; NULL: its copy, of dir */
	const char *dir;       /* of a campaign that is there; NULL: by the file's name */
	struct run_options *o; /* of all runs: conf.sets, tools_dirs; see below */
	uint64_t max_cells;
	enum changes_decided decided;
	bool take_over; /* campaign_lock */
	const volatile sig_atomic_t *interrupt;
	const char *version; /* of profrig */
};

struct campaign_job {
	char *dir, *runs_dir; /* absolute; o->runs_dir is the latter meanwhile */
	struct campaign_file file;
	struct cells cells;
	struct campaign_plan plan;
	struct campaign_state state;
	struct journal *journal;
	struct campaign_lock lock;
	struct run_options *o; /* borrowed */
	struct strvec ids;     /* of the cells, in their order */
	struct strvec metrics; /* that each run must have: those of gates */
	struct attempt_where where;
	struct journal_said read;
	campaign_noted *noted; /* NULL */
	void *noted_ctx;
};

/*
 * Relative paths of the caller's configuration begin at the working directory, which is noted, as
 * are --set and --tools-dir: a campaign that goes on has those it began with, and o gets them.
 *
 * -EEXIST: there is such a campaign; -EBUSY: another process works on it; -EINVAL, -EBADMSG: see
 * problems, or err when there is none; -ESTALE: configuration or code have changed, `changes` has a
 * line for each cell, and nothing is decided.
 */
int campaign_job_new(const struct campaign_request *rq, struct campaign_job *ret,
		     struct problems *problems, struct said *said, struct err *err);
int campaign_job_open(const struct campaign_request *rq, struct campaign_job *ret,
		      struct strvec *changes, struct problems *problems, struct said *said,
		      struct err *err);
void campaign_job_close(struct campaign_job *j);

/* From now on the plan has these blocks alone: what it needed is known (stop_when). */
int campaign_job_shorten(struct campaign_job *j, uint32_t blocks, struct err *err);

/* An event that is to be written. fields: an object, or NULL. */
struct campaign_note {
	const char *ev, *run; /* run NULL: of the campaign */
	int64_t attempt;
	json_t *fields;
};
/*
 * Writes events that tell of one fact, with one fdatasync(2), then lets the state and `noted` see
 * them. fields are stolen. At most CAMPAIGN_NOTES_MAX.
 */
#define CAMPAIGN_NOTES_MAX 4
int campaign_job_notes(struct campaign_job *j, const struct campaign_note *v, size_t nr,
		       struct err *err);
/* The same with one event. */
int campaign_job_note(struct campaign_job *j, const char *ev, const char *run, int64_t attempt,
		      json_t *fields, struct err *err);

/*
 * For a worker, on any node: the campaign as it is, without its lock and journal. j->state is read
 * alone.
 */
int campaign_job_look(const char *dir, struct run_options *o, bool cells, struct campaign_job *ret,
		      struct err *err);

#endif
