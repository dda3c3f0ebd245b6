/*
 * What GPUs this machine has, asked of files and of no program: AMD's driver tells the target of
 * each node in sysfs (gfx_target_version 90010 is gfx90a: major, minor, and a stepping that is
 * written in hexadecimal), NVIDIA's the product's name in procfs.
 */
#include "run_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/fs.h"
#include "profrig/num.h"

#define MAX_TEXT ((size_t)64 << 10)

static void add_once(struct strvec *to, const char *s)
{
	if (*s && !strvec_has(to, s))
		strvec_push(to, s);
}

/* The rest of the line that begins with key. Owned; NULL. */
static char *line_of(const char *path, const char *key)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	size_t n = strlen(key);

	if (fs_read(path, MAX_TEXT, &text, NULL, NULL) < 0)
		return NULL;
	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++)
		if (!strncmp(lines.v[i], key, n))
			return xstrdup(lines.v[i] + n + strspn(lines.v[i] + n, ": \t"));
	return NULL;
}

static void files_below(const char *root, const char *dir, const char *pattern, const char *key,
			void (*found)(struct strvec *to, const char *value), struct strvec *to)
{
	CLEANUP(xfreep) char *top = xasprintf("%s%s", root, dir);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_list(top, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/%s/%s", top, names.v[i], pattern);
		CLEANUP(xfreep) char *value = line_of(path, key);

		if (value)
			found(to, value);
	}
}

static void amd_node(struct strvec *to, const char *value)
{
	CLEANUP(xfreep) char *name = NULL;
	uint64_t v;

	/* 0 is a processor's node. */
	if (num_u64(value, strlen(value), &v) < 0 || v == 0)
		return;
	name = xasprintf("gfx%llu%llu%llx", (unsigned long long)(v / 10000),
			 (unsigned long long)(v / 100 % 100), (unsigned long long)(v % 100));
	add_once(to, name);
}

static void nvidia_gpu(struct strvec *to, const char *value)
{
	add_once(to, value);
}

void run_gpu_archs(const char *root, struct strvec *ret)
{
	files_below(root, "/sys/class/kfd/kfd/topology/nodes", "properties", "gfx_target_version",
		    amd_node, ret);
	files_below(root, "/proc/driver/nvidia/gpus", "information", "Model", nvidia_gpu, ret);
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
