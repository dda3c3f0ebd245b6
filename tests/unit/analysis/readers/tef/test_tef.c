/* The format itself: forms, members, phases, damage. Dialects are in test_tef_dialects.c,
 * recordings in test_tef_real.c. */
#include "readers_test.h"

#define FIX "tests/fixtures/tef/"

TEST(chrome_spans)
{
	READING rd = read_path("tef", FIX "chrome.json", true);
	const struct model *m = rd.m;
	size_t i = span_at(m, "handle");

	expect_read(&rd, 0, "format='Trace Event Format' clock=own handle: at=100250..108750");
	assert_string_equal(model_str(m, m->spans.category[i]), "net,http");
	assert_string_equal(model_str(m, span_args(&m->spans, i)),
			    "{\"url\": \"/a\", \"n\": [1, {\"x\": \"}\"}]}");
	assert_string_equal(model_str(m, track_of(m, i)->name), "worker");
	assert_int_equal(track_of(m, i)->pid, 10);
	assert_int_equal(track_of(m, i)->tid, 11);
	assert_string_equal(model_str(m, m->tracks.v[track_of(m, i)->parent].name), "server");
	/* B … E inside the complete event, the end a string and without a name */
	assert_span(m, "parse", 101000, 103125);
	assert_int_equal(span_parent(&m->spans, span_at(m, "parse")), i);
	/* a tid that is a word */
	i = span_at(m, "send");
	assert_string_equal(model_str(m, track_of(m, i)->name), "io");
	assert_int_equal(track_of(m, i)->tid, PID_NONE);
	assert_int_equal(m->spans.track[i], m->spans.track[span_at(m, "recv")]);
	expect_model(m, "W_IGNORED_RECORD=2 only");
}

TEST(chrome_instants)
{
	static const struct {
		const char *name;
		int64_t t_ns;
	} want[] = {
		{ "tick", 104000 }, { "tock", 105000 }, { "mark", 105500 }, { "poll", 105750 }
	};
	READING rd = read_path("tef", FIX "chrome.json", false);

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_span(rd.m, want[i].name, want[i].t_ns, want[i].t_ns);
		assert_int_equal(rd.m->spans.kind[span_at(rd.m, want[i].name)], SPAN_INSTANT);
		assert_int_equal(span_args(&rd.m->spans, span_at(rd.m, want[i].name)), STR_NONE);
	}
	assert_int_equal(rd.m->inputs.v[0].instants, 5); /* and the async "retry" */
}

TEST(chrome_counters)
{
	READING rd = read_path("tef", FIX "chrome.json", false);
	const struct series *used = series_named(rd.m, "heap.used"),
			    *fps = series_named(rd.m, "fps");

	expect_model(rd.m, "series=3 ~heap.used: kind=gauge samples=2 t[1]=110000 v[0]=1500 "
			   "v[1]=1600 ~heap.free: v[0]=20");
	assert_int_equal(rd.m->tracks.v[used->track].kind, TRACK_PROCESS);
	assert_int_equal(rd.m->tracks.v[used->track].pid, 10);
	assert_int_equal(fps->value.nr, 1);
}

TEST(chrome_async)
{
	READING rd = read_path("tef", FIX "chrome.json", false);
	const struct model *m = rd.m;
	size_t a = span_nth(m, "request", 0), b = span_nth(m, "request", 1);

	assert_int_equal(m->spans.start_ns[a], 100000);
	assert_int_equal(m->spans.end_ns[a], 106000);
	assert_int_equal(m->spans.start_ns[b], 102000);
	assert_int_equal(m->spans.end_ns[b], 109000);
	/* they overlap, so they lie in two rows; what belongs to the first one's id lies with it
	 */
	expect_model(m, "request: apart=request#1 track='rpc async' kind=annotation "
			"dns: beside=request in=request retry: beside=request "
			"request#1: track='rpc async #2'");
	assert_int_equal(m->tracks.v[track_of(m, a)->parent].pid, 10);
}

TEST(chrome_flows)
{
	READING rd = read_path("tef", FIX "chrome.json", false);
	const struct model *m = rd.m;

	/* s inside parse, t inside send, f without "bp" means the next span */
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(m->links.kind[i], LINK_FLOW);
	assert_int_equal(m->links.from[0], span_at(m, "parse"));
	assert_int_equal(m->links.to[0], span_at(m, "send"));
	assert_int_equal(m->links.from[1], span_at(m, "send"));
	assert_int_equal(m->links.to[1], span_at(m, "recv"));
	expect_model(m, "fact.flow_points=3 fact.flow_points_unmatched=0");
}

