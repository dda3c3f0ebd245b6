#include "writers_private.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#define MAX_JSON ((size_t)256 << 20)

static void json_freep(json_t **doc)
{
	json_decref(*doc);
}

static json_t *old_analysis(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "analysis.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_freep) json_t *doc = NULL;
	const char *schema;
	size_t n = 0;

	if (!fs_is_file(path) || fs_read(path, MAX_JSON, &text, &n, NULL) < 0)
		return NULL;
	doc = json_loadb(text, n, 0, NULL);
	schema = json_string_value(json_object_get(doc, "schema"));
	return schema && strncmp(schema, "profrig.analysis/", 17) == 0 ? STEAL(doc) : NULL;
}

static void clear_file(const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);

	door_unlink(path);
}

/* Only by the names that the folded writer gives. */
static void clear_folded(const char *dir)
{
	CLEANUP(xfreep) char *folder = fs_join(dir, "folded");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_is_dir(folder))
		fs_glob(folder, "*.folded", &names, NULL);
	for (size_t i = 0; i < names.nr; i++)
		if (report_folded_name_is(names.v[i]))
			clear_file(folder, names.v[i]);
}

static void clear_folder(const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);

	door_rmdir(path);
}

/* Of an ensemble the analyses of its runs; a link leads elsewhere. */
static void clear_each(const char *dir)
{
	CLEANUP(xfreep) char *each = fs_join(dir, "each");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct stat st;

	if (door_lstat(each, &st) == 0 && S_ISDIR(st.st_mode))
		fs_list(each, &names, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *one = fs_join(each, names.v[i]);

		if (door_lstat(one, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		report_clear(one);
		clear_folder(one, "tables");
		clear_folder(one, "folded");
		clear_folder(each, names.v[i]);
	}
	clear_folder(dir, "each");
}

void report_clear(const char *dir)
{
	CLEANUP(json_freep) json_t *doc = old_analysis(dir);
	json_t *said;
	size_t i;

	if (!doc)
		return;
	json_array_foreach(json_object_get(doc, "tables"), i, said)
	{
		const char *name = json_string_value(json_object_get(said, "name"));
		CLEANUP(xfreep) char *file = NULL;

		if (!name || !report_table_name_ok(name))
			continue;
		file = xasprintf("tables/%s.csv", name);
		clear_file(dir, file);
	}
	clear_folded(dir);
	clear_each(dir);
	for (size_t k = 0; writers[k]; k++)
		if (writers[k]->file)
			clear_file(dir, writers[k]->file);
	/* last: without it the rest would belong to no analysis */
	clear_file(dir, "analysis.json");
}

/* ---- whether all of it is ours ---- */

static bool is_table(const json_t *doc, const char *file)
{
	const json_t *said;
	size_t i;

	json_array_foreach(json_object_get(doc, "tables"), i, said)
	{
		const char *name = json_string_value(json_object_get(said, "name"));
		CLEANUP(xfreep) char *csv = name ? xasprintf("%s.csv", name) : NULL;

		if (csv && report_table_name_ok(name) && !strcmp(csv, file))
			return true;
	}
	return false;
}

static bool is_result(const json_t *doc, const char *folder, const char *name)
{
	return strcmp(folder, "tables") == 0 ? is_table(doc, name) : report_folded_name_is(name);
}

static bool owns_folder(const json_t *doc, const char *dir, const char *folder)
{
	CLEANUP(xfreep) char *path = fs_join(dir, folder);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	bool each = strcmp(folder, "each") == 0;

	if (fs_list(path, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *one = fs_join(path, names.v[i]);

		if (each ? !report_owns_all(one) : !is_result(doc, folder, names.v[i]))
			return false;
	}
	return true;
}

bool report_file_is_own(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (writers[i]->file && !strcmp(name, writers[i]->file))
			return true;
	return !strcmp(name, "analysis.json");
}

bool report_owns_all(const char *dir)
{
	static const char *const folders[] = { "tables", "folded", "each" };
	CLEANUP(json_freep) json_t *doc = old_analysis(dir);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_list(dir, &names, NULL) < 0 || (names.nr && !doc))
		return false;
	for (size_t i = 0; i < names.nr; i++) {
		bool ours = report_file_is_own(names.v[i]);

		for (size_t k = 0; k < ARRAY_LEN(folders) && !ours; k++)
			ours = strcmp(names.v[i], folders[k]) == 0 &&
			       owns_folder(doc, dir, folders[k]);
		if (!ours)
			return false;
	}
	return true;
}

/* ---- files of others ---- */

/* Links the file; an existing one of that name is newer and stays. */
static bool link_into(const char *from, const char *to)
{
	CLEANUP(xclosep) int a = -1, b = -1;
	CLEANUP(xfreep) char *name_a = NULL;
	CLEANUP(xfreep) char *name_b = NULL;
	int r;

	if (door_parent(from, &a, &name_a) < 0 || door_parent(to, &b, &name_b) < 0)
		return false;
	r = linkat(a, name_a, b, name_b, 0);
	return r == 0 || errno == EEXIST;
}

static bool is_plain(const char *path)
{
	struct stat st;

	return door_lstat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
}

static bool adopt_folder(const json_t *doc, const char *dir, const char *folder, const char *to)
{
	CLEANUP(xfreep) char *from = fs_join(dir, folder);
	CLEANUP(xfreep) char *into = fs_join(to, folder);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_list(from, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *a = fs_join(from, names.v[i]);
		CLEANUP(xfreep) char *b = fs_join(into, names.v[i]);

		if (is_result(doc, folder, names.v[i]))
			continue;
		if (!is_plain(a) || fs_mkdirs(into, 0777, NULL) < 0 || !link_into(a, b))
			return false;
	}
	return true;
}

bool report_adopt(const char *dir, const char *to)
{
	CLEANUP(json_freep) json_t *doc = old_analysis(dir);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_list(dir, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.nr; i++) {
		const char *name = names.v[i];
		CLEANUP(xfreep) char *a = fs_join(dir, name);
		CLEANUP(xfreep) char *b = fs_join(to, name);
		bool good;

		if (report_file_is_own(name))
			continue;
		if (!strcmp(name, "tables") || !strcmp(name, "folded"))
			good = adopt_folder(doc, dir, name, to);
		else if (!strcmp(name, "each"))
			good = owns_folder(doc, dir, name);
		else
			good = is_plain(a) && link_into(a, b);
		if (!good)
			return false;
	}
	return true;
}
