/* Convolutions of oneDNN (onednn_key.h): mb4_g2ic64oc128_ih24oh12kh3sh2dh0ph1_iw24ow12… */
#include "library_conv.h"
#include "onednn_call.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* false: the properties are of no direction. */
static bool conv_direction(const struct onednn_call *c, enum conv_direction *ret)
{
	if (onednn_is_forward(c))
		*ret = CONV_FWD;
	else if (slice_is(c->prop, "backward_data"))
		*ret = CONV_BWD_DATA;
	else if (slice_is(c->prop, "backward_weights"))
		*ret = CONV_BWD_WEIGHTS;
	else
		return false;
	return true;
}

/* In oneDNN a dilation of 0 is a dense filter. */
static void conv_sizes(const struct onednn_problem *p, struct conv *c)
{
	static const char *const axes = "dhw";

	c->n = onednn_pair(p, "mb", DIM_NONE);
	c->c = onednn_pair(p, "ic", DIM_NONE);
	c->k = onednn_pair(p, "oc", DIM_NONE);
	c->groups = onednn_pair(p, "g", 1);
	c->dims = onednn_pair(p, "id", DIM_NONE) != DIM_NONE   ? 3
		  : onednn_pair(p, "ih", DIM_NONE) != DIM_NONE ? 2
							       : 1;
	for (int i = CONV_DIMS - c->dims; i < CONV_DIMS; i++) {
		char name[3] = { 'i', axes[i], 0 };
		const struct {
			char letter;
			int64_t *to, other;
		} sizes[] = { { 'i', &c->in[i], DIM_NONE },     { 'o', &c->out[i], DIM_NONE },
			      { 'k', &c->filter[i], DIM_NONE }, { 's', &c->stride[i], 1 },
			      { 'p', &c->pad[i], 0 },           { 'd', &c->dilation[i], 0 } };

		for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
			name[0] = sizes[s].letter;
			*sizes[s].to = onednn_pair(p, name, sizes[s].other);
		}
		if (c->dilation[i] >= 0 && c->dilation[i] < DIM_MAX)
			c->dilation[i]++; /* else it is no size */
	}
}

/* The right padding is not logged; where it differs from the left one, the output tells it. */
static void conv_output_word(const struct conv *c, struct strbuf *sb)
{
	char text[80];
	int n = 0;
	bool usual = true;

	for (int i = CONV_DIMS - c->dims; i < CONV_DIMS; i++) {
		usual &= c->out[i] == DIM_NONE || c->out[i] == conv_output(c, i);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%lld", n ? "x" : "",
			      (long long)c->out[i]);
	}
	if (!usual)
		onednn_with_word(sb, "out:", (struct text_slice){ text, (size_t)n });
}

static bool conv_memory(const struct onednn_md *m)
{
	return slice_is(m->name, "src") || slice_is(m->name, "wei") || slice_is(m->name, "dst");
}

/* "abcd.Acdb16a.aBcd16b" */
static void conv_layout(const struct onednn_call *c, struct library_key *k)
{
	static const char *const names[] = { "src", "wei", "dst" };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct onednn_md *m = onednn_md_named(c->md, c->nr, names[i]);

		if (i)
			strbuf_addch(&sb, '.');
		if (m)
			onednn_md_text(m, false, &sb);
	}
	key_wordn(k, "layout", sb.buf, sb.len);
}

static void conv_with(const struct onednn_call *c, const struct conv *conv, struct library_key *k)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (conv->direction == CONV_FWD)
		onednn_with_word(&sb, "", c->prop);
	onednn_with(c, &sb);
	for (size_t i = 0; i < c->nr; i++)
		if (!c->md[i].none && !conv_memory(&c->md[i])) {
			onednn_with_word(&sb, "", c->md[i].name);
			strbuf_addch(&sb, ':');
			onednn_md_text(&c->md[i], true, &sb);
		}
	conv_output_word(conv, &sb);
	key_wordn(k, "with", sb.buf, sb.len);
}

static const struct element_type *conv_type(const struct onednn_call *c, const char *name)
{
	const struct onednn_md *m = onednn_md_named(c->md, c->nr, name);

	return m ? m->type : NULL;
}

enum record_is onednn_conv_key(const struct onednn_call *c, struct library_key *k)
{
	struct conv conv;
	enum record_is is;

	conv_init(&conv);
	if (!conv_direction(c, &conv.direction))
		return onednn_other_key(c, c->kind, k);
	if (!c->has_problem || c->problem.pairs == 0)
		return RECORD_TORN;
	conv.transposed = !strcmp(c->kind, "deconvolution");
	conv_sizes(&c->problem, &conv);
	conv.x = conv_type(c, "src");
	conv.w = conv_type(c, "wei");
	conv.y = conv_type(c, "dst");
	conv.untyped = !conv.x; /* 0.x */
	is = conv_key(&conv, c->kind, k);
	if (is != RECORD_CALL)
		return is;
	conv_layout(c, k);
	conv_with(c, &conv, k);
	return is;
}
