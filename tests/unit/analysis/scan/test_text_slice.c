#include "test.h"
#include "text_slice.h"

static char *words(struct text_slice t)
{
	return kept(xstrndup(t.p, t.n));
}

TEST(lines)
{
	struct text_slice rest = slice_behind_mark("\xef\xbb\xbf a\t\r\n\nlast", 13), line;
	bool whole;

	assert_true(slice_line(&rest, &line, &whole) && whole);
	assert_string_equal(words(line), " a\t\r");
	assert_string_equal(words(slice_trim(line)), "a");
	assert_true(slice_line(&rest, &line, &whole) && whole);
	assert_int_equal(line.n, 0);
	assert_true(slice_line(&rest, &line, &whole) && !whole);
	assert_true(slice_is(line, "last") && slice_begins(line, "la") && !slice_is(line, "la"));
	assert_false(slice_line(&rest, &line, &whole));
	assert_int_equal(slice_behind_mark("\xef\xbb", 2).n, 2);
}

TEST(last_word)
{
	struct text_slice t = { "one  two \t", 10 };

	assert_string_equal(words(slice_last_word(&t)), "two");
	assert_string_equal(words(slice_last_word(&t)), "one");
	assert_int_equal(t.n, 0);
	assert_int_equal(slice_last_word(&t).n, 0);
}
