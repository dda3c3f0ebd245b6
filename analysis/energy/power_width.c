#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define OWN_SEEN 0.85   /* of a call's own deviation, seen in a neighbour that it fills */
#define RIDGE_SPARE 1.5 /* the spread of powers is itself an estimate */
#define FIT_STEPS 4     /* of the weights in residual_line */
#define PROBE_ERROR 0.03
#define OWN_BLOCK 32 /* rows, at most, in which calls' own deviations are summed */

/* Vectors by row [n] and by part [parts of the columns]. */
struct residuals {
	double infl;      /* of squares, for the parameters taken */
	double *variance; /* of a row's residual */
	double *share;    /* s: the part's share of what explains the row */
	double *mine;     /* Q: the part's share of all calls' own deviations */
	double *own;      /* q: its share of the row's variance */
	double *seen;     /* the largest Q of its class in the neighbours */
	size_t *before;   /* the part of its class in the row before; SIZE_MAX: none */
	double lag1;      /* autocorrelation */
	size_t block;     /* rows of a block */
};

/* ---- variance of a residual: c1·(calls' own) + c0 ---- */

double part_power(const struct solution *s, size_t part)
{
	const struct columns *c = &s->c;
	uint32_t f = c->class_id[part], always = s->w->always;

	if (always == POWER_NO_CLASS)
		return s->p_w[f] * c->t_s[part];
	return s->p_w[always] * c->share_s[part] + (f == always ? 0 : s->p_w[f] * c->t_s[part]);
}

static void own_set(const struct solution *s, struct residuals *r, double *own_sum)
{
	const struct columns *c = &s->c;
	CLEANUP(xfreep) double *call_s = xcalloc(c->classes + 1, sizeof(*call_s));
	double least = 0;

	class_medians(c, call_s);
	for (size_t i = 0; i < c->n; i++)
		least += s->mu_j[i] * s->mu_j[i] * 1e-12 / (double)c->n;
	for (size_t i = 0; i < c->n; i++) {
		own_sum[i] = least;
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			uint32_t f = c->class_id[k];
			double t = c->t_s[k], p = s->w->is_always[f] ? 0 : s->p_w[f];

			r->share[k] = part_power(s, k) * s->per_mu[i];
			r->mine[k] = p * p * t * fmin(t, call_s[f]);
			own_sum[i] += r->mine[k];
		}
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
			r->mine[k] /= own_sum[i];
	}
}

/* Non-negative least squares of the squared residuals y on x. */
static void residual_line(const double *y, const double *x, size_t n, double c[2])
{
	double mean_y = 0, mean_x = 0;

	for (size_t i = 0; i < n; i++) {
		mean_y += y[i] / (double)n;
		mean_x += x[i] / (double)n;
	}
	c[0] = mean_x > 0 ? mean_y / mean_x / 2 : 0;
	c[1] = mean_y / 2;
	for (int step = 0; mean_y > 0 && step < FIT_STEPS; step++) {
		double xx = 0, x1 = 0, one = 0, xy = 0, y1 = 0, det;

		for (size_t i = 0; i < n; i++) {
			double sd = (c[0] * x[i] + c[1]) / mean_y + 0.05;
			double w = 1 / (sd * sd);

			xx += w * x[i] * x[i];
			x1 += w * x[i];
			one += w;
			xy += w * x[i] * y[i];
			y1 += w * y[i];
		}
		det = xx * one - x1 * x1;
		c[0] = det > 1e-9 * xx * one ? (xy * one - y1 * x1) / det : xx > 0 ? xy / xx : 0;
		c[1] = det > 1e-9 * xx * one ? (y1 * xx - xy * x1) / det : 0;
		if (c[0] < 0) {
			c[0] = 0;
			c[1] = y1 / one;
		} else if (c[1] < 0) {
			c[0] = xx > 0 ? xy / xx : 0;
			c[1] = 0;
		}
	}
}

