/* The reference by which results are judged (dnn_op.h). */
#include "dnn_op.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_op.h"

#define TERMS_MAX (UINT64_C(1) << 24) /* of all entries of the sample */
#define FUNCTION_ERROR 5e-5L
#define WINOGRAD 10

/* A result, and what its rounding errors are measured by. */
struct dnn_sum {
	long double v, scale;
	uint64_t terms;
	bool exact, approximate; /* the largest of some; functions that libraries approximate */
};

static void term_add(struct dnn_sum *s, double a, double b)
{
	s->v += (long double)a * b;
	s->scale += fabsl((long double)a * b);
	s->terms++;
}

/* ---- places ---- */

static void place_split(const struct dnn_tensor *t, uint64_t at, int64_t ret[DNN_DIMS_MAX])
{
	for (int i = t->nr; i-- > 0;) {
		ret[i] = (int64_t)(at % (uint64_t)t->dims[i]);
		at /= (uint64_t)t->dims[i];
	}
}

static uint64_t place_join(const struct dnn_tensor *t, const int64_t idx[DNN_DIMS_MAX])
{
	uint64_t at = 0;

	for (int i = 0; i < t->nr; i++)
		at = at * (uint64_t)t->dims[i] + (uint64_t)idx[i];
	return at;
}

/* ---- products ---- */

static struct dnn_sum matmul_entry(const struct dnn_op *op, const int64_t idx[DNN_DIMS_MAX])
{
	const struct dnn_tensor *src = &op->of[DNN_SRC], *wei = &op->of[DNN_WEI];
	int rows = src->nr - 2;
	int64_t a[DNN_DIMS_MAX] = { 0 }, b[DNN_DIMS_MAX] = { 0 };
	struct dnn_sum s = { 0 };

	if (rows) {
		a[0] = src->dims[0] > 1 ? idx[0] : 0;
		b[0] = wei->dims[0] > 1 ? idx[0] : 0;
	}
	a[rows] = idx[rows];
	b[rows + 1] = idx[rows + 1];
	for (int64_t l = 0; l < src->dims[rows + 1]; l++) {
		a[rows + 1] = b[rows] = l;
		term_add(&s, dnn_value(op, DNN_SRC, place_join(src, a)),
			 dnn_value(op, DNN_WEI, place_join(wei, b)));
	}
	s.v *= op->alpha;
	s.scale *= fabsf(op->alpha);
	return s;
}

static struct dnn_sum ip_entry(const struct dnn_op *op, enum dnn_role role, uint64_t at)
{
	uint64_t oc = (uint64_t)op->of[DNN_DST].dims[1], mb = (uint64_t)op->of[DNN_DST].dims[0];
	uint64_t depth = dnn_elements(&op->of[DNN_WEI]) / oc;
	struct dnn_sum s = { 0 };

	if (role == DNN_DST)
		for (uint64_t l = 0; l < depth; l++)
			term_add(&s, dnn_value(op, DNN_SRC, at / oc * depth + l),
				 dnn_value(op, DNN_WEI, at % oc * depth + l));
	else if (role == DNN_SRC)
		for (uint64_t o = 0; o < oc; o++)
			term_add(&s, dnn_value(op, DNN_DST, at / depth * oc + o),
				 dnn_value(op, DNN_WEI, o * depth + at % depth));
	else if (role == DNN_WEI)
		for (uint64_t n = 0; n < mb; n++)
			term_add(&s, dnn_value(op, DNN_DST, n * oc + at / depth),
				 dnn_value(op, DNN_SRC, n * depth + at % depth));
	return s;
}

/* ---- convolutions ---- */

/*
 * big = small·stride − pad + tap·dilation: small is the side of y, and of x where the convolution
 * is transposed. x has the channels [group][c], y [group][k], weights [group][k][c][taps].
 */
struct side {
	enum dnn_role role;
	int64_t channels; /* of a group */
};

struct conv_at {
	const struct dnn_op *op;
	struct side big, small;
	int first; /* of the spatial dimensions in arrays of DNN_SPATIAL_MAX */
};

static struct conv_at conv_sides(const struct dnn_op *op)
{
	struct side x = { DNN_SRC, op->of[DNN_SRC].dims[1] / op->groups };
	struct side y = { DNN_DST, op->of[DNN_DST].dims[1] / op->groups };

