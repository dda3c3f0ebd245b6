#include "library_words.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"

static bool word_is_option(struct text_slice w)
{
	return w.n > 1 && w.p[0] == '-' && !(w.p[1] >= '0' && w.p[1] <= '9') && w.p[1] != '.';
}

static bool slice_same(struct text_slice a, struct text_slice b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
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

static bool option_is(const struct library_option *o, const char *name, const char *other)
{
	return slice_is(o->name, name) || (other && slice_is(o->name, other));
}

const struct text_slice *words_get(struct library_words *w, const char *name, const char *other)
{
	const struct text_slice *found = NULL;

	for (size_t i = 0; i < w->nr; i++)
		if (option_is(&w->v[i], name, other)) {
			w->v[i].used = true;
			if (!found)
				found = &w->v[i].value;
		}
	return found;
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
	char name[64];

	for (size_t i = 0; i < w->nr; i++) {
		struct library_option *o = &w->v[i];

		if (o->used || o->name.n >= sizeof(name))
			continue;
		memcpy(name, o->name.p, o->name.n);
		name[o->name.n] = 0;
		o->used = text_in_list(list, '|', name);
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
