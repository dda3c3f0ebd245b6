#include "hlo_private.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/scan/input.h"

struct hlo_programs *hlo_programs_new(void)
{
	struct hlo_programs *p = xcalloc(1, sizeof(*p));

	p->texts = intern_new();
	return p;
}

void hlo_programs_free(struct hlo_programs *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->v.nr; i++)
		hlo_module_release(&p->v.v[i]);
	VEC_RELEASE(&p->v);
	intern_free(p->texts);
	free(p);
}

/* The file's name without the suffix of its compression, owned. */
static char *plain_name(const char *path)
{
	static const char *const packed[] = { ".gz", ".zst" };
	const char *name = fs_base(path), *end = NULL;

	for (size_t i = 0; i < ARRAY_LEN(packed) && !end; i++)
		end = text_suffix(name, packed[i]);
	return end ? xstrndup(name, (size_t)(end - name)) : xstrdup(name);
}

static bool is_module(const char *name)
{
	return strncmp(name, "module_", 7) == 0;
}

bool hlo_dump_is(const char *path)
{
	CLEANUP(xfreep) char *name = plain_name(path);

	return text_suffix(name, ".hlo.pb") || text_suffix(name, ".hlo") ||
	       text_suffix(name, ".hlo.txt") ||
	       (is_module(name) && text_suffix(name, "after_optimizations.txt"));
}

/* "module_0012.jit_f…" → 12; HLO_ABSENT */
static int64_t id_in(const char *name)
{
	int64_t id;

	if (!is_module(name) || num_i64(name + 7, strcspn(name + 7, "."), &id) < 0)
		return HLO_ABSENT;
	return id;
}

static bool module_known(const struct hlo_programs *p, const struct hlo_module *m)
{
	return VEC_FIND(&p->v, k,
			k->name == m->name && k->id == m->id && k->v.nr == m->v.nr &&
				(k->fingerprint == m->fingerprint || k->fingerprint == 0 ||
				 m->fingerprint == 0)) != NULL;
}

void hlo_module_add(struct hlo_programs *p, struct hlo_module *m, bool sound)
{
	if (!sound || module_known(p, m))
		hlo_module_release(m);
	else
		VEC_PUSH(&p->v, *m);
}

static int module_parse(struct hlo_programs *p, const char *path, const struct input_map *map,
			struct hlo_module *m, struct err *err)
{
	static const char begin[] = "HloModule ";
	bool text = memmem(map->data, map->len < 4096 ? map->len : 4096, begin, strlen(begin)) &&
		    !memchr(map->data, 0, map->len < 4096 ? map->len : 4096);

	if (map->truncated)
		return err_set(err, EINVAL, "%s: compressed data: %s", path, map->why);
	return text ? hlo_parse_text(p, map->data, map->len, m, path, err)
		    : hlo_parse_proto(p, map->data, map->len, m, path, err);
}

int hlo_read(struct hlo_programs *p, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *name = plain_name(path);
	struct hlo_module m = HLO_MODULE_NONE;
	struct input_map map;
	int r;

	if (is_module(name) && !strstr(name, "after_optimizations"))
		return 0;
	r = input_map(path, 0, &map, err);
	if (r < 0)
		return r;
	r = module_parse(p, path, &map, &m, err);
	input_unmap(&map);
	if (id_in(name) != HLO_ABSENT)
		m.id = id_in(name);
	hlo_module_add(p, &m, r == 0);
	return r;
}
