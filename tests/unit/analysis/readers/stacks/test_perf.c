#include "readers_test.h"

#define FIX "tests/fixtures/perf/"

#define STACK(head, leaf) head "\n\t 10 " leaf " (/x)\n\t 20 main (/x)\n\n"

static const char *category_at(const struct model *m, size_t i)
{
	return model_str(m, m->spans.category[i]);
}

TEST(basic)
{
	READING rd = read_path("perf", FIX "basic.perf", false);
	const struct model *m = rd.m;
	size_t leaf = span_at(m, "leaf"), work = span_at(m, "work"), lib;
	const struct track *t = track_of(m, leaf);

	expect_read(&rd, 0,
		    "format='perf script (sampled stacks)' clock=monotonic "
		    "fact.sample_ns=10000000 fact.stack_samples=4 only");
	/* samples that touch share what they have in common */
	assert_span(m, "work", INT64_C(10000000000), INT64_C(10020000000));
	assert_span(m, "leaf", INT64_C(10000000000), INT64_C(10010000000));
	assert_span(m, "other", INT64_C(10010000000), INT64_C(10020000000));
	assert_int_equal(span_parent(&m->spans, leaf), work);
	assert_string_equal(span_name(m, span_parent(&m->spans, span_parent(&m->spans, work))),
			    "app");
	expect_model(m, "leaf: pid=100 tid=100 track=app host=node3");
	assert_int_equal(m->tracks.v[t->parent].kind, TRACK_PROCESS);
	assert_int_equal(time_in(m, "main"), 30000000);
	assert_int_equal(time_in(m, "app"), 30000000);
	assert_string_equal(category_at(m, leaf), "sampled");
	assert_string_equal(category_at(m, span_at(m, "other")), "sampled inlined");
	assert_string_equal(category_at(m, span_at(m, "sys_read")), "sampled kernel");
	lib = span_at(m, "[x y.so (deleted)]");
	assert_int_equal(track_of(m, lib)->tid, 101);
	assert_string_equal(span_name(m, span_parent(&m->spans, lib)), "[unknown]");
	assert_string_equal(model_str(m, track_of(m, lib)->name), "Web Content");
}

/* Samples without call chains stand on one line, the command filled up with blanks. */
TEST(flat)
{
	READING rd = read_path("perf", FIX "flat.perf", false);

	expect_read(&rd, 0, "fact.stack_samples=3 only");
	assert_span(rd.m, "native_write_msr", INT64_C(12500000000), INT64_C(12500250000));
	assert_span(rd.m, "main", INT64_C(12500100000), INT64_C(12500600000));
	assert_int_equal(track_of(rd.m, span_at(rd.m, "main"))->tid, 4243);
}