static void variance_set(const struct solution *s, struct residuals *r)
{
	size_t n = s->c.n;
	CLEANUP(xfreep) double *y = xcalloc(2 * n + 1, sizeof(*y));
	double *own_sum = y + n, line[2], sum_y = 0, sum_v = 0;

	own_set(s, r, own_sum);
	for (size_t i = 0; i < n; i++) {
		y[i] = s->rest_j[i] * s->rest_j[i] * r->infl;
		sum_y += y[i];
	}
	residual_line(y, own_sum, n, line);
	for (size_t i = 0; i < n; i++) {
		r->variance[i] = line[0] * own_sum[i] + line[1];
		sum_v += r->variance[i];
	}
	for (size_t i = 0; i < n; i++) {
		double own = r->variance[i] > 0 ? line[0] * own_sum[i] / r->variance[i] : 0;

		for (size_t k = s->c.first[i]; k < s->c.first[i + 1]; k++)
			r->own[k] = r->mine[k] * own;
		r->variance[i] *= sum_v > 0 ? sum_y / sum_v : 0;
	}
}

static bool rows_adjacent(const struct solution *s, size_t row)
{
	const uint64_t *number = s->w->d->number;

	return row && number[s->c.interval[row - 1]] + 1 == number[s->c.interval[row]];
}

/* Links each part to the one before, and finds what neighbours show of it. */
static void neighbours_set(const struct solution *s, struct residuals *r)
{
	const struct columns *c = &s->c;
	CLEANUP(xfreep) size_t *last = xcalloc(c->classes + 1, sizeof(*last));

	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			size_t before = last[c->class_id[k]];

			r->before[k] = SIZE_MAX;
			last[c->class_id[k]] = k + 1;
			if (!rows_adjacent(s, i) || before == 0 || before - 1 < c->first[i - 1])
				continue;
			r->before[k] = --before;
			r->seen[k] = r->mine[before];
			r->seen[before] = fmax(r->seen[before], r->mine[k]);
		}
	}
}

static double residual_lag1(const struct solution *s, const struct residuals *r)
{
	double both = 0, all = 0, before = 0;

	for (size_t i = 0; i < s->c.n; i++) {
		double v = r->variance[i], z = v > 0 ? s->rest_j[i] / sqrt(v) : 0;

		both += rows_adjacent(s, i) ? z * before : 0;
		all += z * z;
		before = z;
	}
	return all > 0 ? both / all : 0;
}

/* Rows that a residual is like its neighbours, and at least n^(1/3). */
static size_t block_length(size_t n, double lag1)
{
	double like = 2 * (1 + lag1) / fmax(1 - lag1, 1e-9);

	return (size_t)fmax(1, fmin(fmax(round(cbrt((double)n)), like), floor((double)n / 10)));
}

static void residuals_make(const struct solution *s, struct residuals *r)
{
	size_t n = s->c.n, parts = s->c.first[n];

	*r = (struct residuals){
		.infl = (double)n / fmax((double)n - s->parameters - 1, 1),
		.variance = xcalloc(n + 1, sizeof(*r->variance)),
		.share = xcalloc(parts + 1, sizeof(*r->share)),
		.mine = xcalloc(parts + 1, sizeof(*r->mine)),
		.own = xcalloc(parts + 1, sizeof(*r->own)),
		.seen = xcalloc(parts + 1, sizeof(*r->seen)),
		.before = xcalloc(parts + 1, sizeof(*r->before)),
	};
	variance_set(s, r);
	r->lag1 = residual_lag1(s, r);
	r->block = block_length(n, r->lag1);
	neighbours_set(s, r);
}

static void residuals_release(struct residuals *r)
{
	free(r->variance);
	free(r->share);
	free(r->mine);
	free(r->own);
	free(r->seen);
	free(r->before);
}

/* ---- with matrices ---- */

/*
 * Of the columns of times and lags: (A + λ)^-1, [size][size], and Z = Σ_i s_i·t_i',
 * [classes][size], s the classes' shares of interval i.
 */
struct bordered {
	size_t size;
	double *b, *z;
};

/* Adds by·(row i of times and lags) to a row of a matrix. */
static void row_add_to(const struct solution *s, size_t i, double by, double *to)
{
	const struct columns *c = &s->c;

	for (size_t l = c->first[i]; l < c->first[i + 1]; l++)
		to[c->class_id[l]] += by * c->t_s[l];
	for (size_t j = 0; j < s->lags; j++)
		to[c->classes + j] += by * s->x[j][i];
}

