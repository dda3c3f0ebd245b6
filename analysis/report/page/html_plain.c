/*
 * The document of a build without node: the first screen in words and every table, no script. It
 * stands alone like the page does.
 */
#include "html_private.h"
#include "table_json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
	"name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"generator\" content=\"profrig\">\n";

static const char style[] =
	"<style>\n"
	":root{--bg:#fff;--text:#1a1d23;--muted:#57606c;--line:#d5dae0;--bar:#56b4e9;--good:#"
	"00684d;--bad:#b3400a;--soft:#f6f7f9}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#111419;--text:#e8ebef;--muted:#a3adb9;--"
	"line:#39424d;--bar:#3f97cc;--good:#4fd1a5;--bad:#ff9a62;--soft:#1b2027}}\n"
	"body{margin:0 auto;max-width:1200px;padding:16px 20px "
	"48px;background:var(--bg);color:var(--text);font:14px/1.5 "
	"system-ui,sans-serif;font-variant-numeric:tabular-nums}\n"
	"h1{font-size:20px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 "
	"6px}p{margin:4px 0}\n"
	".muted{color:var(--muted)}.good{color:var(--good)}.bad{color:var(--bad)}\n"
	".figures{display:flex;flex-wrap:wrap;gap:12px;margin:16px 0}.figures div{flex:1 1 "
	"220px;background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:10px "
	"14px}\n"
	".figures b{display:block;font-size:28px;font-weight:600;line-height:1.25}\n"
	".scroll{overflow:auto;max-height:80vh;border:1px solid var(--line);border-radius:8px}\n"
	"table{border-collapse:collapse;width:100%}th,td{padding:3px 10px;border-bottom:1px solid "
	"var(--line);text-align:left;vertical-align:top}\n"
	"th{position:sticky;top:0;background:var(--soft)}td{overflow-wrap:anywhere;min-width:60px}"
	"td.n,th.n{text-align:right;white-space:nowrap}\n"
	"td.bar{width:40%}td.bar "
	"span{display:block;height:10px;margin-top:6px;background:var(--bar);border-radius:2px}\n"
	"pre{background:var(--soft);border:1px solid "
	"var(--line);border-radius:8px;padding:10px;overflow:auto;white-space:pre-wrap;overflow-"
	"wrap:anywhere}\n"
	"@media print{.scroll{max-height:none;overflow:visible}}\n"
	"</style>\n";

/* Text as text: whatever a trace or a run said. Control characters have no place in a document. */
static void put_text(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		switch (c) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\'':
			fputs("&#39;", f);
			break;
		default:
			if (c >= 0x20 || c == '\n' || c == '\t')
				putc(c, f);
			else
				fputs("\xef\xbf\xbd", f);
		}
	}
}

static void put_bdi(FILE *f, const char *s)
{
	fputs("<bdi>", f);
	put_text(f, s);
	fputs("</bdi>", f);
}

static const char *title_of(const json_t *analysis, const json_t *run)
{
	const char *path =
		json_text_at(json_array_get(json_object_get(analysis, "inputs"), 0), "path");

	if (*json_text_at(run, "model"))
		return json_text_at(run, "model");
	return *path ? fs_base(path) : "profile";
}

static void put_what_ran(FILE *f, const json_t *run)
{
	static const char *const keys[] = { "id", "image", "engine", "started_utc" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!*json_text_at(run, keys[i]))
			continue;
		fprintf(f, "<p><span class=\"muted\">%s</span> ", keys[i]);
		put_bdi(f, json_text_at(run, keys[i]));
		fputs("</p>\n", f);
	}
	if (!*json_text_at(run, "status"))
		return;
	fprintf(f, "<p class=\"%s\"><strong>",
		strcmp(json_text_at(run, "status"), "success") == 0 ? "good" : "bad");
	put_text(f, json_text_at(run, "status"));
	fputs("</strong> ", f);
	put_bdi(f, json_text_at(run, "reason"));
	fputs("</p>\n", f);
}

