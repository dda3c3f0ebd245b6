#include "merge_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/progress.h"
#include "profrig/base/search.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define NO_VARIANT UINT32_MAX

/* ---- labels ---- */

static char *stem_of(const char *path)
{
	const char *base = fs_base(path), *end = text_suffix(base, ".zip");

	return end ? xstrndup(base, (size_t)(end - base)) : xstrdup(base);
}

/* h0/r.zip and h1/r.zip: h0-r and h1-r; what is not unique even so gets its number. */
static void labels_part(struct merge_plan *p, struct intern *seen)
{
	CLEANUP(xfreep) uint32_t *count = NULL;

	for (size_t i = 0; i < p->inputs.nr; i++)
		intern_puts(seen, p->inputs.v[i].label);
	count = xcalloc(intern_count(seen) + 1, sizeof(*count));
	for (size_t i = 0; i < p->inputs.nr; i++)
		count[intern_puts(seen, p->inputs.v[i].label)]++;
	for (size_t i = 0; i < p->inputs.nr; i++) {
		struct merge_input *in = &p->inputs.v[i];
		CLEANUP(xfreep) char *whole = fs_abs(in->path), *dir = fs_dir(whole);
		char *longer;

		if (count[intern_puts(seen, in->label)] < 2)
			continue;
		longer = xasprintf("%s-%s", fs_base(dir), in->label);
		free(in->label);
		in->label = longer;
	}
}

static void labels_set(struct merge_plan *p)
{
	struct intern *seen = intern_new(), *final = intern_new();
	struct err err = ERR_INIT;

	labels_part(p, seen);
	for (size_t i = 0; i < p->inputs.nr; i++) {
		struct merge_input *in = &p->inputs.v[i];
		bool bad = zip_name_check(in->label, strlen(in->label), &err) < 0 ||
			   strchr(in->label, '/');

		if (bad || intern_find(final, in->label, strlen(in->label)) != STR_NONE) {
			char *numbered = xasprintf("%s-%zu", bad ? "bundle" : in->label, i + 1);

			free(in->label);
			in->label = numbered;
		}
		intern_puts(final, in->label);
	}
	intern_free(seen);
	intern_free(final);
}

/* ---- units ---- */

/* Folders of an input that go as a whole. */
static struct intern *roots_of(const struct merge_input *in)
{
	struct intern *roots = intern_new();

	for (size_t i = 0; i < in->entries.nr; i++) {
		const char *path = in->entries.v[i].path, *slash = strrchr(path, '/');

		if (slash && (strcmp(slash, "/run.json") == 0 || text_suffix(slash, ".otf2")))
			intern_put(roots, path, (size_t)(slash - path));
	}
	return roots;
}

/* Length of the outermost root that a path is in; of the whole path when there is none. */
static size_t unit_length(const struct intern *roots, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (intern_find(roots, path, (size_t)(at - path)) != STR_NONE)
			return (size_t)(at - path);
	return strlen(path);
}

static struct merge_key *key_at(struct merge_plan *p, str_id key)
{
	while (p->of_key.nr <= key)
		VEC_PUSH(&p->of_key, ((struct merge_key){ NO_VARIANT, NO_VARIANT, 0 }));
	return &p->of_key.v[key];
}

/* The variant of a unit, new or known. */
static uint32_t variant_take(struct merge_plan *p, size_t input, size_t group)
{
	struct merge_input *in = &p->inputs.v[input];
	struct merge_group *g = &in->groups.v[group];
	struct fs_sha256 *sha = fs_sha256_begin();
	size_t skip = intern_len(p->keys, g->key), before = intern_count(p->contents);
	CLEANUP(xfreep) char *text = NULL;
	struct merge_key *k = key_at(p, g->key);
	char digest[65];
	str_id id;

	for (size_t i = g->first; i < g->first + g->nr; i++) {
		const char *rest = in->entries.v[i].path + skip;

		fs_sha256_add(sha, rest, strlen(rest) + 1);
		fs_sha256_add(sha, in->entries.v[i].sha256, 64);
	}
	fs_sha256_end(sha, digest);
	text = xasprintf("%" PRIu32 " %s", g->key, digest);
	id = intern_puts(p->contents, text);
	if (id < before)
		return id - 1; /* the empty text is 0 */
	VEC_PUSH(&p->variants, ((struct merge_variant){ .key = g->key,
							.input = input,
							.group = group,
							.bundles = STRVEC_INIT,
							.next = NO_VARIANT }));
	if (k->nr++ == 0)
		k->first = id - 1;
	else
		p->variants.v[k->last].next = id - 1;
	k->last = id - 1;
	return id - 1;
}

