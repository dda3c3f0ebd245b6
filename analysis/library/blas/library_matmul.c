/* The products of Lt libraries and their keys (library_matmul.h). */
#include "library_matmul.h"

#include <string.h>

#include "profrig/base/xalloc.h"

void matmul_init(struct matmul *m)
{
	*m = (struct matmul){ .mode = "", .more = STRBUF_INIT };
	gemm_init(&m->g);
	strbuf_limit(&m->more, LIBRARY_TEXT_MAX);
}

void matmul_release(struct matmul *m)
{
	strbuf_release(&m->more);
}

static bool more_char(char c)
{
	return c > ' ' && c < 127 && c != '=' && c != '"' && c != '\'' && c != '\\';
}

static void more_add(struct strbuf *to, struct text_slice v)
{
	for (size_t i = 0; i < v.n; i++)
		strbuf_addch(to, more_char(v.p[i]) ? v.p[i] : '_');
}

void matmul_more(struct matmul *m, const char *of, struct text_slice name, struct text_slice v)
{
	strbuf_addch(&m->more, ' ');
	strbuf_addstr(&m->more, of);
	more_add(&m->more, name);
	strbuf_addch(&m->more, '=');
	more_add(&m->more, v);
}

/* Scales of 32 bits are the rule for arithmetic of 32 bits, whatever its inputs become. */
static bool scale_type_is_natural(const struct matmul *m)
{
	return !m->scale_type || m->scale_type == m->g.compute ||
	       (m->g.compute && !strcmp(m->g.compute->name, "tf32") &&
		!strcmp(m->scale_type->name, "f32"));
}

enum record_is matmul_key(const struct matmul *m, const char *operation, struct library_key *k)
{
	static const char *const scales[] = { "scale_a", "scale_b", "scale_c", "scale_d" };
	enum record_is is = gemm_key(&m->g, operation, k);

	if (is != RECORD_CALL)
		return is;
	key_word(k, "compute_mode", m->mode);
	if (!scale_type_is_natural(m))
		key_word(k, "scale_type", m->scale_type->name);
	for (size_t i = 0; i < ARRAY_LEN(scales); i++)
		key_word(k, scales[i], m->scale[i]);
	strbuf_add(&k->text, m->more.buf, m->more.len);
	k->text.overflow |= m->more.overflow;
	return RECORD_CALL;
}

static void slice_cut(struct text_slice *t, const char *begin)
{
	if (slice_begins(*t, begin)) {
		t->p += strlen(begin);
		t->n -= strlen(begin);
	}
}

const struct element_type *compute_type(struct text_slice v, const char **mode)
{
	/* clang-format off */
	static const struct { const char *as, *type, *mode; } types[] = {
		{ "16F", "f16", "" }, { "32F", "f32", "" }, { "64F", "f64", "" },
		{ "32I", "i32", "" },
		{ "32F_FAST_16F", "f32", "fast_16f" }, { "f32_f16_r", "f32", "fast_16f" },
		{ "32F_FAST_16BF", "f32", "fast_16bf" }, { "f32_bf16_r", "f32", "fast_16bf" },
		{ "32F_FAST_TF32", "tf32", "" }, { "32F_FAST_XF32", "tf32", "" },
		{ "32XF", "tf32", "" }, { "16F_PEDANTIC", "f16", "pedantic" },
		{ "32F_PEDANTIC", "f32", "pedantic" }, { "64F_PEDANTIC", "f64", "pedantic" },
		{ "32I_PEDANTIC", "i32", "pedantic" },
		{ "32F_EMULATED_16BFX9", "f32", "emulated_16bfx9" },
		{ "64F_EMULATED_FIXEDPOINT", "f64", "emulated_fixedpoint" },
		{ "f32_f8_f8_r", "f32", "fast_f8" }, { "f32_f8_fnuz_r", "f32", "fast_f8" },
		{ "f32_bf8_bf8_r", "f32", "fast_bf8" }, { "f32_f8_bf8_r", "f32", "fast_f8_bf8" },
		{ "f32_bf8_f8_r", "f32", "fast_bf8_f8" },
	};
	/* clang-format on */

	*mode = "";
	slice_cut(&v, "CUDA_");
	slice_cut(&v, "CUBLAS_");
	slice_cut(&v, "HIPBLAS_");
	slice_cut(&v, "COMPUTE_");
	slice_cut(&v, "c_");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(v, types[i].as)) {
			*mode = types[i].mode;
			return element_type(types[i].type, strlen(types[i].type));
		}
	return element_type(v.p, v.n);
}

void epilogue_name(struct text_slice v, char buf[64])
{
	size_t n = 0;

	slice_cut(&v, "CUBLASLT_");
	slice_cut(&v, "HIPBLASLT_");
	slice_cut(&v, "EPILOGUE_");
	for (; n < v.n && n < 63; n++) {
		char c = v.p[n];

		buf[n] = c == '_' ? '+' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
	}
	buf[n] = 0;
	if (!strcmp(buf, "default"))
		buf[0] = 0;
}
