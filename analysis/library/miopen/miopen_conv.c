/*
 * The keys of MIOpenDriver's convolutions: conv, and CBAInfer, which fuses one with what follows.
 *
 *	-n batch -c -k channels -H -W input -y -x filter -p -q padding -u -v stride -l -j dilation
 *	-g groups -m conv|trans -F directions; of height, then of width
 *	--spatial_dim 3: --in_d --fil_d --pad_d --conv_stride_d --dilation_d, else not looked at
 *	--in_layout --fil_layout --out_layout: where they are not NCHW, NCDHW
 *	-z pad mode same, valid: the padding is not the one given, so the work is not known
 *	-Y -X padding of the output (trans), -Z -L vectors of channels, -r what is padded with
 *	--in_cast_type --wei_cast_type --out_cast_type
 *
 * Sizes are logged in the order N C (D) H W whatever the layout is. -k is the channels of y; but
 * the library logs dimension 1 of w, which for -m trans is those of one group. The y of int8 is
 * int32 or float: 32 bits.
 */
#include "library_conv.h"
#include "miopen_command.h"

#include <stdio.h>
#include <string.h>

static const struct option_name inputs[] = { { "-!", "--in_d" },
					     { "-H", "--in_h" },
					     { "-W", "--in_w" } };
static const struct option_name filters[] = { { "-@", "--fil_d" },
					      { "-y", "--fil_h" },
					      { "-x", "--fil_w" } };
static const struct option_name pads[] = { { "-$", "--pad_d" },
					   { "-p", "--pad_h" },
					   { "-q", "--pad_w" } };
static const struct option_name strides[] = { { "-#", "--conv_stride_d" },
					      { "-u", "--conv_stride_h" },
					      { "-v", "--conv_stride_w" } };
static const struct option_name dilations[] = { { "-^", "--dilation_d" },
						{ "-l", "--dilation_h" },
						{ "-j", "--dilation_w" } };
static const struct option_name output_pads[] = { { "-%", "--trans_output_pad_d" },
						  { "-Y", "--trans_output_pad_h" },
						  { "-X", "--trans_output_pad_w" } };

/* Names of older versions. */
static void names_renew(struct library_words *w)
{
	static const char *const names[][2] = { { "--conv_stride_0", "-u" },
						{ "--conv_stride_1", "-v" } };

	for (size_t i = 0; i < w->nr; i++)
		for (size_t n = 0; n < ARRAY_LEN(names); n++)
			if (slice_is(w->v[i].name, names[n][0]))
				w->v[i].name = (struct text_slice){ names[n][1], 2 };
}

static bool conv_dims(struct miopen_command *m, struct conv *c, int64_t output_pad[CONV_DIMS])
{
	int64_t dims = 2, depth[CONV_DIMS] = { 0 };
	size_t first, n;

	if (!command_int(m, (struct option_name){ "-_", "--spatial_dim" }, &dims))
		return false;
	c->dims = dims >= 2 && dims <= CONV_DIMS ? (int)dims : 0;
	first = c->dims == CONV_DIMS ? 0 : 1;
	n = CONV_DIMS - first;
	if (first == 1) { /* what is not used may be anything */
		const struct option_name *const lists[] = { inputs,  filters,   pads,
							    strides, dilations, output_pads };

		for (size_t i = 0; i < ARRAY_LEN(lists); i++)
			command_int(m, lists[i][0], depth);
	}
	return command_ints(m, inputs + first, c->in + first, n) &&
	       command_ints(m, filters + first, c->filter + first, n) &&
	       command_ints(m, pads + first, c->pad + first, n) &&
	       command_ints(m, strides + first, c->stride + first, n) &&
	       command_ints(m, dilations + first, c->dilation + first, n) &&
	       command_ints(m, output_pads + first, output_pad + first, n);
}

static bool conv_sizes(struct miopen_command *m, struct conv *c, int64_t output_pad[CONV_DIMS])
{
	return conv_dims(m, c, output_pad) &&
	       command_int(m, (struct option_name){ "-n", "--batchsize" }, &c->n) &&
	       command_int(m, (struct option_name){ "-c", "--in_channels" }, &c->c) &&
	       command_int(m, (struct option_name){ "-k", "--out_channels" }, &c->k) &&
	       command_int(m, (struct option_name){ "-g", "--group_count" }, &c->groups);
}

