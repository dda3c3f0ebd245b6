/*
<<<<<<< HEAD
 * The anchor of an OTF2 archive and the names of its files, looked at before libotf2 opens them.
 * The records of its other files: otf2_walk.h.
=======
 * otf2_files: checks the files of an OTF2 archive before libotf2 opens them. libotf2 reads a chunk
 * that is cut short again and again, for ever. So every file is walked once here, record by record,
 * and libotf2 gets the number of records that are really there.
>>>>>>> w-words
 */
#ifndef OTF2_FILES_H
#define OTF2_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define OTF2_SUFFIX ".otf2"

bool otf2_has_suffix(const char *name);
bool otf2_is_anchor(const unsigned char *head, size_t n);
/* path itself, or the one anchor in a directory. Owned. -ENOENT none, -EINVAL several. */
int otf2_find_anchor(const char *path, char **ret_anchor, struct err *err);
/* 0: a regular file with the first bytes of an anchor, no larger than the limit of one. */
int otf2_check_anchor(const char *anchor, struct err *err);
bool otf2_claims(const char *dir, const char *rel);

<<<<<<< HEAD
=======
struct otf2_scan {
	uint64_t records; /* number of whole records */
	bool complete;    /* the last one is the end mark of a writer */
	char why[128];    /* of !complete */
};

enum otf2_file_kind { OTF2_FILE_EVENTS, OTF2_FILE_DEFINITIONS };

/*
 * Walks a file of fixed-size chunks (the anchor says how large). Memory stays constant. -ENOENT
 * absent, -EBADMSG no such file at all; a damaged or cut file is success with complete = false.
 */
int otf2_scan_file(const char *path, uint64_t chunk_bytes, enum otf2_file_kind kind,
		   struct otf2_scan *ret, struct err *err);
/* Whether a call begins in the readable part of a file of events. */
bool otf2_scan_calls(const char *path, uint64_t chunk_bytes);
/* The time of its first event, 0 when there is none. */
uint64_t otf2_scan_first_ticks(const char *path, uint64_t chunk_bytes);

>>>>>>> w-words
#endif
