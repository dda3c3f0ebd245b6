#include "program_order.h"

static bool is_module(const struct program_order *o, uint32_t row)
{
	return o->m->facts.programs.v[row].kind == PROGRAM_MODULE;
}

static bool before(const struct program_cursor *a, const struct program_cursor *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	return a->modules != b->modules ? a->modules : a->row < b->row;
}

/* The first element finds its place. */
static void sift_down(struct program_order *o)
{
	struct program_cursor *v = o->heap.v, c = v[0];
	size_t at = 0, nr = o->heap.nr;

	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && before(&v[child + 1], &v[child]))
			child++;
		if (!before(&v[child], &c))
			break;
		v[at] = v[child];
	}
	v[at] = c;
}

/* The last element finds its place. */
static void sift_up(struct program_order *o)
{
	struct program_cursor *v = o->heap.v, c = v[o->heap.nr - 1];
	size_t at = o->heap.nr - 1;

	for (; at > 0 && before(&c, &v[(at - 1) / 2]); at = (at - 1) / 2)
		v[at] = v[(at - 1) / 2];
	v[at] = c;
}

/* From its row on, of which one is of the cursor's kind. */
static void cursor_seek(const struct program_order *o, struct program_cursor *c)
{
	uint64_t span;

	while (is_module(o, c->row) != c->modules)
		c->row++;
	span = o->m->facts.programs.v[c->row].span;
	c->start_ns = o->m->spans.start_ns[span];
	c->end_ns = o->m->spans.end_ns[span];
}

static void cursor_add(struct program_order *o, uint32_t first, uint32_t rows, bool modules)
{
	struct program_cursor c = { .row = first, .left = rows - 1, .modules = modules };

	if (rows == 0)
		return;
	cursor_seek(o, &c);
	VEC_PUSH(&o->heap, c);
	sift_up(o);
}

void program_order_begin(struct program_order *o, const struct model *m)
{
	const struct program_facts *v = m->facts.programs.v;
	size_t nr = m->facts.programs.nr;

	*o = (struct program_order){ .m = m };
	for (size_t i = 0, end; i < nr; i = end) {
		const struct track *t = &m->tracks.v[m->spans.track[v[i].span]];
		uint64_t past = t->first_span + t->spans;
		uint32_t modules = 0;

		for (end = i; end < nr && v[end].span < past; end++)
			modules += v[end].kind == PROGRAM_MODULE;
		cursor_add(o, (uint32_t)i, modules, true);
		cursor_add(o, (uint32_t)i, (uint32_t)(end - i) - modules, false);
	}
}

bool program_order_next(struct program_order *o, uint32_t *ret_row)
{
	struct program_cursor *c = o->heap.v;

	if (o->heap.nr == 0)
		return false;
	*ret_row = c->row;
	if (c->left > 0) {
		c->left--;
		c->row++;
		cursor_seek(o, c);
	} else {
		*c = o->heap.v[--o->heap.nr];
	}
	if (o->heap.nr > 1)
		sift_down(o);
	return true;
}

void program_order_release(struct program_order *o)
{
	VEC_RELEASE(&o->heap);
}
