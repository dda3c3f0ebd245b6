/*
 * Inputs on which another reader of AIU traces fails: it aborts, loses events or sizes, or writes
 * numbers that are wrong. Each row is a made input and what a reading of it has.
 */
#include "flex_text.h"
#include "readers_test.h"

#define STAMPS "\"TS1\":1,\"TS2\":2,\"TS3\":3,\"TS4\":1003,\"TS5\":1009"
#define EXEC(pid, ts) \
	"{\"name\":\"a Cmpt Exec\",\"ph\":\"X\",\"pid\":" pid ",\"tid\":7,\"ts\":" ts \
	",\"dur\":1,\"args\":{" STAMPS "}}"

/* ---- one event beside others ---- */

/* An event behind one of FLEX: the rest of the file is read, and what it becomes. */
TEST(odd_events)
{
	static const struct {
		const char *event, *want;
	} cases[] = {
		ROW("{'name':'o','ph':'X','pid':3,'tid':7,'ts':9,'dur':0}",
		    "only spans=2 W_ZERO_DURATION=1 o: at=9000..9000"),
		ROW("{'name':'o','ph':'X','pid':3,'tid':7,'ts':9,'dur':0,'args':{" STAMPS "}}",
		    "spans=2 W_ZERO_DURATION=1 o: on=queue"),
		ROW("{'name':'o','ph':'B','pid':3,'tid':7,'ts':9},{'name':'i','ph':'B','pid':3,'"
		    "tid'"
		    ":7,'ts':10},{'name':'i','ph':'E','pid':3,'tid':7,'ts':11},{'name':'o','ph':'E'"
		    ","
		    "'pid':3,'tid':7,'ts':12}",
		    "only spans=3 o: at=9000..12000 i: in=o at=10000..11000"),
		ROW("{'name':'o','ph':'B','pid':3,'tid':7,'ts':9},{'name':'p','ph':'B','pid':4,'"
		    "tid'"
		    ":7,'ts':10},{'name':'o','ph':'E','pid':3,'tid':7,'ts':12},{'name':'p','ph':'E'"
		    ","
		    "'pid':4,'tid':7,'ts':13}",
		    "only spans=3 o: at=9000..12000 pid=3 p: at=10000..13000 pid=4"),
		ROW("{'name':'o','ph':'i','pid':3,'tid':7,'ts':9}", "only spans=2 o: at=9000"),
		ROW("{'name':'o','ph':'I','pid':3,'tid':7,'ts':9,'s':'g'}", "spans=2 o: at=9000"),
		ROW("{'name':'o','ph':'t','pid':3,'tid':7,'ts':9}", "only spans=1"),
		ROW("{'name':'o','ph':'n','pid':3,'tid':7,'ts':9,'id':1,'cat':'c'}", "spans=2"),
		ROW("{'name':'o','ph':'N','pid':3,'tid':7,'ts':9,'id':1}",
		    "only spans=1 W_IGNORED_RECORD=1"),
		ROW("{'name':'o','ph':'P','pid':3,'tid':7,'ts':9}", "spans=2 o: at=9000"),
		ROW("{'name':'o','ph':'?','pid':3,'tid':7,'ts':9}",
		    "only spans=1 W_IGNORED_RECORD=1"),
		ROW("{'name':'o','ph':'X','pid':'host a','tid':'main','ts':9,'dur':1}",
		    "only spans=2 o: at=9000..10000 on=thread track=main"),
		ROW("{'name':'o','ph':'X','pid':3,'tid':7,'ts':9,'dur':1,'args':{'TS1':5}}",
		    "only spans=2 W_CYCLE_STAMPS=1 o: at=9000..10000"),
		ROW("{'name':'o','ph':'X','pid':3,'tid':7,'ts':9,'dur':-1}",
		    "only spans=1 W_NEGATIVE_DURATION=1"),
		ROW("{'name':'process_name','ph':'M','pid':3,'args':{'name':'server'}}",
		    "only spans=1"),
		ROW("{}", "spans=1"),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *odd = xstrdup(cases[i].event);
		CLEANUP(xfreep) char *text = NULL;

		for (char *p = odd; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		text = xasprintf("[" EXEC("2", "1") ",%s]", odd);
		READING rd = read_text("tef", text);
		expect_read(&rd, 0, cases[i].want);
		expect_model(rd.m, "'a Cmpt Exec': kind=kernel rank=2 device=gpu2");
	}
}

/* ---- devices and processes ---- */

/* Files of PyTorch have no entry of deviceProperties, one, or one of each device; and 8 streams. */
TEST(any_number_of_devices)
{
	static const int counts[] = { 0, 1, 4, 8 };

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addstr(&sb, "{\"schemaVersion\":1,\"deviceProperties\":[");
		for (int d = 0; d < counts[i]; d++)
			strbuf_addf(&sb, "%s{\"id\":%d,\"name\":\"GPU %d\"}", d ? "," : "", d, d);
		strbuf_addstr(&sb, "],\"traceEvents\":[");
		for (int s = 0; s < 8; s++)
			strbuf_addf(&sb,
				    "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,"
				    "\"tid\":%d,\"ts\":%d,\"dur\":1,\"args\":{\"device\":0,"
				    "\"stream\":%d}}",
				    s ? "," : "", s, s + 7, s, s + 7);
		strbuf_addstr(&sb, "]}");
		READING rd = read_text("tef", sb.buf);
		expect_read(&rd, 0, "spans=8 k0: kind=kernel device=gpu0 apart=k1 k7: tid=14");
		assert_int_equal(rd.m->facts.devices.nr, counts[i]);
	}
}

