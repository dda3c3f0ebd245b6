/* The dialect of FLEX. Numbers are of aiu-trace-analyzer's own test data, and made ones. */
#include "flex_text.h"
#include "readers_test.h"

#include "profrig/base/fs.h"

static bool is_flex(const struct model *m)
{
	return strcmp(m->inputs.v[0].format, "Trace Event Format (FLEX)") == 0;
}

/* ---- the dialect ---- */

TEST(signs)
{
	static const struct {
		const char *text;
		bool flex;
		int64_t confidence;
	} cases[] = {
		ROW("[{'ph':'X','name':'a','pid':0,'tid':1,'ts':1,'dur':1,'args':{'TS1':'1','TS2':"
		    "'2','TS3':'3','TS4':'4','TS5':'5'}}]",
		    true, 70),
		ROW("[{'ph':'X','name':'a Cmpt Exec','pid':0,'tid':1,'ts':1,'dur':1,'attr':{'TS1':"
		    "'1','TS2':'2','TS3':'3','TS4':'4','TS5':'5','Power':'0x7'}}]",
		    true, 100),
		ROW("[{'ph':'X','name':'a DmaI','pid':0,'tid':1,'ts':1,'dur':1},{'ph':'X','name':"
		    "'a Cmpt Prep','pid':0,'tid':1,'ts':2,'dur':1},{'ph':'X','name':'a Cmpt Exec',"
		    "'pid':0,'tid':1,'ts':3,'dur':1},{'ph':'X','name':'a DmaO','pid':0,'tid':1,"
		    "'ts':4,'dur':1}]",
		    true, 20),
		/* what others may write */
		ROW("[{'ph':'X','name':'a Cmpt Exec','pid':0,'tid':1,'ts':1,'dur':1}]", false, 0),
		ROW("[{'ph':'X','name':'a','pid':0,'tid':1,'ts':1,'dur':1,'args':{'TS1':'1'}}]",
		    false, 0),
		ROW("[{'ph':'X','name':'a','pid':0,'tid':1,'ts':1,'dur':1,'args':{'Power':'1'}}]",
		    false, 0),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xstrdup(cases[i].text);

		for (char *p = text; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		READING rd = read_text("tef", text);
		if (is_flex(rd.m) != cases[i].flex)
			ROW_FAIL(i, "%s", rd.m->inputs.v[0].format);
		if (cases[i].flex)
			assert_int_equal(fact(rd.m, "dialect_confidence"), cases[i].confidence);
	}
}

/* A program may run on the host for long before it uses a device. */
TEST(late_signs)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);

	for (int64_t i = 0; i < 5000; i++)
		flex_host(&ft, 3, 5, "wait", i * 1000, i * 1000 + 500);
	for (int64_t i = 0; i < 4; i++)
		flex_work(&ft, 3, 7, "add Cmpt Exec", 6000000 + i * 1000, 6000500 + i * 1000, "");
	READING rd = read_text("tef", flex_end(&ft));
	assert_true(is_flex(rd.m));
	expect_model(rd.m, "spans=5004 wait: rank=3 pid=3 on=thread 'add Cmpt Exec': rank=3 "
			   "device=gpu3 kind=kernel work=1 tid=7");
}

TEST(overridden)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
	struct read_opts o = { .dialect = "chrome" };
	CLEANUP(model_freep) struct model *plain = model_new();
	CLEANUP(model_freep) struct model *forced = model_new();
	CLEANUP(xfreep) char *path = NULL;

	flex_work(&ft, 0, 7, "add Cmpt Exec", 1000, 2000, "");
	flex_end(&ft);
	path = temp_file(ft.end.buf, ft.end.len);
	assert_int_equal(reader_find("tef")->read(path, model_sink(plain), &o, NULL), 0);
	model_finish(plain);
	expect_model(plain, "format='Trace Event Format' 'add Cmpt Exec': on=thread kind=host");
	o.dialect = "flex";
	assert_int_equal(reader_find("tef")->read("tests/fixtures/tef/chrome.json",
						  model_sink(forced), &o, NULL),
			 0);
	model_finish(forced);
	assert_true(is_flex(forced));
	unlink(path);
}

