/* A convolution as its key tells it: vendor.h. */
#include "vendor.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define EXTENT_MAX (INT64_C(1) << 31) /* of one axis: options of the drivers are int */

/* "24x24" into the last places of an array; *dims 0: as many as there are. */
static int extents_read(struct bench_key *k, const char *name, int *dims, int64_t min,
			int64_t ret[VENDOR_DIMS], struct err *err)
{
	const char *v = bench_key_word(k, name);
	int64_t e[VENDOR_DIMS];
	int nr = 0;

	for (const char *at = v; at;) {
		size_t n = strcspn(at, "x");

		if (nr == VENDOR_DIMS || num_i64(at, n, &e[nr]) < 0 || e[nr] < min ||
		    e[nr] >= EXTENT_MAX)
			return err_set(err, EINVAL, "%s=%.40s are no sizes", name, v);
		nr++;
		at = at[n] ? at + n + 1 : NULL;
	}
	if (!nr || (*dims && nr != *dims))
		return err_set(err, EINVAL, "%s=%.40s has another number of dimensions", name,
			       v ? v : "");
	*dims = nr;
	memcpy(ret + VENDOR_DIMS - nr, e, (size_t)nr * sizeof(*e));
	return 0;
}

static int extents_all(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	int r = extents_read(k, "in", &c->dims, 1, c->in, err);

	if (r == 0)
		r = extents_read(k, "filter", &c->dims, 1, c->filter, err);
	if (r == 0)
		r = extents_read(k, "pad", &c->dims, 0, c->pad, err);
	if (r == 0)
		r = extents_read(k, "stride", &c->dims, 1, c->stride, err);
	if (r == 0)
		r = extents_read(k, "dilation", &c->dims, 1, c->dilation, err);
	return r;
}

static int directions_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	static const char *const names[] = { "fwd", "bwd_data", "bwd_weights" };
	const char *at = bench_key_word(k, "dir"), *whole = at ? at : "";

	while (at) {
		size_t n = strcspn(at, "+"), i = 0;

		while (i < ARRAY_LEN(names) &&
		       (n != strlen(names[i]) || memcmp(at, names[i], n) != 0))
			i++;
		if (i == ARRAY_LEN(names))
			return err_set(err, EINVAL, "dir=%.40s is no direction", whole);
		c->directions |= 1U << i;
		at = at[n] ? at + n + 1 : NULL;
	}
	if (!c->directions)
		return err_set(err, EINVAL, "the key has no direction");
	return 0;
}

static int sizes_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	int r = vendor_size(k, "n", 0, 1, &c->n, err);

	if (r == 0)
		r = vendor_size(k, "c", 0, 1, &c->c, err);
	if (r == 0)
		r = vendor_size(k, "k", 0, 1, &c->k, err);
	if (r == 0)
		r = vendor_size(k, "g", 1, 1, &c->groups, err);
	if (r == 0 && (c->n >= EXTENT_MAX || c->c >= EXTENT_MAX || c->k >= EXTENT_MAX))
		r = err_set(err, ERANGE, "its batch or channels are too many");
	if (r == 0 && (c->c % c->groups || c->k % c->groups))
		r = err_set(err, EINVAL, "its channels are no multiple of %lld groups",
			    (long long)c->groups);
	return r;
}

static int types_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	int r = vendor_type_read(k, "x", NULL, &c->x, err);

	if (r == 0)
		r = vendor_type_read(k, "w", c->x, &c->w, err);
	if (r == 0)
		r = vendor_type_read(k, "y", c->x, &c->y, err);
	return r;
}

static int layout_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	static const char *const plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,";
	const char *v = bench_key_word(k, "layout");

	if (!v)
		return 0;
	if (strlen(v) >= sizeof(c->layout) || v[strspn(v, plain)])
		return err_set(err, ENOTSUP, "no program has layout=%.40s", v);
	memcpy(c->layout, v, strlen(v));
	return 0;
}

/* ---- with=forward_training,alg:convolution_direct,bia:f32:a,out:12x12 ---- */

static bool word_is(const char *s, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(s, word, n);
}

