#include "model_support.h"
#include "trace_text.h"
#include "warning_codes.h"

#include <time.h>

#include "profrig/base/utf8.h"

/* ---- enter and leave ---- */

TEST(test_frames)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id t, u;
	str_id a, b, c;
	series_id se;

	s->ops->input(s, "x", "otf2");
	t = thread_of(s, NULL, 1, 2);
	u = thread_of(s, NULL, 1, 3);
	a = sink_puts(s, "a");
	b = sink_puts(s, "b");
	c = sink_puts(s, "c");
	assert_true(s->ops->leave(s, t, 0, a) == SPAN_NONE);
	s->ops->enter(s, t, 1, a, sink_puts(s, "cat"));
	s->ops->enter(s, u, 2, c, 0);
	s->ops->enter(s, t, 5, b, 0);
	s->ops->leave_args(s, t, sink_puts(s, "n=1"));
	assert_int_equal(s->ops->leave(s, t, 7, STR_NONE), 2);
	s->ops->leave(s, t, 9, b);
	s->ops->enter(s, t, 20, b, 0);
	s->ops->leave(s, t, 18, b);
	se = s->ops->series(s, &(struct series_def){ .name = "n", .track = u });
	s->ops->sample(s, se, 40, 1);
	s->ops->sample(s, se, 30, 1);
	model_ended(m);

	expect_model(m, "spans=4 W_STRAY_LEAVE=1 W_LEAVE_MISMATCH=1 W_NEGATIVE_DURATION=1 "
			"W_TIME_ORDER=1 W_OPEN_SPAN=1");
	assert_int_equal(m->spans.end_ns[span_at(m, "a")], 9);
	assert_string_equal(model_str(m, m->spans.category[span_at(m, "a")]), "cat");
	assert_int_equal(m->spans.start_ns[span_at(m, "b")], 5);
	assert_int_equal(m->spans.end_ns[span_at(m, "b")], 7);
	assert_string_equal(model_str(m, span_args(&m->spans, span_at(m, "b"))), "n=1");
	/* open: ends at the last event of its own track, a sample here */
	assert_int_equal(m->spans.end_ns[span_at(m, "c")], 40);
	assert_int_equal(m->inputs.v[0].first_ns, 0);
	assert_int_equal(m->inputs.v[0].last_ns, 40);
}

TEST(test_open_frames_nest)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id t;

	s->ops->input(s, "x", "otf2");
	t = thread_of(s, NULL, 1, 2);
	s->ops->enter(s, t, 0, sink_puts(s, "main"), 0);
	s->ops->enter(s, t, 10, sink_puts(s, "loop"), 0);
	s->ops->enter(s, t, 20, sink_puts(s, "step"), 0);
	s->ops->leave(s, t, 30, STR_NONE);
	model_finish(m); /* also closes an input that its reader gave up */
	assert_int_equal(warned(m, W_OPEN_SPAN), 2);
	assert_string_equal(parent_name(m, span_at(m, "loop")), "main");
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "main")], 10);
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "loop")], 10);
}

TEST(test_hostile_times)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_REALTIME);
	struct sink *s = model_sink(m);
	track_id t;

	t = thread_of(s, NULL, 1, 2);
	span_put(s, t, "far", INT64_MIN, INT64_MAX, SPAN_HOST, 0);
	span_put(s, t, "back", 10, 5, SPAN_HOST, 0);
	assert_true(span_put(s, 77, "lost", 0, 1, SPAN_HOST, 0) == SPAN_NONE);
	s->ops->enter(s, TRACK_NONE, 0, 0, 0);
	s->ops->sample(s, SERIES_NONE, 0, 1);
	s->ops->link(s, 0, SPAN_NONE, LINK_FLOW);
	model_ended(m);
	assert_int_equal(warned(m, W_TIME_RANGE), 2);
	assert_true(m->inputs.v[0].partial);
	expect_model(m, "W_NEGATIVE_DURATION=1 W_UNKNOWN_REFERENCE=4 spans=2");
	assert_true(m->spans.exclusive_ns[0] > 0);
	assert_int_equal(m->spans.end_ns[1], m->spans.start_ns[1]);
	assert_int_equal(m->links.nr, 0);
}

