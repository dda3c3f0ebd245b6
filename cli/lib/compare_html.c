/*
 * A comparison as one page: no script, no network, drawings as SVG with a title for each mark, in
 * light and dark.
 */
#include "cli.h"
#include "compare_show.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/report/html_out.h"

#define SIDES_SHOWN 8
#define POINTS_SHOWN 2000
#define BARS_SHOWN 20
#define ROWS_SHOWN 200
#define TEXT_SHOWN 200
#define WIDTH 560
#define HEIGHT 340
#define LEFT 70
#define BOTTOM 40
#define TOP 14
#define RIGHT 30
#define BAR 18

static const char style[] =
	"<meta name=\"viewport\" content=\"width=device-width\"><style>"
	":root{--ink:#202124;--line:#c4c7cc;--faster:#137333;--slower:#b3261e;--same:#5f6368;"
	"--unclear:#9a6700;--roof:#1a56c4}"
	"svg{max-width:100%;height:auto;font:12px Arial,Helvetica,sans-serif}"
	"svg text{fill:var(--ink)}.axis{stroke:var(--line);fill:none}"
	".roof{stroke:var(--roof);fill:none;stroke-width:1.5}"
	".faster{fill:var(--faster)}.slower{fill:var(--slower)}.same{fill:var(--same)}"
	".unclear{fill:var(--unclear)}.error{stroke:var(--ink)}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--line:#55585d;--faster:#6dd58c;"
	"--slower:#f2b8b5;--same:#9aa0a6;--unclear:#fdd663;--roof:#8ab4f8}"
	"body{background:#17181a!important;color:#e8eaed!important}"
	"th{background:#2a2c30!important}td,th{border-color:#55585d!important}}</style>";

/* ---- a drawing with logarithmic axes ---- */

struct plot {
	const struct html_out *h;
	double low[2], high[2]; /* log10 of x and y; low > high: nothing was added */
};

static bool plottable(double x, double y)
{
	return isfinite(x) && isfinite(y) && x > 0 && y > 0;
}

static void range_add(struct plot *p, double x, double y)
{
	double v[2] = { x, y };

	if (!plottable(x, y))
		return;
	for (int i = 0; i < 2; i++) {
		p->low[i] = fmin(p->low[i], floor(log10(v[i])));
		p->high[i] = fmax(p->high[i], fmax(ceil(log10(v[i])), p->low[i] + 1));
	}
}

static double x_of(const struct plot *p, double x)
{
	return LEFT + (log10(x) - p->low[0]) / (p->high[0] - p->low[0]) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct plot *p, double y)
{
	return HEIGHT - BOTTOM -
	       (log10(y) - p->low[1]) / (p->high[1] - p->low[1]) * (HEIGHT - BOTTOM - TOP);
}

static void svg_begin(const struct html_out *h, const char *title, double width, double height)
{
	fprintf(h->f, "<svg role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\"><title>", width,
		height, width);
	html_text(h, title);
	fputs("</title>\n", h->f);
}

static void decades_draw(const struct plot *p)
{
	FILE *f = p->h->f;
	char label[32];

	for (double d = p->low[0]; d <= p->high[0]; d++) {
		double x = x_of(p, pow(10, d));

		fprintf(f,
			"<path class=\"axis\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" "
			"text-anchor=\"middle\">%s</text>\n",
			x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 16,
			cli_si(pow(10, d), "", label));
	}
	for (double d = p->low[1]; d <= p->high[1]; d++) {
		double y = y_of(p, pow(10, d));

		fprintf(f,
			"<path class=\"axis\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
			"text-anchor=\"end\">%s</text>\n",
			LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, cli_si(pow(10, d), "", label));
	}
}

static void plot_begin(const struct plot *p, const char *title, const char *x, const char *y)
{
	svg_begin(p->h, title, WIDTH, HEIGHT);
	decades_draw(p);
	fprintf(p->h->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>",
		(WIDTH + LEFT) / 2, HEIGHT - 6, x);
	fprintf(p->h->f,
		"<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">%s"
		"</text>\n",
		(HEIGHT - BOTTOM) / 2, y);
}

static const char *text_of(const struct bench_table_row *r)
{
	return *r->key ? r->key : r->config;
}

static void point_draw(const struct plot *p, double x, double y, const char *kind,
		       const char *words, const struct bench_table_row *r)
{
	if (!plottable(x, y))
		return;
	fprintf(p->h->f,
		"<circle class=\"%s\" fill-opacity=\".75\" cx=\"%.1f\" cy=\"%.1f\" "
		"r=\"4\"><title>%s",
		kind, x_of(p, x), y_of(p, y), words);
	html_text(p->h, text_of(r));
	fputs("</title></circle>\n", p->h->f);
}

