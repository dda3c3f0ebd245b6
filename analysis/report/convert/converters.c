#include "converters_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/text.h"

#define CONVERTER_AT(name) &converter_##name,
const struct converter *const converters[] = { CONVERTERS(CONVERTER_AT) NULL };

/* The longest suffix wins: ".speedscope.json" is no ".json". */
const struct converter *converter_of(const char *path)
{
	const struct converter *best = NULL;
	size_t length = 0;

	for (size_t i = 0; converters[i]; i++)
		for (const char *const *s = converters[i]->suffixes; *s; s++)
			if (strlen(*s) > length && text_suffix(path, *s)) {
				best = converters[i];
				length = strlen(*s);
			}
	return best;
}

const struct converter *converter_find(const char *name)
{
	for (size_t i = 0; converters[i]; i++)
		if (strcmp(converters[i]->name, name) == 0)
			return converters[i];
	return NULL;
}

void convert_result_release(struct convert_result *r)
{
	free(r->first);
	free(r->stale);
	*r = (struct convert_result){ .files = 0 };
}