/* ---- tracks and series ---- */

TEST(test_tracks_merge_across_inputs)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	track_id ranges, blas, other, process;
	series_id power;

	model_set_default_host(m, "node1", false);
	s->ops->input(s, "roctx.json", "tef");
	ranges = thread_of(s, NULL, 100, 101);
	span_put(s, ranges, "step", 0, 100, SPAN_HOST, 0);
	s->ops->input_end(s);

	s->ops->input(s, "blas.json", "tef");
	d.kind = TRACK_PROCESS;
	d.pid = 100;
	d.rank = 3;
	d.host = "node1";
	process = s->ops->track(s, &d);
	d.kind = TRACK_THREAD;
	d.tid = 101;
	d.rank = RANK_NONE;
	d.parent = process;
	d.name = "worker";
	blas = s->ops->track(s, &d);
	span_put(s, blas, "sgemm", 10, 30, SPAN_HOST, 0);
	other = thread_of(s, "node2", 100, 101);
	s->ops->input_end(s);
	/* a container has a name of its own, but is no other host */
	model_set_default_host(m, "node1", true);
	s->ops->input(s, "kineto.json", "tef");
	assert_int_equal(thread_of(s, "3f2a1b", 100, 101), blas);
	power = s->ops->series(s, &(struct series_def){ .name = "power", .host = "3f2a1b" });
	assert_string_equal(model_str(m, m->series.v[power].host), "node1");
	model_ended(m);

	assert_int_equal(ranges, blas);
	assert_int_not_equal(other, blas);
	assert_string_equal(parent_name(m, span_at(m, "sgemm")), "step");
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "step")], 80);
	assert_string_equal(model_str(m, m->tracks.v[blas].name), "worker");
	assert_string_equal(model_str(m, m->tracks.v[other].name), "thread 101");
	assert_string_equal(model_str(m, m->tracks.v[process].name), "process 100");
	assert_int_equal(m->tracks.v[blas].rank, 3);
	assert_int_equal(model_process_of(m, blas), process);
	assert_int_equal(model_process_of(m, other), TRACK_NONE);
	assert_int_equal(m->inputs.v[0].tracks, 1);
	assert_int_equal(m->inputs.v[1].tracks, 3);
	assert_int_equal(m->tracks.v[blas].spans, 2);
}

/*
 * Recordings of a job's ranks, each from a container in which the program has the same ids. A host
 * has one process of an id, and what does not say its rank is taken for the first one's.
 */
TEST(test_ranks_of_equal_ids)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	track_id t[4], unknown;

	for (int32_t i = 0; i < 4; i++) {
		s->ops->input(s, "rank.json", "tef");
		d.kind = TRACK_THREAD;
		d.pid = d.tid = 12;
		d.rank = i % 2;
		d.host = i < 2 ? NULL : "node1"; /* which has one process 12 */
		t[i] = s->ops->track(s, &d);
		s->ops->input_end(s);
	}
	s->ops->input(s, "blas.json", "tef");
	d.host = NULL;
	d.rank = RANK_NONE;
	unknown = s->ops->track(s, &d);
	d.rank = 1;
	assert_int_equal(s->ops->track(s, &d), t[1]);
	s->ops->input_end(s);
	assert_int_equal(unknown, t[0]);
	assert_int_not_equal(t[0], t[1]);
	assert_int_equal(t[2], t[3]);
	assert_int_equal(m->tracks.v[t[0]].rank, 0);
	assert_int_equal(m->tracks.v[t[1]].rank, 1);
}

/* A recording of a device's work and of its power. */
static track_id work_of(struct sink *s, const char *host, int32_t rank, const char *device)
{
	struct track_def d = TRACK_DEF_INIT;
	track_id t;

	s->ops->input(s, "x", "tef");
	d.kind = TRACK_DEVICE;
	d.host = host;
	d.rank = rank;
	d.device = device;
	d.parent = s->ops->track(s, &d);
	d.kind = TRACK_QUEUE;
	d.host = NULL; /* its device knows */
	d.rank = RANK_NONE;
	t = s->ops->track(s, &d);
	s->ops->series(
		s, &(struct series_def){
			   .name = "power", .device = device, .host = host, .track = TRACK_NONE });
	s->ops->input_end(s);
	return t;
}

