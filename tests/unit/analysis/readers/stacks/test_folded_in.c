/* Folded stacks as input; those that profrig writes are in test_folded.c. */
#include "readers_test.h"

#define FIX "tests/fixtures/folded/"

TEST(basic)
{
	READING rd = read_path("folded", FIX "basic.folded", false);
	const struct model *m = rd.m;

	expect_read(&rd, 0,
		    "format='folded stacks (sampled)' clock=own only main: at=0..6 "
		    "work: at=0..5 cat=sampled leaf: at=0..3 cat='sampled kernel' "
		    "idle: at=6..10");
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "main")], 1);
	expect_model(m, "fact.stacks=4 fact.count_ns=1");
}

TEST(differential)
{
	READING rd = read_path("folded", FIX "differential.folded", false);
	const struct model *m = rd.m;

	expect_read(&rd, 0, "format='folded stacks (sampled, differential)' tracks=2");
	assert_string_equal(model_str(m, m->tracks.v[0].name), "before");
	assert_string_equal(model_str(m, m->tracks.v[1].name), "after");
	assert_int_equal(time_in(m, "main"), 13 + 12);
	assert_int_equal(time_in(m, "work"), 22);
	assert_int_equal(warned(m, W_IGNORED_RECORD), 1); /* the 0 */
}

/* Counts with decimals stay exact: the unit of the file gets smaller. */
TEST(counts)
{
	static const struct {
		const char *text;
		int64_t unit, a, b;
		const char *code;
	} cases[] = {
		{ "a 1\na;b 2\n", 1, 3, 2, NULL },
		{ "a 0.4\na;b 0.4\na 0.4\n", 10, 12, 4, NULL },
		{ "a 1.250\na;b 2\n", 100, 325, 200, NULL },
		{ "a 1.000\na;b 2.0\n", 1, 3, 2, NULL },
		{ "a 1e3\na;b 2\n", 1, 1002, 2, NULL },
		{ "a 1e-3\na;b 2\n", 1000000000, 2001000000, 2000000000, NULL },
		{ "a 1\r\na;b 2\r\n", 1, 3, 2, NULL },
		{ "a;b 7 \na 1\t\n", 1, 8, 7, NULL },
		{ "# comment\n\na;b 7\n", 1, 7, 7, NULL },
		{ "a 1\na;b 0\n", 1, 1, 0, W_IGNORED_RECORD },
		{ "a 1\na;b -2\n", 1, 1, 0, W_NEGATIVE_DURATION },
		{ "a 1\na;b 99999999999999999999\n", 1, 1, 0, W_BAD_NUMBER },
		{ "a 1\na;b 2305843009213693953\n", 1, 1, 0, W_BAD_NUMBER },
		{ "a 1\na;b 1-2\n", 1, 1, 0, W_BAD_NUMBER },
		{ "a 1\na;b\n", 1, 1, 0, W_BAD_EVENT },
		{ "a 1\na;b nan\n", 1, 1, 0, W_BAD_EVENT },
		{ "a 1\n12\n", 1, 1, 0, W_BAD_EVENT },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("folded", cases[i].text);

		if (rd.r != 0)
			ROW_FAIL(i, "result %d: %s", rd.r, rd.err.msg);
		if (fact(rd.m, "count_ns") != cases[i].unit)
			ROW_FAIL(i, "unit %lld", (long long)fact(rd.m, "count_ns"));
		if (time_in(rd.m, "a") != cases[i].a || time_in(rd.m, "b") != cases[i].b)
			ROW_FAIL(i, "a %lld, b %lld", (long long)time_in(rd.m, "a"),
				 (long long)time_in(rd.m, "b"));
		assert_only_warned(rd.m, cases[i].code);
	}
}

TEST(names)
{
	static const struct {
		const char *line, *name, *category;
	} cases[] =
		LIST({ "a 1\n", "a", "sampled" }, { "a b c 1\n", "a b c", "sampled" },
		     { "operator new 3 1\nx 2\n", "operator new 3", "sampled" },
		     { "a_[k] 1\n", "a", "sampled kernel" }, { "a_[j] 1\n", "a", "sampled jit" },
		     { "a_[i] 1\n", "a", "sampled inlined" },
		     { "a_[w] 1\n", "a", "sampled waiting" }, { "a_[x] 1\n", "a_[x]", "sampled" },
		     { "_[k] 1\n", "_[k]", "sampled" }, { "[libc.so] 1\n", "[libc.so]", "sampled" },
		     { "\xff\xfe 1\n", "\xff\xfe", "sampled" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("folded", cases[i].line);

		if (rd.r != 0 || strcmp(span_name(rd.m, 0), cases[i].name) != 0)
			ROW_FAIL(i, "name '%s'", span_name(rd.m, 0));
		if (strcmp(model_str(rd.m, rd.m->spans.category[0]), cases[i].category) != 0)
			ROW_FAIL(i, "category");
	}
}

TEST(unreadable)
{
	static const char *const texts[] = { "", "\n", "a;b", "no count\n", "# only\n" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		READING rd = read_text("folded", texts[i]);

		if (rd.r >= 0)
			ROW_FAIL(i, "result %d", rd.r);
	}
}

TEST(damaged)
{
	static const char text[] = "main;work;leaf_[k] 3.5\nmain;work 2\nmain 1\nidle 4\n";
	size_t n = strlen(text);

	for (size_t cut = 0; cut <= n; cut++) {
		READING rd = read_bytes("folded", text, cut);

		if (cut > 23 && rd.r != (text[cut - 1] == '\n' ? 0 : READ_PARTIAL))
			ROW_FAIL(cut, "result %d", rd.r);
	}
	assert_mutations_read("folded", text, n, 5, 5, false);
}

TEST(deep)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (int i = 0; i < 1000000; i++)
		strbuf_addstr(&sb, i ? ";f" : "f");
	strbuf_addstr(&sb, " 3\n");
	READING rd = read_text("folded", sb.buf);
	assert_int_equal(rd.r, 0);
	/* as many as there is memory for, and one that stands for the others */
	assert_true(rd.m->spans.nr > 500000);
	assert_int_equal(warned(rd.m, W_MEMORY_LIMIT), 1);
	assert_int_equal(rd.m->spans.exclusive_ns[span_at(rd.m, "[deeper]")], 3);
}
