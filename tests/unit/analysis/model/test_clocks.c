/* Clocks of inputs on one time base: of a run, without one, of traces that count from a start. */
#include "model_support.h"

static struct timebase anchors_make(void)
{
	struct timebase tb = { .anchors = VEC_INIT };

	VEC_PUSH(&tb.anchors, (struct clock_anchor){ .monotonic_ns = 1000,
						     .realtime_ns = 501000,
						     .boottime_ns = 3000 });
	/* real time was set forward by 100 in between, boot time drifted by 2 */
	VEC_PUSH(&tb.anchors, (struct clock_anchor){ .monotonic_ns = 9000,
						     .realtime_ns = 509100,
						     .boottime_ns = 11002 });
	return tb;
}

TEST(test_timebase_shift)
{
	static const struct {
		const char *title;
		struct input in;
		bool related;
		int64_t shift;
	} cases[] = {
		ROW("monotonic", { .clock = TRACE_CLOCK_MONOTONIC, .first_ns = 0, .last_ns = 9 },
		    true, 0),
		ROW("boot time", { .clock = TRACE_CLOCK_BOOTTIME, .first_ns = 0, .last_ns = 9 },
		    true, -2001),
		ROW("real time near the first",
		    { .clock = TRACE_CLOCK_REALTIME, .first_ns = 500000, .last_ns = 502000 }, true,
		    -500000),
		ROW("real time near the second",
		    { .clock = TRACE_CLOCK_REALTIME, .first_ns = 505000, .last_ns = 509000 }, true,
		    -500100),
		ROW("real time, range not known yet",
		    { .clock = TRACE_CLOCK_REALTIME, .first_ns = INT64_MAX, .last_ns = INT64_MIN },
		    true, -500000),
		ROW("own without anchor", { .clock = TRACE_CLOCK_OWN, .first_ns = 0, .last_ns = 9 },
		    false, 0),
		ROW("own with anchor",
		    { .clock = TRACE_CLOCK_OWN,
		      .first_ns = 70,
		      .last_ns = 90,
		      .has_realtime_anchor = true,
		      .anchor_own_ns = 70,
		      .anchor_realtime_ns = 509000 },
		    true, 509000 - 70 - 500100),
	};
	struct timebase tb = anchors_make(), none = { .anchors = VEC_INIT };
	int64_t shift;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		print_message("# %s\n", cases[i].title);
		assert_int_equal(timebase_shift(&tb, &cases[i].in, &shift), cases[i].related);
		assert_int_equal(shift, cases[i].shift);
		assert_int_equal(timebase_shift(&none, &cases[i].in, &shift),
				 cases[i].in.clock != TRACE_CLOCK_OWN);
		assert_int_equal(shift, 0);
	}
	VEC_RELEASE(&tb.anchors);
}

static bool from_start; /* of what clocked() makes */

static void clocked(struct sink *s, const char *name, enum trace_clock clock, int64_t at,
		    int64_t anchor_own, int64_t anchor_real)
{
	struct input *in;
	series_id se;

	s->ops->input(s, name, "tef");
	in = s->ops->current(s);
	in->clock = clock;
	in->from_start = from_start;
	if (anchor_real) {
		in->has_realtime_anchor = true;
		in->anchor_own_ns = anchor_own;
		in->anchor_realtime_ns = anchor_real;
	}
	s->ops->clock(s);
	span_put(s, thread_of(s, name, 1, 1), name, at, at + 10, SPAN_HOST, 0);
	se = s->ops->series(s, &(struct series_def){ .name = name, .track = TRACK_NONE });
	s->ops->sample(s, se, at + 5, 1);
	s->ops->input_end(s);
}

static void empty_clocked(struct sink *s, enum trace_clock clock)
{
	s->ops->input(s, "empty", "samples");
	s->ops->current(s)->clock = clock;
	s->ops->clock(s);
	s->ops->input_end(s);
}

static void check_clocked(const struct model *m, size_t i, int64_t at, bool aligned)
{
	size_t row = span_at(m, m->inputs.v[i].path);

	assert_int_equal(m->spans.start_ns[row], at);
	assert_int_equal(m->spans.end_ns[row], at + 10);
	assert_int_equal(m->series.v[i].t_ns.v[0], at + 5);
	assert_int_equal(m->inputs.v[i].aligned, aligned);
}

TEST(test_clocks_in_a_run)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct timebase tb = anchors_make();

	model_set_timebase(m, &tb);
	clocked(s, "samples", TRACE_CLOCK_MONOTONIC, 1500, 0, 0);
	clocked(s, "kineto", TRACE_CLOCK_REALTIME, 509000, 0, 0);
	clocked(s, "gpu", TRACE_CLOCK_BOOTTIME, 5000, 0, 0);
	clocked(s, "scorep", TRACE_CLOCK_OWN, 50, 40, 501000);
	clocked(s, "lost", TRACE_CLOCK_OWN, 50, 0, 0);
	model_set_timebase(m, NULL);
	VEC_RELEASE(&tb.anchors);
	model_finish(m);
	check_clocked(m, 0, 1500, true);
	check_clocked(m, 1, 8900, true);
	check_clocked(m, 2, 2999, true);
	check_clocked(m, 3, 1010, true);
	check_clocked(m, 4, 50, false);
	assert_int_equal(warned(m, W_NOT_ALIGNED), 1);
	/* first_ns of an input stays in its own clock */
	assert_int_equal(m->inputs.v[1].first_ns, 509000);
	assert_int_equal(m->first_ns, 50);
	assert_int_equal(m->last_ns, 8910);
}

