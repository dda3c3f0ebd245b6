/*
 * A campaign's report as one page: no script, no network, drawings as SVG. It has the style sheet
 * of the page of lib compare.
 */
#include "cli.h"
#include "compare_plots.h"
#include "diff_show.h"
#include "report_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define PAIRS_FIRST 8
#define PAIRS_SHOWN 400
#define ROWS_SHOWN 200
#define RUNS_SHOWN 500
#define NOTES_SHOWN 20
#define TEXT_SHOWN 300

/* clang-format off */
const char report_page_style[] =
	"<style>.lead{font-size:17px;font-weight:600;border-left:6px solid var(--muted);"
	"padding:2px 0 2px 12px;margin:2px 0 8px}.lead.good{border-color:var(--good)}"
	".lead.bad{border-color:var(--bad)}.lead.open{border-color:var(--warn)}"
	"a{color:var(--accent)}td.call{min-width:20ch}[aria-label=Verdicts] td{"
	"overflow-wrap:break-word}[aria-label=Verdicts] td:last-child:not(:empty){min-width:0}"
	".quiet{color:var(--muted)}.few{color:var(--warn);font-weight:600}"
	".new,.gone,.baseline,.none{color:var(--muted)}.failed{color:var(--bad)}"
	"details{margin:6px 0}summary{cursor:pointer;color:var(--accent)}\n"
	".heatmap table{width:auto}.heatmap th{vertical-align:top;max-width:26ch;"
	"white-space:normal;overflow-wrap:break-word;min-width:4ch}"
	".heatmap{width:fit-content;max-width:100%}"
	".heatmap th.axis{color:var(--muted);font-weight:500}"
	".heatmap td.place{padding:3px;min-width:136px;border:0;max-width:none}"
	".heat{border:1px solid transparent;border-radius:6px;padding:5px 7px;font-size:12.5px;"
	"line-height:1.35;white-space:nowrap}.heat a{color:inherit;font-weight:650;font-size:14px;"
	"text-decoration:none}.heat a:hover{text-decoration:underline}"
	".heat .interval,.heat .word{font-size:12px}.heat .few{color:inherit;"
	"text-decoration:underline dotted}"
	".tall th{vertical-align:middle}"
	".tall .heat{display:flex;gap:12px;align-items:baseline}.tall .heat .word{"
	"margin-left:auto}\n"
	".h-faster1{background:rgba(0,114,178,.16)}.h-faster2{background:rgba(0,114,178,.3)}"
	".h-faster3{background:rgba(0,114,178,.46)}.h-slower1{background:rgba(203,58,24,.14)}"
	".h-slower2{background:rgba(203,58,24,.28)}.h-slower3{background:rgba(203,58,24,.44)}"
	".h-same{background:var(--bar-soft)}.h-unclear{background:repeating-linear-gradient("
	"135deg,var(--bar-soft) 0 5px,var(--card) 5px 10px);border-color:var(--line)}"
	".h-baseline{border:2px solid var(--line-strong)}.h-refused{border:1px dashed var(--warn)}"
	".h-new,.h-gone,.h-none{border:1px solid var(--line)}"
	".h-failed{border:1px dashed var(--bad)}.h-hole{color:var(--muted);text-align:center}"
	".legend .key{display:inline-block;width:22px;height:14px;padding:0;margin-right:6px;"
	"border-radius:3px;vertical-align:-2px}\n"
	"@media (prefers-color-scheme:dark){.h-faster1{background:rgba(86,180,233,.16)}"
	".h-faster2{background:rgba(86,180,233,.28)}.h-faster3{background:rgba(86,180,233,.42)}"
	".h-slower1{background:rgba(255,116,80,.16)}.h-slower2{background:rgba(255,116,80,.28)}"
	".h-slower3{background:rgba(255,116,80,.42)}}\n"
	".strips{display:grid;gap:12px 20px;"
	"grid-template-columns:repeat(auto-fill,minmax(min(262px,100%),1fr))}"
	".strips li{min-width:0;scroll-margin-top:12px}.strips li:target{outline:2px solid "
	"var(--accent);outline-offset:4px;border-radius:4px}"
	".strip-head{display:flex;gap:8px;justify-content:space-between;font-size:13px}"
	".strip-head .name{min-width:0;overflow:hidden;overflow-wrap:anywhere;display:-webkit-box;"
	"-webkit-box-orient:vertical;-webkit-line-clamp:2;font-weight:600}"
	".strip-head span{flex:none}.strip-foot{font-size:12.5px;"
	"color:var(--muted)}\n"
	"svg.strip,svg.trend{display:block;width:100%}svg.trend{max-width:820px}"
	"svg.strip text{font-size:10px;fill:var(--muted)}svg.trend text{font-size:11px;"
	"fill:var(--muted)}.dot{fill:var(--s0);fill-opacity:.85}a:hover .dot,a:focus .dot{"
	"stroke:var(--text);stroke-width:1.5}.dot.far{fill:var(--card);stroke:var(--bad);"
	"stroke-width:1.6}.own{fill:var(--s0);fill-opacity:.2}.mean{stroke:var(--s0);"
	"stroke-width:1.2;fill:none}path.trend{fill:none;stroke:var(--text);stroke-width:1.4}"
	".trends li{overflow-wrap:anywhere}.swatch{width:12px;height:12px}\n"
	"@media (max-width:600px){.lead{font-size:15px}.heatmap td.place{min-width:124px}}\n"
	"@media print{.heat,.dot{print-color-adjust:exact;-webkit-print-color-adjust:exact}}"
	"</style>";
