#include "model_private.h"
#include "model_support.h"
#include "trace_text.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"

static const char *piece_parent_name(const struct model *m, const struct span_piece *p)
{
	return p->parent == PIECE_NONE ? ""
				       : model_str(m, m->spans.name[m->pieces.v[p->parent].span]);
}

/*
 * One thread's spans (trace_text.h), and of each "NAME PARENT DEPTH EXCLUSIVE", then of one that
 * outlives its parent "PIECE_START PIECE_EXCLUSIVE PIECE_PARENT", "-" of one that does not, and at
 * the end "<NAME" where it lies below the piece of that span. "-" is also no parent.
 */
static const struct nest_case {
	const char *title;
	uint64_t overlaps;
	const char *spans, *want;
} nest_cases[] = {
	{ "calls inside calls", 0, "a 0-100 b 10-50 c 20-30 d 60-70",
	  "a - 0 50 -\nb a 1 30 -\nc b 2 10 -\nd a 1 10 -\n" },
	{ "touching calls are siblings", 0, "a 0-10 b 10-20 c 20-20",
	  "a - 0 10 -\nb - 0 10 -\nc - 0 0 -\n" },
	{ "longer first at equal starts, whatever the order of pushing", 0, "in 5-8 out 5-20",
	  "in out 1 3 -\nout - 0 12 -\n" },
	{ "equal spans nest in push order", 0, "first 0-10 second 0-10",
	  "first - 0 0 -\nsecond first 1 10 -\n" },
	{ "zero length at the start, inside, at the end of a call", 0,
	  "a 10-20 s 10-10 m 15-15 e 20-20", "a - 0 10 -\ns a 1 0 -\nm a 1 0 -\ne - 0 0 -\n" },
	{ "two of zero length at one time are siblings", 0, "a 7-7 b 7-7",
	  "a - 0 0 -\nb - 0 0 -\n" },
	{ "a child may share its parent's end", 0, "a 0-10 b 4-10 c 7-10",
	  "a - 0 4 -\nb a 1 3 -\nc b 2 3 -\n" },
	{ "instants disturb nothing", 0, "a 0-10 b 4-7 i!i 5-5 j!i 8-8 k!i 10-10",
	  "a - 0 7 -\nb a 1 3 -\ni b 2 0 -\nj a 1 0 -\nk - 0 0 -\n" },
	{ "partial overlap", 1, "p 0-10 s 5-15", "p - 0 5 -\ns p 1 10 10 5 -\n" },
	{ "partial overlap inside a caller: the excess is a root all the same", 1,
	  "g 0-100 p 0-10 s 5-15", "g - 0 85 -\np g 1 5 -\ns p 2 10 10 5 -\n" },
	{ "what lies inside an overlapping span is cut with it", 1, "p 0-10 s 5-15 c 8-12",
	  "p - 0 5 -\ns p 1 6 10 3 -\nc s 2 4 10 2 s\n" },
	{ "a span in the excess lies below the piece", 1, "p 0-10 s 5-15 d 12-14",
	  "p - 0 5 -\ns p 1 8 10 3 -\nd s 2 2 - <s\n" },
	{ "a staircase: every span outlives the one before", 2, "a 0-10 b 4-14 c 8-18",
	  "a - 0 4 -\nb a 1 4 10 0 -\nc b 2 10 10 8 -\n" },
	{ "overlap of the excess itself", 2, "p 0-10 s 5-15 t 12-20",
	  "p - 0 5 -\ns p 1 7 10 2 -\nt s 2 8 15 5 - <s\n" },
	{ "a span that starts where the parent of an open one ends", 1, "p 0-10 s 5-15 t 10-12",
	  "p - 0 5 -\ns p 1 8 10 3 -\nt s 2 2 - <s\n" },
};

static const char *or_none(const char *name)
{
	return *name ? name : "-";
}

/* Of the span with this name, a line as in nest_case. */
static void describe_span(const struct model *m, const char *name, struct strbuf *to)
{
	size_t i = span_at(m, name);
	const struct span_piece *piece = model_piece(m, i), *below = model_below_piece(m, i);
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);

	strbuf_addf(to, "%s %s %u %lld ", name, or_none(parent_name(m, i)), depths[i],
		    (long long)m->spans.exclusive_ns[i]);
	if (piece)
		strbuf_addf(to, "%lld %lld ", (long long)piece->start_ns,
			    (long long)piece->exclusive_ns);
	strbuf_addf(to, "%s", piece ? or_none(piece_parent_name(m, piece)) : "-");
	if (below)
		strbuf_addf(to, " <%s", model_str(m, m->spans.name[below->span]));
	strbuf_addf(to, "\n");
}