/* µs of any size come out as exact ns, and what is none is counted and left out. */
TEST(numbers)
{
	READING rd = read_text(
		"tef",
		"[{\"ph\":\"X\",\"name\":\"big\",\"pid\":1,\"tid\":1,\"ts\":1712195495505582.988,"
		"\"dur\":0.001},"
		"{\"ph\":\"X\",\"name\":\"exp\",\"pid\":1,\"tid\":1,\"ts\":1.5e3,\"dur\":25E-1},"
		"{\"ph\":\"X\",\"name\":\"neg\",\"pid\":1,\"tid\":1,\"ts\":-5,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"round\",\"pid\":1,\"tid\":1,\"ts\":1.0005,\"dur\":\"0."
		"0004999\"},"
		"{\"ph\":\"X\",\"name\":\"back\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":-1},"
		"{\"ph\":\"X\",\"name\":\"word\",\"pid\":1,\"tid\":1,\"ts\":\"soon\",\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"huge\",\"pid\":1,\"tid\":1,\"ts\":1e300,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"long\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9e18},"
		"{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"a\":\"x\",\"b\":NaN,"
		"\"c\":null,\"d\":[1]}},"
		"{\"ph\":\"X\",\"name\":\"none\",\"pid\":1,\"tid\":1,\"dur\":1}]");
	const struct model *m = rd.m;

	assert_int_equal(rd.r, READ_PARTIAL); /* a time that does not fit */
	expect_model(m, "W_TIME_RANGE=1 input.spans=5 W_BAD_NUMBER=3 "
			"big: at=1712195495505582988..1712195495505582989 "
			"exp: at=1500000..1502500 neg: at=-5000..-4000 round: at=1001 "
			"back: at=10000");
	assert_int_equal(warned(m, W_BAD_EVENT), 2); /* no time, and the array as a counter */
	expect_model(m, "W_NEGATIVE_DURATION=1 ~c.b: failed=1 ~c.c: failed=1");
}

TEST(strings)
{
	READING rd = read_text(
		"tef",
		"[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\\\"b\\\\c\\/"
		"\\n\\u00e9\\ud83d\\ude00\"},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":1,\"name\":\"lone \\ud83d x "
		"\\u0000 \\q\"},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"name\":\"raw \x01\ttab\"},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,\"name\":\"bad \xff utf "
		"\xc3\"}]");
	const struct model *m = rd.m;

	expect_read(&rd, 0, "spans=4");
	assert_string_equal(span_name(m, 0), "a\"b\\c/\n\xc3\xa9\xf0\x9f\x98\x80");
	assert_string_equal(span_name(m, 1), "lone \xef\xbf\xbd x \xef\xbf\xbd \xef\xbf\xbdq");
	assert_string_equal(span_name(m, 2), "raw \x01\ttab");
	assert_string_equal(span_name(m, 3), "bad \xef\xbf\xbd utf \xef\xbf\xbd");
}

