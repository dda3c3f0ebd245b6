/*
 * library_args: a call of BLAS as the list of its arguments, in the order of the function's
 * prototype (rocBLAS's trace, MKL_VERBOSE), to its key.
 *
 * Pointers and work that is no number are given as logged and not looked at. Scalars that are given
 * by address are unknown.
 */
#ifndef ANALYSIS_LIBRARY_ARGS_H
#define ANALYSIS_LIBRARY_ARGS_H

#include "library_parser.h"

/*
 * name: of blas_name. RECORD_TORN: arguments are missing, or one is no size; RECORD_FOREIGN: a
 * function whose arguments are not known; nothing is in k then.
 */
enum record_is args_key(const struct blas_name *name, const struct text_slice *args, size_t nr,
			const char *operation, struct library_key *k);
/* The names of the arguments, "ta tb m n …"; NULL: they are not known. */
const char *args_of(const struct blas_name *name);

/* "f8_f8_f32": types of both factors, as they are computed with, and of the sum. */
bool type_is_composite(struct text_slice v);
/* A complex scalar as a key has it: "2", "2+1i", or "2" where the other part is no number. */
void complex_fmt(char buf[32], const char *re, const char *im);

/* Whether a function of BLAS has the argument "lda", "beta", …; "t": a matrix may be transposed.
 * false, too: the function's arguments are not known. */
bool args_has(const char *function, const char *arg);

/*
 * Splits "a,b,(c,d)" at commas outside of brackets; returns the count, at most max + 1 when there
 * are more.
 */
size_t args_split(struct text_slice text, struct text_slice *ret, size_t max);

#endif
