/*
 * peaks: the most that a device computes in a second, by precision, and moves from and to its
 * memory.
 *
 *	struct peaks *p = peaks_new();		the table that profrig carries (peaks.json)
 *	peaks_read(p, file, err)		a file of --peaks, which comes before it
 *	peaks_tflops(p, "AMD Instinct MI300X VF", PRECISION_BF16, true)
 *	peaks_free(p)
 *
 * A device is found by its name: the first entry whose pattern (regex.h) is found in it counts, of
 * files read last first. A file is either JSON in the form of peaks.json, or the table of measured
 * peaks that `profrig lib peak` writes: these belong to the processor itself, whose name traces
 * lack, so they stand for the host (device "").
 *
 * Values are of dense matrices, as the maker states them; reachable is the most that the maker has
 * measured. NaN is unknown. One thread at a time.
 */
#ifndef PROFRIG_PEAKS_H
#define PROFRIG_PEAKS_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/err.h"

enum precision {
	PRECISION_UNKNOWN,
	PRECISION_FP64,
	PRECISION_FP32,
	PRECISION_TF32,
	PRECISION_BF16,
	PRECISION_FP16,
	PRECISION_FP8,
	PRECISION_INT8,
	PRECISIONS
};

const char *precision_name(enum precision p); /* "bf16"; "" unknown */

struct element_type;
/* That of operands of a type, NULL too: f8 and bf8 are fp8. */
enum precision precision_of_type(const struct element_type *t);
/*
 * That of a kernel by its name, which knows more than the operator's types: matrices of float are
 * often multiplied as TF32. Unknown for names without a grammar.
 */
enum precision precision_of_kernel(const char *name);

struct peaks;
struct peaks *peaks_new(void);
void peaks_free(struct peaks *p); /* NULL is fine */
void peaks_freep(struct peaks **p);
/* -EINVAL: something in it is wrong: err has the line. */
int peaks_read(struct peaks *p, const char *path, struct err *err);
int peaks_read_text(struct peaks *p, const char *text, size_t n, const char *name, struct err *err);

/* matrix: of matrix units, where they have a peak of their own (FP64). */
double peaks_tflops(struct peaks *p, const char *device, enum precision pr, bool matrix);
double peaks_tbps(struct peaks *p, const char *device);

struct peak {
	const char *precision; /* "bf16", "fp64_matrix", "memory" */
	const char *unit;      /* "TFLOP/s", "TB/s" */
	const char *source;
	double value, reachable; /* reachable: NaN unknown */
};
/* The n-th peak of a device; false: it has no more. */
bool peaks_at(struct peaks *p, const char *device, size_t n, struct peak *ret);

#endif
