#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"

#define CG_STEPS 60 /* at most */

/* ---- random vectors ---- */

double probe_sign(uint64_t place)
{
	return mix64(place) & 1 ? 1 : -1;
}

/* ---- dense ---- */

/* Rows whose sums run side by side: a sum alone waits for each of its terms. */
#define FACTOR_ROWS ((size_t)4)

/* Column i of the rows from j on. */
static void factor_rows(double *a, size_t n, size_t i, size_t j, size_t rows)
{
	const double *ai = &a[i * n];
	double sum[FACTOR_ROWS];

	for (size_t r = 0; r < rows; r++)
		sum[r] = a[(j + r) * n + i];
	if (rows == FACTOR_ROWS) {
		const double *v0 = &a[j * n], *v1 = v0 + n, *v2 = v1 + n, *v3 = v2 + n;
		double s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

		for (size_t k = 0; k < i; k++) {
			s0 -= v0[k] * ai[k];
			s1 -= v1[k] * ai[k];
			s2 -= v2[k] * ai[k];
			s3 -= v3[k] * ai[k];
		}
		sum[0] = s0, sum[1] = s1, sum[2] = s2, sum[3] = s3;
	} else {
		for (size_t r = 0; r < rows; r++)
			for (size_t k = 0; k < i; k++)
				sum[r] -= a[(j + r) * n + k] * ai[k];
	}
	for (size_t r = 0; r < rows; r++) {
		double *aj = &a[(j + r) * n];

		aj[i] = sum[r] / ai[i];
		aj[j + r] -= aj[i] * aj[i];
	}
}

/* Cholesky: the lower triangle becomes L with L·L' = a. */
static void matrix_factor(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		a[i * n + i] = sqrt(a[i * n + i]);
		for (size_t j = i + 1; j < n; j += FACTOR_ROWS)
			factor_rows(a, n, i, j, n - j < FACTOR_ROWS ? n - j : FACTOR_ROWS);
	}
}

/* L becomes L^-1, row after row. */
static void matrix_invert_lower(double *a, size_t n, double *row)
{
	for (size_t i = 0; i < n; i++) {
		double *ai = &a[i * n], per = 1 / ai[i];

		memset(row, 0, n * sizeof(*row));
		for (size_t k = 0; k < i; k++) {
			for (size_t j = 0; j <= k; j++)
				row[j] -= ai[k] * a[k * n + j];
		}
		for (size_t j = 0; j < i; j++)
			ai[j] = row[j] * per;
		ai[i] = per;
	}
}

static void mirror(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++)
			a[j * n + i] = a[i * n + j];
	}
}

/* The lower triangle of L'·L, then both. */
static void matrix_square(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *ai = &a[i * n], own = ai[i];

		for (size_t j = 0; j <= i; j++)
			ai[j] *= own;
		for (size_t k = i + 1; k < n; k++) {
			const double *ak = &a[k * n];
			double f = ak[i];

			for (size_t j = 0; j <= i; j++)
				ai[j] += f * ak[j];
		}
	}
	mirror(a, n);
}

void matrix_invert(double *a, size_t n)
{
	CLEANUP(xfreep) double *row = xcalloc(n + 1, sizeof(*row));

	matrix_factor(a, n);
	matrix_invert_lower(a, n, row);
	matrix_square(a, n);
}

/* The lower triangle of A, owned. */
static double *dense_a(const struct normal *n)
{
	const struct columns *c = n->c;
	size_t size = c->classes;
	double *a = xcalloc(size * size + 1, sizeof(*a));

	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			size_t f = c->class_id[k];
			double w = c->t_s[k] * n->per_mu[i];

			for (size_t l = c->first[i]; l <= k; l++) {
				size_t g = c->class_id[l], most = f > g ? f : g;

				/* no branch: either may be the larger one */
				a[most * (size - 1) + f + g] += w * c->t_s[l];
			}
		}
	}
	return a;
}

static void dense_make(struct normal *n)
{
	size_t size = n->c->classes;

	n->a = dense_a(n);
	mirror(n->a, size);
	n->b = xcalloc(size * size + 1, sizeof(*n->b));
	memcpy(n->b, n->a, size * size * sizeof(*n->b));
	for (size_t f = 0; f < size; f++)
		n->b[f * size + f] += n->lambda[f];
	matrix_invert(n->b, size);
}