static struct plot plot_new(const struct html_out *h)
{
	return (struct plot){ h, { INFINITY, INFINITY }, { -INFINITY, -INFINITY } };
}

static bool plot_empty(const struct plot *p)
{
	return !(p->low[0] < p->high[0] && p->low[1] < p->high[1]);
}

/* ---- A against B ---- */

static void scatter(const struct html_out *h, const struct bench_comparison *c,
		    const struct bench_versus *v, const char *name)
{
	CLEANUP(xfreep)
	char *title = xasprintf("time of a call with A and with %s, in µs; below "
				"the line %s is faster",
				name, name);
	CLEANUP(xfreep) char *y = xasprintf("µs with %s", name);
	struct plot p = plot_new(h);
	size_t shown = 0;
	double low, high;

	for (size_t i = 0; i < c->pairs.nr; i++)
		if (c->pairs.v[i].side == v->side)
			range_add(&p, c->pairs.v[i].a->mean, c->pairs.v[i].b->mean);
	if (plot_empty(&p))
		return;
	low = p.low[0] = p.low[1] = fmin(p.low[0], p.low[1]);
	high = p.high[0] = p.high[1] = fmax(p.high[0], p.high[1]);
	html_heading(h, 2, title);
	plot_begin(&p, title, "µs with A", y);
	fprintf(h->f, "<path class=\"axis\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(&p, pow(10, low)),
		y_of(&p, pow(10, low)), x_of(&p, pow(10, high)), y_of(&p, pow(10, high)));
	for (size_t i = 0; i < c->pairs.nr && shown < POINTS_SHOWN; i++) {
		const struct bench_pair *q = &c->pairs.v[i];
		char words[120];

		if (q->side != v->side)
			continue;
		shown++;
		snprintf(words, sizeof(words),
			 "%s: %.4g µs and %.4g µs, ratio %.3f: ", bench_verdict_name(q->verdict),
			 q->a->mean, q->b->mean, q->c.ratio);
		point_draw(&p, q->a->mean, q->b->mean, bench_verdict_name(q->verdict), words, q->a);
	}
	fputs("</svg>\n", h->f);
}

/* ---- roofline ---- */

struct roof {
	double gflops, gbps; /* 0 unknown */
	bool known;          /* from peak_share, not from what was seen */
};

static void roof_raise(struct roof *r, double gflops, double gbps)
{
	r->gflops = fmax(r->gflops, gflops);
	r->gbps = fmax(r->gbps, gbps);
}

/* Of all rows of all sides: a call that has half of what it could have tells what that is. */
static struct roof roof_of(const struct bench_tables *t)
{
	struct roof seen = { 0 }, known = { .known = true };

	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct bench_table_row *r = &t->rows.v[i];

		if (r->status != BENCH_OK || !plottable(r->gflops, r->gbps))
			continue;
		roof_raise(&seen, r->gflops, r->gbps);
		if (r->peak_share > 0)
			roof_raise(&known, r->gflops / r->peak_share, r->gbps / r->peak_share);
	}
	return known.gflops > 0 ? known : seen;
}

static void roof_draw(const struct plot *p, const struct roof *r)
{
	double ridge = r->gflops / r->gbps, left = pow(10, p->low[0]), right = pow(10, p->high[0]);
	double from = fmax(left, pow(10, p->low[1]) / r->gbps);

	if (ridge > left && ridge < right)
		fprintf(p->h->f,
			"<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"><title>%.4g "
			"GFLOP/s, %.4g GB/s</title></path>\n",
			x_of(p, from), y_of(p, from * r->gbps), x_of(p, ridge), y_of(p, r->gflops),
			x_of(p, right), r->gflops, r->gbps);
}

static void roofline(const struct html_out *h, const struct bench_tables *t)
{
	struct roof roof = roof_of(t);
	struct plot p = plot_new(h);
	size_t shown = 0;

	for (size_t i = 0; i < t->rows.nr; i++)
		if (t->rows.v[i].status == BENCH_OK)
			range_add(&p, t->rows.v[i].gflops / t->rows.v[i].gbps, t->rows.v[i].gflops);
	if (plot_empty(&p) || !plottable(roof.gflops, roof.gbps))
		return;
	range_add(&p, roof.gflops / roof.gbps, roof.gflops);
	html_heading(h, 2, "Roofline");
	html_note(h, roof.known ? "The roof is the machine's, by peak_share of the tables."
				: "No peaks are known: the roof is the best that was seen.");
	plot_begin(&p, "roofline: arithmetic intensity and speed of each measured call",
		   "FLOP per byte", "GFLOP/s");
	roof_draw(&p, &roof);
	for (size_t i = 0; i < t->rows.nr && shown < POINTS_SHOWN; i++) {
		const struct bench_table_row *r = &t->rows.v[i];
		char words[120], name[16];

		if (r->status != BENCH_OK || !bench_tables_counts(t, r))
			continue;
		shown++;
		snprintf(words, sizeof(words),
			 "%s: %.4g GFLOP/s, %.4g GB/s: ", compare_side_name(r->side, name),
			 r->gflops, r->gbps);
		point_draw(&p, r->gflops / r->gbps, r->gflops, r->side ? "unclear" : "same", words,
			   r);
	}
	fputs("</svg>\n", h->f);
}

