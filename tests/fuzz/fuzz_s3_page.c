#include "data_priv.h"
#include "fuzz.h"

/* No name that is taken leads out of the folder it is for. */
static void page_check(const char *rel)
{
	CLEANUP(xfreep) char *framed = xasprintf("/%s/", rel);

	if (!*rel || strstr(framed, "/../") || strstr(framed, "/./") || strstr(framed, "//"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const prefixes[] = { "", "d", "d/one" };
	CLEANUP(xfreep) char *xml = xstrndup((const char *)data, n);

	for (size_t k = 0; k < ARRAY_LEN(prefixes); k++) {
		CLEANUP(data_files_release) data_files files = VEC_INIT;
		struct data_source s = { .provider = DATA_S3,
					 .path = (char *)"b",
					 .endpoint = (char *)"http://h",
					 .region = (char *)"r" };
		CLEANUP(xfreep) char *next = NULL;
		struct err err = ERR_INIT;

		if (s3_parse_page(xml, &s, prefixes[k], &files, &next, &err) < 0 && !*err.msg)
			abort();
		for (size_t i = 0; i < files.nr; i++) {
			page_check(files.v[i].rel);
			if (files.v[i].bytes < 0)
				abort();
		}
	}
	return 0;
}