static void bordered_sum(const struct solution *s, const struct residuals *r, struct bordered *m)
{
	const struct columns *c = &s->c;

	for (size_t i = 0; i < c->n; i++) {
		double per_mu = s->per_mu[i];

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			size_t at = c->class_id[k] * m->size;

			row_add_to(s, i, c->t_s[k] * per_mu, &m->b[at]);
			row_add_to(s, i, r->share[k], &m->z[at]);
		}
		for (size_t j = 0; j < s->lags; j++)
			row_add_to(s, i, s->x[j][i] * per_mu, &m->b[(c->classes + j) * m->size]);
	}
}

static void bordered_make(const struct solution *s, const struct residuals *r, struct bordered *m)
{
	size_t classes = s->c.classes, size = classes + s->lags;

	m->size = size;
	m->b = xcalloc(size * size + 1, sizeof(*m->b));
	m->z = xcalloc(size * classes + 1, sizeof(*m->z));
	bordered_sum(s, r, m);
	for (size_t f = 0; f < size; f++)
		m->b[f * size + f] += f < classes ? s->lambda[f] : s->lag_lambda;
	matrix_invert(m->b, size);
}

/* A class's time; of the static power what it is charged for, [classes]. */
static double *static_times(const struct solution *s)
{
	const struct columns *c = &s->c;
	double *u = xcalloc((size_t)c->classes + 1, sizeof(*u));

	for (size_t k = 0; s->w->always != POWER_NO_CLASS && k < c->first[c->n]; k++)
		u[c->class_id[k]] += c->share_s[k];
	return u;
}

/* dE = T·dP + U·dP(static) for a change of the powers alone, of class f. */
static double times_move(const struct solution *s, const double *u, uint32_t f, double own,
			 double always)
{
	if (s->w->always == POWER_NO_CLASS)
		return s->t_s[f] * own;
	return (f == s->w->always ? 0 : s->t_s[f] * own) + u[f] * always;
}

/* G', [size][classes]: what the gradient of the likelihood moves each energy by. */
static double *bordered_influence(const struct solution *s, const struct bordered *m)
{
	size_t classes = s->c.classes, size = m->size;
	size_t always = s->w->always == POWER_NO_CLASS ? 0 : s->w->always;
	CLEANUP(xfreep) double *u = static_times(s);
	double *g = xcalloc(size * classes + 1, sizeof(*g));

	for (size_t j = 0; j < size; j++) {
		double *to = &g[j * classes];

		for (size_t f = 0; f < classes; f++) {
			double sum = 0;

			for (size_t l = 0; l < size; l++)
				sum += m->z[f * size + l] * m->b[l * size + j];
			to[f] = times_move(s, u, (uint32_t)f, m->b[f * size + j],
					   m->b[always * size + j]) -
				sum;
		}
	}
	return g;
}

static void vector_add(double *to, const double *v, double by, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += by * v[i];
}

static double power_of_part(const struct solution *s, const struct power_part *p)
{
	uint32_t f = s->w->class_of[p->class_id];

	return f == POWER_NO_CLASS ? 0 : s->p_w[f];
}

/* How row i's residual moves each class's energy beyond the class's own part: c − q. */
static void row_influence(const struct solution *s, const struct residuals *r, const double *g,
			  size_t i, double *to)
{
	const struct columns *c = &s->c;
	size_t classes = c->classes;

	memset(to, 0, classes * sizeof(*to));
	for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
		vector_add(to, &g[c->class_id[k] * classes], c->t_s[k] * s->per_mu[i], classes);
	for (size_t j = 0; j < s->lags; j++)
		vector_add(to, &g[(classes + j) * classes], s->x[j][i] * s->per_mu[i], classes);
	for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
		to[c->class_id[k]] += r->share[k] - r->own[k];
}

