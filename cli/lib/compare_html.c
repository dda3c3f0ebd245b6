/*
 * A comparison as one page: no script, no network, drawings as SVG with a title for each mark, in
 * light and dark. It looks as the report page does: the names and values of its colours are those
 * of analysis/report/page/ui/src/style.css and of the lines in colors.js.
 */
#include "cli.h"
#include "compare_plots.h"
#include "compare_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/report/html_out.h"

#define SIDES_SHOWN 8
#define ROWS_SHOWN 200
#define TEXT_SHOWN 200

/* clang-format off */
const char compare_page_head[] =
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\"><meta name=\"viewport\" content=\"width=device-width, "
	"initial-scale=1\"><meta name=\"generator\" content=\"profrig\">\n<style>\n"
	":root{--panel:#f6f7f9;--card:#ffffff;--text:#1a1d23;--muted:#57606c;--line:#dfe3e8;"
	"--line-strong:#b9c0c9;--accent:#0067a3;--good:#00684d;--bad:#b3400a;--warn:#7a5600;"
	"--bar-soft:#e6ebf0;--s0:#0072b2;--s1:#d55e00;--s2:#00795a;--s3:#a8467f;--s4:#8a5f00;"
	"--s5:#2a7fae;--s6:#5d4aa0;--s7:#555b66;color-scheme:light}\n"
	"@media (prefers-color-scheme:dark){:root{--panel:#171b21;--card:#1b2027;--text:#e8ebef;"
	"--muted:#a3adb9;--line:#2d343d;--line-strong:#4a5460;--accent:#6fc1f2;--good:#4fd1a5;"
	"--bad:#ff9a62;--warn:#f0c75e;--bar-soft:#2a313a;--s0:#56b4e9;--s1:#e69f00;--s2:#2fc79b;"
	"--s3:#e0a0c4;--s4:#f0e442;--s5:#8fc7f0;--s6:#b9a6ee;--s7:#b8bec7;color-scheme:dark}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--panel);color:var(--text);font:14px/1.45 system-ui,"
	"-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Liberation Sans\",\"DejaVu Sans\","
	"sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}\n"
	"main{max-width:1240px;margin:0 auto;padding:16px 16px 48px}\n"
	"h1{font-size:20px;font-weight:650;margin:0 0 10px}"
	"h2{font-size:16px;font-weight:650;margin:0 0 6px}"
	"h3{font-size:14px;font-weight:650;margin:14px 0 4px}\n"
	"p{margin:4px 0;overflow-wrap:anywhere}ul,ol{list-style:none;margin:6px 0;padding:0}\n"
	"section{background:var(--card);border:1px solid var(--line);border-radius:10px;"
	"padding:14px 16px;margin:0 0 12px;min-width:0}\n"
	".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));"
	"gap:0 32px;align-items:start}.two>div{min-width:0}\n"
	".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:6px 0}"
	".scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}\n"
	"table{border-collapse:separate;border-spacing:0;width:100%;font-size:13px}"
	"th,td{padding:4px 8px;text-align:left;vertical-align:baseline;"
	"border-bottom:1px solid var(--line);overflow-wrap:anywhere;max-width:44ch}"
	"td:not(.num){min-width:9ch}"
	"th{font-weight:600;border-bottom-color:var(--line-strong);white-space:nowrap}"
	"tr:last-child td{border-bottom:0}.num{text-align:right;white-space:nowrap}"
	".call{min-width:24ch}td:last-child:not(:empty){min-width:18ch}"
	"[aria-label=Sides] td:nth-child(n+5){min-width:14ch}\n"
	"svg.plot{display:block;width:100%;max-width:540px;margin:4px 0}"
	"svg.plot text{font-size:11.5px;fill:var(--muted)}svg.plot .title-x,svg.plot .title-y"
	"{fill:var(--text)}\n"
	".frame{fill:none;stroke:var(--line-strong)}.grid{stroke:var(--line);fill:none}"
	".roof{stroke:var(--text);fill:none;stroke-width:1.6}.roof.d1{stroke-dasharray:7 3}"
	".roof.d2{stroke-dasharray:2 2}.roof.d3{stroke-dasharray:9 3 2 3}"
	".roof.seen{stroke:var(--muted);stroke-dasharray:5 4}\n"
	".band{fill:var(--muted);fill-opacity:.25}.equal{stroke:var(--muted);fill:none}\n"
	".mark{fill-opacity:.9}"
	".faster{color:var(--good);fill:var(--good)}.slower{color:var(--bad);fill:var(--bad)}"
	".same{color:var(--muted);fill:var(--muted)}.unclear{color:var(--warn);fill:var(--warn)}"
	".refused{color:var(--muted);fill:var(--muted)}"
	".mark.refused{fill:none;stroke:var(--muted);stroke-width:1.2}\n"
	".s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}"
	".s4{fill:var(--s4)}.s5{fill:var(--s5)}.s6{fill:var(--s6)}.s7{fill:var(--s7)}\n"
	".legend{display:flex;flex-wrap:wrap;gap:2px 18px}.legend li{min-width:0;"
	"overflow-wrap:anywhere}.swatch{width:12px;height:12px;margin-right:6px;"
	"vertical-align:-1px}.dash{width:26px;height:8px;margin-right:8px;vertical-align:1px}\n"
	".bar-axis,.bar-head{display:flex;gap:8px;justify-content:space-between}"
	".bar-axis{color:var(--muted);font-size:12.5px}.bars{margin:2px 0}.bars li{margin:0 0 5px}"
	".bar-head{font-size:13px}.bar-head span{flex:none}.bar-head .name{flex:1;min-width:0;"
	"overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:left}"
	".rank{color:var(--muted);min-width:2ch;text-align:right}"
	".change{min-width:8ch;text-align:right}\n"
	"svg.bar{display:block;width:100%;height:12px}.bar path{vector-effect:non-scaling-stroke;"
	"fill:none}.track{stroke:var(--bar-soft);stroke-width:8px}.zero{stroke:var(--text)}"
	".error{stroke:var(--text);stroke-width:1.2px}\n"
	"@media (max-width:600px){main{padding:10px 8px 32px}section{padding:10px 10px}"
	".call{min-width:18ch;max-width:24ch}}\n"
	"@media print{section{break-inside:auto;border:0;padding:0}}\n"
	"</style>";
