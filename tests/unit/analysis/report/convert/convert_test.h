/*
 * What the tests of converters share: a model with all that is awkward in it, every recording, and
 * the way there and back.
 */
#ifndef CONVERT_TEST_H
#define CONVERT_TEST_H

#include "expect_model.h"
#include "model_dump.h"

#include <math.h>

#include "profrig/model/replay.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"
#include "profrig/report/convert.h"

static inline void convert_file(const struct converter *c, const struct model *m, const char *path,
				uint64_t split_bytes, struct convert_result *n)
{
	struct convert_job job = { .model = m, .path = path, .split_bytes = split_bytes };
	struct err err = ERR_INIT;

	if (c->write(&job, n, &err) < 0)
		fail_msg("%s: %s", path, err.msg);
}

/* A file read back, as one of no reader in particular; finished, owned. */
static inline struct model *read_back(const char *path)
{
	const struct reader *reader = NULL;
	struct read_opts o = { .keep_args = true };
	struct model *m = model_new();
	struct err err = ERR_INIT;
	int r;

	if (reader_detect(path, &reader, &err) < 0)
		fail_msg("%s: %s", path, err.msg);
	r = reader->read(path, model_sink(m), &o, &err);
	if (r != 0)
		fail_msg("%s: %d %s %s", path, r, err.msg,
			 m->warnings.nr ? m->warnings.v[0].text : "");
	model_finish(m);
	return m;
}

/* m → file → model, equal to it. */
static inline void there_and_back(const struct converter *c, const struct model *m,
				  const char *name, const char *what)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	struct convert_result n = { .files = 0 };
	struct model *back;

	convert_file(c, m, path, 0, &n);
	assert_int_equal(n.files, 1);
	assert_string_equal(n.first, path);
	assert_int_equal(n.spans_out + n.samples_out + n.links_out + n.links_between, 0);
	back = read_back(path);
	assert_models_equal(m, back, what);
	assert_int_equal(model_clock(back), model_clock(m));
	model_free(back);
	convert_result_release(&n);
}

/* Every file of the recordings that some reader takes, as a finished model of one input. */
static inline void each_recording(void (*fn)(const struct model *m, const char *what))
{
	static const char *const folders[] = TEST_TRACE_FOLDERS;
	struct read_opts o = { .keep_args = true };
	size_t nr = 0;

	for (size_t k = 0; k < ARRAY_LEN(folders); k++) {
		CLEANUP(xfreep) char *dir = test_trace(folders[k]);
		CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

		assert_int_equal(fs_glob(dir, "**", &files, NULL), 0);
		for (size_t i = 0; i < files.nr; i++) {
			CLEANUP(xfreep) char *path = fs_join(dir, files.v[i]);
			const struct reader *reader = NULL;
			struct window all = WINDOW_ALL;
			struct model *m, *one;

			if (reader_detect(path, &reader, NULL) < 0)
				continue;
			m = model_new();
			if (reader->read(path, model_sink(m), &o, NULL) >= 0) {
				model_finish(m);
				one = model_cut(m, &all, NULL);
				fn(one, path);
				model_free(one);
				nr++;
			}
			model_free(m);
		}
	}
	print_message("# %zu recordings\n", nr);
	assert_true(nr > 50);
}

static inline span_id odd_span(struct sink *s, track_id t, const char *name, int64_t start,
			       int64_t end, enum span_kind kind, uint64_t correlation,
			       const char *category, const char *args)
{
	struct span_def d = { .track = t,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(s, name),
			      .category = sink_puts(s, category),
			      .correlation = correlation,
			      .kind = kind,
			      .args = args ? sink_puts(s, args) : STR_NONE };

	return s->ops->span(s, &d);
}

/* The tracks of one host of odd_model. */
struct odd_tracks {
	track_id process, main, other, ranges, queue, nameless, window;
};