/* A product that is no size is one for conv_key to say so. */
static void logged_channels(const struct miopen_command *m, struct conv *c)
{
	if (m->logged && c->transposed && c->k > 0 && c->groups > 0 &&
	    __builtin_mul_overflow(c->k, c->groups, &c->k))
		c->k = INT64_MAX;
}

/* false: the mode is not known. Those of depth and groups of older versions are convolutions. */
static bool conv_mode(struct miopen_command *m, struct conv *c)
{
	const struct text_slice *v = command_get(m, (struct option_name){ "-m", "--mode" });

	if (!v)
		return true;
	c->transposed = slice_is(*v, "trans");
	return c->transposed || slice_is(*v, "conv") || slice_is(*v, "group") || slice_is(*v, "dw");
}

/* Whether a logged command has all options that are written in front of -F. */
static bool conv_has_rest(struct miopen_command *m)
{
	static const struct option_name ends[] = { { "-m", "--mode" }, { "-g", "--group_count" } };
	const struct option_name *const lists[] = { pads, strides, dilations };

	names_renew(&m->w);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (!command_get(m, lists[i][1]) || !command_get(m, lists[i][2]))
			return false;
	return command_get(m, ends[0]) && command_get(m, ends[1]);
}

/*
 * The bits of -F. RECORD_CALL when they are known, or left to the driver's default, 0. A logged
 * command that has lost more than -F is torn: it may have had another stride than the default.
 */
static enum record_is conv_directions(struct miopen_command *m, struct conv *c,
				      struct library_key *k)
{
	const struct option_name forw = { "-F", "--forw" };
	int64_t bits = (int64_t)m->direction;
	bool told = command_get(m, forw) || m->direction || !m->logged;

	if (!command_int(m, forw, &bits) || (!told && !conv_has_rest(m)))
		return RECORD_TORN;
	if (bits < 0 || bits > MIOPEN_ALL)
		return key_bad(k, "-F %lld is no direction", (long long)bits);
	c->also = bits ? (unsigned)bits : MIOPEN_ALL;
	c->direction = (enum conv_direction)__builtin_ctz(c->also);
	return RECORD_CALL;
}

/* "NHWC", or the three of x, w, y where they differ. */
static bool conv_layout(struct miopen_command *m, struct conv *c)
{
	static const struct option_name names[] = { { "-I", "--in_layout" },
						    { "-f", "--fil_layout" },
						    { "-O", "--out_layout" } };
	const char *usual = c->dims == CONV_DIMS ? "NCDHW" : "NCHW";
	struct text_slice l[3];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct text_slice *v = command_get(m, names[i]);

		l[i] = v ? *v : (struct text_slice){ usual, strlen(usual) };
		if (l[i].n > 20)
			return false;
	}
	snprintf(c->layout, sizeof(c->layout), "%.*s,%.*s,%.*s", (int)l[0].n, l[0].p, (int)l[1].n,
		 l[1].p, (int)l[2].n, l[2].p);
	if (l[0].n == l[1].n && !memcmp(l[0].p, l[1].p, l[0].n) && l[0].n == l[2].n &&
	    !memcmp(l[0].p, l[2].p, l[0].n))
		c->layout[l[0].n] = 0;
	return true;
}

/* What is added to the extents of y, which are then no longer left to be computed. */
static void output_pads_add(struct conv *c, const int64_t output_pad[CONV_DIMS])
{
	bool some = false;

	for (int i = CONV_DIMS - c->dims; i < CONV_DIMS; i++)
		some |= output_pad[i] != 0;
	for (int i = CONV_DIMS - c->dims; c->transposed && some && i < CONV_DIMS; i++) {
		if (c->in[i] < 1 || c->in[i] > DIM_MAX || c->stride[i] < 1 ||
		    c->stride[i] > 1 << 14 || c->filter[i] < 1 || c->filter[i] > 1 << 24 ||
		    c->pad[i] < 0 || c->pad[i] > DIM_MAX || c->dilation[i] < 1 ||
		    c->dilation[i] > 1 << 24 || output_pad[i] < 0 || output_pad[i] > DIM_MAX)
			return; /* conv_key says what is wrong with it */
		c->out[i] = (c->in[i] - 1) * c->stride[i] - 2 * c->pad[i] +
			    c->dilation[i] * (c->filter[i] - 1) + 1 + output_pad[i];
	}
}

