/*
 * library_marker: the first marker of any parser in a line.
 *
 * A text is looked at 16 bytes at a time for what few bytes tell that a marker is near: its
 * anchors, single rare bytes ('!', 'L') and pairs ("bl", "er"), chosen so that every marker has one
 * of them. Around an anchor, markers are compared at each place.
 */
#ifndef ANALYSIS_LIBRARY_MARKER_H
#define ANALYSIS_LIBRARY_MARKER_H

#include "library_lanes.h"
#include "library_parser.h"

#define MARKERS_MAX 160
#define ANCHORS_MAX 16

struct marker_place {
	const struct log_marker *m;
	size_t n;
	size_t parser;
	unsigned pair; /* its first two bytes */
	size_t last;   /* the one before it that begins with them, too; nr of the set: none */
	size_t anchor; /* where it has its anchor */
};

struct marker_set {
	struct marker_place v[MARKERS_MAX];
	size_t nr;
	uint64_t pairs[65536 / 64];
	/* first and second byte of an anchor, in each lane; the singles are in front and have no
	 * second one */
	lanes anchors[ANCHORS_MAX][2];
	size_t singles, anchors_nr;
	/* the markers, by the byte that their anchor begins with: those of byte c are near[i] with
	 * near_begin[c] <= i < near_begin[c + 1] */
	struct marker_near {
		uint16_t pair;          /* its first two bytes */
		unsigned char mark, at; /* at: where it has its anchor */
	} near[MARKERS_MAX];
	unsigned char near_begin[256 + 1];
	size_t reach; /* how far in a marker its anchor begins, at most */
	const struct library_parser *const *parsers;
};

struct found_marker {
	size_t mark, at; /* mark = nr of the set: none */
};

/* Adds the markers of all parsers; set is zeroed. */
void marker_set_fill(struct marker_set *set, const struct library_parser *const *parsers, size_t n);
bool marker_is_at(const struct marker_set *set, size_t mark, struct text_slice line, size_t at);
/* The first marker that begins at or behind `from`; of two at one place the one listed first. */
void marker_find(const struct marker_set *set, struct text_slice line, size_t from,
		 struct found_marker *ret);

#endif
