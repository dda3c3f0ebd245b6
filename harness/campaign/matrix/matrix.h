/*
 * matrix: the cells of a campaign: which configurations its runs have.
 *
 *	axes:
 *	  env.OMP_NUM_THREADS: ["1", "2"]		a configuration path and its values
 *	  tools: [[], [blas_trace]]
 *	  library: {image: [a, b], env.LIB: [x, y]}	paths whose values go together: a zip
 *	zip: [[model.args, env.SIZE]]			so do these axes
 *	exclude: [{env.OMP_NUM_THREADS: "2", tools: [blas_trace]}]
 *	include: [{env.OMP_NUM_THREADS: "8"}, {library: …}]
 *
 * Life cycle: matrix_read(&m, root, &problems), matrix_expand(&m, limit, &problems), m.cells,
 * matrix_release. Nodes and paths are borrowed from the tree.
 *
 * A dimension is an axis, or several that are zipped: their numbers of values are equal. The cells
 * are the product of the dimensions in the order of the file, the last one fastest. Then
 *
 *	exclude		takes away each cell that has all values of an entry; a list stands for any
 *			of its elements, unless the axis has that list as a value. An entry that
 *			takes away nothing is a problem: it says something else than its author
 *			means.
 *	include		an entry joins every cell (of the product) that it does not contradict,
 *			which then has its other values, too; an entry that joins none is a new
 *			cell, behind the others, of its own values alone.
 *
 * Scalars are equal when their texts are: 1 and "1". Values of an axis differ; a path has one axis.
 * Nothing is expanded when there would be more than `limit` cells; those that include adds count,
 * too.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include "profrig/base/cfg.h"
#include "profrig/base/vec.h"

#define MATRIX_CELLS_MAX ((uint64_t)10000)
#define MATRIX_AXES_MAX ((size_t)256)
#define MATRIX_VALUES_MAX ((size_t)10000)  /* of an axis */
#define MATRIX_ENTRIES_MAX ((size_t)10000) /* of exclude, of include */

struct matrix_axis {
	const char *path;
	const struct cfg_node *where;
	const struct cfg_node *const *value;
	size_t dimension;
};

struct matrix_set {
	const char *path;
	const struct cfg_node *value;
};

struct matrix_cell {
	VEC(struct matrix_set) sets; /* one for each axis that it has, then those of include */
};

struct matrix {
	VEC(struct matrix_axis) axes;
	VEC(size_t) sizes; /* of the dimensions */
	const struct cfg_node *exclude, *include;
	VEC(struct matrix_cell) cells;
};
#define MATRIX_INIT \
	{ \
		.exclude = NULL \
	}

/* root: of the campaign's file. Without axes there is one cell, which sets nothing. */
void matrix_read(struct matrix *m, const struct cfg_node *root, struct problems *p);
/* The product alone, at most UINT64_MAX. */
uint64_t matrix_count(const struct matrix *m);
/* m has been read without problems. */
void matrix_expand(struct matrix *m, uint64_t limit, struct problems *p);
void matrix_release(struct matrix *m);

/* Whether two values are the same: lists and maps element by element, maps in any order. */
bool matrix_same(const struct cfg_node *a, const struct cfg_node *b);

#endif