	return (struct conv_at){ op, op->transposed ? y : x, op->transposed ? x : y,
				 DNN_SPATIAL_MAX - op->spatial };
}

static double side_value(const struct conv_at *c, const struct side *s, int64_t n, int64_t channel,
			 const int64_t at[DNN_SPATIAL_MAX])
{
	int64_t idx[DNN_DIMS_MAX] = { n, channel };

	for (int i = c->first; i < DNN_SPATIAL_MAX; i++)
		idx[2 + i - c->first] = at[i];
	return dnn_value(c->op, s->role, place_join(&c->op->of[s->role], idx));
}

static double weight_value(const struct conv_at *c, int64_t group, int64_t big, int64_t small,
			   const int64_t tap[DNN_SPATIAL_MAX])
{
	int64_t idx[DNN_DIMS_MAX] = { 0 };
	int n = 0;

	if (c->op->grouped)
		idx[n++] = group;
	idx[n++] = c->op->transposed ? big : small;
	idx[n++] = c->op->transposed ? small : big;
	for (int i = c->first; i < DNN_SPATIAL_MAX; i++)
		idx[n++] = tap[i];
	return dnn_value(c->op, DNN_WEI, place_join(&c->op->of[DNN_WEI], idx));
}

/* The next of all places below the extents; false: there is none. */
static bool place_next(int first, const int64_t extents[DNN_SPATIAL_MAX],
		       int64_t at[DNN_SPATIAL_MAX])
{
	for (int i = DNN_SPATIAL_MAX; i-- > first;) {
		if (++at[i] < extents[i])
			return true;
		at[i] = 0;
	}
	return false;
}

static void extents_of(const struct conv_at *c, enum dnn_role role, int64_t ret[DNN_SPATIAL_MAX])
{
	for (int i = c->first; i < DNN_SPATIAL_MAX; i++)
		ret[i] = c->op->of[role].dims[2 + i - c->first];
}

/* big of small and tap; false: it is padding. */
static bool big_of(const struct conv_at *c, const int64_t small[DNN_SPATIAL_MAX],
		   const int64_t tap[DNN_SPATIAL_MAX], int64_t ret[DNN_SPATIAL_MAX])
{
	const struct dnn_op *op = c->op;
	int64_t extents[DNN_SPATIAL_MAX];

	extents_of(c, c->big.role, extents);
	for (int i = c->first; i < DNN_SPATIAL_MAX; i++) {
		ret[i] = small[i] * op->stride[i] - op->pad[i] + tap[i] * op->dilation[i];
		if (ret[i] < 0 || ret[i] >= extents[i])
			return false;
	}
	return true;
}

static bool small_of(const struct conv_at *c, const int64_t big[DNN_SPATIAL_MAX],
		     const int64_t tap[DNN_SPATIAL_MAX], int64_t ret[DNN_SPATIAL_MAX])
{
	const struct dnn_op *op = c->op;
	int64_t extents[DNN_SPATIAL_MAX];

	extents_of(c, c->small.role, extents);
	for (int i = c->first; i < DNN_SPATIAL_MAX; i++) {
		int64_t v = big[i] + op->pad[i] - tap[i] * op->dilation[i];

		ret[i] = v / op->stride[i];
		if (v < 0 || v % op->stride[i] || ret[i] >= extents[i])
			return false;
	}
	return true;
}

/* An entry of one side: over taps and the channels of the other side. */
static void side_entry(const struct conv_at *c, const struct side *mine, const int64_t *idx,
		       struct dnn_sum *s)
{
	const struct side *other = mine == &c->big ? &c->small : &c->big;
	int64_t tap[DNN_SPATIAL_MAX] = { 0 }, at[DNN_SPATIAL_MAX], there[DNN_SPATIAL_MAX];
	int64_t group = idx[1] / mine->channels, channel = idx[1] % mine->channels;

	for (int i = c->first; i < DNN_SPATIAL_MAX; i++)
		at[i] = idx[2 + i - c->first];
	do {
		if (mine == &c->big ? !small_of(c, at, tap, there) : !big_of(c, at, tap, there))
			continue;
		for (int64_t o = 0; o < other->channels; o++)
			term_add(s,
				 side_value(c, other, idx[0], group * other->channels + o, there),
				 mine == &c->big ? weight_value(c, group, channel, o, tap)
						 : weight_value(c, group, o, channel, tap));
	} while (place_next(c->first, c->op->kernel, tap));
}

