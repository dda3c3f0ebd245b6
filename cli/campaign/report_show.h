/*
 * report_show: the report of a campaign: what it is made of (campaign_report.h, report_judge.h,
 * report_grid.h), and its three writers: a page, a mail, JSON.
 *
 *	struct report_shown s;
 *	report_shown_make(dir, &wanted, live, &s, &err);
 *	report_page(&s, "/where/the/page/is", f);
 *	report_shown_release(&s);
 */
#ifndef CLI_REPORT_SHOW_H
#define CLI_REPORT_SHOW_H

#include "campaign_report.h"
#include "report_grid.h"
#include "report_judge.h"

#include <stdio.h>

#include "profrig/report/html_out.h"

enum report_tone { REPORT_GOOD, REPORT_BAD, REPORT_OPEN };

struct report_shown {
	char *dir; /* of the campaign, absolute */
	struct campaign_report r;
	struct report_judgement g;
	struct report_grid grid;
	bool live;   /* a process works on it */
	char *lead;  /* the verdict in one sentence */
	char *state; /* how far it has come */
	enum report_tone tone;
	struct strvec said; /* of the store: for stderr */
	/* Of each run, below dir: its report, else its folder; "" neither is there. */
	struct strvec links;
	size_t dots; /* that the page may still draw */
};

/* wanted: as campaign_report_read. -errno of store_open and of comparing. */
int report_shown_make(const char *dir, const struct strvec *wanted, bool live,
		      struct report_shown *ret, struct err *err);
void report_shown_release(struct report_shown *s);

/* page_dir: where the page will lie, absolute, for links. */
void report_page(struct report_shown *s, const char *page_dir, FILE *f);
/* For mail programs: the essence, with inline styles. page: where the page is; NULL. */
void report_mail_html(const struct report_shown *s, const char *page, FILE *f);
/* The same as a message of two parts, text and HTML, without addresses. */
void report_mail_message(const struct report_shown *s, const char *page, FILE *f);
void report_json(const struct report_shown *s, FILE *f);

/*
 * At the end of a campaign: <dir>/report.html. Prints a warning when it cannot be made: the
 * campaign itself is none the worse. Returns in how many blocks clocks differ, which is said, too.
 */
size_t campaign_report_at_end(const char *dir);

/* ---- words that all writers have ---- */

/* lead, state, tone; by report_shown_make */
void report_words_make(struct report_shown *s);
/* "performance in samples/s", with the key of a row of a table. Owned. */
char *report_figure_title(const struct report_figure *f);
/* "12.3 ms", or the number alone where the unit stands in the heading; buf holds 96. */
char *report_value(const struct report_figure *f, double v, char *buf);
/* "12.3 ms ± 0.2 ms"; buf holds 240. */
char *report_mean(const struct report_figure *f, const struct report_sample *s, char *buf);
/* "slower", "not comparable", "baseline", "no run": also a class of the style sheet without
 * blanks. */
const char *report_word(const struct report_shown *s, const struct report_figure *f, uint32_t cell);
/* Of a word. */
const char *report_class(const char *word);
/* Pairs of figure and cell that are compared, the worst first. Owned; ret_nr of them. */
struct report_pair {
	const struct report_figure *f;
	uint32_t cell;
};
struct report_pair *report_pairs(const struct report_shown *s, size_t *ret_nr);
/* "2026-03-01 12:30 UTC"; buf holds 32; "–" of 0. */
char *report_time(int64_t ns, char *buf);
/* What is said of drift, survivors, environments and measuring, a sentence each, into `to`. */
void report_survivors(const struct report_shown *s, struct strvec *to);
void report_environments(const struct report_shown *s, struct strvec *to);
void report_methods(const struct report_shown *s, struct strvec *to);
/* Of each block in which clocks differ; of none where an axis varies them. Returns how many. */
size_t report_clocks(const struct report_shown *s, struct strvec *to);
bool report_clocks_by_axis(const struct report_shown *s);
/* Whether an axis of the campaign is what makes environments differ in a path. */
bool report_by_axis(const struct report_shown *s, const char *path);

/* ---- parts of the page ---- */

extern const char report_page_style[];
void report_heat(const struct html_out *h, struct report_shown *s, const struct report_figure *f);
void report_strips(const struct html_out *h, struct report_shown *s, const struct report_figure *f,
		   const char *prefix);
void report_trend(const struct html_out *h, struct report_shown *s, const struct report_figure *f);

#endif
