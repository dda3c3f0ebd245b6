/*
 * Tensile, the kernels behind rocBLAS (TENSILE_DB=0x8000): a line for each launch,
 *
 *	Running kernel: Cijk_Ailk_Bljk_HHS_BH_MT128x64x64_MI16x16x16x1_SN_…
 *
 * The sizes of the call are not told, so the kernel is the configuration, and its flops are not
 * known. Of its name:
 *	Ailk, Alik	a is N, T (C behind it: conjugated); i is free, l summed, k the batch
 *	Bljk, Bjlk	b is N, T
 *	HHS_BH		types of a and b, of d, of the computation; B: beta is used
 *	SB		one type for all of them, and beta
 * Letters: S f32, D f64, C f32c, Z f64c, H f16, B bf16, I i32, I8 and 4xi8 i8, F8, B8.
 */
#include "library_parser.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define MARKER "Running kernel: "
#define TYPES_MAX 4

static bool kernel_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The next part of a name, up to '_'. */
static struct text_slice part_next(struct text_slice *rest)
{
	const char *end = rest->n ? memchr(rest->p, '_', rest->n) : NULL;
	struct text_slice part = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	size_t skip = part.n + (end != NULL);

	rest->p += skip;
	rest->n -= skip;
	return part;
}

/* "Ailk": N where the free index is before the summed one; 0: neither. */
static char operand_layout(struct text_slice part, char matrix, char free_index)
{
	const char *f, *sum;

	if (part.n < 3 || part.p[0] != matrix)
		return 0;
	f = memchr(part.p, free_index, part.n);
	sum = memchr(part.p, 'l', part.n);
	if (!f || !sum)
		return 0;
	if ((f < sum) == (matrix == 'A'))
		return 'N';
	return part.p[part.n - 1] == 'C' ? 'C' : 'T';
}

/* "HHS" → f16 f16 f32; how many, 0: unknown letters. */
static size_t types_read(struct text_slice part, const char *ret[TYPES_MAX])
{
	static const struct {
		const char *letters, *name;
	} types[] = { { "4xi8", "i8" }, { "I8", "i8" },  { "F8", "f8" },  { "B8", "bf8" },
		      { "S", "f32" },   { "D", "f64" },  { "C", "f32c" }, { "Z", "f64c" },
		      { "H", "f16" },   { "B", "bf16" }, { "I", "i32" } };
	size_t nr = 0;

	while (part.n > 0) {
		size_t i = 0;

		while (i < ARRAY_LEN(types) && !slice_begins(part, types[i].letters))
			i++;
		if (i == ARRAY_LEN(types) || nr == TYPES_MAX)
			return 0;
		ret[nr++] = types[i].name;
		part.p += strlen(types[i].letters);
		part.n -= strlen(types[i].letters);
	}
	return nr;
}

static void types_words(struct text_slice part, struct library_key *k)
{
	const char *types[TYPES_MAX];
	size_t nr = types_read(part, types);

	if (nr == 2 && part.p[part.n - 1] == 'B')
		types[1] = types[2] = types[0];
	else if (nr != 3)
		return;
	key_word(k, "a", types[0]);
	key_word(k, "d", types[1]);
	key_word(k, "compute", types[2]);
}

static enum record_is tensile_parse(struct text_slice text, struct library_key *k)
{
	struct text_slice name = { text.p + strlen(MARKER), text.n - strlen(MARKER) }, rest;
	char ta[2] = "", tb[2] = "";

	if (text.n < strlen(MARKER))
		return RECORD_TORN;
	for (size_t i = 0; i < name.n; i++)
		if (!kernel_char(name.p[i]))
			return RECORD_TORN;
	rest = name;
	part_next(&rest);
	ta[0] = operand_layout(part_next(&rest), 'A', 'i');
	tb[0] = operand_layout(part_next(&rest), 'B', 'j');
	if (!ta[0] || !tb[0] || rest.n == 0)
		return RECORD_TORN;
	key_begin(k, "kernel", "kernel");
	key_wordn(k, "name", name.p, name.n);
	key_word(k, "ta", ta);
	key_word(k, "tb", tb);
	types_words(part_next(&rest), k);
	k->config = name;
	k->inexact = true;
	return RECORD_CALL;
}

/* Other programs run kernels, too: those of Tensile are named after the indices of c. */
static bool tensile_starts(struct text_slice line, size_t at)
{
	struct text_slice name = { line.p + at + strlen(MARKER), line.n - at - strlen(MARKER) };

	return slice_begins(name, "Cij");
}

const struct library_parser library_parser_tensile = {
	.name = "Tensile",
	.library = "tensile",
	.markers = { { MARKER, false, false } },
	.starts = tensile_starts,
	.parse = tensile_parse,
};