/* pooled, own and by blocks: [3][classes] */
static void exact_variances(const struct solution *s, const struct residuals *r, const double *g,
			    double *kinds)
{
	size_t classes = s->c.classes;
	CLEANUP(xfreep) double *d = xcalloc(2 * classes + 1, sizeof(*d));
	double *block = d + classes;

	for (size_t i = 0; i < s->c.n; i++) {
		double rest = s->rest_j[i], rest2 = rest * rest * r->infl;

		row_influence(s, r, g, i, d);
		for (size_t f = 0; f < classes; f++) {
			kinds[f] += d[f] * d[f] * r->variance[i];
			kinds[classes + f] += d[f] * d[f] * rest2;
			block[f] += d[f] * rest;
		}
		if ((i + 1) % r->block && i + 1 < s->c.n)
			continue;
		for (size_t f = 0; f < classes; f++) {
			kinds[2 * classes + f] += block[f] * block[f] * r->infl;
			block[f] = 0;
		}
	}
}

static void exact_ridge(const struct solution *s, const double *g, double *to)
{
	size_t classes = s->c.classes;

	for (size_t j = 0; j < classes + s->lags; j++) {
		double by = j < classes ? RIDGE_SPARE * s->lambda[j] : s->lag_lambda;

		for (size_t f = 0; f < classes; f++)
			to[f] += s->phi * by * g[j * classes + f] * g[j * classes + f];
	}
}

/*
 * Borders whose times are off by σ at random: Σ_i σ²·(b·b'P + e·e'P)/μ is what Σ t·r/μ lacks then,
 * as in any regression on a variable with errors (Fuller 1987).
 */
static double *borders_lack(const struct solution *s)
{
	const struct power_data *d = s->w->d;
	double var = d->border_error_s * d->border_error_s;
	double *v = xcalloc((size_t)s->c.classes + 1, sizeof(*v));

	for (size_t r = 0; var > 0 && r < s->c.n; r++) {
		size_t i = s->c.interval[r];
		double begin_w = 0, end_w = 0;

		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			double p = power_of_part(s, &d->parts[k]);

			begin_w += p * d->parts[k].begin;
			end_w += p * d->parts[k].end;
		}
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			uint32_t f = s->w->class_of[d->parts[k].class_id];

			if (f != POWER_NO_CLASS)
				v[f] += var * s->per_mu[r] *
					(d->parts[k].begin * begin_w + d->parts[k].end * end_w);
		}
	}
	return v;
}

/* What energies lack for it. */
static void exact_lack(const struct solution *s, const double *g, double *to)
{
	size_t classes = s->c.classes;
	CLEANUP(xfreep) double *v = borders_lack(s);

	for (size_t f = 0; f < classes; f++) {
		to[f] = s->p_w[f] * v[f];
		for (size_t j = 0; j < classes; j++)
			to[f] += g[j * classes + f] * v[j];
	}
}

static void exact_make(const struct solution *s, const struct residuals *r, double *kinds,
		       double *ridge, double *lack)
{
	struct bordered m;
	CLEANUP(xfreep) double *g = NULL;

	bordered_make(s, r, &m);
	g = bordered_influence(s, &m);
	free(m.z);
	free(m.b);
	exact_variances(s, r, g, kinds);
	exact_ridge(s, g, ridge);
	exact_lack(s, g, lack);
}

/* ---- with random vectors ---- */

enum { KIND_POOLED, KIND_OWN, KIND_BLOCKS, KINDS };

/* A random residual of row i whose variance is that of the kind. */
static double probe_rest(const struct solution *s, const struct residuals *r, int kind, size_t i,
			 uint64_t probe)
{
	size_t place = kind == KIND_BLOCKS ? i / r->block : i;
	double sign = probe_sign(place * POWER_PROBES + probe);

	return sign * (kind == KIND_POOLED ? sqrt(r->variance[i]) : s->rest_j[i] * sqrt(r->infl));
}

