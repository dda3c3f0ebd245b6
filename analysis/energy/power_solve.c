#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define OUTER_ROUNDS 8
#define NEWTON_STEPS 30
#define HOPELESS_ROWS 200
#define POWER_SETTLED 1e-5 /* Σ T·|ΔP| / ΣE */
#define CG_ERROR 0.03
#define CG_ERROR_ROUGH 0.2 /* to compare lags */
#define STEP_DOWN 0.1      /* a power falls at most to this part of itself in a step */
#define AT_ZERO 0.01       /* of the mean power: one that would fall further is at its bound */
#define HOLD 1e12          /* of its own term: it does not move with the others */
#define REFINE_SPREAD 0.2  /* of the mean power: a first guess of how finer classes differ */
#define LEAST_SPREAD 0.02  /* of the mean power */
#define LEAST_MU 1e-6      /* of the mean interval */
#define LAG_SETTLED 0.002  /* of an interval */
/* The grid of lags, in intervals, and how many intervals it looks at. */
#define LAG_EARLIEST 0.34
#define LAG_LATEST 1.05
#define LAG_ROWS_PER_CLASS 8
#define LAG_ROWS_LEAST 500
#define LAG_ROWS_MOST 4000
#define LAG_BETTER 0.97 /* of the residuals, to prefer a lag to none */
#define MEDIAN_OF 1001

