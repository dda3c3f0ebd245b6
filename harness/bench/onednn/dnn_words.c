#include "dnn_words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

static const struct {
	const char *name, *key;
	size_t size;
} types[DNN_TYPE_COUNT] = {
	[DNN_F32] = { "f32", "f32", 4 }, [DNN_BF16] = { "bf16", "bf16", 2 },
	[DNN_F16] = { "f16", "f16", 2 }, [DNN_S32] = { "s32", "i32", 4 },
	[DNN_S8] = { "s8", "i8", 1 },    [DNN_U8] = { "u8", "u8", 1 },
	[DNN_F64] = { "f64", "f64", 8 },
};

const char *dnn_type_name(enum dnn_type type)
{
	return types[type].name;
}

size_t dnn_type_size(enum dnn_type type)
{
	return types[type].size;
}

int dnn_word_type(const char *word, enum dnn_type *ret, struct err *err)
{
	if (!word || !*word)
		return err_set(err, EINVAL, "the key has no type");
	for (int i = 0; i < DNN_TYPE_COUNT; i++)
		if (!strcmp(types[i].key, word)) {
			*ret = (enum dnn_type)i;
			return 0;
		}
	return err_set(err, ENOTSUP, "this back end does not compute %.20s", word);
}

int dnn_word_size(struct bench_key *k, const char *name, int64_t otherwise, int64_t min,
		  int64_t *ret, struct err *err)
{
	int r = bench_key_int(k, name, otherwise, ret, err);

	if (r < 0)
		return r;
	if (*ret < min || *ret > DNN_SIZE_MAX)
		return err_set(err, EINVAL, "the key has no size %s, or one of no use", name);
	return 0;
}

int dnn_list_length(const char *word)
{
	int n = 1;

	for (const char *at = word; *at; at++)
		n += *at == 'x';
	return n;
}

int dnn_word_list(const char *name, const char *word, int nr, int64_t min, int64_t *ret,
		  struct err *err)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;

	if (word)
		strvec_split(&parts, word, "x");
	if (!word || parts.nr != (size_t)nr || dnn_list_length(word) != nr)
		return err_set(err, EINVAL, "the key has no %s of %d numbers", name, nr);
	for (int i = 0; i < nr; i++)
		if (num_i64(parts.v[i], strlen(parts.v[i]), &ret[i]) < 0 || ret[i] < min ||
		    ret[i] > DNN_SIZE_MAX)
			return err_set(err, EINVAL, "%s=%.60s has a size of no use", name, word);
	return 0;
}

static size_t lower_letters(const char *s)
{
	size_t n = 0;

	while (s[n] >= 'a' && s[n] <= 'z')
		n++;
	return n;
}

static size_t number_length(const char *s)
{
	size_t n = *s == '-';

	while (s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

int dnn_pair(const char *text, const char *name, int64_t min, int64_t *ret, struct err *err)
{
	size_t want = strlen(name);

	for (const char *at = text; *at;) {
		size_t letters = lower_letters(at), digits = number_length(at + letters);

		if (letters == 0 || digits == 0) {
			at += *at == '_' ? 1 : strlen(at);
			continue;
		}
		if (letters == want && !memcmp(at, name, want)) {
			if (num_i64(at + letters, digits, ret) < 0 || *ret < min ||
			    *ret > DNN_SIZE_MAX)
				return err_set(err, EINVAL, "%s in dims=%.40s is no size", name,
					       text);
			return 0;
		}
		at += letters + digits;
	}
	return err_set(err, ENOENT, "dims=%.40s has no %s", text, name);
}

/* ---- layouts ---- */

static bool is_tag(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n >= sizeof(((struct dnn_tensor *)0)->tag))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'l') || (s[i] >= 'A' && s[i] <= 'L') ||
		      (s[i] >= '0' && s[i] <= '9')))
			return false;
	return s[0] > '9';
}

static bool is_number_list(const char *s)
{
	return *s && strspn(s, "0123456789x") == strlen(s);
}

/* Whether a tag names each of nr dimensions. */
static bool tag_has_dims(const char *tag, int nr)
{
	unsigned seen = 0;

	for (const char *at = tag; *at; at++)
		if (*at > '9')
			seen |= 1U << ((*at | 0x20) - 'a');
	return seen == (1U << nr) - 1;
}

int dnn_word_layout(const char *word, struct dnn_tensor *t, struct err *err)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;
	bool any = false;

	t->tag[0] = 0;
	t->strided = false;
	strvec_split(&parts, word, ":");
	for (size_t i = 0; i < parts.nr; i++) {
		const char *p = parts.v[i];

		if (!strcmp(p, "any") ||
		    (i > 0 && strspn(p, "ap") == strlen(p) && strchr(p, 'a'))) {
			any = true;
		} else if (i == 0 && is_tag(p) && tag_has_dims(p, t->nr)) {
			snprintf(t->tag, sizeof(t->tag), "%s", p);
		} else if (i > 0 && is_number_list(p)) {
			int r = dnn_word_list("strides", p, t->nr, 0, t->strides, err);

			if (r < 0)
				return r;
			t->strided = true;
		} else if (!(i > 0 && !strcmp(p, "p"))) {
			return err_set(err, ENOTSUP, "this back end makes no layout %.60s", word);
		}
	}
	if (any) {
		t->tag[0] = 0;
		t->strided = false;
	} else if (!t->tag[0]) {
		return err_set(err, ENOTSUP, "this back end makes no layout %.60s", word);
	}
	if (t->strided && strcspn(t->tag, "ABCDEFGHIJKL") < strlen(t->tag))
		return err_set(err, ENOTSUP, "this back end makes no strides of blocks: %.60s",
			       word);
	return 0;
}

