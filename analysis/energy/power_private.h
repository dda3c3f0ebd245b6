/*
 * The parts of a power fit (power_fit.h), in the order in which data passes through them:
 *
 *	data → columns (power_columns.c): times by class of one window, moved by a lag, classes that
 *		are joined as one
 *	columns → normal (power_normal.c): the matrix A + λ of the classes' powers and what its
 *		inverse tells, exactly or with random vectors
 *	columns → solution (power_solve.c): powers, dispersion, spread and lag
 *	solution → variances (power_width.c), what a lag moves (power_lag.c)
 *	power_fit.c cuts windows, joins classes and decides whether the fit is used
 *	power_refine.c finds powers of finer classes
 */
#ifndef POWER_PRIVATE_H
#define POWER_PRIVATE_H

#include "profrig/base/vec.h"
#include "profrig/energy/power_fit.h"

#define POWER_DENSE 256 /* classes up to which matrices are made */
#define POWER_WIDE 8    /* random vectors side by side, instead */
#define POWER_PROBES 32 /* of them for a variance */
#define LAG_SPREAD 0.25 /* of a lag before anything is known, in intervals */
#define LAG_COLUMNS 2   /* at most: of the windows, of the sensor's filter */

/* Whether an interval is fitted: it is not halo, and a class ran in it. */
static inline bool power_counts(const struct power_data *d, size_t i)
{
	if (d->halo && d->halo[i])
		return false;
	for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
		if (d->parts[k].t_s > 0)
			return true;
	}
	return false;
}

/* The classes that run in [from, to), numbered; the rest POWER_NO_CLASS. */
uint32_t power_classes_of(const struct power_data *d, size_t from, size_t to, uint32_t *ret);
/* Of the intervals that are fitted, J. */
double power_energy_counted(const struct power_data *d);
/*
 * What powers without a meaning gain: χ² of so many parameters, and two of its deviations.
 * Residuals that are alike count for fewer (Bartlett 1946), but not all of it: short calls are at
 * many places among them. Its root keeps what simulations say is right and leaves slow drifts out.
 */
double power_chance_gain(double parameters, double lag1);

/* ---- columns (power_columns.c) ---- */

/* A sparse matrix of times [interval][class], in s, with what belongs to its intervals. */
struct columns {
	size_t n;
	uint32_t classes;
	size_t *first; /* [n + 1] */
	uint32_t *class_id;
	double *t_s;
	double *share_s;  /* of the static power; of its class: what is left of the interval */
	size_t *interval; /* of the data, by row */
};

/* Intervals [from, to) of the data; class_of: by class of the data, POWER_NO_CLASS: not there. */
struct power_window {
	const struct power_data *d;
	size_t from, to;
	uint32_t *class_of; /* owned */
	uint32_t classes;
	uint32_t always; /* in the window's numbers, as the next */
	uint32_t known;
	bool *is_always;  /* owned, [classes] */
	double length_s;  /* median of its intervals */
	size_t intervals; /* without halo */
};

/* class_of is taken over. */
void power_window_make(struct power_window *w, const struct power_data *d, size_t from, size_t to,
		       uint32_t *class_of, uint32_t classes);
void power_window_release(struct power_window *w);

/* The window's times, of windows that lie lag_s earlier. rows: at most so many intervals. */
void columns_make(const struct power_window *w, double lag_s, size_t rows, struct columns *ret);
void columns_release(struct columns *c);
/* to[i] = Σ_f t_fi·p[f] */
void columns_mul(const struct columns *c, const double *p, double *to);
/* to[f] = Σ_i t_fi·w[i] */
void columns_sum(const struct columns *c, const double *w, double *to);
/* to[f] = Σ_i t_fi²·w[i] */
void columns_sum_squares(const struct columns *c, const double *w, double *to);
/* to[i] = Σ_f (begin − end)·p[f], for the rows of c */
void columns_border(const struct power_window *w, const struct columns *c, const double *p,
		    double *to);

/* ---- normal (power_normal.c) ---- */

/*
 * A + diag λ, A = Σ_i t_i·t_i'/μ_i. Borrows all it is made of.
 */
struct normal {
	const struct columns *c;
	const double *per_mu; /* 1/μ_i */
	const double *lambda;
	double *diagonal; /* owned: of A */
	double *a, *b;    /* owned: A, (A + λ)^-1, [classes][classes]; NULL: too many classes */
};

