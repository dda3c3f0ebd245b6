/* Words as /bin/sh cuts them: a table, and the same words asked of the shell itself. */
#include "test.h"

#include "profrig/base/proc.h"
#include "profrig/base/shell_words.h"
#include "profrig/base/strbuf.h"

static const struct {
	const char *text;
	const char *want; /* words joined with '|', each ended by it */
} cases[] =
	LIST({ "", "" }, { " \t\n ", "" }, { "a", "a|" }, { " a  b\tc\nd ", "a|b|c|d|" },
	     { "--lr 1e-3 --name 'two words'", "--lr|1e-3|--name|two words|" }, { "''", "|" },
	     { "a '' \"\" b", "a|||b|" }, { "a\\ b", "a b|" }, { "a\"b c\"'d e'f", "ab cd ef|" },
	     { "'a\\b'", "a\\b|" }, { "\"a\\b\"", "a\\b|" }, { "\"a\\\"b\"", "a\"b|" },
	     { "\"a\\\\b\"", "a\\b|" }, { "\"\\$HOME \\`x\\`\"", "$HOME `x`|" },
	     { "'$HOME'", "$HOME|" }, { "\\$HOME", "$HOME|" }, { "\"it's\"", "it's|" },
	     { "'say \"hi\"'", "say \"hi\"|" }, { "a\\\nb", "ab|" }, { "\"a\\\nb\"", "ab|" },
	     { "\"a\\\\\nb\"", "a\\\nb|" }, { "\\\n", "" }, { "'a\nb'", "a\nb|" },
	     { "-- x --", "--|x|--|" }, { "\xc3\xa4 'b\xc3\xbc'", "\xc3\xa4|b\xc3\xbc|" });

static void words_join(const struct strvec *sv, struct strbuf *sb)
{
	for (size_t i = 0; i < sv->nr; i++)
		strbuf_addf(sb, "%s|", sv->v[i]);
}

TEST(words)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		struct err err = ERR_INIT;

		if (shell_words(cases[i].text, &sv, &err) < 0)
			fail_msg("'%s': %s", cases[i].text, err.msg);
		words_join(&sv, &sb);
		assert_string_equal(sb.buf, cases[i].want);
	}
}

TEST(as_the_shell_does)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		CLEANUP(xfreep)
		char *line =
			xasprintf("set -- %s\nfor w; do printf '%%s|' \"$w\"; done", cases[i].text);
		char *argv[] = { (char *)"/bin/sh", (char *)"-c", line, NULL };
		struct proc_exit x;

		/* Unquoted line ends part commands for a shell; here they are blanks. */
		if (strchr(cases[i].text, '\n') && !strchr(cases[i].text, '\\') &&
		    !strchr(cases[i].text, '\''))
			continue;
		assert_int_equal(proc_capture(argv, 10000, 4096, &out, NULL, &x, NULL), 0);
		assert_int_equal(x.code, 0);
		assert_string_equal(out.buf, cases[i].want);
	}
}

TEST(nothing_is_expanded)
{
	static const char text[] = "$HOME `id` $(id) *.c ~ a;b a|b a&&b >out <in {a,b} #x";
	CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	assert_int_equal(shell_words(text, &sv, NULL), 0);
	words_join(&sv, &sb);
	assert_string_equal(sb.buf, "$HOME|`id`|$(id)|*.c|~|a;b|a|b|a&&b|>out|<in|{a,b}|#x|");
}

TEST(without_end)
{
	static const char *const bad[] = { "'", "a 'b", "\"a", "a \"b\\\"", "a\\", "\"a\\" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;
		struct err err = ERR_INIT;

		strvec_push(&sv, "before");
		assert_int_equal(shell_words(bad[i], &sv, &err), -EINVAL);
		assert_int_equal(sv.nr, 1);
		assert_true(err.msg[0] != '\0');
	}
}

TEST(special)
{
	static const struct {
		const char *text;
		char want;
	} rows[] = { { "--a b", 0 },   { "$X", '$' },    { "'$X'", 0 },    { "\"$X\"", '$' },
		     { "\\$X", 0 },    { "a | b", '|' }, { "'a | b'", 0 }, { "\"a | b\"", 0 },
		     { "*.csv", '*' }, { "`id`", '`' },  { "a > b", '>' }, { "a\\", 0 },
		     { "a && b", '&' } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(shell_words_special(rows[i].text), rows[i].want);
}
