/* Texts that are too long to be kept whole. */
#include "model_support.h"

#include "profrig/base/utf8.h"

/* Whole up to 64 KiB; then the beginning, whole characters of it, and a hash that tells texts
 * apart. */
TEST(test_long_texts)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	CLEANUP(xfreep) char *text = xcalloc(1, 3 * SINK_TEXT_MAX);
	str_id whole, a, b;
	track_id t;
	span_id span;

	s->ops->input(s, "x", "tef");
	memset(text, 'a', 3 * SINK_TEXT_MAX - 1);
	whole = s->ops->string(s, text, SINK_TEXT_MAX);
	assert_int_equal(strlen(model_str(m, whole)), SINK_TEXT_MAX);
	assert_int_equal(warned(m, W_LONG_TEXT), 0);
	a = sink_puts(s, text);
	text[3 * SINK_TEXT_MAX - 2] = 'b';
	b = sink_puts(s, text);
	assert_int_not_equal(a, b);
	assert_true(strlen(model_str(m, a)) <= SINK_TEXT_MAX);
	assert_memory_equal(model_str(m, a), text, SINK_TEXT_MAX - 24);
	assert_has(model_str(m, a), "a…#");
	/* two bytes each, and no half of one at the cut */
	for (size_t i = 0; i + 1 < SINK_TEXT_MAX; i += 2) {
		text[i + 1] = "ü"[0];
		text[i + 2] = "ü"[1];
	}
	assert_true(utf8_valid(model_str(m, sink_puts(s, text))));
	assert_int_equal(warned(m, W_LONG_TEXT), 3);
	t = thread_of(s, NULL, 1, 2);
	span = s->ops->span(s, &(struct span_def){ .track = t, .end_ns = 1, .name = b, .args = a });
	assert_non_null(strstr(model_str(m, span_args(&m->spans, span)),
			       "{\"left_out\":\"196607 bytes, #"));
	s->ops->input_end(s);
}

/* Long ones have a ceiling together too: those behind it keep 1 KiB, whatever their number. */
TEST(test_many_long_texts)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);
	CLEANUP(xfreep) char *text = xcalloc(1, SINK_TEXT_MAX + 1);
	size_t n = 60000, whole = 0, fit = SINK_LONG_TEXTS_MAX / n;
	str_id first = STR_NONE, last = STR_NONE;

	s->ops->input(s, "x", "tef");
	memset(text, 'a', n);
	for (size_t i = 0; i < fit + 100; i++) {
		text[n - 8] = (char)('a' + i / 26 / 26);
		text[n - 7] = (char)('a' + i / 26 % 26);
		text[n - 6] = (char)('a' + i % 26);
		last = s->ops->string(s, text, n);
		first = i ? first : last;
		whole += intern_len(m->strings, last) == n;
		assert_true(intern_len(m->strings, last) == n ||
			    intern_len(m->strings, last) <= SINK_TEXT_LONG);
	}
	assert_int_equal(whole, fit);
	assert_int_equal(warned(m, W_LONG_TEXT), 100);
	assert_has(model_str(m, last), "a…#");
	/* one that is there already is found, and short ones are not touched */
	memset(text, 'a', n);
	assert_int_equal(s->ops->string(s, text, n), first);
	assert_int_equal(intern_len(m->strings, s->ops->string(s, text, SINK_TEXT_LONG)),
			 SINK_TEXT_LONG);
	s->ops->input_end(s);
}
