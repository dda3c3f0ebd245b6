#include "model_support.h"

static const char *piece_parent_name(const struct model *m, const struct span_piece *p)
{
	return p->parent == PIECE_NONE ? ""
				       : model_str(m, m->spans.name[m->pieces.v[p->parent].span]);
}

struct nest_span {
	const char *name;
	int64_t start, end;
	enum span_kind kind;
	/* expected */
	const char *parent;
	uint32_t depth;
	int64_t exclusive;
	int64_t piece_start; /* NO_PIECE */
	int64_t piece_exclusive;
	const char *piece_parent;
	const char *below; /* the span whose piece it lies below, NULL none */
};
#define NO_PIECE INT64_MIN
#define PLAIN(n, s, e, p, d, x) \
	{ \
		n, s, e, SPAN_HOST, p, d, x, NO_PIECE, 0, NULL, NULL \
	}

struct nest_case {
	const char *title;
	uint64_t overlaps;
	struct nest_span spans[6];
};

static const struct nest_case nest_cases[] = {
	{ "calls inside calls",
	  0,
	  { PLAIN("a", 0, 100, "", 0, 50), PLAIN("b", 10, 50, "a", 1, 30),
	    PLAIN("c", 20, 30, "b", 2, 10), PLAIN("d", 60, 70, "a", 1, 10) } },
	{ "touching calls are siblings",
	  0,
	  { PLAIN("a", 0, 10, "", 0, 10), PLAIN("b", 10, 20, "", 0, 20 - 10),
	    PLAIN("c", 20, 20, "", 0, 0) } },
	{ "longer first at equal starts, whatever the order of pushing",
	  0,
	  { PLAIN("in", 5, 8, "out", 1, 3), PLAIN("out", 5, 20, "", 0, 12) } },
	{ "equal spans nest in push order",
	  0,
	  { PLAIN("first", 0, 10, "", 0, 0), PLAIN("second", 0, 10, "first", 1, 10) } },
	{ "zero length at the start, inside, at the end of a call",
	  0,
	  { PLAIN("a", 10, 20, "", 0, 10), PLAIN("s", 10, 10, "a", 1, 0),
	    PLAIN("m", 15, 15, "a", 1, 0), PLAIN("e", 20, 20, "", 0, 0) } },
	{ "two of zero length at one time are siblings",
	  0,
	  { PLAIN("a", 7, 7, "", 0, 0), PLAIN("b", 7, 7, "", 0, 0) } },
	{ "a child may share its parent's end",
	  0,
	  { PLAIN("a", 0, 10, "", 0, 4), PLAIN("b", 4, 10, "a", 1, 3),
	    PLAIN("c", 7, 10, "b", 2, 3) } },
	{ "instants disturb nothing",
	  0,
	  { PLAIN("a", 0, 10, "", 0, 7),
	    PLAIN("b", 4, 7, "a", 1, 3),
	    { "i", 5, 5, SPAN_INSTANT, "b", 2, 0, NO_PIECE, 0, NULL, NULL },
	    { "j", 8, 8, SPAN_INSTANT, "a", 1, 0, NO_PIECE, 0, NULL, NULL },
	    { "k", 10, 10, SPAN_INSTANT, "", 0, 0, NO_PIECE, 0, NULL, NULL } } },
	{ "partial overlap",
	  1,
	  { PLAIN("p", 0, 10, "", 0, 5), { "s", 5, 15, SPAN_HOST, "p", 1, 10, 10, 5, "", NULL } } },
	{ "partial overlap inside a caller: the excess is a root all the same",
	  1,
	  { PLAIN("g", 0, 100, "", 0, 85),
	    PLAIN("p", 0, 10, "g", 1, 5),
	    { "s", 5, 15, SPAN_HOST, "p", 2, 10, 10, 5, "", NULL } } },
	{ "what lies inside an overlapping span is cut with it",
	  1,
	  { PLAIN("p", 0, 10, "", 0, 5),
	    { "s", 5, 15, SPAN_HOST, "p", 1, 6, 10, 3, "", NULL },
	    { "c", 8, 12, SPAN_HOST, "s", 2, 4, 10, 2, "s", NULL } } },
	{ "a span in the excess lies below the piece",
	  1,
	  { PLAIN("p", 0, 10, "", 0, 5),
	    { "s", 5, 15, SPAN_HOST, "p", 1, 8, 10, 3, "", NULL },
	    { "d", 12, 14, SPAN_HOST, "s", 2, 2, NO_PIECE, 0, NULL, "s" } } },
	{ "a staircase: every span outlives the one before",
	  2,
	  { PLAIN("a", 0, 10, "", 0, 4),
	    { "b", 4, 14, SPAN_HOST, "a", 1, 4, 10, 0, "", NULL },
	    { "c", 8, 18, SPAN_HOST, "b", 2, 10, 10, 8, "", NULL } } },
	{ "overlap of the excess itself",
	  2,
	  { PLAIN("p", 0, 10, "", 0, 5),
	    { "s", 5, 15, SPAN_HOST, "p", 1, 7, 10, 2, "", NULL },
	    { "t", 12, 20, SPAN_HOST, "s", 2, 8, 15, 5, "", "s" } } },
	{ "a span that starts where the parent of an open one ends",
	  1,
	  { PLAIN("p", 0, 10, "", 0, 5),
	    { "s", 5, 15, SPAN_HOST, "p", 1, 8, 10, 3, "", NULL },
	    { "t", 10, 12, SPAN_HOST, "s", 2, 2, NO_PIECE, 0, NULL, "s" } } },
};