/* clang-format on */

/* ---- tables ---- */

void compare_table_begin(const struct html_out *h, const char *label)
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", h->f);
	html_text(h, label);
	fputs("\">\n", h->f);
	html_table(h);
}

void compare_table_end(const struct html_out *h)
{
	html_table_end(h);
	fputs("</div>\n", h->f);
}

static void call_cell(const struct html_out *h, const struct bench_table_row *r)
{
	fputs("<td class=\"call\"><bdi>", h->f);
	html_text(h, compare_row_text(r));
	fputs("</bdi></td>", h->f);
}

static void time_cell(const struct html_out *h, double us)
{
	char text[32], exact[40];

	snprintf(exact, sizeof(exact), "%.9g µs", us);
	html_figure(h, "", cli_si(us * 1e-6, "s", text), exact);
}

static void effect_cell(const struct html_out *h, const struct bench_pair *p)
{
	char text[40], exact[40];

	if (!isfinite(p->seconds.value)) {
		html_cell(h, "td", "–", true);
		return;
	}
	snprintf(exact, sizeof(exact), "%+.9g s", p->seconds.value);
	html_figure(h, compare_pair_word(p), compare_signed(p->seconds.value, "s", text), exact);
}

static void ratio_cells(const struct html_out *h, const struct bench_pair *p)
{
	char text[64], exact[40];

	snprintf(text, sizeof(text), "%.3f", p->c.ratio);
	snprintf(exact, sizeof(exact), "%.9g", p->c.ratio);
	html_figure(h, "", text, exact);
	snprintf(text, sizeof(text), "–");
	if (isfinite(p->c.low) && isfinite(p->c.high))
		snprintf(text, sizeof(text), "%.3f to %.3f", p->c.low, p->c.high);
	html_cell(h, "td", text, true);
	if (isnan(p->p_adj)) {
		html_cell(h, "td", "–", true);
		return;
	}
	snprintf(text, sizeof(text), p->p_adj < 0.001 ? "< 0.001" : "%.3f", p->p_adj);
	snprintf(exact, sizeof(exact), "%.3g", p->p_adj);
	html_figure(h, "", text, exact);
}

static void pair_row(const struct html_out *h, const struct bench_pair *p, size_t rank)
{
	char text[64], name[16];
	const char *word = compare_pair_word(p);

	html_row_begin(h);
	snprintf(text, sizeof(text), "%zu", rank);
	html_cell(h, "td", text, true);
	call_cell(h, p->a);
	fprintf(h->f, "<td class=\"%s\">%s</td>", word, word);
	effect_cell(h, p);
	ratio_cells(h, p);
	time_cell(h, p->a->mean);
	time_cell(h, p->b->mean);
	snprintf(text, sizeof(text), "%" PRIu64, p->a->calls ? p->a->calls : p->b->calls);
	html_cell(h, "td", text, true);
	*text = 0;
	if (p->winner != UINT32_MAX)
		snprintf(text, sizeof(text), "%s%s", compare_side_name(p->winner, name),
			 p->tied ? " =" : "");
	html_cell(h, "td", text, false);
	html_cell(h, "td", p->reason ? p->reason : "", false);
	html_row_end(h);
}