/* PyTorch's profiler on AIUs: Kineto's spans, with stamps. */
TEST(torch_spyre)
{
	static const char text[] =
		"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":1,\"name\":\"Unnamed\"}],"
		"\"distributedInfo\":{\"rank\":3},\"traceEvents\":[{\"ph\":\"X\",\"cat\":"
		"\"kernel\","
		"\"name\":\"mm_1\",\"pid\":1,\"tid\":0,\"ts\":5,\"dur\":1,\"args\":{\"device\":1,"
		"\"stream\":2,\"correlation\":4,\"TS1\":\"0xfffffff0\",\"TS2\":\"0xfffffff0\","
		"\"TS3\":"
		"\"0xfffffff8\",\"TS4\":\"500\",\"TS5\":\"506\",\"Power\":\"7\"}},{\"ph\":\"X\","
		"\"cat\":"
		"\"privateuse1_runtime\",\"name\":\"launch\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":"
		"1,"
		"\"args\":{\"correlation\":4}}]}";
	READING rd = read_text("tef", text);
	const struct stamp_facts *s = facts_stamp(rd.m, span_at(rd.m, "mm_1"));

	expect_read(
		&rd, 0,
		"only format='Trace Event Format (Kineto, torch-spyre)' links=1 mm_1: kind=kernel "
		"device=gpu1 rank=3 at=5000..6000 tid=2 launch: on=thread");
	assert_int_equal(fact(rd.m, "dialect_confidence"), 75);
	assert_int_equal(s->phase, PHASE_EXEC);
	assert_int_equal(s->cycles[3] - s->cycles[2], 508);
	/* devices are described as AIUs, and their work has no stamps yet */
	READING described = read_text(
		"tef",
		"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"IBM AIU\"}],"
		"\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
		"\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"stream\":1}}]}");
	expect_read(&described, 0,
		    "format='Trace Event Format (Kineto, torch-spyre)' k: kind=kernel");
}

/* ---- ranks ---- */

TEST(ranks)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
	CLEANUP(xfreep) char *name = xasprintf("/tmp/profrig-test-%d-Rank_12.json", getpid());
	CLEANUP(xfreep) char *text = NULL;

	for (int64_t pid = 0; pid < 4; pid++) {
		flex_work(&ft, pid, 7, "add Cmpt Exec", 1000 + pid, 2000, "");
		flex_host(&ft, pid, 5, "call", 500 + pid, 700);
	}
	READING rd = read_text("tef", flex_end(&ft));
	expect_model(rd.m, "'add Cmpt Exec#2': rank=2 device=gpu2 call#3: rank=3 pid=3 call#0: "
			   "rank=0 apart=call#1");
	/* a rank that the file or its name tells is that of all */
	assert_int_equal(fs_write_atomic(name, ft.end.buf, ft.end.len, NULL), 0);
	READING named = read_path("tef", name, false);
	expect_model(named.m, "'add Cmpt Exec#2': rank=12 device=gpu2 call#3: rank=12 pid=3");
	unlink(name);
	text = xasprintf("{\"distributedInfo\":{\"rank\":5},\"traceEvents\":%s}", ft.end.buf);
	READING stated = read_text("tef", text);
	assert_true(is_flex(stated.m));
	expect_model(stated.m, "'add Cmpt Exec#2': rank=5 call#3: rank=5");
}

/* ---- phases and clocks ---- */

