/*
 * library_mask: what is equal in all records of a configuration, for parsers whose records differ
 * from call to call in addresses and times.
 *
 * `mask` of a parser copies a record's text without what differs and reads the times that are in
 * it; it understands nothing else. Two records of equal masked texts, read in the same state of
 * the parser, are calls of one configuration, process and rank: library_log.c splits the first of
 * them and finds the others by a hash. So every byte that could change what `split` says of a
 * record belongs into the masked text, which is never wrong but for speed.
 *
 * What is left out stands there as a line end, which no record has. It is a word of digits between
 * blanks or punctuation, so that no marker begins, ends or lies in it.
 */
#ifndef ANALYSIS_LIBRARY_MASK_H
#define ANALYSIS_LIBRARY_MASK_H

#include "library_parser.h"

struct log_mask {
	char text[LIBRARY_BEFORE_MAX + LIBRARY_TEXT_MAX + 64];
	size_t n;
	/* as in struct log_facts, unknown before */
	int64_t t_ns, dur_ns;
	bool odd_time;
};

void mask_clear(struct log_mask *m);
/* Adds a part as it is. A record's text and what stands before it have room. */
void mask_add(struct log_mask *m, struct text_slice t);
/* Adds what stands for a word that was left out. */
void mask_word(struct log_mask *m);
/*
 * Adds a part without its addresses ("0x7f…", "0X7F…"; null stays). keep: the word in front of an
 * address that stays, "comm "; NULL.
 */
void mask_addresses(struct log_mask *m, struct text_slice t, const char *keep);

#endif
