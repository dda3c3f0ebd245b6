/*
 * bench_compare: measured library calls of several sides, side by side (bench_tables.h).
 *
 * The first side is A; each further one, B, is compared with it, call by call. Joined are rows of
 * equal key, cache mode and number of threads. Where a side has the key in another mode or number
 * of threads alone, or the same call in other types alone, that is a pair, too, but it is refused:
 * its verdict is unclear unless `force` is set. So is a pair of two measurements whose clocks are
 * known and differ by more than BENCH_CLOCKS_DIFFER. In one measurement the sides took turns: a
 * clock that differs there belongs to the side (wide vectors) or is noise, so the pair is not
 * refused, and unclear where the clocks may be all of the difference. What one side alone has, or
 * has without a time (crashed, wrong, unsupported …), is left over, with the reason.
 *
 * A mean's standard error follows from its interval and its number of processes P: half the
 * interval, divided by Student's t for P − 1 degrees. (The interval is the wider one over processes
 * and over blocks; where blocks decide, the few degrees of processes make tests stricter.) A file
 * that does not tell P gets the difference's interval from both half widths and 2 degrees, which is
 * too wide for any P that `lib perf` writes. The rest is contrast.h; p-values are adjusted by Holm
 * over the pairs of one side with A.
 *
 * Sides that `lib perf` measured together (one file, equal measured_ms) have processes that were
 * alive together, whose blocks took turns: the ratio is that of their levels (bench_stats.h), and
 * its error that of the logarithms of the ratios, process by process (paired.h; trimmed by
 * BENCH_LEVELS_TRIMMED). What slowed both is in neither. The energy's error is then B's. Between
 * files the ratio is that of the geometric means of levels, trimmed as well, each with its own
 * error. In both cases A's mean is that of its row, and B's is A's times the ratio (bench_pair.m),
 * so that ratio, effect, share and verdict agree; the means in the rows are as measured, with the
 * phases of the host in them. Rows of an earlier profrig have no levels: the ratio is that of means
 * of processes where these were alive together, else of the means of the rows.
 *
 * Between files (and rows that `lib perf` added later) the machine may have changed, which no
 * interval within a file shows: other work takes caches, a part of a core, a part of the clock. The
 * square of the share of the machine that it had (`others`) times BENCH_OTHERS_ERROR is a further
 * relative error of both means, and times BENCH_OTHERS_ERROR_LEVELS of both levels. These are
 * measured figures: on two processors, of which others had 85 to 95 %, means of files of one
 * library scattered by 8 to 25 %. Where they had 75 to 90 %, means scattered by 3 to 4 % and levels
 * by 2 %, and two levels differed by 11 % at most. Where others have little, the fastest blocks are
 * free of them.
 *
 * On one kind of device the loops beside the blocks (bench_speed.h) tell how its speed differs
 * between two such measurements: d, the larger one of the logarithms of the ratios of clock and
 * loop. A call that waits for memory feels nothing of it, one that computes in registers all, so
 * d/√3 (what a share between 0 and 1 gives on the average, squared) is one of B's. Such errors
 * widen the interval of the ratio: half of it, h, becomes √(h² + (z·e)²).
 *
 * A difference is believed when the interval is off by more than half of the threshold. Where the
 * ratio is not that of levels of one measurement, the fastest blocks, which other work on the
 * machine disturbs least, and the median block have to differ in the same direction by as much,
 * too, and between two measurements by half of the difference: else the pair is unclear.
 *
 * The effect of a pair is what B would change in the model: A's calls times the difference of the
 * means. Sums of effects have the root of the sum of squares as standard error. Energy is A's calls
 * times the difference of energy_j, with the relative error of the times.
 *
 * Texts and rows are borrowed from the tables.
 */
#ifndef PROFRIG_BENCH_COMPARE_H
#define PROFRIG_BENCH_COMPARE_H

#include "profrig/base/contrast.h"
#include "profrig/base/strvec.h"
#include "profrig/bench/bench_tables.h"

#define BENCH_CLOCKS_DIFFER 0.05
#define BENCH_OTHERS_ERROR 0.3        /* of means */
#define BENCH_OTHERS_ERROR_LEVELS 0.1 /* of levels */

struct bench_compare_opts {
	double threshold;  /* 0.05 */
	double confidence; /* 0.95 */
	bool force;
	bool by_calls; /* rank by calls, not by time */
};
/* clang-format off */
#define BENCH_COMPARE_OPTS_INIT { .threshold = 0.05, .confidence = 0.95 }
/* clang-format on */

/* B against A: slower is worse. */
enum bench_verdict { BENCH_FASTER, BENCH_SLOWER, BENCH_SAME, BENCH_UNCLEAR };
const char *bench_verdict_name(enum bench_verdict v);

struct bench_effect {
	double value, low, high; /* NaN unknown */
};

struct bench_pair {
	const struct bench_table_row *a, *b;
	uint32_t side; /* of b */
	bool refused;
	char *reason;              /* of a refusal, of a forced one, or of doubt; NULL none */
	bool paired;               /* by processes that were alive together */
	bool levels;               /* by levels of processes, not by means */
	bool apart;                /* of two measurements */
	bool clocks;               /* of one measurement: they differ */
	double speed;              /* d above; 0: together, on other devices, or not known */
	double extra;              /* relative error between files, of the ratio */
	struct contrast_mean m[2]; /* A's and B's, with their own errors */
	struct contrast c;
	double p_adj;
	enum bench_verdict verdict;
	struct bench_effect seconds, joules; /* of all calls; below 0: B saves */
	double share;                        /* seconds by the time that A takes in all pairs */
	uint32_t winner;                     /* the fastest of all sides that have the call */
	bool tied;                           /* another side cannot be told from it */
};

/* What has no time in one of two sides, or in both. */
enum bench_left_in { BENCH_ONLY_A, BENCH_ONLY_B, BENCH_NEITHER };
struct bench_left {
	enum bench_left_in in;
	uint32_t side;                     /* that is compared with A */
	const struct bench_table_row *row; /* that has a time; of neither: A's, or B's alone */
	const char *why;                   /* what the other side has: a status, or "missing" */
	const char *detail;                /* the reason there, "" none */
};

struct bench_versus {
	uint32_t side;
	size_t pairs, refused, of[BENCH_UNCLEAR + 1]; /* of: verdicts of pairs */
	size_t left[BENCH_NEITHER + 1];
	double a_s, b_s; /* of all calls of pairs that are not refused */
	struct bench_effect seconds, joules, relative; /* relative: b_s by a_s, less 1 */
	size_t with_energy;                            /* pairs */
	double score;               /* share of pairs that are comparable; 0 without any */
	bool comparable;            /* there are pairs and none is refused */
	enum bench_verdict verdict; /* of the sum; unclear where not comparable */
};

struct bench_comparison {
	struct bench_compare_opts o;
	VEC(struct bench_pair) pairs; /* those with the largest effect, or most calls, in front */
	VEC(struct bench_left) left;
	VEC(struct bench_versus) versus; /* one for each side but A */
	struct strvec reasons; /* of what is not comparable, and of what differs besides */
};

/* t has two sides or more. */
void bench_compare(const struct bench_tables *t, const struct bench_compare_opts *o,
		   struct bench_comparison *ret);
void bench_comparison_release(struct bench_comparison *c);

#endif
