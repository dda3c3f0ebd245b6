/*
 * The document of a build without node: the headline as text and every table, no script. It needs
 * no other file, like the page.
 */
#include "html_private.h"
#include "table_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/report/headline.h"
#include "profrig/report/html_out.h"

static const char head[] =
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\"><meta name=\"viewport\" content=\"width=device-width, "
	"initial-scale=1\"><meta name=\"generator\" content=\"profrig\">";

/* One row; NULL ends the cells. The first nr_left are texts, the others figures. */
static void put_row(const struct html_out *h, size_t nr_left, const char *const *cells)
{
	html_row_begin(h);
	for (size_t i = 0; cells[i]; i++)
		html_cell(h, "td", cells[i], i >= nr_left);
	html_row_end(h);
}
#define PUT_ROW(h, nr_left, ...) put_row(h, nr_left, (const char *const[]){ __VA_ARGS__, NULL })

static const char *title_of(const json_t *analysis, const json_t *run)
{
	const char *path =
		json_text_at(json_array_get(json_object_get(analysis, "inputs"), 0), "path");

	if (*json_text_at(run, "model"))
		return json_text_at(run, "model");
	return *path ? fs_base(path) : "profile";
}

static void put_what_ran(const struct html_out *h, const json_t *run)
{
	static const char *const keys[] = { "id",          "image",  "engine",
					    "started_utc", "status", "reason" };

	html_table(h);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (*json_text_at(run, keys[i]))
			PUT_ROW(h, 2, keys[i], json_text_at(run, keys[i]));
	html_table_end(h);
}

static void put_tail(const struct html_out *h, const struct html_tail *t)
{
	CLEANUP(xfreep) char *words = NULL;

	if (!t->text)
		return;
	words = xasprintf("Last lines of %s", t->file);
	html_note(h, words);
	html_pre(h, t->text);
}

static void put_logs(const struct html_out *h, const struct report *r, const json_t *run)
{
	struct html_logs logs;

	html_logs_read(r, run, &logs);
	for (size_t i = 0; i < logs.v.nr; i++) {
		put_tail(h, &logs.v.v[i].err);
		put_tail(h, &logs.v.v[i].out);
	}
	html_logs_release(&logs);
}

/* "gpu0 1.84 kJ, pkg0 40.0 J (estimated) beside it". Owned. */
static char *energy_words(const struct headline *x)
{
	CLEANUP(strbuf_release) struct strbuf words = STRBUF_INIT;
	char num[48];

	for (size_t i = 0; i < x->counters.nr; i++) {
		const struct headline_counter *c = &x->counters.v[i];

		if (c->use != HEADLINE_NEITHER)
			strbuf_addf(&words, "%s%s %s%s%s", words.len ? ", " : "", c->device,
				    html_fmt_si(num, c->j, "J"), c->estimated ? " (estimated)" : "",
				    c->use == HEADLINE_BESIDE ? " beside it" : "");
	}
	return xstrdup(words.len ? words.buf : "no energy or power counter was sampled");
}

/* What stands out, worst first, with what mending it saves at most. */
static void put_findings(const struct html_out *h, const json_t *analysis)
{
	const json_t *all = json_object_get(analysis, "findings"), *f;
	char saves[64], ns[48];
	size_t i;

	if (json_array_size(all) == 0)
		return;
	html_heading(h, 2, "What stands out");
	html_table(h);
	json_array_foreach((json_t *)all, i, f)
	{
		const json_t *most = json_object_get(f, "saves_at_most_ns");

		saves[0] = '\0';
		if (json_is_number(most))
			snprintf(saves, sizeof(saves), "saves at most %s",
				 html_fmt_time(ns, json_number_value(most)));
		PUT_ROW(h, 3, json_text_at(f, "severity"), json_text_at(f, "text"), saves,
			json_text_at(f, "evidence"));
	}
	html_table_end(h);
}

static void put_figures(const struct html_out *h, const struct headline *x)
{
	CLEANUP(xfreep) char *energy = energy_words(x);
	char num[48];

	html_table(h);
	PUT_ROW(h, 3, "Time", html_fmt_time(num, x->time_ns),
		strcmp(x->time_of, "none") == 0       ? "no time was recorded"
		: strcmp(x->time_of, "workload") == 0 ? "of the workload"
						      : "recorded");
	PUT_ROW(h, 3, x->estimated ? "Energy (estimated)" : "Energy",
		html_fmt_si(num, x->energy_j, "J"), energy);
	PUT_ROW(h, 3, "Device busy", isnan(x->busy) ? "none" : html_fmt_share(num, x->busy),
		isnan(x->busy)       ? "no device work was recorded"
		: x->recorded_ns > 0 ? "of the recording"
				     : "from first to last kernel");
	html_table_end(h);
}

/* "40.0 J by power"; "" of a cost without known energy. */
static const char *cost_energy(const struct headline_cost *c, char ret[80])
{
	char num[48];

	ret[0] = '\0';
	if (!isnan(c->energy_j))
		snprintf(ret, 80, "%s%s%s", html_fmt_si(num, c->energy_j, "J"),
			 *c->estimate ? " by " : "", c->estimate);
	return ret;
}

