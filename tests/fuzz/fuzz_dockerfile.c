#include "fuzz.h"
#include "image_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dockerfile d = { .path = xstrdup("Dockerfile") };
	CLEANUP(xfreep) char *text = xstrndup((const char *)data, n);
	struct err err = ERR_INIT;

	cfg_init(&d.context);
	/* What is said of a bad one says where. */
	if (dockerfile_parse(&d, text, &err) < 0 && strncmp(err.msg, "Dockerfile:", 11) != 0)
		abort();
	for (size_t i = 0; i < d.args.nr; i++)
		if (!d.args.v[i].name || !d.args.v[i].origin)
			abort();
	dockerfile_release(&d);
	return 0;
}
