/* Adds a table to a written analysis, such as one that needs other runs. */
#include "table_json.h"
#include "writers_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

/* The entry of a table in analysis.json, as a tree. */
static json_t *table_described(const struct table *t)
{
	CLEANUP(xfreep) char *file = xasprintf("tables/%s.csv", table_name(t));
	CLEANUP(xfreep) char *text = NULL;
	struct json_out j;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "name", table_name(t));
	json_str(&j, "file", file);
	json_u64(&j, "rows", table_rows(t));
	json_str(&j, "about", table_about_text(t));
	table_json_columns(&j, t);
	json_end(&j);
	fclose(f);
	return json_loadb(text, n, 0, NULL);
}

static int list_it(struct report *r, const struct table *t, struct err *err)
{
	json_t *doc = json_loads(r->analysis_json, 0, NULL), *tables, *row = table_described(t);
	char *text = NULL;
	size_t i, n;

	tables = json_object_get(doc, "tables");
	if (json_is_array(tables) && row) {
		for (i = json_array_size(tables); i-- > 0;)
			if (!strcmp(json_text_at(json_array_get(tables, i), "name"), table_name(t)))
				json_array_remove(tables, i);
		json_array_append(tables, row);
		text = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	}
	json_decref(row);
	json_decref(doc);
	if (!text)
		return err_set(err, EINVAL, "%s/analysis.json: no list of tables", r->dir);
	n = strlen(text);
	free(r->analysis_json);
	r->analysis_json = xrealloc(text, n + 2);
	memcpy(r->analysis_json + n, "\n", 2);
	return 0;
}

static int report_rewrite(const struct report *r, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(r->dir, "analysis.json");
	int ret = writer_find("csv")->write(r, err);

	for (size_t i = 0; ret >= 0 && writers[i]; i++) {
		CLEANUP(xfreep)
		char *file = writers[i]->file ? fs_join(r->dir, writers[i]->file) : NULL;

		if (file && fs_exists(file))
			ret = writers[i]->write(r, err);
	}
	return ret < 0 ? ret
		       : fs_write_atomic(path, r->analysis_json, strlen(r->analysis_json), err);
}

int report_add_table(const char *dir, struct table *take, struct err *err)
{
	struct report r = REPORT_INIT;
	int ret = report_load(dir, &r, err);

	if (ret < 0) {
		table_free(take);
		return ret;
	}
	ret = list_it(&r, take, err);
	table_set_add(&r.tables, take);
	if (ret == 0)
		ret = report_rewrite(&r, err);
	report_release(&r);
	return ret;
}
