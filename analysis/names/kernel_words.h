/*
 * kernel_words: the words of a kernel's name, for the grammars of kernel_name.h.
 *
 * An identifier ("ampere_sgemm_32x128_tn") is cut at its underscores. Each grammar takes the
 * identifier's words and returns whether they are its own; then it has filled the struct.
 */
#ifndef PROFRIG_KERNEL_WORDS_H
#define PROFRIG_KERNEL_WORDS_H

#include <stddef.h>

#include "profrig/names/kernel_name.h"

#define KERNEL_WORDS_MAX 256

struct kernel_word {
	const char *p;
	size_t n;
};

struct kernel_words {
	const char *text; /* the identifier */
	size_t n;
	struct kernel_word v[KERNEL_WORDS_MAX];
	size_t nr;
	const char *whole; /* the whole name, for what stands beside the identifier */
};

bool word_is(const struct kernel_word *w, const char *text);
bool word_begins(const struct kernel_word *w, const char *text);
/* Whether the name has this part, in its own case. */
bool words_have(const struct kernel_words *w, const char *part);
/*
 * Numbers with 'x' between them behind a prefix ("MT128x64x32"): how many, at most 3; 0 when the
 * word is something else. None is 0 or above KERNEL_NUMBER_MAX.
 */
unsigned word_numbers(const struct kernel_word *w, const char *prefix, uint32_t *ret);
/* One number behind a prefix; false, and *ret as it was, when the word is something else. */
bool word_number(const struct kernel_word *w, const char *prefix, uint32_t *ret);
/* "nn", "tnt": the layout of A and B in capitals; false when the word is none. */
bool word_layout(const struct kernel_word *w, char *ret);
/* A type as libraries write it ("f16", "half", "e4m3") → ours; NULL. */
const char *type_of_word(const char *p, size_t n);

bool kernel_tensile(const struct kernel_words *w, struct kernel_name *k);
bool kernel_xmma(const struct kernel_words *w, struct kernel_name *k);
bool kernel_blas(const struct kernel_words *w, struct kernel_name *k);
bool kernel_nvjet(const struct kernel_words *w, struct kernel_name *k);
bool kernel_miopen(const struct kernel_words *w, struct kernel_name *k);
bool kernel_nccl(const struct kernel_words *w, struct kernel_name *k);

#endif
