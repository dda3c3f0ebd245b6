#include "profrig/stats/clock_inputs.h"
#include "collective_clocks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/model_shift.h"
#include "profrig/model/warnings.h"

/*
 * The median offset of an input's ranks whose clocks are aligned; false: it has none. Messages tell
 * of clocks that differ inside an input, too, which no move of all of it brings together.
 */
static bool input_offset(const struct collective_clocks *cc, const struct collective_parts *cp,
			 input_id input, int64_t *buf, int64_t *ret_ns)
{
	const struct input *in = &cp->m->inputs.v[input];
	int64_t middle = in->first_ns / 2 + in->last_ns / 2 + in->shift_ns;
	bool differ = false;
	size_t n = 0;

	for (size_t r = 0; r < cp->ranks.nr; r++) {
		const struct clock_rank *cr = &cc->ca.ranks.v[r];

		if (cp->ranks.v[r].input == input && cr->component != CLOCK_ALONE &&
		    cc->why.v[cr->component] == CLOCKS_ALIGNED)
			buf[n++] = clock_offset_at_ns(cr, middle);
		differ |= n > 1 && buf[n - 1] != buf[0];
	}
	if (cc->by_messages && differ)
		return false;
	*ret_ns = median_i64(buf, n);
	return n > 0;
}

size_t clock_inputs_align(struct model *m)
{
	CLEANUP(xfreep) int64_t *by = xcalloc(m->inputs.nr + 1, sizeof(*by));
	CLEANUP(xfreep) int64_t *buf = NULL;
	struct collective_clocks cc;
	struct collective_match *cm;
	struct collective_parts *cp;
	struct works *w;
	size_t moved = 0;
	int64_t most = 0;

	model_nest(m);
	w = works_new(m);
	cp = collective_parts_new(m, w);
	cm = collective_match_new(cp);
	buf = xcalloc(cp->ranks.nr + 1, sizeof(*buf));
	collective_clocks_find(cm, &cc);
	for (input_id i = 0; i < m->inputs.nr; i++) {
		int64_t offset;

		if (!input_offset(&cc, cp, i, buf, &offset))
			continue;
		by[i] = -offset;
		most = llabs(offset) > most ? llabs(offset) : most;
		moved++;
	}
	if (moved && !model_shift_inputs(m, by))
		moved = 0;
	if (moved)
		model_warn(m, UINT32_MAX, W_CLOCK_ALIGNED, moved,
			   "times of %zu inputs were moved by up to %" PRId64
			   " ns onto a common clock",
			   moved, most);
	collective_clocks_release(&cc);
	collective_match_free(cm);
	collective_parts_free(cp);
	works_free(w);
	return moved;
}