TEST(array_forms)
{
#define EV "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}"
	static const struct {
		const char *text;
		size_t n; /* 0: strlen */
		const char *warning;
	} cases[] = {
		{ "[" EV "]", 0, NULL },
		{ "{\"traceEvents\":[],\"a\":1,\"traceEvents\":[" EV "],\"traceEvents\":{}}", 0,
		  NULL },
		{ "\xef\xbb\xbf [\n" EV "\n]\n\n", 0, NULL },
		{ "[" EV ",]", 0, NULL },
		{ "[,," EV ",,]", 0, NULL },
		{ "[{}," EV "]", 0, NULL },
		{ "[" EV, 0, W_UNTERMINATED },
		{ "[" EV ",\n", 0, W_UNTERMINATED },
		{ "[" EV ",\n\0\0\0\0\0\0", sizeof("[" EV ",\n\0\0\0\0\0\0") - 1, W_UNTERMINATED },
		{ "[\0\0\0\n" EV "]", sizeof("[\0\0\0\n" EV "]") - 1, NULL },
		{ "{\"traceEvents\":[" EV "]}", 0, NULL },
		{ "{\"a\":[{}],\"traceEvents\":[" EV "],\"z\":{\"traceEvents\":[1]},}", 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_bytes("tef", cases[i].text,
					cases[i].n ? cases[i].n : strlen(cases[i].text));

		expect_read(&rd, 0, "spans=1 a: at=1000..2000");
		assert_false(rd.m->inputs.v[0].partial);
		assert_only_warned(rd.m, cases[i].warning);
	}
}

/* An array that merely stays open is whole; one cut inside an event lacks it. */
TEST(array_cuts)
{
	static const char text[] = "[" EV ",\n{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,"
				   "\"ts\":1,\"dur\":1,\"args\":{\"a\":[{\"c\":\"}]\"}]}}\n";
	size_t first = strlen("[" EV), last = strlen(text) - 1;

	for (size_t n = 1; n <= strlen(text); n++) {
		READING rd = read_bytes("tef", text, n);
		bool inside = (n > 1 && n < first) || (n > first + 2 && n < last);

		if (n < first) {
			assert_int_equal(rd.r, inside ? -EINVAL : 0);
		} else {
			assert_int_equal(rd.r, inside ? READ_PARTIAL : 0);
			assert_int_equal(rd.m->spans.nr, n < last ? 1 : 2);
			assert_true(rd.m->inputs.v[0].partial == inside);
			assert_only_warned(rd.m, inside ? W_TRUNCATED : W_UNTERMINATED);
		}
	}
}

/* What could be read is there, the rest is said with its place, and the reader says partial. */
TEST(damage)
{
	struct reading rd = read_path("tef", FIX "damaged.json", false);
	const struct model *m = rd.m;

	expect_read(&rd, READ_PARTIAL,
		    "spans=3 W_BAD_EVENT=2 W_TRUNCATED=2 one: at=1000..2000 "
		    "three: at=3000..4000 five: at=5000..6000");
	for (size_t i = 0; i < m->warnings.nr; i++)
		assert_has(m->warnings.v[i].text, "damaged at byte 58");
	assert_true(m->inputs.v[0].partial);
	reading_release(&rd);
	expect_file("tef", FIX "cut-object.json", false, READ_PARTIAL, "spans=1 W_TRUNCATED only");
	expect_text("tef", "{\"traceEvents\":[" EV "],\"otherData\":{\"a\":", READ_PARTIAL,
		    "spans=1");
	expect_text("tef", "[" EV "]\n[" EV "]\n", READ_PARTIAL, "spans=1");
	/* elements that are no events are not damage */
	expect_text("tef",
		    "[1,\"x\",null,[{\"ph\":\"X\"}]," EV ",{\"name\":\"no phase\",\"ts\":3}]", 0,
		    "spans=1 W_BAD_EVENT=5");
	/* two writers of one file lost a comma */
	expect_text("tef", "[" EV EV "\n" EV "]", 0, "spans=3 only");
}

TEST(nothing_to_read)
{
	static const struct refused cases[] = {
		{ "", -ENODATA, "is empty" },
		{ " \n ", -ENODATA, "is empty" },
		{ "hello", -EINVAL, "byte 0: a trace begins with '[' or '{', not 'h'" },
		{ "{}", -EINVAL, "no traceEvents array" },
		{ "{\"traceEvents\": 5}", -EINVAL, "no traceEvents array" },
		{ "{\"a\": 1, \"b\": [", -EINVAL, "ends before its traceEvents array" },
		{ "{\"a\": 1 # 2}", -EINVAL, "byte 8: damaged before" },
		{ "[{\"ph\":\"X\",", -EINVAL, "byte 1: no event could be read" },
		{ "{\"traceEvents\":[", -EINVAL, "no event could be read" },
	};

	expect_refused("tef", cases, ARRAY_LEN(cases));
	struct reading rd = read_path("tef", FIX "comma-first.json", false);
	assert_int_equal(rd.r, -EINVAL);
	assert_has(rd.err.msg, FIX "comma-first.json: byte 0: ");
	reading_release(&rd);
	expect_text("tef", "[\n]", 0, "W_EMPTY_INPUT only");
}

TEST(pair_problems)
{
	expect_text("tef",
		    "[{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":0},"
		    "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"a\",\"args\":{\"k\":1}},"
		    "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"b\"},"
		    "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3,\"name\":\"c\"},"
		    "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4,\"name\":\"a\"},"
		    "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5,\"name\":\"other\"},"
		    "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":6,\"name\":\"d\"},"
		    "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":7,\"args\":{\"r\":0}},"
		    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":8,\"dur\":1,\"name\":\"e\"}]",
		    0,
		    "W_STRAY_LEAVE=2 W_LEAVE_MISMATCH=1 W_OPEN_SPAN=1 a: at=1000..4000 "
		    "args={\"k\":1} b: at=2000..4000 c: at=3000..9000 d: at=6000..7000 "
		    "args={\"r\":0}");
}

