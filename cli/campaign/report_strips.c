/*
 * Every run of every cell as a dot, in the order of the runs, as SVG; and how values move from the
 * first to the last run where that is suspicious.
 */
#include "cli.h"
#include "diff_show.h"
#include "report_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define STRIPS_SHOWN 400
#define WIDTH 260
#define HEIGHT 96
#define LEFT 54
#define RIGHT 8
#define TOP 8
#define BOTTOM 8
#define LOG_FROM 4 /* values that are so many times apart are drawn on logarithms */

/* ---- scales ---- */

/* Values of a cell, its baseline, and all that are compared with that one. */
struct scale {
	double low, high;
	bool log;
};

static uint32_t family_of(const struct campaign_report *r, uint32_t cell)
{
	return r->cells.v[cell].baseline != REPORT_NONE ? r->cells.v[cell].baseline : cell;
}

static void scale_add(struct scale *sc, const struct report_sample *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		sc->low = fmin(sc->low, s->v[i].value);
		sc->high = fmax(sc->high, s->v[i].value);
	}
	if (s->nr > 1) {
		sc->low = fmin(sc->low, fmax(s->low, sc->low - (sc->high - sc->low)));
		sc->high = fmax(sc->high, fmin(s->high, sc->high + (sc->high - sc->low)));
	}
}

static void scale_finish(struct scale *sc)
{
	if (!(sc->low <= sc->high))
		*sc = (struct scale){ 0, 1, false };
	sc->log = sc->low > 0 && sc->high > LOG_FROM * sc->low;
	if (!(sc->low < sc->high)) {
		double off = sc->low != 0 ? fabs(sc->low) * 0.01 : 1;

		sc->low -= off;
		sc->high += off;
	}
}

/* One for each cell; equal within a family. Owned. */
static struct scale *scales_make(const struct campaign_report *r, const struct report_figure *f)
{
	struct scale *v = xcalloc(r->cells.nr + 1, sizeof(*v));

	for (size_t i = 0; i < r->cells.nr; i++)
		v[i] = (struct scale){ INFINITY, -INFINITY, false };
	for (uint32_t i = 0; i < r->cells.nr; i++)
		scale_add(&v[family_of(r, i)], &f->cells[i]);
	for (uint32_t i = 0; i < r->cells.nr; i++)
		if (family_of(r, i) == i)
			scale_finish(&v[i]);
	for (uint32_t i = 0; i < r->cells.nr; i++)
		v[i] = v[family_of(r, i)];
	return v;
}

static double y_of(const struct scale *sc, double v)
{
	double low = sc->log ? log(sc->low) : sc->low, high = sc->log ? log(sc->high) : sc->high;
	double at = sc->log ? (v > 0 ? log(v) : low) : v;

	at = (fmin(fmax(at, low), high) - low) / (high - low);
	return HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM);
}

/* ---- a strip ---- */

struct strip {
	const struct html_out *h;
	struct report_shown *s;
	const struct report_figure *f;
	const struct scale *sc;
	const char *prefix; /* of links */
	uint32_t cell;
};

static void band_draw(const struct strip *p, const struct report_sample *v, const char *class,
		      const char *words)
{
	double top, bottom;

	if (v->nr == 0)
		return;
	top = y_of(p->sc, isfinite(v->high) ? v->high : v->mean);
	bottom = y_of(p->sc, isfinite(v->low) ? v->low : v->mean);
	fprintf(p->h->f,
		"<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"><title>%s "
		"%.9g",
		class, LEFT, top, WIDTH - LEFT - RIGHT, fmax(bottom - top, 1), words, v->mean);
	if (isfinite(v->low))
		fprintf(p->h->f, ", %.9g to %.9g", v->low, v->high);
	fputs("</title></rect>", p->h->f);
}

