#include "test.h"

#include "profrig/base/redact.h"

static void is(const char *text, const char *want)
{
	assert_string_equal(redact_str(kept(xstrdup(text))), want);
}

TEST(test_values)
{
	redact_learn("hunter2-token");
	redact_learn("hunter2-token-longer");
	redact_learn("a\"quote\\d");
	redact_learn("first line\nsecond line\n");
	redact_learn("abc");
	redact_learn("");
	redact_learn(NULL);
	is("x hunter2-token y", "x *** y");
	is("hunter2-tokenhunter2-token", "******");
	is("=hunter2-token-longer.", "=***.");
	is("{\"v\": \"a\\\"quote\\\\d\"}", "{\"v\": \"***\"}");
	is("raw a\"quote\\d", "raw ***");
	is("log: second line", "log: ***");
	is("abc is too short to be one", "abc is too short to be one");
	is("", "");
}

TEST(test_min)
{
	char text[] = "weak and much-stronger";

	redact_learn("weak");
	redact_learn("much-stronger");
	assert_int_equal(redact(text, strlen(text), REDACT_SURE), 12);
	assert_string_equal(text, "weak and ***");
	redact_str(text);
	assert_string_equal(text, "*** and ***");
}

TEST(test_urls)
{
	is("https://user:pass@host/x", "https://user:***@host/x");
	is("https://user:p@host/x", "https://user:*@host/x");
	is("s3://k:a@b@host", "s3://k:***@host");
	is("https://ghp_0123456789@host/x", "https://***@host/x");
	is("ssh://git@host/x", "ssh://git@host/x");
	is("https://host/x@y:z", "https://host/x@y:z");
	is("see http://a:bcd@h, https://e:fgh@i/", "see http://a:***@h, https://e:***@i/");
	is("://", "://");
	is("://:@", "://:@");
	is("http://@", "http://@");
	is("http://user:pass\"@", "http://user:pass\"@");
}

/* Binary data, a match at either end, a text whose end is no NUL of ours. */
TEST(test_edges)
{
	char data[] = { 0, 'b', 'y', 't', 'e', '-', 's', 'e', 'c', 'r', 'e', 't', 0, 'x' };

	redact_learn("byte-secret");
	assert_int_equal(redact(data, sizeof(data), REDACT_MIN), 6);
	assert_memory_equal(data, "\0***\0x", 6);
	assert_int_equal(redact(data, 0, REDACT_MIN), 0);
}

/* Each form in which words are written, and one form in another. */
TEST(test_forms)
{
	redact_learn("it's <a> \"b\"/c&d%");
	is("'it'\\''s <a> \"b\"/c&d%'", "'***'");
	is("it&#39;s &lt;a&gt; &quot;b&quot;/c&amp;d%", "***");
	is("a,\"it's <a> \"\"b\"\"/c&d%\"", "a,\"***\"");
	is("?q=it%27s%20%3Ca%3E%20%22b%22%2Fc%26d%25&x", "?q=***&x");
	is("?q=it%27s%20%3ca%3e%20%22b%22%2fc%26d%25", "?q=***");
	is("/it%27s%20%3Ca%3E%20%22b%22/c%26d%25/", "/***/");
	is("/it's%20%3Ca%3E%20%22b%22/c&d%25/", "/***/");
	is("{\"argv\": \"'it'\\\\''s <a> \\\"b\\\"/c&d%'\"}", "{\"argv\": \"'***'\"}");
	redact_learn("o'clock-secret");
	is("sh -c 'echo '\\''o'\\''\\'\\'''\\''clock-secret'\\'''", "sh -c 'echo '\\''***'\\'''");
}

/* A limit of length has cut the text, and the secret with it. */
TEST(test_cut)
{
	redact_learn("correct-horse-battery");
	is("engine said: correct-horse-b", "engine said: ***");
	is("engine said: correct-horse-b+", "engine said: ***+");
	is("engine said: correct-horse-b\xe2\x80\xa6", "engine said: ***\xe2\x80\xa6");
	is("engine said: correct-horse...", "engine said: ***...");
	is("engine said: correct", "engine said: correct");
	is("correct-horse-b is another", "correct-horse-b is another");
}

static void secret_print(const void *ctx, FILE *f)
{
	fputs(ctx, f);
}

TEST(test_through)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	redact_learn("through-secret");
	redact_through(f, secret_print, "is through-secret gone");
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "is *** gone");
}

static void json_is(const char *text, const char *want)
{
	CLEANUP(xfreep) char *s = xstrdup(text);
	size_t n = redact_json(s, strlen(s));

	assert_string_equal(s, want);
	assert_int_equal(n, strlen(want));
}

TEST(test_json)
{
	redact_learn("00000000");
	redact_learn("period_ns");
	redact_learn("quote\"inside\\");
	json_is("{\"period_ns\": 100000000, \"a\": \"x00000000y\", \"b\": [\"00000000\", "
		"1.00000000]}",
		"{\"period_ns\": 100000000, \"a\": \"x***y\", \"b\": [\"***\", 1.00000000]}");
	json_is("{\"k\" : \"period_ns\", \"id\": \"r-00000000\", \"run_id\" :\"00000000\", \"x\": "
		"\"00000000\"}",
		"{\"k\" : \"***\", \"id\": \"r-00000000\", \"run_id\" :\"00000000\", \"x\": "
		"\"***\"}");
	json_is("[\"a quote\\\"inside\\\\ b\", \"\\\\\", \"00000000\"]",
		"[\"a *** b\", \"\\\\\", \"***\"]");
	json_is("[\"http://u:pw@h/\", \"\"]", "[\"http://u:**@h/\", \"\"]");
	/* what is no JSON, or half of it, is gone over as far as it goes */
	json_is("", "");
	json_is("\"", "\"");
	json_is("\"00000000", "\"***");
	json_is("\"00000000\\", "\"***\\");
	json_is("00000000", "00000000");
}
