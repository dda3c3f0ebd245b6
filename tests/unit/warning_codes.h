/*
 * warning_codes: a table of warnings against the header that defines their codes.
 */
#ifndef WARNING_CODES_H
#define WARNING_CODES_H

#include "test.h"

/*
 * Every code of a header (`#define W_… "code"`) has a row, and only those: there are `rows`. A code
 * without one may stop the program where it is first needed. source: where the rows are.
 */
static inline void expect_warning_codes(const char *header, const char *source,
					bool (*has_row)(const char *code), size_t rows)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t codes = 0, n;

	if (fs_read(header, 1 << 20, &text, &n, NULL) < 0) {
		print_message("not started in the root of the sources\n");
		skip();
	}
	for (const char *at = text; (at = strstr(at, "#define W_")) != NULL; codes++) {
		const char *word = strchr(at, '"') + 1, *end = strchr(word, '"');
		CLEANUP(xfreep) char *code = xstrndup(word, (size_t)(end - word));

		if (!has_row(code))
			fail_msg("%s has no row in %s", code, source);
		at = end;
	}
	assert_int_equal(rows, codes);
}

#endif
