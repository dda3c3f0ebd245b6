#include "compare_plots.h"
#include "cli.h"
#include "compare_roofs.h"
#include "compare_show.h"
#include "log_plot.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"

#define POINTS_SHOWN 2000
#define POINTS_DENSE 400
#define BARS_SHOWN 20
#define ROOFS_SHOWN 4

/* ---- what all of them need ---- */

/* Larger changes first, in either direction; unknown ones last; else as the comparison has them. */
static int by_change(const void *a, const void *b)
{
	const struct bench_pair *x = *(const struct bench_pair *const *)a;
	const struct bench_pair *y = *(const struct bench_pair *const *)b;
	double p = fabs(x->seconds.value), q = fabs(y->seconds.value);

	if (isnan(p) != isnan(q))
		return isnan(p) ? 1 : -1;
	if (p < q || p > q)
		return p > q ? -1 : 1;
	return (x > y) - (x < y);
}

struct compare_ranked compare_ranked_new(const struct bench_comparison *c, uint32_t side)
{
	struct compare_ranked r = { .by_calls = c->o.by_calls, .confidence = c->o.confidence };

	r.v = xcalloc(c->pairs.nr + 1, sizeof(*r.v));
	for (size_t i = 0; i < c->pairs.nr; i++)
		if (c->pairs.v[i].side == side)
			r.v[r.nr++] = &c->pairs.v[i];
	if (!r.by_calls)
		qsort(r.v, r.nr, sizeof(*r.v), by_change);
	return r;
}

void compare_ranked_release(struct compare_ranked *r)
{
	free(r->v);
	*r = (struct compare_ranked){ 0 };
}

const char *compare_row_text(const struct bench_table_row *r)
{
	return *r->key ? r->key : r->config;
}

const char *compare_pair_word(const struct bench_pair *p)
{
	return p->refused ? "refused" : bench_verdict_name(p->verdict);
}

static enum log_plot_shape shape_of(const char *word)
{
	static const char *const words[LOG_PLOT_SHAPES] = {
		[LOG_CIRCLE] = "same", [LOG_UP] = "slower",       [LOG_SQUARE] = "refused",
		[LOG_DOWN] = "faster", [LOG_DIAMOND] = "unclear",
	};

	for (int i = 0; i < LOG_PLOT_SHAPES; i++)
		if (!strcmp(words[i], word))
			return (enum log_plot_shape)i;
	return LOG_CIRCLE;
}

void compare_swatch(const struct html_out *h, const char *word)
{
	log_plot_swatch(h, word, shape_of(word));
}

/* "3 more calls" and these words. */
static void note_count(const struct html_out *h, size_t nr, const char *more, const char *words)
{
	CLEANUP(xfreep) char *note = NULL;

	if (!nr)
		return;
	note = xasprintf("%zu %s%s %s", nr, more, nr == 1 ? "call" : "calls", words);
	html_note(h, note);
}

/* ---- roofline ---- */

static double intensity_of(const struct bench_table_row *r)
{
	return r->gflops / r->gbps;
}

static bool has_work(const struct bench_table_row *r)
{
	return log_plot_can(intensity_of(r), r->gflops);
}

/* Both parts as far as they are known. */
static void roof_draw(const struct log_plot *p, const struct roof *r, size_t at)
{
	double slope = log10(r->gbps), top = log10(r->gflops);
	double from = fmax(p->low[0], p->low[1] - slope);
	double turn = r->gflops > 0 && r->gbps > 0 ? top - slope : NAN;
	double to = r->gflops > 0 ? turn : log10(r->most_intensity);

	fprintf(p->h->f, "<path class=\"roof d%zu%s\" d=\"", at, r->seen ? " seen" : "");
	if (r->gbps > 0)
		fprintf(p->h->f, "M%.2f %.2fL%.2f %.2f", log_plot_x(p, from),
			log_plot_y(p, from + slope), log_plot_x(p, to), log_plot_y(p, to + slope));
	if (r->gflops > 0)
		fprintf(p->h->f, "M%.2f %.2fH%.2f",
			log_plot_x(p, r->gbps > 0 ? turn : log10(r->least_intensity)),
			log_plot_y(p, top), log_plot_x(p, p->high[0]));
	fputs("\"><title>", p->h->f);
	roof_put(p->h, r);
	fputs("</title></path>\n", p->h->f);
}