/* An entry of the gradient of weights: over images and places of the small side. */
static void weight_entry(const struct conv_at *c, const int64_t *idx, struct dnn_sum *s)
{
	int64_t n = c->op->of[DNN_SRC].dims[0], group = c->op->grouped ? *idx++ : 0;
	int64_t small_channel = c->op->transposed ? idx[1] : idx[0];
	int64_t big_channel = c->op->transposed ? idx[0] : idx[1];
	int64_t tap[DNN_SPATIAL_MAX] = { 0 }, small[DNN_SPATIAL_MAX] = { 0 };
	int64_t big[DNN_SPATIAL_MAX], extents[DNN_SPATIAL_MAX];

	extents_of(c, c->small.role, extents);
	for (int i = c->first; i < DNN_SPATIAL_MAX; i++)
		tap[i] = idx[2 + i - c->first];
	do {
		if (!big_of(c, small, tap, big))
			continue;
		for (int64_t i = 0; i < n; i++)
			term_add(s,
				 side_value(c, &c->small, i,
					    group * c->small.channels + small_channel, small),
				 side_value(c, &c->big, i, group * c->big.channels + big_channel,
					    big));
	} while (place_next(c->first, extents, small));
}

static struct dnn_sum conv_entry(const struct dnn_op *op, enum dnn_role role,
				 const int64_t idx[DNN_DIMS_MAX])
{
	struct conv_at c = conv_sides(op);
	struct dnn_sum s = { 0 };

	if (role == DNN_WEI)
		weight_entry(&c, idx, &s);
	else
		side_entry(&c, role == c.big.role ? &c.big : &c.small, idx, &s);
	return s;
}

/* The gradient of a bias: all of dst with this channel. */
static struct dnn_sum bias_entry(const struct dnn_op *op, uint64_t channel)
{
	const struct dnn_tensor *dst = &op->of[DNN_DST];
	uint64_t channels = (uint64_t)dst->dims[1], n = (uint64_t)dst->dims[0];
	uint64_t inner = dnn_elements(dst) / n / channels;
	struct dnn_sum s = { 0 };

	for (uint64_t i = 0; i < n; i++)
		for (uint64_t p = 0; p < inner; p++)
			term_add(&s, dnn_value(op, DNN_DST, (i * channels + channel) * inner + p),
				 1);
	return s;
}

/* ---- layers ---- */

static struct dnn_sum pooling_entry(const struct dnn_op *op, const int64_t *idx)
{
	struct conv_at c = { op, { DNN_SRC, 0 }, { DNN_DST, 0 }, DNN_SPATIAL_MAX - op->spatial };
	int64_t tap[DNN_SPATIAL_MAX] = { 0 }, at[DNN_SPATIAL_MAX], big[DNN_SPATIAL_MAX];
	bool max = !strcmp(op->alg, "pooling_max");
	struct dnn_sum s = { .v = max ? -INFINITY : 0, .exact = max };
	uint64_t taps = 0;

	for (int i = c.first; i < DNN_SPATIAL_MAX; i++)
		at[i] = idx[2 + i - c.first];
	do {
		double v;

		taps++;
		if (!big_of(&c, at, tap, big))
			continue;
		v = side_value(&c, &c.big, idx[0], idx[1], big);
		if (max)
			s.v = fmaxl(s.v, v);
		else
			term_add(&s, v, 1);
	} while (place_next(c.first, op->kernel, tap));
	if (max)
		return s;
	if (!strcmp(op->alg, "pooling_avg_exclude_padding"))
		taps = s.terms ? s.terms : 1;
	s.v /= (long double)taps;
	s.scale /= (long double)taps;
	return s;
}

struct moments {
	long double mean, variance;
	uint64_t terms;
};

/* Those of a channel, or of a row. at: the first; inner: of the consecutive ones. */
static struct moments moments_of(const struct dnn_op *op, uint64_t at, uint64_t outer,
				 uint64_t step, uint64_t inner)
{
	struct moments m = { .terms = outer * inner };

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t o = 0; o < outer; o++)
			for (uint64_t i = 0; i < inner; i++) {
				long double v = dnn_value(op, DNN_SRC, at + o * step + i);

				if (pass == 0)
					m.mean += v / (long double)m.terms;
				else
					m.variance +=
						(v - m.mean) * (v - m.mean) / (long double)m.terms;
			}
	return m;
}

