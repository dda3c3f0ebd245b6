/*
 * outbox: the SQLite file behind publish.h.
 *
 *	outbox_open(folder, true, &ob, err);	made when it is not there
 *	outbox_put(ob, &row, again, err); outbox_due(ob, …); outbox_claim(ob, …);
 *	outbox_note(ob, …);
 *	outbox_close(ob);
 *
 * Table outbox(run, target, state, tries, next_ns, error, dir, series, ended_ns, sent_ns), one row
 * for a run and a target. The rollback journal is used, not WAL, which network file systems break;
 * no transaction is open while something is sent. Several processes may use it: a row is claimed by
 * its count of tries, and a claim that its process did not live to end is due again after a lease.
 *
 * The file is used only where it is a regular file with one name, not behind a link, with this
 * table and no other thing in it. A newer version of it is refused.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "profrig/publish/publish.h"

struct outbox;

/* *ret NULL and 0: there is none, and make is false. */
int outbox_open(const char *folder, bool make, struct outbox **ret, struct err *err);
void outbox_close(struct outbox *ob); /* NULL is fine */
void outbox_closep(struct outbox **ob);

struct outbox_new {
	const char *run, *target, *dir;
	const char *series; /* NULL */
	int64_t ended_ns;
};
/*
 * 1: the row waits, because it is new or (again) was set back to the state waiting; 0: there is one
 * already.
 */
int outbox_put(struct outbox *ob, const struct outbox_new *row, bool again, struct err *err);

/* All rows that wait and are due at now_ns (INT64_MAX: all), those of `first` in front. */
int outbox_due(struct outbox *ob, int64_t now_ns, const char *first, struct publish_list *ret,
	       struct err *err);
/* All rows. */
int outbox_rows(struct outbox *ob, struct publish_list *ret, struct err *err);
/* 1: the row is ours for lease_ns, and its tries are one more; 0: another process was quicker. */
int outbox_claim(struct outbox *ob, const struct publish_row *r, int64_t lease_ns, struct err *err);
/* The end of a claim: the state, of waiting when it is due again, and why. */
int outbox_note(struct outbox *ob, const struct publish_row *r, const char *state, int64_t next_ns,
		const char *error, struct err *err);
/* Whether a run of the row's series that ended later was sent there. */
int outbox_superseded(struct outbox *ob, const struct publish_row *r, bool *ret, struct err *err);
int outbox_waiting(struct outbox *ob, uint64_t *ret, struct err *err);
/* Sent rows of this age and older go, so that the file does not grow for ever. */
int outbox_trim(struct outbox *ob, int64_t before_ns, struct err *err);

#endif
