#include "readers_test.h"

#define FIX "tests/fixtures/speedscope/"

#define FILE_OF(profiles) \
	"{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[" profiles "]" \
	"}"
#define EVENTED(unit, events) \
	FILE_OF("{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"" unit \
		"\",\"startValue\":0,\"endValue\":9,\"events\":[" events "]}")
#define SAMPLED(unit, samples, weights) \
	FILE_OF("{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"" unit \
		"\",\"startValue\":0,\"endValue\":9,\"samples\":[" samples \
		"],\"weights\":[" weights "]}")
#define O(frame, at) "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define C(frame, at) "{\"type\":\"C\",\"frame\":" #frame ",\"at\":" #at "}"

TEST(basic)
{
	READING rd = read_path("speedscope", FIX "basic.speedscope.json", false);
	const struct model *m = rd.m;
	size_t c = span_at(m, "c \xc3\xa9"), a;

	expect_read(&rd, 0, "tracks=2 only");
	assert_string_equal(model_str(m, m->tracks.v[0].name), "one");
	assert_string_equal(model_str(m, m->tracks.v[1].name), "two");
	a = span_nth(m, "a", 0);
	assert_int_equal(m->spans.start_ns[a], 0);
	assert_int_equal(m->spans.end_ns[a], 14000);
	assert_int_equal(m->spans.exclusive_ns[a], 10500);
	assert_string_equal(model_str(m, m->spans.category[a]), "");
	assert_span(m, "b", 2500, 6000);
	a = span_nth(m, "a", 1);
	assert_int_equal(m->spans.start_ns[a], 5);
	assert_int_equal(m->spans.end_ns[a], 9);
	assert_string_equal(model_str(m, m->spans.category[a]), "sampled");
	assert_int_equal(m->spans.start_ns[c], 6);
	assert_int_equal(m->spans.end_ns[c], 8);
	expect_model(m, "fact.profiles=2 fact.untimed_profiles=1");
}

TEST(places)
{
	CLEANUP(xfreep) char *text = test_get(FIX, "basic.speedscope.json");
	READING rd = read_text("speedscope", text); /* which keeps arguments */
	const struct model *m = rd.m;

	for (int i = 0; i < 2; i++)
		assert_string_equal(model_str(m, span_args(&m->spans, span_nth(m, "b", i))),
				    "{\"file\":\"b.c\",\"line\":3}");
	assert_int_equal(span_args(&m->spans, span_at(m, "a")), STR_NONE);
}

TEST(units)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} cases[] = { { "nanoseconds", 2 },        { "microseconds", 1500 },
		      { "milliseconds", 1500000 }, { "seconds", 1500000000 },
		      { "bytes", 1500000 },        { "none", 1500000 },
		      { "fortnights", 1500000 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf(SAMPLED("%s", "[0]", "1.5"), cases[i].unit);
		READING rd = read_text("speedscope", text);

		if (time_in(rd.m, "a") != cases[i].ns)
			ROW_FAIL(i, "%lld ns", (long long)time_in(rd.m, "a"));
	}
}

