#include "html_private.h"
#include "table_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

/* JSON of another program: a '<' can only be inside its strings, where \u003c means the same and
 * closes no element. */
static void write_raw(struct json_out *j, const char *key, const char *text)
{
	CLEANUP(xfreep) char *safe = NULL;
	size_t n = 0;
	FILE *f = xmemstream(&safe, &n);

	for (const char *s = text; *s; s++) {
		if (*s == '<')
			fputs("\\u003c", f);
		else
			putc(*s, f);
	}
	fclose(f);
	json_raw(j, key, safe);
}

static void write_table(struct json_out *j, const struct table *t, struct html_limits limit)
{
	struct html_rows rows;

	html_rows_choose(t, limit, &rows);
	json_obj(j, table_name(t));
	json_str(j, "about", table_about_text(t));
	json_arr(j, "columns");
	for (size_t c = 0; c < table_cols(t); c++)
		if (html_column_used(t, c))
			table_json_column(j, t, c);
	json_end(j);
	if (rows.words) {
		json_obj(j, "cut");
		json_u64(j, "rows", rows.nr);
		json_u64(j, "of", rows.of);
		json_str(j, "text", rows.words);
		json_end(j);
	}
	json_arr(j, "data");
	for (size_t c = 0; c < table_cols(t); c++)
		if (html_column_used(t, c))
			html_write_column(j, t, c, &rows);
	json_end(j);
	json_end(j);
	html_rows_release(&rows);
}

static void write_tail(struct json_out *j, const char *key, const struct html_tail *t)
{
	char name[32];

	if (!t->text)
		return;
	json_str(j, key, t->text);
	snprintf(name, sizeof(name), "%s_bytes", key);
	json_i64(j, name, t->bytes);
	snprintf(name, sizeof(name), "%s_file", key);
	json_str(j, name, t->file);
}

static void write_logs(struct json_out *j, const struct report *r, const struct json_t *run)
{
	struct html_logs logs;

	html_logs_read(r, run, &logs);
	json_obj(j, "logs");
	for (size_t i = 0; i < logs.v.nr; i++) {
		json_obj(j, logs.v.v[i].step);
		write_tail(j, "out", &logs.v.v[i].out);
		write_tail(j, "err", &logs.v.v[i].err);
		json_end(j);
	}
	json_end(j);
	html_logs_release(&logs);
}

void html_write_data(const struct report *r, struct html_limits limit, FILE *f)
{
	struct json_t *analysis = html_parse(r->analysis_json), *run = html_parse(r->run_json);
	struct json_out j;

	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	if (analysis)
		write_raw(&j, "analysis", r->analysis_json);
	else
		json_nil(&j, "analysis");
	if (run)
		write_raw(&j, "run", r->run_json);
	else
		json_nil(&j, "run");
	json_arr(&j, "problems");
	if (r->analysis_json && !analysis)
		json_str(&j, NULL,
			 "analysis.json is damaged: its checks and warnings are not shown");
	if (r->run_json && !run)
		json_str(&j, NULL, "run.json is damaged: what is known about the run is not shown");
	json_end(&j);
	json_obj(&j, "tables");
	for (size_t i = 0; i < r->tables.tables.nr; i++)
		write_table(&j, r->tables.tables.v[i], limit);
	json_end(&j);
	html_write_headline(&j, r);
	write_logs(&j, r, run);
	json_end(&j);
	html_parse_free(analysis);
	html_parse_free(run);
}