static void put_tail(FILE *f, const struct html_tail *t)
{
	if (!t->text)
		return;
	fputs("<p class=\"muted\">Last lines of ", f);
	put_text(f, t->file);
	fputs("</p>\n<pre dir=\"ltr\">", f);
	put_text(f, t->text);
	fputs("</pre>\n", f);
}

static void put_logs(FILE *f, const struct report *r, const json_t *run)
{
	struct html_logs logs;

	html_logs_read(r, run, &logs);
	for (size_t i = 0; i < logs.v.nr; i++) {
		put_tail(f, &logs.v.v[i].err);
		put_tail(f, &logs.v.v[i].out);
	}
	html_logs_release(&logs);
}

static void put_figure(FILE *f, const char *label, const char *value, const char *words)
{
	fprintf(f, "<div><span class=\"muted\">%s</span><b>%s</b><span class=\"muted\">", label,
		value);
	put_text(f, words);
	fputs("</span></div>\n", f);
}

static void put_figures(FILE *f, const struct html_facts *x)
{
	char num[48];

	fputs("<div class=\"figures\">\n", f);
	put_figure(f, "Time", html_fmt_time(num, x->time_ns), x->time_words);
	put_figure(f, x->estimated ? "Energy (estimated)" : "Energy",
		   html_fmt_si(num, x->energy_j, "J"), x->energy_words);
	put_figure(f, "Device busy", isnan(x->busy) ? "none" : html_fmt_share(num, x->busy),
		   isnan(x->busy) ? "no device work was recorded" : "first to last kernel");
	fputs("</div>\n", f);
}

static void put_bar_row(FILE *f, const char *name, double share, double ns, const char *more)
{
	char num[48], pct[48];

	fputs("<tr><td>", f);
	put_bdi(f, name);
	fprintf(f,
		"</td><td class=\"n\" title=\"%.0f ns\">%s</td><td class=\"n\">%s</td><td "
		"class=\"bar\"><span style=\"width:%.2f%%\"></span></td><td>%s</td></tr>\n",
		ns, html_fmt_time(num, ns), html_fmt_share(pct, share),
		100 * fmin(1, fmax(0, isfinite(share) ? share : 0)), more);
}

static void put_split_and_costs(FILE *f, const struct html_facts *x)
{
	char calls[48];

	if (x->parts.nr > 0) {
		fprintf(f,
			"<h2>Where the time went <span class=\"muted\">%s</span></h2>\n<table>\n",
			x->split_words);
		for (size_t i = 0; i < x->parts.nr; i++)
			put_bar_row(f, x->parts.v[i].name,
				    x->total_ns > 0 ? x->parts.v[i].ns / x->total_ns : NAN,
				    x->parts.v[i].ns, "");
		fputs("</table>\n", f);
	}
	if (x->costs.nr > 0) {
		fputs("<h2>Largest costs</h2>\n<table>\n", f);
		for (size_t i = 0; i < x->costs.nr; i++) {
			snprintf(calls, sizeof(calls), "%llu calls",
				 (unsigned long long)x->costs.v[i].calls);
			put_bar_row(f, x->costs.v[i].name, x->costs.v[i].share, x->costs.v[i].ns,
				    calls);
		}
		fputs("</table>\n", f);
	}
}

static void put_warnings(FILE *f, const json_t *of)
{
	const json_t *list = json_object_get(of, "warnings"), *w;
	size_t i;

	json_array_foreach((json_t *)list, i, w)
	{
		fputs("<p><strong>", f);
		put_text(f, *json_text_at(w, "severity") ? json_text_at(w, "severity") : "warning");
		fputs("</strong> ", f);
		put_bdi(f, json_is_string(w) ? json_string_value(w) : json_text_at(w, "text"));
		if (json_number_value(json_object_get(w, "count")) > 1)
			fprintf(f, " × %.0f", json_number_value(json_object_get(w, "count")));
		fputs(" <code class=\"muted\">", f);
		put_text(f, json_text_at(w, "code"));
		fputs("</code></p>\n", f);
	}
}

