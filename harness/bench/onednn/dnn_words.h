/* dnn_words: words of keys (dnn_op.h) that several operations have. */
#ifndef DNN_WORDS_H
#define DNN_WORDS_H

#include "dnn_op.h"

#include "profrig/bench/bench_key.h"

#define DNN_SIZE_MAX (INT64_C(1) << 40)

/* "f32", "i8" → DNN_S8 … -EINVAL: NULL, "" ; -ENOTSUP: none of oneDNN's. */
int dnn_word_type(const char *word, enum dnn_type *ret, struct err *err);
/* A size of at least min. */
int dnn_word_size(struct bench_key *k, const char *name, int64_t otherwise, int64_t min,
		  int64_t *ret, struct err *err);
/* "3x3x3" to the last of ret; `nr` numbers of at least min. */
int dnn_word_list(const char *name, const char *word, int nr, int64_t min, int64_t *ret,
		  struct err *err);
/* How many numbers "3x3x3" has. */
int dnn_list_length(const char *word);
/* The number behind a name in "mb2ic64_ih32oh16"; -ENOENT: there is none. */
int dnn_pair(const char *text, const char *name, int64_t min, int64_t *ret, struct err *err);
/* The layout of "TAG", "TAG:a", "TAG:p:256x1"; *t has its dimensions already. */
int dnn_word_layout(const char *word, struct dnn_tensor *t, struct err *err);
/* "f32:abcd": type and layout; the dimensions are there already. */
int dnn_word_md(const char *name, const char *word, struct dnn_tensor *t, struct err *err);
/* -ERANGE: no memory has so many elements. */
int dnn_bound(const struct dnn_tensor *t, struct err *err);
/*
 * The word `with`: properties, algorithm, bias, post-operations. bias: its dimension becomes that
 * of op->of[DNN_BIA]; 0: the operation has none. out: to this text, of 80 bytes.
 */
int dnn_words_with(struct bench_key *k, struct dnn_op *op, int64_t bias, char *out,
		   struct err *err);

#endif
