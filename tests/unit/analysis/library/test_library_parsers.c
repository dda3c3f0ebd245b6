/*
 * What every parser has besides its own cases: a seed and its markers for the fuzzer, its library's
 * name in the pages.
 */
#include "library_parser.h"
#include "library_test.h"

#include <string.h>

#define SEEDS "tests/fuzz/corpus/library_log"

static const struct library_parser *const parsers[] = {
#define PARSER_POINTER(name) &library_parser_##name,
	LIBRARY_PARSERS(PARSER_POINTER)
};

static bool has_marker(const char *text, const struct library_parser *p)
{
	for (const struct log_marker *m = p->markers; m->text; m++)
		if (!m->info && strstr(text, m->text))
			return true;
	return false;
}

static bool has_call(const struct logged *l, const struct library_parser *p)
{
	for (size_t i = 0; i < l->calls->rows.nr; i++)
		if (!strcmp(l->calls->rows.v[i].library, p->library))
			return true;
	return false;
}

TEST(each_has_a_seed)
{
	bool seen[ARRAY_LEN(parsers)] = { false };
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	assert_int_equal(fs_list(SEEDS, &names, NULL), 0);
	for (size_t f = 0; f < names.nr; f++) {
		CLEANUP(xfreep) char *text = test_get(SEEDS, names.v[f]);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
			seen[i] |= has_marker(text, parsers[i]) && has_call(&l, parsers[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
		if (!seen[i])
			fail_msg("no file of " SEEDS " has a call that '%s' logs",
				 parsers[i]->name);
}

/* Not the seed's words: what the fuzzer puts together from nothing. */
TEST(markers_are_words_of_the_fuzzer)
{
	CLEANUP(xfreep) char *words = test_get("tests/fuzz", "library_log.dict");

	for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
		for (const struct log_marker *m = parsers[i]->markers; m->text; m++) {
			CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT;

			for (const char *c = m->text; *c; c++) {
				if (*c == '"' || *c == '\\')
					strbuf_addch(&word, '\\');
				strbuf_addch(&word, *c);
			}
			if (!strstr(words, word.buf))
				fail_msg("library_log.dict lacks '%s'", word.buf);
		}
}

/* The first paragraph of the page, and the manual, name the libraries. */
TEST(libraries_are_named)
{
	CLEANUP(xfreep) char *page = test_get("docs", "library.md");
	CLEANUP(xfreep) char *man = test_get("docs/man", "lib-trace.man");

	*strstr(page, "```") = 0;
	for (size_t i = 0; i < ARRAY_LEN(parsers); i++) {
		const char *library = parsers[i]->library;
		CLEANUP(xfreep) char *name = xstrndup(library, strcspn(library, "_"));

		if (!strcasestr(page, name))
			fail_msg("docs/library.md lacks '%s' in front of its examples", name);
		if (!strcasestr(man, name))
			fail_msg("docs/man/lib-trace.man lacks '%s'", name);
	}
}