/* clang-format on */

static void notes_put(const struct html_out *h, const struct strvec *v)
{
	for (size_t i = 0; i < v->nr && i < NOTES_SHOWN; i++)
		html_note(h, v->v[i]);
	if (v->nr > NOTES_SHOWN) {
		CLEANUP(xfreep) char *more = xasprintf("… and %zu more.", v->nr - NOTES_SHOWN);

		html_note(h, more);
	}
}

/* ---- the verdict ---- */

static void p_put(const struct html_out *h, double p)
{
	char text[32];

	snprintf(text, sizeof(text), p < 0.001 ? "< 0.001" : "%.3f", p);
	html_cell(h, "td", isfinite(p) ? text : "–", true);
}

static void value_put(const struct html_out *h, const struct report_figure *f, double v)
{
	char text[96], exact[96];

	if (!isfinite(v)) {
		html_cell(h, "td", "–", true);
		return;
	}
	snprintf(exact, sizeof(exact), "%.9g %.40s", v, f->unit);
	html_figure(h, "", diff_value(v, f->unit, text), exact);
}

static void pair_put(const struct html_out *h, const struct report_shown *s,
		     const struct report_pair *p)
{
	const struct report_sample *v = &p->f->cells[p->cell];
	const struct report_against *a = &v->against;
	const struct report_cell *c = &s->r.cells.v[p->cell];
	const char *word = report_word(s, p->f, p->cell);
	char text[96], exact[64];

	html_row_begin(h);
	fprintf(h->f,
		"<td class=\"%s\"><b>%s</b></td><td class=\"call\"><bdi><a href=\"#f%td-%" PRIu32
		"\">",
		report_class(word), word, p->f - s->r.figures.v, p->cell);
	html_text(h, c->label);
	fputs("</a></bdi></td>", h->f);
	snprintf(text, sizeof(text), "%.60s%s%.30s", p->f->name, *p->f->key ? ": " : "", p->f->key);
	if (s->r.figures.nr > 1)
		html_cell(h, "td", text, false);
	snprintf(exact, sizeof(exact), "ratio %.9g", a->ratio);
	html_figure(h, report_class(word), diff_ratio(a->ratio, text), exact);
	html_cell(h, "td", diff_ratios(a->low, a->high, text), true);
	p_put(h, a->p_adj);
	value_put(h, p->f,
		  c->baseline != REPORT_NONE ? p->f->cells[c->baseline].mean : (double)NAN);
	value_put(h, p->f, v->mean);
	snprintf(text, sizeof(text), "%" PRIu32 " + %" PRIu32, a->n_a, a->n_b);
	html_cell(h, "td", text, true);
	html_row_end(h);
}

static void pairs_put(const struct html_out *h, const struct report_shown *s,
		      const struct report_pair *v, size_t from, size_t to)
{
	static const struct {
		const char *text;
		bool right;
	} cells[] = { { "verdict", false }, { "cell", false },    { "figure", false },
		      { "change", true },   { "interval", true }, { "p", true },
		      { "baseline", true }, { "cell", true },     { "runs", true } };

	compare_table_begin(h, "Verdicts");
	html_row_begin(h);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		if (s->r.figures.nr > 1 || strcmp(cells[i].text, "figure") != 0)
			html_cell(h, "th", cells[i].text, cells[i].right);
	html_row_end(h);
	for (size_t i = from; i < to; i++)
		pair_put(h, s, &v[i]);
	compare_table_end(h);
}

