/*
 * mail: runs and tables of runs as one small HTML file for mail programs: tables with inline
 * styles, no script, no style sheet, nothing to fetch. Mail programs cut off text beyond some 100
 * KB, so rows are limited and the rest is counted.
 */
#include "mail.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/readers/reader.h"
#include "profrig/report/html_out.h"

#define MAX_CELL ((size_t)300)
#define MAX_ROWS 100
#define MAX_DETAILED 10
#define TOP 10

/* --- runs --- */

static const char *json_text(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static char *run_seconds(const json_t *doc)
{
	const json_t *v = json_object_get(json_object_get(doc, "durations_s"), "workload");
	char b[32];

	return xstrdup(json_is_number(v) ? cli_si(json_number_value(v), "s", b) : "");
}

static void add_part(struct strbuf *sb, const char *words)
{
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", words);
}

/* Its source is "energy_totals: COUNTER of DEVICE". Owned. */
static char *energy_words(const json_t *m, char *b)
{
	const char *source = strchr(json_text(m, "source"), ' ');
	int n = source ? (int)strcspn(source + 1, " ") : 0;

	return xasprintf("%.*s %s%s", n, source ? source + 1 : "",
			 cli_si(json_number_value(json_object_get(m, "value")), "J", b),
			 json_is_true(json_object_get(m, "estimated")) ? " (estimated)" : "");
}

/* The results, or the energies, of a run. Owned. */
static char *run_metrics(const json_t *doc, bool energy)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(doc, "metrics"), i, m)
	{
		const json_t *v = json_object_get(m, "value");
		bool is_energy = !strcmp(json_text(m, "name"), "energy");
		CLEANUP(xfreep) char *words = NULL;
		char b[32];

		if (!json_is_number(v) || is_energy != energy ||
		    (!energy && !json_object_get(m, "detail")))
			continue;
		words = is_energy
				? energy_words(m, b)
				: xasprintf("%.6g %s", json_number_value(v), json_text(m, "unit"));
		add_part(&sb, words);
	}
	return xstrdup(sb.buf);
}

static char *tool_names(const json_t *doc)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(doc, "tools"), i, t) add_part(&sb, json_text(t, "name"));
	return xstrdup(sb.buf);
}

static void run_row(const struct html_out *h, const json_t *doc)
{
	CLEANUP(xfreep) char *took = run_seconds(doc), *results = run_metrics(doc, false);
	CLEANUP(xfreep) char *energy = run_metrics(doc, true);
	CLEANUP(xfreep) char *tools = tool_names(doc);
	CLEANUP(xfreep) char *when = xasprintf("%.19s", json_text(doc, "started_utc"));
	const struct {
		const char *words;
		bool right;
	} cells[] = { { json_text(doc, "model"), false },
		      { json_text(doc, "status"), false },
		      { results, true },
		      { took, true },
		      { energy, true },
		      { tools, false },
		      { when, false },
		      { json_text(doc, "reason"), false },
		      { json_text(doc, "id"), false } };

	html_row_begin(h);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		html_cell(h, "td", cells[i].words, cells[i].right);
	html_row_end(h);
}

static void run_table(const struct html_out *h, json_t *const *docs, size_t nr)
{
	static const char *const names[] = { "model", "status",  "result", "workload", "energy",
					     "tools", "started", "reason", "run" };

	html_table(h);
	html_row(h, "th", names, ARRAY_LEN(names));
	for (size_t i = nr > MAX_ROWS ? nr - MAX_ROWS : 0; i < nr; i++)
		run_row(h, docs[i]);
	html_table_end(h);
	if (nr > MAX_ROWS) {
		CLEANUP(xfreep)
		char *more = xasprintf("%zu earlier runs are left out.", nr - MAX_ROWS);

		html_note(h, more);
	}
}