static void pairs_head(const struct html_out *h, const char *name)
{
	static const struct {
		const char *text;
		bool right;
	} cells[] = { { "#", true },      { "call", false },   { "verdict", false },
		      { "effect", true }, { "ratio", true },   { "interval", true },
		      { "p", true },      { "A", true },       { NULL, true },
		      { "calls", true },  { "winner", false }, { "reason", false } };

	html_row_begin(h);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		html_cell(h, "th", cells[i].text ? cells[i].text : name, cells[i].right);
	html_row_end(h);
}

static void pairs_table(const struct html_out *h, const struct compare_ranked *r, const char *name)
{
	CLEANUP(xfreep)
	char *words = xasprintf("A and %s: mean time of a call. Ratio: that of %s by that of A. "
				"Effect: what %s changes in the model. Winner: the fastest of all "
				"sides, with = where another one cannot be told from it.",
				name, name, name);

	html_heading(h, 3, "Calls");
	if (!r->nr) {
		html_note(h, "No call has a time in both.");
		return;
	}
	html_note(h, words);
	compare_table_begin(h, "Calls");
	pairs_head(h, name);
	for (size_t i = 0; i < r->nr && i < ROWS_SHOWN; i++)
		pair_row(h, r->v[i], i + 1);
	compare_table_end(h);
	if (r->nr > ROWS_SHOWN) {
		CLEANUP(xfreep)
		char *more =
			xasprintf("… and %zu more, which -o FILE.csv has.", r->nr - ROWS_SHOWN);

		html_note(h, more);
	}
}

static void left_row(const struct html_out *h, const struct bench_left *l, const char *name)
{
	CLEANUP(xfreep)
	char *why = xasprintf("%s%s%s", l->why, *l->detail ? ": " : "", l->detail);

	html_row_begin(h);
	call_cell(h, l->row);
	html_cell(h, "td",
		  l->in == BENCH_ONLY_A   ? "A"
		  : l->in == BENCH_ONLY_B ? name
					  : "neither",
		  false);
	html_cell(h, "td", why, false);
	html_row_end(h);
}

static void left_table(const struct html_out *h, const struct bench_comparison *c,
		       const struct bench_versus *v, const char *name)
{
	static const char *const cells[] = { "call", "has a time in", "in the other one" };
	size_t nr = v->left[BENCH_ONLY_A] + v->left[BENCH_ONLY_B] + v->left[BENCH_NEITHER];
	size_t shown = 0;

	if (!nr)
		return;
	html_heading(h, 3, "Calls without a time in both");
	html_note(h, "They are in no sum and in no drawing of the two.");
	compare_table_begin(h, "Calls without a time in both");
	html_row(h, "th", cells, ARRAY_LEN(cells));
	for (size_t i = 0; i < c->left.nr && shown < ROWS_SHOWN; i++)
		if (c->left.v[i].side == v->side) {
			left_row(h, &c->left.v[i], name);
			shown++;
		}
	compare_table_end(h);
	if (nr > shown) {
		CLEANUP(xfreep)
		char *more = xasprintf("… and %zu more, which -o FILE.csv has.", nr - shown);

		html_note(h, more);
	}
}

/* What a side is against A, and by how much all calls change. */
static void side_cells(const struct html_out *h, const struct bench_versus *v)
{
	char change[64] = "–";

	if (isfinite(v->relative.value))
		snprintf(change, sizeof(change), "%+.1f %%", v->relative.value * 100);
	fprintf(h->f, "<td class=\"%s\">%s</td>",
		v->comparable ? bench_verdict_name(v->verdict) : "refused",
		v->comparable ? bench_verdict_name(v->verdict) : "not comparable");
	html_cell(h, "td", change, true);
}