/* Whether A takes less time to make than conjugate gradients need to do without it. */
static bool is_direct(const struct columns *c)
{
	double squares = 0;

	if (c->classes > POWER_DENSE)
		return false;
	for (size_t i = 0; i < c->n; i++) {
		double k = (double)(c->first[i + 1] - c->first[i]);

		squares += k * k;
	}
	return squares <= CG_STEPS * (double)c->first[c->n];
}

bool normal_solve_direct(const struct normal *n, const double *v, double *x)
{
	size_t size = n->c->classes;
	CLEANUP(xfreep) double *a = NULL;

	if (!is_direct(n->c))
		return false;
	a = dense_a(n);
	for (size_t f = 0; f < size; f++)
		a[f * size + f] += n->lambda[f];
	matrix_factor(a, size);
	for (size_t f = 0; f < size; f++) {
		x[f] = v[f];
		for (size_t g = 0; g < f; g++)
			x[f] -= a[f * size + g] * x[g];
		x[f] /= a[f * size + f];
	}
	for (size_t f = size; f-- > 0;) {
		x[f] /= a[f * size + f];
		for (size_t g = 0; g < f; g++)
			x[g] -= a[f * size + g] * x[f];
	}
	return true;
}

/* ---- life ---- */

void normal_make(struct normal *n, const struct columns *c, const double *per_mu,
		 const double *lambda, bool dense)
{
	*n = (struct normal){ .c = c,
			      .per_mu = per_mu,
			      .lambda = lambda,
			      .diagonal = xcalloc(c->classes + 1, sizeof(*n->diagonal)) };
	columns_sum_squares(c, per_mu, n->diagonal);
	if (dense && c->classes <= POWER_DENSE)
		dense_make(n);
}

void normal_release(struct normal *n)
{
	free(n->diagonal);
	free(n->a);
	free(n->b);
	*n = (struct normal){ 0 };
}

/* ---- conjugate gradients ---- */

/*
 * For `wide` right sides side by side, [classes][wide]. wide is a constant where these are called,
 * so that the loops over it have a known length and adjacent operands.
 */
#define FOR_WIDE static inline __attribute__((always_inline))

/* to = (A + diag λ)·v */
FOR_WIDE void wide_apply(const struct normal *n, size_t wide, const double *v, double *to)
{
	const struct columns *c = n->c;

	for (size_t f = 0; f < c->classes; f++) {
		for (size_t q = 0; q < wide; q++)
			to[f * wide + q] = n->lambda[f] * v[f * wide + q];
	}
	for (size_t i = 0; i < c->n; i++) {
		double sum[POWER_WIDE] = { 0 };

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			for (size_t q = 0; q < wide; q++)
				sum[q] += c->t_s[k] * v[c->class_id[k] * wide + q];
		}
		for (size_t q = 0; q < wide; q++)
			sum[q] *= n->per_mu[i];
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			for (size_t q = 0; q < wide; q++)
				to[c->class_id[k] * wide + q] += c->t_s[k] * sum[q];
		}
	}
}

FOR_WIDE double preconditioned(const struct normal *n, size_t f, double v)
{
	return v / (n->diagonal[f] + n->lambda[f]);
}

/* r'·M^-1·r of each right side; p = M^-1·r + p·(that / before) */
FOR_WIDE void wide_direct(const struct normal *n, size_t wide, const double *r, double *before,
			  double *p)
{
	double now[POWER_WIDE] = { 0 }, f_p[POWER_WIDE];

	for (size_t f = 0; f < n->c->classes; f++) {
		for (size_t q = 0; q < wide; q++)
			now[q] += r[f * wide + q] * preconditioned(n, f, r[f * wide + q]);
	}
	for (size_t q = 0; q < wide; q++) {
		f_p[q] = before[q] > 0 ? now[q] / before[q] : 0;
		before[q] = now[q];
	}
	for (size_t f = 0; f < n->c->classes; f++) {
		for (size_t q = 0; q < wide; q++)
			p[f * wide + q] =
				preconditioned(n, f, r[f * wide + q]) + f_p[q] * p[f * wide + q];
	}
}

