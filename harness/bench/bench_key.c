#include "profrig/bench/bench_key.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"

static int word_add(struct bench_key *k, char *word, struct err *err)
{
	char *eq = strchr(word, '=');

	if (!eq || eq == word || !eq[1])
		return err_set(err, EINVAL, "'%.40s' in the key is no NAME=VALUE", word);
	*eq = 0;
	for (size_t i = 0; i < k->nr; i++)
		if (!strcmp(k->words[i].name, word))
			return err_set(err, EINVAL, "the key has '%.40s' twice", word);
	if (k->nr == BENCH_KEY_WORDS)
		return err_set(err, EINVAL, "the key has more than %d words", BENCH_KEY_WORDS);
	k->words[k->nr++] = (struct bench_key_word){ .name = word, .value = eq + 1 };
	return 0;
}

int bench_key_parse(const char *text, struct bench_key *ret, struct err *err)
{
	size_t n = strnlen(text, BENCH_KEY_MAX + 1);
	char *at = ret->text;

	ret->nr = 0;
	if (n == 0)
		return err_set(err, EINVAL, "there is no key");
	if (n > BENCH_KEY_MAX)
		return err_set(err, EINVAL, "the key is longer than %zu bytes", BENCH_KEY_MAX);
	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return err_set(err, EINVAL, "byte 0x%02x in the key",
				       (unsigned char)text[i]);
	memcpy(ret->text, text, n + 1);
	if (*at == ' ' || *at == '=')
		return err_set(err, EINVAL, "the key begins with no operation");
	for (at = strchr(at, ' '); at;) {
		char *word = at + 1;
		int r;

		*at = 0;
		at = strchr(word, ' ');
		if (at)
			*at = 0;
		r = word_add(ret, word, err);
		if (r < 0)
			return r;
	}
	return 0;
}

const char *bench_key_operation(const struct bench_key *k)
{
	return k->text;
}

const char *bench_key_word(struct bench_key *k, const char *name)
{
	for (size_t i = 0; i < k->nr; i++)
		if (!strcmp(k->words[i].name, name)) {
			k->words[i].used = true;
			return k->words[i].value;
		}
	return NULL;
}

int bench_key_int(struct bench_key *k, const char *name, int64_t otherwise, int64_t *ret,
		  struct err *err)
{
	const char *v = bench_key_word(k, name);

	*ret = otherwise;
	if (v && num_i64(v, strlen(v), ret) < 0)
		return err_set(err, EINVAL, "%s=%.40s is no integer", name, v);
	return 0;
}

static bool finite_number(const char *s, size_t n, double *ret)
{
	if (n > 1 && *s == '+')
		s++, n--;
	return num_f64(s, n, ret) == 0 && isfinite(*ret);
}

/* Where the imaginary part of "1e-3-2i" begins: at the last sign that is none of an exponent. */
static size_t imaginary_at(const char *v, size_t n)
{
	for (size_t i = n; i-- > 1;)
		if ((v[i] == '+' || v[i] == '-') && v[i - 1] != 'e' && v[i - 1] != 'E')
			return i;
	return 0;
}

int bench_key_number(struct bench_key *k, const char *name, double otherwise, double ret[2],
		     struct err *err)
{
	const char *v = bench_key_word(k, name);
	size_t n = v ? strlen(v) : 0, im = 0;

	ret[0] = otherwise;
	ret[1] = 0;
	if (!v || finite_number(v, n, &ret[0]))
		return 0;
	if (n > 1 && v[n - 1] == 'i')
		im = imaginary_at(v, --n);
	/* logs have "1+-2i", too */
	if (im && finite_number(v + im, n - im, &ret[1]) &&
	    finite_number(v, im > 1 && v[im - 1] == '+' ? im - 1 : im, &ret[0]))
		return 0;
	return err_set(err, EINVAL, "%s=%.40s is no number", name, v);
}

const char *bench_key_unused(const struct bench_key *k)
{
	for (size_t i = 0; i < k->nr; i++)
		if (!k->words[i].used)
			return k->words[i].name;
	return NULL;
}
