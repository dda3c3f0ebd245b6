/*
 * journal: what a campaign has announced and done, in a file that only grows: one JSON object a
 * line. Everything else that a campaign keeps (its store, its live table) is made from it and from
 * the run directories.
 *
 *	{"seq":7,"t":"2026-03-04T05:06:07.000000008Z","boot_id":"…","ev":"intend",
 *	 "run":"3fa9c1d2-2","attempt":1, …, "crc":"1c291ca3"}	(in one line)
 *
 * An event is written with one write(2) behind the end of the file, and is on the disk (fdatasync)
 * when journal_append returns: before the act that it announces, after the fact that it tells. When
 * it cannot be written the file is as it was before. journal_append_more leaves out the fdatasync:
 * events that tell of one fact are on the disk together, with the journal_append of the last one.
 *
 *	r = journal_open(path, seen, ctx, &j, &said, &err)	all events, then ready for more
 *	journal_append(j, "intend", run, attempt, fields, &err)
 *	journal_close(j)
 *
 * `seq` counts from 1; `crc` is CRC-32 (ISO 3309, as zlib and gzip have it) over the line up to the
 * comma in front of "crc", in hexadecimal. After a crash or a full disk the last line may be torn:
 * it is moved to PATH.torn and said. A damaged line that others follow, or a number that is
 * missing, is -EBADMSG with its line: then nothing is changed, since what has happened is not
 * known.
 *
 * One process has a journal open at a time; the lock of the campaign sees to that.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define JOURNAL_LINE_MAX ((size_t)1 << 20)

struct journal;

struct journal_event {
	uint64_t seq;
	int64_t t_ns; /* CLOCK_REALTIME */
	const char *boot_id, *ev;
	const char *run; /* NULL: of the campaign */
	int64_t attempt; /* 0: of the run */
	int64_t end;     /* bytes of the file up to the end of its line; 0: not known */
	json_t *all;     /* borrowed during the call */
};

/* < 0 ends journal_open with that. */
typedef int journal_seen(void *ctx, const struct journal_event *e, struct err *err);

struct journal_said {
	uint64_t events;
	size_t torn_bytes; /* moved away; 0: none */
};

/* Makes the file when it is missing. said may be NULL. */
int journal_open(const char *path, journal_seen *seen, void *ctx, struct journal **ret,
		 struct journal_said *said, struct err *err);
/*
 * run NULL: of the campaign; attempt 0: of the run. fields: an object whose members are added, or
 * NULL; stolen, also on failure.
 */
int journal_append(struct journal *j, const char *ev, const char *run, int64_t attempt,
		   json_t *fields, struct err *err);
/* The same, but a crash of the machine may take the event until the next journal_append returns. */
int journal_append_more(struct journal *j, const char *ev, const char *run, int64_t attempt,
			json_t *fields, struct err *err);
/* Reads without writing, also while another process appends: a torn end is passed over. */
int journal_look(const char *path, journal_seen *seen, void *ctx, struct journal_said *said,
		 struct err *err);
uint64_t journal_events(const struct journal *j);
/* Of the last event that was appended: t_ns, and where its line ends; the boot's id of all. */
int64_t journal_last_ns(const struct journal *j);
int64_t journal_bytes(const struct journal *j);
const char *journal_boot(const struct journal *j);
void journal_close(struct journal *j); /* NULL is fine */

/* How far a reader has come; all zero: the beginning. */
struct journal_place {
	uint64_t events;
	int64_t bytes;
};
/*
 * Reads the events behind a place, which moves on with each, and changes nothing: also beside the
 * campaign that writes. It stops in front of a last line that is torn, or not yet whole.
 * -ENOENT: there is no journal; -ESTALE: it is shorter than the place, so it is another one;
 * -EBADMSG as above.
 */
int journal_follow(const char *path, struct journal_place *place, journal_seen *seen, void *ctx,
		   struct err *err);

/* ns of CLOCK_REALTIME of "2026-03-04T05:06:07.000000008Z", with any number of digits; 0: none. */
int64_t journal_time_ns(const char *utc);

/* CRC-32 of n bytes. */
uint32_t journal_crc(const void *data, size_t n);

#endif
