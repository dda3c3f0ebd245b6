/*
 * Single traits of Perfetto's traces, made packet by packet: order, clocks, lost state, odd
 * structure. What is common is in test_perfetto_fixtures.c.
 */
#include "readers_test.h"
#include "tests/fixtures/gen/perfetto_gen.h"

#include <math.h>
#include <zstd.h>

/* Reads what was made and compares; the buffer is released. */
#define expect_trace(b, r, text) \
	do { \
		READING of_trace = read_bytes("perfetto", (b)->buf, (b)->len); \
		strbuf_release(b); \
		expect_read(&of_trace, r, text); \
	} while (0)

/* ---- slices ---- */

TEST(ends_that_never_began_and_begins_that_never_end)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, 1, 7, 8, "t");
	pg_event(&b, PG_SEQ, 100, PG_END, 1, NULL);
	pg_event(&b, PG_SEQ, 200, PG_BEGIN, 1, "open");
	pg_event(&b, PG_SEQ, 300, PG_INSTANT, 1, "last");
	expect_trace(&b, 0,
		     "W_STRAY_LEAVE=1 W_OPEN_SPAN=1 only open: at=200..300 last: at=300..300");
}

/* Two writers of one track, each in order: only the order of time pairs them right. */
TEST(two_writers_of_one_track)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, 1, 7, 8, "t");
	pg_event(&b, 1, 100, PG_BEGIN, 1, "outer");
	pg_event(&b, 1, 400, PG_END, 1, NULL);
	pg_event(&b, 2, 200, PG_BEGIN, 1, "inner");
	pg_event(&b, 2, 300, PG_END, 1, NULL);
	pg_event(&b, 2, 250, PG_INSTANT, 1, "mark");
	expect_trace(&b, 0, "only outer: at=100..400 inner: at=200..300 in=outer mark: in=inner");
}

/* An end in front of its begin in the file. */
TEST(ends_that_stand_before_their_begins)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, 1, 7, 8, "t");
	pg_event(&b, PG_SEQ, 300, PG_BEGIN, 1, "b");
	pg_event(&b, PG_SEQ, 200, PG_END, 1, NULL);
	pg_event(&b, PG_SEQ, 100, PG_BEGIN, 1, "a");
	pg_event(&b, PG_SEQ, 400, PG_END, 1, NULL);
	expect_trace(&b, 0, "only a: at=100..200 b: at=300..400");
}

/* Whole slices one after the other in any order of time, as tools write them that convert. */
TEST(whole_slices_in_any_order)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, 1, 7, 8, "t");
	pg_slice(&b, 500, 600, 1, "late");
	pg_slice(&b, 100, 900, 1, "all");
	pg_slice(&b, 150, 250, 1, "early");
	/* partly over its neighbour: the order of time alone would swap the ends */
	pg_slice(&b, 200, 300, 1, "over");
	expect_trace(&b, 0,
		     "W_SPAN_OVERLAP=1 only all: at=100..900 late: at=500..600 in=all "
		     "early: at=150..250 over: at=200..300");
}

/* Of slices with one start and one end the outer one is the outer one in the model, too. */
TEST(equal_slices_keep_their_order)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, 1, 7, 8, "t");
	for (int i = 0; i < 3; i++)
		pg_event(&b, PG_SEQ, 100, PG_BEGIN, 1, i == 0 ? "a" : i == 1 ? "b" : "c");
	for (int i = 0; i < 3; i++)
		pg_event(&b, PG_SEQ, 200, PG_END, 1, NULL);
	pg_slice(&b, 300, 300, 1, "x");
	pg_slice(&b, 300, 300, 1, "y");
	expect_trace(&b, 0, "only a: in=none b: in=a c: in=b x: in=none y: in=none");
}

TEST(states_last_to_the_next_one)
{
	struct strbuf b = STRBUF_INIT;

	pg_track(&b, 1, 0, "power");
	pg_event(&b, PG_SEQ, 50, PG_STATE, 1, NULL);
	pg_event(&b, PG_SEQ, 100, PG_STATE, 1, "on");
	pg_event(&b, PG_SEQ, 300, PG_STATE, 1, "off");
	pg_event(&b, PG_SEQ, 700, PG_STATE, 1, NULL);
	expect_trace(&b, 0, "input.spans=2 only on: at=100..300 off: at=300..700 track=power");
}

/* ---- tracks ---- */

