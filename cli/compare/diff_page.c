/*
 * A comparison of runs as one page: no script, no network. It looks as the page of lib compare
 * does, whose style sheet it has.
 */
#include "cli.h"
#include "compare_plots.h"
#include "diff_show.h"
#include "trace_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROWS_SHOWN 200
#define VERSUS_SHOWN 40
#define TEXT_SHOWN 300

/* clang-format off */
static const char more_style[] =
	"<style>td.call{min-width:18ch}.new,.gone{color:var(--accent);fill:var(--accent)}"
	"svg.flame{display:block;width:100%;min-width:720px}"
	"svg.flame text{font-size:11px;fill:var(--text);pointer-events:none}"
	"svg.flame rect{stroke:var(--card);stroke-width:.5}"
	".more{fill:var(--bad)}.less{fill:var(--s0)}.even{fill:var(--muted)}"
	".widths .of-a,.widths .of-change,.to-a:checked~.of-b,.to-change:checked~.of-b{display:"
	"none}.to-a:checked~.of-a,.to-change:checked~.of-change{display:block}"
	".widths>label{margin:0 14px 0 4px}.key{color:var(--muted)}"
	".key .swatch{display:inline-block;width:12px;height:12px;border-radius:3px;"
	"margin:0 4px 0 12px;vertical-align:-1px;opacity:.6}"
	".grew{background:var(--bad)}.shrank{background:var(--s0)}.same{background:var(--muted)}"
	"@media print{.widths>input,.widths>label{display:none}}</style>";
/* clang-format on */

/* ---- rows ---- */

static void figure_put(const struct html_out *h, double v, const char *unit)
{
	char text[96], exact[96];

	if (!isfinite(v)) {
		html_cell(h, "td", "–", true);
		return;
	}
	snprintf(exact, sizeof(exact), "%.9g %.40s", v, unit);
	html_figure(h, "", diff_value(v, unit, text), exact);
}

static void difference_put(const struct html_out *h, const char *word, const struct compare_row *r)
{
	char text[96], exact[96], with_sign[100];

	if (!isfinite(r->delta)) {
		html_cell(h, "td", "–", true);
		return;
	}
	snprintf(exact, sizeof(exact), "%+.9g %.40s", r->delta, r->unit);
	snprintf(with_sign, sizeof(with_sign), "%s%s", r->delta < 0 ? "-" : "+",
		 diff_value(fabs(r->delta), r->unit, text));
	html_figure(h, word, with_sign, exact);
}

static void row_put(const struct html_out *h, const struct comparison *c,
		    const struct compare_row *r, size_t rank)
{
	const char *word = r->refused ? "refused" : compare_verdict_name(r->verdict);
	char text[96], method[64];

	html_row_begin(h);
	snprintf(text, sizeof(text), "%zu", rank);
	html_cell(h, "td", text, true);
	fputs("<td class=\"call\"><bdi>", h->f);
	html_text(h, diff_row_text(r));
	fprintf(h->f, "</bdi></td><td class=\"%s\">%s</td>", word, word);
	html_cell(h, "td", diff_change(r, text), true);
	html_cell(h, "td", diff_interval(r, text), true);
	snprintf(text, sizeof(text), r->p_adj < 0.001 ? "< 0.001" : "%.3f", r->p_adj);
	html_cell(h, "td", isfinite(r->p_adj) ? text : "–", true);
	figure_put(h, r->a.mean, r->unit);
	figure_put(h, r->b.mean, r->unit);
	difference_put(h, word, r);
	snprintf(text, sizeof(text), "%" PRIu32 " + %" PRIu32, r->a.n, r->b.n);
	html_cell(h, "td", text, true);
	html_cell(h, "td", compare_method(r, c->o.declared, method), false);
	html_row_end(h);
}

static void head_put(const struct html_out *h, const struct compare_versus *v)
{
	const struct {
		const char *text;
		bool right;
	} cells[] = { { "#", true },       { "figure", false },  { "verdict", false },
		      { "change", true },  { "interval", true }, { "p", true },
		      { v->name_a, true }, { v->name_b, true },  { "difference", true },
		      { "runs", true },    { "method", false } };

	html_row_begin(h);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		html_cell(h, "th", cells[i].text, cells[i].right);
	html_row_end(h);
}