static void groups_make(struct merge_plan *p, size_t input)
{
	struct merge_input *in = &p->inputs.v[input];
	struct intern *roots = roots_of(in);

	for (size_t i = 0; i < in->entries.nr; i++) {
		const char *path = in->entries.v[i].path;
		size_t n = unit_length(roots, path), last = in->groups.nr;
		str_id key = intern_put(p->keys, path, n);

		if (last && in->groups.v[last - 1].key == key)
			in->groups.v[last - 1].nr++;
		else
			VEC_PUSH(&in->groups, ((struct merge_group){ key, i, 1, 0 }));
	}
	intern_free(roots);
	for (size_t i = 0; i < in->groups.nr; i++) {
		uint32_t v = variant_take(p, input, i);

		in->groups.v[i].variant = v;
		strvec_push(&p->variants.v[v].bundles, in->label);
	}
}

/* ---- reading ---- */

static int entries_read(struct merge_input *in, struct bundle_in *b, struct err *err)
{
	for (size_t i = 0; i < b->zip.nr; i++) {
		const struct zip_entry *e = &b->zip.entry[i];
		struct merge_entry me = { .bytes = e->bytes };
		int r;

		if (!bundle_in_has(b, e))
			continue;
		r = bundle_in_read(b, e, NULL, NULL, me.sha256, err);
		if (r < 0)
			return r;
		me.path = xstrdup(e->path);
		VEC_PUSH(&in->entries, me);
	}
	for (size_t i = 0; i < b->manifest.members.nr; i++)
		if (!zip_find(&b->zip, b->manifest.members.v[i].path))
			return err_set(err, EBADMSG, "%s: member %s of its manifest is missing",
				       b->zip.name, b->manifest.members.v[i].path);
	return 0;
}

static int input_read(struct merge_input *in, struct err *err)
{
	struct bundle_in b;
	int r = bundle_in_open(in->path, &b, err);

	if (r < 0)
		return r;
	progress_phase("read %s", fs_base(in->path));
	r = entries_read(in, &b, err);
	if (r == 0) {
		in->facts = b.manifest;
		bundle_manifest_init(&b.manifest);
	}
	bundle_in_release(&b);
	return r;
}

/* ---- names in the output ---- */

static bool has_name(const struct intern *in, const char *path, size_t n)
{
	return intern_find(in, path, n) != STR_NONE;
}

static void folders_add(struct merge_plan *p, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		intern_put(p->folders, path, (size_t)(at - path));
}

/* No file and no folder has the name, and no file is where its folders are to be. */
static bool name_is_free(const struct merge_plan *p, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (has_name(p->files, path, (size_t)(at - path)))
			return false;
	return !has_name(p->files, path, strlen(path)) && !has_name(p->folders, path, strlen(path));
}

static const struct merge_group *group_of(const struct merge_plan *p, const struct merge_variant *v)
{
	return &p->inputs.v[v->input].groups.v[v->group];
}

char *merge_entry_path(const struct merge_plan *p, const struct merge_group *g,
		       const struct merge_entry *e)
{
	return xasprintf("%s%s", p->variants.v[g->variant].to,
			 e->path + intern_len(p->keys, g->key));
}

static void variant_name(struct merge_plan *p, struct merge_variant *v, char *to)
{
	const struct merge_input *in = &p->inputs.v[v->input];
	const struct merge_group *g = group_of(p, v);

	v->to = to;
	for (size_t i = g->first; i < g->first + g->nr; i++) {
		CLEANUP(xfreep) char *path = merge_entry_path(p, g, &in->entries.v[i]);

		intern_puts(p->files, path);
		folders_add(p, path);
	}
}

static bool is_unit(const struct merge_plan *p, const struct merge_variant *v)
{
	const struct merge_group *g = group_of(p, v);
	const struct merge_entry *e = &p->inputs.v[v->input].entries.v[g->first];

	return strlen(e->path) > intern_len(p->keys, g->key);
}

/* Whether a variant that is alone can have its own name. */
static bool keeps_name(const struct merge_plan *p, const struct merge_variant *v)
{
	const struct merge_input *in = &p->inputs.v[v->input];
	const struct merge_group *g = group_of(p, v);
	const char *key = intern_str(p->keys, v->key);

	if (p->of_key.v[v->key].nr > 1 || strcmp(key, PACK_MANIFEST) == 0)
		return false;
	if (!is_unit(p, v) && has_name(p->folders, key, strlen(key)))
		return false;
	for (size_t i = g->first; i < g->first + g->nr; i++)
		if (has_name(p->files, in->entries.v[i].path, strlen(in->entries.v[i].path)))
			return false;
	return true;
}

