/*
 * onednn_desc: the two descriptors in a line of oneDNN: of each memory, and of the problem.
 *
 * Memory, separated by blanks:
 *	src:f32:a:blocked:ab:256x1:f0		3.6 and later, with v1: strides unless dense
 *	src_f32:a:blocked:ab:256x1:f0		3.2 and later
 *	src_f32:a:blocked:ab:f0			1.0 and later
 *	fsrc:nChw8c, in:f32_nchw		0.x
 * as name, type, properties (a: the library chose the format, p: padded, …), kind, tag.
 *
 * Problem:
 *	g4mb1_ic16oc16_ih28oh12kh5sh2dh1ph2_…	pairs of a name and a number
 *	16x64x128:16x128x32			lists of extents; "*": known at run time only;
 *						that of the result is often left out
 */
#ifndef ANALYSIS_ONEDNN_DESC_H
#define ANALYSIS_ONEDNN_DESC_H

#include "library_parser.h"

#define ONEDNN_MDS_MAX 128
#define ONEDNN_PAIRS_MAX 40
#define ONEDNN_EXTENTS_MAX 12
#define ONEDNN_LISTS_MAX ONEDNN_MDS_MAX

struct onednn_md {
	struct text_slice name; /* without "diff_": "src", "wei", "bia", "dst", "data" */
	bool diff;
	struct text_slice type_name;     /* empty: the log does not tell */
	const struct element_type *type; /* NULL: unknown */
	struct text_slice props, kind, tag, strides, rest;
	bool old;  /* a form without strides: they may be any */
	bool none; /* the call has no such memory */
};

/* Returns the count, at most max + 1 when there are more. */
size_t onednn_mds(struct text_slice text, struct onednn_md *ret, size_t max);
/* The first of a name; NULL: there is none. */
const struct onednn_md *onednn_md_named(const struct onednn_md *v, size_t nr, const char *name);
/* "f32:abcd", and the other parts where they are not the usual ones. */
void onednn_md_text(const struct onednn_md *m, bool with_type, struct strbuf *sb);

struct onednn_extents {
	size_t nr;
	int64_t v[ONEDNN_EXTENTS_MAX]; /* DIM_NONE: "*" */
};

struct onednn_problem {
	size_t pairs, lists; /* one of them is 0 */
	struct onednn_pair {
		struct text_slice name;
		int64_t v;
		bool real; /* "beta0.75": no size */
	} pair[ONEDNN_PAIRS_MAX];
	struct onednn_extents list[ONEDNN_LISTS_MAX];
};

/* false: it is neither. */
bool onednn_problem(struct text_slice text, struct onednn_problem *ret);
/* other: the value where there is none. */
int64_t onednn_pair(const struct onednn_problem *p, const char *name, int64_t other);

#endif