static void roof_include(struct log_plot *p, const struct roof *r)
{
	if (r->gflops > 0 && r->gbps > 0)
		log_plot_include(p, r->gflops / r->gbps, r->gflops);
	else if (r->gflops > 0)
		log_plot_include(p, r->least_intensity, r->gflops);
}

static void roof_legend(const struct html_out *h, const struct roofs *roofs)
{
	size_t shown = 0;

	fputs("<ul class=\"legend roofs\">\n", h->f);
	for (; shown < roofs->nr && shown < ROOFS_SHOWN; shown++) {
		fprintf(h->f,
			"<li><svg class=\"dash\" aria-hidden=\"true\" viewBox=\"0 0 26 8\"><path "
			"class=\"roof d%zu%s\" d=\"M0 4H26\"/></svg>",
			shown, roofs->v[shown].seen ? " seen" : "");
		roof_put(h, &roofs->v[shown]);
		fputs("</li>\n", h->f);
	}
	if (shown < roofs->nr)
		fprintf(h->f, "<li>%zu more roofs are not drawn</li>\n", roofs->nr - shown);
	fputs("</ul>\n", h->f);
}

/* The class of a side's marks; shapes and colours together differ for 40 sides. */
#define SIDE_COLOURS 8
static enum log_plot_shape side_mark(uint32_t side, char class[8])
{
	snprintf(class, 8, "s%u", (unsigned)side % SIDE_COLOURS);
	return (enum log_plot_shape)(side % LOG_PLOT_SHAPES);
}

static void sides_legend(const struct html_out *h, const struct bench_tables *t, uint32_t sides)
{
	fputs("<ul class=\"legend\">\n", h->f);
	for (uint32_t i = 0; i < sides; i++) {
		char name[16], class[8];
		enum log_plot_shape shape = side_mark(i, class);

		fputs("<li>", h->f);
		log_plot_swatch(h, class, shape);
		fprintf(h->f, "%s <bdi class=\"name\">", compare_side_name(i, name));
		html_text(h, t->sides.v[i].back_end);
		fputs("</bdi></li>\n", h->f);
	}
	fputs("</ul>\n", h->f);
}

static void row_mark(const struct log_plot *p, const struct bench_table_row *r)
{
	char words[120], name[16], class[8], share[40] = "";
	enum log_plot_shape shape = side_mark(r->side, class);

	if (r->peak_share > 0)
		snprintf(share, sizeof(share), ", %.3g %% of the roof", r->peak_share * 100);
	snprintf(words, sizeof(words),
		 "%s: %.4g GFLOP/s, %.4g FLOP/byte%s: ", compare_side_name(r->side, name),
		 r->gflops, intensity_of(r), share);
	log_plot_mark(p, intensity_of(r), r->gflops, class, shape, words, compare_row_text(r));
}

/* Rows of the sides that are drawn, that count and have a time. */
static bool is_measured(const struct bench_tables *t, const struct bench_table_row *r,
			uint32_t sides)
{
	return r->side < sides && r->status == BENCH_OK && bench_tables_counts(t, r);
}

/* Each side has as many marks at most; ret_left: those that found no place. */
static void rows_draw(const struct log_plot *p, const struct bench_tables *t, uint32_t sides,
		      size_t *ret_left)
{
	CLEANUP(xfreep) size_t *shown = xcalloc(sides, sizeof(*shown));

	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct bench_table_row *r = &t->rows.v[i];

		if (!is_measured(t, r, sides) || !has_work(r))
			continue;
		if (shown[r->side]++ < POINTS_SHOWN / sides)
			row_mark(p, r);
		else
			++*ret_left;
	}
}

