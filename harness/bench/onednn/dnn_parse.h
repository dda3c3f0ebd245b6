/* dnn_parse: what the files that read keys (dnn_op.h) share. */
#ifndef DNN_PARSE_H
#define DNN_PARSE_H

#include "dnn_words.h"

#define TRY(...) \
	do { \
		int try_ = (__VA_ARGS__); \
		if (try_ < 0) \
			return try_; \
	} while (0)

/*
 * How many spatial dimensions `dims` has, and those that begin with this letter, at the end of ret;
 * none is a dimension that others do not tell.
 */
int dnn_spatial(const char *dims, char letter, struct dnn_op *op, int64_t ret[DNN_SPATIAL_MAX],
		struct err *err);
/* Pooling, normalisations, softmax, eltwise. */
int dnn_layer_of(struct bench_key *k, struct dnn_op *op, struct err *err);
/* Sets op->flops and op->bytes. -ERANGE: 2^63 or more. */
int dnn_work(struct dnn_op *op, unsigned __int128 flops, unsigned __int128 bytes, struct err *err);
/* Of source, weights and result, each once. */
unsigned __int128 dnn_bytes_once(const struct dnn_op *op);

#endif