int dnn_word_md(const char *name, const char *word, struct dnn_tensor *t, struct err *err)
{
	const char *colon = word ? strchr(word, ':') : NULL;
	char type[16];
	int r;

	if (!colon)
		return err_set(err, EINVAL, "the key has no type and layout of %s", name);
	snprintf(type, sizeof(type), "%.*s", (int)(colon - word), word);
	r = dnn_word_type(type, &t->type, err);
	return r < 0 ? r : dnn_word_layout(colon + 1, t, err);
}

int dnn_bound(const struct dnn_tensor *t, struct err *err)
{
	uint64_t most = DNN_BYTES_MAX / types[t->type].size, n = 1, reach = 1;

	for (int i = 0; i < t->nr; i++) {
		uint64_t step = t->strided ? (uint64_t)t->strides[i] : 0, end;

		if (__builtin_mul_overflow(n, (uint64_t)t->dims[i], &n) || n > most ||
		    __builtin_mul_overflow(step, (uint64_t)t->dims[i], &end) ||
		    __builtin_add_overflow(reach, end, &reach) || reach > most)
			return err_set(err, ERANGE, "an operand is larger than any memory");
	}
	return 0;
}

/* ---- with ---- */

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static int number_of(const char *text, float *ret, struct err *err)
{
	double v;

	if (num_f64(text, strlen(text), &v) < 0 || !isfinite(v) || !isfinite((float)v))
		return err_set(err, EINVAL, "%.20s in with is no number", text);
	*ret = (float)v;
	return 0;
}

/* "eltwise_relu:0:1:1", "sum:0.5" */
static int post_of(const char *text, struct dnn_op *op, struct err *err)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;
	struct dnn_post p = { .scale = 1 };
	float *to[] = { &p.alpha, &p.beta, &p.scale };
	long double ignored;
	size_t most = 4;
	int r = 0;

	strvec_split(&parts, text, ":");
	if (op->posts == DNN_POSTS_MAX || !parts.nr)
		return err_set(err, ENOTSUP, "this back end has no post-operations %.60s", text);
	p.sum = !strcmp(parts.v[0], "sum");
	if (p.sum) {
		to[0] = &p.scale;
		most = 2;
	}
	snprintf(p.alg, sizeof(p.alg), "%s", parts.v[0]);
	if ((!p.sum && dnn_eltwise(p.alg, 0, 0, 1, &ignored) < 0) || parts.nr > most)
		return err_set(err, ENOTSUP, "this back end has no post-operation %.60s", text);
	for (size_t i = 1; r == 0 && i < parts.nr; i++)
		r = number_of(parts.v[i], to[i - 1], err);
	op->post[op->posts++] = p;
	return r;
}

static int posts_of(const char *text, struct dnn_op *op, struct err *err)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;
	int r = 0;

	strvec_split(&parts, text, "+");
	for (size_t i = 0; r == 0 && i < parts.nr; i++)
		r = post_of(parts.v[i], op, err);
	return r;
}

static int with_word(const char *w, struct dnn_op *op, int64_t bias, char *out, struct err *err)
{
	struct dnn_tensor *b = &op->of[DNN_BIA];

	if (!strcmp(w, "forward_training") || !strcmp(w, "forward_inference")) {
		op->training = !strcmp(w, "forward_training");
		return 0;
	}
	if (begins(w, "alg:")) {
		snprintf(op->alg, sizeof(op->alg), "%s", w + strlen("alg:"));
		return 0;
	}
	if (begins(w, "post-ops:"))
		return posts_of(w + strlen("post-ops:"), op, err);
	/* properties of the plain matrices of a product, whose layout the key has */
	if (op->kind == DNN_MATMUL &&
	    (begins(w, "src:") || begins(w, "wei:") || begins(w, "dst:")) &&
	    strspn(w + 4, "ap") == strlen(w + 4))
		return 0;
	if (begins(w, "bia:") && bias > 0) {
		*b = (struct dnn_tensor){ .nr = 1, .dims = { bias } };
		return dnn_word_md("bia", w + strlen("bia:"), b, err);
	}
	if (begins(w, "bia:"))
		return err_set(err, ENOTSUP, "the key does not tell along which axis the bias is");
	if (begins(w, "out:") && out) {
		snprintf(out, 80, "%s", w + strlen("out:"));
		return 0;
	}
	return err_set(err, ENOTSUP, "this back end has no with=%.60s", w);
}

int dnn_words_with(struct bench_key *k, struct dnn_op *op, int64_t bias, char *out, struct err *err)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *text = bench_key_word(k, "with");
	int r = 0;

	if (text)
		strvec_split(&words, text, ",");
	for (size_t i = 0; r == 0 && i < words.nr; i++)
		r = with_word(words.v[i], op, bias, out, err);
	if (r == 0 && op->posts && op->direction != DNN_FWD)
		return err_set(err, EINVAL, "a gradient has no post-operations");
	return r;
}
