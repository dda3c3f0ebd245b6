#include "writers_private.h"

#include <string.h>

#include "profrig/base/fs.h"

#define WRITER_AT(name) &writer_##name,
const struct writer *const writers[] = { WRITERS(WRITER_AT) NULL };

const struct writer *writer_find(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

char *writer_path(const struct writer *w, const struct report *r)
{
	return fs_join(r->dir, w->shown);
}
