#include "log_plot.h"

#include <math.h>
#include <stdio.h>

#define LEFT 62
#define RIGHT 18 /* half of the last label is wider than INSET */
#define TOP 10
#define BOTTOM 42
#define INSET 6 /* from the frame to the first and the last value: marks stay inside */
#define LABELS_MAX 7
#define DENSE_SIZE 0.6

struct log_plot log_plot_new(const struct html_out *h, const struct log_axis *x,
			     const struct log_axis *y)
{
	return (struct log_plot){ .h = h,
				  .axis = { x, y },
				  .low = { INFINITY, INFINITY },
				  .high = { -INFINITY, -INFINITY } };
}

bool log_plot_can(double x, double y)
{
	return isfinite(x) && isfinite(y) && x > 0 && y > 0;
}

void log_plot_include(struct log_plot *p, double x, double y)
{
	double v[2] = { x, y };

	if (!log_plot_can(x, y))
		return;
	for (int i = 0; i < 2; i++) {
		p->low[i] = fmin(p->low[i], floor(log10(v[i])));
		p->high[i] = fmax(p->high[i], fmax(ceil(log10(v[i])), p->low[i] + 1));
	}
}

bool log_plot_is_empty(const struct log_plot *p)
{
	return !(p->low[0] < p->high[0]);
}

void log_plot_equal_axes(struct log_plot *p)
{
	p->low[0] = p->low[1] = fmin(p->low[0], p->low[1]);
	p->high[0] = p->high[1] = fmax(p->high[0], p->high[1]);
}

double log_plot_x(const struct log_plot *p, double log_x)
{
	double from = LEFT + INSET, to = LOG_PLOT_WIDTH - RIGHT - INSET;

	return from + (log_x - p->low[0]) / (p->high[0] - p->low[0]) * (to - from);
}

double log_plot_y(const struct log_plot *p, double log_y)
{
	double from = LOG_PLOT_HEIGHT - BOTTOM - INSET, to = TOP + INSET;

	return from + (log_y - p->low[1]) / (p->high[1] - p->low[1]) * (to - from);
}

/* ---- axes ---- */

/* digit · 10^decade: "20 µs", "0.05", "1e-7" where there is no prefix. */
static char *tick_text(const struct log_axis *a, int digit, int decade, char buf[32])
{
	static const char *const prefixes[] = { "n", "µ", "m", "", "k", "M", "G", "T" };
	static const int powers[] = { 1, 10, 100 };
	int power = decade + a->power, step = (power - (power < 0 ? 2 : 0)) / 3;

	if (!a->unit && decade >= -3 && decade <= 4)
		snprintf(buf, 32, "%g", digit * pow(10, decade));
	else if (a->unit && step >= -3 && step <= 4)
		snprintf(buf, 32, "%d %s%s", digit * powers[power - 3 * step], prefixes[step + 3],
			 a->unit);
	else
		snprintf(buf, 32, "%de%d%s%s", digit, power, a->unit ? " " : "",
			 a->unit ? a->unit : "");
	return buf;
}

static void tick_draw(const struct log_plot *p, int axis, int digit, int decade)
{
	FILE *f = p->h->f;
	char label[32];
	double at = decade + log10(digit), x = log_plot_x(p, at), y = log_plot_y(p, at);

	if (axis == 0)
		fprintf(f,
			"<path class=\"grid\" d=\"M%.2f %dV%d\"/><text class=\"tick-x\" "
			"x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">",
			x, TOP, LOG_PLOT_HEIGHT - BOTTOM, x, LOG_PLOT_HEIGHT - BOTTOM + 15);
	else
		fprintf(f,
			"<path class=\"grid\" d=\"M%d %.2fH%d\"/><text class=\"tick-y\" x=\"%d\" "
			"y=\"%.2f\" text-anchor=\"end\">",
			LEFT, y, LOG_PLOT_WIDTH - RIGHT, LEFT - 5, y + 4);
	html_text(p->h, tick_text(p->axis[axis], digit, decade, label));
	fputs("</text>\n", f);
}

static void ticks_draw(const struct log_plot *p, int axis)
{
	int low = (int)p->low[axis], high = (int)p->high[axis];
	int step = (high - low) / LABELS_MAX + 1;

	for (int decade = low; decade <= high; decade += step) {
		tick_draw(p, axis, 1, decade);
		if (high - low > 2 || decade == high)
			continue;
		tick_draw(p, axis, 2, decade);
		tick_draw(p, axis, 5, decade);
	}
}

static void titles_draw(const struct log_plot *p)
{
	FILE *f = p->h->f;

	fprintf(f, "<text class=\"title-x\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
		(LOG_PLOT_WIDTH - RIGHT + LEFT) / 2, LOG_PLOT_HEIGHT - 8);
	html_text(p->h, p->axis[0]->title);
	fprintf(f,
		"</text><text class=\"title-y\" transform=\"translate(12 %d) rotate(-90)\" "
		"text-anchor=\"middle\">",
		(LOG_PLOT_HEIGHT - BOTTOM + TOP) / 2);
	html_text(p->h, p->axis[1]->title);
	fputs("</text>\n", f);
}

void log_plot_begin(const struct log_plot *p, const char *title)
{
	fprintf(p->h->f, "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %d %d\"><title>",
		LOG_PLOT_WIDTH, LOG_PLOT_HEIGHT);
	html_text(p->h, title);
	fprintf(p->h->f,
		"</title><rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
		LEFT, TOP, LOG_PLOT_WIDTH - LEFT - RIGHT, LOG_PLOT_HEIGHT - TOP - BOTTOM);
	ticks_draw(p, 0);
	ticks_draw(p, 1);
	titles_draw(p);
}

void log_plot_end(const struct log_plot *p)
{
	fputs("</svg>\n", p->h->f);
}

/* ---- marks ---- */

/* All of one area or so, each with its middle at x, y. */
static void shape_draw(FILE *f, const char *classes, enum log_plot_shape shape, double x, double y,
		       double size)
{
	static const char *const paths[LOG_PLOT_SHAPES] = {
		[LOG_CIRCLE] = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
		[LOG_UP] = "M-4.6 4h9.2l-4.6-8z",
		[LOG_SQUARE] = "M-3.5-3.5h7v7h-7z",
		[LOG_DIAMOND] = "M0-4.8l4.8 4.8l-4.8 4.8l-4.8-4.8z",
		[LOG_DOWN] = "M-4.6-4h9.2l-4.6 8z",
	};

	fprintf(f, "<path class=\"mark %s\" transform=\"translate(%.2f %.2f) scale(%g)\" d=\"%s\">",
		classes, x, y, size, paths[shape]);
}

void log_plot_mark(const struct log_plot *p, double x, double y, const char *classes,
		   enum log_plot_shape shape, const char *words, const char *name)
{
	if (!log_plot_can(x, y))
		return;
	shape_draw(p->h->f, classes, shape, log_plot_x(p, log10(x)), log_plot_y(p, log10(y)),
		   p->dense ? DENSE_SIZE : 1);
	fputs("<title>", p->h->f);
	html_text(p->h, words);
	html_text(p->h, name);
	fputs("</title></path>\n", p->h->f);
}

void log_plot_swatch(const struct html_out *h, const char *classes, enum log_plot_shape shape)
{
	fputs("<svg class=\"swatch\" aria-hidden=\"true\" viewBox=\"-6 -6 12 12\">", h->f);
	shape_draw(h->f, classes, shape, 0, 0, 1);
	fputs("</path></svg>", h->f);
}
