/*
 * The keys of MIOpenDriver's verbs that are neither convolutions nor recurrent.
 *
 *	pool	-n -c -H -W, -y -x window, -p -q padding, -v stride of height, -u stride of width,
 *		-m max|avg|avg_in, -M kind of index, -F 1 forward 2 backward 0 both
 *	bnorm	-n -c [-D] -H -W -m mode --forw 1 training 2 inference 0 none, -b 1 backward
 *		-s saved, -r running statistics, --layout
 *	softmax	-a algorithm -m mode; activ: -m mode; lrn: -N window -m mode; -A -B … scalars
 *	gemm	-m rows of a, -k columns of a, -n columns of b, -u -v transposed, row-major
 *
 * All but gemm have bytes only, and 0 flops: x and y, backwards as many arrays as it reads and
 * writes; where the direction is not told, bytes are unknown. rnn is in miopen_rnn.c.
 */
#include "miopen_command.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static const struct option_name name_n = { "-n", "--batchsize" };
static const struct option_name name_c = { "-c", "--in_channels" };
static const struct option_name name_forw = { "-F", "--forw" };
static const struct option_name names_in[] = { { "-D", "--in_d" },
					       { "-H", "--in_h" },
					       { "-W", "--in_w" } };

/* A batch of arrays of 2 or 3 dimensions, as many verbs have. */
struct tensor {
	int64_t n, c, in[MIOPEN_DIMS];
	int dims;
};

/* RECORD_CALL: all sizes are there. */
static enum record_is tensor_read(struct miopen_command *c, struct tensor *t, struct library_key *k)
{
	t->n = t->c = t->in[0] = t->in[1] = t->in[2] = DIM_NONE;
	if (!command_int(c, name_n, &t->n) || !command_int(c, name_c, &t->c) ||
	    !command_ints(c, names_in, t->in, MIOPEN_DIMS))
		return RECORD_TORN;
	t->dims = t->in[0] == DIM_NONE ? 2 : MIOPEN_DIMS;
	if (t->n == DIM_NONE || t->c == DIM_NONE || t->in[1] == DIM_NONE || t->in[2] == DIM_NONE)
		return RECORD_TORN;
	if (!command_in_range(k, "n", t->n, 0) || !command_in_range(k, "c", t->c, 1))
		return RECORD_BAD;
	for (int i = MIOPEN_DIMS - t->dims; i < MIOPEN_DIMS; i++)
		if (!command_in_range(k, "in", t->in[i], 1))
			return RECORD_BAD;
	return RECORD_CALL;
}

static void tensor_words(const struct tensor *t, struct library_key *k)
{
	key_int(k, "n", t->n);
	key_int(k, "c", t->c);
	command_sizes(k, "in", t->in, t->dims);
}

static amount tensor_elements(int64_t n, int64_t c, const int64_t v[MIOPEN_DIMS], int dims)
{
	amount p = amount_mul(amount_mul(1, n), c);

	for (int i = MIOPEN_DIMS - dims; i < MIOPEN_DIMS; i++)
		p = amount_mul(p, v[i]);
	return p;
}

/* Bytes of elements of a type. */
static bool bytes_set(struct library_key *k, amount elements, const struct element_type *type)
{
	return key_work(k, 0, amount_mul(elements, type->bits) / 8);
}

/* -F as a sum of bits, `all` for 0; 0: it is not told. false: it is no such sum. */
static bool bits_read(struct miopen_command *c, unsigned all, unsigned *ret)
{
	int64_t v = -1;

	if (!command_int(c, name_forw, &v))
		return false;
	*ret = v < 0 ? 0 : v == 0 ? all : (unsigned)v;
	return v >= -1 && v <= (int64_t)all;
}

/* ---- bytes only ---- */

struct pointwise {
	const char *family;
	int fwd, bwd; /* arrays as large as x that are read and written */
	struct {
		struct option_name name;
		const char *as;
	} options[8];
};