/* Two orders of writing the same calls, both against the rule: buffers one after the other, and
 * whole pairs. */
TEST(pair_orders)
{
	struct reading rd =
		read_text("tef", "[{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9,\"name\":\"a\"},"
				 "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5,\"name\":\"b\"},"
				 "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"a\"},"
				 "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"b\"}]");

	expect_model(rd.m, "only a: at=1000..9000 b: at=2000..5000");
	reading_release(&rd);

	rd = read_text("tef", "[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"b\"},"
			      "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
			      "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"a\"},"
			      "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},"
			      "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":8,\"name\":\"c\"},"
			      "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":7}]");
	expect_model(rd.m, "W_NEGATIVE_DURATION=1 b: at=2000..5000 a: at=1000..4000 c: at=8000");
	assert_int_equal(warned(rd.m, W_STRAY_LEAVE) + warned(rd.m, W_OPEN_SPAN), 0);
	reading_release(&rd);
}

/* Clocks of whole µs give a call and the only one it makes the same times. */
TEST(pairs_of_equal_times)
{
	struct reading rd =
		read_text("tef", "[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"outer\"},"
				 "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"inner\"},"
				 "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"open\"},"
				 "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9,\"name\":\"inner\"},"
				 "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9}]");
	const struct model *m = rd.m;

	expect_model(m, "outer: at=1000..9000 in=none inner: at=1000..9000 in=outer "
			"open: at=1000..9000 in=inner");
	reading_release(&rd);
}

/* Where the first time is beyond all that fit, times count from it; what is far is missed. */
TEST(far_times)
{
#define AT(ts, name) \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"dur\":5,\"ts\":" ts "}"
	struct reading rd = read_text("tef", "[" AT("1763633300123456789012.25", "a") "," AT(
						     "1763633300123456789022.5005", "b") "]");

	expect_read(&rd, 0, "only a: at=0..5000 b: at=10250..15250");
	reading_release(&rd);
	rd = read_text("tef", "[" AT("1763633300123456789012", "a") "," AT("7", "b") "]");
	expect_model(rd.m, "W_TIME_RANGE=1 spans=1");
	assert_true(rd.m->inputs.v[0].partial);
	reading_release(&rd);
	rd = read_text("tef", "[" AT("7", "b") "," AT("1763633300123456789012", "a") "]");
	expect_model(rd.m, "W_TIME_RANGE=1 b: at=7000..12000");
	assert_true(rd.m->inputs.v[0].partial);
	reading_release(&rd);
#undef AT
}

/* S, T and F: the older words, matched by id and name among themselves. */
TEST(legacy_async)
{
#define OLD(ph, id, name, ts) \
	"{\"ph\":\"" ph "\",\"cat\":\"c\",\"id\":" id ",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":1,\"ts\":" ts "}"
	/* clang-format off */
	READING rd = read_text("tef", "["
		OLD("F", "\"0x2\"", "a", "9") "," OLD("S", "\"0x2\"", "a", "2") ","
		OLD("S", "\"0x2\"", "b", "3") "," OLD("T", "\"0x2\"", "b", "4") ","
		OLD("F", "\"0x2\"", "b", "5") "," OLD("b", "\"0x2\"", "a", "1") ","
		OLD("e", "\"0x2\"", "a", "10") "," OLD("S", "7", "a", "4") ","
		OLD("F", "7", "a", "6") "," OLD("p", "7", "step", "5") "]");
	/* clang-format on */
	const struct model *m = rd.m;

	expect_read(&rd, 0, "spans=6 only b: at=3000..5000 step: at=5000");
	for (int i = 0, found = 0; i < 3; i++) {
		size_t at = span_nth(m, "a", i);
		int64_t start_ns = m->spans.start_ns[at];

		assert_int_equal(m->spans.end_ns[at], start_ns == 4000 ? 6000 : 11000 - start_ns);
		assert_int_equal(m->spans.kind[at], SPAN_ANNOTATION);
		found |= 1 << start_ns / 1000;
		if (i == 2)
			assert_int_equal(found, 1 << 1 | 1 << 2 | 1 << 4);
	}
}