static void check_span(const struct model *m, const struct nest_span *want)
{
	size_t i = span_named(m, want->name);
	const struct span_piece *piece = model_piece(m, i), *below = model_below_piece(m, i);

	assert_string_equal(parent_name(m, i), want->parent);
	assert_int_equal(m->spans.depth[i], want->depth);
	assert_int_equal(m->spans.exclusive_ns[i], want->exclusive);
	assert_int_equal(m->spans.start_ns[i], want->start);
	assert_int_equal(m->spans.end_ns[i], want->end);
	assert_int_equal(piece != NULL, want->piece_start != NO_PIECE);
	if (piece) {
		assert_int_equal(piece->start_ns, want->piece_start);
		assert_int_equal(piece->exclusive_ns, want->piece_exclusive);
		assert_string_equal(piece_parent_name(m, piece), want->piece_parent);
	}
	assert_int_equal(below != NULL, want->below != NULL);
	if (below)
		assert_string_equal(model_str(m, m->spans.name[below->span]), want->below);
}

TEST(test_nesting_table)
{
	for (size_t k = 0; k < ARRAY_LEN(nest_cases); k++) {
		const struct nest_case *c = &nest_cases[k];
		CLEANUP(model_freep) struct model *m = model_new();
		struct sink *s = model_sink(m);
		track_id t;

		print_message("# %s\n", c->title);
		s->ops->input(s, "x", "tef");
		t = thread_of(s, "h", 1, 2);
		for (const struct nest_span *sp = c->spans; sp->name; sp++)
			span_put(s, t, sp->name, sp->start, sp->end, sp->kind, 0);
		s->ops->input_end(s);
		model_finish(m);
		for (const struct nest_span *sp = c->spans; sp->name; sp++)
			check_span(m, sp);
		assert_int_equal(warned(m, W_SPAN_OVERLAP), c->overlaps);
	}
}

