#include "profrig/base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Sensible patterns need far fewer steps on a line of some KiB. */
#define MATCH_LIMIT 1000000u
#define HEAP_LIMIT_KIB 20000u
#define MAX_PATTERN ((size_t)8192)

struct regex {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

int regex_new(const char *pattern, unsigned flags, struct regex **ret, struct err *err)
{
	uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C |
			   (flags & REGEX_LINES ? PCRE2_MULTILINE : 0);
	unsigned char words[160];
	struct regex *re;
	pcre2_code *code;
	PCRE2_SIZE at;
	int why;

	if (strlen(pattern) > MAX_PATTERN)
		return err_set(err, EINVAL, "a regular expression over %zu bytes", MAX_PATTERN);
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &why, &at, NULL);
	if (!code && why == PCRE2_ERROR_HEAP_FAILED)
		xalloc_failed();
	if (!code) {
		pcre2_get_error_message(why, words, sizeof(words));
		return err_set(err, EINVAL, "'%.120s' is no regular expression: %s at byte %zu",
			       pattern, (const char *)words, (size_t)at);
	}
	/* Without a JIT compiler matching is slower, with the same result. */
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	re = xcalloc(1, sizeof(*re));
	re->code = code;
	re->match = pcre2_match_data_create_from_pattern(code, NULL);
	re->limits = pcre2_match_context_create(NULL);
	if (!re->match || !re->limits) {
		regex_free(re);
		xalloc_failed();
	}
	pcre2_set_match_limit(re->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(re->limits, HEAP_LIMIT_KIB);
	*ret = re;
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_match_context_free(re->limits);
	pcre2_match_data_free(re->match);
	pcre2_code_free(re->code);
	free(re);
}

void regex_freep(struct regex **re)
{
	regex_free(STEAL(*re));
}

int regex_find(struct regex *re, const char *text, size_t n, size_t from, size_t *ret_start,
	       size_t *ret_end)
{
	int r = pcre2_match(re->code, (PCRE2_SPTR)text, n, from, 0, re->match, re->limits);
	const PCRE2_SIZE *v;

	if (r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r < 0)
		return -EOVERFLOW;
	v = pcre2_get_ovector_pointer(re->match);
	/* \K in a lookahead can put the start behind the end. */
	*ret_start = v[0] <= v[1] ? v[0] : v[1];
	*ret_end = v[1];
	return 1;
}

bool regex_has_group(const struct regex *re, const char *name)
{
	return pcre2_substring_number_from_name(re->code, (PCRE2_SPTR)name) > 0;
}

bool regex_group(const struct regex *re, const char *name, size_t *ret_start, size_t *ret_end)
{
	int group = pcre2_substring_number_from_name(re->code, (PCRE2_SPTR)name);
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(re->match);

	if (group <= 0 || v[2 * group] == PCRE2_UNSET)
		return false;
	*ret_start = v[2 * group];
	*ret_end = v[2 * group + 1];
	return *ret_start <= *ret_end;
}