static void side_row(const struct html_out *h, const struct bench_tables *t,
		     const struct bench_comparison *c, uint32_t side)
{
	const struct bench_table_side *s = &t->sides.v[side];
	char name[16];

	html_row_begin(h);
	html_cell(h, "td", compare_side_name(side, name), false);
	html_cell(h, "td", s->back_end, false);
	if (side > 0) {
		side_cells(h, &c->versus.v[side - 1]);
	} else {
		html_cell(h, "td", "", false);
		html_cell(h, "td", "", true);
	}
	html_cell(h, "td", t->files.v[s->file].path, false);
	html_cell(h, "td", s->version, false);
	html_cell(h, "td", s->device, false);
	html_row_end(h);
}

static void sides_table(const struct html_out *h, const struct bench_tables *t,
			const struct bench_comparison *c)
{
	static const char *const cells[] = { "side", "back end", "against A", "time",
					     "file", "version",  "device" };

	compare_table_begin(h, "Sides");
	html_row_begin(h);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		html_cell(h, "th", cells[i], i == 3);
	html_row_end(h);
	for (uint32_t i = 0; i < t->sides.nr; i++)
		side_row(h, t, c, i);
	compare_table_end(h);
}

/* ---- the page ---- */

static void counts_put(const struct html_out *h, const struct bench_versus *v)
{
	/* those that were refused are among the unclear ones */
	size_t unclear = v->of[BENCH_UNCLEAR] - v->refused;
	const struct {
		const char *word;
		size_t nr;
	} counts[] = { { "slower", v->of[BENCH_SLOWER] },
		       { "faster", v->of[BENCH_FASTER] },
		       { "same", v->of[BENCH_SAME] },
		       { "unclear", unclear },
		       { "refused", v->refused } };

	fprintf(h->f, "<ul class=\"legend counts\">\n<li>%zu %s in both</li>\n", v->pairs,
		v->pairs == 1 ? "call" : "calls");
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (!counts[i].nr)
			continue;
		fprintf(h->f, "<li class=\"%s\">", counts[i].word);
		compare_swatch(h, counts[i].word);
		fprintf(h->f, "%zu %s</li>\n", counts[i].nr, counts[i].word);
	}
	fputs("</ul>\n", h->f);
}

static void predicted_put(const struct html_out *h, const struct bench_versus *v, const char *name)
{
	CLEANUP(xfreep) char *words = compare_predicted(v, name);

	if (words) {
		*words = 'P'; /* a sentence of its own */
		html_note(h, words);
	} else if (v->pairs > v->refused) {
		html_note(h, "Nothing is predicted: the tables have no numbers of calls.");
	}
}

static void versus_put(const struct html_out *h, const struct bench_comparison *c,
		       const struct bench_versus *v)
{
	CLEANUP(compare_ranked_release)
	struct compare_ranked ranked = compare_ranked_new(c, v->side);
	char name[16];
	CLEANUP(xfreep)
	char *title = xasprintf("%s against A: %s", compare_side_name(v->side, name),
				v->comparable ? bench_verdict_name(v->verdict) : "not comparable");

	fputs("<section class=\"versus\">\n", h->f);
	html_heading(h, 2, title);
	counts_put(h, v);
	predicted_put(h, v, name);
	fputs("<div class=\"two\"><div>\n", h->f);
	compare_scatter(h, &ranked, name, c->o.threshold);
	fputs("</div><div>\n", h->f);
	compare_bars(h, &ranked, name);
	fputs("</div></div>\n", h->f);
	pairs_table(h, &ranked, name);
	left_table(h, c, v, name);
	fputs("</section>\n", h->f);
}

static void sections_put(const struct html_out *h, const struct bench_tables *t,
			 const struct bench_comparison *c)
{
	fputs("<section>\n", h->f);
	sides_table(h, t, c);
	for (size_t i = 0; i < c->reasons.nr; i++)
		html_note(h, c->reasons.v[i]);
	fputs("</section>\n<section class=\"roofline\">\n", h->f);
	compare_roofline(h, t, SIDES_SHOWN + 1);
	fputs("</section>\n", h->f);
	for (size_t i = 0; i < c->versus.nr && i < SIDES_SHOWN; i++)
		versus_put(h, c, &c->versus.v[i]);
	if (c->versus.nr > SIDES_SHOWN)
		html_note(h, "Further sides are in the other outputs.");
}

void compare_html(const struct bench_tables *t, const struct bench_comparison *c, FILE *f)
{
	struct html_out h = { .f = f, .max_text = TEXT_SHOWN, .styled = true };

	html_begin(&h, "Library calls compared – profrig", compare_page_head);
	fputs("<main>\n", f);
	html_heading(&h, 1, "Library calls compared");
	sections_put(&h, t, c);
	fputs("</main>\n", f);
	html_end(&h);
}
