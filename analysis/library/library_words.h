/*
 * library_words: the command line that a log of a library prints, as options and values. Nothing is
 * copied; a text is split once and looked up by name.
 *
 *	struct library_words w;
 *	words_split(&w, text);
 *	words_int(&w, "-m", &m)			1 found, 0 not there, -EINVAL no number
 *	…
 *	words_unused(&w, fn, ctx)		options that were not asked for
 */
#ifndef ANALYSIS_LIBRARY_WORDS_H
#define ANALYSIS_LIBRARY_WORDS_H

#include "text_slice.h"

#include <stdbool.h>
#include <stdint.h>

#define WORDS_MAX 768 /* options of a record, that of a group of products too */

struct library_words {
	struct text_slice program; /* first word */
	struct text_slice verb;    /* second word, when it is no option; else empty */
	size_t nr;
	bool too_many;
	struct library_option {
		struct text_slice name, value; /* "--lda", "64"; value.n = 0: a flag */
		bool used;
	} v[WORDS_MAX];
};

/*
 * A word that begins with '-' and is no number ("-1", "-.5", "-inf") is an option; the word behind
 * it is its value, if it is no option.
 */
void words_split(struct library_words *w, struct text_slice text);
/* The value of an option by its short or long name (NULL: it has one), marked as used; NULL: it is
 * not there. Of a repeated one the first. */
const struct text_slice *words_get(struct library_words *w, const char *name, const char *other);
/* The same; *ret_twice: an option of these names that has another value, else untouched; NULL. */
const struct text_slice *words_find(struct library_words *w, const char *name, const char *other,
				    struct text_slice *ret_twice);
/* 1: there is one, *ret has its value; 0: none, *ret is untouched; -EINVAL: it is no number. */
int words_int(struct library_words *w, const char *name, const char *other, int64_t *ret);
/* Marks options that are not looked at: "-i|-j|--iters". */
void words_ignore(struct library_words *w, const char *list);
/* Whether an option stands twice with different values. */
bool words_conflict(const struct library_words *w, struct text_slice *ret_name);
/* The next option after *at that is not used; false: no more. Begin with *at = 0. */
bool words_unused(const struct library_words *w, size_t *at, const struct library_option **ret);

#endif