static const struct pointwise pointwises[] = {
	{ "bnorm",
	  2,
	  3,
	  { { { "-m", "--mode" }, "mode" },
	    { { "-s", "--save" }, "save" },
	    { { "-r", "--run" }, "run" },
	    { { "-A", "--alpha" }, "alpha" },
	    { { "-B", "--beta" }, "beta" },
	    { { "--layout", NULL }, "layout" } } },
	{ "softmax",
	  2,
	  3,
	  { { { "-a", "--algorithm" }, "algorithm" },
	    { { "-m", "--mode" }, "mode" },
	    { { "-A", "--alpha" }, "alpha" },
	    { { "-B", "--beta" }, "beta" } } },
	{ "activ",
	  2,
	  4,
	  { { { "-m", "--mode" }, "mode" },
	    { { "-A", "--alpha" }, "alpha" },
	    { { "-B", "--beta" }, "beta" },
	    { { "-G", "--gamma" }, "gamma" } } },
	{ "lrn",
	  2,
	  4,
	  { { { "-m", "--mode" }, "mode" },
	    { { "-N", "--lrnN" }, "window" },
	    { { "-A", "--alpha" }, "alpha" },
	    { { "-B", "--beta" }, "beta" },
	    { { "-K", "--lrnK" }, "bias" } } },
};

/* bnorm has an option of its own for backwards, and two kinds of forwards. */
static bool bnorm_bits(struct miopen_command *c, unsigned *ret)
{
	int64_t forw = 0, back = 0;

	if (!command_int(c, name_forw, &forw) ||
	    !command_int(c, (struct option_name){ "-b", "--back" }, &back))
		return false;
	*ret = (forw == 1 ? 1 : 0) | (forw == 2 ? 2 : 0) | (back == 1 ? 4 : 0);
	return forw >= 0 && forw <= 2 && back >= 0 && back <= 1;
}

enum record_is miopen_pointwise(struct miopen_command *c, struct library_key *k)
{
	static const char *const usual[3] = { "fwd", "bwd", "" };
	static const char *const bnorm[3] = { "train", "inference", "bwd" };
	const struct pointwise *p = pointwises;
	bool is_bnorm, known;
	struct tensor t;
	unsigned bits;
	int arrays;
	enum record_is is = tensor_read(c, &t, k);

	if (is != RECORD_CALL)
		return is;
	while (strlen(p->family) != c->family || memcmp(p->family, c->verb, c->family) != 0)
		p++;
	is_bnorm = p == pointwises;
	known = is_bnorm ? bnorm_bits(c, &bits) : bits_read(c, 3, &bits);
	if (!known)
		return key_bad(k, "its direction is none");
	key_begin(k, p->family, c->verb);
	command_directions(k, bits, is_bnorm ? bnorm : usual);
	tensor_words(&t, k);
	key_word(k, "x", c->type->name);
	if (strlen(c->verb) > c->family + 6) /* fp16fp32 */
		key_word(k, "scale", c->verb + c->family);
	for (size_t i = 0; i < ARRAY_LEN(p->options) && p->options[i].as; i++)
		command_next_word(c, k, p->options[i].name, p->options[i].as, NULL);
	command_ignore_run(c);
	command_rest(c, k);
	k->flops = 0;
	arrays = is_bnorm ? (bits & 3 ? p->fwd : 0) + (bits & 4 ? p->bwd : 0)
			  : (bits & 1 ? p->fwd : 0) + (bits & 2 ? p->bwd : 0);
	if (arrays &&
	    !bytes_set(k, amount_mul(tensor_elements(t.n, t.c, t.in, t.dims), arrays), c->type))
		return RECORD_BAD;
	return RECORD_CALL;
}

struct pool {
	struct tensor x;
	int64_t window[MIOPEN_DIMS], pad[MIOPEN_DIMS], stride[MIOPEN_DIMS], out[MIOPEN_DIMS];
};

static enum record_is pool_read(struct miopen_command *c, struct pool *p, struct library_key *k)
{
	static const struct option_name windows[] = { { "--win_d", NULL },
						      { "-y", "--win_h" },
						      { "-x", "--win_w" } };
	static const struct option_name pads[] = { { "--pad_d", NULL },
						   { "-p", "--pad_h" },
						   { "-q", "--pad_w" } };
	static const struct option_name strides[] = { { "--pool_stride_d", NULL },
						      { "-v", "--pool_stride_h" },
						      { "-u", "--pool_stride_w" } };
	enum record_is is = tensor_read(c, &p->x, k);

