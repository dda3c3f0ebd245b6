/*
 * The essence of a campaign's report for mail programs: the verdict, the largest changes, the
 * matrix as a plain table, failures. Inline styles, no script, nothing to fetch; small, as mail
 * programs cut what is longer than about 100 KB. As a message it has a text part as well.
 */
#include "campaign_dir.h"
#include "diff_show.h"
#include "report_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define PAIRS_SHOWN 30
#define ROWS_SHOWN 24
#define PLACES_SHOWN 200
#define FIGURES_SHOWN 4
#define FAILURES_SHOWN 20
#define TEXT_SHOWN 160
#define LINE 57 /* bytes of a line in base64: 76 letters */

static void pairs_put(const struct html_out *h, const struct report_shown *s)
{
	static const char *const names[] = { "verdict",  "cell", "figure", "change",
					     "interval", "p",    "runs" };
	size_t nr;
	struct report_pair *v = report_pairs(s, &nr);

	if (nr) {
		html_heading(h, 2, "Verdicts");
		html_table(h);
		html_row(h, "th", names, ARRAY_LEN(names));
	}
	for (size_t i = 0; i < nr && i < PAIRS_SHOWN; i++) {
		const struct report_against *a = &v[i].f->cells[v[i].cell].against;
		char change[32], interval[64], p[32], runs[32];

		snprintf(p, sizeof(p), a->p_adj < 0.001 ? "< 0.001" : "%.3f", a->p_adj);
		snprintf(runs, sizeof(runs), "%" PRIu32 " + %" PRIu32, a->n_a, a->n_b);
		html_row(h, "td",
			 (const char *const[]){ report_word(s, v[i].f, v[i].cell),
						s->r.cells.v[v[i].cell].label, v[i].f->name,
						diff_ratio(a->ratio, change),
						diff_ratios(a->low, a->high, interval),
						isfinite(a->p_adj) ? p : "–", runs },
			 ARRAY_LEN(names));
	}
	if (nr)
		html_table_end(h);
	if (nr > PAIRS_SHOWN) {
		CLEANUP(xfreep)
		char *more = xasprintf("%zu more comparisons are in the report.", nr - PAIRS_SHOWN);

		html_note(h, more);
	}
	free(v);
}

/* ---- the matrix ---- */

static void place_put(const struct html_out *h, const struct report_shown *s,
		      const struct report_figure *f, uint32_t at)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (; at != REPORT_NONE; at = s->grid.next[at]) {
		const struct report_sample *v = &f->cells[at];
		char mean[240], change[32];

		strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", v->nr ? report_mean(f, v, mean) : "–");
		if (isfinite(v->against.ratio))
			strbuf_addf(&sb, ", %s", diff_ratio(v->against.ratio, change));
		strbuf_addf(&sb, ", %s", report_word(s, f, at));
	}
	html_cell(h, "td", sb.buf, false);
}

/* room: how many places of the matrix the mail still has. */
static void facet_put(const struct html_out *h, const struct report_shown *s,
		      const struct report_figure *f, const struct grid_facet *facet, size_t *room)
{
	const struct report_grid *g = &s->grid;
	size_t row = 0;
	bool named = g->column < g->axes.nr;

	html_table(h);
	html_row_begin(h);
	for (size_t i = 0; i < g->axes.nr; i++)
		if (i != g->column)
			html_cell(h, "th", g->axes.v[i].name, false);
	for (size_t i = 0; i < g->columns; i++) {
		CLEANUP(xfreep)
		char *name = named ? xasprintf("%s = %s", g->axes.v[g->column].name,
					       g->axes.v[g->column].values.v[i])
				   : xstrdup(f->name);

		html_cell(h, "th", name, false);
	}
	html_row_end(h);
	for (; row < facet->rows.nr && row < ROWS_SHOWN && *room >= g->columns; row++) {
		*room -= g->columns;
		html_row_begin(h);
		for (size_t i = 0; i < g->axes.nr; i++)
			if (i != g->column) {
				const struct grid_axis *a = &g->axes.v[i];

				html_cell(h, "td",
					  a->values.v[a->of_cell[facet->rows.v[row].first]], false);
			}
		for (size_t i = 0; i < g->columns; i++)
			place_put(h, s, f, facet->at[row * g->columns + i]);
		html_row_end(h);
	}
	html_table_end(h);
	if (facet->rows.nr > row)
		html_note(h, "Further rows are in the report.");
}

static void figures_put(const struct html_out *h, const struct report_shown *s)
{
	size_t room = PLACES_SHOWN;

	for (size_t i = 0; i < s->r.figures.nr && i < FIGURES_SHOWN; i++) {
		CLEANUP(xfreep) char *title = report_figure_title(&s->r.figures.v[i]);

		html_heading(h, 2, title);
		for (size_t k = 0; k < s->grid.facets.nr && k < FIGURES_SHOWN; k++) {
			if (s->grid.facets.nr > 1)
				html_note(h, s->grid.facets.v[k].model);
			facet_put(h, s, &s->r.figures.v[i], &s->grid.facets.v[k], &room);
		}
		if (s->grid.facets.nr > FIGURES_SHOWN)
			html_note(h, "Further models are in the report.");
	}
	if (s->r.figures.nr > FIGURES_SHOWN)
		html_note(h, "Further figures are in the report.");
}

