/*
 * sample_stop: when a cell of a campaign has enough runs: the interval of its mean is no wider than
 * ± half (0.02: 2 %). Values are above 0 and taken as logarithms, so that the mean is the geometric
 * one and ± is a share: low·(1 + half) >= value >= high/(1 + half). For the ratio of pairs the
 * values are the ratios.
 *
 * To stop as soon as the interval is narrow picks the moments where the deviation looks small: of
 * intervals of 95 %, begun at 3 runs, 90 % hold the mean; at 5 92 %; at 10 93.3 % (the worst of all
 * widths, each simulated 20000 times). Two ways do not fall for it:
 *
 *	stein	two stages. The first one, `first` runs of at least 3, fixes the deviation s and
 *		with it the number of all runs, n = ⌈(t·s/h)²⌉, t with first − 1 degrees, h =
 *		log(1 + half). The interval is that of all runs with the s of the first stage:
 *		exact. A first stage of 5 to 10 is a fair choice; a smaller one needs more runs in
 *		total, since t is large
 *	looking	after each run, from at least SAMPLE_STOP_LOOKS runs on; the usual interval, which
 *		then covers 94.4 % or more
 *
 * Source: Stein, A two-sample test for a linear hypothesis whose power is independent of the
 * variance (1945).
 */
#ifndef PROFRIG_SAMPLE_STOP_H
#define PROFRIG_SAMPLE_STOP_H

#include <stdbool.h>
#include <stddef.h>

#define SAMPLE_STOP_FIRST 3
#define SAMPLE_STOP_LOOKS 20

struct sample_stop_rule {
	double half;       /* above 0 */
	double confidence; /* in (0, 1) */
	size_t first;      /* raised to the least one above */
	size_t most;       /* runs; 0: no limit */
};

struct sample_stop {
	size_t n;         /* values that counted: finite and above 0 */
	size_t left_out;  /* the others */
	size_t needed;    /* of all runs; what is known so far, at most `most` */
	bool done;        /* enough, or `most` of them */
	bool capped;      /* `most` is fewer than needed: the interval stays wider than wanted */
	double value;     /* geometric mean; NaN without values */
	double low, high; /* NaN before the first stage ends */
};

/* v: values in the order of the runs. */
void sample_stop_stein(const double *v, size_t n, const struct sample_stop_rule *rule,
		       struct sample_stop *ret);
/* Of runs so far; stop at the first time that it is done. */
void sample_stop_looking(const double *v, size_t n, const struct sample_stop_rule *rule,
			 struct sample_stop *ret);

#endif
