/*
 * Models as Perfetto's protobuf format: what comes back is what went in, and other parsers of the
 * format find as many slices.
 */
#include "convert_test.h"

#include "profrig/base/protobuf.h"

static const struct converter *perfetto(void)
{
	return converter_find("perfetto");
}

TEST(odd_models_come_back)
{
	static const int64_t origins[] = { 0, 1712195495505582988, -5000000000 };

	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		CLEANUP(model_freep) struct model *m = odd_model(origins[i]);

		there_and_back(perfetto(), m, "x.pftrace", "odd");
		there_and_back(perfetto(), m, "x.pftrace.gz", "odd, gzip");
		there_and_back(perfetto(), m, "x.pftrace.zst", "odd, zstd");
		there_and_back(perfetto(), m, "x.perfetto-trace", "odd, the other name");
	}
	for (int i = 0; i < BARE_MODELS; i++) {
		CLEANUP(model_freep) struct model *m = bare_model(i);

		there_and_back(perfetto(), m, "x.pftrace", "bare");
	}
}

TEST(any_models)
{
	any_models_come_back(perfetto(), "x.pftrace", 300);
}

static void recording(const struct model *m, const char *what)
{
	there_and_back(perfetto(), m, "x.pftrace", what);
}

TEST(recordings_come_back)
{
	each_recording(recording);
}

/* ---- what is in the file ---- */

struct written {
	char *bytes;
	size_t n;
};

static struct written written(const struct model *m)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = fs_join(dir, "x.pftrace");
	struct convert_result n = { .files = 0 };
	struct written w;

	convert_file(perfetto(), m, path, 0, &n);
	assert_int_equal(fs_read(path, 1 << 24, &w.bytes, &w.n, NULL), 0);
	assert_int_equal(n.bytes, w.n);
	convert_result_release(&n);
	return w;
}

/* Events of a type, with the bare cursor. */
static size_t events_of_type(const struct written *w, uint64_t type)
{
	struct pb_cursor c = pb_cursor_of(w->bytes, w->n);
	struct pb_field f, g, h;
	size_t n = 0;

	while (pb_next(&c, &f))
		for (struct pb_cursor in = pb_inside(&f); pb_next(&in, &g);)
			for (struct pb_cursor e = pb_inside(&g); g.number == 11 && pb_next(&e, &h);)
				n += h.number == 9 && h.u64 == type;
	assert_null(c.problem);
	return n;
}

TEST(an_event_for_each_begin_end_instant_and_value)
{
	CLEANUP(model_freep) struct model *m = odd_model(0);
	struct written w = written(m);
	size_t instants = 0, samples = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		instants += m->spans.kind[i] == SPAN_INSTANT;
	for (size_t i = 0; i < m->series.nr; i++)
		samples += m->series.v[i].t_ns.nr;
	assert_int_equal(events_of_type(&w, 1), m->spans.nr - instants);
	assert_int_equal(events_of_type(&w, 2), m->spans.nr - instants);
	assert_int_equal(events_of_type(&w, 3), instants);
	assert_int_equal(events_of_type(&w, 4), samples);
	free(w.bytes);
}

/* Annotations alone give back compact JSON; all else is there twice. */
TEST(arguments_are_written_once)
{
	static const struct {
		const char *args;
		bool twice;
	} cases[] = {
		{ "{\"key\":\"unlikely\",\"n\":-5,\"t\":true,\"x\":[1,{\"y\":null}]}", false },
		{ "{\"key\": \"unlikely\"}", true },
		{ "unlikely", true },
		{ "{\"key\":\"unlikely\\u0041\"}", false },
		{ "{\"k\\u0065y\":\"unlikely\"}", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct model *m = model_begun(TRACE_CLOCK_OWN);
		struct track_def d = TRACK_DEF_INIT;
		struct written w;
		const char *first;

		d.kind = TRACK_THREAD;
		odd_span(model_sink(m), model_sink(m)->ops->track(model_sink(m), &d), "f", 1, 2,
			 SPAN_HOST, 0, "", cases[i].args);
		model_ended(m);
		there_and_back(perfetto(), m, "x.pftrace", cases[i].args);
		w = written(m);
		first = memmem(w.bytes, w.n, "unlikely", 8);
		if (!first || (memmem(first + 1, w.n - (size_t)(first + 1 - w.bytes), "unlikely",
				      8) != NULL) != cases[i].twice)
			ROW_FAIL(i, "%s", cases[i].args);
		free(w.bytes);
		model_free(m);
	}
}