static void roofline_draw(struct log_plot *p, const struct bench_tables *t, uint32_t sides,
			  const struct roofs *roofs, size_t *ret_left)
{
	for (size_t i = 0; i < roofs->nr && i < ROOFS_SHOWN; i++)
		roof_include(p, &roofs->v[i]);
	log_plot_begin(p, "Roofline: speed of each measured call by its FLOP per byte");
	for (size_t i = 0; i < roofs->nr && i < ROOFS_SHOWN; i++)
		roof_draw(p, &roofs->v[i], i);
	rows_draw(p, t, sides, ret_left);
	log_plot_end(p);
}

static void roofline_words(const struct html_out *h, const struct roofs *roofs)
{
	if (!roofs->nr || roofs->v[0].seen) {
		html_note(h, "The tables do not tell the peaks of the machine (peak_share): the "
			     "dashed lines are the best that was measured.");
		return;
	}
	html_note(h, "Each mark is a call. The lines are what the machine allows: below a slope "
		     "memory is the limit, below a level line the processor is. Calls above a "
		     "slope have operands in caches.");
}

static void roofline_put(struct log_plot *p, const struct bench_tables *t, uint32_t sides)
{
	CLEANUP(roofs_release) struct roofs roofs = ROOFS_INIT;
	size_t left = 0;

	roofs_find(t, &roofs);
	fputs("<div class=\"two\"><div>\n", p->h->f);
	roofline_draw(p, t, sides, &roofs, &left);
	fputs("</div><div>\n", p->h->f);
	roofline_words(p->h, &roofs);
	sides_legend(p->h, t, sides);
	roof_legend(p->h, &roofs);
	note_count(p->h, left, "more ", "of these sides are not drawn.");
	fputs("</div></div>\n", p->h->f);
}

void compare_roofline(const struct html_out *h, const struct bench_tables *t, uint32_t sides)
{
	static const struct log_axis x = { "FLOP per byte of memory", NULL, 0 };
	static const struct log_axis y = { "speed in FLOP/s", "", 9 };
	struct log_plot p = log_plot_new(h, &x, &y);
	size_t with = 0, without = 0;

	if (sides > t->sides.nr)
		sides = (uint32_t)t->sides.nr;
	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct bench_table_row *r = &t->rows.v[i];

		if (!is_measured(t, r, sides))
			continue;
		if (has_work(r))
			log_plot_include(&p, intensity_of(r), r->gflops);
		*(has_work(r) ? &with : &without) += 1;
	}
	p.dense = with > POINTS_DENSE;
	html_heading(h, 2, "Roofline");
	if (log_plot_is_empty(&p))
		html_note(h, "Not drawn: no measured call has both GFLOP/s and GB/s.");
	else
		roofline_put(&p, t, sides);
	note_count(h, without, "",
		   "with a time, but without GFLOP/s or GB/s, cannot be drawn here.");
}

/* ---- A against B ---- */

/* Where B is the same as A but for the threshold, as far as it lies within the axes. */
static void band_draw(const struct log_plot *p, double threshold)
{
	double low = p->low[0], high = p->high[0], span = high - low;
	double up = fmin(log10(1 + threshold), span), down = fmin(-log10(1 - threshold), span);

	fprintf(p->h->f,
		"<path class=\"band\" d=\"M%.2f %.2fL%.2f %.2fL%.2f %.2fL%.2f %.2fL%.2f %.2fL%.2f "
		"%.2fz\"/>\n",
		log_plot_x(p, low), log_plot_y(p, low), log_plot_x(p, low), log_plot_y(p, low + up),
		log_plot_x(p, high - up), log_plot_y(p, high), log_plot_x(p, high),
		log_plot_y(p, high), log_plot_x(p, high), log_plot_y(p, high - down),
		log_plot_x(p, low + down), log_plot_y(p, low));
	fprintf(p->h->f, "<path class=\"equal\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n", log_plot_x(p, low),
		log_plot_y(p, low), log_plot_x(p, high), log_plot_y(p, high));
}