/* One id, several devices: their work must not be added up. */
TEST(test_device_ids)
{
	static const struct {
		const char *host;
		int32_t rank;
		const char *device, *want;
	} cases[][3] = {
		ROW({ "n1", 0, "gpu0", "n1:gpu0" }, { "n2", 1, "gpu0", "n2:gpu0" },
		    { "n2", 1, "n2:gpu7", "n2:gpu7" }),
		ROW({ "n1", 0, "gpu0", "gpu0" }, { "n1", 1, "gpu0", "gpu0" },
		    { NULL, 1, "gpu0", "gpu0" }),
		ROW({ NULL, 0, "gpu0", "rank0:gpu0" }, { NULL, 1, "gpu0", "rank1:gpu0" },
		    { NULL, 1, "gpu1", "rank1:gpu1" }),
		ROW({ NULL, 0, "rank0:gpu0", "rank0:gpu0" }, { NULL, 1, "gpu0", "rank1:gpu0" },
		    { NULL, -1, "gpu0", "gpu0" }),
		ROW({ NULL, 0, "gpu0", "gpu0" }, { NULL, 1, "gpu1", "gpu1" },
		    { NULL, -1, "gpu1", "gpu1" }),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = model_new();
		track_id t[3];

		for (size_t k = 0; k < 3; k++)
			t[k] = work_of(model_sink(m), cases[i][k].host, cases[i][k].rank,
				       cases[i][k].device);
		model_finish(m);
		for (size_t k = 0; k < 3; k++) {
			assert_string_equal(model_str(m, m->tracks.v[t[k]].device),
					    cases[i][k].want);
			assert_string_equal(model_str(m, m->series.v[k].device), cases[i][k].want);
		}
	}
}

TEST(test_track_identity)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	track_id a, b;

	s->ops->input(s, "1", "otf2");
	a = queue_of(s, "gpu0", 5);
	assert_int_equal(queue_of(s, "gpu0", 5), a);
	assert_int_not_equal(queue_of(s, "gpu0", 6), a);
	assert_string_equal(model_str(m, m->tracks.v[a].device), "gpu0");
	/* one process, two devices, each with a stream 7 */
	d.kind = TRACK_QUEUE;
	d.pid = 1;
	d.tid = 7;
	d.device = "gpu0";
	b = s->ops->track(s, &d);
	d.device = "gpu1";
	assert_int_not_equal(s->ops->track(s, &d), b);
	s->ops->input_end(s);
	s->ops->input(s, "2", "otf2");
	assert_int_not_equal(queue_of(s, "gpu0", 5), a);
	d.device = "gpu0";
	assert_int_equal(s->ops->track(s, &d), b);
	model_ended(m);
	assert_string_equal(model_str(m, m->tracks.v[b].name), "gpu0 queue 7");
}

TEST(test_series)
{
	static const int64_t t_ns[] = { 5, 1, 3, 3, 2, 9 };
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct series_def d = {
		.name = "power", .unit = "W", .device = "gpu0", .track = TRACK_NONE
	};
	series_id a, b;

	s->ops->input(s, "1", "samples");
	a = s->ops->series(s, &d);
	assert_int_equal(s->ops->series(s, &d), a);
	d.device = "gpu1";
	b = s->ops->series(s, &d);
	assert_int_not_equal(b, a);
	for (size_t i = 0; i < ARRAY_LEN(t_ns); i++)
		s->ops->sample(s, a, t_ns[i], (double)i);
	s->ops->sample(s, a, 10, NAN);
	s->ops->sample(s, a, 11, INFINITY);
	s->ops->input_end(s);
	s->ops->input(s, "2", "samples");
	assert_int_not_equal(s->ops->series(s, &d), b);
	model_ended(m);
	assert_int_equal(m->series.v[a].t_ns.nr, 6);
	for (size_t i = 0; i < 6; i++) {
		static const int64_t want_t[] = { 1, 2, 3, 3, 5, 9 };
		static const double want_v[] = { 1, 4, 2, 3, 0, 5 };

		assert_int_equal(m->series.v[a].t_ns.v[i], want_t[i]);
		assert_true(m->series.v[a].value.v[i] == want_v[i]);
	}
	assert_int_equal(m->series.v[a].failed, 2);
	/* "not read" and "nonsense" are two things */
	expect_model(m, "W_READ_FAILED=1 W_BAD_NUMBER=1 input.samples=6");
	assert_int_equal(m->inputs.v[0].series, 2);
	assert_int_equal(m->first_ns, 1);
	assert_int_equal(m->last_ns, 9);
}