static void verdicts_put(const struct html_out *h, const struct report_shown *s)
{
	size_t nr, shown;
	struct report_pair *v = report_pairs(s, &nr);

	shown = nr < PAIRS_SHOWN ? nr : PAIRS_SHOWN;
	if (nr)
		pairs_put(h, s, v, 0, shown < PAIRS_FIRST ? shown : PAIRS_FIRST);
	if (shown > PAIRS_FIRST) {
		fprintf(h->f, "<details><summary>%zu more comparisons</summary>\n",
			nr - PAIRS_FIRST);
		pairs_put(h, s, v, PAIRS_FIRST, shown);
		if (nr > shown)
			html_note(h, "Further ones are in --json.");
		fputs("</details>\n", h->f);
	}
	free(v);
}

static void gates_put(const struct html_out *h, const struct report_shown *s)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (!s->r.gates.nr)
		return;
	strbuf_addf(&sb, "%s", s->r.gates.nr == 1 ? "Gate:" : "Gates:");
	for (size_t i = 0; i < s->r.gates.nr; i++) {
		double t = s->r.gates.v[i].threshold;

		strbuf_addf(&sb, "%s %s may not get worse by more than %g %%", i ? "," : "",
			    s->r.gates.v[i].metric, (isnan(t) ? s->g.threshold : t) * 100);
	}
	strbuf_addstr(&sb, ".");
	html_note(h, sb.buf);
}

static void head_put(const struct html_out *h, const struct report_shown *s)
{
	static const char *const tones[] = { "good", "bad", "open" };

	html_heading(h, 1, s->r.name);
	fprintf(h->f, "<section class=\"verdict\"><p class=\"lead %s\">", tones[s->tone]);
	html_text(h, s->lead);
	fputs("</p>\n", h->f);
	html_note(h, s->state);
	gates_put(h, s);
	for (size_t i = 0; i < s->r.absent.nr && s->r.sum.committed; i++) {
		CLEANUP(xfreep) char *words = xasprintf("No run has '%s'.", s->r.absent.v[i]);

		html_note(h, words);
	}
	if (!s->live && (s->r.sum.left || s->r.sum.running))
		html_note(h, "The campaign is not complete: 'profrig campaign resume' goes on.");
	verdicts_put(h, s);
	if (s->g.reasons.nr) {
		fprintf(h->f, "<details><summary>%zu %s less sure</summary>\n", s->g.reasons.nr,
			s->g.reasons.nr == 1 ? "reason makes comparisons"
					     : "reasons make comparisons");
		notes_put(h, &s->g.reasons);
		fputs("</details>\n", h->f);
	}
	fputs("</section>\n", h->f);
}

/* ---- figures ---- */

static void figure_put(const struct html_out *h, struct report_shown *s,
		       const struct report_figure *f, const char *prefix)
{
	CLEANUP(xfreep) char *name = report_figure_title(f);
	CLEANUP(xfreep)
	char *title = xasprintf("%s (%s is better)", name, f->higher ? "higher" : "lower");

	fputs("<section>\n", h->f);
	html_heading(h, 2, title);
	report_heat(h, s, f);
	html_heading(h, 3, "Every run, in the order of the runs");
	html_note(h, "A dot is a run and leads to its report. Blue line and band: mean and its "
		     "interval; grey band: the baseline's interval; ringed: far from the median, "
		     "and counted. Cells with one baseline share a scale.");
	report_strips(h, s, f, prefix);
	report_trend(h, s, f);
	fputs("</section>\n", h->f);
}

static void figures_put(const struct html_out *h, struct report_shown *s, const char *prefix)
{
	for (size_t i = 0; i < s->r.figures.nr; i++)
		figure_put(h, s, &s->r.figures.v[i], prefix);
	if (!s->r.figures.nr && s->r.sum.committed) {
		CLEANUP(xfreep) char *known = strvec_join(&s->r.known, ", ");
		CLEANUP(xfreep)
		char *words = xasprintf("No run has such a figure; there are: %s.",
					*known ? known : "none");

		fputs("<section>\n", h->f);
		html_note(h, words);
		fputs("</section>\n", h->f);
	}
	if (s->r.more_keys) {
		CLEANUP(xfreep)
		char *words = xasprintf("%zu smaller rows of tables are left out; --metric "
					"NAME:KEY shows one.",
					s->r.more_keys);

		html_note(h, words);
	}
}

/* ---- failures ---- */