TEST(tracks_that_are_described_behind_their_events)
{
	struct strbuf b = STRBUF_INIT;

	pg_slice(&b, 100, 200, 1, "f");
	pg_slice(&b, 100, 200, 0, "g");
	pg_slice(&b, 100, 200, 77, "h");
	pg_thread(&b, 1, 7, 8, "late");
	expect_trace(&b, 0,
		     "only f: pid=7 tid=8 track=late kind=host g: track=global kind=annotation "
		     "h: 'track=track 4d'");
}

/* A made-up track belongs to the process it lies in, however deep; circles end. */
TEST(parents)
{
	struct strbuf b = STRBUF_INIT;

	pg_process(&b, 1, 7, "app");
	pg_track(&b, 2, 1, "group");
	pg_track(&b, 3, 2, "lane");
	pg_track(&b, 4, 5, "round");
	pg_track(&b, 5, 4, "about");
	pg_track(&b, 6, 6, "self");
	for (uint64_t i = 3; i <= 6; i++)
		pg_slice(&b, 100, 200, i, i == 3 ? "f" : "g");
	expect_trace(&b, 0, "only f: 'track=group: lane' kind=host 'g#0': 'track=about: round'");
}

/* ---- arguments ---- */

static void put_nested(struct strbuf *b, int depth)
{
	size_t at = pb_open(b, depth % 2 ? 11 : 12);

	if (depth % 2)
		pb_put_str(b, 10, "k");
	if (depth > 0)
		put_nested(b, depth - 1);
	else
		pb_put_u64(b, 4, (uint64_t)-5);
	pb_close(b, at);
}

TEST(annotations_of_every_kind)
{
	struct strbuf b = STRBUF_INIT;
	struct pg_event e;
	size_t at;

	e = pg_event_open(&b, PG_SEQ, 100, PG_INSTANT, 1, "f");
	for (int i = 0; i < 7; i++) {
		at = pb_open(&b, 4);
		pb_put_str(&b, 10, (const char *[]){ "b", "d", "n", "p", "j", "l", "e" }[i]);
		if (i == 0)
			pb_put_u64(&b, 2, 1);
		else if (i == 1)
			pb_put_double(&b, 5, 0.25);
		else if (i == 2)
			pb_put_double(&b, 5, NAN);
		else if (i == 3)
			pb_put_u64(&b, 7, 255);
		else if (i == 4)
			pb_put_str(&b, 9, "{\"a\": [1]}");
		else if (i == 5)
			put_nested(&b, 1);
		pb_close(&b, at);
	}
	at = pb_open(&b, 33);
	pb_put_str(&b, 2, "a.c");
	pb_put_u64(&b, 4, 7);
	pb_close(&b, at);
	pg_event_close(&b, e);
	expect_trace(&b, 0,
		     "only f: 'args={\"b\":true,\"d\":0.25,\"n\":null,\"p\":\"0xff\","
		     "\"j\":{\"a\": [1]},\"l\":{\"k\":[-5]},\"e\":null,"
		     "\"place\":{\"file\":\"a.c\",\"line\":7}}'");
}

TEST(nesting_without_end)
{
	struct strbuf b = STRBUF_INIT;
	struct pg_event e = pg_event_open(&b, PG_SEQ, 100, PG_INSTANT, 1, "f");
	size_t at = pb_open(&b, 4);

	put_nested(&b, 5000);
	pb_close(&b, at);
	pg_event_close(&b, e);
	expect_trace(&b, 0, "only f: at=100..100");
}

TEST(ends_add_to_what_their_begins_say)
{
	struct strbuf b = STRBUF_INIT;
	struct pg_event e = pg_event_open(&b, PG_SEQ, 100, PG_BEGIN, 1, "f");

	pg_arg_u64(&b, "in", 1);
	pg_event_close(&b, e);
	e = pg_event_open(&b, PG_SEQ, 200, PG_END, 1, NULL);
	pg_arg_u64(&b, "out", 2);
	pg_event_close(&b, e);
	expect_trace(&b, 0, "only f: 'args={\"in\":1,\"out\":2}'");
}

/* ---- sequences ---- */

static void put_named(struct strbuf *b, uint32_t flags, int64_t t_ns, uint64_t iid, const char *is)
{
	size_t packet = pg_open(b, PG_SEQ, t_ns), at;

	pb_put_u64(b, 13, flags);
	if (is) {
		at = pb_open(b, 12);
		pg_intern(b, 2, iid, is);
		pb_close(b, at);
	}
	at = pb_open(b, 11);
	pb_put_u64(b, 9, PG_INSTANT);
	pb_put_u64(b, 10, iid);
	pb_close(b, at);
	pg_close(b, packet);
}

