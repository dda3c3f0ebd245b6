#include "model_support.h"
#include "tally.h"

static void tally_warns(const struct tally *t, const char *what, uint64_t nr, const char *text)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "x", "test");
	tally_warn(t, s, W_BAD_EVENT, what);
	s->ops->input_end(s);
	assert_int_equal(m->warnings.nr, nr > 0);
	if (nr == 0)
		return;
	assert_int_equal(m->warnings.v[0].count, nr);
	assert_string_equal(m->warnings.v[0].text, text);
}

TEST(test_nothing)
{
	const struct tally t = { 0 };

	tally_warns(&t, "rows", 0, "");
	tally_warns(&t, NULL, 0, "");
}

TEST(test_first_place)
{
	struct tally line = { 0 }, byte = { 0 };

	for (uint64_t at = 7; at < 10; at++) {
		tally_line(&line, at);
		tally_byte(&byte, at * 1000000000000);
	}
	tally_warns(&line, "rows without a time", 3, "rows without a time, first on line 7");
	tally_warns(&byte, "frames", 3, "frames, first at byte 7000000000000");
}

TEST(test_byte_0)
{
	struct tally t = { 0 };

	tally_byte(&t, 0);
	tally_byte(&t, 5);
	tally_warns(&t, "frames", 2, "frames, first at byte 0");
}

TEST(test_first_text)
{
	struct tally t = { 0 };

	tally_text(&t, "row %d: %s", 3, "no time");
	tally_text(&t, "row %d: %s", 4, "no name");
	tally_warns(&t, NULL, 2, "row 3: no time");
}

TEST(test_long_text)
{
	struct tally t = { 0 };
	char text[400];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	tally_text(&t, "%s", text);
	text[sizeof(t.text) - 1] = '\0';
	tally_warns(&t, NULL, 1, text);
}
