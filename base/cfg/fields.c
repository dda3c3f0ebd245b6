#include "profrig/base/fields.h"

#include <string.h>

#include "profrig/base/vec.h"

typedef VEC(char) any_vec; /* the layout of every VEC */

void fields_init(void *thing, const struct field *table)
{
	for (const struct field *f = table; f->name; f++) {
		void *at = (char *)thing + f->at;

		switch (f->kind) {
		case FIELD_TEXT:
		case FIELD_SECRET:
			*(char **)at = NULL;
			break;
		case FIELD_WORDS:
			strvec_init(at);
			break;
		case FIELD_BOOL:
			*(bool *)at = false;
			break;
		case FIELD_LIST:
			*(any_vec *)at = (any_vec)VEC_INIT;
			break;
		}
	}
}

/* The map that holds the value of a path, and its key there. */
static const struct cfg_node *field_holder(const struct cfg_node *map, const char *path,
					   const char **key)
{
	const char *dot = strrchr(path, '.');
	CLEANUP(xfreep) char *above = dot ? xstrndup(path, (size_t)(dot - path)) : NULL;

	*key = dot ? dot + 1 : path;
	return above ? cfg_path(map, above) : map;
}

void fields_read(void *thing, const struct field *table, const struct cfg_node *map)
{
	for (const struct field *f = table; f->name; f++) {
		const char *key;
		const struct cfg_node *in = field_holder(map, f->name, &key), *n = cfg_get(in, key);
		void *at = (char *)thing + f->at;

		if (f->kind == FIELD_TEXT)
			*(char **)at = xstrdup_null(cfg_text(in, key));
		else if (f->kind == FIELD_WORDS)
			cfg_words(in, key, at);
		else if (f->kind == FIELD_BOOL)
			*(bool *)at = n && n->kind == CFG_BOOL && n->b;
	}
}

static void list_release(any_vec *v, const struct field *f)
{
	for (size_t i = 0; f->of && i < v->nr; i++)
		fields_release(v->v + i * f->size, f->of);
	VEC_RELEASE(v);
}

void fields_release(void *thing, const struct field *table)
{
	for (const struct field *f = table; f->name; f++) {
		char **text = (char **)((char *)thing + f->at);

		switch (f->kind) {
		case FIELD_SECRET:
			if (*text)
				explicit_bzero(*text, strlen(*text));
			free(STEAL(*text));
			break;
		case FIELD_TEXT:
			free(STEAL(*text));
			break;
		case FIELD_WORDS:
			strvec_release((struct strvec *)(void *)text);
			break;
		case FIELD_LIST:
			list_release((any_vec *)(void *)text, f);
			break;
		case FIELD_BOOL:
			break;
		}
	}
}
