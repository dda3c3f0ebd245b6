#include "model_support.h"
#include "tally.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

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

static void test_nothing(void **state UNUSED)
{
	const struct tally t = { 0 };

	tally_warns(&t, "rows", 0, "");
	tally_warns(&t, NULL, 0, "");
}

static void test_first_place(void **state UNUSED)
{
	struct tally line = { 0 }, byte = { 0 };

	for (uint64_t at = 7; at < 10; at++) {
		tally_line(&line, at);
		tally_byte(&byte, at * 1000000000000);
	}
	tally_warns(&line, "rows without a time", 3, "rows without a time, first on line 7");
	tally_warns(&byte, "frames", 3, "frames, first at byte 7000000000000");
}

static void test_byte_0(void **state UNUSED)
{
	struct tally t = { 0 };

	tally_byte(&t, 0);
	tally_byte(&t, 5);
	tally_warns(&t, "frames", 2, "frames, first at byte 0");
}

static void test_first_text(void **state UNUSED)
{
	struct tally t = { 0 };

	tally_text(&t, "row %d: %s", 3, "no time");
	tally_text(&t, "row %d: %s", 4, "no name");
	tally_warns(&t, NULL, 2, "row 3: no time");
}

static void test_long_text(void **state UNUSED)
{
	struct tally t = { 0 };
	char text[400];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	tally_text(&t, "%s", text);
	text[sizeof(t.text) - 1] = '\0';
	tally_warns(&t, NULL, 1, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),   cmocka_unit_test(test_first_place),
		cmocka_unit_test(test_byte_0),    cmocka_unit_test(test_first_text),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
