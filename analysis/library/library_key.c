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

library_sum work_mul(library_sum a, int64_t b)
{
	library_sum r;

	if (b <= 0)
		return 0;
	return __builtin_mul_overflow(a, (library_sum)b, &r) ? ~(library_sum)0 : r;
}

bool key_work(struct library_key *k, library_sum flops, library_sum bytes)
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

/* ---- types ---- */

/* clang-format off */
static const struct element_type types[] = {
	{ "f64", 64, false }, { "f32", 32, false }, { "f16", 16, false }, { "bf16", 16, false },
	{ "f8", 8, false }, { "bf8", 8, false }, { "i32", 32, false }, { "i8", 8, false },
	{ "u8", 8, false }, { "i4", 4, false }, { "f32c", 64, true }, { "f64c", 128, true },
	{ "tf32", 32, false }, { "f6", 6, false }, { "bf6", 6, false }, { "f4", 4, false },
	{ "i64", 64, false }, { "u32", 32, false }, { "i16", 16, false }, { "bool", 8, false },
	{ "f16c", 32, true }, { "i8c", 16, true }, { "u64", 64, false },
};
static const struct { const char *as, *name; } type_names[] = {
	{ "d", "f64" }, { "f64_r", "f64" }, { "R_64F", "f64" }, { "double", "f64" },
	{ "s", "f32" }, { "f32_r", "f32" }, { "R_32F", "f32" }, { "float", "f32" },
	{ "float32", "f32" },
	{ "h", "f16" }, { "f16_r", "f16" }, { "R_16F", "f16" }, { "half", "f16" },
	{ "float16", "f16" },
	{ "bf16_r", "bf16" }, { "R_16BF", "bf16" }, { "bfloat16", "bf16" }, { "bfp16", "bf16" },
	{ "f8_r", "f8" }, { "R_8F_E4M3", "f8" }, { "fp8", "f8" }, { "f8_fnuz_r", "f8" },
	{ "f8_e4m3", "f8" }, { "bf8_r", "bf8" }, { "R_8F_E5M2", "bf8" }, { "bf8_fnuz_r", "bf8" },
	{ "R_8F_E4M3_FNUZ", "f8" }, { "R_8F_E5M2_FNUZ", "bf8" }, { "f8_e5m2", "bf8" },
	{ "R_8F", "f8" }, { "R_8BF", "bf8" },
	{ "i32_r", "i32" }, { "R_32I", "i32" }, { "s32", "i32" }, { "int32", "i32" },
	{ "i8_r", "i8" }, { "R_8I", "i8" }, { "s8", "i8" }, { "int8", "i8" },
	{ "u8_r", "u8" }, { "R_8U", "u8" }, { "uint8", "u8" },
	{ "s4", "i4" }, { "i4_r", "i4" }, { "R_4I", "i4" }, { "u4", "i4" },
	{ "c", "f32c" }, { "f32_c", "f32c" }, { "C_32F", "f32c" },
	{ "z", "f64c" }, { "f64_c", "f64c" }, { "C_64F", "f64c" },
	{ "f16_c", "f16c" }, { "C_16F", "f16c" }, { "i8_c", "i8c" }, { "xf32_r", "tf32" },
	{ "xf32", "tf32" },
	{ "f6_r", "f6" }, { "bf6_r", "bf6" }, { "f4_r", "f4" }, { "f4_e2m1", "f4" },
	{ "R_4F_E2M1", "f4" },
	{ "s64", "i64" }, { "int64", "i64" }, { "R_64I", "i64" }, { "uint32", "u32" },
	{ "u32_r", "u32" },
	{ "boolean", "bool" }, { "s16", "i16" }, { "uint64", "u64" },
};
/* clang-format on */

static const struct element_type *type_named(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strlen(types[i].name) == n && memcmp(types[i].name, s, n) == 0)
			return &types[i];
	return NULL;
}

const struct element_type *element_type(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
		if (strlen(type_names[i].as) == n && memcmp(type_names[i].as, s, n) == 0)
			return type_named(type_names[i].name, strlen(type_names[i].name));
	return type_named(s, n);
}
