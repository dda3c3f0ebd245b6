#include "library_words.h"

#include <errno.h>
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
		if (word_is_option(word) && slice_word(&ahead, &word) && !word_is_option(word)) {
			o->value = word;
			text = ahead;
		}
		w->nr++;
	}
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

bool words_unused(const struct library_words *w, size_t *at, const struct library_option **ret)
{
	while (*at < w->nr) {
		*ret = &w->v[(*at)++];
		if (!(*ret)->used)
			return true;
	}
	return false;
}