TEST(phases)
{
	for (int pairs = 0; pairs < 2; pairs++) {
		FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560, .zero = 0xfffffff0, .pairs = pairs);

		flex_work(&ft, 0, 15514734831341844875, "a DmaI", 1000, 3000, ",\"Bytes\":\"64\"");
		flex_work(&ft, 0, 8, "a Cmpt Prep", 3000, 5000, "");
		flex_work(&ft, 0, 9, "a Cmpt Exec", 5000, 9000, "");
		flex_work(&ft, 0, 10, "a DmaO", 9000, 12000, ",\"Bytes\":128");
		flex_work(&ft, 0, 11, "SenRdmaSend_1 [sync=x] DmaO", 9500, 13000, "");
		flex_work(&ft, 0, 11, "other", 20000, 21000, "");
		READING rd = read_text("tef", flex_end(&ft));
		const struct model *m = rd.m;
		const struct stamp_facts *s = facts_stamp(m, span_at(m, "a Cmpt Exec"));

		expect_read(&rd, 0,
			    "'a DmaI': kind=copy at=1000..3000 track=15514734831341844875 on=queue "
			    "'a Cmpt Prep': kind=annotation work=0 tid=8 at=3000..5000 "
			    "'a Cmpt Exec': kind=kernel at=5000..9000 device=gpu0 "
			    "'a DmaO': kind=copy at=9000..12000 "
			    "'SenRdmaSend_1 [sync=x] DmaO': kind=kernel at=9500..13000 "
			    "other: kind=annotation at=20000..21000 ~preparing.gpu0: samples=2 "
			    "kind=gauge v[0]=1 t[0]=3000 v[1]=0 t[1]=5000");
		assert_int_equal(facts_copy(m, span_at(m, "a DmaI"))->direction, COPY_H2D);
		assert_int_equal(facts_copy(m, span_at(m, "a DmaO"))->bytes, 128);
		assert_int_equal(s->phase, PHASE_EXEC);
		assert_int_equal(s->host_ns, 4000);
		/* 0xfffffff0 + 2800 cycles have passed 2^32, once */
		assert_int_equal(s->cycles[3] - s->cycles[2], 2240);
		assert_int_equal(facts_stamp(m, span_at(m, "a DmaO"))->cycles[3] - s->cycles[3], 0);
	}
}

/* Turns that no event sees are counted, and stamps of all events follow the host's time. */
TEST(turns)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 557.05, .zero = 4000000000);
	int64_t t[] = { 1000000, 5000000, INT64_C(60000000000), INT64_C(60001000000) };

	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		flex_work(&ft, 0, 7, "a Cmpt Exec", t[i], t[i] + 400000, "");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "only spans=4");
	for (size_t i = 1; i < ARRAY_LEN(t); i++) {
		double d =
			(double)(facts_stamp(rd.m, i)->cycles[2] - facts_stamp(rd.m, 0)->cycles[2]);

		assert_true(fabs(d - (double)(t[i] - t[0]) * 557.05e-3) < 2);
	}
}

/* Where the host's durations are longer than the work, those of the cycles count. */
TEST(host_overhead)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 500);

	for (int64_t i = 0; i < 20; i++)
		flex_work(&ft, 0, 7, "a Cmpt Exec", i * 100000 + 1000, i * 100000 + 51000, "");
	/* the last one began 5 µs earlier by the host */
	flex_event(
		&ft, 0, "7", "late Cmpt Exec", 2995000, 3010000,
		"\"TS1\":\"1500000\",\"TS2\":\"1500000\",\"TS3\":\"1500000\",\"TS4\":\"1505000\","
		"\"TS5\":\"1505006\"");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "'late Cmpt Exec': at=3000000..3010000");
}

/* ---- overlap ---- */