static void pair_mark(const struct log_plot *p, const struct bench_pair *q)
{
	char words[160];
	const char *word = compare_pair_word(q);

	snprintf(words, sizeof(words), "%s: %.4g µs and %.4g µs, ratio %.3f: ", word, q->a->mean,
		 q->b->mean, q->c.ratio);
	log_plot_mark(p, q->a->mean, q->b->mean, word, shape_of(word), words,
		      compare_row_text(q->a));
}

static void verdicts_legend(const struct html_out *h, const struct compare_ranked *r)
{
	static const char *const words[] = { "faster", "slower", "same", "unclear", "refused" };

	fputs("<ul class=\"legend\">\n", h->f);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t nr = 0;

		for (size_t k = 0; k < r->nr; k++)
			nr += !strcmp(compare_pair_word(r->v[k]), words[i]);
		if (!nr)
			continue;
		fputs("<li>", h->f);
		compare_swatch(h, words[i]);
		fprintf(h->f, "%s: %zu</li>\n", words[i], nr);
	}
	fputs("</ul>\n", h->f);
}

static void scatter_draw(const struct log_plot *p, const struct compare_ranked *r, const char *name,
			 double threshold)
{
	CLEANUP(xfreep) char *title = xasprintf("Time of each call with A and with %s", name);
	CLEANUP(xfreep)
	char *words = xasprintf("Below the diagonal %s is faster. In the grey band it differs "
				"by %g %% at most.",
				name, threshold * 100);

	html_note(p->h, words);
	log_plot_begin(p, title);
	band_draw(p, threshold);
	for (size_t i = 0; i < r->nr && i < POINTS_SHOWN; i++)
		pair_mark(p, r->v[i]);
	log_plot_end(p);
	verdicts_legend(p->h, r);
	if (r->nr > POINTS_SHOWN)
		note_count(p->h, r->nr - POINTS_SHOWN, "more ",
			   "with smaller effects are not drawn.");
}

void compare_scatter(const struct html_out *h, const struct compare_ranked *r, const char *name,
		     double threshold)
{
	CLEANUP(xfreep) char *y_title = xasprintf("time of a call with %s", name);
	CLEANUP(xfreep) char *heading = xasprintf("A against %s", name);
	const struct log_axis x = { "time of a call with A", "s", -6 };
	const struct log_axis y = { y_title, "s", -6 };
	struct log_plot p = log_plot_new(h, &x, &y);

	for (size_t i = 0; i < r->nr; i++)
		log_plot_include(&p, r->v[i]->a->mean, r->v[i]->b->mean);
	html_heading(h, 3, heading);
	if (log_plot_is_empty(&p)) {
		html_note(h, "Not drawn: no call has a time in both.");
		return;
	}
	p.dense = r->nr > POINTS_DENSE;
	log_plot_equal_axes(&p);
	scatter_draw(&p, r, name, threshold);
}

/* ---- effects ---- */

static bool has_effect(const struct bench_pair *p)
{
	return isfinite(p->seconds.value);
}

/* Seconds at the ends of the bars: intervals fit, if none is more than twice the largest effect. */
static double bar_scale(const struct compare_ranked *r, size_t shown)
{
	double value = 0, ends = 0;

	for (size_t i = 0; i < shown; i++) {
		const struct bench_effect *e = &r->v[i]->seconds;

		if (!has_effect(r->v[i]))
			continue;
		value = fmax(value, fabs(e->value));
		if (isfinite(e->low) && isfinite(e->high))
			ends = fmax(ends, fmax(fabs(e->low), fabs(e->high)));
	}
	return fmin(fmax(value, ends), 2 * value);
}