TEST(test_recursion)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id t;
	str_id a;

	s->ops->input(s, "x", "otf2");
	t = thread_of(s, NULL, 1, 2);
	a = sink_puts(s, "a");
	for (int i = 0; i < 3; i++)
		s->ops->enter(s, t, 10 * i, a, 0);
	for (int i = 0; i < 3; i++)
		s->ops->leave(s, t, 50 + 10 * i, a);
	s->ops->input_end(s);
	model_finish(m);
	assert_int_equal(m->spans.nr, 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const int64_t exclusive[] = { 20, 20, 30 };

		assert_int_equal(m->spans.depth[i], i);
		assert_int_equal(m->spans.exclusive_ns[i], exclusive[i]);
	}
	assert_int_equal(m->warnings.nr, 0);
}

/* The law behind exclusive_ns, on random spans: at each moment the open span that started last gets
 * the time, and only it. */

static void check_moments(const struct model *m, int64_t until)
{
	const struct span_columns *c = &m->spans;
	int64_t *exclusive = xcalloc(c->nr, sizeof(*exclusive));
	int64_t sum_pieces = 0, sum_piece_want = 0;

	for (int64_t t = 0; t < until; t++) {
		size_t top = SIZE_MAX;

		for (size_t i = 0; i < c->nr; i++) {
			if (c->start_ns[i] <= t && t < c->end_ns[i])
				top = i;
		}
		if (top == SIZE_MAX)
			continue;
		exclusive[top]++;
		if (model_piece(m, top) && t >= model_piece(m, top)->start_ns)
			sum_piece_want++;
	}
	for (size_t i = 0; i < c->nr; i++) {
		assert_int_equal(c->exclusive_ns[i], exclusive[i]);
		assert_true(c->parent[i] == SPAN_NONE || c->parent[i] < i);
	}
	for (size_t i = 0; i < m->pieces.nr; i++) {
		const struct span_piece *p = &m->pieces.v[i];

		assert_true(p->start_ns > c->start_ns[p->span] && p->start_ns < c->end_ns[p->span]);
		assert_true(p->exclusive_ns >= 0 && p->exclusive_ns <= c->exclusive_ns[p->span]);
		assert_true(i == 0 || m->pieces.v[i - 1].span < p->span);
		assert_true(p->parent == PIECE_NONE || p->parent < i);
		sum_pieces += p->exclusive_ns;
	}
	assert_int_equal(sum_pieces, sum_piece_want);
	free(exclusive);
}

TEST(test_exclusive_is_innermost)
{
	uint64_t pieces = 0;

	for (uint32_t seed = 1; seed <= 200; seed++) {
		CLEANUP(model_freep) struct model *m = model_new();
		struct sink *s = model_sink(m);
		track_id t;

		rnd_state = seed;
		s->ops->input(s, "x", "tef");
		t = thread_of(s, NULL, 1, 2);
		for (uint32_t i = 0, n = rnd_below(30); i < n; i++) {
			int64_t start = rnd_below(60), len = rnd_below(4) ? rnd_below(30) : 0;

			span_put(s, t, "s", start, start + len,
				 rnd_below(8) ? SPAN_HOST : SPAN_INSTANT, 0);
		}
		s->ops->input_end(s);
		model_finish(m);
		check_moments(m, 100);
		pieces += m->pieces.nr;
	}
	assert_true(pieces > 100);
}

TEST(test_queues_do_not_nest)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id q;

	s->ops->input(s, "x", "tef");
	q = queue_of(s, "gpu0", 7);
	span_put(s, q, "outer", 0, 100, SPAN_KERNEL, 0);
	span_put(s, q, "inner", 10, 20, SPAN_KERNEL, 0);
	span_put(s, q, "over", 90, 120, SPAN_COPY, 0);
	s->ops->input_end(s);
	model_finish(m);
	for (size_t i = 0; i < 3; i++) {
		assert_true(m->spans.parent[i] == SPAN_NONE);
		assert_int_equal(m->spans.exclusive_ns[i],
				 m->spans.end_ns[i] - m->spans.start_ns[i]);
		assert_true(span_is_work(m, i));
	}
	assert_int_equal(warned(m, W_SPAN_OVERLAP), 0);
}
