/*
 * launch_shape: the grid and the block that a kernel was launched with, as recordings tell them.
 *
 * Recordings have many words for the two: grid, Grid_Size_X, grid_items, grd; block, workgroup
 * size, Workgroup_Size_Y, block_items, wgr. Some count blocks in a grid, some work items; a shape
 * is only good for telling launches of one recording apart.
 *
 * Readers (read_opts.keep_shapes) leave a shape as the arguments of a kernel's span, always in the
 * same words, so that a recording has as many texts as shapes:
 *
 *	struct launch_shape shape = { 0 };
 *	at = launch_shape_field("Grid_Size_X", 11);
 *	shape.v[at] = 64;
 *	span.args = launch_shapes_put(&shapes, sink, &shape);	{"grid":[64,0,0],"block":[0,0,0]}
 *	launch_shapes_release(&shapes);
 *
 * launch_shape_of reads any arguments, also those of a span that kept all of them.
 */
#ifndef PROFRIG_LAUNCH_SHAPE_H
#define PROFRIG_LAUNCH_SHAPE_H

#include "profrig/base/u64map.h"
#include "profrig/model/sink.h"

#define LAUNCH_SHAPE_GRID 0
#define LAUNCH_SHAPE_BLOCK 3
#define LAUNCH_SHAPE_FIELDS 6
#define LAUNCH_SHAPE_TEXT_MAX ((size_t)4096) /* of arguments; longer ones tell no shape */

/* x, y, z of the grid, then of the block; 0 is unknown. */
struct launch_shape {
	uint64_t v[LAUNCH_SHAPE_FIELDS];
};

/* Which field a member or a column of this name has, or begins with its three; -1: none. */
int launch_shape_field(const char *name, size_t n);
/* Of arguments, a JSON text, which need not be valid. False: it tells no shape; *ret is empty. */
bool launch_shape_of(const char *text, size_t n, struct launch_shape *ret);
/* Equal for equal shapes; 0 for an empty one only. */
uint64_t launch_shape_hash(const struct launch_shape *s);

/* The texts of one input; zero is empty. Shapes beyond LAUNCH_SHAPES_MAX are not told. */
#define LAUNCH_SHAPES_MAX 16384
struct launch_shapes {
	struct u64map text_of;
};

/* The shape as a text of the sink; STR_NONE: it is empty, or one too many. */
str_id launch_shapes_put(struct launch_shapes *shapes, struct sink *s,
			 const struct launch_shape *shape);
void launch_shapes_release(struct launch_shapes *shapes);

#endif