/* Eight cases of events on one thread: what overlaps without nesting lies in other rows. */
TEST(lanes)
{
	static const struct {
		const char *name;
		int64_t start, end;
	} events[] = {
		{ "Comp", 1, 11 },   { "3.2", 41, 45 },   { "3.1", 40, 50 },   { "4.1", 60, 65 },
		{ "4.2", 61, 70 },   { "5.1", 80, 85 },   { "5.2", 81, 90 },   { "6.1", 100, 110 },
		{ "6.2", 105, 115 }, { "6.3", 103, 113 }, { "7.1", 120, 125 }, { "7.2", 120, 130 },
		{ "8.1", 140, 160 }, { "8.2", 145, 155 }, { "8.3", 150, 158 }, { "8.4", 151, 154 },
		{ "8.5", 153, 157 },
	};
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);

	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		flex_event(&ft, 0, "0", events[i].name, events[i].start * 1000,
			   events[i].end * 1000, "");
	flex_work(&ft, 0, 0, "w Cmpt Exec", 1000, 3000, "");
	flex_work(&ft, 0, 0, "v Cmpt Exec", 2000, 4000, "");
	flex_work(&ft, 0, 0, "u Cmpt Exec", 3000, 4000, "");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(
		&rd, 0,
		"spans=20 W_SPAN_OVERLAP=0 4.1: track='thread 0' in=none 4.2: track='0 #2' "
		"5.2: track='0 #2' 6.3: track='0 #2' 8.3: track='0 #2' 8.5: track='0 #2' in=8.3 "
		"6.2: track='0 #3' 8.4: track='thread 0' in=8.2 7.1: in=7.2 3.2: in=3.1 "
		"'w Cmpt Exec': device=gpu0 apart='v Cmpt Exec' beside='u Cmpt Exec' "
		"'v Cmpt Exec': track='0 #2' on=queue");
}

/* ---- transfers ---- */

#define SYNC(text) "[sync=AllReduce_all_reduce_4_" text "]"
#define TO(peer, type) \
	",\"Bytes\":\"64\",\"CollGroup\":\"AllReduce_all_reduce_4\",\"Peer\":\"" #peer \
	"\",\"Type\":\"" type "\""

static bool linked(const struct model *m, const char *from, const char *to)
{
	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.from[i] == model_span(m, from) && m->links.to[i] == model_span(m, to))
			return m->links.kind[i] == LINK_FLOW;
	return false;
}

/* A chain 0 → 1 → 2, whose end is sent to both; twice, with equal texts. */
TEST(transfers)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);
	const struct collective_facts *f;

	for (int64_t k = 0; k < 2; k++) {
		int64_t t = k * 1000000 + 1000;

		flex_work(&ft, 0, 9, "SenRdmaSend_1 " SYNC("s0_r1_0") " DmaO", t, t + 50,
			  TO(1, "SingleCast"));
		flex_work(&ft, 1, 8, "SenRdmaReceive_1 [64B] " SYNC("s0_r1_0") " DmaI", t, t + 60,
			  TO(0, "WDone Barrier"));
		flex_work(&ft, 1, 9, "SenRdmaSend_2 " SYNC("s1_r2_2") " DmaO", t + 100, t + 150,
			  TO(2, "SingleCast"));
		flex_work(&ft, 2, 8, "SenRdmaReceive_2 [64B] " SYNC("s1_r2_2") " DmaI", t + 100,
			  t + 160, TO(1, "WDone Barrier"));
		flex_work(&ft, 2, 9, "SenRdmaSend_3 - Set BcList " SYNC("s2_r0x3_4") " DmaO",
			  t + 200, t + 210, TO(0, "Set BCList"));
		flex_work(&ft, 2, 9, "Xseg to rank 0 SenRdmaSend_3 " SYNC("s2_r0x3_4") " DmaO",
			  t + 210, t + 220, TO(0, "MultiCast XSEG"));
		flex_work(&ft, 2, 9, "Xseg to rank 1 SenRdmaSend_3 " SYNC("s2_r0x3_4") " DmaO",
			  t + 220, t + 230, TO(1, "MultiCast XSEG"));
		flex_work(&ft, 0, 8, "SenRdmaReceive_3 [64B] " SYNC("s2_r0x3_4") " DmaI", t + 200,
			  t + 300, TO(2, "WDone Barrier"));
		flex_work(&ft, 1, 8, "SenRdmaReceive_4 [64B] " SYNC("s2_r0x3_4") " DmaI", t + 200,
			  t + 310, TO(2, "WDone Barrier"));
	}
	/* a send without a receive */
	flex_work(&ft, 0, 9, "SenRdmaSend_9 " SYNC("s0_r7_0") " DmaO", 5000000, 5000050,
		  TO(7, "SingleCast"));
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "only spans=19 links=8 fact.transfers_unmatched=1");
	assert_true(linked(rd.m, "SenRdmaSend_1 " SYNC("s0_r1_0") " DmaO",
			   "SenRdmaReceive_1 [64B] " SYNC("s0_r1_0") " DmaI"));
	assert_true(linked(rd.m, "SenRdmaSend_2 " SYNC("s1_r2_2") " DmaO#1",
			   "SenRdmaReceive_2 [64B] " SYNC("s1_r2_2") " DmaI#1"));
	assert_true(linked(rd.m, "Xseg to rank 1 SenRdmaSend_3 " SYNC("s2_r0x3_4") " DmaO#1",
			   "SenRdmaReceive_4 [64B] " SYNC("s2_r0x3_4") " DmaI#1"));
	f = facts_collective(rd.m,
			     span_at(rd.m, "SenRdmaReceive_2 [64B] " SYNC("s1_r2_2") " DmaI"));
	assert_int_equal(f->from, 1);
	assert_int_equal(f->to, 2);
	assert_int_equal(f->bytes, 64);
	assert_string_equal(model_str(rd.m, f->group), "AllReduce_all_reduce_4");
	assert_string_equal(model_str(rd.m, f->name), "recv");
}

