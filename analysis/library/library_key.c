#include "library_key.h"
#include "library_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

void key_init(struct library_key *k)
{
	*k = (struct library_key){ .calls = 1, .level = LEVEL_BENCH };
	strbuf_init(&k->text);
	strbuf_init(&k->common);
	strbuf_limit(&k->text, LIBRARY_TEXT_MAX);
	strbuf_limit(&k->common, LIBRARY_TEXT_MAX);
	k->flops = k->bytes = LIBRARY_UNKNOWN;
}

void key_clear(struct library_key *k)
{
	struct strbuf text = k->text, common = k->common;

	strbuf_clear(&text);
	strbuf_clear(&common);
	text.overflow = common.overflow = false;
	*k = (struct library_key){ .text = text,
				   .common = common,
				   .calls = 1,
				   .flops = LIBRARY_UNKNOWN,
				   .bytes = LIBRARY_UNKNOWN,
				   .level = LEVEL_BENCH };
}

void key_release(struct library_key *k)
{
	strbuf_release(&k->text);
	strbuf_release(&k->common);
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.:+-*/,x@", c));
}

void key_begin(struct library_key *k, const char *family, const char *operation)
{
	size_t n = strlen(operation);

	strbuf_addstr(&k->text, family);
	if (n >= sizeof(k->operation))
		n = sizeof(k->operation) - 1;
	for (size_t i = 0; i < n; i++)
		k->operation[i] = name_char(operation[i]) ? operation[i] : '_';
	k->operation[n] = 0;
}

void key_int(struct library_key *k, const char *name, int64_t v)
{
	char buf[24];

	if (v == DIM_NONE)
		return;
	num_fmt_i64(buf, v);
	key_word(k, name, buf);
}

void key_wordn(struct library_key *k, const char *name, const char *v, size_t n)
{
	if (n == 0)
		return;
	strbuf_addch(&k->text, ' ');
	strbuf_addstr(&k->text, name);
	strbuf_addch(&k->text, '=');
	for (size_t i = 0; i < n; i++)
		strbuf_addch(&k->text, name_char(v[i]) ? v[i] : '_');
}

void key_word(struct library_key *k, const char *name, const char *v)
{
	key_wordn(k, name, v, strlen(v));
}

bool key_number(struct library_key *k, const char *name, const char *v, size_t n)
{
	char buf[40];
	double d;

	if (num_f64(v, n, &d) < 0)
		return false;
	num_fmt_f64(buf, d);
	key_word(k, name, buf);
	return true;
}

enum record_is key_bad(struct library_key *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(k->why, sizeof(k->why), fmt, ap);
	va_end(ap);
	return RECORD_BAD;
}

bool key_work(struct library_key *k, amount flops, amount bytes)
{
	if (flops > INT64_MAX || bytes > INT64_MAX) {
		key_bad(k, "its sizes multiply to more than 2^63");
		return false;
	}
	k->flops = (uint64_t)flops;
	k->bytes = (uint64_t)bytes;
	return true;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void key_product(struct library_key *k, int form, int64_t m, int64_t n, int64_t depth)
{
	int64_t *size = k->product.size[form];

	size[0] = m;
	size[1] = n;
	size[2] = depth;
	qsort(size, 3, sizeof(*size), by_size);
	k->product.flops = k->flops;
}