static void put_checks(FILE *f, const struct report *r, const json_t *analysis, const json_t *run)
{
	const json_t *list = json_object_get(analysis, "checks"), *c;
	size_t i;

	fputs("<h2>Checks and warnings</h2>\n", f);
	if (r->analysis_json && !analysis)
		fputs("<p class=\"bad\">analysis.json is damaged: its checks and warnings are not "
		      "shown</p>\n",
		      f);
	if (r->run_json && !run)
		fputs("<p class=\"bad\">run.json is damaged: what is known about the run is not "
		      "shown</p>\n",
		      f);
	json_array_foreach((json_t *)list, i, c)
	{
		bool ok = json_is_true(json_object_get(c, "ok"));

		fprintf(f, "<p><strong class=\"%s\">%s</strong> ", ok ? "good" : "bad",
			ok ? "ok" : "failed");
		put_bdi(f, json_text_at(c, "name"));
		fputs(" ", f);
		put_bdi(f, json_text_at(c, "detail"));
		fputs("</p>\n", f);
	}
	put_warnings(f, analysis);
	put_warnings(f, run);
}

static void put_cell(FILE *f, const struct table *t, size_t row, size_t col)
{
	char num[32];

	switch (table_column(t, col)->type) {
	case TABLE_STR:
		fputs("<td>", f);
		put_bdi(f, table_get_str(t, row, col));
		break;
	case TABLE_I64:
		fprintf(f, "<td class=\"n\">%lld", (long long)table_get_i64(t, row, col));
		break;
	case TABLE_U64:
		fprintf(f, "<td class=\"n\">%llu", (unsigned long long)table_get_u64(t, row, col));
		break;
	case TABLE_F64:
		num_fmt_f64(num, table_get_f64(t, row, col));
		fprintf(f, "<td class=\"n\">%s", isnan(table_get_f64(t, row, col)) ? "" : num);
		break;
	}
	fputs("</td>", f);
}

static void put_table(FILE *f, const struct table *t, size_t max_rows)
{
	struct html_rows rows;

	html_rows_choose(t, (struct html_limits){ .rows = max_rows, .bytes = (size_t)1 << 20 },
			 &rows);
	fputs("<h2>", f);
	put_text(f, table_name(t));
	fputs("</h2>\n<p class=\"muted\">", f);
	put_text(f, table_about_text(t));
	fputs("</p>\n", f);
	if (rows.words) {
		fputs("<p class=\"muted\">", f);
		put_text(f, rows.words);
		fputs("</p>\n", f);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>", f);
	for (size_t c = 0; c < table_cols(t); c++) {
		fprintf(f, "<th scope=\"col\"%s>",
			table_column(t, c)->type == TABLE_STR ? "" : " class=\"n\"");
		put_text(f, table_column(t, c)->name);
		fputs("</th>", f);
	}
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < rows.nr; i++) {
		fputs("<tr>", f);
		for (size_t c = 0; c < table_cols(t); c++)
			put_cell(f, t, html_rows_at(&rows, i), c);
		fputs("</tr>\n", f);
	}
	fputs("</tbody></table></div>\n", f);
	html_rows_release(&rows);
}

void html_write_plain(const struct report *r, size_t max_rows, FILE *f)
{
	json_t *analysis = html_parse(r->analysis_json), *run = html_parse(r->run_json);
	struct html_facts facts;

	html_facts_make(r, analysis, run, &facts);
	fputs(head, f);
	fputs("<title>", f);
	put_text(f, title_of(analysis, run));
	fputs(" – profrig</title>\n", f);
	fputs(style, f);
	fputs("</head>\n<body>\n<h1>", f);
	put_bdi(f, title_of(analysis, run));
	fputs("</h1>\n", f);
	put_what_ran(f, run);
	put_logs(f, r, run);
	put_figures(f, &facts);
	put_split_and_costs(f, &facts);
	put_checks(f, r, analysis, run);
	for (size_t i = 0; i < r->tables.tables.nr; i++)
		put_table(f, r->tables.tables.v[i], max_rows);
	fputs("</body>\n</html>\n", f);
	html_facts_release(&facts);
	html_parse_free(analysis);
	html_parse_free(run);
}