TEST(async_problems)
{
	expect_text("tef",
		    "[{\"ph\":\"b\",\"pid\":1,\"id\":1,\"ts\":1,\"name\":\"open\"},"
		    "{\"ph\":\"e\",\"pid\":1,\"id\":2,\"ts\":2,\"name\":\"stray\"},"
		    "{\"ph\":\"b\",\"pid\":1,\"id2\":{\"local\":\"0x3\"},\"ts\":3,\"name\":\"x\"},"
		    "{\"ph\":\"e\",\"pid\":1,\"id2\":{\"local\":\"0x3\"},\"ts\":4,\"name\":\"x\"},"
		    "{\"ph\":\"b\",\"pid\":1,\"id\":4,\"ts\":5,\"name\":\"y\"},"
		    "{\"ph\":\"e\",\"pid\":1,\"id\":4,\"ts\":6,\"name\":\"z\"},"
		    "{\"ph\":\"b\",\"pid\":1,\"id\":5,\"ts\":5,\"name\":\"v\"},"
		    "{\"ph\":\"e\",\"pid\":1,\"id\":5,\"ts\":6,\"name\":\"\"},"
		    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":8,\"dur\":2,\"name\":\"last\"}]",
		    0,
		    "W_LEAVE_MISMATCH=1 W_STRAY_LEAVE=1 W_OPEN_SPAN=1 open: at=1000..10000 "
		    "x: at=3000..4000 y: at=5000..6000 v: at=5000..6000");
}

TEST(flow_problems)
{
	/* an id used twice, a point with no span, an end before its start by another clock */
	READING rd = read_text(
		"tef", "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},"
		       "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":20,\"dur\":10,\"name\":\"b\"},"
		       "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":40,\"dur\":10,\"name\":\"c\"},"
		       "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":60,\"dur\":10,\"name\":\"d\"},"
		       "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":1,\"id\":1},"
		       "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":21,\"id\":1,\"bp\":\"e\"},"
		       "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":41,\"id\":1},"
		       "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":61,\"id\":1,\"bp\":\"e\"},"
		       "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":20,\"id\":2,\"bp\":\"e\"},"
		       "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":50,\"id\":2},"
		       "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":5,\"id\":3},"
		       "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":35,\"id\":3,\"bp\":\"e\"}]");
	const struct model *m = rd.m;
	size_t a = span_at(m, "a"), b = span_at(m, "b"), c = span_at(m, "c"), d = span_at(m, "d");
	unsigned int seen = 0;

	assert_int_equal(m->links.nr, 3);
	for (size_t i = 0; i < m->links.nr; i++) {
		seen |= m->links.from[i] == a && m->links.to[i] == b ? 1U : 0;
		seen |= m->links.from[i] == c && m->links.to[i] == d ? 2U : 0;
		seen |= m->links.from[i] == c && m->links.to[i] == b ? 4U : 0;
	}
	assert_int_equal(seen, 7);
	assert_int_equal(fact(m, "flow_points_unmatched"), 1);
}

/* Cut after every byte, small files give what they give and never crash; a longer file never gives
 * fewer whole spans. */
TEST(cut_everywhere)
{
	static const char *const files[] = { "chrome.json",  "kineto.json",       "rocprof-v1.json",
					     "uftrace.json", "profrig-blas.json", "damaged.json" };

	for (size_t k = 0; k < ARRAY_LEN(files); k++) {
		CLEANUP(xfreep) char *path = fs_join(FIX, files[k]), *text = NULL;
		READING whole = read_path("tef", path, true);
		size_t n = 0;

		assert_int_equal(fs_read(path, 65536, &text, &n, NULL), 0);
		for (size_t i = 0; i < n; i++) {
			READING rd = read_bytes("tef", text, i);

			assert_true(rd.m->spans.nr <= whole.m->spans.nr);
			assert_true(rd.r <= READ_PARTIAL);
			if (rd.r < 0)
				assert_true(rd.err.msg[0] != 0);
		}
	}
}

/* Depth is bounded: an event that nests too deep is damage, and the next one is read. */
TEST(deep_nesting)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "[{\"ph\":\"X\",\"name\":\"deep\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":"
			   "1,\"args\":");
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&sb, '[');
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&sb, ']');
	strbuf_addstr(&sb, "},\n" EV "]");
	READING rd = read_bytes("tef", sb.buf, sb.len);
	expect_read(&rd, READ_PARTIAL, "spans=1 a: at=1000..2000");
}
