/* GPUs that a model is not for: by AMD's target (gfx90a) or a word of NVIDIA's product. */
#include "run_priv.h"

#include <ctype.h>
#include <string.h>

#include "profrig/devices.h"

void run_gpu_archs(const char *root, struct strvec *ret)
{
	CLEANUP(devices_release) struct devices d;

	devices_find(&d, root);
	for (size_t i = 0; i < d.gpus.nr; i++) {
		const struct gpu *g = &d.gpus.v[i];
		const char *arch = g->vendor == GPU_AMD ? g->arch : g->name;

		if (*arch && !strvec_has(ret, arch))
			strvec_push(ret, arch);
	}
}

/* "A100" is a word of "NVIDIA A100-SXM4-80GB", and "gfx90a" is all of "gfx90a". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = text; n && *s; s++)
		if (!strncasecmp(s, word, n) && (s == text || !isalnum((unsigned char)s[-1])) &&
		    !isalnum((unsigned char)s[n]))
			return true;
	return false;
}

const char *run_skip_arch(const struct runconf *rc, const struct strvec *archs)
{
	for (size_t i = 0; i < rc->skip_gpu_arch.nr; i++)
		for (size_t k = 0; k < archs->nr; k++)
			if (has_word(archs->v[k], rc->skip_gpu_arch.v[i]))
				return archs->v[k];
	return NULL;
}
