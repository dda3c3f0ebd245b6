/*
 * format_duplicates: one recording in several formats, file beside file, as rocprof and rocprofv3
 * write it. Read together, everything in it would count once for each format. So one format is
 * read: a whole one before a damaged one, then the one with most records, then the one with the
 * richest reader. The others are left out, with a warning that lists what only they have.
 *
 *	1. format_duplicates_gather with the files to be read: keeps those that, by their names and
 *	   first bytes, may be of one recording
 *	2. format_duplicates_decide counts the records of each format of such a recording
 *	3. format_duplicates_why of each file before it is read
 */
#ifndef PROFRIG_FORMAT_DUPLICATES_H
#define PROFRIG_FORMAT_DUPLICATES_H

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/readers/reader.h"
#include "profrig/session/session.h"

/* Kinds of things that are compared. */
enum { DUPLICATE_WORK, DUPLICATE_CALLS, DUPLICATE_SAMPLES, DUPLICATE_KINDS };

struct format_duplicates {
	VEC(struct duplicate_file {
		char *path, *recording;
		const struct reader *reader;
		bool whole;
		char *problem; /* of one that is not whole */
		uint64_t nr[DUPLICATE_KINDS];
		const char *code; /* of the warning that it is left out; NULL: it is read */
		char *why;
	}) files;
};

/* May be called several times; each call compares the files of its own paths alone. */
void format_duplicates_gather(struct format_duplicates *e, const struct strvec *paths);
void format_duplicates_decide(struct format_duplicates *e, const struct session_opts *so);
/* NULL: it is to be read; else *ret_code is the warning's. Borrowed. */
const char *format_duplicates_why(const struct format_duplicates *e, const char *path,
				  const char **ret_code);
/* Whether the archive that this reader finds in a folder is left out. */
bool format_duplicates_hide(const struct format_duplicates *e, const char *dir,
			    const struct reader *reader);
void format_duplicates_release(struct format_duplicates *e);

#endif
