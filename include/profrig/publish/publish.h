/*
 * publish: the results of runs, sent to where others look at them (docs/publish.md).
 *
 *	publish_enqueue(folder, &conf, run_dir, false, NULL, &err)	a run has ended
 *	publish_send(folder, &conf, &opts, &told, &err)			what waits is tried
 *	publish_list(folder, &list, &err)				what there is, and why
 *
 * The outbox is an SQLite file, outbox.sqlite in the folder of runs (of a campaign: in its
 * directory; publish_outbox_dir). It has a row for each run and target. A row waits until its
 * target has taken the run; a try that fails is repeated by a later publish_send, of this process
 * or another one, after 30 s, then twice as long each time up to 6 h. What a target refuses for
 * good (its answer says that the data is wrong) is not tried again by itself. Sending a run twice
 * changes nothing: every publisher knows a run by its id.
 *
 * What is sent is read from run.json when it is sent, so a run that was removed before is lost to
 * its targets (state "gone"). run.json is a workload's to change: no link is followed, sizes are
 * bounded, and a run cannot take the id of another one.
 *
 * Publishers are the struct publisher of publishers[]. One thread at a time.
 */
#ifndef PROFRIG_PUBLISH_H
#define PROFRIG_PUBLISH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/config/publishconf.h"

#define PUBLISH_OUTBOX "outbox.sqlite"

struct publish_record; /* publish_record.h */

struct publish_call {
	const volatile sig_atomic_t *interrupt; /* may be NULL */
	double timeout_s;                       /* of the whole call */
};

struct publisher {
	const char *name, *about;
	/*
	 * 0: the target has the run, also when it had it before. -EBADMSG: it refuses the run for
	 * good. -EINTR: interrupted. Any other -errno: not now. err has no credentials.
	 */
	int (*send)(const struct publish_target *t, const struct publish_record *rec,
		    const struct publish_call *call, struct err *err);
	/*
	 * For a target that keeps the last run of something alone: of what, owned. A run is not
	 * sent behind a later one of the same. NULL: the target keeps all runs.
	 */
	char *(*series)(const struct publish_target *t, const struct publish_record *rec);
};
/* clang-format off */
#define PUBLISHER_DECLARE(name, needs, may) extern const struct publisher publisher_##name;
PUBLISHERS(PUBLISHER_DECLARE)
/* clang-format on */
extern const struct publisher *const publishers[]; /* NULL-terminated */

/* The folder of the outbox for runs in runs_dir: itself, or of a campaign's runs/ the campaign. */
char *publish_outbox_dir(const char *runs_dir);

/*
 * Adds a row for each target (only: of those named; NULL: all) that has none for this run. again:
 * those that were sent or refused wait again, too, and all are due now. Returns how many wait.
 * -EBUSY: the run has not ended; -EBADMSG: its directory is none of a run.
 */
int publish_enqueue(const char *folder, const struct publish_conf *conf, const char *run_dir,
		    bool again, const struct strvec *only, struct err *err);

struct publish_opts {
	const volatile sig_atomic_t *interrupt; /* may be NULL */
	const struct strvec *only; /* targets by their name, or their publisher's; NULL: all */
	const char *first;         /* a run's directory, tried before all others; NULL */
	bool all;                  /* also what is not due yet */
	double budget_s;           /* after so long no further row is begun; 0: no limit */
};
struct publish_told {
	uint64_t sent, refused, gone, superseded;
	uint64_t first_failed; /* rows of `first` that failed */
	uint64_t waiting;      /* rows that wait now, of all targets in the outbox */
	uint64_t unvalued;     /* metrics of sent runs that are no numbers, or too many: left out */
	struct strvec why;     /* "influxdb http://…: …", one for each target that failed */
};
#define PUBLISH_TOLD_INIT \
	{ \
		.why = STRVEC_INIT \
	}
void publish_told_release(struct publish_told *told);
/*
 * Tries the rows that are due, of targets that conf has; a target that fails is not tried again in
 * this call. 0, also when something failed (told); -EINTR; else the outbox cannot be used.
 */
int publish_send(const char *folder, const struct publish_conf *conf, const struct publish_opts *o,
		 struct publish_told *told, struct err *err);

/* --only: whether a target is one of those. */
bool publish_selected(const struct publish_target *t, const struct strvec *only);

struct publish_row {
	char *run, *target;
	char *state; /* waiting sent refused gone superseded */
	int64_t tries;
	int64_t next_ns; /* of waiting: when it is due, CLOCK_REALTIME */
	char *error;     /* of the last try; "" */
	char *dir;       /* the run's directory */
};
struct publish_list {
	VEC(struct publish_row) rows;
};
void publish_list_release(struct publish_list *l);
/* All rows, by the end of their run. No outbox: none. */
int publish_list(const char *folder, struct publish_list *ret, struct err *err);

#endif