/* Options that belong to a configuration and are seldom there. */
static void conv_seldom(struct miopen_command *m, const struct conv *c, struct library_key *k)
{
	const struct option_name pad_mode = { "-z", "--pad_mode" };
	const struct text_slice *mode = command_get(m, pad_mode);
	char name[8] = "pad_y_";

	if (mode && !slice_is(*mode, "conv") && !slice_is(*mode, "default")) {
		command_next_word(m, k, pad_mode, "pad_mode", NULL);
		k->flops = k->bytes = LIBRARY_UNKNOWN;
		memset(&k->product, 0, sizeof(k->product));
	}
	for (int i = CONV_DIMS - c->dims; i < CONV_DIMS; i++) {
		name[6] = "dhw"[i];
		command_next_word(m, k, output_pads[i], name, "0");
	}
	command_next_word(m, k, (struct option_name){ "-r", "--pad_val" }, "pad_val", "0");
	command_next_word(m, k, (struct option_name){ "-Z", "--tensor_vect" }, "tensor_vect", "0");
	command_next_word(m, k, (struct option_name){ "-L", "--vector_length" }, "vector_length",
			  "1");
	command_next_word(m, k, (struct option_name){ "-U", "--in_cast_type" }, "in_cast_type",
			  NULL);
	command_next_word(m, k, (struct option_name){ "-R", "--wei_cast_type" }, "wei_cast_type",
			  NULL);
	command_next_word(m, k, (struct option_name){ "-T", "--out_cast_type" }, "out_cast_type",
			  NULL);
}

/* The rest of a convolution whose directions and mode are known. */
static enum record_is conv_finish(struct miopen_command *m, struct conv *c, struct library_key *k)
{
	int64_t output_pad[CONV_DIMS] = { 0 };
	enum record_is is;

	names_renew(&m->w);
	if (!conv_sizes(m, c, output_pad) || !conv_layout(m, c))
		return RECORD_TORN;
	logged_channels(m, c);
	if (c->dims == 0)
		return key_bad(k, "--spatial_dim is neither 2 nor 3");
	c->x = c->w = c->y = m->type;
	if (!strcmp(m->type->name, "i8"))
		c->y = element_type("i32", 3);
	output_pads_add(c, output_pad);
	is = conv_key(c, m->verb, k);
	if (is != RECORD_CALL)
		return is;
	conv_seldom(m, c, k);
	command_ignore_run(m);
	command_rest(m, k);
	return RECORD_CALL;
}

enum record_is miopen_conv(struct miopen_command *m, struct library_key *k)
{
	const struct option_name bias = { "-b", "--bias" };
	const struct text_slice *v = command_get(m, bias);
	struct conv c;
	enum record_is is;

	conv_init(&c);
	if (!conv_mode(m, &c))
		return RECORD_TORN;
	is = conv_directions(m, &c, k);
	if (is != RECORD_CALL)
		return is;
	if (v && !slice_is(*v, "0"))
		memcpy(c.more, "bias", sizeof("bias"));
	return conv_finish(m, &c, k);
}

/*
 * -F: 0 convolution, bias, batch normalization, activation; 1 without bias; 2 batch normalization
 * and activation alone; 3 with batch normalization; 4 with bias and activation; 5 with activation;
 * 6 with bias. -m is the activation, -M the mode of the normalization, and its -m in mode 2.
 */
enum record_is miopen_fusion(struct miopen_command *m, struct library_key *k)
{
	static const char *const with[] = { "bias+bnorm+activ", "bnorm+activ", "",    "bnorm",
					    "bias+activ",       "activ",       "bias" };
	const struct option_name names[] = { { "-F", "--fusion_mode" }, { "-F", "--forw" } };
	struct conv c;
	int64_t mode = m->logged ? -1 : 0;
	bool told = command_get(m, names[0]) || command_get(m, names[1]);
	enum record_is is;

	conv_init(&c);
	if (!command_int(m, names[0], &mode) || !command_int(m, names[1], &mode) ||
	    (m->logged && !told))
		return RECORD_TORN;
	if (mode < 0 || mode >= (int64_t)ARRAY_LEN(with) || !with[mode][0]) {
		for (size_t i = 0; i < m->w.nr; i++)
			m->w.v[i].used = false;
		return miopen_other(m, k);
	}
	memcpy(c.more, with[mode], strlen(with[mode]) + 1);
	command_get(m, (struct option_name){ "-m", "--activMode" });
	is = conv_finish(m, &c, k);
	if (is != RECORD_CALL)
		return is;
	command_next_word(m, k, (struct option_name){ "-m", "--activMode" }, "activ", NULL);
	return RECORD_CALL;
}