TEST(test_series_sort_is_stable_and_large)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	series_id a;
	const struct series *se;

	s->ops->input(s, "1", "samples");
	a = s->ops->series(s, &(struct series_def){ .name = "x", .track = TRACK_NONE });
	rnd_state = 9;
	for (int i = 0; i < 5000; i++)
		s->ops->sample(s, a, rnd_below(700), i);
	model_ended(m);
	se = &m->series.v[a];
	for (size_t i = 1; i < se->t_ns.nr; i++)
		assert_true(se->t_ns.v[i - 1] < se->t_ns.v[i] ||
			    (se->t_ns.v[i - 1] == se->t_ns.v[i] &&
			     se->value.v[i - 1] < se->value.v[i]));
}

/* ---- order, links ---- */

TEST(test_sort_keeps_columns_together)
{
	enum { N = 3000 };
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id tracks[3];
	span_id flow[2] = { SPAN_NONE, SPAN_NONE };

	s->ops->input(s, "1", "tef");
	for (int i = 0; i < 3; i++)
		tracks[i] = queue_of(s, "gpu0", (uint64_t)i);
	rnd_state = 4;
	for (uint32_t i = 0; i < N; i++) {
		int64_t start = rnd_below(1000), end = start + rnd_below(50);
		/* correlation carries the identity: track, start and end must still belong to it
		 * afterwards */
		struct span_def d = { .track = tracks[rnd_below(3)],
				      .start_ns = start,
				      .end_ns = end,
				      .correlation = 0,
				      .kind = SPAN_ANNOTATION,
				      .args = i };
		span_id id;

		d.correlation = (uint64_t)d.track << 40 | (uint64_t)start << 20 | (uint64_t)end;
		id = s->ops->span(s, &d);
		if (i == 17 || i == 2900)
			flow[i == 2900] = id;
	}
	s->ops->link(s, flow[0], flow[1], LINK_FLOW);
	model_ended(m);
	for (size_t i = 0; i < N; i++) {
		const struct span_columns *c = &m->spans;
		bool same = i > 0 && c->track[i] == c->track[i - 1];

		assert_int_equal(c->correlation[i], (uint64_t)c->track[i] << 40 |
							    (uint64_t)c->start_ns[i] << 20 |
							    (uint64_t)c->end_ns[i]);
		assert_true(i == 0 || c->track[i - 1] <= c->track[i]);
		if (!same)
			continue;
		assert_true(c->start_ns[i - 1] <= c->start_ns[i]);
		if (c->start_ns[i - 1] != c->start_ns[i])
			continue;
		assert_true(c->end_ns[i - 1] >= c->end_ns[i]);
		if (c->end_ns[i - 1] == c->end_ns[i])
			assert_true(span_args(c, i - 1) < span_args(c, i));
	}
	for (size_t t = 0; t < 3; t++) {
		const struct track *tr = &m->tracks.v[t];

		for (uint64_t i = 0; i < tr->spans; i++)
			assert_int_equal(m->spans.track[tr->first_span + i], t);
	}
	assert_int_equal(m->links.nr, 1);
	assert_int_equal(span_args(&m->spans, m->links.from[0]), 17);
	assert_int_equal(span_args(&m->spans, m->links.to[0]), 2900);
}