static void group_put(const struct html_out *h, const struct diff *d, size_t from, size_t to)
{
	const struct compare_row *first = &d->c->rows.v[from];
	const char *title = first->of_table ? first->name : "Metrics";

	html_heading(h, 3, title);
	compare_table_begin(h, title);
	head_put(h, &d->c->versus.v[first->versus]);
	for (size_t i = from; i < to && i < from + ROWS_SHOWN; i++)
		row_put(h, d->c, &d->c->rows.v[i], i - from + 1);
	compare_table_end(h);
	if (to - from > ROWS_SHOWN) {
		CLEANUP(xfreep)
		char *more = xasprintf("… and %zu more, which --json has.", to - from - ROWS_SHOWN);

		html_note(h, more);
	}
}

static bool same_group(const struct compare_row *a, const struct compare_row *b)
{
	return a->versus == b->versus && a->of_table == b->of_table &&
	       (!a->of_table || a->name == b->name);
}

static void groups_put(const struct html_out *h, const struct diff *d, uint32_t versus)
{
	for (size_t i = 0, to; i < d->c->rows.nr; i = to) {
		const struct compare_row *r = &d->c->rows.v[i];

		for (to = i + 1; to < d->c->rows.nr && same_group(r, &d->c->rows.v[to]);)
			to++;
		if (r->versus == versus)
			group_put(h, d, i, to);
	}
}

/* ---- the page ---- */

static void notes_put(const struct html_out *h, const struct strvec *v)
{
	for (size_t i = 0; i < v->nr && i < ROWS_SHOWN; i++)
		html_note(h, v->v[i]);
}

static void versus_put(const struct html_out *h, const struct diff *d, uint32_t at)
{
	const struct compare_versus *v = &d->c->versus.v[at];
	CLEANUP(xfreep)
	char *title =
		xasprintf("%s against %s: %s", v->name_b, v->name_a,
			  v->comparable.hard ? "not comparable" : compare_verdict_name(v->verdict));
	CLEANUP(xfreep) char *words = diff_versus_text(v);

	fputs("<section class=\"versus\">\n", h->f);
	html_heading(h, 2, title);
	html_note(h, words);
	notes_put(h, &v->comparable.reasons);
	trace_page(h, v);
	diff_flames(h, v, at);
	groups_put(h, d, at);
	fputs("</section>\n", h->f);
}

static void sides_put(const struct html_out *h, const struct diff *d)
{
	static const char *const cells[] = { "side", "input", "runs", "did not end well" };

	compare_table_begin(h, "Sides");
	html_row(h, "th", cells, ARRAY_LEN(cells));
	for (size_t i = 0; i < d->sides.nr; i++) {
		const struct diff_side *s = &d->sides.v[i];
		char runs[32], failed[32];

		snprintf(runs, sizeof(runs), "%zu", s->runs);
		snprintf(failed, sizeof(failed), "%zu", s->failed);
		html_row(h, "td", (const char *const[]){ s->name, s->word, runs, failed }, 4);
	}
	compare_table_end(h);
	notes_put(h, &d->only);
}

static void footer_put(const struct html_out *h, const struct diff *d)
{
	CLEANUP(xfreep)
	char *words =
		xasprintf("Slower is worse: more of it, or less of what is better when "
			  "higher. Intervals of %g %% of the ratio of geometric means; a "
			  "difference counts from %g %% on; p is adjusted %s. The unit is "
			  "the run.",
			  d->c->o.confidence * 100, d->c->o.threshold * 100, diff_adjusted(d->c));

	fputs("<section>\n", h->f);
	html_note(h, words);
	notes_put(h, &d->c->notes);
	notes_put(h, &d->c->problems);
	fputs("</section>\n", h->f);
}

void diff_page(const struct diff *d, FILE *f)
{
	struct html_out h = { .f = f, .max_text = TEXT_SHOWN, .styled = true };
	CLEANUP(xfreep) char *head = xasprintf("%s%s", compare_page_head, more_style);

	html_begin(&h, "Runs compared – profrig", head);
	fputs("<main>\n", f);
	html_heading(&h, 1, "Runs compared");
	fputs("<section>\n", f);
	sides_put(&h, d);
	fputs("</section>\n", f);
	for (uint32_t i = 0; i < d->c->versus.nr && i < VERSUS_SHOWN; i++)
		versus_put(&h, d, i);
	if (d->c->versus.nr > VERSUS_SHOWN)
		html_note(&h, "Further pairs are in --json.");
	footer_put(&h, d);
	fputs("</main>\n", f);
	html_end(&h);
}
