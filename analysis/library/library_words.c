#include "library_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"

static bool word_is_option(struct text_slice w)
{
	if (slice_is(w, "-nan") || slice_is(w, "-inf"))
		return false;
	return w.n > 1 && w.p[0] == '-' && !(w.p[1] >= '0' && w.p[1] <= '9') && w.p[1] != '.';
}

/* Most names of one length differ in their last byte. */
static bool slice_same(struct text_slice a, struct text_slice b)
{
	return a.n == b.n &&
	       (a.n == 0 || (a.p[a.n - 1] == b.p[b.n - 1] && memcmp(a.p, b.p, a.n) == 0));
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where the word of the '%' at `at` begins, if that is "50%"; else `at`. */
static size_t percentage_begins(struct text_slice t, size_t at)
{
	size_t i = at;

	while (i > 0 && (digit(t.p[i - 1]) || t.p[i - 1] == '.'))
		i--;
	return i < at && i > 0 && slice_blank(t.p[i - 1]) ? i : at;
}

/* Whether a command ends at `at`; *ret_end: before what belongs to that. */
static bool command_ends(struct text_slice t, size_t at, size_t *ret_end)
{
	char c = t.p[at];

	*ret_end = at;
	if (c == '%') {
		*ret_end = percentage_begins(t, at);
		return *ret_end < at;
	}
	if (c == '#') /* else "-#" */
		return at > 0 && slice_blank(t.p[at - 1]);
	if (!c || !strchr("\"'`|;&<>", c))
		return false;
	if ((c == '>' || c == '<') && at > 1 && digit(t.p[at - 1]) && slice_blank(t.p[at - 2]))
		*ret_end = at - 1; /* "2>" */
	return true;
}

struct text_slice words_command(struct text_slice text)
{
	size_t end;

	for (size_t i = 0; i < text.n; i++)
		if (command_ends(text, i, &end)) {
			text.n = end;
			break;
		}
	return slice_rtrim(text);
}

/* Cuts "=value" off an option's name. */
static void value_split(struct library_option *o)
{
	const char *equals = slice_begins(o->name, "--") ? memchr(o->name.p, '=', o->name.n) : NULL;

	if (!equals)
		return;
	o->value = (struct text_slice){ equals + 1, (size_t)(o->name.p + o->name.n - equals - 1) };
	o->name.n = (size_t)(equals - o->name.p);
}

void words_split(struct library_words *w, struct text_slice text)
{
	struct text_slice word, ahead;

	w->nr = 0;
	w->too_many = false;
	w->verb = (struct text_slice){ text.p, 0 };
	if (!slice_word(&text, &w->program))
		return;
	ahead = text;
	if (slice_word(&ahead, &word) && !word_is_option(word)) {
		w->verb = word;
		text = ahead;
	}
	while (slice_word(&text, &word)) {
		struct library_option *o = &w->v[w->nr];

		if (w->nr == WORDS_MAX) {
			w->too_many = true;
			return;
		}
		*o = (struct library_option){ .name = word, .value = { word.p + word.n, 0 } };
		ahead = text;
		value_split(o);
		if (o->name.n == word.n && word_is_option(word) && slice_word(&ahead, &word) &&
		    !word_is_option(word)) {
			o->value = word;
			text = ahead;
		}
		w->nr++;
	}
}

bool words_split_options(struct library_words *w, struct text_slice command)
{
	struct text_slice rest = command, last = slice_last_word(&rest);

	words_split(w, command);
	while (w->nr > 0 && !word_is_option(w->v[w->nr - 1].name))
		w->nr--;
	return !slice_is(last, "-") && !slice_is(last, "--");
}

const struct text_slice *words_find(struct library_words *w, const char *name, const char *other,
				    struct text_slice *ret_twice)
{
	const struct text_slice names[] = { { name, strlen(name) },
					    { other, other ? strlen(other) : 0 } };
	const struct text_slice *found = NULL;

	for (size_t i = 0; i < w->nr; i++) {
		struct library_option *o = &w->v[i];

		if (!slice_same(o->name, names[0]) && (!other || !slice_same(o->name, names[1])))
			continue;
		o->used = true;
		if (found && ret_twice && !slice_same(*found, o->value))
			*ret_twice = o->name;
		if (!found)
			found = &o->value;
	}
	return found;
}

const struct text_slice *words_get(struct library_words *w, const char *name, const char *other)
{
	return words_find(w, name, other, NULL);
}

int words_int(struct library_words *w, const char *name, const char *other, int64_t *ret)
{
	const struct text_slice *v = words_get(w, name, other);
	int64_t value;

	if (!v)
		return 0;
	if (num_i64(v->p, v->n, &value) < 0)
		return -EINVAL;
	*ret = value;
	return 1;
}

void words_ignore(struct library_words *w, const char *list)
{
	while (*list) {
		struct text_slice name = { list, strcspn(list, "|") };

		for (size_t i = 0; i < w->nr; i++)
			w->v[i].used |= slice_same(w->v[i].name, name);
		list += name.n + (list[name.n] == '|');
	}
}

bool words_conflict(const struct library_words *w, struct text_slice *ret_name)
{
	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (slice_same(w->v[i].name, w->v[k].name) &&
			    !slice_same(w->v[i].value, w->v[k].value)) {
				*ret_name = w->v[i].name;
				return true;
			}
	return false;
}

static int by_name(const void *a, const void *b)
{
	const struct library_option *x = *(const struct library_option *const *)a;
	const struct library_option *y = *(const struct library_option *const *)b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int r = memcmp(x->name.p, y->name.p, n);

	if (r == 0)
		r = (x->name.n > y->name.n) - (x->name.n < y->name.n);
	return r ? r : (x > y) - (x < y);
}

size_t words_rest(const struct library_words *w, const struct library_option *ret[WORDS_MAX])
{
	size_t all = 0, nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (!w->v[i].used)
			ret[all++] = &w->v[i];
	if (all > 0)
		qsort(ret, all, sizeof(*ret), by_name);
	for (size_t i = 0; i < all; i++)
		if (nr == 0 || !slice_same(ret[i]->name, ret[nr - 1]->name) ||
		    !slice_same(ret[i]->value, ret[nr - 1]->value))
			ret[nr++] = ret[i];
	return nr;
}
