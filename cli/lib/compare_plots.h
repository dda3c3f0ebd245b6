/*
 * compare_plots: the drawings of the page of a comparison. Each says in words why it is missing
 * where there is nothing to draw, and how many calls it leaves out.
 */
#ifndef CLI_COMPARE_PLOTS_H
#define CLI_COMPARE_PLOTS_H

#include "profrig/bench/bench_compare.h"
#include "profrig/report/html_out.h"

/* Pairs of one side in the order of the page: the largest effect, or most calls, in front. */
struct compare_ranked {
	const struct bench_pair **v;
	size_t nr;
	bool by_calls;
	double confidence; /* of intervals: 0.95 */
};
struct compare_ranked compare_ranked_new(const struct bench_comparison *c, uint32_t side);
void compare_ranked_release(struct compare_ranked *r);

/* What is in the head of such a page: the style sheet with the report page's colours. */
extern const char compare_page_head[];
/* A table that is wider than the screen is moved by itself, also by keyboard. */
void compare_table_begin(const struct html_out *h, const char *label);
void compare_table_end(const struct html_out *h);
/* The key of a row, or the configuration as it was logged. */
const char *compare_row_text(const struct bench_table_row *r);
/* A verdict, or "refused": also a class of the page's style sheet. */
const char *compare_pair_word(const struct bench_pair *p);
/* The mark of a verdict between other words. */
void compare_swatch(const struct html_out *h, const char *word);

/* sides: those that are drawn, the first ones. */
void compare_roofline(const struct html_out *h, const struct bench_tables *t, uint32_t sides);
void compare_scatter(const struct html_out *h, const struct compare_ranked *r, const char *name,
		     double threshold);
void compare_bars(const struct html_out *h, const struct compare_ranked *r, const char *name);

#endif