/* NAME/LABEL; where that cannot be, NAME-LABEL; with a number behind it. */
static char *apart_name(const struct merge_plan *p, const struct merge_variant *v)
{
	const char *key = intern_str(p->keys, v->key), *label = p->inputs.v[v->input].label;
	char between = has_name(p->files, key, strlen(key)) ? '-' : '/';
	char *to = xasprintf("%s%c%s", key, between, label);

	for (unsigned k = 2; !name_is_free(p, to); k++) {
		free(to);
		to = xasprintf("%s%c%s-%u", key, between, label, k);
	}
	return to;
}

static void names_set(struct merge_plan *p)
{
	for (size_t i = 0; i < p->inputs.nr; i++)
		for (size_t k = 0; k < p->inputs.v[i].entries.nr; k++)
			folders_add(p, p->inputs.v[i].entries.v[k].path);
	intern_puts(p->files, PACK_MANIFEST);
	for (int units = 1; units >= 0; units--)
		for (size_t i = 0; i < p->variants.nr; i++) {
			struct merge_variant *v = &p->variants.v[i];

			if (is_unit(p, v) == units && keeps_name(p, v))
				variant_name(p, v, xstrdup(intern_str(p->keys, v->key)));
		}
	for (size_t i = 0; i < p->variants.nr; i++)
		if (!p->variants.v[i].to)
			variant_name(p, &p->variants.v[i], apart_name(p, &p->variants.v[i]));
}

/* ---- the plan ---- */

/* An archive that is named twice counts once. */
static void inputs_add(struct merge_plan *p, const struct strvec *inputs)
{
	struct intern *seen = intern_new();

	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(xfreep) char *whole = fs_abs(inputs->v[i]);
		size_t before = intern_count(seen);

		if (intern_puts(seen, whole) >= before)
			VEC_PUSH(&p->inputs, ((struct merge_input){ .path = inputs->v[i],
								    .label = stem_of(whole) }));
	}
	intern_free(seen);
}

int merge_plan_make(const struct strvec *inputs, struct merge_plan *ret, struct err *err)
{
	*ret = (struct merge_plan){ .keys = intern_new(),
				    .contents = intern_new(),
				    .files = intern_new(),
				    .folders = intern_new() };
	inputs_add(ret, inputs);
	labels_set(ret);
	for (size_t i = 0; i < ret->inputs.nr; i++) {
		int r = input_read(&ret->inputs.v[i], err);

		if (r < 0)
			return r;
		groups_make(ret, i);
	}
	names_set(ret);
	return 0;
}

void merge_plan_release(struct merge_plan *p)
{
	for (size_t i = 0; i < p->inputs.nr; i++) {
		struct merge_input *in = &p->inputs.v[i];

		for (size_t k = 0; k < in->entries.nr; k++)
			free(in->entries.v[k].path);
		VEC_RELEASE(&in->entries);
		VEC_RELEASE(&in->groups);
		bundle_manifest_release(&in->facts);
		free(in->label);
	}
	for (size_t i = 0; i < p->variants.nr; i++) {
		free(p->variants.v[i].to);
		strvec_release(&p->variants.v[i].bundles);
	}
	VEC_RELEASE(&p->inputs);
	VEC_RELEASE(&p->variants);
	VEC_RELEASE(&p->of_key);
	intern_free(p->keys);
	intern_free(p->contents);
	intern_free(p->files);
	intern_free(p->folders);
}

char *merge_plan_path(const struct merge_plan *p, size_t input, const char *path)
{
	const struct merge_input *in = &p->inputs.v[input];
	size_t at = LOWER_BOUND(k, 0, in->groups.nr,
				zip_path_cmp(intern_str(p->keys, in->groups.v[k].key), path) <= 0);
	const struct merge_variant *v;
	size_t n;

	if (at == 0)
		return NULL;
	v = &p->variants.v[in->groups.v[at - 1].variant];
	n = intern_len(p->keys, v->key);
	if (v->input != input || strncmp(path, intern_str(p->keys, v->key), n) != 0 ||
	    (path[n] && path[n] != '/'))
		return NULL;
	return xasprintf("%s%s", v->to, path + n);
}