/* What a tool left beside its trace counts; without it a recording that counts from its start began
 * with the workload, as far as it fits into that. */
TEST(test_clocks_from_a_start)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct timebase tb = anchors_make();

	tb.workload_start_ns = 1200;
	tb.workload_end_ns = 1900;
	model_set_timebase(m, &tb);
	clocked(s, "samples", TRACE_CLOCK_MONOTONIC, 1500, 0, 0);
	tb.origin = (struct clock_origin){ true, 40, 1300, 501000 };
	clocked(s, "exact", TRACE_CLOCK_OWN, 50, 0, 0);
	/* another machine's monotonic clock: the real time counts */
	tb.origin = (struct clock_origin){ true, 40, 77, 501000 };
	clocked(s, "namespace", TRACE_CLOCK_OWN, 50, 0, 0);
	tb.origin = (struct clock_origin){ .known = false };
	clocked(s, "unknown", TRACE_CLOCK_OWN, 50, 0, 0);
	from_start = true;
	clocked(s, "fits", TRACE_CLOCK_OWN, 50, 0, 0);
	clocked(s, "too long", TRACE_CLOCK_OWN, 691, 0, 0);
	from_start = false;
	model_set_timebase(m, NULL);
	VEC_RELEASE(&tb.anchors);
	model_finish(m);
	check_clocked(m, 0, 1500, true);
	check_clocked(m, 1, 1310, true);
	check_clocked(m, 2, 1010, true);
	check_clocked(m, 3, 50, false);
	check_clocked(m, 4, 1250, true);
	check_clocked(m, 5, 691, false);
	expect_model(m, "W_NOT_ALIGNED=2 W_CLOCK_ASSUMED=1");
}

TEST(test_clocks_without_anchors)
{
	{
		CLEANUP(model_freep) struct model *m = model_new();

		clocked(model_sink(m), "alone", TRACE_CLOCK_OWN, 50, 40, 1000000);
		model_finish(m);
		check_clocked(m, 0, 50, true);
		assert_int_equal(m->warnings.nr, 0);
	}
	{
		CLEANUP(model_freep) struct model *m = model_new();
		struct sink *s = model_sink(m);

		/* what holds nothing decides nothing, whatever its clock */
		empty_clocked(s, TRACE_CLOCK_MONOTONIC);
		clocked(s, "alone", TRACE_CLOCK_OWN, 50, 0, 0);
		model_finish(m);
		assert_true(m->inputs.v[1].aligned);
		assert_int_equal(m->warnings.nr, 0);
	}
	{
		CLEANUP(model_freep) struct model *m = model_new();
		struct sink *s = model_sink(m);

		empty_clocked(s, TRACE_CLOCK_MONOTONIC);
		clocked(s, "one", TRACE_CLOCK_REALTIME, 50, 0, 0);
		clocked(s, "two", TRACE_CLOCK_REALTIME, 70, 0, 0);
		model_finish(m);
		assert_true(m->inputs.v[1].aligned && m->inputs.v[2].aligned);
		assert_int_equal(m->warnings.nr, 0);
	}
	{
		CLEANUP(model_freep) struct model *m = model_new();

		/* the own clock comes first: it moves when the real time one is known */
		clocked(model_sink(m), "own", TRACE_CLOCK_OWN, 50, 40, 1000000);
		clocked(model_sink(m), "real", TRACE_CLOCK_REALTIME, 1000300, 0, 0);
		clocked(model_sink(m), "mono", TRACE_CLOCK_MONOTONIC, 77, 0, 0);
		model_finish(m);
		check_clocked(m, 0, 1000010, true);
		check_clocked(m, 1, 1000300, true);
		check_clocked(m, 2, 77, false);
		assert_int_equal(warned(m, W_NOT_ALIGNED), 1);
	}
	{
		CLEANUP(model_freep) struct model *m = model_new();

		clocked(model_sink(m), "one", TRACE_CLOCK_OWN, 50, 40, 1000000);
		clocked(model_sink(m), "two", TRACE_CLOCK_OWN, 9, 9, 1000020);
		model_finish(m);
		check_clocked(m, 0, 1000010, true);
		check_clocked(m, 1, 1000020, true);
		assert_int_equal(m->warnings.nr, 0);
	}
	{
		CLEANUP(model_freep) struct model *m = model_new();

		clocked(model_sink(m), "one", TRACE_CLOCK_MONOTONIC, 50, 0, 0);
		clocked(model_sink(m), "two", TRACE_CLOCK_OWN, 9, 9, 1000020);
		model_finish(m);
		check_clocked(m, 0, 50, true);
		check_clocked(m, 1, 9, false);
	}
}