/* A cell formatted by the ending of its column's name: energies, times, shares. */
static void value_cell(const struct html_out *h, const char *column, const char *value)
{
	char words[64];
	double v;

	if (num_f64(value, strlen(value), &v) < 0 || !isfinite(v)) {
		html_cell(h, "td", value, false);
		return;
	}
	if (text_suffix(column, "_j"))
		cli_si(v, "J", words);
	else if (text_suffix(column, "_ns"))
		cli_si(v / 1e9, "s", words);
	else if (!strcmp(column, "share"))
		snprintf(words, sizeof(words), "%.1f %%", 100 * v);
	else
		snprintf(words, sizeof(words), "%.10g", v);
	html_cell(h, "td", words, true);
}

static void head_cell(const struct html_out *h, const char *column)
{
	const char *end = text_suffix(column, "_j");
	CLEANUP(xfreep) char *plain = NULL;

	end = end ? end : text_suffix(column, "_ns");
	plain = xstrndup(column, end ? (size_t)(end - column) : strlen(column));
	html_cell(h, "th", plain, false);
}

/* The first rows of an analysis table, with some of its columns. */
static void top_rows(const struct html_out *h, const char *run_dir, const char *name,
		     const char *title, const char *const *columns)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/analysis/tables/%s.csv", run_dir, name);
	CLEANUP(strvec_release) struct strvec head = STRVEC_INIT;
	struct csv_reader *csv;
	char *const *c;
	size_t n, rows = 0;

	if (csv_open_file(path, &csv, NULL) < 0)
		return;
	while (rows <= TOP && csv_next(csv, &c, &n, NULL) > 0) {
		if (!head.nr) {
			for (size_t i = 0; i < n; i++)
				strvec_push(&head, c[i]);
			continue;
		}
		if (rows++ == 0) {
			html_heading(h, 2, title);
			html_table(h);
			html_row_begin(h);
			for (size_t k = 0; columns[k]; k++)
				head_cell(h, columns[k]);
			html_row_end(h);
		}
		if (rows > TOP)
			break;
		html_row_begin(h);
		for (size_t k = 0; columns[k]; k++) {
			size_t i = 0;

			while (i < head.nr && strcmp(head.v[i], columns[k]) != 0)
				i++;
			value_cell(h, columns[k], i < n ? c[i] : "");
		}
		html_row_end(h);
	}
	if (rows)
		html_table_end(h);
	csv_free(csv);
}

static void warnings_put(const struct html_out *h, const json_t *doc)
{
	const json_t *list = json_object_get(doc, "warnings"), *w;
	size_t i, shown = 0;

	json_array_foreach(list, i, w)
	{
		if (!strcmp(json_text(w, "severity"), "note"))
			continue;
		if (shown++ == 0) {
			html_heading(h, 2, "Warnings");
			html_table(h);
		}
		if (shown > TOP)
			continue;
		html_row(h, "td",
			 (const char *const[]){ json_text(w, "code"), json_text(w, "text") }, 2);
	}
	if (shown)
		html_table_end(h);
	if (shown > TOP) {
		CLEANUP(xfreep) char *more = xasprintf("%zu more warnings", shown - TOP);

		html_note(h, more);
	}
}

static void run_details(const struct html_out *h, const char *dir, const json_t *doc, bool only)
{
	static const char *const energy[] = { "counter", "device",         "total_j",
					      "view",    "unattributed_j", NULL };
	static const char *const functions[] = { "scope",        "name",  "calls",
						 "exclusive_ns", "share", NULL };

	if (!only) {
		CLEANUP(xfreep)
		char *title = xasprintf("%s: %s", json_text(doc, "model"), json_text(doc, "id"));

		html_heading(h, 1, title);
	}
	if (*json_text(doc, "reason"))
		html_note(h, json_text(doc, "reason"));
	top_rows(h, dir, "energy_totals", "Energy", energy);
	top_rows(h, dir, "functions", "Where the time went", functions);
	warnings_put(h, doc);
}

/* --- tables of runs --- */

