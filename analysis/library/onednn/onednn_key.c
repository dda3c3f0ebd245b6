#include "onednn_key.h"
#include "library_args.h"
#include "onednn_call.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define COLUMNS 7

bool onednn_is_forward(const struct onednn_call *c)
{
	return slice_begins(c->prop, "forward");
}

void onednn_with_word(struct strbuf *sb, const char *prefix, struct text_slice word)
{
	if (word.n == 0)
		return;
	if (sb->len > 0)
		strbuf_addch(sb, ',');
	strbuf_addstr(sb, prefix);
	strbuf_add(sb, word.p, word.n);
}

static void with_words(struct strbuf *sb, struct text_slice text)
{
	for (size_t i = 0, n = 0; i <= text.n; i++) {
		struct text_slice word = { text.p + i - n, n };

		if (i < text.n && text.p[i] != ' ') {
			n++;
			continue;
		}
		n = 0;
		if (slice_begins(word, "attr-")) {
			word.p += 5;
			word.n -= 5;
		}
		if (!slice_begins(word, "scratchpad:") && !slice_begins(word, "scratchpad_mode:"))
			onednn_with_word(sb, "", word);
	}
}

void onednn_with(const struct onednn_call *c, struct strbuf *sb)
{
	with_words(sb, c->aux);
	with_words(sb, c->attrs);
}

/* "pooling_v2" of 2.x is pooling. */
static bool kind_copy(struct onednn_call *c, struct text_slice kind)
{
	if (kind.n > 3 && !memcmp(kind.p + kind.n - 3, "_v2", 3))
		kind.n -= 3;
	if (kind.n >= sizeof(c->kind))
		return false;
	memcpy(c->kind, kind.p, kind.n);
	c->kind[kind.n] = 0;
	return true;
}

static enum record_is key_of_kind(const struct onednn_call *c, struct library_key *k)
{
	enum record_is is;

	if (!strcmp(c->kind, "convolution") || !strcmp(c->kind, "deconvolution"))
		return onednn_conv_key(c, k);
	if (!strcmp(c->kind, "inner_product"))
		return onednn_other_key(c, "ip", k);
	if (!strcmp(c->kind, "matmul") || !strcmp(c->kind, "gemm_api")) {
		is = onednn_gemm_key(c, k);
		return is == RECORD_FOREIGN ? onednn_other_key(c, "matmul", k) : is;
	}
	return onednn_other_key(c, c->kind, k);
}

enum record_is onednn_key(struct text_slice text, struct library_key *k)
{
	struct text_slice column[COLUMNS];
	struct onednn_call c;
	enum record_is is;

	if (args_split(text, column, COLUMNS) != COLUMNS || !kind_copy(&c, column[0]))
		return RECORD_TORN;
	c.engine = column[1];
	c.prop = column[2];
	c.attrs = column[4];
	c.aux = column[5];
	c.desc = column[6];
	c.nr = onednn_mds(column[3], c.md, ONEDNN_MDS_MAX);
	if (c.nr > ONEDNN_MDS_MAX)
		return key_bad(k, "more than %d memories", ONEDNN_MDS_MAX);
	c.has_problem = onednn_problem(c.desc, &c.problem);
	is = key_of_kind(&c, k);
	if (is == RECORD_CALL && c.engine.n > 0 && !slice_begins(c.engine, "cpu"))
		key_wordn(k, "engine", c.engine.p, 3);
	return is;
}