TEST(test_nesting_table)
{
	for (size_t k = 0; k < ARRAY_LEN(nest_cases); k++) {
		const struct nest_case *c = &nest_cases[k];
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
		CLEANUP(xfreep) char *line = xasprintf("thread 1/2: %s\n", c->spans);
		CLEANUP(model_freep) struct model *m = model_of_text(1, line);

		strvec_split(&words, c->spans, " ");
		assert_int_equal(m->spans.nr, words.nr / 2);
		for (size_t i = 0; i < words.nr; i += 2) {
			char times[64];
			size_t span;

			words.v[i][strcspn(words.v[i], "!")] = '\0';
			span = span_at(m, words.v[i]);
			snprintf(times, sizeof(times), "%lld-%lld",
				 (long long)m->spans.start_ns[span],
				 (long long)m->spans.end_ns[span]);
			assert_string_equal(times, words.v[i + 1]);
			describe_span(m, words.v[i], &got);
		}
		if (strcmp(got.buf, c->want) != 0)
			ROW_FAIL(k, "%s: it is\n%snot\n%s", c->title, got.buf, c->want);
		if (warned(m, W_SPAN_OVERLAP) != c->overlaps)
			ROW_FAIL(k, "%s: overlaps", c->title);
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
	model_ended(m);
	assert_int_equal(m->spans.nr, 3);
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	for (uint32_t i = 0; i < 3; i++) {
		static const int64_t exclusive[] = { 20, 20, 30 };

		assert_int_equal(depths[i], i);
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
		assert_true(span_parent(c, i) == SPAN_NONE || span_parent(c, i) < i);
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
		model_ended(m);
		check_moments(m, 100);
		pieces += m->pieces.nr;
	}
	assert_true(pieces > 100);
}

/* Random spans of two threads, finished flat; seeds tell them. */
static struct model *model_flat(uint32_t seed, uint32_t up_most)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	rnd_state = seed;
	m->priv->up_most = up_most;
	s->ops->input(s, "x", "tef");
	for (int k = 0; k < 2; k++) {
		track_id t = thread_of(s, NULL, 1, 2 + k);

		for (uint32_t i = 0; i < 40; i++) {
			int64_t start = rnd_below(60);

			span_put(s, t, "s", start, start + rnd_below(40), SPAN_HOST, 0);
		}
	}
	model_finish_flat(m);
	return m;
}

static void same_parents(const struct model *a, const struct model *b)
{
	assert_int_equal(a->spans.nr, b->spans.nr);
	for (size_t i = 0; i < a->spans.nr; i++)
		assert_int_equal(span_parent(&a->spans, i), span_parent(&b->spans, i));
}

/* Wherever a parent's distance does not fit, the table of those has it; also after a cut. */
TEST(test_far_parents)
{
	uint64_t far = 0;

	for (uint32_t seed = 1; seed <= 50; seed++) {
		CLEANUP(model_freep) struct model *near = model_flat(seed, UP_FAR);
		CLEANUP(model_freep) struct model *m = model_flat(seed, 2);

		model_nest(near);
		model_nest(m);
		assert_int_equal(near->spans.far.nr, 0);
		far += m->spans.far.nr;
		same_parents(m, near);
		model_window(near, &(struct window){ 20, 50 }, 1, NULL);
		model_window(m, &(struct window){ 20, 50 }, 1, NULL);
		same_parents(m, near);
	}
	assert_true(far > 100);
}

/* Parents first and times later are what both at once are; parents alone leave out the times. */
TEST(test_nests_by_steps)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		CLEANUP(model_freep) struct model *once = model_flat(seed, UP_FAR);
		CLEANUP(model_freep) struct model *m = model_flat(seed, UP_FAR);

		assert_null(m->spans.up);
		model_nest(m);
		assert_null(m->spans.exclusive_ns);
		model_nest_times(m);
		model_nest_times(once);
		same_parents(m, once);
		assert_memory_equal(m->spans.exclusive_ns, once->spans.exclusive_ns,
				    m->spans.nr * sizeof(int64_t));
		assert_int_equal(m->pieces.nr, once->pieces.nr);
		for (size_t i = 0; i < m->pieces.nr; i++)
			assert_int_equal(m->pieces.v[i].exclusive_ns,
					 once->pieces.v[i].exclusive_ns);
	}
}

TEST(test_queues_do_not_nest)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "queue gpu0/7: outer 0-100 inner 10-20 over!c 90-120");

	assert_int_equal(m->spans.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(span_parent(&m->spans, i) == SPAN_NONE);
		assert_int_equal(m->spans.exclusive_ns[i],
				 m->spans.end_ns[i] - m->spans.start_ns[i]);
		assert_true(span_is_work(m, i));
	}
	assert_int_equal(warned(m, W_SPAN_OVERLAP), 0);
}
