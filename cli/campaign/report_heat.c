/*
 * The matrix of a campaign as a heat map: a table whose cells are coloured by their verdict and by
 * how much they have changed. Colour says nothing that the words in the cell do not.
 */
#include "cli.h"
#include "compare_plots.h"
#include "diff_show.h"
#include "report_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROWS_SHOWN 200

/* "faster2": of a verdict, and how large the change is. */
static void shade_put(FILE *f, const char *word, const struct report_against *a)
{
	double size = isfinite(a->ratio) && a->ratio > 0 ? fabs(log(a->ratio)) : 0;
	int step = size > 0.25 ? 3 : size > 0.08 ? 2 : 1;

	if (!strcmp(word, "slower") || !strcmp(word, "faster"))
		fprintf(f, "heat h-%s%d", report_class(word), step);
	else
		fprintf(f, "heat h-%s", report_class(word));
}

static void change_put(const struct html_out *h, const struct report_against *a)
{
	char text[64];

	if (!a->verdict || !isfinite(a->ratio))
		return;
	fprintf(h->f, "<div>%s</div>", diff_ratio(a->ratio, text));
	if (isfinite(a->low) && isfinite(a->high))
		fprintf(h->f, "<div class=\"interval\">%s</div>",
			diff_ratios(a->low, a->high, text));
}

static void count_put(const struct html_out *h, const struct report_cell *c, size_t n)
{
	if (n < c->runs)
		fprintf(h->f, "<span class=\"few\">%zu of %" PRIu32 " runs</span>", n, c->runs);
	else
		fprintf(h->f, "%zu %s", n, n == 1 ? "run" : "runs");
}

static void cell_put(const struct html_out *h, const struct report_shown *s,
		     const struct report_figure *f, uint32_t at)
{
	const struct report_sample *v = &f->cells[at];
	const char *word = report_word(s, f, at);
	char text[240];

	fputs("<div class=\"", h->f);
	shade_put(h->f, word, &v->against);
	fputs("\" title=\"", h->f);
	html_text(h, s->r.cells.v[at].label);
	if (isfinite(v->mean)) {
		fprintf(h->f, ": mean %.9g ", v->mean);
		html_text(h, f->unit);
	}
	fprintf(h->f, "\"><a href=\"#f%td-%" PRIu32 "\">", f - s->r.figures.v, at);
	html_text(h, v->nr ? report_value(f, v->mean, text) : "–");
	fputs("</a>", h->f);
	change_put(h, &v->against);
	fprintf(h->f, "<div class=\"word\"><b>%s</b> · ", word);
	count_put(h, &s->r.cells.v[at], v->nr);
	fputs("</div></div>", h->f);
}

static void place_put(const struct html_out *h, const struct report_shown *s,
		      const struct report_figure *f, uint32_t at)
{
	fputs("<td class=\"place\">", h->f);
	if (at == REPORT_NONE)
		fputs("<div class=\"heat h-hole\" title=\"no such cell\">·</div>", h->f);
	for (; at != REPORT_NONE; at = s->grid.next[at])
		cell_put(h, s, f, at);
	fputs("</td>", h->f);
}

/* ---- a facet ---- */

static void heads_put(const struct html_out *h, const struct report_grid *g)
{
	bool named = g->column < g->axes.nr;

	if (named) {
		fprintf(h->f, "<tr><th colspan=\"%zu\"></th><th class=\"axis\" colspan=\"%zu\">",
			g->axes.nr > 1 ? g->axes.nr - 1 : 1, g->columns);
		html_text(h, g->axes.v[g->column].name);
		fputs("</th></tr>\n", h->f);
	}
	fputs("<tr>", h->f);
	for (size_t i = 0; i < g->axes.nr; i++)
		if (i != g->column) {
			fputs("<th class=\"axis\" scope=\"col\">", h->f);
			html_text(h, g->axes.v[i].name);
			fputs("</th>", h->f);
		}
	if (g->axes.nr == (named ? 1 : 0))
		fputs("<th></th>", h->f);
	for (size_t i = 0; i < g->columns; i++) {
		fputs("<th scope=\"col\">", h->f);
		html_text(h, named ? g->axes.v[g->column].values.v[i] : "value");
		fputs("</th>", h->f);
	}
	fputs("</tr>\n", h->f);
}