/* dense: with a and b, where the classes are few. */
void normal_make(struct normal *n, const struct columns *c, const double *per_mu,
		 const double *lambda, bool dense);
void normal_release(struct normal *n);
/* x = (A + λ)^-1·v; conjugate gradients to a relative error, or exactly with b. */
void normal_solve(const struct normal *n, const double *v, double error, double *x);
/* Exactly, for one v; false: conjugate gradients take less time. */
bool normal_solve_direct(const struct normal *n, const double *v, double *x);
/* The diagonal of (A + λ)^-1. */
void normal_inverse_diagonal(const struct normal *n, double *to);
/* The same for POWER_WIDE vectors side by side, [classes][POWER_WIDE]. */
void normal_solve_wide(const struct normal *n, const double *v, double error, double *x);
/* In place: a symmetric positive matrix becomes its inverse. */
void matrix_invert(double *a, size_t n);

/* ±1 at random, the same for the same place */
double probe_sign(uint64_t place);

double median_of(double *v, size_t n); /* sorts them; 0 of none */

/* ---- solution (power_solve.c) ---- */

/* Vectors by row of the columns are [n], those by class [classes]. */
struct solution {
	const struct power_window *w;
	struct columns c;
	double *e_j;  /* energy of the rows, without what a wrong filter adds */
	double *mu_j; /* what the powers explain */
	double *per_mu;
	double *rest_j; /* e − μ */
	double *p_w, *t_s;
	double *lambda, *towards_w; /* strength and centre of what is assumed of a power */
	double *told;               /* 0 .. 1: how much of a power comes from the data */
	double *x[LAG_COLUMNS];
	double lag_s[LAG_COLUMNS]; /* of the windows, of the filter */
	double lag_lambda;
	size_t lags;
	double cg_error;       /* of the steps to the powers */
	double phi;            /* J: dispersion */
	double spread_w;       /* τ */
	double centre_w;       /* m */
	const double *given_w; /* by class: a centre of its own; NULL: the common one */
	double parameters;     /* that the data determine */
	unsigned rounds;
	struct normal normal;
};

/* shares: by class, Σ of its members' squared shares of the time: 1 where there is one. */
void solution_make(struct solution *s, const struct power_window *w, const double *shares,
		   double lag_s);
/*
 * Powers drawn each towards one of its own, by class (its parent's), which is borrowed: given_w may
 * change between two calls of solution_refine, each of which goes on where the last one ended.
 */
void solution_refine_begin(struct solution *s, const struct power_window *w, const double *given_w,
			   double lag_s);
/*
 * error_w: [classes], filled: their standard errors, where the data say nothing what is assumed of
 * how they differ.
 */
void solution_refine(struct solution *s, double *error_w);
void solution_release(struct solution *s);
/* Σ (E − μ)²/μ of other powers */
double misfit_of(struct solution *s, const double *p_w);
/* Σ (E − μ)²/μ of all rows, of powers that are found roughly. */
double window_misfit(const struct power_window *w, double lag_s);
/*
 * By class, J: what it gains if the lag is the device's and not the sensor's: at each of its calls
 * the power of the call before less its own, for the time of the lag. The sum is 0.
 */
void lag_energies(const struct solution *s, double *to);
/* Where to begin: the best lag of some, as the likelihood has several maxima. */
double lag_start(const struct power_window *w);
/* The median time of a class in an interval, [classes]; 0 where it is nowhere. */
void class_medians(const struct columns *c, double *to);

/* The power that a part explains, in J: P·t, and the static power that its class is charged for. */
double part_power(const struct solution *s, size_t part);

/* ---- variances (power_width.c) ---- */

/* Of the classes' energies; vectors are owned, [classes]. */
struct power_widths {
	double *var_j2;
	double *lack_j;    /* what they lack because borders are off at random */
	double *own_j2;    /* half-width² of what their calls draw more or less than they would */
	double *blocks_s2; /* the same of their times in blocks of intervals, by W² of difference */
	double student;    /* the quantile that makes half-widths of 95 % */
	double lag1;       /* autocorrelation of the residuals */
};

void power_widths_make(const struct solution *s, struct power_widths *ret);
void power_widths_release(struct power_widths *w);

#endif
