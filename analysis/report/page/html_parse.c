#include "html_private.h"

#include <jansson.h>

json_t *html_parse(const char *text)
{
	/* Clocks in ns outgrow what jansson takes for an integer's range only when they are
	 * damaged, but then nothing else is lost. */
	json_t *doc =
		text ? json_loads(text, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL) : NULL;

	if (doc && !json_is_object(doc)) {
		json_decref(doc);
		doc = NULL;
	}
	return doc;
}

void html_parse_free(json_t *doc)
{
	json_decref(doc);
}