/* channel: of scale and shift; stat: of the statistics. */
static struct moments norm_moments(const struct dnn_op *op, uint64_t stat)
{
	const struct dnn_tensor *src = &op->of[DNN_SRC];
	uint64_t last = (uint64_t)src->dims[src->nr - 1], channels = (uint64_t)src->dims[1];
	uint64_t n = (uint64_t)src->dims[0], inner;

	if (op->stats_given)
		return (struct moments){ dnn_value(op, DNN_MEAN, stat),
					 dnn_value(op, DNN_VAR, stat), 1 };
	if (op->kind == DNN_LNORM)
		return moments_of(op, stat * last, 1, 0, last);
	inner = dnn_elements(src) / n / channels;
	return moments_of(op, stat * inner, n, channels * inner, inner);
}

static struct dnn_sum norm_entry(const struct dnn_op *op, enum dnn_role role, const int64_t *idx,
				 uint64_t at)
{
	const struct dnn_tensor *src = &op->of[DNN_SRC];
	uint64_t last = (uint64_t)src->dims[src->nr - 1];
	bool rows = op->kind == DNN_LNORM;
	uint64_t channel = rows ? at % last : (uint64_t)idx[1];
	struct moments m = norm_moments(op, role != DNN_DST ? at : rows ? at / last : channel);
	struct dnn_sum s = { .approximate = true, .terms = m.terms };

	if (role == DNN_MEAN || role == DNN_VAR) {
		s.v = role == DNN_MEAN ? m.mean : m.variance;
		return s;
	}
	s.v = (dnn_value(op, DNN_SRC, at) - m.mean) / sqrtl(m.variance + DNN_EPSILON);
	if (op->scale)
		s.v *= dnn_value(op, DNN_SCALE, channel);
	if (op->shift)
		s.v += dnn_value(op, DNN_SHIFT, channel);
	if (op->relu)
		s.v = fmaxl(s.v, 0);
	return s;
}

static struct dnn_sum softmax_entry(const struct dnn_op *op, const int64_t *idx, uint64_t at)
{
	const struct dnn_tensor *src = &op->of[DNN_SRC];
	int64_t there[DNN_DIMS_MAX];
	long double sum = 0, x = dnn_value(op, DNN_SRC, at);
	struct dnn_sum s = { .approximate = true, .terms = (uint64_t)src->dims[op->axis] };

	memcpy(there, idx, sizeof(there));
	for (int64_t i = 0; i < src->dims[op->axis]; i++) {
		there[op->axis] = i;
		sum += expl((long double)dnn_value(op, DNN_SRC, place_join(src, there)));
	}
	s.v = op->log ? x - logl(sum) : expl(x) / sum;
	return s;
}

static struct dnn_sum eltwise_entry(const struct dnn_op *op, uint64_t at)
{
	struct dnn_sum s = { .approximate = true, .terms = 1 };

	if (dnn_eltwise(op->alg, op->alpha, op->beta, dnn_value(op, DNN_SRC, at), &s.v) < 0)
		s.v = NAN;
	return s;
}

/* ---- judgement ---- */

static void posts_add(const struct dnn_op *op, uint64_t at, struct dnn_sum *s)
{
	for (size_t i = 0; i < op->posts; i++) {
		const struct dnn_post *p = &op->post[i];

		if (p->sum) {
			term_add(s, dnn_value(op, DNN_DST, at), p->scale);
			continue;
		}
		if (dnn_eltwise(p->alg, p->alpha, p->beta, s->v, &s->v) < 0)
			s->v = NAN;
		s->v *= p->scale;
		s->scale *= fabsf(p->scale) * fmaxl(1, fabsl(p->alpha));
		s->approximate = true;
	}
}

static struct dnn_sum entry_of(const struct dnn_op *op, enum dnn_role role, uint64_t at)
{
	int64_t idx[DNN_DIMS_MAX] = { 0 };
	struct dnn_sum s = { 0 };