/* ---- what is wrong ---- */

TEST(bad_events)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);

	flex_event(&ft, 0, "0", "ZeroA", 170000, 170000, "");
	flex_event(&ft, 0, "5", "ZeroB", 180000, 180000, "");
	flex_event(
		&ft, 0, "0", "ZeroC", 190000, 190000,
		"\"TS1\":\"100\",\"TS2\":\"200\",\"TS3\":\"300\",\"TS4\":\"400\",\"TS5\":\"500\"");
	strbuf_addstr(&ft.sb,
		      ",{\"name\":\"Neg\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":30,\"dur\":"
		      "-10}");
	flex_event(&ft, 0, "1", "half Cmpt Exec", 200000, 201000, "\"TS1\":\"7\"");
	flex_event(&ft, 0, "1", "back Cmpt Exec", 202000, 203000,
		   "\"TS1\":\"9\",\"TS2\":\"8\",\"TS3\":\"10\",\"TS4\":\"11\",\"TS5\":\"12\"");
	flex_event(&ft, 0, "1", "word Cmpt Exec", 204000, 205000,
		   "\"TS1\":\"0x1g\",\"TS2\":\"8\",\"TS3\":\"10\",\"TS4\":\"11\",\"TS5\":\"12\"");
	flex_event(&ft, 0, "1", "same Cmpt Exec", 206000, 207000,
		   "\"TS1\":\"9\",\"TS2\":\"9\",\"TS3\":\"9\",\"TS4\":\"9\",\"TS5\":\"9\"");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0,
		    "only spans=7 W_ZERO_DURATION=3 W_NEGATIVE_DURATION=1 W_CYCLE_STAMPS=2 "
		    "W_BAD_NUMBER=1 W_DEVICE_CLOCK=1 ZeroC: at=189600..190000 on=queue "
		    "'half Cmpt Exec': kind=kernel at=200000..201000 'back Cmpt Exec': "
		    "at=202000..203000 'word Cmpt Exec': on=thread 'same Cmpt Exec': "
		    "at=206000..207000");
	assert_null(facts_stamp(rd.m, span_at(rd.m, "half Cmpt Exec")));
	assert_non_null(strstr(warning_text(rd.m, W_ZERO_DURATION), "1 of them"));
}