static inline struct odd_tracks odd_tracks(struct sink *s, const char *host, int32_t rank)
{
	struct odd_tracks t;
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.host = host;
	d.pid = 7;
	d.rank = rank;
	d.name = "train \"x\" \\ \xc3\xa9\t\n</script>";
	t.process = s->ops->track(s, &d);
	d.kind = TRACK_THREAD;
	d.parent = t.process;
	d.name = NULL;
	d.tid = 7;
	t.main = s->ops->track(s, &d);
	d.tid = 8;
	d.name = "loader";
	t.other = s->ops->track(s, &d);
	d.tid = PID_NONE;
	d.key = 77;
	d.name = "ranges";
	t.ranges = s->ops->track(s, &d);
	d = (struct track_def)TRACK_DEF_INIT;
	d.kind = TRACK_DEVICE;
	d.host = host;
	d.device = "gpu0";
	d.key = 1;
	d.parent = s->ops->track(s, &d);
	d.kind = TRACK_QUEUE;
	d.tid = 7;
	d.owner = t.process;
	d.pci = "0:c1:0";
	t.queue = s->ops->track(s, &d);
	d.tid = PID_NONE;
	d.key = 2;
	d.owner = TRACK_NONE;
	d.name = "copies";
	t.nameless = s->ops->track(s, &d);
	d = (struct track_def)TRACK_DEF_INIT;
	d.kind = TRACK_COUNTER;
	d.host = host;
	d.key = 3;
	t.window = s->ops->track(s, &d);
	return t;
}

/* Its spans and links from o on; returns its longest call. */
static inline span_id odd_spans(struct sink *s, const struct odd_tracks *t, int64_t o)
{
	span_id main, call, work, twin, mark;

	odd_span(s, t->window, "recorded", o, o + 1000, SPAN_ANNOTATION, 0, "Trace", NULL);
	main = odd_span(s, t->main, "main", o, o + 900, SPAN_HOST, 0, "", "{\"a\": [1, 2.50]}");
	call = odd_span(s, t->main, "launch", o + 10, o + 20, SPAN_HOST, 5, "runtime", NULL);
	odd_span(s, t->main, "launch", o + 10, o + 20, SPAN_HOST, 5, "runtime", NULL);
	odd_span(s, t->main, "", o + 30, o + 30, SPAN_HOST, 0, "", "no JSON: \"\\\n");
	/* partly over its neighbour, and longer than main */
	odd_span(s, t->main, "P", o + 100, o + 200, SPAN_HOST, 0, "", NULL);
	odd_span(s, t->main, "S", o + 150, o + 250, SPAN_HOST, 0, "", "{\"bad\": NaN}");
	odd_span(s, t->main, "long", o + 300, o + 950, SPAN_ANNOTATION, 0, "user", "{}");
	mark = odd_span(s, t->main, "mark", o + 160, o + 160, SPAN_INSTANT, 0, "", "{\"k\":1}");
	odd_span(s, t->other, "a;b", o + 5, o + 6, SPAN_KERNEL, UINT64_MAX, "", NULL);
	odd_span(s, t->ranges, "range", o + 1, o + 500, SPAN_ANNOTATION, 0, "async", NULL);
	/* concurrent, inside one another, and twins */
	work = odd_span(s, t->queue, "gemm<float, 3>", o + 40, o + 400, SPAN_KERNEL, 5, "kernel",
			NULL);
	twin = odd_span(s, t->queue, "gemm<float, 3>", o + 40, o + 400, SPAN_KERNEL, 5, "kernel",
			NULL);
	odd_span(s, t->queue, "copy", o + 50, o + 60, SPAN_COPY, 0, "", "{\"bytes\": 4096}");
	odd_span(s, t->queue, "after", o + 400, o + 410, SPAN_FILL, 6, "", NULL);
	odd_span(s, t->nameless, "note", o + 20, o + 30, SPAN_ANNOTATION, 0, "", NULL);
	odd_span(s, t->nameless, "host work", o + 60, o + 61, SPAN_HOST, 0, "", NULL);
	s->ops->link(s, call, twin, LINK_LAUNCH);
	s->ops->link(s, main, work, LINK_LAUNCH);
	s->ops->link(s, mark, call, LINK_STACK);
	return main;
}

