/*
 * Tensile, the generator behind rocBLAS and hipBLASLt:
 *
 *	Cijk_Ailk_Bjlk_HHS_BH_…_MT128x64x32_MI16x16x1_…_GSU4_…_ISA942_…
 *	     A    B    types           tile      matrix instruction
 *
 * Index l is summed over; A is [i,l] or [l,i], column by column: Ailk is A as it is, Alik its
 * transpose; Bljk is B as it is, Bjlk its transpose. Types: of A (and B), of D, of the sum;
 * behind them B for a beta and H for sums of higher precision. Newer names part the types by
 * underscores (B_BS_BH).
 */
#include "kernel_words.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static const struct letters {
	const char *text, *type;
} type_letters[] = {
	{ "F8N", "fp8" }, { "B8N", "bf8" }, { "F8", "fp8" }, { "B8", "bf8" }, { "4xi8", "i8" },
	{ "I8", "i8" },   { "I", "i32" },   { "B", "bf16" }, { "H", "fp16" }, { "S", "f32" },
	{ "D", "f64" },   { "X", "tf32" },  { "C", "c32" },  { "Z", "c64" },
};

static const struct letters *letters_at(const char *p, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(type_letters); i++) {
		size_t len = strlen(type_letters[i].text);

		if (len <= n && memcmp(p, type_letters[i].text, len) == 0)
			return &type_letters[i];
	}
	return NULL;
}

static bool all_letters(const struct kernel_word *w)
{
	for (size_t i = 0; i < w->n;) {
		const struct letters *l = letters_at(w->p + i, w->n - i);

		if (!l)
			return false;
		i += strlen(l->text);
	}
	return w->n > 0;
}

/* The words of types joined, without the beta: "B", "BS", "BH" → "BBS" and high. */
static size_t types_join(const struct kernel_words *w, size_t at, char *buf, size_t max, bool *high)
{
	size_t n = 0;

	for (; at < w->nr && all_letters(&w->v[at]) && n + w->v[at].n < max; at++) {
		memcpy(buf + n, w->v[at].p, w->v[at].n);
		n += w->v[at].n;
	}
	*high = n >= 3 && memcmp(buf + n - 2, "BH", 2) == 0;
	if (*high)
		return n - 2;
	return n >= 2 && buf[n - 1] == 'B' ? n - 1 : n;
}

static void tensile_types(const struct kernel_words *w, size_t at, struct kernel_name *k)
{
	char buf[32];
	const char *v[4] = { NULL };
	bool high;
	size_t n = types_join(w, at, buf, sizeof(buf), &high), nr = 0;

	for (size_t i = 0; i < n && nr < ARRAY_LEN(v);) {
		const struct letters *l = letters_at(buf + i, n - i);

		if (!l)
			break;
		v[nr++] = l->type;
		i += strlen(l->text);
	}
	if (!nr)
		return;
	k->in = v[0];
	if (nr == 4) { /* A and B differ */
		k->out = v[2];
		k->acc = v[3];
		return;
	}
	k->out = nr > 1 ? v[1] : v[0];
	k->acc = nr > 2 ? v[2] : v[0];
	if (nr < 3 && strcmp(k->in, "i8") == 0)
		k->acc = "i32";
	else if (nr < 3 && (strcmp(k->in, "tf32") == 0 || (high && strcmp(k->in, "f64") != 0)))
		k->acc = "f32";
}

static void tensile_word(const struct kernel_word *w, struct kernel_name *k)
{
	uint32_t v[3];
	uint32_t n;

	if (!k->tile[0] && word_numbers(w, "MT", v) == 3) {
		memcpy(k->tile, v, sizeof(v));
	} else if (w->n > 2 && word_begins(w, "MI") && word_numbers(w, "MI", v) > 0) {
		k->path = KERNEL_PATH_TENSOR;
	} else if (word_number(w, "GSU", &n)) {
		k->gsu = n;
		k->split_k = n > 1;
	} else if (word_number(w, "SK", &n)) {
		k->stream_k = true;
	} else if (word_is(w, "MX")) {
		k->in = k->in && strcmp(k->in, "f32") == 0 ? "tf32" : k->in;
	}
}

/* Also behind a stretch that a tool has cut out: "…_AFC1_..ISA942". */
static void isa_find(const char *name, struct kernel_name *k)
{
	const char *at = strstr(name, "ISA");
	size_t n;

	if (!at)
		return;
	at += strlen("ISA");
	n = strspn(at, "0123456789abcdef");
	if (n >= 3 && n < 6)
		snprintf(k->isa, sizeof(k->isa), "gfx%.*s", (int)n, at);
}

bool kernel_tensile(const struct kernel_words *w, struct kernel_name *k)
{
	size_t at = 0;

	while (at < w->nr && !word_is(&w->v[at], "Cijk"))
		at++;
	if (at + 3 >= w->nr)
		return false;
	k->lib = "tensile";
	k->op = "gemm";
	k->column_major = true;
	if ((word_is(&w->v[at + 1], "Ailk") || word_is(&w->v[at + 1], "Alik")) &&
	    (word_is(&w->v[at + 2], "Bljk") || word_is(&w->v[at + 2], "Bjlk"))) {
		k->layout[0] = w->v[at + 1].p[1] == 'i' ? 'N' : 'T';
		k->layout[1] = w->v[at + 2].p[1] == 'l' ? 'N' : 'T';
	}
	tensile_types(w, at + 3, k);
	for (size_t i = at + 3; i < w->nr; i++)
		tensile_word(&w->v[i], k);
	isa_find(w->text, k);
	if (k->path == KERNEL_PATH_UNKNOWN && k->tile[0])
		k->path = KERNEL_PATH_SIMT;
	return true;
}