/* Columns that begin with a later span tell of the earlier ones what they were. */
TEST(test_late_columns)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	enum { FIRST = 700, ALL = 1500 };
	track_id t;

	s->ops->input(s, "x", "tef");
	t = thread_of(s, NULL, 1, 2);
	for (int i = 0; i < FIRST; i++)
		span_put(s, t, "early", i, i + 1, SPAN_HOST, 0);
	s->ops->enter(s, t, FIRST, sink_puts(s, "plain"), 0);
	s->ops->leave_args(s, t, STR_NONE);
	s->ops->leave(s, t, FIRST + 1, STR_NONE);
	assert_null(m->spans.args);
	assert_null(m->spans.input);
	assert_null(m->spans.correlation);
	s->ops->enter(s, t, FIRST + 1, sink_puts(s, "told"), 0);
	s->ops->leave_args(s, t, sink_puts(s, "n=1"));
	s->ops->leave(s, t, FIRST + 2, STR_NONE);
	s->ops->input(s, "y", "tef");
	t = thread_of(s, NULL, 1, 2);
	for (int i = FIRST + 2; i < ALL; i++)
		span_put(s, t, "late", i, i + 1, SPAN_HOST, (uint64_t)i);
	model_finish(m);
	assert_int_equal(m->spans.nr, ALL);
	for (size_t i = 0; i < ALL; i++) {
		assert_int_equal(span_input(&m->spans, i), i >= FIRST + 2);
		assert_int_equal(span_correlation(&m->spans, i), i >= FIRST + 2 ? i : 0);
		if (i == FIRST + 1)
			assert_string_equal(model_str(m, span_args(&m->spans, i)), "n=1");
		else
			assert_int_equal(span_args(&m->spans, i), STR_NONE);
	}
}

/* Of a thread: calls, and the most open at once; the same in windows. */
TEST(test_most_open)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id t;

	s->ops->input(s, "x", "tef");
	t = thread_of(s, NULL, 1, 2);
	span_put(s, t, "a", 0, 100, SPAN_HOST, 0);
	span_put(s, t, "b", 10, 40, SPAN_HOST, 0);
	span_put(s, t, "moment", 15, 15, SPAN_INSTANT, 0);
	span_put(s, t, "c", 20, 60, SPAN_HOST, 0); /* outlives b, which counts below it */
	span_put(s, t, "d", 50, 55, SPAN_HOST, 0);
	span_put(s, t, "e", 100, 120, SPAN_HOST, 0);
	model_finish(m);
	assert_int_equal(m->tracks.v[t].nr_calls, 5);
	assert_int_equal(m->tracks.v[t].most_open, 4);
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	assert_int_equal(depths[span_at(m, "d")], 3);
	model_window(m, &(struct window){ 90, 120 }, 1, NULL);
	assert_int_equal(m->tracks.v[t].nr_calls, 2);
	assert_int_equal(m->tracks.v[t].most_open, 1);
}

TEST(test_launch_links)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	track_id t, q;
	span_id to;

	s->ops->input(s, "1", "tef");
	q = trace_text(s, 1,
		       "stream gpu0/1: kernel#11 50-60 fill!f#11 70-75 copy!c#12 80-90 "
		       "orphan#99 95-96 no_id 97-98 shadow!a#11 50-60");
	to = span_put(s, q, "graph", 99, 100, SPAN_KERNEL, 12);
	t = trace_text(s, 1, "thread 1/1: op#11 0-40 hipLaunchKernel#11 10-20 hipMemcpy#12 30-35");
	s->ops->link(s, span_put(s, t, "hipGraphLaunch", 36, 37, SPAN_HOST, 0), to, LINK_LAUNCH);
	s->ops->input_end(s);
	/* the same number in another input is another call */
	s->ops->input(s, "2", "tef");
	trace_text(s, 1, "stream gpu0/1: kernel_of_2#11 50-60");
	model_ended(m);

	assert_int_equal(m->links.nr, 4);
	for (size_t i = 0; i < m->links.nr; i++) {
		const char *from = model_str(m, m->spans.name[m->links.from[i]]);
		const char *of = model_str(m, m->spans.name[m->links.to[i]]);

		assert_int_equal(m->links.kind[i], LINK_LAUNCH);
		if (strcmp(of, "kernel") == 0 || strcmp(of, "fill") == 0)
			assert_string_equal(from, "hipLaunchKernel");
		else if (strcmp(of, "copy") == 0)
			assert_string_equal(from, "hipMemcpy");
		else
			assert_string_equal(from, "hipGraphLaunch");
	}
	assert_int_equal(warned(m, W_UNLINKED_WORK), 2);
	assert_int_equal(m->inputs.v[0].links, 4);
	assert_int_equal(m->inputs.v[1].links, 0);
}