/* A begin without stamps has those of its end; without an end it lasts as long as its thread. */
TEST(pairs)
{
	READING rd = read_text(
		"tef",
		"[{\"name\":\"a Cmpt Exec\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":1},"
		"{\"name\":\"a Cmpt "
		"Exec\",\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":2,\"args\":{\"TS1\":"
		"1,\"TS2\":2,\"TS3\":1000,\"TS4\":2000,\"TS5\":2006}},"
		"{\"name\":\"b\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3},"
		"{\"name\":\"c\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":4,\"dur\":1},"
		"{\"name\":\"c\",\"ph\":\"E\",\"pid\":1,\"tid\":4,\"ts\":4},"
		"{\"name\":\"m\",\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":9},"
		"{\"name\":\"n\",\"ph\":\"t\",\"pid\":1,\"tid\":2,\"ts\":9,\"id\":1},"
		"{\"name\":\"N\",\"ph\":\"N\",\"pid\":\"word\",\"tid\":2,\"ts\":9,\"id\":1}]");

	expect_read(&rd, 0,
		    "spans=4 'a Cmpt Exec': kind=kernel device=gpu1 W_OPEN_SPAN=1 W_STRAY_LEAVE=1 "
		    "W_IGNORED_RECORD=1 b: at=3000..9000 c: in=b at=4000..5000 m: at=9000");
	assert_int_equal(facts_stamp(rd.m, span_at(rd.m, "a Cmpt Exec"))->cycles[3], 2000);
}

/* ---- series ---- */

/* A counter of 12/512 µJ at a constant power; it wraps on the way. */
TEST(constant_power)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 560);
	const struct series *s = NULL;

	for (int64_t i = 0; i < 60; i++) {
		int64_t end = 100000 + i * 1000000;
		uint64_t energy =
			4294000000 + (uint64_t)llround(20.0 * 512 / 12 * (double)end / 1e3);
		CLEANUP(xfreep)
		char *more = xasprintf(",\"Power\":\"%" PRIu64 "\"", energy & UINT32_MAX);

		flex_work(&ft, 0, 7, "a Cmpt Exec", end - 90000, end, more);
	}
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "only series=1 ~power.gpu0: unit=W kind=gauge device=gpu0");
	s = &rd.m->series.v[0];
	assert_true(s->change_points && s->ends);
	assert_in_range(s->value.nr, 2, 60);
	for (size_t i = 0; i < s->value.nr; i++)
		assert_true(fabs(s->value.v[i] - 20) < 1e-3);
	assert_int_equal(s->t_ns.v[0], 100000);
	assert_int_equal(s->t_ns.v[s->t_ns.nr - 1], 59100000);
}

/* Of intervals: 10 W, none counted, more than a card takes, no value, 30 W. */
TEST(power_that_is_unknown)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);
	double w[] = { 10, 0, 500, 5, 30, 30 };
	bool has[] = { true, true, true, false, true, true, true };
	double e = 5;

	for (int64_t i = 0; i < 7; i++) {
		CLEANUP(xfreep) char *more = xasprintf(",\"Power\":%.0f", has[i] ? e : 0);

		flex_work(&ft, 0, 7, "a Cmpt Exec", i * 120000 + 1000, i * 120000 + 100000, more);
		if (i < 6)
			e += w[i] * 512 / 12 * 120;
	}
	READING rd = read_text("tef", flex_end(&ft));
	/* 500 W and 5 W make one interval without a value between; it ends what was before */
	expect_read(&rd, 0,
		    "only W_POWER_UNKNOWN=1 ~power.gpu0: samples=5 v[0]=10 t[0]=100000 v[1]=0 "
		    "t[1]=220000 v[2]=0 t[2]=340000 v[3]=30 t[3]=580000 v[4]=30 t[4]=820000");
}

/* A gap in which the counter may have turned unseen tells no power. */
TEST(power_gap)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);

	flex_work(&ft, 0, 7, "a Cmpt Exec", 1000, 100000, ",\"Power\":1000");
	flex_work(&ft, 0, 7, "a Cmpt Exec", 1099900000, 1100000000, ",\"Power\":5000");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0, "only W_POWER_UNKNOWN=1 series=0");
}

