/*
 * cuDNN, by CUDNN_LOGINFO_DBG=1 (≤ 8) or CUDNN_LOGLEVEL_DBG=3 (9): a block of lines for each call,
 * its arguments as an indented tree (library_block.h).
 *
 *	xDesc: type=cudnnTensorDescriptor_t:		also srcDesc, dxDesc, gradDesc
 *	    dataType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);
 *	    dimA: type=int; val=[4,64,56,56];
 *	    strideA: type=int; val=[200704,3136,56,1];
 *	wDesc: type=cudnnFilterDescriptor_t:		also filterDesc, dwDesc; format
 *	convDesc: type=cudnnConvolutionDescriptor_t:	mode padA strideA dilationA groupCount …
 *	yDesc: …					also destDesc, dyDesc, diffDesc
 *
 * Convolutions (forward, with bias and activation, backward data, backward filter) have the key
 * that all libraries share; arithmetic that is not usual for the type, a flipped filter, scalars
 * and an epilogue follow in "with". Layout: NCHW or NHWC by strides, else the strides. Every other
 * function that executes has a key of its own, each of its arguments by its name, tensors as
 * TYPE:DIMS:LAYOUT. The algorithm and the workspace are not of the configuration.
 *
 * Functions that create, set, ask (…GetWorkspaceSize has the same tree) or search are no calls.
 * cudnnBackendExecute has addresses only: a call of unknown work.
 */
#include "cudnn_tree.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* ---- functions ---- */