static void failures_put(const struct html_out *h, const struct report_shown *s)
{
	static const char *const names[] = { "cell", "class", "reason", "attempts" };
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	report_survivors(s, &words);
	report_environments(s, &words);
	html_heading(h, 2, "Failures and environments");
	for (size_t i = 0; i < words.nr; i++)
		html_note(h, words.v[i]);
	if (s->r.failures.nr) {
		html_table(h);
		html_row(h, "th", names, ARRAY_LEN(names));
	}
	for (size_t i = 0; i < s->r.failures.nr && i < FAILURES_SHOWN; i++) {
		const struct report_failure *f = &s->r.failures.v[i];
		char n[16];

		snprintf(n, sizeof(n), "%" PRIu32, f->attempts);
		html_row(h, "td",
			 (const char *const[]){ s->r.cells.v[f->cell].label, f->class,
						*f->reason ? f->reason : f->state, n },
			 ARRAY_LEN(names));
	}
	if (s->r.failures.nr)
		html_table_end(h);
	if (s->r.failures.nr > FAILURES_SHOWN)
		html_note(h, "Further reasons are in the report.");
}

void report_mail_html(const struct report_shown *s, const char *page, FILE *f)
{
	const struct html_out h = { .f = f, .max_text = TEXT_SHOWN, .guard = true };
	const struct html_out whole = { .f = f, .max_text = 2000, .guard = true };
	CLEANUP(xfreep) char *title = xasprintf("Campaign %s", s->r.name);

	html_begin(&h, title, "");
	html_heading(&h, 1, title);
	html_heading(&whole, 2, s->lead);
	html_note(&whole, s->state);
	if (page) {
		CLEANUP(xfreep) char *where = xasprintf("Report: %s", page);

		html_note(&whole, where);
	}
	pairs_put(&h, s);
	figures_put(&h, s);
	failures_put(&h, s);
	html_end(&h);
}

/* ---- a message ---- */

static void base64_put(const char *s, size_t n, FILE *f)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		"+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)s[i] << 16;

		v |= i + 1 < n ? (uint32_t)(unsigned char)s[i + 1] << 8 : 0;
		v |= i + 2 < n ? (uint32_t)(unsigned char)s[i + 2] : 0;
		putc(letters[v >> 18], f);
		putc(letters[v >> 12 & 63], f);
		putc(i + 1 < n ? letters[v >> 6 & 63] : '=', f);
		putc(i + 2 < n ? letters[v & 63] : '=', f);
		if (i % LINE == LINE - 3)
			fputs("\r\n", f);
	}
	fputs("\r\n", f);
}

static void part_put(const char *type, const char *s, size_t n, FILE *f)
{
	fprintf(f,
		"--=_profrig\r\nContent-Type: text/%s; charset=utf-8\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\n",
		type);
	base64_put(s, n, f);
}

static void line_add(struct strbuf *sb, const char *s)
{
	CLEANUP(xfreep) char *clear = xstrdup(s);
	size_t n = redact(clear, strlen(clear), REDACT_SURE);

	text_visible(sb, clear, n, "");
	strbuf_addstr(sb, "\n");
}

static char *text_make(const struct report_shown *s, const char *page)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct strbuf sb = STRBUF_INIT;
	size_t nr;
	struct report_pair *v = report_pairs(s, &nr);

	line_add(&sb, s->lead);
	line_add(&sb, s->state);
	if (page)
		strvec_pushf(&words, "Report: %s", page);
	for (size_t i = 0; i < nr && i < PAIRS_SHOWN; i++) {
		const struct report_against *a = &v[i].f->cells[v[i].cell].against;
		char change[32], interval[64];

		strvec_pushf(&words, "%s: %s, %s %s (%s)", report_word(s, v[i].f, v[i].cell),
			     s->r.cells.v[v[i].cell].label, v[i].f->name,
			     diff_ratio(a->ratio, change), diff_ratios(a->low, a->high, interval));
	}
	report_survivors(s, &words);
	report_environments(s, &words);
	for (size_t i = 0; i < words.nr; i++)
		line_add(&sb, words.v[i]);
	free(v);
	return strbuf_steal(&sb);
}

void report_mail_message(const struct report_shown *s, const char *page, FILE *f)
{
	CLEANUP(xfreep) char *text = text_make(s, page), *html = NULL;
	size_t n = 0;
	FILE *m = xmemstream(&html, &n);

	report_mail_html(s, page, m);
	fclose(m);
	/* a name is made of letters, digits, '.', '_', '-' */
	fprintf(f,
		"Subject: Campaign %s: %s\r\nMIME-Version: 1.0\r\n"
		"Content-Type: multipart/alternative; boundary=\"=_profrig\"\r\n\r\n",
		campaign_name_ok(s->r.name) ? s->r.name : "",
		s->g.gated && s->g.overall ? (s->g.passes ? "the gate passes" : "the gate fails")
		: s->g.overall             ? s->g.overall
					   : "report");
	part_put("plain", text, strlen(text), f);
	part_put("html", html, n, f);
	fputs("--=_profrig--\r\n", f);
}