/* One line above a stack: who, where, when, what. */
TEST(heads)
{
	static const struct {
		const char *head, *comm;
		int64_t pid, tid, start_ns, end_ns;
	} cases[] = {
		{ "a 1/2 [003] 5.000001: 99 cpu-clock:u:", "a", 1, 2, 5000001000, 5000001099 },
		{ "a 1/2 5.000000001: 99 cpu-clock:", "a", 1, 2, 5000000001, 5000000100 },
		{ "a b c  2 [003] 5.000: cpu-clock:", "a b c", -1, 2, 5000000000, 5001000000 },
		{ "a 7 2 5.000: cycles:", "a 7", -1, 2, 5000000000, 5001000000 },
		{ "a 2 cycles:", "a", -1, 2, 0, 1000000 },
		{ "a 2 77 cpu-clock:", "a", -1, 2, 0, 77 },
		{ "a 2 [001] 77 cpu-clock:HG:", "a", -1, 2, 0, 77 },
		{ "a 1/2 U 5.000: cycles:", "a", 1, 2, 5000000000, 5001000000 },
		{ "a 1/2 [001] K 5.000: cycles:", "a", 1, 2, 5000000000, 5001000000 },
		{ "a 1/2", "a", 1, 2, 0, 1000000 },
		{ "a", "a", -1, -1, 0, 1000000 },
		{ "kworker/0:1-mm 9 [000] 1.000000: cpu_core/cycles/P:", "kworker/0:1-mm", -1, 9,
		  1000000000, 1001000000 },
		{ ":77 77 [000] 1.000000: 3 sched:sched_switch: a ==> b [120]", ":77", -1, 77,
		  1000000000, 1001000000 },
		{ "a 1/2 1.000000:", "a", 1, 2, 1000000000, 1001000000 },
		{ "a 1.000000: cycles:", "a", -1, -1, 1000000000, 1001000000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf("%s\n\t 10 f (/x)\n\n", cases[i].head);
		READING rd = read_text("perf", text);
		size_t f = 0;

		if (rd.r != 0)
			ROW_FAIL(i, "result %d: %s", rd.r, rd.err.msg);
		for (f = 0; f < rd.m->spans.nr && strcmp(span_name(rd.m, f), "f") != 0;)
			f++;
		if (f == rd.m->spans.nr)
			ROW_FAIL(i, "no span f");
		if (rd.m->spans.start_ns[f] != cases[i].start_ns ||
		    rd.m->spans.end_ns[f] != cases[i].end_ns)
			ROW_FAIL(i, "[%lld, %lld)", (long long)rd.m->spans.start_ns[f],
				 (long long)rd.m->spans.end_ns[f]);
		if (track_of(rd.m, f)->pid != cases[i].pid ||
		    track_of(rd.m, f)->tid != cases[i].tid)
			ROW_FAIL(i, "pid %lld, tid %lld", (long long)track_of(rd.m, f)->pid,
				 (long long)track_of(rd.m, f)->tid);
		if (span_parent(&rd.m->spans, f) == SPAN_NONE ||
		    strcmp(span_name(rd.m, span_parent(&rd.m->spans, f)), cases[i].comm) != 0)
			ROW_FAIL(i, "command");
	}
}

TEST(names)
{
	static const struct {
		const char *frame, *name, *category;
	} cases[] = {
		{ "10 f+0x1c (/a/b)", "f", "sampled" },
		{ "10 f (/a/b)", "f", "sampled" },
		{ "10 f+0xzz (/a/b)", "f+0xzz", "sampled" },
		{ "10 [unknown] (/a/b.so)", "[b.so]", "sampled" },
		{ "10 [unknown] ([unknown])", "[unknown]", "sampled" },
		{ "10 [unknown] ([vdso])", "[[vdso]]", "sampled" },
		{ "10 [unknown] (/tmp/perf-12.map)", "[perf-12.map]", "sampled jit" },
		{ "10 Lorg/x/Y:.z (/tmp/perf-12.map)", "Lorg/x/Y:.z", "sampled jit" },
		{ "10", "0x10", "sampled" },
		{ "10 f", "f", "sampled" },
		{ "10 a::b(int, char)+0x3 (/x)", "a::b", "sampled" },
		{ "10 (anonymous namespace)::f(int)+0x3 (/x)", "(anonymous namespace)::f",
		  "sampled" },
		{ "10 net/http.(*Client).Do+0x3 (/x)", "net/http.(*Client).Do", "sampled" },
		{ "10 (odd) (/x)", "(odd)", "sampled" },
		{ "10 a;b'c\"d (/x)", "a:bcd", "sampled" },
		{ "10 'x' (inlined)", "x", "sampled inlined" },
		{ "ffffffff81000010 f ([ext4])", "f", "sampled kernel" },
		{ "10 f ([kernel.kallsyms])", "f", "sampled kernel" },
		{ "10 f ([guest.kernel.kallsyms])", "f", "sampled kernel" },
		{ "10 std::vector<a (b)>::f (/x (deleted))", "std::vector<a", "sampled" },
		{ "0x10 \xff\xfe (/x)", "\xff\xfe", "sampled" },
		{ "10 \"\" (/x)", "[unknown]", "sampled" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("c 1/2 5.0001: cycles:\n\t %s\n\n", cases[i].frame);
		READING rd = read_text("perf", text);
		size_t f = rd.m->spans.nr - 1;

		if (rd.r != 0 || rd.m->spans.nr != 2)
			ROW_FAIL(i, "result %d, %zu spans", rd.r, rd.m->spans.nr);
		if (strcmp(span_name(rd.m, f), cases[i].name) != 0)
			ROW_FAIL(i, "name '%s'", span_name(rd.m, f));
		if (strcmp(category_at(rd.m, f), cases[i].category) != 0)
			ROW_FAIL(i, "category '%s'", category_at(rd.m, f));
	}
}

/* For java alone the L in front of a class goes. */
TEST(java_names)
{
	READING rd = read_text("perf", "java 1/2 5.0001: cycles:\n\t 10 Lorg/x/Y:.z (/m)\n"
				       "\t 20 Lone (/m)\n\n");

	span_at(rd.m, "org/x/Y:.z");
	span_at(rd.m, "Lone");
}

/* Weights never overlap and never get lost, whatever the times are. */
TEST(sums_hold)
{
	static const char head[] = "# cmdline : perf record -F 1000 x\n";
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	uint64_t seed = 7, t_us = 1000000;

	strbuf_addstr(&sb, head);
	for (int i = 0; i < 500; i++) {
		t_us += rnd(&seed) % (i % 7 ? 1500 : 20000);
		strbuf_addf(&sb, STACK("x 1/%d %llu.%06llu: cycles:", "%s"),
			    (int)(rnd(&seed) % 3) + 1, (unsigned long long)(t_us / 1000000),
			    (unsigned long long)(t_us % 1000000), i % 3 ? "a" : "b");
	}
	READING rd = read_text("perf", sb.buf);
	expect_read(&rd, 0, "fact.sample_ns=1000000 only");
	assert_int_equal(time_in(rd.m, "main"), 500 * 1000000);
	assert_int_equal(time_in(rd.m, "x"), 500 * 1000000);
	assert_int_equal(time_in(rd.m, "b"), 167 * 1000000);
	assert_int_equal(time_in(rd.m, "a"), 333 * 1000000);
}

/* One event is the time, the others are instants. */
TEST(several_events)
{
	struct reading rd =
		read_text("perf", STACK("a 1/1 1.000000: 3 page-faults:",
					"f") STACK("a 1/1 1.001000: 4 page-faults:", "f")
					  STACK("a 1/1 1.002000: 5000 task-clock:u:",
						"g") STACK("a 1/1 1.003000: 900 cycles:u:", "h")
						  STACK("a 1/1 1.004000: 4000 task-clock:k:", "g"));

	assert_int_equal(rd.r, 0);
	assert_int_equal(time_in(rd.m, "g"), 9000);
	expect_model(rd.m, "input.instants=3 fact.other_events=3 page-faults: kind=instant");
	reading_release(&rd);
}

TEST(records)
{
	READING rd = read_text(
		"perf",
		"a 1/1 [000] 0.900000: PERF_RECORD_COMM exec: a:1/1\n"
		"a 1/1 [000] 0.900001: PERF_RECORD_MMAP2 1/1: [0x4000(0x1000) @ 0 08:01 1 2]: r-xp "
		"/usr/bin/a\n" STACK(
			"a 1/1 [000] 1.000000: 1000 cpu-clock:",
			"f") "a 1/1 [000] 1.100000: PERF_RECORD_SWITCH OUT preempt\n"
			     "a 1/1 [000] 1.100000: PERF_RECORD_LOST lost 12\n"
			     "a 1/1 [000] 1.100001: PERF_RECORD_LOST_SAMPLES lost 3\n"
			     "            perf 1/1 [000] 1.200000: PERF_RECORD_EXIT(1:1):(1:1)\n");

	expect_read(&rd, 0, "fact.stack_samples=1 fact.records=6 W_LOST_EVENTS=15 only");
}

/* The idle thread is one per CPU, so it can be on several at a time. */
TEST(idle_threads)
{
	READING rd = read_text(
		"perf", STACK("swapper 0/0 [000] 1.000000: 1000000 cpu-clock:", "f")
				STACK("swapper 0/0 [001] 1.000001: 1000000 cpu-clock:", "f"));

	assert_int_equal(rd.r, 0);
	assert_int_equal(rd.m->spans.start_ns[span_nth(rd.m, "f", 1)], 1000001000);
	expect_model(rd.m, "only f: track=swapper/0 f#1: track=swapper/1");
}

/* Without a frequency the weight is what lies between samples of a CPU. */
TEST(median_weight)
{
	struct reading rd =
		read_text("perf", STACK("a 1/1 [000] 1.000000: cycles:",
					"f") STACK("b 2/2 [000] 1.004000: cycles:",
						   "f") STACK("a 1/1 [000] 1.008000: cycles:", "f")
					  STACK("c 3/3 [001] 1.000000: cycles:", "f")
						  STACK("c 3/3 [001] 1.900000: cycles:", "f"));

	assert_int_equal(fact(rd.m, "sample_ns"), 4000000);
	assert_int_equal(time_in(rd.m, "f"), 5 * 4000000);
	reading_release(&rd);
}

/* Cycles that vary weigh by how many they are; the time of all is that of their number. */
TEST(varying_periods)
{
	struct reading rd =
		read_text("perf", "# cmdline : /usr/bin/perf record -F 1000 ./a\n" STACK(
					  "a 1/1 [000] 1.000000: 100 cycles:", "f")
					  STACK("a 1/1 [000] 1.010000: 600 cycles:", "g")
						  STACK("a 1/1 [000] 1.020000: 200 cycles:", "h"));

	assert_int_equal(fact(rd.m, "sample_ns"), 1000000);
	assert_int_equal(time_in(rd.m, "f"), 333333);
	assert_int_equal(time_in(rd.m, "g"), 2000000);
	assert_int_equal(time_in(rd.m, "h"), 666667);
	reading_release(&rd);
	/* one without a period says that they are no measure */
	rd = read_text("perf", "# cmdline : /usr/bin/perf record -F 1000 ./a\n" STACK(
				       "a 1/1 [000] 1.000000: 100 cycles:", "f")
				       STACK("a 1/1 [000] 1.010000: cycles:", "g"));
	assert_int_equal(time_in(rd.m, "f"), 1000000);
	reading_release(&rd);
}

TEST(odd)
{
	static const struct {
		const char *text, *code;
		int r;
		int64_t samples;
	} cases[] = {
		{ STACK("a 1/1 1.000000: cycles:", "f") "what is this\n", W_BAD_EVENT, 0, 1 },
		{ "a 1/1 1.000000: cycles:\n\t 10 f (/x)\n\t  x.c:12\n\n", W_IGNORED_RECORD, 0, 1 },
		{ "a 1/1 1.000000: cycles:\n\t 10 f (/x)\n", W_UNTERMINATED, 0, 1 },
		{ STACK("a 1/1 1.000000: cycles:", "f") "a 1/1 2.000000: cycles:\n\t 10 f (/",
		  W_TRUNCATED, READ_PARTIAL, 1 },
		{ STACK("a 1/1 1.000000: cycles:", "f") "a 1/1 2.0000", W_TRUNCATED, READ_PARTIAL,
		  1 },
		{ STACK("a 1/1 2.000000: cycles:", "f") STACK("a 1/1 1.000000: cycles:", "f"),
		  W_TIME_ORDER, 0, 2 },
		{ STACK("a 1/1 99999999999.000000: cycles:", "f"), W_BAD_NUMBER, 0, 1 },
		{ STACK("a 1/1 1.000000: 0 cpu-clock:", "f"), W_BAD_NUMBER, 0, 1 },
		{ STACK("a 1/1 1.000000: 99999999999999 cpu-clock:", "f"), W_BAD_NUMBER, 0, 1 },
		{ "   a 1/1 1.000000: cycles: 401000 f (/x)\n  x.c:3\n   a 1/1 1.000000: cycles: "
		  "401000 f (/x)\n",
		  W_IGNORED_RECORD, 0, 2 },
		{ "# cmdline : perf record x\n", W_EMPTY_INPUT, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("perf", cases[i].text);

		if (rd.r != cases[i].r)
			ROW_FAIL(i, "result %d: %s", rd.r, rd.err.msg);
		if (!warned(rd.m, cases[i].code))
			ROW_FAIL(i, "no %s", cases[i].code);
		if (fact(rd.m, "stack_samples") != cases[i].samples)
			ROW_FAIL(i, "%lld samples", (long long)fact(rd.m, "stack_samples"));
	}
}

TEST(unreadable)
{
	static const char *const texts[] = { "", "hello\n", "\n\n", "\t 10 f (/x)\n",
					     "{\"a\": 1}" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		READING rd = read_text("perf", texts[i]);

		if (i == 2 ? rd.r != 0 : rd.r >= 0)
			ROW_FAIL(i, "result %d", rd.r);
	}
}

/* Cut anywhere and mutated anyhow: an answer, and sums that hold. */
TEST(damaged)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	assert_true(fs_read(FIX "basic.perf", 1 << 20, &text, &n, NULL) >= 0);
	for (size_t cut = 0; cut <= n; cut++) {
		READING rd = read_bytes("perf", text, cut);

		if (rd.r == 0 && cut < n && cut > 0 && text[cut - 1] != '\n')
			ROW_FAIL(cut, "cut inside a line and not partial");
	}
	assert_mutations_read("perf", text, n, 11, 8, false);
}

TEST(deep)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "a 1/1 1.000000: 5 cpu-clock:\n");
	for (int i = 0; i < 1000000; i++)
		strbuf_addstr(&sb, "\t 1 f (x)\n");
	strbuf_addstr(&sb, "\n");
	READING rd = read_text("perf", sb.buf);
	assert_int_equal(rd.r, 0);
	/* as many as there is memory for, and one that stands for the others */
	assert_true(rd.m->spans.nr > 500000);
	assert_int_equal(warned(rd.m, W_MEMORY_LIMIT), 1);
	assert_int_equal(rd.m->spans.exclusive_ns[span_at(rd.m, "[deeper]")], 5);
}

