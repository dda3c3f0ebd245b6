/*
 * power_fit: the power that each class of calls draws, from the energy of intervals in which
 * several classes ran.
 *
 * A sensor tells the energy E_i of interval i, the trace tells the time t_fi for which class f ran
 * in it. Where calls are shorter than intervals, sharing E_i by time charges frugal classes for
 * hungry ones. The fit chooses powers P_f >= 0 with E_i ≈ μ_i = Σ_f P_f·t_fi and gives class f the
 * part a_fi = E_i·P_f·t_fi / μ_i of interval i, so each interval keeps its energy exactly.
 *
 *	power_fit_make(&data, &ret)	O(parts) for each of some ten passes
 *	power_fit_release(&ret)
 *
 * Method. Maximise the Poisson-like likelihood Σ E_i·ln μ_i − μ_i − Σ_f λ_f/2·(P_f − m)². Its fixed
 * point without the last term is that of P_f ← Σ_i a_fi / Σ_i t_fi (expectation maximisation;
 * Shepp, Vardi 1982), whose first round from equal powers is the division by time. Fisher scoring
 * with conjugate gradients reaches it in some ten passes where those rounds take hundreds. The
 * last term draws a class that the data hardly know towards the mean power m of all: λ = φ/τ², φ
 * the dispersion Σ (E−μ)²/μ / (n − p) and τ the spread of powers, both learned from the data
 * (empirical Bayes; Morris 1983).
 *
 * Lag. A sensor that answers late shifts energy between neighbours. What ran at an interval's
 * borders gives the first order of it, x_i = Σ_f (b_fi − e_fi)·P_f (b, e: share of the class at the
 * beginning and the end), and the windows are moved by the lag found. A device whose power rises
 * slowly makes the same intervals, but there the energy belongs to the later call: the estimate
 * lies halfway, and the interval covers both. A lag that explains no more than none is not used.
 *
 * Interval of 95 %. To first order the error of a class is
 *	G·Σ_i t_i·r_i/μ_i + Σ_i (s_fi − q_fi)·r_i + own part + G·λ·(P − m)
 * with r = E − μ, s = P_f·t_fi/μ_i, A = Σ t·t'/μ, G = (diag T − diag(P)·A)·(A + diag λ)^-1 and q_fi
 * the part of r_i that is the class's own deviation (a call that draws more than others of its
 * class is charged rightly). Its variance is the largest of three: pooled residuals, each
 * interval's own (White 1980), and blocks of n^(1/3) intervals, longer where residuals are alike
 * (for drift). Half-widths are 1.2 times what theory gives, 1.5 for stale and quantised counters:
 * these numbers cover 49 families of simulations; six more have looser limits
 * (test_power_coverage.c).
 *
 * Separable. Classes that always run in the same proportion cannot be told apart: they are joined
 * (group), their sum stays sharp, and inside it energy is divided by time. A fit that explains no
 * more than chance is not used: energies are then those by time, and the interval reaches from 0
 * to the energy of all intervals in which the class ran.
 *
 * Tenfold steps (a clock that changes): intervals before and behind the step are fitted apart.
 *
 * Deterministic: the same data give the same bytes. Nothing here allocates by more than the number
 * of parts, but for a matrix of POWER_DENSE² classes; with more classes variances are estimated
 * with 32 random vectors (Hutchinson 1990), of a fixed seed.
 */
#ifndef PROFRIG_POWER_FIT_H
#define PROFRIG_POWER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POWER_NO_CLASS UINT32_MAX

/* A class in an interval. */
struct power_part {
	uint32_t class_id;
	float t_s;        /* > 0 unless it runs at a border only */
	float begin, end; /* its share of the device at the interval's borders */
	float share_s;    /* of the static power: the class is charged for so much of it; ≤ t_s */
};

/* Borrowed while the fit is made. */
struct power_data {
	size_t n;               /* intervals */
	const uint64_t *number; /* of the interval at its sensor, ascending; neighbours follow */
	const double *energy_j; /* >= 0 */
	const double *length_s; /* > 0 */
	const bool *halo;       /* only tells what its neighbours had at the border; may be NULL */
	const size_t *first;    /* [n + 1]: the first part of interval i */
	const struct power_part *parts; /* each class once in an interval */
	uint32_t classes;
	/* a class that always runs (static power), or POWER_NO_CLASS; it keeps what the others are
	 * not charged for */
	uint32_t always;
	uint32_t known;       /* a class with a known power (idle), or POWER_NO_CLASS */
	double known_w;       /* its power */
	double known_error_w; /* its standard error; > 0 */
	double tau_s; /* time constant that a filtered reading was put right with; 0: none */
	/* standard deviation of the intervals' borders: of a counter that is published at other
	 * times than it is read */
	double border_error_s;
	bool stale; /* the counter is published late, or in large steps */
};

/* What a class drew in the intervals of the data that are not halo. */
struct power_class {
	double w;            /* power while it runs, over what always runs */
	double energy_j;     /* conserves: Σ classes = Σ intervals in which a class ran */
	double half_width_j; /* 95 % */
	/* half-width of the sum of what its calls drew more or less than w, which energy_j has in
	 * it. Of further calls, with x times its energy, w is all that is known: √(x + x²) of it */
	double own_width_j;
	double time_s;
	bool separable;
	uint32_t group; /* the lowest class that it is joined with; itself when separable */
};

enum power_used {
	POWER_USED, /* energies are by power */
	POWER_FEW,  /* too few intervals, for so many classes: by time */
	POWER_POOR, /* explains no more than chance: by time */
};

struct power_fit {
	struct power_class *classes; /* owned, [classes] */
	double *weight_w;            /* owned, [parts]: power of the part's class in its window */
	enum power_used used;
	size_t intervals;  /* that were fitted */
	double explained;  /* 1 − variance left / variance of a constant power */
	double residual_w; /* typical deviation of an interval's power */
	double lag1;       /* autocorrelation of neighbouring deviations */
	double lag_s;      /* of the sensor, or half the time of a rise */
	unsigned rounds;   /* passes of Fisher scoring */
	unsigned windows;  /* that were fitted apart; at least 1 */
};

void power_fit_make(const struct power_data *d, struct power_fit *ret);
void power_fit_release(struct power_fit *f);
/*
 * Finer classes: the powers of parts of a class (its call paths), each drawn towards its parent's
 * as far as the data do not say otherwise; parents are the means of their parts. d: as for the fit,
 * but by the finer classes; parent: by class, the number of its parent, below d->classes; parent_w:
 * by parent, of the fit; lag_s: of the fit. power_w, error_w: [d->classes], filled: powers and
 * their standard errors. False, and power_w is the parents', where finer classes explain no more
 * than chance; what they may differ by nonetheless is in error_w.
 */
bool power_fit_refine(const struct power_data *d, const uint32_t *parent, const double *parent_w,
		      double lag_s, double *power_w, double *error_w);

const char *power_used_name(enum power_used used); /* power, few, poor */

#endif
