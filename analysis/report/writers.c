#include "writers_private.h"

#include <string.h>

const struct writer *const writers[] = {
	&writer_csv, &writer_json, &writer_folded, &writer_html, NULL,
};

const struct writer *writer_find(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}
