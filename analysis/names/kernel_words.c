#include "kernel_words.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/xalloc.h"

bool word_is(const struct kernel_word *w, const char *text)
{
	return strlen(text) == w->n && memcmp(w->p, text, w->n) == 0;
}

bool word_begins(const struct kernel_word *w, const char *text)
{
	size_t n = strlen(text);

	return w->n >= n && memcmp(w->p, text, n) == 0;
}

bool words_have(const struct kernel_words *w, const char *part)
{
	return memmem(w->text, w->n, part, strlen(part)) != NULL;
}

unsigned word_numbers(const struct kernel_word *w, const char *prefix, uint32_t *ret)
{
	const char *p = w->p + strlen(prefix), *end = w->p + w->n;
	uint32_t v[3];
	unsigned nr = 0;

	if (!word_begins(w, prefix))
		return 0;
	while (nr < 3) {
		uint32_t n = 0;

		for (; p < end && isdigit((unsigned char)*p) && n <= KERNEL_NUMBER_MAX; p++)
			n = n * 10 + (uint32_t)(*p - '0');
		if (n == 0 || n > KERNEL_NUMBER_MAX)
			return 0;
		v[nr++] = n;
		if (p == end)
			break;
		if (*p++ != 'x')
			return 0;
	}
	if (p != end)
		return 0;
	memcpy(ret, v, nr * sizeof(*v));
	return nr;
}

bool word_number(const struct kernel_word *w, const char *prefix, uint32_t *ret)
{
	uint32_t v[3];

	if (word_numbers(w, prefix, v) != 1)
		return false;
	*ret = v[0];
	return true;
}

bool word_layout(const struct kernel_word *w, char *ret)
{
	if (w->n != 2 && w->n != 3)
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (!strchr("nt", tolower((unsigned char)w->p[i])))
			return false;
	ret[0] = (char)toupper((unsigned char)w->p[0]);
	ret[1] = (char)toupper((unsigned char)w->p[1]);
	ret[2] = '\0';
	return true;
}

static const struct type_word {
	const char *word, *type;
} type_words[] = {
	{ "f64", "f64" },   { "double", "f64" },    { "fp64", "f64" },  { "f32", "f32" },
	{ "float", "f32" }, { "fp32", "f32" },      { "tf32", "tf32" }, { "xf32", "tf32" },
	{ "bf16", "bf16" }, { "bfloat16", "bf16" }, { "f16", "fp16" },  { "fp16", "fp16" },
	{ "half", "fp16" }, { "e4m3", "fp8" },      { "fp8", "fp8" },   { "f8", "fp8" },
	{ "e5m2", "bf8" },  { "bf8", "bf8" },       { "i8", "i8" },     { "s8", "i8" },
	{ "int8", "i8" },   { "u8", "u8" },         { "i32", "i32" },   { "s32", "i32" },
	{ "cf32", "c32" },  { "cf64", "c64" },
};

const char *type_of_word(const char *p, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(type_words); i++)
		if (strlen(type_words[i].word) == n && memcmp(p, type_words[i].word, n) == 0)
			return type_words[i].type;
	return NULL;
}