static inline void odd_series(struct sink *s, const struct odd_tracks *t, const char *host,
			      int64_t o)
{
	struct series_def se = { .name = "power",
				 .unit = "W",
				 .kind = SERIES_GAUGE,
				 .track = t->process,
				 .device = "gpu0",
				 .host = host };
	series_id id = s->ops->series(s, &se);

	for (int64_t k = 0; k < 20; k++)
		s->ops->sample(s, id, o + 50 * k, 80.1 + (double)k / 3);
	s->ops->sample(s, id, o + 1001, NAN);
	se = (struct series_def){ .name = "energy",
				  .unit = "J",
				  .kind = SERIES_CUMULATIVE,
				  .device = "gpu0",
				  .host = host,
				  .pci = "0:c1:0",
				  .track = TRACK_NONE,
				  .change_points = true,
				  .estimated = true };
	id = s->ops->series(s, &se);
	s->ops->sample(s, id, o, 0);
	s->ops->sample(s, id, o + 700, 9007199254740991.0);
	s->ops->sample(s, id, o + 700, -1e-300);
	se = (struct series_def){ .name = "PAPI_TOT_CYC",
				  .kind = SERIES_UNKNOWN,
				  .track = t->main,
				  .host = host,
				  .exclusive_sync = true };
	s->ops->series(s, &se);
}

/*
 * Two hosts, two ranks, tracks of every kind with and without numbers, equal numbers on both hosts,
 * spans that overlap in every way, equal spans, instants, odd names and arguments, links of every
 * kind, launches that correlation finds and others that contradict it, counters of every kind.
 * origin_ns moves all of it.
 */
static inline struct model *odd_model(int64_t origin_ns)
{
	static const char *const hosts[] = { "node1", "node2" };
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	span_id longest[2];

	s->ops->input(s, "made", "tef");
	s->ops->current(s)->clock = origin_ns > 0 ? TRACE_CLOCK_REALTIME : TRACE_CLOCK_OWN;
	s->ops->clock(s);
	for (int h = 0; h < 2; h++) {
		struct odd_tracks t = odd_tracks(s, hosts[h], h);

		longest[h] = odd_spans(s, &t, origin_ns + 3 * h);
		odd_series(s, &t, hosts[h], origin_ns + 3 * h);
	}
	s->ops->link(s, longest[1], longest[0], LINK_FLOW);
	s->ops->link(s, longest[1], longest[0], LINK_FLOW);
	return model_ended(m);
}

/* ---- any models ---- */

static inline track_id any_track(struct sink *s, uint64_t *seed, uint64_t i, track_id parent,
				 track_id owner)
{
	static const enum track_kind kinds[] = { TRACK_THREAD, TRACK_THREAD, TRACK_QUEUE,
						 TRACK_QUEUE, TRACK_COUNTER };
	static const char *const hosts[] = { NULL, "a", "b" };
	struct track_def d = TRACK_DEF_INIT;

	d.kind = kinds[rnd(seed) % ARRAY_LEN(kinds)];
	d.parent = rnd(seed) % 2 ? parent : TRACK_NONE;
	d.host = hosts[rnd(seed) % 3];
	d.pid = rnd(seed) % 2 ? (int64_t)(rnd(seed) % 3) : PID_NONE;
	d.tid = rnd(seed) % 2 ? (int64_t)(rnd(seed) % 4) : PID_NONE;
	d.rank = rnd(seed) % 3 ? RANK_NONE : (int32_t)(rnd(seed) % 2);
	d.device = d.kind == TRACK_QUEUE ? (rnd(seed) % 2 ? "gpu0" : "gpu1") : NULL;
	d.name = rnd(seed) % 2 ? "some" : NULL;
	d.owner = d.kind == TRACK_QUEUE && rnd(seed) % 2 ? owner : TRACK_NONE;
	d.key = i + 1;
	return s->ops->track(s, &d);
}