/* Events of several processes in one file stay those of their process. */
TEST(pids_are_kept)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);

	flex_work(&ft, 4, 7, "a Cmpt Exec", 1000, 2000, "");
	flex_work(&ft, 0, 7, "b Cmpt Exec", 1000, 2000, "");
	flex_work(&ft, 9, 7, "c Cmpt Exec", 1500, 2500, "");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0,
		    "only spans=3 'a Cmpt Exec': device=gpu4 rank=4 'b Cmpt Exec': device=gpu0 "
		    "rank=0 'c Cmpt Exec': device=gpu9 rank=9");
}

/* ---- numbers ---- */

TEST(sizes_are_kept)
{
	static const char *const keys[] = { "Bytes", "bytes" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
		CLEANUP(xfreep) char *more = xasprintf(",\"%s\":\"524288\"", keys[i]);

		flex_work(&ft, 0, 7, "a DmaI", 1000, 3000, more);
		READING rd = read_text("tef", flex_end(&ft));
		assert_int_equal(facts_copy(rd.m, span_at(rd.m, "a DmaI"))->bytes, 524288);
	}
}

/* 150 W, which no card draws, is not known: no value, and a warning, in place of 0 W. */
TEST(power_is_missing_and_not_zero)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);

	for (int64_t i = 0; i < 20; i++) {
		CLEANUP(xfreep)
		char *more = xasprintf(",\"Power\":%" PRId64, 7 + i * 150 * 512 / 12 * 1000);

		flex_work(&ft, 0, 7, "a Cmpt Exec", i * 1000000 + 1000, i * 1000000 + 100000, more);
	}
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "only W_POWER_UNKNOWN=1 series=0");
}

/* What is wrong says where it is; what could be read before it is there. */
TEST(errors_have_a_place)
{
	static const struct refused cases[] = {
		{ "[{\"ph\":\"X\",", -EINVAL, "byte 1: no event could be read" },
		{ "x" EXEC("1", "1"), -EINVAL, "byte 0" },
	};
	READING cut = read_text("tef", "[" EXEC("1", "1") ",{\"name\":\"b\",\"ph\":");
	READING bad =
		read_text("tef", "[" EXEC("1", "1") ",{\"name\":\"b Cmpt Exec\",\"ph\":\"X\","
						    "\"pid\":1,\"tid\":7,\"ts\":\"x\",\"dur\":1}]");

	expect_refused("tef", cases, ARRAY_LEN(cases));
	assert_int_equal(cut.m->spans.nr, 1);
	assert_true(cut.m->inputs.v[0].partial || cut.m->warnings.nr > 0);
	assert_int_equal(bad.m->spans.nr, 1);
	assert_int_equal(bad.m->warnings.nr, 1);
	assert_non_null(strstr(bad.m->warnings.v[0].text, "byte"));
}

/* Names do not depend on the run: no hashes, and what differs stays apart. */
TEST(names_are_those_of_the_file)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);

	for (int64_t i = 0; i < 200; i++) {
		CLEANUP(xfreep) char *name = xasprintf("job_%" PRId64 " Cmpt Exec", i);

		flex_work_on(&ft, 0, "7", name, i * 10000, i * 10000 + 5000, "");
	}
	READING a = read_text("tef", flex_end(&ft));
	READING b = read_text("tef", ft.end.buf);

	assert_int_equal(a.m->spans.nr, 200);
	for (size_t i = 0; i < 200; i++) {
		CLEANUP(xfreep) char *name = xasprintf("job_%zu Cmpt Exec", i);

		assert_string_equal(model_str(a.m, a.m->spans.name[i]), name);
		assert_string_equal(model_str(b.m, b.m->spans.name[i]), name);
	}
}