TEST(a_cleared_state_is_gone)
{
	struct strbuf b = STRBUF_INIT;

	put_named(&b, 3, 100, 1, "a");
	put_named(&b, 2, 200, 1, NULL);
	put_named(&b, 1, 300, 1, "b");
	put_named(&b, 2, 400, 1, NULL);
	put_named(&b, 2, 500, 2, NULL);
	/* far away: not worth a table */
	put_named(&b, 2, 600, UINT64_MAX, "far");
	put_named(&b, 2, 700, 1 << 30, "off");
	put_named(&b, 2, 800, UINT64_MAX, NULL);
	expect_trace(&b, 0,
		     "W_UNKNOWN_REFERENCE=1 only a#1: at=200..200 b#1: at=400..400 '': at=500..500 "
		     "far#1: at=800..800 off: at=700..700");
}

TEST(lost_packets)
{
	struct strbuf b = STRBUF_INIT;
	size_t at;

	put_named(&b, 3, 100, 1, "a");
	at = pg_open(&b, PG_SEQ, -1);
	pb_put_u64(&b, 42, 1);
	pg_close(&b, at);
	put_named(&b, 2, 200, 1, NULL); /* its name may have changed */
	put_named(&b, 0, 250, 1, NULL); /* says that it needs none */
	put_named(&b, 3, 300, 1, "b");
	expect_trace(&b, 0, "input.spans=3 W_LOST_EVENTS=2 only a#1: at=250..250 b: at=300..300");
}

TEST(what_the_recorder_lost)
{
	struct strbuf b = STRBUF_INIT;

	pg_slice(&b, 100, 200, 1, "f");
	for (int turn = 1; turn <= 2; turn++) { /* the second one has all */
		size_t packet = pg_open(&b, 0, -1), at = pb_open(&b, 35), in = pb_open(&b, 1);

		pb_put_u64(&b, 3, 5 * (uint64_t)turn);
		pb_put_u64(&b, 18, 2);
		pb_put_u64(&b, 19, 1);
		pb_close(&b, in);
		pb_close(&b, at);
		pg_close(&b, packet);
	}
	expect_trace(&b, 0, "W_LOST_EVENTS=13 only");
}

TEST(contents_that_are_not_read_are_listed)
{
	struct strbuf b = STRBUF_INIT;
	READING rd;

	pg_slice(&b, 100, 200, 1, "f");
	for (int i = 0; i < 3; i++) {
		size_t at = pg_open(&b, PG_SEQ, 100);

		pb_put_str(&b, i < 2 ? 39 : 66, "");
		pg_close(&b, at);
	}
	rd = read_bytes("perfetto", b.buf, b.len);
	strbuf_release(&b);
	expect_read(&rd, 0, "W_IGNORED_RECORD=3 only");
	assert_string_equal(warning_text(rd.m, W_IGNORED_RECORD),
			    "packets whose content is not read, by field: 39 (2), 66 (1)");
}

/* ---- clocks ---- */

static void put_snapshot(struct strbuf *b, uint32_t seq, uint32_t a, uint64_t a_ns, uint32_t c,
			 uint64_t c_ns)
{
	size_t packet = pg_open(b, seq, -1), at = pb_open(b, 6);

	pg_clock(b, a, a_ns, false, 0);
	pg_clock(b, c, c_ns, false, 0);
	pb_close(b, at);
	pg_close(b, packet);
}

static void put_of_clock(struct strbuf *b, uint32_t seq, uint32_t clock, uint64_t t, const char *is)
{
	struct pg_event e = { pg_open(b, seq, (int64_t)t), 0 };

	pb_put_u64(b, 58, clock);
	e.event = pb_open(b, 11);
	pb_put_u64(b, 9, PG_INSTANT);
	pb_put_str(b, 23, is);
	pg_event_close(b, e);
}

/* By the last snapshot before, wherever it stands; 64 and up belong to their sequence. */
TEST(clocks_are_joined_by_snapshots)
{
	struct strbuf b = STRBUF_INIT;

	put_of_clock(&b, 1, 3, 1500, "late");
	put_of_clock(&b, 1, 3, 400, "before");
	put_of_clock(&b, 1, 64, 50, "mine");
	put_of_clock(&b, 2, 64, 50, "other");
	put_of_clock(&b, 1, 6, 77, "boot");
	put_of_clock(&b, 1, 100, 5, "nowhere");
	put_snapshot(&b, 1, 3, 500, 6, 10500);
	put_snapshot(&b, 1, 3, 1000, 6, 11007);
	put_snapshot(&b, 1, 64, 0, 6, 20000);
	put_snapshot(&b, 2, 64, 10, 3, 1010); /* by way of MONOTONIC */
	expect_trace(&b, 0,
		     "clock=boottime W_BAD_EVENT=1 only late: at=11507..11507 "
		     "before: at=10400..10400 mine: at=20050..20050 other: at=11057..11057 "
		     "boot: at=77..77");
}

