/*
 * operator_parts: the spans of a model in parts that have nothing to do with each other: whatever
 * launched the work of a device lies in one part, with all spans of its track. Of a job that is a
 * part for each rank, as a rule; a device whose launches lie far apart makes one part of all that
 * is between them.
 *
 * What is done part by part reads and writes memory that lies together, which counts where memory
 * is a file (spill.h): each page comes once and goes once. O(w + d log d) in works and devices.
 */
#ifndef PROFRIG_OPERATOR_PARTS_H
#define PROFRIG_OPERATOR_PARTS_H

#include "profrig/work/works.h"

struct operator_part {
	size_t from, to;   /* spans [from, to): whole tracks */
	uint32_t *devices; /* of works, ascending: those that they launched work on */
	size_t nr;
};

/* Together all spans, in order, and all devices; those without any launch are in the first one. */
struct operator_parts {
	VEC(struct operator_part) v;
	uint32_t *devices; /* of all parts */
};

struct operator_parts *operator_parts_new(const struct works *w);
void operator_parts_free(struct operator_parts *parts); /* NULL is fine */

#endif
