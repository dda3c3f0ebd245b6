/*
 * bench_key: reads the canonical key of a library call (docs/library.md), which is a name of an
 * operation and NAME=VALUE words between single blanks:
 *
 *	gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 lda=64 ldb=32 ldc=64 alpha=1 beta=0
 *
 * Keys come from logs, which are hostile: at most BENCH_KEY_MAX bytes and BENCH_KEY_WORDS words of
 * printable ASCII; a word that stands twice, has no name or no value is -EINVAL.
 *
 *	bench_key_parse(text, &k, err)		copies the text into k, which owns nothing else
 *	bench_key_word(&k, "ta")		"N"; NULL: there is none
 *	bench_key_int(&k, "lda", 64, &lda, err)	its number, or 64 when there is none
 *	bench_key_unused(&k)			the first word that has not been read; NULL: none
 */
#ifndef PROFRIG_BENCH_KEY_H
#define PROFRIG_BENCH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define BENCH_KEY_MAX ((size_t)2048)
#define BENCH_KEY_WORDS 64

struct bench_key {
	char text[BENCH_KEY_MAX + 1]; /* with NUL where words and values end */
	size_t nr;
	struct bench_key_word {
		const char *name, *value; /* in text: a copy of the struct points to the old one */
		bool used;
	} words[BENCH_KEY_WORDS];
};

int bench_key_parse(const char *text, struct bench_key *ret, struct err *err);
const char *bench_key_operation(const struct bench_key *k);
const char *bench_key_word(struct bench_key *k, const char *name);
/* -EINVAL: it is no integer. */
int bench_key_int(struct bench_key *k, const char *name, int64_t otherwise, int64_t *ret,
		  struct err *err);
/* A finite number; re and im for "0.5" and "1+2i", as logs of complex scalars have them. */
int bench_key_number(struct bench_key *k, const char *name, double otherwise, double ret[2],
		     struct err *err);
const char *bench_key_unused(const struct bench_key *k);

#endif