static void dot_draw(const struct strip *p, const struct report_sample *v, size_t i, size_t slots)
{
	const struct report_run *run = &p->s->r.runs.v[v->v[i].run];
	const char *link = p->s->links.v[v->v[i].run];
	double x = LEFT + (WIDTH - LEFT - RIGHT) * ((double)i + 0.5) / (double)slots;

	if (*link) {
		fputs("<a href=\"", p->h->f);
		html_text(p->h, p->prefix);
		html_text(p->h, link);
		fputs("\">", p->h->f);
	}
	fprintf(p->h->f, "<circle class=\"dot%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
		v->v[i].outlier ? " far" : "", x, y_of(p->sc, v->v[i].value),
		slots > 60 ? "1.6" : "2.8");
	fprintf(p->h->f, "%.9g ", v->v[i].value);
	html_text(p->h, p->f->unit);
	fprintf(p->h->f,
		", run %s, block %" PRIu32 ", %" PRIu32 ". of the campaign%s</title>"
		"</circle>%s",
		run->id, run->block, run->order,
		v->v[i].outlier ? ", far from the median of the cell" : "", *link ? "</a>" : "");
}

static void axis_draw(const struct strip *p)
{
	char low[96], high[96];

	fprintf(p->h->f,
		"<path class=\"frame\" d=\"M%d %dV%dH%d\"/><text x=\"%d\" y=\"%d\" "
		"text-anchor=\"end\">",
		LEFT, TOP - 4, HEIGHT - BOTTOM + 4, WIDTH - RIGHT, LEFT - 4, TOP + 7);
	html_text(p->h, report_value(p->f, p->sc->high, high));
	fprintf(p->h->f, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 4,
		HEIGHT - BOTTOM);
	html_text(p->h, report_value(p->f, p->sc->low, low));
	fputs("</text>", p->h->f);
	if (p->sc->log)
		fprintf(p->h->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">log</text>", LEFT - 4,
			HEIGHT / 2 + 4);
}

static void strip_draw(const struct strip *p)
{
	const struct report_cell *c = &p->s->r.cells.v[p->cell];
	const struct report_sample *v = &p->f->cells[p->cell];
	size_t slots = v->nr > p->s->r.repeat ? v->nr : p->s->r.repeat;

	fprintf(p->h->f, "<svg class=\"strip\" role=\"group\" viewBox=\"0 0 %d %d\"><title>", WIDTH,
		HEIGHT);
	html_text(p->h, c->label);
	fputs(": its runs in their order</title>", p->h->f);
	if (c->baseline != REPORT_NONE)
		band_draw(p, &p->f->cells[c->baseline], "band", "baseline:");
	band_draw(p, v, "own", "mean:");
	if (v->nr)
		fprintf(p->h->f, "<path class=\"mean\" d=\"M%d %.1fH%d\"/>", LEFT,
			y_of(p->sc, v->mean), WIDTH - RIGHT);
	axis_draw(p);
	for (size_t i = 0; i < v->nr; i++)
		dot_draw(p, v, i, slots);
	fputs("</svg>\n", p->h->f);
}

static void strip_foot(const struct strip *p)
{
	const struct report_sample *v = &p->f->cells[p->cell];
	const struct report_cell *c = &p->s->r.cells.v[p->cell];
	char mean[240];

	fputs("<div class=\"strip-foot\">", p->h->f);
	if (v->nr) {
		html_text(p->h, report_mean(p->f, v, mean));
		fprintf(p->h->f, " · n %zu", v->nr);
		if (isfinite(v->cv))
			fprintf(p->h->f, " · CV %.2g %%", v->cv * 100);
		if (v->outliers)
			fprintf(p->h->f, " · %zu %s", v->outliers,
				v->outliers == 1 ? "outlier" : "outliers");
	} else {
		fputs("no value", p->h->f);
	}
	if (c->failed)
		fprintf(p->h->f, " · <span class=\"few\">%" PRIu32 " failed</span>", c->failed);
	fputs("</div>", p->h->f);
}

static void strip_item(const struct strip *p)
{
	const char *word = report_word(p->s, p->f, p->cell);

	fprintf(p->h->f,
		"<li id=\"f%td-%" PRIu32 "\"><div class=\"strip-head\"><bdi class=\"name\" "
		"title=\"",
		p->f - p->s->r.figures.v, p->cell);
	html_text(p->h, p->s->r.cells.v[p->cell].label);
	fputs("\">", p->h->f);
	html_text(p->h, p->s->r.cells.v[p->cell].label);
	fprintf(p->h->f, "</bdi><span class=\"%s\">%s</span></div>", report_class(word), word);
	strip_draw(p);
	strip_foot(p);
	fputs("</li>\n", p->h->f);
}

static void cells_note(const struct html_out *h, size_t n, const char *words)
{
	CLEANUP(xfreep)
	char *text = xasprintf("%zu %s %s.", n, n == 1 ? "cell is" : "cells are", words);

	if (n)
		html_note(h, text);
}

