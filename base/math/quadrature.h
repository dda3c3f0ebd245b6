/*
 * quadrature: Gauss-Legendre's rule with 16 points, exact for polynomials up to degree 31.
 * Source: Abramowitz and Stegun 25.4.30, table 25.4.
 *
 *	for (int i = 0; i < QUADRATURE_NODES; i++) {
 *		double by, x = quadrature_at(begin, end, i, &by);
 *		sum += by * f(x);
 *	}
 */
#ifndef BASE_QUADRATURE_H
#define BASE_QUADRATURE_H

#define QUADRATURE_NODES 16

/* Point i of an interval, and what it weighs there. */
static inline double quadrature_at(double begin, double end, int i, double *ret_weight)
{
	static const double node[QUADRATURE_NODES / 2] = {
		0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863,
		0.6178762444026437484, 0.7554044083550030339, 0.8656312023878317439,
		0.9445750230732325761, 0.9894009349916499326
	};
	static const double weight[QUADRATURE_NODES / 2] = {
		0.1894506104550684963, 0.1826034150449235888, 0.1691565193950025382,
		0.1495959888165767321, 0.1246289712555338720, 0.0951585116824927848,
		0.0622535239386478929, 0.0271524594117540949
	};
	double half = (end - begin) / 2, off = node[i / 2] * half;

	*ret_weight = weight[i / 2] * half;
	return begin + half + (i % 2 ? off : -off);
}

#endif
