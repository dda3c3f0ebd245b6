#include "base_test.h"

#include "profrig/base/strvec.h"

static void assert_words(const struct strvec *sv, const char *joined)
{
	CLEANUP(xfreep) char *s = xstrdup("");

	for (size_t i = 0; i < sv->nr; i++) {
		char *longer = xasprintf("%s[%s]", s, sv->v[i]);

		free(s);
		s = longer;
	}
	assert_string_equal(s, joined);
	assert_null(sv->v[sv->nr]);
}

TEST(test_push)
{
	struct strvec sv = STRVEC_INIT;

	assert_words(&sv, "");
	assert_string_equal(strvec_push(&sv, "a"), "a");
	assert_string_equal(strvec_pushf(&sv, "b%d", 2), "b2");
	strvec_push_take(&sv, xstrdup("c"));
	strvec_pushv(&sv, ARGV("d", "e"));
	strvec_pushl(&sv, "f", "", NULL);
	assert_words(&sv, "[a][b2][c][d][e][f][]");
	assert_true(strvec_has(&sv, "e"));
	assert_false(strvec_has(&sv, "E"));
	strvec_clear(&sv);
	assert_words(&sv, "");
	strvec_push(&sv, "again");
	assert_words(&sv, "[again]");
	strvec_release(&sv);
	strvec_release(&sv);
	assert_words(&sv, "");
	assert_null(strvec_empty[0]);
}

TEST(test_remove)
{
	CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;

	strvec_pushl(&sv, "a", "b", "c", "d", NULL);
	assert_words(&sv, "[a][b][c][d]");
	strvec_remove(&sv, 3);
	strvec_remove(&sv, 0);
	assert_words(&sv, "[b][c]");
	strvec_remove(&sv, 0);
	strvec_remove(&sv, 0);
	assert_words(&sv, "");
	for (int i = 0; i < 1000; i++)
		strvec_push(&sv, "x");
	assert_int_equal(sv.nr, 1000);
}

TEST(test_sort)
{
	CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;

	strvec_sort(&sv);
	strvec_pushl(&sv, "b", "\xc3\xa4", "B", "a10", "a9", "", NULL);
	strvec_sort(&sv);
	assert_words(&sv, "[][B][a10][a9][b][\xc3\xa4]");
}

TEST(test_split)
{
	static const struct {
		const char *text, *seps, *want;
	} rows[] = LIST({ "", ",", "" }, { ",,,", ",", "" }, { "a", ",", "[a]" },
			{ "a,b", ",", "[a][b]" }, { " a , , b c ,", ",", "[a][b c]" },
			{ "a;b,c", ",;", "[a][b][c]" }, { "\ta\r\nb\n", "\n", "[a][b]" },
			{ "a,b", "", "[a,b]" }, { "  ", ",", "" });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;

		strvec_split(&sv, rows[i].text, rows[i].seps);
		assert_words(&sv, rows[i].want);
	}
}

TEST(test_shell)
{
	CLEANUP(strvec_release) struct strvec sv = STRVEC_INIT;
	CLEANUP(xfreep) char *none = strvec_shell(&sv);

	strvec_pushl(&sv, "sh", "-c", "echo 'hi'", "", NULL);
	CLEANUP(xfreep) char *some = strvec_shell(&sv);
	assert_string_equal(none, "");
	assert_string_equal(some, "sh -c 'echo '\\''hi'\\''' ''");
}
