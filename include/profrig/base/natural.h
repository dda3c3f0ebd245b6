/*
 * natural: the order of names as people read them: runs of digits count by value, "gpu2" before
 * "gpu10". A number of any length is fine.
 */
#ifndef PROFRIG_NATURAL_H
#define PROFRIG_NATURAL_H

/* As strcmp; 0 only for equal strings: of equal numbers the one with leading zeros comes first. */
int natural_cmp(const char *a, const char *b);

#endif