TEST(probed)
{
	static const struct {
		const char *text, *reader;
	} cases[] = {
		{ STACK("a 1/1 1.000000: cycles:", "f"), "perf" },
		{ "            perf  4242 12.500000: 250000 cycles:  ffffffff8104f45a f "
		  "([kernel.kallsyms])\n",
		  "perf" },
		{ "# cmdline : perf record x\n# event : name = cycles\n", "perf" },
		{ "a 1/1 1.000000: cycles:\n\t 10 f\n\t 20 g\n\n", "perf" },
		{ "   a 1/1 1.000000:  401000 f (/x)\n", "perf" },
		{ "a;b;c 12\na;b 1\n", "folded" },
		{ "a;b;c 12 13\na;b 1 0\n", "folded" },
		{ "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"",
		  "speedscope" },
		{ "{\"profiles\": [{\"type\": \"evented\"", "speedscope" },
		{ "{\"traceEvents\": []}", "tef" },
		{ "a 1/1 1.000000: cycles:\nb 2 1.500000: cycles:\n", "perf" },
		{ " bash-123 [001] .... 12.345678: sched_switch: a ==> b\n", NULL },
		{ "line 12 error: x\nline 13 error: y\n", NULL },
		{ "a b c\n", NULL },
		{ "a: b 1\nc: d 2\n", NULL },
		{ "x = 1; y = 2\n", NULL },
		{ "all: 12\n\tcc x.c (y)\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *path = temp_file(cases[i].text, strlen(cases[i].text));
		const struct reader *found = NULL;
		int r = reader_detect(path, &found, NULL);

		unlink(path);
		if (cases[i].reader ? r < 0 || strcmp(found->name, cases[i].reader) != 0 : r >= 0)
			ROW_FAIL(i, "reader %s", r < 0 ? "none" : found->name);
	}
}