static void link_put(const struct html_out *h, const char *prefix, const char *to, const char *text)
{
	fputs("<td><a href=\"", h->f);
	html_text(h, prefix);
	html_text(h, to);
	fputs("\">", h->f);
	html_text(h, text);
	fputs("</a></td>", h->f);
}

static void failure_put(const struct html_out *h, const struct report_shown *s,
			const struct report_failure *f, const char *prefix)
{
	const struct report_cell *c = &s->r.cells.v[f->cell];
	CLEANUP(xfreep) char *log = xasprintf("logs/%s.log", f->example);
	CLEANUP(xfreep) char *path = fs_join(s->dir, log);
	char text[48];

	html_row_begin(h);
	fputs("<td class=\"call\"><bdi>", h->f);
	html_text(h, c->label);
	fputs("</bdi></td>", h->f);
	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32, c->failed, c->runs);
	html_cell(h, "td", text, true);
	html_cell(h, "td", f->class, false);
	html_cell(h, "td", *f->reason ? f->reason : f->state, false);
	snprintf(text, sizeof(text), "%" PRIu32, f->attempts);
	html_cell(h, "td", text, true);
	if (fs_is_file(path))
		link_put(h, prefix, log, f->example);
	else
		html_cell(h, "td", f->example, false);
	html_row_end(h);
}

static void failures_put(const struct html_out *h, const struct report_shown *s, const char *prefix)
{
	static const char *const cells[] = { "cell",   "runs lost", "class",
					     "reason", "attempts",  "the last one" };
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	fputs("<section>\n", h->f);
	html_heading(h, 2, "Failures");
	if (!s->r.failures.nr && !s->r.sum.failed)
		html_note(h, "No attempt has failed.");
	report_survivors(s, &words);
	notes_put(h, &words);
	if (s->r.failures.nr) {
		compare_table_begin(h, "Failures");
		html_row(h, "th", cells, ARRAY_LEN(cells));
		for (size_t i = 0; i < s->r.failures.nr && i < ROWS_SHOWN; i++)
			failure_put(h, s, &s->r.failures.v[i], prefix);
		compare_table_end(h);
	}
	if (s->r.failures.nr > ROWS_SHOWN) {
		CLEANUP(xfreep)
		char *more =
			xasprintf("%zu more reasons are in --json.", s->r.failures.nr - ROWS_SHOWN);

		html_note(h, more);
	}
	fputs("</section>\n", h->f);
}

/* ---- environments ---- */

static void envs_head(const struct html_out *h, const struct report_shown *s, size_t envs)
{
	html_row_begin(h);
	html_cell(h, "th", "fact", false);
	for (size_t i = 0; i < envs; i++) {
		const struct report_env *e = &s->r.envs.v[i];

		fprintf(h->f, "<th title=\"");
		html_text(h, e->sha);
		fprintf(h->f, "\">%.8s, %" PRIu32 " %s</th>", e->sha, e->runs,
			e->runs == 1 ? "run" : "runs");
	}
	html_cell(h, "th", "", false);
	html_row_end(h);
}

static void envs_table(const struct html_out *h, const struct report_shown *s)
{
	size_t envs = s->r.envs.nr < REPORT_ENVS_MAX ? s->r.envs.nr : REPORT_ENVS_MAX;

	compare_table_begin(h, "Environments");
	envs_head(h, s, envs);
	for (size_t i = 0; i < s->r.differences.nr && i < ROWS_SHOWN; i++) {
		const struct report_difference *d = &s->r.differences.v[i];

		html_row_begin(h);
		html_cell(h, "td", d->path, false);
		for (size_t k = 0; k < envs; k++)
			html_cell(h, "td", *d->values.v[k] ? d->values.v[k] : "–", false);
		html_cell(h, "td", report_by_axis(s, d->path) ? "an axis varies it" : "", false);
		html_row_end(h);
	}
	compare_table_end(h);
	if (s->r.differences.nr > ROWS_SHOWN)
		html_note(h, "Further facts are in --json.");
}

static void envs_put(const struct html_out *h, const struct report_shown *s)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	fputs("<section>\n", h->f);
	html_heading(h, 2, "Environments");
	report_environments(s, &words);
	notes_put(h, &words);
	strvec_release(&words);
	report_clocks(s, &words);
	notes_put(h, &words);
	if (s->r.differences.nr)
		envs_table(h, s);
	fputs("</section>\n", h->f);
}

/* ---- how it was measured, all runs ---- */

