/* Models as Trace Event Format: what comes back is what went in, and the JSON is everybody's. */
#include "convert_test.h"

#include <jansson.h>

static const struct converter *tef(void)
{
	return converter_find("tef");
}

TEST(odd_models_come_back)
{
	static const int64_t origins[] = { 0, 1712195495505582988, -5000000000 };

	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		CLEANUP(model_freep) struct model *m = odd_model(origins[i]);

		there_and_back(tef(), m, "x.json", "odd");
		there_and_back(tef(), m, "x.json.gz", "odd, gzip");
		there_and_back(tef(), m, "x.json.zst", "odd, zstd");
	}
	for (int i = 0; i < BARE_MODELS; i++) {
		CLEANUP(model_freep) struct model *m = bare_model(i);

		there_and_back(tef(), m, "x.json", "bare");
	}
}

TEST(any_models)
{
	any_models_come_back(tef(), "x.json", 300);
}

/* ---- recordings ---- */

static json_t *trace_json(const char *path)
{
	/* arguments of recordings have integers of all 64 bits */
	json_error_t je;
	json_t *root = json_load_file(path, JSON_DECODE_INT_AS_REAL, &je);

	if (!root)
		fail_msg("%s:%d: %s", path, je.line, je.text);
	return root;
}

static bool is_whole(const json_t *number)
{
	double v = json_is_number(number) ? json_number_value(number) : 0.5;

	return v == (double)(int64_t)v;
}

/* Valid for a strict parser, numbers as numbers, in order of time. */
static void check_json(const char *path)
{
	json_t *root = trace_json(path), *event;
	double last = -1;
	size_t i;

	json_array_foreach(json_object_get(root, "traceEvents"), i, event)
	{
		const char *ph = json_string_value(json_object_get(event, "ph"));
		json_t *ts = json_object_get(event, "ts");

		assert_non_null(ph);
		assert_true(json_is_number(ts));
		assert_true(is_whole(json_object_get(event, "pid")));
		if (*ph == 'M')
			continue;
		assert_true(json_number_value(ts) >= last);
		last = json_number_value(ts);
		assert_true(*ph == 'C' || is_whole(json_object_get(event, "tid")));
		assert_true(*ph != 'X' || json_is_number(json_object_get(event, "dur")));
	}
	assert_true(i > 0);
	json_decref(root);
}

static void recording(const struct model *m, const char *what)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };

	there_and_back(tef(), m, "x.json", what);
	convert_file(tef(), m, in_dir(dir, "x.json"), 0, &n);
	check_json(in_dir(dir, "x.json"));
}

TEST(recordings_come_back)
{
	each_recording(recording);
}

/* ---- what viewers rely on ---- */

/* No two X events of one (pid, tid) overlap without one being inside the other. */
static void check_nesting(const char *path)
{
	json_t *root = trace_json(path), *a, *b, *events = json_object_get(root, "traceEvents");
	size_t i, k;

	json_array_foreach(events, i, a)
	{
		double from = json_number_value(json_object_get(a, "ts"));
		double to = from + json_number_value(json_object_get(a, "dur"));

		if (strcmp(json_string_value(json_object_get(a, "ph")), "X") != 0)
			continue;
		json_array_foreach(events, k, b)
		{
			double at = json_number_value(json_object_get(b, "ts"));
			double end = at + json_number_value(json_object_get(b, "dur"));

			if (k <= i ||
			    strcmp(json_string_value(json_object_get(b, "ph")), "X") != 0 ||
			    !json_equal(json_object_get(a, "pid"), json_object_get(b, "pid")) ||
			    !json_equal(json_object_get(a, "tid"), json_object_get(b, "tid")))
				continue;
			assert_true(at >= to - 1e-9 || end <= to + 1e-9);
		}
	}
	json_decref(root);
}

TEST_IN(rows_nest, dir)
{
	CLEANUP(model_freep) struct model *m = odd_model(0);
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };

	convert_file(tef(), m, in_dir(dir, "x.json"), 0, &n);
	check_nesting(in_dir(dir, "x.json"));
}

/* ---- parts ---- */

static struct model *many_spans(size_t nr)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = { .kind = TRACK_THREAD,
			       .parent = TRACK_NONE,
			       .host = "node1",
			       .pid = 1,
			       .tid = 2,
			       .rank = RANK_NONE,
			       .owner = TRACK_NONE };
	track_id t;
	span_id last = SPAN_NONE;

	s->ops->input(s, "made", "tef");
	s->ops->clock(s);
	t = s->ops->track(s, &d);
	for (size_t i = 0; i < nr; i++) {
		span_id id = odd_span(s, t, i % 2 ? "odd" : "even", (int64_t)i * 10,
				      (int64_t)i * 10 + 7, SPAN_HOST, 0, "", NULL);

		if (last != SPAN_NONE)
			s->ops->link(s, last, id, LINK_FLOW);
		last = id;
	}
	return model_ended(m);
}

