#include "base_test.h"

TEST(test_suffix)
{
	static const struct {
		const char *s, *suffix, *want;
	} cases[] = {
		{ "a.json", ".json", ".json" },
		{ "a.json.json", ".json", ".json" },
		{ ".json", ".json", NULL }, /* nothing before it */
		{ "json", ".json", NULL },
		{ "a.jsonx", ".json", NULL },
		{ "a.JSON", ".json", NULL },
		{ "", ".json", NULL },
		{ "a", "", "" },
		{ "", "", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = text_suffix(cases[i].s, cases[i].suffix);

		if (!got != !cases[i].want || (got && strcmp(got, cases[i].want) != 0))
			ROW_FAIL(i, "got '%s'", got ? got : "NULL");
		if (got && got != cases[i].s + strlen(cases[i].s) - strlen(cases[i].suffix))
			ROW_FAIL(i, "not the last place");
	}
}

TEST(test_in_list)
{
	static const struct {
		const char *list;
		char sep;
		const char *word;
		bool want;
	} cases[] = LIST({ "a|bc|d", '|', "a", true }, { "a|bc|d", '|', "bc", true },
			 { "a|bc|d", '|', "d", true }, { "a|bc|d", '|', "b", false },
			 { "a|bc|d", '|', "bcd", false }, { "a|bc|d", '|', "c", false },
			 { "a|bc|d", '|', "a|bc", false }, { "a|bc|d", ',', "a|bc|d", true },
			 { "docker,traces", ',', "traces", true }, { "", '|', "a", false },
			 { "", '|', "", false }, { "a||b", '|', "", false },
			 { "a||b", '|', "b", true }, { "a|", '|', "a", true });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (text_in_list(cases[i].list, cases[i].sep, cases[i].word) != cases[i].want)
			ROW_FAIL(i, "'%s' in '%s'", cases[i].word, cases[i].list);
}

TEST(test_no_controls)
{
	char text[] = "a\tb\nc\x1b[0m\x7f\x01 µ\xff";
	char none[] = "";

	text_no_controls(text, '?');
	assert_string_equal(text, "a?b?c?[0m?? µ\xff");
	text_no_controls(none, '?');
	assert_string_equal(none, "");
}