/* An embedded interval ends before the one around it. */
TEST(preparing)
{
	FLEX_TEXT ft = FLEX_TEXT_INIT(.mhz = 1000);
	static const int64_t v[][2] = { { 0, 10 }, { 2, 5 }, { 3, 12 }, { 20, 22 } };

	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		flex_work(&ft, 0, 7, "a Cmpt Prep", v[i][0] * 1000, v[i][1] * 1000, "");
	READING rd = read_text("tef", flex_end(&ft));
	expect_read(&rd, 0,
		    "~preparing.gpu0: samples=8 v[0]=1 t[0]=0 v[1]=2 t[1]=2000 v[2]=3 t[2]=3000 "
		    "v[3]=2 t[3]=5000 v[4]=1 t[4]=10000 v[5]=0 t[5]=12000 v[6]=1 t[6]=20000 v[7]=0 "
		    "t[7]=22000");
}

/* ---- recordings ---- */

TEST(overlap_cases)
{
	READING rd = read_recording("tef", "aiu/samples/basic_event_test_cases.json", false);
	const struct model *m = rd.m;
	size_t rows[3] = { 0 };

	expect_model(m,
		     "spans=23 W_ZERO_DURATION=3 W_NEGATIVE_DURATION=1 only CaseZeroDurC: "
		     "at=189600..190000 'Case4 E2': track='0 #2' 'Case5 E2': track='0 #2' "
		     "'Case6 E3': track='0 #2' 'Case8 E3': track='0 #2' 'Case8 E5': track='0 #2' "
		     "'Case6 E2': track='0 #3'");
	for (size_t i = 0; i < m->spans.nr; i++) {
		const char *name = model_str(m, m->tracks.v[m->spans.track[i]].name);
		const char *row = strchr(name, '#');

		if (m->spans.kind[i] == SPAN_HOST)
			rows[row ? row[1] - '1' : 0]++;
	}
	assert_int_equal(rows[0], 16);
	assert_int_equal(rows[1], 5);
	assert_int_equal(rows[2], 1);
}

TEST(four_ranks_in_one_file)
{
	READING rd = read_recording("tef", "aiu/samples/allreduce_tp4.json", false);
	static const int64_t adds[] = { 282603, 276014, 275371, 275079 };
	static const int64_t reduces[] = { 9264, 9331, 9159 };
	const struct model *m = rd.m;
	size_t add = 0, reduce = 0, of[4] = { 0 };

	for (int32_t rank = 0; rank < 4; rank++)
		for (size_t i = 0; i < m->spans.nr; i++) {
			const struct stamp_facts *s = facts_stamp(m, i);
			const char *name = model_str(m, m->spans.name[i]);

			if (m->tracks.v[m->spans.track[i]].rank != rank)
				continue;
			of[rank]++;
			assert_non_null(s);
			if (strcmp(name, "add_11 Cmpt Exec") == 0)
				assert_int_equal(s->cycles[3] - s->cycles[2], adds[add++]);
			else if (s->phase == PHASE_EXEC)
				assert_int_equal(s->cycles[3] - s->cycles[2], reduces[reduce++]);
		}
	assert_int_equal(of[0], 4);
	assert_int_equal(of[1], 7);
	assert_int_equal(of[2], 7);
	assert_int_equal(of[3], 10);
	assert_int_equal(add, 4);
	assert_int_equal(reduce, 3);
	/* 0 → 1, 1 → 2, 2 → 3, 3 → 0, 1, 2 */
	assert_int_equal(m->links.nr, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct collective_facts *f = facts_collective(m, m->links.from[i]);
		const struct collective_facts *to = facts_collective(m, m->links.to[i]);

		assert_true(f->from == to->from && f->to == to->to);
		assert_int_equal(m->tracks.v[m->spans.track[m->links.from[i]]].rank, f->from);
		assert_int_equal(m->tracks.v[m->spans.track[m->links.to[i]]].rank, f->to);
		assert_true(f->to == f->from + 1 || f->from == 3);
		assert_int_equal(to->bytes, 524288);
		assert_int_equal(f->bytes, 524288);
	}
}
