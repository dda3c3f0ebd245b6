/*
 * library_block: the records of several lines that cuBLAS and cuDNN log, one block for each call of
 * a function; collected here, keyed by parse_cublas.c and parse_cudnn.c.
 *
 *	I! cuBLAS (v13.4.1) function cublasStatus_t cublasSgemm_v2(…types…) called:
 *	i!  m: type=int; val=512
 *	i!  A: type=float; val=POINTER (IN HEX:0x0x504e20400)
 *	i! Time: 2026-09-11T18:38:49 elapsed from start …
 *	i!Process=14102; Thread=129943171284992; GPU=0; …; MathMode=CUBLAS_DEFAULT_MATH
 *	i! COMPILED WITH: …
 *
 *	I! CuDNN (v7603) function cudnnConvolutionForward() called:
 *	i!     xDesc: type=cudnnTensorDescriptor_t:
 *	i!         dimA: type=int; val=[1,64,24,24];
 *	i! Time: 2019-06-04T18:09:15.727680 (0d+0h+0m+5s since start)
 *	i! Process=18690; Thread=18798; GPU=0; Handle=…; StreamId=….
 *
 * A block is complete at its Process line: what the call hands on to another library is logged
 * behind that. One without such a line ends at the next "I!", or with the log, and is a call if it
 * has all sizes. Arguments outside of a block, and twice the same argument in one, come from ranks
 * that write at the same time, or from a lost beginning: torn. The first line of a block is counted
 * as what the block is, the others as information. Each line may have other text in front (stamps
 * of a build server, a launcher's prefix, a progress bar).
 *
 * cuDNN 9 ("v91200 46") logs a second block of each call, which has its status alone.
 *
 * What parse gets, a line each: "cuBLAS" or "cuDNN" and the function, then the arguments as logged,
 * '*' for addresses, without handle and stream; at last the mode of arithmetic that cuBLAS's
 * Process line tells.
 */
#ifndef ANALYSIS_LIBRARY_BLOCK_H
#define ANALYSIS_LIBRARY_BLOCK_H

#include "library_parser.h"

struct block_argument {
	size_t depth;                        /* blanks in front */
	struct text_slice name, type, value; /* value without the ';' behind it */
};
/* Cuts the next argument off the text of a block; false: no more. */
bool block_next(struct text_slice *rest, struct block_argument *ret);
/* Cuts "cuBLAS " and the function off; *bare: blocks of this log have no arguments. */
struct text_slice block_function(struct text_slice *rest, bool *bare);
/* "CUBLAS_OP_T(1)", "CUDNN_DATA_FLOAT (0)" → without the number. */
struct text_slice block_word(struct text_slice v);

/* As `parse` of a parser. */
enum record_is cublas_block_key(struct text_slice text, struct library_key *k);
enum record_is cudnn_block_key(struct text_slice text, struct library_key *k);
/* Whether a function only creates, sets, asks or searches: a block of it is no call. */
bool cublas_is_info(struct text_slice function);
bool cudnn_is_info(struct text_slice function);

#endif
