#include "trace_text.h"

#include "profrig/model/model_shift.h"

/* A model of two inputs; the second one may share a thread with the first. */
static struct model *two_inputs(const char *a, const char *b)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	const char *const texts[] = { a, b };

	for (int i = 0; i < 2; i++) {
		s->ops->input(s, i ? "b" : "a", "test");
		s->ops->clock(s);
		trace_text(s, 1, texts[i]);
		s->ops->input_end(s);
	}
	model_finish(m);
	return m;
}

/* Spans, pieces and samples of one input move, and where the trace begins and ends. */
TEST(test_one_input_moves)
{
	static const int64_t by[] = { 0, -70 };
	struct model *m =
		two_inputs("thread 1/1: f 10-20\n", "thread 2/1: g 110-130 h 120-140\n"
						    "series power.gpu0 W gauge: 115 3 125 4\n");

	assert_int_equal(m->pieces.nr, 1);
	assert_true(model_shift_inputs(m, by));
	assert_int_equal(m->first_ns, 10);
	assert_int_equal(m->last_ns, 70);
	for (size_t i = 0; i < m->spans.nr; i++) {
		const char *name = model_str(m, m->spans.name[i]);
		int64_t want = *name == 'f' ? 10 : *name == 'g' ? 40 : 50;

		assert_int_equal(m->spans.start_ns[i], want);
	}
	assert_int_equal(m->pieces.v[0].start_ns, 60);
	assert_int_equal(m->series.v[0].t_ns.v[1], 55);
	assert_int_equal(m->inputs.v[1].shift_ns, -70);
	model_free(m);
}

/* A track of two inputs cannot be torn apart. */
TEST(test_shared_track_stays)
{
	static const int64_t apart[] = { 5, -70 }, together[] = { 5, 5 };
	struct model *m =
		two_inputs("thread 1/1 host=n: f 10-20\n", "thread 1/1 host=n: g 110-130\n");

	assert_int_equal(m->tracks.nr, 1);
	assert_false(model_shift_inputs(m, apart));
	assert_int_equal(m->first_ns, 10);
	assert_true(model_shift_inputs(m, together));
	assert_int_equal(m->first_ns, 15);
	model_free(m);
}