/* Files that break a rule: what is left, and what is said about it. */
TEST(malformed)
{
	static const struct {
		const char *text, *code;
		int r;
		int64_t a, b;
	} cases[] = {
		{ EVENTED("none", O(0, 0) "," C(0, 5)), NULL, 0, 5, 0 },
		{ EVENTED("none", O(0, 0) "," O(1, 2)), W_OPEN_SPAN, 0, 2, 0 },
		{ EVENTED("none", O(0, 0) "," C(0, 5) "," C(0, 6)), W_STRAY_LEAVE, 0, 5, 0 },
		{ EVENTED("none", O(0, 0) "," O(1, 2) "," C(0, 5) "," C(1, 6)), W_LEAVE_MISMATCH, 0,
		  6, 3 },
		{ EVENTED("none", O(0, 5) "," C(0, 3)), W_TIME_ORDER, 0, 0, 0 },
		{ EVENTED("none", O(0, 0) "," O(7, 1) "," C(7, 2) "," C(0, 3)), W_UNKNOWN_REFERENCE,
		  0, 3, 0 },
		{ EVENTED("none", O(0, 0) ",{\"type\":\"O\",\"frame\":1}," C(0, 3)), W_BAD_EVENT, 0,
		  3, 0 },
		{ EVENTED("none", O(0, 0) ",{\"type\":\"X\",\"frame\":1,\"at\":1}," C(0, 3)),
		  W_BAD_EVENT, 0, 3, 0 },
		{ EVENTED("none", O(0, 0) ",17," C(0, 3)), W_BAD_EVENT, 0, 3, 0 },
		{ EVENTED("none", O(0, 0) "," O(1, NaN) "," C(0, 3)), W_BAD_NUMBER, 0, 3, 0 },
		{ EVENTED("none", O(0, 0) "," O(1, 1e30) "," C(0, 3)), W_BAD_NUMBER, 0, 3, 0 },
		{ EVENTED("none", O(0, 0) "," C(0, 3) ","), NULL, 0, 3, 0 },
		{ SAMPLED("none", "[0],[0,1]", "1,2"), NULL, 0, 3, 2 },
		{ SAMPLED("none", "[0],[0,1]", "1"), W_BAD_EVENT, 0, 1, 0 },
		{ SAMPLED("none", "[0]", "1,2"), W_BAD_EVENT, 0, 1, 0 },
		{ SAMPLED("none", "[0],[1]", "1,0"), W_IGNORED_RECORD, 0, 1, 0 },
		{ SAMPLED("none", "[0],[1]", "1,-4"), W_NEGATIVE_DURATION, 0, 1, 0 },
		{ SAMPLED("none", "[0],[1]", "1,null"), W_BAD_NUMBER, 0, 1, 0 },
		{ SAMPLED("none", "[0],3", "1,1"), W_BAD_EVENT, 0, 1, 0 },
		{ SAMPLED("none", "[0,9],[\"x\"]", "1,1"), W_UNKNOWN_REFERENCE, 0, 1, 0 },
		{ SAMPLED("none", "[],[0]", "4,1"), NULL, 0, 1, 0 },
		{ SAMPLED("fortnights", "[0]", "1"), W_BAD_EVENT, 0, 1, 0 },
		{ SAMPLED("none", "[0],[1]", "1,2:3"), W_TRUNCATED, READ_PARTIAL, 1, 2 },
		{ SAMPLED("none", "[0],[1:]", "1,2"), W_TRUNCATED, READ_PARTIAL, 1, 0 },
		{ EVENTED("none", O(0, 0) "," C(0, 1) "," O(1, 2) "," C(1, 5 : 30)), W_TRUNCATED,
		  READ_PARTIAL, 1, 0 },
		{ EVENTED("none", C(0, 1)), W_STRAY_LEAVE, 0, 0, 0 },
		{ EVENTED("none", O(0, -3) "," C(0, 5)), NULL, 0, 8, 0 },
		{ FILE_OF("{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0],[1]]}"),
		  W_BAD_EVENT, 0, 0, 0 },
		{ FILE_OF("{\"type\":\"sampled\",\"unit\":\"none\",\"weights\":[1,2]}"),
		  W_EMPTY_INPUT, 0, 0, 0 },
		{ FILE_OF("{\"type\":\"flame\"}"), W_IGNORED_RECORD, 0, 0, 0 },
		{ FILE_OF("{\"type\":\"sampled\"}"), W_EMPTY_INPUT, 0, 0, 0 },
		{ FILE_OF(""), W_EMPTY_INPUT, 0, 0, 0 },
		{ FILE_OF("7"), W_BAD_EVENT, 0, 0, 0 },
		{ "{\"profiles\":[{\"type\":\"sampled\",\"samples\":[[0],[1]],\"weights\":[1,2]}],"
		  "\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
		  NULL, 0, 1, 2 },
		{ "{\"profiles\":[{\"type\":\"sampled\",\"samples\":[[0],[1]],\"weights\":[1,2]}]}",
		  W_UNKNOWN_REFERENCE, 0, 0, 0 },
		{ "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"evented\","
		  "\"events\":[" O(0, 1) "," C(0, 5) ",{\"ty",
		  W_TRUNCATED, READ_PARTIAL, 4, 0 },
		{ "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"evented\","
		  "\"events\":[" O(0, 1) "," C(0, 5) "}]}]}",
		  W_TRUNCATED, READ_PARTIAL, 4, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("speedscope", cases[i].text);

		if (rd.r != cases[i].r)
			ROW_FAIL(i, "result %d: %s", rd.r, rd.err.msg);
		if (time_in(rd.m, "a") != cases[i].a || time_in(rd.m, "b") != cases[i].b)
			ROW_FAIL(i, "a %lld, b %lld", (long long)time_in(rd.m, "a"),
				 (long long)time_in(rd.m, "b"));
		if (cases[i].code && !warned(rd.m, cases[i].code))
			ROW_FAIL(i, "no %s", cases[i].code);
		if (!cases[i].code && rd.m->warnings.nr)
			ROW_FAIL(i, "%s", rd.m->warnings.v[0].text);
	}
}

TEST(unreadable)
{
	static const char *const texts[] = LIST("", "[]", "{", "{}", "x", "{\"profiles\":3}",
						"{\"shared\":{\"frames\":[{\"name\":\"a");

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		READING rd = read_text("speedscope", texts[i]);

		if (rd.r >= 0)
			ROW_FAIL(i, "result %d", rd.r);
		if (!strstr(rd.err.msg, "offset") && i > 0)
			ROW_FAIL(i, "%s", rd.err.msg);
	}
}

TEST(damaged)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	assert_true(fs_read(FIX "basic.speedscope.json", 1 << 20, &text, &n, NULL) >= 0);
	for (size_t cut = 0; cut + 1 < n; cut++) {
		READING rd = read_bytes("speedscope", text, cut);

		if (rd.r == 0)
			ROW_FAIL(cut, "nothing is said of the cut");
	}
	assert_mutations_read("speedscope", text, n, 3, 5, false);
}