TEST(a_trace_of_another_clock)
{
	struct strbuf b = STRBUF_INIT;

	put_of_clock(&b, 1, 3, 1500, "a");
	expect_trace(&b, 0, "clock=monotonic only a: at=1500..1500");
	b = (struct strbuf)STRBUF_INIT;
	put_of_clock(&b, 1, 1, 1500, "a");
	expect_trace(&b, 0, "clock=realtime only a: at=1500..1500");
}

/* ---- flows ---- */

static void put_flow(struct strbuf *b, int64_t t_ns, const char *name, uint64_t id, bool ends)
{
	struct pg_event e = pg_event_open(b, PG_SEQ, t_ns, PG_INSTANT, 1, name);

	pb_put_i64(b, ends ? 48 : 47, id);
	pg_event_close(b, e);
}

TEST(flows_are_chains_in_time_until_they_end)
{
	static const int64_t from[] = { 100, 200, 400 }, to[] = { 200, 300, 500 };
	struct strbuf b = STRBUF_INIT;
	READING rd;

	put_flow(&b, 300, "c", 5, true);
	put_flow(&b, 100, "a", 5, false);
	put_flow(&b, 200, "b", 5, false);
	put_flow(&b, 400, "d", 5, false); /* a new one */
	put_flow(&b, 500, "e", 5, false);
	put_flow(&b, 600, "lone", 6, true);
	rd = read_bytes("perfetto", b.buf, b.len);
	strbuf_release(&b);
	expect_read(&rd, 0, "links=3 only");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(rd.m->spans.start_ns[rd.m->links.from[i]], from[i]);
		assert_int_equal(rd.m->spans.start_ns[rd.m->links.to[i]], to[i]);
	}
}

/* ---- older Chrome ---- */

TEST(legacy_phases)
{
	struct strbuf b = STRBUF_INIT;

	pg_phases(&b);
	expect_trace(&b, 0,
		     "input.spans=6 only begin: at=1000..9000 pid=7 tid=8 "
		     "whole: at=2000..7000 in=begin mark: in=whole "
		     "async: at=1000..3000 kind=annotation tid=none apart=other "
		     "other: at=1500..4000 point: kind=instant beside=other");
}

static void put_bound(struct strbuf *b, int64_t t_ns, char phase, const char *name, uint64_t tid,
		      uint64_t direction)
{
	struct pg_event e = pg_event_open(b, PG_SEQ, t_ns, 0, 0, name);
	size_t at = pb_open(b, 6);

	pb_put_u64(b, 2, (uint64_t)phase);
	if (phase == 'X')
		pb_put_u64(b, 3, 1);
	pb_put_u64(b, 8, 77);
	if (direction)
		pb_put_u64(b, 13, direction);
	pb_put_u64(b, 18, 7);
	pb_put_u64(b, 19, tid);
	pb_close(b, at);
	pg_event_close(b, e);
}

/* A flow begins at a slice, goes through another one by a point in it, and ends at a third. */
TEST(legacy_flows)
{
	struct strbuf b = STRBUF_INIT;
	READING rd;

	put_bound(&b, 1000, 'X', "from", 8, 2);
	put_bound(&b, 3000, 'B', "by", 9, 0);
	put_bound(&b, 3500, 't', NULL, 9, 0);
	put_bound(&b, 4000, 'E', NULL, 9, 0);
	put_bound(&b, 5000, 'X', "to", 8, 1);
	put_bound(&b, 9000, 'f', NULL, 8, 0); /* in no slice */
	rd = read_bytes("perfetto", b.buf, b.len);
	strbuf_release(&b);
	expect_read(&rd, 0, "input.spans=3 links=2 W_IGNORED_RECORD=1 only");
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(span_name(rd.m, rd.m->links.from[i]), i ? "by" : "from");
		assert_string_equal(span_name(rd.m, rd.m->links.to[i]), i ? "to" : "by");
	}
}

