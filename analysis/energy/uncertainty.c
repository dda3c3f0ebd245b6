#include "attribution_private.h"

#include "profrig/base/student.h"

/*
 * The uncertainty of a row's energy.
 *
 * Between two samples a counter gives the amount of energy but not its time, and attribution takes
 * it as even. In an interval that a row has alone there is no error. In one that it shares with
 * something else (f of its time, mean power P) the row's true power p is not P, and the error is
 * g·(p − P), g its share-time. All errors of a row have the same sign when its power is above, or
 * below, that of its surroundings: repeating a call does not average them out, but makes them
 * visible: over the intervals that the row touched, P is a straight line in f, whose value at f = 1
 * is the row's own power. Least squares gives
 *
 *	P = a + b·f + ε,  p̂ = a + b,  s² = rss / (n − 2)
 *	D̂ = p̂·Σg − Σ(g·P)					over the shared intervals
 *	σ² = s²·(Σg)²·(n − 2Σf + Σf²) / (n·Σf² − (Σf)²) + s²·Σg²
 *
 * the first part of σ² being the uncertainty of p̂ and the second the scatter of single intervals.
 * Half-width: |D̂| + t(0.975, n − 2)·σ. In one interval the row's energy is between 0 and the
 * smaller of the interval's energy and the device's maximum in the row's time; the sum of those
 * distances bounds the half-width, and replaces it when there are too few intervals for a line.
 *
 * The counter's own steps q (a value is known to ± q/2 where a call begins and ends) add
 * q²/12 per edge.
 *
 * A power reading behind a filter of time constant τ means y + τ·dy/dt. If τ may be Δτ off, a row's
 * energy may be Δτ·|Σ Δy| off, Δy the change of the reading in the row's share of the time: with
 * the same sign in every interval, so it is added to all of the above. A power that was corrected
 * by too small a τ moves less than the real one: D̂ may be too small by Δτ/τ of itself.
 */

#define CONFIDENCE 0.95
#define Z 1.959963984540054 /* of the normal distribution */

void row_stats_whole(struct row_stats *r, const struct grid_counter *c, int64_t from, int64_t to)
{
	r->power += c->power[to] - c->power[from];
	r->power_squared += c->power_squared[to] - c->power_squared[from];
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct row_part row_part_of(int64_t own_ns, double share_ns, int64_t len_ns)
{
	double per_len = 1 / (double)len_ns, f = (double)own_ns * per_len, g_s = share_ns * 1e-9;
	double h = share_ns * per_len, h2 = h * h, rest2 = (1 - h) * (1 - h);

	return (struct row_part){ .f = f,
				  .ff = f * f,
				  .g_s = g_s,
				  .gg = g_s * g_s,
				  .own_s = (double)own_ns * 1e-9,
				  .share = share_ns / (double)own_ns,
				  .per_step = h2 + larger(h2, rest2) };
}

/* |D̂| and σ; false when the intervals are too few, or all alike. */
static bool row_fit(const struct row_times *t, const struct row_stats *r, double *shift,
		    double *var)
{
	double n = (double)(t->whole + t->mixed), whole = (double)t->whole;
	double w = (double)r->power * POWER_UNIT;
	double f = whole + t->f, ff = whole + t->ff, p = w + r->p, fp = w + r->fp;
	double pp = (double)r->power_squared * POWER_SQUARED_UNIT + r->pp;
	double det = n * ff - f * f, a, b, rss, s2;

	if (t->whole + t->mixed < 3 || det <= 1e-9 * n * ff)
		return false;
	b = (n * fp - f * p) / det;
	a = (p - b * f) / n;
	rss = pp - a * p - b * fp;
	s2 = (rss > 0 ? rss : 0) / (n - 2);
	/* what rounding to POWER_UNIT takes must not decide */
	*shift = fabs((a + b) * t->g - r->gp) * (1 + 1e-6);
	*var = s2 * (t->g * t->g * (n - 2 * f + ff) / det + t->gg);
	return true;
}

/* spread: by how much of itself the powers' differences may be too small; steps: J². */
static double sampling_half_width(const struct row_times *t, const struct row_stats *r,
				  double spread, double steps)
{
	double shift, var, limit, quantile;

	if (t->mixed == 0)
		return sqrt(steps);
	limit = r->bound_j + sqrt(steps);
	if (!row_fit(t, r, &shift, &var))
		return limit;
	quantile = student_t(CONFIDENCE, t->whole + t->mixed - 2);
	return fmin(limit, (1 + spread) * shift + sqrt(quantile * quantile * var + steps));
}

double row_half_width(const struct row_times *t, const struct row_stats *r,
		      const struct grid_counter *c)
{
	const struct curve *k = &c->curve;
	double spread = k->tau_s > 0 ? k->tau_error_s / k->tau_s : 0;
	double steps = Z * Z * t->per_step * c->step_j * c->step_j / 12;

	return sampling_half_width(t, r, spread, steps) +
	       fabs(fixed_value(r->change)) * k->tau_error_s;
}