/* ---- the rest ---- */

/*
 * Ids that would all fall into one place of the table of launches, were it not seeded: each launch
 * still has its work, and the time is not the square of their number (which takes a minute).
 */
TEST(test_chosen_correlations)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	const uint64_t multiplier = UINT64_C(0xd6e8feb86659fd93);
	uint64_t inverse = multiplier;
	struct timespec from, to;
	enum { N = 400000 };
	size_t nr = 0;
	track_id t, q;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - multiplier * inverse;
	s->ops->input(s, "1", "tef");
	t = thread_of(s, NULL, 1, 2);
	q = trace_text(s, 1, "stream gpu0/1: k#11 50-60");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint64_t i = 1; nr < N; i++) {
		uint64_t h = (i << 32 | i) * inverse;

		h ^= h >> 31 ^ h >> 62;
		if (h >> 60)
			continue;
		span_put(s, t, "launch", (int64_t)nr * 10, (int64_t)nr * 10 + 1, SPAN_HOST, h << 4);
		span_put(s, q, "k", (int64_t)nr * 10 + 100, (int64_t)nr * 10 + 101, SPAN_KERNEL,
			 h << 4);
		nr++;
	}
	model_finish(m);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_int_equal(m->links.nr, N);
	assert_true(to.tv_sec - from.tv_sec < 20);
}

TEST(test_facts_and_warnings)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "1", "otf2");
	sink_fact(s, "regions", 235);
	sink_fact(s, "enter", 1);
	sink_fact(s, "enter", 2);
	sink_warnf(s, W_BAD_EVENT, "first %d", 1);
	sink_warnf(s, W_BAD_EVENT, "second %d", 2);
	sink_warnf(s, W_TRUNCATED, "first %d", 1);
	sink_warnf(s, W_TRUNCATED, "second %d", 2);
	s->ops->input_end(s);
	s->ops->input(s, "2", "otf2");
	sink_warnf(s, W_TRUNCATED, "call '%s'", "\x1b[31m\n");
	sink_warnf(s, W_TRUNCATED, "and '%s'", "\x1b[31m\n");
	s->ops->input_end(s);
	s->ops->input(s, "3", "otf2");
	for (int i = 0; i < 10000; i++)
		sink_warnf(s, W_TRUNCATED, "location %d", i);
	model_ended(m);
	assert_int_equal(m->inputs.v[0].facts.nr, 2);
	assert_string_equal(m->inputs.v[0].facts.v[1].key, "enter");
	assert_int_equal(m->inputs.v[0].facts.v[1].value, 3);
	assert_int_equal(m->warnings.nr, 4);
	assert_string_equal(m->warnings.v[0].text, "first 1");
	assert_int_equal(m->warnings.v[0].count, 2);
	/* of an error all are reported, within reason */
	assert_int_equal(m->warnings.v[1].severity, SEV_ERROR);
	assert_string_equal(m->warnings.v[1].text, "first 1; second 2");
	assert_string_equal(m->warnings.v[2].text, "call '?[31m?'; and '?[31m?'");
	assert_int_equal(m->warnings.v[3].count, 10000);
	assert_has(m->warnings.v[3].text, "location 0; location 1; ");
	assert_non_null(text_suffix(m->warnings.v[3].text, "; and others"));
	assert_true(strlen(m->warnings.v[3].text) < WARNING_MAX_TEXT + 32);
	assert_int_equal(m->first_ns, 0);
	assert_int_equal(m->last_ns, 0);
}

static bool has_row(const char *code)
{
	return warning_find(code) != NULL;
}

TEST(test_warning_table)
{
	size_t rows = 0;

	for (const struct warning_info *w = warning_table; w->code; w++, rows++) {
		assert_ptr_equal(warning_find(w->code), w);
		assert_true(strlen(w->about) > 20);
	}
	assert_null(warning_find("W_NOTHING"));
	expect_warning_codes("include/profrig/model/warnings.h", "analysis/model/warnings.c",
			     has_row, rows);
}