void report_strips(const struct html_out *h, struct report_shown *s, const struct report_figure *f,
		   const char *prefix)
{
	struct scale *scales = scales_make(&s->r, f);
	size_t shown = 0, empty = 0, left_out = 0;

	fputs("<ol class=\"strips\">\n", h->f);
	for (uint32_t i = 0; i < s->r.cells.nr; i++) {
		struct strip p = { h, s, f, &scales[i], prefix, i };

		if (!f->cells[i].nr) {
			empty++;
			continue;
		}
		if (shown >= STRIPS_SHOWN || f->cells[i].nr > s->dots) {
			left_out++;
			continue;
		}
		strip_item(&p);
		s->dots -= f->cells[i].nr;
		shown++;
	}
	fputs("</ol>\n", h->f);
	cells_note(h, empty, "without a value");
	cells_note(h, left_out, "not drawn, as the page would be too large: --json has their runs");
	free(scales);
}

/* ---- trend ---- */

#define TREND_WIDTH 720
#define TREND_HEIGHT 180
#define TREND_LEFT 56
#define TREND_SHOWN 12

struct trend {
	const struct html_out *h;
	const struct report_shown *s;
	const struct report_figure *f;
	double low, high; /* of value / mean of its cell */
	uint32_t blocks;
};

static bool sample_warns(const struct report_sample *v)
{
	return v->drifts || v->clusters;
}

static double trend_x(const struct trend *t, uint32_t block)
{
	return TREND_LEFT + 8 +
	       (TREND_WIDTH - TREND_LEFT - 20) * ((double)block - 0.5) / (double)t->blocks;
}

static double trend_y(const struct trend *t, double ratio)
{
	return 10 + (TREND_HEIGHT - 30) * (t->high - ratio) / (t->high - t->low);
}

static void trend_range(struct trend *t)
{
	t->low = t->high = 1;
	for (size_t k = 0; k < t->s->r.cells.nr; k++) {
		const struct report_sample *v = &t->f->cells[k];

		for (size_t i = 0; i < v->nr && v->mean != 0; i++) {
			uint32_t block = t->s->r.runs.v[v->v[i].run].block;

			t->blocks = block > t->blocks ? block : t->blocks;
			if (!sample_warns(v))
				continue;
			t->low = fmin(t->low, v->v[i].value / v->mean);
			t->high = fmax(t->high, v->v[i].value / v->mean);
		}
	}
	if (t->high - t->low < 1e-6) {
		t->low -= 0.01;
		t->high += 0.01;
	}
}

/* Of all cells, block by block. */
static void trend_line(const struct trend *t)
{
	double *sum = xcalloc(t->blocks + 1, sizeof(*sum));
	uint32_t *n = xcalloc(t->blocks + 1, sizeof(*n));
	const char *to = "M";

	for (size_t k = 0; k < t->s->r.cells.nr; k++) {
		const struct report_sample *v = &t->f->cells[k];

		for (size_t i = 0; i < v->nr && v->mean != 0; i++) {
			uint32_t block = t->s->r.runs.v[v->v[i].run].block;

			sum[block] += v->v[i].value / v->mean;
			n[block]++;
		}
	}
	fputs("<path class=\"trend\" d=\"", t->h->f);
	for (uint32_t b = 1; b <= t->blocks; b++)
		if (n[b]) {
			double y = fmin(fmax(sum[b] / n[b], t->low), t->high);

			fprintf(t->h->f, "%s%.1f %.1f", to, trend_x(t, b), trend_y(t, y));
			to = "L";
		}
	fputs("\"><title>mean of all cells, block by block</title></path>", t->h->f);
	free(sum);
	free(n);
}

static void trend_dots(const struct trend *t, size_t cell, size_t colour)
{
	const struct report_sample *v = &t->f->cells[cell];

	for (size_t i = 0; i < v->nr; i++) {
		fprintf(t->h->f, "<circle class=\"s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\"><title>",
			colour, trend_x(t, t->s->r.runs.v[v->v[i].run].block),
			trend_y(t, v->v[i].value / v->mean));
		html_text(t->h, t->s->r.cells.v[cell].label);
		fprintf(t->h->f, ": %+.2f %% off its mean</title></circle>",
			(v->v[i].value / v->mean - 1) * 100);
	}
}

