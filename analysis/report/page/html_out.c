#include "profrig/report/html_out.h"

#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

#define FONT "font-family:Arial,Helvetica,sans-serif;"
#define CELL "border:1px solid #ccc;padding:3px 8px;font-size:13px;"

/* keep: control bytes that stay. */
static void put_text(const struct html_out *h, const char *words, const char *keep)
{
	CLEANUP(xfreep) char *clear = xstrdup(words);
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT;
	size_t n = strlen(clear), at = 0;
	bool cut;

	if (h->guard)
		n = redact(clear, n, REDACT_SURE);
	if (h->guard && csv_is_formula(clear))
		strbuf_addch(&shown, '\'');
	text_visible(&shown, clear, n, keep);
	cut = h->max_text && shown.len > h->max_text;
	n = cut ? h->max_text : shown.len;
	while (cut && n > 0 && ((unsigned char)shown.buf[n] & 0xc0) == 0x80)
		n--; /* not inside a character */
	while (at < n) {
		const char *s = shown.buf + at;
		size_t len = utf8_len(s, n - at);
		unsigned char c = (unsigned char)*s;

		if (len == 0)
			fputs("&#65533;", h->f);
		else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			fprintf(h->f, "&#%d;", c);
		else
			fwrite(s, 1, len, h->f);
		at += len ? len : 1;
	}
	if (cut)
		fputs("&#8230;", h->f);
}

void html_begin(const struct html_out *h, const char *title, const char *more)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", h->f);
	put_text(h, title, "");
	fprintf(h->f, "</title>%s</head>\n<body%s>\n", more,
		h->styled ? "" : " style=\"margin:12px;background:#fff;color:#202124\"");
}

void html_end(const struct html_out *h)
{
	fputs("</body></html>\n", h->f);
}

void html_heading(const struct html_out *h, int level, const char *s)
{
	if (h->styled)
		fprintf(h->f, "<h%d>", level);
	else
		fprintf(h->f, "<h%d style=\"" FONT "font-size:%dpx;margin:18px 0 6px\">", level,
			level == 1 ? 20 : 16);
	put_text(h, s, "");
	fprintf(h->f, "</h%d>\n", level);
}

void html_note(const struct html_out *h, const char *s)
{
	fputs(h->styled ? "<p>" : "<p style=\"" FONT "font-size:13px;margin:4px 0\">", h->f);
	put_text(h, s, "");
	fputs("</p>\n", h->f);
}

void html_text(const struct html_out *h, const char *s)
{
	put_text(h, s, "");
}

void html_pre(const struct html_out *h, const char *s)
{
	fputs("<pre dir=\"ltr\" style=\"white-space:pre-wrap\">", h->f);
	put_text(h, s, "\t\n");
	fputs("</pre>\n", h->f);
}

void html_table(const struct html_out *h)
{
	fputs(h->styled ? "<table>\n"
			: "<table cellspacing=\"0\" style=\"border-collapse:collapse;" FONT "\">\n",
	      h->f);
}

void html_table_end(const struct html_out *h)
{
	fputs("</table>\n", h->f);
}

void html_row_begin(const struct html_out *h)
{
	fputs("<tr>", h->f);
}

void html_row_end(const struct html_out *h)
{
	fputs("</tr>\n", h->f);
}

static const char *verdict_colour(const char *s)
{
	if (!strcmp(s, "success") || !strcmp(s, "SUCCESS"))
		return "color:#137333;";
	if (!strcmp(s, "failed") || !strcmp(s, "timeout") || !strcmp(s, "FAILURE"))
		return "color:#b3261e;font-weight:bold;";
	if (!strcmp(s, "partial") || !strcmp(s, "interrupted"))
		return "color:#9a6700;";
	return "";
}

void html_cell(const struct html_out *h, const char *tag, const char *s, bool right)
{
	if (h->styled)
		fprintf(h->f, "<%s%s>", tag, right ? " class=\"num\"" : "");
	else
		fprintf(h->f, "<%s style=\"" CELL "text-align:%s;%s%s\">", tag,
			right ? "right" : "left",
			*tag == 't' && tag[1] == 'h' ? "background:#f1f3f4;" : "",
			verdict_colour(s));
	put_text(h, s, "");
	fprintf(h->f, "</%s>", tag);
}

void html_figure(const struct html_out *h, const char *class, const char *s, const char *exact)
{
	fprintf(h->f, "<td class=\"num%s%s\" title=\"", *class ? " " : "", class);
	put_text(h, exact, "");
	fputs("\">", h->f);
	put_text(h, s, "");
	fputs("</td>", h->f);
}

void html_row(const struct html_out *h, const char *tag, const char *const *cells, size_t nr)
{
	html_row_begin(h);
	for (size_t i = 0; i < nr; i++)
		html_cell(h, tag, cells[i], false);
	html_row_end(h);
}