bool cudnn_is_info(struct text_slice f)
{
	static const char *const begins[] = { "Create", "Destroy", "Set",     "Get",   "Find",
					      "Query",  "Derive",  "Restore", "Save",  "Copy",
					      "Build",  "Make",    "RNNGet",  "RNNSet" };
	static const char *const ends[] = { "VersionCheck" };

	if (!slice_begins(f, "cudnn") || slice_is(f, "cudnnSetTensor"))
		return false;
	f.p += strlen("cudnn");
	f.n -= strlen("cudnn");
	if (slice_begins(f, "Backend"))
		return !slice_is(f, "BackendExecute");
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (slice_begins(f, begins[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (f.n >= strlen(ends[i]) &&
		    !memcmp(f.p + f.n - strlen(ends[i]), ends[i], strlen(ends[i])))
			return true;
	return false;
}

/* ---- other functions ---- */

static const char *family_of(struct text_slice f)
{
	static const char *const families[][2] = {
		{ "Pooling", "pool" },
		{ "Activation", "activation" },
		{ "Softmax", "softmax" },
		{ "BatchNormalization", "batchnorm" },
		{ "Normalization", "norm" },
		{ "RNN", "rnn" },
		{ "LRN", "lrn" },
		{ "Dropout", "dropout" },
		{ "MultiHeadAttn", "attention" },
		{ "CTCLoss", "ctc" },
		{ "ConvolutionBackwardBias", "conv_bias" },
		{ "Convolution", "conv" },
		{ "BackendExecute", "graph" },
		{ "ReduceTensor", "reduce" },
	};

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (slice_begins(f, families[i][0]))
			return families[i][1];
	return "tensor";
}

static void name_add(struct library_key *k, const struct cudnn_tree *t, size_t node)
{
	if (t->v[node].parent != NODES_MAX) {
		name_add(k, t, t->v[node].parent);
		strbuf_addch(&k->text, '.');
	}
	for (size_t i = 0; i < t->v[node].a.name.n; i++) {
		char c = t->v[node].a.name.p[i];

		strbuf_addch(&k->text, c > ' ' && c < 127 && c != '=' ? c : '_');
	}
}

static void value_add(struct library_key *k, struct text_slice v)
{
	for (size_t i = 0; i < v.n; i++)
		strbuf_addch(&k->text,
			     v.p[i] > ' ' && v.p[i] < 127 && v.p[i] != '=' ? v.p[i] : '_');
}

static void tensor_add(struct library_key *k, const struct cudnn_tensor *x)
{
	char layout[96];

	strbuf_addf(&k->text, "%s:", x->type->name);
	for (int i = 0; i < x->dims; i++)
		strbuf_addf(&k->text, "%s%lld", i ? "x" : "", (long long)x->dim[i]);
	cudnn_layout(x, layout, sizeof(layout));
	if (layout[0])
		strbuf_addf(&k->text, ":%s", layout);
}

static bool is_descriptor(const struct block_argument *a)
{
	return slice_is(a->type, "cudnnTensorDescriptor_t") ||
	       slice_is(a->type, "cudnnFilterDescriptor_t");
}

static amount tensor_bits(const struct cudnn_tensor *x)
{
	amount n = x->type->bits;

	for (int i = 0; i < x->dims; i++)
		n = amount_mul(n, x->dim[i]);
	return n;
}

/* Numbers as short as they are: "1.000000" is 1. */
static void leaf_add(struct library_key *k, const struct cudnn_tree *t, size_t node)
{
	struct text_slice v = block_word(t->v[node].a.value);
	char text[40];
	double d;

	strbuf_addch(&k->text, ' ');
	name_add(k, t, node);
	strbuf_addch(&k->text, '=');
	if (num_f64(v.p, v.n, &d) == 0)
		strbuf_addstr(&k->text, (num_fmt_f64(text, d), text));
	else
		value_add(k, v);
}

/* Whether the node or one that it is of is a descriptor that is written as a whole. */
static bool is_written(const struct cudnn_tree *t, size_t node, const bool *whole)
{
	for (; node != NODES_MAX; node = t->v[node].parent)
		if (whole[node])
			return true;
	return false;
}

/*
 * Each argument by its name. RECORD_TORN: a tensor is not whole. *bits: of all tensors, each once.
 */
static enum record_is arguments_add(const struct cudnn_tree *t, struct library_key *k, amount *bits)
{
	bool whole[NODES_MAX] = { false };

	for (size_t i = 0; i < t->nr; i++) {
		const struct block_argument *a = &t->v[i].a;
		struct cudnn_tensor x;

		if (is_written(t, i, whole))
			continue;
		if (is_descriptor(a) && a->value.n == 0) {
			if (!cudnn_tensor_read(t, i, &x))
				return RECORD_TORN;
			whole[i] = true;
			strbuf_addch(&k->text, ' ');
			name_add(k, t, i);
			strbuf_addch(&k->text, '=');
			tensor_add(k, &x);
			*bits += tensor_bits(&x);
		} else if (a->value.n > 0 && !slice_is(a->value, "*") &&
			   !slice_is(a->name, "nbDims")) {
			leaf_add(k, t, i);
		}
	}
	return RECORD_CALL;
}

/* Functions whose buffers are their tensors, each read or written once. */
static bool bytes_are_known(const char *family)
{
	return !strcmp(family, "pool") || !strcmp(family, "activation") ||
	       !strcmp(family, "softmax") || !strcmp(family, "lrn");
}

static enum record_is function_key(const struct cudnn_tree *t, struct text_slice f,
				   struct library_key *k)
{
	const char *family = family_of(f);
	amount bits = 0;
	char operation[64];
	enum record_is is;

	snprintf(operation, sizeof(operation), "%.*s", (int)(f.n < 63 ? f.n : 63), f.p);
	key_begin(k, family, operation);
	key_word(k, "op", operation);
	is = arguments_add(t, k, &bits);
	if (is != RECORD_CALL)
		return is;
	if (bits / 8 > INT64_MAX)
		return key_bad(k, "its sizes multiply to more than 2^63");
	if (bits > 0 && bytes_are_known(family))
		k->bytes = (uint64_t)(bits / 8);
	/* a graph's operations are in descriptors that the block has addresses of */
	k->inexact = !strcmp(family, "graph") || t->nr == 0;
	return RECORD_CALL;
}

enum record_is cudnn_block_key(struct text_slice text, struct library_key *k)
{
	static const struct {
		const char *function;
		enum conv_direction direction;
	} convolutions[] = { { "ConvolutionForward", CONV_FWD },
			     { "ConvolutionBiasActivationForward", CONV_FWD },
			     { "ConvolutionBackwardData", CONV_BWD_DATA },
			     { "ConvolutionBackwardFilter", CONV_BWD_WEIGHTS } };
	struct cudnn_tree t;
	struct text_slice f;
	bool bare;

	f = block_function(&text, &bare);
	if (!slice_begins(f, "cudnn"))
		return RECORD_TORN;
	if (cudnn_is_info(f))
		return RECORD_INFO;
	f.p += strlen("cudnn");
	f.n -= strlen("cudnn");
	cudnn_tree_read(&t, text);
	if (t.too_many)
		return key_bad(k, "more than %d arguments", NODES_MAX);
	if (t.nr == 0 && !slice_is(f, "BackendExecute"))
		return RECORD_TORN;
	for (size_t i = 0; i < ARRAY_LEN(convolutions); i++)
		if (slice_is(f, convolutions[i].function))
			return cudnn_conv_key(&t, convolutions[i].direction,
					      convolutions[i].function, k);
	return function_key(&t, f, k);
}
