/*
 * element_type: types of elements by the names of libraries and frameworks, with their size.
 * "f32_r", "R_32F", "s", "float32" and PyTorch's "float" are all "f32".
 */
#ifndef PROFRIG_ELEMENT_TYPE_H
#define PROFRIG_ELEMENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct element_type {
	const char *name; /* f64 f32 f16 bf16 f8 bf8 i32 i8 i4 f32c f64c tf32 … */
	unsigned bits;
	bool complex;
};

/* By the names of libraries. NULL: none of them. */
const struct element_type *element_type(const char *s, size_t n);
/* By PyTorch's names: "c10::BFloat16", "float", "long int"; NULL: no type of a tensor. */
const struct element_type *element_type_torch(const char *s);
/*
 * By PyTorch's number of a type, as arguments like `dtype` hold it: 6 is float, 15 is bfloat16.
 * NULL: none. Source: c10/core/ScalarType.h.
 */
const struct element_type *element_type_number(int64_t number);

#endif
