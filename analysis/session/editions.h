/*
 * editions: one recording in several formats, file beside file, as rocprof and rocprofv3 write it.
 * Read together, everything in it would count once for each format. So one format is read: one that
 * is whole before one that is not, then the one with most in it, then the one that can say most.
 * The others are left out, and what they have that the chosen one lacks is told.
 *
 *	1. editions_gather with the files that are going to be read: by their names, then by their
 *	   beginnings, those are kept that may be of one recording
 *	2. editions_decide counts what each format of such a recording holds
 *	3. editions_why of each file before it is read
 */
#ifndef PROFRIG_EDITIONS_H
#define PROFRIG_EDITIONS_H

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/readers/reader.h"

/* Kinds of things that are compared. */
enum { EDITION_WORK, EDITION_CALLS, EDITION_SAMPLES, EDITION_KINDS };

struct editions {
	VEC(struct edition_file {
		char *path, *recording;
		const struct reader *reader;
		bool whole;
		char *problem; /* of one that is not whole */
		uint64_t nr[EDITION_KINDS];
		const char *code; /* of the warning that it is left out; NULL: it is read */
		char *why;
	}) files;
};

/* May be called several times; each call compares the files of its own paths alone. */
void editions_gather(struct editions *e, const struct strvec *paths);
void editions_decide(struct editions *e);
/* NULL: it is to be read; else *ret_code is the warning's. Borrowed. */
const char *editions_why(const struct editions *e, const char *path, const char **ret_code);
/* Whether what this reader makes of a folder as a whole is an archive in it that is left out. */
bool editions_hides(const struct editions *e, const char *dir, const struct reader *reader);
void editions_release(struct editions *e);

#endif