static double vector_sum(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/* ---- medians ---- */

void class_medians(const struct columns *c, double *to)
{
	size_t parts = c->first[c->n];
	CLEANUP(xfreep) size_t *at = xcalloc(c->classes + 2, sizeof(*at));
	CLEANUP(xfreep) double *by_class = xcalloc(parts + 1, sizeof(*by_class));

	for (size_t k = 0; k < parts; k++)
		at[c->class_id[k] + 1]++;
	for (uint32_t f = 0; f < c->classes; f++)
		at[f + 1] += at[f];
	for (size_t k = 0; k < parts; k++)
		by_class[at[c->class_id[k]]++] = c->t_s[k];
	for (uint32_t f = 0, from = 0; f < c->classes; f++) {
		size_t n = at[f] - from, every = n / MEDIAN_OF + 1, kept = 0;

		for (size_t k = from; k < at[f]; k += every)
			by_class[from + kept++] = by_class[k];
		to[f] = median_of(&by_class[from], kept);
		from = (uint32_t)at[f];
	}
}

/* ---- powers for a given ridge ---- */

static double mean_power(const struct solution *s)
{
	return vector_sum(s->e_j, s->c.n) / fmax(vector_sum(s->t_s, s->c.classes), 1e-300);
}

static void explain(struct solution *s)
{
	double least = LEAST_MU * fmax(vector_sum(s->e_j, s->c.n) / (double)s->c.n, 1e-300);

	columns_mul(&s->c, s->p_w, s->mu_j);
	for (size_t i = 0; i < s->c.n; i++) {
		s->mu_j[i] = fmax(s->mu_j[i], least);
		s->per_mu[i] = 1 / s->mu_j[i];
		s->rest_j[i] = s->e_j[i] - s->mu_j[i];
	}
}

/* The likelihood's gradient: Σ t·e/μ − T − λ·(P − m) */
static void gradient(const struct solution *s, double *ratio, double *to)
{
	for (size_t i = 0; i < s->c.n; i++)
		ratio[i] = s->rest_j[i] * s->per_mu[i];
	columns_sum(&s->c, ratio, to);
	for (uint32_t f = 0; f < s->c.classes; f++)
		to[f] -= s->lambda[f] * (s->p_w[f] - s->towards_w[f]);
}

/*
 * A power at its bound that would fall below 0 is none of the unknowns (Bertsekas 1982): else the
 * others would make up for a negative one in each step.
 */
static bool is_held(const struct solution *s, uint32_t f, const double *g, double mean_w)
{
	return g[f] < 0 && s->p_w[f] < AT_ZERO * mean_w;
}

/* One step; returns Σ T·|ΔP|. room: [3][classes] */
static double newton_step(struct solution *s, double *ratio, double *room, double mean_w)
{
	double *g = room, *step = g + s->c.classes, *lambda = step + s->c.classes, moved = 0;

	explain(s);
	gradient(s, ratio, g);
	normal_release(&s->normal);
	normal_make(&s->normal, &s->c, s->per_mu, lambda, false);
	for (uint32_t f = 0; f < s->c.classes; f++)
		lambda[f] = is_held(s, f, g, mean_w) ? HOLD * (s->lambda[f] + s->normal.diagonal[f])
						     : s->lambda[f];
	if (!normal_solve_direct(&s->normal, g, step))
		normal_solve(&s->normal, g, s->cg_error, step);
	for (uint32_t f = 0; f < s->c.classes; f++) {
		double p = fmax(s->p_w[f] + step[f], STEP_DOWN * s->p_w[f]);

		moved += fabs(p - s->p_w[f]) * s->t_s[f];
		s->p_w[f] = p;
	}
	s->rounds++;
	return moved;
}

static void powers_solve(struct solution *s, int steps)
{
	CLEANUP(xfreep) double *ratio = xcalloc(s->c.n + 1, sizeof(*ratio));
	CLEANUP(xfreep) double *room = xcalloc(3 * (size_t)s->c.classes + 1, sizeof(*room));
	double all = vector_sum(s->e_j, s->c.n), mean_w = mean_power(s);

	for (int i = 0; i < steps; i++) {
		if (newton_step(s, ratio, room, mean_w) < POWER_SETTLED * all)
			break;
	}
	explain(s);
	/* it had their room */
	normal_release(&s->normal);
}

/* ---- columns and energies of a lag ---- */

static void energies_set(struct solution *s)
{
	const struct power_data *d = s->w->d;

	for (size_t r = 0; r < s->c.n; r++)
		s->e_j[r] = d->energy_j[s->c.interval[r]] - s->lag_s[1] * s->x[1][r];
}

static void times_sum(struct solution *s)
{
	CLEANUP(xfreep) double *one = xcalloc(s->c.n + 1, sizeof(*one));

	for (size_t i = 0; i < s->c.n; i++)
		one[i] = 1;
	columns_sum(&s->c, one, s->t_s);
}

static void lag_apply(struct solution *s, size_t rows)
{
	columns_release(&s->c);
	columns_make(s->w, s->lag_s[0], rows, &s->c);
	energies_set(s);
	times_sum(s);
}

/* ---- dispersion, spread and centre ---- */

static double dispersion(const struct solution *s, double parameters)
{
	double sum = 0;

	for (size_t i = 0; i < s->c.n; i++)
		sum += s->rest_j[i] * s->rest_j[i] * s->per_mu[i];
	return sum / fmax((double)s->c.n - parameters, 1);
}

static void ridge_set(struct solution *s, const double *shares)
{
	const struct power_data *d = s->w->d;

	for (uint32_t f = 0; f < s->c.classes; f++) {
		bool known = f == s->w->known;
		double spread = known ? d->known_error_w * d->known_error_w
				      : s->spread_w * s->spread_w * shares[f];

		s->lambda[f] = s->phi / spread;
		s->towards_w[f] = s->given_w ? s->given_w[f] : known ? d->known_w : s->centre_w;
	}
}

/* How much the data tell of each power, and the number of powers that they determine. */
static void told_set(struct solution *s, double *inverse)
{
	normal_inverse_diagonal(&s->normal, inverse);
	s->parameters = 0;
	for (uint32_t f = 0; f < s->c.classes; f++) {
		s->told[f] = fmin(fmax(1 - s->lambda[f] * inverse[f], 0), 1);
		s->parameters += s->told[f];
	}
}

static double centre_of(const struct solution *s)
{
	double sum = 0, told = 0;

	for (uint32_t f = 0; f < s->c.classes; f++) {
		if (f == s->w->known)
			continue;
		sum += s->told[f] * s->p_w[f];
		told += s->told[f];
	}
	return told > 0.5 ? sum / told : mean_power(s);
}

static double spread_of(const struct solution *s, const double *shares, const double *inverse,
			double centre, double phi)
{
	double sum = 0, n = -1, least = LEAST_SPREAD * mean_power(s);

	for (uint32_t f = 0; f < s->c.classes; f++) {
		double off = s->p_w[f] - (s->given_w ? s->given_w[f] : centre);

		if (f == s->w->known)
			continue;
		sum += (off * off + phi * inverse[f]) / shares[f];
		n++;
	}
	return sqrt(fmax(sum / fmax(n, 1), least * least));
}

/* ---- lag ---- */

static bool has_borders(const struct power_window *w)
{
	for (size_t k = w->d->first[w->from]; k < w->d->first[w->to]; k++) {
		if (w->d->parts[k].begin > 0 || w->d->parts[k].end > 0)
			return true;
	}
	return false;
}

/*
 * How a filter's reading falls over each interval, from the powers: the reading itself will not do,
 * as it knows of each call's own deviation.
 */
static void filter_column(struct solution *s)
{
	const struct power_data *d = s->w->d;
	double y_w = 0;

	for (size_t r = 0; r < s->c.n; r++) {
		size_t i = s->c.interval[r];
		double power_w = s->mu_j[r] / d->length_s[i];
		bool follows = r && d->number[s->c.interval[r - 1]] + 1 == d->number[i];
		double before_w = follows ? y_w : power_w;

		y_w = power_w + (before_w - power_w) * exp(-d->length_s[i] / d->tau_s);
		s->x[1][r] = before_w - y_w;
	}
}

static void lag_columns(struct solution *s)
{
	columns_border(s->w, &s->c, s->p_w, s->x[0]);
	if (s->lags > 1)
		filter_column(s);
}

static double weighted(const struct solution *s, const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = 0; i < s->c.n; i++)
		sum += a[i] * b[i] * s->per_mu[i];
	return sum;
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Σ t·v/μ */
static void columns_weighted(const struct solution *s, const double *v, double *room, double *to)
{
	for (size_t i = 0; i < s->c.n; i++)
		room[i] = v[i] * s->per_mu[i];
	columns_sum(&s->c, room, to);
}

/* h·by = g for one or two lags */
static void lag_equations(const double h[LAG_COLUMNS][LAG_COLUMNS], const double *g, size_t n,
			  double *by)
{
	double det = h[0][0] * h[1][1] - h[0][1] * h[0][1];

	by[0] = h[0][0] > 0 ? g[0] / h[0][0] : 0;
	by[1] = 0;
	if (n < 2 || det <= 1e-12 * h[0][0] * h[1][1])
		return;
	by[0] = (g[0] * h[1][1] - g[1] * h[0][1]) / det;
	by[1] = (g[1] * h[0][0] - g[0] * h[0][1]) / det;
}

/* A counter that is read at random after it is published is late by half of the time between. */
static double lag_expected(const struct power_window *w)
{
	return sqrt(3) * w->d->border_error_s;
}

static double lag_spread(const struct power_window *w)
{
	double spread = LAG_SPREAD * w->length_s;

	return w->d->border_error_s > 0 ? fmin(spread, w->d->border_error_s) : spread;
}

/* A Newton step of the lags, the powers moving along; whether it was small. */
static bool lag_step(struct solution *s)
{
	size_t classes = s->c.classes, size = classes + 1;
	CLEANUP(xfreep) double *v = xcalloc(5 * size + s->c.n, sizeof(*v));
	double *b[LAG_COLUMNS] = { v, v + size }, *bx = v + 2 * size, *t_r = v + 3 * size,
	       *room = v + 4 * size;
	double h[LAG_COLUMNS][LAG_COLUMNS] = { 0 }, g[LAG_COLUMNS], by[LAG_COLUMNS];
	bool small = true;

	if (s->lags == 0)
		return true;
	lag_columns(s);
	columns_weighted(s, s->rest_j, room, t_r);
	for (size_t j = 0; j < s->lags; j++)
		columns_weighted(s, s->x[j], room, b[j]);
	for (size_t j = 0; j < s->lags; j++) {
		normal_solve(&s->normal, b[j], CG_ERROR, bx);
		for (size_t k = 0; k < s->lags; k++)
			h[j][k] = weighted(s, s->x[j], s->x[k]) - dot(bx, b[k], classes);
		h[j][j] += s->lag_lambda;
		g[j] = weighted(s, s->x[j], s->rest_j) - dot(bx, t_r, classes) -
		       s->lag_lambda * (s->lag_s[j] - (j ? 0 : lag_expected(s->w)));
	}
	lag_equations(h, g, s->lags, by);
	for (size_t j = 0; j < s->lags; j++) {
		double before = s->lag_s[j], most = s->w->length_s;

		s->lag_s[j] = fmax(-most, fmin(most, before + by[j]));
		small &= fabs(s->lag_s[j] - before) < LAG_SETTLED * most;
	}
	if (fabs(s->lag_s[0]) <= LAG_SETTLED * s->w->length_s)
		s->lag_s[0] = 0;
	lag_apply(s, SIZE_MAX);
	return small;
}

/* ---- life ---- */

static double *vector_new(size_t n)
{
	return xcalloc(n + 1, sizeof(double));
}

static void solution_begin(struct solution *s, const struct power_window *w, double lag_s,
			   size_t rows)
{
	*s = (struct solution){ .w = w, .cg_error = CG_ERROR };
	columns_make(w, lag_s, rows, &s->c);
	s->lag_s[0] = lag_s;
	s->e_j = vector_new(s->c.n);
	s->mu_j = vector_new(s->c.n);
	s->per_mu = vector_new(s->c.n);
	s->rest_j = vector_new(s->c.n);
	for (size_t j = 0; j < LAG_COLUMNS; j++)
		s->x[j] = vector_new(s->c.n);
	s->p_w = vector_new(w->classes);
	s->t_s = vector_new(w->classes);
	s->lambda = vector_new(w->classes);
	s->towards_w = vector_new(w->classes);
	s->told = vector_new(w->classes);
	energies_set(s);
	times_sum(s);
	s->centre_w = s->spread_w = mean_power(s);
	for (uint32_t f = 0; f < w->classes; f++)
		s->p_w[f] = s->centre_w;
	explain(s);
	s->phi = fmax(dispersion(s, 0), 1e-12);
}

void solution_release(struct solution *s)
{
	columns_release(&s->c);
	normal_release(&s->normal);
	free(s->e_j);
	free(s->mu_j);
	free(s->per_mu);
	free(s->rest_j);
	free(s->p_w);
	free(s->t_s);
	free(s->lambda);
	free(s->towards_w);
	free(s->told);
	for (size_t j = 0; j < LAG_COLUMNS; j++)
		free(s->x[j]);
	*s = (struct solution){ 0 };
}

static bool near(double a, double b, double part)
{
	return fabs(a / b - 1) < part;
}

/* Powers, then what they say of dispersion, spread and lag; whether all that stood still. */
static bool solution_round(struct solution *s, const double *shares, double *inverse)
{
	double phi, spread, prior = lag_spread(s->w);
	bool still;

	ridge_set(s, shares);
	powers_solve(s, NEWTON_STEPS);
	normal_release(&s->normal);
	normal_make(&s->normal, &s->c, s->per_mu, s->lambda, true);
	told_set(s, inverse);
	phi = fmax(dispersion(s, s->parameters + (double)s->lags), 1e-9 * mean_power(s));
	s->centre_w = centre_of(s);
	spread = spread_of(s, shares, inverse, s->centre_w, phi);
	s->lag_lambda = phi / (prior * prior);
	still = near(phi, s->phi, 0.02) && near(spread, s->spread_w, 0.025);
	s->phi = phi;
	s->spread_w = spread;
	return lag_step(s) && still;
}

static void lags_choose(struct solution *s)
{
	if (has_borders(s->w) && s->c.n > s->w->classes + 5)
		s->lags = s->w->d->tau_s > 0 ? 2 : 1;
}

/* What the powers explain beyond one power for all the time, in units of φ. */
static double solution_gain(const struct solution *s)
{
	const struct power_data *d = s->w->d;
	double all_j = vector_sum(s->e_j, s->c.n), all_s = 0, flat = 0;

	for (size_t r = 0; r < s->c.n; r++)
		all_s += d->length_s[s->c.interval[r]];
	for (size_t r = 0; r < s->c.n; r++) {
		double mean_j = all_j / all_s * d->length_s[s->c.interval[r]];
		double off = s->e_j[r] - mean_j;

		flat += off * off / fmax(mean_j, 1e-300);
	}
	return flat / s->phi - (double)s->c.n;
}

/* The first round shows that nothing will come of it: others are spared. */
static bool solution_hopeless(const struct solution *s)
{
	return s->c.n >= HOPELESS_ROWS && s->c.n >= 4 * (size_t)s->c.classes &&
	       solution_gain(s) < s->parameters / 2;
}

void solution_make(struct solution *s, const struct power_window *w, const double *shares,
		   double lag_s)
{
	CLEANUP(xfreep) double *inverse = vector_new(w->classes);

	solution_begin(s, w, lag_s, SIZE_MAX);
	lags_choose(s);
	for (int k = 0; k < OUTER_ROUNDS; k++) {
		if (solution_round(s, shares, inverse) ||
		    (k == 0 && lag_s == 0 && solution_hopeless(s)))
			break;
	}
	explain(s);
	ridge_set(s, shares);
	if (s->lags)
		lag_columns(s);
}

/* ---- finer classes ---- */

double misfit_of(struct solution *s, const double *p_w)
{
	memcpy(s->p_w, p_w, s->c.classes * sizeof(*p_w));
	explain(s);
	return dispersion(s, 0) * (double)s->c.n;
}

void solution_refine_begin(struct solution *s, const struct power_window *w, const double *given_w,
			   double lag_s)
{
	solution_begin(s, w, lag_s, SIZE_MAX);
	s->given_w = given_w;
	s->phi = fmax(misfit_of(s, given_w) / (double)s->c.n, 1e-12);
	s->spread_w *= REFINE_SPREAD;
	lags_choose(s);
}

void solution_refine(struct solution *s, double *error_w)
{
	const struct power_window *w = s->w;
	CLEANUP(xfreep) double *inverse = vector_new(w->classes);
	CLEANUP(xfreep) double *shares = vector_new(w->classes);

	for (uint32_t f = 0; f < w->classes; f++)
		shares[f] = 1;
	for (int k = 0; k < OUTER_ROUNDS; k++) {
		if (solution_round(s, shares, inverse))
			break;
	}
	for (uint32_t f = 0; f < w->classes; f++)
		error_w[f] = sqrt(fmax(s->phi * inverse[f], 0));
	explain(s);
}

/* ---- the first lag ---- */

static size_t lag_rows(const struct power_window *w)
{
	size_t rows = LAG_ROWS_PER_CLASS * (size_t)w->classes;

	rows = rows > LAG_ROWS_LEAST ? rows : LAG_ROWS_LEAST;
	return rows < LAG_ROWS_MOST ? rows : LAG_ROWS_MOST;
}

static double lag_grid_step(const struct power_window *w)
{
	CLEANUP(columns_release) struct columns c;
	CLEANUP(xfreep) double *medians = vector_new(w->classes);
	double step;
	size_t n = 0;

	columns_make(w, 0, lag_rows(w), &c);
	class_medians(&c, medians);
	for (uint32_t f = 0; f < w->classes; f++) {
		if (medians[f] > 0)
			medians[n++] = medians[f];
	}
	step = median_of(medians, n) / 2;
	return fmax(w->length_s / 8, fmin(w->length_s / 3, step));
}

/* Of powers after two steps. */
static double rough_dispersion(const struct power_window *w, double lag_s, size_t rows,
			       size_t *ret_rows)
{
	CLEANUP(solution_release) struct solution s;

	solution_begin(&s, w, lag_s, rows);
	*ret_rows = s.c.n;
	s.cg_error = CG_ERROR_ROUGH;
	for (int k = 0; k < 2; k++) {
		for (uint32_t f = 0; f < w->classes; f++) {
			s.lambda[f] = dispersion(&s, 0) / (s.centre_w * s.centre_w);
			s.towards_w[f] = s.centre_w;
		}
		powers_solve(&s, 1);
	}
	return dispersion(&s, 0);
}

static double lag_misfit(const struct power_window *w, double lag_s)
{
	size_t rows;

	return rough_dispersion(w, lag_s, lag_rows(w), &rows);
}

double window_misfit(const struct power_window *w, double lag_s)
{
	size_t rows;
	double phi = rough_dispersion(w, lag_s, SIZE_MAX, &rows);

	return phi * (double)rows;
}

double lag_start(const struct power_window *w)
{
	double step, best = 0, least;

	if (!has_borders(w) || w->intervals <= w->classes + 5 || w->d->tau_s > 0)
		return 0;
	if (w->d->border_error_s > 0)
		return lag_expected(w);
	step = lag_grid_step(w);
	least = lag_misfit(w, 0) * LAG_BETTER;
	for (int j = -(int)(LAG_EARLIEST * w->length_s / step);
	     j <= (int)(LAG_LATEST * w->length_s / step); j++) {
		double misfit = j ? lag_misfit(w, j * step) : INFINITY;

		if (misfit < least) {
			least = misfit;
			best = j * step;
		}
	}
	return best;
}