static void probes_of_rows(const struct solution *s, const struct residuals *r, int kind,
			   uint64_t probe, double *u, double *direct)
{
	const struct columns *c = &s->c;

	for (size_t i = 0; i < c->n; i++) {
		double z[POWER_WIDE];

		for (size_t q = 0; q < POWER_WIDE; q++)
			z[q] = probe_rest(s, r, kind, i, probe + q);
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			double w = c->t_s[k] * s->per_mu[i], rest = r->share[k] - r->own[k];
			size_t at = c->class_id[k] * (size_t)POWER_WIDE;

			for (size_t q = 0; q < POWER_WIDE; q++) {
				u[at + q] += w * z[q];
				direct[at + q] += rest * z[q];
			}
		}
	}
}

static void probes_of_ridge(const struct solution *s, uint64_t probe, double *u)
{
	for (size_t f = 0; f < s->c.classes; f++) {
		double sd = sqrt(RIDGE_SPARE * s->phi * s->lambda[f]);

		for (size_t q = 0; q < POWER_WIDE; q++)
			u[f * POWER_WIDE + q] +=
				sd * probe_sign(~(f * (uint64_t)POWER_PROBES + probe + q));
	}
}

/* to = Z·x */
static void probes_shares(const struct solution *s, const struct residuals *r, const double *x,
			  double *to)
{
	const struct columns *c = &s->c;

	for (size_t i = 0; i < c->n; i++) {
		double sum[POWER_WIDE] = { 0 };

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			for (size_t q = 0; q < POWER_WIDE; q++)
				sum[q] += c->t_s[k] * x[c->class_id[k] * (size_t)POWER_WIDE + q];
		}
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			for (size_t q = 0; q < POWER_WIDE; q++)
				to[c->class_id[k] * (size_t)POWER_WIDE + q] += r->share[k] * sum[q];
		}
	}
}

static void probes_add(const struct solution *s, const struct residuals *r, int kind,
		       uint64_t probe, double *to)
{
	size_t size = s->c.classes * (size_t)POWER_WIDE;
	size_t always = s->w->always == POWER_NO_CLASS ? 0 : s->w->always;
	CLEANUP(xfreep) double *v = xcalloc(4 * size + 1, sizeof(*v));
	CLEANUP(xfreep) double *u = static_times(s);
	double *direct = v + size, *x = direct + size, *zx = x + size;

	probes_of_rows(s, r, kind, probe, v, direct);
	probes_of_ridge(s, probe, v);
	normal_solve_wide(&s->normal, v, PROBE_ERROR, x);
	probes_shares(s, r, x, zx);
	for (size_t j = 0; j < size; j++) {
		uint32_t f = (uint32_t)(j / POWER_WIDE);
		double moved = times_move(s, u, f, x[j], x[always * POWER_WIDE + j % POWER_WIDE]);
		double error = moved - zx[j] + direct[j];

		to[f] += error * error / POWER_PROBES;
	}
}

static void probes_make(const struct solution *s, const struct residuals *r, double *kinds)
{
	for (int kind = 0; kind < KINDS; kind++) {
		for (uint64_t probe = 0; probe < POWER_PROBES; probe += POWER_WIDE)
			probes_add(s, r, kind, probe, &kinds[(size_t)kind * s->c.classes]);
	}
}

/* ---- the sum ---- */

/* A class's own part of a residual is charged rightly; what of it is not certain to be its own. */
static void own_part_add(const struct solution *s, const struct residuals *r, double *to)
{
	const struct columns *c = &s->c;
	CLEANUP(xfreep) double *u = xcalloc(c->first[c->n] + 1, sizeof(*u));

	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			double q = r->own[k], before;

			u[k] = sqrt(fmax(q * (1 - q), 0) * r->variance[i] *
				    (1 - OWN_SEEN * r->seen[k]));
			before = r->before[k] == SIZE_MAX ? 0 : u[r->before[k]];
			to[c->class_id[k]] += u[k] * (u[k] + before);
		}
	}
}

/* ---- calls that differ ---- */

/* Of a class: its time and its own part of the residuals in the present block, and sums. */
struct own_sum {
	size_t block;
	double now_s, now_j;
	double blocks_s2, blocks_s4, blocks_j2, blocks_j4, parts_j2, spread_j2;
};

static void own_block_end(struct own_sum *o)
{
	double s2 = o->now_s * o->now_s, j2 = o->now_j * o->now_j;

	o->blocks_s2 += s2;
	o->blocks_s4 += s2 * s2;
	o->blocks_j2 += j2;
	o->blocks_j4 += j2 * j2;
	o->now_s = o->now_j = 0;
}