	place_split(&op->of[role], at, idx);
	switch (op->kind) {
	case DNN_MATMUL:
		s = matmul_entry(op, idx);
		break;
	case DNN_IP:
		s = role == DNN_BIA ? bias_entry(op, at) : ip_entry(op, role, at);
		break;
	case DNN_CONV:
		s = role == DNN_BIA ? bias_entry(op, at) : conv_entry(op, role, idx);
		break;
	case DNN_POOLING:
		return pooling_entry(op, idx);
	case DNN_BNORM:
	case DNN_LNORM:
		return norm_entry(op, role, idx, at);
	case DNN_SOFTMAX:
		return softmax_entry(op, idx, at);
	case DNN_ELTWISE:
		return eltwise_entry(op, at);
	}
	if (role == DNN_DST && dnn_has(op, DNN_BIA))
		term_add(&s, dnn_value(op, DNN_BIA, (uint64_t)idx[1]), 1);
	if (role == DNN_DST)
		posts_add(op, at, &s);
	return s;
}

/* The value as the type holds it, at best, and how far two that are right may be apart. */
static long double type_step(enum dnn_type type, long double *v)
{
	switch (type) {
	case DNN_BF16:
		return fabsl(*v) * 0x1p-8L;
	case DNN_F16:
		return fabsl(*v) * 0x1p-11L + 0x1p-24L;
	case DNN_S8:
		*v = fminl(fmaxl(*v, -128), 127);
		return 0.501L;
	case DNN_U8:
		*v = fminl(fmaxl(*v, 0), 255);
		return 0.501L;
	case DNN_F32:
	case DNN_F64:
	case DNN_S32:
	case DNN_TYPE_COUNT:
		break;
	}
	return fabsl(*v) * FLT_EPSILON;
}

static long double allowed(const struct dnn_op *op, enum dnn_role role, struct dnn_sum *s)
{
	long double step = type_step(op->of[role].type, &s->v), most = 0;

	if (s->exact)
		return 0;
	if (s->scale > 0)
		most = (16 + 2 * sqrtl((long double)s->terms)) * FLT_EPSILON * s->scale;
	if (strstr(op->alg, "winograd") || strstr(op->alg, "auto"))
		most *= WINOGRAD;
	if (s->approximate)
		most += FUNCTION_ERROR * fmaxl(1, fabsl(s->v));
	return most + step * (op->posts ? 2 : 1);
}

/* Terms of the longest entry, about. */
static uint64_t terms_of(const struct dnn_op *op, enum dnn_role role)
{
	uint64_t n = dnn_elements(&op->of[role]), all;

	switch (op->kind) {
	case DNN_MATMUL:
	case DNN_IP:
	case DNN_CONV:
		all = role == DNN_BIA ? dnn_elements(&op->of[DNN_DST]) : op->flops / 2;
		return all / (n ? n : 1) + 1;
	case DNN_BNORM:
		return op->stats_given
			       ? 1
			       : dnn_elements(&op->of[DNN_SRC]) / (uint64_t)op->of[DNN_SRC].dims[1];
	case DNN_SOFTMAX:
		return (uint64_t)op->of[DNN_SRC].dims[op->axis];
	case DNN_LNORM:
		return (uint64_t)op->of[DNN_SRC].dims[op->of[DNN_SRC].nr - 1];
	case DNN_POOLING: {
		uint64_t taps = 1;

		for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++)
			taps *= (uint64_t)op->kernel[i];
		return taps;
	}
	case DNN_ELTWISE:
		break;
	}
	return 1;
}

int dnn_check(const struct dnn_op *op, enum dnn_role role, const float *got, double *ret_error,
	      struct err *err)
{
	uint64_t n = dnn_elements(&op->of[role]), terms = terms_of(op, role), nr = BENCH_SAMPLE;
	long double worst = 0;

	if (terms > TERMS_MAX / nr)
		nr = terms > TERMS_MAX / 4 ? 4 : TERMS_MAX / terms;
	nr = nr < n ? nr : n;
	for (uint64_t i = 0; i < nr; i++) {
		/* all of a few; the first, the last, then places that are the same every time */
		uint64_t at = nr == n || i == 0 ? i : i == 1 ? n - 1 : mix64(i) % n;
		struct dnn_sum want = entry_of(op, role, at);
		long double most = allowed(op, role, &want), off = fabsl(got[at] - want.v);

		/* NaN is wrong, too */
		if (!(off <= most))
			return err_set(err, EDOM,
				       "element %" PRIu64 " of %" PRIu64 " is %.8Lg, not %.8Lg", at,
				       n, (long double)got[at], want.v);
		if (most > 0 && off / most > worst)
			worst = off / most;
	}
	*ret_error = (double)worst;
	return 0;
}
