#include "writers_private.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/door.h"
#include "profrig/fs.h"
#include "profrig/strvec.h"
#include "profrig/xalloc.h"

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

/* Of an ensemble the analyses of its runs; a link leads to somebody else's. */
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
	clear_file(dir, "report.json");
	clear_file(dir, "report.html");
	/* last: without it the rest would be nobody's */
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

bool report_owns_all(const char *dir)
{
	static const char *const files[] = { "analysis.json", "report.json", "report.html" };
	static const char *const folders[] = { "tables", "folded", "each" };
	CLEANUP(json_freep) json_t *doc = old_analysis(dir);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (fs_list(dir, &names, NULL) < 0 || (names.nr && !doc))
		return false;
	for (size_t i = 0; i < names.nr; i++) {
		bool ours = false;

		for (size_t k = 0; k < ARRAY_LEN(files); k++)
			ours |= strcmp(names.v[i], files[k]) == 0;
		for (size_t k = 0; k < ARRAY_LEN(folders) && !ours; k++)
			ours = strcmp(names.v[i], folders[k]) == 0 &&
			       owns_folder(doc, dir, folders[k]);
		if (!ours)
			return false;
	}
	return true;
}