static void own_part(const struct solution *s, const struct residuals *r, size_t i, size_t part,
		     struct own_sum *o)
{
	double q = r->mine[part], j = q * s->rest_j[i];

	o->now_s += s->c.t_s[part];
	o->now_j += j;
	o->parts_j2 += j * j;
	o->spread_j2 += q * (1 - q) * r->variance[i];
}

static void own_sums(const struct solution *s, const struct residuals *r, struct own_sum *own)
{
	const struct columns *c = &s->c;
	size_t block = 0, rows = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (!rows_adjacent(s, i) || rows == OWN_BLOCK) {
			block++;
			rows = 0;
		}
		rows++;
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			struct own_sum *o = &own[c->class_id[k]];

			if (o->block != block)
				own_block_end(o);
			o->block = block;
			own_part(s, r, i, k, o);
		}
	}
	for (size_t f = 0; f < c->classes; f++)
		own_block_end(&own[f]);
}

/* t² of a sum of squares of which few may be most of it (Satterthwaite 1946). */
static double quantile2(double sum2, double sum4)
{
	double nr = sum4 > 0 ? sum2 * sum2 / sum4 : 0, t = student_t(0.95, (uint64_t)fmax(nr, 2));

	return t * t;
}

/*
 * The variance of the sum of a class's own deviations. Its part Q·r of the residuals is what is
 * seen of them, Q·(1 − Q)·variance what is not. Those of one call are alike in neighbours: blocks'
 * sums show by how much, and how many of them there are says how well that is known.
 */
static void own_variances(const struct solution *s, const struct residuals *r,
			  struct power_widths *ret)
{
	size_t classes = s->c.classes;
	CLEANUP(xfreep) struct own_sum *own = xcalloc(classes + 1, sizeof(*own));

	own_sums(s, r, own);
	for (size_t f = 0; f < classes; f++) {
		const struct own_sum *o = &own[f];
		double alike = o->parts_j2 > 0 ? fmax(o->blocks_j2 / o->parts_j2, 1) : 1;

		ret->own_j2[f] = quantile2(o->blocks_j2, o->blocks_j4) * alike *
				 (o->parts_j2 * r->infl + o->spread_j2);
		ret->blocks_s2[f] = quantile2(o->blocks_s2, o->blocks_s4) * o->blocks_s2;
	}
}

void power_widths_make(const struct solution *s, struct power_widths *ret)
{
	size_t classes = s->c.classes;
	CLEANUP(xfreep) double *kinds = xcalloc(KINDS * classes + 1, sizeof(*kinds));
	CLEANUP(xfreep) double *ridge = xcalloc(classes + 1, sizeof(*ridge));
	double free_n = fmax((double)s->c.n - s->parameters - 1, 2);
	struct residuals r;

	*ret = (struct power_widths){ .var_j2 = xcalloc(classes + 1, sizeof(double)),
				      .lack_j = xcalloc(classes + 1, sizeof(double)),
				      .own_j2 = xcalloc(classes + 1, sizeof(double)),
				      .blocks_s2 = xcalloc(classes + 1, sizeof(double)),
				      .student = student_t(0.95, (uint64_t)free_n) };
	residuals_make(s, &r);
	if (classes + s->lags <= POWER_DENSE)
		exact_make(s, &r, kinds, ridge, ret->lack_j);
	else
		probes_make(s, &r, kinds);
	for (size_t f = 0; f < classes; f++)
		ret->var_j2[f] =
			fmax(fmax(kinds[f], kinds[classes + f]), kinds[2 * classes + f]) + ridge[f];
	own_part_add(s, &r, ret->var_j2);
	own_variances(s, &r, ret);
	ret->lag1 = r.lag1;
	residuals_release(&r);
}

void power_widths_release(struct power_widths *w)
{
	free(w->var_j2);
	free(w->lack_j);
	free(w->own_j2);
	free(w->blocks_s2);
	*w = (struct power_widths){ 0 };
}
