/*
 * direct_call: one call of a library as a program would make it, from nothing but the words of a
 * key. It shares no code with harness/bench, so that what lib perf measures can be held against it.
 *
 *	direct_call_make() → once(), … ; a call lives as long as its process
 *
 * BLAS: gemm and gemv in f32, by the functions of CBLAS, column-major. oneDNN 2: gemm (as matmul),
 * convolutions of two dimensions and inner products, in all three directions, in f32. Anything
 * else ends the process with status DIRECT_UNSUPPORTED and a message.
 *
 * Operands are uniform in [-1, 1]. The weights (of a BLAS: A) have as many copies as `rotate` bytes
 * take, and each call has the next one; 0: the same in each call. All else is the same in each
 * call. What a key leaves open is alpha 1, beta 0; `other` is 0.5.
 */
#ifndef DIRECT_CALL_H
#define DIRECT_CALL_H

#include <stdbool.h>
#include <stddef.h>

enum { DIRECT_FAILED = 1, DIRECT_USAGE, DIRECT_UNSUPPORTED };

struct direct_call {
	void (*once)(struct direct_call *c);
	size_t copies, at; /* of the weights */
	void *lib;         /* of dlopen */
};

/* By the functions of the library in that file; ends the process when that cannot be. */
struct direct_call *direct_call_make(const char *library, const char *key, size_t rotate);
struct direct_call *direct_onednn_make(void *lib, const char *key, size_t rotate);

/* ---- for both ---- */

__attribute__((noreturn, format(printf, 2, 3))) void direct_end(int status, const char *form, ...);
void *direct_symbol(void *lib, const char *name);
/* n numbers, filled. */
float *direct_floats(size_t n);
/* The same n numbers several times, behind each other. */
float *direct_copied(size_t n, size_t copies);
/* "name=VALUE" of the key; false: it has no such word. */
bool direct_word(const char *key, const char *name, char *ret, size_t size);
/* Its number; of a scalar also "other". What the key lacks is `absent`. */
long direct_number(const char *key, const char *name, long absent);
float direct_scalar(const char *key, const char *name, float absent);
size_t direct_copies(size_t bytes, size_t rotate);

#endif
