/* A model pushed into a sink again: the same model, or what lies in a window of it. */
#include "model_dump.h"
#include "model_support.h"

#include "profrig/model/replay.h"

/* Two inputs that count their correlations alike, a counter, a queue, a thread with calls. */
static struct model *two_inputs(void)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	struct series_def se = {
		.name = "power", .unit = "W", .kind = SERIES_GAUGE, .device = "gpu0"
	};
	series_id id;
	track_id t;

	s->ops->input(s, "a", "tef");
	s->ops->current(s)->clock = TRACE_CLOCK_MONOTONIC;
	s->ops->clock(s);
	d.kind = TRACK_PROCESS;
	d.pid = 7;
	d.name = "train";
	t = s->ops->track(s, &d);
	span_put(s, thread_of(s, NULL, 7, 8), "step", 100, 200, SPAN_HOST, 0);
	span_put(s, thread_of(s, NULL, 7, 8), "launch", 120, 130, SPAN_HOST, 5);
	span_put(s, queue_of(s, "gpu0", 1), "gemm", 140, 190, SPAN_KERNEL, 5);
	span_put(s, thread_of(s, NULL, 7, 8), "mark", 150, 150, SPAN_INSTANT, 0);
	se.track = t;
	id = s->ops->series(s, &se);
	for (int64_t k = 0; k < 10; k++)
		s->ops->sample(s, id, 100 + 10 * k, 80 + (double)k);
	s->ops->input_end(s);
	s->ops->input(s, "b", "tef");
	s->ops->current(s)->clock = TRACE_CLOCK_MONOTONIC;
	s->ops->clock(s);
	span_put(s, thread_of(s, NULL, 9, 9), "launch", 300, 310, SPAN_HOST, 5);
	span_put(s, queue_of(s, "gpu1", 1), "copy", 320, 330, SPAN_COPY, 5);
	s->ops->link(s, 4, 0, LINK_FLOW);
	return model_ended(m);
}

TEST(all_of_it_comes_back)
{
	CLEANUP(model_freep) struct model *m = two_inputs();
	struct window all = WINDOW_ALL;
	struct replayed n;
	CLEANUP(model_freep) struct model *cut = model_cut(m, &all, &n);

	assert_int_equal(cut->inputs.nr, 1);
	assert_int_equal(cut->inputs.v[0].clock, TRACE_CLOCK_MONOTONIC);
	assert_int_equal(n.spans, 6);
	assert_int_equal(n.samples, 10);
	assert_int_equal(n.links, 3);
	assert_int_equal(n.spans_out + n.spans_cut + n.samples_out + n.links_out, 0);
	assert_int_equal(cut->links.nr, m->links.nr);
	/* the two launches do not share their number any more */
	assert_int_not_equal(cut->spans.correlation[span_at(cut, "gemm")],
			     cut->spans.correlation[span_at(cut, "copy")]);
	for (size_t i = 0; i < cut->links.nr; i++)
		if (cut->links.kind[i] == LINK_LAUNCH)
			assert_int_equal(cut->spans.correlation[cut->links.from[i]],
					 cut->spans.correlation[cut->links.to[i]]);
}

TEST(window_cuts)
{
	CLEANUP(model_freep) struct model *m = two_inputs();
	struct window w = { 125, 150 };
	struct replayed n;
	CLEANUP(model_freep) struct model *cut = model_cut(m, &w, &n);
	const struct series *se = &cut->series.v[0];
	size_t step = span_at(cut, "step"), launch = span_at(cut, "launch");

	assert_int_equal(n.spans, 4); /* step, launch, gemm, mark */
	assert_int_equal(n.spans_cut, 3);
	assert_int_equal(n.spans_out, 2);
	assert_int_equal(cut->spans.start_ns[step], 125);
	assert_int_equal(cut->spans.end_ns[step], 150);
	assert_int_equal(cut->spans.start_ns[launch], 125);
	assert_int_equal(cut->spans.end_ns[launch], 130);
	assert_int_equal(cut->spans.exclusive_ns[step], 20);
	/* 120 and 150 stand around the window's edges */
	assert_int_equal(se->t_ns.nr, 4);
	assert_int_equal(se->t_ns.v[0], 120);
	assert_int_equal(se->t_ns.v[3], 150);
	assert_int_equal(n.samples_out, 6);
	assert_int_equal(n.links, 1);
	assert_int_equal(n.links_out, 2);
}

TEST(what_touches_the_edge_is_out)
{
	CLEANUP(model_freep) struct model *m = two_inputs();
	struct window w = { 200, 300 };
	struct replayed n;
	CLEANUP(model_freep) struct model *cut = model_cut(m, &w, &n);

	assert_int_equal(n.spans, 0);
	assert_int_equal(n.samples, 0); /* the counter ended before */
	assert_int_equal(cut->tracks.nr, m->tracks.nr);
}

/* One that is all unknown: nothing but what the file said comes back. */
TEST(empty_model)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct window all = WINDOW_ALL;

	model_finish(m);
	CLEANUP(model_freep) struct model *cut = model_cut(m, &all, NULL);
	assert_models_equal(m, cut, "empty");
}