/* Times as deltas of µs since what the thread's descriptor says. */
TEST(legacy_times)
{
	struct strbuf b = STRBUF_INIT;
	size_t packet = pg_open(&b, PG_SEQ, -1), at = pb_open(&b, 44);

	pb_put_u64(&b, 1, 7);
	pb_put_u64(&b, 2, 8);
	pb_put_str(&b, 5, "old");
	pb_put_u64(&b, 6, 1000);
	pb_close(&b, at);
	pg_close(&b, packet);
	for (int i = 0; i < 2; i++) {
		packet = pg_open(&b, PG_SEQ, -1);
		at = pb_open(&b, 11);
		pb_put_u64(&b, 1, 5);
		pb_put_u64(&b, 9, i ? PG_END : PG_BEGIN);
		pb_put_str(&b, 23, "f");
		pb_close(&b, at);
		pg_close(&b, packet);
	}
	expect_trace(&b, 0, "clock=monotonic only f: at=1005000..1010000 pid=7 tid=8 track=old");
}

/* ---- damage ---- */

TEST(cut_files)
{
	struct strbuf b = STRBUF_INIT;
	size_t whole;

	pg_slice(&b, 100, 200, 1, "f");
	whole = b.len;
	pg_slice(&b, 300, 400, 1, "g");
	b.len = whole + 5;
	expect_trace(&b, READ_PARTIAL, "W_TRUNCATED=1 only f: at=100..200");
}

TEST(bad_packets_are_left_out)
{
	struct strbuf b = STRBUF_INIT;
	READING rd;

	pg_slice(&b, 100, 200, 1, "f");
	pb_put_bytes(&b, 1, "\x5a\x7f\x01", 3); /* a length that leads behind the end */
	pb_put_bytes(&b, 1, "\x40", 1);         /* a number that is cut off */
	pg_slice(&b, 300, 400, 1, "g");
	rd = read_bytes("perfetto", b.buf, b.len);
	strbuf_release(&b);
	expect_read(&rd, 0, "W_BAD_EVENT=2 only f: at=100..200 g: at=300..400");
	assert_true(strstr(warning_text(rd.m, W_BAD_EVENT), "at byte ") != NULL);
}

TEST(compressed_packets_that_are_damaged_or_nested)
{
	struct strbuf b = STRBUF_INIT, in = STRBUF_INIT, twice = STRBUF_INIT;
	size_t at;

	pg_slice(&in, 100, 200, 1, "f");
	pg_compressed(&twice, &in);
	pg_compressed(&b, &twice);
	at = pg_open(&b, 0, -1);
	pb_put_bytes(&b, 50, "\x78\x01nonsense", 10);
	pg_close(&b, at);
	pg_compressed(&b, &in);
	strbuf_release(&in);
	strbuf_release(&twice);
	expect_trace(&b, 0, "input.spans=1 W_BAD_EVENT=2 only f: at=100..200");
}

TEST(packets_that_zstd_compressed)
{
	struct strbuf b = STRBUF_INIT, in = STRBUF_INIT;
	char packed[4096];
	size_t n, at;

	pg_slice(&in, 100, 200, 1, "f");
	for (int i = 0; i < 1000; i++)
		pg_slice(&in, 300 + 2 * i, 301 + 2 * i, 1, "g");
	n = ZSTD_compress(packed, sizeof(packed), in.buf, in.len, 19);
	assert_false(ZSTD_isError(n));
	strbuf_release(&in);
	for (int i = 0; i < 2; i++) { /* the second one is cut */
		at = pg_open(&b, 0, -1);
		pb_put_bytes(&b, 133, packed, i ? n / 2 : n);
		pg_close(&b, at);
	}
	expect_trace(&b, 0, "W_BAD_EVENT=1 f: at=100..200 g#999: at=2298..2299");
}

TEST(empty_and_foreign_files)
{
	READING rd = read_text("perfetto", "{\"traceEvents\":[]}");

	assert_int_equal(rd.r, -EINVAL);
	assert_true(strstr(rd.err.msg, "no packet at the start") != NULL);
	expect_text("perfetto", "", 0, "W_EMPTY_INPUT=1 only");
}

/* JSON under this name is Trace Event Format, and a short text nothing. */
TEST(names_are_not_believed)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = fs_join(dir, "a.pftrace");
	const char *json = "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"f\"}]}";
	const struct reader *found = NULL;

	assert_int_equal(fs_write_atomic(path, json, strlen(json), NULL), 0);
	assert_int_equal(reader_detect(path, &found, NULL), 0);
	assert_string_equal(found->name, "tef");
}
