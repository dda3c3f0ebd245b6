#include "profrig/cost/element_type.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* clang-format off */
static const struct element_type types[] = {
	{ "f64", 64, false }, { "f32", 32, false }, { "f16", 16, false }, { "bf16", 16, false },
	{ "f8", 8, false }, { "bf8", 8, false }, { "i32", 32, false }, { "i8", 8, false },
	{ "u8", 8, false }, { "i4", 4, false }, { "f32c", 64, true }, { "f64c", 128, true },
	{ "tf32", 32, false }, { "f6", 6, false }, { "bf6", 6, false }, { "f4", 4, false },
	{ "i64", 64, false }, { "u32", 32, false }, { "i16", 16, false }, { "bool", 8, false },
	{ "f16c", 32, true }, { "i8c", 16, true }, { "u64", 64, false }, { "u16", 16, false },
	{ "e8", 8, false },
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

/* clang-format off */
/* "long" and the like: the dialect of 2021. Scales of matrices in blocks have the type e8. */
static const struct { const char *as, *name; } torch_names[] = {
	{ "float", "f32" }, { "double", "f64" }, { "c10::Half", "f16" },
	{ "c10::BFloat16", "bf16" }, { "long int", "i64" }, { "long", "i64" }, { "int", "i32" },
	{ "short int", "i16" }, { "short", "i16" }, { "signed char", "i8" },
	{ "unsigned char", "u8" }, { "bool", "bool" }, { "c10::complex<float>", "f32c" },
	{ "c10::complex<double>", "f64c" }, { "c10::complex<c10::Half>", "f16c" },
	{ "c10::Float8_e4m3fn", "f8" }, { "c10::Float8_e4m3fnuz", "f8" },
	{ "c10::Float8_e5m2", "bf8" }, { "c10::Float8_e5m2fnuz", "bf8" },
	{ "c10::Float8_e8m0fnu", "e8" }, { "unsigned short", "u16" },
	{ "short unsigned int", "u16" }, { "unsigned int", "u32" }, { "unsigned long", "u64" },
	{ "long unsigned int", "u64" }, { "long long", "i64" }, { "c10::qint8", "i8" },
	{ "c10::quint8", "u8" }, { "c10::qint32", "i32" }, { "__int64", "i64" },
};
/* Numbers 0 to 15, 23 to 29. */
static const char *const numbered[] = {
	"u8", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "f16c", "f32c", "f64c", "bool",
	"i8", "u8", "i32", "bf16", NULL, NULL, NULL, NULL, NULL, NULL, NULL, "bf8", "f8", "bf8",
	"f8", "u16", "u32", "u64",
};
/* clang-format on */

const struct element_type *element_type_torch(const char *s)
{
	for (size_t i = 0; i < ARRAY_LEN(torch_names); i++)
		if (strcmp(torch_names[i].as, s) == 0)
			return type_named(torch_names[i].name, strlen(torch_names[i].name));
	return NULL;
}

const struct element_type *element_type_number(int64_t number)
{
	const char *name =
		number >= 0 && number < (int64_t)ARRAY_LEN(numbered) ? numbered[number] : NULL;

	return name ? type_named(name, strlen(name)) : NULL;
}