static inline void any_span(struct sink *s, uint64_t *seed, track_id t)
{
	static const char *const names[] = { "a", "b", "", "\xe2\x82\xac;x", "gemm<1>" };
	static const char *const args[] = { NULL, NULL, "{\"x\":[{}]}", "not [json", "" };
	int64_t start = (int64_t)(rnd(seed) % 200);
	enum span_kind kind = (enum span_kind)(rnd(seed) % 6);
	uint64_t correlation = rnd(seed) % 2 ? 0 : rnd(seed) % 6;

	odd_span(s, t, names[rnd(seed) % 5], start, start + (int64_t)(rnd(seed) % 30), kind,
		 correlation, rnd(seed) % 2 ? "cat" : "", args[rnd(seed) % 5]);
}

/* Tracks, spans, links and counters without rhyme or reason. */
static inline struct model *any_model(uint64_t seed)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	track_id above[2], tracks[8];
	uint64_t nr_tracks = 1 + rnd(&seed) % 8, nr_spans = rnd(&seed) % 60;

	s->ops->input(s, "any", "tef");
	s->ops->clock(s);
	d.kind = TRACK_PROCESS;
	d.pid = 1;
	above[0] = s->ops->track(s, &d);
	d.kind = TRACK_DEVICE;
	d.pid = PID_NONE;
	d.device = "gpu0";
	above[1] = s->ops->track(s, &d);
	for (uint64_t i = 0; i < nr_tracks; i++)
		tracks[i] = any_track(s, &seed, i, above[rnd(&seed) % 2], above[0]);
	for (uint64_t i = 0; i < nr_spans; i++)
		any_span(s, &seed, tracks[rnd(&seed) % nr_tracks]);
	for (uint64_t i = 0; nr_spans && i < rnd(&seed) % 10; i++)
		s->ops->link(s, rnd(&seed) % nr_spans, rnd(&seed) % nr_spans,
			     (enum link_kind)(rnd(&seed) % 3));
	for (uint64_t i = 0; i < rnd(&seed) % 4; i++) {
		struct series_def se = { .name = rnd(&seed) % 2 ? "power" : "load",
					 .unit = rnd(&seed) % 2 ? "W" : NULL,
					 .kind = (enum series_kind)(rnd(&seed) % 3),
					 .track = rnd(&seed) % 2 ? tracks[0] : TRACK_NONE,
					 .device = rnd(&seed) % 2 ? "gpu1" : NULL };
		series_id id = s->ops->series(s, &se);

		for (uint64_t k = 0; k < rnd(&seed) % 20; k++)
			s->ops->sample(s, id, (int64_t)(rnd(&seed) % 300),
				       (double)(int64_t)rnd(&seed) / 1e6);
	}
	return model_ended(m);
}

/* Many of them; a failure names its seed. */
static inline void any_models_come_back(const struct converter *c, const char *name, uint64_t usual)
{
	for (uint64_t i = 1; i <= test_cases(usual); i++) {
		struct model *m = any_model(i * UINT64_C(0x9e3779b97f4a7c15));
		CLEANUP(xfreep) char *what = xasprintf("any model %" PRIu64, i);

		there_and_back(c, m, name, what);
		model_free(m);
	}
}

/* Nothing at all, and one thing at a time. */
static inline struct model *bare_model(int what)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct series_def se = { .name = "power", .track = TRACK_NONE };
	struct track_def d = TRACK_DEF_INIT;

	s->ops->input(s, "made", "tef");
	s->ops->clock(s);
	if (what == 1)
		s->ops->sample(s, s->ops->series(s, &se), 5, 1);
	d.kind = TRACK_THREAD;
	if (what == 2)
		odd_span(s, s->ops->track(s, &d), "x", 3, 3, SPAN_INSTANT, 0, "", NULL);
	if (what == 3)
		s->ops->track(s, &d);
	return model_ended(m);
}
#define BARE_MODELS 4

#endif
