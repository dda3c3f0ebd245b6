/*
 * otf2_walk: the records of one file of an OTF2 archive, in the order of the file.
 *
 *	otf2_walk_open(&w, path, chunk_bytes, OTF2_FILE_EVENTS, &err)
 *	while (otf2_walk_next(&w, &record))
 *		…
 *	w.complete, w.why	how the file ended
 *	otf2_walk_close(&w)
 *
 * A file is a row of chunks of one size, the last one as long as it is. A chunk:
 *
 *	03 B first:8 last:8	header; B = 42 little endian, 23 big endian; numbers of its first
 *				and last record (event files)
 *	05 time:8		the time of the events after it (event files)
 *	06 len …		attributes of the event after it, behind its time (event files)
 *	type len …		a record, type >= 10 in event files; len is one byte, or ff and
 *				eight bytes
 *	00			the chunk ends here, the next one begins at its own place
 *	02			the file ends here
 *
 * A number is a byte n and n bytes in the chunk's order; n = ff: none (all bits set). Some event
 * records are one such number without a length of their own.
 *
 * Why not libotf2: it believes what a file says about itself, reads a cut file for ever, and takes
 * five times as long for an event. It still reads the definitions, which are as many as regions
 * and not as events. A walk compares each step with the chunk and the file, and stops at the first
 * record that does not fit.
 *
 * A walk holds one descriptor and a buffer of OTF2_WALK_BUFFER bytes, or as large as the record
 * that is read. One thread at a time; several walks know nothing of each other.
 */
#ifndef OTF2_WALK_H
#define OTF2_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profrig/base/err.h"
#include "profrig/base/vec.h"

#define OTF2_WALK_BUFFER ((size_t)64 << 10)

enum otf2_file_kind { OTF2_FILE_EVENTS, OTF2_FILE_DEFINITIONS };

/* Types of event records that more than one place asks for; otf2_events.c has all of them. */
enum {
	OTF2_MARK_TIME = 5,
	OTF2_EVENT_ENTER = 12,
	OTF2_EVENT_LEAVE = 13,
	OTF2_EVENT_PARAMETER_UINT = 34,
	OTF2_EVENT_CONTEXT_ENTER = 66
};

/* The bytes of a record, read from the front. bad: a number goes beyond them or is too large. */
struct otf2_fields {
	const unsigned char *p, *end;
	bool big_endian, bad;
};

/* Valid until the walk goes on. */
struct otf2_record {
	unsigned char type;
	uint64_t ticks; /* as recorded; events only */
	struct otf2_fields fields;
};

struct otf2_walk {
	bool complete;    /* the file ended with the mark that a writer puts at the end */
	char why[128];    /* of !complete, after otf2_walk_next returned false */
	uint64_t records; /* returned so far */
	/* private */
	int fd;
	enum otf2_file_kind kind;
	uint64_t size, chunk_bytes, chunk_end; /* of the file; of a chunk; where this one ends */
	uint64_t next;                         /* place in the file of `end` */
	unsigned char *buf;                    /* owned */
	size_t room;
	const unsigned char *p, *end; /* read into buf and not yet returned */
	uint64_t left;                /* records of this chunk that its header states */
	uint64_t ticks;
	bool big_endian;
	bool announced;            /* a time or attributes came, and now their event */
	VEC(unsigned char) extras; /* attributes of the last record */
};

/* -ENOENT absent, -EBADMSG no such file at all. Closed by otf2_walk_close in any case. */
int otf2_walk_open(struct otf2_walk *w, const char *path, uint64_t chunk_bytes,
		   enum otf2_file_kind kind, struct err *err);
void otf2_walk_close(struct otf2_walk *w);
/* Notes why a record that was returned cannot be used: the walk ends there. */
void otf2_walk_refuse(struct otf2_walk *w);
/* Attributes of the last record; none: no bytes. */
static inline struct otf2_fields otf2_walk_attributes(const struct otf2_walk *w)
{
	const unsigned char *p = w->extras.v;

	return (struct otf2_fields){ p, p ? p + w->extras.nr : NULL, w->big_endian, false };
}

static inline uint64_t otf2_bytes(const unsigned char *p, size_t n, bool big_endian)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[big_endian ? i : n - 1 - i];
	return v;
}

static inline uint8_t otf2_byte(struct otf2_fields *f)
{
	if (f->p == f->end) {
		f->bad = true;
		return 0;
	}
	return *f->p++;
}

/* n bytes as they are. */
static inline uint64_t otf2_full(struct otf2_fields *f, size_t n)
{
	if ((size_t)(f->end - f->p) < n) {
		f->bad = true;
		f->p = f->end;
		return 0;
	}
	f->p += n;
	return otf2_bytes(f->p - n, n, f->big_endian);
}

/* The next number, of `most` bytes at most: 4 or 8. */
static inline uint64_t otf2_number(struct otf2_fields *f, size_t most)
{
	size_t n = otf2_byte(f);

	if (n == 0xff)
		return most == 4 ? UINT32_MAX : UINT64_MAX;
	f->bad |= n > most;
	return f->bad ? 0 : otf2_full(f, n);
}

bool otf2_walk_step(struct otf2_walk *w, struct otf2_record *ret);

/* Which one it is becomes part of the arithmetic: of ?: a compiler may make a branch. */
static inline size_t otf2_either(bool first, size_t a, size_t b)
{
	return b ^ ((a ^ b) & -(size_t)first);
}

/* A time, a type, a number: what the way of most records looks at. */
#define OTF2_USUAL_BYTES 32

/*
 * The next record; false at the end of the file or where it is damaged. Most of a file is a time,
 * then an enter or leave with a number of at most eight bytes. All that a record has to wait for is
 * where the one before it ends, so lengths are read at both places where they may be, with a time
 * and without: not one load after the other, and no branch that fails wherever a time is left out.
 */
static inline bool otf2_walk_next(struct otf2_walk *w, struct otf2_record *ret)
{
	const unsigned char *p = w->p, *record;
	uint64_t ticks;
	size_t length;
	bool timed;

	if (__builtin_expect(w->end - p < OTF2_USUAL_BYTES || w->big_endian || w->announced ||
				     w->left == 0 || w->extras.nr,
			     0))
		return otf2_walk_step(w, ret);
	timed = *p == OTF2_MARK_TIME;
	record = p + otf2_either(timed, 9, 0);
	length = otf2_either(timed, p[10], p[1]);
	if ((*record != OTF2_EVENT_ENTER && *record != OTF2_EVENT_LEAVE) || length > 8 ||
	    w->kind != OTF2_FILE_EVENTS)
		return otf2_walk_step(w, ret);
	memcpy(&ticks, p + 1, sizeof(ticks));
	w->ticks = otf2_either(timed, ticks, w->ticks);
	w->p = record + 2 + length;
	w->left--;
	w->records++;
	*ret = (struct otf2_record){ *record, w->ticks, { record + 1, w->p, false, false } };
	return true;
}

#endif
