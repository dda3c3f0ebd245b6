/*
 * library_words: the command line that a log of a library prints, as options and values. Nothing is
 * copied; a text is split once and looked up by name.
 *
 *	struct library_words w;
 *	words_split(&w, text);
 *	words_int(&w, "-m", &m)			1 found, 0 not there, -EINVAL no number
 *	…
 *	words_rest(&w, rest)			options that were not asked for
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
 * it, if it is no option, its value, which may also follow a long name as "--name=value".
 */
void words_split(struct library_words *w, struct text_slice text);
/*
 * A command up to what is no part of it: where a shell's quotes, pipes, redirections and comments
 * begin, and a progress bar ("50%|###"). Without blanks behind it.
 */
struct text_slice words_command(struct text_slice text);
/*
 * words_split of a command in which other words than options and their values may follow, as what
 * another program has written behind it: they are left out. false: an option has lost its name.
 */
bool words_split_options(struct library_words *w, struct text_slice command);
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
/*
 * The options that are not used, by name, and those of one name in their order; what stands twice
 * with one value is there once. Returns how many.
 */
size_t words_rest(const struct library_words *w, const struct library_option *ret[WORDS_MAX]);

#endif
