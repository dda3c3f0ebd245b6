/*
 * program_order: rows of compiled programs by start, the longer first; of equal ones modules come
 * first, then the first in the model. Rows of one track are in order already, so the tracks are
 * merged: room goes with tracks, and not with rows.
 *
 *	struct program_order o;
 *	program_order_begin(&o, m);		spans and facts are sorted
 *	while (program_order_next(&o, &row))
 *		...
 *	program_order_release(&o);
 */
#ifndef PROGRAM_ORDER_H
#define PROGRAM_ORDER_H

#include "profrig/model/model.h"

/* The rows of a track that are modules, or those that are not. */
struct program_cursor {
	int64_t start_ns, end_ns; /* of row */
	uint32_t row;
	uint32_t left; /* rows behind this one */
	bool modules;
};

struct program_order {
	const struct model *m;
	VEC(struct program_cursor) heap; /* the next one is the first */
};

void program_order_begin(struct program_order *o, const struct model *m);
/* false: there are no more. */
bool program_order_next(struct program_order *o, uint32_t *ret_row);
void program_order_release(struct program_order *o);

#endif
