/*
 * sample_verdict: whether B's runs take longer than A's: an effect with its interval, the tests
 * that its size allows, and one of four verdicts.
 *
 * The unit is the run: calls, iterations and ranks inside a run are summarised before. All is on
 * the scale of logarithms, so the effect is a ratio (B over A) and values are above 0.
 *
 * Which test:
 *	pairs	where both have runs of the same blocks (runs that were made one after the other,
 *		in ABBA order), t over the logarithms of the ratios, block by block: a drift of the
 *		machine is nearly the same within a block and cancels over two
 *	else	Welch's t over the logarithms; between sides of different sizes, the smaller of
 *		which has 3 or 4 runs, with the degrees of that side alone (hsu)
 *	from 10	pairs, or runs on each side, also all rearrangements (sign flips, splits in two),
 *		whatever the distribution: a difference counts when both say so. Rearrangements are
 *		asked at the level of a single test, since their smallest p (2/2ⁿ of n pairs)
 *		shared among many rows could reach none of them, and only where that smallest p
 *		is a fifth of the level or less
 *	ranks	Mann and Whitney's, for comparison alone
 * Below 3 nothing can be said: unclear.
 *
 * Verdicts, for a margin δ and a confidence c:
 *	slower	p (adjusted by the caller for as many tests as there are) and that of the
 *		rearrangements at most 1 − c, the interval above 1, the ratio above 1 + δ; faster:
 *		the same below 1 and 1/(1 + δ)
 *	same	a claim of its own (TOST at 1 − c): the interval of confidence 2c − 1 lies within
 *		(1/(1 + δ), 1 + δ)
 *	unclear	neither: more runs may tell
 *
 * Sources: paired.h, samples_test.h; Schuirmann (1987) for `same`.
 */
#ifndef PROFRIG_SAMPLE_VERDICT_H
#define PROFRIG_SAMPLE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_BLOCK_NONE UINT32_MAX
#define SAMPLES_REARRANGED 10 /* from so many on */

struct sample {
	double value;
	uint32_t block; /* SAMPLE_BLOCK_NONE */
};

/* The pooled ones: sample_pool.h. */
enum sample_method {
	SAMPLE_FEW,
	SAMPLE_WELCH,
	SAMPLE_PAIRED,
	SAMPLE_WELCH_POOLED,
	SAMPLE_PAIRED_POOLED
};
const char *sample_method_name(enum sample_method m);

enum sample_verdict { SAMPLE_FASTER, SAMPLE_SLOWER, SAMPLE_SAME, SAMPLE_UNCLEAR };
const char *sample_verdict_name(enum sample_verdict v);

struct sample_effect {
	enum sample_method method;
	size_t n_a, n_b, pairs; /* that counted: finite and above 0 */
	size_t left_out;        /* the others */
	double ratio;           /* B over A, of geometric means; NaN: a side has none */
	double low, high;       /* at the confidence; NaN below 3 */
	double p;               /* of the t test; NaN below 3 */
	double p_rearranged;    /* NaN: none were made */
	double p_ranks;         /* NaN below 3 */
	double p_same;          /* TOST */
	double floor;           /* the smallest p_rearranged that there can be; 0: none were made */
	/*
	 * Of the logarithms: of the differences of pairs, else of both sides together around their
	 * own means; its degrees of freedom, and by what it is multiplied for the square of the
	 * error of log ratio (1/n, 1/na + 1/nb). NaN below 3.
	 */
	double variance, variance_df, variance_of_mean;
};
/* Whether rearrangements with this smallest p have a say at this confidence. */
bool sample_floor_reaches(double floor, double confidence);

/* Values in the order of the runs. */
void sample_compare(const struct sample *a, size_t na, const struct sample *b, size_t nb,
		    double margin, double confidence, struct sample_effect *ret);
/*
 * The same by t alone, for one of thousands of rows: rearrangements would take hours, and cannot
 * reach what an adjustment for so many rows asks of them.
 */
void sample_compare_rows(const struct sample *a, size_t na, const struct sample *b, size_t nb,
			 double margin, double confidence, struct sample_effect *ret);
/* p_adj: e->p, or adjusted. */
enum sample_verdict sample_judge(const struct sample_effect *e, double p_adj, double margin,
				 double confidence);

/*
 * Whether runs in their order are what these tests take for granted: independent, around one mean.
 * lag1: correlation of neighbours, p of it (normal, 1/√n); slope: relative change from the first
 * to the last run, p of it (t). Warn below 0.01. NaN below 8 runs.
 */
struct sample_order {
	double lag1, lag1_p;
	double drift, drift_p;
	double n_effective; /* n(1 − φ)/(1 + φ), at most n */
};
void sample_order_check(const double *v, size_t n, struct sample_order *ret);

/*
 * Marks values that are further from the median than 3.5·1.4826·MAD; returns how many. None below 5
 * values, or where half of them are equal.
 */
size_t sample_outliers(const double *v, size_t n, bool *ret);

#endif