static void row_put(const struct html_out *h, const struct report_shown *s,
		    const struct report_figure *f, const struct grid_facet *facet, size_t row)
{
	const struct report_grid *g = &s->grid;
	size_t names = 0;

	fputs("<tr>", h->f);
	for (size_t i = 0; i < g->axes.nr; i++)
		if (i != g->column) {
			const struct grid_axis *a = &g->axes.v[i];

			fputs("<th scope=\"row\"><bdi>", h->f);
			html_text(h, a->values.v[a->of_cell[facet->rows.v[row].first]]);
			fputs("</bdi></th>", h->f);
			names++;
		}
	if (!names)
		fputs("<th scope=\"row\"></th>", h->f);
	for (size_t i = 0; i < g->columns; i++)
		place_put(h, s, f, facet->at[row * g->columns + i]);
	fputs("</tr>\n", h->f);
}

static bool facet_has_values(const struct report_shown *s, const struct report_figure *f,
			     const struct grid_facet *facet)
{
	for (size_t i = 0; i < facet->rows.nr * s->grid.columns; i++)
		for (uint32_t at = facet->at[i]; at != REPORT_NONE; at = s->grid.next[at])
			if (f->cells[at].nr || s->r.cells.v[at].committed < s->r.cells.v[at].runs)
				return true;
	return false;
}

static void facet_put(const struct html_out *h, const struct report_shown *s,
		      const struct report_figure *f, const struct grid_facet *facet)
{
	if (s->grid.facets.nr > 1)
		html_heading(h, 3, facet->model);
	if (!facet_has_values(s, f, facet)) {
		html_note(h, "No run has this figure.");
		return;
	}
	/* a tall matrix has one line for each cell */
	fprintf(h->f,
		"<div class=\"scroll heatmap%s\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Matrix\"><table>\n",
		s->grid.columns <= 3 && facet->rows.nr > 8 ? " tall" : "");
	heads_put(h, &s->grid);
	for (size_t i = 0; i < facet->rows.nr && i < ROWS_SHOWN; i++)
		row_put(h, s, f, facet, i);
	fputs("</table></div>\n", h->f);
	if (facet->rows.nr > ROWS_SHOWN) {
		CLEANUP(xfreep)
		char *more = xasprintf("%zu more rows are in --json.", facet->rows.nr - ROWS_SHOWN);

		html_note(h, more);
	}
}

void report_heat(const struct html_out *h, struct report_shown *s, const struct report_figure *f)
{
	static const struct {
		const char *class, *words;
	} legend[] = { { "h-faster2", "faster: better" },
		       { "h-slower2", "slower: worse" },
		       { "h-same", "same" },
		       { "h-unclear", "unclear" },
		       { "h-baseline", "baseline" },
		       { "h-refused", "not comparable" } };

	for (size_t i = 0; i < s->grid.facets.nr; i++)
		facet_put(h, s, f, &s->grid.facets.v[i]);
	if (s->g.overall) {
		fputs("<ul class=\"legend\">", h->f);
		for (size_t i = 0; i < ARRAY_LEN(legend); i++)
			fprintf(h->f, "<li><span class=\"key heat %s\"></span>%s</li>",
				legend[i].class, legend[i].words);
		fputs("<li>the darker, the larger the change</li></ul>\n", h->f);
	}
	if (s->grid.same.nr) {
		CLEANUP(xfreep) char *same = strvec_join(&s->grid.same, ", ");
		CLEANUP(xfreep) char *words = xasprintf("All cells: %s.", same);

		html_note(h, words);
	}
	if (f->mixed)
		html_note(h, "Some runs give this figure in another unit: these values do not "
			     "compare.");
}
