#include "manifest_where.h"
#include "pick_models.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"

/* A folder in which the models may be. */
struct manifest_folder {
	char *prefix; /* beginning of its paths; NULL: the working directory */
	struct catalog *cat;
};

static const struct catalog_entry *by_name(const struct catalog *cat, const char *name,
					   bool package)
{
	for (size_t i = 0; name && i < cat->models.nr; i++)
		if (!strcmp(cat->models.v[i].name, name) && (!package || cat->models.v[i].mad))
			return &cat->models.v[i];
	return NULL;
}

/* The file that a word without arguments names there; owned, NULL: there is none. */
static char *folder_file(const struct manifest_folder *mf, const char *word)
{
	char *path = mf->prefix ? fs_join(mf->prefix, word) : xstrdup(word);
	CLEANUP(xfreep) char *inside = fs_join(path, "profrig.yaml");

	if (fs_is_file(path) || fs_is_file(inside))
		return path;
	free(path);
	return NULL;
}

/* The image's model as prepare takes it; owned, NULL: it is not there. */
static char *folder_word(const struct manifest_folder *mf, const struct manifest_image *mi)
{
	CLEANUP(strvec_release) struct strvec args = STRVEC_INIT;
	CLEANUP(xfreep) char *file = NULL;
	CLEANUP(xfreep) char *name = NULL;
	const char *word = mi->word && *mi->word ? mi->word : NULL;
	bool split = word && catalog_path_split(word, &file, &name, &args);
	const struct catalog_entry *e =
		by_name(mf->cat, split && *name ? name : mi->model, split && *name);
	CLEANUP(xfreep) char *path = NULL;
	const char *own = split ? mad_path_hash(word) : "";

	if (word && !(split && *name))
		path = folder_file(mf, split ? file : word);
	if (path)
		return catalog_path_with(path, own + strcspn(own, ":"));
	return e ? catalog_path_with(e->path, own + strcspn(own, ":")) : NULL;
}

/* Whether the file at path gives its model this name, or none. */
static bool is_called(const char *path, const char *name)
{
	CLEANUP(xfreep) char *file = catalog_path_with(path, "");
	CLEANUP(xfreep) char *inside = fs_join(file, "profrig.yaml");
	const char *is;
	bool same;
	struct cfg c;

	if (mad_path_hash(file) || !name)
		return true;
	cfg_init(&c);
	cfg_parse_file(&c, fs_is_file(inside) ? inside : file, LAYER_MODEL, NULL);
	is = c.root ? cfg_text(cfg_get(c.root, "model"), "name") : NULL;
	same = !is || !strcmp(is, name);
	cfg_release(&c);
	return same;
}

/* Whether the scripts of an entry are there that only madengine's manifest lists. */
static bool folder_has_scripts(const struct manifest_folder *mf, const struct manifest *m,
			       const char *name)
{
	const struct cfg_node *built = cfg_get(m->tree.root, "built_models");

	for (size_t i = 0; name && built && built->kind == CFG_MAP && i < built->nr; i++) {
		const char *is = cfg_text(built->child[i], "name");
		const char *scripts = cfg_text(built->child[i], "scripts");
		CLEANUP(xfreep) char *path = scripts ? fs_join(mf->cat->mad.dir, scripts) : NULL;

		if (path && is && !strcmp(is, name))
			return fs_exists(path);
	}
	return false;
}

static size_t folder_worth(const struct manifest_folder *mf, const struct manifest *m)
{
	size_t sum = 0;

	for (size_t i = 0; i < m->images.nr; i++) {
		const struct manifest_image *mi = &m->images.v[i];
		CLEANUP(xfreep) char *path = folder_word(mf, mi);

		if (path)
			sum += is_called(path, mi->model) ? 2 : 1;
		else if (!m->ours && folder_has_scripts(mf, m, mi->model))
			sum++;
	}
	return sum;
}

static void folder_load(const char *dir, const char *cwd, struct manifest_folder *ret)
{
	const char *below = fs_below(cwd, dir);

	*ret = (struct manifest_folder){ .cat = xcalloc(1, sizeof(*ret->cat)) };
	if (strcmp(dir, cwd) != 0)
		ret->prefix = xstrdup(below ? below : dir);
	catalog_load_of(ret->cat, cwd, ret->prefix, NULL);
}

static void folder_release(struct manifest_folder *mf)
{
	free(mf->prefix);
	catalog_free(mf->cat);
}

/* The package that MODEL_DIR named when the image was built (its paths are absolute). Owned, NULL:
 * the package was in the same place as the rest. */
static char *package_of(const struct manifest_image *mi)
{
	const char *word = mi->word ? mi->word : "", *hash = mad_path_hash(word);
	CLEANUP(xfreep) char *file = hash ? xstrndup(word, (size_t)(hash - word)) : NULL;
	CLEANUP(xfreep) char *dir = file && *file == '/' ? fs_dir(file) : NULL;
	CLEANUP(xfreep) char *above = dir ? fs_dir(dir) : NULL;

	/* scripts/SCOPE/models.json */
	return above && !strcmp(fs_base(above), "scripts") ? fs_dir(above) : STEAL(dir);
}

static void add_dir(struct strvec *dirs, const char *dir)
{
	if (dir && !strvec_has(dirs, dir) && fs_is_dir(dir))
		strvec_push(dirs, dir);
}

static void dirs_of(const struct manifest *m, const char *path, const char *cwd,
		    struct strvec *dirs)
{
	CLEANUP(xfreep) char *file = fs_abs(path);
	CLEANUP(xfreep) char *own = fs_dir(file);

	add_dir(dirs, own);
	add_dir(dirs, m->folder);
	for (size_t i = 0; i < m->images.nr; i++) {
		CLEANUP(xfreep) char *package = package_of(&m->images.v[i]);

		add_dir(dirs, package);
	}
	if (!strvec_has(dirs, cwd))
		strvec_push(dirs, cwd);
}

struct catalog *manifest_where(struct manifest *m, const char *path)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	struct manifest_folder best = { 0 }, mf;
	size_t most = 0, n;

	dirs_of(m, path, cwd, &dirs);
	for (size_t i = 0; i < dirs.nr; i++) {
		if (best.cat && most >= 2 * m->images.nr)
			break;
		folder_load(dirs.v[i], cwd, &mf);
		n = folder_worth(&mf, m);
		if (best.cat && n <= most) {
			folder_release(&mf);
			continue;
		}
		folder_release(&best);
		best = mf;
		most = n;
	}
	if (!m->ours)
		catalog_add_built(best.cat, path);
	for (size_t i = 0; i < m->images.nr; i++)
		m->images.v[i].at = folder_word(&best, &m->images.v[i]);
	free(best.prefix);
	return best.cat;
}
