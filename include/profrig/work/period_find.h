/*
 * period_find: the lag at which a sequence repeats itself, such as the names of the kernels that a
 * device executes in launch order: a training loop launches the same ones again and again.
 *
 * For a lag p the share of matches is match/of, with match the number of i < n − p for which
 * v[i] = v[i + p], and of = n − p. The period is the smallest lag from 1 to n/2 with the largest
 * share. It is accepted when the share is at least 0.9 and the sequence holds three periods
 * (3·lag ≤ n); otherwise the sequence has none to rely on.
 *
 * Exact up to PERIOD_EXACT_MAX elements, O(n²) with a small constant. Longer sequences try the lags
 * that runs of equal elements propose: distances between one run of 1, 8, 64 elements and the next
 * time, the next but one … it comes. Each proposed lag is then counted exactly, at most
 * PERIOD_CANDIDATES of them, O(n) each.
 */
#ifndef PROFRIG_PERIOD_FIND_H
#define PROFRIG_PERIOD_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERIOD_EXACT_MAX ((size_t)16384)
#define PERIOD_CANDIDATES 128

struct period {
	size_t lag, match, of; /* 0 for fewer than 2 elements */
	bool accepted;
};

struct period period_find(const uint32_t *v, size_t n);

#endif