TEST_IN(parts_hold_all_once, dir)
{
	CLEANUP(model_freep) struct model *m = many_spans(5000), *back = model_new();
	struct read_opts o = { .keep_args = true };
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };
	uint64_t spans = 0;

	convert_file(tef(), m, in_dir(dir, "x.json.gz"), 100000, &n);
	assert_true(n.files > 5);
	assert_int_equal(n.links_between, n.files - 1);
	for (uint64_t i = 0; i < n.files; i++) {
		CLEANUP(xfreep) char *part = xasprintf("%s/x-%d.json.gz", dir, (int)i);
		struct model *one = read_back(part);

		if (i == 0)
			assert_string_equal(n.first, part);
		spans += one->spans.nr;
		assert_int_equal(one->links.nr, one->spans.nr - 1);
		model_free(one);
		assert_int_equal(reader_find("tef")->read(part, model_sink(back), &o, NULL), 0);
	}
	model_finish(back);
	assert_int_equal(spans, m->spans.nr);
	/* read together they are one thread with all calls */
	assert_int_equal(back->tracks.nr, m->tracks.nr);
	assert_int_equal(back->spans.nr, m->spans.nr);
	for (size_t i = 0; i < m->spans.nr; i++)
		assert_int_equal(back->spans.start_ns[i], m->spans.start_ns[i]);
}

/* A kernel that runs long after its launch stands in another part: correlation finds it again. */
TEST_IN(launches_across_parts, dir)
{
	CLEANUP(model_freep) struct model *m = model_new(), *back = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	struct read_opts o = { .keep_args = true };
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };
	track_id thread, queue;

	s->ops->input(s, "made", "tef");
	s->ops->clock(s);
	d.kind = TRACK_THREAD;
	thread = s->ops->track(s, &d);
	d.kind = TRACK_QUEUE;
	d.device = "gpu0";
	queue = s->ops->track(s, &d);
	for (int i = 0; i < 1000; i++) {
		odd_span(s, thread, "launch", i * 10, i * 10 + 5, SPAN_HOST, (uint64_t)i + 1, "",
			 NULL);
		odd_span(s, queue, "kernel", 5000 + i * 10, 5000 + i * 10 + 5, SPAN_KERNEL,
			 (uint64_t)i + 1, "", NULL);
	}
	model_ended(m);
	convert_file(tef(), m, in_dir(dir, "x.json"), 20000, &n);
	assert_true(n.links_between > 500);
	for (uint64_t i = 0; i < n.files; i++) {
		CLEANUP(xfreep) char *part = xasprintf("%s/x-%d.json", dir, (int)i);

		assert_int_equal(reader_find("tef")->read(part, model_sink(back), &o, NULL), 0);
	}
	model_finish(back);
	assert_int_equal(back->links.nr, 1000);
}

/* ---- files of ours that were changed ---- */

TEST(damaged_descriptions)
{
	static const struct {
		const char *event;
		uint64_t bad;
	} rows[] = {
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"pid\":1,\"tid\":2,\"args\":{}}", 1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"pid\":1,\"tid\":2}", 1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"args\":{\"n\":0,\"kind\":\"shoe\"}}",
		  1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"args\":{\"n\":1,\"kind\":\"queue\"}}",
		  1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"args\":{\"n\":0,\"kind\":\"queue\","
		  "\"parent\":0}}",
		  1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_track\",\"args\":{\"n\":0,\"kind\":\"queue\","
		  "\"rank\":99999999999,\"pid\":\"x\"}}",
		  0 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_lane\",\"args\":{\"track\":3}}", 1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_lane\",\"args\":[]}", 1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_series\",\"args\":{\"shown\":\"a\"}}", 1 },
		{ "{\"ph\":\"M\",\"name\":\"profrig_series\",\"args\":{\"shown\":\"a\",\"series\":"
		  "{\"n\":0,\"name\":\"a\",\"failed\":99999999999999}}}",
		  0 },
		{ "{\"ph\":\"s\",\"id\":1,\"cat\":\"flow\",\"ts\":1,\"pid\":1,\"tid\":1}", 0 },
		{ "{\"ph\":\"X\",\"name\":\"x\",\"ts\":1,\"dur\":1,\"profrig\":7}", 0 },
		{ "{\"ph\":\"X\",\"name\":\"x\",\"ts\":1,\"dur\":1,\"profrig\":{\"kind\":\"shoe\","
		  "\"args\":\"text\",\"correlation\":-1}}",
		  0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		uint64_t bad = 0;

		test_put(dir, "x.json",
			 textf("[{\"ph\":\"M\",\"name\":\"profrig\",\"args\":{\"tracer\":"
			       "\"convert\",\"base_ns\":5}},%s]",
			       rows[i].event));
		CLEANUP(model_freep) struct model *m = read_back(in_dir(dir, "x.json"));
		for (size_t k = 0; k < m->warnings.nr; k++)
			if (strcmp(m->warnings.v[k].code, W_BAD_EVENT) == 0)
				bad += m->warnings.v[k].count;
		if (bad != rows[i].bad)
			ROW_FAIL(i, "%" PRIu64 " bad events", bad);
	}
}