/* A warning tells of a name, and is not as long as one can be. */
TEST(long_warnings)
{
	CLEANUP(model_freep) struct model *m = model_new();
	CLEANUP(xfreep) char *name = xmalloc(1 << 20);
	const char *text;

	for (size_t i = 0; i + 1 < 1 << 20; i++)
		name[i] = "\xe2\x82\xac"[i % 3];
	name[(1 << 20) - 1] = '\0';
	for (size_t from = 0; from < 3; from++) {
		static const char *const pads[] = { "", "a", "ab" };

		model_warn(m, (input_id)from, W_BAD_EVENT, 1, "%s%s", pads[from], name);
		text = m->warnings.v[from].text;
		assert_in_range(strlen(text), 2000, 2060);
		assert_true(utf8_valid(text));
		assert_string_equal(text + strlen(text) - 3, "…");
	}
	model_warn(m, 9, W_BAD_EVENT, 1, "%.2000s", "short");
	assert_string_equal(m->warnings.v[3].text, "short");
}

/* Logs taken in order make the rows that the same warnings make without them. */
TEST(warning_logs)
{
	CLEANUP(model_freep) struct model *m = model_new(), *direct = model_new();
	struct warning_log first = WARNING_LOG_INIT, second = WARNING_LOG_INIT;
	CLEANUP(xfreep) char *many = xcalloc(WARNING_MAX_TEXT, 1);

	memset(many, 'x', 2000);
	for (int logged = 0; logged < 2; logged++) {
		struct model *to = logged ? m : direct;

		model_warn(to, 1, W_DEEP_STACK, 1, "read");
		model_warn_into(logged ? &first : NULL);
		model_warn(to, 1, W_DEEP_STACK, 2, "first");
		model_warn(to, 2, W_TRUNCATED, 1, "a");
		model_warn(to, 2, W_TRUNCATED, 1, "b");
		model_warn_into(logged ? &second : NULL);
		model_warn(to, 2, W_TRUNCATED, 1, "c");
		model_warn(to, 1, W_MEMORY_LIMIT, 3, "second %d", 4);
		for (int i = 0; i < 40; i++)
			model_warn(to, 3, W_TRUNCATED, 1, "%s", many);
		model_warn(to, 2, W_TRUNCATED, 1, "d");
		model_warn_into(NULL);
	}
	assert_int_equal(m->warnings.nr, 1);
	model_warnings_take(m, &first);
	model_warnings_take(m, &second);
	assert_null(second.v.v);
	assert_int_equal(m->warnings.nr, direct->warnings.nr);
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *a = &m->warnings.v[i], *b = &direct->warnings.v[i];

		assert_string_equal(a->text, b->text);
		assert_ptr_equal(a->code, b->code);
		assert_int_equal(a->severity, b->severity);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->input, b->input);
		assert_int_equal(a->cut, b->cut);
	}
	assert_string_equal(m->warnings.v[0].text, "read");
	assert_int_equal(m->warnings.v[0].count, 3);
	assert_string_equal(m->warnings.v[1].text, "a; b; c; d");
	assert_true(m->warnings.v[3].cut);
}

/* The column of arguments begins with the first text, grows with the others and is sorted. */
TEST(arguments_come_late)
{
	enum { SPANS = 40000, FROM = 33000 };
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	str_id text;
	track_id t;

	s->ops->input(s, "x", "tef");
	t = thread_of(s, NULL, 1, 2);
	text = sink_puts(s, "text");
	for (int i = 0; i < SPANS; i++) {
		s->ops->span(s, &(struct span_def){ .track = t,
						    .start_ns = (SPANS - i) * 10,
						    .end_ns = (SPANS - i) * 10 + 5,
						    .name = text,
						    .category = STR_NONE,
						    .args = i < FROM ? STR_NONE : text });
		assert_int_equal(m->spans.args != NULL, i >= FROM);
	}
	model_ended(m);
	for (int i = 0; i < SPANS; i++)
		assert_int_equal(span_args(&m->spans, (size_t)i),
				 i < SPANS - FROM ? text : STR_NONE);
}