/* x and r move along p. */
FOR_WIDE void wide_step(const struct normal *n, size_t wide, const double *p, const double *ap,
			const double *rz, double *x, double *r)
{
	double pap[POWER_WIDE] = { 0 }, by[POWER_WIDE];

	for (size_t f = 0; f < n->c->classes; f++) {
		for (size_t q = 0; q < wide; q++)
			pap[q] += p[f * wide + q] * ap[f * wide + q];
	}
	for (size_t q = 0; q < wide; q++)
		by[q] = pap[q] > 0 ? rz[q] / pap[q] : 0;
	for (size_t f = 0; f < n->c->classes; f++) {
		for (size_t q = 0; q < wide; q++) {
			x[f * wide + q] += by[q] * p[f * wide + q];
			r[f * wide + q] -= by[q] * ap[f * wide + q];
		}
	}
}

FOR_WIDE void wide_solve(const struct normal *n, size_t wide, const double *v, double error,
			 double *x)
{
	size_t size = n->c->classes * wide;
	CLEANUP(xfreep) double *r = xcalloc(3 * size + 1, sizeof(*r));
	double *p = r + size, *ap = p + size, rz[POWER_WIDE] = { 0 }, first = 0, left;

	memcpy(r, v, size * sizeof(*r));
	memset(x, 0, size * sizeof(*x));
	for (int step = 0; step < CG_STEPS; step++) {
		wide_direct(n, wide, r, rz, p);
		left = 0;
		for (size_t q = 0; q < wide; q++)
			left = fmax(left, rz[q]);
		first = step ? first : left;
		if (left <= error * error * first)
			break;
		wide_apply(n, wide, p, ap);
		wide_step(n, wide, p, ap, rz, x, r);
	}
}

static void dense_solve(const struct normal *n, const double *v, double *x)
{
	size_t size = n->c->classes;

	for (size_t f = 0; f < size; f++) {
		x[f] = 0;
		for (size_t g = 0; g < size; g++)
			x[f] += n->b[f * size + g] * v[g];
	}
}

void normal_solve(const struct normal *n, const double *v, double error, double *x)
{
	if (n->b)
		dense_solve(n, v, x);
	else
		wide_solve(n, 1, v, error, x);
}

void normal_solve_wide(const struct normal *n, const double *v, double error, double *x)
{
	wide_solve(n, POWER_WIDE, v, error, x);
}

/* ---- the inverse's diagonal ---- */

/*
 * Of u = Σ t_i·z_i/√μ_i + √λ·z', z normal, the covariance is A + λ, so that of its solution is the
 * inverse.
 */
static void diagonal_by_probes(const struct normal *n, double *to)
{
	const struct columns *c = n->c;
	size_t size = c->classes * POWER_WIDE;
	CLEANUP(xfreep) double *u = xcalloc(2 * size + 1, sizeof(*u));
	double *x = u + size;

	for (size_t i = 0; i < c->n; i++) {
		double z[POWER_WIDE], s = sqrt(n->per_mu[i]);

		for (size_t q = 0; q < POWER_WIDE; q++)
			z[q] = s * probe_sign(i * POWER_WIDE + q);
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			for (size_t q = 0; q < POWER_WIDE; q++)
				u[c->class_id[k] * POWER_WIDE + q] += c->t_s[k] * z[q];
		}
	}
	for (size_t j = 0; j < size; j++)
		u[j] += sqrt(n->lambda[j / POWER_WIDE]) * probe_sign(~(uint64_t)j);
	normal_solve_wide(n, u, 0.05, x);
	for (size_t f = 0; f < c->classes; f++) {
		double sum = 0;

		for (size_t q = 0; q < POWER_WIDE; q++)
			sum += x[f * POWER_WIDE + q] * x[f * POWER_WIDE + q];
		to[f] = fmin(sum / POWER_WIDE, 1 / n->lambda[f]);
	}
}

void normal_inverse_diagonal(const struct normal *n, double *to)
{
	size_t size = n->c->classes;

	if (!n->b) {
		diagonal_by_probes(n, to);
		return;
	}
	for (size_t f = 0; f < size; f++)
		to[f] = n->b[f * size + f];
}
