/*
 * log_plot: one drawing with two logarithmic axes, as SVG inside a page of html_out.
 *
 *	struct log_plot p = log_plot_new(&h, &x, &y);
 *	log_plot_include(&p, 2.5, 80) …		widens the axes, to whole decades
 *	log_plot_is_empty(&p)			nothing was added
 *	log_plot_begin(&p, "title")
 *	log_plot_mark(&p, …) …			lines by log_plot_x and log_plot_y
 *	log_plot_end(&p)
 *
 * The drawing is LOG_PLOT_WIDTH by LOG_PLOT_HEIGHT units; a page may scale it by 0.8 to 1.4, so
 * that its letters stay readable. Texts are escaped. Points that cannot be shown (0, negative, not
 * finite: log_plot_can) are left out. An axis of one or two decades has labels at 2 and 5, too;
 * where there are many decades, not each one has a label.
 */
#ifndef CLI_LOG_PLOT_H
#define CLI_LOG_PLOT_H

#include "profrig/report/html_out.h"

#define LOG_PLOT_WIDTH 400
#define LOG_PLOT_HEIGHT 380

struct log_axis {
	const char *title;
	const char *unit; /* behind the prefix: "s"; NULL: numbers without a prefix */
	int power;        /* values are in 10^power units: -6 for µs of "s" */
};

struct log_plot {
	const struct html_out *h;
	const struct log_axis *axis[2]; /* x, y */
	double low[2], high[2];         /* log10 of the values at the ends; low > high: empty */
	bool dense;                     /* marks are smaller */
};

/* Shapes tell what colours tell. All have one middle and one size, or so. */
#define LOG_PLOT_SHAPES 5
enum log_plot_shape { LOG_CIRCLE, LOG_UP, LOG_SQUARE, LOG_DIAMOND, LOG_DOWN };

struct log_plot log_plot_new(const struct html_out *h, const struct log_axis *x,
			     const struct log_axis *y);
bool log_plot_can(double x, double y);
void log_plot_include(struct log_plot *p, double x, double y);
bool log_plot_is_empty(const struct log_plot *p);
/* Both axes from the lower low to the higher high. */
void log_plot_equal_axes(struct log_plot *p);

void log_plot_begin(const struct log_plot *p, const char *title);
void log_plot_end(const struct log_plot *p);
/* In units of the drawing, from log10 of a value. */
double log_plot_x(const struct log_plot *p, double log_x);
double log_plot_y(const struct log_plot *p, double log_y);
/* classes: of the style sheet; words, then name, are the mark's title. */
void log_plot_mark(const struct log_plot *p, double x, double y, const char *classes,
		   enum log_plot_shape shape, const char *words, const char *name);
/* The same mark between other words, for a legend. */
void log_plot_swatch(const struct html_out *h, const char *classes, enum log_plot_shape shape);

#endif
