#include "out_file.h"
#include "table_json.h"
#include "writers_private.h"

#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

static void write_table(struct json_out *j, const struct table *t)
{
	json_obj(j, table_name(t));
	json_str(j, "about", table_about_text(t));
	json_u64(j, "rows", table_rows(t));
	table_json_columns(j, t);
	json_arr(j, "data");
	for (size_t c = 0; c < table_cols(t); c++) {
		json_arr(j, NULL);
		for (size_t row = 0; row < table_rows(t); row++)
			/* Many readers take integers for signed ones. */
			table_json_cell(j, NULL, t, row, c, INT64_MAX);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* A run.json that someone edited must not break the document around it. */
static void write_document(struct json_out *j, const char *key, const char *text)
{
	if (text && report_json_ok(text))
		json_raw(j, key, text);
	else
		json_nil(j, key);
}

static int write_report(const struct report *r, struct err *err)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	struct json_out j;
	int e = out_file_open(r->dir, "report.json", &o, err);

	if (e < 0)
		return e;
	json_out_init(&j, o.f, 0);
	json_obj(&j, NULL);
	json_str(&j, "schema", "profrig.report/1");
	write_document(&j, "analysis", r->analysis_json);
	write_document(&j, "run", r->run_json);
	json_obj(&j, "tables");
	for (size_t i = 0; i < r->tables.tables.nr; i++)
		write_table(&j, r->tables.tables.v[i]);
	json_end(&j);
	json_end(&j);
	putc('\n', o.f);
	return out_file_commit(&o, err);
}

static int write_json(const struct report *r, struct err *err)
{
	int e = report_write_analysis(r, err);

	return e < 0 ? e : write_report(r, err);
}

const struct writer writer_json = {
	.name = "json",
	.about = "analysis.json, and report.json with all tables in one document",
	.write = write_json,
	.shown = "analysis.json",
	.file = "report.json",
};
