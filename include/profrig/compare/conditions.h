/*
 * conditions: under which conditions a run was made, and whether two sets of runs may be compared.
 *
 * Hard conditions refuse a verdict when they differ: the devices, precision, batch, iterations, the
 * tools (a profiled run beside a clean one), how a metric is found, a trace that is not whole. Soft
 * ones make a comparison less sure: each multiplies the score by 0.9. A condition that is not known
 * on a side differs from nothing. What the axes of a campaign vary is what the comparison is about,
 * so it is exempt (conditions_exempt).
 *
 * Mean clocks (metrics clock_mhz, gpu_clock_mhz) are a soft condition: they differ when they are
 * more than 5 % apart between the sides, or else between runs of one block of a campaign. Clocks
 * found in other ways are not compared with each other.
 *
 * A set whose own runs differ in a hard condition is refused as well: it is no sample of one thing.
 *
 *	struct conditions c = CONDITIONS_INIT;
 *	conditions_read("runs/20260301T…", &c, &err);
 *	conditions_compare(a, na, b, nb, 0, &comparable);
 *	conditions_release(&c);
 *
 * GPU and world size are what traces say of themselves (analysis.json), where they do; a device is
 * what the run found.
 *
 * All texts come out of run.json, which a workload can write: they are for showing (text_visible)
 * and for comparing.
 */
#ifndef PROFRIG_CONDITIONS_H
#define PROFRIG_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"

#define CONDITION_SOFT 0.9
#define CONDITION_CLOCKS 0.05 /* a relative difference that counts */
#define CONDITION_GAP_NS (INT64_C(7) * 86400 * 1000000000)

/* enumerator, words, hard */
#define CONDITIONS(X) \
	X(DEVICE, "device", true) \
	X(GPU, "GPU", true) \
	X(WORLD, "world size", true) \
	X(TOOLS, "tools", true) \
	X(PRECISION, "precision", true) \
	X(BATCH, "batch", true) \
	X(ITERATIONS, "iterations", true) \
	X(MODEL, "model", false) \
	X(COMMAND, "command", false) \
	X(ENGINE, "engine", false) \
	X(IMAGE, "image", false) \
	X(DRIVER, "driver", false) \
	X(KERNEL, "kernel", false) \
	X(NODE, "node", false) \
	X(PROCESSOR, "processor", false) \
	X(PROFRIG, "version of profrig", false)
#define CONDITION_ENUM(name, words, hard) CONDITION_##name,
enum condition { CONDITIONS(CONDITION_ENUM) CONDITION_COUNT };

/* Of an axis that varies clocks; beside the bits of conditions. */
#define CONDITION_EXEMPT_CLOCKS (UINT32_C(1) << 31)

/* The mean clock while the workload ran, of processors and of GPUs. */
#define CONDITION_CLOCK_KINDS 2
struct condition_clock {
	double mhz;
	char *source; /* NULL: it is not known */
};

struct conditions {
	char *id, *status;              /* "" unknown */
	char *campaign, *cell;          /* labels, "" none */
	uint32_t block;                 /* label, SAMPLE_BLOCK_NONE */
	char *of[CONDITION_COUNT];      /* NULL unknown */
	struct strvec metrics, defined; /* names, and beside each how it is found */
	double clock_hz;                /* most of the first device that tells; NaN */
	struct condition_clock clock[CONDITION_CLOCK_KINDS];
	int64_t started_ns; /* CLOCK_REALTIME, 0 unknown */
	char *partial;      /* which part is missing; NULL: none */
	bool ended_well;    /* its figures count */
};
#define CONDITIONS_INIT \
	{ \
		.metrics = STRVEC_INIT, .defined = STRVEC_INIT \
	}
void conditions_release(struct conditions *c);

/* Of a run directory, or of an analysis directory, which tells nothing but what is missing. */
int conditions_read(const char *dir, struct conditions *ret, struct err *err);

/* A bit for each condition that a key of a campaign's axes varies ("tools", "env.X", …); 0 none. */
uint32_t conditions_exempt(const char *axis);

struct comparable {
	double score; /* 0: a hard reason */
	struct strvec reasons;
	size_t hard;
};
#define COMPARABLE_INIT \
	{ \
		1, STRVEC_INIT, 0 \
	}
void comparable_release(struct comparable *c);
/* A reason of its own, by printf's rules. */
void comparable_add(struct comparable *c, bool hard, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* One side: runs that count, and its name for reasons. */
struct condition_side {
	const char *name; /* "A" */
	struct conditions *const *runs;
	size_t nr;
};
/* Adds to *ret. wanted: whether the definition of a metric matters; NULL: all do. */
void conditions_compare(const struct condition_side *a, const struct condition_side *b,
			uint32_t exempt, bool (*wanted)(const void *ctx, const char *metric),
			const void *ctx, struct comparable *ret);

#endif
