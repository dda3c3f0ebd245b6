/*
 * operator_rows: calls of operators added up by name, shapes and types, with their rates and what
 * the roofline of their devices allows.
 *
 * Roofline: a call of F flops and B bytes takes at least F/peak and at least B/bandwidth; what is
 * attained is the larger of these times by the time it took. Of a row, sums of both times, so calls
 * weigh by their time, and rows of one call say achieved by min(peak, F/B · bandwidth). Nominal
 * flops (operator_cost.h) have no peak. More than 100 % is possible, and not cut: data came out of
 * caches, or another precision was used.
 */
#ifndef PROFRIG_OPERATOR_ROWS_H
#define PROFRIG_OPERATOR_ROWS_H

#include "operator_calls.h"
#include "work_energy.h"

/* Of the calls that count and have a time. */
struct operator_rate {
	uint64_t calls;
	amount flops, bytes;
	uint64_t with_flops, with_bytes;        /* calls that have them */
	int64_t ns, flops_ns, bytes_ns;         /* times: of all, of those */
	int64_t roofed_ns;                      /* of those whose roofline is known */
	double compute_ns, memory_ns, least_ns; /* least times of these */
	int64_t by_precision[PRECISIONS];
	bool nominal, estimate;
	struct joules j, flops_j, bytes_j; /* of the work of all, of those */
};

struct operator_row {
	str_id name, shapes, types;
	uint64_t calls, calls_with_work, works;
	int64_t own_ns, nested_ns, host_self_ns;
	int64_t backward_ns; /* work of the backward calls that belong to its calls */
	struct operator_rate rate;
	struct joules own_j;
};

struct operator_rows {
	VEC(struct operator_row) v;     /* as tables have them */
	VEC(const char *) device_names; /* "NVIDIA H200"; "" unknown; by device */
	struct joules no_op_j, unlinked_j;
};

struct operator_rows *operator_rows_new(const struct operator_calls *oc, struct peaks *peaks,
					const struct work_energy *we);
void operator_rows_free(struct operator_rows *rows);
void operator_rows_freep(struct operator_rows **rows);

/* What the input of its first work calls a device: "NVIDIA H200"; "" unknown. */
const char *operator_device_name(const struct operator_calls *oc, uint32_t device);

/* NaN unknown. */
double rate_flop(const struct operator_rate *r);
double rate_bytes(const struct operator_rate *r);
double rate_tflops(const struct operator_rate *r);
double rate_tbps(const struct operator_rate *r);
double rate_joules_per_tflop(const struct operator_rate *r);
double rate_joules_per_gb(const struct operator_rate *r); /* 10^9 bytes */
double rate_pct(const struct operator_rate *r);
const char *rate_bound(const struct operator_rate *r); /* "compute", "memory", "" */
enum precision rate_precision(const struct operator_rate *r);

#endif