static void put_split_and_costs(const struct html_out *h, const struct headline *x)
{
	char ns[48], share[48], calls[48], energy[80];

	if (x->parts.nr)
		html_heading(h, 2, "Where the time went");
	if (x->parts.nr)
		html_note(h, x->split_of);
	html_table(h);
	for (size_t i = 0; i < x->parts.nr; i++) {
		const struct headline_part *p = &x->parts.v[i];

		if (p->ns > 0)
			PUT_ROW(h, 1, p->name, html_fmt_time(ns, p->ns),
				html_fmt_share(share, p->ns / x->split_ns));
	}
	html_table_end(h);
	if (x->costs.nr)
		html_heading(h, 2, "Largest costs");
	html_table(h);
	for (size_t i = 0; i < x->costs.nr; i++) {
		const struct headline_cost *c = &x->costs.v[i];

		if (!(c->ns > 0))
			continue;
		snprintf(calls, sizeof(calls), "%.0f calls", c->calls);
		PUT_ROW(h, 1, c->name, html_fmt_time(ns, c->ns), html_fmt_share(share, c->share),
			calls, cost_energy(c, energy));
	}
	html_table_end(h);
}

static void put_warnings(const struct html_out *h, const json_t *of)
{
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(of, "warnings"), i, w)
	{
		const char *s = json_text_at(w, "severity");
		char count[32] = "";

		if (json_number_value(json_object_get(w, "count")) > 1)
			snprintf(count, sizeof(count), "× %.0f",
				 json_number_value(json_object_get(w, "count")));
		PUT_ROW(h, 3, *s ? s : "warning",
			json_is_string(w) ? json_string_value(w) : json_text_at(w, "text"),
			json_text_at(w, "code"), count);
	}
}

static void put_checks(const struct html_out *h, const struct report *r, const json_t *analysis,
		       const json_t *run)
{
	const json_t *c;
	size_t i;

	html_heading(h, 2, "Checks and warnings");
	if (r->analysis_json && !analysis)
		html_note(h, "analysis.json is damaged: its checks and warnings are not shown");
	if (r->run_json && !run)
		html_note(h, "run.json is damaged: what is known about the run is not shown");
	html_table(h);
	json_array_foreach(json_object_get(analysis, "checks"), i, c)
		PUT_ROW(h, 3, json_is_true(json_object_get(c, "ok")) ? "ok" : "failed",
			json_text_at(c, "name"), json_text_at(c, "detail"));
	put_warnings(h, analysis);
	put_warnings(h, run);
	html_table_end(h);
}

static void put_cell(const struct html_out *h, const struct table *t, size_t row, size_t col)
{
	char num[32] = "";

	switch (table_column(t, col)->type) {
	case TABLE_STR:
		html_cell(h, "td", table_get_str(t, row, col), false);
		return;
	case TABLE_I64:
		num_fmt_i64(num, table_get_i64(t, row, col));
		break;
	case TABLE_U64:
		num_fmt_u64(num, table_get_u64(t, row, col));
		break;
	case TABLE_F64:
		if (!isnan(table_get_f64(t, row, col)))
			num_fmt_f64(num, table_get_f64(t, row, col));
		break;
	}
	html_cell(h, "td", num, true);
}

static void put_table(const struct html_out *h, const struct table *t, size_t max_rows)
{
	struct html_rows rows;

	html_rows_choose(t, (struct html_limits){ .rows = max_rows, .bytes = (size_t)1 << 20 },
			 &rows);
	html_heading(h, 2, table_name(t));
	html_note(h, table_about_text(t));
	if (rows.words)
		html_note(h, rows.words);
	html_table(h);
	html_row_begin(h);
	for (size_t c = 0; c < table_cols(t); c++)
		html_cell(h, "th", table_column(t, c)->name, table_column(t, c)->type != TABLE_STR);
	html_row_end(h);
	for (size_t i = 0; i < rows.nr; i++) {
		html_row_begin(h);
		for (size_t c = 0; c < table_cols(t); c++)
			put_cell(h, t, html_rows_at(&rows, i), c);
		html_row_end(h);
	}
	html_table_end(h);
	html_rows_release(&rows);
}

/* Rows that only a drawing makes use of. */
static bool is_drawing(const struct table *t)
{
	return strcmp(table_name(t), "lane_spans") == 0 || strcmp(table_name(t), "lane_bins") == 0;
}

void html_write_plain(const struct report *r, size_t max_rows, FILE *f)
{
	json_t *analysis = html_parse(r->analysis_json), *run = html_parse(r->run_json);
	CLEANUP(xfreep) char *title = xasprintf("%s – profrig", title_of(analysis, run));
	struct html_out h = { .f = f };
	struct headline x;

	headline_make(r, &x);
	html_begin(&h, title, head);
	html_heading(&h, 1, title_of(analysis, run));
	put_what_ran(&h, run);
	put_logs(&h, r, run);
	put_findings(&h, analysis);
	put_figures(&h, &x);
	put_split_and_costs(&h, &x);
	put_checks(&h, r, analysis, run);
	for (size_t i = 0; i < r->tables.tables.nr; i++)
		if (!is_drawing(r->tables.tables.v[i]))
			put_table(&h, r->tables.tables.v[i], max_rows);
	html_end(&h);
	headline_release(&x);
	html_parse_free(analysis);
	html_parse_free(run);
}