static void methods_put(const struct html_out *h, const struct report_shown *s)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	fputs("<section>\n", h->f);
	html_heading(h, 2, "How it was measured");
	report_methods(s, &words);
	notes_put(h, &words);
	notes_put(h, &s->g.notes);
	notes_put(h, &s->g.problems);
	fputs("</section>\n", h->f);
}

static double value_of(const struct report_figure *f, uint32_t cell, uint32_t run)
{
	const struct report_sample *v = &f->cells[cell];

	for (size_t i = 0; i < v->nr; i++)
		if (v->v[i].run == run)
			return v->v[i].value;
	return NAN;
}

static void run_put(const struct html_out *h, const struct report_shown *s, uint32_t at,
		    const char *prefix)
{
	const struct report_run *run = &s->r.runs.v[at];
	char text[32];

	html_row_begin(h);
	if (*s->links.v[at])
		link_put(h, prefix, s->links.v[at], run->id);
	else
		html_cell(h, "td", run->id, false);
	fputs("<td class=\"call\"><bdi>", h->f);
	html_text(h, s->r.cells.v[run->cell].label);
	fputs("</bdi></td>", h->f);
	snprintf(text, sizeof(text), "%" PRIu32, run->block);
	html_cell(h, "td", run->block ? text : "–", true);
	snprintf(text, sizeof(text), "%" PRIu32, run->order);
	html_cell(h, "td", run->order ? text : "–", true);
	html_cell(h, "td", run->state, false);
	for (size_t i = 0; i < s->r.figures.nr; i++)
		value_put(h, &s->r.figures.v[i], value_of(&s->r.figures.v[i], run->cell, at));
	html_row_end(h);
}

static void runs_put(const struct html_out *h, const struct report_shown *s, const char *prefix)
{
	if (!s->r.runs.nr)
		return;
	fprintf(h->f, "<section>\n<details><summary>All %zu runs as a table</summary>\n",
		s->r.runs.nr);
	compare_table_begin(h, "Runs");
	html_row_begin(h);
	html_cell(h, "th", "run", false);
	html_cell(h, "th", "cell", false);
	html_cell(h, "th", "block", true);
	html_cell(h, "th", "order", true);
	html_cell(h, "th", "state", false);
	for (size_t i = 0; i < s->r.figures.nr; i++)
		html_cell(h, "th", s->r.figures.v[i].name, true);
	html_row_end(h);
	for (uint32_t i = 0; i < s->r.runs.nr && i < RUNS_SHOWN; i++)
		run_put(h, s, i, prefix);
	compare_table_end(h);
	if (s->r.runs.nr > RUNS_SHOWN)
		html_note(h, "Further runs are in 'profrig campaign export'.");
	fputs("</details>\n</section>\n", h->f);
}

/* ---- the page ---- */

static void components_take(struct strvec *to, const char *path)
{
	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n)
			strvec_pushf(to, "%.*s", (int)n, path);
	}
}

/* From the folder of the page to that of the campaign, encoded for a link: "", "../x/". Owned. */
static char *prefix_make(const char *page_dir, const char *dir)
{
	CLEANUP(strvec_release) struct strvec from = STRVEC_INIT, to = STRVEC_INIT;
	struct strbuf sb = STRBUF_INIT;
	size_t same = 0;

	components_take(&from, page_dir);
	components_take(&to, dir);
	while (same < from.nr && same < to.nr && !strcmp(from.v[same], to.v[same]))
		same++;
	for (size_t i = same; i < from.nr; i++)
		strbuf_addstr(&sb, "../");
	for (size_t i = same; i < to.nr; i++) {
		text_percent_encode(&sb, to.v[i], "", true);
		strbuf_addstr(&sb, "/");
	}
	return strbuf_steal(&sb);
}

void report_page(struct report_shown *s, const char *page_dir, FILE *f)
{
	struct html_out h = { .f = f, .max_text = TEXT_SHOWN, .styled = true };
	CLEANUP(xfreep) char *head = xasprintf("%s%s", compare_page_head, report_page_style);
	CLEANUP(xfreep) char *title = xasprintf("%s – campaign – profrig", s->r.name);
	CLEANUP(xfreep) char *prefix = prefix_make(page_dir, s->dir);

	html_begin(&h, title, head);
	fputs("<main>\n", f);
	head_put(&h, s);
	figures_put(&h, s, prefix);
	failures_put(&h, s, prefix);
	envs_put(&h, s);
	methods_put(&h, s);
	runs_put(&h, s, prefix);
	fputs("</main>\n", f);
	html_end(&h);
}