/* ---- effects ---- */

static void bar_draw(const struct html_out *h, const struct bench_pair *p, double scale, size_t at)
{
	double middle = (double)LEFT + 200, y = (double)at * BAR + TOP;
	double length = p->seconds.value / scale * 200;
	char seconds[32];

	fprintf(h->f, "<g><title>%s: %s%s: ", bench_verdict_name(p->verdict),
		p->seconds.value < 0 ? "-" : "+", cli_si(fabs(p->seconds.value), "s", seconds));
	html_text(h, text_of(p->a));
	fprintf(h->f,
		"</title><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
		bench_verdict_name(p->verdict), length < 0 ? middle + length : middle, y,
		fmax(fabs(length), 0.5), BAR - 6);
	if (isfinite(p->seconds.low))
		fprintf(h->f, "<path class=\"error\" d=\"M%.1f %.1fH%.1f\"/>",
			middle + fmax(p->seconds.low / scale * 200, -middle), y + (BAR - 6) / 2.0,
			middle + fmin(p->seconds.high / scale * 200, 240));
	fprintf(h->f, "<text x=\"%.0f\" y=\"%.1f\">%zu</text></g>\n", middle + 250, y + 10, at + 1);
}

static double largest_effect(const struct bench_comparison *c, const struct bench_versus *v)
{
	double scale = 0;

	for (size_t i = 0; i < c->pairs.nr; i++)
		if (c->pairs.v[i].side == v->side)
			scale = fmax(scale, fabs(c->pairs.v[i].seconds.value));
	return scale;
}

/* The largest savings and the largest costs, which stand at the two ends. */
static void bars(const struct html_out *h, const struct bench_comparison *c,
		 const struct bench_versus *v, const char *name)
{
	CLEANUP(xfreep)
	char *title =
		xasprintf("what %s would change in the model, in s: to the left it saves", name);
	double scale = largest_effect(c, v);
	size_t fine = v->pairs - v->refused, nr = fine < BARS_SHOWN ? fine : BARS_SHOWN, at = 0,
	       seen = 0;

	if (!(scale > 0) || !nr)
		return;
	html_heading(h, 2, title);
	if (nr < fine)
		html_note(h, "The first and the last ten calls of the table.");
	svg_begin(h, title, WIDTH, (double)nr * BAR + TOP + 6);
	for (size_t i = 0; i < c->pairs.nr; i++) {
		const struct bench_pair *p = &c->pairs.v[i];

		if (p->side != v->side || isnan(p->seconds.value))
			continue;
		if (seen < nr - nr / 2 || seen >= fine - nr / 2)
			bar_draw(h, p, scale, at++);
		seen++;
	}
	fputs("</svg>\n", h->f);
}

/* ---- the table ---- */

static void number_cell(const struct html_out *h, const char *fmt, double v)
{
	char text[40] = "";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (isfinite(v))
		snprintf(text, sizeof(text), fmt, v);
#pragma GCC diagnostic pop
	html_cell(h, "td", text, true);
}

static void pair_row(const struct html_out *h, const struct bench_pair *p, size_t rank)
{
	char text[64], name[16];

	html_row_begin(h);
	number_cell(h, "%.0f", (double)rank);
	html_cell(h, "td", text_of(p->a), false);
	number_cell(h, "%.0f", (double)(p->a->calls ? p->a->calls : p->b->calls));
	number_cell(h, "%.4g", p->a->mean);
	number_cell(h, "%.4g", p->b->mean);
	number_cell(h, "%.3f", p->c.ratio);
	*text = 0;
	if (isfinite(p->c.low))
		snprintf(text, sizeof(text), "%.3f to %.3f", p->c.low, p->c.high);
	html_cell(h, "td", text, true);
	number_cell(h, "%.2g", p->p_adj);
	html_cell(h, "td", p->refused ? "refused" : bench_verdict_name(p->verdict), false);
	*text = 0;
	if (p->winner != UINT32_MAX)
		snprintf(text, sizeof(text), "%s%s", compare_side_name(p->winner, name),
			 p->tied ? "=" : "");
	html_cell(h, "td", text, false);
	number_cell(h, "%+.3g", p->seconds.value);
	html_cell(h, "td", p->reason ? p->reason : "", false);
	html_row_end(h);
}