	*p = (struct pool){ .x = p->x,
			    .window = { 1, DIM_NONE, DIM_NONE },
			    .stride = { 1, DIM_NONE, DIM_NONE } };
	if (is != RECORD_CALL)
		return is;
	if (!command_ints(c, windows, p->window, MIOPEN_DIMS) ||
	    !command_ints(c, pads, p->pad, MIOPEN_DIMS) ||
	    !command_ints(c, strides, p->stride, MIOPEN_DIMS))
		return RECORD_TORN;
	for (int i = 1; i < MIOPEN_DIMS; i++)
		if (p->window[i] == DIM_NONE || p->stride[i] == DIM_NONE)
			return RECORD_TORN;
	for (int i = MIOPEN_DIMS - p->x.dims; i < MIOPEN_DIMS; i++) {
		if (!command_in_range(k, "window", p->window[i], 1) ||
		    !command_in_range(k, "pad", p->pad[i], 0) ||
		    !command_in_range(k, "stride", p->stride[i], 1))
			return RECORD_BAD;
		p->out[i] = (p->x.in[i] + 2 * p->pad[i] - p->window[i]) / p->stride[i] + 1;
		if (p->x.in[i] + 2 * p->pad[i] < p->window[i])
			return key_bad(k, "the window is larger than its input");
	}
	return RECORD_CALL;
}

enum record_is miopen_pool(struct miopen_command *c, struct library_key *k)
{
	static const char *const names[3] = { "fwd", "bwd", "" };
	struct pool p;
	unsigned bits;
	enum record_is is = pool_read(c, &p, k);
	amount elements;

	if (is != RECORD_CALL)
		return is;
	if (!bits_read(c, 3, &bits))
		return key_bad(k, "its direction is none");
	key_begin(k, "pool", c->verb);
	command_directions(k, bits, names);
	command_next_word(c, k, (struct option_name){ "-m", "--mode" }, "mode", NULL);
	tensor_words(&p.x, k);
	command_sizes(k, "window", p.window, p.x.dims);
	command_sizes(k, "pad", p.pad, p.x.dims);
	command_sizes(k, "stride", p.stride, p.x.dims);
	key_word(k, "x", c->type->name);
	command_next_word(c, k, (struct option_name){ "-M", NULL }, "index", NULL);
	command_ignore_run(c);
	command_next_word(c, k, (struct option_name){ "--layout", NULL }, "layout", NULL);
	k->flops = 0;
	if (command_rest(c, k) > 0 || bits == 0)
		return RECORD_CALL; /* what these options do to y is not known */
	elements = tensor_elements(p.x.n, p.x.c, p.x.in, p.x.dims) +
		   tensor_elements(p.x.n, p.x.c, p.out, p.x.dims);
	if (!bytes_set(k, amount_mul(elements, bits == 3 ? 2 : 1), c->type))
		return RECORD_BAD;
	return RECORD_CALL;
}

/* ---- gemm ---- */

static void scalar_read(struct miopen_command *c, struct option_name name, char buf[32])
{
	const struct text_slice *v = command_get(c, name);
	char number[40];
	double d;

	if (!v || num_f64(v->p, v->n, &d) < 0)
		return;
	num_fmt_f64(number, d);
	if (strlen(number) < 32)
		memcpy(buf, number, strlen(number) + 1);
}

enum record_is miopen_gemm(struct miopen_command *c, struct library_key *k)
{
	static const struct option_name names[] = { { "-m", "--a_h" },    { "-k", "--a_w" },
						    { "-n", "--b_w" },    { "-b", "--batchsize" },
						    { "-u", "--transA" }, { "-v", "--transB" } };
	int64_t v[] = { DIM_NONE, DIM_NONE, DIM_NONE, 1, 0, 0 }, forw = 1;
	struct gemm g;
	enum record_is is;

	gemm_init(&g);
	if (!command_ints(c, names, v, ARRAY_LEN(v)) || !command_int(c, name_forw, &forw))
		return RECORD_TORN;
	g.m = v[0], g.k = v[1], g.n = v[2], g.batch = v[3];
	g.ta = v[4] ? 'T' : 'N';
	g.tb = v[5] ? 'T' : 'N';
	g.lda = v[4] ? g.m : g.k;
	g.ldb = v[5] ? g.k : g.n;
	g.ldc = g.ldd = g.n;
	g.a = g.b = g.c = g.d = c->type;
	scalar_read(c, (struct option_name){ "-A", "--alpha" }, g.alpha);
	scalar_read(c, (struct option_name){ "-B", "--beta" }, g.beta);
	gemm_row_major(&g);
	is = gemm_key(&g, c->verb, k);
	strbuf_clear(&k->common);
	if (is != RECORD_CALL)
		return is;
	command_ignore_run(c);
	command_rest(c, k);
	return RECORD_CALL;
}

/* ---- all else ---- */

enum record_is miopen_other(struct miopen_command *c, struct library_key *k)
{
	/* letters that mean the same for every verb */
	words_ignore(&c->w, "-i|--iter|-V|--verify|-t|--time|-w|--wall");
	key_begin(k, c->verb, c->verb);
	command_rest(c, k);
	return RECORD_CALL;
}
