#include "collective_waits.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

struct cell {
	int64_t count, wait_ns, longest_ns, caused_ns;
};

static size_t complete_nr(const struct collective_match *cm)
{
	size_t n = 0;

	for (size_t i = 0; i < cm->v.nr; i++)
		n += cm->v.v[i].why == COLLECTIVE_COMPLETE;
	return n;
}

/* How many instances a column holds. */
static size_t column_size(size_t instances, size_t ranks)
{
	size_t columns = COLLECTIVE_WAITS_CELLS / (ranks ? ranks : 1);

	if (columns > COLLECTIVE_WAITS_COLUMNS)
		columns = COLLECTIVE_WAITS_COLUMNS;
	if (columns == 0)
		columns = 1;
	return (instances + columns - 1) / columns;
}

static void instance_add(const struct collective_match *cm, const struct collective_instance *ci,
			 struct cell *cells)
{
	for (size_t k = ci->first; k < ci->first + ci->nr; k++) {
		struct cell *c = &cells[cm->parts.v[k].rank];
		int64_t wait_ns = cm->wait_ns.v[k];

		c->count++;
		c->wait_ns += wait_ns;
		if (wait_ns > c->longest_ns)
			c->longest_ns = wait_ns;
	}
	cells[ci->last_rank].caused_ns += ci->wait_ns;
}

/* Adds the rows of a column, and clears its cells. */
static void column_put(struct table *t, const struct strvec *labels, struct cell *cells,
		       size_t first, size_t instances, int64_t start_ns)
{
	for (size_t r = 0; r < labels->nr; r++) {
		struct cell *c = &cells[r];

		if (c->count)
			table_add(t, &(struct collective_waits_row){ labels->v[r], (int64_t)first,
								     (int64_t)instances, start_ns,
								     c->count, c->wait_ns,
								     c->longest_ns, c->caused_ns });
		*c = (struct cell){ 0 };
	}
}

struct table *collective_waits_table(const struct collective_match *cm, const size_t *order,
				     const struct strvec *labels)
{
	size_t all = complete_nr(cm), size = column_size(all, labels->nr), at = 0, first = 0;
	struct cell *cells;
	struct table *t;
	int64_t start_ns = 0;

	if (all == 0)
		return NULL;
	cells = xcalloc(labels->nr, sizeof(*cells));
	t = table_make(&collective_waits_form);
	for (size_t i = 0; i < cm->v.nr; i++) {
		const struct collective_instance *ci = &cm->v.v[order[i]];

		if (ci->why != COLLECTIVE_COMPLETE)
			continue;
		if (at == first)
			start_ns = ci->start_ns;
		instance_add(cm, ci, cells);
		if (++at - first == size || at == all) {
			column_put(t, labels, cells, first, at - first,
				   start_ns - cm->cp->m->first_ns);
			first = at;
		}
	}
	free(cells);
	return t;
}