/* An interval from -100 to 100; an end that lies outside is an arrow. */
static void interval_draw(const struct html_out *h, double low, double high)
{
	double from = fmax(low, -100), to = fmin(high, 100);

	fprintf(h->f, "<path class=\"error\" d=\"M%.2f 6H%.2f", from, to);
	fputs(low < from ? "M-96 2L-100 6L-96 10" : "", h->f);
	fputs(high > to ? "M96 2L100 6L96 10" : "", h->f);
	if (low >= from)
		fprintf(h->f, "M%.2f 3V9", from);
	if (high <= to)
		fprintf(h->f, "M%.2f 3V9", to);
	fputs("\"/>", h->f);
}

static void bar_draw(const struct html_out *h, const struct bench_pair *p, double scale)
{
	double length = p->seconds.value / scale * 100;
	double low = p->seconds.low / scale * 100, high = p->seconds.high / scale * 100;

	fputs("<svg class=\"bar\" role=\"img\" viewBox=\"-102 0 204 12\" "
	      "preserveAspectRatio=\"none\"><title>",
	      h->f);
	if (isfinite(low) && isfinite(high))
		fprintf(h->f, "%+.4g s, between %+.4g s and %+.4g s", p->seconds.value,
			p->seconds.low, p->seconds.high);
	else
		fprintf(h->f, "%+.4g s", p->seconds.value);
	fprintf(h->f,
		"</title><path class=\"track\" d=\"M-100 6H100\"/><rect class=\"%s\" x=\"%.2f\" "
		"y=\"2\" width=\"%.2f\" height=\"8\"/>",
		compare_pair_word(p), fmin(length, 0), fabs(length));
	if (isfinite(low) && isfinite(high))
		interval_draw(h, low, high);
	fputs("<path class=\"zero\" d=\"M0 0V12\"/></svg>\n", h->f);
}

static void bar_item(const struct html_out *h, const struct bench_pair *p, double scale, size_t at)
{
	const char *word = compare_pair_word(p);
	char change[40];

	fprintf(h->f,
		"<li><div class=\"bar-head\"><span class=\"rank\">%zu</span><bdi class=\"name\" "
		"title=\"",
		at);
	html_text(h, compare_row_text(p->a));
	fputs("\">", h->f);
	html_text(h, compare_row_text(p->a));
	fprintf(h->f,
		"</bdi><span class=\"%s word\">%s</span><span class=\"change\">%s</span></div>\n",
		word, word, compare_signed(p->seconds.value, "s", change));
	bar_draw(h, p, scale);
	fputs("</li>\n", h->f);
}

static void bars_axis(const struct html_out *h, const char *name, double scale)
{
	char ends[32];

	cli_si(scale, "s", ends);
	fprintf(h->f,
		"<div class=\"bar-axis\"><span>-%s: %s saves</span><span>0</span><span>%s "
		"costs: +%s</span></div>\n",
		ends, name, name, ends);
}

void compare_bars(const struct html_out *h, const struct compare_ranked *r, const char *name)
{
	CLEANUP(xfreep) char *heading = xasprintf("What %s would change in the model", name);
	CLEANUP(xfreep) char *words = NULL;
	size_t shown = r->nr < BARS_SHOWN ? r->nr : BARS_SHOWN, fine = 0;
	double scale = bar_scale(r, shown);

	html_heading(h, 3, heading);
	for (size_t i = 0; i < r->nr; i++)
		fine += has_effect(r->v[i]);
	if (!(scale > 0)) {
		html_note(h, fine ? "Not drawn: the effects are 0, or calls were not counted."
				  : "Not drawn: no call can be compared.");
		return;
	}
	words = xasprintf("%s come first; thin lines are intervals of %g %%.",
			  r->by_calls ? "Calls that are made most often" : "The largest changes",
			  r->confidence * 100);
	html_note(h, words);
	bars_axis(h, name, scale);
	fputs("<ol class=\"bars\">\n", h->f);
	for (size_t i = 0; i < shown; i++)
		if (has_effect(r->v[i]))
			bar_item(h, r->v[i], scale, i + 1);
	fputs("</ol>\n", h->f);
	if (fine > shown)
		note_count(h, fine - shown, "more ", "are in the table, or in the other outputs.");
}