static void pairs_table(const struct html_out *h, const struct bench_comparison *c,
			const struct bench_versus *v)
{
	char name[16], mean[24];
	const char *const head[] = {
		"",         "call", "calls",   "A µs",   mean,       "ratio",
		"interval", "p",    "verdict", "winner", "effect s", "reason"
	};
	size_t shown = 0;

	snprintf(mean, sizeof(mean), "%s µs", compare_side_name(v->side, name));
	html_heading(h, 2, "Calls");
	html_table(h);
	html_row(h, "th", head, ARRAY_LEN(head));
	for (size_t i = 0; i < c->pairs.nr; i++)
		if (c->pairs.v[i].side == v->side && shown++ < ROWS_SHOWN)
			pair_row(h, &c->pairs.v[i], shown);
	html_table_end(h);
	if (shown > ROWS_SHOWN) {
		CLEANUP(xfreep) char *more = xasprintf("… and %zu more", shown - ROWS_SHOWN);

		html_note(h, more);
	}
}

static void left_table(const struct html_out *h, const struct bench_comparison *c,
		       const struct bench_versus *v)
{
	static const char *const head[] = { "call", "has a time in", "the other side" };
	static const char *const where[] = { "A", "B", "neither" };
	size_t shown = 0;

	if (!(v->left[BENCH_ONLY_A] + v->left[BENCH_ONLY_B] + v->left[BENCH_NEITHER]))
		return;
	html_heading(h, 2, "Without a time in both");
	html_table(h);
	html_row(h, "th", head, ARRAY_LEN(head));
	for (size_t i = 0; i < c->left.nr; i++) {
		const struct bench_left *l = &c->left.v[i];
		CLEANUP(xfreep)
		char *why = xasprintf("%s%s%s", l->why, *l->detail ? ": " : "", l->detail);
		const char *cells[] = { text_of(l->row), where[l->in], why };

		if (l->side == v->side && shown++ < ROWS_SHOWN)
			html_row(h, "td", cells, ARRAY_LEN(cells));
	}
	html_table_end(h);
}

/* ---- the page ---- */

static void sides_table(const struct html_out *h, const struct bench_tables *t)
{
	static const char *const head[] = { "side", "back end", "file", "version", "device" };

	html_table(h);
	html_row(h, "th", head, ARRAY_LEN(head));
	for (uint32_t i = 0; i < t->sides.nr; i++) {
		const struct bench_table_side *s = &t->sides.v[i];
		char name[16];
		const char *cells[] = { compare_side_name(i, name), s->back_end,
					t->files.v[s->file].path, s->version, s->device };

		html_row(h, "td", cells, ARRAY_LEN(cells));
	}
	html_table_end(h);
}

static void predicted(const struct html_out *h, const struct bench_versus *v)
{
	CLEANUP(xfreep) char *words = NULL;
	char a[32], b[32];

	if (isnan(v->seconds.value))
		return;
	words = xasprintf("Predicted: these calls take %s instead of %s: %+.1f %% (%+.1f to "
			  "%+.1f)%s.",
			  cli_si(v->b_s, "s", b), cli_si(v->a_s, "s", a), v->relative.value * 100,
			  v->relative.low * 100, v->relative.high * 100,
			  v->with_energy ? ", energy in the JSON output" : "");
	html_note(h, words);
}

void compare_html(const struct bench_tables *t, const struct bench_comparison *c, FILE *f)
{
	struct html_out h = { .f = f, .max_text = TEXT_SHOWN };

	html_begin(&h, "Library calls compared", style);
	html_heading(&h, 1, "Library calls compared");
	sides_table(&h, t);
	for (size_t i = 0; i < c->reasons.nr; i++)
		html_note(&h, c->reasons.v[i]);
	roofline(&h, t);
	for (size_t i = 0; i < c->versus.nr && i < SIDES_SHOWN; i++) {
		const struct bench_versus *v = &c->versus.v[i];
		char name[16];
		CLEANUP(xfreep)
		char *title = xasprintf("%s against A: %s", compare_side_name(v->side, name),
					v->comparable ? bench_verdict_name(v->verdict)
						      : "not comparable");

		html_heading(&h, 1, title);
		predicted(&h, v);
		scatter(&h, c, v, name);
		bars(&h, c, v, name);
		pairs_table(&h, c, v);
		left_table(&h, c, v);
	}
	if (c->versus.nr > SIDES_SHOWN)
		html_note(&h, "Further sides are in the other outputs.");
	html_end(&h);
}
