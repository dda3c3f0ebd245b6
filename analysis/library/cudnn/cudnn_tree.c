/* Arguments of cuDNN as a tree; tensors and their layouts (cudnn_tree.h). */
#include "cudnn_tree.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* ---- the tree ---- */

void cudnn_tree_read(struct cudnn_tree *t, struct text_slice rest)
{
	size_t open[NODES_MAX], opens = 0;
	struct block_argument a;

	t->nr = 0;
	t->too_many = false;
	while (block_next(&rest, &a)) {
		if (t->nr == NODES_MAX) {
			t->too_many = true;
			return;
		}
		while (opens > 0 && t->v[open[opens - 1]].a.depth >= a.depth)
			opens--;
		t->v[t->nr] = (struct cudnn_node){ a, opens ? open[opens - 1] : NODES_MAX };
		open[opens++] = t->nr++;
	}
}

/* The member of a node; NULL: it has none, or (*twice) two. */
const struct block_argument *cudnn_member(const struct cudnn_tree *t, size_t node, const char *name,
					  bool *twice)
{
	const struct block_argument *found = NULL;

	for (size_t i = node == NODES_MAX ? 0 : node + 1; i < t->nr; i++) {
		if (t->v[i].parent != node || !slice_is(t->v[i].a.name, name))
			continue;
		*twice |= found != NULL;
		found = &t->v[i].a;
	}
	return found;
}

/* "[1,64,24,24]" → how many; 0: it is none. */
int cudnn_list(struct text_slice v, int64_t *to, int max)
{
	int n = 0;

	if (v.n < 3 || v.p[0] != '[' || v.p[v.n - 1] != ']')
		return 0;
	v.p++;
	v.n -= 2;
	for (;;) {
		const char *comma = memchr(v.p, ',', v.n);
		struct text_slice one = { v.p, comma ? (size_t)(comma - v.p) : v.n };

		one = slice_trim(one);
		if (n == max || num_i64(one.p, one.n, &to[n]) < 0)
			return 0;
		n++;
		if (!comma)
			return n;
		v.n -= (size_t)(comma + 1 - v.p);
		v.p = comma + 1;
	}
}

/* "CUDNN_DATA_INT8x4 (3)" */
const struct element_type *cudnn_type(struct text_slice v)
{
	static const char *const names[][2] = {
		{ "FLOAT", "f32" },     { "DOUBLE", "f64" },   { "HALF", "f16" },
		{ "INT8", "i8" },       { "INT32", "i32" },    { "INT8x4", "i8" },
		{ "UINT8", "u8" },      { "UINT8x4", "u8" },   { "INT8x32", "i8" },
		{ "BFLOAT16", "bf16" }, { "INT64", "i64" },    { "BOOLEAN", "bool" },
		{ "FP8_E4M3", "f8" },   { "FP8_E5M2", "bf8" }, { "FAST_FLOAT_FOR_FP8", "f32" },
	};

	v = block_word(v);
	if (!slice_begins(v, "CUDNN_DATA_"))
		return NULL;
	v.p += strlen("CUDNN_DATA_");
	v.n -= strlen("CUDNN_DATA_");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(v, names[i][0]))
			return element_type(names[i][1], strlen(names[i][1]));
	return NULL;
}

bool cudnn_tensor_read(const struct cudnn_tree *t, size_t node, struct cudnn_tensor *x)
{
	bool twice = false;
	const struct block_argument *type = cudnn_member(t, node, "dataType", &twice);
	const struct block_argument *dims = cudnn_member(t, node, "dimA", &twice);
	const struct block_argument *strides = cudnn_member(t, node, "strideA", &twice);
	const struct block_argument *count = cudnn_member(t, node, "nbDims", &twice);
	const struct block_argument *format = cudnn_member(t, node, "format", &twice);
	int64_t nr;

	*x = (struct cudnn_tensor){ .type = type ? cudnn_type(type->value) : NULL };
	if (twice || !x->type || !dims)
		return false;
	x->dims = cudnn_list(dims->value, x->dim, TENSOR_DIMS);
	if (strides)
		x->strides = cudnn_list(strides->value, x->stride, TENSOR_DIMS);
	if (format)
		x->format = block_word(format->value);
	if (count && (num_i64(count->value.p, count->value.n, &nr) < 0 || nr != x->dims))
		return false;
	return x->dims > 0 && (!strides || x->strides == x->dims);
}

/* ---- layouts ---- */

/* Whether the strides are those of dense dims; last: channels are. */
static bool strides_are(const struct cudnn_tensor *x, bool channels_last)
{
	amount want = 1;

	if (x->strides != x->dims || x->dims < 3)
		return false;
	if (channels_last) {
		if (x->stride[1] != 1)
			return false;
		want = amount_mul(1, x->dim[1]);
	}
	for (int i = x->dims - 1; i >= 0; i--) {
		if (channels_last && i == 1)
			continue;
		if (x->dim[i] != 1 && (x->stride[i] < 0 || (amount)x->stride[i] != want))
			return false;
		want = amount_mul(want, x->dim[i]);
	}
	return true;
}

static const char *layout_name(bool channels_last, int dims)
{
	static const char *const names[2][3] = { { "NCW", "NCHW", "NCDHW" },
						 { "NWC", "NHWC", "NDHWC" } };

	return dims >= 3 && dims <= 5 ? names[channels_last][dims - 3] : "";
}

/* NCHW, NHWC, the strides, or a filter's format; "" unknown. */
void cudnn_layout(const struct cudnn_tensor *x, char *buf, size_t size)
{
	struct text_slice f = x->format;
	size_t n = 0;

	buf[0] = 0;
	if (slice_begins(f, "CUDNN_TENSOR_")) {
		f.p += strlen("CUDNN_TENSOR_");
		f.n -= strlen("CUDNN_TENSOR_");
		if (slice_is(f, "NCHW") || slice_is(f, "NHWC"))
			snprintf(buf, size, "%s", layout_name(slice_is(f, "NHWC"), x->dims));
		else
			snprintf(buf, size, "%.*s", (int)(f.n < 32 ? f.n : 32), f.p);
	} else if (strides_are(x, false) || strides_are(x, true)) {
		snprintf(buf, size, "%s", layout_name(!strides_are(x, false), x->dims));
	} else {
		for (int i = 0; i < x->strides && n < size; i++)
			n += (size_t)snprintf(buf + n, size - n, "%s%lld", i ? "_" : "",
					      (long long)x->stride[i]);
	}
}
