/*
 * GPUs that a model does not support, by AMD's target (gfx90a) or a word of NVIDIA's product name.
 */
#include "run_priv.h"

#include <ctype.h>
#include <string.h>

static const char *kind_of(const struct gpu *g)
{
	return g->vendor == GPU_AMD && *g->arch ? g->arch : g->name;
}

void run_gpu_archs(const struct devices *d, struct strvec *ret)
{
	for (size_t i = 0; d && i < d->gpus.nr; i++)
		if (!strvec_has(ret, kind_of(&d->gpus.v[i])))
			strvec_push(ret, kind_of(&d->gpus.v[i]));
}

/* "A100" is a word of "NVIDIA A100-SXM4-80GB", and "gfx90a" of "gfx90a". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = text; n && *s; s++)
		if (!strncasecmp(s, word, n) && (s == text || !isalnum((unsigned char)s[-1])) &&
		    !isalnum((unsigned char)s[n]))
			return true;
	return false;
}

const char *run_skip_arch(const struct runconf *rc, const struct devices *d)
{
	for (size_t i = 0; i < rc->skip_gpu_arch.nr; i++)
		for (size_t k = 0; k < d->gpus.nr; k++)
			if (has_word(kind_of(&d->gpus.v[k]), rc->skip_gpu_arch.v[i]))
				return kind_of(&d->gpus.v[k]);
	return NULL;
}