struct sheet {
	struct strvec head;
	VEC(char **) rows; /* cells owned, as many as head has */
};

static void sheet_release(struct sheet *s)
{
	for (size_t r = 0; r < s->rows.nr; r++) {
		for (size_t i = 0; i < s->head.nr; i++)
			free(s->rows.v[r][i]);
		free(s->rows.v[r]);
	}
	VEC_RELEASE(&s->rows);
	strvec_release(&s->head);
}

static int sheet_read(const char *path, struct sheet *s, struct err *err)
{
	struct csv_reader *csv;
	char *const *f;
	size_t n;
	int r = csv_open_file(path, &csv, err);

	if (r < 0)
		return r;
	while ((r = csv_next(csv, &f, &n, err)) > 0) {
		char **row;

		if (!s->head.nr) {
			for (size_t i = 0; i < n; i++)
				strvec_push(&s->head, f[i]);
			continue;
		}
		row = xcalloc(s->head.nr, sizeof(*row));
		for (size_t i = 0; i < s->head.nr; i++)
			row[i] = xstrdup(i < n ? f[i] : "");
		VEC_PUSH(&s->rows, row);
	}
	csv_free(csv);
	if (r == 0 && !s->head.nr)
		r = err_set(err, EINVAL, "the file is empty");
	return r < 0 ? err_wrap(err, r, "%s", path) : 0;
}

static bool column_says(const struct sheet *s, size_t col)
{
	for (size_t r = 0; r < s->rows.nr; r++)
		if (*s->rows.v[r][col])
			return true;
	return s->rows.nr == 0;
}

static void sheet_write(const struct html_out *h, const char *path, const struct sheet *s)
{
	size_t from = s->rows.nr > MAX_ROWS ? s->rows.nr - MAX_ROWS : 0;
	CLEANUP(strbuf_release) struct strbuf silent = STRBUF_INIT;

	html_heading(h, 1, fs_base(path));
	html_table(h);
	html_row_begin(h);
	for (size_t i = 0; i < s->head.nr; i++) {
		if (column_says(s, i))
			html_cell(h, "th", s->head.v[i], false);
		else
			add_part(&silent, s->head.v[i]);
	}
	html_row_end(h);
	for (size_t r = from; r < s->rows.nr; r++) {
		html_row_begin(h);
		for (size_t i = 0; i < s->head.nr; i++)
			if (column_says(s, i))
				html_cell(h, "td", s->rows.v[r][i], false);
		html_row_end(h);
	}
	html_table_end(h);
	if (from) {
		CLEANUP(xfreep) char *more = xasprintf("%zu earlier rows are left out.", from);

		html_note(h, more);
	}
	if (silent.len) {
		CLEANUP(xfreep) char *more = xasprintf("Empty columns: %s", silent.buf);

		html_note(h, more);
	}
}

/* --- the file --- */

struct mail {
	struct strvec dirs, tables;
	VEC(json_t *) docs; /* of dirs */
};