static void trend_draw(const struct trend *t)
{
	size_t shown = 0;

	fprintf(t->h->f,
		"<svg class=\"trend\" role=\"img\" viewBox=\"0 0 %d %d\"><title>change from the "
		"mean of the cell, block by block</title><path class=\"frame\" d=\"M%d 6V%dH%d\"/>"
		"<path class=\"equal\" d=\"M%d %.1fH%d\"/>",
		TREND_WIDTH, TREND_HEIGHT, TREND_LEFT, TREND_HEIGHT - 16, TREND_WIDTH - 8,
		TREND_LEFT, trend_y(t, 1), TREND_WIDTH - 8);
	fprintf(t->h->f,
		"<text x=\"%d\" y=\"16\" text-anchor=\"end\">%+.1f %%</text><text x=\"%d\" "
		"y=\"%d\" text-anchor=\"end\">%+.1f %%</text><text x=\"%d\" y=\"%d\">block 1"
		"</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">block %" PRIu32 "</text>",
		TREND_LEFT - 4, (t->high - 1) * 100, TREND_LEFT - 4, TREND_HEIGHT - 20,
		(t->low - 1) * 100, TREND_LEFT + 4, TREND_HEIGHT - 2, TREND_WIDTH - 8,
		TREND_HEIGHT - 2, t->blocks);
	for (size_t k = 0; k < t->s->r.cells.nr && shown < TREND_SHOWN; k++)
		if (sample_warns(&t->f->cells[k]) && t->f->cells[k].mean != 0)
			trend_dots(t, k, shown++ % 8);
	trend_line(t);
	fputs("</svg>\n", t->h->f);
}

static void trend_list(const struct trend *t, size_t warned)
{
	size_t shown = 0;

	fputs("<ul class=\"trends\">", t->h->f);
	for (size_t k = 0; k < t->s->r.cells.nr && shown < TREND_SHOWN; k++) {
		const struct report_sample *v = &t->f->cells[k];

		if (!sample_warns(v))
			continue;
		fprintf(t->h->f,
			"<li><svg class=\"swatch\" aria-hidden=\"true\" viewBox=\"0 0 12 12\">"
			"<circle class=\"s%zu\" cx=\"6\" cy=\"6\" r=\"5\"/></svg><bdi>",
			shown++ % 8);
		html_text(t->h, t->s->r.cells.v[k].label);
		fputs("</bdi>: ", t->h->f);
		if (v->drifts)
			fprintf(t->h->f, "%+.1f %% from its first to its last run (p %.2g)",
				v->order.drift * 100, v->order.drift_p);
		if (v->clusters)
			fprintf(t->h->f,
				"%sruns resemble their neighbours (correlation %.2f, p %.2g): %zu "
				"runs say as much as %.3g",
				v->drifts ? "; " : "", v->order.lag1, v->order.lag1_p, v->nr,
				v->order.n_effective);
		fputs("</li>", t->h->f);
	}
	fputs("</ul>\n", t->h->f);
	if (warned > shown) {
		CLEANUP(xfreep)
		char *more = xasprintf("%zu more cells warn; --json has them.", warned - shown);

		html_note(t->h, more);
	}
}

void report_trend(const struct html_out *h, struct report_shown *s, const struct report_figure *f)
{
	CLEANUP(xfreep) char *words = NULL;
	struct trend t = { .h = h, .s = s, .f = f, .blocks = 1 };
	size_t checked = 0, warned = 0;

	for (size_t k = 0; k < s->r.cells.nr; k++) {
		checked += isfinite(f->cells[k].order.drift_p);
		warned += sample_warns(&f->cells[k]);
	}
	if (!checked) {
		html_note(h, "Trend: not checked, as that takes 8 runs of a cell.");
		return;
	}
	if (!warned)
		words = xasprintf("Trend: none of %zu %s changes from its first to its last run.",
				  checked, checked == 1 ? "cell" : "cells");
	else
		words = xasprintf("Trend: %zu of %zu %s; by chance it would be about %.2g. Blocks "
				  "cancel what is common to all cells.",
				  warned, checked, warned == 1 ? "cells warns" : "cells warn",
				  0.02 * (double)checked);
	html_note(h, words);
	if (!warned)
		return;
	trend_range(&t);
	trend_draw(&t);
	trend_list(&t, warned);
}
