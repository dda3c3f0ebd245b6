#include "op_args.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static const struct op_arg none = { .kind = OPERAND_UNKNOWN, .text = "" };

const struct op_arg *op_arg(const struct op_call *c, size_t i)
{
	return i < c->nr ? &c->v[i] : &none;
}

bool arg_is_tensor(const struct op_arg *a)
{
	return a->kind == OPERAND_TENSOR;
}

bool misfit(struct op_call *c)
{
	c->state = COST_MISFIT;
	return false;
}

bool untold(struct op_call *c)
{
	c->state = COST_UNTOLD;
	return false;
}

bool need_tensor(struct op_call *c, const struct op_arg *a, size_t min_dims)
{
	if (!arg_is_tensor(a))
		return untold(c);
	return (a->bad || a->nr < min_dims) ? misfit(c) : true;
}

static amount elements_of(const struct op_arg *a, bool stored)
{
	amount n = 1;

	for (size_t i = 0; i < a->nr; i++)
		if (!stored || !a->step || a->step[i] != 0 || a->dim[i] == 0)
			n = amount_mul(n, a->dim[i]);
	return n;
}

amount arg_elements(const struct op_arg *a)
{
	return elements_of(a, false);
}

amount arg_stored(const struct op_arg *a)
{
	return elements_of(a, true);
}

void move_elements(struct op_call *c, amount n, const struct element_type *type)
{
	if (type)
		c->bits = amount_add(c->bits, amount_mul(n, type->bits));
	else
		c->no_bytes = true;
}

void move_arg(struct op_call *c, const struct op_arg *a)
{
	if (!arg_is_tensor(a))
		return;
	if (a->bad)
		misfit(c);
	else
		move_elements(c, arg_stored(a), a->type);
}

static int word_bool(const char *s, size_t n)
{
	static const struct {
		const char *word;
		int is;
	} words[] = { { "True", 1 },  { "true", 1 },  { "1", 1 },
		      { "False", 0 }, { "false", 0 }, { "0", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0)
			return words[i].is;
	return -1;
}

int arg_bool(const struct op_arg *a)
{
	return word_bool(a->text, strlen(a->text));
}

bool arg_int(const struct op_arg *a, int64_t *ret)
{
	return num_i64(a->text, strlen(a->text), ret) == 0;
}

/* The next word of "[a, b]", or of "a"; false: there is none. *bad: it is no list. */
static bool next_word(const char **at, const char **ret, size_t *ret_n, bool *bad)
{
	const char *p = *at + strspn(*at, " ");
	size_t n = strcspn(p, ",]");

	if (!*p || *p == ']') {
		*bad = *p == ']' && p[1 + strspn(p + 1, " ")] != 0;
		return false;
	}
	*ret = p;
	*at = p + n + (p[n] == ',');
	while (n && p[n - 1] == ' ')
		n--;
	*ret_n = n;
	return true;
}

/* Calls put for each word; -1: the text is no list, or put refuses. */
static int list_words(const char *text, bool (*put)(const char *s, size_t n, void *to, int i),
		      void *to, int max)
{
	const char *at = text, *s = NULL;
	bool bad = false;
	size_t n = 0;
	int nr = 0;

	if (!*text)
		return -1;
	if (*text == '[') {
		if (!strchr(text, ']'))
			return -1;
		at++;
	} else if (strchr(text, ',') || strchr(text, ']')) {
		return -1;
	}
	while (next_word(&at, &s, &n, &bad))
		if (nr >= max || !put(s, n, to, nr++))
			return -1;
	return bad ? -1 : nr;
}

static bool put_int(const char *s, size_t n, void *to, int i)
{
	return num_i64(s, n, &((int64_t *)to)[i]) == 0;
}

static bool put_bool(const char *s, size_t n, void *to, int i)
{
	int is = word_bool(s, n);

	((bool *)to)[i] = is == 1;
	return is >= 0;
}

int arg_ints(const struct op_arg *a, int64_t *ret, int max)
{
	return list_words(a->text, put_int, ret, max);
}

int arg_bools(const struct op_arg *a, bool *ret, int max)
{
	return list_words(a->text, put_bool, ret, max);
}

bool shape_join(struct op_shape *s, const int64_t *dim, size_t nr)
{
	if (nr > FACT_DIMS_MAX)
		return false;
	while (s->nr < nr) {
		memmove(s->dim + 1, s->dim, s->nr * sizeof(*s->dim));
		s->dim[0] = 1;
		s->nr++;
	}
	for (size_t i = 0; i < nr; i++) {
		int64_t *mine = &s->dim[s->nr - nr + i];

		if (*mine == 1)
			*mine = dim[i];
		else if (dim[i] != 1 && dim[i] != *mine)
			return false;
	}
	return true;
}

amount shape_elements(const struct op_shape *s)
{
	amount n = 1;

	for (size_t i = 0; i < s->nr; i++)
		n = amount_mul(n, s->dim[i]);
	return n;
}
