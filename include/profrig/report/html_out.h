/*
 * html_out: a document without script or network access: headings, notes and tables. Its styles are
 * inline, for mail programs (`report --format mail`) and for the page of a build without node; a
 * page that brings a style sheet in `more` of html_begin sets `styled` and has none.
 *
 *	struct html_out h = { .f = f };
 *	html_begin(&h, "title", "");
 *	html_heading(&h, 2, "Energy");
 *	html_table(&h); html_row(&h, "td", cells, 2); html_table_end(&h);
 *	html_end(&h);
 *
 * Every text is escaped where it is written; control characters and bytes that are no UTF-8 become
 * visible (text_visible). The caller checks the FILE for errors.
 */
#ifndef PROFRIG_HTML_OUT_H
#define PROFRIG_HTML_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct html_out {
	FILE *f;
	size_t max_text; /* bytes of one text, the rest is cut; 0: no limit */
	bool guard;      /* redact texts, and quote those that a spreadsheet takes for a formula */
	bool styled;     /* no inline styles; cells that are right-aligned have the class "num" */
};

/* more: further HTML of the head. */
void html_begin(const struct html_out *h, const char *title, const char *more);
void html_end(const struct html_out *h);
void html_heading(const struct html_out *h, int level, const char *s);
void html_note(const struct html_out *h, const char *s);
/* Escaped text inside an element that the caller writes. */
void html_text(const struct html_out *h, const char *s);
/* The output of a program. */
void html_pre(const struct html_out *h, const char *s);
void html_table(const struct html_out *h);
void html_table_end(const struct html_out *h);
void html_row_begin(const struct html_out *h);
void html_row_end(const struct html_out *h);
/* tag: "td" or "th". States of a run are coloured. */
void html_cell(const struct html_out *h, const char *tag, const char *s, bool right);
/*
 * A figure, right-aligned, with the exact one behind it, which browsers show below the pointer.
 * class: of the style sheet, "" none.
 */
void html_figure(const struct html_out *h, const char *class, const char *s, const char *exact);
/* nr cells as one row, left-aligned. */
void html_row(const struct html_out *h, const char *tag, const char *const *cells, size_t nr);

#endif
