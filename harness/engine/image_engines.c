#include "engine_priv.h"

#include <string.h>

#include "profrig/engine/engine_image.h"

#define IMAGE_AT(name) &image_##name,
static const struct image_engine *const image_engines[] = { IMAGE_ENGINES(IMAGE_AT) NULL };

const struct image_engine *image_engine_find(const char *name)
{
	for (size_t i = 0; image_engines[i]; i++)
		if (!strcmp(image_engines[i]->name, name))
			return image_engines[i];
	return NULL;
}

void image_build_words(const struct image_build *b, struct strvec *argv)
{
	for (size_t i = 0; i < b->args->nr; i++)
		strvec_pushl(argv, "--build-arg", b->args->v[i], NULL);
	for (size_t i = 0; i < b->labels->nr; i++)
		strvec_pushl(argv, "--label", b->labels->v[i], NULL);
	for (size_t i = 0; i < b->secrets->nr; i++)
		strvec_pushl(argv, "--secret", b->secrets->v[i], NULL);
	if (b->target)
		strvec_pushl(argv, "--target", b->target, NULL);
	if (b->network)
		strvec_pushl(argv, "--network", b->network, NULL);
	if (b->no_cache)
		strvec_push(argv, "--no-cache");
	strvec_pushv(argv, b->options->v);
	strvec_pushl(argv, "-f", b->dockerfile, "-t", b->image, "--", b->context, NULL);
}

bool image_registry_is_local(const char *registry)
{
	static const char *const hosts[] = { "localhost", "127.", "[::1]" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t n = strlen(hosts[i]);
		bool part = hosts[i][n - 1] == '.';

		if (!strncmp(registry, hosts[i], n) && (part || strchr(":/", registry[n])))
			return true;
	}
	return false;
}