static bool algorithm_is(struct vendor_conv *c, const char *s, size_t n)
{
	static const char *const names[][2] = {
		{ "alg:convolution_direct", "direct" },   { "alg:convolution_auto", "auto" },
		{ "alg:convolution_winograd", "wino" },   { "alg:deconvolution_direct", "direct" },
		{ "alg:deconvolution_winograd", "wino" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (word_is(s, n, names[i][0])) {
			c->algorithm = names[i][1];
			return true;
		}
	return false;
}

/* "bia:f32:a" */
static bool bias_is(struct vendor_conv *c, const char *s, size_t n)
{
	char type[8] = "";
	size_t len;

	if (word_is(s, n, "bias"))
		return c->bias = true;
	if (n < 7 || memcmp(s, "bia:", 4) != 0 || memcmp(s + n - 2, ":a", 2) != 0)
		return false;
	len = n - 6;
	if (len < sizeof(type))
		memcpy(type, s + 4, len);
	c->bias_type = vendor_type(type);
	return c->bias = c->bias_type != NULL;
}

static bool output_is(struct vendor_conv *c, const char *s, size_t n)
{
	int nr = 0;

	if (n < 5 || memcmp(s, "out:", 4) != 0)
		return false;
	for (size_t at = 4, len; at <= n && nr < c->dims; at += len + 1) {
		int64_t *to = &c->out[VENDOR_DIMS - c->dims + nr++];

		for (len = 0; at + len < n && s[at + len] != 'x';)
			len++;
		if (num_i64(s + at, len, to) < 0 || *to < 1 || *to >= EXTENT_MAX)
			return false;
	}
	return nr == c->dims;
}

static void with_read(struct bench_key *k, struct vendor_conv *c)
{
	for (const char *at = bench_key_word(k, "with"); at;) {
		size_t n = strcspn(at, ",");

		if (word_is(at, n, "forward_inference"))
			c->inference = true;
		else if (!word_is(at, n, "forward_training") && !algorithm_is(c, at, n) &&
			 !bias_is(c, at, n) && !output_is(c, at, n) && !c->strange[0])
			memcpy(c->strange, at, n < sizeof(c->strange) ? n : sizeof(c->strange) - 1);
		at = at[n] ? at + n + 1 : NULL;
	}
}

/* ---- outputs and work ---- */

static int out_pads_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	static const char *const names[] = { "pad_y_d", "pad_y_h", "pad_y_w" };
	int r = 0;

	for (int i = 0; r == 0 && i < VENDOR_DIMS; i++) {
		r = vendor_size(k, names[i], 0, 0, &c->out_pad[i], err);
		if (r == 0 && c->out_pad[i] >= EXTENT_MAX)
			r = err_set(err, ERANGE, "%s is too large", names[i]);
		if (r == 0 && c->out_pad[i] && !c->transposed)
			r = err_set(err, ENOTSUP, "a convolution has no %s", names[i]);
	}
	return r;
}

static int outputs(struct vendor_conv *c, struct err *err)
{
	for (int i = VENDOR_DIMS - c->dims; i < VENDOR_DIMS; i++) {
		__int128 taps = (__int128)c->dilation[i] * (c->filter[i] - 1) + 1, out;

		if (c->out[i])
			continue;
		if (c->transposed)
			out = (__int128)(c->in[i] - 1) * c->stride[i] - 2 * c->pad[i] + taps +
			      c->out_pad[i];
		else
			out = (c->in[i] + 2 * (__int128)c->pad[i] - taps) < 0
				      ? 0
				      : (c->in[i] + 2 * c->pad[i] - taps) / c->stride[i] + 1;
		if (out < 1 || out >= EXTENT_MAX)
			return err_set(err, EINVAL, "it has no output");
		c->out[i] = (int64_t)out;
	}
	return 0;
}

static void work(struct vendor_request *r)
{
	const struct vendor_conv *c = &r->conv;
	double taps = 1, ins = 1, outs = 1, per_group = (double)c->c / (double)c->groups;
	int directions = __builtin_popcount(c->directions);

	for (int i = VENDOR_DIMS - c->dims; i < VENDOR_DIMS; i++) {
		taps *= (double)c->filter[i];
		ins *= (double)c->in[i];
		outs *= (double)c->out[i];
	}
	r->flops = 2 * (double)c->n * (double)c->k * per_group * taps *
		   (c->transposed ? ins : outs) * directions;
	r->bytes = ((double)c->n * (double)c->c * ins * c->x->bits +
		    (double)c->k * per_group * taps * c->w->bits +
		    (double)c->n * (double)c->k * outs * c->y->bits) /
		   8 * directions;
}

static int mode_read(struct bench_key *k, struct vendor_conv *c, struct err *err)
{
	const char *v = bench_key_word(k, "mode");

	c->transposed = v && !strcmp(v, "transposed");
	if (v && !c->transposed)
		return err_set(err, ENOTSUP, "no program has mode=%.40s", v);
	return 0;
}

int vendor_conv_read(struct vendor_request *req, struct err *err)
{
	struct vendor_conv *c = &req->conv;
	struct bench_key *k = &req->key;
	int r = directions_read(k, c, err);

	if (r == 0)
		r = mode_read(k, c, err);
	if (r == 0)
		r = sizes_read(k, c, err);
	if (r == 0)
		r = extents_all(k, c, err);
	if (r == 0)
		r = types_read(k, c, err);
	if (r == 0)
		r = layout_read(k, c, err);
	if (r == 0)
		r = out_pads_read(k, c, err);
	if (r < 0)
		return r;
	with_read(k, c);
	r = vendor_all_read(k, err);
	if (r == 0)
		r = outputs(c, err);
	if (r == 0)
		work(req);
	return r;
}