static int load_run(struct mail *m, const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	json_error_t e = { .line = 1 };
	json_t *doc = NULL;
	size_t n = 0;

	if (fs_read(path, MAX_RUN_JSON, &text, &n, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	doc = json_loadb(text, n, 0, &e);
	if (!json_is_object(doc)) {
		log_error("%s:%d: %s", path, e.line, doc ? "not an object" : e.text);
		json_decref(doc);
		return EXIT_UNREADABLE;
	}
	strvec_push(&m->dirs, dir);
	VEC_PUSH(&m->docs, doc);
	return EXIT_DONE;
}

static int sort_inputs(struct mail *m, const struct strvec *inputs)
{
	for (size_t i = 0; i < inputs->nr; i++) {
		const char *in = inputs->v[i];
		int code;

		if (fs_is_file(in)) {
			strvec_push(&m->tables, in);
			continue;
		}
		if (!run_dir_held(in)) {
			log_error(fs_exists(in) ? "%s is neither a run directory nor a CSV file"
						: "there is no file or folder '%s'",
				  in);
			return EXIT_UNREADABLE;
		}
		code = load_run(m, in);
		if (code != EXIT_DONE)
			return code;
	}
	return EXIT_DONE;
}

static void head_of(const struct html_out *h, const struct mail *m)
{
	size_t bad = 0;
	CLEANUP(xfreep) char *title = NULL;

	for (size_t i = 0; i < m->docs.nr; i++)
		bad += strcmp(json_text(m->docs.v[i], "status"), "success") != 0;
	if (m->docs.nr == 1)
		title = xasprintf("%s: %s", json_text(m->docs.v[0], "model"),
				  json_text(m->docs.v[0], "status"));
	else if (m->docs.nr && !bad)
		title = xasprintf("%zu runs, all successful", m->docs.nr);
	else if (m->docs.nr)
		title = xasprintf("%zu runs, %zu of them not successful", m->docs.nr, bad);
	else
		title = xstrdup("profrig");
	html_begin(h, title, "");
	if (m->docs.nr)
		html_heading(h, 1, title);
}

static int write_mail(const struct mail *m, const struct html_out *h)
{
	head_of(h, m);
	if (m->docs.nr)
		run_table(h, m->docs.v, m->docs.nr);
	for (size_t i = 0; i < m->docs.nr && m->docs.nr <= MAX_DETAILED; i++)
		run_details(h, m->dirs.v[i], m->docs.v[i], m->docs.nr == 1);
	for (size_t i = 0; i < m->tables.nr; i++) {
		struct sheet s = { .head = STRVEC_INIT };
		struct err err = ERR_INIT;
		int r = sheet_read(m->tables.v[i], &s, &err);

		if (r == 0)
			sheet_write(h, m->tables.v[i], &s);
		else
			log_error("%s", err.msg);
		sheet_release(&s);
		if (r < 0)
			return EXIT_UNREADABLE;
	}
	html_end(h);
	return EXIT_DONE;
}

/* perf.csv → perf.html; a run → its analysis/mail.html; several: ./mail.html. Owned. */
static char *default_output(const struct strvec *inputs)
{
	const char *in = inputs->v[0], *dot = strrchr(fs_base(in), '.');

	if (inputs->nr > 1)
		return xstrdup("mail.html");
	if (!fs_is_file(in))
		return fs_join(in, "analysis/mail.html");
	return xasprintf("%.*s.html",
			 (int)(dot && dot > fs_base(in) ? (size_t)(dot - in) : strlen(in)), in);
}

static int mail_store(const char *path, const char *words, size_t n)
{
	CLEANUP(xfreep) char *dir = fs_dir(path);
	struct err err = ERR_INIT;

	if (fs_mkdirs(dir, 0777, &err) == 0 && fs_write_atomic(path, words, n, &err) == 0) {
		printf("%s\n", path);
		return EXIT_DONE;
	}
	log_error("%s", err.msg);
	return EXIT_MISSING;
}

int report_mail(const struct strvec *inputs, const char *output)
{
	struct mail m = { .dirs = STRVEC_INIT, .tables = STRVEC_INIT };
	CLEANUP(xfreep) char *path = output ? xstrdup(output) : default_output(inputs);
	CLEANUP(xfreep) char *words = NULL;
	size_t n = 0;
	int code = sort_inputs(&m, inputs);

	if (code == EXIT_DONE) {
		FILE *f = xmemstream(&words, &n);

		code = write_mail(
			&m, &(struct html_out){ .f = f, .max_text = MAX_CELL, .guard = true });
		fclose(f);
	}
	if (code == EXIT_DONE)
		code = mail_store(path, words, n);
	for (size_t i = 0; i < m.docs.nr; i++)
		json_decref(m.docs.v[i]);
	VEC_RELEASE(&m.docs);
	strvec_release(&m.dirs);
	strvec_release(&m.tables);
	return code;
}
